//! The child that asks an NVMe controller to identify itself.

use std::path::Path;

use crate::outputs::write_stdout;

/// Prints the identify data of the controller behind `device` as hexadecimal digits, or `refused: ` and why.
pub fn serve(device: &Path) -> i32 {
    let answer = match data(device) {
        Ok(data) => data.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(why) => format!("refused: {why}"),
    };
    write_stdout(&(answer + "\n")).map_or_else(|refusal| refusal.exit_code, |()| 0)
}

#[cfg(target_os = "linux")]
fn data(device: &Path) -> Result<Box<[u8; synctail_sys::IDENTIFY_BYTES]>, String> {
    synctail_sys::identify_controller(device).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn data(_: &Path) -> Result<Vec<u8>, String> {
    Err("only Linux has the call".to_owned())
}

//! What an NVMe controller says of itself, asked for in the kernel's words and changed by nothing.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;

use crate::SysError;

/// Bytes of an identify data structure (NVM Express base specification, Identify command).
pub const IDENTIFY_BYTES: usize = 4_096;

/// The name of the question in an error.
const CALL: &str = "NVMe identify controller";
/// `_IOWR('N', 0x41, struct nvme_admin_cmd)` of linux/nvme_ioctl.h.
const NVME_IOCTL_ADMIN_CMD: u32 = 0xc048_4e41;
/// The admin command Identify.
const IDENTIFY: u8 = 0x06;
/// Its data structure "controller" (CNS).
const OF_CONTROLLER: u32 = 0x01;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct AdminCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_to_15: [u32; 6],
    /// 0: the kernel's own limit. A shorter one would have it reset a controller that is only slow.
    timeout_ms: u32,
    result: u32,
}

/// Asks the controller behind `device` (a namespace or the controller itself) to identify itself.
///
/// A controller that does not answer holds the caller until the kernel gives up (60 s).
///
/// # Errors
/// Where the device cannot be opened for reading, is none of NVMe (ENOTTY), does not let this user ask
/// (EACCES), or refuses (EIO).
pub fn identify_controller(device: &Path) -> Result<Box<[u8; IDENTIFY_BYTES]>, SysError> {
    let object = || device.to_string_lossy().into_owned();
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(device);
    let file = opened.map_err(|error| SysError::new("open", object(), &error))?;
    let mut data = Box::new([0; IDENTIFY_BYTES]);
    submit(&file, &mut data).map_err(|errno| SysError::of(CALL, object(), errno))?;
    Ok(data)
}

fn submit(device: &File, data: &mut [u8; IDENTIFY_BYTES]) -> Result<(), Errno> {
    let mut command = AdminCommand {
        opcode: IDENTIFY,
        address: data.as_mut_ptr() as u64,
        data_bytes: IDENTIFY_BYTES as u32,
        words_10_to_15: [OF_CONTROLLER, 0, 0, 0, 0, 0],
        ..AdminCommand::default()
    };
    // SAFETY: the request reads and writes one `nvme_passthru_cmd`, which is live and exclusive; the kernel
    // writes at most `data_bytes` to `address`, which is the exclusive buffer of that size, before the call
    // returns; the descriptor is open.
    let result =
        unsafe { libc::ioctl(device.as_raw_fd(), NVME_IOCTL_ADMIN_CMD as _, &raw mut command) };
    // Above 0 it is the status of a command that the controller refused.
    if Errno::result(result)? > 0 { Err(Errno::EIO) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_has_the_size_that_is_part_of_its_request() {
        assert_eq!(size_of::<AdminCommand>(), 72);
        // Read and write, size, letter, number: asm-generic/ioctl.h.
        let request = (3 << 30) | (72 << 16) | (u32::from(b'N') << 8) | 0x41;
        assert_eq!(request, NVME_IOCTL_ADMIN_CMD);
        assert_eq!(std::mem::offset_of!(AdminCommand, address), 24);
        assert_eq!(std::mem::offset_of!(AdminCommand, words_10_to_15), 40);
    }

    #[test]
    fn what_is_no_controller_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "keep").unwrap();
        for device in [&file, Path::new("/dev/null")] {
            let error = identify_controller(device).unwrap_err();
            assert_eq!(
                (error.operation, error.errno),
                (CALL, libc::ENOTTY),
                "{}",
                device.display()
            );
        }
        let error = identify_controller(&dir.path().join("none")).unwrap_err();
        assert_eq!((error.operation, error.errno), ("open", libc::ENOENT));
        assert_eq!(std::fs::read(&file).unwrap(), b"keep");
    }
}

//! Who keeps the acknowledgements, and what stops a command before it has an answer.

use std::io;
use std::path::Path;

use synctail_sys::SysError;

use super::client::Keeper;
use super::store::Store;
use super::token;
use crate::args::KeeperArgs;
use crate::program::Waiting;
use crate::refusal::Refusal;

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The kernel's id of this boot; nothing where it has none.
pub fn boot_id() -> Option<String> {
    std::fs::read_to_string(BOOT_ID).ok().map(|text| text.trim().to_owned())
}

/// Who was named on the command line; `open` opens the file, where it is one.
///
/// # Errors
/// Where there is no token, or no file.
pub fn keeper(
    args: &KeeperArgs,
    waiting: Option<&Waiting>,
    open: fn(&Path) -> io::Result<Store>,
) -> Result<Keeper, Refusal> {
    match (&args.witness, &args.local) {
        (Some(address), _) => {
            let token = token::given(args.token_file.as_deref())?;
            let token = token.ok_or_else(|| {
                let flag = "--token-file: the witness asks for a token; give the file, or set ";
                Refusal::usage(format!("{flag}{}", token::VARIABLE))
            })?;
            Ok(Keeper::Remote { address: address.clone(), token, waiting: waiting.cloned() })
        }
        (None, Some(path)) => match open(path) {
            Ok(store) => Ok(Keeper::local(path, store)),
            Err(error) => {
                let text = format!("--local: open {}: {error}", path.display());
                let remedy =
                    "give the file of the acknowledgements, on a disk that keeps its power";
                Err(Refusal::cannot("prepare", "open", text, remedy))
            }
        },
        (None, None) => Err(Refusal::usage("--witness: who keeps the acknowledgements?")),
    }
}

/// Acknowledgements that lie on the storage under test go with it.
pub fn apart(path: &Path, args: &KeeperArgs) -> Result<(), Refusal> {
    use std::os::unix::fs::MetadataExt;
    let Some(local) = &args.local else { return Ok(()) };
    let device = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.dev());
    match (device(path), device(local)) {
        (Ok(one), Ok(other)) if one == other => Err(Refusal::usage(format!(
            "--local: {} lies on the storage under test; give a file on another disk",
            local.display()
        ))),
        _ => Ok(()),
    }
}

/// The keeper does not answer, or not with yes.
pub fn unreachable_keeper(keeper: &Keeper, error: &io::Error) -> Refusal {
    let text = format!("reach {}: {error}", keeper.name());
    let remedy =
        "what was acknowledged before stays valid; see that the witness runs and is reached";
    Refusal::cannot("acknowledge", "store", text, remedy)
}

/// The keeper has nothing of it.
pub fn no_run(keeper: &Keeper, what: &str) -> Refusal {
    let text = format!("{} does not know {what}", keeper.name());
    Refusal::cannot("verify", "read", text, "give --run an id that write printed")
}

/// What the storage under `path` refused.
pub fn storage_error(error: &SysError, path: &Path) -> Refusal {
    let text = format!("{}: {error}", path.display());
    let mut refusal = Refusal::cannot("write", error.operation, text, "");
    refusal.report.errno = Some(error.errno);
    refusal.report.errno_name = Some(synctail_sys::errno_name(error.errno));
    refusal
}

//! What a machine may lack: said, and where it is required, a failure.

use std::fs;
use std::path::PathBuf;

use super::{Cmd, Folder};

/// Says that a test is skipped for want of `name`.
///
/// # Panics
/// Where SYNCTAIL_REQUIRE lists `name`: there it must not be missing.
#[track_caller]
pub fn require(name: &str, reason: &str) {
    eprintln!("skipped: {name}: {reason}");
    let required = std::env::var("SYNCTAIL_REQUIRE").unwrap_or_default();
    assert!(!lists(&required, name), "{name} is required here (SYNCTAIL_REQUIRE): {reason}");
}

fn lists(required: &str, name: &str) -> bool {
    required.split([',', ' ']).any(|word| word == name)
}

/// Whether mounts and limits can be changed; says that the test is skipped where they cannot.
#[track_caller]
pub fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        require("root", "not running as root");
    }
    root
}

/// A user without any right, who can run the binary.
#[derive(Debug)]
pub struct Nobody {
    program: PathBuf,
    _folder: Folder,
}

impl Nobody {
    /// Only root can become somebody else.
    #[track_caller]
    pub fn new() -> Option<Nobody> {
        if !is_root() {
            return None;
        }
        // The build directory may be closed to others, so the binary gets a name where it is not.
        let folder = Folder::open_to_all();
        let (built, program) = (env!("CARGO_BIN_EXE_synctail"), folder.at("synctail"));
        // A link first: a fresh copy is "text file busy" while another test forks.
        let made = fs::hard_link(built, &program);
        made.or_else(|_| fs::copy(built, &program).map(drop)).expect("a second name of the binary");
        Some(Nobody { program, _folder: folder })
    }

    /// `cmd`, run by this user.
    pub fn runs(&self, cmd: Cmd) -> Cmd {
        self.runs_alone(cmd, 65_534)
    }

    /// `cmd`, run by a user that no other test is: what the others run does not count against its
    /// limit of processes.
    pub fn runs_alone(&self, cmd: Cmd, uid: u32) -> Cmd {
        let cmd = cmd.program(&self.program);
        cmd.under(&format!("setpriv --reuid={uid} --regid=65534 --clear-groups"))
    }
}

#[test]
fn a_required_thing_is_named_between_commas_or_spaces() {
    assert!(lists("a,b c", "a") && lists("a,b c", "b") && lists("a,b c", "c"));
    assert!(!lists("a,bb c", "b") && !lists("", "b"));
}

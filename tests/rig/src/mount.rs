//! Mounting, and unmounting in bounded time whatever hangs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use fuser::{BackgroundSession, Config, MountOption, SessionACL};
use nix::errno::Errno;
use nix::mount::{MntFlags, umount2};

use crate::ledger::Ledger;
use crate::script::Script;
use crate::serve::{Served, Shared};
use crate::tree::Owner;

/// How long open files may keep it mounted, once nothing hangs any more.
const UNMOUNT_PATIENCE: Duration = Duration::from_secs(10);
/// How long the handlers may take to see that it is unmounted.
const JOIN_PATIENCE: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A mounted file system; dropping it releases what hangs, unmounts and joins.
#[derive(Debug)]
pub struct Rig {
    shared: Arc<Shared>,
    session: Option<BackgroundSession>,
    path: PathBuf,
    /// Whether the mount point was made for it.
    owns_path: bool,
}

impl Rig {
    /// Mounts at a directory of its own with so many handler threads. Each delayed operation keeps a
    /// handler, so there must be as many as operations can be in flight at once.
    ///
    /// # Errors
    /// Where there is no FUSE device or no right to mount.
    pub fn mount(script: &Script, threads: usize) -> io::Result<Rig> {
        let path = tempfile::Builder::new().prefix("synctail-rig-").tempdir()?.keep();
        let mut mounted = Rig::mount_at(&path, script, threads);
        match &mut mounted {
            Ok(rig) => rig.owns_path = true,
            Err(_) => std::fs::remove_dir(&path)?,
        }
        mounted
    }

    /// Mounts at an existing directory.
    ///
    /// # Errors
    /// Where there is no FUSE device or no right to mount.
    pub fn mount_at(path: &Path, script: &Script, threads: usize) -> io::Result<Rig> {
        let seed = script.seed.unwrap_or_else(|| fastrand::u64(..));
        let draws = [&script.fsync, &script.write, &script.open, &script.statfs, &script.unlink]
            .iter()
            .any(|rules| rules.lognormal.is_some() || rules.bimodal.is_some());
        if draws {
            eprintln!("rig: seed = {seed}");
        }
        let (uid, gid) = (nix::unistd::geteuid().as_raw(), nix::unistd::getegid().as_raw());
        let shared = Arc::new(Shared::new(script, seed, Owner { uid, gid, mode: 0o755 }));
        let mut config = Config::default();
        let source = MountOption::FSName("synctail-rig".to_owned());
        config.mount_options = vec![source, MountOption::DefaultPermissions];
        config.acl = SessionACL::All;
        config.n_threads = Some(threads.max(1));
        config.clone_fd = true;
        let path = path.canonicalize()?;
        let session = fuser::spawn_mount(Served(Arc::clone(&shared)), &path, &config)?;
        // The cell is empty: it was made above.
        let _ = shared.notifier.set(session.notifier());
        Ok(Rig { shared, session: Some(session), path, owns_path: false })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything that was served so far.
    pub fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// Lets everything go on that hangs now.
    pub fn release(&self) {
        self.shared.gate.release();
    }

    /// Files lose what no honest fsync has made durable.
    pub fn cut_power(&self) {
        self.shared.cut_power();
    }

    /// Whether it is unmounted; false where it had to be torn away.
    fn unmount(&self) -> bool {
        let deadline = Instant::now() + UNMOUNT_PATIENCE;
        loop {
            match umount2(&self.path, MntFlags::UMOUNT_NOFOLLOW) {
                // EINVAL: it is no mount point any more.
                Ok(()) | Err(Errno::EINVAL) => return true,
                Err(Errno::EBUSY) if Instant::now() < deadline => {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(error) => {
                    eprintln!("rig: unmount {}: {error}; mounted:", self.path.display());
                    eprintln!(
                        "{}",
                        std::fs::read_to_string("/proc/self/mounts").unwrap_or_default()
                    );
                    // Force fails every request that waits, detach takes the name away.
                    let torn = umount2(&self.path, MntFlags::MNT_FORCE);
                    let torn = umount2(&self.path, MntFlags::MNT_DETACH).or(torn);
                    eprintln!("rig: torn away: {torn:?}");
                    return false;
                }
            }
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.shared.gate.shut_down();
        self.unmount();
        if let Some(session) = self.session.take() {
            let (sender, joined) = channel();
            std::thread::spawn(move || {
                // An error here says only that the device was closed.
                let _ = session.umount_and_join();
                let _ = sender.send(());
            });
            if joined.recv_timeout(JOIN_PATIENCE).is_err() {
                eprintln!("rig: handlers of {} did not end in time", self.path.display());
            }
        }
        if self.owns_path {
            // Only an empty directory goes: below a mount that stayed nothing must be removed.
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

//! The rig does what it says.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;

use synctail_rig::{Kind, Outcome};

use super::stand::{Stand, until};

#[test]
fn files_and_directories_work_as_they_do_elsewhere() {
    for direct_io in [false, true] {
        let Some(stand) = Stand::new(&format!("direct_io = {direct_io}")) else { return };
        let dir = stand.rig.path().join("dir");
        fs::create_dir(&dir).unwrap();
        let (old, new) = (dir.join("old"), dir.join("new"));
        fs::write(&old, "0123456789").unwrap();
        fs::write(&new, "replaced").unwrap();
        fs::rename(&old, &new).unwrap();
        assert_eq!(fs::read_to_string(&new).unwrap(), "0123456789");
        let file = File::options().write(true).open(&new).unwrap();
        file.set_len(4).unwrap();
        file.write_all_at(b"end", 6).unwrap();
        file.sync_all().unwrap();
        assert_eq!(fs::read(&new).unwrap(), b"0123\0\0end");
        assert_eq!(fs::metadata(&new).unwrap().len(), 9);
        assert!(File::options().write(true).create_new(true).open(&new).is_err());
        File::open(&dir).unwrap().sync_all().unwrap();
        let names: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["new"]);
        assert!(fs::remove_dir(&dir).is_err());
        fs::remove_file(&new).unwrap();
        fs::remove_dir(&dir).unwrap();
        assert!(!dir.exists());
    }
}

#[test]
fn a_lying_barrier_loses_what_an_honest_one_keeps() {
    for (mode, kept) in [("honest", &b"durable"[..]), ("lying", b"")] {
        for direct_io in [false, true] {
            let script = format!("fsync_mode = '{mode}'\ndirect_io = {direct_io}");
            let Some(stand) = Stand::new(&script) else { return };
            let path = stand.rig.path().join("file");
            let mut file = File::create_new(&path).unwrap();
            file.write_all(b"durable").unwrap();
            file.sync_data().unwrap();
            file.write_all(b", and not").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"durable, and not");
            stand.rig.cut_power();
            let mut found = Vec::new();
            File::open(&path).unwrap().read_to_end(&mut found).unwrap();
            assert_eq!(found, kept, "{mode}, direct_io {direct_io}");
        }
    }
}

#[test]
fn the_control_file_releases_what_hangs_and_shows_the_ledger() {
    let Some(stand) = Stand::new("fsync.faults = [{ at = 1, hang = 'released' }]") else { return };
    let file = File::create_new(stand.rig.path().join("file")).unwrap();
    let syncing = std::thread::spawn(move || file.sync_data());
    stand.wait_for_hang(1, |entry| entry.kind == Kind::Fdatasync);
    let control = stand.rig.path().join(".rig");
    assert!(fs::read_to_string(&control).unwrap().contains("fdatasync\tfile"));
    assert!(fs::write(&control, "nonsense").is_err());
    fs::write(&control, "release\n").unwrap();
    syncing.join().unwrap().unwrap();
    until("the ledger shows the answer", || stand.barriers()[0].outcome == Outcome::Done(0));
    assert!(stand.work_directories().iter().all(|name| name == "file"));
}

#[test]
fn a_rig_that_is_dropped_lets_go_of_what_hangs() {
    let Some(stand) = Stand::new("fsync.faults = [{ at = 1, hang = 'released' }]") else { return };
    let path = stand.rig.path().to_owned();
    let file = File::create_new(path.join("file")).unwrap();
    let syncing = std::thread::spawn(move || file.sync_data());
    stand.wait_for_hang(1, |entry| entry.kind == Kind::Fdatasync);
    drop(stand);
    syncing.join().unwrap().unwrap();
    assert!(!path.exists());
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(path.to_str().unwrap()));
}

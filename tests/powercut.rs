//! `powercut`: what is acknowledged and lost is found, and nothing else; who keeps the acknowledgements may die.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use synctail_rig::{Rig, Script};

use crate::support::{Cmd, Folder, Outcome, Running, eventually, require};

const TOKEN: &str = "a-token-of-this-test";
const PATIENCE: Duration = Duration::from_secs(20);
const CUTS: u64 = 20;

fn powercut(args: &str) -> Cmd {
    Cmd::bare().env("SYNCTAIL_TOKEN", TOKEN).arg("powercut").args(args)
}

/// A witness on a free port of this machine, and its folder.
struct Witness {
    folder: Folder,
    address: String,
    running: Running,
}

impl Witness {
    fn start() -> Witness {
        Witness::start_under("env")
    }

    /// Started by another program, such as `prlimit`.
    fn start_under(wrapper: &str) -> Witness {
        let folder = Folder::new();
        let said = folder.at("said");
        let running = powercut("witness --listen 127.0.0.1:0 --store")
            .under(wrapper)
            .arg(folder.at("store"))
            .stdout_to(File::create(&said).unwrap())
            .start();
        let text = || fs::read_to_string(&said).unwrap();
        assert!(eventually(PATIENCE, || text().contains(", keeps ")), "{}", text());
        let address = text().split([' ', ',']).nth(2).unwrap().to_owned();
        Witness { folder, address, running }
    }

    fn acknowledged(&self) -> usize {
        let text = fs::read_to_string(self.folder.at("store")).unwrap();
        text.lines().filter(|line| line.contains("\"ack\"")).count()
    }

    fn write(&self, path: &Path, args: &str) -> Running {
        let address = self.address.as_str();
        powercut("write --quiet").arg(path).args(&format!("--witness {address} {args}")).start()
    }

    fn verify(&self, path: &Path, args: &str) -> Outcome {
        let address = self.address.as_str();
        let cmd = powercut("verify --format json").arg(path);
        cmd.args(&format!("--witness {address} {args}")).run()
    }

    /// Writes until `records` are acknowledged and dies, as a machine without power does.
    fn write_and_die(&self, path: &Path, records: usize, args: &str) {
        let before = self.acknowledged();
        let writer = self.write(path, args);
        assert!(eventually(PATIENCE, || self.acknowledged() >= before + records));
        writer.signal(Signal::SIGKILL);
        writer.wait();
    }
}

fn rig(fsync_mode: &str) -> Option<Rig> {
    let script = Script::parse(&format!("fsync_mode = '{fsync_mode}'")).unwrap();
    match Rig::mount(&script, 12) {
        Ok(rig) => Some(rig),
        Err(error) => {
            require("fuse", &format!("mount: {error}"));
            None
        }
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

const EVERY_WAY: &str = "--workers 8 --file-size 256KiB --arm syscall/fdatasync --arm syscall/dsync \
    --arm uring-linked/fdatasync --arm syscall/o_dsync --arm uring/fsync";

/// After so many records; seeded, so that a cut that failed can be made again.
fn moments() -> impl Iterator<Item = usize> {
    let mut random = fastrand::Rng::with_seed(20);
    (0..CUTS).map(move |_| random.usize(1..300))
}

#[test]
fn an_honest_disk_loses_nothing_in_twenty_cuts() {
    let Some(rig) = rig("honest") else { return };
    let witness = Witness::start();
    for records in moments() {
        witness.write_and_die(rig.path(), records, EVERY_WAY);
        rig.cut_power();
        let outcome = witness.verify(rig.path(), "--remove").exits(0);
        let answer = outcome.json();
        assert_eq!(answer["verified"]["lost"], 0, "after {records}: {answer:#}");
        assert!(number(&answer["acknowledged"]) >= records as u64, "{answer:#}");
        assert_eq!(fs::read_dir(rig.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_lying_disk_is_found_in_every_cut() {
    let Some(rig) = rig("lying") else { return };
    let witness = Witness::start();
    for records in moments() {
        witness.write_and_die(rig.path(), records, EVERY_WAY);
        rig.cut_power();
        let answer = witness.verify(rig.path(), "--remove").exits(4).json();
        let verified = &answer["verified"];
        assert!(number(&verified["lost"]) > 0, "after {records}: {answer:#}");
        let meaning = verified["meaning"].to_string();
        assert!(
            meaning.contains("the cache lied") || meaning.contains("metadata lost"),
            "{meaning}"
        );
        assert_eq!(fs::read_dir(rig.path()).unwrap().count(), 1, "evidence is not removed");
        fs::remove_dir_all(fs::read_dir(rig.path()).unwrap().next().unwrap().unwrap().path())
            .unwrap();
    }
}

#[test]
fn a_witness_that_dies_and_comes_back_costs_nothing() {
    let (folder, mut witness) = (Folder::new(), Witness::start());
    let mut writer = witness.write(folder.path(), "--workers 2");
    assert!(eventually(PATIENCE, || witness.acknowledged() > 10));
    witness.running.signal(Signal::SIGKILL);
    assert!(writer.wait_for(Duration::from_millis(700)).is_none(), "it waits for the witness");
    let listen = format!("witness --listen {} --store", witness.address);
    witness.running = powercut(&listen).arg(witness.folder.at("store")).start();
    let before = witness.acknowledged();
    assert!(eventually(PATIENCE, || witness.acknowledged() > before + 10), "it goes on");
    writer.signal(Signal::SIGINT);
    assert_eq!(writer.wait().code, Some(130));
    let answer = witness.verify(folder.path(), "--remove").exits(0).json();
    assert_eq!(answer["verified"]["ended_by_itself"], true);
}

#[test]
fn a_witness_that_stays_away_ends_the_run_and_a_signal_ends_the_wait() {
    let (folder, witness) = (Folder::new(), Witness::start());
    let writer = witness.write(folder.path(), "--workers 2");
    assert!(eventually(PATIENCE, || witness.acknowledged() > 3));
    witness.running.signal(Signal::SIGKILL);
    writer.signal(Signal::SIGTERM);
    let outcome = writer.wait();
    assert_eq!(outcome.code, Some(143), "{}", outcome.all());
    let refused = witness.write(folder.path(), "").wait();
    assert_eq!(refused.code, Some(3), "{}", refused.all());
    assert!(refused.stderr_text().contains("reach the witness at"), "{}", refused.all());
}

#[test]
fn a_signal_does_not_wait_for_a_witness_that_is_silent() {
    let (folder, witness) = (Folder::new(), Witness::start());
    let mut writer = witness.write(folder.path(), "--workers 2");
    assert!(eventually(PATIENCE, || witness.acknowledged() > 3));
    witness.running.signal(Signal::SIGSTOP);
    assert!(writer.wait_for(Duration::from_millis(300)).is_none(), "it waits for an answer");
    writer.signal(Signal::SIGINT);
    // Much less than the 10 s that an answer may take, and more than the second after a signal.
    let outcome = writer.wait_for(Duration::from_secs(8)).expect("it ends after a signal");
    assert_eq!(outcome.code, Some(130), "{}", outcome.all());
    assert!(outcome.stderr_text().contains("had not answered"), "{}", outcome.all());
    witness.running.signal(Signal::SIGCONT);
    witness.verify(folder.path(), "--remove").exits(0);
}

#[test]
fn a_witness_outlives_more_connections_than_it_can_take() {
    const FILES_MAX: usize = 12;
    let folder = Folder::new();
    let witness = Witness::start_under(&format!("prlimit --nofile={FILES_MAX}"));
    let writer = witness.write(folder.path(), "--workers 16");
    let files = format!("/proc/{}/fd", witness.running.pid());
    // The limit is on the numbers, whatever else was inherited above them.
    let full = || (0..FILES_MAX).all(|number| Path::new(&format!("{files}/{number}")).is_symlink());
    assert!(eventually(PATIENCE, full));
    writer.signal(Signal::SIGKILL);
    writer.wait();
    let answer = witness.verify(folder.path(), "").json();
    assert!(answer["error"].is_null() && answer["acknowledged"].is_u64(), "{answer:#}");
}

#[test]
fn a_run_that_promised_nothing_says_nothing() {
    let (folder, other) = (Folder::new(), Folder::in_memory());
    let store = other.at("acks");
    let write = powercut("write --quiet --workers 1 --duration 100ms").arg(folder.path());
    write.arg("--local").arg(&store).run().exits(0);
    let kept = fs::read_to_string(&store).unwrap();
    let plan = kept.lines().next().unwrap().to_owned() + "\n";
    fs::write(&store, plan).unwrap();
    let verify = powercut("verify").arg(folder.path()).arg("--local").arg(&store);
    let outcome = verify.run().exits(3);
    assert!(outcome.stdout_text().contains("nothing was acknowledged"), "{}", outcome.all());
}

#[test]
fn who_does_not_know_the_token_is_not_let_in() {
    let (folder, witness) = (Folder::new(), Witness::start());
    let args = format!("--witness {} --duration 1s", witness.address);
    let stranger = Cmd::bare().env("SYNCTAIL_TOKEN", "another-token").arg("powercut").arg("write");
    let outcome = stranger.arg(folder.path()).args(&args).run().exits(3);
    assert!(outcome.stderr_text().contains("token"), "{}", outcome.all());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(witness.acknowledged(), 0);
}

#[test]
fn acknowledgements_may_lie_on_another_disk_and_on_no_other_place() {
    let (folder, other) = (Folder::new(), Folder::in_memory());
    let write = |local: &Path| {
        let cmd = powercut("write --quiet --duration 300ms").arg(folder.path());
        cmd.arg("--local").arg(local).run()
    };
    write(&folder.at("acks")).exits(2).complains("lies on the storage under test");
    fs::remove_file(folder.at("acks")).unwrap();
    write(&other.at("acks")).exits(0);
    let verify = powercut("verify --format json --remove").arg(folder.path());
    let answer = verify.arg("--local").arg(other.at("acks")).run().exits(0).json();
    assert!(number(&answer["verified"]["survived"]) > 0, "{answer:#}");
    let mistyped = powercut("verify").arg(folder.path()).arg("--local").arg(other.at("asks"));
    mistyped.run().exits(3).complains("--local: open");
    assert!(!other.at("asks").exists(), "a mistyped name makes no file");
    let unknown = powercut("verify").arg(folder.path()).arg("--local").arg(other.at("acks"));
    let outcome = unknown.args("--run 00000000000000000000000000000000").run().exits(3);
    assert!(outcome.stderr_text().contains("does not know run"), "{}", outcome.all());
}

use super::*;
use crate::powercut::block::encode;
use synctail_bench::Arm;

const RUN: &str = "000000000000000000000000000000ff";
const BYTES: u64 = 1_024;

struct Disk {
    dir: tempfile::TempDir,
    plan: Plan,
}

impl Disk {
    fn new(layout: Layout) -> Disk {
        let worker = Worker {
            arm: Arm::DEFAULT,
            layout,
            block_size_bytes: BYTES,
            file_size_bytes: 10 * BYTES,
        };
        let plan = Plan {
            run: RUN.to_owned(),
            boot_id: None,
            directory: "d".to_owned(),
            workers: vec![worker],
        };
        Disk { dir: tempfile::tempdir().unwrap(), plan }
    }

    fn record(&self, sequence: u64) -> Vec<u8> {
        let run = self.plan.run_number().unwrap();
        encode(Identity { run, worker: 0, sequence }, BYTES as usize)
    }

    fn file(&self, number: u64) -> std::path::PathBuf {
        self.dir.path().join(Worker::file_name(0, number))
    }

    fn put(&self, sequence: u64, bytes: &[u8]) {
        let place = self.plan.workers[0].location(sequence);
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.file(place.file))
            .unwrap();
        file.write_all_at(bytes, place.offset_bytes).unwrap();
    }

    fn write(&self, sequences: std::ops::Range<u64>) {
        sequences.for_each(|sequence| self.put(sequence, &self.record(sequence)));
    }

    fn verify(&self, acknowledged: u64) -> WorkerResult {
        let acks = (0..acknowledged).map(|sequence| (sequence, 10_000 + sequence)).collect();
        let dir = DirHandle::open(self.dir.path()).unwrap();
        verify(&self.plan, Some(&dir), &[acks]).unwrap().remove(0)
    }
}

fn kinds(result: &WorkerResult) -> Vec<(u64, LossKind)> {
    result.losses.iter().map(|loss| (loss.sequence, loss.kind)).collect()
}

#[test]
fn what_is_all_there_is_found_to_be() {
    for layout in [Layout::Append, Layout::Overwrite] {
        let disk = Disk::new(layout);
        disk.write(0..35);
        let result = disk.verify(35);
        assert_eq!((result.counts.lost(), result.acknowledged), (0, 35), "{layout:?}");
        assert_eq!(result.survived + result.superseded, 35, "{layout:?}");
    }
}

#[test]
fn each_way_to_be_gone_has_its_name() {
    let disk = Disk::new(Layout::Append);
    disk.write(0..25);
    disk.put(3, &vec![0; BYTES as usize]);
    disk.put(4, &vec![7; BYTES as usize]);
    let mut torn = disk.record(5);
    torn[512..].fill(0);
    disk.put(5, &torn);
    std::fs::remove_file(disk.file(1)).unwrap();
    File::options().write(true).open(disk.file(2)).unwrap().set_len(3 * BYTES + 500).unwrap();
    let result = disk.verify(25);
    let gone = (10..20).map(|sequence| (sequence, LossKind::FileMissing));
    let expected: Vec<(u64, LossKind)> =
        [(3, LossKind::Zeros), (4, LossKind::Foreign), (5, LossKind::Torn)]
            .into_iter()
            .chain(gone)
            .chain([(23, LossKind::Torn), (24, LossKind::FileTooShort)])
            .collect();
    assert_eq!(kinds(&result), expected);
    assert_eq!((result.counts.lost(), result.survived), (15, 10));
    assert_eq!(result.ages.oldest_ms, Some(21));
}

#[test]
fn an_older_record_in_its_place_is_stale_and_a_later_one_is_not() {
    let disk = Disk::new(Layout::Overwrite);
    disk.write(0..16);
    // Acknowledged up to 14; the one under way to the place of record 5 arrived whole.
    assert_eq!(disk.verify(15).counts.lost(), 0);
    // Acknowledged up to 18: 16, 17 and 18 are not there, their places hold 6, 7 and 8.
    let result = disk.verify(19);
    let stale = [16, 17, 18].map(|sequence| (sequence, LossKind::Stale));
    assert_eq!(kinds(&result), stale);
    assert_eq!((result.counts.data(), result.survived), (3, 7));
}

#[test]
fn a_record_under_way_may_tear_the_one_it_replaces_and_no_other() {
    let disk = Disk::new(Layout::Overwrite);
    disk.write(0..15);
    let mixed = |old: u64, new: u64| {
        let (old, new) = (disk.record(old), disk.record(new));
        [&new[..512], &old[512..]].concat()
    };
    disk.put(5, &mixed(5, 15));
    let result = disk.verify(15);
    assert_eq!(kinds(&result), [(5, LossKind::TornUnderWay)]);
    assert_eq!(result.counts.lost(), 0);
    disk.put(6, &mixed(6, 16));
    disk.put(5, &[&disk.record(5)[..512], &[9; 512][..]].concat());
    let result = disk.verify(15);
    assert_eq!(kinds(&result), [(5, LossKind::Torn), (6, LossKind::Torn)]);
}

#[test]
fn a_directory_that_is_gone_takes_everything_with_it() {
    let disk = Disk::new(Layout::Append);
    let acks = Acks::from([(0, 5), (1, 900)]);
    let result = verify(&disk.plan, None, &[acks]).unwrap().remove(0);
    assert_eq!(result.counts.file_missing, 2);
    assert_eq!((result.ages.below_100ms, result.ages.below_1s), (1, 1));
}

#[test]
fn what_cannot_be_read_is_neither_there_nor_gone() {
    let disk = Disk::new(Layout::Append);
    std::fs::create_dir(disk.file(0)).unwrap();
    let acks = Acks::from([(0, 5)]);
    let dir = DirHandle::open(disk.dir.path()).unwrap();
    assert!(verify(&disk.plan, Some(&dir), &[acks]).is_err());
}

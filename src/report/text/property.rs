//! What holds for every record: 80 columns, nothing that steers a terminal, JSON that reads back.

use synctail_bench::{Arm, Layout};

use super::*;
use crate::policy::Policy;
use crate::record::{Block, ErrorReport, Metric, Mount, Record, Unknown};
use crate::report::json;
use crate::verdict::sample_record::pairs;
use crate::verdict::{JudgeOptions, judge};

/// Eighths below this are read back exactly; the JSON parser may miss the last digit of others.
const EXACT: f64 = 1e12;

/// xorshift64*: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Any magnitude from nanoseconds to centuries, each as likely.
    fn time_ns(&mut self) -> u64 {
        let shift = self.below(62) + 3;
        self.next().checked_shr(shift as u32).unwrap_or(0)
    }

    fn some<T>(&mut self, value: impl FnOnce(&mut Random) -> T) -> Option<T> {
        if self.chance() { Some(value(self)) } else { None }
    }

    fn rate(&mut self) -> f64 {
        (self.time_ns() as f64 % EXACT).round() / 8.0
    }

    /// A path, a message or an attack.
    fn words(&mut self) -> String {
        const PIECES: [&str; 9] =
            ["/var/lib", " ", "  ", "\x1b[2J", "\n", "漢字", "\u{202e}", "a-word", "/deep"];
        let length = self.below(40);
        (0..length).map(|_| PIECES[self.below(PIECES.len() as u64) as usize]).collect()
    }
}

fn record(random: &mut Random) -> Record {
    let arms = Arm::all();
    let arm = arms[random.below(arms.len() as u64) as usize];
    let workers: Vec<Vec<(u64, u64)>> = (0..random.below(5))
        .map(|_| {
            let (write, barrier) = (random.time_ns(), random.time_ns());
            (0..random.below(300)).map(|i| (write / (i + 1), barrier / (i % 7 + 1))).collect()
        })
        .collect();
    let mut record = pairs(arm, &workers);
    let statuses = [Status::Complete, Status::Interrupted, Status::TimedOut, Status::Failed];
    record.status = statuses[random.below(4) as usize];
    record.in_flight = (0..random.below(12))
        .map(|_| InFlight {
            worker: random.below(6),
            stage: "measure".into(),
            operation: random.some(Random::words),
            at_least_ns: random.time_ns(),
        })
        .collect();
    record.error = random.some(|random| ErrorReport {
        stage: "measure".into(),
        operation: "fsync".into(),
        errno: Some(5),
        errno_name: None,
        message: random.words(),
        remedy: None,
    });
    record.pairs_per_s = random.some(|random| random.rate());
    record.wall_ns = random.some(Random::time_ns);
    vary_plan(&mut record, random);
    vary_substrate(&mut record, random);
    for mean in means(&mut record) {
        *mean = (*mean % EXACT).round() / 8.0;
    }
    record
}

fn means(record: &mut Record) -> Vec<&mut f64> {
    let Some(all) = &mut record.distributions else { return Vec::new() };
    let own = all.workers.iter_mut().map(|worker| &mut worker.parts);
    std::iter::once(&mut all.pooled)
        .chain(own)
        .flat_map(|p| [p.write.as_mut(), p.barrier.as_mut(), Some(&mut p.total)])
        .flatten()
        .map(|distribution| &mut distribution.mean_ns)
        .collect()
}

fn vary_plan(record: &mut Record, random: &mut Random) {
    if random.below(8) == 0 {
        record.plan = None;
        return;
    }
    let Some(plan) = &mut record.plan else { return };
    plan.path = random.words();
    plan.block_size_bytes = random.next();
    plan.bytes_on_disk = random.next();
    plan.memory_bytes = random.next();
    plan.layout = if random.chance() { Layout::Append } else { Layout::Unwritten };
    plan.rate_per_s = random.some(|random| random.rate());
    if random.chance() {
        (plan.iterations, plan.duration_ns) = (None, Some(random.time_ns()));
    }
}

fn vary_substrate(record: &mut Record, random: &mut Random) {
    if random.below(8) == 0 {
        record.substrate = None;
        return;
    }
    let Some(substrate) = &mut record.substrate else { return };
    let filesystems = ["tmpfs", "ext4", "fuse.a name"];
    substrate.filesystem = random.some(|random| filesystems[random.below(3) as usize].to_owned());
    substrate.mount = random.some(|random| Mount {
        mount_point: random.words(),
        options: random.words(),
        ..Mount::default()
    });
    substrate.block = (0..random.below(4))
        .map(|_| Block {
            name: random.words(),
            kind: "loop".into(),
            backing_file: random.some(Random::words),
            model: random.some(Random::words),
            ..Block::default()
        })
        .collect();
    let reason = random.words();
    substrate.unknown = vec![Unknown { fact: "block".into(), reason }];
}

#[test]
fn every_record_fits_steers_nothing_and_reads_back() {
    let seed = 0x5eed_0000_0000_0007;
    let mut random = Random(seed);
    let mut verdicts = 0;
    for round in 0..600 {
        let mut record = record(&mut random);
        let policy = Policy::named(Policy::NAMES[random.below(2) as usize]).unwrap();
        let options = JudgeOptions {
            metric: random.some(|r| if r.chance() { Metric::Total } else { Metric::Barrier }),
            fail_at: None,
            require_proof: random.chance(),
            deadline_ns: None,
        };
        record.verdict = judge(&record, &policy, &options);
        verdicts += u32::from(record.verdict.is_some());
        for bits in 0..4 {
            let options = TextOptions { verbose: bits & 1 != 0, recommend: bits & 2 != 0 };
            let text = render(&record, &options);
            for line in text.lines() {
                let columns = line.chars().count();
                assert!(columns <= 80, "seed {seed:#x}, round {round}: {columns}: {line:?}");
                assert!(!line.ends_with(' '), "seed {seed:#x}, round {round}: {line:?}");
                let steered = line.chars().any(|c| c.is_control() || c == '\u{202e}');
                assert!(!steered, "seed {seed:#x}, round {round}: {line:?}");
            }
            assert!(text.is_empty() || text.ends_with('\n'));
        }
        let back: Record = serde_json::from_str(&json::render(&record, true)).unwrap();
        let (was, is) =
            (serde_json::to_value(&record).unwrap(), serde_json::to_value(&back).unwrap());
        assert_eq!(was, is, "seed {seed:#x}, round {round}");
    }
    assert!((100..600).contains(&verdicts), "both kinds occur: {verdicts}");
}

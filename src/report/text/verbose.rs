//! The text of the optional parts: recommendation and details, byte for byte.

use super::golden::{MS, US, VERBOSE, judged, single, text};
use super::*;
use crate::record::{Block, Completion, Machine, Mount, RingEffective, Substrate, Unknown};
use crate::verdict::sample_record::{FDATASYNC, barriers, pairs};

const RECOMMEND: TextOptions = TextOptions { verbose: false, recommend: true };

#[test]
fn recommendations() {
    let advice = |record: Record, policy: &str| {
        let text = render(&judged(record, policy), &RECOMMEND);
        text[text.find("recommend:").expect("advice")..].to_owned()
    };
    let before_prediction = |record: Record| {
        let text = advice(record, "jetstream");
        let (advice, prediction) = text.split_once("  predicted for").expect("a prediction");
        assert_eq!(prediction.lines().count(), 10, "{prediction}");
        advice.to_owned()
    };
    let slow = || barriers(&[vec![230 * MS; 100]]);
    let expected = "\
recommend: sync_interval: 500ms
    why: twice p99 of 230ms, rounded up; a crash may lose the last 500ms of
      acknowledged messages on each node that loses power; that flushes reach
      the device is not proved
    price: 31.5 % of acks still wait behind the background flush (94.5 % with 3
      replicas); a power cut may lose the last 500ms
    clean: sync_interval: 30s: 0.8 % of acks wait (2.3 % with 3 replicas); a
      power cut may lose the last 30s
    config: jetstream { sync_interval: \"500ms\" }
  predicted for sync_interval: always, 200us of an ack the server's:
    PubAck p50=  230ms  p99=  230ms  R1: 1 flush
    PubAck p50=  460ms  p99=  460ms  R3, 2.15 and later: 2 flushes
    PubAck p50=  690ms  p99=  690ms  R3, up to 2.14: 3 flushes
    CreateStream    920ms  R1: 4 flushes
    CreateStream    1.84s  R1 in a cluster, 2.15 and later: 8 flushes
    CreateStream    1.38s  R1 in a cluster, up to 2.14: 6 flushes
    CreateStream    5.75s  R3, 2.15 and later: 25 flushes, too late
    CreateStream    4.83s  R3, up to 2.14: 21 flushes
    CreateStream    2.99s  R3, any sync_interval: 13 flushes
";
    assert_eq!(advice(slow(), "jetstream"), expected);
    let expected = "\
recommend: sync_interval: always
    why: p99 of 4.50ms is short enough to flush before every ack, and then a
      crash loses nothing acknowledged; that flushes reach the device is not
      proved
    config: jetstream { sync_interval: \"always\" }
";
    assert_eq!(before_prediction(single()), expected);
    let expected = "\
recommend: no sync_interval
    why: twice the maximum of 70.0s is above 2m, the server's default; fix the
      storage
";
    assert_eq!(before_prediction(barriers(&[vec![70_000 * MS]])), expected);
    let slower = before_prediction(barriers(&[vec![2_000 * MS; 100]]));
    let clean = "    clean: sync_interval: default 2m: 1.6 % of acks wait (4.9 % with 3\n";
    assert!(slower.contains(clean), "{slower}");
    let expected = "recommend: nothing; policy etcd has no setting for it\n";
    assert_eq!(advice(slow(), "etcd"), expected);
}

#[test]
fn verbose() {
    let mut record =
        pairs(FDATASYNC, &[vec![(9 * US, 1_500 * US); 1_000], vec![(9 * US, 1_800 * US); 50]]);
    record.substrate = Some(substrate());
    let effective = record.effective.as_mut().unwrap();
    effective.scheduling_class = Some("SCHED_OTHER".into());
    effective.ring = Some(RingEffective {
        flags: vec!["single_issuer".into(), "defer_taskrun".into()],
        registered: false,
        iowq: "inherited".into(),
        cqe_skip: false,
    });
    record.counters.as_mut().unwrap().overlap_share = Some(0.5);
    record.observations = vec![Finding {
        code: "max_samples".into(),
        severity: Severity::Warning,
        text: "stopped at --max-samples".into(),
        evidence: "1050 samples".into(),
    }];
    let expected = "\
syscall/fdatasync, xfs, append, 2 workers x 1000 x 4 KiB
  pooled        p50= 1.50ms  p95= 1.50ms  p99= 1.80ms  max= 1.80ms
  worst worker                            p99= 1.50ms  max= 1.80ms
  wall 8.40s   verdict: GOOD: SyncAlways is safe on this storage
  durability: unproved: no proof of a flush was collected in this run
  confidence: too few samples: fewer than 100 pairs of a worker
  warning: stopped at --max-samples (1050 samples)
  info: a worker with fewer than 100 pairs is judged on its maximum (worker 1:
    50)
  path: /var/lib/x
  plan: 2 MiB on disk at most, 2040 KiB written, 64 KiB of memory, warm-up 10,
    time-out 60.0s
  write        p50= 9.00us  p95= 9.00us  p99= 9.00us  p99.9= 9.00us  max= 9.00us
  barrier      p50= 1.50ms  p95= 1.50ms  p99= 1.80ms  p99.9= 1.80ms  max= 1.80ms
  total        p50= 1.50ms  p95= 1.50ms  p99= 1.80ms  p99.9= 1.80ms  max= 1.80ms
  worker 0: cpu 0, 1.00us to 1.50s, 1000 pairs, total p99 1.50ms, max 1.50ms
  worker 1: cpu 1, 1.00us to 90.4ms, 50 pairs, total p99 -, max 1.80ms
  scheduling: SCHED_OTHER
  ring: single_issuer, defer_taskrun, not registered, iowq inherited
  clock: tsc, 12.5 ns a read, drift 0.50 ppm, own share of a pair 25ns, skew
    20ns
  run: wall 8.40s, 476 pairs/s, all workers at once 50.0 %
  mount: /dev/dm-0 on /var/lib (rw,relatime; rw,attr2)
  block: dm-0: dm, over nvme0n1
  block: nvme0n1: disk, Model X, write back, fua, solid state, sectors 512/4096
    B, scheduler none, completions on cpu 1 3
  machine: 6.18.0, Some CPU, virtual
  unknown: cache of the host: a hypervisor hides it
  power-loss protection of nvme0n1: unknown: the device behind it is not seen
";
    assert_eq!(text(record, &VERBOSE), expected);
}

fn substrate() -> Substrate {
    Substrate {
        filesystem: Some("xfs".into()),
        mount: Some(Mount {
            mount_point: "/var/lib".into(),
            options: "rw,relatime".into(),
            super_options: "rw,attr2".into(),
            source: "/dev/dm-0".into(),
            ..Mount::default()
        }),
        upper_filesystem: None,
        zfs: None,
        limits: Vec::new(),
        block: vec![
            Block {
                name: "dm-0".into(),
                kind: "dm".into(),
                below: vec!["nvme0n1".into()],
                ..Block::default()
            },
            Block {
                name: "nvme0n1".into(),
                kind: "disk".into(),
                model: Some("Model X".into()),
                write_cache: Some("write back".into()),
                fua: Some(true),
                rotational: Some(false),
                logical_block_size_bytes: Some(512),
                physical_block_size_bytes: Some(4_096),
                scheduler: Some("none".into()),
                completion: Some(Completion { cpus: vec![1, 3], interrupts: vec![] }),
                ..Block::default()
            },
        ],
        machine: Machine {
            container: None,
            product: None,
            kernel: Some("6.18.0".into()),
            cpu_model: Some("Some CPU".into()),
            virtualised: Some(true),
            clocksource: None,
            ..Machine::default()
        },
        unknown: vec![Unknown {
            fact: "cache of the host".into(),
            reason: "a hypervisor hides it".into(),
        }],
    }
}

//! Records made by hand, for the tests of verdict and report.

use synctail_bench::{Arm, Barrier, Distribution, Engine, Layout, SyncFd};

use crate::record::{
    ClockReport, Counters, Distributions, Effective, InFlight, Metric, Parts, PlanRecord, Record,
    SCHEMA, Status, Substrate, Tool, WorkerDistributions,
};

/// Linux's default arm, on every system.
pub const FDATASYNC: Arm =
    Arm { engine: Engine::Syscall, barrier: Barrier::Fdatasync, direct: false };

/// A complete run of [`FDATASYNC`] whose writes take no time, so that barrier and total are equal;
/// one list of barrier times a worker.
pub fn barriers(workers: &[Vec<u64>]) -> Record {
    let pairs_of: Vec<Vec<(u64, u64)>> =
        workers.iter().map(|ns| ns.iter().map(|&ns| (0, ns)).collect()).collect();
    pairs(FDATASYNC, &pairs_of)
}

/// A complete run: for each worker its pairs of write and barrier, of which the arm's parts are kept.
/// A worker without pairs is left out, and so are the distributions where nobody has any.
pub fn pairs(arm: Arm, workers: &[Vec<(u64, u64)>]) -> Record {
    let all: Vec<(u64, u64)> = workers.iter().flatten().copied().collect();
    let own = workers.iter().enumerate().filter_map(|(i, pairs)| {
        Some(WorkerDistributions {
            worker: i as u64,
            cpu: Some(i as u64),
            started_ns: 1_000,
            ended_ns: pairs.iter().fold(1_000, |end: u64, (w, b)| end.saturating_add(w + b)),
            parts: parts(arm, pairs)?,
        })
    });
    let workers_with_pairs: Vec<WorkerDistributions> = own.collect();
    let iterations = workers.iter().map(Vec::len).max().unwrap_or(0) as u64;
    Record {
        distributions: parts(arm, &all)
            .map(|pooled| Distributions { pooled, workers: workers_with_pairs }),
        plan: Some(plan(arm, workers.len() as u64, iterations)),
        counters: Some(Counters { pairs: all.len() as u64, ..Counters::default() }),
        ..empty()
    }
}

/// An operation of `worker` that had not returned in the measured part.
pub fn in_flight(worker: u64, at_least_ns: u64) -> InFlight {
    InFlight { worker, stage: "measure".into(), operation: None, at_least_ns }
}

fn parts(arm: Arm, pairs: &[(u64, u64)]) -> Option<Parts> {
    let column = |of: fn(&(u64, u64)) -> u64| {
        Distribution::of(&mut pairs.iter().map(of).collect::<Vec<u64>>())
    };
    Some(Parts {
        write: column(|pair| pair.0).filter(|_| arm.has_own_write()),
        barrier: column(|pair| pair.1).filter(|_| arm.has_own_barrier()),
        total: column(|pair| pair.0 + pair.1)?,
        service: None,
        late: None,
    })
}

fn plan(arm: Arm, workers: u64, iterations: u64) -> PlanRecord {
    PlanRecord {
        path: "/var/lib/x".into(),
        path_bytes_hex: None,
        arm,
        block_size_bytes: 4_096,
        writes_per_barrier: 1,
        sync_fd: SyncFd::Own,
        workers,
        iterations: Some(iterations),
        duration_ns: None,
        warmup: 10,
        layout: Layout::Append,
        files: "own".into(),
        file_size_bytes: 8 << 20,
        max_bytes: 1 << 30,
        depth: 1,
        rate_per_s: None,
        metric: Metric::Barrier,
        policy: "jetstream".into(),
        load: None,
        null: false,
        pin: "auto".into(),
        seed: 7,
        timeout_ns: 60_000_000_000,
        max_samples: 10_000_000,
        bytes_on_disk: 2 << 20,
        bytes_written: Some(2_088_960),
        memory_bytes: 64 << 10,
    }
}

/// A record of nothing, with ext4 under it.
pub fn empty() -> Record {
    Record {
        schema: SCHEMA.into(),
        tool: Tool {
            name: "synctail".into(),
            version: "0.1.0".into(),
            target: "x86_64-linux".into(),
        },
        started_at: "2026-08-10T12:00:00Z".into(),
        command: vec!["synctail".into(), "check".into(), "/var/lib/x".into()],
        status: Status::Complete,
        error: None,
        plan: None,
        effective: Some(Effective::default()),
        clock: Some(ClockReport {
            source: "tsc".into(),
            read_ns: 12.5,
            ticks_per_s: 2.5e9,
            drift_ppm: 0.5,
            skew_ns: Some(20),
            floor_ns: Some(25),
            kernel_clocksource: Some("tsc".into()),
        }),
        substrate: Some(Substrate { filesystem: Some("ext4".into()), ..Substrate::default() }),
        distributions: None,
        proof: None,
        interval: None,
        load: None,
        trace: None,
        in_flight: Vec::new(),
        counters: None,
        wall_ns: Some(8_400_000_000),
        pairs_per_s: Some(476.25),
        source: None,
        observations: Vec::new(),
        verdict: None,
        samples: None,
    }
}

//! Single steps of a run: a tick read, one recorded sample, one pair on nothing, and the analysis
//! afterwards, from samples to exact percentiles.

#[allow(dead_code, reason = "criterion has a spread of its own")]
#[path = "../../sys/benches/figures/mod.rs"]
mod figures;

use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion};
use figures::is_trial;
use synctail_bench::{
    Arm, Board, BoardSize, Bounds, Closed, DeviceFacts, Distribution, Lane, Layout, Length,
    MeasureLoop, MemoryPreparer, NullTarget, Plan, RingOptions, Sink, SyncFd, Target, Visitor,
};
use synctail_sys::{Clock, TscClock, reserve_words};

const LANE_SAMPLES: u64 = 4_000;
/// Lanes are filled in turn, so that samples go to memory that is touched but not in the cache, as in
/// a long run: 24 MB in all.
const LANES: u64 = 256;

static NO_STOP: AtomicU64 = AtomicU64::new(0);

fn board() -> Board {
    let size = BoardSize { workers: LANES, depth: 1, samples_per_worker: LANE_SAMPLES };
    let words = reserve_words(size.words() as usize).expect("24 MB of memory");
    let board = Board::new(words, size);
    MemoryPreparer::new(board).advance();
    board
}

/// Time of `total` samples, which `fill` puts into one lane after the other.
fn filling(board: &Board, total: u64, mut fill: impl FnMut(&mut Lane, u64)) -> Duration {
    let mut time = Duration::ZERO;
    let starts = (0..total).step_by(LANE_SAMPLES as usize);
    for (first, worker) in starts.zip((0..LANES).cycle()) {
        let mut lane = Lane::new(board, worker);
        let start = Instant::now();
        fill(&mut lane, LANE_SAMPLES.min(total - first));
        time += start.elapsed();
    }
    time
}

fn tick(criterion: &mut Criterion, clock: &TscClock) {
    criterion.bench_function("tick read", |bench| bench.iter(|| clock.ticks()));
}

/// What a pair costs besides its operations and clock reads.
fn sample(criterion: &mut Criterion, board: Board) {
    let record = |lane: &mut Lane, count: u64| {
        for tick in 1..=count {
            let (start, middle, end) = black_box((tick, tick + 1, tick + 2));
            assert!(lane.has_room());
            lane.begin(0, start);
            lane.commit(0, start, middle, end).expect("ticks that ascend");
        }
    };
    criterion.bench_function("recorded sample", |bench| {
        bench.iter_custom(|total| filling(&board, total, record));
    });
}

fn plan(arm: Arm) -> Plan {
    Plan {
        arm,
        block_size_bytes: 4 << 10,
        writes_per_barrier: 1,
        sync_fd: SyncFd::Own,
        workers: 1,
        length: Length::Iterations(LANE_SAMPLES),
        warmup: 1,
        layout: Layout::Overwrite,
        segment_bytes: 16 << 20,
        segments_kept: 1,
        depth: 1,
        ring: RingOptions::default(),
        cpus: vec![None],
        samples_per_worker: LANE_SAMPLES,
        rate: None,
        seed: 1,
    }
}

/// Runs the loop of an arm, whose type only a visitor can name.
struct Pairs<'a> {
    criterion: &'a mut Criterion,
    clock: &'a TscClock,
    board: Board,
    arm: Arm,
}

impl Visitor for Pairs<'_> {
    type Output = ();

    fn visit<L: MeasureLoop>(self, mut timed: L, _: DeviceFacts) {
        let Pairs { criterion, clock, board, arm } = self;
        let mut run = |lane: &mut Lane, pairs: u64| {
            let bounds = Bounds { pairs, deadline_tick: u64::MAX, stop: &NO_STOP };
            timed.run(clock, lane, &bounds, &mut Closed).expect("nothing does not fail");
        };
        criterion.bench_with_input(BenchmarkId::new("pair on nothing", arm), &(), |bench, ()| {
            bench.iter_custom(|total| filling(&board, total, &mut run));
        });
    }
}

fn pairs(criterion: &mut Criterion, clock: &TscClock, board: Board) {
    // One arm of each loop; a system that lacks one leaves it out.
    let loops = ["syscall/fdatasync", "syscall/dsync", "uring-linked/fdatasync"];
    for arm in loops.iter().filter_map(|arm| arm.parse().ok()) {
        let pairs = Pairs { criterion, clock, board, arm };
        let target = NullTarget { plan: plan(arm) };
        target.open(0, board, clock, pairs).expect("nothing can be opened");
    }
}

/// Latencies as a disk gives them: a body, and a tail in one of a hundred.
fn latencies(count: usize) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(1);
    let latency = |_| match random.u64(..100) {
        0 => 200_000 + random.u64(..20_000_000),
        _ => 80_000 + random.u64(..60_000),
    };
    (0..count).map(latency).collect()
}

/// Promised: all percentiles of ten million samples within a second of one core.
fn analysis(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analysis");
    group.sample_size(10);
    let counts: &[usize] = if is_trial() { &[1_000] } else { &[1_000_000, 10_000_000] };
    for &count in counts {
        let samples = latencies(count);
        group.bench_function(BenchmarkId::from_parameter(count), |bench| {
            let ranked = |samples: &mut Vec<u64>| Distribution::of(samples);
            bench.iter_batched_ref(|| samples.clone(), ranked, BatchSize::PerIteration);
        });
    }
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default().without_plots().configure_from_args();
    let clock = TscClock::new().expect("a usable TSC");
    let board = board();
    tick(&mut criterion, &clock);
    sample(&mut criterion, board);
    pairs(&mut criterion, &clock, board);
    analysis(&mut criterion);
    criterion.final_summary();
}

//! Rules of the engine, tested against the scripted device, and the real device on a temporary
//! directory. One module per rule, so that a red test names what broke.

mod bounds;
mod faults;
mod files;
mod hangs;
mod memory;
mod rates;
mod samples;
mod stops;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::fake::{BLOCK_BYTES, FakeClock, FakeTarget, Pair, Service, Shape, Step};
use crate::{
    Arm, Board, BoardSize, Chain, Layout, Length, Plan, Rate, RingOptions, RunReport, Sample,
    SyncFd,
};

/// Nothing here takes a second; a run that does not end fails its own test and not the suite.
const PATIENCE: Duration = Duration::from_secs(30);

const LINKED: Chain = Chain::Linked { datasync: true };
const TWO_TRIPS: Chain = Chain::TwoTrips { datasync: true };
const ONE_WRITE: Chain = Chain::Single { dsync: true };

fn ring(chain: Chain, depth: u32, quiet: bool) -> Shape {
    Shape::Ring { chain, depth, quiet, service: Service::Parallel }
}

/// Every shape of loop, at the depths where it behaves differently.
fn shapes() -> Vec<Shape> {
    let mut shapes = vec![Shape::Pair, Shape::Single];
    for depth in [1, 4, 16] {
        shapes.extend([ring(TWO_TRIPS, depth, false), ring(ONE_WRITE, depth, false)]);
        shapes.extend([ring(LINKED, depth, false), ring(LINKED, depth, true)]);
    }
    shapes
}

/// A run against a scripted device.
#[derive(Clone, Copy)]
struct Case {
    shape: Shape,
    workers: u64,
    length: Length,
    warmup: u64,
    samples: u64,
    blocks_per_segment: u64,
    segment_ns: u64,
    is_endless: bool,
    rate: Option<Rate>,
}

const PAUSE: u64 = 1_000;

type Script = Box<dyn Fn(Pair) -> Step + Send + Sync>;

impl Case {
    /// One worker, one discarded pair.
    fn of(shape: Shape, pairs: u64) -> Case {
        Case {
            shape,
            workers: 1,
            length: Length::Iterations(pairs),
            warmup: 1,
            samples: pairs,
            blocks_per_segment: 1 << 40,
            segment_ns: 0,
            is_endless: false,
            rate: None,
        }
    }

    /// A run that only a stop ends: its workers pause at their pair [`PAUSE`] until it comes, and
    /// one that did not see it would then fill its memory.
    fn endless(shape: Shape, workers: u64) -> Case {
        Case { workers, samples: 3 * PAUSE, is_endless: true, ..Case::of(shape, 1 << 40) }
    }

    fn plan(&self) -> Plan {
        Plan {
            // The scripted target looks at its own shape instead.
            arm: Arm::DEFAULT,
            block_size_bytes: BLOCK_BYTES,
            writes_per_barrier: 1,
            sync_fd: SyncFd::Own,
            workers: self.workers,
            length: self.length,
            warmup: self.warmup,
            layout: Layout::Append,
            segment_bytes: self.blocks_per_segment * BLOCK_BYTES,
            segments_kept: 1,
            depth: u64::from(self.shape.depth()),
            ring: RingOptions::default(),
            cpus: vec![None; self.workers as usize],
            samples_per_worker: self.samples,
            rate: self.rate,
            seed: 0,
        }
    }

    /// Starts the run on a thread of its own.
    fn start(self, script: impl Fn(Pair) -> Step + Send + Sync + 'static) -> Running {
        self.start_on(board_for(&self.plan()), script)
    }

    fn start_on(
        self,
        board: Board,
        script: impl Fn(Pair) -> Step + Send + Sync + 'static,
    ) -> Running {
        let script = move |pair: Pair| {
            if self.is_endless && pair.index == PAUSE {
                until("the stop", || board.is_stopped());
            }
            script(pair)
        };
        let mut target = FakeTarget::new(self.shape, self.warmup, Box::new(script) as Script);
        target.blocks_per_segment = self.blocks_per_segment;
        target.segment_ns = self.segment_ns;
        let target = Arc::new(target);
        let (sender, receiver) = channel();
        let shared = Arc::clone(&target);
        std::thread::spawn(move || {
            let report = crate::run(&self.plan(), &FakeClock, &*shared, board);
            let _ = sender.send(report);
        });
        Running { board, target, receiver }
    }

    fn run(self, script: impl Fn(Pair) -> Step + Send + Sync + 'static) -> Done {
        self.start(script).finish()
    }
}

struct Running {
    board: Board,
    target: Arc<FakeTarget<Script>>,
    receiver: Receiver<RunReport>,
}

impl Running {
    fn finish(self) -> Done {
        let report = self.receiver.recv_timeout(PATIENCE).expect("the run does not end");
        Done { board: self.board, target: self.target, report }
    }
}

struct Done {
    board: Board,
    target: Arc<FakeTarget<Script>>,
    report: RunReport,
}

impl Done {
    fn samples(&self, worker: u64) -> Vec<Sample> {
        self.board.samples(worker).collect()
    }
}

fn board_for(plan: &Plan) -> Board {
    let size = BoardSize {
        workers: plan.workers,
        depth: plan.depth,
        samples_per_worker: plan.samples_per_worker,
    };
    Board::new(synctail_sys::reserve_words(size.words() as usize).unwrap(), size)
}

/// Waits for another thread to come to a point that it is bound to reach.
pub(crate) fn until(what: &str, reached: impl Fn() -> bool) {
    let start = Instant::now();
    while !reached() {
        assert!(start.elapsed() < PATIENCE, "not reached: {what}");
        std::thread::yield_now();
    }
}

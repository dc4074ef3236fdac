//! Cost of measuring: the product's timed loop against the same two calls without a clock, in Rust and
//! in C, on tmpfs.
//!
//! One process, one thread pinned to one CPU, one file, one data arena; slices of 4,000 pairs, each
//! round forward and then backward. Only ratios within a round are compared, because a slice is a
//! thousand times shorter than the drift of a busy machine. `-- --fifo` keeps other programs out
//! (needs root); `-- --rounds N` for a longer look.

mod bare;
#[path = "../figures/mod.rs"]
mod figures;

use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use bare::{CLoop, RustLoop};
use figures::{Spread, is_trial, judge};
use synctail_bench::{
    Arm, Board, BoardSize, Bounds, Closed, DeviceFacts, FileTarget, Lane, Layout, Length,
    MeasureLoop, MemoryPreparer, Plan, RingOptions, Storage, SyncFd, Target, Visitor, WarmUp,
};
use synctail_sys::{Arena, Clock, DirHandle, TscClock, pin, reserve_words};

const BLOCK: u64 = 4 << 10;
const SEGMENT: u64 = 16 << 20;
const SLICE_PAIRS: u64 = 4_000;
/// Each timed slice takes another lane, so that samples go to memory that is touched but not in the
/// cache, as in a long run: 24 MB in all.
const LANES: u64 = 256;
const SAMPLE_BYTES: u64 = 24;

static NO_STOP: AtomicU64 = AtomicU64::new(0);

/// Ticks of the two slices that each loop has in one round.
#[derive(Clone, Copy, Default)]
struct Round {
    c: u64,
    rust: u64,
    timed: u64,
    c_again: u64,
}

/// Everything that is interleaved, but for the product's loop, whose type only a visitor can name.
struct Interleaved<'a> {
    clock: &'a TscClock,
    board: Board,
    dir: &'a Path,
    arena: Arena,
    rounds: u64,
    slice_pairs: u64,
}

impl Visitor for Interleaved<'_> {
    type Output = Result<Vec<Round>, Box<dyn Error>>;

    fn visit<L: MeasureLoop>(self, mut timed: L, _: DeviceFacts) -> Self::Output {
        let Interleaved { clock, board, dir, arena, rounds, slice_pairs: pairs } = self;
        // All of them write the same pages: other pages would be other cache lines.
        let file = || File::options().write(true).open(dir.join("w00000-000000"));
        let compiled = tempfile::tempdir()?;
        let mut c = CLoop::compile(compiled.path(), file()?, arena)?;
        let mut rust = RustLoop::new(file()?, arena);
        let bounds = Bounds { pairs, deadline_tick: u64::MAX, stop: &NO_STOP };
        timed
            .run(clock, &mut WarmUp::new(&board, 0), &bounds, &mut Closed)
            .map_err(|f| format!("{f:?}"))?;
        let mut slices = 0;
        let mut slice = |which: usize, round: &mut Round| {
            let mut lane = Lane::new(&board, slices % LANES);
            slices += 1;
            let start = clock.ticks();
            match which {
                0 | 3 => c.run(pairs),
                1 => rust.run(pairs),
                _ => drop(
                    timed
                        .run(clock, &mut lane, &bounds, &mut Closed)
                        .expect("a pair on tmpfs succeeds"),
                ),
            }
            let ticks = clock.ticks() - start;
            let Round { c, rust, timed, c_again } = round;
            *[c, rust, timed, c_again][which] += ticks;
        };
        let mut all = Vec::new();
        for number in 0..rounds as usize {
            // Whoever comes first finds the cache as the sleep left it: this slice counts for nobody.
            slice(0, &mut Round::default());
            let mut round = Round::default();
            // Another neighbour each round.
            let order = (0..4).map(|place| (place + number) % 4);
            order.clone().chain(order.rev()).for_each(|which| slice(which, &mut round));
            all.push(round);
            // Under SCHED_FIFO the kernel stops a thread that never sleeps for 50 ms in each second.
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(all)
    }
}

fn plan() -> Plan {
    Plan {
        arm: Arm::DEFAULT,
        block_size_bytes: BLOCK,
        writes_per_barrier: 1,
        sync_fd: SyncFd::Own,
        workers: 1,
        length: Length::Iterations(SLICE_PAIRS),
        warmup: 1,
        layout: Layout::Overwrite,
        segment_bytes: SEGMENT,
        segments_kept: 1,
        depth: 1,
        ring: RingOptions::default(),
        cpus: vec![None],
        samples_per_worker: SLICE_PAIRS,
        rate: None,
        seed: 1,
    }
}

fn board(samples_per_worker: u64) -> Result<Board, Box<dyn Error>> {
    let size = BoardSize { workers: LANES, depth: 1, samples_per_worker };
    Ok(Board::new(reserve_words(size.words() as usize)?, size))
}

fn measure(rounds: u64, slice_pairs: u64) -> Result<Vec<Round>, Box<dyn Error>> {
    let dir = tempfile::tempdir_in("/dev/shm")?;
    let clock = TscClock::new().ok_or("no usable TSC on this machine")?;
    let board = board(SLICE_PAIRS)?;
    MemoryPreparer::new(board).advance();
    let arena = Arena::new(BLOCK as usize, 1);
    let work = Arc::new(DirHandle::open(dir.path())?);
    let target = FileTarget {
        storage: Storage::Directory(work),
        arena,
        plan: plan(),
        allowed_cpus: Vec::new(),
    };
    let interleaved =
        Interleaved { clock: &clock, board, dir: dir.path(), arena, rounds, slice_pairs };
    target.open(0, board, &clock, interleaved).map_err(|fault| format!("{fault:?}"))?
}

/// What one more sample adds to the memory that is reserved.
fn bytes_per_sample() -> Result<u64, Box<dyn Error>> {
    let bytes = |samples| board(samples).map(|board| board.size().words() * 8);
    // Lanes are whole pages; 512 samples are three of them.
    Ok((bytes(512_000)? - bytes(0)?) / (512_000 * LANES))
}

fn print(rounds: &[Round], pairs: u64) -> Result<(), Box<dyn Error>> {
    let clock = TscClock::new().ok_or("no usable TSC")?;
    let ns = |ticks: i64| ticks as f64 / clock.nominal_ticks_per_s() * 1e9 / (2 * pairs) as f64;
    type Field = fn(&Round) -> u64;
    let loops: [(&str, Field); 4] = [
        ("C, untimed", |r| r.c),
        ("C, untimed, again", |r| r.c_again),
        ("Rust, untimed", |r| r.rust),
        ("synctail, timed", |r| r.timed),
    ];
    println!("tmpfs, pwrite 4 KiB + fdatasync, {} rounds of 2 x {pairs} pairs", rounds.len());
    for (name, field) in loops {
        let spread = Spread::of(rounds.iter().map(|round| ns(field(round) as i64)));
        println!("  {name:<28} {spread:.0} ns a pair");
    }
    // A ratio depends on what this machine's tmpfs costs; this does not.
    let added = rounds.iter().map(|round| ns(round.timed as i64 - round.rust as i64));
    println!("  timed - untimed              {:.1} ns a pair", Spread::of(added));
    let ratio = |a: Field, b: Field| {
        Spread::of(rounds.iter().map(|round| a(round) as f64 / b(round) as f64))
    };
    let timed = ratio(|r| r.timed, |r| r.rust);
    let rust = ratio(|r| 2 * r.rust, |r| r.c + r.c_again);
    println!("  C / C                        {}", ratio(|r| r.c_again, |r| r.c));
    println!("  Rust / C                     {rust}  at most 1.01: {}", judge(rust.median <= 1.01));
    println!(
        "  timed / untimed              {timed}  at most 1.05: {}",
        judge(timed.median <= 1.05)
    );
    Ok(())
}

/// Other programs wait while this thread runs; without the right to it the figures are only noisier.
fn take_priority() {
    let parameters = libc::sched_param { sched_priority: 10 };
    // SAFETY: reads one live struct; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if done != 0 {
        eprintln!("--fifo: {}", std::io::Error::last_os_error());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().collect();
    let rounds = args.iter().position(|arg| arg == "--rounds").and_then(|at| args.get(at + 1));
    let rounds = rounds.map_or(Ok(401), |text| text.parse())?;
    let (rounds, pairs) = if is_trial() { (2, 50) } else { (rounds, SLICE_PAIRS) };
    pin(0)?;
    if args.iter().any(|arg| arg == "--fifo") {
        take_priority();
    }
    let bytes = bytes_per_sample()?;
    assert_eq!(bytes, SAMPLE_BYTES, "bytes of one sample");
    println!("bytes per sample: {bytes}");
    print(&measure(rounds, pairs)?, pairs)
}

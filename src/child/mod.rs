//! The measuring child: everything that touches the measured path happens here.
//!
//! A thread stuck in fsync cannot be killed and keeps its process alive, so this process does nothing
//! that a person waits for. It talks to the parent by lines of JSON on a pipe, and by the board. When
//! the parent is gone, it stops, removes its files and ends.

mod claim;
mod directory;
mod event;
mod look;
mod prove;

pub use directory::{Directory, leftovers};
pub use event::{Event, Leftovers, Order};

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use synctail_bench::{
    Activity, Barrier, Board, Fault, FileTarget, NullTarget, Plan, RunReport, Stage, Storage,
    floor_ns,
};
use synctail_sys::{Arena, BlockDevice, Clock, OsClock, SysError};

use crate::clock::{AnyClock, TimedClock, skew_ns};
use crate::evidence::Counter;
use crate::record::Facts;
use crate::resolve::area_bytes;

/// What is to be touched, as typed.
#[derive(Clone, Debug)]
pub enum Aim {
    /// A directory, for files of our own.
    Directory {
        /// As typed.
        path: PathBuf,
        /// Remove leftovers first.
        clean: bool,
    },
    /// A raw device, to be overwritten.
    Device(PathBuf),
}

/// What the child is born with.
pub struct Birth {
    /// What it touches.
    pub aim: Aim,
    /// Shared with the parent.
    pub board: Board,
    /// The clock that marks operations until another is chosen, with a point that lies some time back.
    pub clock: TimedClock,
    /// Orders from the parent; end of file when it is gone.
    pub orders: PipeReader,
    /// Events to the parent.
    pub events: PipeWriter,
}

/// Lives the child's life; the process ends after it.
pub fn live(birth: Birth) {
    let Birth { aim, board, clock, orders, mut events } = birth;
    let main = board.main();
    main.enter_stage(Stage::Prepare);
    let result = (|| {
        synctail_sys::detach_stdio().map_err(Fault::from)?;
        synctail_sys::ignore_signals().map_err(Fault::from)?;
        // Without the higher limit a run with many rings fails by name (EMFILE), not silently.
        let _ = synctail_sys::raise_open_files_limit();
        let looked = main.during(Activity::Look, clock.clock.ticks(), || look(&aim));
        let (facts, claimed) = looked?;
        let allowed_cpus = synctail_sys::allowed_cpus();
        let place = match (aim, claimed) {
            (Aim::Directory { clean, .. }, _) => {
                Place::Directory(directory::path_of(&facts), clean)
            }
            (Aim::Device(_), Some(device)) => Place::Device(Arc::new(device)),
            (Aim::Device(_), None) => Place::Nowhere,
        };
        send(&mut events, &Event::Looked { facts, allowed_cpus: allowed_cpus.clone() });
        let mut orders = BufReader::new(orders);
        let Some(order) = receive(&mut orders) else { return Ok(()) };
        watch_parent(orders, board)?;
        measure(place, order, allowed_cpus, board, &clock, &mut events)
    })();
    if let Err(fault) = result {
        let fault = Fault { stage: main.stage(), ..fault };
        send(&mut events, &Event::Failed { fault });
    }
}

/// Where there is something to measure.
enum Place {
    /// And whether to clean there first.
    Directory(PathBuf, bool),
    Device(Arc<BlockDevice>),
    /// Somebody else has the device; no order comes.
    Nowhere,
}

fn look(aim: &Aim) -> Result<(Facts, Option<BlockDevice>), Fault> {
    match aim {
        Aim::Directory { path, .. } => Ok((look::facts(path)?, None)),
        Aim::Device(path) => claim::claim(path),
    }
}

fn measure(
    place: Place,
    order: Order,
    allowed_cpus: Vec<u64>,
    board: Board,
    timed: &TimedClock,
    events: &mut PipeWriter,
) -> Result<(), Fault> {
    let main = board.main();
    let marking = &timed.clock;
    let plan = order.plan.clone();
    let clock = choose_clock(order.tsc_is_stable, timed, &plan, &allowed_cpus, events);
    if order.null {
        return measure_nothing(plan, &clock, board, events);
    }
    let (storage, directory) = match place {
        Place::Nowhere => return Ok(()),
        Place::Device(device) => {
            send(events, &Event::Created { directory: None });
            (Storage::Device { device, area_bytes: area_bytes(&plan) }, None)
        }
        Place::Directory(path, clean) => {
            let look = || directory::leftovers(&path, clean);
            let found = main.during(Activity::Look, marking.ticks(), look);
            send(events, &Event::Leftovers(found));
            let create = || Directory::create(&path);
            let directory = main.during(Activity::Create, marking.ticks(), create)?;
            send(events, &Event::Created { directory: Some(directory.path_bytes()) });
            (Storage::Directory(Arc::clone(directory.handle())), Some(directory))
        }
    };
    let arena = Arena::new(plan.block_size_bytes as usize, plan.seed);
    let target = FileTarget { storage, arena, plan: plan.clone(), allowed_cpus };
    let report = match &clock {
        AnyClock::Tsc(clock) => probe_and_run(clock, &target, &order.counters, board, events),
        AnyClock::Os(clock) => probe_and_run(clock, &target, &order.counters, board, events),
    };
    send(events, &finished(report));
    main.enter_stage(Stage::Cleanup);
    drop(target);
    let left = directory.map(|directory| {
        main.during(Activity::Remove, marking.ticks(), || directory.remove()).err()
    });
    send(events, &Event::Cleaned { left: left.flatten().map(|error| error.to_string()) });
    Ok(())
}

fn finished(report: RunReport) -> Event {
    let scheduling_class = synctail_sys::scheduling_class().map(str::to_owned);
    Event::Finished { report, scheduling_class }
}

/// A run on a device that does nothing: no directory, no file.
fn measure_nothing(
    plan: Plan,
    clock: &AnyClock,
    board: Board,
    events: &mut PipeWriter,
) -> Result<(), Fault> {
    let target = NullTarget { plan };
    let report = match clock {
        AnyClock::Tsc(clock) => synctail_bench::run(&target.plan, clock, &target, board),
        AnyClock::Os(clock) => synctail_bench::run(&target.plan, clock, &target, board),
    };
    send(events, &finished(report));
    send(events, &Event::Cleaned { left: None });
    Ok(())
}

fn probe_and_run<C: Clock>(
    clock: &C,
    target: &FileTarget,
    counters: &[Counter],
    board: Board,
    events: &mut PipeWriter,
) -> RunReport {
    let (plan, main) = (&target.plan, board.main());
    if plan.arm.barrier != Barrier::None {
        main.enter_stage(Stage::Probe);
        match prove::prove(clock, target, counters, board) {
            Ok(Some(proof)) => send(events, &Event::Probed(proof)),
            Ok(None) => {}
            Err(fault) => {
                let fault = Some(fault.at(Stage::Probe, 0));
                return RunReport { fault, ..RunReport::default() };
            }
        }
    }
    main.enter_stage(Stage::Idle);
    synctail_bench::run(plan, clock, target, board)
}

/// The TSC, unless the kernel distrusts it or the CPUs in use disagree by more than 100 ns.
fn choose_clock(
    tsc_is_stable: bool,
    timed: &TimedClock,
    plan: &Plan,
    allowed: &[u64],
    events: &mut PipeWriter,
) -> AnyClock {
    const SKEW_NS_MAX: u64 = 100;
    let tsc = match &timed.clock {
        AnyClock::Tsc(clock) if tsc_is_stable => Some(clock.clone()),
        _ => None,
    };
    let skew = tsc.as_ref().and_then(|clock| skew_ns(clock, plan, allowed));
    let clock = match tsc {
        Some(tsc) if skew.is_none_or(|ns| ns <= SKEW_NS_MAX) => {
            AnyClock::Tsc(tsc.at_rate(timed.scale().ticks_per_s()))
        }
        _ => AnyClock::Os(OsClock),
    };
    let floor_ns = match &clock {
        AnyClock::Tsc(clock) => floor_ns(plan, clock),
        AnyClock::Os(clock) => floor_ns(plan, clock),
    };
    send(events, &Event::Clock { source: clock.source().to_owned(), skew_ns: skew, floor_ns });
    clock
}

/// Stops the run when the parent closes its end, by will or by death.
fn watch_parent(mut orders: BufReader<PipeReader>, board: Board) -> Result<(), Fault> {
    let watch = move || {
        let mut line = String::new();
        while orders.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            line.clear();
        }
        board.stop();
    };
    let spawned = thread::Builder::new().name("watch".to_owned()).spawn(watch);
    spawned.map(drop).map_err(|e| SysError::new("clone", "the thread that watches", &e).into())
}

fn receive(orders: &mut BufReader<PipeReader>) -> Option<Order> {
    let mut line = String::new();
    orders.read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// A parent that is gone reads nothing; then there is nobody to tell.
fn send(events: &mut PipeWriter, event: &Event) {
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        let _ = events.write_all(&line);
    }
}

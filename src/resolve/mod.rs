//! Args + policy + facts of the path -> plan: the only place with defaults.
//!
//! Two steps. [`Request`] needs the arguments alone and is made before the child exists: it fixes the
//! size of the shared board. [`Request::plan`] joins it with what the child found at the path.

mod pair;
mod space;

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use synctail_bench::{Arm, BoardSize, Layout, Length, Plan, Rate, RingOptions};

use crate::args::{DeviceArgs, Pin, WorkArgs};
use crate::human;
use crate::load::Mix;
use crate::policy::Policy;
use crate::refusal::Refusal;
use pair::Pair;
use space::Space;

const BLOCK_SIZE_BYTES: u64 = 4_096;
const ITERATIONS: u64 = 500;
const WARMUP: u64 = 5;
const WORKERS: u64 = 1;
const DEPTH: u64 = 1;
const PAGE_BYTES: u64 = 4_096;
/// What JetStream's file store uses for a stream.
const SEGMENT_BYTES: u64 = 8 << 20;
const FILE_SIZE_BYTES: u64 = 16 << 20;
const MAX_BYTES: u64 = 1 << 30;
const TIMEOUT_NS: u64 = 60_000_000_000;
const MAX_SAMPLES: u64 = 20_000_000;
/// A sample on the board, and its copies while a part is ranked: with its time, in order, and sorted.
const BYTES_PER_SAMPLE: u64 = 24 + 40;

/// What was asked, with every default that needs no look at the path.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is measured.
    pub arm: Arm,
    /// When a worker stops by itself.
    pub length: Length,
    /// Bound of one operation.
    pub timeout_ns: u64,
    /// Bound of the whole command.
    pub max_duration_ns: Option<u64>,
    /// Bound of all samples.
    pub max_samples: u64,
    /// Bound of all files together.
    pub max_bytes: u64,
    /// Measure a device that does nothing.
    pub null: bool,
    /// Trace what the pairs wait for.
    pub trace: bool,
    /// What works beside it.
    pub load: Option<LoadRequest>,
    /// A raw device is overwritten.
    pub device: Option<DeviceRequest>,
    /// `--pin`.
    pub pin: Pin,
    /// Seed of the data.
    pub seed: u64,
    block_size_bytes: u64,
    pair: Pair,
    workers: u64,
    warmup: u64,
    layout: Layout,
    file_size_bytes: Option<u64>,
    max_bytes_given: bool,
    depth: u64,
    rate: Option<Rate>,
    ring: RingOptions,
}

/// `--device`.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRequest {
    /// Whatever signature it has.
    pub force_signature: bool,
}

/// What there is to write to.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// Free bytes of a filesystem, where they are known.
    Free(Option<u64>),
    /// A raw device of so many bytes.
    Device(u64),
}

/// The distance of two workers' areas on a raw device: whole pages, so that no page has two writers.
pub fn area_bytes(plan: &Plan) -> u64 {
    plan.segment_bytes.next_multiple_of(PAGE_BYTES)
}

/// `--load`.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// Which neighbours.
    pub mix: Mix,
    /// Where; the measured path if nothing else was said.
    pub path: Option<PathBuf>,
    /// First remove what dead runs left behind there.
    pub clean: bool,
}

/// A plan with what only the record wants to know.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// For the engine.
    pub plan: Plan,
    /// Most bytes that the files hold at once.
    pub bytes_on_disk: u64,
    /// Bytes that will be written; absent for a run by time.
    pub bytes_written: Option<u64>,
    /// Most memory of samples and their analysis.
    pub memory_bytes: u64,
}

impl Request {
    /// Joins arguments and policy; flags win.
    ///
    /// # Errors
    /// Combinations that mean nothing, with the flag's name.
    pub fn new(args: &WorkArgs, device: &DeviceArgs, policy: &Policy) -> Result<Request, Refusal> {
        let defaults = &policy.plan;
        let iterations = args.iters.or(defaults.iterations).unwrap_or(ITERATIONS);
        let request = Request {
            arm: args.arm.or(defaults.arm).unwrap_or(Arm::DEFAULT),
            length: args.duration.map_or(Length::Iterations(iterations), Length::DurationNs),
            timeout_ns: args.timeout.unwrap_or(TIMEOUT_NS),
            max_duration_ns: args.max_duration,
            max_samples: args.max_samples.unwrap_or(MAX_SAMPLES),
            max_bytes: args.max_bytes.unwrap_or(MAX_BYTES),
            null: args.null,
            trace: args.trace,
            load: args.load.map(|mix| LoadRequest {
                mix,
                path: args.load_path.clone(),
                clean: args.clean,
            }),
            device: device
                .device
                .is_some()
                .then_some(DeviceRequest { force_signature: device.force_signature }),
            pin: args.pin.clone(),
            seed: args.seed.unwrap_or_else(drawn_seed),
            block_size_bytes: args
                .block_size
                .or(defaults.block_size_bytes)
                .unwrap_or(BLOCK_SIZE_BYTES),
            pair: Pair::of(args),
            workers: args.workers.or(defaults.workers).unwrap_or(WORKERS),
            warmup: args.warmup.unwrap_or(WARMUP),
            layout: layout(args, device, defaults.layout)?,
            file_size_bytes: args.file_size,
            max_bytes_given: args.max_bytes.is_some(),
            depth: args.depth.unwrap_or(DEPTH),
            rate: args.rate,
            ring: RingOptions {
                sqpoll: args.sqpoll,
                registered: args.registered,
                iowq: args.iowq.map(Into::into),
            },
        };
        request.check()?;
        Ok(request)
    }

    fn check(&self) -> Result<(), Refusal> {
        self.pair.check(self.arm, self.block_size_bytes, self.device.is_some())?;
        let ring_flags = [
            ("--depth", self.depth > 1),
            ("--sqpoll", self.ring.sqpoll),
            ("--registered", self.ring.registered),
            ("--iowq", self.ring.iowq.is_some()),
        ];
        if let Some((flag, _)) = ring_flags.iter().find(|(_, used)| *used && !self.arm.uses_ring())
        {
            let why = format!(
                "{flag}: needs a ring arm, {} has none; try --arm uring-linked/fdatasync",
                self.arm
            );
            return Err(Refusal::usage(why));
        }
        if let Length::Iterations(pairs) = self.length
            && pairs.saturating_mul(self.workers) > self.max_samples
        {
            return Err(Refusal::usage(format!(
                "--iters: {} x {pairs} pairs are more than --max-samples {}; raise that (24 bytes a sample)",
                self.workers, self.max_samples,
            )));
        }
        if let (Length::DurationNs(ns), Some(rate)) = (self.length, self.rate)
            && rate.pairs_within(ns) > self.max_samples
        {
            return Err(Refusal::usage(format!(
                "--rate: {} pairs are more than --max-samples {}; raise that (24 bytes a sample)",
                rate.pairs_within(ns),
                self.max_samples,
            )));
        }
        if self.workers > self.max_samples {
            return Err(Refusal::usage("--max-samples: must be at least --workers"));
        }
        if self.device.is_some() && self.load.as_ref().is_some_and(|load| load.path.is_none()) {
            return Err(Refusal::usage(
                "--load: a raw device has no place for it; give --load-path",
            ));
        }
        self.space().map(drop)
    }

    /// Bytes per write.
    pub fn block_size_bytes(&self) -> u64 {
        self.block_size_bytes
    }

    /// Bytes of all writes of a pair.
    pub fn pair_bytes(&self) -> u64 {
        self.block_size_bytes.saturating_mul(self.pair.writes)
    }

    fn space(&self) -> Result<Space, Refusal> {
        self.space_within(self.max_bytes)
    }

    /// Whole pages for each worker within the device; a default size shrinks, a given one must fit.
    fn space_of_device(&self, device_bytes: u64) -> Result<Space, Refusal> {
        let each = device_bytes / self.workers / PAGE_BYTES * PAGE_BYTES;
        let wanted = self.file_size_bytes.unwrap_or(0).max(self.pair_bytes());
        if wanted.next_multiple_of(PAGE_BYTES) > each {
            let message = format!(
                "--device: {} for each of {} workers are more than its {}",
                human::bytes(wanted),
                self.workers,
                human::bytes(device_bytes),
            );
            let remedy = "lower --file-size, --block-size or --workers";
            return Err(Refusal::cannot("prepare", "plan", message, remedy));
        }
        self.space_within(self.max_bytes.min(each * self.workers))
    }

    fn space_within(&self, max_bytes: u64) -> Result<Space, Refusal> {
        let default = if self.layout == Layout::Append { SEGMENT_BYTES } else { FILE_SIZE_BYTES };
        Space::divide(&space::Wanted {
            pair_bytes: self.pair_bytes(),
            workers: self.workers,
            layout: self.layout,
            file_size_bytes: self.file_size_bytes,
            default_file_size_bytes: default,
            max_bytes,
            pairs_per_worker: self
                .pairs_per_worker()
                .map(|pairs| pairs.saturating_add(self.warmup)),
        })
    }

    /// Pairs that each worker is to measure, at most; nothing where only time ends it.
    fn pairs_per_worker(&self) -> Option<u64> {
        match (self.length, self.rate) {
            (Length::Iterations(pairs), _) => Some(pairs),
            (Length::DurationNs(ns), Some(rate)) => {
                Some(rate.pairs_within(ns).div_ceil(self.workers).max(1))
            }
            (Length::DurationNs(_), None) => None,
        }
    }

    /// The size of the board, which parent and child share.
    pub fn board_size(&self) -> BoardSize {
        let most = self.max_samples / self.workers;
        let samples_per_worker = self.pairs_per_worker().map_or(most, |pairs| pairs.min(most));
        BoardSize { workers: self.workers, depth: self.depth, samples_per_worker }
    }

    /// The plan where there is `room`, for a process that may run on `allowed_cpus`.
    ///
    /// # Errors
    /// When the plan needs more than half of the free space and `--max-bytes` was not given, or more than
    /// the device has.
    pub fn plan(&self, room: Room, allowed_cpus: &[u64]) -> Result<Resolved, Refusal> {
        let space = match room {
            Room::Free(_) => self.space()?,
            Room::Device(bytes) => self.space_of_device(bytes)?,
        };
        let bytes_on_disk = space.bytes_on_disk;
        if let Room::Free(Some(free)) = room
            && !self.max_bytes_given
            && bytes_on_disk > free / 2
        {
            return Err(Refusal::too_little_space(bytes_on_disk, free));
        }
        let size = self.board_size();
        let plan = Plan {
            arm: self.arm,
            block_size_bytes: self.block_size_bytes,
            writes_per_barrier: self.pair.writes,
            sync_fd: self.pair.sync_fd,
            workers: self.workers,
            length: self.length,
            warmup: self.warmup,
            layout: self.layout,
            segment_bytes: space.segment_bytes,
            segments_kept: space.segments_kept,
            depth: self.depth,
            ring: self.ring,
            cpus: self.cpus(allowed_cpus),
            samples_per_worker: size.samples_per_worker,
            rate: self.rate,
            seed: self.seed,
        };
        plan.check().map_err(|error| Refusal::usage(error.to_string()))?;
        let samples = size.samples_per_worker.saturating_mul(self.workers);
        Ok(Resolved {
            plan,
            bytes_on_disk,
            bytes_written: space.bytes_written,
            memory_bytes: samples.saturating_mul(BYTES_PER_SAMPLE),
        })
    }

    fn cpus(&self, allowed: &[u64]) -> Vec<Option<u64>> {
        let list = match &self.pin {
            Pin::None => &[],
            Pin::Auto => allowed,
            Pin::Cpus(cpus) => &cpus[..],
        };
        let round_robin = |worker: u64| list.get(worker as usize % list.len().max(1)).copied();
        (0..self.workers).map(round_robin).collect()
    }
}

/// A raw device has no end to append to, and its blocks are there already.
fn layout(
    args: &WorkArgs,
    device: &DeviceArgs,
    of_policy: Option<Layout>,
) -> Result<Layout, Refusal> {
    let given = args.layout.map(Layout::from);
    if device.device.is_none() {
        return Ok(given.or(of_policy).unwrap_or(Layout::Append));
    }
    match given {
        None | Some(Layout::Overwrite) => Ok(Layout::Overwrite),
        Some(other) => Err(Refusal::usage(format!(
            "--layout: a raw device is overwritten, {} needs files; leave it out",
            other.name()
        ))),
    }
}

/// Another one each time, so that a second run does not write what a deduplicating filesystem has.
fn drawn_seed() -> u64 {
    let now =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    now ^ u64::from(std::process::id()) << 40
}

#[cfg(test)]
mod tests;

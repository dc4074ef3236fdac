//! The clock: what a read costs, and how far its scale is from CLOCK_MONOTONIC_RAW.
//!
//! The scale of one window of 10 s is held against points within it and against the scale of the next
//! window, which shares nothing with it but one point. quanta's own calibration is shown beside it,
//! once per fresh process, because a process calibrates only once.

#[path = "figures/mod.rs"]
mod figures;

use std::error::Error;
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

use figures::{Spread, is_trial, judge};
use synctail_sys::{Clock, OsClock, Scale, ScalePoint, TscClock};

const CALIBRATE: &str = "--calibrate";
const READS: u32 = 100_000;

fn read_ns(read: impl Fn() -> u64) -> f64 {
    let start = Instant::now();
    for _ in 0..READS {
        black_box(read());
    }
    start.elapsed().as_nanos() as f64 / f64::from(READS)
}

fn print_reads(clock: &TscClock) {
    let start = Instant::now();
    type Read<'a> = (&'a str, &'a dyn Fn() -> u64);
    let reads: [Read; 3] = [
        ("tick (TSC)", &|| clock.ticks()),
        ("CLOCK_MONOTONIC", &|| OsClock.ticks()),
        ("std Instant", &|| start.elapsed().as_nanos() as u64),
    ];
    let series = if is_trial() { 1 } else { 51 };
    for (name, read) in reads {
        let spread = Spread::of((0..series).map(|_| read_ns(read)));
        println!("  one read of {name:<16} {spread:.1} ns");
    }
    let steps = (0..10_000).map(|_| clock.ticks()).collect::<Vec<_>>();
    let least = steps.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 0).min();
    let ns = least.unwrap_or(0) as f64 / clock.nominal_ticks_per_s() * 1e9;
    println!("  smallest step seen           {ns:.2} ns");
}

/// How far a scale's prediction of a later point is off, in parts per million of the whole window.
fn error_ppm(scale: &Scale, from: ScalePoint, to: ScalePoint, window: Duration) -> f64 {
    let predicted = scale.ns(to.ticks - from.ticks) as f64;
    (predicted - (to.reference_ns - from.reference_ns) as f64) / window.as_nanos() as f64 * 1e6
}

fn print_scale(clock: &TscClock) -> Result<(), Box<dyn Error>> {
    let step = Duration::from_millis(if is_trial() { 5 } else { 1_000 });
    let window = 10 * step;
    let point = || {
        std::thread::sleep(step);
        ScalePoint::take(clock)
    };
    let points: Vec<ScalePoint> = (0..=20).map(|_| point()).collect();
    let scale = |a: usize, b: usize| Scale::between(points[a], points[b]).ok_or("no tick passed");
    let (first, second) = (scale(0, 10)?, scale(10, 20)?);
    let within = (1..10).map(|i| error_ppm(&first, points[0], points[i], window).abs());
    let within = within.fold(0.0, f64::max);
    let next = (second.ticks_per_s() / first.ticks_per_s() - 1.0) * 1e6;
    println!("scale over {window:?}: {:.0} ticks a second", first.ticks_per_s());
    println!("  at 9 points within           {within:.4} ppm at most");
    println!("  against the next {window:?}      {next:+.4} ppm");
    let worst = within.max(next.abs());
    println!("  worst                        {worst:.4} ppm, at most 2: {}", judge(worst <= 2.0));
    let fresh = if is_trial() { 1 } else { 40 };
    let errors: Result<Vec<f64>, Box<dyn Error>> = (0..fresh)
        .map(|_| Ok((calibrated_elsewhere()? / first.ticks_per_s() - 1.0) * 1e6))
        .collect();
    let errors = errors?;
    let worst = errors.iter().fold(0.0, |worst: f64, error| worst.max(error.abs()));
    println!("  quanta's own, {fresh} processes   {:.2} ppm, worst {worst:.2}", Spread::of(errors));
    Ok(())
}

/// Ticks per second by quanta's calibration in a fresh process.
fn calibrated_elsewhere() -> Result<f64, Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).arg(CALIBRATE).output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let clock = TscClock::new().ok_or("no usable TSC on this machine")?;
    if std::env::args().any(|arg| arg == CALIBRATE) {
        println!("{}", clock.nominal_ticks_per_s());
        return Ok(());
    }
    print_reads(&clock);
    print_scale(&clock)
}

//! Time from ticks to exact percentiles: conversion, sorting and ranking.

#[path = "../../sys/benches/figures/mod.rs"]
mod figures;

use std::time::Instant;

use figures::{Spread, is_trial};
use synctail_bench::Distribution;

/// Latencies as a disk gives them: a body, and a tail in one of a hundred.
fn latencies(count: usize, random: &mut fastrand::Rng) -> Vec<u64> {
    let latency = |_| match random.u64(..100) {
        0 => 200_000 + random.u64(..20_000_000),
        _ => 80_000 + random.u64(..60_000),
    };
    (0..count).map(latency).collect()
}

fn main() {
    let mut random = fastrand::Rng::with_seed(1);
    let counts: &[usize] = if is_trial() { &[1_000] } else { &[1_000_000, 10_000_000] };
    for &count in counts {
        let times = (0..5).map(|_| {
            let mut samples = latencies(count, &mut random);
            let start = Instant::now();
            let ranked = Distribution::of(&mut samples).expect("there are samples");
            assert_eq!(ranked.count, count as u64);
            start.elapsed().as_secs_f64() * 1e3
        });
        println!("rank {count} samples: {:.1} ms", Spread::of(times));
    }
}

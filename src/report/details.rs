//! The verbose part of a text report: every part of the pair, the workers, the clock, the plan and
//! what lies under the path.

use synctail_bench::Distribution;

use super::lines::Lines;
use super::text::cell;
use crate::human;
use crate::record::{
    Block, ClockReport, Distributions, Effective, Inferred, IoLimit, PlanRecord,
    PowerLossProtection, Record, Substrate, WorkerDistributions, Zfs,
};

/// Everything that the short report leaves out, as far as it is known.
pub fn write(lines: &mut Lines, record: &Record) {
    if let Some(plan) = &record.plan {
        write_plan(lines, plan);
    }
    if let Some(distributions) = &record.distributions {
        write_distributions(lines, distributions);
    }
    if let Some(effective) = &record.effective {
        write_effective(lines, effective);
    }
    if let Some(clock) = &record.clock {
        lines.say(&clock_line(clock), 4);
    }
    write_rate(lines, record);
    if let Some(substrate) = &record.substrate {
        write_substrate(lines, substrate);
    }
    let inferred = record.verdict.iter().flat_map(|verdict| &verdict.power_loss_protection);
    inferred.for_each(|inferred| write_power_loss(lines, inferred));
}

/// What may be inferred of a device, and from what.
pub fn write_power_loss(lines: &mut Lines, protection: &PowerLossProtection) {
    let PowerLossProtection { node, inferred, from } = protection;
    let inferred = match inferred {
        Inferred::Yes => "inferred yes, from",
        Inferred::No => "inferred no, from",
        Inferred::Unknown => "unknown:",
    };
    lines.say(&format!("  power-loss protection of {node}: {inferred} {from}"), 4);
}

fn write_plan(lines: &mut Lines, plan: &PlanRecord) {
    lines.say(&format!("  path: {}", plan.path), 4);
    let written = plan.bytes_written.map(|n| format!("{} written, ", human::bytes(n)));
    lines.say(
        &format!(
            "  plan: {} on disk at most, {}{} of memory, warm-up {}, time-out {}",
            human::bytes(plan.bytes_on_disk),
            written.unwrap_or_default(),
            human::bytes(plan.memory_bytes),
            plan.warmup,
            human::time(plan.timeout_ns)
        ),
        4,
    );
}

/// All parts of the pool with their far percentiles, then where and when each worker ran.
fn write_distributions(lines: &mut Lines, distributions: &Distributions) {
    let pooled = &distributions.pooled;
    let parts = [
        ("write", pooled.write.as_ref()),
        ("barrier", pooled.barrier.as_ref()),
        ("total", Some(&pooled.total)),
        ("service", pooled.service.as_ref()),
        ("late", pooled.late.as_ref()),
    ];
    for (label, part) in parts {
        if let Some(distribution) = part {
            lines.say(&far_line(label, distribution), 4);
        }
    }
    for worker in &distributions.workers {
        lines.say(&worker_line(worker), 4);
    }
}

/// Exactly 80 columns: one less for the label than in the short report makes room for p99.9.
fn far_line(label: &str, d: &Distribution) -> String {
    let cells = [
        cell("p50", d.p50_ns),
        cell("p95", d.p95_ns),
        cell("p99", d.p99_ns),
        cell("p99.9", d.p99_9_ns),
        cell("max", Some(d.max_ns)),
    ];
    format!("  {label:<13}{}", cells.join("  "))
}

fn worker_line(worker: &WorkerDistributions) -> String {
    let cpu = worker.cpu.map_or_else(|| "not pinned".to_owned(), |cpu| format!("cpu {cpu}"));
    let total = &worker.parts.total;
    let p99 = total.p99_ns.map_or_else(|| "-".to_owned(), human::time);
    format!(
        "  worker {}: {cpu}, {} to {}, {} pairs, total p99 {p99}, max {}",
        worker.worker,
        human::time(worker.started_ns),
        human::time(worker.ended_ns),
        human::count(total.count),
        human::time(total.max_ns)
    )
}

fn write_effective(lines: &mut Lines, effective: &Effective) {
    if let Some(class) = &effective.scheduling_class {
        lines.say(&format!("  scheduling: {class}"), 4);
    }
    if let Some(alignment) = effective.direct_alignment_bytes {
        lines.say(&format!("  direct: aligned to {}", human::bytes(alignment)), 4);
    }
    if let Some(ring) = &effective.ring {
        let mut facts = ring.flags.clone();
        facts.push(if ring.registered { "registered" } else { "not registered" }.to_owned());
        facts.push(format!("iowq {}", ring.iowq));
        facts.extend(ring.cqe_skip.then(|| "cqe_skip".to_owned()));
        lines.say(&format!("  ring: {}", facts.join(", ")), 4);
    }
}

fn clock_line(clock: &ClockReport) -> String {
    let mut line = format!(
        "  clock: {}, {} ns a read, drift {} ppm",
        clock.source,
        human::decimal(clock.read_ns),
        human::decimal(clock.drift_ppm)
    );
    if let Some(floor) = clock.floor_ns {
        line.push_str(&format!(", own share of a pair {}", human::time(floor)));
    }
    if let Some(skew) = clock.skew_ns {
        line.push_str(&format!(", skew {}", human::time(skew)));
    }
    if let Some(kernel) = clock.kernel_clocksource.as_ref().filter(|k| **k != clock.source) {
        line.push_str(&format!(", the kernel uses {kernel}"));
    }
    line
}

fn write_rate(lines: &mut Lines, record: &Record) {
    let wall = record.wall_ns.map(|ns| format!("wall {}", human::time(ns)));
    let rate = record.pairs_per_s.map(|rate| format!("{} pairs/s", human::decimal(rate)));
    let overlap = record.counters.as_ref().and_then(|counters| counters.overlap_share);
    let overlap = overlap.map(|share| format!("all workers at once {}", human::share(share)));
    let facts: Vec<String> = [wall, rate, overlap].into_iter().flatten().collect();
    if !facts.is_empty() {
        lines.say(&format!("  run: {}", facts.join(", ")), 4);
    }
}

/// Mount, devices and machine, each unknown with its reason.
pub fn write_substrate(lines: &mut Lines, substrate: &Substrate) {
    if let Some(mount) = &substrate.mount {
        let (options, at) = (&mount.options, &mount.mount_point);
        let line =
            format!("  mount: {} on {at} ({options}; {})", mount.source, mount.super_options);
        lines.say(&line, 4);
    }
    for block in &substrate.block {
        lines.say(&block_line(block), 4);
    }
    for IoLimit { node, limit, source } in &substrate.limits {
        lines.say(&format!("  limit: {node}: {limit} ({source})"), 4);
    }
    if let Some(zfs) = &substrate.zfs {
        lines.say(&zfs_line(zfs), 4);
    }
    let machine = &substrate.machine;
    let guest = machine.virtualised.map(|guest| if guest { "virtual" } else { "physical" });
    let container = machine.container.as_ref().map(|name| format!("in {name}"));
    let governors = machine.frequency_governors.join(" and ");
    let governors = (!governors.is_empty()).then(|| format!("governor {governors}"));
    let idle = machine
        .deepest_idle
        .as_ref()
        .map(|state| format!("sleeps in {}, {} us to wake", state.name, state.exit_latency_us));
    let facts = [
        machine.kernel.as_deref(),
        machine.cpu_model.as_deref(),
        guest,
        machine.product.as_deref(),
        container.as_deref(),
        governors.as_deref(),
        idle.as_deref(),
    ];
    let facts: Vec<&str> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        lines.say(&format!("  machine: {}", facts.join(", ")), 4);
    }
    for unknown in &substrate.unknown {
        lines.say(&format!("  unknown: {}: {}", unknown.fact, unknown.reason), 4);
    }
}

fn zfs_line(zfs: &Zfs) -> String {
    let mut facts = vec![format!("pool {}", zfs.pool)];
    facts.extend(zfs.sync.as_ref().map(|sync| format!("sync {sync}")));
    facts.extend(zfs.logbias.as_ref().map(|bias| format!("logbias {bias}")));
    facts.extend(zfs.recordsize_bytes.map(|n| format!("recordsize {}", human::bytes(n))));
    facts.extend(zfs.compression.as_ref().map(|name| format!("compression {name}")));
    facts.push(match zfs.log_devices.as_slice() {
        [] => "no log device known".to_owned(),
        devices => format!("log on {}", devices.join(" ")),
    });
    facts.extend(zfs.txg_timeout_s.map(|s| format!("txg every {s} s")));
    format!("  zfs: {}: {}", zfs.dataset, facts.join(", "))
}

fn block_line(block: &Block) -> String {
    let mut facts = vec![block.kind.clone()];
    facts.extend(block.model.clone());
    facts.extend(block.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
    facts.extend(block.serial.as_ref().map(|serial| format!("serial {serial}")));
    facts.extend(block.transport.clone());
    facts.extend(block.numa_node.map(|node| format!("NUMA node {node}")));
    facts.extend(block.write_cache.clone());
    facts.extend(block.declared_cache.as_ref().map(|cache| {
        let by = block.declared_by.as_ref().map_or(String::new(), |by| format!(" ({by})"));
        format!("declares {cache}{by}")
    }));
    facts.extend(block.fua.map(|fua| if fua { "fua" } else { "no fua" }.to_owned()));
    facts.extend(block.rotational.map(|r| if r { "rotational" } else { "solid state" }.to_owned()));
    let sectors = block.logical_block_size_bytes.zip(block.physical_block_size_bytes);
    facts.extend(sectors.map(|(logical, physical)| format!("sectors {logical}/{physical} B")));
    facts.extend(block.scheduler.as_ref().map(|name| format!("scheduler {name}")));
    if let Some(file) = &block.backing_file {
        let on = block.backing_filesystem.as_ref().map(|name| format!(" on {name}"));
        facts.push(format!("backed by {file}{}", on.unwrap_or_default()));
    }
    if !block.below.is_empty() {
        facts.push(format!("over {}", block.below.join(" ")));
    }
    facts.extend(block.completion.as_ref().map(|completion| {
        let cpus: Vec<String> = completion.cpus.iter().map(u64::to_string).collect();
        format!("completions on cpu {}", cpus.join(" "))
    }));
    format!("  block: {}: {}", block.name, facts.join(", "))
}

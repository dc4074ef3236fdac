//! The recommendation as text.

use super::lines::Lines;
use crate::human;
use crate::record::{IntervalPrice, Prediction, Recommendation, Verdict};
use crate::verdict::config_line;

/// What the server does where nothing is configured.
const SERVERS_DEFAULT: &str = "2m";

/// The interval, why, its price, and the line to paste.
pub fn write(lines: &mut Lines, verdict: &Verdict) {
    let Some(recommendation) = &verdict.recommendation else {
        let none = format!("  recommend: nothing; policy {} has no setting for it", verdict.policy);
        lines.say(&none, 4);
        return;
    };
    match &recommendation.sync_interval {
        Some(interval) => lines.say(&format!("  recommend: sync_interval: {interval}"), 4),
        None => lines.say("  recommend: no sync_interval", 4),
    }
    lines.say(&format!("    why: {}", recommendation.reason), 6);
    write_price(lines, verdict, recommendation);
    if let Some(config) = config_line(recommendation) {
        lines.say(&format!("    config: {config}"), 6);
    }
    if let Some(prediction) = &verdict.prediction {
        write_prediction(lines, prediction);
    }
}

/// Both intervals with both prices. No step that keeps the share under 1 % means the server's default.
fn write_price(lines: &mut Lines, verdict: &Verdict, recommendation: &Recommendation) {
    let Some(stalled) = recommendation.stall_share else { return };
    let intervals = verdict.prediction.iter().flat_map(|prediction| &prediction.intervals);
    let price_of = |name: &str| intervals.clone().find(|price| price.sync_interval == name);
    let stalled = human::share(stalled);
    let price = format!("    price: {stalled} of acks still wait behind the background flush");
    let chosen = recommendation.sync_interval.as_deref().and_then(price_of);
    lines.say(&chosen.map_or(price.clone(), |chosen| price + &r3_and_risk(chosen)), 6);
    let clean = recommendation.clean_interval.as_deref();
    let name = clean.unwrap_or(SERVERS_DEFAULT);
    let Some(price) = price_of(name) else { return };
    let stalled = human::share(price.stall_share);
    let label = if clean.is_some() { "" } else { "default " };
    let text = format!("    clean: sync_interval: {label}{name}: {stalled} of acks wait");
    lines.say(&(text + &r3_and_risk(price)), 6);
}

/// ` (94.5 % with 3 replicas); a power cut may lose the last 500ms`.
fn r3_and_risk(price: &IntervalPrice) -> String {
    let r3 = human::share(price.stall_share_r3);
    format!(" ({r3} with 3 replicas); a power cut may lose the last {}", price.sync_interval)
}

/// What a server would do here, as far as flushes tell.
fn write_prediction(lines: &mut Lines, prediction: &Prediction) {
    let server = human::time(prediction.server_ns);
    lines.say(
        &format!("  predicted for sync_interval: always, {server} of an ack the server's:"),
        4,
    );
    for ack in &prediction.pub_ack {
        let flushes = flushes(ack.flushes);
        let (p50, p99) = (time_or_dash(ack.p50_ns), time_or_dash(ack.p99_ns));
        let whose = whose(ack.replicas, &ack.server, false);
        lines.say(&format!("    PubAck p50={p50:>7}  p99={p99:>7}  {whose}: {flushes}"), 6);
    }
    for create in &prediction.create_stream {
        let mean = human::time(create.mean_ns);
        let whose = whose(create.replicas, &create.server, create.clustered);
        let late = if create.exceeds_deadline { ", too late" } else { "" };
        let sync = if create.sync == "any" { ", any sync_interval" } else { "" };
        let flushes = flushes(create.flushes);
        lines.say(&format!("    CreateStream  {mean:>7}  {whose}{sync}: {flushes}{late}"), 6);
    }
}

fn flushes(count: u64) -> String {
    if count == 1 { "1 flush".to_owned() } else { format!("{count} flushes") }
}

fn time_or_dash(ns: Option<u64>) -> String {
    ns.map_or("-".to_owned(), human::time)
}

/// `R3, 2.15 and later`.
fn whose(replicas: u64, server: &str, clustered: bool) -> String {
    let cluster = if clustered && replicas == 1 { " in a cluster" } else { "" };
    let server = if server == "any" { String::new() } else { format!(", {server}") };
    format!("R{replicas}{cluster}{server}")
}

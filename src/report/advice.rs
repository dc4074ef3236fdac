//! The recommendation as text.

use super::lines::Lines;
use crate::human;
use crate::record::{Recommendation, Verdict};
use crate::verdict::config_line;

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
    write_price(lines, recommendation);
    if let Some(config) = config_line(recommendation) {
        lines.say(&format!("    config: {config}"), 6);
    }
}

fn write_price(lines: &mut Lines, recommendation: &Recommendation) {
    if let Some(stalled) = recommendation.stall_share {
        let stalled = human::share(stalled);
        let price = format!("    price: {stalled} of acks still wait behind the background flush");
        lines.say(&price, 6);
    }
    if let Some(clean) = &recommendation.clean_interval {
        lines.say(&format!("    clean: sync_interval: {clean} keeps that share under 1 %"), 6);
    }
}

//! The inspection for a person, at most 80 columns wide.

use super::Inspection;
use crate::record::Durability;
use crate::report::details::{write_power_loss, write_substrate};
use crate::report::lines::Lines;

/// Empty where nothing was found out: standard error has said why.
pub fn render(inspection: &Inspection) -> String {
    let mut lines = Lines::default();
    let Some(under) = &inspection.substrate else { return String::new() };
    let filesystem = under.filesystem.as_deref().unwrap_or("unknown filesystem");
    let path = inspection.path.as_deref().unwrap_or_default();
    lines.say(&format!("{path}: {filesystem}"), 2);
    let state = match inspection.durability {
        Some(Durability::Proved) => "proved",
        Some(Durability::NotDurable) => "not durable",
        _ => "unproved",
    };
    let evidence = inspection.durability_evidence.as_deref().unwrap_or_default();
    lines.say(&format!("  durability: {state}: {evidence}"), 4);
    for finding in &inspection.findings {
        lines.say(&format!("  {}: {}", finding.code, finding.text), 4);
    }
    write_substrate(&mut lines, under);
    for inferred in &inspection.power_loss_protection {
        write_power_loss(&mut lines, inferred);
    }
    lines.into_text()
}

//! What stands above all plots: the verdict, why to believe it, and what was found.

use super::markup::Markup;
use super::plot::band_class;
use crate::human;
use crate::policy::band_name;
use crate::record::{Confidence, Durability, Finding, JudgedOn, Record, Severity, Status, Verdict};
use crate::report::text::headline;
use crate::verdict::{config_line, in_flight};

/// Verdict, durability, confidence, end of the run, findings, recommendation.
pub fn draw(record: &Record) -> Markup {
    let mut out = Markup::default();
    out.tags("<header>");
    match &record.verdict {
        Some(verdict) => out.put(&banner(record, verdict)),
        None => out.tags("<p class=\"verdict\"><b class=\"badge none\">no verdict</b></p>"),
    };
    out.tags("<p class=\"what\">").text(&headline(record)).tags("</p>");
    out.tags("<dl class=\"facts\">");
    if let Some(verdict) = &record.verdict {
        let (class, state) = durability(verdict.durability);
        fact(&mut out, "durability", class, state, &verdict.durability_evidence);
        let (class, state) = confidence(verdict.confidence);
        fact(&mut out, "confidence", class, state, "");
    }
    if let Some((state, why)) = incomplete(record) {
        fact(&mut out, "end of the run", "bad", state, &why);
    }
    for operation in &record.in_flight {
        fact(&mut out, "in flight", "bad", "not returned", &in_flight(operation));
    }
    out.tags("</dl></header>\n");
    let findings = record.verdict.as_ref().map_or(&record.observations, |v| &v.findings);
    out.put(&list(findings));
    if let Some(verdict) = &record.verdict {
        out.put(&advice(verdict));
    }
    out
}

fn banner(record: &Record, verdict: &Verdict) -> Markup {
    let mut out = Markup::default();
    let lies = verdict.durability == Durability::NotDurable;
    out.tags("<p class=\"verdict\"><b class=\"badge ");
    out.tags(if lies { "b4" } else { band_class(verdict.band) }).tags("\">");
    out.text(if lies { "NOT DURABLE" } else { band_name(verdict.band) }).tags("</b> <b class=\"");
    out.tags(if verdict.pass { "ok" } else { "bad" }).tags("\">");
    out.tags(if verdict.pass { "pass" } else { "does not pass" }).tags("</b> ");
    // The badge has said the first word.
    let said = format!("{}: ", if lies { "NOT DURABLE" } else { band_name(verdict.band) });
    let rest = verdict.sentence.strip_prefix(&said).unwrap_or(&verdict.sentence);
    out.text(rest).tags("</p>");
    let figures = record.distributions.as_ref().map(|all| &all.pooled.total);
    let rate = record.pairs_per_s.map(|rate| format!("{} pairs/s", human::decimal(rate)));
    let count = figures.map(|figures| format!("{} pairs", human::count(figures.count)));
    let wall = record.wall_ns.map(|ns| format!("in {}", human::time(ns)));
    let parts: Vec<String> = [count, wall, rate].into_iter().flatten().collect();
    out.tags("<p class=\"figure\">").text(&judged(verdict)).tags("<br>");
    out.text(&parts.join(", ")).tags("</p>");
    out
}

/// `judged on p99 = 1.18ms, policy jetstream`.
fn judged(verdict: &Verdict) -> String {
    let on = match verdict.judged_on {
        JudgedOn::P99 => "p99",
        JudgedOn::Max => "maximum",
    };
    format!("judged on {on} = {}, policy {}", human::time(verdict.judged_ns), verdict.policy)
}

fn fact(out: &mut Markup, name: &'static str, class: &'static str, state: &str, why: &str) {
    out.tags("<dt>").tags(name).tags("</dt><dd><b class=\"").tags(class).tags("\">");
    out.text(state).tags("</b> ").text(why).tags("</dd>");
}

fn durability(durability: Durability) -> (&'static str, &'static str) {
    match durability {
        Durability::Proved => ("ok", "proved"),
        Durability::Unproved => ("doubt", "unproved"),
        Durability::NotDurable => ("bad", "not durable"),
    }
}

fn confidence(confidence: Confidence) -> (&'static str, &'static str) {
    match confidence {
        Confidence::Clear => ("ok", "clear"),
        Confidence::Borderline => ("doubt", "borderline: the interval of p99 crosses a limit"),
        Confidence::TooFewSamples => ("doubt", "too few samples: fewer than 100 pairs of a worker"),
    }
}

/// Every end that was not as planned.
fn incomplete(record: &Record) -> Option<(&'static str, String)> {
    let state = match record.status {
        Status::Complete => return None,
        Status::Interrupted => "interrupted",
        Status::TimedOut => "timed out",
        Status::Failed => "failed",
    };
    let error = record.error.as_ref();
    let remedy = error.and_then(|error| error.remedy.as_ref()).map(|text| format!("; {text}"));
    let message = error.map_or("", |error| &error.message);
    Some((state, format!("{message}{}", remedy.unwrap_or_default())))
}

/// The gravest first.
fn list(findings: &[Finding]) -> Markup {
    let mut out = Markup::default();
    if findings.is_empty() {
        return out;
    }
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    out.tags("<section><h2>Findings</h2><ul class=\"findings\">");
    for finding in ordered {
        let (class, name) = match finding.severity {
            Severity::Error => ("bad", "error"),
            Severity::Warning => ("doubt", "warning"),
            Severity::Info => ("note", "info"),
        };
        out.tags("<li><b class=\"").tags(class).tags("\">").tags(name).tags("</b> ");
        out.text(&finding.text);
        if !finding.evidence.is_empty() {
            out.tags(" <small>").text(&finding.evidence).tags("</small>");
        }
        out.tags("</li>");
    }
    out.tags("</ul></section>\n");
    out
}

fn advice(verdict: &Verdict) -> Markup {
    let mut out = Markup::default();
    let Some(recommendation) = &verdict.recommendation else { return out };
    out.tags("<section><h2>Recommendation</h2><p>");
    out.text(&recommendation.reason);
    if let Some(share) = recommendation.stall_share {
        let share = human::share(share);
        out.text(&format!("; {share} of acks still wait behind the background flush"));
    }
    if let Some(clean) = &recommendation.clean_interval {
        out.text(&format!("; sync_interval: {clean} keeps that share under 1 %"));
    }
    out.tags("</p>");
    if let Some(line) = config_line(recommendation) {
        out.tags("<pre>").text(&line).tags("</pre>");
    }
    out.tags("</section>\n");
    out
}

//! A qualification as one page: the verdict and why, then each step against its limits.

use super::lanes;
use super::markup::Markup;
use super::page;
use super::percentile_curve::{self, Curve};
use super::repeat::shell_line;
use super::sorted;
use crate::human;
use crate::policy::Policy;
use crate::qualify::document::{Qualification, StepReport, StepVerdict, VariantReport};
use crate::record::Record;
use crate::report::text::metric;

/// One step's samples: for each load its name and the judged rounds' latencies, ascending.
pub type Samples = Vec<(String, Vec<u64>)>;

/// Latencies of the judged part of the pair, in no order; none where the record has no samples.
pub fn judged_samples(record: &Record) -> Vec<u64> {
    let all = record.distributions.as_ref();
    all.map_or_else(Vec::new, |all| sorted(&lanes(record, metric(record, all))))
}

/// The page. `samples` belong to the steps, in their order; `text` is the same document as text.
pub fn render(document: &Qualification, samples: &[Samples], text: &str) -> String {
    let mut body = Markup::default();
    body.put(&header(document)).put(&target(document));
    let none = Vec::new();
    for (number, step) in document.steps.iter().enumerate() {
        body.put(&section(number + 1, step, samples.get(number).unwrap_or(&none)));
    }
    body.put(&records(document));
    body.tags("<section><h2>To repeat it</h2><pre>").text(&shell_line(&document.command));
    body.tags("</pre><details><summary>The spec, sha256 ").text(&document.spec.sha256);
    body.tags("</summary><pre>").lines(&document.spec.text).tags("</pre></details></section>\n");
    body.put(&page::as_text(text));
    let title = format!("synctail qualify {} {}", document.spec.name, document.ended_at);
    page::page(&title, &body)
}

fn header(document: &Qualification) -> Markup {
    let mut out = Markup::default();
    let pass = document.verdict.pass;
    out.tags("<header><p class=\"verdict\"><b class=\"badge ");
    out.tags(if pass { "b0" } else { "b4" }).tags("\">");
    out.tags(if pass { "PASS" } else { "FAIL" }).tags("</b> ").text(&document.verdict.sentence);
    out.tags("</p><p class=\"what\">").text(&document.spec.name).tags(": ");
    out.text(&document.spec.description).tags("</p></header>\n");
    if !document.verdict.missed.is_empty() {
        out.tags("<ul class=\"findings\">");
        for missed in &document.verdict.missed {
            out.tags("<li class=\"bad\">").text(missed).tags("</li>");
        }
        out.tags("</ul>\n");
    }
    out
}

fn target(document: &Qualification) -> Markup {
    let mut out = Markup::default();
    let mut fact = |name: &str, value: &str| {
        out.tags("<dt>").text(name).tags("</dt><dd>").text(value).tags("</dd>");
    };
    if let Some(target) = &document.target {
        fact("path", &target.path);
        fact("filesystem", target.filesystem.as_deref().unwrap_or("unknown"));
        for device in &target.devices {
            let facts = [
                ("model", &device.model),
                ("serial", &device.serial),
                ("firmware", &device.firmware),
            ];
            let facts = facts
                .into_iter()
                .map(|(name, value)| format!("{name} {}", value.as_deref().unwrap_or("unknown")));
            let facts: Vec<String> = facts.collect();
            fact(&format!("{} {}", device.kind, device.name), &facts.join(", "));
        }
    }
    for health in &document.health_after {
        let state = match health.passed {
            Some(true) => "passed",
            Some(false) => "failing",
            None => health.unknown.as_deref().unwrap_or("unknown"),
        };
        fact(&format!("health of {}", health.device), state);
    }
    if let Some(machine) = &document.machine {
        let facts = [&machine.kernel, &machine.cpu_model, &machine.product];
        let facts: Vec<&str> = facts.into_iter().flatten().map(String::as_str).collect();
        fact("machine", &facts.join(", "));
    }
    if let Some(bytes) = document.preconditioned_bytes {
        fact("preconditioned", &format!("{} kept during the steps", human::bytes(bytes)));
    }
    fact("from, to", &format!("{}, {}", document.started_at, document.ended_at));
    fact("interruptions", &human::count(document.resumed));
    let mut list = Markup::default();
    list.tags("<dl class=\"facts\">").put(&out).tags("</dl>\n");
    list
}

fn section(number: usize, step: &StepReport, samples: &Samples) -> Markup {
    let mut out = Markup::default();
    let (class, verdict) = match step.verdict {
        StepVerdict::Pass => ("ok", "pass"),
        StepVerdict::Fail => ("bad", "fail"),
        StepVerdict::NotMeasured => ("bad", "not measured"),
        StepVerdict::Skipped => ("doubt", "skipped"),
    };
    out.tags("<section><h2>").text(&format!("{number}. {}: ", step.name)).tags("<b class=\"");
    out.tags(class).tags("\">").tags(verdict).tags("</b></h2><p class=\"what\">");
    out.text(&step.plan.join(" ")).tags("</p>");
    if let Some(reason) = &step.reason {
        out.tags("<p class=\"bad\">").text(reason).tags("</p>");
    }
    for variant in &step.variants {
        out.put(&limits(variant));
    }
    let classes = ["s0", "s1"];
    let shown = samples.iter().zip(classes).filter(|((_, sorted), _)| !sorted.is_empty());
    let curves: Vec<Curve> =
        shown.map(|((name, sorted), class)| Curve { name: name.clone(), class, sorted }).collect();
    if !curves.is_empty() {
        out.tags("<div class=\"plots\">");
        out.put(&percentile_curve::draw(&curves, None, &Policy::default())).tags("</div>");
    }
    out.tags("</section>\n");
    out
}

fn limits(variant: &VariantReport) -> Markup {
    let mut out = Markup::default();
    out.tags("<div class=\"wide\"><table><caption>");
    out.tags(if variant.load.is_some() { "beside " } else { "alone" });
    out.text(variant.load.as_deref().unwrap_or_default()).tags("</caption>");
    for limit in &variant.limits {
        let holds = limit.holds;
        out.tags("<tr><td><b class=\"").tags(if holds { "ok" } else { "bad" }).tags("\">");
        out.tags(if holds { "holds" } else { "missed" }).tags("</b></td><td>");
        out.text(&limit.shown()).tags("</td></tr>");
    }
    out.tags("</table></div>\n");
    out
}

/// Every round with the digest of its record.
fn records(document: &Qualification) -> Markup {
    let mut out = Markup::default();
    out.tags("<section><h2>Records</h2><div class=\"wide\"><table><tr><th>record</th>");
    out.tags("<th>p50</th><th>p99</th><th>max</th><th>sha256</th></tr>");
    let variants = document.steps.iter().flat_map(|step| &step.variants);
    for round in variants.flat_map(|variant| &variant.rounds) {
        let time = |ns: Option<u64>| ns.map_or_else(|| "-".to_owned(), human::time);
        let figures = &round.figures;
        out.tags("<tr><td>").text(&round.file).tags("</td><td>").text(&time(figures.p50_ns));
        out.tags("</td><td>").text(&time(figures.p99_ns)).tags("</td><td>");
        out.text(&time(figures.max_ns)).tags("</td><td><code>").text(&round.sha256);
        out.tags("</code></td></tr>");
    }
    out.tags("</table></div></section>\n");
    out
}

//! A user's policy file. The schema and a complete example are in docs/policy.md.

use synctail_bench::{Layout, Plan};

use super::reader::{PolicyError, Reader};
use super::{BANDS, Kind, PlanDefaults, Policy, parse_band};
use crate::quantity::{parse_duration_ns, parse_size_bytes};
use crate::record::{Band, Metric};

const LAYOUTS: [Layout; 3] = [Layout::Append, Layout::Overwrite, Layout::Unwritten];

/// Reads the text of a policy file; see [`Policy::from_toml`].
pub fn parse(text: &str, file_name: &str) -> Result<Policy, PolicyError> {
    let mut top = Reader::of_file(text, file_name)?;
    let name = name(&mut top)?;
    let kind = top.parsed("kind", parse_kind)?.unwrap_or(Kind::Generic);
    let metric = top.parsed("metric", parse_metric)?.unwrap_or(Metric::Barrier);
    let fail_at = top.parsed("fail_at", parse_fail_at)?.unwrap_or(Band::Broken);
    let pass_below_ns = top.parsed("pass_below", parse_limit)?;
    let (edges_ns, sentences) = bands(&mut top)?;
    let plan = plan(&mut top)?;
    top.finish(&["name", "kind", "metric", "fail_at", "pass_below", "bands", "plan"])?;
    Ok(Policy { name, metric, edges_ns, sentences, pass_below_ns, fail_at, plan, kind })
}

/// A name of its own: a record must not claim a built-in policy that it was not judged by.
fn name(top: &mut Reader) -> Result<String, PolicyError> {
    let name = one_line(top, "name")?;
    if Policy::named(&name).is_some() {
        let why = format!("{name:?} is the name of a built-in policy; choose another");
        return Err(top.error("name", why));
    }
    Ok(name)
}

/// Text for one line of a report: not blank, without control characters.
fn one_line(reader: &mut Reader, key: &str) -> Result<String, PolicyError> {
    let text = reader.required(key)?;
    if text.trim().is_empty() {
        return Err(reader.error(key, "empty; give one line of text"));
    }
    if text.chars().any(char::is_control) {
        return Err(reader.error(key, "contains a control character; give one line of text"));
    }
    Ok(text)
}

/// The table `bands`: for each band its sentence, and the edge for all but the last.
fn bands(top: &mut Reader) -> Result<([u64; 4], [String; 5]), PolicyError> {
    let names = BANDS.map(|(_, name)| name.to_ascii_lowercase());
    let mut bands = top.table("bands")?;
    let mut edges_ns = [0; 4];
    let mut sentences = [const { String::new() }; 5];
    for (i, name) in names.iter().enumerate() {
        let mut band = bands.table(name)?;
        sentences[i] = one_line(&mut band, "sentence")?;
        if i == edges_ns.len() {
            band.finish(&["sentence (the last band has no edge)"])?;
            continue;
        }
        let edge = band.parsed("below", parse_limit)?;
        let edge = edge.ok_or_else(|| band.error("below", "missing; give a time such as 5ms"))?;
        if i > 0 && edge <= edges_ns[i - 1] {
            let why = format!("not above the edge of {}; edges must ascend", names[i - 1]);
            return Err(band.error("below", why));
        }
        edges_ns[i] = edge;
        band.finish(&["below", "sentence"])?;
    }
    bands.finish(&names.each_ref().map(String::as_str))?;
    Ok((edges_ns, sentences))
}

/// The table `plan`; every key is optional.
fn plan(top: &mut Reader) -> Result<PlanDefaults, PolicyError> {
    let mut plan = top.table("plan")?;
    let defaults = PlanDefaults {
        arm: plan.parsed("arm", str::parse)?,
        block_size_bytes: plan.parsed("block_size", parse_block_size)?,
        layout: plan.parsed("layout", parse_layout)?,
        iterations: plan.count("iterations", i64::MAX as u64)?,
        workers: plan.count("workers", Plan::WORKERS_MAX)?,
    };
    plan.finish(&["arm", "block_size", "layout", "iterations", "workers"])?;
    Ok(defaults)
}

/// A time that can be a limit: at least 1 ns, since nothing is below 0.
fn parse_limit(text: &str) -> Result<u64, String> {
    match parse_duration_ns(text)? {
        0 => Err("nothing is below 0; give a time such as 5ms".to_owned()),
        ns => Ok(ns),
    }
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    match text {
        "jetstream" => Ok(Kind::Jetstream),
        "generic" => Ok(Kind::Generic),
        _ => Err("no such kind; one of jetstream, generic".to_owned()),
    }
}

fn parse_metric(text: &str) -> Result<Metric, String> {
    match text {
        "barrier" => Ok(Metric::Barrier),
        "total" => Ok(Metric::Total),
        _ => Err("no such metric; one of barrier, total".to_owned()),
    }
}

fn parse_fail_at(text: &str) -> Result<Band, String> {
    match parse_band(text)? {
        Band::Ideal => Err("nothing could pass; the least is good".to_owned()),
        band => Ok(band),
    }
}

fn parse_block_size(text: &str) -> Result<u64, String> {
    let bytes = parse_size_bytes(text)?;
    if (1..=Plan::BLOCK_SIZE_BYTES_MAX).contains(&bytes) {
        return Ok(bytes);
    }
    Err(format!("out of range; give 1 to {} bytes", Plan::BLOCK_SIZE_BYTES_MAX))
}

fn parse_layout(text: &str) -> Result<Layout, String> {
    let found = LAYOUTS.into_iter().find(|layout| layout.name() == text);
    let names = || LAYOUTS.map(Layout::name).join(", ");
    found.ok_or_else(|| format!("no such layout; one of {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use synctail_bench::Arm;

    /// The documented example, as a user would copy it.
    fn example() -> String {
        let page = include_str!("../../docs/policy.md");
        let start = page.find("```toml\n").expect("docs/policy.md has a toml block") + 8;
        let length = page[start..].find("```").expect("the toml block ends");
        // The page shows Linux's default; an arm that this system lacks is refused.
        page[start..start + length].replace("syscall/fdatasync", &Arm::DEFAULT.to_string())
    }

    /// The message for the example after one edit.
    fn refusal(from: &str, to: &str) -> String {
        let text = example();
        assert!(text.contains(from), "the example has no {from:?}");
        parse(&text.replacen(from, to, 1), "my.toml").unwrap_err().to_string()
    }

    #[test]
    fn the_documented_example_is_complete_and_means_what_it_says() {
        let policy = Policy::from_toml(&example(), "my.toml").unwrap();
        assert_eq!(policy.name, "archive");
        assert_eq!(policy.kind, Kind::Generic);
        assert_eq!(policy.metric, Metric::Total);
        assert_eq!(policy.edges_ns, [500_000, 2_000_000, 20_000_000, 500_000_000]);
        assert_eq!(policy.sentences[4], "do not put the archive here");
        assert_eq!(policy.pass_below_ns, Some(15_000_000));
        assert_eq!(policy.fail_at, Band::Marginal);
        let plan = policy.plan;
        assert_eq!(plan.arm, Some(Arm::DEFAULT));
        assert_eq!(plan.block_size_bytes, Some(16_384));
        assert_eq!(plan.layout, Some(Layout::Overwrite));
        assert_eq!((plan.iterations, plan.workers), (Some(2_000), Some(4)));
    }

    #[test]
    fn only_name_and_bands_are_required() {
        let text = example();
        let bands = &text[text.find("[bands.").unwrap()..text.find("[plan]").unwrap()];
        let policy = parse(&format!("name = \"least\"\n{bands}"), "my.toml").unwrap();
        assert_eq!((policy.metric, policy.fail_at), (Metric::Barrier, Band::Broken));
        assert_eq!((policy.pass_below_ns, policy.kind), (None, Kind::Generic));
        assert_eq!(policy.plan, PlanDefaults::default());
    }

    #[test]
    fn unknown_keys_are_refused_with_their_name_at_every_level() {
        let top = refusal("name =", "nmae = 1\nname =");
        assert!(top.starts_with("read the policy: my.toml: nmae: unknown key; known"), "{top}");
        let band = refusal("\nbelow =", "\nover = \"1s\"\nbelow =");
        assert!(band.contains("my.toml: bands.ideal.over: unknown key"), "{band}");
        let bands = refusal("[bands.broken]", "[bands.awful]\nx = 1\n[bands.broken]");
        assert!(bands.contains("bands.awful: unknown key"), "{bands}");
        let plan = refusal("[plan]", "[plan]\ndepth = 2");
        assert!(plan.contains("plan.depth: unknown key"), "{plan}");
        let last = refusal("[bands.broken]", "[bands.broken]\nbelow = \"2s\"");
        assert!(last.contains("bands.broken.below: unknown key"), "{last}");
    }

    #[test]
    fn edges_must_ascend() {
        let same = refusal("\"2ms\"", "\"500us\"");
        let expected = "my.toml: bands.good.below: not above the edge of ideal; edges must ascend";
        assert!(same.ends_with(expected), "{same}");
        assert!(refusal("\"20ms\"", "\"1999us\"").contains("bands.workable.below: not above"));
        assert!(refusal("\"500us\"", "\"0s\"").contains("bands.ideal.below: \"0s\": nothing is"));
    }

    #[test]
    fn values_that_cannot_be_meant_are_refused_with_file_and_key() {
        let cases = [
            ("\"archive\"", "\"etcd\"", "name: \"etcd\" is the name of a built-in"),
            ("\"archive\"", "\" \"", "name: empty"),
            ("\"archive\"", "\"a\\u001b[31m\"", "name: contains a control character"),
            ("\"total\"", "\"write\"", "metric: \"write\": no such metric"),
            ("\"marginal\"", "\"ideal\"", "fail_at: \"ideal\": nothing could pass"),
            ("\"marginal\"", "\"bad\"", "fail_at: \"bad\": no such band"),
            ("\"generic\"", "\"kafka\"", "kind: \"kafka\": no such kind"),
            ("\"15ms\"", "\"15\"", "pass_below: \"15\": "),
            ("\"15ms\"", "15", "pass_below: expected a string, found integer"),
            ("\"16KiB\"", "\"1GiB\"", "plan.block_size: \"1GiB\": out of range"),
            ("\"overwrite\"", "\"sparse\"", "plan.layout: \"sparse\": no such layout"),
            ("workers = 4", "workers = 0", "plan.workers: 0 is out of range"),
            ("iterations = 2000", "iterations = 1.5", "plan.iterations: expected a whole"),
            ("do not put the archive here", "", "bands.broken.sentence: empty"),
        ];
        for (from, to, expected) in cases {
            let text = refusal(from, to);
            assert!(text.contains(&format!("my.toml: {expected}")), "{text}");
        }
        let arm = refusal(&format!("\"{}\"", Arm::DEFAULT), "\"fio/fsync\"");
        assert!(arm.contains("plan.arm: \"fio/fsync\": no such arm"), "{arm}");
    }
}

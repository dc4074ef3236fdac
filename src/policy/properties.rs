//! Policy files: a generated one means what it says, and no text is too strange.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use synctail_bench::{Arm, Layout, Plan};

use super::{BANDS, Kind, PlanDefaults, Policy};
use crate::cases::config;
use crate::human;
use crate::record::{Band, Metric};

/// One line of text, with what TOML has to escape.
fn line() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 \"'\\\\#=äµ漢.]{0,12}x"
}

fn edges() -> impl Strategy<Value = [u64; 4]> {
    let edge =
        || prop_oneof![1..6u64, (1..u64::MAX, 0..63u32).prop_map(|(ns, by)| (ns >> by).max(1))];
    [edge(), edge(), edge(), edge()]
}

fn ascend(edges: [u64; 4]) -> bool {
    edges.windows(2).all(|pair| pair[0] < pair[1])
}

fn plan() -> impl Strategy<Value = PlanDefaults> {
    let layout = select(&[Layout::Append, Layout::Overwrite, Layout::Unwritten][..]);
    let fields = (
        proptest::option::of(select(Arm::all())),
        proptest::option::of(1..=Plan::BLOCK_SIZE_BYTES_MAX),
        proptest::option::of(layout),
        proptest::option::of(1..=i64::MAX as u64),
        proptest::option::of(1..=Plan::WORKERS_MAX),
    );
    fields.prop_map(|(arm, block_size_bytes, layout, iterations, workers)| PlanDefaults {
        arm,
        block_size_bytes,
        layout,
        iterations,
        workers,
    })
}

/// Any policy, its edges in any order.
fn policy() -> impl Strategy<Value = Policy> {
    let judged = (
        select(&[Metric::Barrier, Metric::Total][..]),
        select(&BANDS[1..]),
        proptest::option::of(1..u64::MAX),
        select(&[Kind::Generic, Kind::Jetstream][..]),
    );
    let sentences = [line(), line(), line(), line(), line()];
    (line(), edges(), sentences, judged, plan()).prop_map(
        |(name, edges_ns, sentences, judged, plan)| {
            let (metric, (fail_at, _), pass_below_ns, kind) = judged;
            Policy { name, metric, edges_ns, sentences, pass_below_ns, fail_at, plan, kind }
        },
    )
}

/// The file that says `policy`.
fn file(policy: &Policy) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let metric = if policy.metric == Metric::Total { "total" } else { "barrier" };
    let kind = if policy.kind == Kind::Jetstream { "jetstream" } else { "generic" };
    let fail_at = BANDS[policy.fail_at as usize].1.to_lowercase();
    let name = quoted(&policy.name);
    let mut text = format!(
        "name = {name}\nmetric = \"{metric}\"\nkind = \"{kind}\"\nfail_at = \"{fail_at}\"\n"
    );
    let mut key = |key: &str, value: Option<String>| {
        value.into_iter().for_each(|value| text.push_str(&format!("{key} = {value}\n")));
    };
    key("pass_below", policy.pass_below_ns.map(|ns| format!("\"{ns}ns\"")));
    for (i, (_, band)) in BANDS.iter().enumerate() {
        let band = band.to_lowercase();
        key(&format!("bands.{band}.sentence"), Some(quoted(&policy.sentences[i])));
        key(&format!("bands.{band}.below"), policy.edges_ns.get(i).map(|ns| format!("\"{ns}ns\"")));
    }
    let plan = &policy.plan;
    key("plan.arm", plan.arm.map(|arm| format!("\"{arm}\"")));
    key("plan.block_size", plan.block_size_bytes.map(|size| format!("\"{}\"", human::bytes(size))));
    key("plan.layout", plan.layout.map(|layout| format!("\"{}\"", layout.name())));
    key("plan.iterations", plan.iterations.map(|count| count.to_string()));
    key("plan.workers", plan.workers.map(|count| count.to_string()));
    text
}

/// The band by the definition: the first whose upper edge lies above, else the last.
fn band(edges: [u64; 4], ns: u64) -> Band {
    let all = [Band::Ideal, Band::Good, Band::Workable, Band::Marginal];
    all.into_iter().zip(edges).find(|&(_, edge)| ns < edge).map_or(Band::Broken, |(band, _)| band)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_file_means_what_it_says_if_its_edges_ascend(mut policy in policy(), sorted: bool) {
        if sorted {
            policy.edges_ns.sort();
        }
        let read = Policy::from_toml(&file(&policy), "my.toml");
        if !ascend(policy.edges_ns) {
            let why = read.unwrap_err().to_string();
            prop_assert!(why.ends_with("edges must ascend"), "{why}");
            return Ok(());
        }
        let read = read.map_err(|why| TestCaseError::fail(why.to_string()))?;
        for edge in policy.edges_ns {
            for ns in [edge - 1, edge, edge.saturating_add(1)] {
                prop_assert_eq!(read.band(ns), band(policy.edges_ns, ns), "{}", ns);
            }
        }
        prop_assert_eq!(read, policy);
    }

    #[test]
    fn a_damaged_file_is_read_or_refused_in_one_line(
        policy in policy(), damage in vec((any::<Index>(), 0..9usize, "[\\PC\n\t\0]{0,3}"), 1..4),
    ) {
        let mut text: Vec<char> = file(&policy).chars().collect();
        for (at, length, with) in damage {
            let at = at.index(text.len() + 1);
            let end = (at + length).min(text.len());
            text.splice(at..end, with.chars());
        }
        let text: String = text.into_iter().collect();
        match Policy::from_toml(&text, "my.toml") {
            Ok(read) => prop_assert!(ascend(read.edges_ns) && read.edges_ns[0] > 0),
            Err(why) => {
                let why = why.to_string();
                prop_assert!(why.starts_with("read the policy: my.toml: ") && !why.contains('\n'));
            }
        }
    }

    #[test]
    fn no_text_is_too_strange(text in "(\\PC|[\n\t\r\0\"'=.\\[\\]{}])*") {
        prop_assert!(Policy::from_toml(&text, "my.toml").is_err(), "bands are required");
    }
}

//! The script: what each kind of operation costs and where it fails.

mod check;
mod units;

pub use check::ScriptError;
pub use units::{ErrorName, Hang, Span};

use serde::Deserialize;

/// What the file system does; see README.md for the format.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// Of everything drawn; drawn itself, and printed, where it is absent.
    pub seed: Option<u64>,
    /// Files bypass the page cache of the kernel.
    pub direct_io: bool,
    /// What a barrier means here.
    pub fsync_mode: FsyncMode,
    /// fsync and fdatasync of files.
    pub fsync: Rules,
    /// Writes.
    pub write: Rules,
    /// Creating a file, and opening one that exists.
    pub open: Rules,
    /// statfs of any path.
    pub statfs: Rules,
    /// Removing a file.
    pub unlink: Rules,
}

/// What a barrier means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FsyncMode {
    /// What was written before it survives a power cut.
    #[default]
    Honest,
    /// ENOSYS: the kernel answers 0 from then on and asks no more.
    Unimplemented,
    /// It succeeds and makes nothing durable.
    Lying,
}

/// How long operations of one kind take, and which of them fail.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Of each operation that nothing else here speaks of.
    pub delay: Option<Span>,
    /// Of the first operations, in order.
    pub delays: Vec<Span>,
    /// Drawn instead of `delay`.
    pub lognormal: Option<Lognormal>,
    /// Drawn instead of `delay`.
    pub bimodal: Option<Bimodal>,
    /// Now and then nothing returns for a while.
    pub stall: Option<Stall>,
    /// Operations that do not simply succeed.
    pub faults: Vec<Fault>,
}

/// `median * exp(sigma * z)` with a standard normal z.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lognormal {
    /// Half of the delays are shorter.
    pub median: Span,
    /// Spread; 0.5 puts p99 at 3.2 times the median.
    pub sigma: f64,
    /// No delay is longer.
    pub most: Option<Span>,
}

/// One of two delays.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bimodal {
    /// The usual one.
    pub low: Span,
    /// The other.
    pub high: Span,
    /// Share of the other, 0 to 1.
    pub high_share: f64,
}

/// The first operation that arrives `every` after the first of all, or after the last stall was due,
/// takes `lasts`; those that arrive meanwhile return no earlier than it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// How long.
    pub lasts: Span,
    /// How often.
    pub every: Span,
}

/// What happens to the operations `at` to `at + times - 1` of those that it counts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "check::WrittenFault")]
pub struct Fault {
    /// From 1.
    pub at: u64,
    /// At least 1.
    pub times: u64,
    /// Counts only files whose name begins so.
    pub file: String,
    /// What happens.
    pub effect: Effect,
}

/// Instead of a plain success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It fails after its delay, and nothing is done.
    Error(ErrorName),
    /// Only so many bytes are written.
    Short(u64),
    /// It succeeds, but not before this.
    Hang(Hang),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_read_whole() {
        let text = r#"
            seed = 7
            direct_io = true
            fsync_mode = "lying"
            [fsync]
            delays = ["1ms", "700ms"]
            lognormal = { median = "2ms", sigma = 0.5 }
            stall = { lasts = "700ms", every = "5s" }
            faults = [
                { at = 3, error = "EIO" },
                { at = 1, times = 2, file = "w00001", hang = "released" },
            ]
            [write]
            delay = "100us"
            [[write.faults]]
            at = 9
            short = 2048
        "#;
        let script = Script::parse(text).unwrap();
        assert_eq!((script.seed, script.direct_io), (Some(7), true));
        assert_eq!(script.fsync_mode, FsyncMode::Lying);
        let fsync = &script.fsync;
        assert_eq!(fsync.delays, [Span(1_000_000), Span(700_000_000)]);
        let lognormal = fsync.lognormal.unwrap();
        assert_eq!((lognormal.median, lognormal.sigma), (Span(2_000_000), 0.5));
        assert_eq!(fsync.stall.unwrap().every, Span(5_000_000_000));
        let eio = Effect::Error(ErrorName::parse("EIO").unwrap());
        assert_eq!(fsync.faults[0], Fault { at: 3, times: 1, file: String::new(), effect: eio });
        assert_eq!((fsync.faults[1].times, fsync.faults[1].file.as_str()), (2, "w00001"));
        assert_eq!(fsync.faults[1].effect, Effect::Hang(Hang::UntilReleased));
        assert_eq!(script.write.delay, Some(Span(100_000)));
        assert_eq!(script.write.faults[0].effect, Effect::Short(2_048));
        assert_eq!(script.statfs, Rules::default());
        assert_eq!(Script::parse("").unwrap(), Script::default());
    }
}

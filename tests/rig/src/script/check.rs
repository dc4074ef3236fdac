//! From TOML to a script that can be meant.

use serde::Deserialize;

use super::{Effect, ErrorName, Fault, FsyncMode, Hang, Rules, Script};

/// Why a text is no script.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// Not TOML, or a key or value that is not known.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// Two things that cannot be meant together.
    #[error("{0}")]
    Meaning(String),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Where, and what is wrong there.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let script: Script = toml::from_str(text)?;
        script.check().map_err(ScriptError::Meaning)?;
        Ok(script)
    }

    fn check(&self) -> Result<(), String> {
        let Script { fsync, write, open, statfs, unlink, .. } = self;
        let all = [
            ("fsync", fsync),
            ("write", write),
            ("open", open),
            ("statfs", statfs),
            ("unlink", unlink),
        ];
        for (kind, rules) in all {
            rules.check().map_err(|why| format!("{kind}: {why}"))?;
            let shortens = |fault: &Fault| matches!(fault.effect, Effect::Short(_));
            if kind != "write" && rules.faults.iter().any(shortens) {
                return Err(format!("{kind}: only a write can be short"));
            }
        }
        if statfs.faults.iter().any(|fault| !fault.file.is_empty()) {
            return Err("statfs: it is asked of no file, leave `file` out".to_owned());
        }
        if self.fsync_mode == FsyncMode::Unimplemented && *fsync != Rules::default() {
            return Err("fsync: rules for what is not implemented".to_owned());
        }
        Ok(())
    }
}

impl Rules {
    fn check(&self) -> Result<(), String> {
        let sources = [self.delay.is_some(), self.lognormal.is_some(), self.bimodal.is_some()];
        if sources.into_iter().filter(|&given| given).count() > 1 {
            return Err("give one of delay, lognormal and bimodal".to_owned());
        }
        if let Some(lognormal) = self.lognormal
            && !(0.0..=5.0).contains(&lognormal.sigma)
        {
            return Err(format!("lognormal: sigma must be 0 to 5, not {}", lognormal.sigma));
        }
        if let Some(bimodal) = self.bimodal
            && !(0.0..=1.0).contains(&bimodal.high_share)
        {
            return Err(format!("bimodal: high_share must be 0 to 1, not {}", bimodal.high_share));
        }
        if self.stall.is_some_and(|stall| stall.every <= stall.lasts) {
            return Err("stall: every must be longer than lasts".to_owned());
        }
        Ok(())
    }
}

/// A fault with its effect as one of several keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFault {
    at: u64,
    #[serde(default = "once")]
    times: u64,
    #[serde(default)]
    file: String,
    error: Option<ErrorName>,
    short: Option<u64>,
    hang: Option<Hang>,
}

fn once() -> u64 {
    1
}

impl TryFrom<WrittenFault> for Fault {
    type Error = String;

    fn try_from(written: WrittenFault) -> Result<Fault, String> {
        let WrittenFault { at, times, file, error, short, hang } = written;
        let effect = match (error, short, hang) {
            (Some(error), None, None) => Effect::Error(error),
            (None, Some(bytes), None) => Effect::Short(bytes),
            (None, None, Some(hang)) => Effect::Hang(hang),
            _ => return Err("a fault has one of error, short and hang".to_owned()),
        };
        if at == 0 || times == 0 {
            return Err("a fault's `at` and `times` count from 1".to_owned());
        }
        Ok(Fault { at, times, file, effect })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_place() {
        for (text, says) in [
            ("fsync.delay = 5", "string"),
            ("fsync.dely = '5ms'", "dely"),
            ("sync.delay = '5ms'", "sync"),
            (
                "fsync.delay = '1ms'\nfsync.bimodal = {low='1ms',high='2ms',high_share=0.1}",
                "one of",
            ),
            ("write.bimodal = {low='1ms',high='2ms',high_share=2.0}", "write: bimodal"),
            ("write.lognormal = {median='1ms',sigma=-1.0}", "sigma"),
            ("write.lognormal = {median='1ms',sigma=nan}", "sigma"),
            ("fsync.stall = {lasts='2s',every='1s'}", "every"),
            ("fsync.faults = [{at=0,error='EIO'}]", "count from 1"),
            ("fsync.faults = [{at=1}]", "one of error"),
            ("write.faults = [{at=1,error='EIO',short=3}]", "one of error"),
            ("fsync.faults = [{at=1,short=3}]", "only a write"),
            ("fsync.faults = [{at=1,error='EWHAT'}]", "EWHAT"),
            ("statfs.faults = [{at=1,file='x',error='EIO'}]", "no file"),
            ("fsync_mode = 'unimplemented'\nfsync.delay = '1ms'", "not implemented"),
            ("fsync_mode = 'half'", "half"),
        ] {
            let why = Script::parse(text).unwrap_err().to_string();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}

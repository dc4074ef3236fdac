//! An arm: engine, barrier and cache mode, the unit of comparison.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How a pair is submitted to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// One system call for the write, one for the barrier.
    Syscall,
    /// The same pair by io_uring as two round trips.
    Uring,
    /// One submission: the write linked to its barrier.
    UringLinked,
}

/// What makes the write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Barrier {
    /// fdatasync(2), or IORING_OP_FSYNC with DATASYNC.
    Fdatasync,
    /// fsync(2), or IORING_OP_FSYNC.
    Fsync,
    /// RWF_DSYNC on the write itself.
    Dsync,
    /// The file is opened with O_DSYNC.
    ODsync,
    /// The file is opened with O_SYNC.
    OSync,
    /// macOS: fcntl(F_FULLFSYNC).
    FFullfsync,
    /// macOS: fcntl(F_BARRIERFSYNC); orders, does not make durable.
    FBarrierfsync,
    /// No barrier: the baseline, never durable.
    None,
}

/// Engine, barrier and whether the page cache is bypassed; written `ENGINE/BARRIER[+direct]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arm {
    /// How the pair is submitted.
    pub engine: Engine,
    /// What makes it durable.
    pub barrier: Barrier,
    /// O_DIRECT.
    pub direct: bool,
}

const ENGINES: [(&str, Engine); 3] =
    [("syscall", Engine::Syscall), ("uring", Engine::Uring), ("uring-linked", Engine::UringLinked)];

const BARRIERS: [(&str, Barrier); 8] = [
    ("fdatasync", Barrier::Fdatasync),
    ("fsync", Barrier::Fsync),
    ("dsync", Barrier::Dsync),
    ("o_dsync", Barrier::ODsync),
    ("o_sync", Barrier::OSync),
    ("f_fullfsync", Barrier::FFullfsync),
    ("f_barrierfsync", Barrier::FBarrierfsync),
    ("none", Barrier::None),
];

impl Arm {
    /// The arm used where none is named: what a service does by default on this system.
    pub const DEFAULT: Arm = Arm {
        engine: Engine::Syscall,
        barrier: if cfg!(target_os = "macos") { Barrier::FFullfsync } else { Barrier::Fdatasync },
        direct: false,
    };

    /// Every arm that this system has, without and then with `+direct`.
    pub fn all() -> Vec<Arm> {
        let mut arms = Vec::new();
        for direct in [false, true] {
            for (_, engine) in ENGINES {
                for (_, barrier) in BARRIERS {
                    let arm = Arm { engine, barrier, direct };
                    if arm.refusal().is_none() {
                        arms.push(arm);
                    }
                }
            }
        }
        arms
    }

    /// Whether write and barrier are two operations with a clock read between them.
    pub fn has_own_barrier(self) -> bool {
        self.engine != Engine::UringLinked && self.barrier.is_call()
    }

    /// Whether `write_ns` means something: the write has an end of its own that is not the barrier's.
    pub fn has_own_write(self) -> bool {
        self.has_own_barrier() || self.barrier == Barrier::None
    }

    /// Whether the arm goes through io_uring.
    pub fn uses_ring(self) -> bool {
        self.engine != Engine::Syscall
    }

    /// Whether one call and nothing else lies between the clock reads around the barrier.
    pub fn has_bare_barrier(self) -> bool {
        self.engine == Engine::Syscall && self.barrier.is_call()
    }

    /// Why this combination does not exist, if it does not.
    fn refusal(self) -> Option<&'static str> {
        use Barrier::{Dsync, FBarrierfsync, FFullfsync, Fdatasync, Fsync, ODsync, OSync};
        let mac = matches!(self.barrier, FFullfsync | FBarrierfsync);
        match self.engine {
            // O_DIRECT does not exist there, and a buffered figure must not carry the name.
            _ if self.direct && !cfg!(target_os = "linux") => Some("+direct is for Linux only"),
            _ if mac && !cfg!(target_os = "macos") => Some("this barrier exists on macOS only"),
            _ if !mac
                && self.barrier != Fsync
                && self.barrier != Barrier::None
                && cfg!(target_os = "macos") =>
            {
                Some("this barrier does not exist on macOS")
            }
            Engine::Syscall => None,
            _ if !cfg!(target_os = "linux") => Some("io_uring exists on Linux only"),
            Engine::UringLinked if !matches!(self.barrier, Fdatasync | Fsync) => {
                Some("a linked pair needs fdatasync or fsync; use uring/... for one submission")
            }
            Engine::Uring if matches!(self.barrier, ODsync | OSync) => {
                Some("open flags are measured by syscall/...; use uring/dsync")
            }
            _ => {
                debug_assert!(matches!(self.barrier, Fdatasync | Fsync | Dsync | Barrier::None));
                None
            }
        }
    }
}

impl Barrier {
    /// Whether the barrier is an operation after the write (and not a property of the write).
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Barrier::Fdatasync | Barrier::Fsync | Barrier::FFullfsync | Barrier::FBarrierfsync
        )
    }
}

fn name_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, v)| *v == value).map_or("?", |(name, _)| name)
}

impl fmt::Display for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&BARRIERS, *self))
    }
}

impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", name_of(&ENGINES, self.engine), self.barrier)?;
        if self.direct { f.write_str("+direct") } else { Ok(()) }
    }
}

impl FromStr for Arm {
    type Err = String;

    fn from_str(text: &str) -> Result<Arm, String> {
        let arm = Arm::parse(text)?;
        match arm.refusal() {
            Some(why) => Err(format!("no such arm: {why}")),
            None => Ok(arm),
        }
    }
}

impl Arm {
    /// Reads the name of an arm of any system, such as that of a saved record.
    fn parse(text: &str) -> Result<Arm, String> {
        let known =
            || Arm::all().iter().filter(|a| !a.direct).map(Arm::to_string).collect::<Vec<_>>();
        let unknown =
            || format!("no such arm; one of {}, each also with +direct", known().join(", "));
        let (rest, direct) = match text.strip_suffix("+direct") {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (engine, barrier) = rest.split_once('/').ok_or_else(unknown)?;
        let find = |name: &str| ENGINES.iter().find(|(n, _)| *n == name).map(|(_, e)| *e);
        let engine = find(engine).ok_or_else(unknown)?;
        let barrier = BARRIERS.iter().find(|(n, _)| *n == barrier).map(|(_, b)| *b);
        Ok(Arm { engine, barrier: barrier.ok_or_else(unknown)?, direct })
    }
}

impl Serialize for Arm {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Arm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Arm, D::Error> {
        Arm::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_parses_back_from_its_own_name() {
        for arm in Arm::all() {
            assert_eq!(arm.to_string().parse::<Arm>(), Ok(arm));
        }
        assert!(Arm::all().contains(&Arm::DEFAULT));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn linux_has_the_eleven_arms_of_the_design_twice() {
        let names: Vec<String> = Arm::all().iter().map(Arm::to_string).collect();
        let expected = [
            "syscall/fdatasync",
            "syscall/fsync",
            "syscall/dsync",
            "syscall/o_dsync",
            "syscall/o_sync",
            "syscall/none",
            "uring/fdatasync",
            "uring/fsync",
            "uring/dsync",
            "uring/none",
            "uring-linked/fdatasync",
            "uring-linked/fsync",
        ];
        assert_eq!(names[..names.len() / 2], expected);
        assert!(names[names.len() / 2..].iter().all(|n| n.ends_with("+direct")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_record_of_another_system_can_be_read_but_not_asked_for() {
        let name = "syscall/f_fullfsync";
        let read = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
        assert_eq!(Arm::deserialize(read).unwrap().to_string(), name);
        assert!(name.parse::<Arm>().is_err());
    }

    #[test]
    fn impossible_arms_are_refused_with_a_reason() {
        for text in [
            "uring-linked/none",
            "uring-linked/dsync",
            "uring/o_sync",
            "",
            "syscall",
            "syscall/",
            "/fsync",
            "syscall/fsync+",
            "fio/fsync",
            "syscall/fdatasync+direct+direct",
        ] {
            let why = text.parse::<Arm>().unwrap_err();
            assert!(why.starts_with("no such arm"), "{text}: {why}");
        }
    }

    #[test]
    fn a_part_is_claimed_only_where_the_arm_times_it() {
        let parts = |s: &str| {
            let arm: Arm = s.parse().unwrap();
            (arm.has_own_write(), arm.has_own_barrier())
        };
        assert_eq!(parts("syscall/none"), (true, false));
        if cfg!(target_os = "linux") {
            assert_eq!(parts("syscall/fdatasync"), (true, true));
            assert_eq!(parts("uring/fsync"), (true, true));
            assert_eq!(parts("uring-linked/fsync"), (false, false));
            assert_eq!(parts("uring/dsync"), (false, false));
            assert_eq!(parts("syscall/o_sync"), (false, false));
        }
    }
}

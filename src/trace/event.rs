//! One event of the kernel's trace, as far as a pair's wait can depend on it.

/// When and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// By the clock of the run.
    pub tick: u64,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A CPU went from one thread to another.
    Switch {
        /// Who had it.
        from: Thread,
        /// Whether that one waits for something, rather than for a CPU.
        blocked: bool,
        /// Who has it now.
        to: Thread,
    },
    /// A thread may run again.
    Wake(Thread),
    /// A request on its way to a device and back.
    Request(Phase, Request),
    /// A commit of the journal of a filesystem begins (true) or ends (false).
    Journal(bool),
    /// The kernel made a writer pause because too much was dirty.
    Throttled(Thread),
}

/// A thread, by what it is to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id.
    pub tid: u32,
    /// Its part.
    pub role: Role,
}

/// A thread's part in the run, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A worker, by number.
    Worker(u64),
    /// One of the ring's worker pool, by the id of the thread that owns the ring.
    Pool(u32),
    /// A thread of the kernel that others wait for: the journal's, or one that carries requests on.
    Kernel,
    /// None.
    Other,
}

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Handed to the block layer.
    Queued,
    /// Given to the device.
    Issued,
    /// Answered by the device.
    Completed,
}

/// A request to a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The device's number, major and minor.
    pub device: (u32, u32),
    /// What it does.
    pub operation: Operation,
    /// Forced unit access: durable when it completes.
    pub fua: bool,
    /// Somebody waits for it.
    pub sync: bool,
    /// First sector; not told of a flush.
    pub sector: u64,
    /// 512-byte sectors.
    pub sectors: u32,
    /// Who asked, by its place in the list of names; of no meaning once completed.
    pub by: u16,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Empties the device's cache.
    Flush,
    /// Writes.
    Write,
    /// Reads, discards and the rest.
    Other,
}

impl Operation {
    /// The word for a person.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Flush => "flush",
            Operation::Write => "write",
            Operation::Other => "read or other request",
        }
    }
}

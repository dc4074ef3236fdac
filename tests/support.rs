//! What the tests of the real binary stand on: a folder, a command, a mounted filesystem, and the two
//! locks that keep parallel tests out of each other's way.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod command;
mod device;
mod filesystem;
mod folder;
mod locks;
mod outcome;
mod privilege;
mod process;
mod terminal;

pub use command::{Cmd, Running};
pub use device::{Image, LoopDevice, Mount, has_program, system, system_line};
pub use filesystem::{Filesystem, Make};
pub use folder::{Folder, assert_clean, names_in};
pub use locks::{Sysctl, heavy, rings_are_used, rings_may_be_forbidden};
pub use outcome::Outcome;
pub use privilege::{Nobody, is_root, require};
pub use process::{eventually, measuring_in};
pub use terminal::Terminal;

/// Every arm of Linux, as `--arm` lists them.
pub const ARMS: [&str; 24] = [
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
    "syscall/fdatasync+direct",
    "syscall/fsync+direct",
    "syscall/dsync+direct",
    "syscall/o_dsync+direct",
    "syscall/o_sync+direct",
    "syscall/none+direct",
    "uring/fdatasync+direct",
    "uring/fsync+direct",
    "uring/dsync+direct",
    "uring/none+direct",
    "uring-linked/fdatasync+direct",
    "uring-linked/fsync+direct",
];

/// One arm of each kind of loop and of each engine, for tests whose point is not the arm.
pub const ARMS_OF_EACH_KIND: [&str; 5] =
    ["syscall/fdatasync", "syscall/dsync", "uring/fdatasync", "uring/dsync", "uring-linked/fsync"];

//! The real binary on real files.
#![allow(clippy::unwrap_used)] // a test may; what it found is in the panic

mod cli; // arguments, messages, exit codes, output and paths

mod durability; // flushes that are swallowed, and honest ones
mod faults; // what a filesystem refuses: space, quota, limits, rights
mod filesystems; // every arm on real ext4, xfs, btrfs, tmpfs (loop devices, root)
mod fuse; // the rig: injected delays, EIO, short writes, hangs
mod judge; // results of before, ours and other tools', judged
mod load; // noisy neighbours: that they are noisy, and gone afterwards
mod pair; // the calls of a pair, by strace
mod peers; // what other programs print, read; the table of them
mod powercut; // what is lost when the power goes, on the rig
mod qualify; // a procedure with limits: passes, fails by name, survives kill -9
mod raw_device; // block devices: overwritten, or refused by name
mod report; // saved records in other forms, and many as one table
mod ring_refused; // io_uring forbidden by seccomp, sysctl and limits
mod signals; // SIGINT and SIGTERM at any moment, closed pipes, left-overs
mod support; // a directory, a command, a loop device; what may be required
mod sweep; // products and presets, in rounds, interrupted and resumed
mod tidy; // house rules that clippy cannot see
mod trace; // what pairs wait for, by the kernel

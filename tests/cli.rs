//! Arguments, messages, exit codes, output and paths of the real binary.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod inspect; // what lies under a path
mod names; // paths of any bytes
mod output; // where the result goes, and what happens when it cannot
mod percentiles; // every figure again, from the saved samples
mod plot; // curves in text, and their colours
mod policy; // which policy judges, and the codes that follow
mod record; // every key of the document
mod report; // the page for the eye, in a browser
mod shape; // the text for a person
mod sizes; // blocks of any length
mod targets; // what may be measured
mod terminal; // locales and terminals change nothing
mod usage; // command lines that mean nothing

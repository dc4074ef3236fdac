//! A FUSE file system that follows a script, and its ledger.

//! Commits of a filesystem's own journal.

use std::path::{Path, PathBuf};

use super::Counter;
use crate::record::{CounterKind, Substrate};

/// The journal's counter, where this filesystem shows one.
pub fn counters(root: &Path, substrate: &Substrate) -> Option<Counter> {
    let node = substrate.block.first()?.name.clone();
    // In /proc and /sys names have an exclamation mark for a slash.
    let name = node.replace('/', "!");
    let (kind, path) = match substrate.filesystem.as_deref()? {
        "ext3" | "ext4" | "ocfs2" => (CounterKind::Jbd2Commits, jbd2_path(root, &name)?),
        "xfs" => (CounterKind::XfsLogForces, format!("sys/fs/xfs/{name}/stats/stats")),
        "btrfs" => (CounterKind::BtrfsCommits, btrfs_path(root, &name)?),
        _ => return None,
    };
    Some(Counter { kind, node, path })
}

/// `proc/fs/jbd2/vda-8/info`: device and inode of the journal, which is 8 unless it was moved.
fn jbd2_path(root: &Path, name: &str) -> Option<String> {
    let has_name = |folder: &PathBuf| {
        let file = folder.file_name().and_then(|file| file.to_str());
        file.and_then(|file| file.rsplit_once('-')).is_some_and(|(device, _)| device == name)
    };
    below_root(root, &entries(&root.join("proc/fs/jbd2")).into_iter().find(has_name)?.join("info"))
}

fn btrfs_path(root: &Path, name: &str) -> Option<String> {
    let has_member = |folder: &PathBuf| folder.join("devices").join(name).exists();
    let folder = entries(&root.join("sys/fs/btrfs")).into_iter().find(has_member)?;
    below_root(root, &folder.join("commit_stats"))
}

fn below_root(root: &Path, path: &Path) -> Option<String> {
    Some(path.strip_prefix(root).ok()?.to_str()?.to_owned())
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// `123 transactions (45 requested), each up to 1024 blocks`.
pub fn jbd2_transactions(text: &str) -> Option<u64> {
    let (count, rest) = text.lines().next()?.split_once(' ')?;
    if rest.starts_with("transactions") { count.parse().ok() } else { None }
}

/// The fourth number of `log` (Documentation/admin-guide/xfs.rst, xs_log_force).
pub fn xfs_log_forces(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("log "))?;
    line.split_ascii_whitespace().nth(3)?.parse().ok()
}

/// `commits 12` in commit_stats.
pub fn btrfs_commits(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("commits "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_lines_are_read_and_odd_ones_are_not() {
        let info = "1234 transactions (100 requested), each up to 2048 blocks\naverage: \n";
        assert_eq!(jbd2_transactions(info), Some(1_234));
        assert_eq!(xfs_log_forces("extent_alloc 1 2 3 4\nlog 9 8 7 6 5\n"), Some(6));
        assert_eq!(btrfs_commits("commits 3\nlast_commit_ms 4\n"), Some(3));
        for text in
            ["", "x", "log", "log 1", "commits", "commits x", "5 transfers", "-1 transactions"]
        {
            assert_eq!(jbd2_transactions(text), None, "{text}");
            assert_eq!(xfs_log_forces(text), None, "{text}");
            assert_eq!(btrfs_commits(text), None, "{text}");
        }
    }
}

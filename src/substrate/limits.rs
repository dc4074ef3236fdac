//! Limits that are not the disk's: what the control groups of this process allow it on these devices.
//!
//! A limit shapes the tail with a beat that looks like a journal's, so it stands beside the verdict.

use std::path::{Path, PathBuf};

use super::text;
use crate::record::{Block, IoLimit};

/// Files of version 1, with what they limit.
const V1: [(&str, &str); 2] =
    [("blkio.throttle.write_bps_device", "wbps"), ("blkio.throttle.write_iops_device", "wiops")];

/// Limits in force on any device of `stack`, from this process's group up to the root.
pub fn in_force(root: &Path, stack: &[Block]) -> Vec<IoLimit> {
    let Ok(groups) = text(&root.join("proc/self/cgroup")) else { return Vec::new() };
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if controllers.is_empty() {
            for group in upwards(&root.join("sys/fs/cgroup"), path) {
                limits.extend(of_file(root, &group.join("io.max"), None, stack));
            }
        } else if controllers.split(',').any(|name| name == "blkio") {
            for group in upwards(&root.join("sys/fs/cgroup/blkio"), path) {
                for (file, key) in V1 {
                    limits.extend(of_file(root, &group.join(file), Some(key), stack));
                }
            }
        }
    }
    limits
}

/// The folder of the group and those above it.
fn upwards(mount: &Path, path: &str) -> Vec<PathBuf> {
    let own = mount.join(path.trim_start_matches('/'));
    own.ancestors().take_while(|folder| folder.starts_with(mount)).map(Path::to_path_buf).collect()
}

/// `8:0 rbps=max wbps=1048576 riops=max wiops=50` of version 2, `8:0 1048576` of version 1.
fn of_file(root: &Path, file: &Path, key: Option<&str>, stack: &[Block]) -> Vec<IoLimit> {
    let Ok(text) = text(file) else { return Vec::new() };
    let source = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let of_line = |line: &str| {
        let (device, rest) = line.split_once(' ')?;
        let node = stack.iter().find(|node| node.device == device)?;
        let writes = |word: &&str| {
            let limited = !word.ends_with("=max") && !word.ends_with('=');
            key.is_some() || (word.starts_with('w') && limited)
        };
        let words: Vec<&str> = rest.split_ascii_whitespace().filter(writes).collect();
        let limit = key.map_or_else(|| words.join(" "), |key| format!("{key}={}", words.join(" ")));
        let source = source.clone();
        (!words.is_empty()).then(|| IoLimit { node: node.name.clone(), limit, source })
    };
    text.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::FakeRoot;
    use super::*;

    fn stack() -> Vec<Block> {
        vec![Block { name: "sda".to_owned(), device: "8:0".to_owned(), ..Block::default() }]
    }

    fn found(root: &FakeRoot) -> Vec<(String, String)> {
        let limits = in_force(root.path(), &stack());
        limits.into_iter().map(|limit| (limit.limit, limit.source)).collect()
    }

    #[test]
    fn limits_of_version_2_are_found_in_the_group_and_above() {
        let root = FakeRoot::new();
        root.file("proc/self/cgroup", "0::/a/b\n");
        root.file(
            "sys/fs/cgroup/a/b/io.max",
            "8:16 wiops=5\n8:0 rbps=9 wbps=max riops=max wiops=50\n",
        );
        root.file("sys/fs/cgroup/a/io.max", "8:0 rbps=max wbps=1048576 riops=max wiops=max\n");
        assert_eq!(
            found(&root),
            [
                ("wiops=50".to_owned(), "sys/fs/cgroup/a/b/io.max".to_owned()),
                ("wbps=1048576".to_owned(), "sys/fs/cgroup/a/io.max".to_owned())
            ]
        );
    }

    #[test]
    fn limits_of_version_1_are_found() {
        let root = FakeRoot::new();
        root.file("proc/self/cgroup", "5:cpu:/x\n4:blkio:/y\n");
        root.file("sys/fs/cgroup/blkio/y/blkio.throttle.write_iops_device", "8:0 50\n");
        let source = "sys/fs/cgroup/blkio/y/blkio.throttle.write_iops_device".to_owned();
        assert_eq!(found(&root), [("wiops=50".to_owned(), source)]);
    }

    #[test]
    fn without_limits_or_with_odd_lines_there_is_nothing() {
        for (groups, max) in [
            ("", ""),
            ("0::/a\n", ""),
            ("0::/a\n", "8:0 rbps=max wbps=max riops=max wiops=max\n"),
            ("0::/a\n", "8:0\n\n8:0 \nx y\n"),
            ("0::\n0\n::\n", "8:0 wiops=5"),
        ] {
            let root = FakeRoot::new();
            root.file("proc/self/cgroup", groups);
            root.file("sys/fs/cgroup/a/io.max", max);
            assert!(found(&root).is_empty(), "{groups:?} {max:?}");
        }
    }
}

//! Which mount holds a path.

use super::mountinfo::Entry;

/// The mount that holds `path`: the one with `id` if it is there, else the one that a walk from the
/// root mount down ends in, else the longest mount point.
///
/// The walk follows the parent ids, as a path lookup does, and so passes by what another mount
/// covers: both a mount under the same point and one deeper below it.
pub fn holding<'a>(mounts: &'a [Entry], path: &[u8], id: Option<u64>) -> Option<&'a Entry> {
    if let Some(found) = mounts.iter().find(|entry| Some(entry.id) == id) {
        return Some(found);
    }
    let candidates: Vec<&Entry> =
        mounts.iter().filter(|entry| is_below(path, &entry.mount_point)).collect();
    // The root mount's parent is not listed, or the root mount names itself.
    let is_top = |entry: &&&Entry| {
        entry.parent == entry.id || !mounts.iter().any(|other| other.id == entry.parent)
    };
    let longest = |entry: &&&Entry| entry.mount_point.len();
    let start = candidates.iter().filter(is_top).max_by_key(longest);
    let mut current = start.or_else(|| candidates.iter().max_by_key(longest))?;
    // Damaged text may hold a ring of parents: no walk is longer than the list.
    for _ in 0..candidates.len() {
        let below = candidates.iter().rev().filter(|entry| {
            entry.parent == current.id
                && entry.id != current.id
                && entry.mount_point.len() >= current.mount_point.len()
        });
        // The shortest is crossed first; reversed, so that the latest of equals is taken.
        let Some(next) = below.min_by_key(longest) else { break };
        current = next;
    }
    Some(current)
}

/// Whether `path` is `folder` or lies in it; `/mnt/data2` does not lie in `/mnt/data`.
pub fn is_below(path: &[u8], folder: &[u8]) -> bool {
    let folder = folder.strip_suffix(b"/").unwrap_or(folder);
    match path.strip_prefix(folder) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::XorShift;
    use super::super::mountinfo::parse;
    use super::*;

    const OVERMOUNT: &[u8] = b"25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
8217 25 8:1 /testvolume /testvolume rw,relatime master:1 - ext4 /dev/sda1 rw
8379 8217 8:17 / /testvolume rw,relatime shared:1187 - xfs /dev/sdb1 rw
8400 25 8:33 / /testvol rw,relatime shared:1190 - ext4 /dev/sdc1 rw
";

    fn id(text: &[u8], path: &str) -> Option<u64> {
        holding(&parse(text), path.as_bytes(), None).map(|entry| entry.id)
    }

    #[test]
    fn the_path_ends_in_the_latest_and_deepest_mount() {
        assert_eq!(id(OVERMOUNT, "/testvolume/x"), Some(8379));
        assert_eq!(id(OVERMOUNT, "/testvolume"), Some(8379));
        assert_eq!(id(OVERMOUNT, "/testvolume2"), Some(25));
        assert_eq!(id(OVERMOUNT, "/testvol/x"), Some(8400));
        assert_eq!(id(OVERMOUNT, "/"), Some(25));
    }

    #[test]
    fn on_a_tie_the_latest_line_wins() {
        let text =
            b"1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /m rw - xfs b rw\n3 1 8:3 / /m rw - xfs c rw";
        assert_eq!(id(text, "/m/x"), Some(3));
    }

    #[test]
    fn a_mount_below_a_covered_folder_is_passed_by() {
        let text =
            b"1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /a/b rw - xfs b rw\n3 1 8:3 / /a rw - xfs c rw";
        assert_eq!(id(text, "/a/b/x"), Some(3));
    }

    #[test]
    fn a_path_that_is_not_utf8_finds_its_mount() {
        let mounts = parse(b"1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /\xff rw - xfs b rw");
        let found = holding(&mounts, b"/\xff/x", None).unwrap();
        assert_eq!((found.id, found.to_mount().mount_point.as_str()), (2, "/\u{fffd}"));
    }

    #[test]
    fn nothing_is_found_where_nothing_is_listed() {
        assert_eq!(id(b"", "/x"), None);
        assert_eq!(id(b"2 1 8:2 / /m rw - xfs b rw", "/x"), None);
    }

    #[test]
    fn damaged_text_never_panics() {
        let ring = b"1 2 8:1 / / rw - ext4 a rw\n2 1 8:1 / / rw - ext4 a rw\n";
        assert!(id(ring, "/x").is_some());
        let text = [OVERMOUNT, ring, b"9 1 0:4 /\\040 /a\\134 rw x - btrfs /dev/b rw\n"].concat();
        for seed in 1..=3000 {
            let damaged = XorShift(seed).mutate(&text);
            let outcome = std::panic::catch_unwind(|| {
                let mounts = parse(&damaged);
                holding(&mounts, b"/testvolume/x", None).map(Entry::to_mount)
            });
            assert!(outcome.is_ok(), "seed {seed}");
        }
    }
}

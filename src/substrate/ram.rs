//! Whether what is written stays in memory, however fast and durable it looks.

use crate::record::{Block, Substrate};

/// Filesystems without any storage below; `rootfs` is where an initramfs was unpacked.
pub fn is_ram(filesystem: &str) -> bool {
    matches!(filesystem, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs")
}

/// The type by statfs, for where there is no mountinfo. Only these, since a run in memory must be
/// noticed; other numbers are shared (ext2 to ext4) or stand for what lies below.
pub fn type_by_magic(magic: u64) -> Option<&'static str> {
    // A long on the kernel side: the upper half may be the sign.
    match magic & 0xffff_ffff {
        0x0102_1994 => Some("tmpfs"),
        0x8584_58f6 => Some("ramfs"),
        0x9584_58f6 => Some("hugetlbfs"),
        _ => None,
    }
}

/// A sentence of evidence if what is written stays in memory, or may.
///
/// One leaf in memory is enough: a mirror or a stripe is then not on storage as a whole.
pub fn ram_backed(substrate: &Substrate) -> Option<String> {
    if let Some(kind) = substrate.filesystem.as_deref().filter(|kind| is_ram(kind)) {
        return Some(format!("the filesystem is {kind}, which keeps files in memory"));
    }
    if let Some(kind) = &substrate.upper_filesystem {
        return Some(format!(
            "the overlay's upper layer is on {kind}, which keeps files in memory"
        ));
    }
    substrate.block.iter().find_map(node_in_ram)
}

fn node_in_ram(node: &Block) -> Option<String> {
    let name = &node.name;
    match node.kind.as_str() {
        "zram" => Some(format!("the block device {name} is zram, compressed memory")),
        "ram" => Some(format!("the block device {name} is a RAM disk")),
        "loop" => {
            let kind = node.backing_filesystem.as_deref().filter(|kind| is_ram(kind))?;
            let file = node.backing_file.as_deref().unwrap_or("unknown");
            Some(format!("the loop device {name} has its file {file} on {kind}, in memory"))
        }
        _ => None,
    }
}

/// Why this place must not be measured at all, and what to give instead.
///
/// A device name with a typing error becomes a plain file in the memory of /dev, and a run there
/// would be praised.
pub fn refused(substrate: &Substrate) -> Option<String> {
    if substrate.filesystem.as_deref() != Some("devtmpfs") {
        return None;
    }
    let place = substrate.mount.as_ref().map_or("/dev", |mount| mount.mount_point.as_str());
    Some(format!(
        "{place} is a devtmpfs: a file there lies in memory, and a device name that does not exist \
         would become such a file; give a directory on the storage to be measured"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Mount;

    fn on(filesystem: &str, block: Vec<Block>) -> Substrate {
        Substrate { filesystem: Some(filesystem.to_owned()), block, ..Substrate::default() }
    }

    fn node(name: &str, kind: &str, below: &[&str]) -> Block {
        Block {
            name: name.to_owned(),
            kind: kind.to_owned(),
            below: below.iter().map(|&name| name.to_owned()).collect(),
            ..Block::default()
        }
    }

    #[test]
    fn memory_filesystems_are_named() {
        for kind in ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"] {
            let text = ram_backed(&on(kind, vec![])).unwrap();
            assert!(text.contains(kind), "{text}");
        }
        for kind in ["ext4", "overlay", "zfs", "fuse.tmpfs"] {
            assert_eq!(ram_backed(&on(kind, vec![])), None, "{kind}");
        }
        assert_eq!(ram_backed(&Substrate::default()), None);
    }

    #[test]
    fn one_leaf_in_memory_is_enough() {
        let mirror = |leaf: Block| {
            on("ext4", vec![node("md0", "md", &["sda", "x"]), node("sda", "disk", &[]), leaf])
        };
        let text = ram_backed(&mirror(node("zram0", "zram", &[]))).unwrap();
        assert!(text.contains("zram0"), "{text}");
        let text = ram_backed(&mirror(node("ram3", "ram", &[]))).unwrap();
        assert!(text.contains("ram3"), "{text}");
        assert_eq!(ram_backed(&mirror(node("sdb", "disk", &[]))), None);
    }

    #[test]
    fn a_loop_over_memory_is_memory() {
        let mut image = node("loop0", "loop", &[]);
        image.backing_file = Some("/dev/shm/x.img".to_owned());
        image.backing_filesystem = Some("tmpfs".to_owned());
        let text = ram_backed(&on("ext4", vec![image.clone()])).unwrap();
        assert!(text.contains("/dev/shm/x.img") && text.contains("tmpfs"), "{text}");
        image.backing_filesystem = Some("ext4".to_owned());
        assert_eq!(ram_backed(&on("ext4", vec![image.clone()])), None);
        image.backing_filesystem = None;
        assert_eq!(ram_backed(&on("ext4", vec![image])), None);
    }

    #[test]
    fn only_devtmpfs_is_refused_and_the_text_says_what_to_give() {
        let mut place = on("devtmpfs", vec![]);
        place.mount = Some(Mount { mount_point: "/srv/dev".to_owned(), ..Mount::default() });
        let text = refused(&place).unwrap();
        assert!(text.starts_with("/srv/dev is a devtmpfs"), "{text}");
        assert!(text.contains("directory on the storage"), "{text}");
        assert_eq!(refused(&on("tmpfs", vec![])), None);
        assert_eq!(refused(&Substrate::default()), None);
    }

    #[test]
    fn magic_numbers_of_memory_are_known_and_no_others() {
        assert_eq!(type_by_magic(0x0102_1994), Some("tmpfs"));
        assert_eq!(type_by_magic(0x8584_58f6), Some("ramfs"));
        assert_eq!(type_by_magic(0xffff_ffff_8584_58f6), Some("ramfs"));
        assert_eq!(type_by_magic(0x9584_58f6), Some("hugetlbfs"));
        assert_eq!(type_by_magic(0xef53), None);
    }
}

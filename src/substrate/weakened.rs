//! Mount options that switch a barrier off: what they leave is as fast as memory, and as durable.

use crate::record::{Block, Substrate};

/// Filesystem, option, what it does.
type Rule = (&'static [&'static str], &'static str, &'static str);

const NO_FLUSH: &str = "the filesystem sends no flush to the device";

/// From mount(8), the filesystems' own pages under Documentation/filesystems and, for cifs,
/// mount.cifs(8).
const RULES: [Rule; 9] = [
    (&["ext3", "ext4", "xfs", "btrfs", "f2fs", "nilfs2", "gfs2", "hfsplus"], "nobarrier", NO_FLUSH),
    (&["ext3", "ext4", "ocfs2"], "barrier=0", NO_FLUSH),
    (&["reiserfs"], "barrier=none", NO_FLUSH),
    (&["f2fs"], "fsync_mode=nobarrier", NO_FLUSH),
    (&["overlay"], "volatile", "overlayfs answers every fsync at once and does nothing"),
    (&["overlay"], "fsync=volatile", "overlayfs answers every fsync at once and does nothing"),
    (&["cifs", "smb3"], "nostrictsync", "fsync sends the data and asks no server to flush it"),
    (&["jfs"], "nointegrity", "the journal is not written"),
    (&["bcachefs"], "journal_flush_disabled", "fsync does not flush the journal"),
];

/// A sentence of evidence if an option of the mount switches barriers off.
pub fn weakened(substrate: &Substrate) -> Option<String> {
    let own = substrate.mount.as_ref().and_then(|mount| {
        let kind = substrate.filesystem.as_deref()?;
        by_options(kind, &mount.super_options).or_else(|| by_options(kind, &mount.options))
    });
    own.or_else(|| substrate.block.iter().find_map(below_loop))
}

/// The filesystem that holds the file of a loop device.
fn below_loop(node: &Block) -> Option<String> {
    let why = by_options(node.backing_filesystem.as_deref()?, node.backing_options.as_deref()?)?;
    Some(format!("below {}, {why}", node.name))
}

fn by_options(kind: &str, options: &str) -> Option<String> {
    let rule =
        |option| RULES.iter().find(|(kinds, name, _)| kinds.contains(&kind) && *name == option);
    let (_, name, what) = options.split(',').find_map(rule)?;
    Some(format!("{kind} is mounted with {name}: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Mount;

    fn on(kind: &str, options: &str, super_options: &str) -> Option<String> {
        let mount = Mount {
            options: options.to_owned(),
            super_options: super_options.to_owned(),
            ..Mount::default()
        };
        let filesystem = Some(kind.to_owned());
        weakened(&Substrate { filesystem, mount: Some(mount), ..Substrate::default() })
    }

    #[test]
    fn every_rule_is_found_alone_and_among_others() {
        for (kinds, option, what) in RULES {
            for kind in kinds {
                for options in [option.to_owned(), format!("rw,{option},x"), format!("rw,{option}")]
                {
                    let text = on(kind, "rw,relatime", &options).unwrap();
                    assert!(text.contains(kind) && text.contains(option) && text.contains(what));
                }
            }
        }
    }

    #[test]
    fn the_file_of_a_loop_may_lie_on_a_weakened_mount() {
        let mut node = Block { name: "loop3".to_owned(), ..Block::default() };
        node.backing_filesystem = Some("ext4".to_owned());
        node.backing_options = Some("rw,nobarrier".to_owned());
        let text = weakened(&Substrate { block: vec![node], ..Substrate::default() }).unwrap();
        assert!(text.starts_with("below loop3, ext4 is mounted with nobarrier"), "{text}");
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for (kind, options) in [
            ("ext4", "rw,barrier=1"),
            ("ext4", "rw,nobarriers"),
            ("ext4", "rw,errors=remount-ro,data=writeback"),
            ("tmpfs", "rw,nobarrier"),
            ("overlay", "rw,lowerdir=/a,upperdir=/volatile,workdir=/w"),
            ("overlay", "rw,upperdir=/x\\054volatile"),
            ("zfs", "rw,xattr,noacl"),
        ] {
            assert_eq!(on(kind, "rw", options), None, "{kind} {options}");
        }
        assert_eq!(weakened(&Substrate::default()), None);
    }
}

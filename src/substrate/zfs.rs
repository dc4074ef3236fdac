//! The ZFS dataset of a mount, and its pool's devices, as far as ZFS's own programs tell.
//!
//! Names are given as arguments, never through a shell. Without the programs, without /dev/zfs in a
//! container, or from a pool that does not answer, the properties are unknown, and that is said.

use std::path::Path;

use super::mountinfo::{Entry, lossy};
use super::text;
use crate::record::Zfs;

/// Runs a program and returns its output, or why there is none.
pub type Ask<'a> = &'a dyn Fn(&str, &[&str]) -> Result<String, String>;

/// What is known of the dataset of `mount`, and why something is not.
pub fn dataset(root: &Path, mount: &Entry, ask: Ask) -> (Zfs, Vec<String>) {
    let name = lossy(&mount.source);
    let pool = name.split(['/', '@']).next().unwrap_or_default().to_owned();
    let mut zfs = Zfs { dataset: name, pool, ..Zfs::default() };
    let mut unknown = Vec::new();
    let properties = "sync,logbias,recordsize,compression";
    match ask("zfs", &["get", "-H", "-p", "-o", "property,value", properties, &zfs.dataset]) {
        Ok(text) => read_properties(&text, &mut zfs),
        Err(why) => unknown.push(format!("zfs, properties unknown: {why}")),
    }
    match ask("zpool", &["status", "-P", &zfs.pool]) {
        Ok(text) => read_status(&text, &mut zfs),
        Err(why) => unknown.push(format!("zfs, devices of the pool unknown: {why}")),
    }
    let parameter = root.join("sys/module/zfs/parameters/zfs_txg_timeout");
    zfs.txg_timeout_s = text(&parameter).ok().and_then(|text| text.trim().parse().ok());
    (zfs, unknown)
}

/// Lines of `property<TAB>value`.
fn read_properties(text: &str, zfs: &mut Zfs) {
    for (property, value) in text.lines().filter_map(|line| line.split_once('\t')) {
        let value = value.trim().to_owned();
        if value.is_empty() || value == "-" {
            continue;
        }
        match property {
            "sync" => zfs.sync = Some(value),
            "logbias" => zfs.logbias = Some(value),
            "compression" => zfs.compression = Some(value),
            "recordsize" => zfs.recordsize_bytes = value.parse().ok(),
            _ => {}
        }
    }
}

/// The rows of `config:` whose name is a path (`-P`). A word alone begins a section; what stands in
/// `logs` are log devices, in `cache` and `spares` nothing that a write waits for.
fn read_status(text: &str, zfs: &mut Zfs) {
    let mut section = "";
    for line in text.lines().skip_while(|line| line.trim() != "config:") {
        let Some(name) = line.split_whitespace().next() else { continue };
        match name {
            "errors:" => break,
            "logs" | "cache" | "spares" | "special" | "dedup" => section = name,
            path if path.starts_with('/') => match section {
                "logs" => zfs.log_devices.push(path.to_owned()),
                "cache" | "spares" => {}
                _ => zfs.data_devices.push(path.to_owned()),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mountinfo::parse;
    use super::*;

    const STATUS: &str = "  pool: p\n state: ONLINE\n  scan: none requested\nconfig:\n\n\
        \tNAME              STATE     READ WRITE CKSUM\n\
        \tp                 ONLINE       0     0     0\n\
        \t  /vdevs/vdev0    ONLINE       0     0     0\n\
        \tspecial \n\
        \t  mirror-2        ONLINE       0     0     0\n\
        \t    /dev/sde3     ONLINE       0     5     0\n\
        \tlogs\n\
        \t  mirror-1        ONLINE       0     0     0\n\
        \t    /dev/sdb1     ONLINE       0     0     0\n\
        \t    /dev/sdc1     ONLINE       0     0     0\n\
        \tcache\n\
        \t  /dev/md1        ONLINE       0     0     0\n\
        \tspares\n\
        \t  /dev/sdz        AVAIL\n\n\
        errors: No known data errors\n";

    fn asked(answer: impl Fn(&str, &[&str]) -> Result<String, String>) -> (Zfs, Vec<String>) {
        let mounts = parse(b"60 28 0:44 / /data rw - zfs tank/My\\040VMs/a rw,xattr");
        dataset(Path::new("/none"), &mounts[0], &answer)
    }

    #[test]
    fn properties_and_devices_are_read_and_the_name_is_given_whole() {
        let (zfs, unknown) = asked(|program, args| match program {
            "zfs" if args.last() == Some(&"tank/My VMs/a") => {
                Ok("sync\tdisabled\nlogbias\tlatency\nrecordsize\t131072\ncompression\tlz4\nx\ty\n"
                    .into())
            }
            "zpool" if args.last() == Some(&"tank") => Ok(STATUS.into()),
            _ => Err("asked for something else".into()),
        });
        assert!(unknown.is_empty(), "{unknown:?}");
        assert_eq!((zfs.sync.as_deref(), zfs.recordsize_bytes), (Some("disabled"), Some(131_072)));
        assert_eq!(
            (zfs.logbias.as_deref(), zfs.compression.as_deref()),
            (Some("latency"), Some("lz4"))
        );
        assert_eq!(zfs.log_devices, ["/dev/sdb1", "/dev/sdc1"]);
        assert_eq!(zfs.data_devices, ["/vdevs/vdev0", "/dev/sde3"]);
    }

    #[test]
    fn without_the_programs_everything_is_unknown_with_its_reason() {
        let (zfs, unknown) = asked(|program, _| Err(format!("{program}: not found")));
        assert_eq!((zfs.dataset.as_str(), zfs.pool.as_str()), ("tank/My VMs/a", "tank"));
        assert_eq!(zfs.sync, None);
        assert!(unknown[0].contains("properties unknown: zfs: not found"), "{unknown:?}");
        assert_eq!(unknown.len(), 2);
    }

    #[test]
    fn odd_answers_are_no_answers() {
        for text in ["", "sync", "sync\t-\nrecordsize\t128K", "config:\n\nlogs\n", "\u{0}\n\t\t"] {
            let (zfs, _) = asked(|_, _| Ok(text.into()));
            assert_eq!((zfs.sync, zfs.recordsize_bytes), (None, None), "{text:?}");
            assert!(zfs.log_devices.is_empty() && zfs.data_devices.is_empty(), "{text:?}");
        }
    }
}

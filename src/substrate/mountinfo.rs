//! The lines of mountinfo.
//!
//! Pure: bytes in, values out. Paths stay bytes, since nothing says that they are UTF-8; they are
//! made lossy only where they enter the record.

use crate::record::Mount;

/// One line of mountinfo with its escapes decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Mount id.
    pub id: u64,
    /// The mount on which this one is mounted; may be outside what this process sees.
    pub parent: u64,
    /// Device number; 0 where the filesystem has no single block device.
    pub major: u64,
    /// See `major`.
    pub minor: u64,
    /// The mounted subtree of the filesystem.
    pub root: Vec<u8>,
    /// Where it is mounted; begins with a slash.
    pub mount_point: Vec<u8>,
    /// Per-mount options.
    pub options: Vec<u8>,
    /// Type with the FUSE subtype.
    pub kind: Vec<u8>,
    /// What the kernel was told to mount.
    pub source: Vec<u8>,
    /// Per-filesystem options.
    pub super_options: Vec<u8>,
}

impl Entry {
    /// The filesystem's type.
    pub fn filesystem(&self) -> String {
        lossy(&self.kind)
    }

    /// The value for the record.
    pub fn to_mount(&self) -> Mount {
        Mount {
            id: self.id,
            device: format!("{}:{}", self.major, self.minor),
            root: lossy(&self.root),
            mount_point: lossy(&self.mount_point),
            options: lossy(&self.options),
            super_options: lossy(&self.super_options),
            source: lossy(&self.source),
        }
    }
}

/// Every well-formed line, in order; the others are skipped.
pub fn parse(text: &[u8]) -> Vec<Entry> {
    text.split(|&byte| byte == b'\n').filter_map(entry).collect()
}

/// The value of `name=` among comma-separated options.
pub fn option<'a>(options: &'a [u8], name: &str) -> Option<&'a [u8]> {
    options
        .split(|&byte| byte == b',')
        .find_map(|option| option.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// Bytes as text for people.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn entry(line: &[u8]) -> Option<Entry> {
    // Not split at runs of spaces: an empty source leaves an empty field.
    let mut fields = line.split(|&byte| byte == b' ');
    let id = number(fields.next()?)?;
    let parent = number(fields.next()?)?;
    let mut device = fields.next()?.splitn(2, |&byte| byte == b':');
    let (major, minor) = (number(device.next()?)?, number(device.next()?)?);
    let root = unescape(fields.next()?);
    let mount_point = unescape(fields.next()?);
    let options = unescape(fields.next()?);
    // Any number of optional fields (`shared:1`) up to a lone hyphen.
    fields.find(|field| field == b"-")?;
    let kind = unescape(fields.next()?);
    let source = unescape(fields.next()?);
    // Some filesystems print spaces here unescaped.
    let super_options = unescape(&fields.collect::<Vec<_>>().join(&b' '));
    if kind.is_empty() || !mount_point.starts_with(b"/") {
        return None;
    }
    Some(Entry {
        id,
        parent,
        major,
        minor,
        root,
        mount_point,
        options,
        kind,
        source,
        super_options,
    })
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// The kernel writes space, tab, newline, backslash and `#` as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        match octal(rest) {
            Some(byte) => {
                out.push(byte);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                out.push(first);
                rest = tail;
            }
        }
    }
    out
}

fn octal(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\")?.get(..3)?;
    if !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_decoded() {
        let line = b"60 28 0:44 /a\\134b /data\\040x rw,nosuid shared:30 master:2 - fuse.sshfs \
                     me@host:/My\\040VMs\\043 rw,user_id=0";
        let found = parse(line);
        assert_eq!(found.len(), 1);
        let mount = found[0].to_mount();
        assert_eq!((mount.id, found[0].parent, mount.device.as_str()), (60, 28, "0:44"));
        assert_eq!((mount.root.as_str(), mount.mount_point.as_str()), ("/a\\b", "/data x"));
        assert_eq!(mount.options, "rw,nosuid");
        assert_eq!(found[0].filesystem(), "fuse.sshfs");
        assert_eq!(mount.source, "me@host:/My VMs#");
        assert_eq!(mount.super_options, "rw,user_id=0");
    }

    #[test]
    fn optional_fields_may_be_absent_and_the_source_empty() {
        let found = parse(b"1 0 0:2 / / rw - tmpfs  rw,size=4k");
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].source.as_slice(), found[0].super_options.as_slice()),
            (&b""[..], &b"rw,size=4k"[..])
        );
    }

    #[test]
    fn malformed_lines_are_skipped_and_the_others_kept() {
        let text =
            b"x 1 8:1 / / rw - ext4 a rw\n2 1 8 / / rw - ext4 a rw\n3 1 8:1 / / rw ext4 a rw\n\
            4 1 8:1 / mnt rw - ext4 a rw\n5 1 8:1 / / rw - ext4\n\n6 1 8:1 / / rw - ext4 a rw";
        let ids: Vec<u64> = parse(text).iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [6]);
    }

    #[test]
    fn escapes_that_are_none_stay() {
        assert_eq!(unescape(b"a\\04"), b"a\\04");
        assert_eq!(unescape(b"a\\089"), b"a\\089");
        assert_eq!(unescape(b"\\777"), b"\\777");
        assert_eq!(unescape(b"\\134040"), b"\\040");
        assert_eq!(unescape(b"\\012\\011"), b"\n\t");
    }

    #[test]
    fn options_are_found_by_their_whole_name() {
        let options = b"rw,xlogdev=/dev/a,logdev=/dev/b";
        assert_eq!(option(options, "logdev"), Some(&b"/dev/b"[..]));
        assert_eq!(option(options, "log"), None);
    }
}

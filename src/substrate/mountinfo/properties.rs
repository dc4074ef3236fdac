//! Lines as the kernel writes them come back byte by byte; damage costs the damaged line at most.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::{Entry, parse};
use crate::cases::config;

/// Any byte of a path, often one that the kernel escapes or that looks like an escape.
fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let special = proptest::sample::select(&b" \t\n\\#0417-,=/"[..]);
    vec(prop_oneof![special, 1..=255u8], 0..=most)
}

fn entry() -> impl Strategy<Value = Entry> {
    let numbers = (any::<u64>(), any::<u64>(), 0..4_096u64, 0..1u64 << 20);
    let texts = (bytes(9), bytes(9), bytes(9), "[a-z0-9.]{1,9}", bytes(9), bytes(9));
    (numbers, texts).prop_map(|((id, parent, major, minor), texts)| {
        let (root, below, options, kind, source, super_options) = texts;
        let mount_point = [b"/".as_slice(), &below].concat();
        let kind = kind.into_bytes();
        Entry { id, parent, major, minor, root, mount_point, options, kind, source, super_options }
    })
}

/// As `mangle` of the kernel: a backslash and three octal digits for each of `special`.
fn escaped(field: &[u8], special: &[u8]) -> Vec<u8> {
    let one = |&byte: &u8| match special.contains(&byte) {
        true => format!("\\{byte:03o}").into_bytes(),
        false => vec![byte],
    };
    field.iter().flat_map(one).collect()
}

/// The line of `entry`; `optional` are the fields before the hyphen.
fn line(entry: &Entry, optional: &[String]) -> Vec<u8> {
    const SPECIAL: &[u8] = b" \t\n\\#";
    // Some filesystems print spaces among their own options as they are.
    const SPECIAL_IN_OPTIONS: &[u8] = b"\t\n\\#";
    let Entry { id, parent, major, minor, .. } = entry;
    let mut fields = vec![format!("{id} {parent} {major}:{minor}").into_bytes()];
    fields.extend([&entry.root, &entry.mount_point, &entry.options].map(|f| escaped(f, SPECIAL)));
    fields.extend(optional.iter().map(|field| field.clone().into_bytes()));
    fields.push(b"-".to_vec());
    fields.extend([&entry.kind, &entry.source].map(|f| escaped(f, SPECIAL)));
    fields.push(escaped(&entry.super_options, SPECIAL_IN_OPTIONS));
    fields.join(&b' ')
}

/// Up to four entries with their lines.
fn table() -> impl Strategy<Value = Vec<(Entry, Vec<u8>)>> {
    let optional = vec("(shared|master|propagate_from):[0-9]{1,4}|unbindable", 0..3);
    let row = (entry(), optional).prop_map(|(entry, optional)| {
        let line = line(&entry, &optional);
        (entry, line)
    });
    vec(row, 1..4)
}

/// Lines whose fields may be empty or missing, and any bytes.
fn strange() -> impl Strategy<Value = Vec<u8>> {
    let almost = "(1 1 8:[1x]? /? /?b? (rw )?(s:1 )?-? ?[a-z]? [a-z]? ?r?\n){1,3}";
    prop_oneof![almost.prop_map(String::into_bytes), vec(any::<u8>(), 0..200)]
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines.join(&b'\n')
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_field_of_every_line_comes_back(table in table(), end in "\n?") {
        let (entries, lines): (Vec<Entry>, Vec<Vec<u8>>) = table.into_iter().unzip();
        let text = [joined(&lines), end.into_bytes()].concat();
        prop_assert_eq!(parse(&text), entries);
    }

    #[test]
    fn damage_costs_at_most_the_line_that_it_is_in(
        table in table(), which: Index, at: Index, length in 0..12usize, with in vec(0..=255u8, 0..4),
    ) {
        let (entries, mut lines): (Vec<Entry>, Vec<Vec<u8>>) = table.into_iter().unzip();
        let which = which.index(lines.len());
        let damaged = &mut lines[which];
        let at = at.index(damaged.len() + 1);
        let end = (at + length).min(damaged.len());
        damaged.splice(at..end, with.into_iter().filter(|&byte| byte != b'\n'));
        let found = parse(&joined(&lines));
        prop_assert!(found.starts_with(&entries[..which]));
        prop_assert!(found.ends_with(&entries[which + 1..]));
        prop_assert!(found.len() == entries.len() || found.len() + 1 == entries.len());
    }

    #[test]
    fn no_text_is_too_strange(text in strange()) {
        for entry in parse(&text) {
            prop_assert!(entry.mount_point.starts_with(b"/") && !entry.kind.is_empty());
        }
    }
}

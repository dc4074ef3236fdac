use super::*;

fn tree() -> Tree {
    Tree::new(OWNER)
}

const OWNER: Owner = Owner { uid: 1, gid: 2, mode: 0o755 };

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn names_are_made_found_listed_and_removed() {
    let mut tree = tree();
    let dir = tree.make(ROOT, name("d"), OWNER, Make::Directory).unwrap();
    let file = tree.make(dir, name("f"), OWNER, Make::File).unwrap();
    assert_eq!(tree.make(dir, name("f"), OWNER, Make::File), Err(Errno::EEXIST));
    assert_eq!(tree.find(dir, name("f")), Ok(file));
    assert_eq!(tree.list(dir).unwrap(), [(file, FileType::RegularFile, "f".into())]);
    assert_eq!(tree.remove(ROOT, name("d"), Make::Directory), Err(Errno::ENOTEMPTY));
    assert_eq!(tree.remove(dir, name("f"), Make::Directory), Err(Errno::ENOTDIR));
    tree.remove(dir, name("f"), Make::File).unwrap();
    assert_eq!(tree.remove(ROOT, name("d"), Make::File), Err(Errno::EISDIR));
    tree.remove(ROOT, name("d"), Make::Directory).unwrap();
    assert_eq!(tree.find(ROOT, name("d")), Err(Errno::ENOENT));
}

#[test]
fn an_unlinked_file_lives_as_long_as_the_kernel_refers_to_it() {
    let mut tree = tree();
    let file = tree.make(ROOT, name("f"), OWNER, Make::File).unwrap();
    tree.refer(file).unwrap();
    tree.remove(ROOT, name("f"), Make::File).unwrap();
    assert_eq!(tree.attributes(file).unwrap().nlink, 0);
    tree.content(file).unwrap().write(0, b"x");
    tree.forget(file, 1);
    assert_eq!(tree.attributes(file).unwrap_err(), Errno::ENOENT);
}

#[test]
fn a_rename_replaces_a_file_unless_it_must_not() {
    let mut tree = tree();
    let old = tree.make(ROOT, name("a"), OWNER, Make::File).unwrap();
    tree.make(ROOT, name("b"), OWNER, Make::File).unwrap();
    let (from, to) = ((ROOT, name("a")), (ROOT, name("b")));
    assert_eq!(tree.rename(from, to, true), Err(Errno::EEXIST));
    tree.rename(from, to, false).unwrap();
    assert_eq!(tree.find(ROOT, name("b")), Ok(old));
    assert_eq!((&*tree.name(old), tree.list(ROOT).unwrap().len()), ("b", 1));
    assert_eq!(tree.rename(from, to, false), Err(Errno::ENOENT));
}

//! Files and directories in memory.

mod content;

pub use content::Content;

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::SystemTime;

use fuser::{FileAttr, FileType, INodeNo};
use nix::errno::Errno;

/// The first number that a file or directory may get; below are the root and the control file.
const FIRST: u64 = 16;
const ROOT: u64 = INodeNo::ROOT.0;

/// Who makes something, and with which rights.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Permission bits.
    pub mode: u32,
}

/// All files and directories.
#[derive(Debug)]
pub struct Tree {
    nodes: HashMap<u64, Node>,
    next: u64,
}

#[derive(Debug)]
struct Node {
    name: Arc<str>,
    owner: Owner,
    changed: SystemTime,
    body: Body,
    /// References that the kernel holds; an unlinked file lives as long as it has some.
    lookups: u64,
    linked: bool,
}

#[derive(Debug)]
enum Body {
    Directory(BTreeMap<OsString, u64>),
    File(Content),
}

/// What is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// An empty file.
    File,
    /// An empty directory.
    Directory,
}

impl Node {
    fn new(name: &str, owner: Owner, body: Body) -> Node {
        let changed = SystemTime::now();
        Node { name: name.into(), owner, changed, body, lookups: 0, linked: true }
    }
}

impl Tree {
    /// A root and nothing else.
    pub fn new(owner: Owner) -> Tree {
        let root = Node::new("", owner, Body::Directory(BTreeMap::new()));
        Tree { nodes: HashMap::from([(ROOT, root)]), next: FIRST }
    }

    fn node(&self, number: u64) -> Result<&Node, Errno> {
        self.nodes.get(&number).ok_or(Errno::ENOENT)
    }

    fn node_mut(&mut self, number: u64) -> Result<&mut Node, Errno> {
        self.nodes.get_mut(&number).ok_or(Errno::ENOENT)
    }

    fn entries(&mut self, directory: u64) -> Result<&mut BTreeMap<OsString, u64>, Errno> {
        match &mut self.node_mut(directory)?.body {
            Body::Directory(entries) => Ok(entries),
            Body::File(_) => Err(Errno::ENOTDIR),
        }
    }

    /// Its name in its directory; empty for the root and for what is gone.
    pub fn name(&self, number: u64) -> Arc<str> {
        self.nodes.get(&number).map_or_else(|| "".into(), |node| Arc::clone(&node.name))
    }

    /// The number behind a name.
    pub fn find(&mut self, directory: u64, name: &OsStr) -> Result<u64, Errno> {
        self.entries(directory)?.get(name).copied().ok_or(Errno::ENOENT)
    }

    /// Counts a reference that the kernel was given, and describes what it is to.
    pub fn refer(&mut self, number: u64) -> Result<FileAttr, Errno> {
        self.node_mut(number)?.lookups += 1;
        self.attributes(number)
    }

    /// The kernel gives `count` references back.
    pub fn forget(&mut self, number: u64, count: u64) {
        let Some(node) = self.nodes.get_mut(&number) else { return };
        node.lookups = node.lookups.saturating_sub(count);
        if node.lookups == 0 && !node.linked {
            self.nodes.remove(&number);
        }
    }

    /// As stat shows it.
    pub fn attributes(&self, number: u64) -> Result<FileAttr, Errno> {
        let node = self.node(number)?;
        let (kind, size) = match &node.body {
            Body::Directory(_) => (FileType::Directory, 0),
            Body::File(content) => (FileType::RegularFile, content.len()),
        };
        let time = node.changed;
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm: (node.owner.mode & 0o7777) as u16,
            nlink: if kind == FileType::Directory { 2 } else { u32::from(node.linked) },
            uid: node.owner.uid,
            gid: node.owner.gid,
            rdev: 0,
            blksize: 4_096,
            flags: 0,
        })
    }

    /// Changes whatever is given.
    pub fn set_owner(
        &mut self,
        number: u64,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(), Errno> {
        let owner = &mut self.node_mut(number)?.owner;
        owner.mode = mode.unwrap_or(owner.mode);
        owner.uid = uid.unwrap_or(owner.uid);
        owner.gid = gid.unwrap_or(owner.gid);
        Ok(())
    }

    /// Makes something that does not exist.
    pub fn make(
        &mut self,
        directory: u64,
        name: &OsStr,
        owner: Owner,
        what: Make,
    ) -> Result<u64, Errno> {
        let number = self.next;
        let entries = self.entries(directory)?;
        if entries.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        entries.insert(name.to_owned(), number);
        let body = match what {
            Make::File => Body::File(Content::default()),
            Make::Directory => Body::Directory(BTreeMap::new()),
        };
        self.nodes.insert(number, Node::new(&name.to_string_lossy(), owner, body));
        self.next += 1;
        Ok(number)
    }

    /// Removes a file or an empty directory.
    pub fn remove(&mut self, directory: u64, name: &OsStr, what: Make) -> Result<(), Errno> {
        let number = self.find(directory, name)?;
        match (&self.node(number)?.body, what) {
            (Body::Directory(_), Make::File) => return Err(Errno::EISDIR),
            (Body::File(_), Make::Directory) => return Err(Errno::ENOTDIR),
            (Body::Directory(entries), _) if !entries.is_empty() => return Err(Errno::ENOTEMPTY),
            _ => {}
        }
        self.entries(directory)?.remove(name);
        self.node_mut(number)?.linked = false;
        self.forget(number, 0);
        Ok(())
    }

    /// Gives another name; a file that has it goes.
    pub fn rename(
        &mut self,
        from: (u64, &OsStr),
        to: (u64, &OsStr),
        keep_existing: bool,
    ) -> Result<(), Errno> {
        let number = self.find(from.0, from.1)?;
        match self.find(to.0, to.1) {
            Ok(existing) if existing == number => return Ok(()),
            Ok(_) if keep_existing => return Err(Errno::EEXIST),
            Ok(_) => {
                let is_directory = matches!(self.node(number)?.body, Body::Directory(_));
                let what = if is_directory { Make::Directory } else { Make::File };
                self.remove(to.0, to.1, what)?;
            }
            Err(Errno::ENOENT) => {}
            Err(error) => return Err(error),
        }
        self.entries(from.0)?.remove(from.1);
        self.entries(to.0)?.insert(to.1.to_owned(), number);
        self.node_mut(number)?.name = to.1.to_string_lossy().into();
        Ok(())
    }

    /// Everything in a directory.
    pub fn list(&mut self, directory: u64) -> Result<Vec<(u64, FileType, OsString)>, Errno> {
        let entries = self.entries(directory)?.clone();
        let kind = |number| match self.nodes.get(&number).map(|node| &node.body) {
            Some(Body::Directory(_)) => FileType::Directory,
            _ => FileType::RegularFile,
        };
        Ok(entries.into_iter().map(|(name, number)| (number, kind(number), name)).collect())
    }

    /// A file's bytes.
    pub fn content(&mut self, number: u64) -> Result<&mut Content, Errno> {
        match &mut self.node_mut(number)?.body {
            Body::File(content) => Ok(content),
            Body::Directory(_) => Err(Errno::EISDIR),
        }
    }

    /// Every file goes back to what is durable. Names stay: directories are durable here at once.
    pub fn cut_power(&mut self) -> Vec<u64> {
        let mut files = Vec::new();
        for (&number, node) in &mut self.nodes {
            if let Body::File(content) = &mut node.body {
                content.cut_power();
                files.push(number);
            }
        }
        files
    }
}

#[cfg(test)]
mod tests;

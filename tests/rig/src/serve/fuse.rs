//! The kernel's requests, one method each.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, FileHandle, FileType, Filesystem, FopenFlags, INodeNo, LockOwner, OpenFlags,
    RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::answer::Answer;
use super::{Call, Shared, control, kernel_errno};
use crate::ledger::Kind;
use crate::tree::{Make, Owner};

/// The file system as the kernel's client calls it.
#[derive(Debug)]
pub struct Served(pub Arc<Shared>);

fn owner(request: &Request, mode: u32, umask: u32) -> Owner {
    Owner { uid: request.uid(), gid: request.gid(), mode: mode & !umask }
}

fn named(kind: Kind, name: &OsStr) -> Call {
    Call::of(kind, name.to_string_lossy().as_ref())
}

impl Served {
    fn call(&self, kind: Kind, number: INodeNo) -> Call {
        Call::of(kind, self.0.tree().name(number.0))
    }

    /// Serves a request that needs no work.
    fn note(&self, kind: Kind, number: INodeNo, reply: ReplyEmpty) {
        if number == control::NUMBER {
            return reply.ok();
        }
        self.0.conduct(self.call(kind, number), |_, _| Ok(((), 0)), reply);
    }

    fn remove(&self, kind: Kind, what: Make, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let call = named(kind, name);
        let name = name.to_owned();
        let work =
            move |shared: &Shared, _| shared.tree().remove(parent.0, &name, what).map(|()| ((), 0));
        self.0.conduct(call, work, reply);
    }
}

impl Filesystem for Served {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if control::is_named(parent, name) {
            return reply.succeed(control::attributes());
        }
        let call = named(Kind::Lookup, name);
        let name = name.to_owned();
        self.0.conduct(call, move |shared, _| shared.find(parent.0, &name), reply);
    }

    fn forget(&self, _: &Request, number: INodeNo, count: u64) {
        self.0.tree().forget(number.0, count);
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        if number == control::NUMBER {
            return reply.succeed(control::attributes());
        }
        let work = move |shared: &Shared, _| Ok((shared.tree().attributes(number.0)?, 0));
        self.0.conduct(self.call(Kind::Getattr, number), work, reply);
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if number == control::NUMBER {
            return reply.succeed(control::attributes());
        }
        let call = Call { length: size, ..self.call(Kind::Setattr, number) };
        let work = move |shared: &Shared, _| {
            let mut tree = shared.tree();
            tree.set_owner(number.0, mode, uid, gid)?;
            if let Some(size) = size {
                tree.content(number.0)?.truncate(size);
            }
            Ok((tree.attributes(number.0)?, 0))
        };
        self.0.conduct(call, work, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let (call, owner, name) =
            (named(Kind::Mkdir, name), owner(request, mode, umask), name.to_owned());
        let work = move |shared: &Shared, _| shared.make(parent.0, &name, owner, Make::Directory);
        self.0.conduct(call, work, reply);
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(Kind::Unlink, Make::File, parent, name, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(Kind::Rmdir, Make::Directory, parent, name, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to_parent: INodeNo,
        to_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let call = named(Kind::Rename, name);
        let (from, to) = (name.to_owned(), to_name.to_owned());
        let work =
            move |shared: &Shared, _| shared.rename((parent.0, &from), (to_parent.0, &to), flags);
        self.0.conduct(call, work, reply);
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if number == control::NUMBER {
            return reply.succeed(FopenFlags::FOPEN_DIRECT_IO);
        }
        let work = |shared: &Shared, _| Ok((shared.open_flags(), 0));
        self.0.conduct(self.call(Kind::Open, number), work, reply);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let (call, owner, name) =
            (named(Kind::Create, name), owner(request, mode, umask), name.to_owned());
        let work = move |shared: &Shared, _| {
            let (attributes, _) = shared.make(parent.0, &name, owner, Make::File)?;
            Ok(((attributes, shared.open_flags()), 0))
        };
        self.0.conduct(call, work, reply);
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let length = u64::from(size);
        if number == control::NUMBER {
            return reply.succeed(control::read(&self.0, offset, length));
        }
        let call = self.call(Kind::Read, number).at(offset, length);
        self.0.conduct(call, move |shared, _| shared.read(number.0, offset, length), reply);
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if number == control::NUMBER {
            let done = control::command(&self.0, data).map(|()| data.len() as u32);
            return reply.give(done.map_err(kernel_errno));
        }
        let call = self.call(Kind::Write, number).at(offset, data.len() as u64);
        let data = data.to_vec();
        let work = move |shared: &Shared, at_most| shared.write(number.0, offset, &data, at_most);
        self.0.conduct(call, work, reply);
    }

    fn flush(&self, _: &Request, number: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        self.note(Kind::Flush, number, reply);
    }

    fn release(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.note(Kind::Release, number, reply);
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, data: bool, reply: ReplyEmpty) {
        if number == control::NUMBER {
            return reply.ok();
        }
        let kind = if data { Kind::Fdatasync } else { Kind::Fsync };
        self.0.conduct(self.call(kind, number), move |shared, _| shared.sync(number.0), reply);
    }

    fn fsyncdir(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.note(Kind::Fsyncdir, number, reply);
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        reply: ReplyDirectory,
    ) {
        let work = move |shared: &Shared, _| Ok((shared.tree().list(number.0)?, 0));
        self.0.conduct(self.call(Kind::Readdir, number), work, Listing { reply, number, offset });
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        self.0.conduct(Call::of(Kind::Statfs, ""), |_, _| Ok(((), 0)), reply);
    }

    fn fallocate(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let call = self.call(Kind::Fallocate, number).at(offset, length);
        let end = offset.saturating_add(length);
        self.0.conduct(call, move |shared, _| shared.allocate(number.0, end, mode), reply);
    }
}

/// A directory that is listed from an offset on.
struct Listing {
    reply: ReplyDirectory,
    number: INodeNo,
    offset: u64,
}

impl Answer<Vec<(u64, FileType, std::ffi::OsString)>> for Listing {
    fn succeed(mut self, entries: Vec<(u64, FileType, std::ffi::OsString)>) {
        let dots = [".", ".."].map(|dot| (self.number.0, FileType::Directory, dot.into()));
        let all = dots.into_iter().chain(entries);
        for (next, (entry, kind, name)) in (1u64..).zip(all).skip(self.offset as usize) {
            if self.reply.add(INodeNo(entry), next, kind, name) {
                break;
            }
        }
        self.reply.ok();
    }

    fn fail(self, errno: fuser::Errno) {
        self.reply.error(errno);
    }
}

//! How each kind of result reaches the kernel.

use std::time::Duration;

use fuser::{
    Errno, FileAttr, FileHandle, FopenFlags, Generation, ReplyAttr, ReplyCreate, ReplyData,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite,
};

/// How long the kernel may believe a name or attributes: nothing changes behind its back, but for a
/// power cut, which tells it.
const BELIEF: Duration = Duration::from_secs(60);
/// Files know themselves by their number.
const HANDLE: FileHandle = FileHandle(0);
/// What statfs says: far more than any test writes.
const BLOCKS: u64 = 16 << 20;
const BLOCK_BYTES: u32 = 4_096;

/// A reply that knows what success looks like.
pub trait Answer<T>: Send + Sized + 'static {
    /// Success.
    fn succeed(self, value: T);
    /// Anything else.
    fn fail(self, errno: Errno);

    /// Whichever it is.
    fn give(self, result: Result<T, Errno>) {
        match result {
            Ok(value) => self.succeed(value),
            Err(errno) => self.fail(errno),
        }
    }
}

macro_rules! answer {
    ($reply:ty, $value:ty, |$self:ident, $name:ident| $succeed:expr) => {
        impl Answer<$value> for $reply {
            fn succeed($self, $name: $value) {
                $succeed
            }

            fn fail(self, errno: Errno) {
                self.error(errno);
            }
        }
    };
}

answer!(ReplyEmpty, (), |self, _nothing| self.ok());
answer!(ReplyAttr, FileAttr, |self, attributes| self.attr(&BELIEF, &attributes));
answer!(ReplyEntry, FileAttr, |self, attributes| self.entry(&BELIEF, &attributes, Generation(0)));
answer!(ReplyOpen, FopenFlags, |self, flags| self.opened(HANDLE, flags));
answer!(ReplyCreate, (FileAttr, FopenFlags), |self, made| {
    self.created(&BELIEF, &made.0, Generation(0), HANDLE, made.1)
});
answer!(ReplyData, Vec<u8>, |self, bytes| self.data(&bytes));
answer!(ReplyWrite, u32, |self, count| self.written(count));
answer!(ReplyStatfs, (), |self, _nothing| {
    let free = BLOCKS - 1;
    self.statfs(BLOCKS, free, free, BLOCKS, free, BLOCK_BYTES, 255, BLOCK_BYTES);
});

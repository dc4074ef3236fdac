//! The two untimed loops: in C, compiled by this machine's `cc -O2`, and in Rust.

use std::error::Error;
use std::ffi::{CString, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use synctail_bench::Cursor;
use synctail_sys::{Arena, SyscallFile};

use crate::{BLOCK, SEGMENT};

/// Mirrors `struct cursor` in pairs.c.
#[derive(Default)]
#[repr(C)]
struct CCursor {
    offset: u64,
    data: u64,
}

type UntimedPairs = unsafe extern "C" fn(i32, *const u8, u64, u64, u64, *mut CCursor, u64) -> u64;

/// The loop of pairs.c, in this process.
pub struct CLoop {
    function: UntimedPairs,
    file: File,
    arena: Arena,
    cursor: CCursor,
}

impl CLoop {
    /// Compiles the loop into `dir` and loads it; `file` is what it will write.
    pub fn compile(dir: &Path, file: File, arena: Arena) -> Result<CLoop, Box<dyn Error>> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/cost/pairs.c");
        let library = dir.join("pairs.so");
        let compiled = Command::new("cc")
            .args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
            .args([&library, &source])
            .status()?;
        if !compiled.success() {
            return Err(format!("cc: {compiled}").into());
        }
        Ok(CLoop { function: load(&library)?, file, arena, cursor: CCursor::default() })
    }

    /// Runs so many pairs.
    pub fn run(&mut self, pairs: u64) {
        let (fd, arena, span) = (self.file.as_raw_fd(), self.arena.as_ptr(), self.arena.span());
        // SAFETY: `function` has this signature in pairs.c; it reads `block` bytes at data offsets up
        // to `span`, all within the arena, and stores to the one cursor, which is borrowed mutably.
        let done = unsafe {
            (self.function)(fd, arena, span as u64, BLOCK, SEGMENT, &raw mut self.cursor, pairs)
        };
        assert_eq!(done, pairs, "the C loop: {}", std::io::Error::last_os_error());
    }
}

fn load(library: &Path) -> Result<UntimedPairs, Box<dyn Error>> {
    let path = CString::new(library.as_os_str().as_bytes())?;
    // SAFETY: `path` is a C string; the library has no initialisers that could do harm.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    if handle.is_null() {
        return Err(format!("dlopen {}", library.display()).into());
    }
    // SAFETY: the handle is open and never closed, so what is found in it stays mapped.
    let symbol = unsafe { libc::dlsym(handle, c"untimed_pairs".as_ptr()) };
    if symbol.is_null() {
        return Err("dlsym untimed_pairs".into());
    }
    // SAFETY: the symbol is the function of this signature in pairs.c.
    Ok(unsafe { std::mem::transmute::<*mut c_void, UntimedPairs>(symbol) })
}

/// The product's calls and its cursor, without clock and samples.
pub struct RustLoop {
    calls: SyscallFile,
    cursor: Cursor,
}

impl RustLoop {
    /// Writes `file`.
    pub fn new(file: File, arena: Arena) -> RustLoop {
        let cursor = Cursor::new(BLOCK, SEGMENT, arena.span(), 1);
        RustLoop { calls: SyscallFile::new(file, arena), cursor }
    }

    /// Runs so many pairs.
    #[inline(never)]
    pub fn run(&mut self, pairs: u64) {
        for _ in 0..pairs {
            let place = self.cursor.next_place().unwrap_or_else(|| {
                self.cursor.restart();
                self.cursor.next_place().expect("a segment holds a block")
            });
            assert!(self.calls.pwrite(place).is_full(BLOCK as usize), "pwrite");
            assert!(self.calls.fdatasync().is_success(), "fdatasync");
        }
    }
}

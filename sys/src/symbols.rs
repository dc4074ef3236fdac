//! Where the C library's calls really lead: a preloaded library can put its own in their place, and make
//! a flush a call that does nothing.

use std::ffi::CStr;

/// A call and the file that provides it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Name of the call.
    pub name: &'static str,
    /// Path of the object that it resolves into; nothing where the linker does not tell, as in a static
    /// program.
    pub object: Option<String>,
}

/// The calls that stand between a write and stable storage.
pub fn flush_symbols() -> Vec<Symbol> {
    let calls: [(&'static str, *const libc::c_void); 5] = [
        ("fdatasync", libc::fdatasync as *const libc::c_void),
        ("fsync", libc::fsync as *const libc::c_void),
        ("openat", libc::openat as *const libc::c_void),
        ("pwrite", libc::pwrite as *const libc::c_void),
        ("pwritev2", libc::pwritev2 as *const libc::c_void),
    ];
    calls.map(|(name, address)| Symbol { name, object: object_of(address) }).to_vec()
}

fn object_of(address: *const libc::c_void) -> Option<String> {
    // SAFETY: `Dl_info` is pointers, for which null is a valid value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: dladdr only compares the address, and fills a live, exclusive `Dl_info`.
    let found = unsafe { libc::dladdr(address, &raw mut info) } != 0;
    if !found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the linker's string, NUL-terminated, and alive as long as the object is loaded; no object
    // is ever unloaded here.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(name.to_string_lossy().into_owned())
}

/// Whether fdatasync(2) and fsync(2) of the C library refuse a descriptor that is none, as the kernel
/// does. A no-op put in their place may not.
pub fn flush_refuses_bad_descriptor() -> bool {
    let refused = |value: i32| value == -1 && nix::errno::Errno::last() == nix::errno::Errno::EBADF;
    // SAFETY: takes a number; -1 is never an open descriptor.
    let data = refused(unsafe { libc::fdatasync(-1) });
    // SAFETY: as above.
    data && refused(unsafe { libc::fsync(-1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_lead_into_the_c_library() {
        for symbol in flush_symbols() {
            let object = symbol.object.unwrap_or_default();
            assert!(
                object.contains("libc") || object.contains("musl"),
                "{}: {object}",
                symbol.name
            );
        }
        assert!(flush_refuses_bad_descriptor());
    }
}

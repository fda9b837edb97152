//! Memory of SQLite. It is built to call jemalloc by its own names (`LIBSQLITE3_FLAGS` in `.cargo/config.toml`), and not the C
//! library's allocator, which keeps what pages leave: some 10 MB after a million calls.

use std::ffi::c_void;

/// Allocator that SQLite calls: named here, so that each program with SQLite is linked with it.
#[used]
static ALLOCATOR: unsafe extern "C" fn(usize) -> *mut c_void = tikv_jemalloc_sys::malloc;

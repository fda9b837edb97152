//! The file system that SQLite calls: its own one, with the log's frames kept for a while.

#![expect(unsafe_code, reason = "SQLite calls its file systems in C, by pointers")]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use libsqlite3_sys::{
    SQLITE_IOERR, SQLITE_NOTFOUND, SQLITE_OK, SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL, SQLITE_SHM_EXCLUSIVE,
    SQLITE_SHM_UNLOCK, sqlite3_database_file_object, sqlite3_file, sqlite3_filename, sqlite3_initialize,
    sqlite3_int64, sqlite3_io_methods, sqlite3_vfs, sqlite3_vfs_find, sqlite3_vfs_register,
};

use crate::frames::Frames;

const NAME: &CStr = c"heddle-log";
/// The lock of whoever writes, among those that a database's connections share (`WAL_WRITE_LOCK`).
const WRITING: c_int = 0;

/// The file system could not be put before SQLite's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("SQLite does not take a file system: code {0}")]
pub struct InstallError(c_int);

/// SQLite's own file system.
static THEIRS: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(ptr::null_mut());

/// Puts the file system before SQLite's own, for all connections that are opened from now on. Called again it does nothing.
///
/// # Errors
/// When SQLite can't be initialised, or has no file system of its own.
pub fn install() -> Result<(), InstallError> {
    static INSTALLED: OnceLock<Result<(), InstallError>> = OnceLock::new();
    *INSTALLED.get_or_init(|| match register() {
        SQLITE_OK => Ok(()),
        code => Err(InstallError(code)),
    })
}

fn register() -> c_int {
    // SAFETY: may be called at any time by any thread.
    let code = unsafe { sqlite3_initialize() };
    if code != SQLITE_OK {
        return code;
    }
    // SAFETY: SQLite is initialised; null asks for the file system that is used by default.
    let theirs = unsafe { sqlite3_vfs_find(ptr::null()) };
    // SAFETY: a file system that is registered lives as long as the program, and nobody changes it but for its link.
    let Some(known) = (unsafe { theirs.as_ref() }) else { return SQLITE_NOTFOUND };
    let Ok(more) = c_int::try_from(size_of::<Known>() + align_of::<Known>()) else { return SQLITE_NOTFOUND };
    THEIRS.store(theirs, Ordering::Release);
    // What is asked of it besides opening a file SQLite's own answers: by its functions, which find in this copy what they
    // find in theirs.
    let ours = sqlite3_vfs {
        szOsFile: known.szOsFile.saturating_add(more),
        pNext: ptr::null_mut(),
        zName: NAME.as_ptr(),
        xOpen: Some(open),
        ..*known
    };
    // SAFETY: the structure is whole and is never freed.
    unsafe { sqlite3_vfs_register(Box::leak(Box::new(ours)), 1) }
}

/// A file beside what SQLite's own file system knows of it, in the memory behind that.
struct Known {
    /// Functions of SQLite's own for the file.
    theirs: &'static sqlite3_io_methods,
    /// Of a log the database, and of a database the log, while that is open.
    other: *mut sqlite3_file,
    /// Of a log what is kept.
    frames: Frames,
    /// Of a database that is seen as memory the bytes that it had when that began.
    mapped: Option<i64>,
}

/// Bytes by which a database may have grown until what is seen of it as memory is looked at anew: those behind its end are read.
const GROWTH: std::ops::RangeInclusive<i64> = 1 << 20..=32 << 20;

/// The place of what is known of a file, in the memory that SQLite has given for it.
fn place(file: *mut sqlite3_file) -> *mut Known {
    let theirs = THEIRS.load(Ordering::Acquire);
    // SAFETY: as in `register`, which has put it there before a file could be opened.
    let size = unsafe { theirs.as_ref() }.map_or(0, |theirs| theirs.szOsFile);
    let behind = file.cast::<u8>().wrapping_add(usize::try_from(size).unwrap_or(0));
    behind.wrapping_add(behind.align_offset(align_of::<Known>())).cast()
}

/// Knowledge of a file that is open.
///
/// # Safety
/// The file has [`DATABASE`] or [`LOG`] as its functions, is not closed, and no other call uses it: SQLite's connections make one
/// call at a time, for a database and its log together.
unsafe fn known<'a>(file: *mut sqlite3_file) -> &'a mut Known {
    // SAFETY: `open` has written it there.
    unsafe { &mut *place(file) }
}

/// Opens a file as SQLite's own file system does. A log is then written by [`LOG`], for a database that is known to be its.
unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_of: *mut c_int,
) -> c_int {
    let theirs = THEIRS.load(Ordering::Acquire);
    // SAFETY: as in `place`.
    let Some(open) = (unsafe { theirs.as_ref() }).and_then(|theirs| theirs.xOpen) else {
        return SQLITE_IOERR;
    };
    // SAFETY: the arguments are SQLite's, for a file system with smaller files.
    let code = unsafe { open(theirs, name, file, flags, flags_of) };
    if code != SQLITE_OK {
        return code;
    }
    // SAFETY: the file is open.
    let theirs = unsafe { (*file).pMethods };
    // SAFETY: functions of a file are constants of SQLite's.
    let Some(theirs) = (unsafe { theirs.as_ref() }) else { return SQLITE_IOERR };
    let mut other = ptr::null_mut();
    let ours = if flags & SQLITE_OPEN_MAIN_DB != 0 && theirs.iVersion >= DATABASE.iVersion {
        &raw const DATABASE
    } else if flags & SQLITE_OPEN_WAL != 0 && !name.is_null() {
        // SAFETY: the name is one of a log that SQLite opens.
        other = unsafe { sqlite3_database_file_object(name) };
        // SAFETY: a database is open before its log.
        if other.is_null() || unsafe { (*other).pMethods } != &raw const DATABASE {
            return SQLITE_OK;
        }
        // SAFETY: it has those functions.
        unsafe { known(other) }.other = file;
        &raw const LOG
    } else {
        return SQLITE_OK;
    };
    // SAFETY: `szOsFile` counts the place, whatever its alignment takes; nothing stands there yet.
    unsafe { place(file).write(Known { theirs, other, frames: Frames::default(), mapped: None }) };
    // SAFETY: the file is open, and nobody else has it yet.
    unsafe { (*file).pMethods = ours };
    SQLITE_OK
}

/// Functions of a database's file: SQLite's own, but that its log forgets what is kept when nobody writes any more.
static DATABASE: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 3,
    xWrite: Some(write_database),
    xRead: Some(read_database),
    xUnlock: Some(unlock_database),
    xFileControl: Some(control_database),
    xShmMap: Some(share),
    xShmLock: Some(lock_shared),
    xShmBarrier: Some(barrier),
    xShmUnmap: Some(unshare),
    xFetch: Some(fetch),
    xUnfetch: Some(unfetch),
    ..FUNCTIONS
};

/// Functions of a log's file: those of the first version, since a log is never shared or mapped.
static LOG: sqlite3_io_methods = FUNCTIONS;

const FUNCTIONS: sqlite3_io_methods = sqlite3_io_methods {
    iVersion: 1,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(is_reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector),
    xDeviceCharacteristics: Some(characteristics),
    xShmMap: None,
    xShmLock: None,
    xShmBarrier: None,
    xShmUnmap: None,
    xFetch: None,
    xUnfetch: None,
};

/// Writes bytes of a file by SQLite's own file system.
fn written(theirs: &sqlite3_io_methods, file: *mut sqlite3_file, bytes: &[u8], at: i64) -> Result<(), c_int> {
    let (Some(write), Ok(many)) = (theirs.xWrite, c_int::try_from(bytes.len())) else {
        return Err(SQLITE_IOERR);
    };
    // SAFETY: the file is open, and the bytes are so many.
    match unsafe { write(file, bytes.as_ptr().cast(), many, at) } {
        SQLITE_OK => Ok(()),
        code => Err(code),
    }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    many: c_int,
    at: sqlite3_int64,
) -> c_int {
    // SAFETY: called by SQLite for a log that is open.
    let Known { theirs, frames, .. } = unsafe { known(file) };
    let Ok(many) = usize::try_from(many) else { return SQLITE_IOERR };
    // SAFETY: SQLite gives so many bytes, and keeps them as they are during the call.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), many) };
    let taken = frames.take(bytes, at, &mut |bytes, at| written(theirs, file, bytes, at));
    taken.err().unwrap_or(SQLITE_OK)
}

unsafe extern "C" fn read(file: *mut sqlite3_file, to: *mut c_void, many: c_int, at: sqlite3_int64) -> c_int {
    // SAFETY: called by SQLite for a log that is open.
    let Known { theirs, frames, .. } = unsafe { known(file) };
    if let Err(code) = frames.read(many, at, &mut |bytes, at| written(theirs, file, bytes, at)) {
        return code;
    }
    // SAFETY: the arguments are SQLite's.
    theirs.xRead.map_or(SQLITE_IOERR, |ask| unsafe { ask(file, to, many, at) })
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    // SAFETY: `open` has written it there, and nobody asks for it any more. Frames that are kept are of a transaction that never
    // ended: nobody misses them.
    let Known { theirs, other, frames, mapped: _ } = unsafe { place(file).read() };
    drop(frames);
    if !other.is_null() {
        // SAFETY: a database is closed behind its log, which was taken out of it then; so this is a log, and its database is open.
        unsafe { known(other) }.other = ptr::null_mut();
    }
    // SAFETY: the file is open.
    theirs.xClose.map_or(SQLITE_IOERR, |close| unsafe { close(file) })
}

impl Known {
    /// Has the log of a database forget what is kept: what ended well is in the file, and others may write it from now on.
    fn forget_log(&self) {
        if !self.other.is_null() {
            // SAFETY: a database knows its log while that is open.
            unsafe { known(self.other) }.frames.forget();
        }
    }
}

unsafe extern "C" fn lock_shared(file: *mut sqlite3_file, first: c_int, many: c_int, flags: c_int) -> c_int {
    // SAFETY: called by SQLite for a database that is open.
    let known = unsafe { known(file) };
    if first == WRITING && flags == SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE {
        known.forget_log();
    }
    // SAFETY: the arguments are SQLite's.
    known.theirs.xShmLock.map_or(SQLITE_IOERR, |ask| unsafe { ask(file, first, many, flags) })
}

/// Ends a lock of the whole file, which is the writer's own where that lets nobody else in (`locking_mode = EXCLUSIVE`).
unsafe extern "C" fn unlock_database(file: *mut sqlite3_file, level: c_int) -> c_int {
    // SAFETY: called by SQLite for a database that is open.
    let known = unsafe { known(file) };
    known.forget_log();
    // SAFETY: the arguments are SQLite's.
    known.theirs.xUnlock.map_or(SQLITE_IOERR, |ask| unsafe { ask(file, level) })
}

unsafe extern "C" fn barrier(file: *mut sqlite3_file) {
    // SAFETY: called by SQLite for a database that is open.
    if let Some(ask) = unsafe { known(file) }.theirs.xShmBarrier {
        // SAFETY: the file is open.
        unsafe { ask(file) };
    }
}

/// Functions that ask SQLite's own file system, behind what is kept. Nothing is, of a database.
macro_rules! theirs {
    ($($name:ident is $theirs:ident($($argument:ident: $kind:ty),*);)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file $(, $argument: $kind)*) -> c_int {
            // SAFETY: called by SQLite for a file that is open.
            let Known { theirs, frames, .. } = unsafe { known(file) };
            if let Err(code) = frames.flush(&mut |bytes, at| written(theirs, file, bytes, at)) {
                return code;
            }
            // SAFETY: the arguments are SQLite's.
            theirs.$theirs.map_or(SQLITE_IOERR, |ask| unsafe { ask(file $(, $argument)*) })
        }
    )*};
}

theirs! {
    read_database is xRead(to: *mut c_void, many: c_int, at: sqlite3_int64);
    write_database is xWrite(from: *const c_void, many: c_int, at: sqlite3_int64);
    truncate is xTruncate(length: sqlite3_int64);
    sync is xSync(flags: c_int);
    size is xFileSize(length: *mut sqlite3_int64);
    lock is xLock(level: c_int);
    unlock is xUnlock(level: c_int);
    is_reserved is xCheckReservedLock(answer: *mut c_int);
    control is xFileControl(what: c_int, with: *mut c_void);
    share is xShmMap(page: c_int, length: c_int, grow: c_int, to: *mut *mut c_void);
    unshare is xShmUnmap(remove: c_int);
}

impl Known {
    /// Number of bytes of a file.
    fn size(&self, file: *mut sqlite3_file) -> Option<i64> {
        let mut size = 0;
        // SAFETY: the file is open.
        let code = unsafe { self.theirs.xFileSize?(file, &raw mut size) };
        (code == SQLITE_OK).then_some(size)
    }

    /// Whether a database is seen as memory to about its end, so that it need not be looked at anew.
    fn is_seen(&self, file: *mut sqlite3_file) -> bool {
        let Some(mapped) = self.mapped else { return false };
        let Some(size) = self.size(file) else { return false };
        let slack = (mapped / 64).clamp(*GROWTH.start(), *GROWTH.end());
        (mapped..=mapped.saturating_add(slack)).contains(&size)
    }
}

/// Gives a page of a database that is seen as memory, or none.
unsafe extern "C" fn fetch(
    file: *mut sqlite3_file,
    at: sqlite3_int64,
    many: c_int,
    to: *mut *mut c_void,
) -> c_int {
    // SAFETY: called by SQLite for a database that is open.
    let known = unsafe { known(file) };
    // SAFETY: the arguments are SQLite's.
    let code = known.theirs.xFetch.map_or(SQLITE_IOERR, |ask| unsafe { ask(file, at, many, to) });
    // Behind the call, so that it is no less than what is seen: the file may have grown meanwhile. A page that was given
    // tells that something is.
    // SAFETY: SQLite gives the place of the answer.
    if known.mapped.is_none() && code == SQLITE_OK && !unsafe { *to }.is_null() {
        known.mapped = known.size(file);
    }
    code
}

/// Asks SQLite's own file system, which may see the file anew for it.
unsafe extern "C" fn control_database(file: *mut sqlite3_file, what: c_int, with: *mut c_void) -> c_int {
    // SAFETY: called by SQLite for a database that is open.
    let known = unsafe { known(file) };
    known.mapped = None;
    // SAFETY: the arguments are SQLite's.
    known.theirs.xFileControl.map_or(SQLITE_NOTFOUND, |ask| unsafe { ask(file, what, with) })
}

/// Takes a page back, or all that is seen of a database as memory.
///
/// SQLite asks for the latter whenever somebody has written, since the file could have become shorter: each commit then costs
/// each reader the taking down of gigabytes and a fault for each page that it looks at. A database in write-ahead mode becomes
/// shorter only when nobody reads what is cut off (`walCheckpoint`), and a page behind the end is asked for by no snapshot. So
/// what is seen stays, until the file is shorter or much longer.
unsafe extern "C" fn unfetch(file: *mut sqlite3_file, at: sqlite3_int64, from: *mut c_void) -> c_int {
    // SAFETY: called by SQLite for a database that is open.
    let known = unsafe { known(file) };
    if from.is_null() {
        if !known.other.is_null() && known.is_seen(file) {
            return SQLITE_OK;
        }
        known.mapped = None;
    }
    // SAFETY: the arguments are SQLite's.
    known.theirs.xUnfetch.map_or(SQLITE_IOERR, |ask| unsafe { ask(file, at, from) })
}

unsafe extern "C" fn sector(file: *mut sqlite3_file) -> c_int {
    // SAFETY: called by SQLite for a file that is open.
    let theirs = unsafe { known(file) }.theirs;
    // SAFETY: the file is open.
    theirs.xSectorSize.map_or(0, |ask| unsafe { ask(file) })
}

unsafe extern "C" fn characteristics(file: *mut sqlite3_file) -> c_int {
    // SAFETY: called by SQLite for a file that is open.
    let theirs = unsafe { known(file) }.theirs;
    // SAFETY: the file is open.
    theirs.xDeviceCharacteristics.map_or(0, |ask| unsafe { ask(file) })
}

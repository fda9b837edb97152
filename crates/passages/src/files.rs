//! Files: the directory of the keyword engine, read by position.
//!
//! A mapped file that somebody cuts short ends the process; one that is read by position is an error. What each query
//! reads whole is kept in memory. The small files that are replaced at once carry a CRC-32.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::HasLen;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

use crate::manifest::replace;

/// Files up to this length are kept in memory whatever they are.
const SMALL: u64 = 1 << 16;
/// Kinds of files that a query reads whole: lengths of texts, ids, and what was removed.
const KEPT: [&str; 3] = ["fieldnorm", "fast", "del"];

/// A directory of files.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    root: Arc<Path>,
}

impl Files {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, name: &Path) -> PathBuf {
        self.root.join(name)
    }

    /// Bytes of memory that opened files take, about.
    pub(crate) fn memory(&self) -> u64 {
        let Ok(entries) = fs::read_dir(&self.root) else { return 0 };
        let lengths = entries.flatten().filter_map(|entry| {
            let length = entry.metadata().ok()?.len();
            let path = entry.path();
            (kept(&path, length) || has_extension(&path, "term")).then_some(length)
        });
        lengths.sum()
    }
}

/// A file that is read by position.
#[derive(Debug)]
struct Positioned {
    file: File,
    length: usize,
}

impl HasLen for Positioned {
    fn len(&self) -> usize {
        self.length
    }
}

impl FileHandle for Positioned {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length);
        let length = length.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, u64::try_from(range.start).map_err(io::Error::other)?)?;
        Ok(OwnedBytes::new(bytes))
    }
}

/// A file as it is written.
struct Written(File);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Written {
    fn terminate_ref(&mut self, _token: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}

/// A lock that needs no file: an index has one writer at a time, and the directory one process.
struct Unlocked;

impl Directory for Files {
    fn get_file_handle(&self, name: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let path = self.path(name);
        let open = || -> io::Result<Arc<dyn FileHandle>> {
            let file = File::open(&path)?;
            let length = file.metadata()?.len();
            let bytes = usize::try_from(length).map_err(io::Error::other)?;
            let handle = Positioned { file, length: bytes };
            if kept(&path, length) {
                return Ok(Arc::new(handle.read_bytes(0..bytes)?));
            }
            Ok(Arc::new(handle))
        };
        open().map_err(|error| unopened(error, name))
    }

    fn delete(&self, name: &Path) -> Result<(), DeleteError> {
        fs::remove_file(self.path(name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => DeleteError::FileDoesNotExist(name.to_owned()),
            _kind => DeleteError::IoError { io_error: Arc::new(error), filepath: name.to_owned() },
        })
    }

    fn exists(&self, name: &Path) -> Result<bool, OpenReadError> {
        self.path(name).try_exists().map_err(|error| OpenReadError::wrap_io_error(error, name.to_owned()))
    }

    fn open_write(&self, name: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = File::options().write(true).create_new(true).open(self.path(name));
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(name.to_owned()),
            _kind => OpenWriteError::wrap_io_error(error, name.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Written(file))))
    }

    fn atomic_read(&self, name: &Path) -> Result<Vec<u8>, OpenReadError> {
        let bytes = fs::read(self.path(name)).map_err(|error| unopened(error, name))?;
        let whole = bytes
            .split_last_chunk::<4>()
            .filter(|(data, crc)| crc32fast::hash(data) == u32::from_le_bytes(**crc))
            .map(|(data, _)| data.to_vec());
        whole.ok_or_else(|| unopened(io::Error::from(io::ErrorKind::InvalidData), name))
    }

    fn atomic_write(&self, name: &Path, data: &[u8]) -> io::Result<()> {
        let mut bytes = data.to_vec();
        bytes.extend_from_slice(&crc32fast::hash(data).to_le_bytes());
        replace(&self.path(name), &bytes)
    }

    fn sync_directory(&self) -> io::Result<()> {
        // After a loss of power the sums tell what is missing, and the index is built anew.
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(Unlocked)))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

fn unopened(error: io::Error, name: &Path) -> OpenReadError {
    match error.kind() {
        io::ErrorKind::NotFound => OpenReadError::FileDoesNotExist(name.to_owned()),
        _kind => OpenReadError::wrap_io_error(error, name.to_owned()),
    }
}

fn kept(path: &Path, length: u64) -> bool {
    length <= SMALL || KEPT.iter().any(|kind| has_extension(path, kind))
}

fn has_extension(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|extension| extension == kind)
}

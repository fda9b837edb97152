//! The data directory: one server owns it at a time.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::modes;
use crate::node::NODE_FILE;

/// The key file's name within the data directory.
pub const KEY_FILE: &str = "heddle.key";
/// The name of the keyring within the data directory: the keys under which secrets are sealed.
pub const KEYRING_FILE: &str = "heddle.keyring";
/// The database's name within the data directory.
pub const DATABASE_FILE: &str = "heddle.db";
/// The name of the directory of embedding models within the data directory: what is in it can be had again.
pub const MODELS_DIR: &str = "models";
/// The name of the directory of files and indexes of vector databases within the data directory.
pub const VECTORS_FOLDER: &str = "vectors";
/// The lock's name within the data directory.
pub(crate) const LOCK_FILE: &str = "heddle.lock";
/// Every file of ours that may be there from before: whoever reads one reads secrets or hashes of them, and whoever
/// writes a lock keeps the server from starting.
pub(crate) const FILES: [&str; 8] = [
    KEY_FILE,
    KEYRING_FILE,
    DATABASE_FILE,
    "heddle.db-wal",
    "heddle.db-shm",
    "heddle.db.lock",
    NODE_FILE,
    LOCK_FILE,
];
/// The installation key's length in bytes.
pub const KEY_LENGTH: usize = 32;

/// Reason for which the data directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// Another server has it.
    #[error("another server uses the data directory `{}`; stop it, or give this one its own with --data-dir", .0.display())]
    InUse(PathBuf),
    /// The key file is not one.
    #[error("the key file `{}` is not one of ours: it holds 32 bytes in base64", .0.display())]
    BadKey(PathBuf),
    /// The key file is gone although there is a database.
    #[error("the key file `{}` is missing although there is a database: put the backup of it back", .0.display())]
    KeyMissing(PathBuf),
    /// A file of ours can be read by others.
    #[error("`{}` can be read or written by others, and its mode can't be changed: give it to the user that runs heddle, with mode 0600", .0.display())]
    Exposed(PathBuf),
    /// The file system.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Path of the file or directory.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}

/// A data directory that this process holds; the lock goes with the process, however it ends.
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    lock: Option<File>,
}

impl DataDir {
    /// Creates the directory (mode 0700) if need be, takes it, and takes from others what they may do to its files.
    ///
    /// # Errors
    /// `InUse`, `Exposed`, `Io`.
    pub fn open(path: &Path) -> Result<Self, DataDirError> {
        Self::locked(path)?.ours()
    }

    /// Takes the directory without touching the modes of its files: for a look that changes nothing.
    ///
    /// # Errors
    /// `InUse`, `Io`.
    pub fn locked(path: &Path) -> Result<Self, DataDirError> {
        let io = |source| DataDirError::Io { path: path.to_owned(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join(LOCK_FILE))
            .map_err(io)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(DataDirError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Creates the directory if need be without taking it: for a command beside a server, when the database is one that
    /// several processes share.
    ///
    /// # Errors
    /// `Exposed`, `Io`.
    pub fn beside(path: &Path) -> Result<Self, DataDirError> {
        let io = |source| DataDirError::Io { path: path.to_owned(), source };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(io)?;
        Self { path: path.to_owned(), lock: None }.ours()
    }

    /// The directory, once its files are nobody else's to read or write.
    fn ours(self) -> Result<Self, DataDirError> {
        self.close()?;
        Ok(self)
    }

    /// Takes from others what they may do to the directory and its files.
    ///
    /// # Errors
    /// `Exposed`, `Io`.
    pub fn close(&self) -> Result<(), DataDirError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |source| DataDirError::Io { path, source }
        };
        modes::close_directory(&self.path).map_err(at(&self.path))?;
        for path in FILES.map(|name| self.path.join(name)) {
            if !modes::close_file(&path).map_err(at(&path))? {
                return Err(DataDirError::Exposed(path));
            }
        }
        Ok(())
    }

    /// Makes an empty database file (mode 0600) if there is none: what SQLite puts beside it gets the same mode.
    ///
    /// # Errors
    /// `Io`.
    pub fn make_database(&self) -> Result<(), DataDirError> {
        let path = self.database();
        let made = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        made.map(|_| ()).map_err(|source| DataDirError::Io { path, source })
    }

    /// Writes down where the server of this directory listens, for whoever finds the directory taken.
    ///
    /// # Errors
    /// `Io`.
    pub fn announce(&self, address: &str) -> Result<(), DataDirError> {
        let io = |source| DataDirError::Io { path: self.path.join(LOCK_FILE), source };
        let Some(mut lock) = self.lock.as_ref() else { return Ok(()) };
        lock.set_len(0).map_err(io)?;
        lock.rewind().map_err(io)?;
        writeln!(lock, "{address}").map_err(io)
    }

    /// Path of the SQLite database.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE_FILE)
    }

    /// Path of the keyring.
    #[must_use]
    pub fn keyring(&self) -> PathBuf {
        self.path.join(KEYRING_FILE)
    }

    /// The installation key; made at the first start.
    ///
    /// # Errors
    /// `KeyMissing` when `existing` (there is a database already) and no file; `BadKey`, `Exposed`, `Io`.
    pub fn key(&self, existing: bool) -> Result<[u8; KEY_LENGTH], DataDirError> {
        let path = self.path.join(KEY_FILE);
        match read_key(&path)? {
            Some(key) => Ok(key),
            None if existing => Err(DataDirError::KeyMissing(path)),
            None => make_key(&path),
        }
    }
}

/// Files of the directory that others may read or write.
pub(crate) fn open_to_others(path: &Path) -> Vec<&'static str> {
    let is_open =
        |name: &&'static str| fs::metadata(path.join(name)).is_ok_and(|found| modes::is_open(&found));
    FILES.into_iter().filter(is_open).collect()
}

/// Address that the server that has the directory announced, if it did.
pub(crate) fn announced(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path.join(LOCK_FILE)).ok()?;
    Some(text.trim().to_owned()).filter(|address| !address.is_empty())
}

/// The key of a key file, if there is one.
///
/// # Errors
/// `BadKey`, `Exposed`, `Io`.
pub fn read_key(path: &Path) -> Result<Option<[u8; KEY_LENGTH]>, DataDirError> {
    let io = |source| DataDirError::Io { path: path.to_owned(), source };
    let mut text = String::new();
    match File::open(path) {
        Ok(mut file) => {
            if modes::is_open(&file.metadata().map_err(io)?) {
                return Err(DataDirError::Exposed(path.to_owned()));
            }
            // A key that is not text is no key of ours either.
            if file.read_to_string(&mut text).is_err() {
                return Err(DataDirError::BadKey(path.to_owned()));
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    }
    let decoded = STANDARD.decode(text.trim()).ok().and_then(|bytes| bytes.try_into().ok());
    decoded.map(Some).ok_or_else(|| DataDirError::BadKey(path.to_owned()))
}

fn make_key(path: &Path) -> Result<[u8; KEY_LENGTH], DataDirError> {
    let io = |source| DataDirError::Io { path: path.to_owned(), source };
    let mut key = [0; KEY_LENGTH];
    getrandom::fill(&mut key).map_err(|error| io(io::Error::other(error)))?;
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path).map_err(io)?;
    writeln!(file, "{}", STANDARD.encode(key)).map_err(io)?;
    file.sync_all().map_err(io)?;
    // A file whose name is lost with the power is lost: the database would be without its key.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn one_server_at_a_time_and_a_key_that_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let first = DataDir::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(matches!(DataDir::open(&path), Err(DataDirError::InUse(_))));
        let key = first.key(false).unwrap();
        first.announce("http://127.0.0.1:65535").unwrap();
        first.announce("http://127.0.0.1:1").unwrap();
        assert_eq!(announced(&path).as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(DataDir::beside(&path).unwrap().key(true).unwrap(), key);
        drop(first);
        let again = DataDir::open(&path).unwrap();
        assert_eq!(again.key(true).unwrap(), key);
        fs::write(path.join(KEY_FILE), "bm90IGEga2V5").unwrap();
        assert!(matches!(again.key(true), Err(DataDirError::BadKey(_))));
        fs::set_permissions(path.join(KEY_FILE), fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(again.key(true), Err(DataDirError::Exposed(_))), "it is not read as it stands");
        fs::remove_file(path.join(KEY_FILE)).unwrap();
        assert!(matches!(again.key(true), Err(DataDirError::KeyMissing(_))));
    }

    #[test]
    fn what_others_could_read_or_write_before_they_no_longer_can() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        let mode_of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        for (directory, after) in
            [(0o755, 0o755), (0o777, 0o755), (0o770, 0o750), (0o2775, 0o2755), (0o700, 0o700)]
        {
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(directory)).unwrap();
            for (name, mode) in
                FILES.into_iter().zip([0o644, 0o664, 0o666, 0o660, 0o640, 0o604, 0o606, 0o600])
            {
                fs::write(path.join(name), "").unwrap();
                fs::set_permissions(path.join(name), fs::Permissions::from_mode(mode)).unwrap();
            }
            let data = DataDir::open(&path).unwrap();
            data.make_database().unwrap();
            assert_eq!(mode_of(&path), after, "{directory:o}");
            for name in FILES {
                assert_eq!(mode_of(&path.join(name)), 0o600, "{name} in {directory:o}");
            }
            fs::remove_dir_all(&path).unwrap();
        }
    }

    #[test]
    fn a_new_database_file_is_nobody_elses_from_the_first_moment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        fs::create_dir(&path).unwrap();
        let data = DataDir::open(&path).unwrap();
        data.make_database().unwrap();
        assert_eq!(fs::metadata(data.database()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

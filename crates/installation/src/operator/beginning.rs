//! A data directory that a command is about to begin: taken back when the command fails.

use std::fs;
use std::path::PathBuf;

use crate::config::Config;
use crate::data_dir::{self, DATABASE_FILE, DataDirError, KEY_FILE, KEYRING_FILE, VECTORS_FOLDER};
use crate::error::StartError;

/// State of the data directory before a command: whether there was nothing of ours in it yet.
#[derive(Debug)]
pub struct Beginning {
    path: PathBuf,
    /// Whether there was neither a database nor a key or keyring of this directory's own.
    empty: bool,
    /// Whether there was nothing of vector databases.
    without_vectors: bool,
    /// Whether the directory was not there at all.
    absent: bool,
}

impl Beginning {
    /// Looks at the configured directory. With PostgreSQL nothing begins here: the key is that of a database elsewhere.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let path = config.data_dir.clone();
        let there = |name: &str| path.join(name).exists();
        let empty = config.database_url.is_none()
            && !there(DATABASE_FILE)
            && !there(KEY_FILE)
            && !there(KEYRING_FILE);
        Self { empty, without_vectors: !there(VECTORS_FOLDER), absent: !path.exists(), path }
    }

    /// Removes what the failed command began, and nothing that was there before or is another process's by now. The error
    /// is the command's, where it is one of the start.
    pub fn take_back(self, error: Option<&StartError>) {
        let is_anothers = matches!(
            error,
            Some(
                StartError::DataDir(DataDirError::InUse(_))
                    | StartError::Database(heddle_store::OpenError::InUse { .. })
            )
        );
        if !self.empty || is_anothers {
            return;
        }
        for name in data_dir::FILES {
            // A file that is not there needs no removal.
            let _ = fs::remove_file(self.path.join(name));
        }
        if self.without_vectors {
            let _ = fs::remove_dir_all(self.path.join(VECTORS_FOLDER));
        }
        if self.absent {
            // One that others have put something into stays.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

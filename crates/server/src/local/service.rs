//! The service for one command, where no server runs.

use std::path::{Path, PathBuf};

use heddle_installation::config::Config;
use heddle_installation::data_dir::DataDirError;
use heddle_installation::error::StartError;

use super::listener::LocalListener;
use crate::composition::Composition;

/// The service without its background, over a socket file of this process alone: a command does without a server what it
/// does with one, in the same way.
#[derive(Debug)]
pub struct LocalService {
    core: Composition,
    listener: LocalListener,
}

impl LocalService {
    /// Opens the service on a data directory and its database. With PostgreSQL a server may run beside it.
    ///
    /// # Errors
    /// [`StartError`], each with what to do.
    pub async fn open(config: Config) -> Result<Self, StartError> {
        let directory = config.data_dir.clone();
        let is_alone = config.database_url.is_none();
        let core = Composition::operate(config).await?;
        if is_alone {
            sweep(&directory);
        }
        let path = directory.join(format!("{PREFIX}{}{SUFFIX}", std::process::id()));
        match LocalListener::start(&core.app, path.clone()) {
            Ok(listener) => Ok(Self { core, listener }),
            Err(source) => {
                core.stop().await;
                Err(DataDirError::Io { path, source }.into())
            }
        }
    }

    /// Path of the socket file.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.listener.path().to_owned()
    }

    /// Ends it: what is being written is written.
    pub async fn stop(self) {
        self.core.signal_stop();
        self.listener.stop().await;
        self.core.stop().await;
    }
}

const PREFIX: &str = "command-";
const SUFFIX: &str = ".sock";

/// Takes the socket files of commands away that were killed: whoever holds the directory is the only one.
fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            // The next command tries again.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

//! The shelf: models of a directory, read when they are asked, within a budget of bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;

use crate::ChatError;
use crate::engine::{self, Loaded, Options, Said};
use crate::files::{self, ModelFile};
use crate::held::Held;
use crate::template::Turn;

/// Models of a directory. A clone is the same shelf.
///
/// Each of its methods that names a model computes or reads where it stands: call them where that is allowed. One model
/// answers one conversation at a time; further ones wait.
#[derive(Clone)]
pub struct Shelf(Arc<Inner>);

struct Inner {
    directory: PathBuf,
    held: Mutex<Held<Mutex<Loaded>>>,
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf").field("bytes", &self.0.held.lock().bytes()).finish_non_exhaustive()
    }
}

impl Shelf {
    /// The models of a directory, of which so many bytes are in memory at most.
    #[must_use]
    pub fn of(directory: &Path, budget: u64) -> Self {
        Self(Arc::new(Inner { directory: directory.to_path_buf(), held: Mutex::new(Held::new(budget)) }))
    }

    /// Model files of the shelf, by name.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn files(&self) -> std::io::Result<Vec<ModelFile>> {
        files::list(&self.0.directory)
    }

    /// Bytes of a model in memory; none when it is not.
    #[must_use]
    pub fn in_memory(&self, name: &str) -> Option<u64> {
        self.0.held.lock().bytes_of(name)
    }

    /// Reads a model into memory, where it is not there yet.
    ///
    /// # Errors
    /// As [`ChatError`] says.
    pub fn load(&self, name: &str) -> Result<(), ChatError> {
        self.0.model(name).map(drop)
    }

    /// Lets a model go; false when it was not in memory.
    #[must_use]
    pub fn unload(&self, name: &str) -> bool {
        self.0.held.lock().remove(name)
    }

    /// Tokens of a text as a model counts them; none where the model is not in memory.
    #[must_use]
    pub fn count(&self, name: &str, text: &str) -> Option<usize> {
        let model = self.0.held.lock().get(name)?;
        let counted = model.lock().count(text);
        counted
    }

    /// Answers a conversation. `said` gets the text piece by piece; set `cancelled` and it ends behind the next token.
    ///
    /// # Errors
    /// As [`ChatError`] says.
    pub fn chat(
        &self,
        name: &str,
        turns: &[Turn],
        options: &Options,
        cancelled: &AtomicBool,
        said: &mut dyn FnMut(&str),
    ) -> Result<Said, ChatError> {
        let model = self.0.model(name)?;
        let answered = model.lock().chat(turns, options, cancelled, said);
        answered
    }
}

impl Inner {
    /// The model, from memory or from its file. The lock is held while a file is read: two that were read at a time would
    /// not fit.
    fn model(&self, name: &str) -> Result<Arc<Mutex<Loaded>>, ChatError> {
        let mut held = self.held.lock();
        if let Some(model) = held.get(name) {
            return Ok(model);
        }
        let all = files::list(&self.directory)?;
        let file = all.into_iter().find(|file| file.name == name);
        let file = file.ok_or_else(|| ChatError::Missing(name.to_owned()))?;
        let needed = engine::needed(&file.path, file.bytes)?;
        held.make_room(needed)?;
        let model = Arc::new(Mutex::new(Loaded::open(&file.path)?));
        held.put(name, needed, Arc::clone(&model));
        Ok(model)
    }
}

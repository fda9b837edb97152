//! Embedding models as the use cases ask for them: the built-in ones, of the directories of models.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use heddle_embedding::{CATALOGUE, DEFAULT, Known, Model, ModelError, Service, Settings, WEIGHTS};
use heddle_installation::config::Config;
use heddle_kernel::TenantId;
use heddle_vectors::ports::{Asker, EmbedError, Embedder, EmbeddingModel, ModelSource, ModelState, Priority};
use heddle_vectors::records::ModelUse;
use parking_lot::RwLock;
use tokio::sync::watch;

/// Longest wait for models that are being read.
const READING: Duration = Duration::from_secs(30);

/// A model of the catalogue on this node.
enum Held {
    /// Model whose files are being read.
    Loading,
    /// Model that embeds.
    Ready(Service),
    /// Model whose files are not there.
    Missing,
    /// Model that can't be used, with the reason in words.
    Broken(String),
}

/// The built-in models of this node. They are read in the background, at the first need of one at the latest: nobody waits
/// for them at the start.
#[derive(Clone)]
pub struct BuiltInModels(Arc<Inner>);

struct Inner {
    directory: PathBuf,
    threads: usize,
    held: RwLock<Vec<(&'static Known, Held)>>,
    has_begun: AtomicBool,
    is_read: watch::Sender<bool>,
}

impl std::fmt::Debug for BuiltInModels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BuiltInModels").finish_non_exhaustive()
    }
}

impl BuiltInModels {
    /// The models of a node.
    #[must_use]
    pub fn of_node(config: &Config) -> Self {
        let settings = &config.vectors;
        let own = || config.data_dir.join("models");
        Self::of(&settings.model_dir.clone().unwrap_or_else(own), settings.model_threads)
    }

    /// The models of a directory, each in a directory of its own.
    pub(super) fn of(directory: &Path, threads: usize) -> Self {
        let held = CATALOGUE.iter().map(|known| (known, Held::Loading)).collect();
        Self(Arc::new(Inner {
            directory: directory.to_owned(),
            threads,
            held: RwLock::new(held),
            has_begun: AtomicBool::new(false),
            is_read: watch::channel(false).0,
        }))
    }

    /// Begins to read the models, if nobody has.
    pub(crate) fn begin(&self) {
        if self.0.has_begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let reading = Arc::clone(&self.0);
        drop(tokio::task::spawn_blocking(move || {
            reading.read();
            reading.is_read.send_replace(true);
        }));
    }

    /// Waits until the models are read, but not for ever.
    async fn read(&self) {
        self.begin();
        let mut is_read = self.0.is_read.subscribe();
        // What is not read by then is told as such.
        drop(tokio::time::timeout(READING, is_read.wait_for(|read| *read)).await);
    }

    /// The models as they are at this moment; those that are still being read are told as such.
    #[must_use]
    pub fn known(&self) -> Vec<EmbeddingModel> {
        self.begin();
        let held = self.0.held.read();
        held.iter().map(|(known, held)| self.0.described(known, held)).collect()
    }

    /// The model itself, by which tokens are counted; none where it is not ready.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<Arc<Model>> {
        self.begin();
        self.0.service(id).map(|service| Arc::clone(service.model()))
    }
}

impl Inner {
    fn read(&self) {
        for known in CATALOGUE {
            let held = self.opened(known);
            if let Some(place) = self.held.write().iter_mut().find(|(of, _)| of.id == known.id) {
                place.1 = held;
            }
        }
    }

    fn opened(&self, known: &Known) -> Held {
        let model = match Model::open(&self.directory.join(known.id)) {
            Ok(model) => Arc::new(model),
            Err(ModelError::Missing { .. }) => return Held::Missing,
            Err(error) => {
                tracing::warn!(%error, model = known.id, "an embedding model can't be used");
                return Held::Broken(error.to_string());
            }
        };
        let settings = Settings { threads: self.threads, ..Settings::default() };
        match Service::start(model, settings) {
            Ok(service) => Held::Ready(service),
            Err(error) => Held::Broken(format!("the system gives no threads: {error}")),
        }
    }

    fn service(&self, id: &str) -> Option<Service> {
        let held = self.held.read();
        let found = held.iter().find(|(known, _)| known.id == id)?;
        match &found.1 {
            Held::Ready(service) => Some(service.clone()),
            Held::Loading | Held::Missing | Held::Broken(_) => None,
        }
    }

    fn described(&self, known: &Known, held: &Held) -> EmbeddingModel {
        let (state, state_detail) = match held {
            Held::Ready(_) => (ModelState::Ready, None),
            Held::Loading => (ModelState::Loading, Some("It is being read; try again.".to_owned())),
            Held::Missing => (ModelState::Missing, Some(self.how_to_fetch(known.id))),
            Held::Broken(why) => (ModelState::Error, Some(why.clone())),
        };
        let weights = known.files.iter().find(|file| file.name == WEIGHTS);
        EmbeddingModel {
            model: ModelUse {
                id: known.id.to_owned(),
                dimensions: u32::try_from(known.dimensions).unwrap_or(u32::MAX),
                revision: known.manifest().revision().to_owned(),
            },
            display_name: known.display_name.to_owned(),
            source: ModelSource::BuiltIn,
            deployment_alias: None,
            max_input_tokens: u32::try_from(known.max_tokens).unwrap_or(u32::MAX),
            languages: known.languages.iter().map(|language| (*language).to_owned()).collect(),
            state,
            state_detail,
            is_default: known.id == DEFAULT,
            sha256: weights.map(|file| file.sha256.to_owned()),
            licence: known.licence.to_owned(),
        }
    }

    fn how_to_fetch(&self, id: &str) -> String {
        let directory = self.directory.display();
        format!("`heddle models fetch {id} --model-dir {directory}` fetches it; then start the server again.")
    }

    /// Error that tells why a model does not embed.
    fn absent(&self, id: &str) -> EmbedError {
        let held = self.held.read();
        match held.iter().find(|(known, _)| known.id == id) {
            None => EmbedError::Missing(format!("There is no embedding model `{id}` here.")),
            Some((_, Held::Loading | Held::Ready(_))) => EmbedError::Unavailable {
                message: format!("The embedding model `{id}` is being read."),
                retry_after_seconds: Some(5),
            },
            Some((_, Held::Missing)) => {
                let how = self.how_to_fetch(id);
                EmbedError::Missing(format!("The embedding model `{id}` is not installed: {how}"))
            }
            Some((_, Held::Broken(why))) => {
                EmbedError::Missing(format!("The embedding model `{id}` can't be used: {why}"))
            }
        }
    }
}

fn failed(error: heddle_embedding::EmbedError) -> EmbedError {
    use heddle_embedding::EmbedError as Theirs;
    let message = error.to_string();
    match error {
        Theirs::Busy => EmbedError::Unavailable { message, retry_after_seconds: Some(1) },
        Theirs::Closed => EmbedError::Unavailable { message, retry_after_seconds: None },
        Theirs::Untokenizable | Theirs::Failed => EmbedError::Refused(message),
    }
}

#[async_trait]
impl Embedder for BuiltInModels {
    async fn models(&self, _tenant: TenantId) -> Result<Vec<EmbeddingModel>, EmbedError> {
        self.read().await;
        let held = self.0.held.read();
        let mut models: Vec<_> = held.iter().map(|(known, held)| self.0.described(known, held)).collect();
        models.sort_by_key(|model| !model.is_default);
        Ok(models)
    }

    async fn embed(
        &self,
        asker: &Asker,
        model: &ModelUse,
        texts: &[String],
        priority: Priority,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.read().await;
        let Some(service) = self.0.service(&model.id) else { return Err(self.0.absent(&model.id)) };
        let present = service.model().manifest().revision();
        if present != model.revision {
            let message = format!(
                "The embedding model `{}` is of another revision now: set `embeddingModelId` of the database to it again, \
                 which indexes the database anew.",
                model.id
            );
            return Err(EmbedError::Missing(message));
        }
        match (priority, texts) {
            (Priority::Interactive, [text]) => {
                let found = service.embed_query(&asker.tenant.to_string(), text).await.map_err(failed)?;
                Ok(vec![found.vector.clone()])
            }
            (Priority::Interactive | Priority::Background, _) => {
                let rank = match priority {
                    Priority::Interactive => heddle_embedding::Priority::Interactive,
                    Priority::Background => heddle_embedding::Priority::Background,
                };
                let found = service.embed(texts.to_vec(), rank).await.map_err(failed)?;
                Ok(found.into_iter().map(|one| one.vector).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_weights_the_answer_says_how_to_get_them() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        let tenant = TenantId(uuid::Uuid::nil());
        let told = models.models(tenant).await.unwrap();
        let first = told.first().unwrap();
        assert_eq!((first.state, first.is_default), (ModelState::Missing, true));
        assert!(first.state_detail.as_ref().unwrap().contains("heddle models fetch"));
        let asker = Asker { tenant, user: heddle_kernel::UserId(uuid::Uuid::nil()), request: "r".to_owned() };
        let refused = models.embed(&asker, &first.model, &["a".to_owned()], Priority::Interactive).await;
        assert!(matches!(refused, Err(EmbedError::Missing(_))), "{refused:?}");
    }
}

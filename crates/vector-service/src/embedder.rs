//! Embedding models as the use cases ask for them: the built-in ones, of the directories of models.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use heddle_embedding::{
    CATALOGUE, DEFAULT, Embedding, Known, MANIFEST, Model, ModelError, Service, Settings, WEIGHTS,
};
use heddle_installation::config::Config;
use heddle_kernel::TenantId;
use heddle_vectors::ports::{Asker, EmbedError, Embedder, EmbeddingModel, ModelSource, ModelState, Priority};
use heddle_vectors::records::ModelUse;
use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;

/// Longest wait for models that are being read.
const READING: Duration = Duration::from_secs(30);
/// Least time between two looks for missing models that nobody waits for.
const LOOKS: Duration = Duration::from_secs(1);

/// Mark of a file: one that is replaced, changed or made readable has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    inode: u64,
    bytes: u64,
    changed_seconds: i64,
    changed_nanos: i64,
}

/// Marks of a model's files, in the order of the catalogue; none of a file that is not there.
type Marks = Vec<Option<Mark>>;

/// A model of the catalogue on this node.
enum Held {
    /// Model whose files are being read.
    Loading,
    /// Model that embeds.
    Ready(Service),
    /// Model whose files are not all there.
    Missing(Marks),
    /// Model that can't be used, with the reason in words.
    Broken(String, Marks),
}

impl Held {
    /// Marks of the files of a model that can't be used; none of one that can, or is being read.
    fn unusable(&self) -> Option<&Marks> {
        match self {
            Self::Missing(marks) | Self::Broken(_, marks) => Some(marks),
            Self::Loading | Self::Ready(_) => None,
        }
    }
}

/// The built-in models of this node. They are read in the background, at the first need of one at the latest: nobody waits
/// for them at the start. One that can't be used is looked for when it is asked for, and read once its files are others: a
/// model that is fetched while the server runs is taken without another start.
#[derive(Clone)]
pub struct BuiltInModels(Arc<Inner>);

struct Inner {
    directory: PathBuf,
    threads: usize,
    held: RwLock<Vec<(&'static Known, Held)>>,
    has_begun: AtomicBool,
    is_read: watch::Sender<bool>,
    /// Lock of whoever looks for models that can't be used: one at a time.
    looking: Arc<tokio::sync::Mutex<()>>,
    /// Instant of the last look that nobody waited for.
    looked: Mutex<Option<Instant>>,
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
            looking: Arc::default(),
            looked: Mutex::new(None),
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

    /// Looks for the model of an id that can't be used, or for all such, and waits until those whose files are others than
    /// before are read, but not for ever. Where all can be used no file is looked at.
    async fn look(&self, id: Option<&str>) {
        if !self.0.lacks(id) {
            return;
        }
        let looked = async {
            let alone = Arc::clone(&self.0.looking).lock_owned().await;
            // Whoever looked before may have found it.
            if self.0.lacks(id) {
                let inner = Arc::clone(&self.0);
                let work = move || {
                    inner.look();
                    drop(alone);
                };
                drop(tokio::task::spawn_blocking(work).await);
            }
        };
        if tokio::time::timeout(READING, looked).await.is_err() {
            tracing::debug!("embedding models that were missing are still being looked for");
        }
    }

    /// Looks as [`Self::look`] does, on a thread of its own and not more often than [`LOOKS`] says: what is found is told to
    /// whoever asks the next time.
    fn look_aside(&self, id: Option<&str>) {
        if !self.0.lacks(id) || !self.0.may_look_aside() {
            return;
        }
        let Ok(alone) = Arc::clone(&self.0.looking).try_lock_owned() else { return };
        let inner = Arc::clone(&self.0);
        let work = move || {
            inner.look();
            drop(alone);
        };
        if let Err(error) = std::thread::Builder::new().name("models".to_owned()).spawn(work) {
            tracing::warn!(%error, "embedding models that were missing are looked for later");
        }
    }

    /// The service of a model, which is looked for where it can't be used yet.
    async fn found(&self, id: &str) -> Option<Service> {
        if let Some(service) = self.0.service(id) {
            return Some(service);
        }
        self.read().await;
        self.look(Some(id)).await;
        self.0.service(id)
    }

    /// The models as they are at this moment; those that are still being read are told as such, and those that can't be used
    /// are looked for in the background.
    #[must_use]
    pub fn known(&self) -> Vec<EmbeddingModel> {
        self.begin();
        self.look_aside(None);
        let held = self.0.held.read();
        held.iter().map(|(known, held)| self.0.described(known, held)).collect()
    }

    /// The models as a look for those that can't be used finds them: it is waited for, and so is what is being read, but not
    /// for ever. On a node that has needed none so far nothing is read: there they are told as being read.
    pub async fn looked_for(&self) -> Vec<EmbeddingModel> {
        if self.0.has_begun.load(Ordering::Relaxed) {
            self.read().await;
            self.look(None).await;
        }
        let held = self.0.held.read();
        held.iter().map(|(known, held)| self.0.described(known, held)).collect()
    }

    /// The model itself, by which tokens are counted; none where it is not ready: then it is looked for in the background.
    #[must_use]
    pub fn model(&self, id: &str) -> Option<Arc<Model>> {
        self.begin();
        let service = self.0.service(id);
        if service.is_none() {
            self.look_aside(Some(id));
        }
        service.map(|service| Arc::clone(service.model()))
    }
}

impl Inner {
    fn read(&self) {
        for known in CATALOGUE {
            self.take(known);
        }
    }

    /// Reads a model and keeps it as it is found.
    fn take(&self, known: &Known) {
        let held = self.opened(known);
        if let Some(place) = self.held.write().iter_mut().find(|(of, _)| of.id == known.id) {
            place.1 = held;
        }
    }

    /// Reads those models that can't be used and whose files are others by now.
    fn look(&self) {
        for known in CATALOGUE {
            let marks = self.marks(known);
            let is_other = self.held.read().iter().any(|(of, held)| {
                of.id == known.id && held.unusable().is_some_and(|before| *before != marks)
            });
            if is_other {
                self.take(known);
            }
        }
    }

    /// Whether the model of an id can't be used; any of them where none is named.
    fn lacks(&self, id: Option<&str>) -> bool {
        let held = self.held.read();
        held.iter().any(|(known, held)| id.is_none_or(|id| known.id == id) && held.unusable().is_some())
    }

    /// Whether the last look that nobody waited for is long enough ago; then this is one.
    fn may_look_aside(&self) -> bool {
        let mut looked = self.looked.lock();
        let may = looked.is_none_or(|at| at.elapsed() >= LOOKS);
        if may {
            *looked = Some(Instant::now());
        }
        may
    }

    fn marks(&self, known: &Known) -> Marks {
        let directory = self.directory.join(known.id);
        let mark = |name: &str| {
            let about = std::fs::metadata(directory.join(name)).ok()?;
            Some(Mark {
                inode: about.ino(),
                bytes: about.len(),
                changed_seconds: about.ctime(),
                changed_nanos: about.ctime_nsec(),
            })
        };
        known.files.iter().map(|file| file.name).chain([MANIFEST]).map(mark).collect()
    }

    fn opened(&self, known: &Known) -> Held {
        // Taken before the files are read: what changes meanwhile is seen at the next look.
        let marks = self.marks(known);
        let model = match Model::open(&self.directory.join(known.id)) {
            Ok(model) => Arc::new(model),
            Err(ModelError::Missing { .. }) => return Held::Missing(marks),
            Err(error) => {
                tracing::warn!(%error, model = known.id, "an embedding model can't be used");
                return Held::Broken(error.to_string(), marks);
            }
        };
        let settings = Settings { threads: self.threads, ..Settings::default() };
        match Service::start(model, settings) {
            Ok(service) => Held::Ready(service),
            Err(error) => Held::Broken(format!("the system gives no threads: {error}"), marks),
        }
    }

    fn service(&self, id: &str) -> Option<Service> {
        let held = self.held.read();
        let found = held.iter().find(|(known, _)| known.id == id)?;
        match &found.1 {
            Held::Ready(service) => Some(service.clone()),
            Held::Loading | Held::Missing(_) | Held::Broken(..) => None,
        }
    }

    fn described(&self, known: &Known, held: &Held) -> EmbeddingModel {
        let (state, state_detail) = match held {
            Held::Ready(_) => (ModelState::Ready, None),
            Held::Loading => (ModelState::Loading, Some("It is being read; try again.".to_owned())),
            Held::Missing(_) => (ModelState::Missing, Some(self.how_to_fetch(known.id))),
            Held::Broken(why, _) => (ModelState::Error, Some(why.clone())),
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
        format!(
            "`heddle models fetch {id} --model-dir {directory}` fetches it; a server that runs takes it then."
        )
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
            Some((_, Held::Missing(_))) => {
                let how = self.how_to_fetch(id);
                EmbedError::Missing(format!("The embedding model `{id}` is not installed: {how}"))
            }
            Some((_, Held::Broken(why, _))) => {
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
        self.look(None).await;
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
        let Some(service) = self.found(&model.id).await else { return Err(self.0.absent(&model.id)) };
        let present = service.model().manifest().revision();
        if present != model.revision {
            let message = format!(
                "The embedding model `{}` is of another revision now: set `embeddingModelId` of the database to it again, \
                 which indexes the database anew.",
                model.id
            );
            return Err(EmbedError::Missing(message));
        }
        let rank = match priority {
            Priority::Interactive => heddle_embedding::Priority::Interactive,
            Priority::Background => heddle_embedding::Priority::Background,
        };
        // What is short for certain is not looked at twice.
        let short = service.model().most_tokens();
        if texts.iter().any(|text| text.len() > short) {
            return in_parts(&service, asker, texts, rank).await;
        }
        match (priority, texts) {
            (Priority::Interactive, [text]) => Ok(vec![of_query(&service, asker, text).await?]),
            (Priority::Interactive | Priority::Background, _) => {
                let found = service.embed(texts.to_vec(), rank).await.map_err(failed)?;
                Ok(found.into_iter().map(|one| one.vector).collect())
            }
        }
    }
}

/// The embedding of a query, which is remembered.
async fn of_query(service: &Service, asker: &Asker, text: &str) -> Result<Vec<f32>, EmbedError> {
    let found = service.embed_query(&asker.tenant.to_string(), text).await.map_err(failed)?;
    Ok(found.vector.clone())
}

/// Embeddings of texts of which some may be longer than what the model looks at: the embedding of such a one is the mean
/// of those of its parts by their tokens, so that all of it counts.
async fn in_parts(
    service: &Service,
    asker: &Asker,
    texts: &[String],
    rank: heddle_embedding::Priority,
) -> Result<Vec<Vec<f32>>, EmbedError> {
    let model = Arc::clone(service.model());
    let owned = texts.to_vec();
    let cut = move || {
        let parts =
            |text: &String| Ok(model.parts(text)?.into_iter().map(str::to_owned).collect::<Vec<String>>());
        owned.iter().map(parts).collect::<Result<Vec<_>, heddle_embedding::EmbedError>>()
    };
    let parts = tokio::task::spawn_blocking(cut).await;
    let parts = parts.map_err(|error| EmbedError::Refused(error.to_string()))?.map_err(failed)?;
    if let ([text], [parts], heddle_embedding::Priority::Interactive) = (texts, parts.as_slice(), rank)
        && parts.len() == 1
    {
        return Ok(vec![of_query(service, asker, text).await?]);
    }
    let many: Vec<usize> = parts.iter().map(Vec::len).collect();
    let found = service.embed(parts.into_iter().flatten().collect(), rank).await.map_err(failed)?;
    let mut found = found.into_iter();
    Ok(many.into_iter().map(|many| mean(found.by_ref().take(many).collect())).collect())
}

/// The mean of embeddings by their tokens, of length 1; the embedding itself where it is one.
fn mean(embeddings: Vec<Embedding>) -> Vec<f32> {
    let mut all = embeddings.into_iter();
    let Some(first) = all.next() else { return Vec::new() };
    if all.len() == 0 {
        return first.vector;
    }
    let weight = |embedding: &Embedding| embedding.tokens as f32;
    let own = weight(&first);
    let mut sum: Vec<f32> = first.vector.iter().map(|number| number * own).collect();
    for other in all {
        let weight = weight(&other);
        for (sum, number) in sum.iter_mut().zip(&other.vector) {
            *sum += number * weight;
        }
    }
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > f32::EPSILON {
        for number in &mut sum {
            *number /= length;
        }
        return sum;
    }
    // Parts that say the opposite of each other have no mean.
    first.vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_embedding::toy::{self, TOY_DIMENSIONS};

    const TENANT: TenantId = TenantId(uuid::Uuid::nil());

    fn asker() -> Asker {
        Asker { tenant: TENANT, user: heddle_kernel::UserId(uuid::Uuid::nil()), request: "r".to_owned() }
    }

    /// State of the preset model in the list.
    async fn state(models: &BuiltInModels) -> ModelState {
        models.models(TENANT).await.unwrap().first().unwrap().state
    }

    /// A model whose files stand in the place of the preset one's, as a database that takes it has it.
    fn fetched(folder: &Path) -> ModelUse {
        let place = folder.join(DEFAULT);
        toy::write(&place, 1).unwrap();
        let revision = Model::open(&place).unwrap().manifest().revision().to_owned();
        ModelUse { id: DEFAULT.to_owned(), dimensions: u32::try_from(TOY_DIMENSIONS).unwrap(), revision }
    }

    #[tokio::test]
    async fn a_look_waits_for_what_it_finds_and_reads_nothing_that_nobody_needed() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        let found = async || models.looked_for().await.first().unwrap().state;
        assert_eq!(found().await, ModelState::Loading);
        assert!(!models.0.has_begun.load(Ordering::Relaxed));
        models.begin();
        assert_eq!(found().await, ModelState::Missing);
        fetched(folder.path());
        assert_eq!(found().await, ModelState::Ready);
    }

    #[tokio::test]
    async fn without_weights_the_answer_says_how_to_get_them() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        let told = models.models(TENANT).await.unwrap();
        let first = told.first().unwrap();
        assert_eq!((first.state, first.is_default), (ModelState::Missing, true));
        assert!(first.state_detail.as_ref().unwrap().contains("heddle models fetch"));
        let refused = models.embed(&asker(), &first.model, &["a".to_owned()], Priority::Interactive).await;
        assert!(matches!(refused, Err(EmbedError::Missing(_))), "{refused:?}");
    }

    #[tokio::test]
    async fn a_model_that_is_fetched_later_is_in_the_list_without_another_start() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        assert_eq!(state(&models).await, ModelState::Missing);
        fetched(folder.path());
        assert_eq!(state(&models).await, ModelState::Ready);
    }

    #[tokio::test]
    async fn a_model_that_is_fetched_later_embeds_when_it_is_next_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        assert_eq!(state(&models).await, ModelState::Missing);
        let model = fetched(folder.path());
        for priority in [Priority::Interactive, Priority::Background] {
            let texts = ["a loom".to_owned(), "a heddle".to_owned()];
            let vectors = models.embed(&asker(), &model, &texts, priority).await.unwrap();
            assert!(vectors.iter().all(|vector| vector.len() == TOY_DIMENSIONS), "{vectors:?}");
        }
    }

    #[tokio::test]
    async fn all_of_a_long_text_counts_and_its_vector_has_length_1() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        let model = fetched(folder.path());
        let short = "loom ".repeat(5);
        let texts =
            [short.clone(), short.clone() + &"9 8 7 ".repeat(200), "loom ".repeat(500), short.clone()];
        for priority in [Priority::Interactive, Priority::Background] {
            let vectors = models.embed(&asker(), &model, &texts, priority).await.unwrap();
            let alike = |one: usize, other: usize| {
                vectors[one].iter().zip(&vectors[other]).map(|(a, b)| a * b).sum::<f32>()
            };
            assert_eq!(vectors[0], vectors[3]);
            assert!(vectors.iter().enumerate().all(|(at, _)| (alike(at, at) - 1.0).abs() < 1e-4));
            assert!(alike(0, 2) > alike(0, 1), "{} {}", alike(0, 2), alike(0, 1));
            for (text, vector) in texts.iter().zip(&vectors) {
                let alone =
                    models.embed(&asker(), &model, std::slice::from_ref(text), priority).await.unwrap();
                let worst = alone[0].iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(worst < 1e-5, "{text}: {worst}");
            }
        }
    }

    #[tokio::test]
    async fn whoever_counts_tokens_alone_has_a_model_soon_after_it_was_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        assert_eq!(state(&models).await, ModelState::Missing);
        assert!(models.model(DEFAULT).is_none());
        fetched(folder.path());
        for _ in 0..200 {
            if models.model(DEFAULT).is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the model is not there after ten seconds");
    }

    #[tokio::test]
    async fn a_damaged_model_is_read_again_once_its_files_are_others_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let models = BuiltInModels::of(folder.path(), 1);
        fetched(folder.path());
        let weights = folder.path().join(DEFAULT).join(WEIGHTS);
        std::fs::write(&weights, "no weights").unwrap();
        assert_eq!(state(&models).await, ModelState::Error);
        let known = CATALOGUE.first().unwrap();
        let marks = models.0.marks(known);
        assert_eq!(state(&models).await, ModelState::Error);
        let held = models.0.held.read().iter().any(|(_, held)| held.unusable() == Some(&marks));
        assert!(held, "what did not change is as it was seen");
        fetched(folder.path());
        assert_eq!(state(&models).await, ModelState::Ready);
    }
}

//! Ingestion: the machine that makes passages of files, one stage after the other, on the durable runner. Each stage writes
//! what it reached; after an end of the process it goes on at the first passage that is missing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use heddle_kernel::{BuildId, Clock, EventId, IdSource, IngestionJobId, TenantId, Timestamp};
use heddle_usecase::errand::{
    Bounds, Errand, ErrandKind, Executor, Lane, NewErrand, Outcome, Settled, Settlement,
};
use heddle_usecase::{Admission, Compute, StoreError, computed, hex};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::bounds::{QuotaSource, UPLOAD_TIME};
use crate::indexer::{Indexer, spec_of};
use crate::ports::{
    Asker, Blobs, BuildEnd, ChunkSettings, ChunkedPassage, Chunker, Claimed, Cut, DocumentText, EmbedError,
    Embedder, ExtractError, Extractor, FileToExtract, IngestStore, NodeIdentity, PartKind, PassageStore,
    Priority, check_vector,
};
use crate::records::{
    Build, File, FileError, FileFault, IndexKey, ModelUse, Passage, PassageId, Recipe, Stage,
};

/// Passages of a batch: embedded together, and written by one commit.
const BATCH: usize = 64;
/// Tries of a file, where another may do.
const TRIES: u32 = 5;
/// Time after which a file gives its place to the next one; it goes on later where it was.
const SLICE: Duration = Duration::from_mins(20);
/// Time that a try may take: a slice, and the stages before it.
const TIME_LIMIT: Duration = Duration::from_mins(40);
/// Wait for a database that does not answer.
const AWAY: Duration = Duration::from_secs(5);
/// Builds that are made at once of a database that is indexed anew.
const SPREAD: usize = 500;
/// The most that waits: errands of files are never dropped for being many or old.
const BACKLOG: i64 = 1 << 40;
/// Rows of passages that are removed at once.
const PURGED: u32 = 1_000;
/// Builds, and jobs, of an organisation that are ended in a round since nobody works on them.
const UNATTENDED: u32 = 1_000;
/// Leftovers that are looked at in a round.
const LEFTOVERS: u32 = 100;
/// Commits of each database that indexes can follow; one that is further behind is built anew.
const KEPT_CHANGES: u32 = 10_000;
/// Bytes that no file has are removed this long after they came: an upload that still comes may have begun with them.
const ORPHANS: Duration = UPLOAD_TIME.saturating_mul(2);

/// Target of the lanes of files: one for each organisation.
const TARGET: &str = "files";

/// Task of an errand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IngestTask {
    /// To make the passages of a file.
    Build(BuildId),
    /// To make the builds of a database that is indexed anew.
    Spread(IngestionJobId),
}

impl IngestTask {
    /// The errand of the task: of the same id, so that there is one.
    #[must_use]
    pub fn errand(self, tenant: TenantId, now: Timestamp) -> NewErrand {
        let (id, name) = match self {
            Self::Build(build) => (build.0, "file"),
            Self::Spread(job) => (job.0, "reindex"),
        };
        NewErrand {
            id: EventId(id),
            lane: Lane { tenant, kind: ErrandKind::Ingestion, target: TARGET.to_owned(), line: None },
            workflow: None,
            run: None,
            name: name.to_owned(),
            // A task of two ids always has a text.
            payload: serde_json::to_string(&self).unwrap_or_default(),
            created_at: now,
        }
    }
}

/// Ports of the ingestion.
#[derive(Clone)]
pub struct IngestPorts {
    /// Rows.
    pub store: Arc<dyn IngestStore>,
    /// Passages.
    pub passages: Arc<dyn PassageStore>,
    /// Bytes.
    pub blobs: Arc<dyn Blobs>,
    /// Reading of files.
    pub extractor: Arc<dyn Extractor>,
    /// Cutting of texts.
    pub chunker: Arc<dyn Chunker>,
    /// Models.
    pub embedder: Arc<dyn Embedder>,
    /// Threads for the cutting.
    pub compute: Arc<dyn Compute>,
    /// Quotas.
    pub quotas: Arc<dyn QuotaSource>,
    /// Indexes.
    pub indexer: Indexer,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// The present time.
    pub clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for IngestPorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IngestPorts").finish_non_exhaustive()
    }
}

/// Settings of the ingestion on one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestSettings {
    /// The node.
    pub node: NodeIdentity,
    /// Files at a time, at least 1; one organisation has one less where there are two or more.
    pub files: usize,
    /// The most passages of a file.
    pub file_passages: u64,
}

/// Does the errands of files.
pub struct Ingestion {
    ports: IngestPorts,
    settings: IngestSettings,
}

impl std::fmt::Debug for Ingestion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ingestion").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Reason for which a build does not go on.
enum Stop {
    /// Failure for good.
    Failed(FileError),
    /// Failure that another try may mend, perhaps not before a while.
    Again(FileError, Option<Duration>),
    /// Build that nobody wants any more: it was cancelled, or its file is gone.
    Dropped,
    /// Wait that is no try: the database does not answer, or the queue is full.
    Held(Duration),
    /// End of its slice of time.
    Paused,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::Dropped,
            StoreError::QuotaExceeded { limit, most, used } => Self::Failed(FileError {
                code: FileFault::LimitExceeded,
                message: format!("The organisation may have {most} by the quota `{limit}`, and has {used}."),
                retryable: true,
            }),
            // Another worker wrote it, or the rows moved on: the next look sees how they stand.
            StoreError::Stale => Self::Held(Duration::from_secs(1)),
            StoreError::Duplicate(_)
            | StoreError::InvalidCursor
            | StoreError::LockOut
            | StoreError::Unavailable(_) => {
                tracing::warn!(%error, "the ingestion waits for the database");
                Self::Held(AWAY)
            }
        }
    }
}

impl From<ExtractError> for Stop {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::File { fault, message } => {
                Self::Failed(FileError { code: fault, message, retryable: false })
            }
            ExtractError::Unavailable(message) => {
                let error = FileError { code: FileFault::ParseFailed, message, retryable: true };
                Self::Again(error, None)
            }
        }
    }
}

impl From<EmbedError> for Stop {
    fn from(error: EmbedError) -> Self {
        let of = |message: String, retryable| FileError {
            code: FileFault::EmbedderUnavailable,
            message,
            retryable,
        };
        match error {
            EmbedError::Missing(message) => Self::Failed(of(message, true)),
            EmbedError::Refused(message) => Self::Failed(of(message, false)),
            EmbedError::Unavailable { message, retry_after_seconds } => {
                Self::Again(of(message, true), retry_after_seconds.map(Duration::from_secs))
            }
        }
    }
}

impl Ingestion {
    /// Builds the executor on its ports.
    #[must_use]
    pub const fn new(ports: IngestPorts, settings: IngestSettings) -> Self {
        Self { ports, settings }
    }

    /// Makes the passages of a file, from the stage that it has reached.
    async fn build(&self, tenant: TenantId, id: BuildId) -> Result<(), Stop> {
        let begun = Instant::now();
        let claimed = self.ports.store.claim(tenant, id, &self.settings.node, self.ports.clock.now()).await?;
        let Some(Claimed { build, file, database, asked_by }) = claimed else { return Err(Stop::Dropped) };
        let Some(mut recipe) = database.recipe_of(build.generation).cloned() else {
            return Err(Stop::Dropped);
        };
        if let Some(options) = self.own_options(&file, &recipe) {
            recipe.chunking.options = options;
        }
        self.reached(&build, Stage::Parsing).await?;
        let document = self
            .ports
            .extractor
            .extract(&FileToExtract {
                tenant,
                blob: file.blob.clone(),
                name: file.name.clone(),
                media_type: file.declared_type(),
                bytes: file.bytes,
            })
            .await?;
        if document.text.trim().is_empty() {
            let message = "There is no text in the file.".to_owned();
            return Err(ExtractError::File { fault: FileFault::NoText, message }.into());
        }
        self.reached(&build, Stage::Chunking).await?;
        let title =
            file.title.clone().or_else(|| document.title.clone()).unwrap_or_else(|| file.name.clone());
        let (document, chunks) = self.chunks(tenant, document, title, &recipe).await?;
        let cut = self.cut(tenant, &document, &chunks, &recipe);
        let build = self.ports.store.cut(&build, &cut, self.ports.clock.now()).await?;
        let asker = Asker { tenant, user: asked_by, request: build.job.to_string() };
        let build = self.write(build, &chunks, recipe.model.as_ref(), &asker, begun).await?;
        self.reached(&build, Stage::Indexing).await?;
        let (node, now) = (self.settings.node.id, self.ports.clock.now());
        self.ports.store.end(&build, &BuildEnd::Ready, node, now).await?;
        self.index(&build, &database);
        Ok(())
    }

    /// Options of a file for the methodology of a recipe: those of another methodology say nothing to it.
    fn own_options(&self, file: &File, recipe: &Recipe) -> Option<Map<String, Value>> {
        let own = file.options.as_ref()?;
        let id = &recipe.chunking.id;
        let is_for = match &own.methodology {
            Some(given) => given == id,
            None => self.ports.chunker.check(id, &own.options).is_ok(),
        };
        is_for.then(|| own.options.clone())
    }

    async fn reached(&self, build: &Build, stage: Stage) -> Result<(), Stop> {
        let (node, now) = (self.settings.node.id, self.ports.clock.now());
        Ok(self.ports.store.reached(build, stage, node, now).await?)
    }

    /// Cuts a document on the threads that compute.
    async fn chunks(
        &self,
        tenant: TenantId,
        document: DocumentText,
        title: String,
        recipe: &Recipe,
    ) -> Result<(DocumentText, Vec<ChunkedPassage>), Stop> {
        let settings = ChunkSettings {
            chunking: recipe.chunking.clone(),
            model: recipe.model.as_ref().map(|model| model.id.clone()),
            most: self.settings.file_passages,
        };
        let chunker = Arc::clone(&self.ports.chunker);
        let work = move || {
            let chunks = chunker.chunk(&document, &title, &settings);
            (document, chunks)
        };
        let made = computed(&*self.ports.compute, tenant, Admission::Take, work).await;
        let (document, chunks) = made.map_err(|error| {
            tracing::error!(%error, "a file is not cut");
            let message = "The text could not be cut.".to_owned();
            Stop::Again(FileError { code: FileFault::ParseFailed, message, retryable: true }, None)
        })?;
        let chunks = chunks?;
        if chunks.is_empty() {
            let message = "There is no text in the file.".to_owned();
            return Err(ExtractError::File { fault: FileFault::NoText, message }.into());
        }
        Ok((document, chunks))
    }

    fn cut(
        &self,
        tenant: TenantId,
        document: &DocumentText,
        chunks: &[ChunkedPassage],
        recipe: &Recipe,
    ) -> Cut {
        let mut digest = Sha256::new();
        let recipe = serde_json::to_vec(recipe).unwrap_or_default();
        let mut add = |part: &[u8]| {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        };
        add(&recipe);
        for chunk in chunks {
            add(chunk.prefix.as_bytes());
            add(chunk.text.as_bytes());
            add(chunk.context.as_deref().unwrap_or_default().as_bytes());
        }
        let paged = |kind: PartKind| match kind {
            PartKind::Page | PartKind::Sheet | PartKind::Slide => true,
            PartKind::Section => false,
        };
        // A page without text is no part of the document, and one of the file.
        let pages = document.parts.iter().filter(|part| paged(part.kind)).map(|part| part.number).max();
        Cut {
            passages: chunks.len() as u64,
            digest: hex(&digest.finalize()),
            pages: pages.filter(|pages| *pages > 0),
            language: document.language.clone(),
            title: document.title.clone(),
            warnings: document.warnings.clone(),
            most: self.ports.quotas.quotas(tenant).passages,
        }
    }

    /// Writes the passages that are missing, a batch by a commit.
    async fn write(
        &self,
        mut build: Build,
        chunks: &[ChunkedPassage],
        model: Option<&ModelUse>,
        asker: &Asker,
        begun: Instant,
    ) -> Result<Build, Stop> {
        let Some(range) = build.passages else { return Err(Stop::Dropped) };
        self.reached(&build, Stage::Embedding).await?;
        let written = usize::try_from(build.done).unwrap_or(usize::MAX).min(chunks.len());
        for batch in chunks.get(written..).unwrap_or_default().chunks(BATCH) {
            if begun.elapsed() > SLICE {
                return Err(Stop::Paused);
            }
            let vectors = self.vectors(asker, batch, model).await?;
            let first = build.done;
            let of = |(place, (chunk, vector)): (u64, (&ChunkedPassage, Option<Vec<f32>>))| Passage {
                id: PassageId(range.first + first + place),
                file: build.file,
                build: build.id,
                ordinal: u32::try_from(first + place).unwrap_or(u32::MAX),
                text: chunk.text.clone(),
                prefix: chunk.prefix.clone(),
                context: chunk.context.as_deref().map(str::to_owned),
                tokens: chunk.tokens,
                locator: chunk.locator.clone(),
                vector,
            };
            let passages: Vec<Passage> = (0..).zip(batch.iter().zip(vectors)).map(of).collect();
            let (node, now) = (self.settings.node.id, self.ports.clock.now());
            self.ports.store.write_passages(&build, &passages, node, now).await?;
            build.done += passages.len() as u64;
        }
        Ok(build)
    }

    async fn vectors(
        &self,
        asker: &Asker,
        batch: &[ChunkedPassage],
        model: Option<&ModelUse>,
    ) -> Result<Vec<Option<Vec<f32>>>, Stop> {
        let Some(model) = model else { return Ok(vec![None; batch.len()]) };
        let embedded = |chunk: &ChunkedPassage| match chunk.prefix.as_str() {
            "" => chunk.text.clone(),
            prefix => format!("{prefix}\n{}", chunk.text),
        };
        let texts: Vec<String> = batch.iter().map(embedded).collect();
        let vectors = self.ports.embedder.embed(asker, model, &texts, Priority::Background).await?;
        if vectors.len() != batch.len() {
            return Err(EmbedError::Refused("the model gave no vector for each text".to_owned()).into());
        }
        for vector in &vectors {
            check_vector(model, vector)?;
        }
        Ok(vectors.into_iter().map(Some).collect())
    }

    /// Has this node's index brought up to date, so that the next query need not.
    fn index(&self, build: &Build, database: &crate::records::VectorDatabase) {
        let key = IndexKey { tenant: build.tenant, database: build.database, generation: build.generation };
        if let Some(spec) = spec_of(database, build.generation) {
            self.ports.indexer.follow_soon(key, spec);
        }
    }

    async fn spread(&self, tenant: TenantId, job: IngestionJobId) -> Result<(), Stop> {
        loop {
            let now = self.ports.clock.now();
            let builds: Vec<BuildId> =
                std::iter::repeat_with(|| BuildId(self.ports.ids.next(now))).take(SPREAD).collect();
            if !self.ports.store.spread(tenant, job, &builds, now).await? {
                return Ok(());
            }
        }
    }

    /// Ends a build as failed.
    async fn fail(&self, tenant: TenantId, id: BuildId, error: FileError) -> Outcome {
        let (node, now) = (&self.settings.node, self.ports.clock.now());
        let claimed = match self.ports.store.claim(tenant, id, node, now).await {
            Ok(Some(claimed)) => claimed,
            Ok(None) | Err(StoreError::NotFound) => return Outcome::Done,
            Err(_) => return Outcome::Held { wait: AWAY },
        };
        match self.ports.store.end(&claimed.build, &BuildEnd::Failed(error), node.id, now).await {
            Ok(()) | Err(StoreError::NotFound) => Outcome::Done,
            Err(_) => Outcome::Held { wait: AWAY },
        }
    }

    /// Outcome of an errand whose build stopped.
    async fn stopped(&self, errand: &Errand, id: BuildId, stop: Stop) -> Outcome {
        let tenant = errand.errand.lane.tenant;
        match stop {
            Stop::Dropped => Outcome::Done,
            Stop::Held(wait) => Outcome::Held { wait },
            Stop::Paused => Outcome::Held { wait: Duration::from_millis(1) },
            Stop::Failed(error) => self.fail(tenant, id, error).await,
            Stop::Again(error, _) if errand.attempts.saturating_add(1) >= TRIES => {
                self.fail(tenant, id, error).await
            }
            Stop::Again(error, after) => {
                let (node, now) = (&self.settings.node, self.ports.clock.now());
                if let Ok(Some(claimed)) = self.ports.store.claim(tenant, id, node, now).await
                    && let Err(failure) = self.ports.store.failed_try(&claimed.build, &error, now).await
                {
                    tracing::debug!(error = %failure, "a try that failed is not noted");
                }
                Outcome::Failed { message: error.message, after }
            }
        }
    }

    /// Ends builds and jobs whose errand is gone: it was set aside, and the process ended, or the database went away, before that
    /// was written. Gives their number. Called now and then, by one or more nodes.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn attend(&self) -> Result<u64, StoreError> {
        let error = FileError {
            code: FileFault::ParseFailed,
            message: "The work was given up: it ended the process again and again, or took too long."
                .to_owned(),
            retryable: true,
        };
        self.ports.store.end_unattended(&error, UNATTENDED, self.ports.clock.now()).await
    }

    /// Removes leftovers: rows of passages of files, generations and databases that are gone, their bytes and indexes. Gives
    /// whether there may be more. Called now and then, by one or more nodes.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn clean(&self) -> Result<bool, StoreError> {
        let purges = self.ports.store.purges(LEFTOVERS).await?;
        let mut is_more = purges.len() as u32 >= LEFTOVERS;
        for purge in purges {
            if let Some(generation) = purge.generation {
                let key = IndexKey { tenant: purge.tenant, database: purge.database, generation };
                if let Err(error) = self.ports.indexer.index().remove(key).await {
                    tracing::warn!(%error, database = %purge.database, "an index is not removed yet");
                    continue;
                }
            }
            if let Some(blob) = &purge.blob
                && let Err(error) = self.ports.blobs.delete(purge.tenant, blob).await
            {
                tracing::warn!(%error, "the bytes of a file are not removed yet");
                continue;
            }
            is_more |= !self.ports.store.purge(&purge, PURGED).await?;
        }
        self.ports.store.trim_changes(KEPT_CHANGES, PURGED).await?;
        Ok(is_more)
    }

    /// Removes bytes that no file has and that came longer ago than an upload may take: uploads that never got a row. Gives
    /// their number.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        let age = i64::try_from(ORPHANS.as_secs()).unwrap_or(i64::MAX);
        let before = self.ports.clock.now().plus_seconds(-age);
        let (mut after, mut removed) = (None, 0);
        loop {
            let kept = self.ports.blobs.kept_before(before, after, PURGED).await;
            let kept = kept.map_err(|error| StoreError::Unavailable(error.to_string()))?;
            let Some(last) = kept.last().cloned() else { return Ok(removed) };
            let mut by_tenant: BTreeMap<TenantId, Vec<String>> = BTreeMap::new();
            for (tenant, key) in kept {
                by_tenant.entry(tenant).or_default().push(key);
            }
            for (tenant, keys) in by_tenant {
                let known = self.ports.store.kept_blobs(tenant, &keys).await?;
                for key in keys.iter().filter(|key| !known.contains(key)) {
                    match self.ports.blobs.delete(tenant, key).await {
                        Ok(()) => removed += 1,
                        Err(error) => tracing::warn!(%error, "bytes that no file has are not removed yet"),
                    }
                }
            }
            after = Some(last);
        }
    }
}

#[async_trait]
impl Executor for Ingestion {
    fn kind(&self) -> ErrandKind {
        ErrandKind::Ingestion
    }

    fn bounds(&self) -> Bounds {
        let total = self.settings.files.max(1);
        let organization = total.saturating_sub(1).max(1);
        Bounds {
            total,
            organization,
            target: organization,
            ahead: 1,
            time_limit: TIME_LIMIT,
            backlog: BACKLOG,
            oldest: Duration::from_hours(24 * 365),
        }
    }

    async fn run(&self, errand: &Errand) -> Outcome {
        let tenant = errand.errand.lane.tenant;
        let task: IngestTask = match serde_json::from_str(&errand.errand.payload) {
            Ok(task) => task,
            Err(error) => return Outcome::Refused { message: format!("the task does not read: {error}") },
        };
        match task {
            IngestTask::Build(id) => match self.build(tenant, id).await {
                Ok(()) => Outcome::Done,
                Err(stop) => self.stopped(errand, id, stop).await,
            },
            IngestTask::Spread(job) => match self.spread(tenant, job).await {
                Ok(()) | Err(Stop::Dropped | Stop::Failed(_)) => Outcome::Done,
                Err(Stop::Held(wait)) => Outcome::Held { wait },
                Err(Stop::Paused | Stop::Again(..)) => Outcome::Held { wait: AWAY },
            },
        }
    }

    async fn ended(&self, settled: &Settled) {
        // A file that ended the process again and again, or took too long each time, has failed.
        let Settlement::Aside { message, .. } = &settled.settlement else { return };
        let Ok(task) = serde_json::from_str(&settled.errand.errand.payload) else { return };
        let error = FileError { code: FileFault::ParseFailed, message: message.clone(), retryable: false };
        let (tenant, now) = (settled.errand.errand.lane.tenant, self.ports.clock.now());
        let is_ended = match task {
            IngestTask::Build(id) => self.fail(tenant, id, error).await == Outcome::Done,
            IngestTask::Spread(job) => {
                let failed = self.ports.store.fail_reindex(tenant, job, &error, now).await;
                matches!(failed, Ok(()) | Err(StoreError::NotFound))
            }
        };
        if !is_ended {
            tracing::warn!(organization = %tenant, "what an errand was for is ended later: `attend` finds it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn an_errand_has_the_id_of_its_task_and_the_lane_of_its_organisation() {
        let tenant = TenantId(Uuid::from_u128(1));
        let build = BuildId(Uuid::from_u128(2));
        let errand = IngestTask::Build(build).errand(tenant, Timestamp::from_micros(0));
        assert_eq!(errand.id, EventId(build.0));
        let read: IngestTask = serde_json::from_str(&errand.payload).unwrap();
        assert_eq!(read, IngestTask::Build(build));
        assert!(!errand.lane.is_in_order());
    }

    #[test]
    fn what_can_pass_is_tried_again_and_what_cannot_is_not() {
        let damaged = ExtractError::File { fault: FileFault::Encrypted, message: "x".to_owned() };
        assert!(matches!(Stop::from(damaged), Stop::Failed(FileError { retryable: false, .. })));
        let away = EmbedError::Unavailable { message: "x".to_owned(), retry_after_seconds: Some(9) };
        assert!(matches!(Stop::from(away), Stop::Again(_, Some(wait)) if wait == Duration::from_secs(9)));
        assert!(matches!(Stop::from(StoreError::NotFound), Stop::Dropped));
        assert!(matches!(Stop::from(StoreError::Unavailable("x".to_owned())), Stop::Held(_)));
    }
}

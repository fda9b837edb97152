//! `vector.query`, `vector.upsert` and `vector.delete`: what a database knows, and what it is to know.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use heddle_execution::ports::{Notifier, ServiceCall, ServiceEnd, ServiceFault, ServiceWork};
use heddle_kernel::{DatabaseName, EventId, FileId, IdSource, PageRequest, Patch};
use heddle_policy::capability::{
    DocumentCreate, DocumentDelete, DocumentList, DocumentUpdate, VectorDatabaseQuery,
};
use heddle_policy::resource::Within;
use heddle_policy::{AuthorizedKindWithin, DenialError, RequestContext};
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome, Problem, UseCaseError, sha256_hex};
use heddle_vectors::ports::{
    BlobError, Blobs, Extractor, FieldCondition, FieldTest, FieldValue, FileFilter, FileToExtract,
};
use heddle_vectors::records::{File, FileState, QueryMode};
use heddle_vectors::{
    Answer, Cited, FilePatch, Fusion, NewFile, Query, Rerank, UploadBounds, Uploaded, VectorFiles,
    VectorQueries,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{Texts, content, database, read, refused};
use crate::documents::{unkept, unread};

/// Files of one name that are read at once.
const PAGE: u32 = 100;

/// Ports of the kinds.
#[derive(Clone)]
pub struct VectorNodePorts {
    /// Queries.
    pub queries: VectorQueries,
    /// Files.
    pub files: Arc<VectorFiles>,
    /// Bytes of files.
    pub blobs: Arc<dyn Blobs>,
    /// Readers of files.
    pub extractor: Arc<dyn Extractor>,
    /// Whoever works on files, told of new ones.
    pub bell: Arc<dyn Notifier>,
    /// Ids of audit events.
    pub ids: Arc<dyn IdSource>,
    /// Bounds of an upload.
    pub bounds: UploadBounds,
}

impl std::fmt::Debug for VectorNodePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorNodePorts").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

/// Does the kinds `vector.query`, `vector.upsert` and `vector.delete`.
#[derive(Debug)]
pub struct VectorNodes {
    ports: VectorNodePorts,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RerankSettings {
    deployment: String,
    candidates: Option<u32>,
}

#[derive(Deserialize)]
#[serde(tag = "method", rename_all = "camelCase", deny_unknown_fields)]
enum FusionSettings {
    MinMax { alpha: Option<f32> },
    Rrf { k: Option<u32> },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DiversitySettings {
    mmr_lambda: f64,
}

/// Settings of a query that narrow what it finds, or say how: none of them is left out in silence.
const OF_QUERIES: &[&str] =
    &["mode", "filter", "minScore", "fusion", "diversity", "rerank", "includeNeighbours"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QuerySettings {
    database: String,
    query: String,
    limit: Option<u32>,
    mode: Option<String>,
    filter: Option<Value>,
    min_score: Option<f64>,
    fusion: Option<FusionSettings>,
    diversity: Option<DiversitySettings>,
    include_neighbours: Option<u32>,
    rerank: Option<RerankSettings>,
    #[serde(default)]
    allow_degraded: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UpsertSettings {
    database: String,
    items: Vec<Item>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Item {
    name: String,
    text: Option<String>,
    content_base64: Option<String>,
    media_type: Option<String>,
    title: Option<String>,
    metadata: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DeleteSettings {
    database: String,
    file_ids: Option<Texts>,
    names: Option<Texts>,
}

/// Outcome of an item that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Added,
    Replaced,
    Updated,
    Unchanged,
}

impl Fate {
    const fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Replaced => "replaced",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

impl VectorNodes {
    /// Over the use cases of vector databases.
    #[must_use]
    pub const fn new(ports: VectorNodePorts) -> Self {
        Self { ports }
    }

    async fn query(
        &self,
        context: &RequestContext,
        settings: QuerySettings,
    ) -> Result<Map<String, Value>, ServiceFault> {
        let name = database(&settings.database)?;
        let authorized = context.snapshot().authorize_one::<VectorDatabaseQuery>(name, ()).map_err(denied)?;
        let mode = settings.mode.as_deref().map(|word| {
            QueryMode::parse(word).ok_or_else(|| refused(format!("mode: `{word}` is no manner of a query.")))
        });
        let query = Query {
            text: settings.query,
            limit: settings.limit,
            mode: mode.transpose()?,
            filter: settings.filter,
            min_score: settings.min_score,
            fusion: settings.fusion.map(|own| match own {
                FusionSettings::MinMax { alpha } => Fusion::MinMax { alpha: alpha.unwrap_or(0.5) },
                FusionSettings::Rrf { k } => Fusion::Rrf { k: k.unwrap_or(60) },
            }),
            mmr_lambda: settings.diversity.map(|own| own.mmr_lambda),
            rerank: settings
                .rerank
                .map(|own| Rerank { deployment: own.deployment, candidates: own.candidates }),
            neighbours: settings.include_neighbours.unwrap_or(0),
            allow_degraded: settings.allow_degraded,
        };
        let answer = self.ports.queries.query(&authorized, context, &query).await;
        Ok(answered(&answer.map_err(|error| absent(&settings.database, error))?))
    }

    async fn upsert(
        &self,
        context: &RequestContext,
        settings: UpsertSettings,
    ) -> Result<Map<String, Value>, ServiceFault> {
        let name = database(&settings.database)?;
        let most = self.ports.bounds.files as usize;
        if settings.items.len() > most {
            return Err(refused(format!("items: at most {most} at a time.")));
        }
        if settings.items.is_empty() {
            self.look_up(context, &name).await?;
        }
        // Nothing is written before all that can be known of all items is.
        let mut prepared: Vec<Prepared> = Vec::with_capacity(settings.items.len());
        for (place, item) in settings.items.into_iter().enumerate() {
            let told = |fault: ServiceFault| within(&format!("items[{place}]"), fault);
            let one = self.prepare(context, &name, item).await.map_err(told)?;
            if let Some(first) = prepared.iter().position(|other| other.item.name == one.item.name) {
                return Err(refused(format!("items[{place}].name: it is that of items[{first}].")));
            }
            if let Some(first) = prepared.iter().position(|other| other.sha256 == one.sha256) {
                return Err(refused(format!("items[{place}]: the same content as items[{first}].")));
            }
            prepared.push(one);
        }
        let mut done = Vec::with_capacity(prepared.len());
        for (place, one) in prepared.into_iter().enumerate() {
            let file_name = one.item.name.clone();
            let put = self.put(context, &name, one).await;
            let (file, fate) = put.map_err(|fault| within(&format!("items[{place}]"), fault))?;
            done.push((file, file_name, fate));
        }
        let count = |fate: Fate| Value::from(done.iter().filter(|(.., own)| *own == fate).count());
        let fates = [Fate::Added, Fate::Replaced, Fate::Updated, Fate::Unchanged];
        let mut given: Map<String, Value> =
            fates.into_iter().map(|fate| (fate.word().to_owned(), count(fate))).collect();
        let file = |(file, name, fate): &(File, String, Fate)| {
            json!({
                "fileId": file.id.to_string(), "name": name, "outcome": fate.word(),
                "state": file.state.as_str(), "enabled": file.enabled,
            })
        };
        given.insert("files".to_owned(), done.iter().map(file).collect());
        Ok(given)
    }

    /// Looks at an item: its content, the files of its name, and whether the person may do to them what it asks for.
    async fn prepare(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        mut item: Item,
    ) -> Result<Prepared, ServiceFault> {
        let place = Within::of(name.clone());
        let create = context.snapshot().authorize_kind_within::<DocumentCreate>(place).map_err(denied)?;
        let bytes = content(item.text.take(), item.content_base64.take().as_deref())?;
        let most = self.ports.bounds.file_bytes;
        if bytes.len() as u64 > most {
            return Err(unkept(BlobError::TooLarge { most }));
        }
        let before = self.named(context, name, &item.name).await?;
        let sha256 = sha256_hex(&bytes);
        for file in &before {
            let place = Within::of(name.clone());
            if file.sha256 != sha256 {
                context.snapshot().authorize_one::<DocumentDelete>(file.id, place).map_err(denied)?;
            } else if item.title.is_some() || item.metadata.is_some() || is_lost(file.state) {
                context.snapshot().authorize_one::<DocumentUpdate>(file.id, place).map_err(denied)?;
            }
        }
        Ok(Prepared { item, create, bytes, sha256, before })
    }

    /// Puts one item in: a new file in the place of those of its name, or nothing where its content is there already.
    async fn put(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        one: Prepared,
    ) -> Result<(File, Fate), ServiceFault> {
        let Prepared { item, create, bytes, sha256, before } = one;
        if let Some(same) = before.iter().find(|file| file.sha256 == sha256) {
            let described = self.describe(context, name, same, &item).await?;
            // An attempt before this one may have ended between its upload and what that takes the place of.
            for old in before.iter().filter(|old| old.id != same.id) {
                self.remove(context, name, old.id).await?;
            }
            return Ok(described);
        }
        let stream = Box::pin(futures::stream::iter([Ok(bytes)]));
        let put = self.ports.blobs.put(context.tenant(), self.ports.bounds.file_bytes, stream).await;
        let new = NewFile {
            name: item.name,
            media_type: item.media_type,
            title: item.title,
            metadata: item.metadata.unwrap_or_default(),
            blob: put.map_err(unkept)?,
        };
        // What is there stays until it is known that what comes in its place can be read.
        if !before.is_empty()
            && let Err(fault) = self.can_be_read(context, &new).await
        {
            if let Err(error) = self.ports.blobs.delete(context.tenant(), &new.blob.key).await {
                // The sweep takes it later.
                tracing::debug!(%error, "the bytes of a node's file are not removed yet");
            }
            return Err(fault);
        }
        let record = |made: &Uploaded| {
            let ids: Vec<String> = made.files.iter().map(|file| file.id.to_string()).collect();
            let details = json!({ "vectorDatabase": name.as_str(), "jobId": made.job.id.to_string() });
            self.journal(context, "document.uploaded", ids.first().cloned(), details)
        };
        let made = match self.ports.files.upload(&create, context, vec![new], &record).await {
            Ok(made) => made,
            Err(error) => return Err(self.untaken(context, name, error).await),
        };
        self.ports.bell.errand_asked();
        let Some(file) = made.files.into_iter().next() else {
            return Err(refused("The upload was taken without a file."));
        };
        for old in &before {
            self.remove(context, name, old.id).await?;
        }
        Ok((file, if before.is_empty() { Fate::Added } else { Fate::Replaced }))
    }

    /// The fault of an upload that was refused: that of a content which is there already names the file that has it.
    async fn untaken(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        error: UseCaseError,
    ) -> ServiceFault {
        let id = not_unique(&error).and_then(id_of).map(str::to_owned);
        let known = match &id {
            Some(id) => self.name_of(context, name, id).await,
            None => None,
        };
        match not_unique(&error) {
            Some(problem) => elsewhere(problem, known.as_deref()),
            None => absent(name.as_str(), error),
        }
    }

    /// Name of a file, as far as the person may see it; without it the fault is told all the same.
    async fn name_of(&self, context: &RequestContext, name: &DatabaseName, id: &str) -> Option<String> {
        let place = Within::of(name.clone());
        let authorized = context.snapshot().authorize_list_within::<DocumentList>(place).ok()?;
        let test = FieldTest::In(vec![FieldValue::Text(id.to_owned())]);
        let condition = FieldCondition { field: "fileId".to_owned(), test };
        let filter = FileFilter { metadata: vec![condition], ..FileFilter::default() };
        let page = PageRequest { limit: 1, cursor: None };
        let found = self.ports.files.list(&authorized, context, &filter, &page).await.ok()?;
        found.items.into_iter().next().map(|file| file.name)
    }

    /// Takes the text out of a new file, to see that there is some.
    async fn can_be_read(&self, context: &RequestContext, new: &NewFile) -> Result<(), ServiceFault> {
        let file = FileToExtract {
            tenant: context.tenant(),
            blob: new.blob.key.clone(),
            name: new.name.clone(),
            media_type: new.media_type.clone().unwrap_or_default(),
            bytes: new.blob.bytes,
        };
        self.ports.extractor.extract(&file).await.map(|_| ()).map_err(unread)
    }

    /// Gives a file that is there the title and the metadata of an item, where it has others; one of which there is nothing
    /// to be found, for it failed or was cancelled, is read anew.
    async fn describe(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        file: &File,
        item: &Item,
    ) -> Result<(File, Fate), ServiceFault> {
        let is_anew = is_lost(file.state);
        let patch = FilePatch {
            title: item.title.clone().map_or(Patch::Absent, Patch::Value),
            metadata: item.metadata.clone().map_or(Patch::Absent, Patch::Value),
            reprocess: is_anew.then_some(true),
            ..FilePatch::default()
        };
        if patch.title == Patch::Absent && patch.metadata == Patch::Absent && !is_anew {
            return Ok((file.clone(), Fate::Unchanged));
        }
        let place = Within::of(name.clone());
        let authorized =
            context.snapshot().authorize_one::<DocumentUpdate>(file.id, place).map_err(denied)?;
        let changed = std::sync::atomic::AtomicBool::new(false);
        let record = |file: &File| {
            changed.store(true, std::sync::atomic::Ordering::Relaxed);
            let details = json!({ "vectorDatabase": name.as_str() });
            self.journal(context, "document.updated", Some(file.id.to_string()), details)
        };
        let file = match self.ports.files.update(&authorized, context, patch.clone(), &record).await {
            // With a database that is indexed anew each of its files is read anew.
            Err(UseCaseError::Conflict(problems)) if is_anew && is_reindexed(&problems) => {
                let rest = FilePatch { reprocess: None, ..patch };
                self.ports.files.update(&authorized, context, rest, &record).await?
            }
            other => other?,
        };
        if is_anew {
            self.ports.bell.errand_asked();
        }
        let fate = if changed.into_inner() { Fate::Updated } else { Fate::Unchanged };
        Ok((file, fate))
    }

    async fn delete(
        &self,
        context: &RequestContext,
        settings: DeleteSettings,
    ) -> Result<Map<String, Value>, ServiceFault> {
        let name = database(&settings.database)?;
        let mut ids = Vec::new();
        for text in settings.file_ids.map(Texts::all).unwrap_or_default() {
            let id = text.parse::<FileId>();
            ids.push(id.map_err(|error| refused(format!("fileIds: {error}.")))?);
        }
        let names = settings.names.map(Texts::all).unwrap_or_default();
        let mut absent = 0_u64;
        for wanted in &names {
            let found = self.named(context, &name, wanted).await?;
            absent += u64::from(found.is_empty());
            ids.extend(found.iter().map(|file| file.id));
        }
        if ids.is_empty() && names.is_empty() {
            return Err(refused("`fileIds` or `names` must say which files are deleted."));
        }
        ids.sort_unstable();
        ids.dedup();
        let mut deleted = 0_u64;
        for id in ids {
            match self.remove(context, &name, id).await? {
                true => deleted += 1,
                false => absent += 1,
            }
        }
        // A file that is not there, and one of a database that is not there, are the same to a deletion.
        if absent > 0 && names.is_empty() {
            self.look_up(context, &name).await?;
        }
        Ok(Map::from_iter([
            ("deleted".to_owned(), Value::from(deleted)),
            ("absent".to_owned(), Value::from(absent)),
        ]))
    }

    /// Fails where there is no database of a name, as far as the person may list its files.
    async fn look_up(&self, context: &RequestContext, name: &DatabaseName) -> Result<(), ServiceFault> {
        let place = Within::of(name.clone());
        let Ok(authorized) = context.snapshot().authorize_list_within::<DocumentList>(place) else {
            return Ok(());
        };
        let page = PageRequest { limit: 1, cursor: None };
        let found = self.ports.files.list(&authorized, context, &FileFilter::default(), &page).await;
        found.map(|_| ()).map_err(|error| absent(name.as_str(), error))
    }

    /// Deletes a file; false where it never was.
    async fn remove(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        id: FileId,
    ) -> Result<bool, ServiceFault> {
        let place = Within::of(name.clone());
        let authorized = context.snapshot().authorize_one::<DocumentDelete>(id, place).map_err(denied)?;
        let details = json!({ "vectorDatabase": name.as_str() });
        let journal = self.journal(context, "document.deleted", Some(id.to_string()), details);
        match self.ports.files.delete(&authorized, context, None, &journal).await {
            Ok(()) => Ok(true),
            Err(UseCaseError::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Files of a database that have a name, among those that the person may see.
    async fn named(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        wanted: &str,
    ) -> Result<Vec<File>, ServiceFault> {
        let place = Within::of(name.clone());
        let authorized = context.snapshot().authorize_list_within::<DocumentList>(place).map_err(denied)?;
        let filter = FileFilter { name: Some(wanted.to_owned()), ..FileFilter::default() };
        let mut page = PageRequest { limit: PAGE, cursor: None };
        let mut all = Vec::new();
        loop {
            let found = self.ports.files.list(&authorized, context, &filter, &page).await;
            let found = found.map_err(|error| absent(name.as_str(), error))?;
            all.extend(found.items);
            match found.next {
                Some(next) => page.cursor = Some(next),
                None => return Ok(all),
            }
        }
    }

    /// Journal of a change in somebody's name.
    fn journal(
        &self,
        context: &RequestContext,
        action: &str,
        document: Option<String>,
        details: Value,
    ) -> Journal {
        let audit = AuditEntry {
            id: EventId(self.ports.ids.next(context.now())),
            tenant: Some(context.tenant()),
            at: context.now(),
            actor: Actor { id: Some(context.user_id().to_string()), ..Actor::system("workflow") },
            action: action.to_owned(),
            resource_type: "document".to_owned(),
            resource_id: document,
            target: None,
            outcome: Outcome::Succeeded,
            request_id: context.request_id().as_str().to_owned(),
            client_ip: None,
            details,
        };
        Journal { audit: Some(audit), ..Journal::default() }
    }
}

/// An item with what is known of it before anything is written.
struct Prepared {
    item: Item,
    create: AuthorizedKindWithin<DocumentCreate>,
    bytes: Bytes,
    sha256: String,
    /// Files of its name.
    before: Vec<File>,
}

/// A fault that says which item it is of.
fn within(place: &str, fault: ServiceFault) -> ServiceFault {
    let told = |message: String| format!("{place}: {message}");
    match fault {
        ServiceFault::Again { message, after } => ServiceFault::Again { message: told(message), after },
        ServiceFault::Unfit { message } => ServiceFault::Unfit { message: told(message) },
        ServiceFault::Refused { message } if message.starts_with("database: ") => refused(message),
        ServiceFault::Refused { message } => refused(told(message)),
        ServiceFault::Error { code, message, variables } => {
            ServiceFault::Error { code, message: told(message), variables }
        }
    }
}

/// Whether there is nothing to be found of a file unless it is read anew.
const fn is_lost(state: FileState) -> bool {
    match state {
        FileState::Failed | FileState::Cancelled => true,
        FileState::Queued | FileState::Running | FileState::Ready => false,
    }
}

/// Whether a file is not read anew alone because its database is indexed anew with all of them.
fn is_reindexed(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.reason == "reindexRunning")
}

/// The refusal of a content that is there already.
fn not_unique(error: &UseCaseError) -> Option<&Problem> {
    let UseCaseError::Conflict(problems) = error else { return None };
    problems.iter().find(|problem| problem.reason == "notUnique")
}

/// Id of the file that a refusal names.
fn id_of(problem: &Problem) -> Option<&str> {
    problem.extra.get("fileId").and_then(Value::as_str)
}

/// The fault of an item whose content another file has, which stays as it is.
fn elsewhere(problem: &Problem, name: Option<&str>) -> ServiceFault {
    let id = id_of(problem);
    let message = match (name, id) {
        (Some(name), Some(id)) => format!("the file `{name}` with the id `{id}` has this content already."),
        (None, Some(id)) => format!("the file with the id `{id}` has this content already."),
        (_, None) => "another file has this content already.".to_owned(),
    };
    let told = [("fileId", id), ("fileName", name)];
    let told = told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
    ServiceFault::Error { code: "notUnique".to_owned(), message, variables: told.collect() }
}

/// A failure that says which database there is not.
fn absent(database: &str, error: UseCaseError) -> ServiceFault {
    match error {
        UseCaseError::NotFound => refused(format!("database: there is no vector database `{database}`.")),
        other => other.into(),
    }
}

fn denied(_: DenialError) -> ServiceFault {
    refused("The person in whose name the node works may not do this.")
}

fn answered(answer: &Answer) -> Map<String, Value> {
    Map::from_iter([
        ("passages".to_owned(), answer.passages.iter().map(passage).collect()),
        ("mode".to_owned(), answer.mode.as_str().into()),
        ("embeddingModelId".to_owned(), answer.model.clone().into()),
        ("degraded".to_owned(), answer.degraded.clone().into()),
    ])
}

fn passage(one: &Cited) -> Value {
    let (found, passage) = (&one.found, &one.found.passage);
    json!({
        "id": passage.id.to_string(),
        "score": one.score,
        "scores": {
            "semantic": one.scores.semantic, "keyword": one.scores.keyword, "rerank": one.scores.rerank,
            "rank": one.rank,
        },
        "text": one.text(),
        "fileId": passage.file.to_string(),
        "fileName": found.file_name,
        "title": found.title,
        "metadata": found.metadata,
        "locator": passage.locator,
        "citation": one.label,
        "neighbours": one.neighbours.iter().map(|(offset, own)| json!({
            "offset": offset, "text": own.text, "locator": own.locator,
        })).collect::<Vec<_>>(),
    })
}

#[async_trait]
impl ServiceWork for VectorNodes {
    fn kinds(&self) -> &'static [&'static str] {
        &["vector.query", "vector.upsert", "vector.delete"]
    }

    async fn call(&self, call: &ServiceCall) -> ServiceEnd {
        self.done(call).await.into()
    }
}

impl VectorNodes {
    async fn done(&self, call: &ServiceCall) -> Result<Map<String, Value>, ServiceFault> {
        let (context, arguments) = (call.person()?, &call.job.arguments);
        match call.job.kind.as_str() {
            "vector.query" => self.query(context, read(arguments, OF_QUERIES)?).await,
            "vector.upsert" => self.upsert(context, read(arguments, &[])?).await,
            "vector.delete" => self.delete(context, read(arguments, &["fileIds", "names"])?).await,
            other => Err(refused(format!("`{other}` is no kind of vector databases."))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_that_another_file_has_is_told_with_it() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let refused = |problem: Problem| UseCaseError::Conflict(vec![problem]);
        let told = |error: &UseCaseError, name| {
            let ServiceFault::Error { code, message, variables } =
                elsewhere(not_unique(error).unwrap(), name)
            else {
                panic!("it can not be caught")
            };
            assert_eq!(code, "notUnique");
            (message, Value::Object(variables))
        };
        let seen = refused(Problem::at("files[0]", "notUnique", "there").with("fileId", id));
        let (message, variables) = told(&seen, Some("a.txt"));
        assert!(message.contains(id) && message.contains("a.txt"), "{message}");
        assert_eq!(variables, json!({ "fileId": id, "fileName": "a.txt" }));
        let hidden = refused(Problem::at("files[0]", "notUnique", "there"));
        assert_eq!(told(&hidden, None).1, json!({}));
        assert!(not_unique(&UseCaseError::conflict("reindexRunning", "x")).is_none());
    }
}

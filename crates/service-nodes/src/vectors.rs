//! `vector.query`, `vector.upsert` and `vector.delete`: what a database knows, and what it is to know.

use std::sync::Arc;

use async_trait::async_trait;
use heddle_execution::ports::{Notifier, ServiceCall, ServiceEnd, ServiceFault, ServiceWork};
use heddle_kernel::{DatabaseName, EventId, FileId, IdSource, PageRequest, Patch};
use heddle_policy::capability::{
    DocumentCreate, DocumentDelete, DocumentList, DocumentUpdate, VectorDatabaseQuery,
};
use heddle_policy::resource::Within;
use heddle_policy::{DenialError, RequestContext};
use heddle_usecase::{Actor, AuditEntry, Journal, Outcome, UseCaseError};
use heddle_vectors::ports::{Blobs, FileFilter};
use heddle_vectors::records::{File, QueryMode};
use heddle_vectors::{
    Answer, Cited, FilePatch, NewFile, Query, Rerank, UploadBounds, Uploaded, VectorFiles, VectorQueries,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arguments::{Texts, content, database, read, refused};
use crate::documents::unkept;

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
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QuerySettings {
    database: String,
    query: String,
    limit: Option<u32>,
    mode: Option<String>,
    filter: Option<Value>,
    min_score: Option<f64>,
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
            rerank: settings
                .rerank
                .map(|own| Rerank { deployment: own.deployment, candidates: own.candidates }),
            neighbours: settings.include_neighbours.unwrap_or(0),
            allow_degraded: settings.allow_degraded,
            ..Query::default()
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
        let mut done = Vec::with_capacity(settings.items.len());
        for item in settings.items {
            let file_name = item.name.clone();
            let (file, fate) = self.put(context, &name, item).await?;
            done.push((file, file_name, fate));
        }
        let count = |fate: Fate| Value::from(done.iter().filter(|(.., own)| *own == fate).count());
        let fates = [Fate::Added, Fate::Replaced, Fate::Updated, Fate::Unchanged];
        let mut given: Map<String, Value> =
            fates.into_iter().map(|fate| (fate.word().to_owned(), count(fate))).collect();
        let file = |(id, name, fate): &(FileId, String, Fate)| json!({ "fileId": id.to_string(), "name": name, "outcome": fate.word() });
        given.insert("files".to_owned(), done.iter().map(file).collect());
        Ok(given)
    }

    /// Puts one item in: a new file in the place of those of its name, or nothing where its content is there already.
    async fn put(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        item: Item,
    ) -> Result<(FileId, Fate), ServiceFault> {
        let place = Within::of(name.clone());
        let authorized = context.snapshot().authorize_kind_within::<DocumentCreate>(place).map_err(denied)?;
        let bytes = content(item.text, item.content_base64.as_deref())?;
        let patch = FilePatch {
            title: item.title.clone().map_or(Patch::Absent, Patch::Value),
            metadata: item.metadata.clone().map_or(Patch::Absent, Patch::Value),
            ..FilePatch::default()
        };
        let before = self.named(context, name, &item.name).await?;
        let stream = Box::pin(futures::stream::iter([Ok(bytes)]));
        let put = self.ports.blobs.put(context.tenant(), self.ports.bounds.file_bytes, stream).await;
        let new = NewFile {
            name: item.name,
            media_type: item.media_type,
            title: item.title,
            metadata: item.metadata.unwrap_or_default(),
            blob: put.map_err(unkept)?,
        };
        let record = |made: &Uploaded| {
            let ids: Vec<String> = made.files.iter().map(|file| file.id.to_string()).collect();
            let details = json!({ "vectorDatabase": name.as_str(), "jobId": made.job.id.to_string() });
            self.journal(context, "document.uploaded", ids.first().cloned(), details)
        };
        match self.ports.files.upload(&authorized, context, vec![new], &record).await {
            Ok(made) => {
                self.ports.bell.errand_asked();
                let Some(file) = made.files.first() else {
                    return Err(refused("The upload was taken without a file."));
                };
                for old in &before {
                    self.remove(context, name, old.id).await?;
                }
                Ok((file.id, if before.is_empty() { Fate::Added } else { Fate::Replaced }))
            }
            Err(error) => match there(&error) {
                Some(id) => {
                    let described = self.describe(context, name, id, patch).await?;
                    // An attempt before this one may have ended between its upload and what that takes the place of.
                    let is_ours = before.iter().any(|file| file.id == id);
                    for old in before.iter().filter(|old| is_ours && old.id != id) {
                        self.remove(context, name, old.id).await?;
                    }
                    Ok(described)
                }
                None => Err(absent(name.as_str(), error)),
            },
        }
    }

    /// Gives a file that is there the title and the metadata of an item, where it has others.
    async fn describe(
        &self,
        context: &RequestContext,
        name: &DatabaseName,
        id: FileId,
        patch: FilePatch,
    ) -> Result<(FileId, Fate), ServiceFault> {
        if patch.title == Patch::Absent && patch.metadata == Patch::Absent {
            return Ok((id, Fate::Unchanged));
        }
        let place = Within::of(name.clone());
        let authorized = context.snapshot().authorize_one::<DocumentUpdate>(id, place).map_err(denied)?;
        let changed = std::sync::atomic::AtomicBool::new(false);
        let record = |file: &File| {
            changed.store(true, std::sync::atomic::Ordering::Relaxed);
            let details = json!({ "vectorDatabase": name.as_str() });
            self.journal(context, "document.updated", Some(file.id.to_string()), details)
        };
        self.ports.files.update(&authorized, context, patch, &record).await?;
        let fate = if changed.into_inner() { Fate::Updated } else { Fate::Unchanged };
        Ok((id, fate))
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

/// The file that has the content of one that was refused for it.
fn there(error: &UseCaseError) -> Option<FileId> {
    let UseCaseError::Conflict(problems) = error else { return None };
    let same = problems.iter().find(|problem| problem.reason == "notUnique")?;
    same.extra.get("fileId")?.as_str()?.parse().ok()
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
            "vector.query" => self.query(context, read(arguments)?).await,
            "vector.upsert" => self.upsert(context, read(arguments)?).await,
            "vector.delete" => self.delete(context, read(arguments)?).await,
            other => Err(refused(format!("`{other}` is no kind of vector databases."))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_usecase::Problem;

    #[test]
    fn a_content_that_is_there_is_found_by_what_the_refusal_says() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        let problem = Problem::at("files[0]", "notUnique", "there").with("fileId", id);
        assert_eq!(there(&UseCaseError::Conflict(vec![problem])).unwrap().to_string(), id);
        assert!(there(&UseCaseError::conflict("reindexRunning", "x")).is_none());
    }
}

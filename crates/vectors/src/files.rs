//! Files: upload policy, list, upload, change, delete.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use heddle_kernel::{
    BuildId, DatabaseName, FileId, IdSource, IngestionJobId, Page, PageRequest, Patch, Revision,
};
use heddle_policy::capability::{
    DocumentCreate, DocumentDelete, DocumentList, DocumentUpdate, UploadPolicyRead,
};
use heddle_policy::{Authorized, AuthorizedKindWithin, AuthorizedList, AuthorizedListWithin, RequestContext};
use heddle_usecase::{Journal, JournalFor, StoreError, check_revision, has_hidden};
use serde_json::{Map, Value};

use crate::bounds::{QuotaSource, UploadBounds, UploadPolicy};
use crate::databases::new_job;
use crate::metadata::{check, values_of};
use crate::ports::{
    Blobs, Chunker, Extractor, FieldValue, FileFilter, FilePatchWrite, FileUpload, Reprocess, StoredBlob,
    UploadType, VectorStore,
};
use crate::query::denied;
use crate::records::{
    Build, BuildState, Chunking, File, FileOptions, FileProgress, FileState, Job, JobKind, Stage,
    VectorDatabase,
};
use crate::{Problem, Problems, UseCaseError};

/// The most characters of a file's name.
const NAME: usize = 255;
/// The most characters of a title.
const TITLE: usize = 500;

/// A file whose bytes are kept already.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// Name with its ending, without folders.
    pub name: String,
    /// Media type; told by the ending where none is given.
    pub media_type: Option<String>,
    /// Title for citations.
    pub title: Option<String>,
    /// Metadata.
    pub metadata: Map<String, Value>,
    /// Bytes of the file, which are kept already.
    pub blob: StoredBlob,
}

/// A change of a file; what is absent stays.
#[derive(Debug, Clone, Default)]
pub struct FilePatch {
    /// Another title; null takes it away.
    pub title: Patch<String>,
    /// Other metadata, all of it; null takes it away.
    pub metadata: Patch<Map<String, Value>>,
    /// Whether its passages can be found.
    pub enabled: Option<bool>,
    /// Whether its passages are made anew; those that other options make are.
    pub reprocess: Option<bool>,
    /// Options of the methodology for this file alone, or null for those of the database; its passages are made anew.
    pub options: Patch<Map<String, Value>>,
    /// The revision that the caller saw.
    pub revision: Option<Revision>,
}

/// An upload that was taken.
#[derive(Debug, Clone)]
pub struct Uploaded {
    /// The job.
    pub job: Job,
    /// The files.
    pub files: Vec<File>,
}

/// Ports of the use cases of files.
#[derive(Clone)]
pub struct FilePorts {
    /// Rows.
    pub store: Arc<dyn VectorStore>,
    /// Bytes.
    pub blobs: Arc<dyn Blobs>,
    /// Types that are read.
    pub extractor: Arc<dyn Extractor>,
    /// Options of methodologies.
    pub chunker: Arc<dyn Chunker>,
    /// Quotas.
    pub quotas: Arc<dyn QuotaSource>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for FilePorts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilePorts").finish_non_exhaustive()
    }
}

/// The use cases of files.
pub struct VectorFiles {
    ports: FilePorts,
    bounds: UploadBounds,
}

impl std::fmt::Debug for VectorFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VectorFiles").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

impl VectorFiles {
    /// Builds the use cases on their ports.
    #[must_use]
    pub const fn new(ports: FilePorts, bounds: UploadBounds) -> Self {
        Self { ports, bounds }
    }

    /// The limits of an upload, with what is used of them.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn policy(
        &self,
        _: &AuthorizedList<UploadPolicyRead>,
        context: &RequestContext,
    ) -> Result<UploadPolicy, UseCaseError> {
        self.limits(context).await
    }

    /// The limits that the next upload is held to; asked for before its bytes are read.
    ///
    /// # Errors
    /// `NotFound` when there is no such database; `Unavailable`.
    pub async fn before_upload(
        &self,
        authorized: &AuthorizedKindWithin<DocumentCreate>,
        context: &RequestContext,
    ) -> Result<UploadPolicy, UseCaseError> {
        self.ports.store.database(context.tenant(), &authorized.place().id()).await?;
        self.limits(context).await
    }

    async fn limits(&self, context: &RequestContext) -> Result<UploadPolicy, UseCaseError> {
        Ok(UploadPolicy {
            bounds: self.bounds,
            types: self.ports.extractor.types(),
            pages: self.ports.extractor.most_pages(),
            quotas: self.ports.quotas.quotas(context.tenant()),
            usage: self.ports.store.usage(context.tenant()).await?,
        })
    }

    /// A page of the files of a database within reach.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a foreign cursor; `Unavailable`.
    pub async fn list(
        &self,
        authorized: &AuthorizedListWithin<DocumentList>,
        context: &RequestContext,
        filter: &FileFilter,
        page: &PageRequest,
    ) -> Result<Page<File>, UseCaseError> {
        let database = self.ports.store.database(context.tenant(), &authorized.place().id()).await?;
        Ok(self.ports.store.list_files(&database, filter, authorized.filter(), page).await?)
    }

    /// The database of a list of files: for its declared metadata, which filters name.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`.
    pub async fn database_of_list(
        &self,
        authorized: &AuthorizedListWithin<DocumentList>,
        context: &RequestContext,
    ) -> Result<VectorDatabase, UseCaseError> {
        Ok(self.ports.store.database(context.tenant(), &authorized.place().id()).await?)
    }

    /// Takes files whose bytes are kept: all or none. When it fails, their bytes are removed.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` with every member that breaks a rule (`unsupportedType`, ...); `Conflict` (`notUnique` with
    /// the `fileId` that has the same content, `quotaExceeded`); `QueueFull`; `Unavailable`.
    pub async fn upload(
        &self,
        authorized: &AuthorizedKindWithin<DocumentCreate>,
        context: &RequestContext,
        new: Vec<NewFile>,
        record: &JournalFor<'_, Uploaded>,
    ) -> Result<Uploaded, UseCaseError> {
        let keys: Vec<String> = new.iter().map(|file| file.blob.key.clone()).collect();
        let taken = self.take(&authorized.place().id(), context, new, record).await;
        let surplus = match &taken {
            Ok((_, surplus)) => surplus.clone(),
            Err(_) => keys,
        };
        for key in surplus {
            if let Err(error) = self.ports.blobs.delete(context.tenant(), &key).await {
                // The sweep takes it later.
                tracing::debug!(%error, "bytes of an upload that nobody needs are not removed yet");
            }
        }
        taken.map(|(uploaded, _)| uploaded)
    }

    async fn take(
        &self,
        name: &DatabaseName,
        context: &RequestContext,
        new: Vec<NewFile>,
        record: &JournalFor<'_, Uploaded>,
    ) -> Result<(Uploaded, Vec<String>), UseCaseError> {
        let (tenant, now) = (context.tenant(), context.now());
        let database = self.ports.store.database(tenant, name).await?;
        let types = self.ports.extractor.types();
        self.check_all(&database, &new, &types)?;
        let quotas = self.ports.quotas.quotas(tenant);
        if let Some(most) = quotas.waiting {
            let waiting = self.ports.store.usage(tenant).await?.waiting;
            if waiting.saturating_add(new.len() as u64) > most {
                return Err(UseCaseError::QueueFull { limit: "vectors.waitingFiles" });
            }
        }
        self.check_new(context, &database, &new).await?;
        let job_id = IngestionJobId(self.ports.ids.next(now));
        let mut job = new_job(&database, job_id, JobKind::Upload, context);
        let files: Vec<File> =
            new.into_iter().map(|file| self.file(&database, file, &types, job_id, context)).collect();
        // While another generation is built, a file is made for that once it can be found in the one that serves.
        let build = |file: &File| self.build(&database, file, job_id, database.generation, context);
        let builds: Vec<Build> = files.iter().map(build).collect();
        job.files.total = files.len() as u64;
        job.files.queued = job.files.total;
        job.bytes = files.iter().map(|file| file.bytes).sum();
        let fields: Vec<Vec<(String, FieldValue)>> = files.iter().map(fields_of).collect();
        let uploaded = Uploaded { job, files };
        let journal = record(&uploaded);
        let upload = FileUpload {
            database: database.id,
            files: &uploaded.files,
            job: &uploaded.job,
            builds: &builds,
            quotas,
        };
        let surplus = self.ports.store.insert_files(upload, &fields, &journal).await;
        let surplus = match surplus {
            Err(StoreError::Duplicate(columns)) if columns.contains("sha256") => {
                let there: Vec<(String, String)> =
                    uploaded.files.iter().map(|file| (file.sha256.clone(), file.name.clone())).collect();
                self.duplicate(context, &database, &there).await?;
                let message = "The database has a file of this content.";
                return Err(UseCaseError::not_unique("files", message));
            }
            other => other?,
        };
        Ok((uploaded, surplus))
    }

    /// Changes what the patch names. Metadata and `enabled` act from the next query on; what is found of a file that is made
    /// anew is found until that is done.
    ///
    /// # Errors
    /// `NotFound`; `Invalid`; `Conflict` (`revisionMismatch`, `stillRunning`, `reindexRunning`); `Unavailable`.
    pub async fn update(
        &self,
        authorized: &Authorized<DocumentUpdate>,
        context: &RequestContext,
        patch: FilePatch,
        record: &JournalFor<'_, File>,
    ) -> Result<File, UseCaseError> {
        let (tenant, name) = (context.tenant(), authorized.key().within());
        let database = self.ports.store.database(tenant, &name).await?;
        let before = self.ports.store.file(tenant, &name, authorized.id()).await?;
        // Of what is not to be seen nothing is shown by a change either.
        if denied(context, &database).has(before.id) {
            return Err(UseCaseError::NotFound);
        }
        check_revision(patch.revision, before.revision)?;
        let other_options = match &patch.options {
            Patch::Absent => false,
            Patch::Null => before.options.is_some(),
            Patch::Value(_) => true,
        };
        if other_options && patch.reprocess == Some(false) {
            let message = "Other options take effect by reading the file anew.";
            return Err(UseCaseError::invalid("reprocess", "contradiction", message));
        }
        let anew = other_options || patch.reprocess == Some(true);
        let names_title = !matches!(patch.title, Patch::Absent);
        let names_options = !matches!(patch.options, Patch::Absent);
        let mut after = before.clone();
        self.apply(&database, &mut after, patch)?;
        if anew {
            may_reprocess(&database, &before)?;
        } else if after == before {
            return Ok(before);
        }
        after.revision = before.revision.next();
        after.updated_at = context.now();
        let mut work = None;
        if anew {
            let id = IngestionJobId(self.ports.ids.next(context.now()));
            let mut job = new_job(&database, id, JobKind::Reprocess, context);
            job.files.total = 1;
            job.files.queued = 1;
            job.bytes = after.bytes;
            after.job = id;
            after.state = FileState::Queued;
            after.stage = Stage::Queued;
            after.error = None;
            after.progress = FileProgress::default();
            after.generation += 1;
            work = Some((job, self.build(&database, &after, id, database.generation, context)));
        }
        let journal = record(&after).changing(Some(&before), Some(&after));
        let fields = fields_of(&after);
        let reprocess = work.as_ref().map(|(job, build)| Reprocess { job, build });
        let write = FilePatchWrite { file: &after, names_title, names_options, fields: &fields, reprocess };
        self.ports.store.update_file(write, before.revision, &journal).await?;
        Ok(after)
    }

    /// Deletes a file: from then on no passage of it is answered. What works on it is cancelled.
    ///
    /// # Errors
    /// `NotFound` when it never was; `Conflict` (`revisionMismatch`) when the caller saw another revision; `Unavailable`.
    pub async fn delete(
        &self,
        authorized: &Authorized<DocumentDelete>,
        context: &RequestContext,
        expected: Option<Revision>,
        journal: &Journal,
    ) -> Result<(), UseCaseError> {
        let (tenant, name, id) = (context.tenant(), authorized.key().within(), authorized.id());
        let found = self.ports.store.file(tenant, &name, id).await;
        if let Ok(present) = &found {
            check_revision(expected, present.revision)?;
        }
        let journal = journal.deleting(found)?;
        self.ports.store.delete_file(tenant, &name, id, expected, &journal).await?;
        Ok(())
    }

    fn apply(
        &self,
        database: &VectorDatabase,
        file: &mut File,
        patch: FilePatch,
    ) -> Result<(), UseCaseError> {
        let mut problems = Problems::default();
        file.title = patch.title.apply_to(file.title.take());
        check_title(&mut problems, "title", file.title.as_deref());
        match patch.metadata {
            Patch::Absent => {}
            Patch::Null => file.metadata = Map::new(),
            Patch::Value(metadata) => {
                check(&mut problems, "metadata", &metadata, &database.schema, self.bounds.metadata_bytes);
                file.metadata = metadata;
            }
        }
        file.enabled = patch.enabled.unwrap_or(file.enabled);
        match patch.options {
            Patch::Absent => {}
            Patch::Null => file.options = None,
            Patch::Value(options) => match self.ports.chunker.check(&database.recipe.chunking.id, &options) {
                Ok(Chunking { id, options }) => {
                    file.options = Some(FileOptions { methodology: Some(id), options });
                }
                Err(faults) => {
                    for fault in faults {
                        let path = format!("methodologyOptions.{}", fault.path);
                        problems.add(path.trim_end_matches('.'), fault.reason, fault.message);
                    }
                }
            },
        }
        problems.finish()
    }

    fn check_all(
        &self,
        database: &VectorDatabase,
        new: &[NewFile],
        types: &[UploadType],
    ) -> Result<(), UseCaseError> {
        let mut problems = Problems::default();
        let most = self.bounds.files as usize;
        if new.is_empty() || new.len() > most {
            problems.add("files", "outOfRange", format!("1 to {most} files."));
        }
        for (place, file) in new.iter().enumerate() {
            let path = format!("files[{place}]");
            check_name(&mut problems, &format!("{path}.name"), &file.name);
            check_title(&mut problems, &format!("{path}.title"), file.title.as_deref());
            let metadata = format!("{path}.metadata");
            check(&mut problems, &metadata, &file.metadata, &database.schema, self.bounds.metadata_bytes);
            if file.blob.bytes > self.bounds.file_bytes {
                let message = format!("At most {} bytes.", self.bounds.file_bytes);
                problems.add(&path, "tooLong", message);
            }
            if file.blob.bytes == 0 {
                problems.add(&path, "tooShort", "The file is empty.");
            }
            if let Err((member, message)) = type_of(&*self.ports.extractor, types, file) {
                problems.add(&format!("{path}.{member}"), "unsupportedType", message);
            }
        }
        problems.finish()
    }

    /// Checks that no content is there, or comes twice.
    async fn check_new(
        &self,
        context: &RequestContext,
        database: &VectorDatabase,
        new: &[NewFile],
    ) -> Result<(), UseCaseError> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (place, file) in new.iter().enumerate() {
            if let Some(first) = seen.insert(&file.blob.sha256, place) {
                let message = format!("The same content as files[{first}].");
                let problem = Problem::at(format!("files[{place}]"), "notUnique", message);
                return Err(UseCaseError::Conflict(vec![problem]));
            }
        }
        let contents: Vec<_> = new.iter().map(|file| (file.blob.sha256.clone(), file.name.clone())).collect();
        self.duplicate(context, database, &contents).await
    }

    /// Refuses contents that the database has, with the files that have them as far as the caller may see these.
    async fn duplicate(
        &self,
        context: &RequestContext,
        database: &VectorDatabase,
        contents: &[(String, String)],
    ) -> Result<(), UseCaseError> {
        let digests: Vec<String> = contents.iter().map(|(sha256, _)| sha256.clone()).collect();
        let there = self.ports.store.same_content(database.tenant, database.id, &digests).await?;
        let denied = denied(context, database);
        let problem = |(place, (sha256, name)): (usize, &(String, String))| {
            let (_, file) = there.iter().find(|(known, _)| known == sha256)?;
            let message = format!("The database has the content of `{name}` already.");
            let problem = Problem::at(format!("files[{place}]"), "notUnique", message);
            Some(if denied.has(*file) { problem } else { problem.with("fileId", file.to_string()) })
        };
        let problems: Vec<_> = contents.iter().enumerate().filter_map(problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(UseCaseError::Conflict(problems)) }
    }

    fn file(
        &self,
        database: &VectorDatabase,
        new: NewFile,
        types: &[UploadType],
        job: IngestionJobId,
        context: &RequestContext,
    ) -> File {
        // It was checked with all others before.
        let TypeOf { media_type, charset } = type_of(&*self.ports.extractor, types, &new).unwrap_or_default();
        File {
            tenant: database.tenant,
            database: database.id,
            database_name: database.name.clone(),
            id: FileId(self.ports.ids.next(context.now())),
            name: new.name,
            title: new.title,
            media_type,
            charset,
            bytes: new.blob.bytes,
            sha256: new.blob.sha256,
            blob: new.blob.key,
            state: FileState::Queued,
            stage: Stage::Queued,
            progress: FileProgress::default(),
            passages: 0,
            language: None,
            metadata: new.metadata,
            enabled: true,
            options: None,
            error: None,
            warnings: Vec::new(),
            job,
            generation: 1,
            revision: Revision::FIRST,
            created_at: context.now(),
            created_by: context.user_id(),
            updated_at: context.now(),
            indexed_at: None,
        }
    }

    fn build(
        &self,
        database: &VectorDatabase,
        file: &File,
        job: IngestionJobId,
        generation: i64,
        context: &RequestContext,
    ) -> Build {
        Build {
            tenant: database.tenant,
            id: BuildId(self.ports.ids.next(context.now())),
            database: database.id,
            database_name: database.name.clone(),
            file: file.id,
            job,
            generation,
            state: BuildState::Queued,
            stage: Stage::Queued,
            passages: None,
            done: 0,
            cut: None,
            error: None,
            created_at: context.now(),
        }
    }
}

fn may_reprocess(database: &VectorDatabase, file: &File) -> Result<(), UseCaseError> {
    if database.next.is_some() {
        let message = "The database is being indexed anew, and this file with it.";
        return Err(UseCaseError::conflict("reindexRunning", message));
    }
    match file.state {
        FileState::Queued | FileState::Running => {
            let message = "A job works on the file; cancel it, or wait for its end.";
            let problem = Problem::new("stillRunning", message).with("jobId", file.job.to_string());
            Err(UseCaseError::Conflict(vec![problem]))
        }
        FileState::Ready | FileState::Failed | FileState::Cancelled => Ok(()),
    }
}

/// Values by which filters find a file.
fn fields_of(file: &File) -> Vec<(String, FieldValue)> {
    let mut fields = values_of(&file.metadata);
    fields.push(("mediaType".to_owned(), FieldValue::Text(file.media_type.clone())));
    fields.push(("createdAt".to_owned(), FieldValue::Instant(file.created_at)));
    fields.push(("fileId".to_owned(), FieldValue::Text(file.id.to_string())));
    fields
}

fn check_name(problems: &mut Problems, path: &str, name: &str) {
    let count = name.chars().count();
    if !(1..=NAME).contains(&count) {
        problems.add(path, "outOfRange", format!("1 to {NAME} characters."));
    } else if name.trim() != name
        || has_hidden(name)
        || name.contains(['/', '\\'])
        || matches!(name, "." | "..")
    {
        problems.add(path, "wrongFormat", "A name without folders and hidden characters.");
    }
}

fn check_title(problems: &mut Problems, path: &str, title: Option<&str>) {
    if let Some(title) = title {
        heddle_usecase::name(problems, path, title, TITLE);
    }
}

/// Types that an ending names.
fn named<'a>(types: &'a [UploadType], name: &str) -> Vec<&'a UploadType> {
    let Some((_, extension)) = name.rsplit_once('.') else { return Vec::new() };
    let extension = extension.to_lowercase();
    types.iter().filter(|one| one.extensions.contains(&extension)).collect()
}

/// The member by which a file is of no type that is read, and why.
fn not_read(types: &[UploadType], file: &NewFile) -> (&'static str, String) {
    let of_ending = named(types, &file.name);
    if of_ending.is_empty() {
        let endings: BTreeSet<&str> =
            types.iter().flat_map(|one| &one.extensions).map(String::as_str).collect();
        let endings: Vec<&str> = endings.into_iter().collect();
        return ("name", format!("The ending is none of those that are read: {}.", endings.join(", ")));
    }
    let media: Vec<&str> = of_ending.iter().map(|one| one.media_type.as_str()).collect();
    ("mediaType", format!("By its ending the file is {}, and another type is declared.", media.join(" or ")))
}

/// Type by which a file is read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct TypeOf {
    media_type: String,
    charset: Option<String>,
}

/// Type of a file: that which its ending names, when the declared one is that, says nothing, or is one that clients give to
/// such files; that which is declared, when the ending names none. Otherwise the member that is wrong, and why.
fn type_of(
    extractor: &dyn Extractor,
    types: &[UploadType],
    file: &NewFile,
) -> Result<TypeOf, (&'static str, String)> {
    let declared = file.media_type.as_deref().unwrap_or_default();
    let mut parts = declared.split(';').map(str::trim);
    let bare = parts.next().unwrap_or_default().to_lowercase();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches('"').to_lowercase();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    });
    let named = named(types, &file.name);
    let found = if bare.is_empty() || bare == "application/octet-stream" {
        named.first().copied()
    } else {
        let is_declared = |one: &&UploadType| one.media_type == bare;
        let exact = named.iter().copied().find(is_declared);
        exact.or_else(|| {
            let read = extractor.reads(&file.name, &bare);
            read.then(|| named.first().copied().or_else(|| types.iter().find(is_declared))).flatten()
        })
    };
    let Some(found) = found else { return Err(not_read(types, file)) };
    // What is no text has none, whatever is said of it (`charset=binary`).
    let is_text = found.media_type.starts_with("text/") || found.media_type.contains("json");
    let charset = charset.filter(|_| is_text);
    if let Some(charset) = charset.as_deref().filter(|charset| !extractor.knows_charset(charset)) {
        return Err(("mediaType", format!("There is no charset `{charset}`.")));
    }
    Ok(TypeOf { media_type: found.media_type.clone(), charset })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::MockExtractor;

    fn of(name: &str, media_type: Option<&str>) -> NewFile {
        NewFile {
            name: name.to_owned(),
            media_type: media_type.map(str::to_owned),
            title: None,
            metadata: Map::new(),
            blob: StoredBlob { key: "k".to_owned(), sha256: "s".to_owned(), bytes: 1 },
        }
    }

    #[test]
    fn the_ending_and_the_declared_type_must_be_of_one_type() {
        let kind = |media_type: &str, extension: &str| UploadType {
            media_type: media_type.to_owned(),
            extensions: vec![extension.to_owned()],
            parser: "p".to_owned(),
            ocr: false,
        };
        let types = [kind("application/pdf", "pdf"), kind("text/markdown", "md"), kind("text/csv", "csv")];
        let mut extractor = MockExtractor::new();
        extractor.expect_reads().returning(|name, declared| {
            matches!(
                (name, declared),
                ("a.md", "text/plain") | ("a.csv", "application/vnd.ms-excel") | ("notes", "text/markdown")
            )
        });
        extractor.expect_knows_charset().returning(|charset| charset == "windows-1252");
        let told = |name: &str, declared| {
            let found = type_of(&extractor, &types, &of(name, declared));
            found.map(|found| (found.media_type, found.charset)).map_err(|(member, _)| member)
        };
        let taken =
            |media_type: &str, charset: Option<&str>| Ok((media_type.to_owned(), charset.map(str::to_owned)));
        for (name, declared, expected) in [
            ("a.PDF", None, taken("application/pdf", None)),
            ("a.pdf", Some("application/octet-stream"), taken("application/pdf", None)),
            ("a.csv", Some("application/vnd.ms-excel"), taken("text/csv", None)),
            ("a.csv", Some("Text/CSV; charset=\"Windows-1252\""), taken("text/csv", Some("windows-1252"))),
            ("a.md", Some("text/plain; header=present; charset="), taken("text/markdown", None)),
            ("notes", Some("text/markdown"), taken("text/markdown", None)),
            ("a.pdf", Some("application/pdf; charset=binary"), taken("application/pdf", None)),
            ("a.csv", Some("text/csv;charset=klingon"), Err("mediaType")),
            ("a.pdf", Some("text/markdown"), Err("mediaType")),
            ("a.exe", None, Err("name")),
            ("a.exe", Some("text/csv"), Err("name")),
            ("pdf", None, Err("name")),
        ] {
            assert_eq!(told(name, declared), expected, "{name} {declared:?}");
        }
    }

    #[test]
    fn a_name_has_no_folders() {
        for name in ["..", "a/b.txt", "..\\b.txt", "", " a.txt", "a\u{202E}txt.exe"] {
            let mut problems = Problems::default();
            check_name(&mut problems, "name", name);
            assert!(problems.finish().is_err(), "{name}");
        }
        let mut problems = Problems::default();
        check_name(&mut problems, "name", "Bericht (2024) – Entwurf.pdf");
        assert!(problems.finish().is_ok());
    }
}

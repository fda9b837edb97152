//! Conversions of rows to and from records.

use heddle_kernel::{DatabaseName, Revision, Timestamp};
use heddle_store::{Error, Id, document};
use heddle_vectors::ports::Change;
use heddle_vectors::records::{
    Build, BuildState, Counts, File, FileOptions, FileProgress, Job, JobFiles, NextGeneration, Passage,
    PassageId, PassageRange, Stage, VectorDatabase,
};
use serde_json::{Map, Value};

use crate::schema::{BuildRow, ChangeRow, DatabaseRow, FileRow, JobRow, PassageRow};
use crate::stored;
use crate::words::{BackendWord, BuildWord, FileWord, JobKindWord, JobWord, StageWord, StateWord};

/// Between two texts that are searched together; no key of a keyboard, so that no search spans two texts.
const BETWEEN: char = '\u{1f}';

fn name_of(text: &str) -> Result<DatabaseName, Error> {
    DatabaseName::parse(text).map_err(|error| Error::Document(format!("the name of a database: {error}")))
}

/// A range of two columns.
pub(crate) fn range(first: Option<i64>, end: Option<i64>) -> Option<PassageRange> {
    Some(PassageRange { first: first?.unsigned_abs(), end: end?.unsigned_abs() })
}

impl TryFrom<&VectorDatabase> for DatabaseRow {
    type Error = Error;

    fn try_from(record: &VectorDatabase) -> Result<Self, Error> {
        let description = record.description.as_deref().unwrap_or_default();
        let search = format!("{}{BETWEEN}{}{BETWEEN}{description}", record.name, record.display_name);
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            name: record.name.to_string(),
            display_name: record.display_name.clone(),
            description: record.description.clone(),
            state: StateWord(record.state),
            backend: BackendWord(record.backend),
            generation: record.generation,
            recipe: document::encode(&record.recipe)?,
            next_recipe: record.next.as_ref().map(document::encode).transpose()?,
            next_generation: record.next.as_ref().map(|next| next.generation),
            last_generation: record.last_generation,
            next_passages: 0,
            metadata_schema: document::encode(&record.schema)?,
            defaults: document::encode(&record.defaults)?,
            sequence: record.sequence,
            fields_sequence: 0,
            next_passage: 1,
            files: stored(record.counts.files),
            ready_files: stored(record.counts.ready_files),
            failed_files: stored(record.counts.failed_files),
            passages: stored(record.counts.passages),
            raw_bytes: stored(record.counts.raw_bytes),
            index_bytes: stored(record.counts.index_bytes),
            revision: record.revision.0,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            updated_by: record.updated_by.into(),
            last_ingested_at: record.last_ingested_at.map(Into::into),
            search: search.to_lowercase(),
        })
    }
}

impl TryFrom<DatabaseRow> for VectorDatabase {
    type Error = Error;

    fn try_from(row: DatabaseRow) -> Result<Self, Error> {
        let next = row.next()?;
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            name: name_of(&row.name)?,
            display_name: row.display_name,
            description: row.description,
            state: row.state.0,
            backend: row.backend.0,
            generation: row.generation,
            last_generation: row.last_generation,
            recipe: document::decode(&row.recipe)?,
            next,
            schema: document::decode(&row.metadata_schema)?,
            defaults: document::decode(&row.defaults)?,
            sequence: row.sequence,
            counts: Counts {
                files: row.files.unsigned_abs(),
                ready_files: row.ready_files.unsigned_abs(),
                failed_files: row.failed_files.unsigned_abs(),
                passages: row.passages.unsigned_abs(),
                raw_bytes: row.raw_bytes.unsigned_abs(),
                index_bytes: row.index_bytes.unsigned_abs(),
            },
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            updated_by: row.updated_by.into(),
            last_ingested_at: row.last_ingested_at.map(Into::into),
        })
    }
}

impl DatabaseRow {
    /// Whether a generation serves, or is built.
    pub(crate) fn has(&self, generation: i64) -> bool {
        self.generation == generation || self.next_generation == Some(generation)
    }

    /// The generation that is built.
    pub(crate) fn next(&self) -> Result<Option<NextGeneration>, Error> {
        self.next_recipe.as_deref().map(document::decode).transpose()
    }
}

/// Texts of a file by which lists find it.
pub(crate) fn search_of(name: &str, title: &str) -> String {
    format!("{name}{BETWEEN}{title}").to_lowercase()
}

/// Omissions as a column holds them; none where nothing was left out.
pub(crate) fn warnings_of(texts: &[String]) -> Result<Option<Vec<u8>>, Error> {
    (!texts.is_empty()).then(|| document::encode(texts)).transpose()
}

impl FileRow {
    /// The row of a file, on which a build works.
    pub(crate) fn of(record: &File, build: Id) -> Result<Self, Error> {
        let title = record.title.as_deref().unwrap_or_default();
        Ok(Self {
            organization_id: record.tenant.into(),
            database_id: record.database.into(),
            id: record.id.into(),
            database_name: record.database_name.to_string(),
            name: record.name.clone(),
            title: record.title.clone(),
            media_type: record.media_type.clone(),
            bytes: stored(record.bytes),
            sha256: record.sha256.clone(),
            blob: record.blob.clone(),
            state: FileWord(record.state),
            stage: StageWord(record.stage),
            pages: record.progress.pages.map(i64::from),
            passages_done: stored(record.progress.passages_done),
            passages_total: record.progress.passages_total.map(stored),
            passages: stored(record.passages),
            language: record.language.clone(),
            metadata: document::encode(&record.metadata)?,
            enabled: record.enabled,
            options: record.options.as_ref().map(|own| document::encode(&own.options)).transpose()?,
            options_methodology: record.options.as_ref().and_then(|own| own.methodology.clone()),
            error: record.error.as_ref().map(document::encode).transpose()?,
            job_id: record.job.into(),
            build_id: build,
            generation: record.generation,
            revision: record.revision.0,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            updated_at: record.updated_at.into(),
            indexed_at: record.indexed_at.map(Into::into),
            search: search_of(&record.name, title),
            warnings: warnings_of(&record.warnings)?,
            charset: record.charset.clone(),
        })
    }
}

impl TryFrom<FileRow> for File {
    type Error = Error;

    fn try_from(row: FileRow) -> Result<Self, Error> {
        let options: Option<Map<String, Value>> = row.options.as_deref().map(document::decode).transpose()?;
        let methodology = row.options_methodology;
        Ok(Self {
            tenant: row.organization_id.into(),
            database: row.database_id.into(),
            database_name: name_of(&row.database_name)?,
            id: row.id.into(),
            name: row.name,
            title: row.title,
            media_type: row.media_type,
            charset: row.charset,
            bytes: row.bytes.unsigned_abs(),
            sha256: row.sha256,
            blob: row.blob,
            state: row.state.0,
            stage: row.stage.0,
            progress: FileProgress {
                pages: row.pages.and_then(|pages| u32::try_from(pages).ok()),
                passages_done: row.passages_done.unsigned_abs(),
                passages_total: row.passages_total.map(i64::unsigned_abs),
            },
            passages: row.passages.unsigned_abs(),
            language: row.language,
            metadata: document::decode(&row.metadata)?,
            enabled: row.enabled,
            options: options.map(|options| FileOptions { methodology, options }),
            error: row.error.as_deref().map(document::decode).transpose()?,
            warnings: row.warnings.as_deref().map(document::decode).transpose()?.unwrap_or_default(),
            job: row.job_id.into(),
            generation: row.generation,
            revision: Revision(row.revision),
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            updated_at: row.updated_at.into(),
            indexed_at: row.indexed_at.map(Into::into),
        })
    }
}

impl TryFrom<&Job> for JobRow {
    type Error = Error;

    fn try_from(record: &Job) -> Result<Self, Error> {
        Ok(Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            database_id: record.database.into(),
            database_name: record.database_name.to_string(),
            kind: JobKindWord(record.kind),
            state: JobWord(record.state),
            stage: StageWord(record.stage),
            total: stored(record.files.total),
            queued: stored(record.files.queued),
            running: stored(record.files.running),
            ready: stored(record.files.ready),
            failed: stored(record.files.failed),
            cancelled: stored(record.files.cancelled),
            passages_done: stored(record.passages_done),
            passages_total: stored(record.passages_total),
            files_cut: stored(record.files_cut),
            bytes: stored(record.bytes),
            attempts: stored(record.attempts),
            spread: record.kind != heddle_vectors::records::JobKind::Reindex,
            error: record.error.as_ref().map(document::encode).transpose()?,
            created_at: record.created_at.into(),
            created_by: record.created_by.into(),
            started_at: record.started_at.map(Into::into),
            heartbeat_at: record.heartbeat_at.map(Into::into),
            finished_at: record.finished_at.map(Into::into),
        })
    }
}

impl TryFrom<JobRow> for Job {
    type Error = Error;

    fn try_from(row: JobRow) -> Result<Self, Error> {
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            database: row.database_id.into(),
            database_name: name_of(&row.database_name)?,
            kind: row.kind.0,
            state: row.state.0,
            stage: row.stage.0,
            files: JobFiles {
                total: row.total.unsigned_abs(),
                queued: row.queued.unsigned_abs(),
                running: row.running.unsigned_abs(),
                ready: row.ready.unsigned_abs(),
                failed: row.failed.unsigned_abs(),
                cancelled: row.cancelled.unsigned_abs(),
            },
            passages_done: row.passages_done.unsigned_abs(),
            passages_total: row.passages_total.unsigned_abs(),
            files_cut: row.files_cut.unsigned_abs(),
            bytes: row.bytes.unsigned_abs(),
            attempts: row.attempts.unsigned_abs(),
            error: row.error.as_deref().map(document::decode).transpose()?,
            created_at: row.created_at.into(),
            created_by: row.created_by.into(),
            started_at: row.started_at.map(Into::into),
            heartbeat_at: row.heartbeat_at.map(Into::into),
            finished_at: row.finished_at.map(Into::into),
        })
    }
}

impl From<&Build> for BuildRow {
    fn from(record: &Build) -> Self {
        Self {
            organization_id: record.tenant.into(),
            id: record.id.into(),
            database_id: record.database.into(),
            database_name: record.database_name.to_string(),
            file_id: record.file.into(),
            job_id: record.job.into(),
            generation: record.generation,
            state: BuildWord(record.state),
            stage: StageWord(record.stage),
            first_passage: None,
            total: None,
            done: 0,
            bytes: 0,
            cut: None,
            error: None,
            attempts: 0,
            node: None,
            created_at: record.created_at.into(),
            started_at: None,
            finished_at: None,
            warnings: None,
        }
    }
}

impl JobRow {
    /// Whether all its builds are made, and are over.
    pub(crate) const fn is_done(&self) -> bool {
        self.spread && self.queued == 0 && self.running == 0
    }
}

impl BuildRow {
    /// The row of a build that waits for its turn.
    pub(crate) fn queued(job: &JobRow, file: Id, generation: i64, id: Id, now: Timestamp) -> Self {
        Self {
            organization_id: job.organization_id,
            id,
            database_id: job.database_id,
            database_name: job.database_name.clone(),
            file_id: file,
            job_id: job.id,
            generation,
            state: BuildWord(BuildState::Queued),
            stage: StageWord(Stage::Queued),
            first_passage: None,
            total: None,
            done: 0,
            bytes: 0,
            cut: None,
            error: None,
            attempts: 0,
            node: None,
            created_at: now.into(),
            started_at: None,
            finished_at: None,
            warnings: None,
        }
    }

    /// Passages of the build, once the file is cut.
    pub(crate) fn passages(&self) -> Option<PassageRange> {
        Some(PassageRange::of(self.first_passage?.unsigned_abs(), self.total?.unsigned_abs()))
    }

    /// Passages of the build that are written; none where it has written nothing.
    pub(crate) fn written(&self) -> Option<PassageRange> {
        let range = PassageRange::of(self.first_passage?.unsigned_abs(), self.done.unsigned_abs());
        (!range.is_empty()).then_some(range)
    }
}

impl TryFrom<BuildRow> for Build {
    type Error = Error;

    fn try_from(row: BuildRow) -> Result<Self, Error> {
        let passages = row.passages();
        Ok(Self {
            tenant: row.organization_id.into(),
            id: row.id.into(),
            database: row.database_id.into(),
            database_name: name_of(&row.database_name)?,
            file: row.file_id.into(),
            job: row.job_id.into(),
            generation: row.generation,
            state: row.state.0,
            stage: row.stage.0,
            passages,
            done: row.done.unsigned_abs(),
            cut: row.cut,
            error: row.error.as_deref().map(document::decode).transpose()?,
            created_at: row.created_at.into(),
        })
    }
}

/// Bytes of a vector: its numbers, each as four bytes, the lowest first.
fn vector_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Vector of its bytes.
fn vector_of(bytes: &[u8]) -> Result<Vec<f32>, Error> {
    let (parts, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Error::Document("a vector of a passage is cut off".to_owned()));
    }
    Ok(parts.iter().map(|part| f32::from_le_bytes(*part)).collect())
}

impl PassageRow {
    /// The row of a passage of a database.
    pub(crate) fn of(organization: Id, database: Id, record: &Passage) -> Result<Self, Error> {
        Ok(Self {
            organization_id: organization,
            database_id: database,
            id: stored(record.id.0),
            file_id: record.file.into(),
            build_id: record.build.into(),
            ordinal: i64::from(record.ordinal),
            text: record.text.clone(),
            prefix: record.prefix.clone(),
            context: record.context.clone(),
            tokens: i64::from(record.tokens),
            locator: document::encode(&record.locator)?,
            vector: record.vector.as_deref().map(vector_bytes),
        })
    }

    /// Bytes of its texts and its vector.
    pub(crate) fn size(&self) -> i64 {
        let context = self.context.as_ref().map_or(0, String::len);
        let vector = self.vector.as_ref().map_or(0, Vec::len);
        stored((self.text.len() + self.prefix.len() + context + vector) as u64)
    }
}

impl TryFrom<PassageRow> for Passage {
    type Error = Error;

    fn try_from(row: PassageRow) -> Result<Self, Error> {
        Ok(Self {
            id: PassageId(row.id.unsigned_abs()),
            file: row.file_id.into(),
            build: row.build_id.into(),
            ordinal: u32::try_from(row.ordinal).unwrap_or(u32::MAX),
            text: row.text,
            prefix: row.prefix,
            context: row.context,
            tokens: u32::try_from(row.tokens).unwrap_or(u32::MAX),
            locator: document::decode(&row.locator)?,
            vector: row.vector.as_deref().map(vector_of).transpose()?,
        })
    }
}

impl From<ChangeRow> for Change {
    fn from(row: ChangeRow) -> Self {
        Self {
            sequence: row.sequence,
            generation: row.generation,
            removed: range(row.removed_first, row.removed_end),
            added: range(row.added_first, row.added_end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_the_same_after_its_bytes() {
        let vector = [1.0_f32, -0.25, f32::MIN_POSITIVE];
        assert_eq!(vector_of(&vector_bytes(&vector)).unwrap(), vector);
        assert!(vector_of(&[1, 2, 3]).is_err());
    }
}

//! Files of vector databases: uploads, records, and the policy of uploads.

use std::collections::BTreeMap;

use heddle_kernel::{FileId, Patch, Timestamp};
use serde::{Deserialize, Serialize};

use super::envelope::{Instant, JsonObject};
use super::vector_databases::VectorSort;
use super::vector_jobs::{IngestionError, IngestionJob, IngestionStage};
use crate::contract::{MediaType, RequestBody, json_bodies, path_params};
use crate::decode::{Problems, from_json};
use crate::error::Detail;

words! {
    /// State of a file.
    enum VectorFileState {
        /// File that nobody has begun.
        Queued = "queued",
        /// File on its way: it is read, cut, embedded or indexed.
        Running = "running",
        /// File whose passages can be found.
        Ready = "ready",
        /// File whose passages could not be made.
        Failed = "failed",
        /// File whose ingestion was cancelled.
        Cancelled = "cancelled",
    }

    /// Treatment of a file whose bytes the database has already.
    enum DuplicateHandling {
        /// Refusal of the file, with the id of the one that is there.
        Reject = "reject",
    }

    /// Reading of pictures of text.
    enum OcrPolicy {
        /// No reading: text in pictures is not taken.
        Off = "off",
        /// Reading where a file has no text of its own.
        Auto = "auto",
    }
}

path_params! {
    /// Path of a file of a vector database.
    VectorFilePath { name "name": String, file_id "fileId": FileId }
}

response! {
    /// Progress of a file.
    struct VectorFileProgress {
        /// Pages, sheets or slides; null while they are not known.
        #[schema(required = true, minimum = 0)]
        pages: Option<u64>,
        /// Passages that are written.
        #[schema(minimum = 0)]
        passages_done: u64,
        /// All passages; null while they are not known.
        #[schema(required = true, minimum = 0)]
        passages_total: Option<u64>,
    }

    /// A file of a vector database.
    struct VectorFile {
        /// Stable identifier.
        id: String,
        /// Name, as it was uploaded.
        name: String,
        /// Title; null when it has none.
        #[schema(required = true)]
        title: Option<String>,
        /// Media type.
        media_type: String,
        /// Charset that was declared with it; null where none was, and the text itself tells.
        #[schema(required = true)]
        charset: Option<String>,
        /// Length in bytes.
        #[schema(minimum = 0)]
        bytes: u64,
        /// SHA-256 of its bytes, in hex.
        sha256: String,
        /// State.
        state: VectorFileState,
        /// Stage on its way.
        stage: IngestionStage,
        /// Progress.
        progress: VectorFileProgress,
        /// Passages that are found.
        #[schema(minimum = 0)]
        passages: u64,
        /// Language of its text, as a BCP 47 tag; null when it is not known.
        #[schema(required = true)]
        language: Option<String>,
        /// Metadata.
        #[schema(value_type = Object)]
        metadata: JsonObject,
        /// Whether queries look in it.
        enabled: bool,
        /// Options of the methodology for this file alone; null where those of the database hold.
        #[schema(required = true, value_type = Option<Object>)]
        methodology_options: Option<JsonObject>,
        /// Failure; null when there was none.
        #[schema(required = true)]
        error: Option<IngestionError>,
        /// Parts of the file that are left out of what is found of it, each with its reason: a page that could not be read, a scan
        /// without OCR, an attachment of an unknown type. Of the first hundred at most.
        warnings: Vec<String>,
        /// The last job that was about it; null when there is none.
        #[schema(required = true)]
        job_id: Option<String>,
        /// Number of times that it was read.
        #[schema(minimum = 0)]
        generation: i64,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Instant of its upload.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who uploaded it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// Instant at which it was last indexed; null before.
        #[schema(required = true, value_type = Option<Instant>)]
        indexed_at: Option<Timestamp>,
    }

    /// An upload that was taken.
    struct AcceptedUpload {
        /// Job that reads the files.
        job: IngestionJob,
        /// Files, in the order in which they were sent.
        files: Vec<VectorFile>,
    }

    /// A type of files that is read.
    struct AllowedType {
        /// Media type.
        media_type: String,
        /// Endings of names.
        extensions: Vec<String>,
        /// Reader of the type.
        parser: String,
        /// Reading of pictures of text.
        ocr: OcrPolicy,
    }

    /// Bounds of what an organisation has in all its vector databases. None where a bound is null.
    struct UploadQuota {
        /// The most bytes.
        #[schema(required = true, minimum = 0)]
        max_bytes: Option<u64>,
        /// Bytes that there are.
        #[schema(minimum = 0)]
        used_bytes: u64,
        /// The most files.
        #[schema(required = true, minimum = 0)]
        max_files: Option<u64>,
        /// Files that there are.
        #[schema(minimum = 0)]
        used_files: u64,
        /// The most passages.
        #[schema(required = true, minimum = 0)]
        max_passages: Option<u64>,
        /// Passages that there are.
        #[schema(minimum = 0)]
        used_passages: u64,
        /// The most files that may wait to be read; an upload beyond it is refused until some are.
        #[schema(required = true, minimum = 0)]
        max_waiting_files: Option<u64>,
        /// Files that wait, or are being read.
        #[schema(minimum = 0)]
        used_waiting_files: u64,
    }

    /// Limits of an upload, as they are enforced.
    struct UploadPolicy {
        /// The most bytes of a file.
        #[schema(minimum = 1)]
        max_file_bytes: u64,
        /// The most files of one upload.
        #[schema(minimum = 1)]
        max_files_per_request: u32,
        /// Types that are read.
        allowed_types: Vec<AllowedType>,
        /// Bounds of the organisation.
        quota: UploadQuota,
        /// Treatment of a file whose bytes the database has already.
        duplicate_handling: DuplicateHandling,
        /// The most bytes of an upload as JSON, in all; a form may have more.
        #[schema(minimum = 1)]
        max_json_bytes: u64,
        /// The most bytes of a file's metadata, as JSON.
        #[schema(minimum = 1)]
        max_metadata_bytes: u64,
        /// The most pages, sheets or slides of a file.
        #[schema(minimum = 1)]
        max_pages: u64,
        /// The most passages that a file may be cut into.
        #[schema(minimum = 1)]
        max_passages_per_file: u64,
        /// Whether files are looked at for malware; they are not.
        scanning: bool,
    }
}

request! {
    /// A file of an upload, with its content as text or in base64.
    struct UploadFile {
        /// Name with its ending, without folders.
        #[schema(min_length = 1, max_length = 255)]
        name: String,
        /// Media type; told by name and content when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        media_type: Option<String>,
        /// Content as text.
        #[schema(nullable = false)]
        text: Option<String>,
        /// Content in base64.
        #[schema(nullable = false)]
        content_base64: Option<String>,
        /// Title; the document's own when absent.
        #[schema(nullable = false, min_length = 1, max_length = 500)]
        title: Option<String>,
        /// Metadata; none when absent.
        #[schema(nullable = false, required = false, value_type = Object)]
        metadata: Option<JsonObject>,
    }

    /// Files to upload.
    #[schema(examples(json!({"files": [{"name": "filter.md", "text": "To clean the filter, take it out.",
        "metadata": {"year": 2024}}]})))]
    struct UploadFiles {
        /// Files; all are taken or none.
        #[schema(min_items = 1, max_items = 100)]
        files: Vec<UploadFile>,
    }

    /// Changes of a file; absent members stay.
    #[schema(examples(json!({"metadata": {"year": 2025}, "enabled": true})))]
    struct PatchVectorFile {
        /// Title; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<String>, required = false, min_length = 1, max_length = 500)]
        title: Patch<String>,
        /// Metadata, all of it; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<Object>, required = false)]
        metadata: Patch<JsonObject>,
        /// Whether queries look in it, from the next one on.
        #[schema(nullable = false)]
        enabled: Option<bool>,
        /// `true` reads the file anew; what was found of it is found until that is done.
        #[schema(nullable = false)]
        reprocess: Option<bool>,
        /// Options of the database's methodology for this file alone, or null for those of the database; the file is read anew
        /// with them.
        #[serde(default)]
        #[schema(value_type = Option<Object>, required = false)]
        methodology_options: Patch<JsonObject>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which files.
    struct VectorFileListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// The order; the newest first when absent.
        sort: Option<VectorSort>,
        /// Only those in this state.
        state: Option<VectorFileState>,
        /// Text that names or titles must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those of this media type.
        #[schema(min_length = 1, max_length = 200)]
        media_type: Option<String>,
        /// Values of members of the metadata, each as a parameter of its own: `metadata.year=2024`. All must be met.
        metadata: Option<BTreeMap<String, String>>,
    }
}

/// A file of an upload that the service has stored while it came; made by the service alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StagedFile {
    /// Name as the caller gave it.
    pub name: String,
    /// Media type as the caller gave it.
    pub media_type: Option<String>,
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256 of the bytes, in hex.
    pub sha256: String,
    /// Key under which they are stored.
    pub key: String,
    /// Title that the caller gave.
    pub title: Option<String>,
    /// Metadata that the caller gave.
    pub metadata: JsonObject,
}

/// Body of an upload: files as JSON, or files that came as parts and are stored already.
#[derive(Debug, Clone, PartialEq)]
pub enum UploadBody {
    /// Files with their content.
    Json(UploadFiles),
    /// Files that are stored.
    Staged(Vec<StagedFile>),
}

impl RequestBody for UploadBody {
    type Json = UploadFiles;

    fn read(media: MediaType, bytes: &[u8]) -> Result<Self, Problems> {
        match media {
            MediaType::Json | MediaType::Xml | MediaType::Text => from_json(bytes).map(Self::Json),
            MediaType::Files => serde_json::from_slice(bytes).map(Self::Staged).map_err(|error| {
                Problems::one(Detail::at(
                    "body",
                    "malformed",
                    format!("The parts are not readable: {error}."),
                ))
            }),
        }
    }
}

json_bodies!(PatchVectorFile);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_never_named_by_a_caller() {
        let forged = br#"{"files": [{"name": "a.txt", "sha256": "00", "bytes": 1}]}"#;
        let problems = UploadBody::read(MediaType::Json, forged).unwrap_err();
        let fields: Vec<_> = problems.0.iter().filter_map(|one| one.field.clone()).collect();
        assert!(fields.contains(&"files[0].sha256".to_owned()), "{fields:?}");
        assert!(UploadBody::read(MediaType::Json, b"[]").is_err());
    }
}

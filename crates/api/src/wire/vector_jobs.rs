//! Ingestion jobs: what became of uploaded files, and who worked at them.

use heddle_kernel::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::envelope::Instant;
use crate::contract::path_params;

words! {
    /// Kind of an ingestion job.
    enum IngestionJobKind {
        /// Files that were uploaded.
        Upload = "upload",
        /// Files that are read anew.
        Reprocess = "reprocess",
        /// A database that is indexed anew.
        Reindex = "reindex",
        /// Deletion of what a database held.
        Delete = "delete",
    }

    /// State of an ingestion job; it only moves forward.
    enum IngestionJobState {
        /// Job that nobody has begun.
        Queued = "queued",
        /// Job that is being done.
        Running = "running",
        /// Job that was cancelled and waits for what runs.
        Cancelling = "cancelling",
        /// Job whose files are all ready.
        Completed = "completed",
        /// Job of which some files are ready, and others failed.
        CompletedWithErrors = "completedWithErrors",
        /// Job whose files all failed.
        Failed = "failed",
        /// Job that was cancelled; files that were done stay.
        Cancelled = "cancelled",
    }

    /// Stage of a file on its way.
    enum IngestionStage {
        /// Wait for a server.
        Queued = "queued",
        /// Fetching of the file's bytes.
        Fetching = "fetching",
        /// Reading of the file's text.
        Parsing = "parsing",
        /// Cutting of the text into passages.
        Chunking = "chunking",
        /// Embedding of the passages.
        Embedding = "embedding",
        /// Indexing of the passages.
        Indexing = "indexing",
        /// End of the way: the passages can be found.
        Ready = "ready",
        /// End by a failure.
        Failed = "failed",
        /// End by a cancellation.
        Cancelled = "cancelled",
    }

    /// State of a server at an ingestion job.
    enum IngestionServerState {
        /// Server that is at work on the job.
        Active = "active",
        /// Server that has nothing left of the job.
        Finished = "finished",
        /// Server that held something of the job and was not seen for long.
        Lost = "lost",
    }
}

path_params! {
    /// Path of an ingestion job.
    IngestionJobPath { job_id "jobId": heddle_kernel::IngestionJobId }
}

response! {
    /// Numbers of a job's files by their states.
    struct IngestionJobFiles {
        /// All.
        #[schema(minimum = 0)]
        total: u64,
        /// Those that nobody has begun.
        #[schema(minimum = 0)]
        queued: u64,
        /// Those that are being done.
        #[schema(minimum = 0)]
        running: u64,
        /// Those that are found.
        #[schema(minimum = 0)]
        ready: u64,
        /// Those that failed.
        #[schema(minimum = 0)]
        failed: u64,
        /// Those that were cancelled.
        #[schema(minimum = 0)]
        cancelled: u64,
    }

    /// Numbers of a job's passages.
    struct IngestionJobPassages {
        /// Those that are written.
        #[schema(minimum = 0)]
        done: u64,
        /// All; null while that is not known.
        #[schema(required = true, minimum = 0)]
        total: Option<u64>,
    }

    /// Failure of a job or a file.
    struct IngestionError {
        /// Reason, as a word.
        code: String,
        /// Reason, in words.
        message: String,
        /// Whether another try may do.
        retryable: bool,
    }

    /// An ingestion job.
    struct IngestionJob {
        /// Stable identifier.
        id: String,
        /// Name of the database.
        vector_database: String,
        /// Kind.
        kind: IngestionJobKind,
        /// State.
        state: IngestionJobState,
        /// Stage of the file that is furthest behind among those being done.
        stage: IngestionStage,
        /// Numbers of its files.
        files: IngestionJobFiles,
        /// Numbers of its passages.
        passages: IngestionJobPassages,
        /// Bytes of its files.
        #[schema(minimum = 0)]
        bytes: u64,
        /// Progress from 0 to 1, by what is written.
        #[schema(minimum = 0, maximum = 1)]
        progress: f64,
        /// Tries that were begun.
        #[schema(minimum = 0)]
        attempts: u64,
        /// The last failure; null when there was none, or the job has a file that the caller may not list.
        #[schema(required = true)]
        error: Option<IngestionError>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who asked for it.
        created_by: String,
        /// Instant at which the first file was begun; null before.
        #[schema(required = true, value_type = Option<Instant>)]
        started_at: Option<Timestamp>,
        /// Instant at which a server last said that it is at work; null before.
        #[schema(required = true, value_type = Option<Instant>)]
        heartbeat_at: Option<Timestamp>,
        /// Instant of its end; null before.
        #[schema(required = true, value_type = Option<Instant>)]
        finished_at: Option<Timestamp>,
        /// Seconds that are left, at the pace so far; null when there is none to go by.
        #[schema(required = true, minimum = 0)]
        eta_seconds: Option<u64>,
    }

    /// A server that worked at a job.
    struct IngestionServer {
        /// Stable identifier of the server.
        server_id: String,
        /// Name of its machine; null when it is not known any more.
        #[schema(required = true)]
        host_name: Option<String>,
        /// Version of its program; null when it is not known any more.
        #[schema(required = true)]
        version: Option<String>,
        /// Role at the job: `worker`.
        role: String,
        /// State.
        state: IngestionServerState,
        /// Stages at which it worked.
        stages: Vec<IngestionStage>,
        /// Files that it began.
        #[schema(minimum = 0)]
        files_claimed: u64,
        /// Files that it brought to their end.
        #[schema(minimum = 0)]
        files_completed: u64,
        /// Files that failed with it.
        #[schema(minimum = 0)]
        files_failed: u64,
        /// Passages that it wrote.
        #[schema(minimum = 0)]
        passages_written: u64,
        /// Instant at which it began.
        #[schema(value_type = Instant)]
        first_seen_at: Timestamp,
        /// Instant at which it last said that it is at work.
        #[schema(value_type = Instant)]
        last_heartbeat_at: Timestamp,
        /// File that it is at; null when at none, or at one that the caller may not list.
        #[schema(required = true)]
        current_file_id: Option<String>,
    }
}

/// Servers that worked at a job.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct IngestionServers(pub Vec<IngestionServer>);

request! {
    /// Which ingestion jobs.
    struct IngestionJobListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those in this state.
        state: Option<IngestionJobState>,
        /// Only those of the database of this name.
        #[schema(min_length = 1, max_length = 63)]
        vector_database: Option<String>,
        /// Only those of this kind.
        kind: Option<IngestionJobKind>,
        /// Only those that were made from this instant on.
        #[schema(value_type = Option<Instant>)]
        since: Option<Timestamp>,
    }
}

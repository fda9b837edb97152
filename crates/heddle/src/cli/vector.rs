//! `heddle vector-database`, `heddle file`, `heddle query` and `heddle ingestion-job`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

/// `heddle vector-database`.
#[derive(Debug, Subcommand)]
pub(crate) enum VectorDatabaseCommand {
    /// List vector databases by name, with what they hold.
    List(ListVectorDatabases),
    /// Make a vector database.
    Create(CreateVectorDatabase),
    /// Show a vector database.
    Get(OneVectorDatabase),
    /// Change a vector database; another model or methodology indexes it anew while it serves on.
    Update(UpdateVectorDatabase),
    /// Delete a vector database with its files.
    Delete(OneVectorDatabase),
}

/// `heddle vector-database list`.
#[derive(Debug, Args)]
pub(crate) struct ListVectorDatabases {
    /// Only those whose name or description has this text in it.
    #[arg(short, long, value_name = "TEXT")]
    pub query: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// Members of a vector database that can be chosen.
#[derive(Debug, Args)]
pub(crate) struct VectorDatabaseMembers {
    /// Name for people.
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// Description.
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Embedding model; `none` to find passages by their words alone.
    #[arg(long, value_name = "ID")]
    pub model: Option<String>,
    /// Methodology by which files are cut into passages, such as `recursive` or `markdown`.
    #[arg(long, value_name = "ID")]
    pub methodology: Option<String>,
    /// Options of the methodology as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub options: Option<String>,
    /// Member of files' metadata that has a type, as NAME=TYPE with string, number, boolean or dateTime. May be given again.
    #[arg(long = "field", value_name = "NAME=TYPE")]
    pub fields: Vec<String>,
}

/// `heddle vector-database create`.
#[derive(Debug, Args)]
pub(crate) struct CreateVectorDatabase {
    /// Name: small letters, digits and hyphens; it can't be changed.
    pub name: String,
    #[command(flatten)]
    pub members: VectorDatabaseMembers,
    /// Place of the index: embedded or pgvector.
    #[arg(long, value_name = "WORD")]
    pub backend: Option<String>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle vector-database update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateVectorDatabase {
    /// Name of the vector database.
    pub name: String,
    #[command(flatten)]
    pub members: VectorDatabaseMembers,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// A vector database by its name.
#[derive(Debug, Args)]
pub(crate) struct OneVectorDatabase {
    /// Name of the vector database.
    pub name: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle file`.
#[derive(Debug, Subcommand)]
pub(crate) enum FileCommand {
    /// Upload files, and with --wait wait until they are found or failed.
    Upload(UploadFiles),
    /// List the files of a vector database, the newest first.
    List(ListFiles),
    /// Show a file: its state, its progress, and why it failed.
    Show(OneFile),
    /// Delete a file with its passages.
    Delete(OneFile),
}

/// `heddle file upload`.
#[derive(Debug, Args)]
pub(crate) struct UploadFiles {
    /// Name of the vector database.
    pub database: String,
    /// Files to upload; all are taken or none.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Metadata of the files as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub metadata: Option<String>,
    /// Title, of one file.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Wait until every file is found or failed; one that failed ends the command with a failure.
    #[arg(long)]
    pub wait: bool,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle file list`.
#[derive(Debug, Args)]
pub(crate) struct ListFiles {
    /// Name of the vector database.
    pub database: String,
    /// Only those in this state: queued, running, ready, failed or cancelled.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// Only those whose name or title has this text in it.
    #[arg(short, long, value_name = "TEXT")]
    pub query: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// A file of a vector database.
#[derive(Debug, Args)]
pub(crate) struct OneFile {
    /// Name of the vector database.
    pub database: String,
    /// The file, by its id or its name.
    pub file: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle query`.
#[derive(Debug, Args)]
pub(crate) struct QueryPassages {
    /// Name of the vector database.
    pub database: String,
    /// Text to look for.
    pub text: String,
    /// Manner of finding passages: hybrid, semantic or keyword.
    #[arg(long, value_name = "WORD")]
    pub mode: Option<String>,
    /// Filter as a JSON object, `@FILE` with it, or `-` for standard input.
    #[arg(long, value_name = "JSON")]
    pub filter: Option<String>,
    /// The most passages.
    #[arg(long, value_name = "NUMBER")]
    pub limit: Option<u32>,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle ingestion-job`.
#[derive(Debug, Subcommand)]
pub(crate) enum IngestionJobCommand {
    /// List ingestion jobs, the newest first.
    List(ListIngestionJobs),
    /// Show an ingestion job with its progress.
    Get(OneIngestionJob),
    /// Cancel an ingestion job; files that are done stay.
    Cancel(OneIngestionJob),
}

/// `heddle ingestion-job list`.
#[derive(Debug, Args)]
pub(crate) struct ListIngestionJobs {
    /// Only those of this vector database.
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// Only those in this state: queued, running, cancelling, completed, completedWithErrors, failed or cancelled.
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// An ingestion job by its id.
#[derive(Debug, Args)]
pub(crate) struct OneIngestionJob {
    /// Id of the job.
    pub job: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

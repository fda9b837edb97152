//! The tables of vector databases: one list of columns for each, from which table, row and changes come (`docs/STORAGE.md`).
//! Conversions to and from records are in `rows`.

use heddle_store::{At, Id, Migration, migrations, row};

use crate::words::{BackendWord, BuildWord, FileWord, JobKindWord, JobWord, StageWord, StateWord};

/// The migrations of the tables of vector databases.
pub const MIGRATIONS: &[Migration] = migrations![
    "20261126000100_vectors_databases",
    "20261126000200_vectors_pgvector",
    "20261129000200_vectors_parts",
    "20261129000300_vectors_generations",
    "20261129000310_vectors_warnings",
    "20261201000100_vectors_orders",
    "20261201000200_vectors_charset"
];

row! {
    /// A vector database; its name is its address, `generation` the one that serves, `last_generation` the highest number of one
    /// that was ever given, `sequence` the number of the last commit that changed what can be found, `fields_sequence` that of
    /// the last one that changed what filters find, `next_passage` the next id of a passage, `next_passages` the number of those
    /// in the generation that is built.
    pub(crate) vector_databases (organization_id, id) => DatabaseRow changes (DatabaseChange) {
        key organization_id: [DbUuid] Id,
        key id: [DbUuid] Id,
        once name: [Text] String,
        each display_name: [Text] String,
        each description: [Nullable<Text>] Option<String>,
        alone state: [Text] StateWord,
        once backend: [Text] BackendWord,
        alone generation: [BigInt] i64,
        alone recipe: [Binary] Vec<u8>,
        alone next_recipe: [Nullable<Binary>] Option<Vec<u8>>,
        alone next_generation: [Nullable<BigInt>] Option<i64>,
        alone last_generation: [BigInt] i64,
        alone next_passages: [BigInt] i64,
        each metadata_schema: [Binary] Vec<u8>,
        each defaults: [Binary] Vec<u8>,
        alone sequence: [BigInt] i64,
        alone fields_sequence: [BigInt] i64,
        alone next_passage: [BigInt] i64,
        alone files: [BigInt] i64,
        alone ready_files: [BigInt] i64,
        alone failed_files: [BigInt] i64,
        alone passages: [BigInt] i64,
        alone raw_bytes: [BigInt] i64,
        alone index_bytes: [BigInt] i64,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        each updated_at: [DbInstant] At,
        each updated_by: [DbUuid] Id,
        alone last_ingested_at: [Nullable<DbInstant>] Option<At>,
        each search: [Text] String,
    }
}

row! {
    /// A file; `state` is that of the build for the generation that serves, `build_id` this build.
    pub(crate) vector_files (organization_id, database_id, id) => FileRow changes (FileChange) {
        key organization_id: [DbUuid] Id,
        key database_id: [DbUuid] Id,
        key id: [DbUuid] Id,
        once database_name: [Text] String,
        once name: [Text] String,
        each title: [Nullable<Text>] Option<String>,
        once media_type: [Text] String,
        once bytes: [BigInt] i64,
        once sha256: [Text] String,
        once blob: [Text] String,
        alone state: [Text] FileWord,
        alone stage: [Text] StageWord,
        alone pages: [Nullable<BigInt>] Option<i64>,
        alone passages_done: [BigInt] i64,
        alone passages_total: [Nullable<BigInt>] Option<i64>,
        alone passages: [BigInt] i64,
        alone language: [Nullable<Text>] Option<String>,
        each metadata: [Binary] Vec<u8>,
        each enabled: [Bool] bool,
        each options: [Nullable<Binary>] Option<Vec<u8>>,
        each options_methodology: [Nullable<Text>] Option<String>,
        alone error: [Nullable<Binary>] Option<Vec<u8>>,
        alone job_id: [DbUuid] Id,
        alone build_id: [DbUuid] Id,
        alone generation: [BigInt] i64,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        each updated_at: [DbInstant] At,
        alone indexed_at: [Nullable<DbInstant>] Option<At>,
        each search: [Text] String,
        alone warnings: [Nullable<Binary>] Option<Vec<u8>>,
        once charset: [Nullable<Text>] Option<String>,
    }
}

row! {
    /// A value by which filters find a file; values of a type are in its order. `head` is its beginning, which keys have room
    /// for, `place` its number among the values of the file.
    pub(crate) vector_fields (organization_id, database_id, field, head, file_id, place) => FieldRow {
        key organization_id: [DbUuid] Id,
        key database_id: [DbUuid] Id,
        key field: [Text] String,
        once value: [Text] String,
        key file_id: [DbUuid] Id,
        key head: [Text] String,
        key place: [BigInt] i64,
    }
}

row! {
    /// A passage; ids are never given twice in a database, and those of one build are in one row.
    pub(crate) vector_passages (organization_id, database_id, id) => PassageRow many (NewPassages) {
        key organization_id: [DbUuid] Id,
        key database_id: [DbUuid] Id,
        key id: [BigInt] i64,
        once file_id: [DbUuid] Id,
        once build_id: [DbUuid] Id,
        once ordinal: [BigInt] i64,
        once text: [Text] String,
        once prefix: [Text] String,
        once context: [Nullable<Text>] Option<String>,
        once tokens: [BigInt] i64,
        once locator: [Binary] Vec<u8>,
        once vector: [Nullable<Binary>] Option<Vec<u8>>,
    }
}

row! {
    /// Passages of a file that can be found in a generation.
    pub(crate) vector_live (organization_id, database_id, generation, file_id) => LiveRow {
        key organization_id: [DbUuid] Id,
        key database_id: [DbUuid] Id,
        key generation: [BigInt] i64,
        key file_id: [DbUuid] Id,
        once build_id: [DbUuid] Id,
        once first_passage: [BigInt] i64,
        once end_passage: [BigInt] i64,
        once bytes: [BigInt] i64,
        alone enabled: [Bool] bool,
    }
}

row! {
    /// Work that makes the passages of a file in a generation; its errand has the same id.
    pub(crate) vector_builds (organization_id, id) => BuildRow {
        key organization_id: [DbUuid] Id,
        key id: [DbUuid] Id,
        once database_id: [DbUuid] Id,
        once database_name: [Text] String,
        once file_id: [DbUuid] Id,
        once job_id: [DbUuid] Id,
        once generation: [BigInt] i64,
        alone state: [Text] BuildWord,
        alone stage: [Text] StageWord,
        alone first_passage: [Nullable<BigInt>] Option<i64>,
        alone total: [Nullable<BigInt>] Option<i64>,
        alone done: [BigInt] i64,
        alone bytes: [BigInt] i64,
        alone cut: [Nullable<Text>] Option<String>,
        alone error: [Nullable<Binary>] Option<Vec<u8>>,
        alone attempts: [BigInt] i64,
        alone node: [Nullable<DbUuid>] Option<Id>,
        once created_at: [DbInstant] At,
        alone started_at: [Nullable<DbInstant>] Option<At>,
        alone finished_at: [Nullable<DbInstant>] Option<At>,
        alone warnings: [Nullable<Binary>] Option<Vec<u8>>,
    }
}

row! {
    /// A job; its counts are kept with the commits of its builds, `spread` says that all of these are made.
    pub(crate) vector_jobs (organization_id, id) => JobRow {
        key organization_id: [DbUuid] Id,
        key id: [DbUuid] Id,
        once database_id: [DbUuid] Id,
        once database_name: [Text] String,
        once kind: [Text] JobKindWord,
        alone state: [Text] JobWord,
        alone stage: [Text] StageWord,
        alone total: [BigInt] i64,
        alone queued: [BigInt] i64,
        alone running: [BigInt] i64,
        alone ready: [BigInt] i64,
        alone failed: [BigInt] i64,
        alone cancelled: [BigInt] i64,
        alone passages_done: [BigInt] i64,
        alone passages_total: [BigInt] i64,
        alone files_cut: [BigInt] i64,
        alone bytes: [BigInt] i64,
        alone attempts: [BigInt] i64,
        alone spread: [Bool] bool,
        alone error: [Nullable<Binary>] Option<Vec<u8>>,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        alone started_at: [Nullable<DbInstant>] Option<At>,
        alone heartbeat_at: [Nullable<DbInstant>] Option<At>,
        alone finished_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A server's part in a job.
    pub(crate) vector_job_servers (organization_id, job_id, node) => ServerRow {
        key organization_id: [DbUuid] Id,
        key job_id: [DbUuid] Id,
        key node: [DbUuid] Id,
        alone host_name: [Text] String,
        alone version: [Text] String,
        alone stages: [Binary] Vec<u8>,
        alone claimed: [BigInt] i64,
        alone completed: [BigInt] i64,
        alone failed: [BigInt] i64,
        alone passages: [BigInt] i64,
        once first_seen_at: [DbInstant] At,
        alone heartbeat_at: [DbInstant] At,
        alone current_file: [Nullable<DbUuid>] Option<Id>,
    }
}

row! {
    /// A commit that changed what can be found in a generation: ids of passages that went and that came.
    pub(crate) vector_changes (organization_id, database_id, sequence) => ChangeRow {
        key organization_id: [DbUuid] Id,
        key database_id: [DbUuid] Id,
        key sequence: [BigInt] i64,
        once generation: [BigInt] i64,
        once removed_first: [Nullable<BigInt>] Option<i64>,
        once removed_end: [Nullable<BigInt>] Option<i64>,
        once added_first: [Nullable<BigInt>] Option<i64>,
        once added_end: [Nullable<BigInt>] Option<i64>,
    }
}

row! {
    /// Bytes of files of an organisation: the same content is kept once.
    pub(crate) vector_blobs (organization_id, sha256) => BlobRow {
        key organization_id: [DbUuid] Id,
        key sha256: [Text] String,
        once blob: [Text] String,
        alone refs: [BigInt] i64,
    }
}

row! {
    /// A leftover that goes in the background: passages, bytes, the index of a generation, or, with none of them, all of a database.
    pub(crate) vector_purges (organization_id, id) => PurgeRow {
        key organization_id: [DbUuid] Id,
        key id: [DbUuid] Id,
        once database_id: [DbUuid] Id,
        once first_passage: [Nullable<BigInt>] Option<i64>,
        once end_passage: [Nullable<BigInt>] Option<i64>,
        once blob: [Nullable<Text>] Option<String>,
        once generation: [Nullable<BigInt>] Option<i64>,
    }
}

row! {
    /// Usage of an organisation: what it has in its databases.
    pub(crate) vector_usage (organization_id) => UsageRow {
        key organization_id: [DbUuid] Id,
        alone databases: [BigInt] i64,
        alone files: [BigInt] i64,
        alone passages: [BigInt] i64,
        alone bytes: [BigInt] i64,
        alone waiting: [BigInt] i64,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    vector_databases,
    vector_files,
    vector_fields,
    vector_passages,
    vector_live,
    vector_builds,
    vector_jobs,
    vector_job_servers,
    vector_changes,
    vector_blobs,
    vector_purges,
    vector_usage,
);

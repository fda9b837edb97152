//! Vector databases: their records, and what they can be made with.

use std::collections::BTreeMap;

use heddle_kernel::{Patch, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::envelope::{Instant, JsonObject};
use crate::contract::{json_bodies, path_params};

words! {
    /// Order of a list of vector databases or of their files.
    enum VectorSort {
        /// Order of the names, ascending.
        Name = "name",
        /// Order of creation, the newest first.
        Newest = "newest",
    }

    /// State of a vector database.
    enum VectorDatabaseState {
        /// Database that answers queries.
        Ready = "ready",
        /// Database that is indexed anew, beside the generation that serves.
        Building = "building",
        /// Database whose last indexing anew failed; the generation before it goes on answering queries.
        Degraded = "degraded",
    }

    /// Place of the passages' index.
    enum VectorBackend {
        /// Index in the process, kept beside the service's own database.
        Embedded = "embedded",
        /// Index in PostgreSQL, by its extension `vector`.
        Pgvector = "pgvector",
    }

    /// Measure of likeness.
    enum VectorDistance {
        /// The angle between two vectors.
        Cosine = "cosine",
    }

    /// Type of a member of files' metadata.
    enum MetadataType {
        /// A text.
        String = "string",
        /// A number.
        Number = "number",
        /// True or false.
        Boolean = "boolean",
        /// An instant.
        DateTime = "dateTime",
    }

    /// Manner of finding passages.
    enum QueryMode {
        /// Meaning and words together.
        Hybrid = "hybrid",
        /// Meaning alone.
        Semantic = "semantic",
        /// Words alone.
        Keyword = "keyword",
    }

    /// Kind of a methodology.
    enum MethodologyKind {
        /// Methodology that cuts files into passages.
        Chunking = "chunking",
        /// Methodology that finds passages.
        Retrieval = "retrieval",
    }

    /// Source of an embedding model.
    enum EmbeddingSource {
        /// Model that runs in the service.
        BuiltIn = "builtIn",
        /// Model that runs behind a deployment.
        Deployment = "deployment",
    }

    /// State of an embedding model.
    enum EmbeddingModelState {
        /// Model that embeds.
        Ready = "ready",
        /// Model whose files are not there.
        Missing = "missing",
        /// Model whose files are being read.
        Loading = "loading",
        /// Model that can't be used.
        Error = "error",
    }

    /// Reason for which a name can't be had.
    enum AddressReason {
        /// Name of another database.
        Taken = "taken",
        /// Word of the service's own paths.
        Reserved = "reserved",
        /// Spelling that names do not have.
        Invalid = "invalid",
    }
}

path_params! {
    /// Path of a vector database.
    VectorDatabasePath { name "name": String }
}

response! {
    /// Model by which a vector database embeds.
    struct EmbeddingModelRef {
        /// The model.
        id: String,
        /// Length of its vectors.
        #[schema(minimum = 1)]
        dimensions: u32,
        /// Digest of its files, or revision of its deployment.
        revision: String,
    }

    /// Methodology by which files are cut into passages.
    struct MethodologyRef {
        /// The methodology.
        id: String,
        /// Options of the methodology, with the defaults of those that were left out.
        #[schema(value_type = Object)]
        options: JsonObject,
    }

    /// Member of files' metadata.
    struct MetadataField {
        /// Type of its values.
        #[serde(rename = "type")]
        kind: MetadataType,
        /// Whether queries and lists may select by it.
        filterable: bool,
    }

    /// Defaults of queries.
    struct QueryDefaults {
        /// Number of passages.
        #[schema(minimum = 1, maximum = 100)]
        limit: u32,
        /// Manner of finding them.
        mode: QueryMode,
    }

    /// Numbers of what a vector database holds.
    struct VectorDatabaseCounts {
        /// Files.
        #[schema(minimum = 0)]
        files: u64,
        /// Files that are found.
        #[schema(minimum = 0)]
        ready_files: u64,
        /// Files that failed, with their reasons.
        #[schema(minimum = 0)]
        failed_files: u64,
        /// Passages.
        #[schema(minimum = 0)]
        passages: u64,
    }

    /// Bytes of what a vector database holds.
    struct VectorDatabaseStorage {
        /// Bytes of the files as they were uploaded.
        #[schema(minimum = 0)]
        raw_bytes: u64,
        /// Bytes of the index; it is made anew from the passages when it goes.
        #[schema(minimum = 0)]
        index_bytes: u64,
    }

    /// A vector database.
    struct VectorDatabase {
        /// Name: its address, unique within the organisation; it can't be changed.
        name: String,
        /// Name for people.
        display_name: String,
        /// Description; null when none was given.
        #[schema(required = true)]
        description: Option<String>,
        /// State.
        state: VectorDatabaseState,
        /// Place of the passages' index.
        backend: VectorBackend,
        /// Model by which it embeds; null when passages are found by words alone.
        #[schema(required = true)]
        embedding_model: Option<EmbeddingModelRef>,
        /// Methodology by which files are cut into passages.
        methodology: MethodologyRef,
        /// Measure of likeness.
        distance: VectorDistance,
        /// Members of files' metadata that have a type.
        metadata_schema: BTreeMap<String, MetadataField>,
        /// Defaults of queries.
        defaults: QueryDefaults,
        /// Numbers of what it holds.
        counts: VectorDatabaseCounts,
        /// Bytes of what it holds.
        storage: VectorDatabaseStorage,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// User who last changed it.
        updated_by: String,
        /// Instant at which a file last became ready; null when none did.
        #[schema(required = true, value_type = Option<Instant>)]
        last_ingested_at: Option<Timestamp>,
        /// Job that indexes it anew; null while none does.
        #[schema(required = true)]
        reindex_job_id: Option<String>,
    }

    /// Whether a name is free. Creation decides.
    struct AddressAvailability {
        /// The name as it was asked for.
        name: String,
        /// The name that is nearest to it and spelled as names are; null when nothing of it is left.
        #[schema(required = true)]
        normalized: Option<String>,
        /// Whether a database can be made under the name as it was asked for.
        available: bool,
        /// Reason for which it can't; null when it can.
        #[schema(required = true)]
        reason: Option<AddressReason>,
        /// Names like it that are free.
        suggestions: Vec<String>,
    }

    /// An embedding model.
    struct EmbeddingModel {
        /// The model.
        id: String,
        /// Name for people.
        display_name: String,
        /// Source.
        source: EmbeddingSource,
        /// Alias of the deployment behind which it runs; null when it runs in the service.
        #[schema(required = true)]
        deployment_alias: Option<String>,
        /// Length of its vectors; null where it is not known.
        #[schema(required = true, minimum = 1)]
        dimensions: Option<u32>,
        /// The most tokens of a passage that it reads.
        #[schema(minimum = 1)]
        max_input_tokens: u32,
        /// Measure of likeness.
        distance: VectorDistance,
        /// Languages that it is good for, as BCP 47 tags.
        languages: Vec<String>,
        /// State.
        state: EmbeddingModelState,
        /// The state in words, with what to do about it; null when it is ready.
        #[schema(required = true)]
        state_detail: Option<String>,
        /// Whether a database without a choice gets it.
        is_default: bool,
        /// SHA-256 of its weights; null when they are elsewhere.
        #[schema(required = true)]
        sha256: Option<String>,
        /// Licence; null when it is not known.
        #[schema(required = true)]
        licence: Option<String>,
    }

    /// A methodology.
    struct Methodology {
        /// The methodology.
        id: String,
        /// Kind.
        kind: MethodologyKind,
        /// Name for people.
        display_name: String,
        /// Description.
        description: String,
        /// Whether a database, or a query, without a choice gets it.
        is_default: bool,
        /// Whether it needs an embedding model.
        requires_embedding: bool,
        /// JSON Schema (draft 2020-12) of its options.
        #[schema(value_type = Object)]
        options_schema: Value,
        /// Options of whoever chooses none.
        #[schema(value_type = Object)]
        defaults: JsonObject,
    }
}

/// Every embedding model.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct EmbeddingModels(pub Vec<EmbeddingModel>);

/// Every methodology.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(transparent)]
pub struct Methodologies(pub Vec<Methodology>);

request! {
    /// Member of files' metadata, as it is sent.
    struct SentMetadataField {
        /// Type of its values.
        #[serde(rename = "type")]
        kind: MetadataType,
        /// Whether queries and lists may select by it; they may when absent.
        #[schema(nullable = false)]
        filterable: Option<bool>,
    }

    /// Defaults of queries, as they are sent.
    struct SentQueryDefaults {
        /// Number of passages; 8 when absent.
        #[schema(nullable = false, minimum = 1, maximum = 100)]
        limit: Option<u32>,
        /// Manner of finding them; the best that the database can when absent.
        #[schema(nullable = false)]
        mode: Option<QueryMode>,
    }

    /// A new vector database.
    #[schema(examples(json!({"name": "manuals", "displayName": "Manuals", "embeddingModelId": null,
        "methodologyId": "markdown", "metadataSchema": {"year": {"type": "number"}}})))]
    struct CreateVectorDatabase {
        /// Name: its address, unique within the organisation.
        #[schema(min_length = 1, max_length = 63)]
        name: String,
        /// Name for people; the name when absent.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// Description; none when absent or null.
        #[schema(max_length = 4000)]
        description: Option<String>,
        /// Embedding model; the default one, if it is ready, when absent, and none when null: then passages are found by words
        /// alone.
        #[serde(default)]
        #[schema(value_type = Option<String>, required = false, min_length = 1, max_length = 200)]
        embedding_model_id: Patch<String>,
        /// Methodology by which files are cut into passages; the default one when absent.
        #[schema(nullable = false, min_length = 1, max_length = 100)]
        methodology_id: Option<String>,
        /// Options of the methodology, by its `optionsSchema`; the defaults when absent.
        #[schema(nullable = false, required = false, value_type = Object)]
        methodology_options: Option<JsonObject>,
        /// Place of the passages' index; `embedded` when absent.
        #[schema(nullable = false)]
        backend: Option<VectorBackend>,
        /// Members of files' metadata that have a type; none when absent.
        #[schema(nullable = false)]
        metadata_schema: Option<BTreeMap<String, SentMetadataField>>,
        /// Defaults of queries.
        #[schema(nullable = false)]
        defaults: Option<SentQueryDefaults>,
    }

    /// Changes of a vector database; absent members stay.
    #[schema(examples(json!({"displayName": "Manuals of all machines"})))]
    struct PatchVectorDatabase {
        /// Name for people.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// Description; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<String>, max_length = 4000)]
        description: Patch<String>,
        /// Defaults of queries.
        #[schema(nullable = false)]
        defaults: Option<SentQueryDefaults>,
        /// Further members of files' metadata that have a type; those that there are stay as they are.
        #[schema(nullable = false)]
        metadata_schema: Option<BTreeMap<String, SentMetadataField>>,
        /// Methodology by which files are cut into passages; another one indexes the database anew.
        #[schema(nullable = false, min_length = 1, max_length = 100)]
        methodology_id: Option<String>,
        /// Options of the methodology, by its `optionsSchema`; other ones index the database anew.
        #[schema(nullable = false, required = false, value_type = Object)]
        methodology_options: Option<JsonObject>,
        /// Embedding model, or null for none; another one indexes the database anew.
        #[serde(default)]
        #[schema(value_type = Option<String>, required = false, min_length = 1, max_length = 200)]
        embedding_model_id: Patch<String>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which vector databases.
    struct VectorDatabaseListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// The order; by name when absent.
        sort: Option<VectorSort>,
        /// Only those in this state.
        state: Option<VectorDatabaseState>,
        /// Text that names or descriptions must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
    }

    /// Which name.
    struct AddressQuery {
        /// The name.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
    }
}

json_bodies!(CreateVectorDatabase, PatchVectorDatabase);

//! Vector databases: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::vector_databases::{SentMetadataField, SentQueryDefaults};
use heddle_vectors::ports::{
    DatabaseFilter, EmbeddingModel, Methodology, MethodologyKind, ModelSource, ModelState, Sort,
};
use heddle_vectors::records::{
    Backend, DatabaseState, FieldType, MetadataField, MetadataSchema, QueryDefaults, QueryMode,
    VectorDatabase,
};
use heddle_vectors::{AddressAvailability, AddressFault, NewVectorDatabase, VectorDatabasePatch};
use heddle_workflows::ports::Notifier as _;

use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// Passages of an answer where neither the query nor the database says a number.
const DEFAULT_LIMIT: u32 = 8;

/// GET /api/vector-databases
pub(crate) async fn list(call: Call<ops::ListVectorDatabases>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let (sort, state) = (query.sort.map(sort_of), query.state.map(state_of));
    let filter = DatabaseFilter { sort, q: query.q, state };
    let found = call.app.vectors.databases.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |database| shown(&database))
}

/// Order of a list, from the wire.
pub(super) const fn sort_of(sort: wire::vector_databases::VectorSort) -> Sort {
    match sort {
        wire::vector_databases::VectorSort::Name => Sort::Name,
        wire::vector_databases::VectorSort::Newest => Sort::Newest,
    }
}

/// POST /api/vector-databases
pub(crate) async fn create(call: Call<ops::CreateVectorDatabase>) -> HandlerResult {
    let body = &call.body;
    let new = NewVectorDatabase {
        name: body.name.clone(),
        display_name: body.display_name.clone(),
        description: body.description.clone(),
        model: body.embedding_model_id.clone(),
        methodology: body.methodology_id.clone(),
        options: body.methodology_options.clone(),
        backend: body.backend.map(backend_of),
        schema: schema_of(body.metadata_schema.as_ref()),
        defaults: body.defaults.as_ref().map(defaults_of).unwrap_or_default(),
    };
    let answer = |made: &VectorDatabase| {
        let location = format!("/api/vector-databases/{}", made.name);
        Ok(Response::data(201, shown(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &VectorDatabase| call.journal(made.name.as_str(), || answer(made));
    let made = call.app.vectors.databases.create(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/vector-databases/address-availability
pub(crate) async fn availability(call: Call<ops::GetAddressAvailability>) -> HandlerResult {
    let databases = &call.app.vectors.databases;
    let found = databases.availability(&call.authorized, &call.context, &call.query.name).await?;
    Response::data(200, availability_shown(found))
}

/// GET /api/vector-databases/embedding-models
pub(crate) async fn models(call: Call<ops::ListEmbeddingModels>) -> HandlerResult {
    let found = call.app.vectors.databases.models(&call.authorized, &call.context).await?;
    let models = found.into_iter().map(model).collect();
    Response::data(200, wire::vector_databases::EmbeddingModels(models))
}

/// GET /api/vector-databases/methodologies
pub(crate) async fn methodologies(call: Call<ops::ListMethodologies>) -> HandlerResult {
    let found = call.app.vectors.databases.methodologies(&call.authorized);
    let methodologies = found.into_iter().map(methodology).collect();
    Response::data(200, wire::vector_databases::Methodologies(methodologies))
}

/// PATCH /api/vector-databases/{name}
pub(crate) async fn patch(call: Call<ops::UpdateVectorDatabase>) -> HandlerResult {
    let body = &call.body;
    let patch = VectorDatabasePatch {
        display_name: body.display_name.clone(),
        description: body.description.clone(),
        defaults: body.defaults.as_ref().map(defaults_of),
        schema: schema_of(body.metadata_schema.as_ref()),
        methodology: body.methodology_id.clone(),
        options: body.methodology_options.clone(),
        model: body.embedding_model_id.clone(),
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &VectorDatabase| Ok(Response::data(200, shown(made))?.tagged(made.revision));
    let record = |made: &VectorDatabase| call.journal(made.name.as_str(), || answer(made));
    let made = call.app.vectors.databases.update(&call.authorized, &call.context, patch, &record).await?;
    if made.next.is_some() {
        call.app.hub.errand_asked();
    }
    answer(&made)
}

/// DELETE /api/vector-databases/{name}
pub(crate) async fn delete(call: Call<ops::DeleteVectorDatabase>) -> HandlerResult {
    let journal = call.audited(call.authorized.id().as_str());
    let databases = &call.app.vectors.databases;
    databases.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    call.app.vectors.left_behind();
    Ok(Response::none())
}

fn shown(database: &VectorDatabase) -> wire::vector_databases::VectorDatabase {
    use wire::vector_databases as to;
    let model = database.recipe.model.as_ref();
    let counts = database.counts;
    to::VectorDatabase {
        name: database.name.to_string(),
        display_name: database.display_name.clone(),
        description: database.description.clone(),
        state: match database.state {
            DatabaseState::Ready => to::VectorDatabaseState::Ready,
            DatabaseState::Building => to::VectorDatabaseState::Building,
            DatabaseState::Degraded => to::VectorDatabaseState::Degraded,
        },
        backend: match database.backend {
            Backend::Embedded => to::VectorBackend::Embedded,
            Backend::Pgvector => to::VectorBackend::Pgvector,
        },
        embedding_model: model.map(|model| to::EmbeddingModelRef {
            id: model.id.clone(),
            dimensions: model.dimensions,
            revision: model.revision.clone(),
        }),
        methodology: to::MethodologyRef {
            id: database.recipe.chunking.id.clone(),
            options: database.recipe.chunking.options.clone(),
        },
        distance: to::VectorDistance::Cosine,
        metadata_schema: database
            .schema
            .iter()
            .map(|(name, field)| (name.clone(), field_shown(*field)))
            .collect(),
        defaults: to::QueryDefaults {
            limit: database.defaults.limit.unwrap_or(DEFAULT_LIMIT),
            mode: mode_shown(database.defaults.mode.unwrap_or(match model {
                Some(_) => QueryMode::Hybrid,
                None => QueryMode::Keyword,
            })),
        },
        counts: to::VectorDatabaseCounts {
            files: counts.files,
            ready_files: counts.ready_files,
            failed_files: counts.failed_files,
            passages: counts.passages,
        },
        storage: to::VectorDatabaseStorage { raw_bytes: counts.raw_bytes, index_bytes: counts.index_bytes },
        revision: database.revision.0,
        created_at: database.created_at,
        created_by: database.created_by.to_string(),
        updated_at: database.updated_at,
        updated_by: database.updated_by.to_string(),
        last_ingested_at: database.last_ingested_at,
        reindex_job_id: database.next.as_ref().map(|next| next.job.to_string()),
    }
}

fn field_shown(field: MetadataField) -> wire::vector_databases::MetadataField {
    use wire::vector_databases::MetadataType as To;
    let kind = match field.kind {
        FieldType::String => To::String,
        FieldType::Number => To::Number,
        FieldType::Boolean => To::Boolean,
        FieldType::DateTime => To::DateTime,
    };
    wire::vector_databases::MetadataField { kind, filterable: field.filterable }
}

fn schema_of(sent: Option<&std::collections::BTreeMap<String, SentMetadataField>>) -> MetadataSchema {
    use wire::vector_databases::MetadataType as From;
    let field = |sent: &SentMetadataField| MetadataField {
        kind: match sent.kind {
            From::String => FieldType::String,
            From::Number => FieldType::Number,
            From::Boolean => FieldType::Boolean,
            From::DateTime => FieldType::DateTime,
        },
        filterable: sent.filterable.unwrap_or(true),
    };
    sent.into_iter().flatten().map(|(name, sent)| (name.clone(), field(sent))).collect()
}

fn defaults_of(sent: &SentQueryDefaults) -> QueryDefaults {
    QueryDefaults { limit: sent.limit, mode: sent.mode.map(mode_of) }
}

/// A manner of finding passages, from the wire.
pub(super) fn mode_of(mode: wire::vector_databases::QueryMode) -> QueryMode {
    use wire::vector_databases::QueryMode as From;
    match mode {
        From::Hybrid => QueryMode::Hybrid,
        From::Semantic => QueryMode::Semantic,
        From::Keyword => QueryMode::Keyword,
    }
}

/// A manner of finding passages, on the wire.
pub(super) fn mode_shown(mode: QueryMode) -> wire::vector_databases::QueryMode {
    use wire::vector_databases::QueryMode as To;
    match mode {
        QueryMode::Hybrid => To::Hybrid,
        QueryMode::Semantic => To::Semantic,
        QueryMode::Keyword => To::Keyword,
    }
}

fn state_of(state: wire::vector_databases::VectorDatabaseState) -> DatabaseState {
    use wire::vector_databases::VectorDatabaseState as From;
    match state {
        From::Ready => DatabaseState::Ready,
        From::Building => DatabaseState::Building,
        From::Degraded => DatabaseState::Degraded,
    }
}

fn backend_of(backend: wire::vector_databases::VectorBackend) -> Backend {
    use wire::vector_databases::VectorBackend as From;
    match backend {
        From::Embedded => Backend::Embedded,
        From::Pgvector => Backend::Pgvector,
    }
}

fn availability_shown(found: AddressAvailability) -> wire::vector_databases::AddressAvailability {
    use wire::vector_databases::AddressReason as To;
    let reason = found.fault.map(|fault| match fault {
        AddressFault::Taken => To::Taken,
        AddressFault::Reserved => To::Reserved,
        AddressFault::Invalid => To::Invalid,
    });
    wire::vector_databases::AddressAvailability {
        name: found.name,
        normalized: found.normalized,
        available: reason.is_none(),
        reason,
        suggestions: found.suggestions,
    }
}

fn model(model: EmbeddingModel) -> wire::vector_databases::EmbeddingModel {
    use wire::vector_databases as to;
    to::EmbeddingModel {
        id: model.model.id,
        display_name: model.display_name,
        source: match model.source {
            ModelSource::BuiltIn => to::EmbeddingSource::BuiltIn,
            ModelSource::Deployment => to::EmbeddingSource::Deployment,
        },
        deployment_alias: model.deployment_alias,
        dimensions: Some(model.model.dimensions).filter(|length| *length > 0),
        max_input_tokens: model.max_input_tokens,
        distance: to::VectorDistance::Cosine,
        languages: model.languages,
        state: match model.state {
            ModelState::Ready => to::EmbeddingModelState::Ready,
            ModelState::Missing => to::EmbeddingModelState::Missing,
            ModelState::Loading => to::EmbeddingModelState::Loading,
            ModelState::Error => to::EmbeddingModelState::Error,
        },
        state_detail: model.state_detail,
        is_default: model.is_default,
        sha256: model.sha256,
        licence: Some(model.licence).filter(|licence| !licence.is_empty()),
    }
}

fn methodology(one: Methodology) -> wire::vector_databases::Methodology {
    use wire::vector_databases::MethodologyKind as To;
    wire::vector_databases::Methodology {
        id: one.id,
        kind: match one.kind {
            MethodologyKind::Chunking => To::Chunking,
            MethodologyKind::Retrieval => To::Retrieval,
        },
        display_name: one.display_name,
        description: one.description,
        is_default: one.is_default,
        requires_embedding: one.requires_embedding,
        options_schema: one.options_schema,
        defaults: one.defaults,
    }
}

//! Connections to providers of models and their catalogues: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_model_faces::connections as faces;
use heddle_model_faces::deployments as deployed;
use heddle_model_faces::literals::capability_of;
use heddle_models::ports::{CatalogueFilter, ConnectionFilter};
use heddle_models::records::{Discovered, ModelConnection};
use heddle_models::{Imported, TestProbe, UpdatedModelConnection};
use serde_json::json;

use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// GET /api/model-providers/types
pub(crate) async fn types(call: Call<ops::ListModelProviderTypes>) -> HandlerResult {
    let types = call.app.models.connections.types(&call.authorized);
    let types = types.into_iter().map(faces::provider_type).collect();
    Response::data(200, wire::model_connections::ModelProviderTypes(types))
}

/// GET /api/model-providers/connections
pub(crate) async fn list(call: Call<ops::ListModelConnections>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let kind = query.kind.as_deref().map(faces::kind_of).transpose()?;
    let filter = ConnectionFilter { q: query.q, kind, enabled: query.enabled };
    let connections = &call.app.models.connections;
    let found = connections.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |connection| faces::connection(&connection))
}

/// POST /api/model-providers/connections
pub(crate) async fn create(call: Call<ops::CreateModelConnection>) -> HandlerResult {
    let new = faces::new_connection(&call.body)?;
    let answer = |made: &ModelConnection| {
        let location = format!("/api/model-providers/connections/{}", made.id);
        Ok(Response::data(201, faces::connection(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &ModelConnection| {
        let details = json!({ "type": made.kind.as_str(), "hasKey": made.api_key.is_some() });
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let connections = &call.app.models.connections;
    let made = connections.create(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/model-providers/connections/{connectionId}
pub(crate) async fn get(call: Call<ops::GetModelConnection>) -> HandlerResult {
    let found = call.app.models.connections.get(&call.authorized, &call.context).await?;
    Ok(Response::data(200, faces::connection(&found))?.tagged(found.revision))
}

/// PATCH /api/model-providers/connections/{connectionId}
pub(crate) async fn patch(call: Call<ops::UpdateModelConnection>) -> HandlerResult {
    let patch = faces::patch(&call.body, call.seen(call.body.revision)?);
    let answer = |made: &UpdatedModelConnection| {
        let connection = &made.connection;
        Ok(Response::data(200, faces::connection(connection))?.tagged(connection.revision))
    };
    let record = |made: &UpdatedModelConnection| {
        let details = json!({ "set": made.changed });
        call.journal_with(&made.connection.id.to_string(), details, || answer(made))
    };
    let connections = &call.app.models.connections;
    let made = connections.update(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/model-providers/connections/{connectionId}
pub(crate) async fn delete(call: Call<ops::DeleteModelConnection>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    let (cascade, seen) = (call.query.cascade.unwrap_or(false), call.meta.if_match);
    let connections = &call.app.models.connections;
    connections.delete(&call.authorized, &call.context, seen, cascade, &journal).await?;
    Ok(Response::none())
}

/// POST /api/model-providers/connections/{connectionId}/test
pub(crate) async fn test(call: Call<ops::TestModelConnection>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    let answer = |probe: &TestProbe| Response::data(200, faces::tested(probe));
    let record = |probe: &TestProbe| {
        let details = json!({ "ok": probe.result.ok, "phase": probe.result.phase.as_str() });
        call.journal_with(&id, details, || answer(probe))
    };
    let probe = call.app.models.connections.test(&call.authorized, &call.context, &record).await?;
    answer(&probe)
}

/// GET /api/model-providers/connections/{connectionId}/models
pub(crate) async fn models(call: Call<ops::ListProviderModels>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = CatalogueFilter { q: query.q, capability: query.capability.map(capability_of) };
    let catalogue = &call.app.models.catalogue;
    let found = catalogue.models(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |model| faces::provider_model(&model))
}

/// POST /api/model-providers/connections/{connectionId}/models/discover
pub(crate) async fn discover(call: Call<ops::DiscoverModels>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    let answer = |found: &Discovered| Response::data(200, faces::discovered(found));
    let record = |found: &Discovered| {
        let (added, removed) = (found.added.len(), found.removed.len());
        call.journal_with(&id, json!({ "added": added, "removed": removed }), || answer(found))
    };
    let found = call.app.models.catalogue.discover(&call.authorized, &call.context, &record).await?;
    answer(&found)
}

/// POST /api/model-providers/connections/{connectionId}/models/import
pub(crate) async fn import(call: Call<ops::ImportModels>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    let answer = |made: &Imported| Response::data(201, deployed::imported(made));
    let record = |made: &Imported| {
        let ids: Vec<String> = made.imported.iter().map(|one| one.id.to_string()).collect();
        call.journal_with(&id, json!({ "deployments": ids }), || answer(made))
    };
    let new = deployed::import(&call.body);
    let made = call.app.models.catalogue.import(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

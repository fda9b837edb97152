//! Connections: wire types to domain types and back, around the use cases.

use std::collections::BTreeMap;

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_api::wire::connections::SecretText;
use heddle_connections::ports::ConnectionFilter;
use heddle_connections::records::{Connection, TestResult};
use heddle_connections::secret::Secret;
use heddle_connections::{ConnectionPatch, ConnectionType, NewConnection, UpdatedConnection};
use heddle_faces::literals::{connection_kind, connection_kind_of, test_phase};
use heddle_kernel::Patch;
use serde_json::json;

use crate::app::App;
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// GET /api/connections
pub(crate) async fn list(call: Call<ops::ListConnections>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = ConnectionFilter { q: query.q, kind: query.kind.map(connection_kind_of) };
    let found = call.app.connections.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |connection| shown(&connection))
}

/// GET /api/connections/options
pub(crate) async fn options(call: Call<ops::GetConnectionOptions>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let wanted = query.kind.map(connection_kind_of);
    let filter = ConnectionFilter { q: query.q, kind: wanted };
    let found = call.app.connections.options(&call.authorized, &call.context, &filter, &page).await?;
    let next_cursor = found.next.as_ref().map(|cursor| cursor.as_str().to_owned());
    let connections = found.items.into_iter().map(|option| wire::connections::ConnectionOption {
        id: option.id.to_string(),
        name: option.name,
        kind: connection_kind(option.kind),
        description: option.description,
    });
    let types = ConnectionType::ALL.iter().filter(|one| wanted.is_none_or(|wanted| wanted == one.kind));
    let data = wire::connections::ConnectionOptions {
        connections: connections.collect(),
        next_cursor,
        types: types.map(described).collect(),
    };
    Response::data(200, data)
}

/// POST /api/connections
pub(crate) async fn create(call: Call<ops::CreateConnection>) -> HandlerResult {
    let body = &call.body;
    let secrets = body.secrets.iter().flatten();
    let new = NewConnection {
        name: body.name.clone(),
        kind: connection_kind_of(body.kind),
        description: body.description.clone(),
        labels: body.labels.clone().unwrap_or_default(),
        config: body.config.clone(),
        secrets: secrets.map(|(name, text)| (name.clone(), secret(text))).collect(),
    };
    let answer = |made: &Connection| {
        let location = format!("/api/connections/{}", made.id);
        Ok(Response::data(201, shown(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Connection| {
        let details =
            json!({ "type": made.kind.as_str(), "secrets": made.secrets.keys().collect::<Vec<_>>() });
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let made = call.app.connections.create(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/connections/{id}
pub(crate) async fn get(call: Call<ops::GetConnection>) -> HandlerResult {
    let found = call.app.connections.get(&call.authorized, &call.context).await?;
    Ok(Response::data(200, shown(&found))?.tagged(found.revision))
}

/// PATCH /api/connections/{id}
pub(crate) async fn patch(call: Call<ops::UpdateConnection>) -> HandlerResult {
    let body = &call.body;
    let secrets = body.secrets.iter().flatten().map(|(name, sent)| {
        (name.clone(), sent.as_ref().map_or(Patch::Null, |text| Patch::Value(secret(text))))
    });
    let patch = ConnectionPatch {
        name: body.name.clone(),
        description: body.description.clone(),
        labels: body.labels.clone(),
        config: body.config.clone().unwrap_or_default(),
        secrets: secrets.collect(),
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &UpdatedConnection| {
        Ok(Response::data(200, shown(&made.connection))?.tagged(made.connection.revision))
    };
    let record = |made: &UpdatedConnection| {
        let details = json!({ "set": made.changed });
        call.journal_with(&made.connection.id.to_string(), details, || answer(made))
    };
    let made = call.app.connections.update(&call.authorized, &call.context, patch, &record).await?;
    if !made.changed.is_empty() {
        wake(&call.app, &made.connection).await;
    }
    answer(&made)
}

/// Work that waits for the webhooks over a changed connection is tried again at once: the change may be the repair.
async fn wake(app: &App, connection: &Connection) {
    match app.connections.webhooks_over(connection).await {
        Ok(webhooks) => {
            for webhook in webhooks {
                app.webhook_changed(connection.tenant, webhook).await;
            }
        }
        Err(error) => {
            let error = error.in_words();
            tracing::warn!(error, connection = %connection.id, "what waits for a connection is tried later");
        }
    }
}

/// DELETE /api/connections/{id}
pub(crate) async fn delete(call: Call<ops::DeleteConnection>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    call.app.connections.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// POST /api/connections/{id}/test
pub(crate) async fn test(call: Call<ops::TestConnection>) -> HandlerResult {
    let id = call.authorized.id().to_string();
    let answer = |result: &TestResult| Response::data(200, tested(result));
    let record = |result: &TestResult| {
        let details = json!({ "ok": result.ok, "phase": result.phase.as_str() });
        call.journal_with(&id, details, || answer(result))
    };
    let result = call.app.connections.test(&call.authorized, &call.context, &record).await?;
    answer(&result)
}

/// Result of a test on the wire.
pub(super) fn tested(result: &TestResult) -> wire::connections::ConnectionTest {
    wire::connections::ConnectionTest {
        ok: result.ok,
        phase: test_phase(result.phase),
        latency_ms: result.latency_ms,
        message: result.message.clone(),
        tested_at: result.tested_at,
    }
}

fn secret(text: &SecretText) -> Secret {
    Secret::new(text.expose())
}

fn described(of: &ConnectionType) -> wire::connections::ConnectionTypeDescription {
    wire::connections::ConnectionTypeDescription {
        kind: connection_kind(of.kind),
        title: of.title.to_owned(),
        description: of.description.to_owned(),
        config_schema: of.config_schema(),
        secrets_schema: of.secrets_schema(),
    }
}

fn shown(connection: &Connection) -> wire::connections::Connection {
    wire::connections::Connection {
        id: connection.id.to_string(),
        name: connection.name.clone(),
        kind: connection_kind(connection.kind),
        description: connection.description.clone(),
        labels: connection.labels.clone(),
        config: connection.config.clone(),
        secrets: secrets(connection),
        revision: connection.revision.0,
        last_test: connection.last_test.as_ref().map(tested),
        created_at: connection.created_at,
        created_by: connection.created_by.to_string(),
        updated_at: connection.updated_at,
        updated_by: connection.updated_by.to_string(),
    }
}

/// Every secret that the type has, and of those that are there what may be told.
fn secrets(connection: &Connection) -> BTreeMap<String, wire::connections::SecretState> {
    let of = ConnectionType::of(connection.kind);
    let state = |name: &str| {
        let state = connection.secrets.get(name);
        wire::connections::SecretState {
            configured: state.is_some(),
            updated_at: state.map(|state| state.updated_at),
            hint: state.and_then(|state| state.hint.clone()),
        }
    };
    of.secrets.iter().map(|field| (field.name.to_owned(), state(field.name))).collect()
}

//! Residency of local models, deployments in line with what runs locally, and usage: wire types to domain types and back,
//! around the use cases.

use heddle_api::operations::ops;
use heddle_api::wire::model_deployments as wire;
use heddle_model_faces::deployments as faces;
use heddle_model_faces::literals::usage_axis_of;
use heddle_model_faces::usage::row;
use heddle_models::records::UsageAxis;
use heddle_models::{MemorySet, PreloadSet, Refreshed, SyncOutcome, SyncRequest, UsageAsked};
use serde_json::json;

use super::id_of;
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// PUT /api/model-providers/deployments/{deploymentId}/memory
pub(crate) async fn memory(call: Call<ops::SetDeploymentMemory>) -> HandlerResult {
    let (memory, seen) = (faces::memory_of(&call.body), call.seen(call.body.revision)?);
    let answer = |set: &MemorySet| {
        let deployment = &set.deployment;
        Ok(Response::data(200, faces::deployment(deployment))?.tagged(deployment.revision))
    };
    let record = |set: &MemorySet| {
        let details = json!({ "policy": memory_word(set) });
        call.journal_with(&set.deployment.id.to_string(), details, || answer(set))
    };
    let residency = &call.app.models.residency;
    let set = residency.set_memory(&call.authorized, &call.context, memory, seen, &record).await?;
    answer(&set)
}

const fn memory_word(set: &MemorySet) -> &'static str {
    set.deployment.memory.policy.as_str()
}

/// PUT /api/model-providers/deployments/{deploymentId}/preload
pub(crate) async fn preload(call: Call<ops::SetDeploymentPreload>) -> HandlerResult {
    let (enabled, seen) = (call.body.enabled, call.seen(call.body.revision)?);
    let answer = |set: &PreloadSet| {
        let deployment = &set.deployment;
        Ok(Response::data(200, faces::deployment(deployment))?.tagged(deployment.revision))
    };
    let record = |set: &PreloadSet| {
        call.journal_with(&set.deployment.id.to_string(), json!({ "enabled": enabled }), || answer(set))
    };
    let residency = &call.app.models.residency;
    let set = residency.set_preload(&call.authorized, &call.context, enabled, seen, &record).await?;
    answer(&set)
}

/// POST /api/model-providers/deployments/{deploymentId}/refresh-revision
pub(crate) async fn refresh(call: Call<ops::RefreshDeploymentRevision>) -> HandlerResult {
    let answer = |done: &Refreshed| {
        let data = wire::RefreshedRevision {
            previous_revision: done.previous.clone(),
            current_revision: done.current.clone(),
            changed: done.changed,
            affected: wire::AffectedByRevision { vector_databases: done.stale_databases },
        };
        Response::data(200, data)
    };
    let record = |done: &Refreshed| {
        let details = json!({ "changed": done.changed, "vectorDatabases": done.stale_databases });
        call.journal_with(&done.deployment.id.to_string(), details, || answer(done))
    };
    let expected = call.body.expected_revision.as_deref();
    let residency = &call.app.models.residency;
    let done = residency.refresh_revision(&call.authorized, &call.context, expected, &record).await?;
    answer(&done)
}

/// POST /api/model-providers/deployments/sync-local
pub(crate) async fn sync(call: Call<ops::SyncLocalDeployments>) -> HandlerResult {
    let request = SyncRequest {
        connection: id_of(call.body.connection_id.as_deref(), "connectionId")?,
        dry_run: call.body.dry_run.unwrap_or(false),
        prune: call.body.prune.unwrap_or(false),
    };
    let answer = |done: &SyncOutcome| Response::data(200, faces::synced(done));
    let record = |done: &SyncOutcome| {
        let details = json!({
            "created": done.created.len(), "updated": done.updated.len(), "missing": done.missing.len(),
            "deleted": done.deleted.len(), "dryRun": done.dry_run,
        });
        call.journal_with(crate::audit::About::none(), details, || answer(done))
    };
    let done = call.app.models.local.sync(&call.authorized, &call.context, request, &record).await?;
    answer(&done)
}

/// GET /api/usage
pub(crate) async fn usage(call: Call<ops::GetUsage>) -> HandlerResult {
    let query = call.query;
    let asked = UsageAsked {
        by: query.by.map_or(UsageAxis::Day, usage_axis_of),
        from: query.from,
        to: query.to,
        deployment: id_of(query.deployment_id.as_deref(), "deploymentId")?,
    };
    let page = page(query.limit, query.cursor);
    let found = call.app.models.usage.sums(&call.authorized, &call.context, &asked, &page).await?;
    Response::list(found.page, page.limit, |total| row(&total))
}

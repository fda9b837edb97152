//! Deployments of models: wire types to domain types and back, around the use cases.

use heddle_api::operations::ops;
use heddle_model_faces::deployments as faces;
use heddle_model_faces::literals::{capability_of, deployment_state_of};
use heddle_models::UpdatedDeployment;
use heddle_models::ports::DeploymentFilter;
use heddle_models::records::Deployment;
use serde_json::json;

use super::id_of;
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// POST /api/model-providers/connections/{connectionId}/deployments
pub(crate) async fn create(call: Call<ops::CreateDeployment>) -> HandlerResult {
    let new = faces::new_deployment(&call.body, call.path.connection_id)?;
    let answer = |made: &Deployment| {
        let location = format!("/api/model-providers/deployments/{}", made.id);
        Ok(Response::data(201, faces::deployment(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Deployment| {
        let details = json!({ "alias": made.alias, "connectionId": made.connection_id.to_string() });
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let deployments = &call.app.models.deployments;
    let made = deployments.create(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/model-providers/deployments
pub(crate) async fn list(call: Call<ops::ListDeployments>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = DeploymentFilter {
        q: query.q,
        connection: id_of(query.connection_id.as_deref(), "connectionId")?,
        capability: query.capability.map(capability_of),
        state: query.state.map(deployment_state_of),
        callable: false,
    };
    let deployments = &call.app.models.deployments;
    let found = deployments.list(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |deployment| faces::deployment(&deployment))
}

/// GET /api/model-providers/deployments/{deploymentId}
pub(crate) async fn get(call: Call<ops::GetDeployment>) -> HandlerResult {
    let found = call.app.models.deployments.get(&call.authorized, &call.context).await?;
    Ok(Response::data(200, faces::deployment(&found))?.tagged(found.revision))
}

/// PATCH /api/model-providers/deployments/{deploymentId}
pub(crate) async fn patch(call: Call<ops::UpdateDeployment>) -> HandlerResult {
    let patch = faces::patch(&call.body, call.seen(call.body.revision)?)?;
    let answer = |made: &UpdatedDeployment| {
        let deployment = &made.deployment;
        Ok(Response::data(200, faces::deployment(deployment))?.tagged(deployment.revision))
    };
    let record = |made: &UpdatedDeployment| {
        let details = json!({ "set": made.changed });
        call.journal_with(&made.deployment.id.to_string(), details, || answer(made))
    };
    let deployments = &call.app.models.deployments;
    let made = deployments.update(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/model-providers/deployments/{deploymentId}
pub(crate) async fn delete(call: Call<ops::DeleteDeployment>) -> HandlerResult {
    let journal = call.audited(&call.authorized.id().to_string());
    let deployments = &call.app.models.deployments;
    deployments.delete(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

//! Organisations.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_identity::records::Organization;
use heddle_identity::{CreateOrganization, PatchOrganization};

use super::changes;
use crate::call::{Call, page};
use crate::reply::{HandlerResult, Response};

/// GET /api/organizations
pub(crate) async fn list(call: Call<ops::ListOrganizations>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found = call
        .app
        .identity
        .organizations(&call.authorized, &call.context, call.query.q.as_deref(), &page)
        .await?;
    Response::list(found, page.limit, |found| organization(&found))
}

/// POST /api/organizations
pub(crate) async fn create(call: Call<ops::CreateOrganization>) -> HandlerResult {
    let new =
        CreateOrganization { slug: call.body.slug.clone(), display_name: call.body.display_name.clone() };
    let answer = |made: &Organization| {
        let location = format!("/api/organizations/{}", made.id);
        Ok(Response::data(201, organization(made))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Organization| call.journal(&made.id.to_string(), || answer(made));
    let made = call.app.identity.create_organization(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/organizations/{organizationId}
pub(crate) async fn get(call: Call<ops::GetOrganization>) -> HandlerResult {
    let found = call.app.identity.organization(&call.authorized, &call.context).await?;
    Ok(Response::data(200, organization(&found))?.tagged(found.revision))
}

/// PATCH /api/organizations/{organizationId}
pub(crate) async fn patch(call: Call<ops::UpdateOrganization>) -> HandlerResult {
    let body = &call.body;
    let patch = PatchOrganization {
        slug: body.slug.clone(),
        display_name: body.display_name.clone(),
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &Organization| Ok(Response::data(200, organization(made))?.tagged(made.revision));
    let record = |made: &Organization| {
        call.journal_with(&made.id.to_string(), changes::organization(body), || answer(made))
    };
    let made = call.app.identity.update_organization(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/organizations/{organizationId}
pub(crate) async fn delete(call: Call<ops::DeleteOrganization>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app
        .identity
        .delete_organization(&call.authorized, &call.context, call.meta.if_match, &journal)
        .await?;
    Ok(Response::none())
}

/// An organisation.
pub(super) fn organization(organization: &Organization) -> wire::directory::Organization {
    wire::directory::Organization {
        id: organization.id.to_string(),
        slug: organization.slug.clone(),
        display_name: organization.display_name.clone(),
        revision: organization.revision.0,
        created_at: organization.created_at,
        updated_at: organization.updated_at,
    }
}

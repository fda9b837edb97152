//! Groups.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_identity::records::{Group, GroupRole};
use heddle_identity::{NewGroup, PatchGroup, RoleExpiry};
use heddle_kernel::{Patch, RoleId, Timestamp, UserId};

use super::changes;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/groups
pub(crate) async fn list(call: Call<ops::ListGroups>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found =
        call.app.identity.groups(&call.authorized, &call.context, call.query.q.as_deref(), &page).await?;
    let now = call.context.now();
    Response::list(found, page.limit, |found| group(&found, now))
}

/// POST /api/groups
pub(crate) async fn create(call: Call<ops::CreateGroup>) -> HandlerResult {
    let body = &call.body;
    let members = users("members", body.members.as_deref())?;
    let new = NewGroup {
        name: body.name.clone(),
        description: body.description.clone(),
        roles: body.roles.clone().unwrap_or_default(),
        role_expiries: expiries(body.role_expiries.as_deref())?,
        members: members.clone(),
    };
    let now = call.context.now();
    let answer = |made: &Group| {
        let location = format!("/api/groups/{}", made.id);
        Ok(Response::data(201, group(made, now))?.with("location", location).tagged(made.revision))
    };
    let record = |made: &Group| {
        call.journal_with(&made.id.to_string(), changes::new_group(made, &members), || answer(made))
    };
    let made = call.app.identity.create_group(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/groups/{groupId}
pub(crate) async fn get(call: Call<ops::GetGroup>) -> HandlerResult {
    let found = call.app.identity.group(&call.authorized, &call.context).await?;
    Ok(Response::data(200, group(&found, call.context.now()))?.tagged(found.revision))
}

/// PATCH /api/groups/{groupId}
pub(crate) async fn patch(call: Call<ops::UpdateGroup>) -> HandlerResult {
    let body = &call.body;
    let added = users("addMembers", body.add_members.as_deref())?;
    let removed = users("removeMembers", body.remove_members.as_deref())?;
    let patch = PatchGroup {
        name: body.name.clone(),
        description: body.description.clone().map_or(Patch::Absent, Patch::Value),
        roles: body.roles.clone(),
        role_expiries: expiries(body.role_expiries.as_deref())?,
        added: added.clone(),
        removed: removed.clone(),
        revision: call.seen(body.revision)?,
    };
    let now = call.context.now();
    let answer = |made: &Group| Ok(Response::data(200, group(made, now))?.tagged(made.revision));
    let record = |made: &Group| {
        let details = changes::group(body, made, &added, &removed);
        call.journal_with(&made.id.to_string(), details, || answer(made))
    };
    let made = call.app.identity.update_group(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/groups/{groupId}
pub(crate) async fn delete(call: Call<ops::DeleteGroup>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.identity.delete_group(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

fn group(group: &Group, now: Timestamp) -> wire::directory::Group {
    let role = |role: &GroupRole| held_role(role.id, &role.name, role.expires_at, now);
    wire::directory::Group {
        id: group.id.to_string(),
        name: group.name.clone(),
        description: group.description.clone().unwrap_or_default(),
        roles: group.roles.iter().map(role).collect(),
        revision: group.revision.0,
        created_at: group.created_at,
        updated_at: group.updated_at,
    }
}

/// Whether something with an end holds.
pub(super) fn hold_state(end: Option<Timestamp>, now: Timestamp) -> wire::access::HoldState {
    match end {
        Some(end) if end <= now => wire::access::HoldState::Expired,
        Some(_) | None => wire::access::HoldState::Active,
    }
}

/// A role that somebody has, or that a group gives.
pub(super) fn held_role(
    id: RoleId,
    name: &str,
    end: Option<Timestamp>,
    now: Timestamp,
) -> wire::directory::HeldRole {
    wire::directory::HeldRole {
        id: id.to_string(),
        name: name.to_owned(),
        expires_at: end,
        state: hold_state(end, now),
    }
}

/// Ends of roles; one that is not told is no end that somebody asked for.
pub(super) fn expiries(sent: Option<&[wire::directory::RoleExpiry]>) -> Result<Vec<RoleExpiry>, Failure> {
    let expiry = |(at, one): (usize, &wire::directory::RoleExpiry)| {
        let expires_at = match &one.expires_at {
            Patch::Value(end) => Some(*end),
            Patch::Null => None,
            Patch::Absent => {
                let field = format!("roleExpiries[{at}].expiresAt");
                return Err(Failure::at(&field, "required", "An instant or null is needed."));
            }
        };
        Ok(RoleExpiry { role: one.role.clone(), expires_at })
    };
    sent.unwrap_or_default().iter().enumerate().map(expiry).collect()
}

fn users(field: &str, sent: Option<&[String]>) -> Result<Vec<UserId>, Failure> {
    let user = |(at, text): (usize, &String)| {
        let wrong = || Failure::at(&format!("{field}[{at}]"), "wrongType", "The id of a user is needed.");
        text.parse::<UserId>().ok().ok_or_else(wrong)
    };
    sent.unwrap_or_default().iter().enumerate().map(user).collect()
}

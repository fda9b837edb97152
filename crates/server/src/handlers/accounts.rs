//! Users and members.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::literals::{user_kind, user_kind_of, user_state, user_state_of};
use heddle_identity::ports::{MemberFilter, UserFilter};
use heddle_identity::records::{Member, User, UserState};
use heddle_identity::{NewAccount, PatchUser, SetMember};
use heddle_kernel::{GroupId, RoleId, Timestamp};
use serde_json::json;

use super::changes;
use super::groups::{expiries, held_role, hold_state};
use crate::audit::About;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::gate::unrestricted;
use crate::reply::{HandlerResult, Response};

/// GET /api/users
pub(crate) async fn list(call: Call<ops::ListUsers>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let filter = UserFilter {
        q: call.query.q,
        state: call.query.state.map(user_state_of),
        kind: call.query.kind.map(user_kind_of),
    };
    let found = call.app.identity.users(&call.authorized, &call.context, &filter, &page).await?;
    Response::list(found, page.limit, |found| user(&found))
}

/// POST /api/users
pub(crate) async fn create(call: Call<ops::CreateUser>) -> HandlerResult {
    let body = &call.body;
    let new = NewAccount {
        kind: body.kind.map(user_kind_of),
        email: body.email.clone(),
        display_name: body.display_name.clone(),
        password: body.password.clone(),
        roles: body.roles.clone().unwrap_or_default(),
    };
    let answer = |made: &User| {
        let location = format!("/api/users/{}", made.id);
        Ok(Response::data(201, user(made))?.with("location", location).tagged(made.revision))
    };
    let record =
        |made: &User| call.journal_with(&made.id.to_string(), changes::created(body), || answer(made));
    let made = call.app.identity.create_user(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/users/{userId}
pub(crate) async fn get(call: Call<ops::GetUser>) -> HandlerResult {
    let found = call.app.identity.user(&call.authorized, &call.context).await?;
    Ok(Response::data(200, user(&found))?.tagged(found.revision))
}

/// PATCH /api/users/{userId}
pub(crate) async fn patch(call: Call<ops::UpdateUser>) -> HandlerResult {
    let body = &call.body;
    let switches_off = body.state.map(user_state_of) == Some(UserState::Disabled)
        && body.email.is_none()
        && body.display_name.is_none()
        && body.password.is_none()
        && body.second_factor.is_none();
    if !switches_off {
        // Only what takes access away does not wait for a licence.
        unrestricted(&call.app)?;
    }
    let patch = PatchUser {
        email: body.email.clone(),
        display_name: body.display_name.clone(),
        password: body.password.clone(),
        state: body.state.map(user_state_of),
        second_factor: body.second_factor,
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &User| Ok(Response::data(200, user(made))?.tagged(made.revision));
    let record =
        |made: &User| call.journal_with(&made.id.to_string(), changes::account(body), || answer(made));
    let made = call.app.identity.update_user(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/users/{userId}
pub(crate) async fn delete(call: Call<ops::DeleteUser>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.identity.delete_user(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// DELETE /api/users/{userId}/providers/{provider}
pub(crate) async fn unlink(call: Call<ops::UnlinkUser>) -> HandlerResult {
    let provider = &call.path.provider;
    let about = About::from(&call.authorized.id().to_string()).with(json!({ "provider": provider }));
    let (seen, journal) = (call.meta.if_match, call.audited(about));
    call.app.identity.unlink_user(&call.authorized, &call.context, provider, seen, &journal).await?;
    Ok(Response::none())
}

/// GET /api/members
pub(crate) async fn members(call: Call<ops::ListMembers>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let group = match call.query.group_id.as_deref().map(str::parse::<GroupId>) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return Err(Failure::at("groupId", "wrongType", "The id of a group is needed.")),
    };
    let filter = MemberFilter { q: call.query.q, group };
    let found = call.app.identity.members(&call.authorized, &call.context, &filter, &page).await?;
    let now = call.context.now();
    Response::list(found, page.limit, |found| member(&found, now))
}

/// PUT /api/members/{userId}
pub(crate) async fn set_member(call: Call<ops::SetMember>) -> HandlerResult {
    let body = &call.body;
    let wanted = SetMember {
        roles: body.roles.clone(),
        role_expiries: expiries(body.role_expiries.as_deref())?,
        groups: body.groups.clone(),
        expires_at: body.expires_at.clone(),
        revision: call.seen(body.revision)?,
    };
    let id = call.authorized.id();
    let now = call.context.now();
    let answer = |made: &Member| Ok(Response::data(200, member(made, now))?.tagged(made.membership.revision));
    let record =
        |made: &Member| call.journal_with(&id.to_string(), changes::membership(made), || answer(made));
    let made = call.app.identity.set_member(&call.authorized, &call.context, wanted, &record).await?;
    answer(&made)
}

/// DELETE /api/members/{userId}
pub(crate) async fn remove_member(call: Call<ops::RemoveMember>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.identity.remove_member(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

/// An account.
pub(super) fn user(user: &User) -> wire::directory::User {
    wire::directory::User {
        id: user.id.to_string(),
        kind: user_kind(user.kind),
        email: user.email.clone(),
        display_name: user.display_name.clone(),
        state: user_state(user.state),
        second_factor: user.totp_enrolled_at.is_some(),
        revision: user.revision.0,
        created_at: user.created_at,
        updated_at: user.updated_at,
    }
}

fn member(member: &Member, now: Timestamp) -> wire::directory::Member {
    let ends = &member.membership.role_ends;
    let role = |(id, name): &(RoleId, String)| held_role(*id, name, ends.get(id).copied(), now);
    let groups = member.groups.iter();
    let groups =
        groups.map(|(id, name)| wire::directory::NamedRef { id: id.to_string(), name: name.clone() });
    wire::directory::Member {
        user_id: member.membership.user_id.to_string(),
        email: member.email.clone(),
        display_name: member.display_name.clone(),
        roles: member.roles.iter().map(role).collect(),
        groups: groups.collect(),
        expires_at: member.membership.expires_at,
        state: hold_state(member.membership.expires_at, now),
        revision: member.membership.revision.0,
        created_at: member.membership.created_at,
    }
}

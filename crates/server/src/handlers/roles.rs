//! Roles, grants and denies.

use heddle_api::operations::ops;
use heddle_api::wire;
use heddle_faces::literals::{effect, effect_of};
use heddle_identity::ports::GrantFilter;
use heddle_identity::records::{GrantPrincipal, GrantRow, Role};
use heddle_identity::{NewGrant, NewRole, PatchRole};
use heddle_kernel::{GroupId, Patch, RoleId, Timestamp, UserId};
use heddle_policy::{PermissionSet, ResourceRule, RoleRules};

use super::changes;
use super::groups::hold_state;
use crate::call::{Call, page};
use crate::failure::Failure;
use crate::reply::{HandlerResult, Response};

/// GET /api/roles
pub(crate) async fn list(call: Call<ops::ListRoles>) -> HandlerResult {
    let page = page(call.query.limit, call.query.cursor);
    let found =
        call.app.identity.roles(&call.authorized, &call.context, call.query.q.as_deref(), &page).await?;
    Response::list(found, page.limit, |found| role(&found))
}

/// POST /api/roles
pub(crate) async fn create(call: Call<ops::CreateRole>) -> HandlerResult {
    let body = &call.body;
    let new = NewRole {
        name: body.name.clone(),
        description: body.description.clone(),
        rules: RoleRules {
            permissions: PermissionSet::of(body.permissions.as_deref().unwrap_or_default()),
            denied_permissions: body.denied_permissions.clone().unwrap_or_default(),
            resources: body.grants.as_deref().unwrap_or_default().iter().map(rule).collect(),
        },
    };
    let answer = |made: &Role| {
        let location = format!("/api/roles/{}", made.id);
        Ok(Response::data(201, role(made))?.with("location", location).tagged(made.revision))
    };
    let record =
        |made: &Role| call.journal_with(&made.id.to_string(), changes::new_role(made), || answer(made));
    let made = call.app.identity.create_role(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/roles/{roleId}
pub(crate) async fn get(call: Call<ops::GetRole>) -> HandlerResult {
    let found = call.app.identity.role(&call.authorized, &call.context).await?;
    Ok(Response::data(200, role(&found))?.tagged(found.revision))
}

/// PATCH /api/roles/{roleId}
pub(crate) async fn patch(call: Call<ops::UpdateRole>) -> HandlerResult {
    let body = &call.body;
    let patch = PatchRole {
        name: body.name.clone(),
        description: body.description.clone().map_or(Patch::Absent, Patch::Value),
        permissions: body.permissions.as_deref().map(PermissionSet::of),
        denied_permissions: body.denied_permissions.clone(),
        resources: body.grants.as_deref().map(|grants| grants.iter().map(rule).collect()),
        revision: call.seen(body.revision)?,
    };
    let answer = |made: &Role| Ok(Response::data(200, role(made))?.tagged(made.revision));
    let record =
        |made: &Role| call.journal_with(&made.id.to_string(), changes::role(body, made), || answer(made));
    let made = call.app.identity.update_role(&call.authorized, &call.context, patch, &record).await?;
    answer(&made)
}

/// DELETE /api/roles/{roleId}
pub(crate) async fn delete(call: Call<ops::DeleteRole>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.identity.delete_role(&call.authorized, &call.context, call.meta.if_match, &journal).await?;
    Ok(Response::none())
}

fn rule(grant: &wire::access::RoleGrant) -> ResourceRule {
    ResourceRule {
        resource: grant.resource_type.clone(),
        actions: vec![grant.action.clone()],
        selector: grant.resource_id.clone(),
        effect: effect_of(grant.effect),
    }
}

fn role(role: &Role) -> wire::access::Role {
    let rows = |rule: &ResourceRule| {
        let rule = rule.clone();
        let actions = rule.actions.clone();
        actions.into_iter().map(move |action| wire::access::RoleGrant {
            resource_type: rule.resource.clone(),
            action,
            resource_id: rule.selector.clone(),
            effect: effect(rule.effect),
        })
    };
    wire::access::Role {
        id: role.id.to_string(),
        name: role.name.clone(),
        description: role.description.clone().unwrap_or_default(),
        system: role.system,
        permissions: role.rules.permissions.words(),
        denied_permissions: role.rules.denied_permissions.clone(),
        grants: role.rules.resources.iter().flat_map(rows).collect(),
        revision: role.revision.0,
        created_at: role.created_at,
        updated_at: role.updated_at,
    }
}

/// GET /api/grants
pub(crate) async fn grants(call: Call<ops::ListGrants>) -> HandlerResult {
    let query = call.query;
    let page = page(query.limit, query.cursor);
    let filter = |principal| GrantFilter {
        principal,
        resource: query.resource_type.clone(),
        selector: query.resource_id.clone(),
    };
    let wanted = match query.principal_id.as_deref() {
        None => vec![None],
        Some(text) => match text.parse::<UserId>() {
            // An id does not tell whether it is a user's, a group's or a role's.
            Ok(user) => vec![
                Some(GrantPrincipal::User(user)),
                Some(GrantPrincipal::Group(GroupId(user.0))),
                Some(GrantPrincipal::Role(RoleId(user.0))),
            ],
            Err(_) => {
                return Err(Failure::at(
                    "principalId",
                    "wrongType",
                    "The id of a user, group or role is needed.",
                ));
            }
        },
    };
    let mut found = heddle_kernel::Page { items: Vec::new(), next: None };
    for principal in wanted {
        found = call.app.identity.grants(&call.authorized, &call.context, &filter(principal), &page).await?;
        if !found.items.is_empty() {
            break;
        }
    }
    let now = call.context.now();
    Response::list(found, page.limit, |found| grant(&found, now))
}

/// POST /api/grants
pub(crate) async fn create_grant(call: Call<ops::CreateGrant>) -> HandlerResult {
    let body = &call.body;
    let new = NewGrant {
        principal: principal_of(&body.principal)?,
        resource: body.resource_type.clone(),
        action: body.action.clone(),
        selector: body.resource_id.clone(),
        effect: effect_of(body.effect),
        expires_at: match &body.expires_at {
            Patch::Value(instant) => Some(*instant),
            Patch::Absent | Patch::Null => None,
        },
        reason: body.reason.clone(),
    };
    let answer = |made: &GrantRow| {
        let shown = grant(made, call.context.now());
        Ok(Response::data(201, shown)?.with("location", format!("/api/grants/{}", made.id)))
    };
    let record = |made: &GrantRow| call.journal(changes::grant(made), || answer(made));
    let made = call.app.identity.create_grant(&call.authorized, &call.context, new, &record).await?;
    answer(&made)
}

/// GET /api/grants/{grantId}
pub(crate) async fn get_grant(call: Call<ops::GetGrant>) -> HandlerResult {
    let found = call.app.identity.grant(&call.authorized, &call.context).await?;
    Response::data(200, grant(&found, call.context.now()))
}

/// DELETE /api/grants/{grantId}
pub(crate) async fn delete_grant(call: Call<ops::DeleteGrant>) -> HandlerResult {
    let id = call.authorized.id();
    let journal = call.audited(&id.to_string());
    call.app.identity.delete_grant(&call.authorized, &call.context, &journal).await?;
    Ok(Response::none())
}

fn principal_of(principal: &wire::access::Principal) -> Result<GrantPrincipal, Failure> {
    let wrong = || Failure::at("principal.id", "wrongType", "The id of a user, group or role is needed.");
    let id = principal.id.as_deref();
    match principal.kind {
        wire::access::PrincipalKind::Everyone if id.is_some() => {
            Err(Failure::at("principal.id", "notAllowed", "Everyone has no id."))
        }
        wire::access::PrincipalKind::Everyone => Ok(GrantPrincipal::Everyone),
        wire::access::PrincipalKind::User => {
            id.and_then(|id| id.parse().ok()).map(GrantPrincipal::User).ok_or_else(wrong)
        }
        wire::access::PrincipalKind::Role => {
            id.and_then(|id| id.parse().ok()).map(GrantPrincipal::Role).ok_or_else(wrong)
        }
        wire::access::PrincipalKind::Group => {
            id.and_then(|id| id.parse().ok()).map(GrantPrincipal::Group).ok_or_else(wrong)
        }
    }
}

fn grant(grant: &GrantRow, now: Timestamp) -> wire::access::Grant {
    let (kind, id) = match grant.principal {
        GrantPrincipal::User(id) => (wire::access::PrincipalKind::User, Some(id.to_string())),
        GrantPrincipal::Group(id) => (wire::access::PrincipalKind::Group, Some(id.to_string())),
        GrantPrincipal::Role(id) => (wire::access::PrincipalKind::Role, Some(id.to_string())),
        GrantPrincipal::Everyone => (wire::access::PrincipalKind::Everyone, None),
    };
    wire::access::Grant {
        id: grant.id.to_string(),
        principal: wire::access::Principal { kind, id },
        resource_type: grant.resource.clone(),
        action: grant.action.clone(),
        resource_id: grant.selector.clone(),
        effect: effect(grant.effect),
        expires_at: grant.expires_at,
        state: hold_state(grant.expires_at, now),
        reason: grant.reason.clone(),
        created_at: grant.created_at,
        created_by: Some(grant.created_by.to_string()),
        unreadable: grant.is_unreadable(),
    }
}

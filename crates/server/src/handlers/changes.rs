//! Details of audit events: which members a call set, and the rights that it gave. Of a password they say that it was
//! set, and of a name or an address that it changed; no value that is secret or a person's is in them.

use heddle_api::wire::access::PatchRole;
use heddle_api::wire::directory::{CreateUser, PatchGroup, PatchOrganization, PatchUser};
use heddle_faces::literals::effect;
use heddle_identity::records::{GrantPrincipal, GrantRow, Group, GroupRole, Member, Role};
use heddle_kernel::{RoleId, UserId};
use heddle_policy::ResourceRule;
use serde_json::{Value, json};

use crate::audit::About;

/// Most rules of a role that its event lists; of more it has the count.
const RULES: usize = 50;

/// The names of the members that a body has.
macro_rules! set {
    ($body:expr, $($name:literal $member:ident),+) => {
        [$($body.$member.is_some().then_some($name)),+].into_iter().flatten().collect::<Vec<&str>>()
    };
}

pub(super) use set;

/// A new account.
pub(super) fn created(body: &CreateUser) -> Value {
    json!({
        "set": set!(body, "password" password, "roles" roles, "kind" kind), "roles": body.roles, "kind": body.kind,
    })
}

/// A change of an account.
pub(super) fn account(body: &PatchUser) -> Value {
    let set = set!(
        body, "email" email, "displayName" display_name, "password" password, "state" state,
        "secondFactor" second_factor
    );
    json!({ "set": set, "state": body.state })
}

/// A change of an organisation.
pub(super) fn organization(body: &PatchOrganization) -> Value {
    json!({ "set": set!(body, "slug" slug, "displayName" display_name) })
}

/// A membership with its roles and groups.
pub(super) fn membership(member: &Member) -> Value {
    let ends = &member.membership.role_ends;
    let role = |(id, name): &(RoleId, String)| json!({ "id": id.to_string(), "name": name, "expiresAt": ends.get(id) });
    let groups = member.groups.iter().map(|(id, name)| json!({ "id": id.to_string(), "name": name }));
    json!({
        "roles": member.roles.iter().map(role).collect::<Vec<_>>(), "groups": groups.collect::<Vec<_>>(),
        "expiresAt": member.membership.expires_at,
    })
}

/// A new group, with the roles that it gives and who is in it.
pub(super) fn new_group(group: &Group, members: &[UserId]) -> Value {
    json!({ "name": group.name, "roles": given(group), "members": ids(members) })
}

/// A change of a group, with the roles that it gives after it, and who came and went.
pub(super) fn group(body: &PatchGroup, group: &Group, added: &[UserId], removed: &[UserId]) -> Value {
    let set = set!(
        body, "name" name, "description" description, "roles" roles, "roleExpiries" role_expiries,
        "addMembers" add_members, "removeMembers" remove_members
    );
    json!({
        "set": set, "name": group.name, "roles": given(group), "added": ids(added), "removed": ids(removed),
    })
}

fn given(group: &Group) -> Vec<Value> {
    let role = |role: &GroupRole| json!({ "id": role.id.to_string(), "name": role.name, "expiresAt": role.expires_at });
    group.roles.iter().map(role).collect()
}

fn ids(users: &[UserId]) -> Vec<String> {
    users.iter().map(ToString::to_string).collect()
}

/// A new role with its rights.
pub(super) fn new_role(role: &Role) -> Value {
    rights(role)
}

/// A change of a role, with its rights after it.
pub(super) fn role(body: &PatchRole, role: &Role) -> Value {
    let set = set!(
        body, "name" name, "description" description, "permissions" permissions,
        "deniedPermissions" denied_permissions, "grants" grants
    );
    let mut details = rights(role);
    if let Some(members) = details.as_object_mut() {
        members.insert("set".to_owned(), json!(set));
    }
    details
}

fn rights(role: &Role) -> Value {
    let rules = &role.rules.resources;
    let listed: Vec<Value> = rules.iter().take(RULES).map(rule).collect();
    json!({
        "name": role.name, "permissions": role.rules.permissions.words(),
        "deniedPermissions": role.rules.denied_permissions, "grants": listed, "grantCount": rules.len(),
    })
}

fn rule(rule: &ResourceRule) -> Value {
    json!({
        "resourceType": rule.resource, "actions": rule.actions, "resourceId": rule.selector,
        "effect": effect(rule.effect),
    })
}

/// A grant or a deny, with whom it concerns.
pub(super) fn grant(made: &GrantRow) -> About {
    let about = About::from(&made.id.to_string()).with(json!({
        "principal": made.principal.kind().as_str(), "resourceType": made.resource, "action": made.action,
        "resourceId": made.selector, "effect": effect(made.effect), "expiresAt": made.expires_at,
    }));
    match &made.principal {
        GrantPrincipal::User(id) => about.and("user", id),
        GrantPrincipal::Group(id) => about.and("group", id),
        GrantPrincipal::Role(id) => about.and("role", id),
        GrantPrincipal::Everyone => about,
    }
}

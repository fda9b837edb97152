//! Roles, grants and denies.

use heddle_kernel::{GrantId, Patch, RoleId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::envelope::Instant;
use crate::contract::{json_bodies, path_params};

words! {
    /// Whether something is allowed or denied; a deny wins.
    enum Effect {
        /// Allowed.
        Allow = "allow",
        /// Denied.
        Deny = "deny",
    }

    /// Whether something with an end holds.
    enum HoldState {
        /// Effect that holds now.
        Active = "active",
        /// Ended.
        Expired = "expired",
    }

    /// Kind of principal that a grant or a deny applies to.
    enum PrincipalKind {
        /// A user.
        User = "user",
        /// A group.
        Group = "group",
        /// All who have a role.
        Role = "role",
        /// Every member.
        Everyone = "everyone",
    }
}

path_params! {
    /// Path of a role.
    RolePath { role_id "roleId": RoleId }

    /// Path of a grant or a deny.
    GrantPath { grant_id "grantId": GrantId }
}

/// An action on resources that a role allows or denies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RoleGrant {
    /// The kind of thing, or `*`.
    #[schema(min_length = 1, max_length = 100)]
    pub resource_type: String,
    /// Action on the resource, or `*` for every action.
    #[schema(min_length = 1, max_length = 100)]
    pub action: String,
    /// Which one, `*`, or for runs `own` (what the caller started, was given or is a candidate for).
    #[schema(min_length = 1, max_length = 200)]
    pub resource_id: String,
    /// Allowed or denied.
    pub effect: Effect,
}

/// Principal of a grant or a deny: a user, a group, all who have a role, or everyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Principal {
    /// The kind.
    pub kind: PrincipalKind,
    /// The id; null or absent for everyone.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 200)]
    pub id: Option<String>,
}

response! {
    /// A role.
    struct Role {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        name: String,
        /// Purpose of the role.
        description: String,
        /// Whether it comes with the service and can't be changed.
        system: bool,
        /// Permissions that it allows; `*` is all.
        permissions: Vec<String>,
        /// Permissions that it denies.
        denied_permissions: Vec<String>,
        /// Resource actions that it allows or denies.
        grants: Vec<RoleGrant>,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
    }

    /// A grant or a deny on resources.
    struct Grant {
        /// Stable identifier.
        id: String,
        /// Principal that it applies to.
        principal: Principal,
        /// The kind of thing, or `*`.
        resource_type: String,
        /// Action on the resource, or `*` for every action.
        action: String,
        /// Which one, `*`, or for runs `own` (what the caller started, was given or is a candidate for).
        resource_id: String,
        /// Allowed or denied.
        effect: Effect,
        /// Until when it holds.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Whether it holds, or has ended.
        state: HoldState,
        /// Reason for it, in the words of the user who made it; null when none was given.
        #[schema(required = true)]
        reason: Option<String>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        #[schema(required = true)]
        created_by: Option<String>,
        /// Whether `resourceId` is neither `*` nor an id of the type: one that was stored before ids were checked. Such
        /// an allow gives nothing, and such a deny denies all of its type; delete it, and make it anew with the id.
        unreadable: bool,
    }
}

request! {
    /// A new role.
    #[schema(examples(json!({"name": "reviewer", "permissions": ["workflows.view"],
        "grants": [{"resourceType": "workflow", "action": "read", "resourceId": "*", "effect": "allow"}]})))]
    struct CreateRole {
        /// Unique name within the organisation.
        #[schema(min_length = 1, max_length = 100)]
        name: String,
        /// Purpose of the role; empty when absent.
        #[schema(nullable = false, max_length = 1000)]
        description: Option<String>,
        /// Permissions that it allows.
        #[schema(nullable = false, max_items = 200)]
        permissions: Option<Vec<String>>,
        /// Permissions that it denies.
        #[schema(nullable = false, max_items = 200)]
        denied_permissions: Option<Vec<String>>,
        /// Resource actions that it allows or denies.
        #[schema(nullable = false, max_items = 500)]
        grants: Option<Vec<RoleGrant>>,
    }

    /// Changes of a role; absent members stay, a list replaces the whole list.
    #[schema(examples(json!({"description": "Reads workflows"})))]
    struct PatchRole {
        /// Unique name within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 100)]
        name: Option<String>,
        /// Purpose of the role.
        #[schema(nullable = false, max_length = 1000)]
        description: Option<String>,
        /// Permissions that it allows.
        #[schema(nullable = false, max_items = 200)]
        permissions: Option<Vec<String>>,
        /// Permissions that it denies.
        #[schema(nullable = false, max_items = 200)]
        denied_permissions: Option<Vec<String>>,
        /// Resource actions that it allows or denies.
        #[schema(nullable = false, max_items = 500)]
        grants: Option<Vec<RoleGrant>>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A new grant or deny.
    #[schema(examples(json!({"principal": {"kind": "everyone"}, "resourceType": "workflow", "action": "read",
        "resourceId": "*", "effect": "allow"})))]
    struct CreateGrant {
        /// Principal that it applies to.
        principal: Principal,
        /// The kind of thing, or `*`.
        #[schema(min_length = 1, max_length = 100)]
        resource_type: String,
        /// Action on the resource, or `*` for every action.
        #[schema(min_length = 1, max_length = 100)]
        action: String,
        /// Which one, `*`, or for runs `own` (what the caller started, was given or is a candidate for).
        #[schema(min_length = 1, max_length = 200)]
        resource_id: String,
        /// Allowed or denied.
        effect: Effect,
        /// Until when it holds; for good when absent or null.
        #[serde(default)]
        #[schema(value_type = Option<Instant>, required = false)]
        expires_at: Patch<Timestamp>,
        /// Reason for it, in the caller's words; none when absent or null.
        #[schema(max_length = 1000)]
        reason: Option<String>,
    }

    /// Which grants.
    struct GrantListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those for this user, group or role.
        #[schema(min_length = 1, max_length = 200)]
        principal_id: Option<String>,
        /// Only those on this kind of thing.
        #[schema(min_length = 1, max_length = 100)]
        resource_type: Option<String>,
        /// Only those on this one.
        #[schema(min_length = 1, max_length = 200)]
        resource_id: Option<String>,
    }
}

json_bodies!(CreateRole, PatchRole, CreateGrant);

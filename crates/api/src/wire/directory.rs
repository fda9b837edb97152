//! Organisations, users, members and groups.

use heddle_kernel::{GroupId, Patch, TenantId, Timestamp, UserId};

use super::access::HoldState;
use super::envelope::Instant;
use crate::contract::{json_bodies, path_params};

words! {
    /// Whether a user can sign in.
    enum UserState {
        /// Sign-in is possible.
        Active = "active",
        /// Sign-in is refused.
        Disabled = "disabled",
    }

    /// Kind of a user.
    enum UserKind {
        /// A person, who signs in.
        Person = "person",
        /// A service account: no password and no sign-in, only API tokens.
        Service = "service",
    }
}

path_params! {
    /// Path of an organisation.
    OrganizationPath { organization_id "organizationId": TenantId }

    /// Path of a group.
    GroupPath { group_id "groupId": GroupId }

    /// Path of a user or member.
    UserPath { user_id "userId": UserId }

    /// Path of a provider by which a user signs in.
    UserProviderPath { user_id "userId": UserId, provider "provider": String }
}

response! {
    /// An organisation.
    struct Organization {
        /// Stable identifier.
        id: String,
        /// Unique name.
        slug: String,
        /// Display name.
        display_name: String,
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

    /// A user of the installation.
    struct User {
        /// Stable identifier.
        id: String,
        /// A person or a service account.
        kind: UserKind,
        /// E-mail address; what the user signs in with.
        email: String,
        /// Display name.
        display_name: String,
        /// Whether the user can sign in.
        state: UserState,
        /// Whether signing in takes a code beside the password.
        second_factor: bool,
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

    /// Something by id and name.
    struct NamedRef {
        /// Id of the role or group.
        id: String,
        /// Name of the role or group.
        name: String,
    }

    /// A role that somebody has, or that a group gives.
    struct HeldRole {
        /// Id of the role.
        id: String,
        /// Name of the role.
        name: String,
        /// Instant at which it ends; null for one without an end.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Whether it holds, or has ended.
        state: HoldState,
    }

    /// A member of the selected organisation.
    struct Member {
        /// The user.
        user_id: String,
        /// E-mail address.
        email: String,
        /// Display name.
        display_name: String,
        /// Roles of the member's own; what the groups give is not among them.
        roles: Vec<HeldRole>,
        /// The groups.
        groups: Vec<NamedRef>,
        /// Instant at which the membership ends; null for one without an end.
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Option<Timestamp>,
        /// Whether the membership holds, or has ended.
        state: HoldState,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// Instant at which the membership began.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
    }

    /// A group of members of the selected organisation. `GET /api/members?groupId=` lists who is in it.
    struct Group {
        /// Stable identifier.
        id: String,
        /// Unique name among the groups and roles of the organisation.
        name: String,
        /// Purpose of the group.
        description: String,
        /// Roles that its members have by it.
        roles: Vec<HeldRole>,
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
}

request! {
    /// A new organisation.
    #[schema(examples(json!({"slug": "acme", "displayName": "Acme"})))]
    struct CreateOrganization {
        /// Unique name.
        #[schema(min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: String,
        /// Display name.
        #[schema(min_length = 1, max_length = 200)]
        display_name: String,
    }

    /// Changes of an organisation; absent members stay.
    #[schema(examples(json!({"displayName": "Acme"})))]
    struct PatchOrganization {
        /// Unique name.
        #[schema(nullable = false, min_length = 1, max_length = 100, pattern = "^[a-z0-9]+(-[a-z0-9]+)*$")]
        slug: Option<String>,
        /// Display name.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A new user.
    #[schema(examples(json!({"email": "ada@example.com", "displayName": "Ada", "password": "correct horse battery"})))]
    struct CreateUser {
        /// A person, or a service account; a person when absent.
        #[schema(nullable = false)]
        kind: Option<UserKind>,
        /// E-mail address; unique in the installation.
        #[schema(min_length = 3, max_length = 254, pattern = "^[^@\\s]+@[^@\\s]+$")]
        email: String,
        /// Display name.
        #[schema(min_length = 1, max_length = 200)]
        display_name: String,
        /// Password; without one the user can't sign in with a password. A service account has none.
        #[schema(nullable = false, min_length = 12, max_length = 1024)]
        password: Option<String>,
        /// Ids of the roles in the selected organisation; the user is no member of it when absent.
        #[schema(nullable = false, max_items = 100)]
        roles: Option<Vec<String>>,
    }

    /// Changes of a user; absent members stay.
    #[schema(examples(json!({"displayName": "Ada"})))]
    struct PatchUser {
        /// E-mail address.
        #[schema(nullable = false, min_length = 3, max_length = 254, pattern = "^[^@\\s]+@[^@\\s]+$")]
        email: Option<String>,
        /// Display name.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        display_name: Option<String>,
        /// A new password; it ends the user's sessions.
        #[schema(nullable = false, min_length = 12, max_length = 1024)]
        password: Option<String>,
        /// Whether the user can sign in; disabling ends the user's sessions.
        #[schema(nullable = false)]
        state: Option<UserState>,
        /// `false` removes the user's second factor and ends the sessions, for whoever lost authenticator and recovery
        /// codes; only the user enrols one.
        #[schema(nullable = false)]
        second_factor: Option<bool>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// End of a role.
    struct RoleExpiry {
        /// Id of the role, which is among the roles.
        #[schema(min_length = 1, max_length = 200)]
        role: String,
        /// Instant at which it ends; null for good.
        #[serde(default)]
        #[schema(required = true, value_type = Option<Instant>)]
        expires_at: Patch<Timestamp>,
    }

    /// A membership as it shall be.
    #[schema(examples(json!({"roles": []})))]
    struct SetMember {
        /// Ids of the roles.
        #[schema(max_items = 100)]
        roles: Vec<String>,
        /// Ends of some of the roles; a role that is not named keeps its end, and a new one is for good.
        #[schema(nullable = false, max_items = 100)]
        role_expiries: Option<Vec<RoleExpiry>>,
        /// Ids of the groups; they stay when absent.
        #[schema(nullable = false, max_items = 100)]
        groups: Option<Vec<String>>,
        /// Instant at which the membership ends; null clears it.
        #[serde(default)]
        #[schema(value_type = Option<Instant>, required = false)]
        expires_at: Patch<Timestamp>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// A new group.
    #[schema(examples(json!({"name": "accounting", "description": "Pays invoices"})))]
    struct CreateGroup {
        /// Unique name among the groups and roles of the organisation.
        #[schema(min_length = 1, max_length = 100)]
        name: String,
        /// Purpose of the group.
        #[schema(nullable = false, max_length = 1000)]
        description: Option<String>,
        /// Ids of the roles that its members have by it.
        #[schema(nullable = false, max_items = 100)]
        roles: Option<Vec<String>>,
        /// Ends of some of the roles; the others are for good.
        #[schema(nullable = false, max_items = 100)]
        role_expiries: Option<Vec<RoleExpiry>>,
        /// Ids of the users, members of the organisation, who are in it.
        #[schema(nullable = false, max_items = 200)]
        members: Option<Vec<String>>,
    }

    /// Changes of a group; absent members stay, a list of roles replaces the whole list.
    #[schema(examples(json!({"description": "Pays invoices"})))]
    struct PatchGroup {
        /// Unique name among the groups and roles of the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 100)]
        name: Option<String>,
        /// Purpose of the group.
        #[schema(nullable = false, max_length = 1000)]
        description: Option<String>,
        /// Ids of the roles that its members have by it.
        #[schema(nullable = false, max_items = 100)]
        roles: Option<Vec<String>>,
        /// Ends of some of the roles; a role that is not named keeps its end, and a new one is for good.
        #[schema(nullable = false, max_items = 100)]
        role_expiries: Option<Vec<RoleExpiry>>,
        /// Ids of the users who come into it; who is in it already stays.
        #[schema(nullable = false, max_items = 200)]
        add_members: Option<Vec<String>>,
        /// Ids of the users who leave it; who is not in it stays out.
        #[schema(nullable = false, max_items = 200)]
        remove_members: Option<Vec<String>>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which members.
    struct MemberListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that address or name must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those in this group.
        #[schema(min_length = 1, max_length = 200)]
        group_id: Option<String>,
    }

    /// Which users.
    struct UserListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that address or name must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those in this state.
        state: Option<UserState>,
        /// Only those of this kind.
        kind: Option<UserKind>,
    }
}

json_bodies!(
    CreateOrganization,
    PatchOrganization,
    CreateUser,
    PatchUser,
    SetMember,
    CreateGroup,
    PatchGroup
);

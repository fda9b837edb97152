//! The tables of identity: one list of columns for each, from which table, row and changes come (`docs/STORAGE.md`).
//! Conversions to and from records are in `rows`.

use heddle_store::{At, Id, Migration, migrations, row};

use crate::words::{EffectWord, PrincipalKindWord, SecondFactorWord, UserKindWord, UserStateWord};

/// The migrations of identity's tables.
pub const MIGRATIONS: &[Migration] = migrations![
    "20261121000100_identity",
    "20261122000551_identity_search",
    "20261123000300_identity_nodes",
    "20261124000400_identity_groups",
    "20261124000500_identity_second_factor",
    "20261124000600_identity_providers",
    "20261129000330_identity_audit_types",
];

row! {
    /// An organisation: the tenant.
    pub(crate) organizations (id) => OrganizationRow changes (OrganizationChange) {
        key  id: [DbUuid] Id,
        each slug: [Text] String,
        each display_name: [Text] String,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        each updated_at: [DbInstant] At,
        each search: [Text] String,
    }
}

row! {
    /// The authorization revision of an organisation.
    pub(crate) tenant_authz (organization_id) => TenantAuthzRow {
        key   organization_id: [DbUuid] Id,
        alone revision: [BigInt] i64,
    }
}

row! {
    /// An account.
    pub(crate) users (id) => UserRow changes (UserChange) {
        key  id: [DbUuid] Id,
        once home_id: [DbUuid] Id,
        once kind: [Text] UserKindWord,
        each email: [Text] String,
        each display_name: [Text] String,
        each password_hash: [Nullable<Text>] Option<String>,
        each state: [Text] UserStateWord,
        each password_changed_at: [Nullable<DbInstant>] Option<At>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        each updated_at: [DbInstant] At,
        each search: [Text] String,
        each totp_enrolled_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// Membership of a user in an organisation.
    pub(crate) members (organization_id, user_id) => MemberRow changes (MemberChange) {
        key  organization_id: [DbUuid] Id,
        key  user_id: [DbUuid] Id,
        each expires_at: [Nullable<DbInstant>] Option<At>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        each updated_at: [DbInstant] At,
    }
}

row! {
    /// A role.
    pub(crate) roles (organization_id, id) => RoleRow changes (RoleChange) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        each name: [Text] String,
        each description: [Nullable<Text>] Option<String>,
        once system: [Bool] bool,
        each rules: [Binary] Vec<u8>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        each updated_at: [DbInstant] At,
        each search: [Text] String,
    }
}

row! {
    /// Which roles a member has.
    pub(crate) role_bindings (organization_id, user_id, role_id) => RoleBindingRow {
        key  organization_id: [DbUuid] Id,
        key  user_id: [DbUuid] Id,
        key  role_id: [DbUuid] Id,
        once expires_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A group of an organisation's members.
    pub(crate) groups (organization_id, id) => GroupRow changes (GroupRowChange) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        each name: [Text] String,
        each description: [Nullable<Text>] Option<String>,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        each updated_at: [DbInstant] At,
        each search: [Text] String,
    }
}

row! {
    /// Which groups a member is in.
    pub(crate) group_members (organization_id, user_id, group_id) => GroupMemberRow {
        key  organization_id: [DbUuid] Id,
        key  user_id: [DbUuid] Id,
        key  group_id: [DbUuid] Id,
    }
}

row! {
    /// Which roles the members of a group have by it.
    pub(crate) group_roles (organization_id, group_id, role_id) => GroupRoleRow {
        key  organization_id: [DbUuid] Id,
        key  group_id: [DbUuid] Id,
        key  role_id: [DbUuid] Id,
        once expires_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A grant or a deny beside the roles.
    pub(crate) grants (organization_id, id) => GrantDbRow {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once principal_kind: [Text] PrincipalKindWord,
        once principal_id: [Nullable<DbUuid>] Option<Id>,
        once resource: [Text] String,
        once action: [Text] String,
        alone selector: [Text] String,
        once effect: [Text] EffectWord,
        once reason: [Nullable<Text>] Option<String>,
        once expires_at: [Nullable<DbInstant>] Option<At>,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
    }
}

row! {
    /// A signed-in session.
    pub(crate) sessions (id) => SessionRow {
        key   id: [DbUuid] Id,
        once  user_id: [DbUuid] Id,
        once  organization_id: [DbUuid] Id,
        once  token_sha256: [Text] String,
        once  created_at: [DbInstant] At,
        alone last_seen_at: [DbInstant] At,
        once  expires_at: [DbInstant] At,
        once  client_ip: [Nullable<Text>] Option<String>,
        once  user_agent: [Nullable<Text>] Option<String>,
        once  second_factor: [Nullable<Text>] Option<SecondFactorWord>,
        once  provider: [Nullable<Text>] Option<String>,
    }
}

row! {
    /// A person's id at a provider.
    pub(crate) external_identities (provider, issuer, subject) => ExternalIdentityRow {
        key  provider: [Text] String,
        key  issuer: [Text] String,
        key  subject: [Text] String,
        once user_id: [DbUuid] Id,
        once created_at: [DbInstant] At,
    }
}

row! {
    /// A role that a member has by the groups of a provider.
    pub(crate) mapped_roles (organization_id, user_id, role_id, provider) => MappedRoleRow {
        key  organization_id: [DbUuid] Id,
        key  user_id: [DbUuid] Id,
        key  role_id: [DbUuid] Id,
        key  provider: [Text] String,
    }
}

row! {
    /// A sign-in by a provider that was taken.
    pub(crate) taken_sign_ins (state_sha256) => TakenSignInRow {
        key  state_sha256: [Text] String,
        once until: [DbInstant] At,
    }
}

row! {
    /// An API token.
    pub(crate) api_tokens (id) => TokenRow {
        key   id: [DbUuid] Id,
        once  user_id: [DbUuid] Id,
        once  organization_id: [Nullable<DbUuid>] Option<Id>,
        once  name: [Text] String,
        once  token_sha256: [Text] String,
        once  hint: [Text] String,
        once  permissions: [Nullable<Binary>] Option<Vec<u8>>,
        once  created_at: [DbInstant] At,
        alone last_used_at: [Nullable<DbInstant>] Option<At>,
        once  expires_at: [Nullable<DbInstant>] Option<At>,
        once  checksum: [Bool] bool,
    }
}

row! {
    /// The second factor of an account.
    pub(crate) totp_factors (user_id) => FactorRow changes (FactorChange) {
        key  user_id: [DbUuid] Id,
        each key_id: [Text] String,
        each sealed: [Text] String,
        each last_step: [BigInt] i64,
        each begun_at: [DbInstant] At,
        each confirmed_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A recovery code that was not used yet.
    pub(crate) recovery_codes (user_id, code_sha256) => RecoveryCodeRow {
        key  user_id: [DbUuid] Id,
        key  code_sha256: [Text] String,
    }
}

row! {
    /// The failed sign-ins of an account, known or not.
    pub(crate) sign_in_throttle (account_key) => ThrottleRow changes (ThrottleChange) {
        key  account_key: [Text] String,
        each failures: [BigInt] i64,
        each last_at: [DbInstant] At,
        each next_at: [DbInstant] At,
    }
}

row! {
    /// The installation as a whole: one row.
    pub(crate) installation (one) => InstallationRow changes (InstallationChange) {
        key  one: [Integer] i32,
        each installation_id: [Text] String,
        each setup_token_sha256: [Nullable<Text>] Option<String>,
        each setup_expires_at: [Nullable<DbInstant>] Option<At>,
        each set_up_at: [Nullable<DbInstant>] Option<At>,
        each licence: [Nullable<Text>] Option<String>,
        each licence_installed_at: [Nullable<DbInstant>] Option<At>,
        each trial_started_at: [Nullable<DbInstant>] Option<At>,
        each revoked: [Binary] Vec<u8>,
        each high_water_mark: [DbInstant] At,
        each seal: [Text] String,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
    }
}

row! {
    /// A server that runs on the database.
    pub(crate) nodes (id) => NodeRow {
        key  id: [DbUuid] Id,
        alone seen_at: [DbInstant] At,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    tenant_authz,
    users,
    members,
    roles,
    role_bindings,
    groups,
    group_members,
    group_roles,
    grants,
    sessions,
    api_tokens,
    totp_factors,
    recovery_codes,
    sign_in_throttle,
    installation,
);

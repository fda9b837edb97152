//! The tables of identity, as diesel sees them: one text for both databases.

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// An organisation: the tenant.
    organizations (id) {
        id -> DbUuid,
        slug -> Text,
        display_name -> Text,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// The authorization revision of an organisation.
    tenant_authz (organization_id) {
        organization_id -> DbUuid,
        revision -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// An account.
    users (id) {
        id -> DbUuid,
        home_id -> DbUuid,
        email -> Text,
        display_name -> Text,
        password_hash -> Nullable<Text>,
        state -> Text,
        password_changed_at -> Nullable<DbInstant>,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
        search -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// That a user belongs to an organisation.
    members (organization_id, user_id) {
        organization_id -> DbUuid,
        user_id -> DbUuid,
        expires_at -> Nullable<DbInstant>,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A role.
    roles (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        name -> Text,
        description -> Nullable<Text>,
        system -> Bool,
        rules -> Binary,
        revision -> BigInt,
        created_at -> DbInstant,
        updated_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// Which roles a member has.
    role_bindings (organization_id, user_id, role_id) {
        organization_id -> DbUuid,
        user_id -> DbUuid,
        role_id -> DbUuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A grant or a deny beside the roles.
    grants (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        principal_kind -> Text,
        principal_id -> Nullable<DbUuid>,
        resource -> Text,
        action -> Text,
        selector -> Text,
        effect -> Text,
        reason -> Nullable<Text>,
        expires_at -> Nullable<DbInstant>,
        created_at -> DbInstant,
        created_by -> DbUuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A signed-in session.
    sessions (id) {
        id -> DbUuid,
        user_id -> DbUuid,
        organization_id -> DbUuid,
        token_sha256 -> Text,
        created_at -> DbInstant,
        last_seen_at -> DbInstant,
        expires_at -> DbInstant,
        client_ip -> Nullable<Text>,
        user_agent -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// An API token.
    api_tokens (id) {
        id -> DbUuid,
        user_id -> DbUuid,
        organization_id -> Nullable<DbUuid>,
        name -> Text,
        token_sha256 -> Text,
        hint -> Text,
        permissions -> Nullable<Binary>,
        created_at -> DbInstant,
        last_used_at -> Nullable<DbInstant>,
        expires_at -> Nullable<DbInstant>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// The failed sign-ins of an account, known or not.
    sign_in_throttle (account_key) {
        account_key -> Text,
        failures -> BigInt,
        last_at -> DbInstant,
        next_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// The installation as a whole: one row.
    installation (one) {
        one -> Integer,
        installation_id -> Text,
        setup_token_sha256 -> Nullable<Text>,
        setup_expires_at -> Nullable<DbInstant>,
        set_up_at -> Nullable<DbInstant>,
        licence -> Nullable<Text>,
        licence_installed_at -> Nullable<DbInstant>,
        trial_started_at -> Nullable<DbInstant>,
        revoked -> Binary,
        high_water_mark -> DbInstant,
        seal -> Text,
        revision -> BigInt,
        created_at -> DbInstant,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    organizations,
    tenant_authz,
    users,
    members,
    roles,
    role_bindings,
    grants,
    sessions,
    api_tokens,
    sign_in_throttle,
    installation,
);

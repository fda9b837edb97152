//! The tables that every area writes, as diesel sees them: one text for both databases. What belongs to an area is in
//! its own store crate.
#![expect(missing_docs, reason = "diesel's table macro writes the items; the migrations say what each holds")]

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::*;

    /// An audit event.
    audit_events (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        at -> DbInstant,
        actor_kind -> Text,
        actor_id -> Nullable<Text>,
        actor_display -> Text,
        action -> Text,
        resource_type -> Text,
        resource_id -> Nullable<Text>,
        outcome -> Text,
        request_id -> Text,
        client_ip -> Nullable<Text>,
        details -> DbJson,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::*;

    /// The answer that a repeat of a call gets, until it expires.
    idempotency_keys (organization_id, operation, key) {
        organization_id -> DbUuid,
        operation -> Text,
        key -> Text,
        body_sha256 -> Text,
        status -> Integer,
        body -> Binary,
        etag -> Nullable<Text>,
        created_at -> DbInstant,
        expires_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::*;

    /// What was there and was deleted.
    tombstones (organization_id, kind, id) {
        organization_id -> DbUuid,
        kind -> Text,
        id -> DbUuid,
        deleted_at -> DbInstant,
    }
}

diesel::allow_tables_to_appear_in_same_query!(audit_events, idempotency_keys, tombstones,);

diesel::table! {
    use diesel::sql_types::*;
    use crate::types::*;

    /// The migrations that the database holds.
    schema_migrations (name) {
        name -> Text,
        applied_at -> DbInstant,
    }
}

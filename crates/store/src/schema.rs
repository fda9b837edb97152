//! The tables that every area writes: one list of columns for each, from which table, row and insertions come. What
//! belongs to an area is in its own store crate.
#![expect(missing_docs, reason = "the macro writes the items; the migrations say what each holds")]

use std::borrow::Cow;

use crate::row;
use crate::types::{At, Id, Json};

/// A table of audit events: the columns that are sealed, and what it has beside them.
macro_rules! audit_table {
    ($(#[$doc:meta])* $table:ident => $row:ident [$($many:tt)*] { $($more:tt)* }) => {
        row! {
            $(#[$doc])*
            pub $table (organization_id, id) => $row $($many)* {
                key  organization_id: [DbUuid] Id,
                key  id: [DbUuid] Id,
                once at: [DbInstant] At,
                once actor_kind: [Text] Cow<'static, str>,
                once actor_id: [Nullable<Text>] Option<String>,
                once actor_display: [Text] String,
                once actor_credential: [Nullable<Text>] Option<String>,
                once action: [Text] String,
                once resource_type: [Text] String,
                once resource_id: [Nullable<Text>] Option<String>,
                once target_type: [Nullable<Text>] Option<String>,
                once target_id: [Nullable<Text>] Option<String>,
                once outcome: [Text] Cow<'static, str>,
                once request_id: [Text] String,
                once client_ip: [Nullable<Text>] Option<String>,
                once details: [DbJson] Json,
                $($more)*
            }
        }
    };
}

audit_table! {
    /// An audit event that has no place in its chain yet.
    audit_unsealed => AuditRow [many (NewAuditEvents)] {}
}

audit_table! {
    /// An audit event with its place in its chain.
    audit_events => SealedRow [] {
        once sequence: [BigInt] i64,
        once hash: [Binary] Vec<u8>,
    }
}

row! {
    /// A signed checkpoint of a chain of audit events.
    pub audit_checkpoints (organization_id, kind, sequence) => AuditCheckpointRow {
        key  organization_id: [DbUuid] Id,
        key  kind: [Text] Cow<'static, str>,
        key  sequence: [BigInt] i64,
        once hash: [Binary] Vec<u8>,
        once dropped: [BigInt] i64,
        once at: [DbInstant] At,
        once key_id: [Text] String,
        once signature: [Binary] Vec<u8>,
    }
}

row! {
    /// The answer that a repeat of a call gets, until it expires.
    pub idempotency_keys (organization_id, operation, key) => AnswerRow
    many (NewAnswers replacing "idempotency_keys.expires_at <= excluded.created_at") {
        key  organization_id: [DbUuid] Id,
        key  operation: [Text] String,
        key  key: [Text] String,
        once body_sha256: [Text] String,
        once status: [Integer] i32,
        once body: [Binary] Vec<u8>,
        once etag: [Nullable<Text>] Option<String>,
        once location: [Nullable<Text>] Option<String>,
        once created_at: [DbInstant] At,
        once expires_at: [DbInstant] At,
    }
}

row! {
    /// Tombstone of a thing that was deleted.
    pub tombstones (organization_id, kind, id) => TombstoneRow {
        key  organization_id: [DbUuid] Id,
        key  kind: [Text] String,
        key  id: [DbUuid] Id,
        once deleted_at: [DbInstant] At,
    }
}

row! {
    /// Work outside of the process that a change asked for. The order of writing is a column of the database's own,
    /// `position`.
    pub errands (organization_id, id) => ErrandRow many (NewErrands) {
        key   organization_id: [DbUuid] Id,
        key   id: [DbUuid] Id,
        once  kind: [Text] Cow<'static, str>,
        once  lane: [DbUuid] Id,
        once  target: [Text] String,
        once  line: [Text] String,
        alone turn: [DbInstant] At,
        once  workflow_id: [Nullable<DbUuid>] Option<Id>,
        once  run_id: [Nullable<DbUuid>] Option<Id>,
        once  name: [Text] String,
        once  payload: [Binary] Vec<u8>,
        once  created_at: [DbInstant] At,
        alone due_at: [DbInstant] At,
        alone node: [Nullable<DbUuid>] Option<Id>,
        alone epoch: [BigInt] i64,
        alone suspect: [Bool] bool,
        alone attempts: [Integer] i32,
        alone crashes: [Integer] i32,
        alone hastened: [Bool] bool,
    }
}

row! {
    /// The migrations that the database holds.
    pub schema_migrations (name) => MigrationRow {
        key  name: [Text] String,
        once applied_at: [DbInstant] At,
    }
}

diesel::allow_tables_to_appear_in_same_query!(audit_events, audit_unsealed, idempotency_keys, tombstones,);

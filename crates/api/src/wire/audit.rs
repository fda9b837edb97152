//! The audit trail.

use heddle_kernel::Timestamp;
use serde_json::Value;

use super::envelope::{AnyJson, Instant};
use super::literal::OrStored;

words! {
    /// Outcome of an audited action.
    enum AuditOutcome {
        /// Done.
        Success = "success",
        /// Refused for want of a sign-in, a right or a licence; nothing was done.
        Denied = "denied",
        /// Failed; nothing was done.
        Failure = "failure",
    }

    /// Kind of a checkpoint.
    enum AuditCheckpointKind {
        /// The chain reaches up to this record.
        Head = "head",
        /// The records up to this one were dropped when their time was over.
        Dropped = "dropped",
    }

    /// Reason for which a chain is not whole.
    enum AuditFaultReason {
        /// The record is not there.
        Missing = "missing",
        /// The record is not what was sealed.
        Changed = "changed",
        /// The record can't be read any more.
        Unreadable = "unreadable",
        /// The record stands out of its order.
        Misplaced = "misplaced",
        /// The chain is not the one that a signed checkpoint tells of.
        Rewritten = "rewritten",
        /// A checkpoint has no right signature.
        Forged = "forged",
        /// The chain ends before a record that a signed checkpoint tells of.
        Truncated = "truncated",
        /// No checkpoint tells of the record.
        Unsigned = "unsigned",
    }

    /// The kind of actor.
    enum AuditActorKind {
        /// A user in a session.
        User = "user",
        /// A user by an API token.
        ApiToken = "apiToken",
        /// A service account by one of its API tokens.
        Service = "service",
        /// A user in whose name the operator gave a command on the machine itself.
        CommandLine = "commandLine",
        /// Somebody who is not signed in.
        Anonymous = "anonymous",
        /// The service itself.
        System = "system",
    }
}

/// The kind of actor, as it is stored.
pub type StoredActorKind = OrStored<AuditActorKind>;
/// Outcome of an audited action, as it is stored.
pub type StoredOutcome = OrStored<AuditOutcome>;

response! {
    /// Actor of an audited action: a user, somebody who is not signed in, or the service itself.
    struct AuditActor {
        /// The kind.
        kind: StoredActorKind,
        /// The user.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        user_id: Option<String>,
        /// Name of the actor at that time, for people.
        display_name: String,
        /// The session.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        session_id: Option<String>,
        /// The API token.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        token_id: Option<String>,
    }

    /// Second thing that an audited action is about: what was made by it, or whom it concerns.
    struct AuditTarget {
        /// The kind of thing.
        kind: String,
        /// Which one.
        id: String,
    }

    /// A record of the audit trail.
    struct AuditEvent {
        /// Stable identifier.
        id: String,
        /// The organisation; null for the installation's own.
        #[schema(required = true)]
        organization_id: Option<String>,
        /// Instant of the event.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// Actor of the event.
        actor: AuditActor,
        /// Action, such as `workflow.created`.
        action: String,
        /// The kind of thing.
        #[schema(required = true)]
        resource_type: Option<String>,
        /// Which one.
        #[schema(required = true)]
        resource_id: Option<String>,
        /// Second thing that it is about, such as the run that was started of a workflow; null without one.
        #[schema(required = true)]
        target: Option<AuditTarget>,
        /// Outcome of the action.
        outcome: StoredOutcome,
        /// Reason that was recorded, such as that of a refusal; null without one.
        #[schema(required = true)]
        reason: Option<String>,
        /// The request.
        #[schema(required = true)]
        request_id: Option<String>,
        /// Address of the client; null where nobody called over HTTP.
        #[schema(required = true)]
        ip: Option<String>,
        /// More about it, by action; of a refusal that was repeated, `count` says how often. `change` of a change has what
        /// was there before and after it: members that are no secret with their values, the others by their names alone.
        #[schema(value_type = AnyJson)]
        details: Value,
        /// Number in the chain of the organisation; null before it is sealed, which is within seconds.
        #[schema(required = true, minimum = 1)]
        sequence: Option<i64>,
        /// Hash of the chain up to this record, in lower-case hex; null before it is sealed.
        #[schema(required = true)]
        hash: Option<String>,
        /// Reason for which the stored record can't be read. All but `id`, `organizationId`, `sequence` and `hash` then
        /// tell nothing.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        unreadable: Option<String>,
        /// Text of the record that is hashed, in the JSON lines of a whole trail alone: canonical JSON of every stored column,
        /// the number, and the hash of the record before.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        record: Option<String>,
        /// Checkpoints of this record, and on the first line that of the records that were dropped before it; in the JSON
        /// lines of a whole trail alone.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        checkpoints: Option<Vec<AuditCheckpoint>>,
    }

    /// A signed checkpoint of a chain of audit events.
    struct AuditCheckpoint {
        /// The kind: how far the chain reaches, or up to where its records were dropped.
        kind: AuditCheckpointKind,
        /// Number of the record.
        sequence: i64,
        /// Hash of the chain up to that record, in lower-case hex.
        hash: String,
        /// Number of records that were dropped up to here; 0 of a head.
        dropped: i64,
        /// Instant of the signature.
        #[schema(value_type = Instant)]
        at: Timestamp,
        /// Id of the key that signed it.
        key_id: String,
        /// The text that was signed, behind the line `heddle-audit-checkpoint-v1`: canonical JSON.
        statement: String,
        /// The signature: Ed25519, in lower-case hex.
        signature: String,
    }

    /// First thing that is wrong with a chain.
    struct AuditFault {
        /// Number of the first record that is wrong.
        sequence: i64,
        /// Number of the last record that it may be instead: where a checkpoint tells of several.
        through: i64,
        /// The record, where there is one and the caller may list it.
        #[schema(required = true)]
        event_id: Option<String>,
        /// The reason.
        reason: AuditFaultReason,
        /// The reason in words.
        message: String,
    }

    /// Verification of a part of the audit trail's chain.
    struct AuditVerification {
        /// Whether nothing is wrong with this part.
        valid: bool,
        /// Number of the record behind which it began; what was dropped before counts as verified.
        after: i64,
        /// Number of the last record that is good.
        through: i64,
        /// Number of records that were verified.
        #[schema(minimum = 0)]
        checked: u64,
        /// `after` of the next part; null at the end of the chain, and where something is wrong.
        #[schema(required = true)]
        next: Option<i64>,
        /// First thing that is wrong; null when nothing is.
        #[schema(required = true)]
        first_bad: Option<AuditFault>,
        /// The newest checkpoint; null before anything was sealed. Keep one elsewhere: it shows when the end of the trail is
        /// cut off.
        #[schema(required = true)]
        checkpoint: Option<AuditCheckpoint>,
        /// Checkpoint of the records that were dropped when their time was over; null when none were.
        #[schema(required = true)]
        dropped: Option<AuditCheckpoint>,
        /// Number of records that are not sealed yet.
        #[schema(minimum = 0)]
        unsealed: u64,
        /// Id of the key that signs checkpoints at present.
        key_id: String,
        /// The public key: Ed25519, in lower-case hex.
        public_key: String,
    }
}

request! {
    /// Which audit events; newest first.
    struct AuditListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this action.
        #[schema(min_length = 1, max_length = 200)]
        action: Option<String>,
        /// Only those of this user.
        #[schema(min_length = 1, max_length = 200)]
        actor: Option<String>,
        /// Only those about this thing, be it the resource or the target: its id, or `type/id`; or those about a type.
        #[schema(min_length = 1, max_length = 200)]
        resource: Option<String>,
        /// Only those at or after this instant.
        #[schema(value_type = Option<Instant>)]
        from: Option<Timestamp>,
        /// Only those before this instant.
        #[schema(value_type = Option<Instant>)]
        to: Option<Timestamp>,
    }

    /// Which part of the audit trail's chain is verified.
    struct AuditVerifyQuery {
        /// Number of the record behind which to begin, such as `next` of the part before; 0 for the beginning.
        #[schema(minimum = 0, default = 0)]
        after: Option<i64>,
        /// The most records of the part.
        #[schema(minimum = 1, maximum = 250000, default = 50000)]
        limit: Option<u32>,
    }
}

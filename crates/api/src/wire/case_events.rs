//! Case events and signals.

use heddle_kernel::{EventId, Timestamp};
use serde_json::Value;

use super::envelope::{AnyJson, Instant};
use crate::contract::{json_bodies, path_params};

words! {
    /// State of a case event.
    enum CaseEventState {
        /// Somebody took it.
        Consumed = "consumed",
        /// Kept for the first that will listen.
        Buffered = "buffered",
        /// Nobody wanted it in time.
        Expired = "expired",
    }
}

path_params! {
    /// Path of a case event.
    CaseEventPath { event_id "eventId": EventId }
}

request! {
    /// A case event.
    #[schema(examples(json!({"correlationKey": "order-1", "eventType": "payment.received",
        "idempotencyKey": "payment-1", "payload": {"amount": 12}})))]
    struct CreateCaseEvent {
        /// Correlation key by which cases and runs are found.
        #[schema(min_length = 1, max_length = 200)]
        correlation_key: String,
        /// The event's type: the name of the message.
        #[schema(min_length = 1, max_length = 200)]
        event_type: String,
        /// One event per key and organisation.
        #[schema(min_length = 1, max_length = 200)]
        idempotency_key: String,
        /// Payload of the event: any JSON value.
        #[schema(value_type = AnyJson)]
        payload: Value,
    }

    /// A signal.
    #[schema(examples(json!({"name": "stock.changed", "payload": {}, "idempotencyKey": "signal-1"})))]
    struct SendSignal {
        /// The signal's name.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Payload of the signal: any JSON value; null when absent.
        #[serde(default)]
        #[schema(value_type = AnyJson, required = false)]
        payload: Value,
        /// One signal per key and organisation.
        #[schema(min_length = 1, max_length = 200)]
        idempotency_key: String,
    }
}

response! {
    /// A case event as it is stored.
    #[schema(as = DatabaseCaseCorrelatedEventRecordResponse)]
    struct CaseEventRecord {
        /// Stable identifier.
        id: String,
        /// The organisation.
        organization_id: String,
        /// Correlation key by which cases and runs are found.
        correlation_key: String,
        /// The event's type.
        event_type: String,
        /// One event per key and organisation.
        idempotency_key: String,
        /// Payload of the event.
        #[schema(value_type = AnyJson)]
        payload: Value,
        /// Instant of receipt.
        #[schema(value_type = Instant)]
        received_at: Timestamp,
        /// From whom.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        received_by: Option<String>,
        /// The case that took it.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        consumed_by_case_id: Option<String>,
    }

    /// An accepted case event.
    struct CaseEventResult {
        /// The cases that took it, sorted.
        case_ids: Vec<String>,
        /// The runs that took it or were started by it, sorted.
        workflow_run_ids: Vec<String>,
        /// The stored record.
        event: CaseEventRecord,
    }

    /// Case or run that did not take a case event while others did.
    struct CaseEventRefusal {
        /// The case.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        case_id: Option<String>,
        /// The run.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        workflow_run_id: Option<String>,
        /// Reason, in words.
        message: String,
    }

    /// State of a case event, with the cases and runs that took it.
    struct CaseEventStatus {
        /// State of the event.
        state: CaseEventState,
        /// The cases that took it, sorted.
        case_ids: Vec<String>,
        /// The runs that took it or were started by it, sorted.
        workflow_run_ids: Vec<String>,
        /// Cases and runs that did not take it while others did: the first hundred that the caller may read.
        refused: Vec<CaseEventRefusal>,
        /// The stored record.
        event: CaseEventRecord,
    }

    /// A signal as it is stored.
    struct SignalRecord {
        /// Stable identifier.
        id: String,
        /// The organisation.
        organization_id: String,
        /// The signal's name.
        name: String,
        /// One signal per key and organisation.
        idempotency_key: String,
        /// Payload of the signal.
        #[schema(value_type = AnyJson)]
        payload: Value,
        /// Instant of receipt.
        #[schema(value_type = Instant)]
        received_at: Timestamp,
        /// From whom.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        received_by: Option<String>,
    }

    /// An accepted signal.
    struct SignalResult {
        /// The cases that heard it, sorted.
        case_ids: Vec<String>,
        /// The runs that heard it or were started by it, sorted.
        workflow_run_ids: Vec<String>,
        /// The stored record.
        signal: SignalRecord,
    }
}

json_bodies!(CreateCaseEvent, SendSignal);

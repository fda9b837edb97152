//! Dead letters: background work that was set aside.

use heddle_kernel::{EventId, Timestamp};

use super::envelope::Instant;
use crate::contract::path_params;

words! {
    /// Kind of the work that was set aside.
    enum DeadLetterKind {
        /// A message that a run threw.
        Message = "message",
        /// A signal that a run threw.
        Signal = "signal",
        /// A timer of a run.
        Timer = "timer",
        /// A timer that starts runs.
        TimerStart = "timerStart",
        /// A kept event that a run waits for.
        Event = "event",
        /// A start that refused its message or signal.
        Start = "start",
        /// A call of another run, its end or its withdrawal.
        Call = "call",
        /// A webhook's delivery.
        Webhook = "webhook",
        /// Work on a file of a vector database.
        Ingestion = "ingestion",
        /// Work of a node that the service does itself.
        Service = "service",
    }

    /// Reason for which work was set aside.
    enum DeadLetterReason {
        /// Refusal: as things stand it can't succeed.
        Refused = "refused",
        /// Failure of as many attempts as it has.
        Failed = "failed",
        /// End of the process, again and again, while it was done.
        Crashed = "crashed",
    }
}

path_params! {
    /// Path of a dead letter.
    DeadLetterPath { dead_letter_id "deadLetterId": EventId }
}

response! {
    /// Background work that was set aside.
    struct DeadLetter {
        /// Stable identifier.
        id: String,
        /// Kind of the work.
        kind: DeadLetterKind,
        /// Reason for which it was set aside.
        reason: DeadLetterReason,
        /// The last error in words.
        message: String,
        /// Attempts that failed.
        #[schema(minimum = 0)]
        attempts: u32,
        /// Attempts that ended the process.
        #[schema(minimum = 0)]
        crashes: u32,
        /// Workflow that it belongs to; null where there is none.
        #[schema(required = true)]
        workflow_id: Option<String>,
        /// Run that it belongs to; null where there is none.
        #[schema(required = true)]
        run_id: Option<String>,
        /// Case type that it belongs to; null where there is none.
        #[schema(required = true)]
        case_type_id: Option<String>,
        /// Case that it belongs to; null where there is none.
        #[schema(required = true)]
        case_id: Option<String>,
        /// Element that waits or starts; null where the work names none.
        #[schema(required = true)]
        node_id: Option<String>,
        /// Name of the message or signal, or type of the event; null for a timer.
        #[schema(required = true)]
        name: Option<String>,
        /// Instant at which it was set aside.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
    }
}

request! {
    /// Which dead letters.
    struct DeadLetterListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Only those of this kind.
        kind: Option<DeadLetterKind>,
        /// Only those of this workflow.
        #[schema(min_length = 1, max_length = 200)]
        workflow_id: Option<String>,
        /// Only those of this run.
        #[schema(min_length = 1, max_length = 200)]
        run_id: Option<String>,
        /// Only those of this case type.
        #[schema(min_length = 1, max_length = 200)]
        case_type_id: Option<String>,
        /// Only those of this case.
        #[schema(min_length = 1, max_length = 200)]
        case_id: Option<String>,
    }
}

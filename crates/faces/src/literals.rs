//! Enums of literals that the wire and the domain both have, one to one. Both directions come from one list and are
//! exhaustive, so that a literal that one side lacks does not compile.

use heddle_api::wire;
use heddle_cases::CaseState;
use heddle_connections::records::{PauseReason, Phase};
use heddle_connections::{ConnectionKind, SignatureScheme};
use heddle_identity::records::{SecondFactor, UserKind, UserState};
use heddle_policy::Effect;
use heddle_vectors::records::{
    FileState, JobKind as IngestionKind, JobState as IngestionState, ServerState, Stage,
};
use heddle_workflows::records::{
    InboxState, JobKind, JobState, RunState, SetAsideReason, TaskState, TriggerKind, WorkKind, WorkflowState,
};

macro_rules! alike {
    ($($domain:ident = $module:ident::$wire:ident ($to_wire:ident $(, $to_domain:ident)?) { $($variant:ident),+ })+) => {$(
        /// The literal on the wire.
        pub const fn $to_wire(of: $domain) -> wire::$module::$wire {
            match of {
                $($domain::$variant => wire::$module::$wire::$variant,)+
            }
        }

        alike! { @back $domain $module $wire [$($to_domain)?] $($variant)+ }
    )+};
    (@back $domain:ident $module:ident $wire:ident [] $($variant:ident)+) => {};
    (@back $domain:ident $module:ident $wire:ident [$to_domain:ident] $($variant:ident)+) => {
        /// Meaning of the literal on the wire.
        pub const fn $to_domain(of: wire::$module::$wire) -> $domain {
            match of {
                $(wire::$module::$wire::$variant => $domain::$variant,)+
            }
        }
    };
}

alike! {
    WorkflowState = workflows::WorkflowState (workflow_state, workflow_state_of) { Draft, Published, Archived }
    TriggerKind = runs::TriggerKind (trigger_kind) { Manual, Message, Signal, Timer, Call }
    TaskState = tasks::TaskState (task_state, task_state_of) { Open, Completed, Cancelled }
    InboxState = case_events::CaseEventState (case_event_state) { Consumed, Buffered, Expired }
    JobState = jobs::JobState (job_state, job_state_of) { Ready, Locked, Delayed, Failed, Suspended }
    JobKind = jobs::JobKind (job_kind) { Task, StartListener, EndListener, TaskListener }
    WorkKind = dead_letters::DeadLetterKind (work_kind, work_kind_of) {
        Message, Signal, Timer, TimerStart, Event, Start, Call, Webhook, Ingestion, Service
    }
    SetAsideReason = dead_letters::DeadLetterReason (set_aside_reason) { Refused, Failed, Crashed }
    ConnectionKind = connections::ConnectionType (connection_kind, connection_kind_of) {
        Http, Smtp, Postgresql, S3, Webhook
    }
    Phase = connections::TestPhase (test_phase) { Dns, Connect, Tls, Auth, Request }
    CaseState = cases::CaseState (case_state, case_state_of) {
        Active, Completed, Terminated, Failed, Suspended, Closed
    }
    SignatureScheme = hooks::SignatureScheme (signature_scheme, signature_scheme_of) { StandardWebhooks, Github, Stripe }
    FileState = vector_files::VectorFileState (file_state, file_state_of) {
        Queued, Running, Ready, Failed, Cancelled
    }
    Stage = vector_jobs::IngestionStage (stage) {
        Queued, Fetching, Parsing, Chunking, Embedding, Indexing, Ready, Failed, Cancelled
    }
    IngestionKind = vector_jobs::IngestionJobKind (ingestion_kind, ingestion_kind_of) {
        Upload, Reprocess, Reindex, Delete
    }
    IngestionState = vector_jobs::IngestionJobState (ingestion_state, ingestion_state_of) {
        Queued, Running, Cancelling, Completed, CompletedWithErrors, Failed, Cancelled
    }
    ServerState = vector_jobs::IngestionServerState (server_state) { Active, Finished, Lost }
    PauseReason = webhooks::PauseReason (pause_reason) { Caller, ReceiverGone }
    SecondFactor = sessions::SecondFactor (second_factor) { Totp, RecoveryCode }
    UserState = directory::UserState (user_state, user_state_of) { Active, Disabled }
    UserKind = directory::UserKind (user_kind, user_kind_of) { Person, Service }
    Effect = access::Effect (effect, effect_of) { Allow, Deny }
}

/// The state of a run on the wire. A case that was closed has ended; as one that a run called it is shown as completed.
pub const fn run_state(of: RunState) -> wire::runs::RunState {
    match of {
        RunState::Queued => wire::runs::RunState::Queued,
        RunState::Running => wire::runs::RunState::Running,
        RunState::Waiting => wire::runs::RunState::Waiting,
        RunState::Completed | RunState::Closed => wire::runs::RunState::Completed,
        RunState::Failed => wire::runs::RunState::Failed,
        RunState::Cancelled => wire::runs::RunState::Cancelled,
        RunState::Suspended => wire::runs::RunState::Suspended,
    }
}

/// Meaning of the state of a run on the wire.
pub const fn run_state_of(of: wire::runs::RunState) -> RunState {
    match of {
        wire::runs::RunState::Queued => RunState::Queued,
        wire::runs::RunState::Running => RunState::Running,
        wire::runs::RunState::Waiting => RunState::Waiting,
        wire::runs::RunState::Completed => RunState::Completed,
        wire::runs::RunState::Failed => RunState::Failed,
        wire::runs::RunState::Cancelled => RunState::Cancelled,
        wire::runs::RunState::Suspended => RunState::Suspended,
    }
}

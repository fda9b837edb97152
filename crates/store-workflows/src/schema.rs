//! The tables of workflows and runs: one list of columns for each, from which table, row, changes and insertions come
//! (`docs/STORAGE.md`). Conversions to and from records are in `rows`.

use heddle_store::{At, Id, row};

use crate::words::{CandidateWord, InboxStateWord, KindWord, RunStateWord, TaskStateWord};

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A workflow with its draft.
    workflows (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        slug -> Text,
        display_name -> Text,
        description -> Text,
        folder_id -> Nullable<Text>,
        folder_null -> Bool,
        state -> Text,
        revision -> BigInt,
        draft_revision -> BigInt,
        draft -> Nullable<Binary>,
        draft_hash -> Nullable<Text>,
        published_version -> Nullable<Integer>,
        published_hash -> Nullable<Text>,
        created_at -> DbInstant,
        created_by -> DbUuid,
        updated_at -> DbInstant,
        updated_by -> DbUuid,
        search -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A published, unchangeable definition.
    workflow_versions (organization_id, workflow_id, number) {
        organization_id -> DbUuid,
        workflow_id -> DbUuid,
        number -> Integer,
        hash -> Text,
        definition -> Binary,
        published_at -> DbInstant,
        published_by -> DbUuid,
        change_note -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// Which workflows a user has starred.
    workflow_stars (organization_id, user_id, workflow_id) {
        organization_id -> DbUuid,
        user_id -> DbUuid,
        workflow_id -> DbUuid,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// Imported bytes, kept for good once a workflow claims them.
    import_sources (organization_id, sha256) {
        organization_id -> DbUuid,
        sha256 -> Text,
        media_type -> Text,
        file_name -> Nullable<Text>,
        bytes -> Binary,
        expires_at -> Nullable<DbInstant>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// Which imported bytes a workflow came from; the main one is given out again.
    workflow_sources (organization_id, workflow_id, sha256) {
        organization_id -> DbUuid,
        workflow_id -> DbUuid,
        sha256 -> Text,
        main -> Bool,
    }
}

row! {
    /// What starts a run: a message, a signal or a timer of the published version.
    start_bindings (organization_id, workflow_id, process_id, node_id, kind, name) => BindingDbRow changes (BindingAdvanced) many () {
        key  organization_id: [DbUuid] Id,
        key  workflow_id: [DbUuid] Id,
        once version: [Integer] i32,
        key  process_id: [Text] String,
        key  node_id: [Text] String,
        key  kind: [Text] KindWord,
        key  name: [Text] String,
        each next_due_at: [Nullable<DbInstant>] Option<At>,
        each timer: [Nullable<Binary>] Option<Vec<u8>>,
    }
}

row! {
    /// A run: one process instance.
    runs (organization_id, id) => RunDbRow changes (RunChange) many (NewRuns) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once workflow_id: [DbUuid] Id,
        once version: [Integer] i32,
        once process_id: [Text] String,
        each state: [Text] RunStateWord,
        each has_incident: [Bool] bool,
        each business_key: [Nullable<Text>] Option<String>,
        each correlation_key: [Nullable<Text>] Option<String>,
        once trigger: [Binary] Vec<u8>,
        once input: [Binary] Vec<u8>,
        each snapshot: [Binary] Vec<u8>,
        each last_sequence: [BigInt] i64,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [Nullable<DbUuid>] Option<Id>,
        each updated_at: [DbInstant] At,
        each ended_at: [Nullable<DbInstant>] Option<At>,
        each waiting_since: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// The events of a run, a row for each commit.
    run_events (organization_id, run_id, first_sequence) => EventsDbRow changes () many (NewEvents) {
        key  organization_id: [DbUuid] Id,
        key  run_id: [DbUuid] Id,
        key  first_sequence: [BigInt] i64,
        once last_sequence: [BigInt] i64,
        once events: [Binary] Vec<u8>,
    }
}

row! {
    /// A timer that a run waits for.
    run_timers (organization_id, run_id, timer_id) => TimerDbRow changes () many () {
        key  organization_id: [DbUuid] Id,
        key  run_id: [DbUuid] Id,
        key  timer_id: [Text] String,
        once node_id: [Text] String,
        once due_at: [DbInstant] At,
    }
}

row! {
    /// A message or signal that a run waits for.
    run_subscriptions (organization_id, run_id, subscription_id) => SubscriptionDbRow changes () many () {
        key  organization_id: [DbUuid] Id,
        key  run_id: [DbUuid] Id,
        key  subscription_id: [Text] String,
        once kind: [Text] KindWord,
        once name: [Text] String,
        once correlation_key: [Nullable<Text>] Option<String>,
        once node_id: [Text] String,
    }
}

row! {
    /// A task for people.
    human_tasks (organization_id, id) => TaskDbRow changes (TaskAssigned, TaskEnded) many () {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once run_id: [DbUuid] Id,
        once workflow_id: [DbUuid] Id,
        once node_id: [Text] String,
        once node_instance_id: [Text] String,
        once name: [Text] String,
        then state: [Text] TaskStateWord,
        each assignee: [Nullable<Text>] Option<String>,
        once candidate_users: [Binary] Vec<u8>,
        once candidate_groups: [Binary] Vec<u8>,
        once due_at: [Nullable<DbInstant>] Option<At>,
        once priority: [Integer] i32,
        once form: [Nullable<Binary>] Option<Vec<u8>>,
        once outcomes: [Binary] Vec<u8>,
        once created_at: [DbInstant] At,
        then ended_at: [Nullable<DbInstant>] Option<At>,
        then completed_by: [Nullable<DbUuid>] Option<Id>,
    }
}

row! {
    /// Who may take a task: a row for each user and group.
    human_task_candidates (organization_id, task_id, kind, name) => CandidateRow changes () many () {
        key  organization_id: [DbUuid] Id,
        key  task_id: [DbUuid] Id,
        key  kind: [Text] CandidateWord,
        key  name: [Text] String,
    }
}

row! {
    /// An event from outside and what became of it.
    case_events (organization_id, id) => InboxDbRow changes (EventConsumed) many () {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once idempotency_key: [Text] String,
        once body_sha256: [Text] String,
        once correlation_key: [Nullable<Text>] Option<String>,
        once event_type: [Text] String,
        once payload: [Binary] Vec<u8>,
        once received_at: [DbInstant] At,
        once received_by: [Nullable<DbUuid>] Option<Id>,
        each state: [Text] InboxStateWord,
        each run_ids: [Binary] Vec<u8>,
        once expires_at: [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// A message or signal that a run has thrown and that is not yet delivered.
    outbox (organization_id, id) => OutgoingDbRow changes () many () {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once run_id: [DbUuid] Id,
        once kind: [Text] KindWord,
        once name: [Text] String,
        once correlation_key: [Nullable<Text>] Option<String>,
        once payload: [Binary] Vec<u8>,
        once created_at: [DbInstant] At,
    }
}

diesel::allow_tables_to_appear_in_same_query!(
    workflows,
    workflow_versions,
    workflow_stars,
    import_sources,
    workflow_sources,
    start_bindings,
    runs,
    run_events,
    run_timers,
    run_subscriptions,
    human_tasks,
    human_task_candidates,
    case_events,
    outbox,
);

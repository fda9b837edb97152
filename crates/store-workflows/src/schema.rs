//! The tables of workflows and runs, as diesel sees them: one text for both databases.

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

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// What starts a run: a message, a signal or a timer of the published version.
    start_bindings (organization_id, workflow_id, process_id, node_id, kind, name) {
        organization_id -> DbUuid,
        workflow_id -> DbUuid,
        version -> Integer,
        process_id -> Text,
        node_id -> Text,
        kind -> Text,
        name -> Text,
        next_due_at -> Nullable<DbInstant>,
        timer -> Nullable<Binary>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A run: one process instance.
    runs (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        workflow_id -> DbUuid,
        version -> Integer,
        process_id -> Text,
        state -> Text,
        has_incident -> Bool,
        business_key -> Nullable<Text>,
        correlation_key -> Nullable<Text>,
        trigger -> Binary,
        input -> Binary,
        snapshot -> Binary,
        last_sequence -> BigInt,
        revision -> BigInt,
        created_at -> DbInstant,
        created_by -> Nullable<DbUuid>,
        updated_at -> DbInstant,
        ended_at -> Nullable<DbInstant>,
        waiting_since -> Nullable<DbInstant>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// The events of a run, a row for each commit.
    run_events (organization_id, run_id, first_sequence) {
        organization_id -> DbUuid,
        run_id -> DbUuid,
        first_sequence -> BigInt,
        last_sequence -> BigInt,
        events -> Binary,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A timer that a run waits for.
    run_timers (organization_id, run_id, timer_id) {
        organization_id -> DbUuid,
        run_id -> DbUuid,
        timer_id -> Text,
        node_id -> Text,
        due_at -> DbInstant,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A message or signal that a run waits for.
    run_subscriptions (organization_id, run_id, subscription_id) {
        organization_id -> DbUuid,
        run_id -> DbUuid,
        subscription_id -> Text,
        kind -> Text,
        name -> Text,
        correlation_key -> Nullable<Text>,
        node_id -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A task for people.
    human_tasks (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        run_id -> DbUuid,
        workflow_id -> DbUuid,
        node_id -> Text,
        node_instance_id -> Text,
        name -> Text,
        state -> Text,
        assignee -> Nullable<Text>,
        candidate_users -> Binary,
        candidate_groups -> Binary,
        due_at -> Nullable<DbInstant>,
        priority -> Integer,
        form -> Nullable<Binary>,
        outcomes -> Binary,
        created_at -> DbInstant,
        ended_at -> Nullable<DbInstant>,
        completed_by -> Nullable<DbUuid>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// Who may take a task: a row for each user and group.
    human_task_candidates (organization_id, task_id, kind, name) {
        organization_id -> DbUuid,
        task_id -> DbUuid,
        kind -> Text,
        name -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// An event from outside and what became of it.
    case_events (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        idempotency_key -> Text,
        body_sha256 -> Text,
        correlation_key -> Nullable<Text>,
        event_type -> Text,
        payload -> Binary,
        received_at -> DbInstant,
        received_by -> Nullable<DbUuid>,
        state -> Text,
        run_ids -> Binary,
        expires_at -> Nullable<DbInstant>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::{DbInstant, DbUuid};

    /// A message or signal that a run has thrown and that is not yet delivered.
    outbox (organization_id, id) {
        organization_id -> DbUuid,
        id -> DbUuid,
        run_id -> DbUuid,
        kind -> Text,
        name -> Text,
        correlation_key -> Nullable<Text>,
        payload -> Binary,
        created_at -> DbInstant,
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

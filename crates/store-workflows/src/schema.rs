//! The tables of workflows and runs: one list of columns for each, from which table, row, changes and insertions come
//! (`docs/STORAGE.md`). Conversions to and from records are in `rows`.

use diesel::QueryResult;
use diesel::query_builder::AstPass;
use diesel::sqlite::Sqlite;
use heddle_store::{At, DbUuid, Id, Migration, change_many, migrations, remove_many, row};

use crate::words::{
    CandidateWord, DefinitionKindWord, InboxStateWord, JobKindWord, JobOutcomeWord, JobStateWord, KindWord,
    QueueWord, ReasonWord, RunStateWord, StandingWord, TaskStateWord, ThrownWord, WorkKindWord,
    WorkflowStateWord,
};

/// The migrations of the tables of workflows and runs.
pub const MIGRATIONS: &[Migration] = migrations![
    "20261121000200_workflows",
    "20261122000200_workflows_background",
    "20261122000210_workflows_hops",
    "20261122000310_workflows_previews",
    "20261122000400_workflows_counts",
    "20261122000410_workflows_lists",
    "20261122000500_workflows_event_keys",
    "20261122000700_workflows_lane_groups",
    "20261122001000_workflows_all_runs",
    "20261122001010_workflows_commits",
    "20261122001100_workflows_jobs",
    "20261122001400_workflows_calls",
    "20261122001500_workflows_job_states",
    "20261122001510_workflows_names",
    "20261122001520_workflows_commit_offset",
    "20261123000210_workflows_errands_counted",
    "20261124000100_workflows_editions",
    "20261124000110_workflows_data_stores",
    "20261124000300_workflows_own",
    "20261125000100_workflows_kinds",
    "20261125000200_workflows_instance_kinds",
    "20261125000400_workflows_refused_events",
    "20261128000100_workflows_appended",
    "20261128000200_workflows_own_sooner",
    "20261128000300_workflows_own_cheaper",
    "20261129000330_workflows_filters",
    "20261129000400_workflows_triggers",
    "20261129000410_workflows_involved",
    "20261130000100_workflows_standings",
    "20261130000200_workflows_meant",
];

row! {
    /// A definition with its draft: a workflow or a case type.
    pub(crate) workflows (organization_id, id) => WorkflowDbRow head (WorkflowHead) changes (WorkflowChange, DraftChange) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once kind: [Text] DefinitionKindWord,
        each slug: [Text] String,
        each display_name: [Text] String,
        each description: [Text] String,
        each folder_id: [Nullable<Text>] Option<String>,
        each folder_null: [Bool] bool,
        each state: [Text] WorkflowStateWord,
        each revision: [BigInt] i64,
        each draft_revision: [BigInt] i64,
        then draft: apart [Nullable<Binary>] Option<Vec<u8>>,
        each draft_hash: [Nullable<Text>] Option<String>,
        each published_version: [Nullable<Integer>] Option<i32>,
        each published_hash: [Nullable<Text>] Option<String>,
        once created_at: [DbInstant] At,
        once created_by: [DbUuid] Id,
        each updated_at: [DbInstant] At,
        each updated_by: [DbUuid] Id,
        each search: apart [Text] String,
    }
}

row! {
    /// A published, unchangeable definition.
    pub(crate) workflow_versions (organization_id, workflow_id, number) => VersionDbRow head (VersionHead) {
        key  organization_id: apart [DbUuid] Id,
        key  workflow_id: apart [DbUuid] Id,
        key  number: [Integer] i32,
        once hash: [Text] String,
        once definition: apart [Binary] Vec<u8>,
        once published_at: [DbInstant] At,
        once published_by: [DbUuid] Id,
        once change_note: [Nullable<Text>] Option<String>,
        once lane_groups: [Bool] bool,
        once edition: [Integer] i32,
    }
}

row! {
    /// Which workflows a user has starred.
    pub(crate) workflow_stars (organization_id, user_id, workflow_id) => StarDbRow {
        key  organization_id: [DbUuid] Id,
        key  user_id: [DbUuid] Id,
        key  workflow_id: [DbUuid] Id,
    }
}

row! {
    /// Imported bytes, kept for good once a workflow claims them.
    pub(crate) import_sources (organization_id, sha256) => SourceDbRow head (SourceHead) changes (SourceKept) {
        key  organization_id: apart [DbUuid] Id,
        key  sha256: [Text] String,
        each media_type: [Text] String,
        each file_name: [Nullable<Text>] Option<String>,
        once bytes: [Binary] Vec<u8>,
        each expires_at: apart [Nullable<DbInstant>] Option<At>,
    }
}

row! {
    /// Which imported bytes a workflow came from; the main one is given out again.
    pub(crate) workflow_sources (organization_id, workflow_id, sha256) => SourceClaimDbRow {
        key   organization_id: [DbUuid] Id,
        key   workflow_id: [DbUuid] Id,
        key   sha256: [Text] String,
        alone main: [Bool] bool,
    }
}

row! {
    /// Binding that starts a run: a message, a signal or a timer of the published version.
    pub(crate) start_bindings (organization_id, workflow_id, process_id, node_id, kind, name) => BindingDbRow changes (BindingAdvanced) {
        key  organization_id: [DbUuid] Id,
        once instance_kind: [Text] DefinitionKindWord,
        key  workflow_id: [DbUuid] Id,
        once version: [Integer] i32,
        key  process_id: [Text] String,
        key  node_id: [Text] String,
        key  kind: [Text] KindWord,
        key  name: [Text] String,
        each next_due_at: [Nullable<DbInstant>] Option<At>,
        each timer: [Nullable<Binary>] Option<Vec<u8>>,
        each attempts: [Integer] i32,
        each crashes: [Integer] i32,
    }
}

row! {
    /// A run: one process instance.
    pub(crate) runs (organization_id, id) => RunDbRow head (RunHead) changes (RunChange) many (NewRuns) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once kind: [Text] DefinitionKindWord,
        once workflow_id: [DbUuid] Id,
        once version: [Integer] i32,
        once process_id: [Text] String,
        each state: [Text] RunStateWord,
        each has_incident: [Bool] bool,
        each business_key: [Nullable<Text>] Option<String>,
        each correlation_key: [Nullable<Text>] Option<String>,
        once trigger: [Binary] Vec<u8>,
        once input: apart [Binary] Vec<u8>,
        each snapshot: apart [Binary] Vec<u8>,
        each last_sequence: [BigInt] i64,
        each revision: [BigInt] i64,
        once created_at: [DbInstant] At,
        once created_by: [Nullable<DbUuid>] Option<Id>,
        each updated_at: [DbInstant] At,
        each ended_at: [Nullable<DbInstant>] Option<At>,
        each waiting_since: [Nullable<DbInstant>] Option<At>,
        each bytes: apart [BigInt] i64,
        once parent_run_id: apart [Nullable<DbUuid>] Option<Id>,
    }
}

row! {
    /// A process of an active version, by which other workflows call it.
    pub(crate) callable_processes (organization_id, workflow_id, process_id) => CallableDbRow {
        key  organization_id: [DbUuid] Id,
        key  workflow_id: [DbUuid] Id,
        key  process_id: [Text] String,
    }
}

row! {
    /// Number of a version of a process.
    pub(crate) process_numbers (organization_id, number, workflow_id) => ProcessNumberDbRow {
        key  organization_id: [DbUuid] Id,
        key  number: [BigInt] i64,
        key  workflow_id: [DbUuid] Id,
    }
}

row! {
    /// Tag of a version of a workflow.
    pub(crate) version_tags (organization_id, workflow_id, tag, number) => VersionTagDbRow {
        key  organization_id: [DbUuid] Id,
        key  workflow_id: [DbUuid] Id,
        key  tag: [Text] String,
        key  number: [Integer] i32,
    }
}

row! {
    /// Numbers that stand beside lists and that quotas bound, kept by triggers: a row for each workflow and shard, and
    /// under the nil id what belongs to none. A number is the sum over the shards.
    pub(crate) stored_counts (organization_id, workflow_id, shard) => CountsRow {
        key   organization_id: [DbUuid] Id,
        key   workflow_id: [DbUuid] Id,
        key   shard: [Integer] i32,
        alone active: [BigInt] i64,
        alone incidents: [BigInt] i64,
        alone completed: [BigInt] i64,
        alone failed: [BigInt] i64,
        alone cancelled: [BigInt] i64,
        alone open_tasks: [BigInt] i64,
        alone bytes: [BigInt] i64,
        alone letters: [BigInt] i64,
    }
}

row! {
    /// The events of a run, a row for each commit.
    pub(crate) run_events (organization_id, run_id, first_sequence) => EventsDbRow many (NewEvents) {
        key  organization_id: [DbUuid] Id,
        key  run_id: [DbUuid] Id,
        key  first_sequence: [BigInt] i64,
        once last_sequence: [BigInt] i64,
        once events: [Binary] Vec<u8>,
    }
}

diesel::table! {
    use diesel::sql_types::*;
    use heddle_store::DbUuid;

    /// The events of runs with the number of their commit. On PostgreSQL the database gives it, so that it is none of the
    /// columns that are written there.
    #[sql_name = "run_events"]
    run_feed (organization_id, run_id, first_sequence) {
        organization_id -> DbUuid,
        run_id -> DbUuid,
        first_sequence -> BigInt,
        last_sequence -> BigInt,
        events -> Binary,
        commit_number -> BigInt,
    }
}

/// The events of a run with the number of their commit, as SQLite writes them.
#[derive(Debug)]
pub(crate) struct FeedRow {
    pub(crate) row: EventsDbRow,
    pub(crate) commit: i64,
}

impl heddle_store::Addition for FeedRow {
    const HEAD: &'static str = "INSERT OR FAIL INTO run_events \
        (organization_id, run_id, first_sequence, last_sequence, events, commit_number) VALUES ";

    fn values<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        use diesel::sql_types::{BigInt, Binary};
        let Self {
            row: EventsDbRow { organization_id, run_id, first_sequence, last_sequence, events },
            commit,
        } = self;
        out.push_sql("(");
        out.push_bind_param::<DbUuid, _>(organization_id)?;
        out.push_sql(", ");
        out.push_bind_param::<DbUuid, _>(run_id)?;
        for number in [first_sequence, last_sequence] {
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(number)?;
        }
        out.push_sql(", ");
        out.push_bind_param::<Binary, _>(events)?;
        out.push_sql(", ");
        out.push_bind_param::<BigInt, _>(commit)?;
        out.push_sql(")");
        Ok(())
    }
}

diesel::table! {
    use diesel::sql_types::*;

    /// Number of the last commit that wrote events, in one row; on PostgreSQL what the numbers of transactions are raised by.
    run_commits (one) {
        one -> Integer,
        number -> BigInt,
    }
}

row! {
    /// A timer that a run waits for.
    pub(crate) run_timers (organization_id, run_id, timer_id) => TimerDbRow many (NewTimers) {
        key  organization_id: [DbUuid] Id,
        key  run_id: [DbUuid] Id,
        key  timer_id: [Text] String,
        once node_id: [Text] String,
        alone due_at: [DbInstant] At,
        alone attempts: [Integer] i32,
        alone crashes: [Integer] i32,
    }
}

row! {
    /// A message or signal that a run waits for.
    pub(crate) run_subscriptions (organization_id, run_id, subscription_id) => SubscriptionDbRow many (NewSubscriptions) {
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
    pub(crate) human_tasks (organization_id, id) => TaskDbRow changes (TaskAssigned, TaskEnded) many (NewTasks) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once instance_kind: [Text] DefinitionKindWord,
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
        once due_order: [DbInstant] At,
        once follow_up_at: [Nullable<DbInstant>] Option<At>,
        once started_by: [Nullable<DbUuid>] Option<Id>,
    }
}

row! {
    /// Candidate for a task: a row for each user and group, or one for everyone, in the order of the work list. Triggers
    /// keep the standing, which is the task's state, or `assigned` while the task is somebody's. Who started the run stands here
    /// as it does in the task: what is for somebody is found among it without a look at each task.
    pub(crate) human_task_candidates (organization_id, task_id, kind, name) => CandidateRow many (NewCandidates) {
        key  organization_id: [DbUuid] Id,
        key  task_id: [DbUuid] Id,
        key  kind: [Text] CandidateWord,
        key  name: [Text] String,
        once instance_kind: [Text] DefinitionKindWord,
        once workflow_id: [DbUuid] Id,
        alone standing: [Text] StandingWord,
        once due_order: [DbInstant] At,
        once created_at: [DbInstant] At,
        once started_by: [Nullable<DbUuid>] Option<Id>,
    }
}

row! {
    /// A data store of an organisation, which outlives the runs that write it.
    pub(crate) data_stores (organization_id, name) => DataStoreRow changes (DataStoreChange) {
        key  organization_id: [DbUuid] Id,
        key  name: [Text] String,
        each value: [Binary] Vec<u8>,
        each run_id: [DbUuid] Id,
        each written_at: [DbInstant] At,
    }
}

row! {
    /// An open job for external workers. Its due time is the end of its lock or delay.
    pub(crate) jobs (organization_id, id) => JobDbRow many (NewJobs) {
        key   organization_id: [DbUuid] Id,
        key   id: [DbUuid] Id,
        once  number: [BigInt] i64,
        once  instance_kind: [Text] DefinitionKindWord,
        once  run_id: [DbUuid] Id,
        once  workflow_id: [DbUuid] Id,
        once  version: [Integer] i32,
        once  process_id: [Text] String,
        once  node_id: [Text] String,
        once  node_instance_id: [Text] String,
        once  kind: [Text] JobKindWord,
        once  job_type: [Text] String,
        once  headers: [Binary] Vec<u8>,
        once  priority: [BigInt] i64,
        alone state: [Text] JobStateWord,
        alone retries: [Integer] i32,
        alone attempt: [Integer] i32,
        alone due_at: [Nullable<DbInstant>] Option<At>,
        alone epoch: [BigInt] i64,
        alone worker: [Nullable<Text>] Option<String>,
        alone lapses: [Integer] i32,
        alone message: [Nullable<Text>] Option<String>,
        once  place: [DbInstant] At,
        once  created_at: [DbInstant] At,
    }
}

row! {
    /// End of a job, kept for a while.
    pub(crate) job_endings (organization_id, id) => EndingDbRow many (NewEndings) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once number: [BigInt] i64,
        once job_type: [Text] String,
        once instance_kind: [Text] DefinitionKindWord,
        once run_id: [DbUuid] Id,
        once workflow_id: [DbUuid] Id,
        once node_id: [Text] String,
        once worker: [Nullable<Text>] Option<String>,
        once epoch: [BigInt] i64,
        once outcome: [Text] JobOutcomeWord,
        once digest: [Text] String,
        once ended_at: [DbInstant] At,
    }
}

row! {
    /// An event from outside and what became of it.
    pub(crate) case_events (organization_id, id) => InboxDbRow changes (EventConsumed) many (NewInboxEvents) {
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
        each case_ids: [Nullable<Binary>] Option<Vec<u8>>,
        once refused: [Nullable<Binary>] Option<Vec<u8>>,
        alone expires_at: [Nullable<DbInstant>] Option<At>,
        alone attempts: [Integer] i32,
        alone crashes: [Integer] i32,
        alone retry_at: [Nullable<DbInstant>] Option<At>,
        once hops: [Integer] i32,
        alone awaited: [Bool] bool,
    }
}

row! {
    /// A message, a signal, a call or its end that a run has sent and that is not yet delivered.
    pub(crate) outbox (organization_id, id) => OutgoingDbRow many (NewOutgoing) {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once run_id: [DbUuid] Id,
        once kind: [Text] ThrownWord,
        once name: [Text] String,
        once correlation_key: [Nullable<Text>] Option<String>,
        once payload: [Binary] Vec<u8>,
        once created_at: [DbInstant] At,
        once hops: [Integer] i32,
        alone attempts: [Integer] i32,
        alone crashes: [Integer] i32,
        alone not_before: [DbInstant] At,
    }
}

row! {
    /// Work that was set aside; the workflow is the nil id where there is none.
    pub(crate) dead_letters (organization_id, id) => LetterDbRow {
        key  organization_id: [DbUuid] Id,
        key  id: [DbUuid] Id,
        once kind: [Text] WorkKindWord,
        once reason: [Text] ReasonWord,
        once message: [Text] String,
        once attempts: [Integer] i32,
        once crashes: [Integer] i32,
        once instance_kind: [Text] DefinitionKindWord,
        once workflow_id: [DbUuid] Id,
        once run_id: [Nullable<DbUuid>] Option<Id>,
        once work: [Binary] Vec<u8>,
        once created_at: [DbInstant] At,
    }
}

row! {
    /// Mark of what a node is doing in the background, by queue.
    pub(crate) work_marks (node, queue) => MarkDbRow changes (MarkChange) {
        key  node: [DbUuid] Id,
        key  queue: [Text] QueueWord,
        each single: [Bool] bool,
        each marked_at: [DbInstant] At,
        each pieces: [Binary] Vec<u8>,
    }
}

change_many! {
    /// Steps of runs: each changes the run at the revision that it was decided on.
    pub(crate) RunSteps of RunChange on runs
    where (organization: Id as organization_id, run: Id as id, expected: i64 as revision)
    set (
        state: RunStateWord,
        has_incident: bool,
        business_key: Option<String>,
        correlation_key: Option<String>,
        snapshot: Vec<u8>,
        last_sequence: i64,
        revision: i64,
        updated_at: At,
        ended_at: Option<At>,
        waiting_since: Option<At>,
        bytes: i64,
    )
}

change_many! {
    /// Ends of tasks.
    pub(crate) TaskEnds of TaskEnded on human_tasks
    where (organization: Id as organization_id, task: Id as id, run: Id as run_id)
    set (state: TaskStateWord, ended_at: Option<At>, completed_by: Option<Id>)
}

remove_many! {
    /// Timers that run no more.
    pub(crate) TimersGone from run_timers
    where (organization: Id as organization_id, run: Id as run_id, timer: String as timer_id)
}

remove_many! {
    /// Messages and signals that are waited for no more.
    pub(crate) SubscriptionsGone from run_subscriptions
    where (organization: Id as organization_id, run: Id as run_id, subscription: String as subscription_id)
}

remove_many! {
    /// Jobs that their workers ended.
    pub(crate) JobsEnded from jobs where (organization: Id as organization_id, job: Id as id, epoch: i64 as epoch)
}

remove_many! {
    /// Jobs that were withdrawn.
    pub(crate) JobsWithdrawn from jobs where (organization: Id as organization_id, job: Id as id)
}

remove_many! {
    /// Thrown messages and signals that were delivered.
    pub(crate) Delivered from outbox where (organization: Id as organization_id, thrown: Id as id)
}

diesel::allow_tables_to_appear_in_same_query!(
    workflows,
    workflow_versions,
    workflow_stars,
    import_sources,
    workflow_sources,
    start_bindings,
    runs,
    callable_processes,
    process_numbers,
    version_tags,
    stored_counts,
    run_events,
    run_timers,
    run_subscriptions,
    human_tasks,
    human_task_candidates,
    data_stores,
    jobs,
    job_endings,
    case_events,
    outbox,
    dead_letters,
    work_marks,
);

//! The text of the statements on the hot path: one list of columns makes what was written by hand before.

use diesel::pg::Pg;
use diesel::query_builder::QueryFragment;
use diesel::sqlite::Sqlite;
use diesel::{QueryDsl, debug_query};
use heddle_kernel::{DefinitionKind, Timestamp};
use heddle_store::{At, Id};
use heddle_workflows::records::{RunState, TaskState};
use uuid::Uuid;

use crate::schema::{
    NewEvents, NewRuns, RunChange, RunDbRow, RunSteps, TaskAssigned, TaskEnded, TimersGone, human_tasks, runs,
};
use crate::words::{DefinitionKindWord, RunStateWord, TaskStateWord};

const ID: Id = Id(Uuid::nil());
const AT: At = At(Timestamp::from_micros(0));

fn run() -> RunDbRow {
    RunDbRow {
        organization_id: ID,
        id: ID,
        kind: DefinitionKindWord(DefinitionKind::Workflow),
        workflow_id: ID,
        version: 1,
        process_id: "p".to_owned(),
        state: RunStateWord(RunState::Waiting),
        has_incident: false,
        business_key: None,
        correlation_key: None,
        trigger: Vec::new(),
        input: Vec::new(),
        snapshot: Vec::new(),
        last_sequence: 1,
        revision: 1,
        created_at: AT,
        created_by: None,
        updated_at: AT,
        ended_at: None,
        waiting_since: None,
        parent_run_id: None,
        bytes: 1,
    }
}

fn on_postgres(query: &impl QueryFragment<Pg>) -> String {
    let text = debug_query::<Pg, _>(query).to_string();
    text.split(" -- binds").next().unwrap_or_default().to_owned()
}

fn on_sqlite(query: &impl QueryFragment<Sqlite>) -> String {
    let text = debug_query::<Sqlite, _>(query).to_string();
    text.split(" -- binds").next().unwrap_or_default().replace('`', "\"")
}

#[test]
fn a_step_writes_every_column_that_may_change_also_nulls() {
    let row = run();
    let change = RunChange::from(&row);
    let text = on_postgres(&diesel::update(runs::table).set(change.set()));
    assert_eq!(
        text,
        "UPDATE \"runs\" SET \"state\" = $1, \"has_incident\" = $2, \"business_key\" = $3, \
         \"correlation_key\" = $4, \"snapshot\" = $5, \"last_sequence\" = $6, \"revision\" = $7, \
         \"updated_at\" = $8, \"ended_at\" = $9, \"waiting_since\" = $10, \"bytes\" = $11"
    );
    let sqlite = on_sqlite(&diesel::update(runs::table).set(change.set()));
    let columns = |text: &str| text.matches("\" = ").count();
    assert_eq!(columns(&sqlite), columns(&text), "{sqlite}");
}

#[test]
fn steps_of_many_runs_are_one_text_and_write_what_one_step_writes() {
    let row = run();
    let mut steps = RunSteps::default();
    steps.push(&row.organization_id, &row.id, &row.revision, RunChange::from(&row));
    let one = on_postgres(&steps);
    steps.push(&row.organization_id, &row.id, &row.revision, RunChange::from(&row));
    assert_eq!((on_postgres(&steps), steps.len()), (one.clone(), 2), "two rows have the text of one");
    assert_eq!(
        one,
        "UPDATE runs SET \"state\" = new_state, \"has_incident\" = new_has_incident, \
         \"business_key\" = new_business_key, \"correlation_key\" = new_correlation_key, \
         \"snapshot\" = new_snapshot, \"last_sequence\" = new_last_sequence, \"revision\" = new_revision, \
         \"updated_at\" = new_updated_at, \"ended_at\" = new_ended_at, \"waiting_since\" = new_waiting_since, \
         \"bytes\" = new_bytes \
         FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS new(of_organization_id, of_id, \
         of_revision, new_state, new_has_incident, new_business_key, new_correlation_key, new_snapshot, \
         new_last_sequence, new_revision, new_updated_at, new_ended_at, new_waiting_since, new_bytes) \
         WHERE runs.\"organization_id\" = of_organization_id AND runs.\"id\" = of_id \
         AND runs.\"revision\" = of_revision"
    );
    assert_eq!(
        on_postgres(&TimersGone::default()),
        "DELETE FROM run_timers USING unnest($1, $2, $3) AS gone(of_organization_id, of_run_id, of_timer_id) \
         WHERE run_timers.\"organization_id\" = of_organization_id AND run_timers.\"run_id\" = of_run_id \
         AND run_timers.\"timer_id\" = of_timer_id"
    );
}

#[test]
fn a_task_changes_in_two_ways() {
    let task = || human_tasks::table.find((ID, ID));
    let assigned = TaskAssigned { assignee: &None };
    let text = on_postgres(&diesel::update(task()).set(assigned.set()));
    assert!(text.starts_with("UPDATE \"human_tasks\" SET \"assignee\" = $1 WHERE"), "{text}");
    let state = TaskStateWord(TaskState::Completed);
    let ended = TaskEnded { state: &state, ended_at: &Some(AT), completed_by: &None };
    let text = on_postgres(&diesel::update(task()).set(ended.set()));
    let set = "UPDATE \"human_tasks\" SET \"state\" = $1, \"ended_at\" = $2, \"completed_by\" = $3 WHERE";
    assert!(text.starts_with(set), "{text}");
}

#[test]
fn many_runs_are_one_text_with_an_array_for_each_column() {
    let row = run();
    let mut rows = NewRuns::default();
    assert!(rows.is_empty());
    rows.push(&row);
    let one = on_postgres(&rows);
    rows.push(&row);
    assert_eq!(on_postgres(&rows), one, "two rows have the text of one");
    assert_eq!(
        one,
        "INSERT INTO runs (\"organization_id\", \"id\", \"kind\", \"workflow_id\", \"version\", \"process_id\", \"state\", \
         \"has_incident\", \"business_key\", \"correlation_key\", \"trigger\", \"input\", \"snapshot\", \
         \"last_sequence\", \"revision\", \"created_at\", \"created_by\", \"updated_at\", \"ended_at\", \
         \"waiting_since\", \"bytes\", \"parent_run_id\") SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
         $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)"
    );
    assert_eq!(
        on_postgres(&NewEvents::default()),
        "INSERT INTO run_events (\"organization_id\", \"run_id\", \"first_sequence\", \"last_sequence\", \
         \"events\") SELECT * FROM unnest($1, $2, $3, $4, $5)"
    );
}

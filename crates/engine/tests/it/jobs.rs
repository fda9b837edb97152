//! Jobs for external workers.

use crate::support::*;
use heddle_engine::{Command, IncidentCode, OpenJob, Rejection, Status, WaitKind};
use heddle_settings::JobEnd;
use serde_json::{Value, json};

/// Start, a service task `work` with a job, end.
fn with_job(more: Value) -> Model {
    let mut configuration = json!({ "jobType": "ship" });
    configuration.as_object_mut().unwrap().extend(map(more));
    Model::default()
        .nodes("s:startEvent e:endEvent")
        .node("work", "serviceTask", json!({ "configuration": configuration }))
        .flows("s > work > e")
}

fn job(run: &Run) -> OpenJob {
    let jobs = run.state.jobs();
    let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
    job.clone()
}

fn complete(run: &mut Run, variables: Value) -> Result<(), Rejection> {
    let job_id = job(run).job_id;
    run.give(Command::CompleteJob { job_id, variables: map(variables) })
}

fn fail(run: &mut Run, retries: Option<u32>, retry_after_ms: Option<u64>) {
    let job_id = job(run).job_id;
    let (message, details) = ("no carrier".to_owned(), Some("at line 1".to_owned()));
    run.give(Command::FailJob { job_id, message, details, retries, retry_after_ms, notes: None }).unwrap();
}

fn throw(run: &mut Run, code: &str) {
    let job_id = job(run).job_id;
    let variables = map(json!({ "left": 0 }));
    run.give(Command::ThrowJobError { job_id, code: code.to_owned(), message: None, variables }).unwrap();
}

#[test]
fn a_job_waits_for_a_worker_and_its_variables_go_on() {
    let mut run = with_job(json!({ "headers": { "carrier": "mail" } })).run(json!({ "order": 7 }));
    let open = job(&run);
    assert_eq!((&*open.job_type, open.retries, open.attempt), ("ship", 3, 1));
    assert_eq!(Value::Object(open.headers), json!({ "carrier": "mail" }));
    assert_eq!(run.state.job_variables(open.job_id), Some(map(json!({ "order": 7 }))));
    let wait = run.state.active_nodes().remove(0).waiting_for.unwrap();
    assert_eq!((wait.kind, wait.name.as_deref()), (WaitKind::Job, Some("ship")));
    complete(&mut run, json!({ "shipped": true })).unwrap();
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.variables(), json!({ "order": 7, "shipped": true }));
    let again = run.give(Command::CompleteJob { job_id: open.job_id, variables: map(json!({})) });
    assert_eq!(again, Err(Rejection::AlreadyEnded));
    assert_eq!(run.state.job_variables(open.job_id), None);
}

#[test]
fn a_failure_waits_for_its_next_attempt_and_the_last_one_is_an_incident_that_a_retry_cures() {
    let mut run = with_job(json!({})).run(json!({}));
    fail(&mut run, None, Some(60_000));
    let waits = job(&run);
    assert_eq!((waits.retries, waits.attempt, waits.not_before), (2, 2, Some(run.now.plus_seconds(60))));
    assert!(run.incidents().is_empty());
    fail(&mut run, Some(0), Some(60_000));
    let stopped = job(&run);
    assert_eq!((stopped.retries, stopped.not_before), (0, None));
    assert_eq!(run.incidents(), [(IncidentCode::JobFailed, "work".to_owned())]);
    assert!(run.state.incidents()[0].message.contains("no carrier"));
    assert_eq!(complete(&mut run, json!({})), Err(Rejection::UnknownJob(stopped.job_id)));
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({ "address": "new" })) }).unwrap();
    let anew = job(&run);
    assert_eq!((anew.job_id, anew.retries, anew.attempt), (stopped.job_id, 3, 3));
    assert!(run.incidents().is_empty());
    complete(&mut run, json!({})).unwrap();
    assert_eq!(run.variables(), json!({ "address": "new" }));
}

#[test]
fn an_end_that_comes_while_the_run_is_suspended_follows_when_it_goes_on() {
    let keep = |end: JobEnd| {
        let mut run = with_job(json!({})).run(json!({}));
        run.give(Command::Suspend).unwrap();
        let job_id = job(&run).job_id;
        run.give(Command::EndJob { job_id, end }).unwrap();
        assert_eq!((run.status(), run.state.jobs().len()), (Status::Suspended, 1));
        run.give(Command::Resume).unwrap();
        run.check();
        run
    };
    let run = keep(JobEnd::Completed { variables: map(json!({ "shipped": true })) });
    assert_eq!((run.status(), run.variables()), (Status::Completed, json!({ "shipped": true })));
    let told = run.types().into_iter().filter(|kind| kind.starts_with("job.")).collect::<Vec<_>>();
    assert_eq!(told, ["job.created", "job.kept", "job.completed"]);
    let failed = |retries| JobEnd::Failed {
        message: "away".to_owned(),
        retries,
        retry_after_ms: None,
        notes: Some(json!({ "repairs": 1 })),
    };
    let run = keep(failed(None));
    assert_eq!((job(&run).retries, job(&run).attempt, run.incidents().len()), (2, 2, 0));
    assert_eq!(run.state.job_notes(job(&run).job_id), Some(&json!({ "repairs": 1 })));
    let run = keep(failed(Some(0)));
    assert_eq!(run.incidents(), [(IncidentCode::JobFailed, "work".to_owned())]);
    let (code, message, variables) = ("OUT".to_owned(), "gone".to_owned(), map(json!({})));
    let run = keep(JobEnd::Error { code, message, variables });
    assert_eq!(run.incidents(), [(IncidentCode::UnhandledError, "work".to_owned())]);
}

#[test]
fn an_end_that_was_kept_goes_with_its_run() {
    let mut run = with_job(json!({})).run(json!({}));
    run.give(Command::Suspend).unwrap();
    let job_id = job(&run).job_id;
    let refused = run.give(Command::CompleteJob { job_id, variables: map(json!({})) });
    assert_eq!(refused, Err(Rejection::Suspended));
    run.give(Command::EndJob { job_id, end: JobEnd::Completed { variables: map(json!({})) } }).unwrap();
    run.give(Command::Cancel { reason: None }).unwrap();
    assert_eq!((run.status(), run.state.jobs().len()), (Status::Cancelled, 0));
}

#[test]
fn another_number_of_attempts_cures_as_well_and_none_stops() {
    let mut run = with_job(json!({})).run(json!({}));
    let set = |run: &mut Run, retries| {
        let job_id = job(run).job_id;
        run.give(Command::SetJobRetries { job_id, retries }).unwrap();
    };
    set(&mut run, 0);
    assert_eq!(run.incidents(), [(IncidentCode::JobFailed, "work".to_owned())]);
    set(&mut run, 2);
    assert_eq!((run.incidents().len(), job(&run).retries), (0, 2));
    set(&mut run, 5);
    assert_eq!(job(&run).retries, 5);
    assert_eq!(run.types().iter().filter(|kind| *kind == "job.retriesSet").count(), 3);
}

#[test]
fn an_error_that_nothing_catches_is_an_incident_and_the_job_stays() {
    let mut run = with_job(json!({})).run(json!({}));
    throw(&mut run, "OUT");
    assert_eq!(run.incidents(), [(IncidentCode::UnhandledError, "work".to_owned())]);
    assert_eq!(job(&run).retries, 0);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    complete(&mut run, json!({})).unwrap();
    assert_eq!(run.status(), Status::Completed);
}

#[test]
fn an_error_is_caught_by_a_boundary_event_with_its_code() {
    let mut run = with_job(json!({}))
        .nodes("other:endEvent")
        .node("caught", "boundaryEvent", boundary("work", "error e1", true))
        .flows("caught > other")
        .run(json!({}));
    throw(&mut run, "e1-code");
    assert_eq!(run.status(), Status::Completed);
    assert!(run.state.jobs().is_empty());
    assert_eq!(run.variables()["left"], 0);
}

#[test]
fn what_interrupts_the_task_withdraws_its_job_once() {
    let mut run = with_job(json!({}))
        .nodes("late:endEvent")
        .node("timer", "boundaryEvent", boundary("work", "timer PT1H", true))
        .flows("timer > late")
        .run(json!({}));
    assert_eq!(run.state.timers().len(), 1);
    fail(&mut run, Some(0), None);
    let incident_id = run.incident_id();
    run.give(Command::Retry { incident_id, variables: map(json!({})) }).unwrap();
    assert_eq!(run.state.timers().len(), 1, "a retry listens no second time");
    run.advance(3_600);
    assert_eq!(run.status(), Status::Completed);
    assert_eq!(run.types().iter().filter(|kind| *kind == "job.cancelled").count(), 1);
}

#[test]
fn a_type_that_is_no_name_is_an_incident_and_no_job() {
    for job_type in ["= null", "= \" \"", "= \"a\\nb\"", "= order"] {
        let run = with_job(json!({ "jobType": job_type })).run(json!({ "order": "x".repeat(201) }));
        assert_eq!(run.incidents(), [(IncidentCode::ExpressionError, "work".to_owned())], "{job_type}");
        assert!(run.state.jobs().is_empty());
    }
}

#[test]
fn a_held_run_keeps_its_jobs_and_an_ended_one_has_none() {
    let mut run = with_job(json!({})).run(json!({}));
    run.give(Command::Suspend).unwrap();
    assert_eq!(run.state.jobs().len(), 1);
    run.give(Command::Resume).unwrap();
    run.give(Command::Cancel { reason: None }).unwrap();
    assert!(run.state.jobs().is_empty());
}

#[test]
fn a_listener_before_an_event_that_has_come_is_a_job_that_holds_it() {
    let listener = json!([{ "on": "start", "jobType": "told" }]);
    let mut timer = boundary("u", "timer PT1H", true);
    timer["configuration"] = json!({ "listeners": listener });
    let model = Model::default()
        .nodes("s:startEvent u:userTask e:endEvent late:userTask e2:endEvent")
        .node("b", "boundaryEvent", timer)
        .flows("s > u > e; b > late > e2");
    let mut run = model.run(json!({}));
    run.advance(3600);
    assert_eq!((run.tasks(), &*job(&run).job_type), (Vec::<String>::new(), "told"));
    complete(&mut run, json!({})).unwrap();
    assert_eq!(run.tasks(), ["late"]);
}

//! Jobs for external workers: taken, completed, failed at, held longer, and by whom.

use std::time::Duration;

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::samples;

/// Start, a service task `work` with a job, end.
pub(crate) fn with_job(job_type: &str, more: Value) -> Value {
    let mut configuration = json!({ "jobType": job_type });
    configuration.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s" },
            { "id": "work", "type": "serviceTask", "displayName": "work", "configuration": configuration },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }],
    })
}

/// An error boundary event `caught` at `work`, which leads to an end of its own.
pub(crate) fn with_error(job_type: &str) -> Value {
    let mut definition = with_job(job_type, json!({}));
    let nodes = definition["nodes"].as_array_mut().unwrap();
    nodes.push(json!({ "id": "caught", "type": "boundaryEvent", "displayName": "caught",
        "bpmn": { "attachedToRef": "work", "eventDefinitions": [{ "type": "error", "reference": "x" }] } }));
    nodes.push(json!({ "id": "other", "type": "endEvent", "displayName": "other" }));
    definition["edges"]
        .as_array_mut()
        .unwrap()
        .push(json!({ "id": "c", "source": "caught", "target": "other" }));
    definition["bpmn"] = json!({ "errors": [{ "id": "x", "name": "x", "code": "OUT" }] });
    definition
}

/// An open job of a workflow of its own, as it is listed.
pub(crate) async fn one(client: &Client) -> Value {
    let workflow = client.publish("with-a-job", with_job("sample-type", json!({}))).await;
    let run = client.run(&workflow, json!({})).await;
    let path = format!("/api/jobs?runId={}", run["id"].as_str().unwrap());
    client.get(&path).await.expect(200).data()[0].clone()
}

async fn take(client: &Client, job_type: &str, more: Value) -> Vec<Value> {
    let mut body = json!({ "types": [job_type], "worker": "w", "lockMs": 60_000 });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let taken = client.post("/api/jobs/activate", body).await.expect(200).data();
    taken.as_array().unwrap().clone()
}

/// What the last event of a type in a run's history tells.
async fn last_of(client: &Client, workflow: &str, run: &str, kind: &str) -> Value {
    let history = client.events(workflow, run).await;
    let of_kind = history.into_iter().rev().find(|event| event["type"] == kind);
    of_kind.unwrap_or_else(|| panic!("no {kind}"))["data"].clone()
}

fn path(job: &Value, verb: &str) -> String {
    format!("/api/jobs/{}/{verb}", job["id"].as_str().unwrap())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// A run of a workflow, by its id.
async fn begin(client: &Client, workflow: &str, input: Value) -> String {
    text(&client.run(workflow, json!({ "input": input })).await["id"])
}

#[tokio::test]
async fn a_job_is_taken_with_what_it_needs_and_completed_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, worker) = app.user("worker", &["integrator"]).await;
        let settings = json!({ "headers": { "carrier": "mail" } });
        let workflow = app.admin.publish("ship", with_job("ship", settings)).await;
        let run = begin(&app.admin, &workflow, json!({ "order": 7, "secret": true })).await;
        let shown = app.admin.run_now(&workflow, &run).await;
        assert_eq!(shown["activeNodes"][0]["waitingFor"]["kind"], "job", "{shown}");

        assert!(take(&worker, "unknown", json!({})).await.is_empty(), "an unknown type is no error");
        let taken = take(&worker, "ship", json!({ "maxJobs": 5, "variables": ["order"] })).await;
        let [job] = taken.as_slice() else { panic!("{taken:?}") };
        assert_eq!(
            (&job["headers"], &job["variables"]),
            (&json!({ "carrier": "mail" }), &json!({ "order": 7 }))
        );
        assert_eq!((&job["runId"], &job["nodeId"], &job["epoch"]), (&json!(run), &json!("work"), &json!(1)));
        assert!(take(&worker, "ship", json!({})).await.is_empty(), "two workers never hold one job");

        let completion = json!({ "epoch": 1, "variables": { "shipped": true } });
        let _ = worker.post(&path(job, "complete"), json!({ "epoch": 2 })).await.refused(409, "staleEpoch");
        for _ in 0..2 {
            let done = worker.post(&path(job, "complete"), completion.clone()).await.expect(200).data();
            assert_eq!(done["state"], "completed", "a repeat of the same completion is answered alike");
        }
        let _ = worker.post(&path(job, "complete"), json!({ "epoch": 1 })).await.refused(409, "jobGone");
        let ended = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(ended["output"]["shipped"], true, "{ended}");
        let events = app.admin.events(&workflow, &run).await;
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!((count("job.created"), count("job.completed")), (1, 1));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_lock_that_runs_out_gives_the_job_to_the_next_worker() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let _ = begin(&app.admin, &workflow, json!({})).await;
        let first = take(&app.admin, "ship", json!({})).await.remove(0);
        let longer = json!({ "epoch": 1, "lockMs": 120_000 });
        let held = app.admin.post(&path(&first, "extend"), longer.clone()).await.expect(200).data();
        assert!(held["lockedUntil"].as_str() > first["lockedUntil"].as_str(), "{held}");
        app.advance("PT90S").await;
        let admin = app.admin.clone();
        assert!(take(&admin, "ship", json!({})).await.is_empty(), "it is held longer");
        app.advance("PT60S").await;
        let admin = app.admin.clone();
        let _ = admin.post(&path(&first, "extend"), longer).await.refused(409, "staleEpoch");
        let second = take(&admin, "ship", json!({})).await.remove(0);
        assert_eq!((&second["id"], &second["epoch"]), (&first["id"], &json!(2)));
        for (verb, body) in [
            ("complete", json!({ "epoch": 1 })),
            ("fail", json!({ "epoch": 1, "message": "m", "details": "d" })),
            ("error", json!({ "epoch": 1, "code": "c", "message": "m", "variables": {} })),
        ] {
            let _ = admin.post(&path(&first, verb), body).await.refused(409, "staleEpoch");
        }
        let _ = admin.post(&path(&second, "complete"), json!({ "epoch": 2 })).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_that_fails_waits_and_ends_in_an_incident_that_a_retry_cures() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let run = begin(&app.admin, &workflow, json!({})).await;
        let job = take(&app.admin, "ship", json!({})).await.remove(0);
        let failure = json!({ "epoch": 1, "message": "no carrier", "retries": 1, "retryAfterMs": 60_000 });
        let waits = app.admin.post(&path(&job, "fail"), failure).await.expect(200).data();
        assert_eq!((&waits["state"], &waits["retries"]), (&json!("delayed"), &json!(1)));
        assert!(take(&app.admin, "ship", json!({})).await.is_empty());
        app.advance("PT61S").await;
        let admin = app.admin.clone();
        let again = take(&admin, "ship", json!({})).await.remove(0);
        assert_eq!(again["attempt"], 2, "{again}");
        let failure =
            json!({ "epoch": again["epoch"], "message": "no carrier at all", "details": "at the depot" });
        let failed = admin.post(&path(&job, "fail"), failure).await.expect(200).data();
        assert_eq!((&failed["state"], &failed["retries"]), (&json!("failed"), &json!(0)));
        let stopped = admin.run_now(&workflow, &run).await;
        assert_eq!(stopped["incidents"][0]["code"], "JOB_FAILED", "{stopped}");
        let listed = admin.get("/api/jobs?state=failed").await.expect(200).data();
        assert_eq!(listed[0]["message"], "no carrier at all");
        assert_eq!(last_of(&admin, &workflow, &run, "job.failed").await["details"], "at the depot");
        assert!(take(&admin, "ship", json!({})).await.is_empty());
        let _ = admin.decide(&workflow, &run, json!({ "decision": "retry" })).await.expect(200);
        let cured = take(&admin, "ship", json!({})).await.remove(0);
        assert_eq!(cured["id"], job["id"], "the job is opened anew");
        let _ = admin.post(&path(&cured, "complete"), json!({ "epoch": cured["epoch"] })).await.expect(200);
        let _ = admin.run_in(&workflow, &run, "completed").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn an_error_is_caught_by_its_code_or_is_an_incident() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish("ship", with_error("ship")).await;
        let run = begin(&admin, &workflow, json!({})).await;
        let job = take(&admin, "ship", json!({})).await.remove(0);
        let error =
            json!({ "epoch": 1, "code": "OUT", "message": "out of stock", "variables": { "left": 0 } });
        for _ in 0..2 {
            let over = admin.post(&path(&job, "error"), error.clone()).await.expect(200).data();
            assert_eq!(over["state"], "error");
        }
        let ended = admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(ended["output"]["left"], 0, "{ended}");
        let thrown = last_of(&admin, &workflow, &run, "job.errorThrown").await;
        assert_eq!(thrown["message"], "out of stock", "{thrown}");
        let run = begin(&admin, &workflow, json!({})).await;
        let job = take(&admin, "ship", json!({})).await.remove(0);
        let unknown = json!({ "epoch": 1, "code": "ELSE" });
        let stays = admin.post(&path(&job, "error"), unknown).await.expect(200).data();
        assert_eq!(stays["state"], "failed");
        let stopped = admin.run_now(&workflow, &run).await;
        assert!(stopped["incidents"][0]["message"].as_str().unwrap().contains("ELSE"), "{stopped}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_worker_that_waits_is_woken_by_the_start_that_opens_a_job() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish("ship", with_job("ship", json!({}))).await;
        let waiting = tokio::spawn({
            let admin = admin.clone();
            async move { take(&admin, "ship", json!({ "waitMs": 60_000 })).await }
        });
        let run = begin(&admin, &workflow, json!({})).await;
        let taken =
            tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("told in time").unwrap();
        assert_eq!(taken[0]["runId"], json!(run));

        // One that waits gets the job of a worker that is gone, once its lock runs out.
        let waiting = tokio::spawn({
            let admin = admin.clone();
            async move { take(&admin, "ship", json!({ "waitMs": 60_000 })).await }
        });
        app.advance("PT2M").await;
        let taken =
            tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("told in time").unwrap();
        assert_eq!((&taken[0]["runId"], &taken[0]["epoch"]), (&json!(run), &json!(2)));
        app.stop().await;
    });
}

#[tokio::test]
async fn jobs_go_with_their_run_and_rest_while_it_is_suspended() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish("ship", with_job("ship", json!({}))).await;
        let run = begin(&admin, &workflow, json!({})).await;
        let held = take(&admin, "ship", json!({})).await.remove(0);
        let _ = admin.decide(&workflow, &run, json!({ "decision": "suspend" })).await.expect(200);
        let _ = admin.post(&path(&held, "complete"), json!({ "epoch": 1 })).await.refused(409, "staleEpoch");
        assert!(take(&admin, "ship", json!({})).await.is_empty());
        let _ = admin.decide(&workflow, &run, json!({ "decision": "resume" })).await.expect(200);
        let held = take(&admin, "ship", json!({})).await.remove(0);
        let _ = admin.delete(&format!("/api/workflows/{workflow}/runs/{run}")).await.expect(204);
        let late = json!({ "epoch": held["epoch"] });
        let _ = admin.post(&path(&held, "complete"), late).await.refused(409, "jobGone");
        let listed = admin.get(&format!("/api/jobs?runId={run}")).await.expect(200).data();
        assert_eq!(listed, json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_rule_selects_jobs_by_type_run_or_workflow() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let open = admin.publish("open", with_job("ship", json!({}))).await;
        let closed = admin.publish("closed", with_job("ship", json!({}))).await;
        let (user, worker) = app.user("worker", &["integrator"]).await;
        let rule = async |kind: &str, id: &str, effect: &str| {
            let rule = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind,
                "action": "*", "resourceId": id, "effect": effect });
            admin.post("/api/grants", rule).await.expect(201).id()
        };
        let mine = begin(&admin, &open, json!({})).await;
        let theirs = begin(&admin, &closed, json!({})).await;
        for (kind, id) in [("workflow", &closed), ("run", &theirs), ("job", &closed), ("job", &theirs)] {
            let grant = rule(kind, id, "deny").await;
            let taken = take(&worker, "ship", json!({ "maxJobs": 9 })).await;
            let runs: Vec<&Value> = taken.iter().map(|job| &job["runId"]).collect();
            assert_eq!(runs, [&json!(mine)], "with a deny on the {kind} {id}");
            let held = admin.get("/api/jobs?state=locked").await.expect(200).data();
            assert_eq!(held.as_array().map(Vec::len), Some(1), "{held}");
            let seen = worker.get("/api/jobs").await.expect(200).data();
            assert_eq!(seen.as_array().map(Vec::len), Some(1), "{seen}");
            let _ = admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
            let failed =
                json!({ "epoch": taken[0]["epoch"], "message": "m", "retries": 3, "retryAfterMs": 0 });
            let _ = worker.post(&path(&taken[0], "fail"), failed).await.expect(200);
        }
        let grant = rule("job", "ship", "deny").await;
        assert!(take(&worker, "ship", json!({})).await.is_empty(), "with a deny on the type");
        let job = admin.get("/api/jobs").await.expect(200).data()[0].clone();
        let _ = worker.post(&path(&job, "complete"), json!({ "epoch": 1 })).await.refused(403, "denied");
        let _ = admin.delete(&format!("/api/grants/{grant}")).await.expect(204);

        // An allow on one type is enough for it.
        let body = json!({ "name": "jobs", "permissions": ["jobs.work"] });
        let _ = admin.post("/api/roles", body).await.expect(201);
        let (user, narrow) = app.user("narrow", &["jobs"]).await;
        let _ = narrow
            .post("/api/jobs/activate", samples::body(heddle_api::operations::OperationId::ActivateJobs))
            .await
            .refused(403, "denied");
        let allow = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "job",
            "action": "activate", "resourceId": "ship", "effect": "allow" });
        let _ = admin.post("/api/grants", allow).await.expect(201);
        assert_eq!(take(&narrow, "ship", json!({})).await.len(), 1);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_out_of_range_or_of_another_organisation_is_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (_, elsewhere) = app.second_organization("second").await;
        let job = one(&elsewhere).await;
        for (verb, body) in [
            ("complete", json!({ "epoch": 1, "variables": {} })),
            ("fail", json!({ "epoch": 1, "message": "m", "retries": 1, "retryAfterMs": 1 })),
            ("error", json!({ "epoch": 1, "code": "c" })),
            ("extend", json!({ "epoch": 1, "lockMs": 1 })),
        ] {
            let _ = admin.post(&path(&job, verb), body.clone()).await.expect(404);
            let mut wrong = body;
            wrong["epoch"] = json!(0);
            let _ = elsewhere.post(&path(&job, verb), wrong).await.expect(400);
        }
        let body = json!({ "types": ["sample-type"], "worker": "w", "maxJobs": 9 });
        let none = admin.post("/api/jobs/activate", body).await.expect(200).data();
        assert_eq!(none, json!([]));
        for wrong in [
            json!({ "types": [], "worker": "w" }),
            json!({ "types": ["a"], "worker": "w", "maxJobs": 257 }),
            json!({ "types": ["a"], "worker": "w", "lockMs": 0 }),
            json!({ "types": ["a"], "worker": "w", "waitMs": 60_001 }),
        ] {
            let _ = admin.post("/api/jobs/activate", wrong).await.expect(400);
        }
        let large = json!({ "epoch": 1, "variables": { "a": "x".repeat(16 << 20) } });
        let _ = elsewhere.post(&path(&job, "complete"), large).await.expect(413);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_that_no_worker_survives_is_set_aside_behind_an_incident() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.job_lapses = 3).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let run = begin(&app.admin, &workflow, json!({})).await;
        let other = app.admin.publish("mail", with_job("mail", json!({}))).await;
        let mut first = Value::Null;
        for _ in 0..3 {
            let taken = take(&app.admin, "ship", json!({})).await;
            assert_eq!(taken.len(), 1, "its worker dies");
            first = taken[0].clone();
            app.advance("PT61S").await;
        }
        let _ = begin(&app.admin, &other, json!({})).await;
        let mut both = json!({ "types": ["ship", "mail"], "worker": "w", "lockMs": 60_000, "maxJobs": 1 });
        both["waitMs"] = json!(1_000);
        let taken = app.admin.post("/api/jobs/activate", both).await.expect(200).data();
        assert_eq!(taken[0]["type"], "mail", "it holds up no other: {taken}");
        let stopped = app.admin.run_now(&workflow, &run).await;
        let incident = &stopped["incidents"][0];
        assert_eq!(incident["code"], "JOB_FAILED", "{stopped}");
        let message = incident["message"].as_str().unwrap();
        assert!(message.contains("`ship`") && message.contains("3 times"), "{message}");
        let late = app.admin.post(&path(&first, "complete"), json!({ "epoch": first["epoch"] })).await;
        let _ = late.refused(409, "staleEpoch");
        let _ = app.admin.decide(&workflow, &run, json!({ "decision": "retry" })).await.expect(200);
        let cured = take(&app.admin, "ship", json!({})).await.remove(0);
        let _ =
            app.admin.post(&path(&cured, "complete"), json!({ "epoch": cured["epoch"] })).await.expect(200);
        let _ = app.admin.run_in(&workflow, &run, "completed").await;
        app.stop().await;
    });
}

//! The part of Camunda 8's REST interface that its workers and callers use.

use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::jobs::{with_error, with_job};
use crate::models;

async fn activate(client: &Client, more: Value) -> Vec<Value> {
    let mut body = json!({ "type": "ship", "worker": "w", "timeout": 60_000, "maxJobsToActivate": 10,
        "requestTimeout": -1 });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client.post("/v2/jobs/activation", body).await.expect(200).json();
    answer["jobs"].as_array().unwrap().clone()
}

fn path(job: &Value, verb: &str) -> String {
    format!("/v2/jobs/{}/{verb}", job["jobKey"].as_str().unwrap())
}

/// A failure as a problem with this title, and its detail.
fn refused(answer: Answer, status: u16, title: &str) -> String {
    let answer = answer.expect(status);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    let body = answer.json();
    assert_eq!((&body["title"], &body["status"]), (&json!(title), &json!(status)), "{body}");
    assert!(body["instance"].as_str().is_some_and(|path| path.starts_with("/v2/")), "{body}");
    body["detail"].as_str().unwrap().to_owned()
}

/// Starts a run of the process by its id and gives the keys.
async fn create(client: &Client, process: &str, more: Value) -> Value {
    let mut body = json!({ "processDefinitionId": process });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/v2/process-instances", body).await.expect(200).json()
}

/// A process that goes from its start to its end.
fn straight(id: &str) -> String {
    let elements = r#"<startEvent id="start"/><endEvent id="end"/>"#;
    models::process(id, "", &format!("{elements}{}", models::flows(&["start", "end"])))
}

/// Id of the only process of a workflow.
async fn process_of(client: &Client, workflow: &str) -> String {
    let run = client.run(workflow, json!({})).await;
    let path = format!("/api/workflows/{workflow}/runs/{}", run["id"].as_str().unwrap());
    let _ = client.delete(&path).await.expect(204);
    run["processId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_job_is_activated_with_its_keys_and_completed() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, worker) = app.user("worker", &["integrator"]).await;
        let settings = json!({ "headers": { "carrier": "mail" } });
        let workflow = app.admin.publish("ship", with_job("ship", settings)).await;
        let process = process_of(&app.admin, &workflow).await;
        let variables = json!({ "order": 7, "secret": true });
        let made = create(&worker, &process, json!({ "variables": variables, "businessId": "b-1" })).await;
        assert_eq!(
            (&made["processDefinitionId"], &made["processDefinitionVersion"], &made["variables"]),
            (&json!(process), &json!(1), &json!({}))
        );

        let jobs = activate(&worker, json!({ "fetchVariable": ["order"] })).await;
        let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
        assert_eq!(
            (&job["variables"], &job["customHeaders"]),
            (&json!({ "order": 7 }), &json!({ "carrier": "mail" }))
        );
        for key in ["processInstanceKey", "processDefinitionKey"] {
            assert_eq!(job[key], made[key], "{key}");
            assert!(made[key].as_str().unwrap().parse::<i64>().unwrap() > 0, "{made}");
        }
        assert_eq!(job["rootProcessInstanceKey"], made["processInstanceKey"], "no other run called it");
        assert_eq!((&job["kind"], &job["tenantId"]), (&json!("BPMN_ELEMENT"), &json!("<default>")));
        assert!(job["deadline"].as_i64().is_some_and(|millis| millis > 1_600_000_000_000), "{job}");
        assert!(activate(&worker, json!({})).await.is_empty(), "two workers never hold one job");

        let body = json!({ "variables": { "shipped": true } });
        let _ = worker.post(&path(job, "completion"), body.clone()).await.expect(204);
        let _ = refused(worker.post(&path(job, "completion"), body).await, 404, "NOT_FOUND");
        let runs = app.admin.get(&format!("/api/workflows/{workflow}/runs?state=completed")).await.data();
        let run = runs[0]["id"].as_str().unwrap().to_owned();
        let ended = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!((&ended["output"]["shipped"], &ended["businessKey"]), (&json!(true), &json!("b-1")));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_fails_is_held_longer_given_retries_and_ends_with_an_error() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_error("ship")).await;
        let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let job = activate(&app.admin, json!({})).await.remove(0);
        // Some clients send integers of 64 bits as texts.
        let failure = json!({ "retries": 2, "errorMessage": "once", "retryBackOff": "60000" });
        let _ = app.admin.post(&path(&job, "failure"), failure).await.expect(204);
        assert!(activate(&app.admin, json!({})).await.is_empty(), "its time has not come");
        app.advance("PT2M").await;
        let job = activate(&app.admin, json!({ "withLease": true, "timeout": "60000" })).await.remove(0);
        assert_eq!(job["retries"], 2);
        let longer = json!({ "changeset": { "timeout": 300_000, "retries": 5 }, "jobLeaseToken": job["jobLeaseToken"] });
        let update = format!("/v2/jobs/{}", job["jobKey"].as_str().unwrap());
        let _ = app.admin.patch(&update, json!({ "changeset": { "timeout": 300_000 } })).await.expect(204);
        app.advance("PT2M").await;
        assert!(activate(&app.admin, json!({})).await.is_empty(), "it is held longer");
        app.advance("PT5M").await;
        let taken = activate(&app.admin, json!({ "withLease": true })).await.remove(0);
        let late = app.admin.patch(&update, longer).await;
        let _ = refused(late, 409, "INVALID_STATE");
        let more = json!({ "changeset": { "retries": 7 }, "jobLeaseToken": taken["jobLeaseToken"] });
        let _ = app.admin.patch(&update, more).await.expect(204);
        assert!(activate(&app.admin, json!({})).await.is_empty(), "its worker keeps it");
        let error = json!({ "errorCode": "OUT", "errorMessage": "m", "variables": { "left": 0 },
            "jobLeaseToken": taken["jobLeaseToken"] });
        let _ = app.admin.post(&path(&taken, "error"), error).await.expect(204);
        let ended = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(ended["output"]["left"], 0, "{ended}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_process_is_started_by_its_id_or_key_and_waited_for() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("work", &straight("order")).await;
        let made = create(
            &app.admin,
            "order",
            json!({ "variables": { "a": 1, "b": 2 }, "awaitCompletion": true,
            "fetchVariables": ["b"], "requestTimeout": 30_000 }),
        )
        .await;
        assert_eq!(made["variables"], json!({ "b": 2 }), "{made}");
        let key = json!({ "processDefinitionKey": made["processDefinitionKey"] });
        let by_key = app.admin.post("/v2/process-instances", key.clone()).await.expect(200).json();
        assert_eq!(by_key["processDefinitionId"], "order");
        let (path, keyed) = ("/v2/process-instances", app.admin.with("idempotency-key", "once"));
        let first = keyed.post(path, key.clone()).await.expect(200);
        assert_eq!(first.bytes, keyed.post(path, key).await.expect(200).bytes);

        for (body, status, title) in [
            (json!({}), 400, "INVALID_ARGUMENT"),
            (json!({ "processDefinitionId": "order", "processDefinitionKey": "1" }), 400, "INVALID_ARGUMENT"),
            (json!({ "processDefinitionId": "order", "tags": ["t"] }), 400, "INVALID_ARGUMENT"),
            (json!({ "processDefinitionId": "order", "tenantId": "other" }), 400, "INVALID_ARGUMENT"),
            (
                json!({ "processDefinitionId": "order", "processDefinitionVersion": 9 }),
                400,
                "INVALID_ARGUMENT",
            ),
            (json!({ "processDefinitionId": "no-such-process" }), 404, "NOT_FOUND"),
            (json!({ "processDefinitionKey": "12" }), 404, "NOT_FOUND"),
        ] {
            let _ = refused(app.admin.post(path, body).await, status, title);
        }
        let (_, elsewhere) = app.second_organization("second").await;
        let _ =
            refused(elsewhere.post(path, json!({ "processDefinitionId": "order" })).await, 404, "NOT_FOUND");
        let (_, viewer) = app.user("viewer", &["viewer"]).await;
        let _ = refused(viewer.post(path, json!({ "processDefinitionId": "order" })).await, 403, "FORBIDDEN");
        // Two processes of one id: which one is meant is the caller's to say.
        let _ = app.admin.publish_bpmn("twin", &straight("twin")).await;
        let _ = app.admin.publish_bpmn("twin-2", &straight("twin")).await;
        let _ = refused(
            app.admin.post(path, json!({ "processDefinitionId": "twin" })).await,
            409,
            "INVALID_STATE",
        );
        let waits = app.admin.publish_bpmn("waits", &models::task()).await;
        let body = json!({ "processDefinitionId": "p", "awaitCompletion": true, "requestTimeout": 1 });
        let _ = refused(app.admin.post(path, body).await, 503, "UNAVAILABLE");
        let begun = app.admin.get(&format!("/api/workflows/{waits}/runs")).await.data();
        assert_eq!(begun.as_array().unwrap().len(), 1, "{begun}");
        assert_eq!(
            app.admin.get(&format!("/api/workflows/{workflow}/runs")).await.data().as_array().unwrap().len(),
            3
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn messages_are_kept_or_taken_at_once_and_signals_are_broadcast() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish_bpmn("waits", &models::message(false)).await;
        let start = |key: &str| json!({ "correlationKey": key });
        let first = app.admin.run(&workflow, start("k-1")).await["id"].as_str().unwrap().to_owned();
        let (publication, correlation) = ("/v2/messages/publication", "/v2/messages/correlation");
        let message = json!({ "name": "paid", "correlationKey": "k-1", "variables": { "amount": 12 } });
        let taken = app.admin.post(correlation, message.clone()).await.expect(200).json();
        assert!(taken["processInstanceKey"].as_str().is_some(), "{taken}");
        let _ = app.admin.run_in(&workflow, &first, "completed").await;
        let _ = refused(app.admin.post(correlation, message).await, 404, "NOT_FOUND");

        // One that is kept is taken by who waits later; one without a time to live is not.
        for (key, millis, state) in [("k-2", 0, "waiting"), ("k-3", 60_000, "completed")] {
            let body = json!({ "name": "paid", "correlationKey": key, "timeToLive": millis });
            let _ = app.admin.post(publication, body).await.expect(200);
            let run = app.admin.run(&workflow, start(key)).await["id"].as_str().unwrap().to_owned();
            let _ = app.admin.run_in(&workflow, &run, state).await;
        }
        let twice =
            json!({ "name": "paid", "correlationKey": "k-9", "messageId": "m", "timeToLive": 60_000 });
        let _ = app.admin.post(publication, twice.clone()).await.expect(200);
        let _ = refused(app.admin.post(publication, twice).await, 409, "INVALID_STATE");
        let signal =
            app.admin.post("/v2/signals/broadcast", json!({ "signalName": "stock" })).await.expect(200);
        assert!(signal.json()["signalKey"].as_str().is_some());
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_wrong_or_of_another_organisation_is_a_problem() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let topology = app.admin.get("/v2/topology").await.expect(200).json();
        assert_eq!(
            (&topology["clusterSize"], &topology["brokers"][0]["partitions"][0]["role"]),
            (&json!(1), &json!("leader"))
        );
        assert!(
            topology["gatewayVersion"].as_str().is_some_and(|version| version.starts_with("8.")),
            "{topology}"
        );
        let _ = refused(app.anonymous().get("/v2/topology").await, 401, "UNAUTHENTICATED");
        let wish = |name: &str, value: Value| {
            let mut body =
                json!({ "type": "ship", "timeout": 1_000, "maxJobsToActivate": 1, "requestTimeout": -1 });
            body[name] = value;
            body
        };
        for (name, value, place) in [
            ("type", json!(""), "type"),
            ("timeout", json!(0), "timeout"),
            ("timeout", json!("soon"), "timeout"),
            ("maxJobsToActivate", json!(0), "maxJobsToActivate"),
            ("tenantIds", json!(["<default>", "other"]), "tenantIds[1]"),
            ("odd", json!(1), "odd"),
        ] {
            let answer = app.admin.post("/v2/jobs/activation", wish(name, value)).await;
            let detail = refused(answer, 400, "INVALID_ARGUMENT");
            assert!(detail.starts_with(&format!("{place}: ")), "{detail}");
        }
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let _ = app.admin.run(&workflow, json!({})).await;
        let job = activate(&app.admin, json!({})).await.remove(0);
        let (_, elsewhere) = app.second_organization("second").await;
        assert!(activate(&elsewhere, json!({})).await.is_empty());
        for verb in ["completion", "failure"] {
            let _ = refused(elsewhere.post(&path(&job, verb), json!({})).await, 404, "NOT_FOUND");
        }
        let _ = refused(
            elsewhere.post(&path(&job, "error"), json!({ "errorCode": "e" })).await,
            404,
            "NOT_FOUND",
        );
        let update = format!("/v2/jobs/{}", job["jobKey"].as_str().unwrap());
        let change = json!({ "changeset": { "timeout": 1_000 } });
        let _ = refused(elsewhere.patch(&update, change).await, 404, "NOT_FOUND");
        let nothing = app.admin.patch(&update, json!({ "changeset": {} })).await;
        assert!(refused(nothing, 400, "INVALID_ARGUMENT").starts_with("changeset: "));
        let _ = refused(app.admin.post("/v2/jobs/nonsense/completion", json!({})).await, 404, "NOT_FOUND");
        let _ = refused(app.admin.get("/v2/nowhere").await, 404, "NOT_FOUND");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_of_a_called_run_names_the_run_that_the_first_call_went_out_from() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.admin.publish("ship", with_job("ship", json!({}))).await;
        for (id, called) in [("inner", "ship"), ("outer", "inner")] {
            let call = format!(r#"<callActivity id="call" calledElement="{called}"/>"#);
            let elements = format!(r#"<startEvent id="start"/>{call}<endEvent id="end"/>"#);
            let flows = models::flows(&["start", "call", "end"]);
            let _ = app.admin.publish_bpmn(id, &models::process(id, "", &format!("{elements}{flows}"))).await;
        }
        let made = create(&app.admin, "outer", json!({})).await;
        let jobs = activate(&app.admin, json!({ "requestTimeout": 20_000 })).await;
        let [job] = jobs.as_slice() else { panic!("{jobs:?}") };
        assert_eq!(job["rootProcessInstanceKey"], made["processInstanceKey"], "{job}");
        assert_ne!(job["processInstanceKey"], made["processInstanceKey"], "{job}");
        app.stop().await;
    });
}

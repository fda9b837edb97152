//! The external task protocol of Camunda 7, as its clients speak it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::jobs::{with_error, with_job};
use crate::samples::NOBODY;

async fn fetch(client: &Client, worker: &str, topic: Value) -> Vec<Value> {
    let mut wanted = json!({ "topicName": "ship", "lockDuration": 60_000 });
    wanted.as_object_mut().unwrap().extend(topic.as_object().unwrap().clone());
    let body = json!({ "workerId": worker, "maxTasks": 10, "usePriority": true, "topics": [wanted] });
    let answer = client.post("/engine-rest/external-task/fetchAndLock", body).await.expect(200);
    assert_eq!(answer.header("content-type"), "application/json", "clients look for just this");
    answer.json().as_array().unwrap().clone()
}

async fn send(client: &Client, task: &Value, verb: &str, body: Value) -> Answer {
    client.post(&format!("/engine-rest/external-task/{}/{verb}", task["id"].as_str().unwrap()), body).await
}

/// A failure in the protocol's shape, and its message.
fn refused(answer: Answer, status: u16, kind: &str) -> String {
    let body = answer.expect(status).json();
    assert_eq!(body["type"], kind, "{body}");
    assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
    body["message"].as_str().unwrap().to_owned()
}

async fn begin(client: &Client, workflow: &str, body: Value) -> String {
    client.run(workflow, body).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_task_is_fetched_with_typed_variables_and_completed_by_its_worker_alone() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, worker) = app.user("worker", &["integrator"]).await;
        let settings = json!({ "headers": { "carrier": "mail" } });
        let workflow = app.admin.publish("ship", with_job("ship", settings)).await;
        let input = json!({ "n": 7, "big": 1_099_511_627_776_i64, "list": [1], "secret": true });
        let run = begin(&app.admin, &workflow, json!({ "input": input, "businessKey": "b-1" })).await;

        let topic = json!({ "variables": ["n", "big", "list"], "includeExtensionProperties": true,
            "processVariables": {}, "deserializeValues": true });
        let tasks = fetch(&worker, "one", topic).await;
        let [task] = tasks.as_slice() else { panic!("{tasks:?}") };
        assert_eq!(
            task["variables"],
            json!({
                "n": { "type": "Integer", "value": 7, "valueInfo": {} },
                "big": { "type": "Long", "value": 1_099_511_627_776_i64, "valueInfo": {} },
                "list": { "type": "Json", "value": "[1]", "valueInfo": {} },
            })
        );
        assert_eq!(
            (&task["topicName"], &task["workerId"], &task["activityId"], &task["processInstanceId"]),
            (&json!("ship"), &json!("one"), &json!("work"), &json!(run))
        );
        assert_eq!((&task["businessKey"], &task["retries"]), (&json!("b-1"), &Value::Null));
        assert_eq!(task["extensionProperties"], json!({ "carrier": "mail" }));
        assert!(task["lockExpirationTime"].as_str().unwrap().ends_with("+0000"), "{task}");
        assert!(fetch(&worker, "two", json!({})).await.is_empty(), "two workers never hold one task");

        let variables = json!({
            "when": { "type": "date", "value": "2030-01-02T03:04:05.006+0000" },
            "file": { "type": "file", "value": "aGk=", "valueInfo": { "filename": "a.txt" } },
            "object": { "type": "json", "value": "{\"a\":null}" },
            "plain": { "value": [1, "two"] },
        });
        let body = json!({ "workerId": "two", "variables": variables });
        let message = refused(send(&worker, task, "complete", body).await, 400, "RestException");
        assert!(
            message.contains("cannot be completed by worker 'two'") && message.contains("'one'"),
            "{message}"
        );
        let odd = json!({ "workerId": "one", "variables": { "n": { "type": "Integer", "value": "7" } } });
        let message = refused(send(&worker, task, "complete", odd).await, 400, "InvalidRequestException");
        assert!(message.starts_with("variables.n.value: "), "{message}");

        let body = json!({ "workerId": "one", "variables": variables, "localVariables": {} });
        let _ = send(&worker, task, "complete", body.clone()).await.expect(204);
        let _ = refused(send(&worker, task, "complete", body).await, 404, "RestException");
        let output = app.admin.run_in(&workflow, &run, "completed").await["output"].clone();
        assert_eq!(output["when"], "2030-01-02T03:04:05.006+00:00");
        assert_eq!(output["file"], json!({ "$type": "file", "fileName": "a.txt", "content": "aGk=" }));
        assert_eq!((&output["object"], &output["plain"]), (&json!({ "a": null }), &json!([1, "two"])));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_task_fails_and_comes_again_until_no_retry_is_left() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let run = begin(&app.admin, &workflow, json!({})).await;
        let task = fetch(&app.admin, "w", json!({})).await.remove(0);
        let failure = json!({ "workerId": "w", "errorMessage": "once", "errorDetails": "more", "retries": 1,
            "retryTimeout": 60_000 });
        let _ = send(&app.admin, &task, "failure", failure).await.expect(204);
        assert!(fetch(&app.admin, "w", json!({})).await.is_empty(), "its time has not come");
        app.advance("PT2M").await;
        let again = fetch(&app.admin, "w", json!({})).await.remove(0);
        assert_eq!((&again["id"], &again["retries"]), (&task["id"], &json!(1)));
        let _ = send(&app.admin, &again, "failure", json!({ "workerId": "w" })).await.expect(204);
        assert!(fetch(&app.admin, "w", json!({})).await.is_empty());
        assert_eq!(app.admin.run_now(&workflow, &run).await["hasIncident"], true);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_bpmn_error_is_caught_and_a_lock_is_extended_given_back_or_lost() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_error("ship")).await;
        let run = begin(&app.admin, &workflow, json!({})).await;
        let task = fetch(&app.admin, "one", json!({})).await.remove(0);
        let _ = send(&app.admin, &task, "extendLock", json!({ "workerId": "one", "newDuration": 300_000 }))
            .await
            .expect(204);
        app.advance("PT2M").await;
        assert!(fetch(&app.admin, "two", json!({})).await.is_empty(), "it is held longer");
        // The clients send no body at all.
        let path = format!("/engine-rest/external-task/{}/unlock", task["id"].as_str().unwrap());
        for _ in 0..2 {
            let _ = app.admin.request("POST", &path).send().await.expect(204);
        }
        let again = fetch(&app.admin, "two", json!({})).await.remove(0);
        app.advance("PT2M").await;
        let longer = json!({ "workerId": "two", "newDuration": 1_000 });
        let _ = refused(send(&app.admin, &again, "extendLock", longer).await, 400, "RestException");
        let taken = fetch(&app.admin, "three", json!({})).await.remove(0);
        let error = json!({ "errorCode": "OUT", "errorMessage": "Out of stock.",
            "variables": { "left": { "value": 0 } } });
        for (worker, status) in [("two", 400), ("three", 204)] {
            let mut error = error.clone();
            error["workerId"] = worker.into();
            let _ = send(&app.admin, &taken, "bpmnError", error).await.expect(status);
        }
        let ended = app.admin.run_in(&workflow, &run, "completed").await;
        assert_eq!(ended["output"]["left"], 0, "{ended}");
        let events = app.admin.events(&workflow, &run).await;
        assert!(events.iter().any(|event| event["nodeId"] == "other"), "{events:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn topics_have_their_own_locks_and_filters() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let other = app.admin.publish("pack", with_job("pack", json!({}))).await;
        for key in ["b-1", "b-2"] {
            let input = json!({ "key": key });
            let _ = begin(&app.admin, &workflow, json!({ "businessKey": key, "input": input })).await;
        }
        let _ = begin(&app.admin, &other, json!({})).await;
        for (filter, found) in [
            (json!({ "businessKey": "b-9" }), 0),
            (json!({ "processDefinitionKey": "no-such-process" }), 0),
            (json!({ "processVariables": { "key": "b-9" } }), 0),
            (json!({ "businessKey": "b-2", "processVariables": { "key": "b-2" } }), 1),
            (json!({ "businessKey": "b-2" }), 0),
            (json!({}), 1),
        ] {
            let tasks = fetch(&app.admin, "w", filter.clone()).await;
            assert_eq!(tasks.len(), found, "{filter}: {tasks:?}");
        }
        // One call for two topics, of which each has its own time.
        let _ = begin(&app.admin, &workflow, json!({})).await;
        let body = json!({ "workerId": "w", "maxTasks": 5, "topics": [
            { "topicName": "ship", "lockDuration": 60_000 }, { "topicName": "pack", "lockDuration": 600_000 }] });
        let both = app.admin.post("/engine-rest/external-task/fetchAndLock", body.clone()).await.expect(200);
        assert_eq!(both.json().as_array().unwrap().len(), 2);
        app.advance("PT2M").await;
        let after = app.admin.post("/engine-rest/external-task/fetchAndLock", body).await.expect(200).json();
        let topics: Vec<&str> =
            after.as_array().unwrap().iter().map(|task| task["topicName"].as_str().unwrap()).collect();
        assert!(!topics.is_empty() && topics.iter().all(|topic| *topic == "ship"), "{topics:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_worker_that_waits_is_answered_by_the_start_of_a_run() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let waiting = {
            let client = app.admin.clone();
            let body = json!({ "workerId": "w", "maxTasks": 1, "asyncResponseTimeout": 30_000,
                "topics": [{ "topicName": "ship", "lockDuration": 60_000 }] });
            tokio::spawn(async move { client.post("/engine-rest/external-task/fetchAndLock", body).await })
        };
        let _ = begin(&app.admin, &workflow, json!({})).await;
        let answer = tokio::time::timeout(Duration::from_secs(10), waiting).await.unwrap().unwrap();
        assert_eq!(answer.expect(200).json().as_array().unwrap().len(), 1);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_wrong_is_told_in_the_shape_of_the_protocol() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let path = "/engine-rest/external-task/fetchAndLock";
        let topic = json!({ "topicName": "ship", "lockDuration": 1_000 });
        let with = |name: &str, value: Value| {
            let mut topic = topic.clone();
            topic[name] = value;
            json!({ "workerId": "w", "maxTasks": 1, "topics": [topic] })
        };
        for (body, place) in [
            (json!({ "maxTasks": 1 }), "workerId"),
            (json!({ "workerId": "", "maxTasks": 1, "topics": [topic] }), "workerId"),
            (json!({ "workerId": "w", "maxTasks": -1 }), "maxTasks"),
            (json!({ "workerId": "w", "maxTasks": 1, "topics": [topic, topic] }), "topics[1].topicName"),
            (json!({ "workerId": "w", "maxTasks": 1, "odd": 1 }), "odd"),
            (with("lockDuration", json!(0)), "topics[0].lockDuration"),
            (with("localVariables", json!(true)), "topics[0].localVariables"),
            (with("tenantIdIn", json!(["t"])), "topics[0].tenantIdIn"),
            (
                json!({ "workerId": "w", "maxTasks": 1, "topics": [topic],
                    "sorting": [{ "sortBy": "createTime", "sortOrder": "desc" }] }),
                "sorting[0].sortOrder",
            ),
        ] {
            let message = refused(app.admin.post(path, body.clone()).await, 400, "InvalidRequestException");
            assert!(message.starts_with(&format!("{place}: ")), "{body}: {message}");
        }
        let empty = app.admin.post(path, json!({ "workerId": 7, "maxTasks": 1 })).await.expect(200);
        assert_eq!(empty.json(), json!([]));
        let _ = refused(app.admin.get("/engine-rest/nowhere").await, 404, "RestException");
        let gone = format!("/engine-rest/external-task/{NOBODY}/complete");
        let _ = refused(app.admin.post(&gone, json!({ "workerId": "w" })).await, 404, "RestException");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_token_comes_as_bearer_or_as_password_and_opens_its_own_organisation() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        let _ = begin(&app.admin, &workflow, json!({})).await;
        let token = app.admin.post("/api/auth/tokens", json!({ "name": "worker" })).await.expect(201).data();
        let token = token["token"].as_str().unwrap().to_owned();
        let basic = |password: &str| {
            let credentials = STANDARD.encode(format!("anybody:{password}"));
            app.anonymous().with("authorization", &format!("Basic {credentials}"))
        };
        let task = fetch(&basic(&token), "w", json!({})).await.remove(0);
        let body = json!({ "workerId": "w" });
        let wrong = send(&basic("nonsense"), &task, "complete", body.clone()).await;
        assert!(wrong.header("www-authenticate").contains("Basic"), "{:?}", wrong.headers);
        let _ = refused(wrong, 401, "AuthenticationException");
        // The service's own operations know no passwords.
        let _ = basic(&token).get("/api/workflows").await.expect(401);

        let (_, elsewhere) = app.second_organization("second").await;
        let _ = refused(send(&elsewhere, &task, "complete", body.clone()).await, 404, "RestException");
        assert!(fetch(&elsewhere, "w", json!({})).await.is_empty());
        let (_, viewer) = app.user("viewer", &["viewer"]).await;
        let _ = refused(send(&viewer, &task, "complete", body.clone()).await, 403, "AuthorizationException");
        let _ = send(&app.anonymous().bearer(&token), &task, "complete", body).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_filtered_fetch_finds_what_is_far_behind_and_leaves_the_others_to_other_workers() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let workflow = app.admin.publish("ship", with_job("ship", json!({}))).await;
        for n in 0..120 {
            let body = json!({ "businessKey": format!("b-{n}"), "input": { "n": n } });
            let _ = begin(&app.admin, &workflow, body).await;
        }
        for topic in [json!({ "businessKey": "b-119" }), json!({ "processVariables": { "n": 118 } })] {
            let found = fetch(&app.admin, "narrow", topic.clone()).await;
            assert_eq!(found.len(), 1, "{topic}");
            let listed = app.admin.get("/api/jobs?state=locked").await.expect(200).data();
            assert!(listed.as_array().unwrap().iter().all(|job| job["worker"] == "narrow"), "{listed}");
            let others = app.admin.get("/api/jobs?state=ready&limit=100").await.expect(200).data();
            let untouched = |job: &Value| job["worker"].is_null();
            assert!(others.as_array().unwrap().iter().all(untouched), "no lock was written and given back");
        }
        let locked = app.admin.get("/api/jobs?state=locked").await.expect(200).data();
        assert_eq!(locked.as_array().unwrap().len(), 2);
        app.stop().await;
    });
}

//! Reads over all workflows: the list of runs, the stream of their events, and tasks by their own id.

use std::time::Duration;

use heddle_testkit::sse::{Event, Stream};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;
use crate::raw::{HERE, Raw, get};
use crate::samples::NOBODY;

/// A workflow whose run stops with an incident: no flow of the gateway is taken.
fn stuck() -> Value {
    json!({ "nodes": [{ "id": "s", "type": "startEvent" }, { "id": "which", "type": "exclusiveGateway" },
            { "id": "e", "type": "endEvent" }],
        "edges": [{ "id": "a", "source": "s", "target": "which" },
            { "id": "b", "source": "which", "target": "e", "bpmn": { "conditionExpression": "way = \"a\"" } }] })
}

/// A workflow with a user task of these settings.
fn with_task(settings: Value) -> Value {
    json!({ "nodes": [{ "id": "s", "type": "startEvent" },
            { "id": "work", "type": "userTask", "configuration": settings }, { "id": "e", "type": "endEvent" }],
        "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }] })
}

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

async fn listed(client: &Client, query: &str) -> Vec<String> {
    let found = client.get(&format!("/api/runs?{query}")).await.expect(200).data();
    found.as_array().unwrap().iter().map(id).collect()
}

async fn deny(app: &TestApp, user: &str, kind: &str, thing: &str) -> String {
    deny_action(app, user, kind, "*", thing).await
}

async fn deny_action(app: &TestApp, user: &str, kind: &str, action: &str, thing: &str) -> String {
    let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind,
        "action": action, "resourceId": thing, "effect": "deny" });
    app.admin.post("/api/grants", deny).await.expect(201).id()
}

#[tokio::test]
async fn runs_of_all_workflows_are_listed_by_every_filter() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (ada, operator) = app.user("ada", &["operator"]).await;
        let work = admin.publish_bpmn("work", &models::task()).await;
        let bad = admin.publish("bad", stuck()).await;
        let first = id(&admin.run(&work, json!({ "businessKey": "b-1", "correlationKey": "c-1" })).await);
        app.advance("PT1M").await;
        let wrong = id(&admin.run(&bad, json!({})).await);
        app.advance("PT1M").await;
        let last = id(&operator.run(&work, json!({})).await);
        let all = vec![last.clone(), wrong.clone(), first.clone()];
        assert_eq!(listed(&operator, "").await, all, "newest first");
        assert_eq!(listed(&operator, "sort=-hasIncident").await, [&wrong, &last, &first].map(String::clone));
        let middle = operator.get("/api/runs").await.expect(200).data()[1]["createdAt"].clone();
        let middle = middle.as_str().unwrap().to_owned();
        let cases: Vec<(String, Vec<&String>)> = vec![
            (format!("workflowId={work}"), vec![&last, &first]),
            ("state=waiting".to_owned(), all.iter().collect()),
            ("hasIncident=true".to_owned(), vec![&wrong]),
            ("hasIncident=false".to_owned(), vec![&last, &first]),
            ("hasIncident=false&sort=-hasIncident".to_owned(), vec![&last, &first]),
            ("businessKey=b-1".to_owned(), vec![&first]),
            ("businessKey=c-1".to_owned(), vec![]),
            ("correlationKey=c-1".to_owned(), vec![&first]),
            ("nodeId=work".to_owned(), vec![&last, &first]),
            (format!("startedBy={ada}"), vec![&last]),
            ("startedBy=me".to_owned(), vec![&last]),
            (format!("from={middle}"), vec![&last, &wrong]),
            (format!("to={middle}"), vec![&first]),
            (format!("waitingBefore={middle}"), vec![&first]),
            (format!("workflowId={}&state=failed", NOBODY), vec![]),
        ];
        for (query, expected) in cases {
            let expected: Vec<String> = expected.into_iter().cloned().collect();
            assert_eq!(listed(&operator, &query).await, expected, "{query}");
        }
        // Pages of one go through either order without a gap or a repeat.
        for sort in ["-createdAt", "-hasIncident"] {
            let (mut path, mut found) = (format!("/api/runs?limit=1&sort={sort}"), Vec::new());
            loop {
                let page = operator.get(&path).await.expect(200).json();
                found.extend(page["data"].as_array().unwrap().iter().map(id));
                let Some(cursor) = page["page"]["nextCursor"].as_str() else { break };
                path = format!("/api/runs?limit=1&sort={sort}&cursor={cursor}");
            }
            assert_eq!(found, listed(&operator, &format!("sort={sort}")).await, "{sort}");
        }
        for (query, field) in
            [("startedBy=ada", "startedBy"), ("workflowId=x", "workflowId"), ("sort=x", "sort")]
        {
            let refused = operator.get(&format!("/api/runs?{query}")).await.expect(400);
            assert_eq!(refused.fields(), [field], "{query}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_on_a_run_or_on_its_workflow_holds_in_the_list_and_in_the_stream() {
    with_both!(|db| {
        let check = |config: &mut heddle_server::Config| {
            config.edge.stream_check = Duration::from_millis(20);
        };
        let mut app = TestApp::with(db, check).await;
        let admin = app.admin.clone();
        let (user, reader) = app.user("reader", &["viewer"]).await;
        let work = admin.publish_bpmn("work", &models::task()).await;
        let hidden = admin.publish_bpmn("hidden", &models::task()).await;
        let mut runs = Vec::new();
        for workflow in [&work, &work, &work, &hidden] {
            runs.push(id(&admin.run(workflow, json!({})).await));
        }
        let [mark, open, denied, within] = runs.as_slice() else { panic!("four") };
        let headers = format!("authorization: Bearer {}\r\nconnection: close\r\n", reader.token());
        let mut stream = Raw::connect(&app, HERE).await;
        stream.send(&get("/api/runs/events/stream", &headers)).await;
        stream.until(": heartbeat").await;
        let _ = deny(&app, &user, "run", denied).await;
        let _ = deny(&app, &user, "workflow", &hidden).await;
        assert_eq!(listed(&reader, "").await, [open.clone(), mark.clone()]);
        assert_eq!(listed(&reader, &format!("workflowId={hidden}")).await, Vec::<String>::new());
        // The stream was opened before. A sign of life behind what was committed since says that the rights were looked at.
        let _ = admin.complete(&work, mark, "work", json!({})).await.expect(200);
        stream.until("event: run.completed").await;
        stream.until(": heartbeat").await;
        for (workflow, run) in [(&work, denied), (&hidden, within), (&work, open)] {
            let _ = admin.complete(workflow, run, "work", json!({})).await.expect(200);
        }
        let told = stream.until(&format!("\"runId\":\"{open}\"")).await;
        assert!(!told.contains(denied.as_str()) && !told.contains(within.as_str()), "{told}");
        // One who may read nothing of runs is refused; one who opens the stream anew sees what is allowed alone.
        let (_, librarian) = app.user("librarian", &["librarian"]).await;
        let _ = librarian.get("/api/runs").await.expect(403);
        let refused = librarian.request("GET", "/api/runs/events/stream").open().await.expect("an answer");
        assert_eq!(refused.status().as_u16(), 403);
        app.stop().await;
    });
}

#[tokio::test]
async fn nothing_is_told_of_a_run_that_may_not_be_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (user, reader) = app.user("reader", &["viewer"]).await;
        let work = admin.publish_bpmn("work", &models::task()).await;
        let closed = id(&admin.run(&work, json!({})).await);
        let open = id(&admin.run(&work, json!({})).await);
        let _ = deny_action(&app, &user, "run", "read", &closed).await;
        assert_eq!(listed(&reader, "").await, std::slice::from_ref(&open));
        let mut stream = Stream::open_all(&reader, "", None).await;
        for run in [&closed, &open] {
            let _ = admin.complete(&work, run, "work", json!({})).await.expect(200);
        }
        let told = stream.until("run.completed").await;
        assert!(told.iter().all(|event| event.data["runId"] == open.as_str()), "{told:?}");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_stream_over_all_runs_tells_what_is_committed_and_resumes_behind_an_event() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let other = admin.publish_bpmn("other", &models::task()).await;
        let before = id(&admin.run(&work, json!({})).await);
        let mut all = Stream::open_all(&admin, "", None).await;
        let mut of_work =
            Stream::open_all(&admin, &format!("workflowId={work}&types=run.completed"), None).await;
        let first = id(&admin.run(&work, json!({})).await);
        let second = id(&admin.run(&other, json!({})).await);
        for (workflow, run) in [(&other, &second), (&work, &first)] {
            let _ = admin.complete(workflow, run, "work", json!({})).await.expect(200);
        }
        let mut told = all.until("run.completed").await;
        told.extend(all.until("run.completed").await);
        let of = |run: &str| told.iter().filter(|event| event.data["runId"] == run).collect::<Vec<_>>();
        for (run, workflow) in [(&first, &work), (&second, &other)] {
            // Each run's events are all there, in their order, without a repeat.
            let numbers: Vec<u64> =
                of(run).iter().map(|event| event.data["sequence"].as_u64().unwrap()).collect();
            let history = admin.events(workflow, run).await;
            assert_eq!(numbers, (1..=history.len() as u64).collect::<Vec<_>>());
            assert!(of(run).iter().all(|event| event.data["workflowId"] == workflow.as_str()));
            assert_eq!(of(run)[0].data["type"], history[0]["type"]);
        }
        assert_eq!(of(&before), Vec::<&Event>::new(), "it was committed before");
        let only = of_work.next().await.unwrap();
        assert_eq!((only.event.as_str(), &only.data["runId"]), ("run.completed", &json!(first)));

        // Behind any event the rest follows, also after a restart.
        app.restart().await;
        app.sign_in_again().await;
        let admin = app.admin.clone();
        for at in [0, told.len() / 2, told.len() - 2] {
            let mut again = Stream::open_all(&admin, "", told[at].place.as_deref()).await;
            for expected in &told[at + 1..] {
                let next = again.next().await.unwrap();
                assert_eq!((next.place.as_ref(), &next.data), (expected.place.as_ref(), &expected.data));
            }
        }
        let path = "/api/runs/events/stream";
        let far = format!("99999999999.{first}.1");
        for (wrong, reason) in [("7", "wrongType"), ("x.y.z", "wrongType"), (far.as_str(), "notAllowed")] {
            let answer = admin.request("GET", path).header("last-event-id", wrong).send().await;
            let _ = answer.refused(400, reason);
        }
        assert_eq!(admin.get(&format!("{path}?workflowId=x")).await.expect(400).fields(), ["workflowId"]);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_task_is_read_and_completed_by_its_own_id() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let form = json!({ "type": "object", "properties": { "amount": { "type": "number" }, "note": {} },
            "required": ["amount"] });
        let settings = json!({ "form": form, "candidateUsers": "= approvers", "priority": 70 });
        let workflow = admin.publish("approve", with_task(settings)).await;
        let input = json!({ "amount": 5, "approvers": ["ada@example.com"], "secret": "s" });
        let run = admin.run(&workflow, json!({ "input": input, "businessKey": "order-7" })).await;
        let task = id(&run["humanTasks"][0]);
        let path = format!("/api/human-tasks/{task}");

        // A candidate reads it although no rule lets them read runs; others with the same rights do not.
        let role = json!({ "name": "worker-only", "permissions": ["tasks.work"] });
        let _ = admin.post("/api/roles", role).await.expect(201);
        let (ada, candidate) = app.user("ada", &["worker-only"]).await;
        let (_, stranger) = app.user("bob", &["worker-only"]).await;
        let _ = stranger.get(&path).await.refused(403, "denied");
        let detail = candidate.get(&path).await.expect(200).data();
        assert_eq!(detail["id"], task.as_str());
        assert_eq!(detail["form"], form);
        assert_eq!(
            (&detail["workflow"]["slug"], &detail["workflow"]["version"]),
            (&json!("approve"), &json!(1))
        );
        assert_eq!((&detail["run"]["id"], &detail["run"]["businessKey"]), (&run["id"], &json!("order-7")));
        let variables = json!({ "amount": 5, "approvers": ["ada@example.com"] });
        assert_eq!(detail["variables"], variables, "what form and settings name, and nothing else");
        for (kind, thing) in [("run", run["id"].as_str().unwrap()), ("workflow", &workflow)] {
            let grant = deny(&app, &ada, kind, thing).await;
            let _ = candidate.get(&path).await.refused(403, "denied");
            let _ = admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        }
        let _ = candidate.get(&path).await.expect(200);

        // It is completed once, by a candidate who may complete tasks.
        let complete = format!("{path}/complete");
        let _ = candidate.post(&complete, json!({})).await.refused(403, "denied");
        let _ =
            admin.post(&complete, json!({ "values": { "amount": 6 } })).await.refused(403, "notCandidate");
        let (_, worker) = app.user("carl", &["worker"]).await;
        let _ = admin
            .post(&format!("{path}/assign"), json!({ "assignee": "carl@example.com" }))
            .await
            .expect(200);
        let wrong = worker.post(&complete, json!({ "values": { "amount": "six" } })).await.expect(400);
        assert_eq!(wrong.fields(), ["values.amount"]);
        let _ = wrong.refused(400, "wrongType");
        let done = worker.post(&complete, json!({ "values": { "amount": 6 } })).await.expect(200).data();
        assert_eq!(
            (&done["task"]["state"], &done["run"]["state"]),
            (&json!("completed"), &json!("completed"))
        );
        let _ = worker.post(&complete, json!({ "values": { "amount": 6 } })).await.refused(409, "ended");
        let after = worker.get(&path).await.expect(200).data();
        assert_eq!((&after["state"], &after["variables"]["amount"]), (&json!("completed"), &json!(6)));
        let nobody = format!("/api/human-tasks/{}", NOBODY);
        let _ = admin.get(&nobody).await.expect(404);
        let _ = admin.post(&format!("{nobody}/complete"), json!({})).await.expect(404);
        let audited = admin.get("/api/audit-events?action=human_task.completed").await.expect(200).data();
        assert_eq!(audited.as_array().unwrap().len(), 1);
        app.stop().await;
    });
}

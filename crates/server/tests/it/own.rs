//! One's own runs over HTTP: what an employee starts, is given, is a candidate for and has completed, and nothing else.

use std::collections::BTreeSet;
use std::time::Duration;

use heddle_identity::ports::DirectoryStore as _;
use heddle_kernel::TenantId;
use heddle_store::{Db, Options};
use heddle_store_identity::IdentityStore;
use heddle_testkit::{Client, TestApp, sse, with_both};
use heddle_usecase::Journal;
use serde_json::{Value, json};

const NOBODY: &str = "00000000-0000-7000-8000-000000000001";

/// Asking for leave: a manager approves, then whoever asked is told.
fn leave() -> Value {
    json!({
        "nodes": [{ "id": "s", "type": "startEvent" },
            { "id": "approve", "type": "userTask", "configuration": { "candidateGroups": ["managers"] } },
            { "id": "inform", "type": "userTask", "configuration": { "assignee": "emp@example.com" } },
            { "id": "e", "type": "endEvent" }],
        "edges": [{ "id": "a", "source": "s", "target": "approve" },
            { "id": "b", "source": "approve", "target": "inform" }, { "id": "c", "source": "inform", "target": "e" }],
    })
}

fn ids(listed: &Value) -> BTreeSet<String> {
    listed.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
}

fn set(ids: &[&str]) -> BTreeSet<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// The runs that a caller sees: in both lists alike.
async fn runs(by: &Client, workflow: &str) -> BTreeSet<String> {
    let all = ids(&by.get("/api/runs?limit=200").await.expect(200).data());
    let within = ids(&by.get(&format!("/api/workflows/{workflow}/runs?limit=200")).await.expect(200).data());
    assert_eq!(all, within);
    all
}

async fn tasks(by: &Client, query: &str) -> BTreeSet<String> {
    ids(&by.get(&format!("/api/human-tasks?limit=200&{query}")).await.expect(200).data())
}

async fn begin(by: &Client, workflow: &str) -> (String, String) {
    let run = by.run(workflow, json!({})).await;
    (run["id"].as_str().unwrap().to_owned(), run["humanTasks"][0]["id"].as_str().unwrap().to_owned())
}

/// Every read and every command on somebody else's run is refused as one on a run that is not there.
async fn closed(by: &Client, workflow: &str, run: &str, task: &str) {
    for (run, task) in [(run, task), (NOBODY, NOBODY)] {
        let base = format!("/api/workflows/{workflow}/runs/{run}");
        for path in [
            base.clone(),
            format!("{base}?include=variables"),
            format!("{base}/events"),
            format!("/api/human-tasks/{task}"),
        ] {
            let _ = by.get(&path).await.refused(403, "denied");
        }
        let stream = by.request("GET", &format!("{base}/events/stream")).open().await.unwrap();
        assert_eq!(stream.status().as_u16(), 403);
        let _ = by.decide(workflow, run, json!({ "decision": "approve" })).await.refused(403, "denied");
        let _ = by.complete(workflow, run, "approve", json!({})).await.refused(403, "denied");
        let _ = by.delete(&base).await.refused(403, "denied");
        let by_id = format!("/api/human-tasks/{task}");
        let _ = by.post(&format!("{by_id}/complete"), json!({})).await.refused(403, "denied");
        let _ = by.post(&format!("{by_id}/assign"), json!({ "assignee": "me" })).await.refused(403, "denied");
    }
}

#[tokio::test]
async fn an_employee_sees_what_they_started_are_given_or_completed_and_nothing_else() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let leave = app.admin.publish("leave", leave()).await;
        let _ = app.role("managers", &[]).await;
        let (_, emp) = app.user("emp", &["requester"]).await;
        let (stranger_id, stranger) = app.user("stranger", &["requester"]).await;
        let (_, boss) = app.user("boss", &["requester", "managers"]).await;
        let (deputy_id, deputy) = app.user("deputy", &["requester", "managers"]).await;

        // What is open to them they find and start.
        assert!(ids(&emp.get("/api/workflows").await.expect(200).data()).contains(&leave));
        let _ = emp.get(&format!("/api/workflows/{leave}")).await.expect(200);
        let (mine, my_task) = begin(&emp, &leave).await;
        let (theirs, their_task) = begin(&stranger, &leave).await;
        let (other, other_task) = begin(&app.admin, &leave).await;

        assert_eq!(runs(&emp, &leave).await, set(&[&mine]));
        let path = format!("/api/workflows/{leave}/runs/{mine}");
        let _ = emp.get(&path).await.expect(200);
        let _ = emp.get(&format!("{path}/events")).await.expect(200);
        closed(&emp, &leave, &theirs, &their_task).await;
        closed(&emp, &leave, &other, &other_task).await;
        // The task of their own run is for managers.
        assert_eq!(tasks(&emp, "").await, set(&[]));
        let _ = emp.complete(&leave, &mine, "approve", json!({})).await.refused(403, "notCandidate");
        let _ = emp.delete(&path).await.refused(403, "denied");
        for lists in ["/api/dead-letters", "/api/jobs", "/api/audit-events", "/api/members", "/api/roles"] {
            let _ = emp.get(lists).await.refused(403, "denied");
        }

        // A group's candidates see all that waits for the group, until it is done by somebody else.
        assert_eq!(runs(&boss, &leave).await, set(&[&mine, &theirs, &other]));
        assert_eq!(tasks(&boss, "state=open").await, set(&[&my_task, &their_task, &other_task]));
        assert_eq!(tasks(&boss, &format!("runId={mine}")).await, set(&[&my_task]));
        let done = format!("/api/human-tasks/{their_task}/complete");
        let _ = deputy.post(&done, json!({})).await.expect(200);
        assert_eq!(runs(&boss, &leave).await, set(&[&mine, &other]));
        let gone = format!("/api/workflows/{leave}/runs/{theirs}");
        let _ = boss.get(&gone).await.refused(403, "denied");
        let _ = boss.post(&done, json!({})).await.refused(403, "denied");
        let by_id = format!("/api/human-tasks/{their_task}");
        let _ = boss.get(&by_id).await.refused(403, "denied");
        let _ = deputy.get(&by_id).await.expect(200);
        assert_eq!(runs(&deputy, &leave).await, set(&[&mine, &theirs, &other]), "completed by them");
        assert_eq!(tasks(&deputy, "state=completed").await, set(&[&their_task]));

        // What comes next is the employee's; given away it is seen by whom it was given to, as long as it is theirs.
        let _ = boss.complete(&leave, &mine, "approve", json!({})).await.expect(200);
        let inform = tasks(&emp, &format!("runId={mine}")).await;
        assert_eq!(inform.len(), 1);
        let inform = inform.first().unwrap().clone();
        closed(&stranger, &leave, &mine, &inform).await;
        let assign = format!("/api/human-tasks/{inform}/assign");
        let _ = emp.post(&assign, json!({ "assignee": stranger_id })).await.expect(200);
        assert_eq!(tasks(&stranger, "").await, set(&[&inform]));
        assert_eq!(runs(&stranger, &leave).await, set(&[&mine, &theirs]));
        let _ = stranger.get(&path).await.expect(200);
        let _ = stranger.post(&assign, json!({ "assignee": deputy_id })).await.expect(200);
        assert_eq!(runs(&stranger, &leave).await, set(&[&theirs]));
        closed(&stranger, &leave, &mine, &inform).await;
        let _ = deputy.post(&format!("/api/human-tasks/{inform}/complete"), json!({})).await.expect(200);
        let ended = emp.get(&path).await.expect(200).data();
        assert_eq!(ended["state"], "completed");
        assert_eq!(
            runs(&boss, &leave).await,
            set(&[&mine, &other]),
            "completed by them, and waiting for them"
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_holds_on_one_own_run_and_on_all_own_runs() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let leave = app.admin.publish("leave", leave()).await;
        let (emp_id, emp) = app.user("emp", &["requester"]).await;
        let (maker_id, maker) = app.user("maker", &["designer"]).await;
        let rule = |user: &str, action: &str, id: &str, effect: &str| {
            json!({ "principal": { "kind": "user", "id": user }, "resourceType": "run", "action": action,
                "resourceId": id, "effect": effect })
        };
        let (one, task) = begin(&emp, &leave).await;
        let (two, _) = begin(&emp, &leave).await;
        let (made, _) = begin(&maker, &leave).await;
        let grant = app.admin.post("/api/grants", rule(&emp_id, "*", &one, "deny")).await.expect(201).id();
        assert_eq!(runs(&emp, &leave).await, set(&[&two]));
        closed(&emp, &leave, &one, &task).await;
        let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        assert_eq!(runs(&emp, &leave).await, set(&[&one, &two]));

        // Who may read all may be kept from their own.
        assert_eq!(runs(&maker, &leave).await, set(&[&one, &two, &made]));
        let _ = app.admin.post("/api/grants", rule(&maker_id, "read", "own", "deny")).await.expect(201);
        assert_eq!(runs(&maker, &leave).await, set(&[&one, &two]));
        let _ = maker.get(&format!("/api/workflows/{leave}/runs/{made}")).await.refused(403, "denied");
        let _ = maker.get(&format!("/api/workflows/{leave}/runs/{one}")).await.expect(200);
        let (later, _) = begin(&maker, &leave).await;
        assert!(!runs(&maker, &leave).await.contains(&later));

        // The selector is for what may be one's own, in its one spelling.
        for (kind, id) in [("workflow", "own"), ("job", "own"), ("*", "own"), ("run", "Own"), ("run", " own")]
        {
            let mut wrong = rule(&emp_id, "read", id, "allow");
            wrong["resourceType"] = json!(kind);
            let refused = app.admin.post("/api/grants", wrong).await.expect(400);
            assert_eq!(refused.fields(), ["resourceId"], "{kind} {id}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn the_stream_of_a_requester_tells_own_runs_and_ends_with_the_right() {
    with_both!(|db| {
        let check = |config: &mut heddle_server::Config| {
            config.edge.stream_check = Duration::from_millis(20);
        };
        let mut app = TestApp::with(db, check).await;
        let leave = app.admin.publish("leave", leave()).await;
        let (emp_id, emp) = app.user("emp", &["requester"]).await;
        let mut stream = sse::Stream::open_all(&emp, "", None).await;
        let (foreign, _) = begin(&app.admin, &leave).await;
        let (mine, _) = begin(&emp, &leave).await;
        let first = stream.next().await.expect("an event");
        assert_eq!(first.data["runId"], json!(mine));
        // The stream of the one run ends as well when the right is taken.
        let mut of_one = sse::Stream::open(&emp, &leave, &mine, None).await;
        let _ = of_one.next().await.expect("an event");
        let deny = json!({ "principal": { "kind": "user", "id": emp_id }, "resourceType": "run",
            "action": "read", "resourceId": "own", "effect": "deny" });
        let _ = app.admin.post("/api/grants", deny).await.expect(201);
        let rest = stream.rest().await;
        assert!(rest.iter().all(|event| event.data["runId"] != json!(foreign)), "{rest:?}");
        assert!(of_one.rest().await.iter().all(|event| event.event != "end"));
        app.stop().await;
    });
}

#[tokio::test]
async fn an_organisation_of_before_gets_the_role_at_the_next_start() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        app.stop().await;
        let address = match db.kind() {
            "postgres" => db.address().to_owned(),
            _ => format!("sqlite:{}", app.data_dir().join("heddle.db").display()),
        };
        let store = IdentityStore::new(Db::open(&address, &Options::default()).await.unwrap(), Vec::new());
        let tenant: TenantId = app.organization.parse().unwrap();
        let roles = store.all_roles(tenant).await.unwrap();
        let role = roles.into_iter().find(|role| role.name == "requester").unwrap();
        let _ = store.delete_role(tenant, role.id, role.revision, &Journal::default()).await.unwrap();
        drop(store);
        for _ in 0..2 {
            app.restart().await;
        }
        let listed = app.admin.get("/api/roles?limit=200").await.expect(200).data();
        let found: Vec<&Value> =
            listed.as_array().unwrap().iter().filter(|role| role["name"] == "requester").collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["system"], json!(true));
        let told = app.admin.get("/api/audit-events?action=role.created").await.expect(200).data();
        let added = told.as_array().unwrap().iter().filter(|event| event["details"]["system"] == json!(true));
        assert_eq!(added.count(), 1, "{told}");
        app.stop().await;
    });
}

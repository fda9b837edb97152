//! Wrong and missing values decide nothing, and open nothing to anybody.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

/// start, a human task `work` with these settings, end.
fn task(configuration: Value) -> Value {
    json!({
        "nodes": [{ "id": "s", "type": "startEvent" },
            { "id": "work", "type": "userTask", "displayName": "Work", "configuration": configuration },
            { "id": "e", "type": "endEvent" }],
        "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }],
    })
}

async fn nodes_done(client: &Client, workflow: &str, run: &Value) -> Vec<String> {
    let events = client.events(workflow, run["id"].as_str().unwrap()).await;
    let done = events.iter().filter(|event| event["type"] == "node.completed");
    done.filter_map(|event| event["nodeId"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_condition_without_an_answer_is_an_incident_and_not_the_default_flow() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let flow = |id: &str, target: &str| json!({ "id": id, "source": "g", "target": target });
        let mut large = flow("large", "a");
        large["bpmn"] = json!({ "conditionExpression": "amount > 500" });
        let workflow = admin
            .publish(
                "ways",
                json!({
                    "nodes": [{ "id": "s", "type": "startEvent" },
                        { "id": "g", "type": "exclusiveGateway", "bpmn": { "defaultFlow": "small" } },
                        { "id": "a", "type": "endEvent" }, { "id": "b", "type": "endEvent" }],
                    "edges": [{ "id": "f", "source": "s", "target": "g" }, large, flow("small", "b")],
                }),
            )
            .await;
        for (input, value) in [(json!({}), "null"), (json!({ "amount": "viel" }), "null")] {
            let run = admin.run(&workflow, json!({ "input": input })).await;
            assert_eq!(run["incidents"][0]["code"], "EXPRESSION_ERROR", "{run}");
            let message = run["incidents"][0]["message"].as_str().unwrap();
            for word in ["`amount > 500`", "`large`", value] {
                assert!(message.contains(word), "{message}");
            }
            assert_eq!(nodes_done(admin, &workflow, &run).await, ["s"]);
            let retry =
                json!({ "decision": "retry", "feedback": "seven it is", "variables": { "amount": 7 } });
            let done = admin.decide(&workflow, run["id"].as_str().unwrap(), retry).await.expect(200).data();
            assert_eq!(done["state"], "completed", "{done}");
            assert_eq!(nodes_done(admin, &workflow, &run).await.last().unwrap(), "b");
            let events = admin.events(&workflow, run["id"].as_str().unwrap()).await;
            let second = events.iter().filter(|event| event["attempt"] == 2).count();
            assert!(second > 0, "the second attempt is told: {events:?}");
            let taken = events.iter().find(|event| event["type"] == "decision.taken").unwrap();
            assert_eq!(taken["data"]["feedback"], "seven it is", "{taken}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_restriction_that_names_nobody_opens_the_task_to_nobody() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (_, worker) = app.user("wanda", &["worker"]).await;
        for (slug, setting) in [
            ("by-group", json!({ "candidateGroups": "=approvers" })),
            ("by-user", json!({ "candidateUsers": "=approvers" })),
            ("by-name", json!({ "assignee": "=approvers" })),
        ] {
            let workflow = admin.publish(slug, task(setting)).await;
            for input in [json!({}), json!({ "approvers": [] })] {
                let run = admin.run(&workflow, json!({ "input": input })).await;
                assert_eq!(run["incidents"][0]["code"], "EXPRESSION_ERROR", "{slug} {input}: {run}");
                assert!(run["incidents"][0]["message"].as_str().unwrap().contains("=approvers"), "{run}");
            }
        }
        assert_eq!(worker.get("/api/human-tasks").await.expect(200).data(), json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn the_word_that_a_person_chose_is_the_way_of_the_demos_purchase() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let workflow = admin.workflow("purchase-approval").await;
        let start = format!("/api/workflows/{workflow}/runs");
        for input in [json!({}), json!({ "amount": "viel" })] {
            let _ = admin.post(&start, json!({ "input": input })).await.expect(400);
        }
        let begin = async || admin.run(&workflow, json!({ "input": { "amount": 900 } })).await;
        let path = |run: &Value, rest: &str| format!("{start}/{}/{rest}", run["id"].as_str().unwrap());
        for (rest, body, end) in [
            ("decision", json!({ "decision": "approve" }), "ordered"),
            ("decision", json!({ "decision": "reject", "feedback": "too much" }), "refused"),
            ("human-tasks/review/complete", json!({ "outcome": "approved" }), "ordered"),
            ("human-tasks/review/complete", json!({ "outcome": "rejected" }), "refused"),
            ("human-tasks/review/complete", json!({ "values": { "approved": true } }), "ordered"),
            ("human-tasks/review/complete", json!({ "values": { "approved": false } }), "refused"),
        ] {
            let run = begin().await;
            let _ = admin.post(&path(&run, rest), body.clone()).await.expect(200);
            let done = nodes_done(admin, &workflow, &run).await;
            assert_eq!(done.last().unwrap(), end, "{rest} {body}");
        }
        let run = begin().await;
        let complete = path(&run, "human-tasks/review/complete");
        for (body, reason) in [
            (json!({}), "required"),
            (json!({ "values": { "aproved": true } }), "required"),
            (json!({ "outcome": "approve" }), "notAllowed"),
            (json!({ "outcome": "approved", "values": { "approved": false } }), "contradiction"),
        ] {
            let _ = admin.post(&complete, body).await.refused(400, reason);
        }
        let _ = admin
            .post(&path(&run, "decision"), json!({ "decision": "revise" }))
            .await
            .refused(400, "notAllowed");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_script_that_gives_null_says_why_in_the_history() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let mut definition =
            task(json!({ "kind": "feel", "source": "damage * 1.2", "resultVariable": "reserve" }));
        definition["nodes"][1]["type"] = json!("scriptTask");
        let workflow = app.admin.publish("reserve", definition).await;
        let run = app.admin.run(&workflow, json!({})).await;
        let events = app.admin.events(&workflow, run["id"].as_str().unwrap()).await;
        let told = events.iter().find(|event| event["type"] == "script.evaluated").unwrap();
        assert_eq!(told["data"]["result"], Value::Null);
        assert!(told["data"]["reasons"].as_array().is_some_and(|reasons| !reasons.is_empty()), "{told}");
        app.stop().await;
    });
}

#[tokio::test]
async fn people_who_are_not_there_are_warned_of_and_get_no_task() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let settings = json!({ "assignee": "demo", "candidateUsers": [app.account.0],
            "candidateGroups": "managers, worker, =x" });
        let workflow = admin.create("named", task(settings)).await;
        let codes = |told: &Value| -> Vec<(String, String)> {
            let found = told["diagnostics"].as_array().unwrap().iter();
            let named = found.filter(|one| one["code"].as_str().unwrap().starts_with("unknown"));
            named.map(|one| (one["code"].to_string(), one["message"].to_string())).collect()
        };
        let validated = admin.post(&format!("/api/workflows/{workflow}/validate"), json!({})).await;
        let validated = validated.expect(200).data();
        let told = codes(&validated);
        assert_eq!(validated["valid"], true, "{validated}");
        let published = admin.post(&format!("/api/workflows/{workflow}/publish"), json!({})).await;
        let published = published.expect(200).data();
        assert_eq!(codes(&published), told, "{published}");
        for (code, name) in
            [("unknownUser", "`demo`"), ("unknownGroup", "`managers`"), ("unknownGroup", "`=x`")]
        {
            assert!(
                told.iter().any(|(own, message)| own.contains(code) && message.contains(name)),
                "{told:?}"
            );
        }
        assert_eq!(told.len(), 3, "{told:?}");

        let run = admin.run(&workflow, json!({})).await;
        let assign = format!("/api/human-tasks/{}/assign", run["humanTasks"][0]["id"].as_str().unwrap());
        for nobody in ["nobody@nowhere.example", "demo", "managers"] {
            let _ = admin.post(&assign, json!({ "assignee": nobody })).await.refused(400, "unknownUser");
        }
        let (bob, _) = app.user("bob", &["worker"]).await;
        for name in ["Bob@example.com", bob.as_str()] {
            let given = admin.post(&assign, json!({ "assignee": name })).await.expect(200).data();
            assert_eq!(given["assignee"], json!(bob), "{name}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn the_lane_whose_group_a_task_takes_is_warned_of_where_there_is_no_such_role() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        for (slug, lane, takes, warned) in [
            ("office", "Office", true, true),
            ("worker", "worker", true, false),
            ("silent", "Office", false, false),
        ] {
            let mut process = task(json!({ "laneCandidates": takes }));
            process["id"] = json!("p");
            process["laneSets"] = json!([{ "id": "ls",
                "lanes": [{ "id": "l", "name": lane, "flowNodeRefs": ["s", "work", "e"] }] }]);
            let workflow = admin.create(slug, json!({ "bpmn": { "processes": [process] } })).await;
            for operation in ["validate", "publish"] {
                let path = format!("/api/workflows/{workflow}/{operation}");
                let told = admin.post(&path, json!({})).await.expect(200).data();
                let all = told["diagnostics"].as_array().unwrap();
                let found: Vec<&Value> = all.iter().filter(|one| one["code"] == "unknownGroup").collect();
                assert_eq!(found.len(), usize::from(warned), "{slug} {operation}: {told}");
                for one in found {
                    assert!(one["message"].as_str().unwrap().contains("`Office`"), "{one}");
                    assert_eq!(one["elementId"], "work", "{one}");
                    let path = one["path"].as_str().unwrap();
                    assert!(path.ends_with(".configuration.laneCandidates"), "{one}");
                }
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn an_owner_whom_a_task_does_not_name_is_told_the_way() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let workflow = admin.publish("managers", task(json!({ "candidateGroups": ["managers"] }))).await;
        let run = admin.run(&workflow, json!({})).await;
        let id = run["id"].as_str().unwrap();
        let path = format!("/api/workflows/{workflow}/runs/{id}/human-tasks/work/complete");
        let named = admin.with("x-request-id", "r-not-named");
        let error = named.post(&path, json!({})).await.refused(403, "notCandidate");
        let denied = admin.get("/api/audit-events?action=access.denied&limit=200").await.expect(200).data();
        let told = denied.as_array().unwrap().iter().find(|event| event["requestId"] == "r-not-named");
        assert_eq!(told.unwrap()["reason"], "notCandidate", "{denied}");
        let message = error["details"][0]["message"].as_str().unwrap();
        assert!(message.contains("`managers`") && message.contains("/assign"), "{error}");
        let assign = format!("/api/human-tasks/{}/assign", run["humanTasks"][0]["id"].as_str().unwrap());
        let _ = admin.post(&assign, json!({ "assignee": "me" })).await.expect(200);
        let _ = admin.complete(&workflow, id, "work", json!({})).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_may_be_absent_has_its_default_and_what_is_required_must_be_sent() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let asked = |name: &str, default: Value| {
            json!({ "type": "object", "required": [name],
                "properties": { name: { "default": 1 }, "half": { "type": "boolean", "default": false }, "other": default } })
        };
        let mut definition = task(json!({ "form": asked("price", json!({ "default": "none" })) }));
        definition["nodes"][0]["configuration"] =
            json!({ "inputSchema": asked("days", json!({ "type": "string" })) });
        let workflow = admin.publish("leave", definition).await;
        let runs = format!("/api/workflows/{workflow}/runs");
        let refused = admin.post(&runs, json!({})).await.expect(400);
        assert_eq!(refused.fields(), ["input.days"]);
        let run = admin.run(&workflow, json!({ "input": { "days": 2, "half": true } })).await;
        let id = run["id"].as_str().unwrap();
        let plain = admin.run(&workflow, json!({ "input": { "days": 2 } })).await;
        let plain = admin.run_now(&workflow, plain["id"].as_str().unwrap()).await;
        assert_eq!(plain["variables"], json!({ "days": 2, "half": false }));
        let refused = admin.complete(&workflow, id, "work", json!({})).await.expect(400);
        assert_eq!(refused.fields(), ["values.price"]);
        let values = json!({ "values": { "price": 5 } });
        let _ = admin.complete(&workflow, id, "work", values).await.expect(200);
        let done = admin.run_now(&workflow, id).await;
        assert_eq!(done["state"], "completed");
        let kept = json!({ "days": 2, "half": true, "price": 5, "other": "none" });
        assert_eq!(done["variables"], kept, "what the run has already stays as it is");
        app.stop().await;
    });
}

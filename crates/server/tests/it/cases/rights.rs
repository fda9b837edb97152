//! Rights on cases: of runs they are none, one case can be denied, and roles of the case count.

use heddle_testkit::sse::Stream;
use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::{CLAIM, claims, id, item, publish, start};

#[tokio::test]
async fn a_case_is_no_run_and_a_run_is_no_case() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let case = start(&admin, &case_type, json!({})).await;
        let workflow = admin.publish_bpmn("tasks", &crate::models::task()).await;
        let run = admin.run(&workflow, json!({})).await;
        let _ = admin.get(&format!("/api/cases/{}", id(&run))).await.expect(404);
        let _ = admin.get(&format!("/api/workflows/{case_type}/runs/{}", id(&case))).await.expect(404);
        let _ = admin.get(&format!("/api/workflows/{workflow}/runs/{}", id(&case))).await.expect(404);
        let _ = admin.get(&format!("/api/workflows/{case_type}")).await.expect(404);
        let _ = admin.get(&format!("/api/case-types/{workflow}")).await.expect(404);
        let runs = admin.get("/api/runs?limit=200").await.expect(200).data();
        assert!(runs.as_array().unwrap().iter().all(|row| row["id"] != case["id"]));
        let (_, runner) = app.user("runner", &["requester"]).await;
        let _ = runner.get(&format!("/api/cases/{}", id(&case))).await.expect(403);
        let _ = runner.get("/api/cases").await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_on_one_case_or_on_its_type_holds_for_it_alone() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let denied = start(&admin, &case_type, json!({})).await;
        let other = start(&admin, &case_type, json!({})).await;
        let (user, ada) = app.user("ada", &["operator"]).await;
        let deny = |kind: &str, thing: &str| {
            json!({ "principal": { "kind": "user", "id": user }, "resourceType": kind, "action": "*",
                "resourceId": thing, "effect": "deny" })
        };
        let grant = admin.post("/api/grants", deny("case", &id(&denied))).await.expect(201).id();
        let _ = ada.get(&format!("/api/cases/{}", id(&denied))).await.expect(403);
        let _ = ada.post(&format!("/api/cases/{}/suspend", id(&denied)), json!({})).await.expect(403);
        let _ = ada.get(&format!("/api/cases/{}", id(&other))).await.expect(200);
        let rows = ada.get("/api/cases").await.expect(200).data();
        assert_eq!(rows.as_array().unwrap().iter().map(id).collect::<Vec<_>>(), [id(&other)]);
        let task = denied["humanTasks"][0]["id"].as_str().unwrap();
        let _ = ada.post(&format!("/api/human-tasks/{task}/complete"), json!({})).await.expect(403);
        let _ = admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
        let _ = admin.post("/api/grants", deny("case-type", &case_type)).await.expect(201);
        for case in [&denied, &other] {
            let _ = ada.get(&format!("/api/cases/{}", id(case))).await.expect(403);
        }
        let _ = ada.post("/api/cases", json!({ "caseTypeId": case_type })).await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn who_does_not_fill_the_role_plans_nothing() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let case = start(&admin, &case_type, json!({})).await;
        let planning = &case["planning"][0];
        assert_eq!(planning["planItemId"], "expert");
        assert_eq!((&planning["roles"], &planning["applicable"]), (&json!([["adjuster"]]), &json!(true)));
        let path = format!("/api/cases/{}/plan-items/expert/plan", id(&case));
        let (_, ada) = app.user("ada", &["operator"]).await;
        let _ = ada.post(&path, json!({})).await.expect(403);
        let _ = app.role("adjuster", &["cases.work", "cases.view"]).await;
        let (_, adjuster) = app.user("adjuster", &["adjuster"]).await;
        let planned = adjuster.post(&path, json!({})).await.expect(200).data();
        let expert = super::item(&planned, "expert");
        assert_eq!((&expert["planned"], &expert["state"]), (&json!(true), &json!("active")));
        let _ = adjuster.post(&path, json!({})).await.expect(409);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_item_of_a_task_is_completed_by_whom_the_task_is_for() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let _ = app.role("adjuster", &["cases.work", "cases.view", "tasks.work"]).await;
        let for_adjusters =
            r#"<humanTask id="def_collect" name="Collect" flowable:candidateGroups="adjuster"/>"#;
        let xml = CLAIM.replace(r#"<humanTask id="def_collect" name="Collect"/>"#, for_adjusters);
        let case_type = publish(&admin, "claims", &xml).await;
        let case = start(&admin, &case_type, json!({})).await;
        let path = |item: &str| format!("/api/cases/{}/plan-items/{item}/complete", id(&case));
        let (_, ada) = app.user("ada", &["operator"]).await;
        let _ = app.role("mover", &["cases.work", "cases.view"]).await;
        let (_, mover) = app.user("mover", &["mover"]).await;
        let (_, adjuster) = app.user("adjuster", &["adjuster"]).await;
        let instance = item(&case, "collect")["id"].as_str().unwrap().to_owned();
        for named in ["collect", instance.as_str()] {
            let _ = ada.post(&path(named), json!({})).await.refused(403, "notCandidate");
        }
        // Whoever may give themselves the task does so first; then it is nobody else's.
        let task = format!("/api/human-tasks/{}", case["humanTasks"][0]["id"].as_str().unwrap());
        let _ = admin.post(&format!("{task}/assign"), json!({ "assignee": "me" })).await.expect(200);
        let _ = adjuster.post(&path("collect"), json!({})).await.refused(403, "notCandidate");
        let done = admin.post(&path("collect"), json!({})).await.expect(200).data();
        assert_eq!(item(&done, "collect")["state"], "completed");
        let told = admin.get(&task).await.expect(200).data();
        assert_eq!((&told["state"], told["completedBy"].is_string()), (&json!("completed"), true), "{told}");
        // One that is open to all is for those who may complete tasks.
        let open = start(&admin, &claims(&admin, "open").await, json!({})).await;
        let path = format!("/api/cases/{}/plan-items/collect/complete", id(&open));
        let _ = mover.post(&path, json!({})).await.refused(403, "denied");
        let _ = adjuster.post(&path, json!({})).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_stream_over_all_runs_tells_cases_to_those_who_may_read_them() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let workflow = admin.publish_bpmn("tasks", &crate::models::task()).await;
        let (_, viewer) = app.user("viewer", &["viewer"]).await;
        let (_, designer) = app.user("designer", &["designer"]).await;
        let (user, denied) = app.user("denied", &["viewer"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "case-type",
            "action": "*", "resourceId": case_type, "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        let mut all = Stream::open_all(&viewer, "", None).await;
        let mut of_type = Stream::open_all(&viewer, &format!("workflowId={case_type}"), None).await;
        let mut of_runs = Stream::open_all(&designer, "", None).await;
        let mut of_others = Stream::open_all(&denied, "", None).await;
        let case = start(&admin, &case_type, json!({})).await;
        let run = admin.run(&workflow, json!({})).await;
        for stream in [&mut all, &mut of_type] {
            let first = stream.next().await.unwrap().data;
            assert_eq!((&first["caseId"], &first["caseTypeId"]), (&case["id"], &json!(case_type)));
            assert!(first.get("runId").is_none(), "{first}");
        }
        // What was committed before is passed over by who may not read it.
        for stream in [&mut of_runs, &mut of_others] {
            let first = stream.next().await.unwrap().data;
            assert_eq!((&first["runId"], first.get("caseId")), (&run["id"], None));
        }
        app.stop().await;
    });
}

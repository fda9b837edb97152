//! A case from its import to its close.

use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::{claims, complete, id, item, publish, start, states};

#[tokio::test]
async fn a_case_goes_on_by_tasks_file_and_events_and_tells_what_it_waits_for() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let file = json!({ "claimed": { "amount": 20 } });
        let case = start(&admin, &case_type, json!({ "businessKey": "c-1", "file": file })).await;
        let path = format!("/api/cases/{}", id(&case));
        assert_eq!((&case["state"], &case["file"]["claimed"]["amount"]), (&json!("active"), &json!(20)));
        assert_eq!(item(&case, "collect")["waitingFor"]["kind"], "humanTask");
        let missing = &item(&case, "decide")["missing"][0];
        assert_eq!(missing["onParts"], json!([{ "source": "collect", "event": "complete" }]));
        assert_eq!(missing["ifPart"], json!({ "text": "caseFile.claimed.amount > 100", "value": false }));

        let listed = admin.get("/api/human-tasks?limit=200").await.expect(200).data();
        let task = listed.as_array().unwrap().iter().find(|task| task["caseId"] == case["id"]).unwrap();
        assert_eq!((&task["caseTypeId"], task.get("runId")), (&json!(case_type), None));
        let case = complete(&admin, &case, "collect", json!({})).await;
        assert_eq!(item(&case, "decide")["missing"][0]["onParts"], json!([]), "it is remembered");
        let put = format!("{path}/file/claimed");
        let case = admin.put(&put, json!({ "value": { "amount": 120 } })).await.expect(200).data();
        assert_eq!(item(&case, "decide")["state"], "active");

        let held = admin.post(&format!("{path}/suspend"), json!({})).await.expect(200).data();
        assert_eq!(
            (&held["state"], &item(&held, "decide")["state"]),
            (&json!("suspended"), &json!("suspended"))
        );
        for (refused, words) in [
            (format!("{path}/suspend"), "the case is suspended"),
            (format!("{path}/plan-items/decide/complete"), "the case is suspended"),
        ] {
            let error = admin.post(&refused, json!({})).await.refused(409, "suspended");
            assert!(error.to_string().contains(words), "{error}");
        }
        let case = admin.post(&format!("{path}/resume"), json!({})).await.expect(200).data();
        let _ = complete(&admin, &case, "decide", json!({})).await;
        let _ = admin.post(&format!("{path}/plan-items/paid/occur"), json!({})).await.expect(200);
        let done = admin.get(&path).await.expect(200).data();
        assert!(states(&done).contains(&("settled".to_owned(), "completed".to_owned())), "{done}");

        let _ = admin.post(&format!("{path}/terminate"), json!({ "reason": "paid" })).await.expect(200);
        let back = admin.post(&format!("{path}/reactivate"), json!({})).await.expect(200).data();
        assert_eq!(back["state"], "active");
        let _ = admin.post(&format!("{path}/terminate"), json!({})).await.expect(200);
        let closed = admin.post(&format!("{path}/close"), json!({})).await.expect(200).data();
        assert_eq!(closed["state"], "closed");
        let _ = admin.post(&format!("{path}/reactivate"), json!({})).await.expect(409);
        let events = admin.get(&format!("{path}/events?limit=200")).await.expect(200).data();
        let kinds: Vec<_> = events.as_array().unwrap().iter().map(|event| event["type"].clone()).collect();
        assert!(
            kinds.contains(&json!("caseFile.changed")) && kinds.contains(&json!("case.closed")),
            "{kinds:?}"
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn a_put_says_what_it_changes_or_the_file_does() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let case = start(&admin, &case_type, json!({})).await;
        let at = |item: &str| format!("/api/cases/{}/file/{item}", id(&case));
        let made = admin.put(&at("claimed"), json!({ "value": { "a": 1, "b": 2 } })).await.expect(200).data();
        let again =
            admin.put(&at("claimed"), json!({ "value": { "a": 1, "b": 2 } })).await.expect(200).data();
        assert_eq!(made["revision"], again["revision"], "what is there already changes nothing");
        let merged = json!({ "value": { "b": 3 }, "transition": "update" });
        let merged = admin.put(&at("claimed"), merged).await.expect(200).data();
        assert_eq!(merged["file"]["claimed"], json!({ "a": 1, "b": 3 }));
        let replaced = admin.put(&at("claimed"), json!({ "value": { "b": 4 } })).await.expect(200).data();
        assert_eq!(replaced["file"]["claimed"], json!({ "b": 4 }));
        let gone = admin.put(&at("claimed"), json!({ "value": null })).await.expect(200).data();
        assert_eq!(gone["file"].get("claimed"), None);
        let _ = admin.put(&at("claimed"), json!({ "value": null })).await.expect(200);
        let _ = admin.put(&at("paper"), json!({ "value": 1 })).await.refused(400, "required");
        let _ = admin.put(&at("paper"), json!({ "value": 1, "transition": "create" })).await.expect(200);
        let two = admin.put(&at("paper"), json!({ "value": 2, "transition": "create" })).await.expect(200);
        assert_eq!(two.data()["file"]["paper"], json!([1, 2]));
        let first = admin.put(&at("paper"), json!({ "value": null, "at": [0] })).await.expect(200).data();
        assert_eq!(first["file"]["paper"], json!([2]));
        let _ = admin.put(&at("nothing"), json!({ "value": 1 })).await.expect(404);
        app.stop().await;
    });
}

#[tokio::test]
async fn cases_are_listed_by_type_state_and_key() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (claims, others) = (claims(&admin, "claims").await, claims(&admin, "others").await);
        let one = start(&admin, &claims, json!({ "businessKey": "one" })).await;
        let two = start(&admin, &claims, json!({ "businessKey": "two" })).await;
        let other = start(&admin, &others, json!({ "businessKey": "one" })).await;
        let _ = admin.post(&format!("/api/cases/{}/terminate", id(&two)), json!({})).await.expect(200);
        let found = async |query: &str| -> Vec<String> {
            let rows = admin.get(&format!("/api/cases?{query}")).await.expect(200).data();
            rows.as_array().unwrap().iter().map(id).collect()
        };
        assert_eq!(found("").await, [id(&other), id(&two), id(&one)]);
        assert_eq!(found(&format!("caseTypeId={claims}")).await, [id(&two), id(&one)]);
        assert_eq!(found("state=terminated").await, [id(&two)]);
        assert_eq!(found("state=active&businessKey=one").await, [id(&other), id(&one)]);
        let rows = admin.get("/api/cases").await.expect(200).data();
        for left_out in ["file", "variables", "planItems", "planning"] {
            assert_eq!(rows[0].get(left_out), None, "{left_out}");
        }
        let _ = admin.delete(&format!("/api/case-types/{claims}")).await.expect(409);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_case_starts_a_run_and_goes_on_when_that_is_done() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish_bpmn("check", &crate::models::task()).await;
        let xml = r#"<definitions xmlns="http://www.omg.org/spec/CMMN/20151109/MODEL" id="d" targetNamespace="urn:t">
          <case id="c" name="C"><casePlanModel id="p" name="P" autoComplete="true">
            <planItem id="check" definitionRef="def_check"/>
            <processTask id="def_check" name="Check" processRef="Check"/>
          </casePlanModel></case>
          <process id="Check" name="Check" externalRef="check"
              implementationType="http://www.omg.org/spec/CMMN/ProcessType/BPMN20"/>
        </definitions>"#;
        let case_type = publish(&admin, "checks", xml).await;
        let case = start(&admin, &case_type, json!({})).await;
        assert_eq!(item(&case, "check")["state"], "active");
        let run = heddle_testkit::eventually("a run of the case", async || {
            let rows = admin.get(&format!("/api/runs?workflowId={workflow}")).await.expect(200).data();
            rows.as_array().unwrap().first().map(id)
        })
        .await;
        let _ = admin.complete(&workflow, &run, "work", json!({})).await.expect(200);
        heddle_testkit::eventually("the end of the case", async || {
            let now = admin.get(&format!("/api/cases/{}", id(&case))).await.expect(200).data();
            (now["state"] == "completed").then_some(())
        })
        .await;
        app.stop().await;
    });
}

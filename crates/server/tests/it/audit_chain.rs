//! The chain of the audit trail over HTTP: verified, exported, and dropped when its time is over; and what changes tell.

use heddle_identity::chain::{ExportReader, PublicKey};
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

async fn verified(client: &Client, query: &str) -> Value {
    client.get(&format!("/api/audit-events/verify?{query}")).await.expect(200).data()
}

/// The newest event of an action.
async fn newest(client: &Client, action: &str) -> Value {
    client.get(&format!("/api/audit-events?limit=1&action={action}")).await.expect(200).data()[0].clone()
}

/// The lines of an export, and what a reader of them finds who has the key alone.
async fn exported(client: &Client, key: &Value) -> (Vec<Value>, Result<u64, String>) {
    let answer = client.with("accept", "application/x-ndjson").get("/api/audit-events").await.expect(200);
    assert_eq!(answer.header("content-type"), "application/x-ndjson");
    let text = answer.text();
    let key: PublicKey = key.as_str().unwrap().parse().unwrap();
    let mut reader = ExportReader::new(key, Vec::new());
    let read = text.lines().try_for_each(|line| reader.line(line).map_err(|fault| format!("{fault:?}")));
    let found =
        read.and_then(|()| reader.finish().map(|found| found.records).map_err(|fault| format!("{fault:?}")));
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), found)
}

#[tokio::test]
async fn what_was_done_is_sealed_verified_and_exported() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let workflow = admin.publish_bpmn("flow", &models::task()).await;
        let _ = admin.run(&workflow, json!({})).await;
        let whole = verified(&admin, "").await;
        assert_eq!(
            (&whole["valid"], &whole["firstBad"], &whole["next"]),
            (&json!(true), &Value::Null, &Value::Null)
        );
        assert_eq!((&whole["unsealed"], &whole["after"]), (&json!(0), &json!(0)));
        assert_eq!(whole["checkpoint"]["sequence"], whole["through"]);
        let reached = whole["through"].as_i64().unwrap();
        assert!(reached >= 3, "{whole}");
        // Part by part.
        let first = verified(&admin, "limit=2").await;
        assert_eq!((&first["checked"], &first["next"]), (&json!(2), &json!(2)));
        let rest = verified(&admin, "after=2").await;
        assert_eq!(rest["checked"], json!(rest["through"].as_i64().unwrap() - 2));
        for (query, field) in [
            ("after=1000000", "after"),
            ("after=-1", "after"),
            ("limit=0", "limit"),
            ("limit=250001", "limit"),
            ("from=1", "from"),
        ] {
            let refused = admin.get(&format!("/api/audit-events/verify?{query}")).await.expect(400).json();
            assert_eq!(refused["error"]["details"][0]["field"], field, "{query}");
        }
        // The events that a list shows have their places.
        let shown = newest(&admin, "workflow.published").await;
        assert!(
            shown["sequence"].as_i64().unwrap() <= reached && shown["hash"].as_str().unwrap().len() == 64,
            "{shown}"
        );
        // An export is verified without us.
        let (lines, found) = exported(&admin, &whole["publicKey"]).await;
        assert_eq!(found, Ok(u64::try_from(lines.len()).unwrap()), "every line is a record");
        assert_eq!(lines[0]["sequence"], 1);
        // A filter gives what fits, newest first.
        let path = "/api/audit-events?action=workflow.published";
        let some = admin.with("accept", "application/x-ndjson").get(path).await.expect(200).text();
        let some: Vec<Value> = some.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(
            !some.is_empty() && some.iter().all(|line| line["action"] == "workflow.published"),
            "{some:?}"
        );
        app.restart().await;
        assert_eq!(verified(&app.admin, "").await["valid"], true, "also against the anchors of before");
        app.stop().await;
    });
}

#[tokio::test]
async fn who_may_not_see_the_trail_does_not_verify_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["worker"]).await;
        let _ = person.get("/api/audit-events/verify").await.expect(403);
        let _ = app.anonymous().get("/api/audit-events/verify").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_change_tells_what_was_before_and_after_and_nobodys_name() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (id, _) = app.user("person", &[]).await;
        let patch = json!({ "state": "disabled", "displayName": "A Very Private Name" });
        let _ = admin.patch(&format!("/api/users/{id}"), patch).await.expect(200);
        let event = newest(&admin, "user.updated").await;
        let change = &event["details"]["change"];
        assert_eq!(
            (&change["before"]["state"], &change["after"]["state"]),
            (&json!("active"), &json!("disabled"))
        );
        let members: Vec<&str> =
            change["members"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(members.contains(&"displayName") && members.contains(&"state"), "{change}");
        assert!(!members.contains(&"email"), "it did not change: {change}");
        assert!(!event.to_string().contains("Very Private"), "{event}");
        let workflow = admin.publish_bpmn("flow", &models::task()).await;
        let change = newest(&admin, "workflow.published").await["details"]["change"].clone();
        assert_eq!(
            (&change["before"]["publishedVersion"], &change["after"]["publishedVersion"]),
            (&Value::Null, &json!(1))
        );
        let _ = admin.delete(&format!("/api/workflows/{workflow}")).await.expect(204);
        let change = newest(&admin, "workflow.deleted").await["details"]["change"].clone();
        assert_eq!((&change["before"]["slug"], &change["after"]), (&json!("flow"), &Value::Null), "{change}");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_over_is_dropped_and_the_rest_still_verifies() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.audit_retention_days = 1).await;
        let before = verified(&app.admin, "").await["through"].as_i64().unwrap();
        app.advance("P2D").await;
        let _ = app.admin.publish_bpmn("flow", &models::task()).await;
        let keeper = app.server().core().app.audit.clone();
        let _ = keeper.seal().await.unwrap();
        keeper.drop_over().await.unwrap();
        let after = verified(&app.admin, "").await;
        assert_eq!(
            (&after["valid"], &after["dropped"]["kind"]),
            (&json!(true), &json!("dropped")),
            "{after}"
        );
        assert!(after["dropped"]["dropped"].as_i64().unwrap() >= before, "{after}");
        assert_eq!(after["after"], after["dropped"]["sequence"]);
        let (lines, found) = exported(&app.admin, &after["publicKey"]).await;
        assert_eq!(found, Ok(u64::try_from(lines.len()).unwrap()));
        app.stop().await;
    });
}

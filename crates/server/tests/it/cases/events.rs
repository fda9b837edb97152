//! Case events: they find cases by their correlation key, start them, and count once.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use super::{claims, id, start, states};

fn event(kind: &str, key: &str, correlation: &str) -> Value {
    json!({ "correlationKey": correlation, "eventType": kind, "idempotencyKey": key, "payload": {} })
}

async fn send(client: &Client, body: Value) -> Value {
    client.post("/api/case-events", body).await.expect(202).data()
}

#[tokio::test]
async fn an_event_finds_its_cases_and_a_repeat_of_its_key_counts_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let mine = start(&admin, &case_type, json!({ "correlationKey": "k-1" })).await;
        let other = start(&admin, &case_type, json!({ "correlationKey": "k-2" })).await;
        let sent = send(&admin, event("payment.received", "e-1", "k-1")).await;
        assert_eq!((&sent["caseIds"], &sent["workflowRunIds"]), (&json!([mine["id"]]), &json!([])));
        assert_eq!(sent["event"]["consumedByCaseId"], mine["id"]);
        let again = admin.post("/api/case-events", event("payment.received", "e-1", "k-1")).await.expect(202);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data(), sent);
        let reused = event("payment.received", "e-1", "k-2");
        let _ = admin.post("/api/case-events", reused).await.refused(409, "idempotencyKeyReused");
        let settled = ("settled".to_owned(), "completed".to_owned());
        for (case, wanted) in [(&mine, true), (&other, false)] {
            let now = admin.get(&format!("/api/cases/{}", id(case))).await.expect(200).data();
            assert_eq!(states(&now).contains(&settled), wanted);
        }
        let status = format!("/api/case-events/{}", sent["event"]["id"].as_str().unwrap());
        let status = admin.get(&status).await.expect(200).data();
        assert_eq!((&status["state"], &status["caseIds"]), (&json!("consumed"), &json!([mine["id"]])));
        app.stop().await;
    });
}

#[tokio::test]
async fn an_event_that_no_case_waits_for_starts_one_or_is_kept() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let kept = send(&admin, event("payment.received", "early", "k-9")).await;
        assert_eq!(kept["caseIds"], json!([]));
        let mut filed = event("claim.filed", "filed", "k-9");
        filed["payload"] = json!({ "amount": 5 });
        let filed = send(&admin, filed).await;
        let case = filed["caseIds"][0].as_str().unwrap().to_owned();
        let now = admin.get(&format!("/api/cases/{case}")).await.expect(200).data();
        assert_eq!((&now["caseTypeId"], &now["correlationKey"]), (&json!(case_type), &json!("k-9")));
        heddle_testkit::eventually("the event that came early", async || {
            let now = admin.get(&format!("/api/cases/{case}")).await.expect(200).data();
            states(&now).contains(&("settled".to_owned(), "completed".to_owned())).then_some(())
        })
        .await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_sender_reads_their_event_with_the_cases_that_they_may_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let hidden = start(&admin, &case_type, json!({ "correlationKey": "k-1" })).await;
        let both = start(&admin, &case_type, json!({ "correlationKey": "k-2" })).await;
        let kept = start(&admin, &case_type, json!({ "correlationKey": "k-2" })).await;
        let (sender, sending) = app.user("sender", &["operator"]).await;
        let (other, reading) = app.user("other", &["operator"]).await;
        for user in [&sender, &other] {
            for case in [&hidden, &kept] {
                let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "case",
                    "action": "read", "resourceId": case["id"], "effect": "deny" });
                let _ = admin.post("/api/grants", deny).await.expect(201);
            }
        }
        for (correlation, shown, to_others) in [("k-1", json!([]), 404), ("k-2", json!([both["id"]]), 200)] {
            let sent = send(&sending, event("payment.received", correlation, correlation)).await;
            let path = format!("/api/case-events/{}", sent["event"]["id"].as_str().unwrap());
            let told = sending.get(&path).await.expect(200).data();
            assert_eq!((&told["state"], &told["caseIds"]), (&json!("consumed"), &shown));
            assert_eq!(told["event"]["receivedBy"], sender.as_str());
            let _ = reading.get(&path).await.expect(to_others);
            let all = admin.get(&path).await.expect(200).data();
            assert_eq!(all["caseIds"].as_array().map(Vec::len), sent["caseIds"].as_array().map(Vec::len));
        }
        app.stop().await;
    });
}

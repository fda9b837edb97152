//! What a case begins with: people in its roles, its file, the payload of an event; and what is refused.

use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::{claims, id, item, publish, start};

#[tokio::test]
async fn people_are_named_for_roles_at_the_start_and_have_to_be_known() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let (_, ada) = app.user("ada", &["operator"]).await;
        let (_, bob) = app.user("bob", &["operator"]).await;
        let roles = json!({ "roles": { "adjuster": ["ada@example.com"] } });
        let case = start(&admin, &case_type, roles).await;
        let path = format!("/api/cases/{}/plan-items/expert/plan", id(&case));
        let _ = bob.post(&path, json!({})).await.refused(403, "roleMissing");
        let planned = ada.post(&path, json!({})).await.expect(200).data();
        assert_eq!(item(&planned, "expert")["state"], "active");
        for (roles, field, reason) in [
            (json!({ "judge": ["ada@example.com"] }), "roles.judge", "unknownRole"),
            (
                json!({ "adjuster": ["ada@example.com", "eve@example.com"] }),
                "roles.adjuster[1]",
                "unknownUser",
            ),
            (json!({ "adjuster": [] }), "roles.adjuster", "required"),
        ] {
            let body = json!({ "caseTypeId": case_type, "roles": roles });
            let error = admin.post("/api/cases", body).await.refused(400, reason);
            assert_eq!(error["details"][0]["field"], field, "{error}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_start_that_is_wrong_names_the_member() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let nothing = "018f0000-0000-7000-8000-000000000009";
        for (body, field, reason) in [
            (json!({ "caseTypeId": nothing }), "caseTypeId", "notFound"),
            (json!({ "caseTypeId": "claims" }), "caseTypeId", "wrongType"),
            (json!({ "caseTypeId": case_type, "version": 9 }), "version", "unknownVersion"),
            (json!({ "caseTypeId": case_type, "definitionId": "c" }), "definitionId", "unknownCase"),
            (json!({ "caseTypeId": case_type, "file": { "nope": 1 } }), "file.nope", "unknownItem"),
            (json!({ "caseTypeId": case_type, "input": { "caseFile": {} } }), "input.caseFile", "notAllowed"),
            (json!({ "caseTypeId": case_type, "file": null }), "file", "wrongType"),
            (json!({ "businessKey": "a" }), "caseTypeId", "required"),
        ] {
            let error = admin.post("/api/cases", body.clone()).await.refused(400, reason);
            assert_eq!(error["details"][0]["field"], field, "{body}: {error}");
        }
        let rows = admin.get("/api/cases").await.expect(200).data();
        assert_eq!(rows, json!([]), "nothing was started");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_payload_of_an_event_becomes_file_and_variables_and_a_refused_one_a_dead_letter() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let filed = |key: &str, payload: serde_json::Value| json!({ "correlationKey": key, "eventType": "claim.filed", "idempotencyKey": key, "payload": payload });
        let payload = json!({ "claimed": { "amount": 5 }, "channel": "web" });
        let sent = admin.post("/api/case-events", filed("k-1", payload)).await.expect(202).data();
        let case = sent["caseIds"][0].as_str().unwrap();
        let now = admin.get(&format!("/api/cases/{case}")).await.expect(200).data();
        assert_eq!(
            (&now["file"]["claimed"]["amount"], &now["variables"]["channel"]),
            (&json!(5), &json!("web"))
        );
        assert_eq!(now["variables"].get("claimed"), None, "{now}");

        let wrong = filed("k-2", json!({ "caseFile": { "nowhere": 1 } }));
        let sent = admin.post("/api/case-events", wrong.clone()).await.expect(202).data();
        assert_eq!((&sent["caseIds"], sent["event"].get("consumedByCaseId")), (&json!([]), None));
        let letters =
            admin.get(&format!("/api/dead-letters?caseTypeId={case_type}")).await.expect(200).data();
        let letter = &letters[0];
        assert_eq!((&letter["kind"], &letter["reason"]), (&json!("start"), &json!("refused")), "{letters}");
        assert_eq!((&letter["caseTypeId"], &letter["workflowId"]), (&json!(case_type), &json!(null)));
        let again = admin.post("/api/case-events", wrong).await.expect(202);
        assert_eq!((again.header("idempotent-replayed"), again.data()), ("true", sent));
        let letters = admin.get("/api/dead-letters").await.expect(200).data();
        assert_eq!(letters.as_array().map(Vec::len), Some(1), "a repeat refuses nothing again");
        app.stop().await;
    });
}

#[tokio::test]
async fn an_event_needs_each_of_its_members() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let _ = publish(&admin, "claims", super::CLAIM).await;
        let whole = json!({ "correlationKey": "k", "eventType": "claim.filed", "idempotencyKey": "e", "payload": null });
        for field in ["correlationKey", "eventType", "idempotencyKey", "payload"] {
            let mut body = whole.clone();
            let _ = body.as_object_mut().unwrap().remove(field);
            let error = admin.post("/api/case-events", body).await.refused(400, "required");
            assert_eq!(error["code"], "INVALID_REQUEST_BODY");
            assert_eq!(error["details"][0]["field"], field, "{error}");
        }
        for field in ["correlationKey", "eventType", "idempotencyKey"] {
            let mut body = whole.clone();
            body[field] = json!("");
            let _ = admin.post("/api/case-events", body).await.refused(400, "tooShort");
        }
        let rows = admin.get("/api/cases").await.expect(200).data();
        assert_eq!(rows, json!([]));
        let sent = admin.post("/api/case-events", whole).await.expect(202).data();
        assert_eq!(
            (&sent["event"]["payload"], sent["caseIds"].as_array().map(Vec::len)),
            (&json!(null), Some(1))
        );
        app.stop().await;
    });
}

//! Hooks: calls of services outside become case events, with good signatures alone, and once each.

use heddle_testkit::{Answer, Client, TestApp, with_both};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{claims, id, start, states};

const SECRET: &str = "canary-of-a-hooks-secret";

fn signed(body: &[u8], secret: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

async fn call(client: &Client, path: &str, body: &Value, signature: &str) -> Answer {
    let bytes = serde_json::to_vec(body).unwrap();
    let request = client.request("POST", path).header("x-hub-signature-256", signature);
    request.body("application/json", bytes).send().await
}

fn hook() -> Value {
    json!({ "name": "payments", "eventType": "payment.received", "correlationKey": "body.claim",
        "idempotencyKey": "body.id", "when": "body.kind = \"paid\"",
        "signature": { "scheme": "github", "secret": SECRET } })
}

#[tokio::test]
async fn a_call_with_a_good_signature_becomes_an_event_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = claims(&admin, "claims").await;
        let case = start(&admin, &case_type, json!({ "correlationKey": "k-1" })).await;
        let made = admin.post("/api/incoming-hooks", hook()).await.expect(201);
        let path = made.data()["path"].as_str().unwrap().to_owned();
        assert!(!made.text().contains(SECRET));
        let stranger = app.anonymous();
        let paid = json!({ "id": 7, "kind": "paid", "claim": "k-1" });
        let good = signed(&serde_json::to_vec(&paid).unwrap(), SECRET);
        let answer = call(&stranger, &path, &paid, &good).await.expect(202);
        assert_eq!(answer.data()["state"], "accepted");
        let event = answer.data()["eventId"].as_str().unwrap().to_owned();
        let again = call(&stranger, &path, &paid, &good).await.expect(202);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data()["eventId"], event.as_str());
        let status = admin.get(&format!("/api/case-events/{event}")).await.expect(200).data();
        assert_eq!((&status["caseIds"], &status["event"]["payload"]), (&json!([case["id"]]), &paid));
        let now = admin.get(&format!("/api/cases/{}", id(&case))).await.expect(200).data();
        assert!(states(&now).contains(&("settled".to_owned(), "completed".to_owned())));

        let other = json!({ "id": 8, "kind": "opened" });
        let ignored =
            call(&stranger, &path, &other, &signed(&serde_json::to_vec(&other).unwrap(), SECRET)).await;
        assert_eq!(ignored.expect(202).data(), json!({ "state": "ignored", "eventId": null }));
        let _ = call(&stranger, &path, &other, &good).await.refused(400, "signatureWrong");
        let unsigned = stranger.post(&path, paid.clone()).await;
        let _ = unsigned.refused(400, "signatureMissing");
        let nobody = json!({ "id": 9, "kind": "paid" });
        let of_nobody = signed(&serde_json::to_vec(&nobody).unwrap(), SECRET);
        let _ = call(&stranger, &path, &nobody, &of_nobody).await.refused(400, "notAKey");
        app.stop().await;
    });
}

#[tokio::test]
async fn an_address_of_nobody_is_told_alike_and_a_secret_is_never_shown() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let made = admin.post("/api/incoming-hooks", hook()).await.expect(201).data();
        let (path, at) =
            (made["path"].as_str().unwrap().to_owned(), format!("/api/incoming-hooks/{}", id(&made)));
        let stranger = app.anonymous();
        let shape = |answer: &Answer| answer.json()["error"]["code"].clone();
        let nobody = stranger.post("/api/hooks/hdh_nothing", json!({})).await.expect(404);
        let shown = admin.get(&at).await.expect(200);
        assert!(!shown.text().contains(SECRET) && shown.data().get("token").is_none());
        assert_eq!(shown.data()["signature"]["secret"]["configured"], true);
        let listed = admin.get("/api/incoming-hooks?q=PAY").await.expect(200);
        assert!(!listed.text().contains(SECRET) && listed.data()[0].get("path").is_none());

        let other = json!({ "signature": { "scheme": "stripe" } });
        let _ = admin.patch(&at, other).await.refused(400, "required");
        let wrong = json!({ "correlationKey": "1 +" });
        let _ = admin.patch(&at, wrong).await.refused(400, "notAnExpression");
        let open =
            json!({ "signature": null, "when": null, "idempotencyKey": null, "correlationKey": "query.key" });
        let changed = admin.patch(&at, open).await.expect(200).data();
        assert_eq!(changed["signature"], json!(null));
        let taken = stranger.post(&format!("{path}?key=k-1"), json!({})).await.expect(202).data();
        assert_eq!(taken["state"], "accepted");

        let _ = admin.delete(&at).await.expect(204);
        let gone = stranger.post(&path, json!({})).await.expect(404);
        assert_eq!((shape(&gone), gone.text().len()), (shape(&nobody), nobody.text().len()));
        let (_, ada) = app.user("ada", &["operator"]).await;
        let _ = ada.post("/api/incoming-hooks", hook()).await.expect(403);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_hook_takes_so_many_calls_and_so_long_bodies() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let small = json!({ "name": "small", "eventType": "e", "correlationKey": "\"k\"", "maxBytes": 20,
            "requestsPerSecond": 1 });
        let path = admin.post("/api/incoming-hooks", small).await.expect(201).data()["path"].clone();
        let (path, stranger) = (path.as_str().unwrap().to_owned(), app.anonymous());
        let _ = stranger.post(&path, json!({ "long": "x".repeat(40) })).await.expect(413);
        let _ = stranger.post(&path, json!({})).await.expect(202);
        let mut refused = false;
        for _ in 0..20 {
            refused |= stranger.post(&path, json!({})).await.status == 429;
        }
        assert!(refused);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_hook_has_the_rights_that_its_maker_has_now() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (maker, eve) = app.user("eve", &["administrator"]).await;
        let open = json!({ "name": "open", "eventType": "e", "correlationKey": "query.key" });
        let made = eve.post("/api/incoming-hooks", open).await.expect(201).data();
        let (path, hook) =
            (made["path"].clone(), format!("/api/incoming-hooks/{}", made["id"].as_str().unwrap()));
        assert_eq!(made["owner"], maker.as_str());
        let (path, stranger) = (path.as_str().unwrap().to_owned(), app.anonymous());
        let send = async |key: &str| stranger.post(&format!("{path}?key={key}"), json!({ "n": key })).await;
        let taken = send("a").await.expect(202).data();
        let status = admin.get(&format!("/api/case-events/{}", taken["eventId"].as_str().unwrap())).await;
        assert_eq!(status.expect(200).data()["event"]["receivedBy"], maker.as_str());

        let deny = json!({ "principal": { "kind": "user", "id": maker }, "resourceType": "case",
            "action": "create", "resourceId": "*", "effect": "deny" });
        let deny = admin.post("/api/grants", deny).await.expect(201).id();
        let _ = send("b").await.refused(503, "notTaken");
        // A repeat of what was taken is none of their business any more either.
        let _ = send("a").await.refused(503, "notTaken");
        let _ = admin.delete(&format!("/api/grants/{deny}")).await.expect(204);
        let _ = send("b").await.expect(202);

        let _ = admin.delete(&format!("/api/users/{maker}")).await.expect(204);
        let _ = send("c").await.refused(503, "notTaken");

        // Somebody else takes it over, in their own name and in nobody else's.
        let _ = admin.patch(&hook, json!({ "owner": maker })).await.refused(403, "exceedsOwnRights");
        let me = admin.get("/api/auth/session").await.expect(200).data()["user"]["id"].clone();
        let taken = admin.patch(&hook, json!({ "owner": me })).await.expect(200).data();
        assert_eq!((&taken["owner"], &taken["createdBy"]), (&me, &json!(maker)));
        let _ = send("c").await.expect(202);
        app.stop().await;
    });
}

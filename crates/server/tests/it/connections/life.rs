//! The life of a connection.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::{CANARY, Service, at, bearer, members, receiver_of};

#[tokio::test]
async fn a_connection_is_made_changed_tested_and_deleted() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let admin = app.admin.clone();
        let (good, bad) =
            (Service::answering("204 No Content").await, Service::answering("401 Unauthorized").await);
        let body = json!({ "name": "Orders", "type": "http", "description": "The shop", "labels": { "team": "a" },
            "config": { "baseUrl": good.url(), "authentication": "bearer" }, "secrets": { "token": CANARY } });
        let made = admin.post("/api/connections", body.clone()).await.expect(201);
        let id = made.id();
        assert_eq!((made.header("location"), made.header("etag")), (at(&id).as_str(), "\"1\""));
        let shown = made.data();
        assert_eq!(shown["secrets"]["token"]["hint"], "…cret");
        assert_eq!(
            shown["secrets"]["password"],
            json!({ "configured": false, "updatedAt": null, "hint": null })
        );
        assert_eq!((&shown["config"], &shown["lastTest"]), (&body["config"], &Value::Null));
        assert_eq!(admin.get(&at(&id)).await.expect(200).data(), shown);
        let again = admin.post("/api/connections", body).await.refused(409, "notUnique");
        assert_eq!(again["details"][0]["field"], "name");

        let tested = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200).data();
        assert_eq!(tested["ok"], true, "{tested}");
        assert!(good.seen()[0].contains(&format!("Bearer {CANARY}")), "{:?}", good.seen());
        let shown = admin.get(&at(&id)).await.expect(200).data();
        assert_eq!((&shown["lastTest"], &shown["revision"]), (&tested, &json!(1)));

        let change = json!({ "config": { "baseUrl": bad.url() }, "secrets": { "token": CANARY },
            "description": null, "labels": null });
        let changed = admin.patch(&at(&id), change).await.expect(200);
        assert_eq!(changed.header("etag"), "\"2\"");
        let changed = changed.data();
        assert_eq!((&changed["description"], &changed["labels"]), (&Value::Null, &json!({})));
        assert_eq!(changed["config"]["authentication"], "bearer", "what is absent stays");
        let tested = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200).data();
        assert_eq!((&tested["ok"], &tested["phase"]), (&json!(false), &json!("auth")), "{tested}");
        assert!(!tested.to_string().contains("canary"), "{tested}");

        let _ = admin.delete(&at(&id)).await.expect(204);
        let _ = admin.delete(&at(&id)).await.expect(204);
        let _ = admin.get(&at(&id)).await.expect(404);
        let _ = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(404);
        let events = admin.get(&format!("/api/audit-events?limit=200&resource=connection/{id}")).await;
        let actions = members(&events.expect(200).data(), "action");
        let expected = [
            "connection.deleted",
            "connection.tested",
            "connection.updated",
            "connection.tested",
            "connection.created",
        ];
        assert_eq!(actions, expected);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_1_3_6_and_13_2_4_a_connection_that_leads_nowhere_says_in_which_phase() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let http = |url: &str| json!({ "type": "http", "config": { "baseUrl": url } });
        let own = format!("http://{}", app.server().address());
        for url in [
            "http://127.0.0.1:9",
            "http://169.254.169.254/latest",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::ffff:127.0.0.1]/",
            "http://10.0.0.1/",
            "http://localhost./",
            own.as_str(),
        ] {
            let mut body = http(url);
            body["name"] = body["config"]["baseUrl"].clone();
            let id = app.admin.post("/api/connections", body.clone()).await.expect(201).id();
            let tested = app.admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200).data();
            let phase = tested["phase"].as_str().unwrap();
            assert!(tested["ok"] == false && ["dns", "connect"].contains(&phase), "{body}: {tested}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn what_a_type_does_not_take_is_named_member_by_member() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let of = |kind: &str, config: Value, secrets: Value| json!({ "name": "x", "type": kind, "config": config, "secrets": secrets });
        let base = "https://example.com";
        for (body, field, reason) in [
            (of("http", json!({}), json!({})), "config.baseUrl", "required"),
            (of("http", json!({ "baseUrl": "ftp://x" }), json!({})), "config.baseUrl", "wrongFormat"),
            (of("http", json!({ "baseUrl": "https://u:p@x" }), json!({})), "config.baseUrl", "notAllowed"),
            (of("http", json!({ "baseUrl": base, "odd": 1 }), json!({})), "config.odd", "unknownField"),
            (
                of("http", json!({ "baseUrl": base, "authentication": "bearer" }), json!({})),
                "secrets.token",
                "required",
            ),
            (of("http", json!({ "baseUrl": base }), json!({ "token": "t" })), "secrets.token", "notAllowed"),
            (of("http", json!({ "baseUrl": base }), json!({ "odd": "t" })), "secrets.odd", "unknownField"),
            (
                of("smtp", json!({ "host": "mail.example.com", "port": 0 }), json!({})),
                "config.port",
                "outOfRange",
            ),
            (of("smtp", json!({ "host": "a b" }), json!({})), "config.host", "wrongFormat"),
            (
                of("postgresql", json!({ "host": "db", "database": "d" }), json!({})),
                "config.username",
                "required",
            ),
            (
                of(
                    "s3",
                    json!({ "endpoint": base, "region": "r", "bucket": "b", "accessKeyId": "k" }),
                    json!({}),
                ),
                "secrets.secretAccessKey",
                "required",
            ),
            (
                of("webhook", json!({ "url": base }), json!({ "signingSecret": "plain" })),
                "secrets.signingSecret",
                "wrongFormat",
            ),
        ] {
            let refused = app.admin.post("/api/connections", body.clone()).await.refused(400, reason);
            let details = refused["details"].as_array().unwrap();
            assert!(
                details.iter().any(|detail| detail["field"] == field && detail["reason"] == reason),
                "{body}: {refused}"
            );
        }
        let other = json!({ "name": "x", "type": "ftp", "config": {} });
        let _ = app.admin.post("/api/connections", other).await.refused(400, "notAllowed");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_change_of_another_revision_is_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let id = bearer(&app.admin, "one", "https://example.com").await;
        let described = |revision: u32| json!({ "description": "D", "revision": revision });
        let _ = app.admin.patch(&at(&id), described(1)).await.expect(200);
        let refused = app.admin.patch(&at(&id), described(1)).await.refused(409, "revisionMismatch");
        assert_eq!(refused["details"][0]["currentRevision"], 2, "{refused}");
        let stale = app.admin.with("if-match", "\"1\"");
        let _ = stale.delete(&at(&id)).await.refused(409, "revisionMismatch");
        let _ = app.admin.with("if-match", "\"2\"").delete(&at(&id)).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_in_use_stays_and_says_by_what() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let id = receiver_of(&app.admin, "receiver", "https://example.com/hook").await;
        let body = json!({ "name": "ledger", "connectionId": id, "eventTypes": ["*"] });
        let webhook = app.admin.post("/api/webhooks", body).await.expect(201).id();
        let refused = app.admin.delete(&at(&id)).await.refused(409, "inUse");
        let used = json!([{ "type": "webhook", "id": webhook, "name": "ledger" }]);
        assert_eq!(refused["details"][0]["usedBy"], used, "{refused}");
        let _ = app.admin.delete(&format!("/api/webhooks/{webhook}")).await.expect(204);
        let _ = app.admin.delete(&at(&id)).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn two_hundred_connections_come_in_pages_and_by_filter() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        for number in 0..200 {
            let kind = if number % 4 == 0 { "webhook" } else { "http" };
            let (config, secrets) = match kind {
                "webhook" => {
                    (json!({ "url": "https://example.com" }), json!({ "signingSecret": super::SIGNING_KEY }))
                }
                _ => (json!({ "baseUrl": "https://example.com" }), json!({})),
            };
            let body = json!({ "name": format!("c{number:03}"), "type": kind, "config": config, "secrets": secrets });
            let _ = admin.post("/api/connections", body).await.expect(201);
        }
        for (path, expected) in [
            ("/api/connections?limit=60", 200),
            ("/api/connections?limit=7&type=webhook", 50),
            ("/api/connections?q=C00", 10),
        ] {
            let (mut names, mut cursor) = (Vec::new(), String::new());
            loop {
                let page = admin.get(&format!("{path}{cursor}")).await.expect(200).json();
                names.extend(members(&page["data"], "name"));
                let Some(next) = page["page"]["nextCursor"].as_str() else { break };
                cursor = format!("&cursor={next}");
            }
            assert_eq!(names.len(), expected, "{path}");
            assert!(names.is_sorted(), "{path}: {names:?}");
        }
        let mut picked = Vec::new();
        let mut cursor = String::new();
        loop {
            let data =
                admin.get(&format!("/api/connections/options?limit=90{cursor}")).await.expect(200).data();
            picked.extend(members(&data["connections"], "name"));
            assert_eq!(data["types"].as_array().map(Vec::len), Some(5));
            let Some(next) = data["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(picked.len(), 200);
        let only = admin.get("/api/connections/options?type=s3").await.expect(200).data();
        assert_eq!(members(&only["types"], "type"), ["s3"]);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_repeat_under_the_same_key_makes_one_connection() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let once = app.admin.with("idempotency-key", "once");
        let body = |token: &str| {
            json!({ "name": "one", "type": "http",
            "config": { "baseUrl": "https://example.com", "authentication": "bearer" }, "secrets": { "token": token } })
        };
        let first = once.post("/api/connections", body("first")).await.expect(201);
        let again = once.post("/api/connections", body("first")).await.expect(201);
        assert_eq!((again.header("idempotent-replayed"), again.id()), ("true", first.id()));
        assert_eq!(again.header("location"), first.header("location"));
        let _ = once.post("/api/connections", body("other")).await.refused(409, "idempotencyKeyReused");
        app.stop().await;
    });
}

//! Secrets: nobody reads one back, whatever they send, and nothing keeps one in the clear.

use std::collections::BTreeSet;

use heddle_store::Db;
use heddle_testkit::db::TestDb;
use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::{CANARY, SIGNING_KEY, Service, at, bearer, members};

/// Every type with all the secrets that it takes, each with the canary in it.
fn every_type() -> [Value; 8] {
    let url = "http://127.0.0.1:9";
    let key = format!("whsec_{}", "Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5");
    let http = |config: Value, secrets: Value| {
        let mut config = config;
        config["baseUrl"] = json!(url);
        json!({ "type": "http", "config": config, "secrets": secrets })
    };
    [
        http(json!({ "authentication": "basic", "username": "u" }), json!({ "password": CANARY })),
        http(json!({ "authentication": "bearer" }), json!({ "token": CANARY })),
        http(json!({ "authentication": "header", "headerName": "x-key" }), json!({ "headerValue": CANARY })),
        http(
            json!({ "authentication": "oauth2ClientCredentials", "tokenUrl": url, "clientId": "c" }),
            json!({ "clientSecret": CANARY }),
        ),
        json!({ "type": "smtp", "config": { "host": "127.0.0.1", "port": 9, "username": "u" },
            "secrets": { "password": CANARY } }),
        json!({ "type": "postgresql", "config": { "host": "127.0.0.1", "port": 9, "database": "d", "username": "u" },
            "secrets": { "password": CANARY } }),
        json!({ "type": "s3", "config": { "endpoint": url, "region": "r", "bucket": "bucket", "accessKeyId": "k" },
            "secrets": { "secretAccessKey": CANARY, "sessionToken": CANARY } }),
        json!({ "type": "webhook", "config": { "url": url }, "secrets": { "signingSecret": key } }),
    ]
}

/// Whether a text shows a secret: the canary, or the signing key in either form.
#[track_caller]
fn hold(what: &str, text: &str) {
    for secret in [CANARY, "Y2FuYXJ5Y2FuYXJ5", "canarycanary"] {
        assert!(!text.contains(secret), "{what} shows a secret: {text}");
    }
}

/// Everything that the stopped server has stored, searched for the canary.
async fn hold_database(app: &TestApp, db: &TestDb) {
    if let Db::Postgres(postgres) = db.db() {
        let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
        let search = format!(
            "DO $$ DECLARE t text; n bigint; BEGIN \
             FOR t IN SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() LOOP \
             EXECUTE format('SELECT count(*) FROM %I AS found WHERE found::text LIKE %L OR found::text LIKE %L', t, \
             '%{CANARY}%', '%{hex}%') INTO n; \
             IF n > 0 THEN RAISE EXCEPTION 'a secret stands in %', t; END IF; END LOOP; END $$"
        );
        postgres.execute_batch(&search).await.unwrap();
    }
    for entry in std::fs::read_dir(app.data_dir()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let found = bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes());
        assert!(!found, "a secret stands in {}", path.display());
    }
}

#[tokio::test]
async fn asvs_13_3_1_no_answer_no_record_and_no_row_shows_a_secret() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let admin = app.admin.clone();
        let wrong = json!({ "name": "wrong", "type": "http", "config": { "baseUrl": "x" },
            "secrets": { "token": [CANARY], "odd": CANARY } });
        hold("a wrong body", &admin.post("/api/connections", wrong).await.expect(400).text());
        for (number, mut body) in every_type().into_iter().enumerate() {
            body["name"] = json!(format!("c{number}"));
            let made = admin
                .with("idempotency-key", &format!("k{number}"))
                .post("/api/connections", body.clone())
                .await;
            hold("the creation", &made.text());
            let id = made.expect(201).id();
            let again = admin
                .with("idempotency-key", &format!("k{number}"))
                .post("/api/connections", body.clone())
                .await;
            hold("the repeat", &again.expect(201).text());
            hold(
                "a name that is taken",
                &admin.post("/api/connections", body.clone()).await.expect(409).text(),
            );
            hold("the reading", &admin.get(&at(&id)).await.expect(200).text());
            let change = json!({ "secrets": body["secrets"] });
            hold("the change", &admin.patch(&at(&id), change).await.expect(200).text());
            let elsewhere = json!({ "config": { "baseUrl": "http://127.0.0.1:10", "url": "http://127.0.0.1:10",
                "host": "127.0.0.2", "endpoint": "http://127.0.0.1:10" } });
            hold("the refusal", &admin.patch(&at(&id), elsewhere).await.expect(400).text());
            let tested = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200);
            hold("the test", &tested.text());
            assert_eq!(tested.data()["ok"], false, "{}", tested.text());
        }
        for path in ["/api/connections?limit=200", "/api/connections/options", "/api/audit-events?limit=200"]
        {
            hold(path, &admin.get(path).await.expect(200).text());
        }
        app.stop().await;
        hold_database(&app, db).await;
    });
}

#[tokio::test]
async fn a_connection_is_pointed_elsewhere_only_with_its_secrets() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let admin = app.admin.clone();
        let thief = Service::answering("200 OK").await;
        let id = bearer(&admin, "one", "http://127.0.0.1:9").await;
        let there = json!({ "config": { "baseUrl": thief.url() } });
        let refused = admin.patch(&at(&id), there.clone()).await.refused(400, "secretNeeded");
        assert_eq!(refused["details"][0]["field"], "secrets.token", "{refused}");
        // An empty text is no secret, and another authentication leaves the token where it is.
        let _ = admin
            .patch(&at(&id), json!({ "config": { "baseUrl": thief.url() }, "secrets": { "token": "" } }))
            .await
            .expect(400);
        let _ = admin
            .patch(&at(&id), json!({ "config": { "baseUrl": thief.url(), "authentication": "header", "headerName": "x-a" } }))
            .await
            .expect(400);
        let _ = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200);
        assert_eq!(thief.seen(), Vec::<String>::new(), "nothing went there");
        // Taken away it can go nowhere.
        let without = json!({ "config": { "baseUrl": thief.url(), "authentication": "none" }, "secrets": { "token": null } });
        let _ = admin.patch(&at(&id), without).await.expect(200);
        let _ = admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200);
        assert!(thief.seen().iter().all(|request| !request.contains(CANARY)), "{:?}", thief.seen());
        app.stop().await;
    });
}

/// A type with its secrets, and each member of its configuration: those that say to whom the secrets go, with another
/// value, and the others.
struct Pointed {
    body: Value,
    targets: Vec<(&'static str, Value)>,
    others: &'static [&'static str],
}

fn pointed() -> Vec<Pointed> {
    let authority = || {
        let made = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        ("certificateAuthority", json!(made.cert.pem()))
    };
    let of = |body, targets: &[(&'static str, Value)], others| Pointed {
        body,
        targets: targets.iter().cloned().chain([authority()]).collect(),
        others,
    };
    let url = "https://127.0.0.1:9";
    let before = "whsec_OTg3NjU0MzIxMDk4NzY1NDMyMTA5ODc2";
    vec![
        of(
            json!({ "type": "http", "secrets": { "password": CANARY },
                "config": { "baseUrl": url, "authentication": "basic", "username": "u" } }),
            &[("baseUrl", json!("https://127.0.0.1:10")), ("username", json!("eve"))],
            // Another kind of authentication takes other secrets; what stays is asked for by that.
            &[
                "authentication",
                "headerName",
                "clientAuthentication",
                "scopes",
                "audience",
                "testPath",
                "tokenUrl",
                "clientId",
            ],
        ),
        of(
            json!({ "type": "http", "secrets": { "clientSecret": CANARY },
                "config": { "baseUrl": url, "authentication": "oauth2ClientCredentials", "tokenUrl": url, "clientId": "c" } }),
            &[
                ("baseUrl", json!("https://127.0.0.1:10")),
                ("tokenUrl", json!("https://127.0.0.1:10")),
                ("clientId", json!("eve")),
            ],
            &[
                "authentication",
                "headerName",
                "clientAuthentication",
                "scopes",
                "audience",
                "testPath",
                "username",
            ],
        ),
        of(
            json!({ "type": "smtp", "secrets": { "password": CANARY },
                "config": { "host": "127.0.0.1", "port": 9, "username": "u" } }),
            &[
                ("host", json!("127.0.0.2")),
                ("port", json!(10)),
                ("port", Value::Null),
                ("security", json!("tls")),
                ("username", json!("eve")),
            ],
            &["from"],
        ),
        of(
            json!({ "type": "postgresql", "secrets": { "password": CANARY },
                "config": { "host": "127.0.0.1", "port": 9, "database": "d", "username": "u" } }),
            &[
                ("host", json!("127.0.0.2")),
                ("port", json!(10)),
                ("port", Value::Null),
                ("username", json!("eve")),
                ("tls", json!("disable")),
            ],
            &["database"],
        ),
        of(
            json!({ "type": "s3", "secrets": { "secretAccessKey": CANARY, "sessionToken": CANARY },
                "config": { "endpoint": url, "region": "r", "bucket": "bucket", "accessKeyId": "k" } }),
            &[
                ("endpoint", json!("https://127.0.0.1:10")),
                ("bucket", json!("another")),
                ("accessKeyId", json!("eve")),
                ("addressing", json!("virtualHost")),
            ],
            &["region"],
        ),
        of(
            json!({ "type": "webhook", "secrets": { "signingSecret": SIGNING_KEY, "previousSigningSecret": before },
                "config": { "url": url } }),
            &[("url", json!("https://127.0.0.1:10"))],
            &[],
        ),
    ]
}

/// Each member that says to whom secrets go, changed alone, asks for every secret that is there; some of them are not
/// enough. A member that comes to a type later must be put into one of the two lists.
#[tokio::test]
async fn every_member_that_points_elsewhere_asks_for_every_secret() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let admin = app.admin.clone();
        let types = admin.get("/api/connections/options").await.expect(200).data()["types"].clone();
        for (number, Pointed { mut body, targets, others }) in pointed().into_iter().enumerate() {
            let of = types.as_array().unwrap().iter().find(|one| one["type"] == body["type"]).unwrap();
            let known: BTreeSet<&str> =
                of["configSchema"]["properties"].as_object().unwrap().keys().map(String::as_str).collect();
            let listed: BTreeSet<&str> =
                targets.iter().map(|(name, _)| *name).chain(others.iter().copied()).collect();
            assert_eq!(known, listed, "{}", body["type"]);
            body["name"] = json!(format!("pointed {number}"));
            let id = admin.post("/api/connections", body.clone()).await.expect(201).id();
            let secrets = body["secrets"].as_object().unwrap();
            let every: BTreeSet<String> = secrets.keys().map(|name| format!("secrets.{name}")).collect();
            for (name, value) in targets {
                let mut change = json!({ "config": {} });
                change["config"][name] = value;
                let refused = admin.patch(&at(&id), change.clone()).await.refused(400, "secretNeeded");
                let told: BTreeSet<String> = members(&refused["details"], "field").into_iter().collect();
                assert_eq!(told, every, "{}: {name}", body["type"]);
                // With one of several secrets the others are still asked for.
                if let [one, other] = secrets.iter().collect::<Vec<_>>()[..] {
                    change["secrets"][one.0] = one.1.clone();
                    let refused = admin.patch(&at(&id), change.clone()).await.refused(400, "secretNeeded");
                    let told = members(&refused["details"], "field");
                    assert_eq!(told, [format!("secrets.{}", other.0)]);
                }
                assert_eq!(admin.get(&at(&id)).await.expect(200).data()["revision"], 1, "nothing is changed");
            }
        }
        app.stop().await;
    });
}

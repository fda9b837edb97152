//! Points of the Application Security Verification Standard 5.0 about what is written down, and about what happens when
//! something fails.

use heddle_store::Db;
use heddle_testkit::app::PASSWORD;
use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

async fn events(client: &Client, list: &str, action: &str) -> Vec<Value> {
    let found = client.get(&format!("{list}?limit=200&action={action}")).await.expect(200).data();
    found.as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn asvs_16_3_1_and_16_3_2_and_16_3_3_sign_ins_refusals_and_bypasses_are_in_the_trail() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["viewer"]).await;
        let as_ = |client: &Client, request: &str| client.with("x-request-id", request);
        let sign_in = |password: &str| json!({ "email": "person@example.com", "password": password });
        let _ = as_(&app.anonymous(), "r-in").post("/api/auth/sign-in", sign_in(PASSWORD)).await.expect(200);
        let wrong = sign_in("a guess of somebody");
        let _ = as_(&app.anonymous(), "r-wrong").post("/api/auth/sign-in", wrong).await.expect(401);
        let _ = as_(&person, "r-denied").post("/api/roles", json!({ "name": "x" })).await.expect(403);
        let browser = app.anonymous().cookie(&person.token()).with("sec-fetch-site", "cross-site");
        let body = json!({ "name": "x" });
        let _ = as_(&browser, "r-site").post("/api/auth/tokens", body).await.refused(403, "csrfRejected");
        let forged = app.anonymous().bearer("hds_forged");
        let _ = as_(&forged, "r-forged").get("/api/workflows").await.expect(401);
        let _ = as_(&person, "r-out").post("/api/auth/sign-out", json!({})).await.expect(204);
        for (action, request, outcome) in [
            ("session.created", "r-in", "success"),
            ("session.refused", "r-wrong", "denied"),
            ("access.denied", "r-denied", "denied"),
            ("access.denied", "r-site", "denied"),
            ("access.denied", "r-forged", "denied"),
            ("session.ended", "r-out", "success"),
        ] {
            let mut all = events(&app.admin, "/api/audit-events", action).await;
            all.extend(events(&app.admin, "/api/installation/audit-events", action).await);
            let found = all.iter().find(|event| event["requestId"] == request);
            let found = found.unwrap_or_else(|| panic!("{action} of {request} is not in {all:#?}"));
            assert_eq!(found["outcome"], outcome, "{found}");
            assert!(found["at"].is_string(), "{found}");
            if matches!(request, "r-in" | "r-denied" | "r-out") {
                assert_eq!(found["actor"]["userId"], json!(id), "{found}");
            }
        }
        app.stop().await;
    });
}

/// Takes the database away from a running server: PostgreSQL's connections are closed for good, SQLite takes no write.
async fn taken_away(app: &TestApp) {
    match &app.server().core().app.db {
        Db::Sqlite(sqlite) => sqlite.execute_batch("PRAGMA query_only = ON").await.unwrap(),
        Db::Postgres(postgres) => postgres.close(),
    }
}

/// An answer that tells of a failure and nothing of its cause.
#[track_caller]
fn generic(answer: &Answer) {
    assert!(matches!(answer.status, 500 | 503), "{}: {} {}", answer.asked, answer.status, answer.text());
    let error = answer.json()["error"].clone();
    let code = error["code"].as_str().unwrap();
    assert!(["INTERNAL_ERROR", "DEPENDENCY_UNAVAILABLE"].contains(&code), "{error}");
    let text = answer.text().to_lowercase();
    for inner in
        ["sqlite", "postgres", "select ", "insert ", "pragma", "readonly", "pool", ".rs:", "panicked"]
    {
        assert!(!text.contains(inner), "{}: {text}", answer.asked);
    }
}

#[tokio::test]
async fn asvs_16_5_1_and_16_5_3_without_its_database_the_service_does_nothing_and_opens_nothing() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (_, powerless) = app.user("powerless", &["viewer"]).await;
        let workflow = admin.publish_bpmn("work", &models::task()).await;
        let run = admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
        let runs = format!("/api/workflows/{workflow}/runs");
        let complete = format!("{runs}/{run}/human-tasks/work/complete");
        taken_away(&app).await;
        for (path, body) in [
            ("/api/roles", json!({ "name": "lost" })),
            ("/api/groups", json!({ "name": "lost" })),
            (runs.as_str(), json!({ "businessKey": "lost" })),
            (complete.as_str(), json!({})),
        ] {
            generic(&admin.post(path, body.clone()).await);
            // Whoever may not is let in by no failure.
            let refused = powerless.post(path, body.clone()).await;
            assert!(matches!(refused.status, 403 | 500 | 503), "{path}: {}", refused.text());
            for stranger in [app.anonymous(), app.anonymous().bearer("hds_forged")] {
                let refused = stranger.post(path, body.clone()).await;
                assert!(matches!(refused.status, 401 | 500 | 503), "{path}: {}", refused.text());
            }
        }
        // Nor does anybody sign in whose session could not be kept.
        generic(&app.try_sign_in("powerless@example.com", PASSWORD).await);
        // The next start opens the database anew.
        app.restart().await;
        for list in ["/api/roles?q=lost", "/api/groups?q=lost"] {
            assert_eq!(admin.get(list).await.expect(200).data(), json!([]), "{list}");
        }
        let listed = admin.get(&runs).await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
        assert_eq!(admin.run_now(&workflow, &run).await["state"], "waiting");
        for action in ["role.created", "group.created"] {
            let told = json!(events(&admin, "/api/audit-events", action).await).to_string();
            assert!(!told.contains("lost"), "{action}: {told}");
        }
        let done = admin.complete(&workflow, &run, "work", json!({})).await.expect(200).data();
        assert_eq!(done["run"]["state"], "completed");
        app.stop().await;
    });
}

/// What is built from packages of others is held against the rules, and listed, in every run of the checks.
#[test]
fn asvs_15_1_2_packages_of_others_are_held_against_the_rules_and_listed() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checks = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    for step in ["cargo xtask deny", "cargo xtask sbom", "cargo xtask notices --check"] {
        assert!(checks.lines().any(|line| line.starts_with("step ") && line.contains(step)), "{step}");
    }
    let rules = std::fs::read_to_string(root.join("deny.toml")).unwrap();
    for section in ["[licenses]", "[bans]", "[sources]"] {
        assert!(rules.contains(section), "{section}");
    }
}

//! Points of the Application Security Verification Standard 5.0 about the way out, and about what is switched on. The way
//! out itself is tested where it is built, in `crates/egress/tests`.

use heddle_testkit::db::TestDb;
use heddle_testkit::{TestApp, with_both};
use serde_json::json;

#[tokio::test]
async fn asvs_12_3_2_nobody_switches_the_check_of_certificates_off() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let made =
            json!({ "name": "checked", "type": "http", "config": { "baseUrl": "https://example.com" } });
        let path =
            format!("/api/connections/{}", app.admin.post("/api/connections", made).await.expect(201).id());
        for switch in ["insecure", "verify", "verifyTls", "tlsVerify", "skipVerify", "rejectUnauthorized"] {
            for value in [json!(true), json!(false)] {
                let mut config = json!({ "baseUrl": "https://example.com" });
                config[switch] = value;
                let body = json!({ "name": switch, "type": "http", "config": config });
                let answer = app.admin.post("/api/connections", body).await;
                assert_eq!(answer.fields(), [format!("config.{switch}")], "{}", answer.text());
                let _ = answer.refused(400, "unknownField");
                let changed = app.admin.patch(&path, json!({ "config": config })).await;
                let _ = changed.refused(400, "unknownField");
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_13_2_3_and_13_4_2_and_13_4_5_what_serves_development_is_not_there() {
    let plain = |config: &mut heddle_server::Config| {
        config.test_clock = false;
        config.docs = false;
    };
    let mut app = TestApp::with(&TestDb::sqlite().await, plain).await;
    let _ = app.admin.post("/api/test/clock", json!({ "advance": "PT1S" })).await.expect(404);
    for path in [
        "/docs",
        "/docs/swagger-ui-bundle.js",
        "/metrics",
        "/debug",
        "/debug/pprof",
        "/actuator",
        "/server-status",
        "/.env",
        "/.git/config",
        "/heddle.key",
        "/heddle.db",
        "/docs/../heddle.key",
        "/docs/..%2f..%2fheddle.key",
    ] {
        for caller in [&app.anonymous(), &app.admin] {
            let answer = caller.get(path).await.expect(404);
            assert_eq!(answer.json()["error"]["code"], "NOT_FOUND", "{path}");
        }
    }
    // A stranger learns from the health of the service neither its place nor its version.
    let told = app.anonymous().get("/health").await.expect(200).text();
    let folder = app.data_dir().display().to_string();
    for hidden in [folder.as_str(), "sqlite", env!("CARGO_PKG_VERSION")] {
        assert!(!told.to_lowercase().contains(&hidden.to_lowercase()), "{hidden}: {told}");
    }
    app.stop().await;
}

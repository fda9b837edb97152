//! PostgreSQL away for a while.

use heddle_testkit::db::Cluster;
use heddle_testkit::{TestApp, eventually};
use serde_json::json;

use crate::models;

#[tokio::test]
async fn asvs_16_5_1_a_lost_database_is_503_and_its_return_needs_no_restart() {
    let cluster = tokio::task::spawn_blocking(Cluster::private).await.unwrap().unwrap();
    let Some(cluster) = cluster else {
        assert!(!std::env::var("CI").is_ok_and(|value| value == "true"), "PostgreSQL is not installed");
        eprintln!("skipped: PostgreSQL is not installed");
        return;
    };
    let mut app = TestApp::at(Some(cluster.address()), |_| {}).await;
    let admin = app.admin.clone();
    let work = admin.publish_bpmn("work", &models::task()).await;
    let run = admin.run(&work, json!({})).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/workflows/{work}");
    let cluster =
        tokio::task::spawn_blocking(move || cluster.stop().map(|()| cluster)).await.unwrap().unwrap();
    for _ in 0..3 {
        for (method, path) in [
            ("GET", path.as_str()),
            ("GET", "/api/workflows"),
            ("GET", "/health/ready"),
            ("POST", &format!("{path}/runs")),
        ] {
            let answer = admin.request(method, path).send().await;
            assert_eq!(answer.status, 503, "{method} {path}: {}", answer.text());
            assert_eq!(answer.json()["error"]["code"], "DEPENDENCY_UNAVAILABLE");
        }
    }
    let _ = admin.get("/health/live").await.expect(200);
    let cluster =
        tokio::task::spawn_blocking(move || cluster.start().map(|()| cluster)).await.unwrap().unwrap();
    eventually("the service is back", async || {
        let answer = admin.get("/health/ready").await;
        assert!(matches!(answer.status, 200 | 503), "{}", answer.text());
        (answer.status == 200).then_some(())
    })
    .await;
    let listed = eventually("the runs", async || {
        let answer = admin.get(&format!("{path}/runs")).await;
        (answer.status == 200).then(|| answer.data())
    })
    .await;
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "what was answered with 503 was not done: {listed}");
    let done = admin.complete(&work, &run, "work", json!({})).await.expect(200).data();
    assert_eq!(done["run"]["state"], "completed");
    let another = admin.run(&work, json!({})).await;
    assert_eq!(another["state"], "waiting");
    app.stop().await;
    drop(cluster);
}

//! The documents and their pages; the end of a server with open streams.

use std::time::{Duration, Instant};

use heddle_api::operations::{Document, OperationId};
use heddle_testkit::sse::Stream;
use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use crate::models;

#[tokio::test]
async fn the_documents_hold_every_operation() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let anonymous = app.anonymous();
        for (path, document) in [
            ("/openapi.json", Document::Contract),
            ("/openapi-platform.json", Document::Platform),
            ("/openapi-compatibility.json", Document::Compatibility),
        ] {
            let served = anonymous.get(path).await.expect(200);
            assert_eq!(served.header("content-type"), "application/json");
            let served = served.json();
            assert_eq!(served["openapi"], "3.2.0");
            for id in OperationId::ALL {
                let spec = id.spec();
                let found = &served["paths"][spec.path][spec.method.as_str().to_lowercase()]["operationId"];
                let expected = (spec.document == document).then_some(spec.operation_id);
                assert_eq!(found.as_str(), expected, "{path} {}", spec.path);
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn the_page_loads_with_everything_it_names() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let anonymous = app.anonymous();
        let page = anonymous.get("/docs").await.expect(200);
        assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
        let text = page.text();
        let named = text.split(['"', '\'']).filter(|part| {
            [".css", ".js", ".png"].iter().any(|end| part.ends_with(end)) && !part.contains(' ')
        });
        let mut files = 0;
        for name in named {
            assert!(name.starts_with("/docs/"), "{name}");
            let file = anonymous.get(name).await.expect(200);
            assert!(!file.bytes.is_empty() && !file.header("content-type").is_empty(), "{name}");
            files += 1;
        }
        assert!(files >= 4, "{text}");
        let start = anonymous.get("/docs/swagger-initializer.js").await.expect(200).text();
        assert!(start.contains("/openapi.json") && start.contains("/openapi-platform.json"), "{start}");
        let _ = anonymous.get("/docs/no-such-file.js").await.expect(404);
        // Whoever opens the service in a browser comes to the pages; this client follows.
        for path in ["/", "/docs/"] {
            let page = anonymous.get(path).await.expect(200);
            assert!(page.text().contains("Heddle API"), "{path}: {}", page.text());
        }
        let sent = anonymous.post("/", json!({})).await.expect(405);
        assert_eq!(sent.header("allow"), "GET, HEAD");
        app.stop().await;
        let mut without = TestApp::at(None, |config| config.docs = false).await;
        let _ = without.anonymous().get("/docs").await.expect(404);
        let _ = without.anonymous().get("/docs/swagger-ui.css").await.expect(404);
        let _ = without.anonymous().get("/").await.expect(404);
        without.stop().await;
    });
}

#[tokio::test]
async fn a_server_with_open_streams_ends_soon() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let work = app.admin.publish_bpmn("work", &models::task()).await;
        let run = app.admin.run(&work, json!({})).await["id"].as_str().unwrap().to_owned();
        let mut streams = Vec::new();
        for _ in 0..20 {
            let mut stream = Stream::open(&app.admin, &work, &run, None).await;
            let _ = stream.until("task.created").await;
            streams.push(stream);
        }
        let begun = Instant::now();
        app.stop().await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        for mut stream in streams {
            assert_eq!(stream.next().await, None);
        }
    });
}

#[tokio::test]
async fn health_tells_of_a_key_that_is_gone_and_goes_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let key = app.data_dir().join("heddle.key");
        let kept = std::fs::read(&key).unwrap();
        let check = async |name: &str| {
            let health = app.admin.get("/health").await.expect(200).data();
            let checks = health["checks"].as_array().unwrap().clone();
            let found = checks.into_iter().find(|check| check["name"] == name).unwrap();
            (health["status"].clone(), found["status"].clone())
        };
        assert_eq!(check("key").await, (json!("ok"), json!("ok")));
        assert_eq!(check("writes").await, (json!("ok"), json!("ok")));
        std::fs::remove_file(&key).unwrap();
        assert_eq!(check("key").await, (json!("degraded"), json!("degraded")));
        let _ = app.anonymous().get("/health/ready").await.expect(200);
        std::fs::write(&key, kept).unwrap();
        app.stop().await;
    });
}

/// The role that the page on authorization has for an employee who starts a workflow.
#[tokio::test]
async fn an_employee_of_the_documented_role_starts_a_workflow_and_sees_own_runs_alone() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let page = include_str!("../../../../docs/authorization.md");
        let begin = page.find("{\"name\": \"employee\"").unwrap();
        let text = &page[begin..begin + page[begin..].find("```").unwrap()];
        let leave = app.admin.publish_bpmn("leave", &models::task()).await;
        let other = app.admin.publish_bpmn("other", &models::task()).await;
        let role = text.replace("01a1fcc8-4785-789c-b8a2-e0cf96e8a8c8", &leave);
        let _ = app.admin.post("/api/roles", serde_json::from_str(&role).unwrap()).await.expect(201);
        let (_, employee) = app.user("eve", &["employee"]).await;
        let listed = employee.get("/api/workflows").await.expect(200).data();
        assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
        let _ = employee.get(&format!("/api/workflows/{leave}")).await.expect(200);
        let run = employee
            .post(&format!("/api/workflows/{leave}/runs"), json!({"input": {}}))
            .await
            .expect(201)
            .id();
        let _ = employee.get(&format!("/api/workflows/{leave}/runs/{run}")).await.expect(200);
        let anothers = app.admin.run(&leave, json!({})).await["id"].as_str().unwrap().to_owned();
        for (method, path) in [
            ("GET", format!("/api/workflows/{leave}/runs/{anothers}")),
            ("GET", format!("/api/workflows/{other}")),
            ("POST", format!("/api/workflows/{other}/runs")),
            ("POST", format!("/api/workflows/{leave}/publish")),
        ] {
            let _ = employee.request(method, &path).json(&json!({})).send().await.expect(403);
        }
        app.stop().await;
    });
}

//! Answers from what is kept between requests: never shown once it has changed, and never a way past a deny.

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

/// A workflow as it is shown; asked for twice, so that what can be kept is.
async fn shown(client: &Client, path: &str) -> Value {
    let first = client.get(path).await.expect(200);
    let again = client.get(path).await.expect(200);
    assert_eq!(first.header("etag"), again.header("etag"));
    let first = first.data();
    assert_eq!(first, again.data());
    first
}

#[tokio::test]
async fn a_workflow_that_was_read_is_shown_anew_after_every_change() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let (_, other) = app.user("other", &["owner"]).await;
        let workflow = admin.publish_bpmn("fresh", &models::task()).await;
        let path = format!("/api/workflows/{workflow}");
        let published = format!("{path}?version=published");
        let of_both = async |member: &str| {
            [shown(&admin, &path).await[member].clone(), shown(&other, &path).await[member].clone()]
        };
        let first = shown(&admin, &path).await;
        assert_eq!(of_both("starred").await, [false, false]);

        let _ = admin.patch(&path, json!({ "displayName": "Renamed" })).await.expect(200);
        assert_eq!(of_both("displayName").await, ["Renamed", "Renamed"]);
        assert_ne!(shown(&admin, &path).await["revision"], first["revision"]);

        let star = format!("{path}/star");
        let _ = other.put(&star, json!({})).await.expect(200);
        assert_eq!(of_both("starred").await, [false, true]);
        let _ = other.delete(&star).await.expect(204);
        assert_eq!(of_both("starred").await, [false, false]);

        let mut definition = first["definition"].clone();
        definition["bpmn"]["processes"][0]["name"] = json!("Another name");
        let _ = shown(&admin, &published).await;
        let _ = admin.put(&format!("{path}/draft"), json!({ "definition": definition })).await.expect(200);
        assert_eq!(of_both("definition").await, [definition.clone(), definition.clone()]);
        assert_eq!(shown(&admin, &published).await["definition"], first["definition"]);
        let _ = admin.get(&format!("{path}?version=2")).await.expect(404);
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.expect(200);
        assert_eq!(shown(&admin, &published).await["definition"], definition);
        assert_eq!(shown(&admin, &format!("{path}?version=2")).await["definition"], definition);
        assert_eq!(shown(&admin, &format!("{path}?version=1")).await["definition"], first["definition"]);

        let counts = async || {
            let [own, theirs] = of_both("runCounts").await;
            assert_eq!(own, theirs);
            [own["active"].clone(), own["completed"].clone(), own["cancelled"].clone()]
        };
        assert_eq!(counts().await, [0, 0, 0]);
        let mut runs = Vec::new();
        for active in 1..=2 {
            runs.push(admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned());
            assert_eq!(counts().await, [active, 0, 0]);
        }
        let _ = admin.complete(&workflow, &runs[0], "work", json!({})).await.expect(200);
        assert_eq!(counts().await, [1, 1, 0]);
        let _ = admin.delete(&format!("{path}/runs/{}", runs[1])).await.expect(204);
        assert_eq!(counts().await, [0, 1, 1]);
        let _ = admin.delete(&format!("{path}/runs/{}?purge=true", runs[0])).await.expect(204);
        assert_eq!(counts().await, [0, 0, 1]);

        // The start asks for the same: an archived workflow starts nothing from the next request on.
        for (archived, status) in [(true, 409), (false, 201), (true, 409)] {
            let _ = admin.patch(&path, json!({ "archived": archived })).await.expect(200);
            let started = admin.post(&format!("{path}/runs"), json!({})).await;
            assert_eq!(started.status, status, "{}", started.text());
            let state = if archived { "archived" } else { "published" };
            assert_eq!(of_both("state").await, [state, state]);
        }
        let listed = admin.get(&format!("{path}/runs?state=waiting")).await.expect(200).data();
        let _ = admin.delete(&format!("{path}/runs/{}", listed[0]["id"].as_str().unwrap())).await.expect(204);
        let _ = admin.delete(&path).await.expect(204);
        for reader in [&admin, &other] {
            let _ = reader.get(&path).await.expect(404);
            let _ = reader.get(&published).await.expect(404);
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_holds_from_the_next_request_on_for_what_was_just_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, other) = app.user("other", &["owner"]).await;
        let workflow = app.admin.publish_bpmn("hidden", &models::task()).await;
        let path = format!("/api/workflows/{workflow}");
        for resource in [workflow.as_str(), "*"] {
            let _ = shown(&other, &path).await;
            let deny = json!({
                "principal": { "kind": "user", "id": id }, "resourceType": "workflow", "action": "read",
                "resourceId": resource, "effect": "deny",
            });
            let grant = app.admin.post("/api/grants", deny).await.expect(201).id();
            let _ = other.get(&path).await.refused(403, "denied");
            let _ = app.admin.get(&path).await.expect(200);
            let _ = app.admin.delete(&format!("/api/grants/{grant}")).await.expect(204);
            let _ = shown(&other, &path).await;
        }
        // Who is switched off, or signed out, reads nothing that was kept either.
        let _ = other.post("/api/auth/sign-out", json!({})).await.expect(204);
        let _ = other.get(&path).await.expect(401);
        app.stop().await;
    });
}

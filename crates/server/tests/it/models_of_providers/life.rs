//! The life of connections to providers and of deployments.

use heddle_embedding::{DEFAULT, toy};
use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use super::upstream::{Reply, Upstream};
use super::{CONNECTIONS, DEPLOYMENTS, connect, deploy, question, service};

/// Text that stands in the key, and must stand nowhere else.
const CANARY: &str = "canary-9d2e-of-a-key-of-a-provider";

#[tokio::test]
async fn a_connection_is_made_tried_changed_and_deleted_and_never_shows_its_key() {
    with_both!(|db| {
        let mut app = service(db).await;
        let admin = app.admin.clone();
        let models = json!({ "object": "list", "data": [{ "id": "large", "object": "model" },
            { "id": "text-embedding-small", "object": "model" }] });
        let provider = Upstream::answering(Reply::json(&models)).await;
        let base = format!("{}/v1", provider.url());
        let body = json!({ "name": "Provider", "type": "custom", "baseUrl": base, "apiKey": CANARY,
            "headers": { "x-team": "weavers" } });
        let made = admin.post(CONNECTIONS, body.clone()).await.expect(201);
        let id = made.id();
        let at = format!("{CONNECTIONS}/{id}");
        assert_eq!((made.header("location"), made.header("etag")), (at.as_str(), "\"1\""));
        assert!(!made.text().contains(CANARY));
        assert_eq!(made.data()["apiKey"]["configured"], true);
        let _ = admin.post(CONNECTIONS, body).await.refused(409, "notUnique");

        let tested = admin.post(&format!("{at}/test"), json!({})).await.expect(200).data();
        assert_eq!((&tested["ok"], &tested["models"]), (&json!(true), &json!(2)), "{tested}");
        assert!(provider.last().head.to_lowercase().contains("x-team: weavers"));
        let found = admin.post(&format!("{at}/models/discover"), json!({})).await.expect(200).data();
        assert_eq!(found["added"], json!(["large", "text-embedding-small"]));
        let listed = admin.get(&format!("{at}/models?capability=embeddings")).await.expect(200).data();
        assert_eq!(listed[0]["model"], "text-embedding-small");
        let import = json!({ "models": [{ "model": "large", "alias": "big" }, { "model": "gone" }] });
        let imported = admin.post(&format!("{at}/models/import"), import).await.expect(201).data();
        assert_eq!(
            (&imported["imported"][0]["alias"], &imported["skipped"][0]["reason"]),
            (&json!("big"), &json!("unknownModel"))
        );

        // A key never goes to another address than the one that it was given for.
        let elsewhere = json!({ "baseUrl": "http://127.0.0.1:9/v1" });
        let refused = admin.patch(&at, elsewhere).await.expect(400);
        assert!(refused.text().contains("secretNeeded"), "{}", refused.text());
        let changed = admin.patch(&at, json!({ "enabled": false, "revision": 1 })).await.expect(200);
        assert_eq!(changed.header("etag"), "\"2\"");
        let _ = admin
            .patch(&at, json!({ "enabled": true, "revision": 1 }))
            .await
            .refused(409, "revisionMismatch");
        let off = admin.post("/api/chat", question("big")).await;
        let _ = off.refused(409, "disabled");

        let _ = admin.delete(&at).await.refused(409, "inUse");
        let _ = admin.delete(&format!("{at}?cascade=true")).await.expect(204);
        let _ = admin.delete(&at).await.expect(204);
        let _ = admin.get(&at).await.expect(404);
        let events = admin.get("/api/audit-events?limit=200").await.expect(200);
        assert!(!events.text().contains(CANARY));
        for action in
            ["model_connection.created", "model_connection.models_imported", "model_connection.deleted"]
        {
            assert!(events.text().contains(action), "{action}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deployment_is_made_changed_and_deleted() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let connection = connect(&admin, "c", json!({ "type": "ollama" })).await;
        let body = json!({ "model": "m", "alias": "first", "defaults": { "temperature": 0.1 },
            "prices": { "currency": "EUR", "input": 3, "output": 4 } });
        let id = deploy(&admin, &connection, body.clone()).await;
        let at = format!("{DEPLOYMENTS}/{id}");
        let shown = admin.get(&at).await.expect(200).data();
        assert_eq!((&shown["prices"]["version"], &shown["state"]), (&json!(1), &json!("ready")), "{shown}");
        let again = admin.post(&format!("{CONNECTIONS}/{connection}/deployments"), body).await;
        assert_eq!(again.refused(409, "notUnique")["details"][0]["field"], "alias");
        let other =
            deploy(&admin, &connection, json!({ "model": "m", "alias": "second", "fallbacks": [id] })).await;
        let circle = admin.patch(&at, json!({ "fallbacks": [other] })).await;
        assert_eq!(circle.status, 400, "{}", circle.text());
        let _ = admin.delete(&at).await.refused(409, "inUse");
        let _ = admin.patch(&format!("{DEPLOYMENTS}/{other}"), json!({ "fallbacks": [] })).await.expect(200);

        let memory = json!({ "policy": "onDemand", "idleTtlSeconds": 300 });
        let set = admin.put(&format!("{at}/memory"), memory).await.expect(200).data();
        assert_eq!(set["memory"]["idleTtlSeconds"], 300);
        let _ = admin.delete(&at).await.expect(204);
        let _ = admin.delete(&at).await.expect(204);
        let listed = admin.get(DEPLOYMENTS).await.expect(200).data();
        let aliases: Vec<&Value> = listed.as_array().unwrap().iter().map(|one| &one["alias"]).collect();
        assert_eq!(aliases, [&json!("second")]);
        app.stop().await;
    });
}

#[tokio::test]
async fn local_deployments_are_brought_in_line_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let path = format!("{DEPLOYMENTS}/sync-local");
        let dry = app.admin.post(&path, json!({ "dryRun": true })).await.expect(200).data();
        assert!(!dry["created"].as_array().unwrap().is_empty(), "{dry}");
        assert_eq!(app.admin.get(DEPLOYMENTS).await.expect(200).data(), json!([]));
        let done = app.admin.post(&path, json!({})).await.expect(200).data();
        assert_eq!(done["created"].as_array().unwrap().len(), dry["created"].as_array().unwrap().len());
        let again = app.admin.post(&path, json!({})).await.expect(200).data();
        assert_eq!((&again["created"], &again["updated"]), (&json!([]), &json!([])), "{again}");
        app.stop().await;
    });
}

/// The deployment of the built-in embedding model in a list.
async fn built_in_embeddings(client: &Client, list: &str) -> Value {
    let listed = client.get(list).await.expect(200).data();
    let found = listed.as_array().unwrap().iter().find(|one| one["model"] == DEFAULT);
    found.unwrap_or_else(|| panic!("{listed}")).clone()
}

#[tokio::test]
async fn the_built_in_embedding_model_is_shown_as_missing_until_its_files_are_here() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.models.demo = true).await;
        let admin = app.admin.clone();
        let call = json!({ "model": "built-in-embeddings", "input": "a" });
        let _ = admin.post("/api/embeddings", call).await.expect(409);
        // Nobody asks for it: what the node sees of its models is written once they are read.
        let shown = eventually("the state of the model", async || {
            let shown = built_in_embeddings(&admin, DEPLOYMENTS).await;
            (shown["state"] != "loading").then_some(shown)
        })
        .await;
        assert_eq!(shown["state"], "missing", "{shown}");
        assert!(shown["stateDetail"].as_str().unwrap().contains("models fetch"), "{shown}");
        assert_eq!((&shown["memory"]["observed"]["loaded"], &shown["revision"]), (&json!(false), &json!(1)));
        let model = admin.get("/api/models").await.expect(200).data();
        let of =
            |alias: &str| model.as_array().unwrap().iter().find(|one| one["id"] == alias).unwrap().clone();
        assert_eq!(
            (&of("built-in-embeddings")["state"], &of("built-in-answers")["state"]),
            (&json!("missing"), &json!("ready"))
        );
        let ready = admin.get(&format!("{DEPLOYMENTS}?state=ready")).await.expect(200).data();
        assert_eq!(ready.as_array().unwrap().len(), 1, "{ready}");

        toy::write(&app.data_dir().join("models").join(DEFAULT), 1).unwrap();
        let path = format!("{DEPLOYMENTS}/sync-local");
        let synced = admin.post(&path, json!({})).await.expect(200).data();
        assert_eq!(synced["updated"][0]["alias"], "built-in-embeddings", "{synced}");
        let shown = built_in_embeddings(&admin, DEPLOYMENTS).await;
        assert_eq!((&shown["state"], &shown["stateDetail"]), (&json!("ready"), &Value::Null), "{shown}");
        let again = admin.post(&path, json!({})).await.expect(200).data();
        assert_eq!((&again["created"], &again["updated"]), (&json!([]), &json!([])), "{again}");
        app.stop().await;
    });
}

//! A vector database that is indexed anew by another model: what is refused, kept and answered meanwhile.

use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use super::over;
use super::upstream::{Reply, Upstream};
use crate::vectors::{DATABASES, made};

/// A service that works on no job, and a model that embeds.
async fn at_rest(db: &TestDb) -> (TestApp, Upstream, String) {
    let app = TestApp::with(db, |config| {
        config.egress_loopback = true;
        config.background = false;
    })
    .await;
    let vector = json!({ "object": "list", "model": "m",
        "data": [{ "object": "embedding", "index": 0, "embedding": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0] }] });
    let provider = Upstream::answering(Reply::json(&vector)).await;
    let more = json!({ "capabilities": ["embeddings"], "dimensions": 8 });
    let model = over(&app.admin, &provider, "vectors", more).await;
    (app, provider, model)
}

async fn changed(client: &Client, name: &str, change: Value) -> Value {
    client.patch(&format!("{DATABASES}/{name}"), change).await.expect(200).data()
}

/// The field of a refusal as a bad request.
async fn refused(client: &Client, name: &str, change: Value) -> Value {
    let answer = client.patch(&format!("{DATABASES}/{name}"), change).await.refused(400, "notAllowed");
    answer["details"][0]["field"].clone()
}

/// The mode of a query that names none.
async fn mode(client: &Client, name: &str) -> Value {
    let query = format!("{DATABASES}/{name}/query");
    client.post(&query, json!({ "query": "loom" })).await.expect(200).data()["mode"].clone()
}

#[tokio::test]
async fn a_preset_mode_is_one_that_what_serves_and_what_is_built_can_answer_in() {
    with_both!(|db| {
        let (mut app, _provider, model) = at_rest(db).await;
        let admin = &app.admin;
        made(admin, "words").await;
        let semantic = json!({ "mode": "semantic" });
        let both = json!({ "embeddingModelId": model, "defaults": semantic });
        assert_eq!(refused(admin, "words", both).await, "defaults.mode");
        let building = changed(admin, "words", json!({ "embeddingModelId": model })).await;
        assert_eq!(
            (&building["state"], &building["defaults"]["mode"]),
            (&json!("building"), &json!("keyword"))
        );
        assert_eq!(refused(admin, "words", json!({ "defaults": semantic })).await, "defaults.mode");
        assert_eq!(mode(admin, "words").await, "keyword");
        let job = building["reindexJobId"].as_str().unwrap();
        let _ = admin.delete(&format!("{DATABASES}/ingestion-jobs/{job}")).await.expect(204);
        let after =
            changed(admin, "words", json!({ "displayName": "Words", "defaults": { "limit": 3 } })).await;
        assert_eq!((&after["state"], &after["displayName"]), (&json!("ready"), &json!("Words")));
        assert_eq!(mode(admin, "words").await, "keyword");
        // The other way round: what serves could, and what is to serve could not.
        let body = json!({ "name": "meanings", "embeddingModelId": model });
        let _ = admin.post(DATABASES, body).await.expect(201);
        let _ = changed(admin, "meanings", json!({ "embeddingModelId": null })).await;
        assert_eq!(refused(admin, "meanings", json!({ "defaults": semantic })).await, "defaults.mode");
        let _ = changed(admin, "meanings", json!({ "defaults": { "mode": "keyword" } })).await;
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_named_while_another_generation_is_built_is_that_or_a_conflict() {
    with_both!(|db| {
        let (mut app, _provider, model) = at_rest(db).await;
        let admin = &app.admin;
        made(admin, "words").await;
        let building = changed(admin, "words", json!({ "embeddingModelId": model })).await;
        let once_more = json!({ "embeddingModelId": model, "methodologyId": building["methodology"]["id"] });
        let same = changed(admin, "words", once_more).await;
        assert_eq!(
            (&same["revision"], &same["reindexJobId"]),
            (&building["revision"], &building["reindexJobId"])
        );
        for back_or_on in [
            json!({ "embeddingModelId": null }),
            json!({ "methodologyId": "markdown" }),
            json!({ "methodologyOptions": { "maxTokens": 40 } }),
        ] {
            admin.patch(&format!("{DATABASES}/words"), back_or_on).await.refused(409, "reindexRunning");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_methodology_that_is_named_once_more_keeps_its_options() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let body = json!({ "name": "small", "embeddingModelId": null, "methodologyId": "recursive",
            "methodologyOptions": { "maxTokens": 40 } });
        let before = admin.post(DATABASES, body).await.expect(201).data();
        let after = changed(admin, "small", json!({ "methodologyId": "recursive" })).await;
        assert_eq!(after, before, "nothing was changed");
        app.stop().await;
    });
}

//! Queries: passages with their citations, filters, and what is said instead of an answer.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::{asked, at, found, ingested, made, one};

#[tokio::test]
async fn a_passage_says_where_it_stands() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        // Sections that fit into one passage together would stand in one.
        let body = json!({ "name": "manual", "embeddingModelId": null, "methodologyId": "markdown",
            "methodologyOptions": { "maxTokens": 32 } });
        let _ = admin.post(super::DATABASES, body).await.expect(201);
        let content = "# Loom\n\n## Filter\n\nTake the filter out of the loom and wash it \
            in warm water, let it dry in the sun for a day, and put it back before anybody weaves again.\n\n## Oil\n\n\
            Change the oil of the loom every spring, or whenever it has become dark, and wipe the spindle dry.";
        let file = json!({ "files": [{ "name": "m.md", "text": content, "title": "The manual" }] });
        let id = ingested(admin, "manual", file).await.remove(0);
        let query =
            json!({ "query": "How do I wash the filter?", "includeScores": true, "includeNeighbours": 1 });
        let answer = asked(admin, "manual", query).await;
        assert_eq!((&answer["mode"], &answer["partial"]), (&json!("keyword"), &json!(false)));
        let best = &answer["passages"][0];
        assert_eq!((&best["fileId"], &best["fileName"]), (&json!(id), &json!("m.md")));
        assert!(best["text"].as_str().unwrap().contains("wash it"), "{best}");
        let path: Vec<&str> =
            best["citation"]["headingPath"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(path, ["Loom", "Filter"]);
        let (start, end) =
            (best["locator"]["startChar"].as_u64().unwrap(), best["locator"]["endChar"].as_u64().unwrap());
        assert!(start < end && end <= content.chars().count() as u64, "{best}");
        assert!(best["citation"]["label"].as_str().unwrap().contains("manual"), "{best}");
        assert_eq!((&best["scores"]["rank"], &best["scores"]["semantic"]), (&json!(1), &Value::Null));
        assert!(best["neighbours"].is_array());
        let none = asked(admin, "manual", json!({ "query": "filter", "minScore": 1e9 })).await;
        assert_eq!(none["passages"], json!([]));
        let bare = asked(admin, "manual", json!({ "query": "oil", "includeText": false })).await;
        assert!(bare["passages"][0].get("text").is_none() && bare["passages"][0].get("scores").is_none());
        app.stop().await;
    });
}

#[tokio::test]
async fn filters_are_exact_and_unknown_fields_are_named() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "filters").await;
        let files: Vec<Value> = (0..4)
            .map(|n| {
                let kind = if n < 2 { "old" } else { "new" };
                json!({ "name": format!("{n}.txt"), "text": format!("Loom number {n}."),
                    "metadata": { "year": 2000 + n, "kind": kind } })
            })
            .collect();
        let ids = ingested(admin, "filters", json!({ "files": files })).await;
        let with = async |filter: Value| {
            let answer = asked(admin, "filters", json!({ "query": "loom", "filter": filter })).await;
            let mut names: Vec<String> = answer["passages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one["fileName"].as_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        assert_eq!(with(json!({ "field": "metadata.kind", "eq": "old" })).await, ["0.txt", "1.txt"]);
        assert_eq!(with(json!({ "field": "metadata.year", "gte": 2003 })).await, ["3.txt"]);
        assert_eq!(with(json!({ "field": "fileId", "in": [ids[2]] })).await, ["2.txt"]);
        let both = json!({ "and": [{ "field": "metadata.kind", "eq": "new" },
            { "not": { "field": "metadata.year", "eq": 2002 } }] });
        assert_eq!(with(both).await, ["3.txt"]);
        let but = json!({ "not": { "field": "metadata.year", "eq": 2002 } });
        assert_eq!(with(but).await, ["0.txt", "1.txt", "3.txt"]);
        let either = json!({ "or": [{ "field": "metadata.year", "eq": 2000 },
            { "not": { "field": "metadata.kind", "eq": "old" } }] });
        assert_eq!(with(either).await, ["0.txt", "2.txt", "3.txt"]);
        let none = json!({ "field": "metadata.year", "gt": 9999 });
        assert!(with(none).await.is_empty());
        let unknown = json!({ "query": "loom", "filter": { "field": "metadata.colour", "eq": "red" } });
        let refused = admin.post(&format!("{}/query", at("filters")), unknown).await.expect(400);
        assert!(refused.fields().iter().any(|field| field.starts_with("filter")), "{}", refused.text());
        app.stop().await;
    });
}

#[tokio::test]
async fn without_a_model_meaning_is_refused_with_the_way_to_get_one() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let _ = one(admin, "words").await;
        let meaning = json!({ "query": "loom", "mode": "semantic" });
        let _ = admin.post(&format!("{}/query", at("words")), meaning).await.expect(409);
        let models = admin.get("/api/vector-databases/embedding-models").await.expect(200).data();
        let built_in = &models[0];
        assert_eq!((&built_in["state"], &built_in["isDefault"]), (&json!("missing"), &json!(true)));
        assert!(built_in["stateDetail"].as_str().unwrap().contains("heddle models fetch"), "{built_in}");
        let body = json!({ "name": "meanings", "embeddingModelId": built_in["id"] });
        let _ = admin.post(super::DATABASES, body).await.expect(409);
        app.stop().await;
    });
}

#[tokio::test]
async fn what_can_be_chosen_is_told_and_names_are_checked() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "taken").await;
        let free = async |name: &str| {
            let path = format!("/api/vector-databases/address-availability?name={name}");
            let found = admin.get(&path).await.expect(200).data();
            (found["available"].clone(), found["reason"].clone())
        };
        assert_eq!(free("fresh").await, (json!(true), Value::Null));
        assert_eq!(free("taken").await, (json!(false), json!("taken")));
        assert_eq!(free("upload-policy").await, (json!(false), json!("reserved")));
        assert_eq!(free("Not+a+name").await, (json!(false), json!("invalid")));
        let again = json!({ "name": "taken", "embeddingModelId": null });
        admin.post(super::DATABASES, again).await.refused(409, "notUnique");
        let methodologies = admin.get("/api/vector-databases/methodologies").await.expect(200).data();
        let ids: Vec<_> = methodologies.as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        for id in ["recursive", "markdown", "hybrid", "keyword"] {
            assert!(ids.contains(&json!(id)), "{id} is not in {ids:?}");
        }
        let policy = admin.get("/api/vector-databases/upload-policy").await.expect(200).data();
        assert_eq!(policy["duplicateHandling"], "reject");
        assert!(policy["maxFileBytes"].as_u64().unwrap() > 0);
        assert!(found(admin, "taken", "anything").await.is_empty(), "an empty database answers");
        app.stop().await;
    });
}

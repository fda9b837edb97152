//! Workflows: absent, null and value kept apart, slugs, paging, revisions, idempotency.

use std::collections::BTreeSet;

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

fn new(slug: &str) -> Value {
    json!({ "slug": slug, "displayName": slug, "description": "" })
}

#[tokio::test]
async fn absent_null_and_value_are_kept_apart() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let value = json!({ "nodes": [{ "id": "a", "type": "startEvent" }], "edges": [] });
        let cases = [("absent", None), ("null", Some(Value::Null)), ("value", Some(value))];
        for (slug, definition) in cases {
            let mut body = new(slug);
            if let Some(definition) = &definition {
                body["definition"] = definition.clone();
                body["folderId"] = if definition.is_null() { Value::Null } else { json!("a folder") };
            }
            let made = admin.post("/api/workflows", body.clone()).await.expect(201);
            let path = format!("/api/workflows/{}", made.id());
            assert_eq!(made.header("location"), path);
            let kept = admin.get(&path).await.expect(200).data();
            assert_eq!(kept.get("definition"), definition.as_ref(), "{slug}");
            assert_eq!(kept.get("folderId"), body.get("folderId"), "{slug}");

            // A change keeps what it does not name, and clears what it names as null.
            let renamed = admin.patch(&path, json!({ "displayName": "Other" })).await.expect(200).data();
            assert_eq!(renamed.get("folderId"), body.get("folderId"), "{slug}");
            assert_eq!((&renamed["displayName"], &renamed["description"]), (&json!("Other"), &json!("")));
            let set = admin.patch(&path, json!({ "folderId": "b" })).await.expect(200).data();
            assert_eq!((&set["folderId"], &set["displayName"]), (&json!("b"), &json!("Other")));
            let cleared = admin.patch(&path, json!({ "folderId": null })).await.expect(200).data();
            assert_eq!(cleared.get("folderId"), Some(&Value::Null));
            let refused = admin.patch(&path, json!({ "displayName": null })).await.expect(400);
            assert_eq!(refused.fields(), ["displayName"]);
            assert_eq!(admin.get(&path).await.data().get("definition"), definition.as_ref(), "{slug}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_slug_is_well_formed_and_taken_once_in_an_organisation() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let long = "a".repeat(101);
        for slug in ["", "Upper", "two--hyphens", "-edge", "edge-", "under_score", "späti", long.as_str()] {
            let body = json!({ "slug": slug, "displayName": "Named", "description": "" });
            let mut fields = admin.post("/api/workflows", body).await.expect(400).fields();
            fields.dedup();
            assert_eq!(fields, ["slug"], "{slug}");
        }
        let first = admin.post("/api/workflows", new("taken-1")).await.expect(201).id();
        let _ = admin.post("/api/workflows", new("taken-1")).await.refused(409, "notUnique");
        let second = admin.post("/api/workflows", new("taken-2")).await.expect(201).id();
        let to_taken = json!({ "slug": "taken-1" });
        let _ = admin.patch(&format!("/api/workflows/{second}"), to_taken).await.refused(409, "notUnique");
        let (_, elsewhere) = app.second_organization("second").await;
        let _ = elsewhere.post("/api/workflows", new("taken-1")).await.expect(201);
        let _ = admin.delete(&format!("/api/workflows/{first}")).await.expect(204);
        let _ = admin.post("/api/workflows", new("taken-1")).await.expect(201);
        app.stop().await;
    });
}

#[tokio::test]
async fn pages_hold_everything_once_while_others_are_added() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        for sort in ["createdAt", "-createdAt", "displayName", "-displayName"] {
            let prefix = sort.replace('-', "down-").to_lowercase();
            let mut expected = BTreeSet::new();
            for number in 0..7 {
                let slug = format!("{prefix}-{number}");
                expected.insert(admin.post("/api/workflows", new(&slug)).await.expect(201).id());
            }
            let mut seen = Vec::new();
            let mut cursor: Option<String> = None;
            for round in 0..20 {
                let behind = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
                let page = admin
                    .get(&format!("/api/workflows?limit=3&q={prefix}&sort={sort}{behind}"))
                    .await
                    .expect(200);
                let page = page.json();
                assert_eq!(page["page"]["limit"], 3);
                seen.extend(
                    page["data"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()),
                );
                cursor = page["page"]["nextCursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
                let _ = admin.post("/api/workflows", new(&format!("{prefix}-x{round}"))).await.expect(201);
            }
            assert!(cursor.is_none(), "the pages never end");
            let once: BTreeSet<_> = seen.iter().cloned().collect();
            assert_eq!(once.len(), seen.len(), "{sort}: a row came twice");
            assert!(expected.is_subset(&once), "{sort}: a row is missing");
        }
        let refused = admin.get("/api/workflows?cursor=nonsense").await.expect(400);
        assert_eq!(refused.fields(), ["cursor"]);
        for query in ["limit=0", "limit=201", "limit=many", "sort=slug", "colour=red"] {
            let refused = admin.get(&format!("/api/workflows?{query}")).await.expect(400);
            assert_eq!(refused.fields(), [query.split('=').next().unwrap()], "{query}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_change_of_an_older_revision_is_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let made = admin.post("/api/workflows", new("one")).await.expect(201);
        let (path, tag) = (format!("/api/workflows/{}", made.id()), made.header("etag").to_owned());
        let with = |tag: &str| admin.with("if-match", tag);
        let changed = with(&tag).patch(&path, json!({ "displayName": "Two" })).await.expect(200);
        assert_ne!(changed.header("etag"), tag);
        let refused =
            with(&tag).patch(&path, json!({ "displayName": "Three" })).await.refused(409, "revisionMismatch");
        assert!(
            refused["details"][0].to_string().contains(changed.header("etag").trim_matches('"')),
            "{refused}"
        );
        let _ = admin
            .patch(&path, json!({ "displayName": "Three", "revision": 1 }))
            .await
            .refused(409, "revisionMismatch");
        let draft = json!({ "definition": null, "revision": 1 });
        let _ = admin.put(&format!("{path}/draft"), draft).await.refused(409, "revisionMismatch");
        let _ = with("\"1\"").delete(&path).await.refused(409, "revisionMismatch");
        let _ = with("nonsense").delete(&path).await.expect(400);
        assert_eq!(admin.get(&path).await.data()["displayName"], "Two");
        let _ = with(changed.header("etag")).delete(&path).await.expect(204);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_call_under_one_key_happens_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let keyed = app.admin.with("idempotency-key", "key-1");
        let first = keyed.post("/api/workflows", new("once")).await.expect(201);
        let again = keyed.post("/api/workflows", new("once")).await.expect(201);
        assert_eq!((again.header("idempotent-replayed"), &again.bytes), ("true", &first.bytes));
        assert_eq!(first.header("idempotent-replayed"), "");
        let _ = keyed.post("/api/workflows", new("other")).await.refused(409, "idempotencyKeyReused");
        // The key belongs to the operation and the organisation.
        let work = app.admin.publish_bpmn("work", &models::task()).await;
        let _ = keyed.run(&work, json!({})).await;
        let (_, elsewhere) = app.second_organization("second").await;
        let _ =
            elsewhere.with("idempotency-key", "key-1").post("/api/workflows", new("other")).await.expect(201);

        for (name, path, body) in [
            ("create", "/api/workflows".to_owned(), new("at-once")),
            ("start", format!("/api/workflows/{work}/runs"), json!({ "businessKey": "b" })),
        ] {
            let keyed = app.admin.with("idempotency-key", name);
            let calls = (0..8).map(|_| {
                let (keyed, path, body) = (keyed.clone(), path.clone(), body.clone());
                tokio::spawn(async move { keyed.post(&path, body).await.expect(201).id() })
            });
            let mut ids = BTreeSet::new();
            for call in calls.collect::<Vec<_>>() {
                ids.insert(call.await.unwrap());
            }
            assert_eq!(ids.len(), 1, "{name}");
        }
        let runs = app.admin.get(&format!("/api/workflows/{work}/runs")).await.expect(200).data();
        assert_eq!(runs.as_array().map(Vec::len), Some(2));
        app.stop().await;
    });
}

#[tokio::test]
async fn versions_are_immutable_and_publish_says_what_it_refuses() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let work = admin.publish_bpmn("work", &models::task()).await;
        let path = format!("/api/workflows/{work}");
        let same = admin.post(&format!("{path}/publish"), json!({})).await.expect(200).data();
        assert_eq!(same["number"], 1, "the same content is the same version");
        let run = admin.run(&work, json!({})).await;
        let other = admin.preview("other.bpmn", &models::timer("PT1H")).await;
        let saved =
            admin.put(&format!("{path}/draft"), json!({ "definition": other })).await.expect(200).data();
        assert_eq!(saved["workflow"]["hasUnpublishedChanges"], true, "{saved}");
        let second =
            admin.post(&format!("{path}/publish"), json!({ "changeNote": "a timer" })).await.expect(200);
        assert_eq!(second.data()["number"], 2);
        let versions = admin.get(&format!("{path}/versions")).await.expect(200).data();
        let brief: Vec<_> =
            versions.as_array().unwrap().iter().map(|one| (&one["number"], &one["state"])).collect();
        assert_eq!(json!(brief), json!([[2, "active"], [1, "superseded"]]));
        // The run goes on with the version that it began with.
        let id = run["id"].as_str().unwrap();
        let done = admin.complete(&work, id, "work", json!({})).await.expect(200).data();
        assert_eq!((&done["run"]["version"], &done["run"]["state"]), (&json!(1), &json!("completed")));
        assert_eq!(admin.run(&work, json!({})).await["version"], 2);
        assert_eq!(admin.run(&work, json!({ "version": 1 })).await["version"], 1);

        let script = r#"<startEvent id="start"/><scriptTask id="compute"><script>1 + 1</script>
            </scriptTask><endEvent id="end"/>"#;
        let xml =
            models::process("p", "", &format!("{script}{}", models::flows(&["start", "compute", "end"])));
        let refused = admin.preview("script.bpmn", &xml).await;
        let refused = admin.create("script", refused).await;
        let answer = admin.post(&format!("/api/workflows/{refused}/publish"), json!({})).await.expect(400);
        assert!(answer.text().contains("compute"), "{}", answer.text());
        // The request is as it should be; the draft is what is refused.
        let error = answer.json()["error"].clone();
        let message = "The definition can't be published as it stands, for one reason; `details` names each with its \
                       element.";
        assert_eq!((&error["code"], &error["message"]), (&json!("INVALID_REQUEST_BODY"), &json!(message)));
        assert_eq!(error["details"][0]["code"], "unsupportedScript", "{error}");
        assert!(error["details"][0]["remedy"].as_str().is_some_and(|remedy| remedy.contains("scriptFormat")));
        app.stop().await;
    });
}

#[tokio::test]
async fn an_organisation_with_a_workflow_stays_and_says_what_it_is_used_by() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (organization, owner) = app.second_organization("second").await;
        let path = format!("/api/organizations/{organization}");
        let made = owner.post("/api/workflows", new("kept")).await.expect(201);
        let refused = owner.delete(&path).await.refused(409, "inUse")["details"][0].clone();
        assert_eq!(refused["usedBy"], json!([{ "type": "workflow", "count": 1 }]), "{refused}");
        assert_eq!(refused["message"], "It is used by 1 workflow.");
        let _ = owner.delete(&format!("/api/workflows/{}", made.id())).await.expect(204);
        let _ = owner.delete(&path).await.expect(204);
        app.stop().await;
    });
}

//! Case types: created, imported, drafted, validated, published, exported and deleted, on both databases.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use crate::samples::{self, CMMN, NOBODY};

/// A case with a milestone behind a human task.
fn claim() -> Value {
    json!({ "cases": [{ "id": "claim", "name": "Claim", "casePlanModel": { "id": "plan", "type": "casePlanModel",
        "items": [{ "id": "assessing", "definitionRef": "assess" }],
        "definitions": [{ "id": "assess", "type": "humanTask", "name": "Assess" }] } }] })
}

fn new(slug: &str) -> Value {
    json!({ "slug": slug, "displayName": slug, "description": "", "definition": claim() })
}

#[tokio::test]
async fn a_case_type_is_drafted_validated_published_and_versioned() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let made =
            admin.post("/api/case-types", json!({ "slug": "a", "displayName": "A", "description": "" }));
        let made = made.await.expect(201);
        let path = format!("/api/case-types/{}", made.id());
        assert_eq!(made.header("location"), path);
        assert_eq!((&made.data()["state"], &made.data()["revision"]), (&json!("draft"), &json!(1)));
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.refused(400, "required");

        // An item whose definition is nowhere: kept as a draft, told by its element, and never published.
        let mut broken = claim();
        broken["cases"][0]["casePlanModel"]["items"][0]["definitionRef"] = json!("nowhere");
        let saved =
            admin.put(&format!("{path}/draft"), json!({ "definition": broken })).await.expect(200).data();
        assert_eq!(saved["caseType"]["definition"], broken);
        let report = admin.post(&format!("{path}/validate"), json!({})).await.expect(200).data();
        assert_eq!((&report["valid"], &report["executable"]), (&json!(false), &json!(false)));
        let told = report["diagnostics"].as_array().unwrap();
        assert!(
            told.iter().any(|one| one["elementId"] == "assessing" && one["severity"] == "error"),
            "{report}"
        );
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.refused(400, "notExecutable");
        let fine = admin
            .post(&format!("{path}/validate"), json!({ "definition": claim() }))
            .await
            .expect(200)
            .data();
        assert_eq!((&fine["valid"], &fine["executable"]), (&json!(true), &json!(true)), "{fine}");
        let unknown = json!({ "definition": { "nodes": [] } });
        let _ = admin.put(&format!("{path}/draft"), unknown).await.expect(400);

        let saved = admin.put(&format!("{path}/draft"), json!({ "definition": claim() })).await.expect(200);
        let stale = json!({ "revision": 1 });
        let _ = admin.post(&format!("{path}/publish"), stale).await.refused(409, "revisionMismatch");
        let tag = saved.header("etag").to_owned();
        let seen = admin.with("if-match", &tag);
        let first =
            seen.post(&format!("{path}/publish"), json!({ "changeNote": "n" })).await.expect(200).data();
        assert_eq!(
            (&first["number"], &first["state"], &first["changeNote"]),
            (&json!(1), &json!("active"), &json!("n"))
        );
        let again = admin.post(&format!("{path}/publish"), json!({})).await.expect(200).data();
        assert_eq!(again["number"], 1, "the same text is the same version");
        let mut other = claim();
        other["cases"][0]["name"] = json!("Another");
        let _ = admin.put(&format!("{path}/draft"), json!({ "definition": other })).await.expect(200);
        let changed = admin.get(&path).await.expect(200).data();
        assert_eq!(changed["hasUnpublishedChanges"], true);
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.expect(200);
        let versions = admin.get(&format!("{path}/versions?limit=1")).await.expect(200).json();
        assert_eq!(
            (&versions["data"][0]["number"], versions["page"]["nextCursor"].is_null()),
            (&json!(2), false)
        );
        let old = admin.get(&format!("{path}?version=1")).await.expect(200).data();
        assert_eq!(old["definition"], claim());
        let _ = admin.get(&format!("{path}?version=3")).await.expect(404);

        let _ = admin.patch(&path, json!({ "archived": true })).await.expect(200);
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.refused(409, "archived");
        app.stop().await;
    });
}

#[tokio::test]
async fn users_and_groups_that_are_not_there_are_warned_of() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let mut body = new("named");
        body["definition"]["cases"][0]["casePlanModel"]["definitions"][0]["configuration"] =
            json!({ "assignee": "nobody@nowhere.example", "candidateGroups": "worker, nowhere" });
        let path = format!("/api/case-types/{}", admin.post("/api/case-types", body).await.expect(201).id());
        for operation in ["validate", "publish"] {
            let told = admin.post(&format!("{path}/{operation}"), json!({})).await.expect(200).data();
            let all = told["diagnostics"].as_array().unwrap().iter();
            let unknown = all.filter(|one| one["code"].as_str().unwrap().starts_with("unknown"));
            let unknown: Vec<_> = unknown.map(|one| (&one["code"], &one["elementId"])).collect();
            let expected = ["unknownUser", "unknownGroup"].map(|code| (json!(code), json!("assess")));
            let expected: Vec<_> = expected.iter().map(|(code, element)| (code, element)).collect();
            assert_eq!(unknown, expected, "{operation}: {told}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_file_becomes_a_case_type_and_comes_out_again() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let import = "/api/case-types/import/cmmn";
        let previewed =
            admin.post(&format!("{import}/preview"), json!({ "content": CMMN })).await.expect(200).data();
        assert_eq!((&previewed["slug"], &previewed["displayName"]), (&json!("claim"), &json!("Claim")));
        assert_eq!(previewed["executable"], true, "{previewed}");
        assert_eq!(
            admin.get("/api/case-types").await.expect(200).json()["data"],
            json!([]),
            "nothing is stored"
        );

        let made = admin.post(import, json!({ "content": CMMN })).await.expect(201);
        let (path, told) = (format!("/api/case-types/{}", made.id()), made.data());
        assert_eq!((&told["slug"], &told["definition"]), (&json!("claim"), &previewed["definition"]));
        let _ = admin.post(import, json!({ "content": CMMN })).await.refused(409, "notUnique");
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.expect(200);
        let written = admin.get(&format!("{path}/export/cmmn?version=published")).await.expect(200);
        assert!(written.header("content-disposition").contains("claim.cmmn"));
        let content = String::from_utf8(written.bytes.clone()).unwrap();
        let again =
            admin.post(&format!("{import}/preview"), json!({ "content": content })).await.expect(200).data();
        assert_eq!(again["definition"], previewed["definition"], "what was read is written");

        for broken in ["", "no xml", "<definitions>", "<a/>"] {
            let refused = admin.post(import, json!({ "content": broken })).await;
            let _ = refused.refused(400, "malformedSource");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn workflows_and_case_types_do_not_mix() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let case_type = admin.post("/api/case-types", new("same")).await.expect(201).id();
        let workflow = json!({ "slug": "same", "displayName": "W", "description": "" });
        let workflow = admin.post("/api/workflows", workflow).await.expect(201).id();
        let _ = admin.post("/api/case-types", new("same")).await.refused(409, "notUnique");
        for (path, own, other) in
            [("/api/case-types", &case_type, &workflow), ("/api/workflows", &workflow, &case_type)]
        {
            let listed = admin.get(path).await.expect(200).json()["data"].clone();
            let ids: Vec<_> =
                listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
            assert!(ids.contains(&own.as_str()) && !ids.contains(&other.as_str()), "{path}: {ids:?}");
        }
        for path in [format!("/api/workflows/{case_type}"), format!("/api/case-types/{workflow}")] {
            let _ = admin.get(&path).await.expect(404);
            let _ = admin.get(&format!("{path}/versions")).await.expect(404);
            let _ = admin.put(&format!("{path}/draft"), json!({ "definition": null })).await.expect(404);
            let _ = admin.post(&format!("{path}/publish"), json!({})).await.expect(404);
            let _ = admin.patch(&path, json!({ "displayName": "X" })).await.expect(404);
            let _ = admin.delete(&path).await.expect(404);
        }
        // The rights on one kind are none on the other.
        let _ = app.role("drawer", &["workflows.view", "workflows.manage"]).await;
        let (_, drawer) = app.user("drawer", &["drawer"]).await;
        let _ = drawer.get(&format!("/api/case-types/{case_type}")).await.expect(403);
        let _ = drawer.post("/api/case-types", new("mine")).await.expect(403);

        assert_eq!(admin.delete(&format!("/api/case-types/{case_type}")).await.status, 204);
        assert_eq!(
            admin.delete(&format!("/api/case-types/{case_type}")).await.status,
            204,
            "done once is done"
        );
        let _ = admin.get(&format!("/api/case-types/{case_type}")).await.expect(404);
        let _ = admin.get(&format!("/api/case-types/{NOBODY}")).await.expect(404);
        let made = samples::case_type(&admin, "same").await;
        let _ = admin.get(&format!("/api/case-types/{made}")).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn the_claims_about_cmmn_are_told() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let claims = app.admin.get("/api/case-types/cmmn/conformance").await.expect(200).data();
        let elements = claims["elements"].as_array().unwrap();
        let of = |name: &str| elements.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(of("humanTask")["executed"], true, "{claims}");
        assert!(of("planningTable")["alone"].as_str().is_some_and(|text| text.contains("Flowable")));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_case_type_with_open_cases_stays() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let id = samples::case_type(&admin, "open").await;
        let path = format!("/api/case-types/{id}");
        let _ = admin.post(&format!("{path}/publish"), json!({})).await.expect(200);
        let case = admin.post("/api/cases", json!({ "caseTypeId": id })).await.expect(201).id();
        let refused = admin.delete(&path).await.refused(409, "inUse");
        assert_eq!(refused["details"][0]["usedBy"], json!([{ "type": "case", "count": 1 }]), "{refused}");
        assert_eq!(admin.get(&path).await.expect(200).data()["caseCounts"]["active"], 1);
        for transition in ["terminate", "close"] {
            let _ = admin.post(&format!("/api/cases/{case}/{transition}"), json!({})).await.expect(200);
        }
        let _ = admin.delete(&path).await.expect(204);
        app.stop().await;
    });
}

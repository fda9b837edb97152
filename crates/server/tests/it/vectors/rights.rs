//! Rights: what is denied is as if it were not there, and no organisation meets another's.

use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::{DATABASES, at, files_of, found, ingested, made, one, over, text_file};

#[tokio::test]
async fn a_deny_on_one_document_takes_it_out_of_answers_and_lists() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "papers").await;
        let open = ingested(admin, "papers", text_file("open.txt", "An open loom.")).await.remove(0);
        let secret = ingested(admin, "papers", text_file("secret.txt", "A secret loom.")).await.remove(0);
        let (user, reader) = app.user("reader", &["librarian"]).await;
        let mut both = vec![open.clone(), secret.clone()];
        both.sort();
        assert_eq!(found(&reader, "papers", "loom").await, both);
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "document", "action": "*",
            "resourceId": secret, "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        assert_eq!(found(&reader, "papers", "loom").await, std::slice::from_ref(&open));
        // The cut comes behind the filter: the one passage that is asked for is one that may be seen.
        let first = super::asked(&reader, "papers", json!({ "query": "secret loom", "limit": 1 })).await;
        assert_eq!(first["passages"][0]["fileId"], json!(open));
        let listed = reader.get(&files_of("papers")).await.expect(200).data();
        assert_eq!(listed.as_array().unwrap().len(), 1);
        let path = format!("{}/{secret}", files_of("papers"));
        reader.delete(&path).await.refused(403, "denied");
        // A filter that names it, or all but others, reaches it no more than any other.
        for filter in
            [json!({ "field": "fileId", "eq": secret }), json!({ "not": { "field": "fileId", "eq": open } })]
        {
            let none = super::asked(&reader, "papers", json!({ "query": "loom", "filter": filter })).await;
            assert_eq!(none["passages"], json!([]), "{none}");
        }
        // Of the same content it is said that it is there, and not which file has it.
        let again = |text: &str| text_file("again.txt", text);
        let blind = reader.post(&files_of("papers"), again("A secret loom.")).await.refused(409, "notUnique");
        assert!(blind["details"][0].get("fileId").is_none(), "{blind}");
        let seen = reader.post(&files_of("papers"), again("An open loom.")).await.refused(409, "notUnique");
        assert_eq!(seen["details"][0]["fileId"], json!(open));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_document_that_is_denied_to_queries_is_listed_and_not_found() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "papers").await;
        let open = ingested(admin, "papers", text_file("open.txt", "An open loom.")).await.remove(0);
        let secret = ingested(admin, "papers", text_file("secret.txt", "A secret loom.")).await.remove(0);
        let (user, reader) = app.user("reader", &["librarian"]).await;
        let deny = |action: &str, id: &str| {
            json!({ "principal": { "kind": "user", "id": user }, "resourceType": "document", "action": action,
                "resourceId": id, "effect": "deny" })
        };
        let _ = admin.post("/api/grants", deny("query", &secret)).await.expect(201);
        assert_eq!(found(&reader, "papers", "loom").await, std::slice::from_ref(&open));
        let listed = reader.get(&files_of("papers")).await.expect(200).data();
        assert_eq!(listed.as_array().unwrap().len(), 2);
        // What no operation asks for on documents is no rule.
        let nothing = admin.post("/api/grants", deny("publish", &secret)).await.refused(400, "notAllowed");
        assert_eq!(nothing["details"][0]["field"], "action");
        let _ = admin.post("/api/grants", deny("list", &secret)).await.expect(201);
        let path = format!("{}/{secret}", files_of("papers"));
        let _ = reader.patch(&path, json!({})).await.expect(404);
        let _ = admin.patch(&path, json!({})).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_tells_no_failure_of_a_denied_document() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "papers").await;
        let mut jobs = Vec::new();
        for (name, blank) in [("secret.txt", "   \n\n  "), ("open.txt", "  \n  ")] {
            let upload = admin.post(&files_of("papers"), text_file(name, blank)).await.expect(202).data();
            let job = upload["job"]["id"].as_str().unwrap().to_owned();
            assert_eq!(over(admin, &job).await["error"]["code"], "noText");
            jobs.push((job, upload["files"][0]["id"].clone()));
        }
        let (user, reader) = app.user("reader", &["librarian"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "document", "action": "list",
            "resourceId": jobs[0].1, "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        let list = format!("{DATABASES}/ingestion-jobs");
        for ((job, _), is_told) in jobs.iter().zip([false, true]) {
            let shown = reader.get(&format!("{list}/{job}")).await.expect(200).data();
            assert_eq!((&shown["state"], &shown["files"]["failed"]), (&json!("failed"), &json!(1)));
            assert_eq!(!shown["error"].is_null(), is_told, "{shown}");
            let listed = reader.get(&list).await.expect(200).data();
            let listed = listed.as_array().unwrap().iter().find(|one| one["id"] == job.as_str()).unwrap();
            assert_eq!(listed["error"], shown["error"]);
            let servers = reader.get(&format!("{list}/{job}/servers")).await.expect(200).data();
            assert_eq!(servers[0]["currentFileId"], json!(null), "{servers}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deny_on_a_database_holds_for_all_that_is_in_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let held = one(admin, "held").await;
        let (user, reader) = app.user("reader", &["librarian"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "vector-database",
            "action": "*", "resourceId": "held", "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        reader
            .post(&format!("{}/query", at("held")), json!({ "query": "loom" }))
            .await
            .refused(403, "denied");
        reader.post(&files_of("held"), text_file("b.txt", "More.")).await.refused(403, "denied");
        let job = format!("{DATABASES}/ingestion-jobs/{}", held.job);
        reader.get(&job).await.refused(403, "denied");
        let file = format!("{}/{}", files_of("held"), held.file);
        reader.patch(&file, json!({ "enabled": false })).await.refused(403, "denied");
        let listed = reader.get(DATABASES).await.expect(200).data();
        assert!(listed.as_array().unwrap().iter().all(|one| one["name"] != "held"), "{listed}");
        let jobs = reader.get(&format!("{DATABASES}/ingestion-jobs")).await.expect(200).data();
        assert!(jobs.as_array().unwrap().iter().all(|one| one["vectorDatabase"] != "held"), "{jobs}");
        app.stop().await;
    });
}

#[tokio::test]
async fn two_organisations_with_the_same_names_and_files_never_meet() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, other) = app.second_organization("other").await;
        let ours = one(&app.admin, "shared").await;
        let theirs = one(&other, "shared").await;
        assert_ne!(ours.file, theirs.file);
        let extra =
            ingested(&other, "shared", text_file("only.txt", "A loom that only they have.")).await.remove(0);
        assert_eq!(found(&app.admin, "shared", "loom").await, std::slice::from_ref(&ours.file));
        let mut all = vec![theirs.file.clone(), extra];
        all.sort();
        assert_eq!(found(&other, "shared", "loom").await, all);
        let path = format!("{}/{}", files_of("shared"), theirs.file);
        let _ = app.admin.delete(&path).await.expect(404);
        let job = format!("{DATABASES}/ingestion-jobs/{}", theirs.job);
        let _ = app.admin.get(&job).await.expect(404);
        let _ = app.admin.delete(&at("shared")).await.expect(204);
        assert_eq!(found(&other, "shared", "loom").await, all);
        app.stop().await;
    });
}

//! Nodes of workflows that work with vector databases: done by the service itself, in the name of whoever started the run.

use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use super::{at, file, files_of, ingested, made, one, over, text, text_file};

/// Start, a service task `work` of a kind, end.
fn with_kind(configuration: Value) -> Value {
    json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s" },
            { "id": "work", "type": "serviceTask", "displayName": "work", "configuration": configuration },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [{ "id": "a", "source": "s", "target": "work" }, { "id": "b", "source": "work", "target": "e" }],
    })
}

/// Runs a workflow with one node of a kind to its end; its variables.
async fn done(client: &Client, slug: &str, configuration: Value, input: Value) -> Value {
    let workflow = client.publish(slug, with_kind(configuration)).await;
    let run = text(&client.run(&workflow, json!({ "input": input })).await["id"]);
    client.run_in(&workflow, &run, "completed").await;
    client.run_now(&workflow, &run).await["variables"].clone()
}

/// The reason of the incident that a run comes to.
async fn incident(client: &Client, workflow: &str) -> String {
    let run = text(&client.run(workflow, json!({})).await["id"]);
    eventually("an incident", async || {
        let events = client.events(workflow, &run).await;
        let raised = events.into_iter().find(|event| event["type"] == "incident.raised");
        raised.map(|event| event["data"].to_string())
    })
    .await
}

#[tokio::test]
async fn a_node_asks_a_database() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "manuals").await;
        let ids = ingested(admin, "manuals", text_file("filter.txt", "Wash the filter with water.")).await;
        let settings = json!({ "kind": "vector.query", "database": "manuals", "query": "= question",
            "resultVariable": "found" });
        let variables = done(admin, "asks", settings, json!({ "question": "wash filter" })).await;
        let best = &variables["found"]["passages"][0];
        assert_eq!(best["fileId"], json!(ids[0]), "{variables}");
        assert!(best["text"].as_str().unwrap().contains("with water"), "{best}");
        assert_eq!(variables["found"]["mode"], "keyword");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_node_puts_files_in_and_takes_them_out() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "notes").await;
        let put = |text: &str| {
            json!({ "kind": "vector.upsert", "database": "notes", "resultVariable": "put",
                "items": [{ "name": "a.txt", "text": text, "metadata": { "year": 2025 } }] })
        };
        let first = done(admin, "puts", put("A loom."), json!({})).await;
        assert_eq!((&first["put"]["added"], &first["put"]["replaced"]), (&json!(1), &json!(0)), "{first}");
        let again = done(admin, "puts-again", put("A loom."), json!({})).await;
        assert_eq!(again["put"]["unchanged"], json!(1), "{again}");
        let other = done(admin, "puts-other", put("A shuttle."), json!({})).await;
        assert_eq!(other["put"]["replaced"], json!(1), "{other}");
        // What an attempt left beside its own file is taken away by the next one.
        let _ = ingested(admin, "notes", text_file("a.txt", "A beam.")).await;
        let anew = done(admin, "puts-anew", put("A shuttle."), json!({})).await;
        assert_eq!(anew["put"]["unchanged"], json!(1), "{anew}");
        let left = admin.get(&format!("{}/files", at("notes"))).await.expect(200).data();
        assert_eq!(left.as_array().unwrap().len(), 1, "{left}");
        let id = text(&other["put"]["files"][0]["fileId"]);
        assert_eq!(file(admin, "notes", &id).await["metadata"]["year"], json!(2025));
        let delete =
            json!({ "kind": "vector.delete", "database": "notes", "names": "= [\"a.txt\", \"b.txt\"]" });
        let gone = done(admin, "deletes", delete, json!({})).await;
        assert_eq!((&gone["deleted"], &gone["absent"]), (&json!(1), &json!(1)), "{gone}");
        let left = admin.get(&format!("{}/files", at("notes"))).await.expect(200).data();
        assert_eq!(left, json!([]));
        app.stop().await;
    });
}

/// The reason of the incident that a run of one node of a kind comes to.
async fn refused(client: &Client, slug: &str, configuration: Value) -> String {
    let workflow = client.publish(slug, with_kind(configuration)).await;
    incident(client, &workflow).await
}

/// Settings of a node that puts items into the database `notes`.
fn put(items: Value) -> Value {
    json!({ "kind": "vector.upsert", "database": "notes", "resultVariable": "put", "items": items })
}

#[tokio::test]
async fn a_file_of_another_name_is_left_alone_and_nothing_is_lost_to_what_can_not_be_read() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "notes").await;
        let ids = ingested(admin, "notes", text_file("a.txt", "A loom.")).await;
        let one =
            |name: &str, text: &str| json!([{ "name": name, "text": text, "metadata": { "year": 2025 } }]);
        let told = refused(admin, "same-content", put(one("b.txt", "A loom."))).await;
        assert!(told.contains("notUnique") && told.contains(&ids[0]) && told.contains("items[0]"), "{told}");
        assert!(told.contains("`a.txt`"), "{told}");
        assert_eq!(file(admin, "notes", &ids[0]).await["metadata"], json!({}));
        // What comes in the place of a file is read first.
        let told = refused(admin, "empty", put(one("a.txt", "  "))).await;
        assert!(told.contains("noText"), "{told}");
        // All items are looked at before one is written.
        let two = json!([{ "name": "c.txt", "text": "A beam." }, { "name": "d.txt", "contentBase64": "?" }]);
        let told = refused(admin, "one-is-wrong", put(two)).await;
        assert!(told.contains("items[1]: contentBase64"), "{told}");
        let twice = json!([{ "name": "c.txt", "text": "A beam." }, { "name": "c.txt", "text": "A reed." }]);
        let told = refused(admin, "twice", put(twice)).await;
        assert!(told.contains("items[1].name"), "{told}");
        let nowhere = json!({ "kind": "vector.upsert", "database": "nowhere", "items": [] });
        let told = refused(admin, "none-nowhere", nowhere).await;
        assert!(told.contains("there is no vector database `nowhere`"), "{told}");
        let left = admin.get(&format!("{}/files", at("notes"))).await.expect(200).data();
        assert_eq!((left.as_array().unwrap().len(), &left[0]["id"]), (1, &json!(ids[0])), "{left}");
        let disabled = json!({ "enabled": false });
        let _ = admin.patch(&format!("{}/files/{}", at("notes"), ids[0]), disabled).await.expect(200);
        let same = done(admin, "same", put(one("a.txt", "A loom.")), json!({})).await;
        let outcome = &same["put"]["files"][0];
        assert_eq!((&outcome["outcome"], &outcome["enabled"]), (&json!("updated"), &json!(false)), "{same}");
        assert_eq!(outcome["state"], "ready", "{same}");
        app.stop().await;
    });
}

#[tokio::test]
async fn all_that_items_need_may_be_done_before_one_is_and_what_failed_is_read_anew() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "notes").await;
        let ids = ingested(admin, "notes", text_file("a.txt", "A loom.")).await;
        let sent = admin.post(&files_of("notes"), text_file("blank.txt", "  ")).await.expect(202).data();
        let blank = text(&sent["files"][0]["id"]);
        assert_eq!(over(admin, sent["job"]["id"].as_str().unwrap()).await["state"], "failed");
        let (user, starter) = app.user("starter", &["administrator"]).await;
        for (action, id) in [("delete", &ids[0]), ("update", &blank)] {
            let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "document",
                "action": action, "resourceId": id, "effect": "deny" });
            let _ = admin.post("/api/grants", deny).await.expect(201);
        }
        // The first item could be done; the second takes the place of a file, or has one read anew.
        for (slug, name, content) in [("replaces", "a.txt", "A shuttle."), ("reads-anew", "blank.txt", "  ")]
        {
            let items = json!([{ "name": "b.txt", "text": "A beam." }, { "name": name, "text": content }]);
            let workflow = admin.publish(slug, with_kind(put(items))).await;
            let told = incident(&starter, &workflow).await;
            assert!(told.contains("items[1]: ") && told.contains("may not do this"), "{slug}: {told}");
        }
        let left = admin.get(&files_of("notes")).await.expect(200).data();
        let mut names: Vec<String> = left.as_array().unwrap().iter().map(|one| text(&one["name"])).collect();
        names.sort();
        assert_eq!(names, ["a.txt", "blank.txt"]);
        let again = put(json!([{ "name": "blank.txt", "text": "  " }]));
        let anew = done(admin, "anew", again, json!({})).await;
        let outcome = &anew["put"]["files"][0];
        assert_eq!((&outcome["outcome"], &outcome["state"]), (&json!("updated"), &json!("queued")), "{anew}");
        assert_eq!(outcome["fileId"], json!(blank));
        app.stop().await;
    });
}

#[tokio::test]
async fn what_was_to_narrow_a_query_and_is_null_leaves_it_undone() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "dated").await;
        for year in [2023, 2024] {
            let sent = json!({ "files": [{ "name": format!("{year}.txt"), "text": format!("The loom of {year}."),
                "metadata": { "year": year } }] });
            let _ = ingested(admin, "dated", sent).await;
        }
        let ask = |more: Value| {
            let mut asked = json!({ "kind": "vector.query", "database": "dated", "query": "loom",
                "resultVariable": "found" });
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            asked
        };
        for (slug, more, member) in [
            ("filter", json!({ "filter": "= missing" }), "filter: "),
            ("score", json!({ "minScore": "= missing" }), "minScore: "),
            ("nested", json!({ "filter": { "field": "metadata.year", "eq": "= missing" } }), "filter.eq"),
            ("file", json!({ "filter": { "field": "fileId", "eq": "2024.txt" } }), "filter.eq"),
            (
                "rerank",
                json!({ "rerank": { "deployment": "d", "candidates": "= missing" } }),
                "rerank.candidates: ",
            ),
        ] {
            let told = refused(admin, &format!("null-{slug}"), ask(more)).await;
            assert!(told.contains(member), "{slug}: {told}");
        }
        let nested = ask(json!({ "filter": { "field": "metadata.year", "eq": "= year" } }));
        let found = done(admin, "nested", nested, json!({ "year": 2024 })).await;
        let passages = found["found"]["passages"].as_array().unwrap();
        assert_eq!(passages.len(), 1, "{found}");
        assert_eq!(passages[0]["fileName"], "2024.txt");
        let fused = ask(json!({ "fusion": { "method": "rrf", "k": 10 } }));
        let told = refused(admin, "fusion", fused).await;
        assert!(told.contains("hybrid"), "it acts on hybrid queries alone, as over HTTP: {told}");
        let cut = json!({ "kind": "document.chunk", "text": "A loom." });
        for (slug, member, value) in
            [("model", "embeddingModelId", "none-such"), ("methodology", "methodologyId", "none-such")]
        {
            let mut cut = cut.clone();
            cut[member] = json!(value);
            let told = refused(admin, &format!("unknown-{slug}"), cut).await;
            assert!(told.contains(&format!("{member}: ")), "{told}");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn text_is_taken_out_of_a_file_and_cut() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let extract = json!({ "kind": "document.extract", "name": "m.md", "text": "# Loom\n\nIt weaves." });
        let found = done(admin, "extracts", extract, json!({})).await;
        assert!(found["text"].as_str().unwrap().contains("It weaves."), "{found}");
        assert_eq!((&found["headings"][0]["text"], &found["warnings"]), (&json!("Loom"), &json!([])));
        let cut = json!({ "kind": "document.chunk", "methodologyId": "markdown",
            "text": "# Loom\n\nIt weaves.\n\n# Oil\n\nChange it." });
        let found = done(admin, "cuts", cut, json!({})).await;
        assert_eq!(found["chunks"].as_array().unwrap().len(), 2, "{found}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_node_has_the_rights_of_whoever_started_the_run() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let _ = one(admin, "secret").await;
        let settings = json!({ "kind": "vector.query", "database": "secret", "query": "loom" });
        let workflow = admin.publish("asks-secret", with_kind(settings)).await;
        let (user, starter) = app.user("starter", &["administrator"]).await;
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "vector-database",
            "action": "*", "resourceId": "secret", "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        let reason = incident(&starter, &workflow).await;
        assert!(reason.contains("may not do this"), "{reason}");
        for (slug, more) in [
            ("query", json!({ "query": "loom" })),
            ("upsert", json!({ "items": [{ "name": "a.txt", "text": "A loom." }] })),
            ("delete", json!({ "names": ["a.txt"] })),
            ("delete", json!({ "fileIds": ["0198f1a0-0000-7000-8000-000000000001"] })),
        ] {
            let named = more.as_object().unwrap().keys().next().unwrap().to_lowercase();
            let mut nowhere = json!({ "kind": format!("vector.{slug}"), "database": "nowhere" });
            nowhere.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let nowhere = admin.publish(&format!("nowhere-{slug}-{named}"), with_kind(nowhere)).await;
            let reason = incident(admin, &nowhere).await;
            assert!(reason.contains("database: there is no vector database `nowhere`"), "{slug}: {reason}");
        }
        // In the name of one who may, the same version is done.
        let run = text(&admin.run(&workflow, json!({})).await["id"]);
        admin.run_in(&workflow, &run, "completed").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn what_cannot_work_is_refused_when_it_is_published_and_what_is_named_stays() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        for (slug, wrong) in [
            ("no-query", json!({ "kind": "vector.query", "database": "manuals" })),
            ("no-member", json!({ "kind": "vector.query", "database": "m", "query": "q", "topK": 3 })),
            ("no-kind", json!({ "kind": "vector.paint", "database": "manuals" })),
            ("of-others", json!({ "jobType": "heddle:vector.query" })),
        ] {
            let id = admin.create(slug, with_kind(wrong)).await;
            let answer = admin.post(&format!("/api/workflows/{id}/publish"), json!({})).await;
            assert!(answer.status >= 400, "{slug} is published");
        }
        made(admin, "named").await;
        let settings = json!({ "kind": "vector.query", "database": "named", "query": "q" });
        let workflow = admin.publish("names-one", with_kind(settings)).await;
        let refused = admin.delete(&at("named")).await;
        let named = json!([{ "type": "workflow", "id": workflow, "name": "names-one" }]);
        assert_eq!(refused.refused(409, "inUse")["details"][0]["usedBy"], named);
        // Whoever may not read the workflow is told neither its id nor its name.
        let (_, clerk) = app.user("clerk", &["librarian"]).await;
        let blind = clerk.delete(&at("named")).await.refused(409, "inUse");
        assert_eq!(blind["details"][0]["usedBy"], json!([{ "type": "workflow", "count": 1 }]), "{blind}");
        let (user, reader) = app.user("reader", &["librarian", "viewer"]).await;
        let seeing = reader.delete(&at("named")).await.refused(409, "inUse");
        assert_eq!(seeing["details"][0]["usedBy"], named, "{seeing}");
        let deny = json!({ "principal": { "kind": "user", "id": user }, "resourceType": "workflow",
            "action": "read", "resourceId": workflow, "effect": "deny" });
        let _ = admin.post("/api/grants", deny).await.expect(201);
        let denied = reader.delete(&at("named")).await.refused(409, "inUse");
        assert_eq!(denied["details"][0]["usedBy"], json!([{ "type": "workflow", "count": 1 }]), "{denied}");
        // What only an expression names is not known before it works.
        made(admin, "chosen").await;
        let settings = json!({ "kind": "vector.query", "database": "= which", "query": "q" });
        let _ = admin.publish("names-by-expression", with_kind(settings)).await;
        let _ = admin.delete(&at("chosen")).await.expect(204);
        let take = json!({ "types": ["heddle:vector.query"], "worker": "w", "lockMs": 1000 });
        admin.post("/api/jobs/activate", take).await.refused(400, "notAllowed");
        app.stop().await;
    });
}

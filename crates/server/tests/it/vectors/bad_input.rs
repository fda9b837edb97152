//! Bad input: each ends with a clear error, and nothing of it stays.

use heddle_testkit::{Answer, Client, TestApp, with_both};
use serde_json::{Value, json};

use super::{Part, at, file, files_of, form, made, over, text_file};

/// Files under a directory.
fn kept(folder: &std::path::Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().map(|entry| if entry.path().is_dir() { kept(&entry.path()) } else { 1 }).sum()
}

#[tokio::test]
async fn an_upload_that_is_refused_leaves_nothing_behind() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.vectors.bounds.file_bytes = 1000).await;
        let admin = &app.admin;
        made(admin, "bad").await;
        let path = files_of("bad");
        let folder = app.data_dir().join("vectors").join("files");
        let before = kept(&folder);
        let long = vec![b'x'; 1001];
        form(admin, &path, &[Part("file", Some("a.txt"), None, &long)]).await.refused(413, "tooLarge");
        let _ = form(admin, &path, &[Part("file", Some("../a.txt"), None, b"A loom.")]).await.expect(400);
        let _ = form(admin, &path, &[Part("file", None, None, b"A loom.")]).await.expect(400);
        let _ = form(admin, &path, &[Part("other", None, None, b"A loom.")]).await.expect(400);
        let _ = form(admin, &path, &[]).await.expect(400);
        let lies = [Part("file", Some("a.pdf"), Some("text/csv"), b"A loom.")];
        form(admin, &path, &lies).await.refused(400, "unsupportedType");
        let unread = [Part("file", Some("a.exe"), None, b"A loom.")];
        let unread = form(admin, &path, &unread).await.refused(400, "unsupportedType");
        assert_eq!(unread["details"][0]["field"], "files[0].name");
        let of_another =
            [Part("file", Some("a.txt"), None, b"A loom."), Part("metadata", None, None, b"{\"b.txt\": {}}")];
        let of_another = form(admin, &path, &of_another).await.refused(400, "unknownField");
        assert_eq!(of_another["details"][0]["field"], "metadata.b.txt");
        let twice = [Part("file", Some("a.txt"), None, b"same"), Part("file", Some("b.txt"), None, b"same")];
        form(admin, &path, &twice).await.refused(409, "notUnique");
        let no_form = admin.request("POST", &path).body("multipart/form-data", b"--x".to_vec()).send().await;
        let _ = no_form.expect(400);
        let broken =
            admin.request("POST", &path).body("multipart/form-data; boundary=b", b"--b\r\nx".to_vec());
        let _ = broken.send().await.expect(400);
        let _ = admin.post(&files_of("absent"), text_file("a.txt", "A loom.")).await.expect(404);
        for wrong in
            [json!({}), json!({ "text": "a", "contentBase64": "YQ==" }), json!({ "contentBase64": "?" })]
        {
            let mut sent = json!({ "name": "a.txt" });
            sent.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
            let _ = admin.post(&path, json!({ "files": [sent] })).await.expect(400);
        }
        let bad = json!({ "files": [{ "name": "a.txt" }, { "name": "b.txt", "contentBase64": "?" }] });
        let told = admin.post(&path, bad).await.refused(400, "malformed");
        let fields: Vec<&Value> =
            told["details"].as_array().unwrap().iter().map(|one| &one["field"]).collect();
        assert_eq!(fields, ["files[0]", "files[1].contentBase64"]);
        assert_eq!(kept(&folder), before, "nothing stays of what was refused");
        assert!(admin.get(&path).await.expect(200).data().as_array().unwrap().is_empty());
        app.stop().await;
    });
}

/// A form whose file is there in whole, and that breaks off behind it: what is refused for it was read to there.
async fn broken_off(client: &Client, path: &str, content: &str) -> Answer {
    let part = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
    let bytes = format!("{part}{content}").into_bytes();
    client.request("POST", path).body("multipart/form-data; boundary=b", bytes).send().await
}

#[tokio::test]
async fn what_there_is_no_room_for_is_refused_before_it_is_stored() {
    with_both!(|db| {
        // Nothing is read: what is uploaded waits.
        let mut app = TestApp::with(db, |config| {
            config.background = false;
            config.vectors.quotas.bytes = Some(100);
            config.vectors.quotas.waiting = Some(2);
        })
        .await;
        let admin = &app.admin;
        made(admin, "room").await;
        let path = files_of("room");
        let _ = broken_off(admin, &files_of("absent"), "A loom.").await.expect(404);
        let _ = broken_off(admin, &path, "A loom.").await.expect(400);
        let large = [Part("file", Some("x.txt"), None, &[b'x'; 101])];
        form(admin, &path, &large).await.refused(409, "quotaExceeded");
        let twice =
            [Part("file", Some("a.txt"), None, &[b'a'; 60]), Part("file", Some("b.txt"), None, &[b'b'; 41])];
        let refused = form(admin, &path, &twice).await.refused(409, "quotaExceeded");
        assert_eq!(refused["details"][0]["limit"], "storedBytes", "{refused}");
        let folder = app.data_dir().join("vectors").join("files");
        assert_eq!(kept(&folder), 0);
        // The repeat of an upload that took the last of the room is that upload, and is not kept.
        let keyed = admin.with("idempotency-key", "upload-1");
        let all = [Part("file", Some("a.txt"), None, &[b'a'; 100])];
        let first = form(&keyed, &path, &all).await.expect(202).data();
        let again = form(&keyed, &path, &all).await.expect(202);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data()["files"][0]["id"], first["files"][0]["id"]);
        let other = [Part("file", Some("a.txt"), None, &[b'c'; 100])];
        form(&keyed, &path, &other).await.refused(409, "idempotencyKeyReused");
        assert_eq!(kept(&folder), 1);
        broken_off(admin, &path, "").await.refused(409, "quotaExceeded");
        let json = admin.post(&path, text_file("b.txt", "b")).await.refused(409, "quotaExceeded");
        assert_eq!(json["details"][0]["used"], 100, "{json}");
        app.stop().await;
    });
}

#[tokio::test]
async fn an_upload_into_a_full_queue_is_refused_before_it_is_stored() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| {
            config.background = false;
            config.vectors.quotas.waiting = Some(1);
        })
        .await;
        let admin = &app.admin;
        made(admin, "queue").await;
        let path = files_of("queue");
        let folder = app.data_dir().join("vectors").join("files");
        let twice = [Part("file", Some("a.txt"), None, b"A loom."), Part("file", Some("b.txt"), None, b"B")];
        let _ = form(admin, &path, &twice).await.expect(503);
        assert_eq!(kept(&folder), 0, "nor does the first of two stay");
        let _ = admin.post(&path, text_file("a.txt", "A loom.")).await.expect(202);
        let _ = broken_off(admin, &path, "Another loom.").await.expect(503);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_file_that_can_not_be_read_says_why() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "faults").await;
        let cases: [(&str, &[u8], &str); 3] = [
            ("blank.txt", b"   \n\n  ", "noText"),
            ("cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "parseFailed"),
            ("lie.pdf", b"This is a text, and no PDF at all.", "unsupportedType"),
        ];
        for (name, content, code) in cases {
            let upload = form(admin, &files_of("faults"), &[Part("file", Some(name), None, content)]).await;
            let upload = upload.expect(202).data();
            let job = over(admin, upload["job"]["id"].as_str().unwrap()).await;
            assert_eq!(job["state"], "failed", "{job}");
            let file = file(admin, "faults", upload["files"][0]["id"].as_str().unwrap()).await;
            let told = file["error"]["code"].as_str().unwrap();
            // A PDF without its end may be read as one without a text.
            let alike = code == "parseFailed" && told == "noText";
            assert!(file["state"] == "failed" && (told == code || alike), "{name}: {file}");
            assert_eq!(file["error"]["retryable"], json!(false));
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_query_is_bounded_and_is_a_text() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let _ = super::one(admin, "bounds").await;
        let path = format!("{}/query", at("bounds"));
        let wrong: [(Value, &str); 10] = [
            (json!({ "query": "x".repeat(100_000) }), "query"),
            (json!({ "query": "" }), "query"),
            (json!({ "query": "a", "limit": 101 }), "limit"),
            (json!({ "query": "a", "includeNeighbours": 4 }), "includeNeighbours"),
            (json!({ "query": "a", "fusion": { "method": "minMax", "alpha": 1.5 } }), "fusion.alpha"),
            (json!({ "query": "a", "unknown": 1 }), "unknown"),
            (json!({ "query": "a", "fusion": { "method": "rrf", "alpha": 0.5 } }), "fusion.alpha"),
            (json!({ "query": "a", "fusion": { "method": "minMax", "k": 60 } }), "fusion.k"),
            (json!({ "query": "a", "fusion": { "method": "rrf" } }), "fusion"),
            (json!({ "query": "a", "diversity": { "mmrLambda": 0.5 } }), "diversity"),
        ];
        for (body, field) in wrong {
            let answer = admin.post(&path, body).await.expect(400);
            assert!(answer.fields().iter().any(|one| one == field), "{field}: {}", answer.text());
        }
        let nan = admin
            .request("POST", &path)
            .body("application/json", br#"{"query": "a", "minScore": NaN}"#.to_vec());
        let _ = nan.send().await.expect(400);
        for words in ["loom AND", "\"loom", "text:(loom", "*", "loom~9^", "OR OR", "../..", "\u{202e}loom"] {
            let _ = admin.post(&path, json!({ "query": words })).await.expect(200);
        }
        app.stop().await;
    });
}

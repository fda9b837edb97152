//! Files: how they come, change and go.

use heddle_testkit::{TestApp, with_both};
use serde_json::{Value, json};

use super::{Part, at, file, files_of, form, found, ingested, made, over, text, text_file};

#[tokio::test]
async fn each_type_of_text_comes_in_as_a_part_and_is_found() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "types").await;
        let metadata = br#"{"a.md": {"year": 2023}, "a.csv": {"year": 2024}}"#;
        let parts = [
            Part("file", Some("a.txt"), Some("text/plain"), b"A plain sentence about looms."),
            Part("file", Some("a.md"), Some("text/markdown"), b"# Looms\n\nA marked sentence about looms."),
            Part(
                "file",
                Some("a.html"),
                Some("text/html"),
                b"<html><body><h1>Looms</h1><p>A tagged sentence about looms.</p></body></html>",
            ),
            Part("file", Some("a.csv"), Some("text/csv"), b"name,made\nlooms,wood\nshuttles,horn\n"),
            Part(
                "file",
                Some("a.json"),
                Some("application/json"),
                br#"[{"about": "looms", "made": "wood"}]"#,
            ),
            Part("metadata", None, Some("application/json"), metadata),
        ];
        let answer = form(admin, &files_of("types"), &parts).await.expect(202);
        let location = answer.header("location");
        let upload = answer.data();
        assert_eq!(location, format!("/api/vector-databases/ingestion-jobs/{}", text(&upload["job"]["id"])));
        let job = over(admin, upload["job"]["id"].as_str().unwrap()).await;
        assert_eq!((&job["state"], &job["files"]["ready"]), (&json!("completed"), &json!(5)), "{job}");
        assert_eq!((&job["progress"], &job["passages"]["done"]), (&json!(1.0), &job["passages"]["total"]));
        assert_eq!(found(admin, "types", "looms").await.len(), 5);
        let marked = file(admin, "types", upload["files"][1]["id"].as_str().unwrap()).await;
        assert_eq!((&marked["state"], &marked["metadata"]), (&json!("ready"), &json!({ "year": 2023 })));
        let counts = admin.get("/api/vector-databases?q=types").await.expect(200).data()[0]["counts"].clone();
        assert_eq!(
            (&counts["files"], &counts["readyFiles"], &counts["failedFiles"]),
            (&json!(5), &json!(5), &json!(0))
        );
        let unknown = admin.get(&format!("{}?metadata.nope=1", files_of("types"))).await.expect(400);
        assert_eq!(unknown.fields(), ["metadata.nope"]);
        let of_2024 =
            admin.get(&format!("{}?metadata.year=2024", files_of("types"))).await.expect(200).data();
        let names: Vec<_> = of_2024.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
        assert_eq!(names, ["a.csv"]);
        let servers = format!("/api/vector-databases/ingestion-jobs/{}/servers", text(&upload["job"]["id"]));
        let servers = admin.get(&servers).await.expect(200).data();
        assert_eq!(servers.as_array().unwrap().len(), 1, "{servers}");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_left_out_of_a_file_is_told_with_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "mails").await;
        let mail = b"From: a@example.org\r\nSubject: About looms\r\nMIME-Version: 1.0\r\n\
            Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nA loom.\r\n--x\r\n\
            Content-Type: video/mp4\r\nContent-Disposition: attachment; filename=v.mp4\r\n\
            Content-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--x--\r\n";
        let upload = form(admin, &files_of("mails"), &[Part("file", Some("a.eml"), None, mail)]).await;
        let upload = upload.expect(202).data();
        assert_eq!(upload["files"][0]["warnings"], json!([]));
        let job = over(admin, upload["job"]["id"].as_str().unwrap()).await;
        assert_eq!(job["state"], "completed", "{job}");
        let read = file(admin, "mails", upload["files"][0]["id"].as_str().unwrap()).await;
        assert_eq!(read["state"], "ready");
        let warnings = read["warnings"].as_array().unwrap();
        assert!(warnings.len() == 1 && warnings[0].as_str().unwrap().contains("v.mp4"), "{read}");
        // It is listed by the title that it says itself.
        let listed = admin.get(&format!("{}?q=about+looms", files_of("mails"))).await.expect(200).data();
        assert_eq!(listed[0]["id"], upload["files"][0]["id"], "{listed}");
        app.stop().await;
    });
}

#[tokio::test]
async fn the_longest_texts_of_metadata_are_taken_and_filtered_by() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "texts").await;
        let letter =
            |n: u32| char::from_u32(0x4E00 + n.wrapping_mul(2_654_435_761).rotate_left(n % 31) % 20_000);
        let text: String = (1..=1_000).filter_map(letter).collect();
        let sent = json!({ "files": [{ "name": "a.txt", "text": "A loom.", "metadata": { "kind": text } }] });
        let id = ingested(admin, "texts", sent).await.remove(0);
        let end: String = text.chars().skip(900).collect();
        for (filter, expected) in [
            (json!({ "field": "metadata.kind", "eq": text }), 1),
            (json!({ "field": "metadata.kind", "contains": end }), 1),
            (json!({ "field": "metadata.kind", "eq": end }), 0),
        ] {
            let answer = super::asked(admin, "texts", json!({ "query": "loom", "filter": filter })).await;
            assert_eq!(answer["passages"].as_array().unwrap().len(), expected, "{filter}");
        }
        let other = json!({ "metadata": { "kind": end } });
        let _ = admin.patch(&format!("{}/{id}", files_of("texts")), other).await.expect(200);
        let gone = json!({ "query": "loom", "filter": { "field": "metadata.kind", "eq": text } });
        assert_eq!(super::asked(admin, "texts", gone).await["passages"], json!([]));
        app.stop().await;
    });
}

#[tokio::test]
async fn the_same_content_is_one_file_and_a_repeat_under_a_key_is_the_same_upload() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        made(&app.admin, "same").await;
        let admin = app.admin.with("idempotency-key", "upload-1");
        let path = files_of("same");
        let parts = [Part("file", Some("a.txt"), None, b"A loom.")];
        let first = form(&admin, &path, &parts).await.expect(202).data();
        let again = form(&admin, &path, &parts).await.expect(202);
        assert_eq!(again.header("idempotent-replayed"), "true");
        assert_eq!(again.data()["files"][0]["id"], first["files"][0]["id"]);
        let other = [Part("file", Some("a.txt"), None, b"Another loom.")];
        form(&admin, &path, &other).await.refused(409, "idempotencyKeyReused");
        let _ = over(&app.admin, first["job"]["id"].as_str().unwrap()).await;
        let copy = app.admin.post(&path, text_file("b.txt", "A loom.")).await.refused(409, "notUnique");
        assert_eq!(copy["details"][0]["fileId"], first["files"][0]["id"]);
        let kept = app.admin.get(&path).await.expect(200).data();
        assert_eq!(kept.as_array().unwrap().len(), 1);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_long_file_is_found_from_its_first_passage_to_its_last() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let body = json!({ "name": "long", "embeddingModelId": null, "methodologyId": "table-rows",
            "methodologyOptions": { "rows": 1 } });
        let _ = admin.post(super::DATABASES, body).await.expect(201);
        // The index is there before the long file comes, which is given to it in parts.
        let _ = ingested(admin, "long", text_file("first.csv", "name\nloom\n")).await;
        assert_eq!(found(admin, "long", "loom").await.len(), 1);
        let rows: String = (0..5_000).map(|row| format!("row{row}\n")).collect();
        let long = ingested(admin, "long", text_file("long.csv", &format!("name\n{rows}"))).await.remove(0);
        assert_eq!(file(admin, "long", &long).await["passages"], 5_000);
        for row in [0, 1, 2_046, 2_047, 2_048, 2_049, 4_095, 4_096, 4_999] {
            assert_eq!(found(admin, "long", &format!("row{row}")).await, [long.as_str()], "row {row}");
        }
        let path = format!("{}/{long}", files_of("long"));
        for is_on in [false, true] {
            let _ = admin.patch(&path, json!({ "enabled": is_on })).await.expect(200);
            for row in [0, 4_999] {
                let files = found(admin, "long", &format!("row{row}")).await;
                assert_eq!(files.len(), usize::from(is_on), "row {row}");
            }
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn a_change_of_a_file_acts_from_the_next_query_on() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "changes").await;
        let id = ingested(admin, "changes", text_file("a.txt", "A loom of oak.")).await.remove(0);
        let path = format!("{}/{id}", files_of("changes"));
        let off = admin.patch(&path, json!({ "enabled": false })).await.expect(200).data();
        assert_eq!((&off["enabled"], &off["revision"]), (&json!(false), &json!(2)));
        assert!(found(admin, "changes", "loom").await.is_empty());
        let _ =
            admin.patch(&path, json!({ "enabled": true, "metadata": { "year": 1801 } })).await.expect(200);
        assert_eq!(found(admin, "changes", "loom").await, std::slice::from_ref(&id));
        let filter = json!({ "query": "loom", "filter": { "field": "metadata.year", "lt": 1900 } });
        let matches = async || {
            super::asked(admin, "changes", filter.clone()).await["passages"].as_array().unwrap().len()
        };
        assert_eq!(matches().await, 1);
        // What a filter found before is not what it finds now, nor is it once the file has it again.
        for (year, expected) in [(1901, 0), (1801, 1)] {
            let _ = admin.patch(&path, json!({ "metadata": { "year": year } })).await.expect(200);
            assert_eq!(matches().await, expected, "{year}");
        }
        admin.patch(&path, json!({ "title": "T", "revision": 1 })).await.refused(409, "revisionMismatch");
        let anew = admin.patch(&path, json!({ "reprocess": true })).await.expect(200).data();
        let job = over(admin, anew["jobId"].as_str().unwrap()).await;
        assert_eq!((&job["kind"], &job["state"]), (&json!("reprocess"), &json!("completed")));
        let options = json!({ "methodologyOptions": { "noSuch": 1 } });
        let _ = admin.patch(&path, options).await.expect(400);
        let kept_back = json!({ "methodologyOptions": { "maxTokens": 40 }, "reprocess": false });
        admin.patch(&path, kept_back).await.refused(400, "contradiction");
        // Options of its own, and those of the database once more.
        for (options, is_shown) in [(json!({ "maxTokens": 40 }), true), (json!(null), false)] {
            let anew = admin.patch(&path, json!({ "methodologyOptions": options })).await.expect(200).data();
            assert_eq!(anew["methodologyOptions"]["maxTokens"] == 40, is_shown, "{anew}");
            assert_eq!(anew["state"], "queued");
            let job = over(admin, anew["jobId"].as_str().unwrap()).await;
            assert_eq!(job["state"], "completed");
        }
        let none = admin.patch(&path, json!({ "methodologyOptions": null })).await.expect(200).data();
        assert_eq!((&none["state"], &none["methodologyOptions"]), (&json!("ready"), &json!(null)));
        assert_eq!(found(admin, "changes", "loom").await, [id]);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_deleted_file_is_never_found_and_its_deletion_may_be_repeated() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "deletes").await;
        let id = ingested(admin, "deletes", text_file("a.txt", "A loom of ash.")).await.remove(0);
        let path = format!("{}/{id}", files_of("deletes"));
        assert_eq!(found(admin, "deletes", "loom").await, std::slice::from_ref(&id));
        admin.with("if-match", "\"9\"").delete(&path).await.refused(409, "revisionMismatch");
        let _ = admin.delete(&path).await.expect(204);
        assert!(found(admin, "deletes", "loom").await.is_empty());
        let _ = admin.delete(&path).await.expect(204);
        let nobody = format!("{}/{}", files_of("deletes"), crate::samples::NOBODY);
        let _ = admin.delete(&nobody).await.expect(404);
        let events = admin.get("/api/audit-events?action=document.deleted").await.expect(200).data();
        let ids: Vec<&Value> = events.as_array().unwrap().iter().map(|event| &event["resourceId"]).collect();
        assert!(ids.contains(&&json!(id)), "{events}");
        // The same content may come again.
        let again = ingested(admin, "deletes", text_file("a.txt", "A loom of ash.")).await.remove(0);
        assert_ne!(again, id);
        // It was a file of this database, of no other one, and is known when that has gone.
        made(admin, "beside").await;
        let elsewhere = format!("{}/{id}", files_of("beside"));
        let _ = admin.delete(&elsewhere).await.expect(404);
        let _ = admin.delete(&at("deletes")).await.expect(204);
        let _ = admin.delete(&at("deletes")).await.expect(204);
        let _ = admin.delete(&path).await.expect(204);
        let _ = admin.delete(&nobody).await.expect(404);
        let _ = admin.get(&files_of("deletes")).await.expect(404);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_that_is_cancelled_stays_so() {
    with_both!(|db| {
        // Nothing is read: what is uploaded waits.
        let mut app = TestApp::with(db, |config| config.background = false).await;
        let admin = &app.admin;
        made(admin, "cancels").await;
        let upload = admin.post(&files_of("cancels"), text_file("a.txt", "A loom.")).await.expect(202).data();
        let path = format!("/api/vector-databases/ingestion-jobs/{}", text(&upload["job"]["id"]));
        assert_eq!(admin.get(&path).await.expect(200).data()["state"], "queued");
        let _ = admin.delete(&path).await.expect(204);
        let _ = admin.delete(&path).await.expect(204);
        let id = upload["files"][0]["id"].as_str().unwrap();
        assert_eq!(file(admin, "cancels", id).await["state"], "cancelled");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_job_that_is_over_is_not_cancelled() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let done = super::one(&app.admin, "done").await;
        let path = format!("/api/vector-databases/ingestion-jobs/{}", done.job);
        app.admin.delete(&path).await.refused(409, "alreadyFinished");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_file_is_read_by_what_a_client_declares_of_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        made(admin, "declared").await;
        // "Ткацкий станок" in KOI8-R: by their look some letters could be another charset's.
        let cyrillic = [0xF4, 0xCB, 0xC1, 0xC3, 0xCB, 0xC9, 0xCA, 0x20, 0xD3, 0xD4, 0xC1, 0xCE, 0xCF, 0xCB];
        let mail = b"From: a@example.org\r\nSubject: Heddles\r\n\r\nA letter about heddles.\r\n";
        let parts = [
            Part("file", Some("a.txt"), Some("text/plain; charset=KOI8-R"), &cyrillic),
            Part("file", Some("a.csv"), Some("application/vnd.ms-excel"), b"name,made\nreeds,steel\n"),
            Part("file", Some("a.eml"), Some("text/plain"), mail),
            Part("file", Some("a.jsonl"), Some("application/json"), b"{\"about\": \"treadles\"}\n"),
            Part("file", Some("NOTES"), Some("text/markdown"), b"# Beams\n\nOf oak."),
        ];
        let upload = form(admin, &files_of("declared"), &parts).await.expect(202).data();
        let job = over(admin, upload["job"]["id"].as_str().unwrap()).await;
        assert_eq!((&job["state"], &job["files"]["ready"]), (&json!("completed"), &json!(5)), "{job}");
        for (at, word) in [(0, "станок"), (1, "reeds"), (2, "heddles"), (3, "treadles"), (4, "oak")] {
            assert_eq!(found(admin, "declared", word).await, [text(&upload["files"][at]["id"])], "{word}");
        }
        let types: Vec<&str> = upload["files"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["mediaType"].as_str().unwrap())
            .collect();
        assert_eq!(types[..2], ["text/plain", "text/csv"]);
        assert_eq!(
            (&upload["files"][0]["charset"], &upload["files"][1]["charset"]),
            (&json!("koi8-r"), &Value::Null)
        );
        let unknown = [Part("file", Some("b.txt"), Some("text/plain; charset=klingon"), b"words")];
        let refused = form(admin, &files_of("declared"), &unknown).await.expect(400);
        assert_eq!(refused.fields(), ["files[0].mediaType"]);
        app.stop().await;
    });
}

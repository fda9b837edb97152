//! Files that mean harm, or that are none.

use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use crate::models;

const XXE: &str = r#"<?xml version="1.0"?><!DOCTYPE d [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">
<process id="p" name="&secret;"><startEvent id="s"/></process></definitions>"#;

const LAUGHS: &str = r#"<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY e "&c;&c;&c;&c;&c;&c;&c;&c;">]>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="urn:x">
<process id="p" name="&e;"><startEvent id="s"/></process></definitions>"#;

fn utf_16(text: &str, big: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(|journal| if big { journal.to_be_bytes() } else { journal.to_le_bytes() }).collect()
}

fn declared(encoding: &str) -> String {
    models::task().replace("UTF-8", encoding).replace("name=\"Work\"", "name=\"Prüfen\"")
}

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).expect("a letter of Latin 1")).collect()
}

#[tokio::test]
async fn asvs_1_5_1_files_are_refused_with_a_place_or_read() {
    let deep = format!("{}{}", "<a>".repeat(20_000), "</a>".repeat(20_000));
    let cases: Vec<(&str, Vec<u8>, u16)> = vec![
        ("external entity", XXE.into(), 400),
        ("a billion laughs", LAUGHS.into(), 400),
        ("UTF-16, big end first", utf_16(&declared("UTF-16"), true), 200),
        ("UTF-16, little end first", utf_16(&declared("UTF-16"), false), 200),
        ("WINDOWS-1252", latin(&declared("WINDOWS-1252")), 200),
        ("UTF-8 that is none", latin(&declared("UTF-8")), 400),
        ("an unknown encoding", declared("KLINGON").into(), 400),
        ("a zip", b"PK\x03\x04\x14\x00\x00\x00\x08\x00".to_vec(), 400),
        ("nothing", Vec::new(), 400),
        ("blanks", b"  \n ".to_vec(), 400),
        ("text", b"no XML at all".to_vec(), 400),
        ("another document", b"<html><body/></html>".to_vec(), 400),
        ("cut in half", models::task().into_bytes()[..300].to_vec(), 400),
        ("deep", deep.into(), 400),
    ];
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        for (name, bytes, status) in &cases {
            let raw = admin.request("POST", "/api/workflows/transform/preview");
            let answer = raw.body("application/xml", bytes.clone()).send().await;
            assert_eq!(answer.status, *status, "{name}: {}", answer.text());
            assert!(!answer.text().contains("root:"), "{name}: a file was read");
            if *status == 200 {
                assert!(answer.text().contains("Prüfen"), "{name}: {}", answer.text());
                continue;
            }
            let error = answer.json()["error"].clone();
            assert_eq!(error["code"], "INVALID_REQUEST_BODY", "{name}");
            let detail = &error["details"][0];
            assert!(detail["reason"].is_string() && detail["field"].is_string(), "{name}: {error}");
            eprintln!("{name}: {detail}");

            use base64::Engine as _;
            let content = base64::engine::general_purpose::STANDARD.encode(bytes);
            let source = json!({ "format": "bpmn", "fileName": "a.bpmn", "contentBase64": content });
            let wrapped = admin.post("/api/workflows/transform/preview", json!({ "source": source })).await;
            assert_eq!(wrapped.status, *status, "{name} in JSON: {}", wrapped.text());
        }
        let listed = admin.get("/api/workflows").await.expect(200).data();
        assert_eq!(listed.as_array().map(Vec::len), Some(3), "the demo's and no more");
        let _ = app.anonymous().get("/health/ready").await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn every_file_of_the_suites_is_read_or_refused() {
    let Some(folder) = heddle_testkit::suites("bpmn") else { return };
    let mut files = Vec::new();
    for part in ["miwg", "pool"] {
        let found = std::fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        files.extend(
            found.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "bpmn")),
        );
    }
    assert!(!files.is_empty(), "no file in {}", folder.display());
    files.sort();
    // The reading is the same on every database.
    let db = heddle_testkit::db::TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    for file in files {
        let raw = app.admin.request("POST", "/api/workflows/transform/preview");
        let answer = raw.body("application/xml", std::fs::read(&file).unwrap()).send().await;
        assert!(
            matches!(answer.status, 200 | 400),
            "{}: {} {}",
            file.display(),
            answer.status,
            answer.text()
        );
    }
    app.stop().await;
}

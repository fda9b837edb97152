//! Data of an earlier program: a database of each kind, made once by the program of that day, which every later one
//! opens, runs on and exports.
//!
//! `tests/fixtures/earlier` holds them; its README tells what is in them and how they were made.

mod cases;
mod make;
mod opened;
mod told;

use std::collections::BTreeMap;
use std::path::PathBuf;

use heddle_testkit::db::TestDb;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use opened::Opened;
use told::{Change, LeftOut, Told};

/// Changes that are meant: what a later program says in other words than the one that made the data did. A change that
/// does not stand here is a fault. Answers may always say more than they did.
const MEANT: &[Change] = &[
    // A call's inputs count beside a key that cannot be translated: a draft of before, which lacks them, says so.
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" id=\"Definitions_1\" targetNamespace=\"urn:preserved\""##,
        now: r##"xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:heddle=\"urn:heddle:bpmn:1\" id=\"Definitions_1\" targetNamespace=\"urn:preserved\""##,
    },
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"<camunda:in businessKey=\"#{execution.processBusinessKey}\"/>\n        <camunda:in source=\"a\""##,
        now: r##"<heddle:data>{\"configuration\":{\"propagateAllOutputs\":true,\"version\":\"3\",\"versionPolicy\":\"pinned\"}}</heddle:data>\n        <camunda:in businessKey=\"#{execution.processBusinessKey}\"/>\n        <camunda:in source=\"a\""##,
    },
    // Words that had no counterpart then give settings by now: what was imported before, and lacks them, says so at each
    // of these elements and at no other.
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"camunda:initiator=\"starter\">\n      <bpmn:outgoing>"##,
        now: r##"camunda:initiator=\"starter\">\n      <bpmn:extensionElements>\n        <heddle:data>{\"configuration\":{}}</heddle:data>\n      </bpmn:extensionElements>\n      <bpmn:outgoing>"##,
    },
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"camunda:exclusive=\"false\">\n      <bpmn:extensionElements>\n        <camunda:connector>"##,
        now: r##"camunda:exclusive=\"false\">\n      <bpmn:extensionElements>\n        <heddle:data>{\"configuration\":{\"retry\":{\"initialSeconds\":300,\"maxAttempts\":5,\"multiplier\":1}}}</heddle:data>\n        <camunda:connector>"##,
    },
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"      <bpmn:extensionElements>\n        <camunda:taskListener class=\"org.example.Assigned\""##,
        now: r##"      <bpmn:extensionElements>\n        <heddle:data>{\"configuration\":{\"candidateGroups\":[\"clerks\"],\"followUpDate\":\"P1D\",\"loop\":{\"collection\":\"=claims\",\"item\":\"claim\"},\"retry\":{\"initialSeconds\":60,\"maxAttempts\":3,\"multiplier\":1}}}</heddle:data>\n        <camunda:taskListener class=\"org.example.Assigned\""##,
    },
    Change {
        at: "/export/bpmn?version=draft",
        then: r##"<bpmn:endEvent id=\"end\">\n      <bpmn:incoming>Flow_4</bpmn:incoming>\n      <bpmn:messageEventDefinition id=\"Msg_1\""##,
        now: r##"<bpmn:endEvent id=\"end\">\n      <bpmn:extensionElements>\n        <heddle:data>{\"configuration\":{}}</heddle:data>\n      </bpmn:extensionElements>\n      <bpmn:incoming>Flow_4</bpmn:incoming>\n      <bpmn:messageEventDefinition id=\"Msg_1\""##,
    },
    Change {
        at: "/export/bpmn?version=",
        then: r##"xmlns:di=\"http://www.omg.org/spec/DD/20100524/DI\" id=\"definitions\" targetNamespace=\"urn:earlier\">\n  <process id=\"task\""##,
        now: r##"xmlns:di=\"http://www.omg.org/spec/DD/20100524/DI\" xmlns:heddle=\"urn:heddle:bpmn:1\" id=\"definitions\" targetNamespace=\"urn:earlier\">\n  <process id=\"task\""##,
    },
    Change {
        at: "/export/bpmn?version=",
        then: r##"camunda:asyncBefore=\"true\" camunda:formKey=\"forms/work.html\">\n      <extensionElements>\n        <camunda:properties>"##,
        now: r##"camunda:asyncBefore=\"true\" camunda:formKey=\"forms/work.html\">\n      <extensionElements>\n        <heddle:data>{\"configuration\":{\"candidateGroups\":[\"worker\"]}}</heddle:data>\n        <camunda:properties>"##,
    },
];
/// Members that rows leave out since: what a run holds is told by the run, and no list grows with it.
const LEFT_OUT: &[LeftOut] = &[LeftOut { at: "/runs?", members: &["input", "output", "variables"] }];

/// The administrator's password.
const PASSWORD: &str = "a loom of an earlier year";

/// What the test knows of a database beside what it holds: ids and secrets.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// When it was made.
    made_at: String,
    /// The administrator's address.
    email: String,
    /// The first organisation, and the second.
    organizations: [String; 2],
    /// An API token of the administrator with all that they may.
    token: String,
    /// One that may look at workflows alone.
    narrow_token: String,
    /// Ids of people by name.
    people: BTreeMap<String, String>,
    /// Ids of workflows by slug.
    workflows: BTreeMap<String, String>,
    /// Workflow and run of each case.
    runs: BTreeMap<String, [String; 2]>,
    /// The path of the event that is kept for who will wait for it.
    buffered: String,
    /// The answer to a start with the idempotency key `first`.
    first_answer: Value,
}

/// The folder of the data of one kind of database.
fn folder(kind: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/earlier").join(kind)
}

async fn goes_on(kind: &str) {
    let Some(opened) = Opened::open(kind).await else { return };
    opened.says_what_was_said(MEANT).await;
    opened.knows_people_and_their_rights().await;
    opened.repeats_first_answers().await;
    opened.keeps_drafts_and_versions().await;
    opened.runs_on().await;
    opened.stop().await;
}

#[tokio::test]
async fn a_sqlite_database_of_an_earlier_program_opens_runs_on_and_exports() {
    goes_on("sqlite").await;
}

#[tokio::test]
async fn a_postgres_database_of_an_earlier_program_opens_runs_on_and_exports() {
    goes_on("postgres").await;
}

/// What exports were spelled with is read for ever, whatever a later export spells.
#[tokio::test]
async fn a_file_that_an_earlier_program_exported_is_read_and_written_as_it_was() {
    let mut app = heddle_testkit::TestApp::start(&TestDb::sqlite().await).await;
    let (mut preserved, mut own) = (0, 0);
    for told in Told::read("sqlite") {
        if told.status != 200 || !told.path.contains("/export/bpmn?version=draft") {
            continue;
        }
        let source = json!({ "format": "bpmn", "content": told.body["data"]["content"] });
        let text = source["content"].as_str().unwrap();
        // An empty process is read as none.
        if !text.contains("startEvent") {
            continue;
        }
        own += usize::from(text.contains("heddle:"));
        preserved += usize::from(text.contains("own:"));
        let body = json!({ "source": source, "target": "bpmn" });
        let read = app.admin.post("/api/workflows/transform/preview", body).await.expect(200).data();
        assert_eq!(read["lossless"], true, "{}: {read}", told.path);
        let path = told.path.clone();
        let content = told.body["data"]["content"].as_str().unwrap();
        assert_eq!(behind_the_root(read["content"].as_str().unwrap()), behind_the_root(content), "{path}");
    }
    assert!(
        preserved >= 5 && own >= 3,
        "{preserved} files with words that have no member, {own} with our own"
    );
    app.stop().await;
}

/// All but the root's tag, whose namespaces are declared in another order once the diagram is there.
fn behind_the_root(xml: &str) -> &str {
    let tag = xml.find("definitions ").unwrap();
    &xml[tag + xml[tag..].find('>').unwrap()..]
}

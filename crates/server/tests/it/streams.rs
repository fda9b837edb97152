//! Event streams of readers who are slow, many, or no longer allowed to read.

use std::time::Duration;

use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp, eventually, sse, with_both};
use serde_json::json;

use crate::models::{flows, process};
use crate::raw::{HERE, Raw, get};

const TASKS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// A run whose history has a large variable for each of its tasks.
async fn long_run(client: &Client, large: usize) -> (String, String) {
    let tasks: String = TASKS.iter().map(|id| format!("<userTask id=\"{id}\"/>")).collect();
    let path = ["start", "a", "b", "c", "d", "e", "f", "end"];
    let elements = format!("<startEvent id=\"start\"/>{tasks}<endEvent id=\"end\"/>{}", flows(&path));
    let workflow = client.publish_bpmn("long", &process("p", "", &elements)).await;
    let run = client.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
    for task in TASKS {
        let values = json!({ "values": { "text": task.repeat(large) } });
        let _ = client.complete(&workflow, &run, task, values).await.expect(200);
    }
    (workflow, run)
}

fn stream_of(workflow: &str, run: &str, token: &str) -> String {
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    get(&path, &format!("authorization: Bearer {token}\r\nconnection: close\r\n"))
}

#[tokio::test]
async fn a_slow_reader_does_not_outlive_their_rights() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.edge.stream_check = Duration::from_millis(1)).await;
        let large = 300_000;
        let (workflow, run) = long_run(&app.admin, large).await;
        let (_, reader) = app.user("reader", &["viewer"]).await;

        // Who may read gets everything, in pieces.
        let mut allowed = sse::Stream::open(&reader, &workflow, &run, None).await;
        let whole = allowed.rest().await;
        assert_eq!(whole.last().map(|event| event.event.as_str()), Some("end"));
        let told: Vec<u64> = whole.iter().filter_map(|event| event.id).collect();
        assert_eq!(told, (1..=told.len() as u64).collect::<Vec<_>>());

        let mut slow = Raw::connect(&app, HERE).await;
        slow.send(&stream_of(&workflow, &run, &reader.token())).await;
        slow.until("event: run.").await;
        let _ = reader.post("/api/auth/sign-out", json!({})).await.expect(204);
        let _ = reader.get("/api/auth/session").await.expect(401);
        let after = slow.rest().await;
        assert!(after.len() < 2 * large, "{} bytes after the end of the session", after.len());
        assert!(!after.contains("event: end"));
        app.stop().await;
    });
}

#[tokio::test]
async fn an_open_stream_is_no_use_of_the_session() {
    let check = |config: &mut heddle_server::Config| config.edge.stream_check = Duration::from_millis(50);
    let mut app = TestApp::with(&TestDb::sqlite().await, check).await;
    let workflow = app.admin.publish_bpmn("waits", &crate::models::task()).await;
    let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
    let (_, reader) = app.user("reader", &["viewer"]).await;
    let mut open = Raw::connect(&app, HERE).await;
    open.send(&stream_of(&workflow, &run, &reader.token())).await;
    open.until(": heartbeat").await;
    app.advance("PT20M").await;
    // The first may have been on its way; before the second the rights were looked at again.
    open.until(": heartbeat").await;
    open.until(": heartbeat").await;
    app.advance("PT15M").await;
    let _ = reader.get("/api/auth/session").await.expect(401);
    open.rest().await;
    app.stop().await;
}

#[tokio::test]
async fn a_session_and_an_organisation_have_so_many_streams() {
    let limits = |config: &mut heddle_server::Config| {
        config.edge.streams_per_session = 2;
        config.edge.streams_per_organization = 3;
        config.edge.stream_check = Duration::from_millis(50);
    };
    let mut app = TestApp::with(&TestDb::sqlite().await, limits).await;
    let workflow = app.admin.publish_bpmn("waits", &crate::models::task()).await;
    let run = app.admin.run(&workflow, json!({})).await["id"].as_str().unwrap().to_owned();
    let (_, reader) = app.user("reader", &["viewer"]).await;
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    let first = sse::Stream::open(&reader, &workflow, &run, None).await;
    let _second = sse::Stream::open(&reader, &workflow, &run, None).await;
    let error = reader.get(&path).await.refused(429, "limitReached");
    assert_eq!(error["details"][0]["limit"], "max_streams_per_session");
    let _third = sse::Stream::open(&app.admin, &workflow, &run, None).await;
    let error = app.admin.get(&path).await.refused(429, "limitReached");
    assert_eq!(error["details"][0]["limit"], "max_streams_per_organization");
    drop(first);
    eventually("a place is given back", async || {
        let response = app.admin.request("GET", &path).open().await?;
        (response.status() == 200).then_some(())
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn pages_of_large_runs_and_events_are_cut_by_their_bytes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let large = 900_000;
        let (workflow, run) = long_run(&app.admin, large).await;
        let whole = app.admin.run_now(&workflow, &run).await;
        assert!(whole["output"]["text"].as_str().is_some_and(|text| text.len() == large));
        let row = app.admin.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200);
        assert!(row.bytes.len() < 10_000, "{} bytes for a row", row.bytes.len());
        let row = &row.data()[0];
        assert_eq!((&row["id"], &row["state"]), (&whole["id"], &whole["state"]));
        for member in ["input", "output", "variables"] {
            assert!(row.get(member).is_none(), "{member} is in a list");
        }

        let (mut told, mut pages, mut path) = (Vec::new(), 0, String::new());
        loop {
            let events = format!("/api/workflows/{workflow}/runs/{run}/events?limit=200{path}");
            let page = app.admin.get(&events).await.expect(200);
            assert!(page.bytes.len() < 5 * 1024 * 1024, "{} bytes", page.bytes.len());
            let page = page.json();
            let numbers = page["data"].as_array().unwrap().iter();
            told.extend(numbers.map(|event| event["sequence"].as_u64().unwrap()));
            pages += 1;
            match page["page"]["nextCursor"].as_str() {
                Some(cursor) => path = format!("&cursor={cursor}"),
                None => break,
            }
        }
        assert!(pages > 1, "some megabytes on one page");
        assert_eq!(told, (1..=told.len() as u64).collect::<Vec<_>>());
        app.stop().await;
    });
}

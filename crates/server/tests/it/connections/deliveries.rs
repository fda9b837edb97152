//! Deliveries of webhooks: in order, at least once, signed, tried again, set aside, held and gone on with.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use heddle_identity::licence::testing;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::{SIGNING_KEY, is_whole, receiver_of};

/// A message as a receiver got it.
#[derive(Debug, Clone)]
struct Got {
    head: String,
    body: Value,
}

impl Got {
    fn header(&self, name: &str) -> String {
        let found = self.head.lines().filter_map(|line| line.split_once(':'));
        let mut found = found.filter(|(of, _)| of.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
    }
}

/// A receiver on this machine whose answer changes.
struct Receiver {
    address: SocketAddr,
    answer: Arc<Mutex<&'static str>>,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Receiver {
    async fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (answer, got) = (Arc::new(Mutex::new(answer)), Arc::<Mutex<Vec<Got>>>::default());
        let (status, kept) = (Arc::clone(&answer), Arc::clone(&got));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (status, kept) = (Arc::clone(&status), Arc::clone(&kept));
                tokio::spawn(async move { receive(stream, &status, &kept).await });
            }
        });
        Self { address, answer, got }
    }

    fn answers(&self, with: &'static str) {
        *self.answer.lock().unwrap() = with;
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Waits until so many messages have come.
    async fn has_got(&self, count: usize) -> Vec<Got> {
        let enough = async {
            while self.got().len() < count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let came = tokio::time::timeout(Duration::from_secs(30), enough).await;
        assert!(came.is_ok(), "{} of {count} messages came", self.got().len());
        self.got()
    }
}

async fn receive(mut stream: TcpStream, status: &Mutex<&'static str>, kept: &Mutex<Vec<Got>>) {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    while !is_whole(&bytes) {
        match stream.read(&mut piece).await {
            Ok(read) if read > 0 => bytes.extend_from_slice(&piece[..read]),
            _ => return,
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    kept.lock().unwrap().push(Got { head: head.to_owned(), body: serde_json::from_str(body).unwrap() });
    let status = *status.lock().unwrap();
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes()).await;
}

async fn app(db: &TestDb) -> TestApp {
    TestApp::with(db, |config| config.egress_loopback = true).await
}

/// A workflow whose runs end at once.
async fn flow(client: &Client, slug: &str) -> String {
    let definition = json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s" },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [{ "id": "s-e", "source": "s", "target": "e" }],
    });
    client.publish(slug, definition).await
}

/// A webhook of these events of these workflows; its path.
async fn hook(client: &Client, receiver: &Receiver, events: &[&str], workflows: Value) -> String {
    let over = receiver_of(client, "receiver", &format!("http://{}/hook", receiver.address)).await;
    let body = json!({ "name": "hook", "connectionId": over, "eventTypes": events, "workflows": workflows });
    format!("/api/webhooks/{}", client.post("/api/webhooks", body).await.expect(201).id())
}

async fn letters(client: &Client) -> Vec<Value> {
    let found = client.get("/api/dead-letters?kind=webhook").await.expect(200).data();
    found.as_array().cloned().unwrap_or_default()
}

#[tokio::test]
async fn events_that_are_wanted_come_signed_and_in_the_order_of_each_run() {
    with_both!(|db| {
        let mut app = app(db).await;
        let (admin, receiver) = (app.admin.clone(), Receiver::answering("204 No Content").await);
        let (wanted, other) = (flow(&admin, "wanted").await, flow(&admin, "other").await);
        let path = hook(&admin, &receiver, &["run.started", "run.completed"], json!([wanted])).await;
        let mut runs = Vec::new();
        for _ in 0..5 {
            let _ = admin.run(&other, json!({})).await;
            runs.push(admin.run(&wanted, json!({})).await["id"].clone());
        }
        let got = receiver.has_got(10).await;
        app.advance("PT1S").await;
        assert_eq!(receiver.got().len(), 10, "each once, and of no other workflow");
        let told: Vec<(Value, Value)> =
            got.iter().map(|one| (one.body["runId"].clone(), one.body["type"].clone())).collect();
        let expected: Vec<(Value, Value)> = runs
            .iter()
            .flat_map(|run| ["run.started", "run.completed"].map(|kind| (run.clone(), json!(kind))))
            .collect();
        assert_eq!(told, expected);
        for one in &got {
            assert!(one.header("webhook-signature").starts_with("v1,"), "{}", one.head);
            assert_eq!(json!(one.header("webhook-id")), one.body["id"]);
            assert_eq!(one.body["organizationId"], json!(app.organization));
            assert_eq!(one.body["workflowId"], json!(wanted));
            assert_eq!(json!(path.rsplit('/').next()), one.body["webhookId"]);
        }
        let state = admin.get(&path).await.expect(200).data();
        assert_eq!(
            (&state["lastDelivery"]["ok"], &state["lastDelivery"]["status"]),
            (&json!(true), &json!(204))
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn what_fails_for_a_day_is_a_dead_letter_that_is_retried_or_dropped_and_the_line_goes_on() {
    with_both!(|db| {
        let mut app = app(db).await;
        let (admin, receiver) = (app.admin.clone(), Receiver::answering("500 Broken").await);
        let workflow = flow(&admin, "flow").await;
        let path = hook(&admin, &receiver, &["run.completed"], Value::Null).await;
        let run = admin.run(&workflow, json!({})).await;
        let first = receiver.has_got(1).await[0].header("webhook-id");
        let _ = admin.run(&workflow, json!({})).await;
        app.advance("PT1H").await;
        assert!(letters(&app.admin).await.is_empty());
        assert!(receiver.got().iter().all(|one| one.header("webhook-id") == first), "the second waits");
        let state = app.admin.get(&path).await.expect(200).data();
        assert_eq!((&state["lastDelivery"]["ok"], &state["paused"]), (&json!(false), &json!(false)));
        app.advance("P3D").await;
        let set_aside = letters(&app.admin).await;
        assert_eq!(set_aside.len(), 2, "{set_aside:?}");
        let letter = set_aside.iter().find(|one| one["id"] == json!(first)).unwrap();
        assert_eq!((&letter["reason"], &letter["name"]), (&json!("failed"), &json!("run.completed")));
        assert_eq!((&letter["runId"], &letter["workflowId"]), (&run["id"], &json!(workflow)));
        assert!(letter["message"].as_str().unwrap().contains("500"), "{letter}");

        receiver.answers("200 OK");
        let before = receiver.got().len();
        let _ = app.admin.post(&format!("/api/dead-letters/{first}/retry"), json!({})).await.expect(200);
        let got = receiver.has_got(before + 1).await;
        assert_eq!(got[before].header("webhook-id"), first, "the same message");
        let other = set_aside.iter().find(|one| one["id"] != json!(first)).unwrap()["id"].as_str().unwrap();
        let _ = app.admin.delete(&format!("/api/dead-letters/{other}")).await.expect(204);
        assert!(letters(&app.admin).await.is_empty());
        app.stop().await;
    });
}

#[tokio::test]
async fn a_connection_that_is_repaired_is_tried_at_once() {
    with_both!(|db| {
        let mut app = app(db).await;
        let (broken, whole) = (Receiver::answering("500 Broken").await, Receiver::answering("200 OK").await);
        let workflow = flow(&app.admin, "flow").await;
        let path = hook(&app.admin, &broken, &["run.completed"], Value::Null).await;
        let _ = app.admin.run(&workflow, json!({})).await;
        let first = broken.has_got(1).await[0].header("webhook-id");
        app.advance("PT1H").await;
        let over = app.admin.get(&path).await.expect(200).data()["connectionId"].as_str().unwrap().to_owned();
        let url = format!("http://{}/hook", whole.address);
        let repaired = json!({ "config": { "url": url }, "secrets": { "signingSecret": SIGNING_KEY } });
        let _ = app.admin.patch(&format!("/api/connections/{over}"), repaired).await.expect(200);
        assert_eq!(
            whole.has_got(1).await[0].header("webhook-id"),
            first,
            "it does not wait for its next try"
        );
        app.stop().await;
    });
}

#[tokio::test]
async fn what_waits_while_the_installation_is_restricted_is_delivered_after_the_cure() {
    with_both!(|db| {
        let mut app = app(db).await;
        let receiver = Receiver::answering("500 Broken").await;
        let workflow = flow(&app.admin, "flow").await;
        let _ = hook(&app.admin, &receiver, &["run.completed"], Value::Null).await;
        app.advance("P29DT23H").await;
        let _ = app.admin.run(&workflow, json!({})).await;
        let first = receiver.has_got(1).await[0].header("webhook-id");
        app.advance("P2D").await;
        let _ = app.admin.get("/api/workflows").await.refused(423, "licenceRestricted");
        let before = receiver.got().len();
        receiver.answers("200 OK");
        app.advance("P1D").await;
        assert_eq!(receiver.got().len(), before, "nothing is sent while the installation is restricted");
        let claims = testing::claims(app.server().core().app.now());
        let licence = json!({ "licence": testing::issue(&claims) });
        let _ = app.admin.put("/api/licence", licence).await.expect(200);
        let got = receiver.has_got(before + 1).await;
        assert!(got.iter().all(|one| one.header("webhook-id") == first));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_paused_webhook_loses_nothing_and_one_whose_receiver_is_gone_pauses_itself() {
    with_both!(|db| {
        let mut app = app(db).await;
        let (admin, receiver) = (app.admin.clone(), Receiver::answering("200 OK").await);
        let workflow = flow(&admin, "flow").await;
        let path = hook(&admin, &receiver, &["run.completed"], Value::Null).await;
        let _ = admin.patch(&path, json!({ "paused": true })).await.expect(200);
        for _ in 0..3 {
            let _ = admin.run(&workflow, json!({})).await;
        }
        app.advance("PT1H").await;
        assert!(receiver.got().is_empty());
        receiver.answers("410 Gone");
        let _ = app.admin.patch(&path, json!({ "paused": false })).await.expect(200);
        let gone = receiver.has_got(1).await[0].header("webhook-id");
        app.advance("PT1H").await;
        let state = app.admin.get(&path).await.expect(200).data();
        assert_eq!((&state["paused"], &state["pauseReason"]), (&json!(true), &json!("receiverGone")));
        assert_eq!(receiver.got().len(), 1);
        receiver.answers("200 OK");
        let _ = app.admin.patch(&path, json!({ "paused": false })).await.expect(200);
        let got = receiver.has_got(4).await;
        assert_eq!(got[1].header("webhook-id"), gone, "nothing was lost, and the order stands");
        // What waits for a webhook that is deleted goes with it, and its letters have no place any more.
        receiver.answers("500 Broken");
        let _ = app.admin.run(&workflow, json!({})).await;
        app.advance("P2D").await;
        let set_aside = letters(&app.admin).await;
        let letter = set_aside[0]["id"].as_str().unwrap();
        let _ = app.admin.run(&workflow, json!({})).await;
        let _ = app.admin.delete(&path).await.expect(204);
        app.advance("PT1H").await;
        let before = receiver.got().len();
        app.advance("P2D").await;
        assert_eq!(receiver.got().len(), before);
        let _ = app
            .admin
            .post(&format!("/api/dead-letters/{letter}/retry"), json!({}))
            .await
            .refused(409, "noPlace");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_was_not_delivered_before_a_restart_is_delivered_after_it() {
    with_both!(|db| {
        let mut app = app(db).await;
        let (admin, receiver) = (app.admin.clone(), Receiver::answering("503 Away").await);
        let workflow = flow(&admin, "flow").await;
        let _ = hook(&admin, &receiver, &["run.completed"], Value::Null).await;
        let _ = admin.run(&workflow, json!({})).await;
        let first = receiver.has_got(1).await[0].header("webhook-id");
        app.restart().await;
        receiver.answers("202 Accepted");
        app.advance("PT1M").await;
        let got = receiver.got();
        assert!(got.len() >= 2 && got.iter().all(|one| one.header("webhook-id") == first));
        let count = got.len();
        app.advance("PT1H").await;
        assert_eq!(receiver.got().len(), count, "and then never again");
        app.stop().await;
    });
}

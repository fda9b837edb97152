//! Starts by time and by events: on time, and each for itself.

use heddle_kernel::Timestamp;
use heddle_testkit::{Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

/// A process that begins with this event, with these settings, and ends at once.
fn started_by(event: Value, configuration: Value) -> Value {
    json!({
        "nodes": [
            { "id": "s", "type": "startEvent", "displayName": "s", "configuration": configuration,
              "bpmn": { "eventDefinitions": [event] } },
            { "id": "e", "type": "endEvent", "displayName": "e" },
        ],
        "edges": [{ "id": "s-e", "source": "s", "target": "e" }],
        "bpmn": { "signals": [{ "id": "g", "name": "stock" }] },
    })
}

fn cycle(text: &str) -> Value {
    started_by(json!({ "type": "timer", "timeCycle": text }), json!({}))
}

async fn runs(client: &Client, workflow: &str) -> Vec<Value> {
    let listed = client.get(&format!("/api/workflows/{workflow}/runs")).await.expect(200).data();
    listed.as_array().cloned().unwrap()
}

fn instant(value: &Value) -> i64 {
    value.as_str().unwrap().parse::<Timestamp>().unwrap().micros()
}

/// The runs of a workflow once there are so many, the first first; how late each began, in milliseconds, by the
/// instants at which they were due.
async fn late(client: &Client, workflow: &str, due: &[i64]) -> Vec<i64> {
    let mut found = eventually("runs by time", async || {
        Some(runs(client, workflow).await).filter(|found| found.len() >= due.len())
    })
    .await;
    found.reverse();
    assert_eq!(found.len(), due.len(), "{found:?}");
    found.iter().zip(due).map(|(run, due)| (instant(&run["createdAt"]) - due) / 1000).collect()
}

const SECOND: i64 = 1_000_000;
/// Milliseconds that a loaded machine may need; without a wake-up it took up to 30,000.
const SOON: std::ops::Range<i64> = 0..5_000;

#[tokio::test]
async fn a_timer_start_is_on_time_when_it_is_published_or_comes_back_or_the_clock_moves() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let counted = admin.create("counted", cycle("R3/PT1S")).await;
        let publish = format!("/api/workflows/{counted}/publish");
        let version = admin.post(&publish, json!({})).await.expect(200).data();
        let published = instant(&version["publishedAt"]);
        let slots: Vec<i64> = (1..=3).map(|slot| published + slot * SECOND).collect();
        let told = late(&admin, &counted, &slots).await;
        assert!(told.iter().all(|late| SOON.contains(late)), "{told:?}");

        let hourly = admin.publish("hourly", cycle("R2/PT1H")).await;
        let path = format!("/api/workflows/{hourly}");
        let _ = admin.patch(&path, json!({ "archived": true })).await.expect(200);
        let back = admin.patch(&path, json!({ "archived": false })).await.expect(200).data();
        let slots = [1, 2].map(|slot| instant(&back["updatedAt"]) + slot * 3600 * SECOND);
        // The loop sleeps by the clock as it was; the first slot comes by itself.
        app.advance("PT59M59S").await;
        let told = late(&app.admin, &hourly, &slots[..1]).await;
        assert!(told.iter().all(|late| SOON.contains(late)), "{told:?}");
        app.advance("PT5H").await;
        assert_eq!(runs(&app.admin, &hourly).await.len(), 2);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_timer_start_that_nothing_could_satisfy_is_not_published() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = &app.admin;
        let schema = json!({ "inputSchema": { "type": "object", "required": ["amount"] } });
        let timer = json!({ "type": "timer", "timeCycle": "R/PT1H" });
        let strict = admin.create("strict", started_by(timer.clone(), schema)).await;
        let told =
            admin.post(&format!("/api/workflows/{strict}/validate"), json!({})).await.expect(200).data();
        let found = &told["diagnostics"][0];
        assert_eq!((&found["code"], &found["elementId"]), (&json!("timerInput"), &json!("s")), "{told}");
        assert!(found["message"].as_str().unwrap().contains("amount"), "{found}");
        let refused =
            admin.post(&format!("/api/workflows/{strict}/publish"), json!({})).await.expect(400).json();
        assert_eq!(refused["error"]["details"][0]["code"], "timerInput", "{refused}");
        // A schema that takes an empty input refuses nothing.
        let lax =
            json!({ "inputSchema": { "type": "object", "properties": { "amount": { "type": "number" } } } });
        let _ = admin.publish("lax", started_by(timer, lax)).await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_signal_reaches_all_whose_start_or_wait_takes_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let signal = json!({ "type": "signal", "reference": "g" });
        let wants = json!({ "inputSchema": { "required": ["nope"] } });
        let strict = admin.publish("strict", started_by(signal.clone(), wants)).await;
        let send = async |key: &str| {
            let body = json!({ "name": "stock", "payload": {}, "idempotencyKey": key });
            admin.post("/api/signals", body).await.expect(202).data()["workflowRunIds"].clone()
        };
        assert_eq!(send("alone").await, json!([]));
        let honest = admin.publish("honest", started_by(signal.clone(), json!({}))).await;
        let mut hears = started_by(signal, json!({}));
        hears["nodes"][0]["type"] = json!("intermediateCatchEvent");
        hears["nodes"].as_array_mut().unwrap().push(json!({ "id": "b", "type": "startEvent" }));
        let first = json!({ "id": "b-s", "source": "b", "target": "s" });
        hears["edges"].as_array_mut().unwrap().push(first);
        let hears = admin.publish("hears", hears).await;
        let run = admin.run(&hears, json!({})).await;
        assert_eq!(run["state"], "waiting", "{run}");
        let reached = send("all").await;
        let begun = runs(&admin, &honest).await;
        let mut expected = vec![run["id"].clone(), begun[0]["id"].clone()];
        expected.sort_by_key(ToString::to_string);
        assert_eq!(reached, json!(expected));
        assert_eq!(admin.run_now(&hears, run["id"].as_str().unwrap()).await["state"], "completed");
        let letters = admin.get("/api/dead-letters").await.expect(200).data();
        assert_eq!(letters.as_array().map(Vec::len), Some(2), "{letters}");
        assert_eq!(letters[0]["workflowId"], json!(strict));
        assert!(letters[0]["message"].as_str().unwrap().contains("nope"), "{letters}");
        app.stop().await;
    });
}

#[tokio::test]
async fn each_start_event_asks_for_its_own_input() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let admin = app.admin.clone();
        let mut definition = started_by(json!({ "type": "signal", "reference": "g" }), json!({}));
        let asks = json!({ "inputSchema": { "required": ["amount"] } });
        let plain =
            json!({ "id": "by-hand", "type": "startEvent", "displayName": "h", "configuration": asks });
        definition["nodes"].as_array_mut().unwrap().push(plain);
        let flow = json!({ "id": "h-e", "source": "by-hand", "target": "e" });
        definition["edges"].as_array_mut().unwrap().push(flow);
        let workflow = admin.publish("both", definition).await;
        let _ = admin.post(&format!("/api/workflows/{workflow}/runs"), json!({})).await.expect(400);
        let body = json!({ "name": "stock", "payload": {}, "idempotencyKey": "k" });
        let sent = admin.post("/api/signals", body).await.expect(202).data();
        assert_eq!(sent["workflowRunIds"].as_array().map(Vec::len), Some(1), "{sent}");
        app.stop().await;
    });
}

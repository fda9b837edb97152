//! Attacks by what runs compute: memory, time, schemas, and texts without end.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::judge::Judge;
use super::person::{Person, data};
use super::place::Place;
use super::scene::Scene;
use super::{Attack, models};

/// A list of 200,000 numbers.
const MEMORY: &str = "for i in 1..200000 return i";
/// A tenth of a second of work.
const TIME: &str = "count(for i in 1..1000, j in 1..900 return i*j)";
/// Longest wait for two starts that compute until they are given up, one behind the other: the longest step is 30 s.
const SPENT: Duration = Duration::from_secs(75);
/// Statuses of a start that is done, refused for what it asks, or put off.
const STARTED: &[u16] = &[201, 400, 409, 429, 503];

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "cpu-loop",
        finding: "H1",
        does: "starts two runs that compute for ever in one step",
        after: "each ends in an incident LIMIT or is put off, and the server answers meanwhile",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(cpu_loop(scene, judge)),
    },
    Attack {
        name: "large-model",
        finding: "H1",
        does: "previews, makes, checks and exports a graph of 20,000 nodes",
        after: "each is done or refused with a limit, and the server answers meanwhile",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(large_model(scene, judge)),
    },
    Attack {
        name: "input-schema-doubling",
        finding: "H2",
        does: "publishes an input schema whose check takes 2^26 steps, and starts a run",
        after: "publishing or starting is refused, at once",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(input_schema(scene, judge)),
    },
    Attack {
        name: "form-doubling",
        finding: "H2",
        does: "publishes a form whose check takes 2^26 steps, and completes its task",
        after: "publishing or completing is refused, at once",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(form(scene, judge)),
    },
    Attack {
        name: "long-refusals",
        finding: "L13",
        does: "lets an expression of 100 KB fail in a definition and in a run",
        after: "no answer repeats it whole",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(long_refusals(scene, judge)),
    },
    Attack {
        name: "memory-loop",
        finding: "C2",
        does: "starts a run that keeps 200,000 more numbers each time around, in one step",
        after: "an incident LIMIT, and the run can be read",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(memory_loop(scene, judge)),
    },
    Attack {
        name: "memory-loop-by-timer",
        finding: "C2",
        does: "lets a timer start such runs, over a restart",
        after: "the server comes up, stays up, and the runs have incidents LIMIT",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(memory_timer(scene, judge)),
    },
    Attack {
        name: "memory-loop-by-message",
        finding: "C2",
        does: "lets a thrown message start such a run",
        after: "the server stays up, and the run has an incident LIMIT or is a dead letter",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(memory_message(scene, judge)),
    },
];

async fn cpu_loop(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::endless(json!({}), TIME)).await?;
    let (path, body) = (format!("/api/workflows/{workflow}/runs"), json!({}));
    let asked = async { tokio::join!(scene.owner.post(&path, &body), scene.owner.post(&path, &body)) };
    let mut asked = std::pin::pin!(asked);
    let within = tokio::time::timeout(scene.pressure, &mut asked).await.ok();
    // An answer that does not come is for the clock; that others are answered is not.
    let reader = Person::stranger(&scene.base, super::person::KEEPER)?;
    let live = tokio::time::timeout(scene.pressure * 3, reader.get("/health/live")).await;
    judge.must(
        matches!(&live, Ok(Ok(answer)) if answer.status == 200),
        format_args!(
            "/health/live does not answer while {}",
            if within.is_some() { "nothing runs" } else { "runs compute" }
        ),
    );
    scene.archive(&workflow).await?;
    // Both end before the next attack, which would wait for its turn behind them.
    let (one, two) = match within {
        Some(both) => both,
        None => tokio::time::timeout(SPENT, asked).await.context("the starts are not given up")?,
    };
    for answer in [one?, two?] {
        judge.status("a start", answer.status, STARTED);
        if answer.status == 201 {
            limited(&answer.json()["data"], judge);
        }
    }
    Ok(())
}

/// A run must have an incident that names a limit.
fn limited(run: &Value, judge: &mut Judge) {
    let codes = run["incidents"].to_string();
    judge.must(codes.contains("LIMIT"), format_args!("the run is {} with {codes}", run["state"]));
}

async fn memory_loop(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::endless(json!({}), MEMORY)).await?;
    let path = format!("/api/workflows/{workflow}/runs");
    let started = scene.owner.post(&path, &json!({})).await?;
    judge.status("the start", started.status, STARTED);
    if started.status == 201 {
        let run = &started.json()["data"];
        limited(run, judge);
        let path = format!("{path}/{}?include=variables", run["id"].as_str().unwrap_or_default());
        judge.status("reading the run", scene.owner.get(&path).await?.status, &[200]);
    }
    scene.archive(&workflow).await
}

async fn memory_timer(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::endless(models::every("R/PT1S"), MEMORY)).await?;
    judge.must(scene.restart().await?, "the server does not start again");
    tokio::time::sleep(scene.pressure / 2).await;
    let codes = scene
        .eventually(async || {
            let codes = scene.incidents(&workflow).await.ok()?;
            (scene.quick || !codes.is_empty()).then_some(codes)
        })
        .await;
    if let Some(codes) = &codes {
        judge.must(codes.iter().all(|code| code.contains("LIMIT")), format_args!("incidents: {codes:?}"));
    }
    judge.must(scene.alive().await, "the server died of a timer start");
    // The poll of newly published timers may take half a minute.
    judge.must(codes.is_some(), "no run has an incident");
    scene.archive(&workflow).await
}

async fn memory_message(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let receiver = scene.publish(&models::endless(models::message(), MEMORY)).await?;
    let sender = scene.publish(&models::sending()).await?;
    let path = format!("/api/workflows/{sender}/runs");
    let letters = scene.letters().await;
    // The delivery may end the server before the sender is answered.
    let _ = scene.owner.post(&path, &json!({"input": {"key": "poison"}})).await;
    let codes = scene
        .eventually(async || {
            let codes = scene.incidents(&receiver).await.ok()?;
            let dead = !scene.letters().await.is_subset(&letters);
            (dead || codes.iter().any(|code| code.contains("LIMIT"))).then_some(codes)
        })
        .await;
    judge.must(codes.is_some(), "neither an incident LIMIT nor a dead letter");
    judge.must(scene.alive().await, "the server died of a message");
    scene.archive(&receiver).await
}

async fn large_model(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let definition = tangle(if scene.quick { 3_000 } else { 20_000 });
    let slug = scene.name("tangle");
    let body = json!({"slug": slug, "displayName": slug, "description": "", "definition": definition});
    let asked = async {
        let created = scene.owner.post("/api/workflows", &body).await?;
        judge.status("making it", created.status, &[201, 400, 413, 429, 503]);
        if created.status == 201 {
            let id = created.json()["data"]["id"].as_str().unwrap_or_default().to_owned();
            let path = format!("/api/workflows/{id}");
            for deed in ["validate", "publish"] {
                let answer = scene.owner.post(&format!("{path}/{deed}"), &json!({})).await?;
                judge.status(answer.asked, answer.status, &[200, 400, 429, 503]);
            }
            let exported = scene.owner.get(&format!("{path}/export/bpmn?version=draft")).await?;
            judge.status(exported.asked, exported.status, &[200, 400, 409, 429, 503]);
        }
        anyhow::Ok(())
    };
    // An answer that does not come in this time is for the clock.
    tokio::time::timeout(scene.pressure * 3, asked).await.unwrap_or(Ok(()))
}

/// Exclusive gateways that lead here and there, the same each time.
fn tangle(size: usize) -> Value {
    let mut random = heddle_harness_kit::random::Random::new(7);
    let mut nodes = vec![json!({"id": "n0", "type": "startEvent"})];
    nodes.extend((1..size).map(|number| json!({"id": format!("n{number}"), "type": "exclusiveGateway"})));
    nodes.push(json!({"id": format!("n{size}"), "type": "endEvent"}));
    let mut edges = Vec::new();
    for number in 0..size {
        let far = random.between(1, size as u64);
        let targets = if number == 0 { vec![1] } else { vec![number as u64 + 1, far] };
        for target in targets {
            let id = format!("f{}", edges.len());
            edges.push(json!({"id": id, "source": format!("n{number}"), "target": format!("n{target}"),
                "bpmn": {"conditionExpression": "x > 1"}}));
        }
    }
    json!({"nodes": nodes, "edges": edges})
}

async fn input_schema(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let start = json!({"configuration": {"inputSchema": models::doubling_schema(26)}});
    let (workflow, published) = scene.try_publish(&models::chain(start, &[])).await?;
    judge.status("publishing", published.status, &[200, 400]);
    if published.status == 200 {
        let started = scene.start(&workflow, &json!({"input": {"a": 1}})).await?;
        judge.must(started.is_some(), "the start is not answered");
        if let Some(started) = started {
            judge.status("the start", started.status, &[400, 409, 429, 503]);
        }
    }
    Ok(())
}

async fn form(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let task = json!({"configuration": {"form": models::doubling_schema(26)}});
    let definition = models::chain(json!({}), &[("work", "userTask", task)]);
    let (workflow, published) = scene.try_publish(&definition).await?;
    judge.status("publishing", published.status, &[200, 400]);
    if published.status == 200 {
        let run = scene.run(&workflow).await?;
        let path = format!("/api/workflows/{workflow}/runs/{run}/human-tasks/work/complete");
        let values = json!({"values": {"a": 1}});
        let asked = scene.owner.post(&path, &values);
        let done = tokio::time::timeout(scene.pressure, asked).await;
        judge.must(done.is_ok(), "the completion is not answered");
        if let Ok(done) = done {
            judge.status("the completion", done?.status, &[400, 409, 429, 503]);
        }
    }
    Ok(())
}

/// The most bytes that an answer to 100 KB may have.
const ANSWER: usize = 64 * 1024;

async fn long_refusals(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let long = "x".repeat(100_000);
    for source in [format!("matches(\"a\", \"({long}\")"), format!("1 + + {long}"), format!("\"{long}\" + 1")]
    {
        let definition = models::chain(json!({}), &[("work", "scriptTask", models::script(&source))]);
        let (workflow, published) = scene.try_publish(&definition).await?;
        judge.status("publishing", published.status, &[200, 201, 400]);
        let text = published.text();
        if published.status == 200 {
            let started = scene.owner.post(&format!("/api/workflows/{workflow}/runs"), &json!({})).await?;
            let incidents = data(started)?["incidents"].to_string();
            judge.must(incidents.len() < ANSWER, format_args!("incidents of {} bytes", incidents.len()));
        } else {
            judge.must(text.len() < ANSWER, format_args!("a refusal of {} bytes", text.len()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tangle_is_the_same_each_time_and_leads_somewhere_from_each_node() {
        let one = tangle(50);
        assert_eq!(one, tangle(50));
        assert_eq!(one["nodes"].as_array().map(Vec::len), Some(51));
        assert_eq!(one["edges"].as_array().map(Vec::len), Some(99));
    }
}

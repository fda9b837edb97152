//! Attacks by what happens behind the answers: poison, storms, and timers without pause.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::judge::Judge;
use super::person::data;
use super::place::Place;
use super::scene::Scene;
use super::{Attack, models};

/// Time by which a message may be late on a busy machine.
const SLACK: Duration = Duration::from_millis(50);

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "message-that-is-refused",
        finding: "C3",
        does: "throws a message that its receiver's schema refuses",
        after: "the honest organisation's messages arrive, also after a restart",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(refused_message(scene, judge)),
    },
    Attack {
        name: "timer-that-is-refused",
        finding: "C3",
        does: "publishes timer starts that can never start",
        after: "dead letters can be listed, and the honest organisation's work goes on",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(refused_timer(scene, judge)),
    },
    Attack {
        name: "message-chain",
        finding: "H6",
        does: "lets a message start a run that throws the same message",
        after: "the chain ends: an incident LIMIT, or a dead letter",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(chain(scene, judge)),
    },
    Attack {
        name: "message-storm",
        finding: "H6",
        does: "lets a message start a run that throws it twice",
        after: "the honest organisation's messages arrive no later than three times as late, and archiving ends it",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(storm(scene, judge)),
    },
    Attack {
        name: "cycle-without-pause",
        finding: "H6",
        does: "publishes timer starts that repeat each millisecond",
        after: "publishing is 400, or nothing starts more often than once a second",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(cycle(scene, judge)),
    },
    Attack {
        name: "start-without-background",
        finding: "C2",
        does: "starts the program with --no-background on data whose background work is poisoned",
        after: "it comes up, and the workflow can be archived",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(no_background(scene, judge)),
    },
];

async fn refused_message(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let mut start = models::message();
    start["configuration"] = json!({"inputSchema": {"required": ["nope"]}});
    scene.publish(&models::chain(start, &[])).await?;
    let sender = scene.publish(&models::sending()).await?;
    for number in 0..3 {
        let body = json!({"input": {"key": format!("refused-{number}")}});
        data(scene.owner.post(&format!("/api/workflows/{sender}/runs"), &body).await?)?;
    }
    judge.status("dead letters", scene.owner.get("/api/dead-letters").await?.status, &[200, 404]);
    Ok(())
}

async fn refused_timer(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let mut start = models::every("R/PT1S");
    start["configuration"] = json!({"inputSchema": {"required": ["nope"]}});
    let count = if scene.quick { 5 } else { 60 };
    let mut made = Vec::new();
    for _ in 0..count {
        let (workflow, published) = scene.try_publish(&models::chain(start.clone(), &[])).await?;
        judge.status("publishing", published.status, &[200, 400]);
        made.push(workflow);
    }
    tokio::time::sleep(scene.pressure / 2).await;
    let listed = scene.owner.get("/api/dead-letters").await?;
    judge.status("dead letters", listed.status, &[200]);
    for workflow in made {
        scene.archive(&workflow).await?;
    }
    Ok(())
}

/// A receiver of the message that throws it so many times again.
fn rethrowing(times: usize) -> serde_json::Value {
    let mut thrown = models::message();
    thrown["configuration"] = json!({"correlationKey": "storm"});
    let names: Vec<String> = (0..times).map(|number| format!("throw{number}")).collect();
    let nodes: Vec<models::Node<'_>> =
        names.iter().map(|name| (name.as_str(), "intermediateThrowEvent", thrown.clone())).collect();
    models::chain(models::message(), &nodes)
}

async fn send(scene: &Scene) -> Result<()> {
    let body = json!({"correlationKey": "storm", "eventType": "paid", "idempotencyKey": scene.name("storm"),
        "payload": {}});
    data(scene.owner.post("/api/case-events", &body).await?)?;
    Ok(())
}

async fn chain(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&rethrowing(1)).await?;
    let path = format!("/api/workflows/{workflow}/runs?limit=200");
    let letters = scene.letters().await;
    send(scene).await?;
    let mut seen = 0;
    let ended = scene
        .eventually(async || {
            let codes = scene.incidents(&workflow).await.ok()?;
            let dead = !scene.letters().await.is_subset(&letters);
            seen = scene.owner.get(&path).await.ok()?.json()["data"].as_array().map_or(0, Vec::len);
            (dead || codes.iter().any(|code| code.contains("LIMIT"))).then_some(())
        })
        .await;
    judge.must(ended.is_some(), format_args!("the chain goes on behind {seen} runs or more"));
    scene.archive(&workflow).await
}

async fn storm(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&rethrowing(2)).await?;
    let honest = scene.honest().context("nobody is honest here")?;
    tokio::time::sleep(scene.pressure / 2).await;
    let before = honest.ledger().messages.len();
    let calm = median(honest.ledger().messages.iter().map(|(_, took)| *took).collect());
    send(scene).await?;
    tokio::time::sleep(scene.pressure).await;
    let stormy = median(honest.ledger().messages.iter().skip(before).map(|(_, took)| *took).collect());
    scene.archive(&workflow).await?;
    judge.must(scene.alive().await, "the server does not answer in the storm");
    let (calm, stormy) = (calm.unwrap_or_default(), stormy.unwrap_or(scene.pressure));
    judge.must(
        scene.quick || stormy < calm * 3 + SLACK,
        format_args!(
            "the honest organisation's messages took {calm:?} before the storm and {stormy:?} in it"
        ),
    );
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

async fn cycle(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for cycle in ["R/PT0.001S", "R/PT0.5S", "R1000000/PT0.01S"] {
        let (workflow, published) = scene.try_publish(&models::chain(models::every(cycle), &[])).await?;
        judge.status(format_args!("publishing {cycle}"), published.status, &[400]);
        if published.status == 200 {
            scene.archive(&workflow).await?;
        }
    }
    let (workflow, published) = scene.try_publish(&models::chain(models::every("R/PT1S"), &[])).await?;
    judge.status("publishing R/PT1S", published.status, &[200]);
    scene.archive(&workflow).await
}

async fn no_background(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow =
        scene.publish(&models::endless(models::every("R/PT1S"), "for i in 1..200000 return i")).await?;
    scene.server.lock().await.change(|_, around| around.arguments.push("--no-background"));
    let up = scene.restart().await?;
    judge.must(up, "the program does not start with --no-background");
    if up {
        scene.archive(&workflow).await?;
        let now = data(scene.owner.get(&format!("/api/workflows/{workflow}")).await?)?;
        judge.must(now["state"] == "archived", format_args!("the workflow is {}", now["state"]));
    }
    scene.server.lock().await.change(|_, around| around.arguments.clear());
    judge.must(scene.restart().await?, "the server does not start again");
    Ok(())
}

//! Attacks by readers of event streams.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::judge::Judge;
use super::person::{ATTACKER, KEEPER, Person, data};
use super::place::Place;
use super::scene::Scene;
use super::{Attack, models, raw};

/// Statuses of a stream that is opened, or refused because there are enough.
const OPENED: &[u16] = &[200, 409, 429, 503];
/// Time within which a stream must end once its reader may not read.
const ENDS: Duration = Duration::from_secs(45);

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "streams-not-read",
        finding: "H5",
        does: "opens 60 streams of a run with large events and reads none of them",
        after: "no more are open than a session may have, and their memory is bounded and given back",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(unread(scene, judge)),
    },
    Attack {
        name: "streams-without-end",
        finding: "H5",
        does: "opens 1,000 streams of a quiet run with one session",
        after: "the session is told when it has enough",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(too_many(scene, judge)),
    },
    Attack {
        name: "stream-of-a-lost-right",
        finding: "H5",
        does: "reads a stream slowly after its account was switched off",
        after: "the stream ends within 45 s",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(lost_right(scene, judge)),
    },
    Attack {
        name: "stream-keeps-session",
        finding: "H5",
        does: "leaves a stream open in a session that is not used otherwise, while the clock moves on",
        after: "the session ends when it is idle",
        place: Place::Idle,
        memory: false,
        run: |scene, judge| Box::pin(idle(scene, judge)),
    },
];

/// A run with so many events of 500 KB and more; its workflow and its id.
async fn large_run(scene: &Scene, events: usize) -> Result<(String, String)> {
    let names: Vec<String> = (0..events).map(|number| format!("work{number}")).collect();
    let nodes: Vec<models::Node<'_>> =
        names.iter().map(|name| (name.as_str(), "userTask", json!({}))).collect();
    let workflow = scene.publish(&models::chain(json!({}), &nodes)).await?;
    let run = scene.run(&workflow).await?;
    let text = "x".repeat(500_000);
    for name in names.iter().skip(1) {
        let node = name.trim_start_matches("work").parse::<usize>().unwrap_or(1) - 1;
        let path = format!("/api/workflows/{workflow}/runs/{run}/human-tasks/work{node}/complete");
        let done = scene.owner.post(&path, &json!({"values": {"text": text}})).await?;
        if done.status != 200 {
            // A budget of the run ends here what the attack wants more of.
            break;
        }
    }
    Ok((workflow, run))
}

/// Opens a stream and reads nothing but its status.
async fn open(person: &Person, path: &str) -> Result<(TcpStream, u16)> {
    let mut stream = raw::connect(&person.host(), ATTACKER, Some(4096)).await?;
    // Its end is seen by that of the connection, which is kept for another request unless somebody says otherwise.
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer {}\r\n\r\n",
        person.token()
    );
    stream.write_all(request.as_bytes()).await?;
    let head = raw::read(&mut stream, Duration::from_secs(10), 16).await;
    let status = raw::statuses_in(&head).first().copied().unwrap_or_default();
    Ok((stream, status))
}

async fn unread(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (workflow, run) = large_run(scene, if scene.quick { 12 } else { 80 }).await?;
    let user = scene.user(&["viewer"]).await?;
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    let opened = futures::future::join_all((0..60).map(|_| open(&user, &path))).await;
    let mut held = Vec::new();
    for one in opened {
        let (stream, status) = one?;
        judge.status("a stream", status, OPENED);
        held.push(stream);
    }
    tokio::time::sleep(scene.pressure / 2).await;
    Ok(())
}

async fn too_many(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let run = scene.run(&workflow).await?;
    let user = scene.user(&["viewer"]).await?;
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    let (mut held, mut limited) = (Vec::new(), false);
    for _ in 0..10 {
        let opened = futures::future::join_all((0..100).map(|_| open(&user, &path))).await;
        for one in opened {
            // A connection that is not taken is a limit, too.
            let Ok((stream, status)) = one else {
                limited = true;
                continue;
            };
            judge.status("a stream", status, OPENED);
            limited |= status != 200;
            held.push(stream);
        }
        if limited {
            break;
        }
    }
    judge.must(limited, format_args!("{} streams are open in one session", held.len()));
    Ok(())
}

async fn lost_right(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (workflow, run) = large_run(scene, if scene.quick { 4 } else { 40 }).await?;
    let user = scene.user(&["viewer"]).await?;
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    let (mut stream, status) = open(&user, &path).await?;
    judge.status("the stream", status, &[200]);
    let off = json!({"state": "disabled"});
    let off = scene.owner.patch(&format!("/api/users/{}", user.id), &off).await?;
    judge.status("switching the account off", off.status, &[200]);
    judge.status("a read afterwards", user.get("/api/workflows").await?.status, &[401]);
    if scene.quick {
        return Ok(());
    }
    let began = Instant::now();
    let mut ended = false;
    while began.elapsed() < ENDS && !ended {
        // 64 KB a second: what is under way would last for minutes.
        let before = Instant::now();
        let part = raw::read(&mut stream, Duration::from_secs(1), 64 * 1024).await;
        ended = part.is_empty() && before.elapsed() < Duration::from_millis(900);
        tokio::time::sleep(Duration::from_secs(1).saturating_sub(before.elapsed())).await;
    }
    judge.must(ended, format_args!("the stream still goes on after {ENDS:?}"));
    Ok(())
}

async fn idle(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let run = scene.run(&workflow).await?;
    let keeper = Person::stranger(&scene.base, KEEPER)?;
    let session = keeper.sign_in(&scene.owner.email, &scene.password).await?;
    let path = format!("/api/workflows/{workflow}/runs/{run}/events/stream");
    let (stream, status) = open(&session, &path).await?;
    judge.status("the stream", status, &[200]);
    // A sign of life comes every 15 s, by the machine's own clock.
    let rounds = if scene.quick { 0 } else { 4 };
    // A token, which does not end by being idle.
    let made = data(scene.owner.post("/api/auth/tokens", &json!({"name": scene.name("clock")})).await?)?;
    let clock = keeper.bearer(made["token"].as_str().context("no token")?)?;
    for _ in 0..rounds {
        tokio::time::sleep(Duration::from_secs(17)).await;
        let moved = clock.post("/api/test/clock", &json!({"advance": "PT50S"})).await?;
        judge.status("moving the clock", moved.status, &[200]);
    }
    if rounds > 0 {
        judge.status("the idle session", session.get("/api/auth/session").await?.status, &[401]);
    }
    drop(stream);
    Ok(())
}

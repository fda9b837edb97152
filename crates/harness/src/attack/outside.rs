//! Attacks on what is not the attacker's through connections that they may make: services of the machine and of its
//! network, the server itself, and secrets of others.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Attack;
use super::judge::Judge;
use super::person::data;
use super::place::Place;
use super::scene::Scene;

/// Longest time that a test may take, with some of a busy machine's.
const LONGEST: Duration = Duration::from_secs(40);
/// Secret of the one who is attacked.
const SECRET: &str = "canary-of-the-attacked";

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "ssrf-forms",
        finding: "held",
        does: "points connections at metadata and private addresses in every spelling",
        after: "none is called, and the answer tells a phase alone",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(forms(scene, judge)),
    },
    Attack {
        name: "ssrf-own-server",
        finding: "held",
        does: "points connections at the server itself",
        after: "the server does not call itself",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(itself(scene, judge)),
    },
    Attack {
        name: "ssrf-answers",
        finding: "held",
        does: "answers a test with a redirect, endless headers, an endless body and nothing at all",
        after: "each test ends in its time, follows nothing and shows nothing of the answer",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(answers(scene, judge)),
    },
    Attack {
        name: "connection-repointed",
        finding: "held",
        does: "points another's connection at a service of one's own",
        after: "the secret goes nowhere",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(repointed(scene, judge)),
    },
];

/// Makes a connection and tests it; the result of the test, none when it can't be made.
async fn tested(scene: &Scene, kind: &str, config: Value) -> Result<Option<Value>> {
    let body = json!({"name": scene.name("connection"), "type": kind, "config": config});
    let made = scene.owner.post("/api/connections", &body).await?;
    if made.status == 400 {
        return Ok(None);
    }
    let id = data(made)?["id"].as_str().context("a connection has an id")?.to_owned();
    let answer = scene.owner.post(&format!("/api/connections/{id}/test"), &json!({})).await?;
    data(answer).map(Some)
}

fn http(url: &str) -> Value {
    json!({"baseUrl": url})
}

async fn forms(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for host in [
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "[fd00:ec2::254]",
        "[fe80::1]",
        "１６９.２５４.１６９.２５４",
        "169。254。169。254",
        "10.0.0.1",
        "100.64.0.1",
        "172.16.0.1",
        "192.168.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "[::]",
        "[fc00::1]",
    ] {
        let began = Instant::now();
        if let Some(found) = tested(scene, "http", http(&format!("http://{host}/latest/meta-data/"))).await? {
            let refused =
                found["ok"] == json!(false) && matches!(found["phase"].as_str(), Some("dns" | "connect"));
            judge.must(refused, format_args!("{host}: {found}"));
        } else {
            judge.must(true, "an address that is none");
        }
        // An address that was called would keep the test waiting.
        judge.must(began.elapsed() < Duration::from_secs(4), format_args!("{host}: {:?}", began.elapsed()));
    }
    for (kind, config) in [
        ("smtp", json!({"host": "169.254.169.254", "port": 80, "security": "none"})),
        ("postgresql", json!({"host": "10.0.0.1", "database": "d", "username": "u", "tls": "disable"})),
    ] {
        let found = tested(scene, kind, config).await?.context("the connection can be made")?;
        judge.must(
            found["ok"] == json!(false) && found["phase"] != "request",
            format_args!("{kind}: {found}"),
        );
    }
    Ok(())
}

async fn itself(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let base = scene.base.read().map(|base| base.clone()).unwrap_or_default();
    let port = base.rsplit(':').next().context("the server has a port")?;
    for host in
        ["127.0.0.1", "localhost", "localhost.", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]"]
    {
        let mut config = http(&format!("http://{host}:{port}"));
        config["testPath"] = json!("/health/live");
        let found = tested(scene, "http", config).await?.context("the connection can be made")?;
        judge.must(found["ok"] == json!(false), format_args!("{host}: {found}"));
    }
    Ok(())
}

/// Words that a hostile service says to each connection.
#[derive(Debug, Clone, Copy)]
enum Says {
    Redirect,
    Headers,
    Body,
    Nothing,
}

/// A hostile service; its address, and how often it was called.
async fn hostile(says: Says) -> Result<(SocketAddr, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (address, calls) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                // Whoever hangs up has heard enough.
                let _ = say(stream, says, address).await;
            });
        }
    });
    Ok((address, calls))
}

async fn say(mut stream: TcpStream, says: Says, own: SocketAddr) -> std::io::Result<()> {
    let mut asked = [0; 4096];
    let _ = stream.read(&mut asked).await?;
    match says {
        Says::Redirect => {
            let head =
                format!("HTTP/1.1 302 Found\r\nlocation: http://{own}/again\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).await
        }
        Says::Headers => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
            loop {
                stream.write_all(format!("x-endless: {}\r\n", "a".repeat(1000)).as_bytes()).await?;
            }
        }
        Says::Body => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
            let chunk = format!(
                "4000\r\n{}\r\n",
                "canary-of-an-answer".repeat(1000).get(..16_384).unwrap_or_default()
            );
            loop {
                stream.write_all(chunk.as_bytes()).await?;
            }
        }
        Says::Nothing => {
            tokio::time::sleep(LONGEST * 2).await;
            Ok(())
        }
    }
}

async fn answers(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for says in [Says::Redirect, Says::Headers, Says::Body, Says::Nothing] {
        let (address, calls) = hostile(says).await?;
        let began = Instant::now();
        let found = tested(scene, "http", http(&format!("http://{address}"))).await?;
        let found = found.context("the connection can be made")?;
        judge.must(began.elapsed() < LONGEST, format_args!("{says:?} took {:?}", began.elapsed()));
        judge.must(!found.to_string().contains("canary"), format_args!("{says:?} is shown: {found}"));
        let calls = calls.load(Ordering::Relaxed);
        judge.must(calls == 1, format_args!("{says:?} was called {calls} times"));
    }
    Ok(())
}

async fn repointed(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let body = json!({"name": scene.name("connection"), "type": "http",
        "config": {"baseUrl": "http://127.0.0.1:9", "authentication": "bearer"}, "secrets": {"token": SECRET}});
    let made = data(scene.owner.post("/api/connections", &body).await?)?;
    let path = format!("/api/connections/{}", made["id"].as_str().context("a connection has an id")?);
    let (address, calls) = hostile(Says::Redirect).await?;
    let person = scene.user(&["administrator"]).await?;
    let there = format!("http://{address}");
    for change in [
        json!({"config": {"baseUrl": there}}),
        json!({"config": {"baseUrl": there, "certificateAuthority": null}}),
        json!({"config": {"baseUrl": there, "authentication": "header", "headerName": "x-a"}}),
        json!({"config": {"baseUrl": there}, "secrets": {}}),
        json!({"config": {"baseUrl": there}, "secrets": {"token": ""}}),
    ] {
        let refused = person.patch(&path, &change).await?;
        judge.status(format_args!("{change}"), refused.status, &[400]);
    }
    let shown = person.get(&path).await?;
    judge.must(!shown.text().contains(SECRET), "the secret is shown");
    let _ = person.post(&format!("{path}/test"), &json!({})).await?;
    judge.must(calls.load(Ordering::Relaxed) == 0, "the attacker's service was called");
    Ok(())
}

//! Attacks by services that connections lead to: answers that explode, and answers that say back what they were sent, so
//! that a secret shows wherever an answer does.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::Attack;
use super::judge::Judge;
use super::models;
use super::person::{data, id};
use super::place::Place;
use super::scene::Scene;

/// Longest time that a test may take, with some of a busy machine's.
const LONGEST: Duration = Duration::from_secs(40);
/// Secret of every connection.
const SECRET: &str = "canary-of-a-sealed-secret";
/// Key of signatures: its bytes are a canary, too.
const SIGNING_KEY: &str = "whsec_Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5Y2FuYXJ5";

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "webhook-gzip-bomb",
        finding: "held",
        does: "answers deliveries of a webhook with an endless body that unpacks to 150 times as much",
        after: "the deliveries go on one after the other, and the memory is given back",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(bomb(scene, judge)),
    },
    Attack {
        name: "connection-canaries",
        finding: "held",
        does: "makes connections with secrets that are known again, to services that say back what they are sent",
        after: "no answer, list, audit event, log line, file or row shows a secret",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(canaries(scene, judge)),
    },
];

/// Words that a service says to a request.
#[derive(Debug, Clone, Copy)]
enum Says {
    /// A packed body without an end.
    Bomb,
    /// The request itself, as a refusal.
    Echo,
}

/// A service; its address, and how often it was called.
async fn service(says: Says) -> Result<(SocketAddr, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let (address, calls) = (listener.local_addr()?, Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&calls);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                // Whoever hangs up has heard enough.
                let _ = say(stream, says).await;
            });
        }
    });
    Ok((address, calls))
}

async fn say(mut stream: TcpStream, says: Says) -> std::io::Result<()> {
    let mut asked = vec![0; 16 * 1024];
    let length = stream.read(&mut asked).await?;
    asked.truncate(length);
    match says {
        Says::Bomb => {
            let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n";
            stream.write_all(head.as_bytes()).await?;
            let Packed { beginning, again } = packed_zeros();
            stream.write_all(&beginning).await?;
            loop {
                stream.write_all(&again).await?;
            }
        }
        Says::Echo => {
            let head =
                format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            stream.write_all(&asked).await
        }
    }
}

/// A gzip stream of zeros: its beginning, and what may follow any number of times.
struct Packed {
    beginning: Vec<u8>,
    again: Vec<u8>,
}

/// Zeros by fixed Huffman codes (RFC 1951, 3.2.6): one zero, then "the same 258 times", in 13 bits each. Eight of these
/// are 13 whole bytes, so that the bytes repeat.
fn packed_zeros() -> Packed {
    const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    // The block is not the last one and has fixed codes; codes stand with their highest bit first.
    let zero = [false, true, false].into_iter().chain(code(0b0011_0000, 8));
    let same = || code(0b1100_0101, 8).chain(code(0, 5));
    let mut bits: Vec<bool> = zero.collect();
    for _ in 0..8 * 700 {
        bits.extend(same());
    }
    let bytes: Vec<u8> = bits
        .chunks_exact(8)
        .map(|eight| eight.iter().rev().fold(0_u8, |byte, bit| (byte << 1) | u8::from(*bit)))
        .collect();
    // Two bytes begin it; from there on it repeats.
    let (first, rest) = bytes.split_at(bytes.len().min(2));
    let again = rest.chunks_exact(13).flatten().copied().collect();
    Packed { beginning: [HEADER.as_slice(), first].concat(), again }
}

/// Bits of a Huffman code.
fn code(value: u16, length: u32) -> impl Iterator<Item = bool> {
    (0..length).rev().map(move |place| (value >> place) & 1 == 1)
}

/// A connection to a receiver, and a webhook over it; the ids of both.
async fn receiver(scene: &Scene, address: SocketAddr) -> Result<[String; 2]> {
    let body = json!({"name": scene.name("connection"), "type": "webhook",
        "config": {"url": format!("http://{address}/hook")}, "secrets": {"signingSecret": SIGNING_KEY}});
    let connection = id(scene.owner.post("/api/connections", &body).await?)?;
    let body = json!({"name": scene.name("webhook"), "connectionId": connection, "eventTypes": ["*"]});
    let webhook = id(scene.owner.post("/api/webhooks", &body).await?)?;
    Ok([connection, webhook])
}

/// Begins runs and waits until a service was called so often.
async fn called(scene: &Scene, calls: &AtomicUsize, times: usize) -> Result<bool> {
    let workflow = scene.publish(&models::task()).await?;
    let before = calls.load(Ordering::Relaxed);
    for _ in 0..times {
        scene.run(&workflow).await?;
    }
    let enough = async || (calls.load(Ordering::Relaxed) >= before + times).then_some(());
    Ok(scene.eventually(enough).await.is_some())
}

async fn bomb(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (address, calls) = service(Says::Bomb).await?;
    let [connection, webhook] = receiver(scene, address).await?;
    let began = Instant::now();
    let test = format!("/api/connections/{connection}/test");
    let tested = data(scene.owner.post(&test, &json!({})).await?)?;
    judge.must(began.elapsed() < LONGEST, format_args!("the test took {:?}", began.elapsed()));
    judge.must(tested["ok"] == json!(true), format_args!("what is packed behind a status counts: {tested}"));
    let goes_on = called(scene, &calls, 3).await?;
    judge.must(goes_on, "the deliveries do not go on");
    // Whoever asks for the body gets no more of it.
    let body = json!({"name": scene.name("connection"), "type": "http",
        "config": {"baseUrl": format!("http://{address}")}});
    let http = id(scene.owner.post("/api/connections", &body).await?)?;
    let began = Instant::now();
    let tested = scene.owner.post(&format!("/api/connections/{http}/test"), &json!({})).await?;
    judge.status("the test of an HTTP connection", tested.status, &[200]);
    judge.must(began.elapsed() < LONGEST, format_args!("the test took {:?}", began.elapsed()));
    let _ = scene.owner.delete(&format!("/api/webhooks/{webhook}")).await?;
    Ok(())
}

/// Connections of every type, to an address, each with every secret that it takes.
fn every_type(address: SocketAddr) -> Vec<Value> {
    let (url, host, port) = (format!("http://{address}"), address.ip().to_string(), address.port());
    let http = |mut config: Value, secrets: Value| {
        config["baseUrl"] = json!(url);
        json!({"type": "http", "config": config, "secrets": secrets})
    };
    vec![
        http(json!({"authentication": "basic", "username": "u"}), json!({"password": SECRET})),
        http(json!({"authentication": "bearer"}), json!({"token": SECRET})),
        http(json!({"authentication": "header", "headerName": "x-key"}), json!({"headerValue": SECRET})),
        http(
            json!({"authentication": "oauth2ClientCredentials", "tokenUrl": url, "clientId": "c",
                "clientAuthentication": "post"}),
            json!({"clientSecret": SECRET}),
        ),
        json!({"type": "smtp", "config": {"host": host, "port": port, "username": "u"},
            "secrets": {"password": SECRET}}),
        json!({"type": "postgresql", "config": {"host": host, "port": port, "database": "d", "username": "u",
            "tls": "disable"}, "secrets": {"password": SECRET}}),
        json!({"type": "s3", "config": {"endpoint": url, "region": "r", "bucket": "bucket", "accessKeyId": "k"},
            "secrets": {"secretAccessKey": SECRET, "sessionToken": SECRET}}),
        json!({"type": "webhook", "config": {"url": url}, "secrets": {"signingSecret": SIGNING_KEY}}),
    ]
}

/// Looks for secrets in what was found somewhere: as they are, and as they go out or are written down.
fn look(judge: &mut Judge, place: &str, found: &[u8]) {
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let basic = STANDARD.encode(format!("u:{SECRET}"));
    for secret in [SECRET, &hex, &basic, "Y2FuYXJ5Y2FuYXJ5", "canarycanary"] {
        let is_shown = found.windows(secret.len()).any(|window| window == secret.as_bytes());
        judge.must(!is_shown, format_args!("{place}: a secret is shown"));
    }
}

async fn canaries(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (address, calls) = service(Says::Echo).await?;
    let wrong = json!({"name": "wrong", "type": "http", "config": {"baseUrl": SECRET},
        "secrets": {"token": [SECRET], "odd": SECRET}});
    let _ = scene.owner.post("/api/connections", &wrong).await?;
    for mut body in every_type(address) {
        body["name"] = json!(scene.name("connection"));
        let kind = body["type"].to_string();
        let made = scene.owner.post("/api/connections", &body).await?;
        look(judge, &kind, made.text().as_bytes());
        let path = format!("/api/connections/{}", id(made)?);
        for answer in [
            scene.owner.post("/api/connections", &body).await?,
            scene.owner.get(&path).await?,
            scene.owner.patch(&path, &json!({"secrets": body["secrets"]})).await?,
            scene.owner.patch(&path, &json!({"config": {"url": "x", "host": "x y", "endpoint": 1}})).await?,
            scene.owner.post(&format!("{path}/test"), &json!({})).await?,
            scene.owner.get(&path).await?,
        ] {
            look(judge, &format!("{kind}: {}", answer.asked), answer.text().as_bytes());
        }
    }
    let [_, webhook] = receiver(scene, address).await?;
    judge.must(called(scene, &calls, 1).await?, "nothing is delivered");
    for path in [
        "/api/connections?limit=200",
        "/api/connections/options",
        "/api/webhooks?limit=200",
        &format!("/api/webhooks/{webhook}"),
        "/api/dead-letters?limit=200",
        "/api/audit-events?limit=200",
        "/metrics",
    ] {
        look(judge, path, scene.owner.get(path).await?.text().as_bytes());
    }
    let _ = scene.owner.delete(&format!("/api/webhooks/{webhook}")).await?;
    let (log, database, directory) = {
        let server = scene.server.lock().await;
        (server.log_text(), server.database(), server.data_dir())
    };
    look(judge, "the log", log.as_bytes());
    for entry in std::fs::read_dir(&directory).context("the data directory")? {
        let path = entry?.path();
        // A socket is no file to read.
        look(judge, &path.display().to_string(), &std::fs::read(&path).unwrap_or_default());
    }
    if !database.starts_with("sqlite:") {
        look(judge, "the dump of the database", &dump(&database)?);
    }
    judge.must(Path::new(&directory).join("heddle.keyring").exists(), "there is a keyring");
    Ok(())
}

/// Rows of a PostgreSQL database as text.
fn dump(database: &str) -> Result<Vec<u8>> {
    let output = Command::new("pg_dump").args(["--inserts", "--dbname", database]).output();
    let output = output.context("pg_dump cannot be started")?;
    if !output.status.success() {
        bail!("pg_dump: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bomb_repeats_itself() {
        let Packed { beginning, again } = packed_zeros();
        assert_eq!((beginning.len(), again.len() % 13), (12, 0));
        assert!(again.chunks_exact(13).all(|one| one == &again[..13]));
    }
}

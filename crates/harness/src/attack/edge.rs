//! Attacks on connections, bodies and answers, by who needs no account or only reads.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::time::Duration;

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::judge::Judge;
use super::person::{ATTACKER, KEEPER, Person, data};
use super::place::Place;
use super::scene::Scene;
use super::{Attack, models, raw};

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "descriptors-used-up",
        finding: "H3",
        does: "opens more connections than the server has descriptors, and sends a byte of a body on each",
        after: "others are answered while they stay",
        place: Place::Few,
        memory: false,
        run: |scene, judge| Box::pin(descriptors(scene, judge)),
    },
    Attack {
        name: "body-without-end",
        finding: "H3",
        does: "sends a body of one byte now and then",
        after: "the connection is cut within a minute",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(endless_body(scene, judge)),
    },
    Attack {
        name: "sign-in-bodies",
        finding: "H3",
        does: "announces sign-ins of nearly 1 MiB on 600 connections and stops one byte short",
        after: "a body that large is 413, and no memory is kept",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(sign_in_bodies(scene, judge)),
    },
    Attack {
        name: "pages-not-read",
        finding: "H3",
        does: "asks for the largest static page on 900 connections and does not read it",
        after: "no memory is kept for each",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(unread_pages(scene, judge)),
    },
    Attack {
        name: "page-of-large-runs",
        finding: "M8",
        does: "lists runs whose inputs have 1 MB, by eight readers at once",
        after: "the list is bounded, and one run still has its input",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(large_runs(scene, judge)),
    },
    Attack {
        name: "two-credentials",
        finding: "L9",
        does: "sends two Authorization lines, and two organisations",
        after: "400 or 401 each",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(two_credentials(scene, judge)),
    },
    Attack {
        name: "forwarded-line-before",
        finding: "M4",
        does: "sends a forwarded address of its own before the proxy's line",
        after: "the proxy's address is audited",
        place: Place::Proxy,
        memory: false,
        run: |scene, judge| Box::pin(forwarded(scene, judge, &["9.9.9.9", "203.0.113.7"], "203.0.113.7")),
    },
    Attack {
        name: "forwarded-with-port",
        finding: "M4",
        does: "sends a forwarded address of its own before one with a port",
        after: "the address with the port is audited",
        place: Place::Proxy,
        memory: false,
        run: |scene, judge| Box::pin(forwarded(scene, judge, &["9.9.9.9, 203.0.113.8:5555"], "203.0.113.8")),
    },
    Attack {
        name: "forwarded-unknown",
        finding: "M4",
        does: "sends a forwarded address of its own before `unknown`",
        after: "the proxy itself is audited",
        place: Place::Proxy,
        memory: false,
        run: |scene, judge| Box::pin(forwarded(scene, judge, &["9.9.9.9, unknown"], "127.7.7.7")),
    },
    Attack {
        name: "addresses-hidden",
        finding: "M4",
        does: "lets one account be refused from 20 forwarded addresses at once",
        after: "the audit names more than one of them",
        place: Place::Proxy,
        memory: false,
        run: |scene, judge| Box::pin(many_addresses(scene, judge)),
    },
];

async fn open_many(scene: &Scene, count: usize, from: std::net::IpAddr, head: &str) -> Vec<TcpStream> {
    let host = scene.stranger.host();
    let opened = (0..count).map(async |number| {
        // Not all at once: the listener's own queue is short.
        tokio::time::sleep(Duration::from_millis(number as u64)).await;
        let mut stream = raw::connect(&host, from, Some(4096)).await.ok()?;
        let _ = stream.write_all(head.as_bytes()).await;
        Some(stream)
    });
    futures::future::join_all(opened).await.into_iter().flatten().collect()
}

async fn descriptors(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let head = "POST /api/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        content-length: 100\r\n\r\n{";
    let held = open_many(scene, 400, ATTACKER, head).await;
    judge.must(!held.is_empty(), "no connection was taken at all");
    let live = tokio::time::timeout(Duration::from_secs(20), async {
        Person::stranger(&scene.base, KEEPER)?.get("/health/live").await
    });
    let answered = matches!(live.await, Ok(Ok(answer)) if answer.status == 200);
    judge.must(answered, format_args!("/health/live does not answer beside {} connections", held.len()));
    tokio::time::sleep(scene.pressure / 2).await;
    drop(held);
    Ok(())
}

async fn endless_body(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let host = scene.stranger.host();
    let mut stream = raw::connect(&host, ATTACKER, None).await?;
    let head = "POST /api/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        transfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let patience = if scene.quick { scene.pressure } else { Duration::from_secs(75) };
    let cut = async {
        loop {
            if stream.write_all(b"1\r\n \r\n").await.is_err() {
                return Vec::new();
            }
            let told = raw::read(&mut stream, Duration::from_secs(3), 4096).await;
            if !told.is_empty() {
                return told;
            }
        }
    };
    let told = tokio::time::timeout(patience, cut).await;
    let statuses = told.as_ref().map(|told| raw::statuses_in(told)).unwrap_or_default();
    for status in statuses {
        judge.status("the body without end", status, &[400, 408, 413]);
    }
    judge.must(scene.quick || told.is_ok(), format_args!("it is still taken after {patience:?}"));
    Ok(())
}

async fn sign_in_bodies(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let large = json!({"email": "a@example.com", "password": "x".repeat(64 * 1024)});
    let refused = scene.stranger.post("/api/auth/sign-in", &large).await?;
    judge.status("a sign-in of 64 KiB", refused.status, &[413]);
    let length = 1024 * 1024 - 1;
    let head = format!(
        "POST /api/auth/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        content-length: {length}\r\n\r\n"
    );
    let body = vec![b' '; length - 1];
    let mut held = open_many(scene, 600, ATTACKER, &head).await;
    let written = held.iter_mut().map(|stream| stream.write_all(&body));
    let _ = tokio::time::timeout(scene.pressure, futures::future::join_all(written)).await;
    tokio::time::sleep(scene.pressure / 4).await;
    Ok(())
}

async fn unread_pages(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let page = scene.owner.get("/docs/swagger-ui-bundle.js").await?;
    judge.status("the page", page.status, &[200]);
    let head = "GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: x\r\n\r\n".repeat(4);
    let held = open_many(scene, if scene.quick { 300 } else { 900 }, ATTACKER, &head).await;
    tokio::time::sleep(scene.pressure / 2).await;
    judge.must(!held.is_empty(), "no connection was taken at all");
    Ok(())
}

/// The most bytes of a page of runs.
const PAGE: usize = 8 * 1024 * 1024;

async fn large_runs(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let path = format!("/api/workflows/{workflow}/runs");
    let text = "x".repeat(1_000_000);
    let count = if scene.quick { 12 } else { 100 };
    let mut last = String::new();
    for _ in 0..count {
        let started = scene.owner.post(&path, &json!({"input": {"text": text}})).await?;
        judge.status("a start with 1 MB", started.status, &[201, 409, 413, 429, 503]);
        if let Some(id) = started.json()["data"]["id"].as_str() {
            id.clone_into(&mut last);
        }
    }
    let pages = (0..8).map(|_| async { scene.owner.get(&format!("{path}?limit=200")).await });
    for page in futures::future::join_all(pages).await {
        let page = page?;
        judge.status("the page", page.status, &[200, 429, 503]);
        judge.must(page.bytes.len() < PAGE, format_args!("a page of {} bytes", page.bytes.len()));
        let row = &page.json()["data"][0];
        judge.must(!row.to_string().contains(&text), "a row has its input");
    }
    let run = scene.owner.get(&format!("{path}/{last}")).await?;
    judge.must(run.text().contains(&text), "a run does not show its input");
    Ok(())
}

async fn two_credentials(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let other = scene.user(&["viewer"]).await?;
    let (one, two) = (scene.owner.token(), other.token());
    let host = scene.stranger.host();
    for (name, lines) in [
        ("two tokens", format!("authorization: Bearer {one}\r\nauthorization: Bearer {two}\r\n")),
        ("one token twice", format!("authorization: Bearer {one}\r\nauthorization: Bearer {one}\r\n")),
        (
            "two organisations",
            format!(
                "authorization: Bearer {one}\r\nx-organization-id: {}\r\nx-organization-id: {}\r\n",
                scene.organization, scene.other
            ),
        ),
    ] {
        let request = format!("GET /api/workflows HTTP/1.1\r\nhost: x\r\n{lines}connection: close\r\n\r\n");
        for status in raw::statuses(&host, ATTACKER, request.as_bytes()).await? {
            judge.status(name, status, &[400, 401]);
        }
    }
    Ok(())
}

/// Is refused behind the proxy and looks for the address in the audit.
async fn forwarded(scene: &Scene, judge: &mut Judge, lines: &[&str], expected: &str) -> Result<()> {
    let user = scene.user(&["viewer"]).await?;
    let marker = scene.name("forwarded");
    let mut request = user.request(Method::POST, "/api/workflows").header("x-request-id", &marker);
    for line in lines {
        request = request.header("x-forwarded-for", line);
    }
    let refused = request.json(&json!({"slug": "a", "displayName": "A", "description": ""})).send().await?;
    judge.status("the refused call", refused.status, &[403]);
    let row = audited(scene, &marker).await?;
    let row = row.context("the refusal is not in the audit")?.to_string();
    judge.must(!row.contains("9.9.9.9"), format_args!("the made-up address is audited: {row}"));
    judge.must(row.contains(expected), format_args!("{expected} is not audited: {row}"));
    Ok(())
}

/// The audit event of a request.
pub(super) async fn audited(scene: &Scene, request: &str) -> Result<Option<Value>> {
    for _ in 0..20 {
        let page = data(scene.owner.get("/api/audit-events?limit=200").await?)?;
        let found = page.as_array().into_iter().flatten().find(|event| event["requestId"] == request);
        if let Some(found) = found {
            return Ok(Some(found.clone()));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(None)
}

async fn many_addresses(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let user = scene.user(&["viewer"]).await?;
    let body = json!({"slug": "a", "displayName": "A", "description": ""});
    let calls = (1..=20).map(async |number| {
        let person = user.with("x-forwarded-for", &format!("203.0.113.{number}"))?;
        person.post("/api/workflows", &body).await
    });
    for answer in futures::future::join_all(calls).await {
        judge.status("a refused call", answer?.status, &[403]);
    }
    tokio::time::sleep(Duration::from_millis(600)).await;
    let page = data(scene.owner.get("/api/audit-events?limit=200").await?)?;
    let of_user = page.as_array().into_iter().flatten().filter(|event| event.to_string().contains(&user.id));
    let text: String = of_user.map(Value::to_string).collect();
    let named = (1..=20).filter(|number| text.contains(&format!("203.0.113.{number}\""))).count();
    judge.must(named > 1, format_args!("{named} of 20 addresses are in the audit"));
    Ok(())
}

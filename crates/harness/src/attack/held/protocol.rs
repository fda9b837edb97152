//! Guards of HTTP: lengths, methods, paths and sizes.

use std::time::Duration;

use anyhow::Result;
use reqwest::Method;
use tokio::io::AsyncWriteExt as _;

use crate::attack::judge::Judge;
use crate::attack::person::KEEPER;
use crate::attack::raw;
use crate::attack::scene::Scene;

/// Heads of requests whose end can be read in two ways, or that are none.
const AMBIGUOUS: &[(&str, &str)] = &[
    ("two lengths", "content-length: 4\r\ncontent-length: 5\r\n"),
    ("a length and pieces", "content-length: 4\r\ntransfer-encoding: chunked\r\n"),
    ("pieces and a length", "transfer-encoding: chunked\r\ncontent-length: 4\r\n"),
    ("a signed length", "content-length: +4\r\n"),
    ("a negative length", "content-length: -1\r\n"),
    ("a length in hex", "content-length: 0x4\r\n"),
    ("a list of lengths", "content-length: 4, 5\r\n"),
    ("unknown pieces", "transfer-encoding: xchunked\r\n"),
    ("pieces that are not last", "transfer-encoding: chunked, identity\r\n"),
    ("a space before the colon", "content-length : 4\r\n"),
    ("a folded line", "x-a: b\r\n c\r\n"),
    ("a bare return", "x-a: b\rc\r\n"),
    ("a zero byte", "x-a: b\0c\r\n"),
    ("an odd separator", "transfer-encoding:\x0bchunked\r\n"),
];

pub(super) async fn smuggling(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let host = scene.stranger.host();
    let behind = "GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n";
    let clear = format!("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n{behind}");
    let both = raw::statuses(&host, KEEPER, clear.as_bytes()).await?;
    judge.must(both == [200, 200], format_args!("two clear requests: {both:?}"));
    let requests = AMBIGUOUS.iter().map(async |(name, lines)| {
        let request = format!("POST /api/auth/sign-in HTTP/1.1\r\nhost: x\r\n{lines}\r\n0\r\n\r\n{behind}");
        anyhow::Ok((*name, raw::statuses(&host, KEEPER, request.as_bytes()).await?))
    });
    for answered in futures::future::join_all(requests).await {
        let (name, statuses) = answered?;
        judge.must(
            statuses.iter().all(|status| matches!(status, 400 | 501)) && statuses.len() <= 1,
            format_args!("{name}: {statuses:?}"),
        );
    }
    Ok(())
}

pub(super) async fn methods(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for method in ["TRACE", "TRACK", "OPTIONS", "PROPFIND", "LOCK", "BREW"] {
        let method = Method::from_bytes(method.as_bytes())?;
        for path in ["/api/workflows", "/health/live"] {
            let answer = scene.stranger.request(method.clone(), path).send().await?;
            judge.status(answer.asked, answer.status, &[400, 405]);
        }
    }
    let asked = scene.owner.request(Method::POST, "/api/workflows").header("x-http-method-override", "GET");
    judge.status("an overridden method", asked.body("", Vec::new()).send().await?.status, &[400, 415]);
    Ok(())
}

pub(super) async fn paths(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let host = scene.stranger.host();
    let paths = [
        "/docs/../../etc/passwd",
        "/docs/%2e%2e/%2e%2e/etc/passwd",
        "/docs/..%2f..%2fetc%2fpasswd",
        "/docs//etc/passwd",
        "/docs/heddle.db",
        "//api/workflows",
        "/api//workflows",
        "/api/./workflows",
        "/api/x/../workflows",
        "/API/workflows",
        "/api/Workflows",
        "/api/workflows;x=1",
        "/api/workflows%00",
        "/api%2fworkflows",
    ];
    let asked = paths.map(async |path| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\nconnection: close\r\n\r\n",
            scene.owner.token()
        );
        let mut stream = raw::connect(&host, KEEPER, None).await?;
        stream.write_all(request.as_bytes()).await?;
        anyhow::Ok((path, raw::read(&mut stream, Duration::from_millis(500), 1 << 20).await))
    });
    for answered in futures::future::join_all(asked).await {
        let (path, bytes) = answered?;
        for status in raw::statuses_in(&bytes) {
            judge.status(path, status, &[400, 404]);
        }
        let text = String::from_utf8_lossy(&bytes);
        judge.must(!text.contains("root:") && !text.contains("SQLite"), format_args!("{path} shows a file"));
    }
    Ok(())
}

pub(super) async fn large_heads(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let host = scene.stranger.host();
    let many: String = (0..200).map(|number| format!("x-{number}: a\r\n")).collect();
    let long = format!("x-long: {}\r\n", "a".repeat(200_000));
    let address = "a".repeat(120_000);
    for (name, path, lines) in [
        ("many lines", "/health/live", many),
        ("a long line", "/health/live", long),
        ("a long address", address.as_str(), String::new()),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{lines}\r\n");
        for status in raw::statuses(&host, KEEPER, request.as_bytes()).await? {
            judge.status(name, status, &[400, 404, 414, 431]);
        }
    }
    judge.must(true, "");
    Ok(())
}

pub(super) async fn large_bodies(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let host = scene.stranger.host();
    let head = format!(
        "POST /api/workflows HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer {}\r\n",
        scene.owner.token()
    );
    let announced = format!("{head}content-length: 26000000\r\n\r\n");
    for status in raw::statuses(&host, KEEPER, announced.as_bytes()).await? {
        judge.status("26 MB announced", status, &[413]);
    }
    let mut stream = raw::connect(&host, KEEPER, None).await?;
    stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await?;
    let piece = [b"fa000\r\n".to_vec(), vec![b' '; 0xfa000], b"\r\n".to_vec()].concat();
    for _ in 0..26 {
        // The other end may have refused it by now.
        if stream.write_all(&piece).await.is_err() {
            break;
        }
    }
    for status in raw::statuses_in(&raw::read(&mut stream, Duration::from_secs(2), 4096).await) {
        judge.status("26 MB in pieces", status, &[413]);
    }
    judge.must(true, "");
    Ok(())
}

//! Strangers, slow clients and floods: what they may take, and that nobody else is hurt.

use std::time::Duration;

use heddle_server::{Config, Pace};
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, Client, TestApp, eventually};
use serde_json::json;

use crate::raw::{ELSEWHERE, HERE, Raw, begun, get};

const SIGN_IN: &str = "/api/auth/sign-in";

/// What the edge does is the same on every database.
async fn app(change: impl FnOnce(&mut Config)) -> TestApp {
    TestApp::with(&TestDb::sqlite().await, change).await
}

/// A pace that nothing slow keeps up with.
fn brisk(config: &mut Config) {
    config.edge.pace = Pace { grace: Duration::from_millis(500), bytes_per_second: 1_000_000 };
}

#[tokio::test]
async fn a_body_that_comes_too_slowly_is_not_waited_for() {
    let mut app = app(brisk).await;
    let mut slow = Raw::connect(&app, HERE).await;
    slow.send(&begun(SIGN_IN, "", 200, "{\"email\":")).await;
    let told = slow.rest().await;
    assert!(told.starts_with("HTTP/1.1 400") && told.contains("tooSlow"), "{told}");
    assert!(told.contains("slowClientBytesPerSecond"), "the limit is named: {told}");
    app.stop().await;
}

#[tokio::test]
async fn a_head_that_does_not_end_is_cut_on_the_first_and_on_every_later_request() {
    let mut app = app(|config| config.edge.head = Duration::from_secs(3)).await;
    let mut first = Raw::connect(&app, HERE).await;
    first.send("GET /health/live HTT").await;
    first.rest().await;

    let mut second = Raw::connect(&app, HERE).await;
    second.send(&get("/health/live", "")).await;
    second.until("\"ok\"").await;
    second.send("GET /health/live HTT").await;
    second.rest().await;

    // Nobody reads the body of a caller who is not known, however long it goes on.
    let mut endless = Raw::connect(&app, HERE).await;
    let head = "POST /api/workflows HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n";
    endless.send(head).await;
    assert!(endless.rest().await.starts_with("HTTP/1.1 401"));
    app.stop().await;
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_cut() {
    let mut app = app(brisk).await;
    let mut idle = Raw::connect(&app, HERE).await;
    idle.send(&get("/docs/swagger-ui-bundle.js", "")).await;
    idle.cut().await;

    // Whoever reads gets all of it.
    let whole = app.anonymous().get("/docs/swagger-ui-bundle.js").await.expect(200);
    let length: usize = whole.header("content-length").parse().unwrap();
    assert_eq!(whole.bytes.len(), length);
    app.stop().await;
}

#[tokio::test]
async fn an_address_has_its_share_of_the_connections_and_leaves_the_others_theirs() {
    let mut app = app(|config| config.edge.connections_per_address = 3).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut connection = Raw::connect(&app, ELSEWHERE).await;
        connection.send(&get("/health/live", "")).await;
        connection.until("\"ok\"").await;
        held.push(connection);
    }
    let mut one_more = Raw::connect(&app, ELSEWHERE).await;
    let told = one_more.rest().await;
    assert!(told.starts_with("HTTP/1.1 429 Too Many Requests\r\n"), "{told}");
    assert!(told.contains("max_connections_per_address") && told.contains("retry-after: "), "{told}");
    let _ = app.anonymous().get("/health/live").await.expect(200);
    held.clear();
    eventually("a place for the next one", async || {
        let mut next = Raw::connect(&app, ELSEWHERE).await;
        next.send(&get("/health/live", "connection: close\r\n")).await;
        next.rest().await.starts_with("HTTP/1.1 200").then_some(())
    })
    .await;
    app.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_each_client_has_a_share_and_the_proxy_what_it_needs() {
    let mut app = app(|config| {
        config.edge.connections_per_address = 2;
        config.trusted_proxies = vec![ELSEWHERE.into()];
    })
    .await;
    let of = |client: &str| format!("x-forwarded-for: 9.9.9.9\r\nx-forwarded-for: {client}:4711\r\n");
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = Raw::connect(&app, ELSEWHERE).await;
        let headers = of("192.0.2.1") + "expect: 100-continue\r\n";
        connection.send(&begun(SIGN_IN, &headers, 100, "")).await;
        connection.until("100 Continue").await;
        held.push(connection);
    }
    for (client, status) in [("192.0.2.1", "429"), ("192.0.2.2", "200"), ("192.0.2.1", "429")] {
        let mut connection = Raw::connect(&app, ELSEWHERE).await;
        connection.send(&get("/health/live", &(of(client) + "connection: close\r\n"))).await;
        let told = connection.rest().await;
        assert!(told.starts_with(&format!("HTTP/1.1 {status}")), "{client}: {told}");
    }
    app.stop().await;
}

#[tokio::test]
async fn asvs_2_4_1_anonymous_requests_have_a_rate_and_honest_ones_do_not_meet_it() {
    let mut app = app(|config| {
        config.edge.anonymous_per_second = 1;
        config.trusted_proxies = vec![HERE.into()];
    })
    .await;
    let stranger = app.anonymous().with("x-forwarded-for", "192.0.2.1");
    let (before, refused) = refused_after(&stranger, "/health", 200).await;
    assert!(before >= 10, "a burst of {before}");
    assert!(refused.header("retry-after").parse::<u64>().unwrap() >= 1);
    let error = refused.refused(429, "anonymousRate");
    assert_eq!(error["details"][0]["limit"], "anonymous_requests_per_second");

    // A token that is none is no better than none.
    let wrong = app.anonymous().bearer("hds_wrong").with("x-forwarded-for", "192.0.2.2");
    let (before, _) = refused_after(&wrong, "/api/workflows", 401).await;
    assert!(before >= 10, "a burst of {before}");

    // Who made it up stands left of who it was; liveness and callers who are known have no such limit.
    let made_up = app.anonymous().with("x-forwarded-for", "203.0.113.5, 192.0.2.1");
    let (before, _) = refused_after(&made_up, "/health", 200).await;
    assert!(before < 10, "a burst of {before} for an address that was made up");
    let known = app.admin.with("x-forwarded-for", "192.0.2.1");
    for _ in 0..30 {
        let _ = stranger.get("/health/live").await.expect(200);
        let _ = known.get("/api/workflows").await.expect(200);
    }
    app.stop().await;
}

/// Asks until it is refused; how often it was answered with this status before.
async fn refused_after(client: &Client, path: &str, status: u16) -> (usize, Answer) {
    for before in 0..1000 {
        let answer = client.get(path).await;
        if answer.status == 429 {
            return (before, answer);
        }
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    panic!("{path} is never refused");
}

#[tokio::test]
async fn a_header_that_decides_stands_once_or_the_request_is_refused() {
    let mut app = app(|_| {}).await;
    let token = format!("authorization: Bearer {}\r\n", app.admin.token());
    let organization = format!("x-organization-id: {}\r\n", app.organization);
    for (name, line) in [
        ("Authorization", token.as_str()),
        ("X-Organization-Id", organization.as_str()),
        ("Idempotency-Key", "idempotency-key: a\r\n"),
        ("If-Match", "if-match: \"1\"\r\n"),
    ] {
        let mut twice = Raw::connect(&app, HERE).await;
        let known = if name == "Authorization" { "" } else { token.as_str() };
        let headers = format!("{known}{line}{line}connection: close\r\n");
        twice.send(&get("/api/workflows", &headers)).await;
        let told = twice.rest().await;
        assert!(told.starts_with("HTTP/1.1 400") && told.contains("\"duplicate\""), "{name}: {told}");
        assert!(told.contains(&format!("\"field\":\"{name}\"")), "{name}: {told}");
    }
    app.stop().await;
}

#[tokio::test]
async fn every_answer_says_that_nothing_is_loaded_by_it() {
    let mut app = app(|_| {}).await;
    for answer in [
        app.admin.get("/api/workflows").await.expect(200),
        app.anonymous().get("/api/workflows").await.expect(401),
        app.anonymous().get("/nowhere").await.expect(404),
        app.anonymous().post("/health/live", json!({})).await.expect(405),
    ] {
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    let page = app.anonymous().get("/docs").await.expect(200);
    assert!(page.header("content-security-policy").starts_with("default-src 'self'"));
    // The licence is nobody's business but the callers'.
    assert!(app.admin.get("/api/workflows").await.header("x-licence-warning").starts_with("trial"));
    assert_eq!(app.anonymous().get("/health/live").await.header("x-licence-warning"), "");
    app.stop().await;
}

#[tokio::test]
async fn whoever_may_send_a_body_unknown_may_send_a_small_one() {
    let mut app = app(|_| {}).await;
    for path in [SIGN_IN, "/api/setup"] {
        let mut large = Raw::connect(&app, HERE).await;
        large.send(&begun(path, "", 8 * 1024 + 1, "")).await;
        assert!(large.rest().await.starts_with("HTTP/1.1 413"), "{path}");
    }
    app.stop().await;
}

//! Tests of connections against servers on loopback: good and bad credentials, down, and what is never told.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail as tests do")]

mod server;
mod tls;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_connections::ConnectionKind;
use heddle_connections::ports::{Ping, Tested, Tester as _};
use heddle_connections::records::{OpenConnection, Phase};
use heddle_connections::secret::Secret;
use heddle_connections::types::signing_key;
use heddle_egress::{Egress, EgressRules, SystemResolver};
use heddle_kernel::{ConnectionId, Revision, TenantId, Timestamp};
use heddle_outbound::{Message, Outbound, sign};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::server::{Server, refusing};

const NOW: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
pub(crate) const CANARY: &str = "canary-of-the-server";
const SIGNING: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PREVIOUS: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

fn outbound(loopback: bool) -> Outbound {
    let rules = EgressRules { loopback, ..EgressRules::default() };
    Outbound::new(Egress::new(rules, Arc::new(SystemResolver::default())))
}

pub(crate) fn opened(kind: ConnectionKind, config: Value, secrets: &[(&str, &str)]) -> OpenConnection {
    let Value::Object(config) = config else { panic!("{config} is no object") };
    OpenConnection {
        tenant: TenantId(Uuid::from_u128(1)),
        id: ConnectionId(Uuid::from_u128(2)),
        kind,
        revision: Revision::FIRST,
        config,
        secrets: secrets.iter().map(|(name, text)| ((*name).to_owned(), Secret::new(*text))).collect(),
    }
}

pub(crate) async fn tested(connection: &OpenConnection) -> Tested {
    let ping = Ping { message_id: "msg_1".to_owned(), tenant: connection.tenant, webhook: None, at: NOW };
    let tested = outbound(true).test(connection, &ping).await;
    assert!(!tested.message.contains(CANARY) && !tested.message.contains("secret-of"), "{tested:?}");
    tested
}

#[tokio::test]
async fn each_kind_of_authentication_reaches_the_service() {
    let basic = format!("authorization: Basic {}", STANDARD.encode("ada:secret-of-ada"));
    let cases: [(&str, Value, (&str, &str), String); 4] = [
        ("none", json!({}), ("x", "x"), "get /health?full=1 http/1.1".to_owned()),
        ("basic", json!({"username": "ada"}), ("password", "secret-of-ada"), basic),
        (
            "bearer",
            json!({}),
            ("token", "secret-of-bearer"),
            "authorization: Bearer secret-of-bearer".to_owned(),
        ),
        (
            "header",
            json!({"headerName": "X-Key"}),
            ("headerValue", "secret-of-key"),
            "x-key: secret-of-key".to_owned(),
        ),
    ];
    for (kind, config, secret, line) in cases {
        for (status, ok, phase) in [
            ("200 OK", true, Phase::Request),
            ("401 Unauthorized", false, Phase::Auth),
            ("403 Forbidden", false, Phase::Auth),
            ("500 Oops", false, Phase::Request),
        ] {
            let server =
                Server::answering([format!("HTTP/1.1 {status}\r\ncontent-length: 20\r\n\r\n{CANARY}")]).await;
            let mut whole = json!({
                "baseUrl": format!("http://127.0.0.1:{}/", server.port),
                "authentication": kind,
                "testPath": "/health?full=1",
            });
            whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
            let found = tested(&opened(ConnectionKind::Http, whole, &[secret])).await;
            assert_eq!((found.ok, found.phase), (ok, phase), "{kind} {status}: {}", found.message);
            let asked = server.asked().await;
            let has = asked.lines().any(|told| told.eq_ignore_ascii_case(&line));
            assert!(has && asked.starts_with("GET /health?full=1 "), "{kind}: {asked}");
        }
    }
}

fn token(body: &str, status: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[tokio::test]
async fn a_token_is_fetched_by_client_credentials() {
    let good = token(r#"{"access_token":"secret-of-token","token_type":"Bearer"}"#, "200 OK");
    let refused = token(&format!(r#"{{"error":"invalid_client","error_description":"{CANARY}"}}"#), "401 No");
    let strange = token(&format!(r#"{{"error":"{CANARY}"}}"#), "400 Bad");
    let service = "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned();
    let cases: [(&str, Vec<String>, bool, &str); 4] = [
        ("basic", vec![good.clone(), service.clone()], true, "status 204"),
        ("post", vec![good, service], true, "status 204"),
        ("basic", vec![refused], false, "`invalid_client`"),
        ("basic", vec![strange], false, "status 400)"),
    ];
    for (place, answers, ok, word) in cases {
        let server = Server::answering(answers).await;
        let address = format!("http://127.0.0.1:{}", server.port);
        let config = json!({
            "baseUrl": address, "authentication": "oauth2ClientCredentials", "tokenUrl": format!("{address}/token"),
            "clientId": "a b", "clientAuthentication": place, "scopes": ["read", "write"],
        });
        let found =
            tested(&opened(ConnectionKind::Http, config, &[("clientSecret", "secret-of&client")])).await;
        assert_eq!(found.ok, ok, "{}", found.message);
        assert!(found.message.contains(word), "{}", found.message);
        assert_eq!(found.phase, if ok { Phase::Request } else { Phase::Auth });
        let asked = server.asked().await;
        assert!(asked.starts_with("POST /token "), "{asked}");
        assert!(asked.contains("grant_type=client_credentials&scope=read+write"), "{asked}");
        let in_header = format!("Basic {}", STANDARD.encode("a+b:secret-of%26client"));
        assert_eq!(asked.contains(&in_header), place == "basic", "{asked}");
        assert_eq!(
            asked.contains("client_id=a+b&client_secret=secret-of%26client"),
            place == "post",
            "{asked}"
        );
        assert_eq!(asked.contains("Bearer secret-of-token"), ok, "{asked}");
    }
}

#[tokio::test]
async fn a_message_arrives_signed_with_both_keys() {
    let server = Server::answering(["HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned()]).await;
    let config = json!({"url": format!("http://127.0.0.1:{}/hook", server.port)});
    let secrets = [("signingSecret", SIGNING), ("previousSigningSecret", PREVIOUS)];
    let connection = opened(ConnectionKind::Webhook, config, &secrets);
    let message = Message { id: "msg_7".to_owned(), at: NOW, body: br#"{"type":"run.started"}"#.to_vec() };
    let delivered = outbound(true).deliver(&connection, &message).await;
    assert_eq!((delivered.ok, delivered.status), (true, Some(202)), "{delivered:?}");
    let keys = [signing_key(SIGNING).unwrap(), signing_key(PREVIOUS).unwrap()];
    let signed = sign("msg_7", 1_767_225_600, &message.body, keys.iter().map(|key| key.as_slice()));
    assert_eq!(signed.signature.split(' ').count(), 2);
    let asked = server.asked().await;
    for line in [
        "webhook-id: msg_7".to_owned(),
        "webhook-timestamp: 1767225600".to_owned(),
        format!("webhook-signature: {}", signed.signature),
        "content-type: application/json".to_owned(),
    ] {
        assert!(asked.lines().any(|told| told == line), "{line} in {asked}");
    }
    assert!(asked.ends_with(r#"{"type":"run.started"}"#), "{asked}");
    assert!(!asked.contains("whsec_"), "{asked}");
}

#[tokio::test]
async fn a_receiver_that_does_not_end_its_answer_is_not_waited_for() {
    let server = Server::holding("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n").await;
    let config = json!({"url": format!("http://127.0.0.1:{}/hook", server.port)});
    let connection = opened(ConnectionKind::Webhook, config, &[("signingSecret", SIGNING)]);
    let message = Message { id: "msg_8".to_owned(), at: NOW, body: b"{}".to_vec() };
    let delivered = outbound(true).deliver(&connection, &message).await;
    assert_eq!((delivered.ok, delivered.status), (true, Some(200)), "{delivered:?}");
    assert!(delivered.latency_ms < 8_000, "{delivered:?}");
    assert!(server.asked().await.contains("msg_8"));
}

#[tokio::test]
async fn a_ping_says_of_what_and_a_receiver_that_redirects_is_not_followed() {
    for (status, ok) in [("204 No Content", true), ("302 Found\r\nlocation: http://169.254.169.254/", false)]
    {
        let server = Server::answering([format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n")]).await;
        let config = json!({"url": format!("http://127.0.0.1:{}/hook", server.port)});
        let found = tested(&opened(ConnectionKind::Webhook, config, &[("signingSecret", SIGNING)])).await;
        assert_eq!((found.ok, found.phase), (ok, Phase::Request), "{}", found.message);
        assert!(server.asked().await.contains(r#""type":"ping""#));
    }
}

#[tokio::test]
async fn a_bucket_is_asked_for_with_a_signature() {
    for (status, ok, phase) in [
        ("200 OK", true, Phase::Request),
        ("403 Forbidden", false, Phase::Auth),
        ("404 Not Found", false, Phase::Request),
        ("301 Moved", false, Phase::Request),
    ] {
        let server = Server::answering([format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n")]).await;
        let config = json!({
            "endpoint": format!("http://127.0.0.1:{}", server.port), "region": "eu-west-1", "bucket": "orders",
            "accessKeyId": "AKIA1",
        });
        let found = tested(&opened(ConnectionKind::S3, config, &[("secretAccessKey", "secret-of-s3")])).await;
        assert_eq!((found.ok, found.phase), (ok, phase), "{}", found.message);
        let asked = server.asked().await;
        assert!(asked.starts_with("HEAD /orders "), "{asked}");
        let signed =
            "AWS4-HMAC-SHA256 Credential=AKIA1/20260101/eu-west-1/s3/aws4_request, SignedHeaders=host;";
        assert!(asked.contains(signed) && asked.contains("x-amz-date: 20260101T000000Z"), "{asked}");
    }
}

#[tokio::test]
async fn a_mail_server_that_takes_no_tls_gets_no_password() {
    let hello = format!("220 {CANARY}\r\n250-mx.test {CANARY}\r\n250 AUTH PLAIN\r\n221 bye\r\n");
    for (security, user, ok, phase) in [
        ("none", false, true, Phase::Request),
        ("none", true, false, Phase::Tls),
        ("starttls", true, false, Phase::Tls),
    ] {
        let server = Server::speaking(hello.clone()).await;
        let mut config = json!({"host": "127.0.0.1", "port": server.port, "security": security});
        let mut secrets = Vec::new();
        if user {
            config.as_object_mut().unwrap().insert("username".to_owned(), "ada".into());
            secrets.push(("password", "secret-of-ada"));
        }
        let found = tested(&opened(ConnectionKind::Smtp, config, &secrets)).await;
        assert_eq!((found.ok, found.phase), (ok, phase), "{security}: {}", found.message);
        let asked = server.asked().await;
        assert!(asked.starts_with("EHLO localhost") && !asked.contains("AUTH"), "{asked}");
    }
}

#[tokio::test]
async fn what_is_down_or_something_else_is_told_by_its_phase() {
    let down = refusing().await;
    let http = json!({"baseUrl": format!("http://127.0.0.1:{down}")});
    let mail = json!({"host": "127.0.0.1", "port": down});
    let database =
        json!({"host": "127.0.0.1", "port": down, "database": "d", "username": "u", "tls": "disable"});
    for (kind, config) in [
        (ConnectionKind::Http, http.clone()),
        (ConnectionKind::Smtp, mail),
        (ConnectionKind::Postgresql, database.clone()),
    ] {
        let found = tested(&opened(kind, config, &[])).await;
        assert_eq!((found.ok, found.phase), (false, Phase::Connect), "{kind}: {}", found.message);
    }
    // A web server where a database is expected.
    let server = Server::speaking(format!("HTTP/1.1 400 Bad Request\r\n\r\n{CANARY}")).await;
    let mut config = database;
    config.as_object_mut().unwrap().insert("port".to_owned(), server.port.into());
    let found = tested(&opened(ConnectionKind::Postgresql, config, &[("password", "secret-of-db")])).await;
    assert!(!found.ok, "{}", found.message);
    // Where nobody allowed loopback nothing goes there at all.
    let ping = Ping { message_id: "msg_1".to_owned(), tenant: TenantId(Uuid::nil()), webhook: None, at: NOW };
    let denied = outbound(false).test(&opened(ConnectionKind::Http, http, &[]), &ping).await;
    assert_eq!((denied.ok, denied.phase), (false, Phase::Connect), "{}", denied.message);
}

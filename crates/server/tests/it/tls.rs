//! TLS by the server itself: its answers, its limits, and a certificate that changes.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_egress::{
    Egress, EgressRules, Instant, Method, OutRequest, Roots, Secured, SystemResolver, TlsChoice,
};
use heddle_server::{Config, Durability, EdgeLimits, Pace, Server, StartError};
use heddle_testkit::eventually;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};

/// Longest wait of a test for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

struct Pair {
    certificate: String,
    key: String,
}

impl Pair {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Self { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    fn write(&self, folder: &Path) {
        std::fs::write(folder.join("cert.pem"), &self.certificate).unwrap();
        std::fs::write(folder.join("key.pem"), &self.key).unwrap();
    }

    /// A client that trusts this certificate alone.
    fn client(&self) -> Egress {
        let rules = EgressRules { loopback: true, ..EgressRules::default() };
        let roots = Roots::none().with_pem(&self.certificate).unwrap();
        Egress::with_roots(rules, Arc::new(SystemResolver::default()), roots)
    }
}

/// Configuration of a server with the pair of a folder.
fn config(folder: &Path) -> Config {
    Config {
        data_dir: folder.join("data"),
        listen: ([127, 0, 0, 1], 0).into(),
        durability: Durability::Process,
        tls_cert: Some(folder.join("cert.pem")),
        tls_key: Some(folder.join("key.pem")),
        workers: 1,
        edge: EdgeLimits { anonymous_per_second: 0, ..EdgeLimits::default() },
        ..Config::default()
    }
}

fn live(server: &Server) -> OutRequest {
    let url = format!("https://localhost:{}/health/live", server.address().port());
    OutRequest::new(Method::GET, &url).unwrap()
}

async fn open(client: &Egress, server: &Server) -> Secured {
    let port = server.address().port();
    client.connect_tls("localhost", port, &TlsChoice::default(), Instant::now() + PATIENCE).await.unwrap()
}

async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> Vec<u8> {
    let mut all = Vec::new();
    // A connection that is cut ends with an error.
    let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut all)).await.expect("no end");
    all
}

#[tokio::test]
async fn asvs_3_4_1_answers_come_over_tls_alone_and_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    pair.write(folder.path());
    let server = Server::start(config(folder.path())).await.unwrap();
    assert_eq!(server.scheme(), "https");
    let client = pair.client();
    let answer = client.send(live(&server)).await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), answer.headers["strict-transport-security"].to_str().unwrap()),
        (200, "max-age=31536000")
    );
    assert!(client.send(live(&server)).await.unwrap().timings.was_open, "connections are kept");
    let plain = format!("http://localhost:{}/health/live", server.address().port());
    client.send(OutRequest::new(Method::GET, &plain).unwrap()).await.unwrap_err();
    server.stop().await;
}

#[tokio::test]
async fn a_certificate_that_changes_is_taken_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Pair::new(), Pair::new());
    first.write(folder.path());
    let server = Server::start(config(folder.path())).await.unwrap();
    let asked = || {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP).unwrap();
    };
    first.client().send(live(&server)).await.unwrap();
    // What can't be used comes before what can, so that only the latter's success has to be waited for.
    std::fs::write(folder.path().join("cert.pem"), "broken").unwrap();
    asked();
    first.client().send(live(&server)).await.unwrap();
    second.write(folder.path());
    eventually("the second certificate", async || {
        asked();
        second.client().send(live(&server)).await.ok()
    })
    .await;
    first.client().send(live(&server)).await.unwrap_err();
    server.stop().await;
}

#[tokio::test]
async fn limits_hold_under_tls() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new();
    pair.write(folder.path());
    let edge = EdgeLimits {
        connections_per_address: 2,
        head: Duration::from_secs(3),
        pace: Pace { grace: Duration::from_millis(500), bytes_per_second: 1_000_000 },
        ..config(folder.path()).edge
    };
    let server = Server::start(Config { edge, ..config(folder.path()) }).await.unwrap();
    let client = pair.client();

    // A handshake that does not begin, and a head that does not end.
    let mut silent =
        client.connect("localhost", server.address().port(), Instant::now() + PATIENCE).await.unwrap();
    let mut slow = open(&client, &server).await;
    slow.stream.write_all(b"GET /health/live HTT").await.unwrap();
    // One connection more than an address may have is closed.
    let deadline = Instant::now() + PATIENCE;
    let port = server.address().port();
    client.connect_tls("localhost", port, &TlsChoice::default(), deadline).await.unwrap_err();
    assert!(rest(&mut silent.stream).await.is_empty());
    rest(&mut slow.stream).await;

    // An answer that nobody reads.
    let unread = eventually("a place", async || {
        let deadline = Instant::now() + PATIENCE;
        client.connect_tls("localhost", port, &TlsChoice::default(), deadline).await.ok()
    });
    let mut unread = unread.await;
    unread
        .stream
        .write_all(b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    let cut = tokio::time::timeout(PATIENCE, unread.stream.get_ref().0.ready(Interest::ERROR)).await;
    let _ = cut.expect("the connection is not cut").unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_pair_that_can_not_be_used_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let half = Server::start(Config { tls_key: None, ..config(folder.path()) }).await.unwrap_err();
    assert!(
        matches!(half, StartError::Tls(_)) && half.to_string().contains("`tls_key` is missing"),
        "{half}"
    );
    let absent = Server::start(config(folder.path())).await.unwrap_err();
    assert!(absent.to_string().contains("cert.pem") && absent.exit_code() == 2, "{absent}");
    assert!(!folder.path().join("data").exists(), "nothing was opened");
    // With TLS the server may be reached from other machines.
    Pair::new().write(folder.path());
    let everywhere = Config { listen: ([0, 0, 0, 0], 0).into(), ..config(folder.path()) };
    Server::start(everywhere).await.unwrap().stop().await;
}

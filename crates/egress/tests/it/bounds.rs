//! Answers that never end, or are more than they seem.

use std::io::{self, Write as _};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flate2::Compression;
use flate2::write::GzEncoder;
use heddle_egress::{Egress, EgressRules, Fault, Limits, Method, OutRequest, Phase, Resolve, Roots};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::peer::{Peer, get, head, limits, ok, open_way};

/// Time for which no test waits: who meets it has no bound.
const FOREVER: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(200);

/// A server that says this once, and then the other thing over and over.
async fn repeating(first: &'static str, then: &'static [u8], pause: Duration) -> Peer {
    Peer::start(move |mut stream: TcpStream| async move {
        if head(&mut stream).await.is_none() || stream.write_all(first.as_bytes()).await.is_err() {
            return;
        }
        loop {
            if stream.write_all(then).await.is_err() || stream.flush().await.is_err() {
                return;
            }
            if pause > Duration::ZERO {
                tokio::time::sleep(pause).await;
            }
        }
    })
    .await
}

async fn fault(peer: &Peer, limits: Limits) -> Fault {
    let answer = open_way().send(get(&peer.url("/")).with_limits(limits)).await;
    let error = answer.unwrap_err();
    assert_eq!(error.phase, Phase::Request, "{error:?}");
    assert!(error.may_have_been_sent);
    error.fault
}

#[tokio::test]
async fn headers_have_bounds() {
    let endless = repeating("HTTP/1.1 200 OK\r\nX: ", &[b'x'; 4096], Duration::ZERO).await;
    assert!(matches!(fault(&endless, limits()).await, Fault::HeadersTooLarge));
    let many = repeating("HTTP/1.1 200 OK\r\n", b"X: y\r\n", Duration::ZERO).await;
    assert!(matches!(fault(&many, limits()).await, Fault::HeadersTooLarge));
    let status = repeating("HTTP/1.1 200 ", &[b'O'; 4096], Duration::ZERO).await;
    assert!(matches!(fault(&status, limits()).await, Fault::HeadersTooLarge));
    let mut hundred = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n".to_owned();
    (0..99).for_each(|n| hundred.push_str(&format!("X-{n}: y\r\n")));
    let peer = Peer::answering(format!("{hundred}\r\n")).await;
    assert_eq!(open_way().send(get(&peer.url("/"))).await.unwrap().headers.len(), 100);
    let peer = Peer::answering(format!("{hundred}X: y\r\n\r\n")).await;
    assert!(matches!(fault(&peer, limits()).await, Fault::HeadersTooLarge));
}

#[tokio::test]
async fn bodies_have_bounds() {
    let small = Limits { body_bytes: 100_000, ..limits() };
    for first in [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n",
    ] {
        let peer = repeating(first, &[b'x'; 4096], Duration::ZERO).await;
        assert!(matches!(fault(&peer, small).await, Fault::BodyTooLarge(100_000)), "{first}");
    }
    let chunked =
        repeating("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\nabc\r\n", Duration::ZERO)
            .await;
    assert!(matches!(fault(&chunked, small).await, Fault::BodyTooLarge(100_000)));
    let peer = Peer::answering(ok(&"x".repeat(100_000))).await;
    let answer = open_way().send(get(&peer.url("/")).with_limits(small)).await.unwrap();
    assert_eq!(answer.body.len(), 100_000, "the bound itself passes");
}

#[tokio::test]
async fn waits_have_bounds() {
    let silent = Peer::start(|mut stream| async move {
        head(&mut stream).await;
        tokio::time::sleep(FOREVER).await;
    })
    .await;
    assert!(matches!(fault(&silent, Limits { first_byte: SHORT, ..limits() }).await, Fault::TimedOut(SHORT)));
    let drips = repeating("HTTP/1.1 200 OK\r\nX: ", b"x", Duration::from_millis(20)).await;
    assert!(matches!(fault(&drips, Limits { first_byte: SHORT, ..limits() }).await, Fault::TimedOut(SHORT)));
    let stops = repeating("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b"x", FOREVER).await;
    assert!(matches!(fault(&stops, Limits { idle: SHORT, ..limits() }).await, Fault::TimedOut(SHORT)));
    let drips = repeating("HTTP/1.1 200 OK\r\n\r\n", b"x", Duration::from_millis(20)).await;
    // All of it counts here, the connection too, which a busy machine does not make at once.
    let total = Duration::from_millis(1500);
    let late = fault(&drips, Limits { total, ..limits() }).await;
    assert!(matches!(late, Fault::TimedOut(given) if given == total), "{late:?}");
    let informs = repeating("", b"HTTP/1.1 103 Early Hints\r\n\r\n", Duration::from_millis(20)).await;
    assert!(matches!(
        fault(&informs, Limits { first_byte: SHORT, ..limits() }).await,
        Fault::TimedOut(SHORT)
    ));
    let unread = Peer::start(|stream| async move {
        tokio::time::sleep(FOREVER).await;
        drop(stream);
    })
    .await;
    let request = OutRequest::new(Method::POST, &unread.url("/"))
        .unwrap()
        .with_body(vec![0; 32 << 20])
        .with_limits(Limits { first_byte: SHORT, ..limits() });
    assert!(matches!(open_way().send(request).await.unwrap_err().fault, Fault::TimedOut(SHORT)));
}

struct Silent;

#[async_trait]
impl Resolve for Silent {
    async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_name_server_that_is_silent_has_a_bound() {
    let egress = Egress::with_roots(EgressRules::default(), Arc::new(Silent), Roots::none());
    let request = get("http://a.test/").with_limits(Limits { connect: SHORT, ..limits() });
    let error = egress.send(request).await.unwrap_err();
    assert!(matches!(error.fault, Fault::TimedOut(SHORT)) && error.phase == Phase::Dns, "{error:?}");
    assert_eq!(error.to_string(), "no answer within 0.2 s");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn packed_bodies_are_unpacked_within_their_bound() {
    let peer = Peer::answering(packed(&gzip(b"a text"))).await;
    let answer = open_way().send(get(&peer.url("/"))).await.unwrap();
    assert_eq!(&answer.body[..], b"a text");
    assert!(
        !answer.headers.contains_key("content-encoding") && !answer.headers.contains_key("content-length")
    );
    // Whoever asks for a form gets it as it comes.
    let raw = get(&peer.url("/")).with_header("accept-encoding".parse().unwrap(), "gzip".parse().unwrap());
    assert_eq!(open_way().send(raw).await.unwrap().body, gzip(b"a text"));

    let bomb = gzip(&vec![0; 16 << 20]);
    assert!(bomb.len() < 20_000);
    let peer = Peer::answering(packed(&bomb)).await;
    assert!(matches!(fault(&peer, limits()).await, Fault::UnpackedTooLarge(10_485_760)));
    let cut = gzip(b"a text");
    let peer = Peer::answering(packed(&cut[..cut.len() - 2])).await;
    assert!(matches!(fault(&peer, limits()).await, Fault::BadEncoding(_)));
    let other = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx";
    assert!(matches!(fault(&Peer::answering(other).await, limits()).await, Fault::BadEncoding(_)));
}

#[tokio::test]
async fn answers_that_break_off_or_are_no_http_are_told() {
    for (answer, is_http) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", true),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", true),
        ("HTTP/1.1 200 OK\r\nContent-Le", true),
        ("", true),
        ("SSH-2.0-OpenSSH_9.6\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx", false),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", false),
    ] {
        let peer = Peer::start(move |mut stream| async move {
            head(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let found = fault(&peer, limits()).await;
        let expected =
            if is_http { matches!(found, Fault::Broken) } else { matches!(found, Fault::NotHttp(_)) };
        assert!(expected, "{answer:?}: {found:?}");
    }
}

#[tokio::test]
async fn a_body_comes_piece_by_piece() {
    let (more, next) = tokio::sync::mpsc::channel::<&'static str>(1);
    let next = Arc::new(tokio::sync::Mutex::new(next));
    let peer = Peer::start(move |mut stream| {
        let next = Arc::clone(&next);
        async move {
            head(&mut stream).await;
            let first = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
            stream.write_all(first.as_bytes()).await.unwrap();
            while let Some(part) = next.lock().await.recv().await {
                stream.write_all(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes()).await.unwrap();
            }
            stream.write_all(b"0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let mut stream = open_way().open(get(&peer.url("/")).with_limits(limits())).await.unwrap();
    for part in ["one", "two"] {
        more.send(part).await.unwrap();
        assert_eq!(stream.body.chunk().await.unwrap().unwrap(), part);
    }
    drop(more);
    assert!(stream.body.chunk().await.unwrap().is_none());
    assert!(stream.body.chunk().await.unwrap().is_none());
}

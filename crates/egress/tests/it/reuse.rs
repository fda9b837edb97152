//! Connections that are used again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use heddle_egress::{Fault, Limits, Method, OutRequest};
use tokio::io::AsyncWriteExt as _;

use crate::peer::{Peer, get, head, limits, ok, open_way};

#[tokio::test]
async fn a_connection_serves_the_requests_of_its_scope() {
    let peer = Peer::answering(ok("x")).await;
    let egress = open_way();
    for at in 0..5 {
        let answer = egress.send(get(&peer.url("/"))).await.unwrap();
        assert_eq!(answer.timings.was_open, at > 0);
    }
    assert_eq!(peer.connections(), 1);
    egress.send(get(&peer.url("/")).with_scope("con_1")).await.unwrap();
    egress.send(get(&peer.url("/")).with_scope("con_1")).await.unwrap();
    assert_eq!(peer.connections(), 2);
    egress.send(get(&format!("http://other.test:{}/", peer.address.port()))).await.unwrap();
    assert_eq!(peer.connections(), 3, "another name is another connection");
}

/// A server that answers one request on each connection, and closes it.
async fn closing() -> Peer {
    Peer::start(|mut stream| async move {
        head(&mut stream).await;
        stream.write_all(ok("x").as_bytes()).await.unwrap();
    })
    .await
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_replaced() {
    let peer = closing().await;
    let egress = open_way();
    for _ in 0..20 {
        assert_eq!(egress.send(get(&peer.url("/"))).await.unwrap().status, 200);
    }
    assert_eq!(peer.connections(), 20);
}

/// A server that answers the first request of a connection, and closes it when it has read the second.
#[tokio::test]
async fn only_what_may_be_repeated_is_repeated() {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let peer = Peer::start(move |mut stream| {
        let counted = Arc::clone(&counted);
        async move {
            head(&mut stream).await;
            counted.fetch_add(1, Ordering::SeqCst);
            stream.write_all(ok("x").as_bytes()).await.unwrap();
            head(&mut stream).await;
            counted.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    let egress = open_way();
    egress.send(get(&peer.url("/"))).await.unwrap();
    assert_eq!(egress.send(get(&peer.url("/"))).await.unwrap().status, 200, "a GET goes out again");
    let post = OutRequest::new(Method::POST, &peer.url("/")).unwrap().with_body("once");
    let before = read.load(Ordering::SeqCst);
    let error = egress.send(post).await.unwrap_err();
    assert!(matches!(error.fault, Fault::Broken) && error.may_have_been_sent, "{error:?}");
    assert_eq!(read.load(Ordering::SeqCst), before + 1, "a POST does not");
}

#[tokio::test]
async fn what_was_not_read_to_its_end_is_not_used_again() {
    let peer = Peer::answering(ok(&"x".repeat(1000))).await;
    let egress = open_way();
    let small = get(&peer.url("/")).with_limits(Limits { body_bytes: 10, ..limits() });
    egress.send(small).await.unwrap_err();
    drop(egress.open(get(&peer.url("/"))).await.unwrap());
    let answer = egress.send(get(&peer.url("/"))).await.unwrap();
    assert!(!answer.timings.was_open);
    assert_eq!(peer.connections(), 3);
}

#[tokio::test]
async fn many_at_once() {
    let peer = Peer::answering(ok("x")).await;
    let egress = open_way();
    for _ in 0..3 {
        let sent = (0..40).map(|_| egress.send(get(&peer.url("/"))));
        for answer in futures::future::join_all(sent).await {
            assert_eq!(&answer.unwrap().body[..], b"x");
        }
    }
    assert!(peer.connections() < 120, "{}", peer.connections());
}

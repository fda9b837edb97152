//! Servers of the tests, and resolvers that say what a test wants.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use heddle_egress::{Egress, EgressRules, Limits, Method, OutRequest, Resolve, Roots};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// A server that counts its connections.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Peer {
    pub(crate) async fn start<F, W>(serve: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0", serve).await
    }

    pub(crate) async fn start_at<F, W>(address: &str, serve: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self { address, connections }
    }

    /// A server that answers each request with these bytes.
    pub(crate) async fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer: Vec<u8> = answer.into();
        Self::start(move |mut stream| {
            let answer = answer.clone();
            async move {
                while head(&mut stream).await.is_some() {
                    if stream.write_all(&answer).await.is_err() {
                        return;
                    }
                }
            }
        })
        .await
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}

/// The next request's head; none when the client is gone. The tests' requests have bodies that are read with it.
pub(crate) async fn head(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = Vec::new();
    let mut part = [0; 4096];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut part).await {
            Ok(length) if length > 0 => head.extend(part.iter().take(length)),
            _ => return None,
        }
    }
    Some(String::from_utf8_lossy(&head).into_owned())
}

pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// A resolver that gives the next of its answers each time, and the last one for ever.
pub(crate) struct Script {
    answers: parking_lot::Mutex<VecDeque<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Script {
    pub(crate) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parsed = answers.iter().map(|one| one.iter().map(|text| text.parse().unwrap()).collect());
        Arc::new(Self { answers: parking_lot::Mutex::new(parsed.collect()), asked: AtomicUsize::new(0) })
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl Resolve for Script {
    async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answers.lock();
        let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        next.ok_or_else(|| io::Error::other("no such name"))
    }
}

/// A way out that may go to loopback; names resolve to it.
pub(crate) fn open_way() -> Egress {
    let rules = EgressRules { loopback: true, ..EgressRules::default() };
    Egress::with_roots(rules, Script::new(&[&["127.0.0.1"]]), Roots::none())
}

pub(crate) fn get(url: &str) -> OutRequest {
    OutRequest::new(Method::GET, url).unwrap()
}

/// Bounds within which a bound is met soon, and nothing else is.
pub(crate) fn limits() -> Limits {
    let long = Duration::from_secs(20);
    Limits { connect: long, first_byte: long, idle: long, total: long, ..Limits::default() }
}

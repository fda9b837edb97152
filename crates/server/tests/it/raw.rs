//! Connections without a client library: what comes when, and what does not, is the test's.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use heddle_testkit::TestApp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::{TcpSocket, TcpStream};

/// Longest wait for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// The address that other clients of a test come from.
pub(crate) const HERE: Ipv4Addr = Ipv4Addr::LOCALHOST;
/// An address of its own.
pub(crate) const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// An open connection.
pub(crate) struct Raw(TcpStream);

impl Raw {
    /// Connects from an address.
    #[expect(clippy::disallowed_methods, reason = "tests are clients of the server that they start")]
    pub(crate) async fn connect(app: &TestApp, from: Ipv4Addr) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        // Little of an answer is on its way before it is read.
        socket.set_recv_buffer_size(8 * 1024).unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        Self(socket.connect(app.server().address()).await.unwrap())
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until a text has come; everything up to then.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let read = async {
            let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
            while !String::from_utf8_lossy(&all).contains(text) {
                let count = self.0.read(&mut buffer).await.unwrap();
                assert!(count > 0, "the end before `{text}`: {}", String::from_utf8_lossy(&all));
                all.extend_from_slice(&buffer[..count]);
            }
            String::from_utf8_lossy(&all).into_owned()
        };
        tokio::time::timeout(PATIENCE, read).await.unwrap_or_else(|_| panic!("no `{text}` in time"))
    }

    /// Everything up to the end of the connection, which has to come.
    pub(crate) async fn rest(&mut self) -> String {
        let mut all = Vec::new();
        let end = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut all)).await;
        // A connection that is cut ends with an error.
        let _ = end.unwrap_or_else(|_| panic!("no end after {}", String::from_utf8_lossy(&all)));
        String::from_utf8_lossy(&all).into_owned()
    }

    /// Waits until the other side has cut the connection, without reading what has come.
    pub(crate) async fn cut(&mut self) {
        let cut = tokio::time::timeout(PATIENCE, self.0.ready(Interest::ERROR)).await;
        let _ = cut.expect("the connection is not cut").unwrap();
    }
}

/// A request with a JSON body, of which only the first bytes are sent.
pub(crate) fn begun(path: &str, headers: &str, length: usize, first: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\n{headers}content-type: application/json\r\n\
         content-length: {length}\r\n\r\n{first}"
    )
}

/// A request without a body.
pub(crate) fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: test\r\n{headers}\r\n")
}

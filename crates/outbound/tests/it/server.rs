//! A server on loopback that says what it was told to and remembers what it was asked.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Time after which a test gives up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that is asked.
pub(crate) struct Server {
    pub(crate) port: u16,
    all: JoinHandle<String>,
}

impl Server {
    /// A server of HTTP: for each answer it takes a connection, reads one request, answers and hangs up.
    pub(crate) async fn answering(answers: impl IntoIterator<Item = String>) -> Self {
        let answers: Vec<String> = answers.into_iter().collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let all = tokio::spawn(async move {
            let mut asked = String::new();
            for answer in answers {
                let (mut stream, _) = listener.accept().await.unwrap();
                asked.push_str(&request(&mut stream).await);
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
            asked
        });
        Self { port, all }
    }

    /// A server of HTTP that answers one request, and holds the connection until the client hangs up.
    pub(crate) async fn holding(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let all = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let asked = request(&mut stream).await;
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
            asked
        });
        Self { port, all }
    }

    /// A server that says all it has to say to the first client, and listens until that one hangs up.
    pub(crate) async fn speaking(text: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let all = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
            let mut asked = Vec::new();
            // Whoever hangs up in the middle is done as well.
            let _ = stream.read_to_end(&mut asked).await;
            String::from_utf8_lossy(&asked).into_owned()
        });
        Self { port, all }
    }

    /// All that was asked.
    pub(crate) async fn asked(self) -> String {
        timeout(PATIENCE, self.all).await.unwrap().unwrap()
    }
}

/// One request: its headers and as much of a body as they say.
async fn request(stream: &mut TcpStream) -> String {
    let mut asked = String::new();
    let mut piece = [0; 4096];
    loop {
        if let Some((headers, body)) = asked.split_once("\r\n\r\n") {
            let length = headers.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
            });
            if body.len() >= length.unwrap_or(0) {
                return asked;
            }
        }
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "the client hung up: {asked}");
        asked.push_str(&String::from_utf8_lossy(piece.get(..count).unwrap_or_default()));
    }
}

/// A port on which nobody listens.
pub(crate) async fn refusing() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().port()
}

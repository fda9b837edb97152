//! A keep-alive HTTP/1.1 connection that costs next to nothing: client and server share the processors, so what
//! the client spends is missing in the figure.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same buffer")]

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection to one server.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    answer: usize,
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Head {
    status: u16,
    /// Byte offset of the body.
    body: usize,
    length: Length,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Length {
    Known(usize),
    Chunked,
}

impl Connection {
    /// Connects to `host:port`.
    #[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
    pub async fn open(address: &str) -> Result<Self> {
        let stream =
            TcpStream::connect(address).await.with_context(|| format!("no connection to {address}"))?;
        stream.set_nodelay(true).context("no delay cannot be set")?;
        Ok(Self { stream, buffer: vec![0; 16 * 1024], filled: 0, answer: 0 })
    }

    /// Sends one request and reads its answer: the status and the body as it came.
    pub async fn exchange(&mut self, request: &[u8]) -> Result<(u16, &[u8])> {
        // One request is under way at a time, so nothing of the next answer can be there already.
        self.filled = 0;
        self.stream.write_all(request).await.context("the request broke off")?;
        let head = loop {
            self.fill().await?;
            if let Some(head) = head(&self.buffer[..self.filled])? {
                break head;
            }
        };
        loop {
            let end = match head.length {
                Length::Known(length) => Some(head.body + length),
                Length::Chunked => chunked_end(&self.buffer[..self.filled], head.body),
            };
            match end {
                Some(end) if end <= self.filled => {
                    self.answer = end;
                    break;
                }
                _ => self.fill().await?,
            }
        }
        Ok((head.status, &self.buffer[head.body..self.answer]))
    }

    async fn fill(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = self.stream.read(&mut self.buffer[self.filled..]).await.context("the answer broke off")?;
        if read == 0 {
            bail!("the server closed the connection");
        }
        self.filled += read;
        Ok(())
    }
}

/// The head, once it is there whole.
fn head(bytes: &[u8]) -> Result<Option<Head>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&bytes[..end]).context("the answer's head is not text")?;
    let mut lines = text.split("\r\n");
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).context("no status line")?;
    let mut length = Length::Known(0);
    for line in lines {
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            length = Length::Known(value.trim().parse().context("content-length is no number")?);
        } else if name.eq_ignore_ascii_case("transfer-encoding")
            && value.trim().eq_ignore_ascii_case("chunked")
        {
            length = Length::Chunked;
        }
    }
    if status == 204 || status == 304 {
        length = Length::Known(0);
    }
    Ok(Some(Head { status, body: end + 4, length }))
}

/// The end of a chunked body, once it is there whole.
fn chunked_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let line = bytes.get(at..)?.windows(2).position(|window| window == b"\r\n")?;
        let size = std::str::from_utf8(&bytes[at..at + line]).ok()?;
        let size = usize::from_str_radix(size.split(';').next()?.trim(), 16).ok()?;
        at += line + 2 + size + 2;
        if size == 0 {
            return (at <= bytes.len()).then_some(at);
        }
    }
}

/// A request as bytes.
pub fn request(method: &str, path: &str, token: Option<&str>, body: Option<&str>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    if let Some(token) = token {
        text.push_str(&format!("Authorization: Bearer {token}\r\n"));
    }
    match body {
        Some(body) => {
            text.push_str(&format!(
                "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            ));
        }
        None => text.push_str("\r\n"),
    }
    text.into_bytes()
}

/// The first text member `id` of a body, without reading the rest.
pub fn first_id(body: &[u8]) -> Option<&str> {
    const MARK: &[u8] = b"\"id\":";
    let after = body.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    let text = body[after..].trim_ascii_start().strip_prefix(b"\"")?;
    let length = text.iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&text[..length]).ok()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn heads_are_read_once_whole() {
        assert_eq!(head(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n").unwrap(), None);
        let read = head(b"HTTP/1.1 201 Created\r\ncontent-length: 12\r\n\r\n{}").unwrap().unwrap();
        assert_eq!((read.status, read.length), (201, Length::Known(12)));
        let read = head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap().unwrap();
        assert_eq!(read.length, Length::Chunked);
        assert!(head(b"nonsense\r\n\r\n").is_err());
    }

    #[test]
    fn chunked_bodies_end_where_they_say() {
        let body = b"4\r\nabcd\r\n0\r\n\r\n";
        assert_eq!(chunked_end(body, 0), Some(body.len()));
        assert_eq!(chunked_end(&body[..body.len() - 1], 0), None);
        assert_eq!(chunked_end(b"ff\r\nabc", 0), None);
    }

    #[test]
    fn the_first_id_is_found() {
        assert_eq!(first_id(br#"{"data":{"id":"abc","workflowId":"x"}}"#), Some("abc"));
        assert_eq!(first_id(br#"{"data": {"id": "abc"}}"#), Some("abc"));
        assert_eq!(first_id(b"{}"), None);
    }

    #[test]
    fn requests_carry_their_length() {
        let text = String::from_utf8(request("POST", "/a", Some("t"), Some("{}"))).unwrap();
        assert!(
            text.starts_with("POST /a HTTP/1.1\r\n") && text.ends_with("Content-Length: 2\r\n\r\n{}"),
            "{text}"
        );
        assert!(text.contains("Authorization: Bearer t\r\n"));
    }

    #[tokio::test]
    async fn a_connection_is_used_again_and_answers_in_pieces_are_joined() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut seen = [0_u8; 1_024];
            for parts in [
                vec!["HTTP/1.1 200 OK\r\nConte", "nt-Length: 4\r\n\r\nab", "cd"],
                vec!["HTTP/1.1 204 No\r\n\r\n"],
            ] {
                assert!(stream.read(&mut seen).await.unwrap() > 0);
                for part in parts {
                    stream.write_all(part.as_bytes()).await.unwrap();
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        let mut connection = Connection::open(&address).await.unwrap();
        let get = request("GET", "/", None, None);
        assert_eq!(connection.exchange(&get).await.unwrap(), (200, &b"abcd"[..]));
        assert_eq!(connection.exchange(&get).await.unwrap(), (204, &b""[..]));
        server.await.unwrap();
        assert!(connection.exchange(&get).await.is_err());
    }
}

//! HTTP/1.1 with next to no cost: requests read whole, answers as bytes.

use anyhow::{Context as _, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Longest body that is taken.
const MOST: usize = 256 * 1024 * 1024;

/// A request, read to its end.
#[derive(Debug)]
pub(super) struct Request {
    /// Path with its query.
    pub(super) path: String,
    /// The lines of the head.
    pub(super) head: String,
    /// The body.
    pub(super) body: Vec<u8>,
}

/// A connection of a caller.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) const fn of(stream: TcpStream) -> Self {
        Self { stream, buffer: Vec::new() }
    }

    /// The next request; none when the caller has no more.
    pub(super) async fn request(&mut self) -> Result<Option<Request>> {
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            if self.more().await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).into_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.buffer.drain(..end);
        let body = if header(&head, "transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
        {
            self.chunked().await?
        } else {
            let length = header(&head, "content-length").map_or(Ok(0), str::parse).context("no length")?;
            self.whole(length).await?
        };
        Ok(Some(Request { path, head, body }))
    }

    async fn whole(&mut self, length: usize) -> Result<Vec<u8>> {
        if length > MOST {
            bail!("a body of {length} bytes");
        }
        while self.buffer.len() < length {
            if self.more().await? == 0 {
                bail!("the body broke off");
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    async fn chunked(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                if let Some(at) = self.buffer.windows(2).position(|window| window == b"\r\n") {
                    break at;
                }
                if self.more().await? == 0 {
                    bail!("the body broke off");
                }
            };
            let size = String::from_utf8_lossy(self.buffer.get(..line).unwrap_or_default()).into_owned();
            let size = usize::from_str_radix(size.trim(), 16).context("no size of a chunk")?;
            self.buffer.drain(..line + 2);
            let chunk = self.whole(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend(chunk.iter().take(size));
            if body.len() > MOST {
                bail!("a body without an end");
            }
        }
    }

    async fn more(&mut self) -> Result<usize> {
        self.buffer.reserve(16 * 1024);
        self.stream.read_buf(&mut self.buffer).await.context("the caller went away")
    }

    /// Writes bytes; an error when the caller is gone.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.context("the caller went away")
    }

    /// Writes one chunk of a body of chunks.
    pub(super) async fn chunk(&mut self, bytes: &[u8]) -> Result<()> {
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.write(&framed).await
    }

    /// Waits until the caller goes away.
    pub(super) async fn gone(&mut self) -> Result<()> {
        while self.more().await? > 0 {}
        bail!("the caller went away")
    }
}

/// A header's value.
fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    lines.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

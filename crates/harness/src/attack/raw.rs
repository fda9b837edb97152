//! Bytes on a socket, for what no HTTP client would send.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Connects to `host:port` from an address of this machine; a small window makes a reader who does not read count.
#[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
pub(crate) async fn connect(host: &str, from: IpAddr, window: Option<u32>) -> Result<TcpStream> {
    let socket = TcpSocket::new_v4().context("no socket")?;
    if let Some(bytes) = window {
        socket.set_recv_buffer_size(bytes).context("no small window")?;
    }
    socket.bind(SocketAddr::new(from, 0)).context("no address")?;
    let to: SocketAddr = host.parse().context("no address of a server")?;
    let connected = tokio::time::timeout(Duration::from_secs(5), socket.connect(to)).await;
    connected.context("no connection within 5 s")?.context("no connection")
}

/// Everything that comes until the other end closes, the time is over, or so many bytes are there.
pub(crate) async fn read(stream: &mut TcpStream, patience: Duration, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let reading = async {
        let mut buffer = [0; 16 * 1024];
        while bytes.len() < most {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => bytes.extend(buffer.iter().take(count)),
            }
        }
    };
    let _ = tokio::time::timeout(patience, reading).await;
    bytes
}

/// Sends bytes on a connection of their own and gives the statuses of all answers.
pub(crate) async fn statuses(host: &str, from: IpAddr, bytes: &[u8]) -> Result<Vec<u16>> {
    let mut stream = connect(host, from, None).await?;
    // The other end may refuse before it has read everything.
    let _ = stream.write_all(bytes).await;
    Ok(statuses_in(&read(&mut stream, Duration::from_millis(300), 1 << 20).await))
}

/// The statuses of the answers in what came; an answer without a status line counts as 0.
pub(crate) fn statuses_in(bytes: &[u8]) -> Vec<u16> {
    let text = String::from_utf8_lossy(bytes);
    let code = |rest: &str| rest.get(2..5).and_then(|code| code.parse().ok()).unwrap_or(0);
    text.split("HTTP/1.").skip(1).filter(|rest| rest.get(1..2) == Some(" ")).map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statuses_of_all_answers_are_found() {
        let bytes = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 404 Not Found\r\n\r\n";
        assert_eq!(statuses_in(bytes), [200, 404]);
        assert_eq!(statuses_in(b""), [0; 0]);
    }
}

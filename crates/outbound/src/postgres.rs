//! PostgreSQL databases: their test, over a stream of egress.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{Connected, Egress, Instant, Secured, TlsChoice};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout_at;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

use crate::failure::{Failure, deadline, needed, tls_choice};

/// The most bytes that a database may say during a test: the client would keep a message of any length.
const MOST: usize = 1 << 20;

/// A stream from which so much is read and no more.
struct Bounded<S> {
    stream: S,
    left: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        let read = buffer.filled().len().saturating_sub(before);
        match self.left.checked_sub(read) {
            Some(left) => {
                self.left = left;
                polled
            }
            None => {
                buffer.set_filled(before);
                Poll::Ready(Err(io::Error::other("the database says too much")))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// A connection without TLS, on which TLS can be put.
struct Plain(Connected);

impl AsyncRead for Plain {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Plain {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_shutdown(context)
    }
}

/// A connection with TLS.
struct Private(Secured);

impl AsyncRead for Private {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Private {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.stream).poll_shutdown(context)
    }
}

impl TlsStream for Bounded<Private> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// Way of putting TLS on a connection when the database agreed to it.
struct ByEgress {
    egress: Egress,
    tls: TlsChoice,
    deadline: Instant,
}

impl TlsConnect<Bounded<Plain>> for ByEgress {
    type Stream = Bounded<Private>;
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Bounded<Private>, Failure>> + Send>>;

    fn connect(self, plain: Bounded<Plain>) -> Self::Future {
        Box::pin(async move {
            let Bounded { stream: Plain(connected), left } = plain;
            let secured = self.egress.start_tls(connected, &self.tls, self.deadline).await?;
            Ok(Bounded { stream: Private(secured), left })
        })
    }
}

/// Signs in and asks for `SELECT 1`.
pub(crate) async fn test(egress: &Egress, connection: &OpenConnection) -> Result<String, Failure> {
    let deadline = deadline();
    let mut config = Config::new();
    config
        .user(needed(connection, "username")?)
        .dbname(needed(connection, "database")?)
        .application_name("heddle")
        .ssl_mode(match connection.text("tls") {
            Some("disable") => SslMode::Disable,
            Some(_) | None => SslMode::Require,
        });
    if let Some(password) = connection.secret("password") {
        config.password(password.expose());
    }
    let tls = tls_choice(connection)?;
    let port = connection.port("port").unwrap_or(5432);
    let connected = egress.connect(needed(connection, "host")?, port, deadline).await?;
    let stream = Bounded { stream: Plain(connected), left: MOST };
    let by_egress = ByEgress { egress: egress.clone(), tls, deadline };
    let opened = timeout_at(deadline, config.connect_raw(stream, by_egress)).await;
    let (client, driver) =
        opened.map_err(|_elapsed| Failure::late(Phase::Auth))?.map_err(|error| failure(&error))?;
    let driver = tokio::spawn(driver);
    let asked = timeout_at(deadline, client.simple_query("SELECT 1")).await;
    driver.abort();
    match asked {
        Err(_elapsed) => Err(Failure::late(Phase::Request)),
        Ok(Err(error)) => Err(failure(&error)),
        Ok(Ok(_rows)) => Ok("the database signed the user in and answered".to_owned()),
    }
}

/// Failure by its code: the database's own words may quote what nobody shall read.
fn failure(error: &tokio_postgres::Error) -> Failure {
    if let Some(of_tls) = error.source().and_then(|source| source.downcast_ref::<Failure>()) {
        return of_tls.clone();
    }
    let Some(code) = error.code().map(tokio_postgres::error::SqlState::code) else {
        let text = error.to_string();
        return if text.contains("TLS") {
            Failure::lasting(Phase::Tls, "the database does not offer TLS")
        } else if text.contains("password") || text.contains("authentication") {
            Failure::lasting(Phase::Auth, "the database asks for a sign-in that the connection can't give")
        } else {
            Failure::passing(Phase::Request, "the connection ended, or the server does not speak PostgreSQL")
        };
    };
    by_code(code)
}

/// The failure of an SQLSTATE (PostgreSQL documentation, appendix A).
fn by_code(code: &str) -> Failure {
    match code.get(..2).unwrap_or_default() {
        "28" => Failure::lasting(Phase::Auth, format!("the database refused the user (SQLSTATE {code})")),
        "3D" => Failure::lasting(Phase::Request, format!("there is no such database (SQLSTATE {code})")),
        "53" | "57" => {
            Failure::passing(Phase::Request, format!("the database takes nobody now (SQLSTATE {code})"))
        }
        _ => Failure::lasting(Phase::Request, format!("the database refused (SQLSTATE {code})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn nobody_makes_a_test_read_without_end() {
        let mut bounded = Bounded { stream: tokio::io::repeat(7), left: 10_000 };
        let mut bytes = Vec::new();
        assert!(bounded.read_to_end(&mut bytes).await.is_err());
        assert!(bytes.len() <= 10_000);
    }

    #[test]
    fn a_code_says_the_phase() {
        for (code, phase, passing) in [
            ("28P01", Phase::Auth, false),
            ("3D000", Phase::Request, false),
            ("53300", Phase::Request, true),
            ("42501", Phase::Request, false),
        ] {
            let failure = by_code(code);
            assert_eq!((failure.phase, failure.is_passing), (phase, passing), "{code}");
            assert!(failure.message.contains(code));
        }
    }
}

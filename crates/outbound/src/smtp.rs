//! Mail servers: a client that greets, agrees on TLS and signs in (RFC 5321, RFC 3207, RFC 4954).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{Egress, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout_at;

use crate::failure::{Failure, deadline, needed, needed_secret, tls_choice};

/// The most bytes of a reply.
const REPLY: usize = 16 << 10;

/// A reply: its code and its lines without the code.
#[derive(Debug, PartialEq, Eq)]
struct Reply {
    code: u16,
    lines: Vec<String>,
}

/// A conversation with a server.
struct Talk<S> {
    stream: S,
    buffer: Vec<u8>,
    deadline: Instant,
}

fn broken(phase: Phase) -> Failure {
    Failure::passing(phase, "the server ended the connection")
}

fn not_smtp(phase: Phase) -> Failure {
    Failure::lasting(phase, "the server does not speak SMTP")
}

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<S> {
    const fn new(stream: S, deadline: Instant) -> Self {
        Self { stream, buffer: Vec::new(), deadline }
    }

    /// Sends a command, if there is one, and reads the reply.
    async fn ask(&mut self, phase: Phase, command: Option<&str>) -> Result<Reply, Failure> {
        let deadline = self.deadline;
        let exchange = async {
            if let Some(command) = command {
                let line = format!("{command}\r\n");
                self.stream.write_all(line.as_bytes()).await.map_err(|_closed| broken(phase))?;
                self.stream.flush().await.map_err(|_closed| broken(phase))?;
            }
            self.reply(phase).await
        };
        timeout_at(deadline, exchange).await.map_err(|_elapsed| Failure::late(phase))?
    }

    async fn reply(&mut self, phase: Phase) -> Result<Reply, Failure> {
        let mut lines = Vec::new();
        let mut read = 0;
        loop {
            let line = self.line(phase).await?;
            read += line.len();
            let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
            let code = code.filter(|code| (200..600).contains(code)).ok_or_else(|| not_smtp(phase))?;
            lines.push(line.get(4..).unwrap_or_default().to_owned());
            match line.as_bytes().get(3) {
                Some(b'-') if read < REPLY => {}
                Some(b' ') | None => return Ok(Reply { code, lines }),
                Some(_) => return Err(not_smtp(phase)),
            }
        }
    }

    /// The next line, without its end.
    async fn line(&mut self, phase: Phase) -> Result<String, Failure> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim_end().to_owned());
            }
            if self.buffer.len() > REPLY {
                return Err(not_smtp(phase));
            }
            let mut piece = [0; 1024];
            let count = self.stream.read(&mut piece).await.map_err(|_closed| broken(phase))?;
            let read = piece.get(..count).filter(|read| !read.is_empty()).ok_or_else(|| broken(phase))?;
            self.buffer.extend_from_slice(read);
        }
    }

    /// Greets the server; gives what it offers.
    async fn hello(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        let reply = self.ask(Phase::Request, Some(&format!("EHLO {name}"))).await?;
        match reply.code {
            250 => Ok(reply.lines.into_iter().skip(1).map(|line| line.to_ascii_uppercase()).collect()),
            code => {
                Err(Failure::lasting(Phase::Request, format!("the server refused the greeting ({code})")))
            }
        }
    }

    async fn greeting(&mut self) -> Result<(), Failure> {
        match self.ask(Phase::Request, None).await?.code {
            220 => Ok(()),
            code if code < 500 => {
                Err(Failure::passing(Phase::Request, format!("the server takes no mail now ({code})")))
            }
            code => Err(Failure::lasting(Phase::Request, format!("the server takes no mail ({code})"))),
        }
    }

    /// Agrees that TLS begins.
    async fn start_tls(&mut self, offers: &[String]) -> Result<(), Failure> {
        if !offers.iter().any(|offer| offer == "STARTTLS") {
            return Err(Failure::lasting(Phase::Tls, "the server does not offer STARTTLS"));
        }
        match self.ask(Phase::Tls, Some("STARTTLS")).await?.code {
            // What was sent before TLS began must not count as said under it.
            220 if self.buffer.is_empty() => Ok(()),
            220 => Err(Failure::lasting(Phase::Tls, "the server went on without TLS")),
            code => Err(Failure::lasting(Phase::Tls, format!("the server refused STARTTLS ({code})"))),
        }
    }

    /// Signs in by PLAIN (RFC 4616) or LOGIN.
    async fn sign_in(&mut self, offers: &[String], username: &str, password: &str) -> Result<(), Failure> {
        let mechanisms = offers
            .iter()
            .find_map(|offer| offer.strip_prefix("AUTH ").or_else(|| offer.strip_prefix("AUTH=")));
        let offered =
            |name: &str| mechanisms.is_some_and(|all| all.split_ascii_whitespace().any(|one| one == name));
        let last = if offered("PLAIN") {
            let response = STANDARD.encode(format!("\0{username}\0{password}"));
            self.ask(Phase::Auth, Some(&format!("AUTH PLAIN {response}"))).await?
        } else if offered("LOGIN") {
            let mut reply = self.ask(Phase::Auth, Some("AUTH LOGIN")).await?;
            for response in [username, password] {
                if reply.code != 334 {
                    break;
                }
                reply = self.ask(Phase::Auth, Some(&STANDARD.encode(response))).await?;
            }
            reply
        } else {
            let message = "the server offers no sign-in that is known here (PLAIN, LOGIN)";
            return Err(Failure::lasting(Phase::Auth, message));
        };
        match last.code {
            235 => Ok(()),
            code if code < 500 && code != 334 => {
                Err(Failure::passing(Phase::Auth, format!("the server can't sign anybody in now ({code})")))
            }
            code => Err(Failure::lasting(Phase::Auth, format!("the server refused the sign-in ({code})"))),
        }
    }

    /// Signs in where there is a user, and ends.
    async fn finish(mut self, offers: &[String], connection: &OpenConnection) -> Result<String, Failure> {
        let user = connection.text("username");
        if let Some(user) = user {
            self.sign_in(offers, user, needed_secret(connection, "password")?).await?;
        }
        // The server has said what counts; how it says goodbye does not.
        let _ = self.ask(Phase::Request, Some("QUIT")).await;
        Ok(match user {
            Some(_) => "the server signed the user in".to_owned(),
            None => "the server answered; nobody signed in".to_owned(),
        })
    }
}

/// Greets the server, agrees on TLS and signs in.
pub(crate) async fn test(egress: &Egress, connection: &OpenConnection) -> Result<String, Failure> {
    let (host, deadline) = (needed(connection, "host")?, deadline());
    let port = connection.port("port").unwrap_or(587);
    let tls = tls_choice(connection)?;
    let name = own_name(connection);
    if connection.text("security") == Some("tls") {
        let secured = egress.connect_tls(host, port, &tls, deadline).await?;
        let mut talk = Talk::new(secured.stream, deadline);
        talk.greeting().await?;
        let offers = talk.hello(name).await?;
        return talk.finish(&offers, connection).await;
    }
    let mut connected = egress.connect(host, port, deadline).await?;
    let mut talk = Talk::new(&mut connected.stream, deadline);
    talk.greeting().await?;
    let offers = talk.hello(name).await?;
    if connection.text("security") == Some("none") {
        if connection.text("username").is_some() {
            return Err(Failure::lasting(Phase::Tls, "nobody signs in without TLS"));
        }
        return talk.finish(&offers, connection).await;
    }
    talk.start_tls(&offers).await?;
    drop(talk);
    let secured = egress.start_tls(connected, &tls, deadline).await?;
    let mut talk = Talk::new(secured.stream, deadline);
    let offers = talk.hello(name).await?;
    talk.finish(&offers, connection).await
}

/// The name under which we greet: the domain of the sender, where there is one.
fn own_name(connection: &OpenConnection) -> &str {
    let domain = connection.text("from").and_then(|from| from.rsplit_once('@')).map(|(_, domain)| domain);
    let legal =
        |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
    domain.filter(legal).unwrap_or("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::duplex;

    /// A talk whose server says this, whatever it is asked, and what it was asked.
    async fn told(server: &str) -> (Talk<tokio::io::DuplexStream>, tokio::io::DuplexStream) {
        let (near, mut far) = duplex(64 << 10);
        far.write_all(server.as_bytes()).await.unwrap();
        (Talk::new(near, Instant::now() + Duration::from_secs(5)), far)
    }

    async fn asked(talk: Talk<tokio::io::DuplexStream>, mut far: tokio::io::DuplexStream) -> String {
        drop(talk);
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        text
    }

    #[tokio::test]
    async fn replies_of_several_lines_are_read_and_others_refused() {
        let (mut talk, _far) = told("250-mx.test hello\r\n250-STARTTLS\r\n250 auth plain LOGIN\r\n").await;
        assert_eq!(talk.hello("a.test").await.unwrap(), ["STARTTLS", "AUTH PLAIN LOGIN"]);
        let endless = "250-x\r\n".repeat(5_000);
        for wrong in ["HTTP/1.1 400 Bad Request\r\n", "25\r\n", "250!x\r\n", &endless] {
            let (mut talk, _far) = told(wrong).await;
            let failure = talk.hello("a.test").await.unwrap_err();
            assert_eq!(failure.message, "the server does not speak SMTP", "{wrong:.20}");
        }
    }

    #[tokio::test]
    async fn the_user_signs_in_by_what_is_offered() {
        let plain = STANDARD.encode("\0ada\0secret");
        let cases = [
            ("AUTH LOGIN PLAIN", "235 ok\r\n", format!("AUTH PLAIN {plain}\r\n")),
            (
                "AUTH LOGIN",
                "334 VXNlcm5hbWU6\r\n334 UGFzc3dvcmQ6\r\n235 ok\r\n",
                format!("AUTH LOGIN\r\n{}\r\n{}\r\n", STANDARD.encode("ada"), STANDARD.encode("secret")),
            ),
        ];
        for (offer, server, client) in cases {
            let (mut talk, far) = told(server).await;
            talk.sign_in(&[offer.to_owned()], "ada", "secret").await.unwrap();
            assert_eq!(asked(talk, far).await, client, "{offer}");
        }
        for (offer, server, passing) in [
            ("AUTH PLAIN", "535 5.7.8 canary\r\n", false),
            ("AUTH PLAIN", "454 canary\r\n", true),
            ("AUTH LOGIN", "334 x\r\n535 canary\r\n", false),
            ("AUTH GSSAPI", "", false),
            ("SIZE 1", "", false),
        ] {
            let (mut talk, _far) = told(server).await;
            let failure = talk.sign_in(&[offer.to_owned()], "ada", "secret").await.unwrap_err();
            assert_eq!((failure.phase, failure.is_passing), (Phase::Auth, passing), "{offer} {server}");
            assert!(!failure.message.contains("canary") && !failure.message.contains("secret"), "{failure}");
        }
    }

    #[tokio::test]
    async fn what_comes_before_tls_does_not_count_under_it() {
        let offers = ["STARTTLS".to_owned()];
        let (mut talk, _far) = told("220 go\r\n").await;
        assert!(talk.start_tls(&offers).await.is_ok());
        let (mut talk, _far) = told("220 go\r\n250 injected\r\n").await;
        assert_eq!(talk.start_tls(&offers).await.unwrap_err().phase, Phase::Tls);
        let (mut talk, _far) = told("").await;
        assert_eq!(talk.start_tls(&[]).await.unwrap_err().message, "the server does not offer STARTTLS");
    }
}

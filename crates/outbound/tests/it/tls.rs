//! TLS that begins after the first words: mail servers and databases, their certificates and their sign-in.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use heddle_connections::ConnectionKind;
use heddle_connections::records::Phase;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::{CANARY, opened, tested};

/// A server's certificate with the authority that issued it.
struct Identity {
    config: Arc<ServerConfig>,
    authority: String,
}

fn identity() -> Identity {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf =
        CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    Identity { config: Arc::new(config), authority: issuer.pem() }
}

/// Reads until the text ends so, or the client hangs up.
async fn until<S: AsyncRead + Unpin>(stream: &mut S, end: &[u8]) -> Vec<u8> {
    let mut read = Vec::new();
    while !read.ends_with(end) {
        match stream.read_u8().await {
            Ok(byte) => read.push(byte),
            Err(_gone) => break,
        }
    }
    read
}

/// Says its lines, each after a line of the client; gives what the client said.
async fn talk<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, lines: &[&str]) -> String {
    let mut said = Vec::new();
    for line in lines {
        let heard = until(stream, b"\r\n").await;
        said.extend_from_slice(&heard);
        let is_told = !heard.is_empty() && stream.write_all(line.as_bytes()).await.is_ok();
        if !is_told || stream.flush().await.is_err() {
            break;
        }
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// A listener of one connection.
async fn listening<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> (u16, JoinHandle<String>)
where
    F: Future<Output = String> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(stream).await
    });
    (port, served)
}

/// A mail server that begins TLS when it is asked to and then answers the sign-in so.
async fn mail(config: Arc<ServerConfig>, sign_in: &'static str) -> (u16, JoinHandle<String>) {
    listening(move |mut stream| async move {
        stream.write_all(format!("220 mx {CANARY}\r\n").as_bytes()).await.unwrap();
        talk(&mut stream, &["250-mx\r\n250 STARTTLS\r\n", "220 go\r\n"]).await;
        let Ok(mut secured) = TlsAcceptor::from(config).accept(stream).await else { return String::new() };
        talk(&mut secured, &["250-mx\r\n250 AUTH LOGIN PLAIN\r\n", sign_in, "221 bye\r\n"]).await
    })
    .await
}

#[tokio::test]
async fn a_password_goes_to_a_mail_server_that_the_certificate_is_for() {
    let (home, stranger) = (identity(), identity());
    let plain = STANDARD.encode("\0ada\0secret-of-ada");
    for (authority, sign_in, ok, phase) in [
        (&home.authority, "235 fine\r\n", true, Phase::Request),
        (&home.authority, "535 5.7.8 canary-of-the-server\r\n", false, Phase::Auth),
        (&stranger.authority, "235 fine\r\n", false, Phase::Tls),
    ] {
        let (port, served) = mail(home.config.clone(), sign_in).await;
        let config = json!({
            "host": "127.0.0.1", "port": port, "username": "ada", "certificateAuthority": authority,
        });
        let found = tested(&opened(ConnectionKind::Smtp, config, &[("password", "secret-of-ada")])).await;
        assert_eq!((found.ok, found.phase), (ok, phase), "{}", found.message);
        let said = served.await.unwrap();
        assert_eq!(said.contains(&format!("AUTH PLAIN {plain}")), phase != Phase::Tls, "{said}");
    }
}

/// A message of PostgreSQL's protocol.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind][..], &length.to_be_bytes(), body].concat()
}

/// A database that answers the wish for TLS so, and the sign-in so.
async fn database(
    config: Arc<ServerConfig>,
    tls: &'static [u8],
    sign_in: Vec<u8>,
) -> (u16, JoinHandle<String>) {
    listening(move |mut stream| async move {
        let mut wish = [0; 8];
        stream.read_exact(&mut wish).await.unwrap();
        stream.write_all(tls).await.unwrap();
        if tls != b"S" {
            return String::new();
        }
        let Ok(mut secured) = TlsAcceptor::from(config).accept(stream).await else { return String::new() };
        // The first message has no kind: its length, and the rest.
        let length = secured.read_u32().await.unwrap();
        let mut hello = vec![0; usize::try_from(length).unwrap() - 4];
        secured.read_exact(&mut hello).await.unwrap();
        secured.write_all(&sign_in).await.unwrap();
        secured.flush().await.unwrap();
        let asked = until(&mut secured, b"SELECT 1\0").await;
        let done = [message(b'C', b"SELECT 1\0"), message(b'Z', b"I")].concat();
        // Whoever was refused has gone.
        let _ = secured.write_all(&done).await;
        let _ = secured.flush().await;
        String::from_utf8_lossy(&[hello, asked].concat()).into_owned()
    })
    .await
}

#[tokio::test]
async fn a_database_is_asked_over_tls() {
    let (home, stranger) = (identity(), identity());
    let good = [message(b'R', &0_u32.to_be_bytes()), message(b'Z', b"I")].concat();
    let refused = message(b'E', b"SFATAL\0C28P01\0Mcanary-of-the-server\0\0");
    let missing = message(b'E', b"SFATAL\0C3D000\0Mcanary-of-the-server\0\0");
    type Case<'t> = (&'t str, &'static [u8], Vec<u8>, bool, Phase);
    let cases: [Case<'_>; 5] = [
        (&home.authority, b"S", good.clone(), true, Phase::Request),
        (&home.authority, b"S", refused, false, Phase::Auth),
        (&home.authority, b"S", missing, false, Phase::Request),
        (&home.authority, b"N", good.clone(), false, Phase::Tls),
        (&stranger.authority, b"S", good, false, Phase::Tls),
    ];
    for (authority, tls, sign_in, ok, phase) in cases {
        let (port, served) = database(home.config.clone(), tls, sign_in).await;
        let config = json!({
            "host": "127.0.0.1", "port": port, "database": "orders", "username": "ada",
            "certificateAuthority": authority,
        });
        let found =
            tested(&opened(ConnectionKind::Postgresql, config, &[("password", "secret-of-db")])).await;
        assert_eq!((found.ok, found.phase), (ok, phase), "{}", found.message);
        let said = served.await.unwrap();
        assert_eq!(said.contains("SELECT 1"), ok, "{said}");
        assert!(!said.contains("secret-of-db"), "{said}");
    }
}

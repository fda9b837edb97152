//! Certificates.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use heddle_egress::{Egress, EgressError, EgressRules, Fault, Instant, Limits, Phase, Roots, TlsChoice};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;

use crate::peer::{Peer, Script, get, head, limits, ok};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    // Authorities of one name would be tried for each other.
    let key = KeyPair::generate().unwrap();
    let name: String = key.public_key_raw().iter().map(|byte| format!("{byte:02x}")).collect();
    params.distinguished_name.push(rcgen::DnType::CommonName, &name[..40]);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, key).unwrap()
}

struct Leaf {
    chain: Vec<CertificateDer<'static>>,
    pem: String,
    key: KeyPair,
}

fn leaf(issuer: &Authority, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Leaf {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    Leaf { chain: vec![certificate.der().clone()], pem: certificate.pem(), key }
}

fn config(leaf: &Leaf, clients: Option<&Authority>) -> Arc<ServerConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(authority.der().clone()).unwrap();
            let verifier =
                rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::try_from(leaf.key.serialize_der()).unwrap();
    Arc::new(builder.with_single_cert(leaf.chain.clone(), key).unwrap())
}

async fn server(config: Arc<ServerConfig>) -> Peer {
    Peer::start(move |stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while head(&mut stream).await.is_some() {
                if stream.write_all(ok("safe").as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    })
    .await
}

fn way(roots: Roots) -> Egress {
    let rules = EgressRules { loopback: true, ..EgressRules::default() };
    Egress::with_roots(rules, Script::new(&[&["127.0.0.1"]]), roots)
}

fn url(host: &str, peer: &Peer) -> String {
    format!("https://{host}:{}/", peer.address.port())
}

fn reason(error: &EgressError) -> &str {
    assert_eq!(error.phase, Phase::Tls, "{error:?}");
    assert!(!error.may_have_been_sent);
    match &error.fault {
        Fault::Certificate(reason) | Fault::TlsFailed(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_certificate_passes_by_the_operators_authority_or_the_connections() {
    let authority = authority();
    let peer = server(config(&leaf(&authority, &["a.test", "127.0.0.1"], |_| {}), None)).await;
    let everybodys = way(Roots::none().with_pem(&authority.pem()).unwrap());
    for host in ["a.test", "A.TEST.", "127.0.0.1", "0x7f.1"] {
        let answer = everybodys.send(get(&url(host, &peer))).await.unwrap();
        assert_eq!(&answer.body[..], b"safe", "{host}");
    }
    let choice = TlsChoice::with_authorities(&authority.pem()).unwrap();
    let egress = way(Roots::none());
    let answer = egress.send(get(&url("a.test", &peer)).with_tls(choice.clone())).await.unwrap();
    assert!(answer.timings.tls > Duration::ZERO);
    let again = egress.send(get(&url("a.test", &peer)).with_tls(choice)).await.unwrap();
    assert!(again.timings.was_open);
    // What one connection trusts, another does not, and it gets no open connection of it.
    let other = TlsChoice::with_authorities(&self::authority().pem()).unwrap();
    let error = egress.send(get(&url("a.test", &peer)).with_tls(other)).await.unwrap_err();
    assert_eq!(reason(&error), "nobody known issued it");
    let error = egress.send(get(&url("a.test", &peer))).await.unwrap_err();
    assert!(reason(&error).contains("knows no authorities"), "{error}");
}

#[tokio::test]
async fn asvs_12_3_2_certificates_that_do_not_pass() {
    let authority = authority();
    let egress = way(Roots::none().with_pem(&authority.pem()).unwrap());
    let expired = leaf(&authority, &["a.test"], |params| {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    });
    let future = leaf(&authority, &["a.test"], |params| params.not_before = date_time_ymd(2090, 1, 1));
    let other_name = leaf(&authority, &["b.test"], |_| {});
    let nobodys = leaf(&self::authority(), &["a.test"], |_| {});
    let authoritys = leaf(&authority, &["a.test"], |params| {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    });
    for (leaf, expected) in [
        (expired, "it is expired"),
        (future, "it is not valid yet"),
        (other_name, "it is for another name"),
        (nobodys, "nobody known issued it"),
        (authoritys, "it is that of an authority"),
    ] {
        let peer = server(config(&leaf, None)).await;
        let error = egress.send(get(&url("a.test", &peer))).await.unwrap_err();
        assert!(reason(&error).starts_with(expected), "{error:?}");
        assert!(!error.is_passing());
    }
    // A name's certificate is not its address's.
    let peer = server(config(&leaf(&authority, &["a.test"], |_| {}), None)).await;
    let error = egress.send(get(&url("127.0.0.1", &peer))).await.unwrap_err();
    assert_eq!(reason(&error), "it is for another name");
}

#[tokio::test]
async fn servers_that_speak_no_tls() {
    let egress = way(Roots::none().with_pem(&authority().pem()).unwrap());
    let plain = Peer::start(|mut stream| async move {
        let mut hello = [0; 64];
        stream.read_exact(&mut hello).await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    })
    .await;
    let error = egress.send(get(&url("a.test", &plain))).await.unwrap_err();
    assert_eq!(reason(&error), "the server does not speak TLS");
    let closes = Peer::start(|_stream| async {}).await;
    let error = egress.send(get(&url("a.test", &closes))).await.unwrap_err();
    assert!(reason(&error).contains("ended") && error.is_passing(), "{error}");
    let silent = Peer::start(|stream| async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        drop(stream);
    })
    .await;
    let short = Limits { connect: Duration::from_millis(1500), ..limits() };
    let error = egress.send(get(&url("a.test", &silent)).with_limits(short)).await.unwrap_err();
    assert!(error.phase == Phase::Tls && matches!(error.fault, Fault::TimedOut(_)), "{error:?}");
}

#[tokio::test]
async fn a_connection_shows_its_own_certificate() {
    let authority = authority();
    let clients = self::authority();
    let peer = server(config(&leaf(&authority, &["a.test"], |_| {}), Some(&clients))).await;
    let egress = way(Roots::none());
    let own = leaf(&clients, &["client.test"], |_| {});
    let pem = authority.pem();
    let choice = TlsChoice::with_identity(Some(&pem), &own.pem, &own.key.serialize_pem()).unwrap();
    let answer = egress.send(get(&url("a.test", &peer)).with_tls(choice)).await.unwrap();
    assert_eq!(&answer.body[..], b"safe");
    let without = TlsChoice::with_authorities(&pem).unwrap();
    egress.send(get(&url("a.test", &peer)).with_tls(without)).await.unwrap_err();
}

#[tokio::test]
async fn tls_on_a_stream_that_began_without() {
    let authority = authority();
    let config = config(&leaf(&authority, &["mail.test"], |_| {}), None);
    let peer = Peer::start(move |mut stream| {
        let acceptor = TlsAcceptor::from(Arc::clone(&config));
        async move {
            stream.write_all(b"220\r\n").await.unwrap();
            let mut stream = acceptor.accept(stream).await.unwrap();
            stream.write_all(b"250\r\n").await.unwrap();
            stream.shutdown().await.unwrap();
        }
    })
    .await;
    let egress = way(Roots::none());
    let deadline = Instant::now() + Duration::from_secs(10);
    let tls = TlsChoice::with_authorities(&authority.pem()).unwrap();
    let mut connected = egress.connect("mail.test", peer.address.port(), deadline).await.unwrap();
    let mut greeting = [0; 5];
    connected.stream.read_exact(&mut greeting).await.unwrap();
    let mut secured = egress.start_tls(connected, &tls, deadline).await.unwrap();
    let mut said = String::new();
    secured.stream.read_to_string(&mut said).await.unwrap();
    assert_eq!((&greeting, said.as_str()), (b"220\r\n", "250\r\n"));
    assert!(secured.peer.ip() == IpAddr::from([127, 0, 0, 1]));
}

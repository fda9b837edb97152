//! Rules, names and redirects.

use std::sync::Arc;
use std::time::Duration;

use heddle_egress::{
    AddressClass, Egress, EgressError, EgressRules, Fault, Instant, Phase, Resolve, Roots, SystemResolver,
    TlsChoice,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::peer::{Peer, Script, get, head, ok, open_way};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn class(error: &EgressError) -> AddressClass {
    match &error.fault {
        Fault::Denied { class, .. } => *class,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn asvs_1_3_6_and_13_2_5_no_form_of_an_address_reaches_this_machine() {
    let peer = Peer::answering(ok("inside")).await;
    let port = peer.address.port();
    let names = Script::new(&[&["127.0.0.1", "::1"]]);
    let egress =
        Egress::with_roots(EgressRules::default(), Arc::clone(&names) as Arc<dyn Resolve>, Roots::none());
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[::127.0.0.1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
        "①②⑦.⓪.⓪.①",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "0.0.0.0",
        "0",
        "[::]",
        "inside.test",
        "inside.test.",
    ] {
        let error = egress.send(get(&format!("http://{host}:{port}/secret"))).await.unwrap_err();
        let found = class(&error);
        let expected = [AddressClass::Loopback, AddressClass::Translated, AddressClass::Unspecified];
        assert!(expected.contains(&found), "{host}: {found:?}");
        let phase = if host.contains("inside") { Phase::Dns } else { Phase::Connect };
        assert_eq!(error.phase, phase, "{host}");
        assert!(!error.may_have_been_sent && !error.is_passing());
        let message = error.to_string();
        assert!(!message.contains("secret"), "{message}");
        let raw = egress.connect(host, port, soon()).await.unwrap_err();
        assert_eq!(class(&raw), found, "{host}: a stream is no other way");
    }
    assert_eq!(peer.connections(), 0);
    assert_eq!(names.asked(), 4, "only names are asked for");
}

#[tokio::test]
async fn private_networks_and_metadata_are_closed() {
    let egress = Egress::with_roots(EgressRules::default(), Script::new(&[]), Roots::none());
    for (url, expected) in [
        ("http://169.254.169.254/latest/meta-data/", AddressClass::Metadata),
        ("http://2852039166/", AddressClass::Metadata),
        ("http://[::ffff:a9fe:a9fe]/", AddressClass::Metadata),
        ("http://[fd00:ec2::254]/", AddressClass::Metadata),
        ("https://10.0.0.1/", AddressClass::Private),
        ("http://0xa.1/", AddressClass::Private),
        ("http://192.168.1.1/", AddressClass::Private),
        ("http://100.64.0.1/", AddressClass::Shared),
        ("http://[fe80::1]/", AddressClass::LinkLocal),
        ("http://224.0.0.1/", AddressClass::Multicast),
        ("http://255.255.255.255/", AddressClass::Reserved),
    ] {
        assert_eq!(class(&egress.send(get(url)).await.unwrap_err()), expected, "{url}");
    }
}

/// A name that answers with an allowed address while it is vetted, and with another a moment later.
#[tokio::test]
async fn a_name_is_resolved_once_and_the_connection_goes_to_what_was_vetted() {
    let vetted = Peer::start_at("127.0.0.2:0", |mut stream| async move {
        while head(&mut stream).await.is_some() {
            stream.write_all(ok("vetted").as_bytes()).await.unwrap();
        }
    })
    .await;
    let port = vetted.address.port();
    let inside = Peer::start_at(&format!("127.0.0.1:{port}"), |_stream| async {}).await;
    let rules = EgressRules { allow: vec!["127.0.0.2".parse().unwrap()], ..EgressRules::default() };
    let names = Script::new(&[&["127.0.0.2"], &["127.0.0.1"], &["127.0.0.1", "127.0.0.2"], &["127.0.0.1"]]);
    let egress = Egress::with_roots(rules, Arc::clone(&names) as Arc<dyn Resolve>, Roots::none());
    let url = format!("http://rebinding.test:{port}/");

    let answer = egress.send(get(&url)).await.unwrap();
    assert_eq!((&answer.body[..], answer.peer, names.asked()), (b"vetted".as_slice(), vetted.address, 1));
    let error = egress.send(get(&url).with_scope("another")).await.unwrap_err();
    assert_eq!((class(&error), names.asked()), (AddressClass::Loopback, 2));
    // Of several addresses only those that pass are tried.
    let answer = egress.send(get(&url).with_scope("a third")).await.unwrap();
    assert_eq!((&answer.body[..], names.asked()), (b"vetted".as_slice(), 3));
    // The open connection is still the vetted one, whatever the name says by now.
    assert_eq!(&egress.send(get(&url)).await.unwrap().body[..], b"vetted");
    assert_eq!((names.asked(), inside.connections()), (3, 0));
}

/// The same for protocols of their own: each stream goes to the address that passed, and TLS on it asks for no name again.
#[tokio::test]
async fn a_stream_goes_to_what_was_vetted_and_stays_there() {
    let vetted = Peer::start_at("127.0.0.2:0", |mut stream| async move {
        let _ = stream.write_all(b"220 vetted\r\n").await;
        let _ = stream.read(&mut [0; 512]).await;
    })
    .await;
    let port = vetted.address.port();
    let inside = Peer::start_at(&format!("127.0.0.1:{port}"), |_stream| async {}).await;
    let rules = EgressRules { allow: vec!["127.0.0.2".parse().unwrap()], ..EgressRules::default() };
    let names = Script::new(&[&["127.0.0.2"], &["127.0.0.1"]]);
    let egress = Egress::with_roots(rules, Arc::clone(&names) as Arc<dyn Resolve>, Roots::none());
    let mut connected = egress.connect("rebinding.test", port, soon()).await.unwrap();
    let mut greeting = [0; 12];
    connected.stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!((&greeting[..], connected.peer), (b"220 vetted\r\n".as_slice(), vetted.address));
    assert!(egress.start_tls(connected, &TlsChoice::default(), soon()).await.is_err(), "it speaks no TLS");
    assert_eq!((names.asked(), inside.connections()), (1, 0));
    // Whoever comes anew is held against what the name says by then.
    let error = egress.connect("rebinding.test", port, soon()).await.unwrap_err();
    assert_eq!((class(&error), names.asked()), (AddressClass::Loopback, 2));
    assert_eq!((vetted.connections(), inside.connections()), (1, 0));
}

#[tokio::test]
async fn asvs_15_3_2_a_redirect_is_an_answer() {
    let peer = Peer::answering(
        "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\nSet-Cookie: a=b\r\n\r\n",
    )
    .await;
    let egress = open_way();
    for _ in 0..2 {
        let answer = egress.send(get(&peer.url("/"))).await.unwrap();
        assert_eq!(answer.status, 302);
        assert_eq!(answer.headers["location"], "http://169.254.169.254/latest/");
    }
}

#[tokio::test]
async fn what_goes_out_is_what_was_said_and_no_cookie() {
    let (heads, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let peer = Peer::start(move |mut stream| {
        let heads = heads.clone();
        async move {
            while let Some(found) = head(&mut stream).await {
                heads.send(found).unwrap();
                let answer = "HTTP/1.1 204 No Content\r\nSet-Cookie: a=b\r\n\r\n";
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    let egress = open_way();
    let url = format!("http://Some.Test:{}/a%20b?c=d#fragment", peer.address.port());
    for _ in 0..2 {
        egress.send(get(&url)).await.unwrap();
        let found = seen.recv().await.unwrap().to_ascii_lowercase();
        assert!(found.starts_with("get /a%20b?c=d http/1.1\r\n"), "{found}");
        assert!(found.contains(&format!("\r\nhost: some.test:{}\r\n", peer.address.port())), "{found}");
        assert!(found.contains("\r\nuser-agent: heddle/"), "{found}");
        assert!(
            !found.contains("cookie") && !found.contains("referer") && !found.contains("fragment"),
            "{found}"
        );
    }
}

#[tokio::test]
async fn the_servers_own_address_stays_closed_on_a_developers_machine() {
    let own = Peer::answering(ok("own")).await;
    let other = Peer::answering(ok("other")).await;
    let rules = EgressRules { loopback: true, own: vec![own.address], ..EgressRules::default() };
    let egress = Egress::with_roots(rules, Script::new(&[]), Roots::none());
    assert_eq!(class(&egress.send(get(&own.url("/"))).await.unwrap_err()), AddressClass::Own);
    assert_eq!(&egress.send(get(&other.url("/"))).await.unwrap().body[..], b"other");
    assert_eq!(own.connections(), 0);
}

#[tokio::test]
async fn a_stream_for_protocols_of_their_own() {
    let peer = Peer::start(|mut stream| async move {
        stream.write_all(b"220 mail.test\r\n").await.unwrap();
    })
    .await;
    let mut connected = open_way().connect("mail.test", peer.address.port(), soon()).await.unwrap();
    let mut greeting = String::new();
    connected.stream.read_to_string(&mut greeting).await.unwrap();
    assert_eq!((greeting.as_str(), connected.peer), ("220 mail.test\r\n", peer.address));
}

#[tokio::test]
async fn what_is_not_there_is_told_by_its_phase() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let error = open_way().send(get(&format!("http://{closed}/"))).await.unwrap_err();
    assert!(error.phase == Phase::Connect && error.is_passing(), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
    let nobody = Egress::with_roots(EgressRules::default(), Script::new(&[]), Roots::none());
    let empty = Egress::with_roots(EgressRules::default(), Script::new(&[&[]]), Roots::none());
    for egress in [nobody, empty] {
        let error = egress.send(get("http://nowhere.test/")).await.unwrap_err();
        assert!(error.phase == Phase::Dns && error.is_passing(), "{error:?}");
        assert!(matches!(&error.fault, Fault::Unresolved { host } if host == "nowhere.test"), "{error}");
    }
    // An address that refuses leaves the next one.
    let peer = Peer::answering(ok("second")).await;
    let rules = EgressRules { loopback: true, ..EgressRules::default() };
    let two = Egress::with_roots(rules, Script::new(&[&["127.0.0.9", "127.0.0.1"]]), Roots::none());
    let answer = two.send(get(&format!("http://two.test:{}/", peer.address.port()))).await.unwrap();
    assert_eq!(&answer.body[..], b"second");
}

#[tokio::test]
async fn the_systems_resolver_knows_this_machine() {
    let found = SystemResolver::default().resolve("localhost").await.unwrap();
    assert!(!found.is_empty() && found.iter().all(std::net::IpAddr::is_loopback), "{found:?}");
    assert!(SystemResolver::default().resolve("no-such-name.invalid").await.is_err());
}

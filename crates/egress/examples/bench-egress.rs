//! CPU time of a request through the guarded way out beside one of bare reqwest, and of sealing a secret and
//! opening it; one line of JSON. The server runs on a thread of its own, whose time does not count. The clients take turns.
#![expect(clippy::disallowed_methods, reason = "the bare client is what the guarded one is measured against")]

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use heddle_egress::{Egress, EgressRules, Method, OutRequest, Roots, SystemResolver};
use heddle_seal::{Keyring, Place, SystemRandom};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 7;
const REQUESTS: u32 = 2_000;
const FRESH_REQUESTS: u32 = 500;
const SEALS: u32 = 20_000;
const BODY: &str = r#"{"status":"ok","items":[1,2,3,4,5,6,7,8,9,10]}"#;

fn main() -> Outcome<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (open, fresh) = runtime.block_on(async {
        let kept = Clients::new(serve(true)?)?;
        let closed = Clients::new(serve(false)?)?;
        Ok::<_, Box<dyn Error>>((kept.measure(REQUESTS).await?, closed.measure(FRESH_REQUESTS).await?))
    })?;
    let Sealing { seal, unseal, rewrap } = sealing()?;
    let line = format!(
        "{{\"open\":{},\"fresh\":{},\"seal_us\":{seal:.2},\"unseal_us\":{unseal:.2},\"rewrap_us\":{rewrap:.2}}}",
        open.json(),
        fresh.json()
    );
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

struct Figures {
    bare: f64,
    guarded: f64,
}

impl Figures {
    fn json(&self) -> String {
        format!("{{\"bare_us\":{:.1},\"guarded_us\":{:.1}}}", self.bare, self.guarded)
    }
}

struct Clients {
    url: String,
    bare: reqwest::Client,
    guarded: Egress,
}

impl Clients {
    fn new(address: SocketAddr) -> Outcome<Self> {
        let rules = EgressRules { allow: vec!["127.0.0.1".parse()?], ..EgressRules::default() };
        let guarded = Egress::with_roots(rules, Arc::new(SystemResolver::default()), Roots::none());
        let bare = reqwest::Client::builder().no_proxy().build()?;
        Ok(Self { url: format!("http://{address}/items?page=1"), bare, guarded })
    }

    /// CPU microseconds of a request, the median of all rounds.
    async fn measure(&self, requests: u32) -> Outcome<Figures> {
        let (mut bare, mut guarded) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let began = thread_time()?;
            for _ in 0..requests {
                let answer = self.bare.get(&self.url).send().await?;
                check(answer.bytes().await?.len())?;
            }
            let between = thread_time()?;
            for _ in 0..requests {
                let request = OutRequest::new(Method::GET, &self.url)?;
                check(self.guarded.send(request).await?.body.len())?;
            }
            // The first round warms up.
            if round > 0 {
                bare.push((between - began) / f64::from(requests));
                guarded.push((thread_time()? - between) / f64::from(requests));
            }
        }
        Ok(Figures { bare: median(bare), guarded: median(guarded) })
    }
}

fn check(length: usize) -> Outcome<()> {
    if length == BODY.len() { Ok(()) } else { Err("the answer is not the server's".into()) }
}

/// Microseconds of opening a secret.
/// CPU microseconds of sealing a secret, of opening it, and of wrapping its key anew.
struct Sealing {
    seal: f64,
    unseal: f64,
    rewrap: f64,
}

fn sealing() -> Outcome<Sealing> {
    let before = Keyring::generate(&mut SystemRandom)?;
    let mut ring = before.clone();
    ring.add_current(&mut SystemRandom)?;
    let place = Place { tenant: "org_1", kind: "connection", record: "con_1", field: "password" };
    let sealed = before.seal(&place, &[7; 64], &mut SystemRandom)?;
    let seal = each(|| Ok(ring.seal(&place, &[7; 64], &mut SystemRandom)?.kid == ring.current()))?;
    let unseal = each(|| Ok(ring.unseal(&place, &sealed)?.len() == 64))?;
    let rewrap = each(|| Ok(ring.rewrap(&place, &sealed, &mut SystemRandom)?.is_some()))?;
    Ok(Sealing { seal, unseal, rewrap })
}

/// CPU microseconds of a piece of work that says whether it did what it should, the median of all rounds.
fn each(mut work: impl FnMut() -> Outcome<bool>) -> Outcome<f64> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = thread_time()?;
        for _ in 0..SEALS {
            if !work()? {
                return Err("the secret is another".into());
            }
        }
        rounds.push((thread_time()? - began) / f64::from(SEALS));
    }
    Ok(median(rounds))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// CPU microseconds of this thread so far.
fn thread_time() -> Outcome<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: f64 = text.split_whitespace().next().ok_or("no figure")?.parse()?;
    Ok(nanoseconds / 1000.0)
}

/// A server on threads of its own; it keeps its connections, or closes each after its answer.
fn serve(keeps: bool) -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if keeps {
                thread::spawn(move || answer(stream, true));
            } else {
                let _ = answer(stream, false);
            }
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, keeps: bool) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let close = if keeps { "" } else { "Connection: close\r\n" };
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{close}Content-Length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let mut part = [0; 4096];
    // A request without a body comes in one piece.
    while stream.read(&mut part)? > 0 {
        stream.write_all(answer.as_bytes())?;
        if !keeps {
            break;
        }
    }
    Ok(())
}

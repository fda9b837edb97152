//! The honest organisation: on a thread of its own, so that an attack's own work does not slow its calls, it works all
//! the while, and everything it asks for must be done.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use heddle_harness_kit::http::Base;
use serde_json::json;

use super::measure::{Sample, resident_mb};
use super::person::{HONEST, PASSWORD, Person, data, id};
use super::rounds::{self, Tenant};
use super::{models, person};

/// Kinds of rounds: starts and tasks, messages, streams.
pub(crate) const KINDS: usize = 3;
/// Time between two looks at the memory.
const LOOK: Duration = Duration::from_millis(50);

/// Ledger of what the honest organisation has had.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Calls that it made.
    pub calls: Vec<Sample>,
    /// Messages, from the start of the sender to the end of the receiver.
    pub messages: Vec<Sample>,
    /// Sign-ins.
    pub sign_ins: Vec<Sample>,
    /// Calls of `/health/live`, each on a new connection.
    pub lives: Vec<Sample>,
    /// One sentence for each thing that was not done, not there, or not told.
    pub lost: Vec<String>,
    /// Workflow and run of each run that ended as it should.
    pub ended: Vec<(String, String)>,
}

/// State that the organisation's thread and the runner share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Set at the end.
    pub stop: AtomicBool,
    paused: AtomicBool,
    /// Rounds done, by kind.
    pub rounds: [AtomicU64; KINDS],
    pid: AtomicU32,
    peak: AtomicU64,
    ledger: Mutex<Ledger>,
}

impl Shared {
    /// The ledger.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes down that something is lost.
    pub(crate) fn lose(&self, what: String) {
        if !self.paused.load(Ordering::Relaxed) && !self.stop.load(Ordering::Relaxed) {
            self.ledger().lost.push(what);
        }
    }

    /// Counts nothing as lost while the server is away for everybody.
    pub(crate) fn pause(&self, paused: bool) {
        self.paused.store(paused, Ordering::Relaxed);
    }

    /// Tells the process whose memory counts.
    pub(crate) fn watch(&self, pid: u32) {
        self.pid.store(pid, Ordering::Relaxed);
    }

    /// Writes down how long something took, unless the server was away for everybody.
    pub(crate) fn measured(&self, of: impl FnOnce(&mut Ledger) -> &mut Vec<Sample>, sample: Sample) {
        if !self.paused.load(Ordering::Relaxed) {
            of(&mut self.ledger()).push(sample);
        }
    }

    fn rounds(&self) -> [u64; KINDS] {
        std::array::from_fn(|kind| self.rounds.get(kind).map_or(0, |count| count.load(Ordering::Relaxed)))
    }
}

/// The honest organisation at work.
pub(crate) struct Honest {
    shared: Arc<Shared>,
    person: Person,
    thread: Option<JoinHandle<()>>,
}

impl Honest {
    /// Makes its account and its workflows, and begins to work. `maker` is an owner within the organisation.
    pub(crate) async fn begin(base: &Base, maker: &Person, pid: u32, sign_ins: Duration) -> Result<Self> {
        let roles = person::data(maker.get("/api/roles?limit=200").await?)?;
        let owner = roles.as_array().into_iter().flatten().find(|role| role["name"] == "owner");
        let owner = owner.map(|role| role["id"].clone()).context("no role owner")?;
        let email = "honest@example.com";
        let body = json!({"email": email, "displayName": "Honest", "password": PASSWORD, "roles": [owner]});
        id(maker.post("/api/users", &body).await?).context("the honest account")?;
        let session = Person::stranger(base, HONEST)?.sign_in(email, PASSWORD).await?;
        let token = data(session.post("/api/auth/tokens", &json!({"name": "work"})).await?)?;
        let person = session.bearer(token["token"].as_str().context("no token")?)?;
        let tenant = Tenant {
            task: publish(&person, "task", &models::task()).await?,
            waiting: publish(&person, "waiting", &models::waiting()).await?,
            sending: publish(&person, "sending", &models::sending()).await?,
            person: person.clone(),
            shared: Arc::default(),
        };
        let shared = Arc::clone(&tenant.shared);
        shared.watch(pid);
        let base = base.clone();
        let thread = std::thread::Builder::new().name("honest".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            match runtime {
                Ok(runtime) => runtime.block_on(work(&tenant, &base, sign_ins)),
                Err(error) => tenant.shared.lose(format!("the honest organisation cannot work: {error}")),
            }
        });
        Ok(Self { shared, person, thread: Some(thread.context("no thread")?) })
    }

    /// Rounds that are done.
    pub(crate) fn rounds(&self) -> [u64; KINDS] {
        self.shared.rounds()
    }

    /// Waits until each kind has done another round; false when one has not within that time.
    pub(crate) async fn proceeds(&self, beyond: [u64; KINDS], patience: Duration) -> bool {
        let began = Instant::now();
        while began.elapsed() < patience {
            if self.rounds().iter().zip(beyond).all(|(now, before)| *now > before + 1) {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    /// Reads the ledger.
    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.shared.ledger()
    }

    /// The most memory since the last call, in MB.
    pub(crate) fn take_peak(&self) -> u64 {
        self.shared.peak.swap(0, Ordering::Relaxed)
    }

    /// State that it shares.
    pub(crate) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Stops working and looks whether everything that ended is still there; sentences for what is not.
    pub(crate) async fn end(mut self) -> Result<Vec<String>> {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Its last round may wait for a message.
            tokio::task::spawn_blocking(move || thread.join()).await.ok();
        }
        let ended = std::mem::take(&mut self.ledger().ended);
        rounds::missing(&self.person, &ended).await
    }
}

async fn publish(person: &Person, slug: &str, definition: &serde_json::Value) -> Result<String> {
    let body = json!({"slug": slug, "displayName": slug, "description": "", "definition": definition});
    let workflow = id(person.post("/api/workflows", &body).await?)?;
    data(person.post(&format!("/api/workflows/{workflow}/publish"), &json!({})).await?)?;
    Ok(workflow)
}

async fn work(tenant: &Tenant, base: &Base, sign_ins: Duration) {
    tokio::join!(
        tenant.repeat(0, Duration::from_millis(20), Tenant::task),
        tenant.repeat(1, Duration::from_millis(50), Tenant::message),
        tenant.repeat(2, Duration::from_millis(50), Tenant::stream),
        tenant.live(base),
        tenant.sign_in(base, sign_ins),
        look(&tenant.shared),
    );
}

/// Looks at the server's memory.
async fn look(shared: &Shared) {
    while !shared.stop.load(Ordering::Relaxed) {
        shared.peak.fetch_max(resident_mb(shared.pid.load(Ordering::Relaxed)), Ordering::Relaxed);
        tokio::time::sleep(LOOK).await;
    }
}

//! Failures of a call, as they may be shown.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use heddle_connections::records::{OpenConnection, Phase};
use heddle_egress::{EgressError, Fault, Instant, TlsChoice};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

/// Time that a call may take.
pub(crate) const TOTAL: Duration = Duration::from_secs(30);

/// A failure: the phase and a sentence without a secret and without what the service answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) phase: Phase,
    pub(crate) message: String,
    /// Whether the same may go well later without anybody's doing.
    pub(crate) is_passing: bool,
}

impl Failure {
    /// A failure that stays until somebody changes something.
    pub(crate) fn lasting(phase: Phase, message: impl Into<String>) -> Self {
        Self { phase, message: message.into(), is_passing: false }
    }

    /// A failure that may be none the next time.
    pub(crate) fn passing(phase: Phase, message: impl Into<String>) -> Self {
        Self { phase, message: message.into(), is_passing: true }
    }

    /// The time is up.
    pub(crate) fn late(phase: Phase) -> Self {
        Self::passing(phase, format!("no answer within {} s", TOTAL.as_secs()))
    }

    /// The same, said of a part of the call.
    pub(crate) fn of(self, part: &str) -> Self {
        Self { message: format!("{part}: {}", self.message), ..self }
    }
}

const fn phase(of: heddle_egress::Phase) -> Phase {
    match of {
        heddle_egress::Phase::Dns => Phase::Dns,
        heddle_egress::Phase::Connect => Phase::Connect,
        heddle_egress::Phase::Tls => Phase::Tls,
        heddle_egress::Phase::Auth => Phase::Auth,
        heddle_egress::Phase::Request => Phase::Request,
    }
}

impl From<EgressError> for Failure {
    fn from(error: EgressError) -> Self {
        Self { phase: phase(error.phase), message: error.to_string(), is_passing: error.is_passing() }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::lasting(Phase::Tls, fault.to_string())
    }
}

/// Number of choices that are kept; with more, all are made anew.
const MOST_CHOICES: usize = 256;

/// Choices by the digest of their authorities: reading certificates costs more than a small call does.
static CHOICES: LazyLock<Mutex<HashMap<[u8; 32], TlsChoice>>> = LazyLock::new(Mutex::default);

fn with_authorities(pem: &str) -> Result<TlsChoice, Fault> {
    let digest: [u8; 32] = Sha256::digest(pem.as_bytes()).into();
    if let Some(kept) = CHOICES.lock().get(&digest) {
        return Ok(kept.clone());
    }
    let made = TlsChoice::with_authorities(pem)?;
    let mut kept = CHOICES.lock();
    if kept.len() >= MOST_CHOICES {
        kept.clear();
    }
    kept.insert(digest, made.clone());
    Ok(made)
}

/// Choice of TLS that a connection makes.
pub(crate) fn tls_choice(connection: &OpenConnection) -> Result<TlsChoice, Failure> {
    Ok(match connection.text("certificateAuthority") {
        Some(pem) => with_authorities(pem)?,
        None => TlsChoice::default(),
    })
}

/// A text that the connection's type asks for. Stored connections were checked; a later version may ask for more.
pub(crate) fn needed<'a>(connection: &'a OpenConnection, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::lasting(Phase::Request, format!("`config.{name}` is not configured"));
    connection.text(name).ok_or_else(missing)
}

/// A secret that the connection's type asks for.
pub(crate) fn needed_secret<'a>(connection: &'a OpenConnection, name: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::lasting(Phase::Auth, format!("`secrets.{name}` is not configured"));
    connection.secret(name).map(|secret| secret.expose()).ok_or_else(missing)
}

/// The instant at which a call that begins now ends.
pub(crate) fn deadline() -> Instant {
    Instant::now() + TOTAL
}

//! The checks of `heddle doctor`. They change nothing, and none of them hides another: what can't be checked says why.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use heddle_connections::ports::KeyStore;
use heddle_connections::rotation::Keys;
use heddle_identity::InstallationKey;
use heddle_identity::ports::InstallationStore as _;
use heddle_identity::records::InstallationState;
use heddle_kernel::{Clock as _, TenantId, Timestamp, UserId};
use heddle_models::ports::ModelStore as _;
use heddle_outbound::KeyringSealer;
use heddle_policy::OwnReason;
use heddle_policy::capability::LicenceRead;
use heddle_policy::licence::{CLOCK_TOLERANCE_SECONDS, Licence, LicenceState};
use heddle_runtime::ServerClock;
use heddle_seal::Keyring;
use heddle_store::Db;
use heddle_store_models::SqlModelStore;
use heddle_usecase::StoreError;
use serde::Serialize;

use crate::config::Config;
use crate::data_dir::{self, DATABASE_FILE, DataDir, DataDirError, KEY_FILE, KEY_LENGTH, KEYRING_FILE};
use crate::denials::Denials;
use crate::error::StartError;
use crate::factors::{NoKeyring, StoredKeys};
use crate::own::own_context;
use crate::socket::{SOCKET_FILE, SocketPath};
use crate::stores;

/// Less free space than this is a fault: the write-ahead log alone may take so much.
const LEAST_FREE: u64 = 256 << 20;
/// Less free space than this is worth a word.
const LITTLE_FREE: u64 = 2 << 30;
/// A clock that is behind the latest time seen by more than this is worth a word.
const BEHIND_SECONDS: i64 = 5;
/// Most rules that are named.
const NAMED: usize = 20;
/// Longest time that a running server may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Finding {
    /// All is well.
    Ok,
    /// Works; something is to be looked at.
    Warning,
    /// Does not work.
    Failed,
    /// Could not be looked at.
    Skipped,
}

impl Finding {
    /// The word for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// A check and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Subject of the check: `database`, `key`, `keyring`, `files`, `licence`, `rules`, `disk`, `clock`,
    /// `models`, `providers`.
    pub name: &'static str,
    /// Result of the check.
    pub status: Finding,
    /// Finding in words, and what to do about it.
    pub message: String,
}

fn check(name: &'static str, status: Finding, message: impl Into<String>) -> Check {
    Check { name, status, message: message.into() }
}

/// Looks at database, key, keyring, files, licence, rules, disk, clock, embedding models and deployments of models.
pub async fn checks(config: &Config) -> Vec<Check> {
    let key = data_dir::read_key(&config.data_dir.join(KEY_FILE));
    let files = check_files(&config.data_dir);
    let (database, installation) = match open(config).await {
        Ok((db, _data)) => {
            let (database, state) = look_into(&db).await;
            (database, Some((db, state)))
        }
        Err(database) => (database, None),
    };
    let held = database.status != Finding::Failed;
    let why = if held { "the running server has the database" } else { "the database could not be read" };
    let providers = match &installation {
        Some((db, Some(_))) => check_providers(db).await,
        Some((_, None)) => check("providers", Finding::Skipped, "not checked before the first start"),
        None => check("providers", Finding::Skipped, format!("not checked: {why}")),
    };
    let (rules, installation) = match installation {
        Some((db, Some(state))) => (check_rules(&db).await, Some((db, Some(state)))),
        Some((db, None)) => {
            (check("rules", Finding::Skipped, "not checked before the first start"), Some((db, None)))
        }
        None => (check("rules", Finding::Skipped, format!("not checked: {why}")), None),
    };
    let keyring = match &installation {
        Some((db, Some(_))) => check_keyring(config, Some(db)).await,
        Some((_, None)) | None => check_keyring(config, None).await,
    };
    let (key_check, licence, clock) = match installation {
        Some((db, Some(state))) => {
            let licence = match &key {
                Ok(Some(key)) => licence(config, db, *key, &state).await,
                Ok(None) | Err(_) => check("licence", Finding::Skipped, "not checked without the key"),
            };
            (check_key(key, Some(&state)), licence, check_clock(ServerClock::default().now(), &state))
        }
        Some((_, None)) => (
            check_key(key, None),
            check("licence", Finding::Skipped, "not checked before the first start"),
            check("clock", Finding::Skipped, "not checked before the first start"),
        ),
        None => (
            check_key(key, None),
            check("licence", Finding::Skipped, format!("not checked: {why}")),
            check("clock", Finding::Skipped, format!("not checked: {why}")),
        ),
    };
    let models = check_models(config);
    let disk = check_disk(&config.data_dir);
    vec![database, key_check, keyring, files, licence, rules, disk, clock, models, providers]
}

/// Number of the models that are deployed. That there is none is no fault.
async fn check_providers(db: &Db) -> Check {
    match SqlModelStore::new(db.clone()).deployments_in_all().await {
        Ok(0) => check(
            "providers",
            Finding::Ok,
            "no model is deployed; `heddle model connect` and `heddle model import` deploy some",
        ),
        Ok(1) => check("providers", Finding::Ok, "one model is deployed"),
        Ok(count) => check("providers", Finding::Ok, format!("{count} models are deployed")),
        Err(error) => check("providers", Finding::Failed, format!("the deployments of models: {error}")),
    }
}

/// Holds the files of the embedding models against what they must be. That there is none is no fault: passages are found by
/// their words.
fn check_models(config: &Config) -> Check {
    let folder = config.vectors.model_dir.clone().unwrap_or_else(|| config.data_dir.join("models"));
    let mut told = Vec::new();
    for known in heddle_embedding::CATALOGUE {
        match heddle_embedding::verify(&folder.join(known.id)) {
            Ok(_) => told.push(format!("`{}` is whole", known.id)),
            Err(heddle_embedding::ModelError::Missing { .. }) => told.push(format!(
                "`{}` is not installed: passages are found by their words alone; `heddle models fetch {}` fetches it",
                known.id, known.id
            )),
            Err(error) => {
                let message = format!("{error}; `heddle models fetch {}` puts it right", known.id);
                return check("models", Finding::Failed, message);
            }
        }
    }
    check("models", Finding::Ok, told.join("; "))
}

fn check_files(path: &Path) -> Check {
    let open = data_dir::open_to_others(path);
    if open.is_empty() {
        return check("files", Finding::Ok, "nobody else can read or write them");
    }
    let message = format!("other users can read or write {}: `heddle serve` closes them", open.join(", "));
    check("files", Finding::Warning, message)
}

/// The database, if it can be had without taking it from a server and without making one.
async fn open(config: &Config) -> Result<(Db, Option<DataDir>), Check> {
    let failed = |message: String| check("database", Finding::Failed, message);
    let file = config.data_dir.join(DATABASE_FILE);
    let data = if config.database_url.is_some() {
        None
    } else if file.exists() {
        match DataDir::locked(&config.data_dir) {
            Ok(data) => Some(data),
            Err(DataDirError::InUse(_)) => return Err(ask_server(&config.data_dir).await),
            Err(error) => return Err(failed(error.to_string())),
        }
    } else {
        return Err(failed(format!(
            "there is no database at `{}`: `heddle serve` makes one",
            file.display()
        )));
    };
    let db = stores::open(config, &file).await.map_err(|error| failed(error.to_string()))?;
    Ok((db, data))
}

async fn look_into(db: &Db) -> (Check, Option<InstallationState>) {
    let kind = if db.postgres().is_some() { "PostgreSQL" } else { "SQLite" };
    let pending = match db.migration_state(&stores::migrations()).await {
        Ok(state) if state.applied.is_empty() => {
            return (
                check("database", Finding::Failed, format!("{kind}, empty: run `heddle migrate`")),
                None,
            );
        }
        Ok(state) => state.pending,
        Err(error) => return (check("database", Finding::Failed, format!("{kind}: {error}")), None),
    };
    if !pending.is_empty() {
        let message = format!("{kind}, {} migrations are pending: run `heddle migrate`", pending.len());
        return (check("database", Finding::Failed, message), None);
    }
    match stores::identity(db.clone()).load().await {
        Ok(state) => {
            let count = stores::migrations().names().len();
            (check("database", Finding::Ok, format!("{kind}, current with {count} migrations")), state)
        }
        Err(error) => (check("database", Finding::Failed, format!("{kind}: {error}")), None),
    }
}

/// A server holds the SQLite file; it can be asked whether it is well.
async fn ask_server(data_dir: &Path) -> Check {
    let Some(address) = data_dir::announced(data_dir) else {
        return check("database", Finding::Skipped, "a server that is just starting has the data directory");
    };
    let (asked, socket) = (address.clone(), data_dir.join(SOCKET_FILE));
    let answer = tokio::task::spawn_blocking(move || readiness(&asked, &socket)).await;
    match answer {
        Ok(Ok(200)) => {
            check("database", Finding::Ok, format!("held by the running server at {address}, which is ready"))
        }
        Ok(Ok(status)) => {
            let message =
                format!("the running server at {address} is not ready: GET /health/ready gives {status}");
            check("database", Finding::Failed, message)
        }
        Ok(Err(error)) => {
            let message =
                format!("the server that has the data directory does not answer at {address}: {error}");
            check("database", Finding::Failed, message)
        }
        Err(error) => check("database", Finding::Failed, error.to_string()),
    }
}

/// The status of `GET /health/ready`. A server that speaks TLS is asked over its socket: its certificate is for a name,
/// and not for the address that it announced.
#[expect(
    clippy::disallowed_methods,
    reason = "the server of this very data directory, at the address that it announced"
)]
fn readiness(address: &str, socket: &Path) -> std::io::Result<u16> {
    if address.starts_with("https://") {
        let stream = UnixStream::connect(SocketPath::of(socket)?.as_path())?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        return asked(stream, "localhost");
    }
    let host = address.trim_start_matches("http://");
    let no_address = || std::io::Error::other("no address");
    let target = host.to_socket_addrs()?.next().ok_or_else(no_address)?;
    let stream = TcpStream::connect_timeout(&target, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    asked(stream, host)
}

fn asked(mut stream: impl std::io::Read + std::io::Write, host: &str) -> std::io::Result<u16> {
    write!(stream, "GET /health/ready HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    status_of(&head).ok_or_else(|| std::io::Error::other("the answer is not HTTP"))
}

/// The status in the first twelve bytes of an answer: `HTTP/1.1 200`.
fn status_of(head: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(head).ok()?;
    text.strip_prefix("HTTP/1.")?.split_once(' ')?.1.parse().ok()
}

fn check_key(
    key: Result<Option<[u8; KEY_LENGTH]>, DataDirError>,
    state: Option<&InstallationState>,
) -> Check {
    let failed = |message: String| check("key", Finding::Failed, message);
    let key = match key {
        Ok(Some(key)) => key,
        Ok(None) if state.is_none() => return check("key", Finding::Skipped, "there is no key file yet"),
        Ok(None) => return failed("the key file is missing: put the backup of it back".to_owned()),
        Err(error) => return failed(error.to_string()),
    };
    let id = match InstallationKey::new(key) {
        Ok(key) => key.installation_id(),
        Err(error) => return failed(error.to_string()),
    };
    match state {
        None => check("key", Finding::Ok, "the key file is well-formed; not compared with the database"),
        Some(state) if state.installation_id == id => {
            check("key", Finding::Ok, format!("it belongs to this database (installation {id})"))
        }
        Some(state) => failed(format!(
            "the key file belongs to the installation {id}, the database to {}: put the right one back",
            state.installation_id
        )),
    }
}

/// The keyring, held against what is sealed where there is a database that can be read.
async fn check_keyring(config: &Config, db: Option<&Db>) -> Check {
    let failed = |message: String| check("keyring", Finding::Failed, message);
    let path = config.data_dir.join(KEYRING_FILE);
    let ring = match &config.keyring {
        Some(given) => Keyring::from_text(given.expose()).map(Some),
        None => Keyring::read(&path),
    };
    let store = db.map(|db| (db.postgres().is_some(), Arc::new(StoredKeys::new(db))));
    match (ring, store) {
        (Err(error), _) => failed(error.to_string()),
        (Ok(None), None) => check("keyring", Finding::Skipped, "there is no keyring file yet"),
        (Ok(None), Some((is_shared, store))) => match lacks(is_shared, &*store).await {
            Ok(true) => failed(StartError::KeyringMissing(path).to_string()),
            Ok(false) => check(
                "keyring",
                Finding::Skipped,
                "there is no keyring file, and nothing is sealed: a start makes one",
            ),
            Err(error) => failed(error.to_string()),
        },
        (Ok(Some(_)), None) => {
            check("keyring", Finding::Ok, "the keyring is well-formed; not compared with the database")
        }
        (Ok(Some(ring)), Some((is_shared, store))) => {
            let keys = Keys::new(store, Arc::new(KeyringSealer::new(ring))).shared(is_shared);
            match keys.check().await {
                Ok(()) => check("keyring", Finding::Ok, "it has every key that secrets are sealed under"),
                Err(error) => failed(error.to_string()),
            }
        }
    }
}

/// Whether a start without a keyring is refused.
async fn lacks(is_shared: bool, keys: &dyn KeyStore) -> Result<bool, StoreError> {
    Ok(!keys.keys_in_use().await?.is_empty() || (is_shared && !keys.key_checks().await?.is_empty()))
}

/// Grants and rules of roles whose selectors nobody can read.
async fn check_rules(db: &Db) -> Check {
    match heddle_identity::unreadable_rules(&stores::identity(db.clone())).await {
        Ok(found) if found.is_empty() => check("rules", Finding::Ok, "every grant and rule can be read"),
        Ok(found) => {
            let named: Vec<_> = found.iter().take(NAMED).map(ToString::to_string).collect();
            let message = format!(
                "{} can't be read, so that an allow gives nothing and a deny denies all of its type; delete and make \
                 anew: {}",
                found.len(),
                named.join("; ")
            );
            check("rules", Finding::Warning, message)
        }
        Err(error) => check("rules", Finding::Failed, error.to_string()),
    }
}

async fn licence(config: &Config, db: Db, key: [u8; KEY_LENGTH], state: &InstallationState) -> Check {
    let failed = |message: String| check("licence", Finding::Failed, message);
    match InstallationKey::new(key) {
        Ok(own) if own.installation_id() == state.installation_id => {}
        _ => return check("licence", Finding::Skipped, "not checked with a wrong key"),
    }
    let clock = Arc::new(ServerClock::default());
    let store = Arc::new(stores::identity(db));
    let denials = Denials::start(store.clone());
    let identity = match crate::identity::open(config, &store, &denials, key, &clock, Arc::new(NoKeyring)) {
        Ok(identity) => identity,
        Err(error) => return failed(error.to_string()),
    };
    let nobody = uuid::Uuid::nil();
    let context =
        own_context(OwnReason("a check of the licence"), clock.now(), TenantId(nobody), UserId(nobody));
    let Ok(authorized) = context.snapshot().authorize_kind::<LicenceRead>() else {
        return failed("the licence may not be read".to_owned());
    };
    match identity.licence(&authorized, &context).await {
        Ok(report) => judged(&report.licence, clock.now()),
        Err(error) => failed(error.to_string()),
    }
}

fn judged(licence: &Licence, now: Timestamp) -> Check {
    let end = licence.claims.as_deref().map(|claims| claims.exp);
    let until = end.map_or_else(String::new, |end| format!(", ends {end}"));
    let word = licence.state.as_str();
    match licence.state {
        LicenceState::Restricted { .. } => {
            let reason = licence.restriction().unwrap_or("unknown");
            let remedy = if reason == "missing" {
                "install one with `heddle licence install FILE`, or begin with `heddle licence trial`"
            } else {
                "install a licence with `heddle licence install FILE`"
            };
            check("licence", Finding::Failed, format!("{word} ({reason}){until}: {remedy}"))
        }
        LicenceState::Grace { .. } => {
            check("licence", Finding::Warning, format!("{word}{until}: install a new licence"))
        }
        LicenceState::Trial { .. } | LicenceState::Expiring { .. } if licence.state.is_pressing(now) => {
            check("licence", Finding::Warning, format!("{word}{until}: install a new licence"))
        }
        LicenceState::Trial { .. } | LicenceState::Active { .. } | LicenceState::Expiring { .. } => {
            check("licence", Finding::Ok, format!("{word}{until}"))
        }
    }
}

fn check_disk(data_dir: &Path) -> Check {
    // Before the first start the directory above it is the one whose file system counts.
    let existing = data_dir.ancestors().find(|path| path.exists()).unwrap_or_else(|| Path::new("."));
    match rustix::fs::statvfs(existing) {
        Ok(disk) => judge_disk(disk.f_bavail.saturating_mul(disk.f_frsize)),
        Err(error) => check("disk", Finding::Failed, format!("`{}`: {error}", data_dir.display())),
    }
}

fn judge_disk(free: u64) -> Check {
    let status = match free {
        0..LEAST_FREE => Finding::Failed,
        LEAST_FREE..LITTLE_FREE => Finding::Warning,
        _ => Finding::Ok,
    };
    check("disk", status, format!("{} MiB free for the data directory", free >> 20))
}

fn check_clock(now: Timestamp, state: &InstallationState) -> Check {
    let seen = state.high_water_mark;
    let (status, what) = if now < seen.plus_seconds(-CLOCK_TOLERANCE_SECONDS) {
        (Finding::Failed, "the clock was turned back, which restricts the licence: set it right")
    } else if now < seen.plus_seconds(-BEHIND_SECONDS) {
        (Finding::Warning, "the clock is behind the latest time that the installation saw")
    } else {
        (Finding::Ok, "not behind the latest time that the installation saw")
    };
    check("clock", status, format!("{what} ({seen}; now {now})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::Revision;

    fn state(id: &str, seen: Timestamp) -> InstallationState {
        InstallationState {
            installation_id: id.to_owned(),
            setup_token_sha256: None,
            setup_expires_at: None,
            set_up_at: None,
            licence: None,
            licence_installed_at: None,
            trial_started_at: None,
            revoked: Vec::new(),
            high_water_mark: seen,
            seal: String::new(),
            revision: Revision::FIRST,
            created_at: seen,
        }
    }

    #[test]
    fn a_clock_behind_what_was_seen_is_told() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        for (behind, status) in
            [(0, Finding::Ok), (-60, Finding::Ok), (60, Finding::Warning), (25 * 3600, Finding::Failed)]
        {
            assert_eq!(check_clock(now, &state("", now.plus_seconds(behind))).status, status, "{behind}");
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        for (free, status) in [(0, Finding::Failed), (1 << 30, Finding::Warning), (1 << 40, Finding::Ok)] {
            assert_eq!(judge_disk(free).status, status, "{free}");
        }
    }

    #[test]
    fn a_key_is_held_against_the_database() {
        let now = Timestamp::from_micros(0);
        let own = InstallationKey::new([7; KEY_LENGTH]).unwrap().installation_id();
        let key = || Ok(Some([7; KEY_LENGTH]));
        assert_eq!(check_key(key(), Some(&state(&own, now))).status, Finding::Ok);
        assert_eq!(check_key(key(), Some(&state("other", now))).status, Finding::Failed);
        assert_eq!(check_key(Ok(None), Some(&state(&own, now))).status, Finding::Failed);
        assert_eq!(check_key(Ok(None), None).status, Finding::Skipped);
        let exposed = Err(DataDirError::Exposed("x".into()));
        assert_eq!(check_key(exposed, None).status, Finding::Failed);
    }

    #[test]
    fn the_status_is_read_from_the_first_bytes() {
        assert_eq!(status_of(b"HTTP/1.1 503"), Some(503));
        assert_eq!(status_of(b"SSH-2.0-Open"), None);
    }
}

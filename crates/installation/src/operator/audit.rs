//! Verification of audit trails without a server: an export, or every trail of a copied database.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heddle_identity::InstallationKey;
use heddle_identity::audit_chain::{AuditChain, Part};
use heddle_identity::chain::{Checkpoint, ExportReader, INSTALLATION_TRAIL, PublicKey};
use heddle_kernel::{IdSource as _, TenantId, Timestamp};
use heddle_runtime::{RandomIds, ServerClock};
use heddle_store::backup;
use serde::Serialize;

use crate::anchors;
use crate::config::Config;
use crate::data_dir::{self, DataDirError, KEY_FILE};
use crate::error::StartError;
use crate::stores;

/// Knowledge from elsewhere than the trails: the key that signs checkpoints, and checkpoints that were kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Kept<'a> {
    /// The public key in lower-case hex; that of the data directory's key file without one.
    pub public_key: Option<&'a str>,
    /// Lines with checkpoints.
    pub anchors: Option<&'a str>,
}

/// A trail that was looked at.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedTrail {
    /// Id of the organisation, or `installation`.
    pub name: String,
    /// Number of records that are good.
    pub checked: u64,
    /// Number of records that were not sealed: nothing is said of them.
    pub unsealed: u64,
    /// First thing that is wrong, in words.
    pub first_bad: Option<String>,
}

fn name(trail: TenantId) -> String {
    if trail == INSTALLATION_TRAIL { "installation".to_owned() } else { trail.to_string() }
}

fn public_key(config: &Config, kept: Kept<'_>) -> Result<PublicKey, StartError> {
    if let Some(text) = kept.public_key {
        return text
            .trim()
            .parse::<PublicKey>()
            .map_err(|error| StartError::Refused(format!("--public-key: {error}")));
    }
    let path = config.data_dir.join(KEY_FILE);
    let missing = || {
        StartError::Refused(format!(
            "the key that signs checkpoints is needed: --public-key KEY, or --data-dir with `{KEY_FILE}` in it"
        ))
    };
    let key = data_dir::read_key(&path)?.ok_or_else(missing)?;
    Ok(InstallationKey::new(key)?.checkpoints()?.public())
}

fn kept_anchors(kept: Kept<'_>) -> Result<Vec<Checkpoint>, StartError> {
    let refused = |line: usize| StartError::Refused(format!("--anchors: line {line} is no checkpoint"));
    anchors::read(kept.anchors.unwrap_or_default()).map_err(refused)
}

/// Verifies the JSON lines of one trail.
///
/// # Errors
/// `Refused` without a key and for anchors that are none, `DataDir` for files that can't be read.
pub fn verify_export(config: &Config, file: &Path, kept: Kept<'_>) -> Result<VerifiedTrail, StartError> {
    let key = public_key(config, kept)?;
    let anchors = kept_anchors(kept)?;
    let at = |source| StartError::DataDir(DataDirError::Io { path: file.to_owned(), source });
    let mut lines = BufReader::new(File::open(file).map_err(at)?).lines();
    // Which trail it is says the first record; anchors of others are left out.
    let mut first = None;
    let mut waiting = Vec::new();
    for line in lines.by_ref() {
        let line = line.map_err(at)?;
        first = ExportReader::trail_of(&line);
        waiting.push(line);
        if first.is_some() || waiting.len() > 1 {
            break;
        }
    }
    let own: Vec<Checkpoint> =
        anchors.into_iter().filter(|anchor| Some(anchor.statement.tenant) == first).collect();
    let mut reader = ExportReader::new(key, own);
    let mut checked = 0;
    let bad = |reason: String, checked: u64| VerifiedTrail {
        name: first.map_or_else(|| file.display().to_string(), name),
        checked,
        unsealed: 0,
        first_bad: Some(reason),
    };
    for line in waiting.into_iter().map(Ok).chain(lines) {
        let line = line.map_err(at)?;
        if line.is_empty() {
            continue;
        }
        if let Err(fault) = reader.line(&line) {
            let told = format!("line {}, record {}: {}", fault.line, fault.sequence, fault.reason.in_words());
            return Ok(bad(told, checked));
        }
        checked += 1;
    }
    Ok(match reader.finish() {
        Ok(found) => VerifiedTrail {
            name: name(found.tenant),
            checked: found.records,
            unsealed: found.unsealed,
            first_bad: None,
        },
        Err(fault) => bad(format!("record {}: {}", fault.sequence, fault.reason.in_words()), checked),
    })
}

/// Verifies every trail of a SQLite database, of which a copy is made: the file itself is not written to.
///
/// # Errors
/// `Refused` without a key, for anchors that are none, and for a database of an earlier version; `Backup` for a file that is
/// no database of ours; `Store`.
pub async fn verify_copy(
    config: &Config,
    database: &Path,
    kept: Kept<'_>,
) -> Result<Vec<VerifiedTrail>, StartError> {
    let key = public_key(config, kept)?;
    let anchors = kept_anchors(kept)?;
    let folder = Folder::make()?;
    let copy = folder.0.join("copy.db");
    let (source, target) = (database.to_owned(), copy.clone());
    let copied =
        tokio::task::spawn_blocking(move || backup::copy(&source, &target, &stores::migrations())).await;
    copied.map_err(|error| StartError::Internal(error.to_string()))??;
    let db = stores::open(&Config { database_url: None, ..config.clone() }, &copy).await?;
    if !db.migrations_pending(&stores::migrations()).await?.is_empty() {
        let message = "the database is of an earlier version: restore it, and start it once";
        return Err(StartError::Refused(message.to_owned()));
    }
    let store = Arc::new(stores::identity(db));
    let chain = AuditChain::of_copy(store, key, Arc::new(ServerClock::default()));
    let mut trails = trails(&chain).await?;
    trails.extend(anchors.iter().map(|anchor| anchor.statement.tenant));
    trails.sort_unstable();
    trails.dedup();
    let mut found = Vec::new();
    for trail in trails {
        let own = anchors.iter().filter(|anchor| anchor.statement.tenant == trail);
        let anchor = own.max_by_key(|anchor| anchor.statement.sequence);
        let part = Part { after: 0, most: u64::MAX };
        let done = chain.verify(trail, part, anchor).await?;
        let told = |fault: heddle_identity::chain::Fault| {
            let event = fault.event.map_or_else(String::new, |id| format!(" ({id})"));
            format!("record {}{event}: {}", fault.sequence, fault.reason.in_words())
        };
        found.push(VerifiedTrail {
            name: name(trail),
            checked: done.checked,
            unsealed: done.unsealed,
            first_bad: done.fault.map(told),
        });
    }
    Ok(found)
}

/// Every trail that has a chain, or events without one.
async fn trails(chain: &AuditChain) -> Result<Vec<TenantId>, StartError> {
    let (mut found, mut after) = (Vec::new(), None);
    while let Some(trail) = chain.chain_after(after).await? {
        found.push(trail);
        after = Some(trail);
    }
    after = None;
    while let Some(trail) = chain.unsealed_trail(after).await? {
        found.push(trail);
        after = Some(trail);
    }
    Ok(found)
}

/// A folder of this process alone, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn make() -> Result<Self, StartError> {
        let id = RandomIds.next(Timestamp::from_micros(0));
        let path = std::env::temp_dir().join(format!("heddle-audit-{id}"));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|source| StartError::DataDir(DataDirError::Io { path: path.clone(), source }))?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A copy that stays is nobody else's to read.
        let _ = fs::remove_dir_all(&self.0);
    }
}

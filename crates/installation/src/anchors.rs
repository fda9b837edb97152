//! Anchors: the newest checkpoint of each trail, kept in the data directory. The database alone can't tell that the end of
//! a trail was cut off together with its checkpoints.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use heddle_identity::audit_chain::AuditChain;
use heddle_identity::chain::Checkpoint;
use heddle_kernel::TenantId;
use heddle_usecase::hex;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Name of the file within the data directory: a line of JSON for each trail.
pub(crate) const ANCHOR_FILE: &str = "audit-anchors.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    statement: String,
    signature: String,
}

/// The checkpoints of a text with one on each line, as anchors and exports have them.
///
/// # Errors
/// The number of the first line that is none.
pub fn read(text: &str) -> Result<Vec<Checkpoint>, usize> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let told: Option<Line> = serde_json::from_str(line).ok();
        let checkpoint = told.and_then(|told| Checkpoint::of_text(&told.statement, &told.signature));
        found.push(checkpoint.ok_or(number + 1)?);
    }
    Ok(found)
}

/// The anchors of a data directory.
#[derive(Debug)]
pub struct Anchors {
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    written: BTreeMap<TenantId, Checkpoint>,
    newer: BTreeMap<TenantId, Checkpoint>,
}

impl Anchors {
    /// The anchors of a directory. A file that can't be read is left where it is, under another name.
    pub fn open(directory: &Path) -> Self {
        let path = directory.join(ANCHOR_FILE);
        let found = match fs::read_to_string(&path) {
            Ok(text) => read(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "the anchors of the audit trail can't be read");
                Err(0)
            }
        };
        let written = found.unwrap_or_else(|line| {
            let aside = path.with_extension("jsonl.unreadable");
            // Where it can't be put aside it is written over by the next anchors, which the log tells.
            let moved = fs::rename(&path, &aside).is_ok();
            tracing::error!(
                path = %path.display(), line, moved,
                "the anchors of the audit trail are not ours: an end that was cut off before now is not found by them"
            );
            Vec::new()
        });
        let written = written.into_iter().map(|anchor| (anchor.statement.tenant, anchor)).collect();
        Self { path, kept: Mutex::new(Kept { written, newer: BTreeMap::new() }) }
    }

    /// The anchor of a trail: the newest checkpoint that this server knows of.
    pub fn of(&self, trail: TenantId) -> Option<Checkpoint> {
        self.kept.lock().written.get(&trail).cloned()
    }

    /// Takes a checkpoint in, until [`Self::write`].
    pub fn note(&self, checkpoint: Checkpoint) {
        let mut kept = self.kept.lock();
        let (trail, sequence) = (checkpoint.statement.tenant, checkpoint.statement.sequence);
        // Several tasks seal: who comes late may have an older one.
        if kept.newer.get(&trail).is_none_or(|other| other.statement.sequence < sequence) {
            kept.newer.insert(trail, checkpoint);
        }
    }

    /// Writes what was taken in. An anchor whose record is not in its chain any more stays: it is the proof.
    pub async fn write(&self, chain: &AuditChain) {
        let newer = std::mem::take(&mut self.kept.lock().newer);
        if newer.is_empty() {
            return;
        }
        let mut good = Vec::new();
        for (trail, checkpoint) in newer {
            let before = self.of(trail);
            let holds = match &before {
                None => Ok(true),
                Some(before) => chain.holds(before).await,
            };
            match holds {
                Ok(true) => good.push(checkpoint),
                Ok(false) => tracing::error!(
                    %trail,
                    sequence = before.as_ref().map(|before| before.statement.sequence),
                    "the audit trail was cut off or written anew: it lacks a record that a checkpoint tells of"
                ),
                // The next checkpoint of the trail comes here again.
                Err(error) => {
                    tracing::debug!(%trail, %error, "an anchor of the audit trail was not looked at")
                }
            }
        }
        let text = {
            let mut kept = self.kept.lock();
            kept.written.extend(good.into_iter().map(|one| (one.statement.tenant, one)));
            text_of(kept.written.values())
        };
        let path = self.path.clone();
        let done = tokio::task::spawn_blocking(move || replace(&path, &text)).await;
        if let Err(error) = done.map_err(io::Error::other).flatten() {
            tracing::warn!(path = %self.path.display(), %error, "the anchors of the audit trail were not written");
        }
    }
}

fn text_of<'a>(checkpoints: impl Iterator<Item = &'a Checkpoint>) -> String {
    let line = |one: &Checkpoint| {
        let line = Line { statement: one.text(), signature: hex(&one.signature) };
        serde_json::to_string(&line).unwrap_or_default() + "\n"
    };
    checkpoints.map(line).collect()
}

/// Puts a text in the place of a file, all or nothing.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let part = path.with_extension("jsonl.part");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use heddle_identity::chain::{CheckpointKey, CheckpointKind, Hash, Statement};
    use heddle_kernel::Timestamp;

    use super::*;

    #[test]
    fn anchors_are_read_as_they_were_written() {
        let key = CheckpointKey::of_seed([7; 32]);
        let statement = Statement {
            tenant: TenantId(uuid::Uuid::from_u128(1)),
            kind: CheckpointKind::Head,
            sequence: 3,
            hash: Hash::NONE,
            dropped: 0,
            at: Timestamp::from_micros(5),
        };
        let signed = key.sign(statement);
        let text = text_of(std::iter::once(&signed));
        assert_eq!(read(&text), Ok(vec![signed.clone()]));
        assert_eq!(read(&format!("\n{}", text.replace("\\\"sequence\\\":3", "\\\"sequence\\\": 3"))), Err(2));
        assert_eq!(read("{}"), Err(1));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ANCHOR_FILE);
        replace(&path, &text).unwrap();
        assert_eq!(Anchors::open(folder.path()).of(statement.tenant), Some(signed));
        fs::write(&path, "nonsense").unwrap();
        assert_eq!(Anchors::open(folder.path()).of(statement.tenant), None);
        assert!(!path.exists() && folder.path().join("audit-anchors.jsonl.unreadable").exists());
    }
}

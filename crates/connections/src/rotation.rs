//! Keys: at the start the keyring is held against what is stored, and a rotation wraps every secret's own key anew under
//! the current key, in batches, while the server runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::Timestamp;
use heddle_usecase::StoreError;

use crate::ports::{KeyCheck, KeyStore, Rewrap, SealError, SealedRow, Sealer};
use crate::secret::SecretPlace;

/// Secrets of one batch.
const BATCH: u32 = 200;
/// Secrets that did not open and are told one by one.
const TOLD: usize = 100;

/// Reason for which the keyring can't be used with what is stored.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A key is another one than that under which secrets were sealed.
    #[error(
        "the keyring's key `{key}` is not the key of this name that secrets were sealed under: bring back the right \
         keyring (a backup of it)"
    )]
    Wrong {
        /// Id of the key.
        key: String,
    },
    /// Keys are missing.
    #[error("the keyring lacks {}: bring back the keyring that has it", lacking(.keys))]
    Missing {
        /// Number of the secrets under each, by its id.
        keys: BTreeMap<String, u64>,
    },
    /// The keyring's current key is one that the installation has forgotten: the keyring is an old one.
    #[error(
        "the keyring's current key `{key}` was forgotten by this installation: copy the keyring of another node to this \
         one"
    )]
    Forgotten {
        /// Id of the key.
        key: String,
    },
    /// The keyring has no key that the other nodes of the database use.
    #[error(
        "the keyring has no key of this installation (`{key}` is one): copy the keyring of another node to this one, or \
         put the backup of it back"
    )]
    Another {
        /// Id of a key of the others.
        key: String,
    },
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Missing keys in words.
fn lacking(keys: &BTreeMap<String, u64>) -> String {
    let each = keys
        .iter()
        .map(|(key, secrets)| format!("the key `{key}`, under which {secrets} secrets are sealed"));
    each.collect::<Vec<_>>().join(", and ")
}

/// Keys as a database knows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredKeys {
    /// The checks of its keys.
    pub checks: Vec<KeyCheck>,
    /// Number of the secrets under each key that is in use.
    pub in_use: BTreeMap<String, u64>,
}

/// Holds a keyring against what a database has sealed; gives whether it has one of the keys that the database knows.
///
/// # Errors
/// `Wrong`, `Missing`.
pub fn compare(sealer: &dyn Sealer, stored: &StoredKeys) -> Result<bool, KeyError> {
    let mut has_one = false;
    for check in &stored.checks {
        match sealer.verify(check) {
            Ok(()) => has_one = true,
            // A key that is on the ring no more matters only where something is sealed under it.
            Err(SealError::UnknownKey(_)) => {}
            Err(SealError::WrongKey(_) | SealError::DoesNotOpen | SealError::Failed(_)) => {
                return Err(KeyError::Wrong { key: check.key.clone() });
            }
        }
    }
    let ring = sealer.keys();
    let in_use = stored.in_use.iter().filter(|(key, _)| !ring.contains(key));
    let missing: BTreeMap<String, u64> = in_use.map(|(key, secrets)| (key.clone(), *secrets)).collect();
    if missing.is_empty() { Ok(has_one) } else { Err(KeyError::Missing { keys: missing }) }
}

/// A key of the installation, and what is sealed under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUse {
    /// Id of the key.
    pub key: String,
    /// Whether the keyring has it.
    pub is_on_ring: bool,
    /// Whether it is the current one.
    pub is_current: bool,
    /// Number of the secrets under it.
    pub secrets: u64,
}

/// Outcome of forgetting a key in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgetting {
    /// Done: nothing is sealed under the key, and nothing will be.
    Done,
    /// Refusal: secrets are sealed under it still.
    InUse {
        /// Number of the secrets.
        secrets: u64,
        /// Places of the first of these, at most 100.
        told: Vec<SecretPlace>,
    },
}

/// Report of a rotation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rotated {
    /// Secrets that are under the current key now and were not.
    pub rewrapped: u64,
    /// Number of secrets that did not open; they stay as they are.
    pub unreadable: u64,
    /// The first of these, at most 100.
    pub told: Vec<Unreadable>,
}

/// A secret that did not open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Place of the secret.
    pub place: SecretPlace,
    /// The reason.
    pub reason: SealError,
}

/// Care of the keys.
#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn KeyStore>,
    sealer: Arc<dyn Sealer>,
    is_shared: bool,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Keys {
    /// Care of the keys on its ports.
    #[must_use]
    pub fn new(store: Arc<dyn KeyStore>, sealer: Arc<dyn Sealer>) -> Self {
        Self { store, sealer, is_shared: false }
    }

    /// The same on a database that other nodes may use, too: a keyring that has none of their keys is refused, also while
    /// nothing is sealed yet.
    #[must_use]
    pub fn shared(self, is_shared: bool) -> Self {
        Self { is_shared, ..self }
    }

    /// Holds the keyring against what is stored, and keeps the check of a current key that is new: at the start, and after a
    /// key was added. Who gets an error does not
    /// start: sealed under another key, secrets of before and of now would never open together.
    ///
    /// # Errors
    /// `Wrong`, `Missing`, `Another`, `Forgotten`, `Store`.
    pub async fn verify(&self, now: Timestamp) -> Result<(), KeyError> {
        let current = self.sealer.check();
        let mut known = self.store.key_checks().await?;
        if known.is_empty() {
            // Two nodes may begin at a time: one has the first key, and the other looks at it.
            self.store.add_first_key_check(&current, now).await?;
            known = self.store.key_checks().await?;
        }
        self.compare(&known).await?;
        if !known.contains(&current) {
            if self.is_shared && self.store.is_forgotten(&current.key).await? {
                return Err(KeyError::Forgotten { key: current.key });
            }
            self.store.add_key_checks(&[current], now).await?;
        }
        Ok(())
    }

    /// As [`Self::verify`], and writes nothing: for checks beside a server.
    ///
    /// # Errors
    /// `Wrong`, `Missing`, `Another`, `Store`.
    pub async fn check(&self) -> Result<(), KeyError> {
        let known = self.store.key_checks().await?;
        self.compare(&known).await
    }

    async fn compare(&self, known: &[KeyCheck]) -> Result<(), KeyError> {
        let in_use = self.store.keys_in_use().await?;
        let has_one = compare(&*self.sealer, &StoredKeys { checks: known.to_vec(), in_use })?;
        match known.first() {
            Some(other) if self.is_shared && !has_one => Err(KeyError::Another { key: other.key.clone() }),
            Some(_) | None => Ok(()),
        }
    }

    /// The keys of the ring, the current one first, then those that are missing although something is sealed under them.
    ///
    /// # Errors
    /// `Unavailable` and its like.
    pub async fn list(&self) -> Result<Vec<KeyUse>, StoreError> {
        let mut in_use = self.store.keys_in_use().await?;
        let current = self.sealer.current_key();
        let mut keys = Vec::new();
        for key in self.sealer.keys() {
            let secrets = in_use.remove(&key).unwrap_or_default();
            keys.push(KeyUse { is_on_ring: true, is_current: key == current, secrets, key });
        }
        let missing = in_use.into_iter().map(|(key, secrets)| KeyUse {
            is_on_ring: false,
            is_current: false,
            secrets,
            key,
        });
        keys.extend(missing);
        Ok(keys)
    }

    /// Forgets a key in the database, unless something is sealed under it. The key of the ring is the caller's to take
    /// away, afterwards: between the two nothing new can be sealed under it.
    ///
    /// # Errors
    /// `Unavailable` and its like.
    pub async fn forget(&self, key: &str, now: Timestamp) -> Result<Forgetting, StoreError> {
        let secrets = self.store.forget_key(key, now).await?;
        if secrets == 0 {
            return Ok(Forgetting::Done);
        }
        let told = self.store.sealed_under(key, u32::try_from(TOLD).unwrap_or(u32::MAX)).await?;
        Ok(Forgetting::InUse { secrets, told })
    }

    /// Wraps anew what is not under the current key, batch by batch, and remembers nothing between them: interrupted, it
    /// is simply called again. A secret that does not open is told and stays; one that somebody writes meanwhile is under
    /// the current key by that.
    ///
    /// # Errors
    /// `Unavailable` and its like; what was written before stays.
    pub async fn rotate(&self) -> Result<Rotated, StoreError> {
        let current = self.sealer.current_key();
        let mut report = Rotated::default();
        let mut after: Option<SecretPlace> = None;
        loop {
            let rows = self.store.sealed_under_others(&current, after.as_ref(), BATCH).await?;
            let Some(last) = rows.last().map(|row| row.place.clone()) else { return Ok(report) };
            let mut rewraps = Vec::with_capacity(rows.len());
            for row in rows {
                self.rewrap(row, &mut rewraps, &mut report);
            }
            if !rewraps.is_empty() {
                report.rewrapped += self.store.rewrapped(&rewraps).await?;
            }
            after = Some(last);
        }
    }

    fn rewrap(&self, row: SealedRow, rewraps: &mut Vec<Rewrap>, report: &mut Rotated) {
        match self.sealer.rewrap(&row.place, &row.sealed) {
            Ok(Some(sealed)) => rewraps.push(Rewrap { row, sealed }),
            Ok(None) => {}
            Err(reason) => {
                report.unreadable += 1;
                if report.told.len() < TOLD {
                    report.told.push(Unreadable { place: row.place, reason });
                }
            }
        }
    }
}

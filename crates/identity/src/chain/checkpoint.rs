//! Checkpoints: what the installation signs of a chain.

use std::fmt;
use std::str::FromStr;

use ed25519_compact::{KeyPair, Seed, Signature};
use heddle_kernel::{TenantId, Timestamp, literals};
use heddle_usecase::{canonical_json, hex, sha256_hex};
use serde::Deserialize;
use serde_json::json;

use super::record::{Hash, bytes_of};

/// Text before a statement that is signed.
const STATEMENT_MARK: &str = "heddle-audit-checkpoint-v1\n";

literals! {
    /// Kind of a checkpoint.
    pub enum CheckpointKind {
        /// The chain reaches up to this record.
        Head = "head",
        /// The records up to this one were dropped when their time was over.
        Dropped = "dropped",
    }
}

/// Statement of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    /// The organisation.
    pub tenant: TenantId,
    /// The kind.
    pub kind: CheckpointKind,
    /// Number of the record.
    pub sequence: i64,
    /// Hash of the record.
    pub hash: Hash,
    /// Number of records that were dropped up to here; 0 of a head.
    pub dropped: i64,
    /// Instant of the signature.
    pub at: Timestamp,
}

/// A signed statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The statement.
    pub statement: Statement,
    /// Id of the key that signed it.
    pub key_id: String,
    /// The signature: Ed25519, 64 bytes.
    pub signature: Vec<u8>,
}

impl Checkpoint {
    /// The text that is signed, behind a mark: canonical JSON.
    #[must_use]
    pub fn text(&self) -> String {
        text(&self.statement, &self.key_id)
    }

    /// A checkpoint of its text and its signature in hex, as exports and anchors hold them. The text must be the canonical
    /// one.
    #[must_use]
    pub fn of_text(statement: &str, signature: &str) -> Option<Self> {
        let told: Told = serde_json::from_str(statement).ok()?;
        let checkpoint = Self {
            statement: Statement {
                tenant: told.organization_id.parse().ok()?,
                kind: CheckpointKind::parse(&told.kind)?,
                sequence: told.sequence,
                hash: told.hash.parse().ok()?,
                dropped: told.dropped,
                at: Timestamp::from_micros(told.at_micros),
            },
            key_id: told.key_id,
            signature: bytes_of(signature)?,
        };
        (checkpoint.text() == statement).then_some(checkpoint)
    }

    /// Whether the key signed it.
    #[must_use]
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        let Ok(signature) = Signature::from_slice(&self.signature) else { return false };
        self.key_id == key.id() && key.0.verify(signed(&self.text()), &signature).is_ok()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Told {
    organization_id: String,
    kind: String,
    sequence: i64,
    hash: String,
    dropped: i64,
    at_micros: i64,
    key_id: String,
}

fn text(statement: &Statement, key_id: &str) -> String {
    canonical_json(&json!({
        "atMicros": statement.at.micros(),
        "dropped": statement.dropped,
        "hash": statement.hash.to_string(),
        "keyId": key_id,
        "kind": statement.kind.as_str(),
        "organizationId": statement.tenant.to_string(),
        "sequence": statement.sequence,
    }))
}

fn signed(text: &str) -> Vec<u8> {
    [STATEMENT_MARK.as_bytes(), text.as_bytes()].concat()
}

/// The public half of the key that signs checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(ed25519_compact::PublicKey);

impl PublicKey {
    /// Id of the key: the first 16 digits of its SHA-256.
    #[must_use]
    pub fn id(&self) -> String {
        sha256_hex(self.0.as_slice()).chars().take(16).collect()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.0.as_slice()))
    }
}

/// The text is no public key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a public key is 64 digits in lower-case hex: an Ed25519 key of 32 bytes")]
pub struct NoPublicKey;

impl FromStr for PublicKey {
    type Err = NoPublicKey;

    fn from_str(text: &str) -> Result<Self, NoPublicKey> {
        let bytes = bytes_of(text).ok_or(NoPublicKey)?;
        let key = ed25519_compact::PublicKey::from_slice(&bytes).ok().ok_or(NoPublicKey)?;
        key.validate().ok().ok_or(NoPublicKey)?;
        Ok(Self(key))
    }
}

/// The key that signs checkpoints. It shows itself to nobody.
#[derive(Clone)]
pub struct CheckpointKey {
    pair: KeyPair,
    id: String,
}

impl fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckpointKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl CheckpointKey {
    /// The key of a seed.
    #[must_use]
    pub fn of_seed(seed: [u8; 32]) -> Self {
        let pair = KeyPair::from_seed(Seed::new(seed));
        let id = PublicKey(pair.pk).id();
        Self { pair, id }
    }

    /// The public half.
    #[must_use]
    pub const fn public(&self) -> PublicKey {
        PublicKey(self.pair.pk)
    }

    /// The statement, signed.
    #[must_use]
    pub fn sign(&self, statement: Statement) -> Checkpoint {
        let signature = self.pair.sk.sign(signed(&text(&statement, &self.id)), None);
        Checkpoint { statement, key_id: self.id.clone(), signature: signature.to_vec() }
    }
}

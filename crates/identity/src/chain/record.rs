//! A record of a trail, and its hash.

use std::fmt;
use std::str::FromStr;

use heddle_kernel::{EventId, TenantId, Timestamp};
use heddle_usecase::{canonical_json, write_canonical};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The organisation under which the installation's own trail stands.
pub const INSTALLATION_TRAIL: TenantId = TenantId(Uuid::nil());

/// Text before the text of a record, so that no hash of a record is one of anything else.
const RECORD_MARK: &str = "heddle-audit-v1\n";

/// A hash of the chain: SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The hash before the first record: zeros.
    pub const NONE: Self = Self([0; 32]);

    /// A hash of its bytes; none of another number of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&heddle_usecase::hex(&self.0))
    }
}

/// The text is no hash: 64 digits in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 digits in lower-case hex")]
pub struct NoHash;

impl FromStr for Hash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        bytes_of(text).and_then(|bytes| Self::of(&bytes)).ok_or(NoHash)
    }
}

/// The bytes of a text in lower-case hex.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digit = |letter: u8| match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

/// An audit event with every column as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRecord {
    /// The organisation; [`INSTALLATION_TRAIL`] for the installation as a whole.
    pub tenant: TenantId,
    /// Id of the event.
    pub id: EventId,
    /// Instant of the event, to the microsecond.
    pub at: Timestamp,
    /// Literal of the actor's kind.
    pub actor_kind: String,
    /// The user's id.
    pub actor_id: Option<String>,
    /// A name for people.
    pub actor_display: String,
    /// Id of the actor's session or API token.
    pub actor_credential: Option<String>,
    /// Action of the event.
    pub action: String,
    /// Type of the resource.
    pub resource_type: String,
    /// Id of the resource.
    pub resource_id: Option<String>,
    /// Type of the second thing.
    pub target_type: Option<String>,
    /// Id of the second thing.
    pub target_id: Option<String>,
    /// Literal of the outcome.
    pub outcome: String,
    /// The request.
    pub request_id: String,
    /// Address of the client.
    pub client_ip: Option<String>,
    /// Details of the event.
    pub details: Value,
}

/// Content of a stored row.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Every column was read.
    Readable(Box<AuditRecord>),
    /// A column holds what can't be read; says why.
    Unreadable(String),
}

/// A row of a trail with its place in the chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainRow {
    /// Id of the event.
    pub id: EventId,
    /// Number in the chain, which begins with 1; none before it is sealed.
    pub sequence: Option<i64>,
    /// The stored hash.
    pub hash: Option<Vec<u8>>,
    /// The columns.
    pub content: Content,
}

/// The text of a record at its place in the chain: canonical JSON of every column, the number, and the hash before it.
fn record_text(record: &AuditRecord, sequence: i64, previous: &Hash) -> String {
    let mut text = Members(Vec::with_capacity(1024));
    text.put("action", &record.action);
    text.put("actorCredential", &record.actor_credential);
    text.put("actorDisplay", &record.actor_display);
    text.put("actorId", &record.actor_id);
    text.put("actorKind", &record.actor_kind);
    text.put("atMicros", &record.at.micros());
    text.put("clientIp", &record.client_ip);
    text.name("details");
    write_canonical(&record.details, &mut text.0);
    text.put("id", &record.id.to_string());
    text.put("organizationId", &record.tenant.to_string());
    text.put("outcome", &record.outcome);
    text.put("previousHash", &previous.to_string());
    text.put("requestId", &record.request_id);
    text.put("resourceId", &record.resource_id);
    text.put("resourceType", &record.resource_type);
    text.put("sequence", &sequence);
    text.put("targetId", &record.target_id);
    text.put("targetType", &record.target_type);
    text.0.push(b'}');
    // What serde_json writes is UTF-8.
    String::from_utf8(text.0).unwrap_or_default()
}

/// Members of an object whose names are put in their order: every event has one, so that it is written without a tree.
struct Members(Vec<u8>);

impl Members {
    fn name(&mut self, name: &str) {
        self.0.extend_from_slice(if self.0.is_empty() { b"{\"" } else { b",\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    fn put(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        // Neither does memory fail here, nor is there anything that JSON has no word for.
        let _ = serde_json::to_writer(&mut self.0, value);
    }
}

/// The text of a row, also of one that can't be read: it stands in the chain as such, so that it holds up none behind it.
#[must_use]
pub fn sealed_text(tenant: TenantId, row: &ChainRow, sequence: i64, previous: &Hash) -> String {
    match &row.content {
        Content::Readable(record) => record_text(record, sequence, previous),
        Content::Unreadable(_) => canonical_json(&json!({
            "id": row.id.to_string(),
            "organizationId": tenant.to_string(),
            "previousHash": previous.to_string(),
            "sequence": sequence,
            "unreadable": true,
        })),
    }
}

/// The hash of a record's text.
#[must_use]
pub(crate) fn link(text: &str) -> Hash {
    let mut hasher = Sha256::new();
    hasher.update(RECORD_MARK.as_bytes());
    hasher.update(text.as_bytes());
    Hash(hasher.finalize().into())
}

/// Instant in an id that rises with time; the first of all in another.
#[must_use]
pub(crate) fn time_of_id(id: Uuid) -> Timestamp {
    let millis = id.get_timestamp().map_or(0, |stamp| {
        let (seconds, nanos) = stamp.to_unix();
        i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000) + i64::from(nanos / 1_000_000)
    });
    Timestamp::from_micros(0).plus_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_record_is_canonical() {
        let odd = "a \"quoted\" \\ line\n\u{1}é";
        let record = AuditRecord {
            tenant: TenantId(Uuid::from_u128(1)),
            id: EventId(Uuid::from_u128(2)),
            at: Timestamp::from_micros(3),
            actor_kind: "user".to_owned(),
            actor_id: Some(odd.to_owned()),
            actor_display: String::new(),
            actor_credential: None,
            action: odd.to_owned(),
            resource_type: "workflow".to_owned(),
            resource_id: None,
            target_type: Some("role".to_owned()),
            target_id: None,
            outcome: "succeeded".to_owned(),
            request_id: odd.to_owned(),
            client_ip: None,
            details: json!({"z": [1, 2.5, null, {"b": odd, "a": true}], "a": {}}),
        };
        let text = record_text(&record, 7, &Hash::NONE);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(text, canonical_json(&read));
        assert_eq!(read.as_object().unwrap().len(), 18);
        assert_eq!((&read["actorId"], &read["details"]), (&json!(odd), &record.details));
    }
}

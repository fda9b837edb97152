//! Notes that a failed attempt leaves for the next one: what was reviewed, and what was wrong with an answer.

use heddle_kernel::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// Notes of an attempt for the next one. Work that is tried again behind a review is work that somebody let pass.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Notes {
    /// Repairs since the job was opened, or since somebody had it tried again.
    pub(crate) repairs: u64,
    /// Answers that did not fit, in all.
    pub(crate) unfit_answers: u64,
    /// Fault of the last of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unfit: Option<String>,
    /// Digests of what was put to a review.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) reviewed: Vec<String>,
    /// Instant of the last review, in microseconds since 1970: what was made of it is made the same again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reviewed_at: Option<i64>,
    /// Result that was put to a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Reviewed>,
}

/// A result that was put to a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Reviewed {
    /// Digest of the variables that the node saw.
    pub seen: String,
    /// Variables that the node gives, without what was taken out.
    pub variables: Map<String, Value>,
}

impl Notes {
    /// The notes of the attempt before; none where it left none.
    #[must_use]
    pub fn read(left: Option<&Value>) -> Self {
        left.and_then(|left| Self::deserialize(left).ok()).unwrap_or_default()
    }

    /// The notes as a job has them.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Whether somebody let this pass.
    pub(crate) fn has_passed(&self, digest: &str) -> bool {
        self.reviewed.iter().any(|own| own == digest)
    }

    /// The same with something that waits for a review.
    pub(crate) fn with_review(&self, digest: String, now: Timestamp) -> Self {
        let mut notes = self.clone();
        if !notes.has_passed(&digest) {
            notes.reviewed.push(digest);
        }
        notes.reviewed_at = Some(now.micros());
        notes.result = None;
        notes
    }
}

/// Digest of a value in its place.
pub(crate) fn digest(place: &str, value: &Value) -> String {
    let mut hash = Sha256::new();
    hash.update(place.as_bytes());
    hash.update([0]);
    hash.update(value.to_string().as_bytes());
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        text
    })
}

//! A sealed secret as it is stored.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::cipher::NONCE_LENGTH;

/// Length up to which a secret is sealed, in bytes.
pub const LONGEST: usize = 256 * 1024;

/// A sealed secret. As JSON it is an object of these members; the bytes are base64.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sealed {
    /// Version of the form: 1.
    pub v: u8,
    /// Id of the ring's key that wraps the data key.
    pub kid: String,
    /// The data key, wrapped.
    #[serde(serialize_with = "to_text", deserialize_with = "bytes")]
    pub wrapped_dek: Vec<u8>,
    /// Nonce of the wrapping.
    #[serde(serialize_with = "to_text", deserialize_with = "nonce")]
    pub n1: [u8; NONCE_LENGTH],
    /// The secret, under the data key.
    #[serde(serialize_with = "to_text", deserialize_with = "bytes")]
    pub ct: Vec<u8>,
    /// Nonce of the secret.
    #[serde(serialize_with = "to_text", deserialize_with = "nonce")]
    pub n2: [u8; NONCE_LENGTH],
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealed").field("v", &self.v).field("kid", &self.kid).finish_non_exhaustive()
    }
}

fn to_text<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(|_no_base64| D::Error::custom("the bytes of a sealed secret are base64"))
}

fn nonce<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[u8; NONCE_LENGTH], D::Error> {
    let found = bytes(deserializer)?;
    found.try_into().map_err(|_length| D::Error::custom("a nonce has 12 bytes"))
}

//! The installation key: what it signs and seals with, and the installation's id, all made from 32 bytes that the
//! server keeps in a file and never in the database.

use std::fmt;

use ed25519_compact::{KeyPair, Seed};
use heddle_licence::{PublicKey, SigningKey};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::UseCaseError;
use crate::chain::CheckpointKey;
use crate::records::InstallationState;

/// The key's length in bytes.
pub const KEY_LENGTH: usize = 32;

/// The installation key.
#[derive(Clone)]
pub struct InstallationKey {
    secret: [u8; KEY_LENGTH],
    pair: KeyPair,
    calls: [u8; 32],
    devices: [u8; 32],
    tickets: [u8; 32],
    sign_ins: [u8; 32],
}

impl fmt::Debug for InstallationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InstallationKey")
            .field("installation_id", &self.installation_id())
            .finish_non_exhaustive()
    }
}

impl InstallationKey {
    /// Builds the key from the key file's bytes.
    ///
    /// # Errors
    /// `Internal` for bytes that can't be a key: all zero.
    pub fn new(secret: [u8; KEY_LENGTH]) -> Result<Self, UseCaseError> {
        if secret == [0; KEY_LENGTH] {
            return Err(UseCaseError::Internal("the installation key is all zero".to_owned()));
        }
        // Each use has a key of its own, so that none tells anything of another.
        let seed = derived(&secret, b"heddle/licence-signing/v1")?;
        let calls = derived(&secret, b"heddle/idempotent-calls/v1")?;
        let devices = derived(&secret, b"heddle/known-devices/v1")?;
        let tickets = derived(&secret, b"heddle/sign-in-tickets/v1")?;
        let sign_ins = derived(&secret, b"heddle/provider-sign-ins/v1")?;
        Ok(Self { pair: KeyPair::from_seed(Seed::new(seed)), secret, calls, devices, tickets, sign_ins })
    }

    /// Code of a call that is remembered for its repeats: HMAC-SHA-256 over its parts, in lower-case hex. Whoever reads
    /// the database can't try bodies, and passwords in them, against it.
    ///
    /// # Errors
    /// `Internal` when the key can't be used.
    pub(crate) fn call_code(&self, parts: &[&[u8]]) -> Result<String, UseCaseError> {
        code(&self.calls, parts)
    }

    /// Code of a device's mark: HMAC-SHA-256 over its parts, in lower-case hex.
    ///
    /// # Errors
    /// As [`Self::call_code`].
    pub(crate) fn device_code(&self, parts: &[&[u8]]) -> Result<String, UseCaseError> {
        code(&self.devices, parts)
    }

    /// Code of a ticket between password and second factor: HMAC-SHA-256 over its parts, in lower-case hex.
    ///
    /// # Errors
    /// As [`Self::call_code`].
    pub(crate) fn ticket_code(&self, parts: &[&[u8]]) -> Result<String, UseCaseError> {
        code(&self.tickets, parts)
    }

    /// Code of a sign-in by a provider: HMAC-SHA-256 over its parts, in lower-case hex.
    ///
    /// # Errors
    /// As [`Self::call_code`].
    pub(crate) fn sign_in_code(&self, parts: &[&[u8]]) -> Result<String, UseCaseError> {
        code(&self.sign_ins, parts)
    }

    /// The installation's id. Another key is another installation.
    #[must_use]
    pub fn installation_id(&self) -> String {
        let digest = Sha256::digest([b"heddle/installation/v1".as_slice(), &*self.pair.pk].concat());
        let (half, _) = digest.split_at(16);
        heddle_usecase::hex(half)
    }

    /// The seal of an installation's row: HMAC-SHA-256 over what nobody may change from outside, in lower-case hex.
    ///
    /// # Errors
    /// `Internal` when the key can't be used.
    pub fn seal(&self, state: &InstallationState) -> Result<String, UseCaseError> {
        let mut mac = hmac(&derived(&self.secret, b"heddle/seal/v1")?)?;
        let micros =
            |at: Option<heddle_kernel::Timestamp>| at.map_or(String::new(), |at| at.micros().to_string());
        let parts = [
            state.installation_id.clone(),
            state.high_water_mark.micros().to_string(),
            micros(state.trial_started_at),
            micros(state.set_up_at),
            heddle_usecase::sha256_hex(state.licence.as_deref().unwrap_or_default().as_bytes()),
            state.revoked.join(" "),
        ];
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        Ok(heddle_usecase::hex(&mac.finalize().into_bytes()))
    }

    /// The row with its seal.
    ///
    /// # Errors
    /// As [`Self::seal`].
    pub(crate) fn sealed(&self, mut state: InstallationState) -> Result<InstallationState, UseCaseError> {
        state.seal = self.seal(&state)?;
        Ok(state)
    }

    /// Whether a row has the right seal.
    pub(crate) fn is_sealed(&self, state: &InstallationState) -> bool {
        use subtle::ConstantTimeEq as _;
        self.seal(state).is_ok_and(|seal| seal.as_bytes().ct_eq(state.seal.as_bytes()).into())
    }

    /// The key that signs checkpoints of the audit trail.
    ///
    /// # Errors
    /// `Internal` when the key can't be used.
    pub fn checkpoints(&self) -> Result<CheckpointKey, UseCaseError> {
        Ok(CheckpointKey::of_seed(derived(&self.secret, b"heddle/audit-checkpoints/v1")?))
    }

    pub(crate) fn signing(&self) -> Result<SigningKey, UseCaseError> {
        SigningKey::from(&*self.pair.sk).map_err(|error| UseCaseError::Internal(format!("signing: {error}")))
    }

    pub(crate) fn verifying(&self) -> Result<PublicKey, UseCaseError> {
        PublicKey::from(&*self.pair.pk).map_err(|error| UseCaseError::Internal(format!("signing: {error}")))
    }
}

/// HMAC over parts, each behind its length, so that no two lists of parts are one text.
fn code(key: &[u8], parts: &[&[u8]]) -> Result<String, UseCaseError> {
    let mut mac = hmac(key)?;
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    Ok(heddle_usecase::hex(&mac.finalize().into_bytes()))
}

fn hmac(key: &[u8]) -> Result<Hmac<Sha256>, UseCaseError> {
    Hmac::new_from_slice(key).map_err(|error| UseCaseError::Internal(format!("sealing: {error}")))
}

fn derived(secret: &[u8], purpose: &[u8]) -> Result<[u8; 32], UseCaseError> {
    let mut mac = hmac(secret)?;
    mac.update(purpose);
    Ok(mac.finalize().into_bytes().into())
}

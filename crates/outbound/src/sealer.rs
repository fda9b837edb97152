//! Sealing by the installation's keyring.

use std::sync::Arc;

use heddle_connections::ports::{KeyCheck, SealError, Sealer};
use heddle_connections::secret::{SealedSecret, Secret, SecretPlace};
use heddle_seal::{CheckValue, Keyring, Place, Sealed, SystemRandom};
use parking_lot::RwLock;

/// The kind of record that secrets of connections are sealed into.
const KIND: &str = "connection";

/// Sealer on a keyring that can be replaced while it is in use: a rotation adds a key.
pub struct KeyringSealer {
    keyring: RwLock<Arc<Keyring>>,
}

impl std::fmt::Debug for KeyringSealer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyringSealer").finish_non_exhaustive()
    }
}

impl KeyringSealer {
    /// Sealer on a keyring.
    #[must_use]
    pub fn new(keyring: Keyring) -> Self {
        Self { keyring: RwLock::new(Arc::new(keyring)) }
    }

    /// The keyring that is in use.
    #[must_use]
    pub fn keyring(&self) -> Arc<Keyring> {
        self.keyring.read().clone()
    }

    /// Uses another keyring from now on: what was sealed before opens as long as its key is on it.
    pub fn replace(&self, keyring: Keyring) {
        *self.keyring.write() = Arc::new(keyring);
    }
}

/// Texts of a place.
struct Texts {
    tenant: String,
    record: String,
}

impl Texts {
    fn of(place: &SecretPlace) -> Self {
        Self { tenant: place.tenant.to_string(), record: place.connection.to_string() }
    }

    fn place<'a>(&'a self, of: &'a SecretPlace) -> Place<'a> {
        Place { tenant: &self.tenant, kind: KIND, record: &self.record, field: &of.field }
    }
}

fn error(error: heddle_seal::SealError) -> SealError {
    match error {
        heddle_seal::SealError::UnknownKey(key) => SealError::UnknownKey(key),
        heddle_seal::SealError::WrongKey(key) => SealError::WrongKey(key),
        heddle_seal::SealError::DoesNotOpen | heddle_seal::SealError::UnknownVersion(_) => {
            SealError::DoesNotOpen
        }
        other @ (heddle_seal::SealError::TooLong(_)
        | heddle_seal::SealError::NoRandom(_)
        | heddle_seal::SealError::BadKeyring(_)
        | heddle_seal::SealError::IsCurrent(_)
        | heddle_seal::SealError::Exposed(_)
        | heddle_seal::SealError::Io { .. }) => SealError::Failed(other.to_string()),
    }
}

fn kept(sealed: &Sealed) -> Result<SealedSecret, SealError> {
    let text = serde_json::to_string(sealed).map_err(|error| SealError::Failed(error.to_string()))?;
    Ok(SealedSecret { key: sealed.kid.clone(), text })
}

/// The sealed form that was kept. The key's id beside it is for queries alone: what is sealed names its own.
fn read(sealed: &SealedSecret) -> Result<Sealed, SealError> {
    serde_json::from_str(&sealed.text).map_err(|_damaged| SealError::DoesNotOpen)
}

impl Sealer for KeyringSealer {
    fn seal(&self, place: &SecretPlace, secret: &Secret) -> Result<SealedSecret, SealError> {
        let texts = Texts::of(place);
        let bytes = secret.expose().as_bytes();
        let sealed = self.keyring().seal(&texts.place(place), bytes, &mut SystemRandom).map_err(error)?;
        kept(&sealed)
    }

    fn open(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Secret, SealError> {
        let texts = Texts::of(place);
        let opened = self.keyring().unseal(&texts.place(place), &read(sealed)?).map_err(error)?;
        let text = std::str::from_utf8(&opened).map_err(|_damaged| SealError::DoesNotOpen)?;
        Ok(Secret::new(text))
    }

    fn rewrap(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Option<SealedSecret>, SealError> {
        let texts = Texts::of(place);
        let rewrapped =
            self.keyring().rewrap(&texts.place(place), &read(sealed)?, &mut SystemRandom).map_err(error)?;
        rewrapped.as_ref().map(kept).transpose()
    }

    fn current_key(&self) -> String {
        self.keyring().current().to_owned()
    }

    fn keys(&self) -> Vec<String> {
        self.keyring().ids().map(str::to_owned).collect()
    }

    fn check(&self) -> KeyCheck {
        let CheckValue { kid, value } = self.keyring().check_value();
        KeyCheck { key: kid, value }
    }

    fn verify(&self, check: &KeyCheck) -> Result<(), SealError> {
        let stored = CheckValue { kid: check.key.clone(), value: check.value.clone() };
        self.keyring().verify(&stored).map_err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::{ConnectionId, TenantId};
    use uuid::Uuid;

    fn place(tenant: u128, connection: u128, field: &str) -> SecretPlace {
        SecretPlace {
            tenant: TenantId(Uuid::from_u128(tenant)),
            connection: ConnectionId(Uuid::from_u128(connection)),
            field: field.to_owned(),
        }
    }

    #[test]
    fn a_secret_opens_in_its_place_alone_and_under_a_key_that_came_later() {
        let mut keyring = Keyring::generate(&mut SystemRandom).unwrap();
        let sealer = KeyringSealer::new(keyring.clone());
        let (home, secret) = (place(1, 2, "password"), Secret::new("canary-of-a-secret"));
        let sealed = sealer.seal(&home, &secret).unwrap();
        assert!(!sealed.text.contains("canary"));
        assert_eq!(sealer.open(&home, &sealed).unwrap(), secret);
        for elsewhere in [place(9, 2, "password"), place(1, 9, "password"), place(1, 2, "token")] {
            assert_eq!(sealer.open(&elsewhere, &sealed), Err(SealError::DoesNotOpen), "{elsewhere:?}");
            assert!(sealer.rewrap(&elsewhere, &sealed).unwrap_or(None).is_none(), "{elsewhere:?}");
        }
        let check = sealer.check();
        assert_eq!(sealer.rewrap(&home, &sealed), Ok(None));
        keyring.add_current(&mut SystemRandom).unwrap();
        sealer.replace(keyring);
        let rewrapped = sealer.rewrap(&home, &sealed).unwrap().unwrap();
        assert_eq!((rewrapped.key.as_str(), sealer.verify(&check)), (&*sealer.current_key(), Ok(())));
        for sealed in [&sealed, &rewrapped] {
            assert_eq!(sealer.open(&home, sealed).unwrap(), secret);
        }
        let stranger = KeyringSealer::new(Keyring::generate(&mut SystemRandom).unwrap());
        assert_eq!(stranger.open(&home, &sealed), Err(SealError::UnknownKey(sealed.key.clone())));
        assert_eq!(stranger.verify(&check), Err(SealError::UnknownKey(check.key.clone())));
        let damaged = SealedSecret { key: sealed.key.clone(), text: "{}".to_owned() };
        assert_eq!(sealer.open(&home, &damaged), Err(SealError::DoesNotOpen));
    }
}

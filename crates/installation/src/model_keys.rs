//! Keys of connections to providers under the installation's keyring.

use heddle_models::ports::{KeyPlace, KeySealer, SealError};
use heddle_seal::{Keyring, Place, SealError as RingError, Sealed, SystemRandom};
use heddle_usecase::secret::{SealedSecret, Secret};

use crate::keyring::InstallationKeyring;

/// The kind of record that keys of providers are sealed into.
const KIND: &str = "model-connection";
/// The name of the secret in it.
const FIELD: &str = "apiKey";

fn told(error: RingError) -> SealError {
    match error {
        RingError::UnknownKey(key) => SealError::UnknownKey(key),
        RingError::WrongKey(key) => SealError::WrongKey(key),
        RingError::DoesNotOpen | RingError::UnknownVersion(_) => SealError::DoesNotOpen,
        other @ (RingError::TooLong(_)
        | RingError::NoRandom(_)
        | RingError::BadKeyring(_)
        | RingError::IsCurrent(_)
        | RingError::Exposed(_)
        | RingError::Io { .. }) => SealError::Failed(other.to_string()),
    }
}

/// Does something with the ring in a place; once more after a look at the file, when a key is not on it.
fn with<T>(
    keyring: &InstallationKeyring,
    place: KeyPlace,
    work: impl Fn(&Keyring, &Place<'_>) -> Result<T, RingError>,
) -> Result<T, SealError> {
    let (tenant, record) = (place.tenant.to_string(), place.connection.to_string());
    let place = Place { tenant: &tenant, kind: KIND, record: &record, field: FIELD };
    let done = match work(&keyring.ring(), &place) {
        Err(RingError::UnknownKey(_)) => {
            keyring.refresh();
            work(&keyring.ring(), &place)
        }
        done => done,
    };
    done.map_err(told)
}

fn kept(sealed: &Sealed) -> Result<SealedSecret, SealError> {
    let text = serde_json::to_string(sealed).map_err(|error| SealError::Failed(error.to_string()))?;
    Ok(SealedSecret { key: sealed.kid.clone(), text })
}

fn read(sealed: &SealedSecret) -> Result<Sealed, SealError> {
    serde_json::from_str(&sealed.text).map_err(|_damaged| SealError::DoesNotOpen)
}

impl KeySealer for InstallationKeyring {
    fn seal(&self, place: KeyPlace, secret: &Secret) -> Result<SealedSecret, SealError> {
        // Another node may have put a new key on the ring: what is sealed from then on is sealed under it.
        self.refresh();
        let bytes = secret.expose().as_bytes();
        kept(&with(self, place, |ring, place| ring.seal(place, bytes, &mut SystemRandom))?)
    }

    fn open(&self, place: KeyPlace, sealed: &SealedSecret) -> Result<Secret, SealError> {
        let sealed = read(sealed)?;
        let opened = with(self, place, |ring, place| ring.unseal(place, &sealed))?;
        let text = std::str::from_utf8(&opened).map_err(|_damaged| SealError::DoesNotOpen)?;
        Ok(Secret::new(text))
    }

    fn rewrap(&self, place: KeyPlace, sealed: &SealedSecret) -> Result<Option<SealedSecret>, SealError> {
        let sealed = read(sealed)?;
        let rewrapped = with(self, place, |ring, place| ring.rewrap(place, &sealed, &mut SystemRandom))?;
        rewrapped.as_ref().map(kept).transpose()
    }
}

#[cfg(test)]
mod tests {
    use heddle_kernel::{ModelConnectionId, TenantId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_opens_in_its_connection_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heddle.keyring");
        Keyring::generate(&mut SystemRandom).unwrap().create(&path).unwrap();
        let ring = InstallationKeyring::of(Some(path.clone()), Keyring::read(&path).unwrap().unwrap());
        let place = |tenant: u128, connection: u128| KeyPlace {
            tenant: TenantId(Uuid::from_u128(tenant)),
            connection: ModelConnectionId(Uuid::from_u128(connection)),
        };
        let sealed = KeySealer::seal(&ring, place(1, 2), &Secret::new("canary")).unwrap();
        assert!(!sealed.text.contains("canary"));
        assert_eq!(KeySealer::open(&ring, place(1, 2), &sealed).unwrap().expose(), "canary");
        for elsewhere in [place(9, 2), place(1, 9)] {
            assert_eq!(KeySealer::open(&ring, elsewhere, &sealed).unwrap_err(), SealError::DoesNotOpen);
        }
        ring.add_current().unwrap();
        assert!(KeySealer::rewrap(&ring, place(1, 2), &sealed).unwrap().is_some());
    }
}

//! Second factors under the installation's keyring: their sealing, and the keys that they, connections and providers of
//! models use.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_connections::ports::{KeyCheck, KeyStore, Rewrap, SealedRow};
use heddle_connections::secret::SecretPlace;
use heddle_identity::ports::{FactorPlace, FactorSealer, FactorStore as _, SealedFactor};
use heddle_kernel::Timestamp;
use heddle_models::ports::KeyStore as ModelKeys;
use heddle_seal::{Keyring, Place, SealError, Sealed, SystemRandom, Zeroizing};
use heddle_store::Db;
use heddle_store_connections::SqlConnectionStore;
use heddle_store_identity::IdentityStore;
use heddle_store_models::SqlModelStore;
use heddle_usecase::{StoreError, UseCaseError};

use crate::keyring::InstallationKeyring;
use crate::stores;

/// The kind of record that secrets of second factors are sealed into.
const KIND: &str = "user";
/// The name of the secret in it.
const FIELD: &str = "totp";

/// Does something with the ring in a place; once more after a look at the file, when a key is not on it.
fn with<T>(
    keyring: &InstallationKeyring,
    place: FactorPlace,
    work: impl Fn(&Keyring, &Place<'_>) -> Result<T, SealError>,
) -> Result<T, UseCaseError> {
    let (tenant, record) = (place.home.to_string(), place.user.to_string());
    let place = Place { tenant: &tenant, kind: KIND, record: &record, field: FIELD };
    let done = match work(&keyring.ring(), &place) {
        Err(SealError::UnknownKey(_)) => {
            keyring.refresh();
            work(&keyring.ring(), &place)
        }
        done => done,
    };
    done.map_err(|error| UseCaseError::Internal(format!("the second factor of a user: {error}")))
}

fn kept(sealed: &Sealed) -> Result<SealedFactor, UseCaseError> {
    let text = serde_json::to_string(sealed);
    let text = text.map_err(|error| UseCaseError::Internal(format!("a sealed secret: {error}")))?;
    Ok(SealedFactor { key: sealed.kid.clone(), text })
}

fn read(sealed: &SealedFactor) -> Result<Sealed, UseCaseError> {
    let read = serde_json::from_str(&sealed.text);
    read.map_err(|error| UseCaseError::Internal(format!("the second factor of a user is damaged: {error}")))
}

impl FactorSealer for InstallationKeyring {
    fn seal(&self, place: FactorPlace, secret: &[u8]) -> Result<SealedFactor, UseCaseError> {
        // Another node may have put a new key on the ring: what is sealed from then on is sealed under it.
        self.refresh();
        kept(&with(self, place, |ring, place| ring.seal(place, secret, &mut SystemRandom))?)
    }

    fn open(&self, place: FactorPlace, sealed: &SealedFactor) -> Result<Zeroizing<Vec<u8>>, UseCaseError> {
        let sealed = read(sealed)?;
        with(self, place, |ring, place| ring.unseal(place, &sealed))
    }

    fn rewrap(
        &self,
        place: FactorPlace,
        sealed: &SealedFactor,
    ) -> Result<Option<SealedFactor>, UseCaseError> {
        let sealed = read(sealed)?;
        let rewrapped = with(self, place, |ring, place| ring.rewrap(place, &sealed, &mut SystemRandom))?;
        rewrapped.as_ref().map(kept).transpose()
    }

    fn current_key(&self) -> String {
        self.ring().current().to_owned()
    }
}

/// Sealer of who looks at an installation without its keyring.
pub(crate) struct NoKeyring;

fn not_open<T>() -> Result<T, UseCaseError> {
    Err(UseCaseError::Internal("the keyring is not open".to_owned()))
}

impl FactorSealer for NoKeyring {
    fn seal(&self, _: FactorPlace, _: &[u8]) -> Result<SealedFactor, UseCaseError> {
        not_open()
    }

    fn open(&self, _: FactorPlace, _: &SealedFactor) -> Result<Zeroizing<Vec<u8>>, UseCaseError> {
        not_open()
    }

    fn rewrap(&self, _: FactorPlace, _: &SealedFactor) -> Result<Option<SealedFactor>, UseCaseError> {
        not_open()
    }

    fn current_key(&self) -> String {
        String::new()
    }
}

/// Keys of all areas: what connections keep of them, and what is in use there and by second factors.
pub(crate) struct StoredKeys {
    connections: SqlConnectionStore,
    identity: Arc<IdentityStore>,
    models: SqlModelStore,
}

impl StoredKeys {
    /// Keys on a database whose migrations have run.
    pub(crate) fn new(db: &Db) -> Self {
        Self {
            connections: SqlConnectionStore::new(db.clone()),
            identity: Arc::new(stores::identity(db.clone())),
            models: SqlModelStore::new(db.clone()),
        }
    }

    /// Number of second factors and keys of providers that are sealed under a key.
    async fn others_under(&self, key: &str) -> Result<u64, StoreError> {
        let factors = self.identity.keys_in_use().await?.remove(key).unwrap_or_default();
        let providers = ModelKeys::keys_in_use(&self.models).await?.remove(key).unwrap_or_default();
        Ok(factors + providers)
    }
}

#[async_trait]
impl KeyStore for StoredKeys {
    async fn key_checks(&self) -> Result<Vec<KeyCheck>, StoreError> {
        self.connections.key_checks().await
    }

    async fn add_first_key_check(&self, check: &KeyCheck, at: Timestamp) -> Result<bool, StoreError> {
        self.connections.add_first_key_check(check, at).await
    }

    async fn add_key_checks(&self, checks: &[KeyCheck], at: Timestamp) -> Result<(), StoreError> {
        self.connections.add_key_checks(checks, at).await
    }

    async fn forget_key(&self, key: &str, at: Timestamp) -> Result<u64, StoreError> {
        let others = self.others_under(key).await?;
        if others > 0 {
            return Ok(others);
        }
        let check = self.connections.key_checks().await?.into_iter().find(|check| check.key == key);
        let secrets = self.connections.forget_key(key, at).await?;
        if secrets > 0 {
            return Ok(secrets);
        }
        // What another node sealed in between keeps the key.
        let others = self.others_under(key).await?;
        if let (Some(check), 1..) = (check, others) {
            self.connections.add_key_checks(&[check], at).await?;
        }
        Ok(others)
    }

    async fn is_forgotten(&self, key: &str) -> Result<bool, StoreError> {
        self.connections.is_forgotten(key).await
    }

    async fn sealed_under(&self, key: &str, limit: u32) -> Result<Vec<SecretPlace>, StoreError> {
        self.connections.sealed_under(key, limit).await
    }

    async fn keys_in_use(&self) -> Result<BTreeMap<String, u64>, StoreError> {
        let mut all = self.connections.keys_in_use().await?;
        for (key, secrets) in self.identity.keys_in_use().await? {
            *all.entry(key).or_default() += secrets;
        }
        for (key, secrets) in ModelKeys::keys_in_use(&self.models).await? {
            *all.entry(key).or_default() += secrets;
        }
        Ok(all)
    }

    async fn sealed_under_others<'a>(
        &self,
        current: &'a str,
        after: Option<&'a SecretPlace>,
        limit: u32,
    ) -> Result<Vec<SealedRow>, StoreError> {
        self.connections.sealed_under_others(current, after, limit).await
    }

    async fn rewrapped(&self, rows: &[Rewrap]) -> Result<u64, StoreError> {
        self.connections.rewrapped(rows).await
    }
}

#[cfg(test)]
mod tests {
    use heddle_kernel::{TenantId, UserId};
    use uuid::Uuid;

    use super::*;

    fn place(home: u128, user: u128) -> FactorPlace {
        FactorPlace { home: TenantId(Uuid::from_u128(home)), user: UserId(Uuid::from_u128(user)) }
    }

    #[test]
    fn a_secret_opens_for_its_account_alone_and_under_a_key_that_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heddle.keyring");
        Keyring::generate(&mut SystemRandom).unwrap().create(&path).unwrap();
        let ring = || InstallationKeyring::of(Some(path.clone()), Keyring::read(&path).unwrap().unwrap());
        let (one, other) = (ring(), ring());
        let sealed = FactorSealer::seal(&one, place(1, 2), b"canary").unwrap();
        assert!(!sealed.text.contains("canary"));
        assert_eq!(FactorSealer::rewrap(&one, place(1, 2), &sealed).unwrap(), None);
        one.add_current().unwrap();
        let wrapped = FactorSealer::rewrap(&one, place(1, 2), &sealed).unwrap().unwrap();
        assert_eq!(wrapped.key, FactorSealer::current_key(&one));
        for sealed in [&sealed, &wrapped] {
            assert_eq!(FactorSealer::open(&other, place(1, 2), sealed).unwrap().as_slice(), b"canary");
            for elsewhere in [place(9, 2), place(1, 9)] {
                assert!(FactorSealer::open(&other, elsewhere, sealed).is_err());
            }
        }
    }
}

//! The installation's keyring: the keys under which secrets of connections are sealed. It is a file beside the
//! installation's key, or a text of the configuration, and never in the database or a backup of that.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use heddle_connections::ports::{KeyCheck, KeyStore, SealError as NotSealed, Sealer};
use heddle_connections::secret::{SealedSecret, Secret, SecretPlace};
use heddle_outbound::KeyringSealer;
use heddle_seal::{Keyring, SealError, SystemRandom};
use parking_lot::Mutex;

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::StartError;

/// Keyring that the service seals with. A key that another node or its operator puts on the file is found when something
/// is sealed, or when a secret asks for the key; no restart is needed.
pub struct InstallationKeyring {
    /// The file; none when the configuration gives the ring.
    path: Option<PathBuf>,
    sealer: KeyringSealer,
    /// Held while the file is changed or taken over.
    changing: Mutex<()>,
}

impl std::fmt::Debug for InstallationKeyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstallationKeyring").finish_non_exhaustive()
    }
}

/// Reason for which no new key was made.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// The ring is the configuration's.
    #[error(
        "the keyring is given by the configuration (`keyring`): put a new key before the others there, restart, and go \
         on with `heddle key rotate --continue`"
    )]
    Given,
    /// The ring is the configuration's, and a key is taken from it there.
    #[error("the keyring is given by the configuration (`keyring`): take the key out there, and restart")]
    Fixed,
    /// The file.
    #[error(transparent)]
    Keyring(#[from] SealError),
    /// The file is gone.
    #[error("the keyring `{}` is missing: put the backup of it back", .0.display())]
    Missing(PathBuf),
}

impl InstallationKeyring {
    /// Opens the ring of the configuration or of the data directory, where it is made at the first start. A ring that is
    /// gone although secrets are sealed under it is not made anew; nor is one on a database of several nodes, where another
    /// one has made the installation's.
    ///
    /// # Errors
    /// `KeyringMissing`, `Keyring`, `Store`.
    pub async fn open(config: &Config, data: &DataDir, keys: &dyn KeyStore) -> Result<Self, StartError> {
        if let Some(given) = &config.keyring {
            return Ok(Self::of(None, Keyring::from_text(given.expose())?));
        }
        let path = data.keyring();
        let ring = match Keyring::read(&path)? {
            Some(ring) => ring,
            None if config.database_url.is_some() && !keys.key_checks().await?.is_empty() => {
                return Err(StartError::KeyringMissing(path));
            }
            None if keys.keys_in_use().await?.is_empty() => make(&path)?,
            None => return Err(StartError::KeyringMissing(path)),
        };
        Ok(Self::of(Some(path), ring))
    }

    /// Ring on a file, or without one.
    pub fn of(path: Option<PathBuf>, ring: Keyring) -> Self {
        Self { path, sealer: KeyringSealer::new(ring), changing: Mutex::new(()) }
    }

    /// Puts a new key on the ring as the current one, in the file first; gives its id.
    ///
    /// # Errors
    /// [`RotationError`]; nothing is changed then.
    pub fn add_current(&self) -> Result<String, RotationError> {
        let path = self.path.as_ref().ok_or(RotationError::Given)?;
        let _alone = self.changing.lock();
        // The file is what counts: somebody else may have put a key on it.
        let mut fresh = Keyring::read(path)?.ok_or_else(|| RotationError::Missing(path.clone()))?;
        let id = fresh.add_current(&mut SystemRandom)?.to_owned();
        fresh.replace(path)?;
        self.sealer.replace(fresh.with_earlier(&self.sealer.keyring()));
        Ok(id)
    }

    /// Whether a key can be taken from the ring: it is on the file, and not the current one.
    ///
    /// # Errors
    /// `Fixed`, `Missing`; `UnknownKey` and `IsCurrent` of the keyring.
    pub fn may_forget(&self, key: &str) -> Result<(), RotationError> {
        let path = self.path.as_ref().ok_or(RotationError::Fixed)?;
        let mut fresh = Keyring::read(path)?.ok_or_else(|| RotationError::Missing(path.clone()))?;
        Ok(fresh.retire(key)?)
    }

    /// Takes a key from the ring, in the file first. Nothing that is sealed under it opens any more.
    ///
    /// # Errors
    /// As [`Self::may_forget`]; nothing is changed then.
    pub fn forget(&self, key: &str) -> Result<(), RotationError> {
        let path = self.path.as_ref().ok_or(RotationError::Fixed)?;
        let _alone = self.changing.lock();
        let mut fresh = Keyring::read(path)?.ok_or_else(|| RotationError::Missing(path.clone()))?;
        fresh.retire(key)?;
        fresh.replace(path)?;
        self.sealer.replace(fresh);
        Ok(())
    }

    /// Takes over what the file has by now. One that lacks the current key of this ring is not taken over, nor one that
    /// can't be read: it is somebody else's. An earlier key that it lacks was forgotten on another node; it stays here until
    /// the next start, so that whatever was sealed opens.
    pub fn refresh(&self) {
        let Some(path) = &self.path else { return };
        let _alone = self.changing.lock();
        let Ok(Some(fresh)) = Keyring::read(path) else { return };
        let own = self.sealer.keyring();
        if fresh.ids().any(|id| id == own.current()) {
            self.sealer.replace(fresh.with_earlier(&own));
        }
    }

    /// The ring as it is now.
    pub fn ring(&self) -> Arc<Keyring> {
        self.sealer.keyring()
    }

    /// Does something with the ring; once more after a look at the file, when a key is not on it.
    fn with<T>(&self, work: impl Fn(&KeyringSealer) -> Result<T, NotSealed>) -> Result<T, NotSealed> {
        match work(&self.sealer) {
            Err(NotSealed::UnknownKey(_)) => {
                self.refresh();
                work(&self.sealer)
            }
            done => done,
        }
    }
}

/// Makes the ring of a new installation. Where another process of the same start was faster, its ring counts.
fn make(path: &Path) -> Result<Keyring, StartError> {
    let made = Keyring::generate(&mut SystemRandom)?;
    match made.create(path) {
        Ok(()) => {
            tracing::info!(
                path = %path.display(),
                "made the keyring that secrets are sealed with: back it up, apart from the database"
            );
            Ok(made)
        }
        Err(SealError::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => {
            Keyring::read(path)?.ok_or_else(|| StartError::KeyringMissing(path.to_owned()))
        }
        Err(error) => Err(error.into()),
    }
}

impl Sealer for InstallationKeyring {
    fn seal(&self, place: &SecretPlace, secret: &Secret) -> Result<SealedSecret, NotSealed> {
        // Another node may have put a new key on the ring: what is sealed from then on is sealed under it.
        self.refresh();
        self.sealer.seal(place, secret)
    }

    fn open(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Secret, NotSealed> {
        self.with(|ring| ring.open(place, sealed))
    }

    fn rewrap(&self, place: &SecretPlace, sealed: &SealedSecret) -> Result<Option<SealedSecret>, NotSealed> {
        self.with(|ring| ring.rewrap(place, sealed))
    }

    fn current_key(&self) -> String {
        self.sealer.current_key()
    }

    fn keys(&self) -> Vec<String> {
        self.sealer.keys()
    }

    fn check(&self) -> KeyCheck {
        self.sealer.check()
    }

    fn verify(&self, check: &KeyCheck) -> Result<(), NotSealed> {
        self.with(|ring| ring.verify(check))
    }
}

#[cfg(test)]
mod tests {
    use heddle_kernel::{ConnectionId, TenantId};
    use uuid::Uuid;

    use super::*;

    fn place() -> SecretPlace {
        let id = Uuid::from_u128(7);
        SecretPlace { tenant: TenantId(id), connection: ConnectionId(id), field: "token".to_owned() }
    }

    fn opened(path: &Path) -> InstallationKeyring {
        InstallationKeyring::of(Some(path.to_owned()), Keyring::read(path).unwrap().unwrap())
    }

    #[test]
    fn a_key_that_another_process_added_is_found_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heddle.keyring");
        let _ = make(&path).unwrap();
        let (one, other) = (opened(&path), opened(&path));
        let sealed = one.seal(&place(), &Secret::new("canary")).unwrap();
        let id = one.add_current().unwrap();
        let wrapped = one.rewrap(&place(), &sealed).unwrap().unwrap();
        assert_eq!((&wrapped.key, one.current_key()), (&id, id.clone()));
        assert_eq!(other.open(&place(), &wrapped).unwrap().expose(), "canary");
        assert_eq!(one.keys(), other.keys());
        let third = one.add_current().unwrap();
        assert_eq!(other.seal(&place(), &Secret::new("canary")).unwrap().key, third);
    }

    #[test]
    fn a_file_that_lacks_a_key_is_not_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heddle.keyring");
        let _ = make(&path).unwrap();
        let ring = opened(&path);
        let sealed = ring.seal(&place(), &Secret::new("canary")).unwrap();
        Keyring::generate(&mut SystemRandom).unwrap().replace(&path).unwrap();
        let again = ring.seal(&place(), &Secret::new("canary")).unwrap();
        assert_eq!(again.key, sealed.key);
        assert_eq!(ring.open(&place(), &sealed).unwrap().expose(), "canary");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(ring.add_current(), Err(RotationError::Missing(_))));
    }

    #[test]
    fn an_earlier_key_is_forgotten_and_other_processes_go_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("heddle.keyring");
        let first = make(&path).unwrap().current().to_owned();
        let one = opened(&path);
        let sealed = one.seal(&place(), &Secret::new("canary")).unwrap();
        assert!(matches!(one.may_forget(&first), Err(RotationError::Keyring(SealError::IsCurrent(_)))));
        assert!(matches!(one.may_forget("k0"), Err(RotationError::Keyring(SealError::UnknownKey(_)))));
        let second = one.add_current().unwrap();
        let other = opened(&path);
        one.may_forget(&first).unwrap();
        assert_eq!(
            opened(&path).keys(),
            [second.as_str(), first.as_str()],
            "nothing is changed by the question"
        );
        one.forget(&first).unwrap();
        assert_eq!((one.keys(), opened(&path).keys()), (vec![second.clone()], vec![second.clone()]));
        assert_eq!(one.open(&place(), &sealed), Err(NotSealed::UnknownKey(first.clone())));
        // Another process still has the key, and finds the next one all the same.
        let third = one.add_current().unwrap();
        assert_eq!(other.seal(&place(), &Secret::new("canary")).unwrap().key, third);
        assert_eq!(other.open(&place(), &sealed).unwrap().expose(), "canary");
    }

    #[test]
    fn a_given_ring_is_not_changed() {
        let ring = InstallationKeyring::of(None, Keyring::generate(&mut SystemRandom).unwrap());
        assert!(matches!(ring.add_current(), Err(RotationError::Given)));
        assert!(matches!(ring.may_forget("k0"), Err(RotationError::Fixed)));
    }
}

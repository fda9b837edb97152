//! Backup of a SQLite installation beside its server, and its way back into an empty data directory.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use heddle_connections::rotation::{self, StoredKeys};
use heddle_identity::InstallationKey;
use heddle_outbound::KeyringSealer;
use heddle_seal::Keyring;
use heddle_store::backup::{self, Verified};
use serde::Serialize;

use crate::config::Config;
use crate::data_dir::{
    self, DATABASE_FILE, DataDir, DataDirError, KEY_FILE, KEY_LENGTH, KEYRING_FILE, LOCK_FILE, MODELS_DIR,
};
use crate::error::StartError;
use crate::stores;

/// Backup or restored installation, and what was found about it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Copied {
    /// The database that was written.
    pub database: PathBuf,
    /// Length of the database in bytes.
    pub bytes: u64,
    /// Number of migrations that it holds.
    pub migrations: usize,
    /// Id of the installation whose key belongs to it; none before the first start.
    pub installation_id: Option<String>,
    /// The key file that was written, if one was.
    pub key: Option<PathBuf>,
    /// The keyring that was written, if one was.
    pub keyring: Option<PathBuf>,
}

/// Files with keys outside of the data directory, each left out where none is named.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyFiles<'a> {
    /// The installation's key.
    pub key: Option<&'a Path>,
    /// The keys that secrets are sealed with.
    pub keyring: Option<&'a Path>,
}

/// Copies the SQLite database to the new file `to`, and the keys to the new files that are named. A server may run. The
/// copy is opened and checked as a whole before it is there.
///
/// # Errors
/// `Elsewhere` for PostgreSQL, `NotFound` without a database, `Backup`, `DataDir` and `WrongKey` for the key.
pub async fn back_up(config: &Config, to: &Path, keys: KeyFiles<'_>) -> Result<Copied, StartError> {
    only_sqlite(config, "pg_dump --format=custom --file=heddle.dump")?;
    let file = config.data_dir.join(DATABASE_FILE);
    if !file.exists() {
        return Err(StartError::NotFound(format!("there is no database at `{}`", file.display())));
    }
    if let Some(taken) = [keys.key, keys.keyring].into_iter().flatten().find(|target| target.exists()) {
        let message = format!("`{}` is there already: name a file that is not", taken.display());
        return Err(StartError::Refused(message));
    }
    let key = match keys.key {
        Some(target) => Some((target.to_owned(), key_at(&config.data_dir.join(KEY_FILE))?)),
        None => None,
    };
    let ring = config.data_dir.join(KEYRING_FILE);
    if keys.keyring.is_some() {
        keyring_at(&ring)?;
    }
    let target = to.to_owned();
    let verified = blocking(move || backup::copy(&file, &target, &stores::migrations())).await?;
    if let Some((target, bytes)) = &key
        && let Err(error) = belongs(*bytes, &verified).and_then(|()| write_key(target, &config.data_dir))
    {
        // A database without the key that was asked for is half a backup.
        let _ = fs::remove_file(to);
        return Err(error);
    }
    if let Some(target) = keys.keyring
        && let Err(error) = copy_key(&ring, target)
    {
        for half in [Some(to), keys.key].into_iter().flatten() {
            let _ = fs::remove_file(half);
        }
        return Err(error);
    }
    let copied = copied(to, verified, key.map(|(target, _)| target));
    Ok(Copied { keyring: keys.keyring.map(Path::to_owned), ..copied })
}

/// Puts a backup into the data directory, which must be empty or not there, and the keys with it that are named. The
/// database is checked as a whole, and the key against it, before anything is there. The keyring must have every key that
/// the backup has sealed anything under.
///
/// # Errors
/// `Elsewhere` for PostgreSQL, `Refused` when the directory holds anything (looked at while it is locked), `Backup`,
/// `DataDir`, `WrongKey`, `Keyring`, `WrongKeyring`.
pub async fn restore(config: &Config, from: &Path, keys: KeyFiles<'_>) -> Result<Copied, StartError> {
    only_sqlite(config, "pg_restore --dbname=... heddle.dump")?;
    if !from.is_file() {
        return Err(StartError::NotFound(format!("there is no file `{}`", from.display())));
    }
    let key = keys.key.map(|path| Ok::<_, StartError>((path, key_at(path)?))).transpose()?;
    if let Some(path) = keys.keyring {
        let sealer = KeyringSealer::new(keyring_at(path)?);
        let backup = from.to_owned();
        let stored = blocking(move || stored_keys(&backup)).await?;
        rotation::compare(&sealer, &stored)?;
    }
    let beginning = super::Beginning::of(config);
    // Somebody else's directory is not even locked, which would put a file of ours into it.
    only_empty(&config.data_dir)?;
    let data = DataDir::locked(&config.data_dir)?;
    // What counts is what is there now that nobody else can begin: a server or a restore may have, in between.
    only_empty(&config.data_dir)?;
    let done = put_back(config, &data, from, key).await;
    let done = done.and_then(|copied| with_keyring(copied, &data, keys.keyring));
    if let Err(error) = &done {
        beginning.take_back(Some(error));
    }
    // The lock goes after what failed was taken back: whoever comes then finds nothing, and loses nothing.
    drop(data);
    done
}

/// Keys that a backup knows, and what connections and second factors have sealed under them.
fn stored_keys(backup: &Path) -> Result<StoredKeys, backup::BackupError> {
    let mut stored = heddle_store_connections::keys_of(backup)?;
    for (key, factors) in heddle_store_identity::factor_keys_of(backup)? {
        *stored.in_use.entry(key).or_default() += factors;
    }
    Ok(stored)
}

async fn put_back(
    config: &Config,
    data: &DataDir,
    from: &Path,
    key: Option<(&Path, [u8; KEY_LENGTH])>,
) -> Result<Copied, StartError> {
    data.close()?;
    let database = data.database();
    let (source, target) = (from.to_owned(), database.clone());
    let verified = blocking(move || backup::copy(&source, &target, &stores::migrations())).await?;
    let mut written = None;
    if let Some((path, bytes)) = key {
        belongs(bytes, &verified)?;
        let target = config.data_dir.join(KEY_FILE);
        copy_key(path, &target)?;
        written = Some(target);
    }
    Ok(copied(&database, verified, written))
}

/// Puts the keyring beside what was restored, if one is named.
fn with_keyring(copied: Copied, data: &DataDir, from: Option<&Path>) -> Result<Copied, StartError> {
    let Some(path) = from else { return Ok(copied) };
    let target = data.keyring();
    copy_key(path, &target)?;
    Ok(Copied { keyring: Some(target), ..copied })
}

fn copied(database: &Path, verified: Verified, key: Option<PathBuf>) -> Copied {
    Copied {
        database: database.to_owned(),
        bytes: verified.bytes,
        migrations: verified.migrations.len(),
        installation_id: verified.installation_id,
        key,
        keyring: None,
    }
}

/// PostgreSQL has tools of its own, which know what a server holds.
fn only_sqlite(config: &Config, command: &str) -> Result<(), StartError> {
    if config.database_url.is_none() {
        return Ok(());
    }
    Err(StartError::Elsewhere(format!(
        "the database is PostgreSQL, which is backed up and restored by its own programs: `{command}` (docs/STORAGE.md); \
         copy `{}` and `{}` apart from it",
        config.data_dir.join(KEY_FILE).display(),
        config.data_dir.join(KEYRING_FILE).display()
    )))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, backup::BackupError> + Send + 'static,
) -> Result<T, StartError> {
    let done = tokio::task::spawn_blocking(work).await;
    Ok(done.map_err(|error| StartError::Internal(error.to_string()))??)
}

fn key_at(path: &Path) -> Result<[u8; KEY_LENGTH], StartError> {
    let missing = || StartError::NotFound(format!("there is no key file `{}`", path.display()));
    data_dir::read_key(path)?.ok_or_else(missing)
}

/// Keyring of a file.
fn keyring_at(path: &Path) -> Result<Keyring, StartError> {
    let missing = || StartError::NotFound(format!("there is no keyring `{}`", path.display()));
    Keyring::read(path)?.ok_or_else(missing)
}

/// Whether a key is the one of a database's installation.
fn belongs(key: [u8; KEY_LENGTH], verified: &Verified) -> Result<(), StartError> {
    let own = InstallationKey::new(key)?.installation_id();
    match &verified.installation_id {
        Some(id) if *id != own => Err(StartError::WrongKey),
        Some(_) | None => Ok(()),
    }
}

fn write_key(target: &Path, data_dir: &Path) -> Result<(), StartError> {
    copy_key(&data_dir.join(KEY_FILE), target)
}

fn copy_key(from: &Path, to: &Path) -> Result<(), StartError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source: io::Error| StartError::DataDir(DataDirError::Io { path, source })
    };
    let text = fs::read(from).map_err(at(from))?;
    let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(to).map_err(at(to))?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = file.write_all(&text).and_then(|()| file.sync_all());
    // Without its folder on the disk the file has no name there.
    let written = written.and_then(|()| fs::File::open(folder)?.sync_all());
    written.map_err(|error| {
        // A part of a key is of no use, and would keep the next copy from being made.
        let _ = fs::remove_file(to);
        at(to)(error)
    })
}

/// `Refused` when the directory holds anything but a lock and models, which are nobody's data.
fn only_empty(directory: &Path) -> Result<(), StartError> {
    let io = |source| DataDirError::Io { path: directory.to_owned(), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(io(source).into()),
    };
    for entry in entries {
        let name = entry.map_err(io)?.file_name();
        if name != LOCK_FILE && name != MODELS_DIR {
            return Err(StartError::Refused(format!(
                "`{}` is not empty: a backup is restored into an empty data directory, which --data-dir names",
                directory.display()
            )));
        }
    }
    Ok(())
}

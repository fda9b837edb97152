//! The store of blobs, over a directory or a bucket.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use heddle_egress::Egress;
use heddle_kernel::{Clock, IdSource, TenantId, Timestamp};
use heddle_vectors::ports::{BlobError, Blobs, ByteStream, StoredBlob};
use object_store::buffered::BufWriter;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use uuid::Uuid;

use crate::out::{S3Settings, bucket};

/// Bytes up to which a blob is written in one piece, and of which longer ones are put together.
const PIECE: usize = 8 << 20;
/// Digits of an id that name its shard.
const SHARD: usize = 2;
/// Age from which what a broken-off write left behind is removed.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 3600);

/// Reason for which a store of blobs does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory can't be made or used.
    #[error("the directory of files `{}`: {source}", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The settings of the bucket make no address.
    #[error("the bucket of files: {0}")]
    Bucket(String),
}

/// The store of blobs. Its clones are the same store.
#[derive(Clone)]
pub struct BlobStore {
    store: Arc<dyn ObjectStore>,
    /// The directory, where it is one.
    directory: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for BlobStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobStore").field("store", &self.store.to_string()).finish_non_exhaustive()
    }
}

impl BlobStore {
    /// Store in a directory of this machine, which is made where it is not there. What is acknowledged survives a loss of
    /// power.
    ///
    /// # Errors
    /// `Directory`.
    pub fn directory(
        path: &FilePath,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Directory { path: path.to_owned(), source };
        std::fs::create_dir_all(path).map_err(failed)?;
        let local = LocalFileSystem::new_with_prefix(path);
        let local = local.map_err(|error| failed(std::io::Error::other(error)))?.with_fsync(true);
        Ok(Self { store: Arc::new(local), directory: Some(path.to_owned()), clock, ids })
    }

    /// Store in a bucket of an S3 service.
    ///
    /// # Errors
    /// `Bucket`.
    pub fn bucket(
        settings: &S3Settings,
        egress: Egress,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Result<Self, OpenError> {
        let failed = |error: Error| OpenError::Bucket(error.to_string());
        let bucket = bucket(settings, egress).map_err(failed)?;
        let store: Arc<dyn ObjectStore> = match settings.prefix.trim_matches('/') {
            "" => Arc::new(bucket),
            prefix => Arc::new(PrefixStore::new(bucket, prefix)),
        };
        Ok(Self { store, directory: None, clock, ids })
    }

    /// Tries whether the store answers, for those who look after the service.
    ///
    /// # Errors
    /// `Unavailable`, in words.
    pub async fn probe(&self) -> Result<(), BlobError> {
        // Nothing is kept under the nil id, and that it is not there is an answer.
        let nowhere = Path::from(format!("{}/00/{}", Uuid::nil(), Uuid::nil()));
        match self.store.head(&nowhere).await {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(&error)),
        }
    }

    /// Writes a blob; gives its digest in hex and its length.
    async fn write(
        &self,
        writer: &mut BufWriter,
        most: u64,
        mut bytes: ByteStream,
    ) -> Result<(String, u64), BlobError> {
        let (mut digest, mut count) = (Sha256::new(), 0_u64);
        while let Some(piece) = bytes.next().await {
            let piece: Bytes = piece?;
            count = count.saturating_add(piece.len() as u64);
            if count > most {
                return Err(BlobError::TooLarge { most });
            }
            digest.update(&piece);
            writer.put(piece).await.map_err(|error| unavailable(&error))?;
        }
        writer.shutdown().await.map_err(|error| BlobError::Unavailable(error.to_string()))?;
        Ok((hex(&digest.finalize()), count))
    }

    /// Directories right below one, in order.
    async fn below(&self, prefix: Option<&Path>) -> Result<Vec<String>, BlobError> {
        let listed = match self.store.list_with_delimiter(prefix).await {
            Ok(listed) => listed,
            Err(Error::NotFound { .. }) => return Ok(Vec::new()),
            Err(error) => return Err(unavailable(&error)),
        };
        let last = |path: &Path| path.parts().next_back().map(|part| part.as_ref().to_owned());
        let mut names: Vec<String> = listed.common_prefixes.iter().filter_map(last).collect();
        names.sort();
        Ok(names)
    }

    /// Ids in a shard that are older than an instant, in order.
    async fn older(&self, shard: &Path, before: Timestamp) -> Result<Vec<Uuid>, BlobError> {
        let is_older = |id: &Uuid| made_at(*id).is_some_and(|at| at < before);
        let id = |path: &Path| path.filename().and_then(|name| Uuid::try_parse(name).ok());
        let found = self.store.list(Some(shard)).try_collect::<Vec<_>>().await;
        let found = found.map_err(|error| unavailable(&error))?;
        let mut ids: Vec<Uuid> = found.iter().filter_map(|one| id(&one.location)).filter(is_older).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Removes what writes left behind that broke off, in a directory.
    async fn tidy(&self) {
        let Some(directory) = self.directory.clone() else { return };
        let removed = tokio::task::spawn_blocking(move || remove_left_behind(&directory, 0)).await;
        match removed {
            Ok(0) | Err(_) => {}
            Ok(count) => tracing::info!(count, "files that were never whole were removed"),
        }
    }
}

#[async_trait]
impl Blobs for BlobStore {
    async fn put(&self, tenant: TenantId, most: u64, bytes: ByteStream) -> Result<StoredBlob, BlobError> {
        let key = key_of(self.ids.next(self.clock.now()));
        let place = place(tenant, &key)?;
        let mut writer = BufWriter::with_capacity(Arc::clone(&self.store), place.clone(), PIECE);
        match self.write(&mut writer, most, bytes).await {
            Ok((sha256, bytes)) => Ok(StoredBlob { key, sha256, bytes }),
            Err(error) => {
                // Of a short one nothing is written yet, and then there is nothing to break off.
                drop(writer.abort().await);
                drop(self.store.delete(&place).await);
                Err(error)
            }
        }
    }

    async fn get(&self, tenant: TenantId, key: &str) -> Result<ByteStream, BlobError> {
        let found = match self.store.get(&place(tenant, key)?).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Err(BlobError::Missing),
            Err(error) => return Err(unavailable(&error)),
        };
        Ok(Box::pin(found.into_stream().map_err(|error| unavailable(&error))))
    }

    async fn delete(&self, tenant: TenantId, key: &str) -> Result<(), BlobError> {
        match self.store.delete(&place(tenant, key)?).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(unavailable(&error)),
        }
    }

    async fn kept_before(
        &self,
        before: Timestamp,
        after: Option<(TenantId, String)>,
        limit: u32,
    ) -> Result<Vec<(TenantId, String)>, BlobError> {
        if after.is_none() {
            self.tidy().await;
        }
        let (limit, mut found) = (limit as usize, Vec::new());
        for name in self.below(None).await? {
            let Ok(tenant) = name.parse::<TenantId>() else { continue };
            let behind = match &after {
                Some((last, _)) if tenant.0 < last.0 => continue,
                Some((last, key)) if tenant == *last => Some(key.as_str()),
                Some(_) | None => None,
            };
            let root = Path::from(name);
            for shard in self.below(Some(&root)).await? {
                if behind.and_then(|key| key.get(..SHARD)).is_some_and(|last| shard.as_str() < last) {
                    continue;
                }
                let ids = self.older(&root.clone().join(shard.as_str()), before).await?;
                let keys =
                    ids.into_iter().map(key_of).filter(|key| behind.is_none_or(|last| key.as_str() > last));
                found.extend(keys.map(|key| (tenant, key)));
                if found.len() >= limit {
                    found.truncate(limit);
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// Key of an id: its shard and itself.
fn key_of(id: Uuid) -> String {
    let id = id.hyphenated().to_string();
    let shard = id.get(id.len().saturating_sub(SHARD)..).unwrap_or_default();
    format!("{shard}/{id}")
}

/// Place of a blob. A key that was not made here leads nowhere.
fn place(tenant: TenantId, key: &str) -> Result<Path, BlobError> {
    let id = key.rsplit('/').next().and_then(|id| Uuid::try_parse(id).ok());
    match id.map(key_of) {
        Some(own) if own == key => Ok(Path::from(format!("{tenant}/{key}"))),
        Some(_) | None => Err(BlobError::Missing),
    }
}

/// Instant at which an id was made.
fn made_at(id: Uuid) -> Option<Timestamp> {
    let (seconds, nanos) = id.get_timestamp()?.to_unix();
    let micros = i64::try_from(seconds).ok()?.checked_mul(1_000_000)?;
    Some(Timestamp::from_micros(micros.checked_add(i64::from(nanos / 1000))?))
}

/// Removes files of writes that broke off: the store's own names for them end in `#` and a number.
fn remove_left_behind(directory: &FilePath, depth: u32) -> u64 {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    let mut removed = 0;
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < 2 {
            removed += remove_left_behind(&entry.path(), depth + 1);
        }
        let name = entry.file_name();
        let is_unfinished = name.to_str().is_some_and(|name| {
            name.rsplit_once('#').is_some_and(|(_, digits)| digits.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let is_old = || {
            let written = entry.metadata().and_then(|data| data.modified()).ok();
            let age = written.and_then(|at| SystemTime::now().duration_since(at).ok());
            age.is_some_and(|age| age > LEFT_BEHIND)
        };
        if kind.is_file() && is_unfinished && is_old() && std::fs::remove_file(entry.path()).is_ok() {
            removed += 1;
        }
    }
    removed
}

fn unavailable(error: &Error) -> BlobError {
    BlobError::Unavailable(error.to_string())
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::{FixedClock, SequentialIds};

    fn opened(path: &FilePath, now: i64) -> BlobStore {
        let clock = Arc::new(FixedClock::at(Timestamp::from_micros(now)));
        BlobStore::directory(path, clock, Arc::new(SequentialIds::default())).unwrap()
    }

    fn stream(pieces: &[&'static [u8]]) -> ByteStream {
        let pieces: Vec<_> = pieces.iter().map(|piece| Ok(Bytes::from_static(piece))).collect();
        Box::pin(futures::stream::iter(pieces))
    }

    fn tenant(n: u128) -> TenantId {
        TenantId(Uuid::from_u128(n))
    }

    async fn whole(stream: ByteStream) -> Vec<u8> {
        stream
            .try_fold(Vec::new(), |mut all, piece| async move {
                all.extend_from_slice(&piece);
                Ok(all)
            })
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn what_is_kept_is_given_again_and_to_no_other_organisation() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path(), 1_000_000);
        let kept = store.put(tenant(1), 100, stream(&[b"ab", b"c"])).await.unwrap();
        assert_eq!(kept.bytes, 3);
        assert_eq!(kept.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(whole(store.get(tenant(1), &kept.key).await.unwrap()).await, b"abc");
        assert!(matches!(store.get(tenant(2), &kept.key).await.err(), Some(BlobError::Missing)));
        for foreign in ["../x", "", "00/../../x", &format!("zz/{}", Uuid::nil())] {
            assert!(
                matches!(store.get(tenant(1), foreign).await.err(), Some(BlobError::Missing)),
                "{foreign}"
            );
        }
        store.delete(tenant(1), &kept.key).await.unwrap();
        store.delete(tenant(1), &kept.key).await.unwrap();
        assert!(matches!(store.get(tenant(1), &kept.key).await.err(), Some(BlobError::Missing)));
        store.probe().await.unwrap();
    }

    #[tokio::test]
    async fn nothing_stays_of_what_is_too_long_or_breaks_off() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path(), 1_000_000);
        let long = store.put(tenant(1), 2, stream(&[b"ab", b"c"])).await;
        assert_eq!(long.unwrap_err(), BlobError::TooLarge { most: 2 });
        let broken: ByteStream = Box::pin(futures::stream::iter([
            Ok(Bytes::from(vec![0_u8; PIECE + 1])),
            Err(BlobError::Interrupted("gone".to_owned())),
        ]));
        let broken = store.put(tenant(1), u64::MAX, broken).await;
        assert_eq!(broken.unwrap_err(), BlobError::Interrupted("gone".to_owned()));
        let later = Timestamp::from_micros(i64::from(u32::MAX) * 1_000_000);
        assert_eq!(store.kept_before(later, None, 10).await.unwrap(), []);
    }

    #[tokio::test]
    async fn what_was_kept_before_an_instant_comes_in_pages() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path(), 1_000_000);
        let mut kept = Vec::new();
        for n in [1, 1, 2, 3, 3] {
            kept.push((tenant(n), store.put(tenant(n), 9, stream(&[b"x"])).await.unwrap().key));
        }
        kept.sort();
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        assert_eq!(store.kept_before(at(1), None, 10).await.unwrap(), []);
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.kept_before(at(2), after, 2).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            found.extend(page);
        }
        assert_eq!(found, kept);
    }
}

//! TLS of the server: a certificate and its key from two files, read anew when they change. A pair that can't be used
//! leaves the one before in use.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, RwLock};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// Time between two looks at the files.
const LOOK: Duration = Duration::from_secs(10);
/// Size up to which a file is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// Bit by which everybody reads a file.
const EVERYBODY_READS: u32 = 0o004;

/// Reason for which TLS can't be spoken.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// One of the two files is not named.
    #[error("`tls_cert` and `tls_key` are given together, and `{0}` is missing")]
    Half(&'static str),
    /// A file can't be read.
    #[error("`{}`: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
    /// A file holds no certificate.
    #[error("`{}` holds no certificate as PEM", .0.display())]
    NoCertificate(PathBuf),
    /// A file holds no key.
    #[error("`{}` holds no private key as PEM (PKCS #8, PKCS #1 or SEC 1)", .0.display())]
    NoKey(PathBuf),
    /// Certificate and key can't be used together.
    #[error("the certificate and its key can't be used: {0}")]
    Pair(#[source] rustls::Error),
}

/// The certificate in use.
pub struct Certificates {
    files: Files,
    current: RwLock<Arc<ServerConfig>>,
    seen: Mutex<[Stamp; 2]>,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Certificates").finish_non_exhaustive()
    }
}

/// The two files.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// State of a file by which a change is seen; none of one that is not there.
type Stamp = Option<(SystemTime, u64, u64, (i64, i64))>;

impl Certificates {
    /// Reads the files that the configuration names; `None` when it names none.
    ///
    /// # Errors
    /// [`TlsError`].
    pub fn open(certificate: Option<&Path>, key: Option<&Path>) -> Result<Option<Arc<Self>>, TlsError> {
        let (certificate, key) = match (certificate, key) {
            (Some(certificate), Some(key)) => (certificate.to_owned(), key.to_owned()),
            (Some(_), None) => return Err(TlsError::Half("tls_key")),
            (None, Some(_)) => return Err(TlsError::Half("tls_cert")),
            (None, None) => return Ok(None),
        };
        let files = Files { certificate, key };
        let seen = files.stamps();
        let current = RwLock::new(files.read()?);
        Ok(Some(Arc::new(Self { files, current, seen: Mutex::new(seen) })))
    }

    /// Acceptor of a connection, with the certificate of this moment.
    pub fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.current.read()))
    }

    /// Looks at the files from time to time, and at SIGHUP, until the service stops. The signal is listened to when this
    /// returns.
    pub fn keep(self: Arc<Self>, stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let hangup = signal(SignalKind::hangup()).inspect_err(|error| {
            tracing::warn!(%error, "SIGHUP can't be listened to; the files are looked at all the same");
        });
        tokio::spawn(self.looks(hangup.ok(), stop))
    }

    async fn looks(self: Arc<Self>, mut hangup: Option<Signal>, mut stop: watch::Receiver<bool>) {
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(LOOK) => false,
                () = next(&mut hangup) => true,
                _ = stop.wait_for(|stopped| *stopped) => return,
            };
            let own = Arc::clone(&self);
            // Whoever mounts the files may let them wait.
            if let Err(error) = tokio::task::spawn_blocking(move || own.renew(asked)).await {
                tracing::error!(%error, "the certificate could not be looked at");
            }
        }
    }

    /// Takes the files if they changed, or if somebody asks for it.
    fn renew(&self, asked: bool) {
        let found = self.files.stamps();
        let before = std::mem::replace(&mut *self.seen.lock(), found);
        if before == found && !asked {
            return;
        }
        match self.files.read() {
            Ok(config) => {
                *self.current.write() = config;
                tracing::info!(path = %self.files.certificate.display(), "the certificate was read anew");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate is not taken; the one before stays in use");
            }
        }
    }
}

/// The next signal; never one where they can't be listened to.
async fn next(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

impl Files {
    fn stamps(&self) -> [Stamp; 2] {
        [&self.certificate, &self.key].map(|path| {
            let found = std::fs::metadata(path).ok()?;
            // The time of the last change to the file's entry: a copy may keep time and length of what it replaces, and a
            // change of rights makes readable what was not.
            let changed = (found.ctime(), found.ctime_nsec());
            Some((found.modified().ok()?, found.len(), found.ino(), changed))
        })
    }

    fn read(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let pem = content(&self.certificate)?;
        let chain: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let no_certificate = || TlsError::NoCertificate(self.certificate.clone());
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or_else(no_certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&content(&self.key)?);
        let key = key.map_err(|_reason| TlsError::NoKey(self.key.clone()))?;
        if std::fs::metadata(&self.key).is_ok_and(|found| found.mode() & EVERYBODY_READS != 0) {
            tracing::warn!(path = %self.key.display(), "every user of this machine can read the key of the certificate");
        }
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let mut config = builder
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::Pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

fn content(path: &Path) -> Result<Vec<u8>, TlsError> {
    let failed = |source| TlsError::File { path: path.to_owned(), source };
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > LARGEST {
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 1 MiB")));
    }
    std::fs::read(path).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Pair {
        certificate: String,
        key: String,
    }

    fn pair() -> Pair {
        let made = rcgen::generate_simple_self_signed(["heddle.test".to_owned()]).unwrap();
        Pair { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() }
    }

    /// Files beside each other in a folder of a test.
    fn files(folder: &Path, pair: &Pair) -> Files {
        let files = Files { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
        std::fs::write(&files.certificate, &pair.certificate).unwrap();
        std::fs::write(&files.key, &pair.key).unwrap();
        files
    }

    fn open(files: &Files) -> Result<Option<Arc<Certificates>>, TlsError> {
        Certificates::open(Some(&files.certificate), Some(&files.key))
    }

    #[test]
    fn what_can_not_be_used_is_told_with_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (pair(), pair());
        let of = |certificate: &str, key: &str| {
            let pair = Pair { certificate: certificate.to_owned(), key: key.to_owned() };
            open(&files(folder.path(), &pair)).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(of(&one.certificate, &one.key), "");
        assert!(of("", &one.key).contains("cert.pem` holds no certificate"));
        assert!(of(&one.key, &one.key).contains("cert.pem` holds no certificate"));
        assert!(of(&one.certificate, "secret").contains("key.pem` holds no private key"));
        assert!(of(&one.certificate, &two.key).contains("can't be used"));
        assert!(!of(&one.certificate, "secret").contains("secret"));
        let files = files(folder.path(), &one);
        std::fs::remove_file(&files.key).unwrap();
        assert!(open(&files).err().unwrap().to_string().contains("key.pem"));
        for (certificate, key, missing) in
            [(Some("a"), None, "`tls_key` is missing"), (None, Some("a"), "`tls_cert` is missing")]
        {
            let error = Certificates::open(certificate.map(Path::new), key.map(Path::new)).err().unwrap();
            assert!(error.to_string().contains(missing), "{error}");
        }
        assert!(Certificates::open(None, None).unwrap().is_none());
    }

    #[test]
    fn a_new_pair_is_taken_and_a_broken_one_leaves_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (pair(), pair());
        let certificates = open(&files(folder.path(), &one)).unwrap().unwrap();
        let current = || Arc::as_ptr(&certificates.current.read());
        let first = current();
        certificates.renew(false);
        assert_eq!(current(), first, "nothing changed");
        std::fs::write(&certificates.files.certificate, &two.certificate).unwrap();
        certificates.renew(false);
        assert_eq!(current(), first, "the key is still the old one's");
        std::fs::remove_file(&certificates.files.key).unwrap();
        certificates.renew(true);
        assert_eq!(current(), first, "the key is gone");
        std::fs::write(&certificates.files.key, &two.key).unwrap();
        certificates.renew(false);
        let second = current();
        assert_ne!(second, first);
        certificates.renew(true);
        assert_ne!(current(), second, "whoever asks gets it read anew");
    }
}

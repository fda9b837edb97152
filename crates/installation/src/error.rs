//! Errors for which a server does not start.

use heddle_usecase::StoreError;
use heddle_usecase::UseCaseError;

use crate::data_dir::DataDirError;

/// Reason for which a server does not start, with what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The data directory.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The database can't be opened.
    #[error(transparent)]
    Database(#[from] heddle_store::OpenError),
    /// The database can't be brought up to date.
    #[error(transparent)]
    Migration(#[from] heddle_store::MigrateError),
    /// The database does not answer.
    #[error("the database does not answer: {0}")]
    Store(#[from] StoreError),
    /// The key file is another installation's.
    #[error("the key file does not belong to this database: put the right one back into the data directory")]
    WrongKey,
    /// The keyring is gone although secrets are sealed under it, or other nodes have it.
    #[error(
        "the keyring `{}` is missing although the installation has one: put the backup of it back, or copy the keyring \
         of the other node", .0.display()
    )]
    KeyringMissing(std::path::PathBuf),
    /// The keyring is not one, or not the one that secrets are sealed under.
    #[error("the keyring: {0}")]
    Keyring(#[from] heddle_seal::SealError),
    /// The keyring is not the one that secrets are sealed under.
    #[error(transparent)]
    WrongKeyring(#[from] heddle_connections::rotation::KeyError),
    /// A setting of the way out that can't be used.
    #[error("{0}")]
    Egress(String),
    /// Something of vector databases that can't be used: their directories, the bucket of files.
    #[error("{0}")]
    Vectors(String),
    /// A setting of sign-in by providers that can't be used.
    #[error("{0}")]
    SignIn(String),
    /// As many servers run on the database as the licence allows.
    #[error(
        "the licence allows {licensed} servers on this database, and {used} run: stop one, or install a licence for \
         more (`heddle licence install FILE`); one that was killed counts for {gone_after} seconds"
    )]
    Nodes {
        /// Highest number that the licence allows.
        licensed: u64,
        /// Number of those that run.
        used: u64,
        /// Seconds for which a server counts after it was last seen.
        gone_after: i64,
    },
    /// The address can't be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// Error of the socket.
        source: std::io::Error,
    },
    /// The system gives no threads.
    #[error("the system gives no threads: {0}")]
    Threads(#[source] std::io::Error),
    /// Plain HTTP beyond the loopback interface.
    #[error(
        "{0} is reachable from other machines, and plain HTTP shows passwords to all of them: listen on 127.0.0.1 \
         behind a proxy with TLS, give --tls-cert and --tls-key, or say --insecure-http"
    )]
    Insecure(std::net::SocketAddr),
    /// TLS that can't be spoken.
    #[error(transparent)]
    Tls(#[from] heddle_edge::tls::TlsError),
    /// Something that is not there.
    #[error("{0}")]
    NotFound(String),
    /// A use case refused.
    #[error("{0}")]
    Refused(String),
    /// A backup that could not be made or is none.
    #[error(transparent)]
    Backup(#[from] heddle_store::backup::BackupError),
    /// Work that other programs do.
    #[error("{0}")]
    Elsewhere(String),
    /// A fault of ours.
    #[error("internal fault: {0}")]
    Internal(String),
}

impl StartError {
    /// The program's exit code (`docs/configuration.md`).
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        use heddle_connections::rotation::KeyError;
        use heddle_store::OpenError;
        use heddle_store::backup::BackupError;

        match self {
            Self::DataDir(DataDirError::InUse(_))
            | Self::Database(OpenError::InUse { .. })
            | Self::Listen { .. } => 4,
            Self::DataDir(
                DataDirError::BadKey(_) | DataDirError::KeyMissing(_) | DataDirError::Exposed(_),
            )
            | Self::WrongKey
            | Self::Nodes { .. }
            | Self::KeyringMissing(_)
            | Self::Keyring(_)
            | Self::WrongKeyring(
                KeyError::Wrong { .. }
                | KeyError::Missing { .. }
                | KeyError::Another { .. }
                | KeyError::Forgotten { .. },
            ) => 6,
            Self::DataDir(DataDirError::Io { source, .. })
            | Self::Database(OpenError::File { source, .. })
            | Self::Backup(BackupError::File { source, .. }) => of_file(source),
            Self::Database(OpenError::Connect(_))
            | Self::Migration(_)
            | Self::Store(_)
            | Self::WrongKeyring(KeyError::Store(_))
            | Self::Backup(BackupError::Database { .. } | BackupError::Migrations(_))
            | Self::Threads(_) => 5,
            Self::Database(OpenError::Address(_))
            | Self::Insecure(_)
            | Self::Tls(_)
            | Self::Egress(_)
            | Self::Vectors(_)
            | Self::SignIn(_)
            | Self::Elsewhere(_) => 2,
            Self::NotFound(_) | Self::Backup(BackupError::Missing(_)) => 3,
            Self::Refused(_)
            | Self::Internal(_)
            | Self::Backup(
                BackupError::Exists(_) | BackupError::Foreign { .. } | BackupError::Damaged { .. },
            ) => 1,
        }
    }
}

/// A path that this user may not use, or that can't be one, is a wrong setting; one that is not there is missing; what
/// is left is the disk's.
fn of_file(error: &std::io::Error) -> u8 {
    use std::io::ErrorKind;

    let forbidden = [
        ErrorKind::PermissionDenied,
        ErrorKind::ReadOnlyFilesystem,
        ErrorKind::NotADirectory,
        ErrorKind::IsADirectory,
        ErrorKind::AlreadyExists,
    ];
    if forbidden.contains(&error.kind()) {
        2
    } else if error.kind() == ErrorKind::NotFound {
        3
    } else {
        5
    }
}

impl From<UseCaseError> for StartError {
    fn from(error: UseCaseError) -> Self {
        match error {
            UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems) => {
                let texts = problems.into_iter().map(|problem| match problem.field {
                    Some(field) => format!("{field}: {}", problem.message),
                    None => problem.message,
                });
                Self::Refused(texts.collect::<Vec<_>>().join("; "))
            }
            UseCaseError::Forbidden(problem) => Self::Refused(problem.message),
            UseCaseError::NotFound => Self::NotFound(error.to_string()),
            UseCaseError::Unavailable(cause) => Self::Store(cause),
            UseCaseError::Unauthenticated
            | UseCaseError::LimitReached { .. }
            | UseCaseError::Throttled { .. }
            | UseCaseError::QueueFull { .. }
            | UseCaseError::Abandoned { .. }
            | UseCaseError::RateLimited { .. }
            | UseCaseError::Busy => Self::Refused(error.to_string()),
            UseCaseError::Internal(cause) => Self::Internal(cause),
        }
    }
}

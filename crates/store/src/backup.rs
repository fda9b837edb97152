//! Copies of a SQLite database, taken beside the process that writes to it, and their verification.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::{Nullable, Text};
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection};

use crate::migrate::{MigrateError, Migrations};

/// Reason for which there is no copy, or for which a file is no good one.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The file to be made is there already.
    #[error("`{}` is there already: name a file that is not", .0.display())]
    Exists(PathBuf),
    /// The file to be read is not there.
    #[error("there is no file `{}`", .0.display())]
    Missing(PathBuf),
    /// The file is no database of ours.
    #[error("`{}` is no database of Heddle: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Reason in words.
        why: String,
    },
    /// The file is damaged.
    #[error("`{}` is damaged: {found}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// First finding of SQLite's check.
        found: String,
    },
    /// A newer program has written the file.
    #[error(transparent)]
    Migrations(#[from] MigrateError),
    /// SQLite failed.
    #[error("`{}`: {why}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// Error of SQLite.
        why: String,
    },
    /// The file system failed.
    #[error("`{}`: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the file system.
        source: io::Error,
    },
}

/// A file that was found to be whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Length in bytes.
    pub bytes: u64,
    /// Names of the migrations that it holds.
    pub migrations: Vec<String>,
    /// Id of the installation whose key belongs to it; none before the first start.
    pub installation_id: Option<String>,
}

#[derive(QueryableByName)]
struct Word {
    #[diesel(sql_type = Nullable<Text>)]
    word: Option<String>,
}

/// Copies the database `from` as it is at one moment to the new file `to` (mode 0600), which is then verified and on
/// the disk for good. Whoever writes to `from` goes on meanwhile.
///
/// # Errors
/// `Missing` for `from`, `Exists` for `to`, and whatever the copy was found to be; then there is no file `to`.
pub fn copy(from: &Path, to: &Path, known: &Migrations) -> Result<Verified, BackupError> {
    if !from.is_file() {
        return Err(BackupError::Missing(from.to_owned()));
    }
    if to.exists() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let at = |source| BackupError::File { path: to.to_owned(), source };
    let mut name = to.file_name().ok_or_else(|| at(io::ErrorKind::InvalidInput.into()))?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = to.with_file_name(name);
    let made = copied(from, &part).and_then(|()| verify(&part, known)).and_then(|verified| {
        put_in_place(&part, to)?;
        Ok(verified)
    });
    let verified = made.inspect_err(|_| {
        // Remains of a copy that failed are of no use to anybody.
        let _ = fs::remove_file(&part);
    })?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at)?;
    Ok(verified)
}

/// Gives a whole copy its name, which nobody else may have taken in the meantime.
fn put_in_place(part: &Path, to: &Path) -> Result<(), BackupError> {
    let at = |source| BackupError::File { path: to.to_owned(), source };
    match fs::hard_link(part, to) {
        Ok(()) => fs::remove_file(part).map_err(at),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(BackupError::Exists(to.to_owned())),
        // A file system without links.
        Err(_) if !to.exists() => fs::rename(part, to).map_err(at),
        Err(_) => Err(BackupError::Exists(to.to_owned())),
    }
}

fn copied(from: &Path, part: &Path) -> Result<(), BackupError> {
    let failed = |error: String| BackupError::Database { path: from.to_owned(), why: error };
    let target = part.to_str().ok_or_else(|| failed("the path is not UTF-8".to_owned()))?.replace('\'', "''");
    let mut conn = open(from)?;
    conn.batch_execute(&format!("PRAGMA busy_timeout = 5000; VACUUM INTO '{target}'")).map_err(|error| {
        let text = error.to_string();
        if text.contains("not a database") {
            BackupError::Foreign { path: from.to_owned(), why: text }
        } else {
            failed(text)
        }
    })?;
    let at = |source| BackupError::File { path: part.to_owned(), source };
    fs::set_permissions(part, fs::Permissions::from_mode(0o600)).map_err(at)?;
    // SQLite does not wait for the disk here.
    File::open(part).and_then(|file| file.sync_all()).map_err(at)
}

/// Opens a file that nobody writes to, and has SQLite check every page, index and reference of it.
///
/// # Errors
/// What it was found to be.
pub fn verify(path: &Path, known: &Migrations) -> Result<Verified, BackupError> {
    let bytes = match fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(BackupError::Missing(path.to_owned()));
        }
        Err(source) => return Err(BackupError::File { path: path.to_owned(), source }),
    };
    let foreign = |why: String| BackupError::Foreign { path: path.to_owned(), why };
    let mut conn = open(path)?;
    let mut ask = |query: &str| -> Result<Vec<String>, diesel::result::Error> {
        let rows: Vec<Word> = diesel::sql_query(query).load(&mut conn)?;
        Ok(rows.into_iter().filter_map(|row| row.word).collect())
    };
    let failed = |error: diesel::result::Error| match error.to_string() {
        found if found.contains("malformed") => BackupError::Damaged { path: path.to_owned(), found },
        other => foreign(other),
    };
    let found = ask("SELECT integrity_check AS word FROM pragma_integrity_check LIMIT 1").map_err(failed)?;
    if found.first().map(String::as_str) != Some("ok") {
        let found = found.into_iter().next().unwrap_or_default();
        return Err(BackupError::Damaged { path: path.to_owned(), found });
    }
    let broken = "SELECT \"table\" AS word FROM pragma_foreign_key_check LIMIT 1";
    if let Some(table) = ask(broken).map_err(failed)?.into_iter().next() {
        let found = format!("a row of `{table}` names one that is not there");
        return Err(BackupError::Damaged { path: path.to_owned(), found });
    }
    let migrations = ask("SELECT name AS word FROM schema_migrations ORDER BY name").map_err(failed)?;
    if migrations.is_empty() {
        return Err(foreign("it holds no migrations".to_owned()));
    }
    known.check(&migrations)?;
    let installation = ask("SELECT installation_id AS word FROM installation").map_err(failed)?;
    Ok(Verified { bytes, migrations, installation_id: installation.into_iter().next() })
}

/// Two texts of a row.
#[derive(Debug, Clone, PartialEq, Eq, QueryableByName)]
pub struct TextPair {
    /// The column `one`.
    #[diesel(sql_type = Text)]
    pub one: String,
    /// The column `other`.
    #[diesel(sql_type = Text)]
    pub other: String,
}

/// Rows of a query over a table of a file that nobody writes to, as two texts each; none where the file, of an earlier
/// version, has no such table. The texts of both are the program's own.
///
/// # Errors
/// `Foreign` for a file that is no database, `Database`.
pub fn texts(path: &Path, table: &str, query: &str) -> Result<Vec<TextPair>, BackupError> {
    let failed = |error: diesel::result::Error| {
        let why = error.to_string();
        if why.contains("not a database") {
            BackupError::Foreign { path: path.to_owned(), why }
        } else {
            BackupError::Database { path: path.to_owned(), why }
        }
    };
    let mut conn = open(path)?;
    let there = "SELECT name AS word FROM sqlite_schema WHERE type = 'table' AND name = ?";
    let there: Vec<Word> = diesel::sql_query(there).bind::<Text, _>(table).load(&mut conn).map_err(failed)?;
    if there.is_empty() {
        return Ok(Vec::new());
    }
    diesel::sql_query(query).load(&mut conn).map_err(failed)
}

/// Opens a file that is there; SQLite makes none.
fn open(path: &Path) -> Result<SqliteConnection, BackupError> {
    let failed = |why: String| BackupError::Database { path: path.to_owned(), why };
    let absolute = std::path::absolute(path).map_err(|error| failed(error.to_string()))?;
    let text = absolute.to_str().ok_or_else(|| failed("the path is not UTF-8".to_owned()))?;
    let text = text.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    SqliteConnection::establish(&format!("file:{text}?mode=rw")).map_err(|error| failed(error.to_string()))
}

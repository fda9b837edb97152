//! Keys of a backup.

use std::path::Path;

use heddle_connections::ports::KeyCheck;
use heddle_connections::rotation::StoredKeys;
use heddle_store::backup::{self, BackupError};

/// Keys that a backup of a SQLite database knows, and what it has sealed under them; nothing where it is of a version
/// that sealed nothing.
///
/// # Errors
/// `Foreign` for a file that is no database, `Database`.
pub fn keys_of(file: &Path) -> Result<StoredKeys, BackupError> {
    let checks = "SELECT key_id AS one, check_value AS other FROM connection_keys";
    let in_use =
        "SELECT key_id AS one, CAST(count(*) AS TEXT) AS other FROM connection_secrets GROUP BY key_id";
    let checks = backup::texts(file, "connection_keys", checks)?;
    let in_use = backup::texts(file, "connection_secrets", in_use)?;
    Ok(StoredKeys {
        checks: checks.into_iter().map(|row| KeyCheck { key: row.one, value: row.other }).collect(),
        in_use: in_use.into_iter().map(|row| (row.one, row.other.parse().unwrap_or_default())).collect(),
    })
}

//! Keys of a backup.

use std::collections::BTreeMap;
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
    let checks = backup::texts(file, "connection_keys", checks)?;
    let mut in_use: BTreeMap<String, u64> = BTreeMap::new();
    for table in ["connection_secrets", "hook_secrets"] {
        let counts =
            format!("SELECT key_id AS one, CAST(count(*) AS TEXT) AS other FROM {table} GROUP BY key_id");
        for row in backup::texts(file, table, &counts)? {
            *in_use.entry(row.one).or_default() += row.other.parse::<u64>().unwrap_or(0);
        }
    }
    Ok(StoredKeys {
        checks: checks.into_iter().map(|row| KeyCheck { key: row.one, value: row.other }).collect(),
        in_use,
    })
}

//! Keys of a backup.

use std::collections::BTreeMap;
use std::path::Path;

use heddle_store::backup::{self, BackupError};

/// Number of the second factors of a backup of a SQLite database under each key; nothing where it is of a version that had
/// none.
///
/// # Errors
/// `Foreign` for a file that is no database, `Database`.
pub fn factor_keys_of(file: &Path) -> Result<BTreeMap<String, u64>, BackupError> {
    let in_use = "SELECT key_id AS one, CAST(count(*) AS TEXT) AS other FROM totp_factors GROUP BY key_id";
    let rows = backup::texts(file, "totp_factors", in_use)?;
    Ok(rows.into_iter().map(|row| (row.one, row.other.parse().unwrap_or_default())).collect())
}

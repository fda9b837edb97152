//! The node's id: the same after a restart, another for another server of the same database.

use std::path::Path;

use uuid::Uuid;

/// The id of the server that works with this data directory on this machine.
pub(crate) fn id(data_dir: &Path) -> Uuid {
    let place = std::fs::canonicalize(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let digest = heddle_usecase::sha256_hex(format!("{}\n{}", machine.trim(), place.display()).as_bytes());
    digest.get(..32).and_then(|half| Uuid::try_parse(half).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_directory_is_one_node() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        assert_eq!(id(one.path()), id(one.path()));
        assert_eq!(id(one.path()), id(&one.path().join(".")));
        assert_ne!(id(one.path()), id(other.path()));
        assert_ne!(id(one.path()), Uuid::nil());
    }
}

//! The stores of all areas: which migrations there are, and who is asked before an organisation goes. A further area
//! is named here.

use std::sync::Arc;

use heddle_store::{Db, Migrations};
use heddle_store_identity::IdentityStore;
use heddle_store_workflows::WorkflowContents;

/// The migrations of this program.
pub(crate) fn migrations() -> Migrations {
    Migrations::of(&[heddle_store_identity::MIGRATIONS, heddle_store_workflows::MIGRATIONS])
}

/// The store of identity, which asks the other areas before it deletes an organisation.
pub(crate) fn identity(db: Db) -> IdentityStore {
    IdentityStore::new(db, vec![Arc::new(WorkflowContents)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_and_the_areas_hold_the_same_migrations() {
        for dialect in ["sqlite", "postgres"] {
            let folder = format!("{}/../../migrations/{dialect}", env!("CARGO_MANIFEST_DIR"));
            let mut names: Vec<_> = std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            assert_eq!(names, migrations().names(), "{dialect}");
        }
    }
}

//! The stores of all areas: which migrations there are, and who is asked before an organisation goes. A further area
//! is named here.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use heddle_identity::ports::LimitCounter;
use heddle_models::ports::ModelStore;
use heddle_policy::licence::Limit;
use heddle_store::{Db, Migrations, Options};
use heddle_store_identity::IdentityStore;
use heddle_store_models::{ModelContents, SqlModelStore};
use heddle_store_vectors::{SqlVectorStore, VectorContents};
use heddle_store_workflows::WorkflowContents;
use heddle_usecase::StoreError;
use heddle_vectors::ports::VectorStore;

use crate::config::{Config, Durability};
use crate::error::StartError;

/// The migrations of this program.
pub fn migrations() -> Migrations {
    Migrations::of(&[
        heddle_store_identity::MIGRATIONS,
        heddle_store_workflows::MIGRATIONS,
        heddle_store_connections::MIGRATIONS,
        heddle_store_vectors::MIGRATIONS,
        heddle_store_models::MIGRATIONS,
    ])
}

/// The store of identity, which asks the other areas before it deletes an organisation.
pub fn identity(db: Db) -> IdentityStore {
    IdentityStore::new(
        db,
        vec![Arc::new(WorkflowContents), Arc::new(VectorContents), Arc::new(ModelContents)],
    )
}

/// Counters of what a licence limits and other areas than identity keep.
pub fn counters(db: &Db) -> Vec<Arc<dyn LimitCounter>> {
    vec![
        Arc::new(DeploymentCounter(SqlModelStore::new(db.clone()))),
        Arc::new(DatabaseCounter(SqlVectorStore::new(db.clone()))),
    ]
}

/// Deployments of models, of all organisations together.
struct DeploymentCounter(SqlModelStore);

#[async_trait]
impl LimitCounter for DeploymentCounter {
    fn counts(&self) -> Limit {
        Limit::Deployments
    }

    async fn count(&self) -> Result<u64, StoreError> {
        self.0.deployments_in_all().await
    }
}

/// Vector databases, of all organisations together.
struct DatabaseCounter(SqlVectorStore);

#[async_trait]
impl LimitCounter for DatabaseCounter {
    fn counts(&self) -> Limit {
        Limit::VectorDatabases
    }

    async fn count(&self) -> Result<u64, StoreError> {
        self.0.databases_in_all().await
    }
}

/// Opens the configured database, or the one file of the data directory.
///
/// # Errors
/// `Database`.
pub async fn open(config: &Config, file: &Path) -> Result<Db, StartError> {
    let address = match &config.database_url {
        Some(url) => url.clone(),
        None => format!("sqlite:{}", file.display()),
    };
    let durability = match config.durability {
        Durability::Full => heddle_store::Durability::Full,
        Durability::Process => heddle_store::Durability::Process,
    };
    let options = Options { durability, ..Options::default() };
    Ok(Db::open(&address, &options).await?)
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

//! Composition of what goes outside: the way out with its rules, the keyring, connections and webhooks.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use async_trait::async_trait;
use heddle_connections::ports::{ConnectionStore, Tester, WebhookStore, Workflows};
use heddle_connections::rotation::Keys;
use heddle_connections::{Connections, Hooks, WebhookPorts, Webhooks};
use heddle_definitions::DefinitionKey;
use heddle_definitions::ports::DefinitionStore as _;
use heddle_egress::{Egress, EgressRules, Roots, SystemResolver};
use heddle_kernel::{Clock as _, DefinitionKind, IdSource, TenantId, WorkflowId};
use heddle_outbound::Outbound;
use heddle_runtime::{RandomIds, ServerClock};
use heddle_store::{Db, outage};
use heddle_store_connections::{SqlConnectionStore, SqlHookStore, SqlWebhookStore};
use heddle_store_workflows::SqlWorkflowStore;
use heddle_usecase::StoreError;

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::deliveries::Receivers;
use crate::error::StartError;
use crate::factors::StoredKeys;
use crate::keyring::InstallationKeyring;

/// Parts that go outside.
pub struct Outside {
    /// The way out.
    pub egress: Egress,
    /// Keys that secrets are sealed with.
    pub keyring: Arc<InstallationKeyring>,
    /// Use case that wraps secrets anew.
    pub keys: Keys,
    /// Connections.
    pub connections: Connections,
    /// Webhooks.
    pub webhooks: Arc<Webhooks>,
    /// Hooks.
    pub hooks: Hooks,
    /// Webhooks as deliveries need them.
    pub receivers: Receivers,
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

impl Outside {
    /// Opens the keyring, holds it against what is sealed, and puts the rest together. Webhooks can send events of the types
    /// that are given.
    ///
    /// # Errors
    /// `KeyringMissing`, `Keyring`, `WrongKeyring`, `Egress`, `Store`.
    pub async fn open(
        config: &Config,
        data: &DataDir,
        db: &Db,
        clock: &ServerClock,
        event_types: &'static [&'static str],
    ) -> Result<Self, StartError> {
        let store = Arc::new(SqlConnectionStore::new(db.clone()));
        let stored = Arc::new(StoredKeys::new(db));
        let keyring = Arc::new(InstallationKeyring::open(config, data, &*stored).await?);
        let keys = Keys::new(stored, keyring.clone()).shared(db.postgres().is_some());
        keys.verify(clock.now()).await?;
        let resolver = Arc::new(SystemResolver::default());
        let egress = Egress::with_roots(rules(config).await, resolver, roots(config)?);
        // The system's authorities are many files; nobody waits for them before the first connection does.
        let loading = egress.clone();
        drop(tokio::task::spawn_blocking(move || loading.load_authorities()));
        let outbound = Outbound::new(egress.clone());
        let tester: Arc<dyn Tester> = Arc::new(outbound.clone());
        let ids: Arc<dyn IdSource> = Arc::new(RandomIds);
        let store: Arc<dyn ConnectionStore> = store;
        let workflows: Arc<dyn Workflows> = Arc::new(KnownWorkflows(SqlWorkflowStore::new(db.clone())));
        let connections =
            Connections::new(store.clone(), keyring.clone(), tester.clone(), workflows.clone(), ids.clone());
        let hooks = Hooks::new(Arc::new(SqlHookStore::new(db.clone())), keyring.clone(), ids.clone());
        let webhooks: Arc<dyn WebhookStore> = Arc::new(SqlWebhookStore::new(db.clone()));
        let receivers = Receivers::new(Arc::clone(&webhooks), connections.opening(), outbound);
        let ports = WebhookPorts { webhooks, connections: store, workflows, tester };
        let webhooks = Arc::new(Webhooks::new(ports, connections.opening(), ids, event_types));
        Ok(Self { egress, keyring, keys, connections, webhooks, hooks, receivers })
    }
}

/// The workflows and case types, as webhooks ask for them.
struct KnownWorkflows(SqlWorkflowStore);

#[async_trait]
impl Workflows for KnownWorkflows {
    async fn kinds(
        &self,
        tenant: TenantId,
        ids: &[WorkflowId],
    ) -> Result<BTreeMap<WorkflowId, DefinitionKind>, StoreError> {
        let mut kinds = BTreeMap::new();
        for id in ids {
            for kind in [DefinitionKind::Workflow, DefinitionKind::Case] {
                match self.0.standing(DefinitionKey::of_stored(tenant, kind, *id)).await {
                    Ok(_) => {
                        kinds.insert(*id, kind);
                        break;
                    }
                    Err(StoreError::NotFound) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(kinds)
    }
}

/// Rules of where connections go: public addresses, those that the operator allows, and of a demonstration this machine's
/// own; never this server's and its database's.
async fn rules(config: &Config) -> EgressRules {
    let mut own = vec![config.listen];
    if let Some(database) = config.database_url.clone() {
        let looked_up = tokio::task::spawn_blocking(move || addresses(&database)).await;
        own.extend(looked_up.unwrap_or_default());
    }
    EgressRules {
        allow: config.egress_allow.clone(),
        loopback: config.egress_loopback,
        public: config.egress_public,
        own,
    }
}

/// Authorities whose certificates pass: the system's, and those that the operator names.
fn roots(config: &Config) -> Result<Roots, StartError> {
    let Some(path) = &config.egress_ca else { return Ok(Roots::system()) };
    let unusable = |why: String| StartError::Egress(format!("egress_ca: `{}`: {why}", path.display()));
    let pem = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
    Roots::system().with_pem(&pem).map_err(|fault| unusable(fault.to_string()))
}

/// Addresses of a database. One that is reached by a socket file has none.
fn addresses(database: &str) -> Vec<SocketAddr> {
    let Some(hosts) = outage::hosts(database) else {
        tracing::warn!(
            "the database's address names no host: connections of organisations can't be kept from it"
        );
        return Vec::new();
    };
    let mut found = Vec::new();
    for (host, port) in hosts {
        match host.parse::<IpAddr>() {
            Ok(address) => found.push(SocketAddr::new(address, port)),
            Err(_) => match (host.as_str(), port).to_socket_addrs() {
                Ok(addresses) => found.extend(addresses),
                Err(error) => tracing::warn!(
                    host, error = %error,
                    "the database's host is not known here: connections of organisations can't be kept from it"
                ),
            },
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_authorities_that_can_not_be_used_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let of = |path: &std::path::Path| {
            let config = Config { egress_ca: Some(path.to_owned()), ..Config::default() };
            roots(&config).unwrap_err().to_string()
        };
        assert!(of(&path).contains("egress_ca") && of(&path).contains("ca.pem"));
        std::fs::write(&path, "no certificate").unwrap();
        assert!(of(&path).contains("no certificate as PEM"));
    }

    #[test]
    fn the_hosts_of_a_database_are_found_wherever_its_address_names_them() {
        let of = |text: &str| {
            outage::hosts(text)
                .into_iter()
                .flatten()
                .map(|(host, port)| format!("{host} {port}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        for (address, expected) in [
            ("postgres://u:p@db.example.com/heddle", "db.example.com 5432"),
            ("postgresql://10.0.0.7:6543/heddle", "10.0.0.7 6543"),
            ("postgres://[::1]:5433/heddle", "::1 5433"),
            ("postgres:///heddle?host=/var/run/postgresql", ""),
            ("postgres://u:p@db1:6000,db2:6001/heddle", "db1 6000, db2 6001"),
            ("postgres://db1,10.0.0.7:6001/heddle", "db1 5432, 10.0.0.7 6001"),
            ("host=db1,db2 port=6000,6001 dbname=heddle", "db1 6000, db2 6001"),
            ("no address", ""),
        ] {
            assert_eq!(of(address), expected, "{address}");
        }
        let several = ["127.0.0.1:1", "127.0.0.2:2"].map(|one| one.parse::<SocketAddr>().unwrap());
        assert_eq!(addresses("postgres://127.0.0.1:1/x"), several[..1]);
        assert_eq!(addresses("postgres://127.0.0.1:1,127.0.0.2:2/x"), several);
    }
}

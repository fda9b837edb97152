//! Models: the use cases over this node's way to providers, its built-in models and the store.

mod bounds;
mod built_in;
mod dependents;
pub(crate) mod failure;
mod known;
mod spill;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use heddle_connections::ports::Sealer as _;
use heddle_egress::Egress;
use heddle_identity::Identity;
use heddle_installation::config::Config;
use heddle_installation::keyring::InstallationKeyring;
use heddle_kernel::{Clock, IdSource, ModelConnectionId, TenantId};
use heddle_models::ports::{
    BoundsSource, Dependents, LocalModels, ModelStore, Random, Runtimes, Upstream, UsageStore,
};
use heddle_models::records::Deployment;
use heddle_models::types::ProviderKind;
use heddle_models::{
    Catalogue, CataloguePorts, ConnectionPorts, DeploymentPorts, Deployments, Gateway, GatewayPorts,
    GatewaySettings, LedgerWriter, LocalStates, LocalSync, ModelConnections, Models as Listing, Opening,
    Residency, ResidencyPorts, SyncPorts, Usage, WireRuntimes,
};
use heddle_providers::Providers;
use heddle_runtime::{ComputePool, Permit, RandomIds, ServerClock, system_random};
use heddle_store::Db;
use heddle_store_models::SqlModelStore;
use heddle_usecase::{StoreError, UseCaseError};
use heddle_vector_service::BuiltInModels;
use parking_lot::Mutex;
use tokio::sync::watch;

use self::bounds::LicensedBounds;
use self::built_in::BuiltIn;
use self::dependents::UsersOfDeployments;
pub(crate) use self::known::KnownModels;
use self::spill::SpillFiles;

/// Time between two looks at what residency is wanted and what is there.
const LOOK: Duration = Duration::from_secs(15);
/// Time between two rounds of what expires: reservations, and rows of calls that are old.
const TIDY: Duration = Duration::from_secs(60);
/// Rows of one step of such a round.
const STEP: u32 = 500;
/// Longest wait for the ends of calls at the end of the process.
const FLUSH: Duration = Duration::from_secs(2);

/// Models of this node.
pub(crate) struct Models {
    /// Connections to providers.
    pub connections: ModelConnections,
    /// Models that providers have.
    pub catalogue: Catalogue,
    /// Deployments.
    pub deployments: Deployments,
    /// Residency of local models.
    pub residency: Residency,
    /// Deployments in line with what runs locally.
    pub local: LocalSync,
    /// Models as callers see them.
    pub listing: Listing,
    /// Usage.
    pub usage: Usage,
    /// The gateway.
    pub gateway: Gateway,
    /// States of the models inside this service.
    states: LocalStates,
    store: Arc<SqlModelStore>,
    clock: Arc<ServerClock>,
    usage_days: u32,
    /// Writer of the ends of calls, until somebody runs it.
    writer: Mutex<Option<LedgerWriter>>,
}

/// Parts that models are put together from.
pub(crate) struct ModelParts<'a> {
    pub config: &'a Config,
    pub db: &'a Db,
    pub identity: &'a Arc<Identity>,
    pub clock: &'a Arc<ServerClock>,
    pub compute: &'a Arc<ComputePool>,
    pub egress: &'a Egress,
    pub keyring: &'a Arc<InstallationKeyring>,
    pub embedding: &'a BuiltInModels,
}

/// Spread of waits.
struct Spread;

impl Random for Spread {
    fn fraction(&self) -> f64 {
        // Thirty-two bits are exact in a number of 64.
        f64::from(u32::try_from(system_random() & u64::from(u32::MAX)).unwrap_or_default()) / 4_294_967_296.0
    }
}

/// Models inside the service with those of a directory of files, where the configuration names one.
#[cfg(feature = "local-candle")]
fn with_shelf(
    inside: Arc<dyn LocalModels>,
    config: &Config,
    clock: &Arc<ServerClock>,
) -> Arc<dyn LocalModels> {
    use heddle_local_candle::{Shelf, WithShelf};
    let settings = &config.models;
    let Some(directory) = &settings.chat_dir else { return inside };
    let shelf = Shelf::of(directory, u64::from(settings.chat_megabytes) << 20);
    Arc::new(WithShelf::new(inside, shelf, clock.clone(), Arc::new(RandomIds)))
}

/// Models inside the service: this build computes no others.
#[cfg(not(feature = "local-candle"))]
fn with_shelf(
    inside: Arc<dyn LocalModels>,
    _config: &Config,
    _clock: &Arc<ServerClock>,
) -> Arc<dyn LocalModels> {
    inside
}

/// Settings of the gateway by the configuration.
fn gateway_settings(config: &Config) -> GatewaySettings {
    let keep_answers = Duration::from_secs(config.models.cache_seconds.into());
    GatewaySettings { keep_answers, ..GatewaySettings::default() }
}

/// Surroundings of the use cases: the ways to what answers, what depends on deployments, and the bounds.
#[derive(Clone)]
struct Surroundings {
    upstream: Arc<dyn Upstream>,
    local: Arc<dyn LocalModels>,
    runtimes: Arc<dyn Runtimes>,
    dependents: Arc<dyn Dependents>,
    bounds: Arc<dyn BoundsSource>,
}

impl Surroundings {
    fn of(parts: &ModelParts<'_>) -> Self {
        let ModelParts { config, db, identity, clock, compute, egress, embedding, .. } = *parts;
        let upstream: Arc<dyn Upstream> = Arc::new(Providers::new(egress.clone()));
        let built_in = config.models.built_in;
        let local: Arc<dyn LocalModels> =
            Arc::new(BuiltIn::new(embedding.clone(), compute.clone(), clock.clone(), built_in));
        let local = with_shelf(local, config, clock);
        let runtimes = WireRuntimes::new(upstream.clone(), local.clone(), clock.clone());
        Self {
            upstream,
            local,
            runtimes: Arc::new(runtimes),
            dependents: Arc::new(UsersOfDeployments::new(db)),
            bounds: Arc::new(LicensedBounds::new(&config.models, identity)),
        }
    }

    /// The sync with local runtimes.
    fn sync(
        self,
        store: &Arc<dyn ModelStore>,
        opening: Opening,
        states: &LocalStates,
        ids: Arc<dyn IdSource>,
    ) -> LocalSync {
        let Self { upstream: _, local, runtimes, dependents, bounds } = self;
        let (store, states) = (store.clone(), states.clone());
        LocalSync::new(SyncPorts { store, opening, runtimes, local, states, dependents, bounds, ids })
    }
}

impl Models {
    /// Puts the use cases together.
    pub(crate) fn open(parts: &ModelParts<'_>) -> Arc<Self> {
        let around = Surroundings::of(parts);
        let Surroundings { upstream, local, runtimes, dependents, bounds } = around.clone();
        let ModelParts { config, db, clock, keyring, .. } = *parts;
        let rows = Arc::new(SqlModelStore::new(db.clone()));
        let (store, spent): (Arc<dyn ModelStore>, Arc<dyn UsageStore>) = (rows.clone(), rows.clone());
        let (time, ids): (Arc<dyn Clock>, Arc<dyn IdSource>) = (clock.clone(), Arc::new(RandomIds));
        let connections = ModelConnections::new(ConnectionPorts {
            store: store.clone(),
            sealer: keyring.clone(),
            runtimes: runtimes.clone(),
            dependents: dependents.clone(),
            ids: ids.clone(),
        });
        let opening = connections.opening();
        let states = LocalStates::new(store.clone(), local.clone(), time.clone());
        let ports = GatewayPorts {
            store: store.clone(),
            opening: opening.clone(),
            usage: spent.clone(),
            spill: Arc::new(SpillFiles::open(&config.data_dir)),
            upstream,
            local: local.clone(),
            bounds: bounds.clone(),
            dependents: dependents.clone(),
            clock: time.clone(),
            ids: ids.clone(),
            random: Arc::new(Spread),
        };
        let (gateway, writer) = Gateway::new(ports, gateway_settings(config));
        let residency = Residency::new(ResidencyPorts {
            store: store.clone(),
            opening: opening.clone(),
            runtimes: runtimes.clone(),
            states: states.clone(),
            dependents: dependents.clone(),
            bounds: bounds.clone(),
            clock: time,
        });
        let catalogue = Catalogue::new(CataloguePorts {
            store: store.clone(),
            opening: opening.clone(),
            runtimes: runtimes.clone(),
            states: states.clone(),
            bounds: bounds.clone(),
            ids: ids.clone(),
        });
        Arc::new(Self {
            connections,
            catalogue,
            deployments: Deployments::new(DeploymentPorts {
                store: store.clone(),
                states: states.clone(),
                dependents: dependents.clone(),
                bounds: bounds.clone(),
                ids: ids.clone(),
            }),
            residency,
            local: around.sync(&store, opening, &states, ids),
            listing: Listing::new(store),
            usage: Usage::new(spent, gateway.clone()),
            gateway,
            states,
            store: rows,
            clock: clock.clone(),
            usage_days: config.models.usage_days,
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Store of connections and deployments.
    pub(crate) fn store(&self) -> Arc<dyn ModelStore> {
        self.store.clone()
    }

    /// Types of the providers over whose connections deployments are called.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(crate) async fn providers(
        &self,
        tenant: TenantId,
        deployments: &[Deployment],
    ) -> Result<BTreeMap<ModelConnectionId, ProviderKind>, UseCaseError> {
        let mut kinds = BTreeMap::new();
        for deployment in deployments {
            let id = deployment.connection_id;
            if kinds.contains_key(&id) {
                continue;
            }
            match self.store.connection(tenant, id).await {
                Ok(connection) => {
                    kinds.insert(id, connection.kind);
                }
                // It was deleted in between, and its deployments with it.
                Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(kinds)
    }

    /// Wraps keys of providers anew that are not under the ring's current key; gives how many were, and how many did not
    /// open.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(crate) async fn rewrap_keys(&self, keyring: &InstallationKeyring) -> Result<(u64, u64), StoreError> {
        let current = keyring.current_key();
        let (wrapped, unreadable) = heddle_models::rewrap(&*self.store, keyring, &current).await?;
        for one in &unreadable {
            tracing::error!(
                organization = %one.place.tenant, connection = %one.place.connection, reason = %one.reason,
                "the key of a provider does not open and stays as it is"
            );
        }
        Ok((wrapped, unreadable.len() as u64))
    }

    /// Writes the ends of calls for as long as there are calls. On every node, whatever its background does.
    pub(crate) fn write_usage(&self) {
        if let Some(writer) = self.writer.lock().take() {
            drop(tokio::spawn(writer.run()));
        }
    }

    /// Waits until the ends of calls are written, but not for ever.
    pub(crate) async fn flush(&self) {
        if tokio::time::timeout(FLUSH, self.gateway.flush()).await.is_err() {
            tracing::warn!("the usage of the last calls may not be recorded");
        }
    }

    /// Brings residency in line with what is wanted, writes what is seen of the models inside this service, gives expired
    /// reservations back and forgets old rows, until the server stops. Work that nobody asked for at this moment waits while the installation is restricted.
    pub(crate) async fn keep(self: Arc<Self>, permit: Arc<dyn Permit>, mut stopped: watch::Receiver<bool>) {
        let work = async {
            let mut tidied: Option<tokio::time::Instant> = None;
            let (reconciler, mut at_start) = (self.residency.reconciler(), true);
            loop {
                if permit.may_work() {
                    match reconciler.run_once(at_start).await {
                        Ok(_) => at_start = false,
                        Err(error) => tracing::debug!(%error, "the residency of models is looked at later"),
                    }
                    if tidied.is_none_or(|at| at.elapsed() >= TIDY) {
                        tidied = Some(tokio::time::Instant::now());
                        self.tidy().await;
                    }
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        // Beside the rest: models that are being read are waited for, and a runtime may be slow.
        let states = async {
            loop {
                if permit.may_work()
                    && let Err(error) = self.states.look().await
                {
                    tracing::debug!(%error, "the states of the models inside the service are written later");
                }
                tokio::select! {
                    () = tokio::time::sleep(LOOK) => {}
                    () = self.states.wanted() => {}
                }
            }
        };
        tokio::select! {
            () = work => {}
            () = states => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
    }

    async fn tidy(&self) {
        let now = self.clock.now();
        let old = now.plus_seconds(-i64::from(self.usage_days) * 86_400);
        loop {
            let (expired, forgotten) =
                (self.store.expire(now, STEP).await, self.store.forget(old, STEP).await);
            match (expired, forgotten) {
                (Ok(expired), Ok(forgotten)) if expired.max(forgotten) < u64::from(STEP) => return,
                (Ok(_), Ok(_)) => tokio::time::sleep(Duration::from_millis(200)).await,
                (Err(error), _) | (_, Err(error)) => {
                    tracing::debug!(%error, "reservations and rows of calls are looked at later");
                    return;
                }
            }
        }
    }
}

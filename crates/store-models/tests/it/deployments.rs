//! Connections and deployments: what is denied is not shown, names are an organisation's own, and what is in use stays.

use heddle_kernel::Revision;
use heddle_models::ports::{
    CatalogueFilter, CatalogueWrite, ConnectionFilter, Deleted, DeploymentChange, DeploymentFilter, LICENSED,
    ModelStore, Most, SeenState,
};
use heddle_models::records::{
    Capabilities, Capability, CatalogueEntry, Deployment, DeploymentState, Memory, Observed,
};
use heddle_models::types::ProviderKind;
use heddle_policy::{AccessFilter, resource};
use heddle_store_models::SqlModelStore;
use heddle_testkit::on_both;
use heddle_usecase::{Journal, StoreError};

use crate::support::*;

#[tokio::test]
async fn what_was_written_is_read_and_versions_tell_of_changes() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let (tenant, other) = (organization(&db).await, organization(&db).await);
        let over = connection(&store, tenant, "one").await;
        connection(&store, other, "one").await;
        let version = store.version(tenant).await.unwrap();
        let back = deployment(&over, "back");
        let front = Deployment {
            fallbacks: vec![back.id],
            memory: Memory { context_length: Some(4_096), ..Memory::default() },
            ..deployment(&over, "front")
        };
        inserted(&store, &[back.clone(), front.clone()]).await;
        assert_ne!(store.version(tenant).await.unwrap(), version);
        assert_eq!(store.deployment(tenant, front.id).await.unwrap(), front);
        assert_eq!(store.by_alias(tenant, "front").await.unwrap(), front);
        assert_eq!(store.by_alias(other, "front").await.unwrap_err(), StoreError::NotFound);
        assert_eq!(store.resident(None, 10).await.unwrap(), std::slice::from_ref(&front));
        let everything = AccessFilter::<resource::Deployment>::everything();
        let filter = DeploymentFilter {
            q: Some("FRONT".to_owned()),
            capability: Some(Capability::Tools),
            callable: true,
            ..DeploymentFilter::default()
        };
        let found = store.deployments(tenant, &filter, &everything, &page(10)).await.unwrap();
        assert_eq!(found.items, std::slice::from_ref(&front));
        let denied = AccessFilter::<resource::Deployment>::everything().but([front.id]);
        let left = store.deployments(tenant, &DeploymentFilter::default(), &denied, &page(10)).await.unwrap();
        assert_eq!(left.items, std::slice::from_ref(&back));
        let twice =
            DeploymentChange { insert: vec![deployment(&over, "back")], ..DeploymentChange::default() };
        let error = store.change_deployments(tenant, &twice, MOST, &Journal::default()).await.unwrap_err();
        assert!(matches!(&error, StoreError::Duplicate(columns) if columns.contains("alias")), "{error}");
        let most = Most { own: 100, licensed: Some(2) };
        let more = DeploymentChange { insert: vec![deployment(&over, "c")], ..DeploymentChange::default() };
        let error = store.change_deployments(tenant, &more, most, &Journal::default()).await.unwrap_err();
        assert!(matches!(error, StoreError::QuotaExceeded { limit: LICENSED, .. }), "{error}");
    });
}

#[tokio::test]
async fn what_is_in_use_stays_and_a_cascade_takes_all() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let tenant = organization(&db).await;
        let over = connection(&store, tenant, "one").await;
        let back = deployment(&over, "back");
        let front = Deployment { fallbacks: vec![back.id], ..deployment(&over, "front") };
        inserted(&store, &[back.clone(), front.clone()]).await;
        let journal = Journal::default();
        let used = store.delete_deployment(tenant, back.id, None, &journal).await.unwrap();
        assert!(matches!(&used, Deleted::InUse(uses) if uses[0].name == "front"), "{used:?}");
        let used = store.delete_connection(tenant, over.id, None, &[back.id], &journal).await.unwrap();
        assert!(matches!(&used, Deleted::InUse(uses) if uses.len() == 1), "{used:?}");
        let stale = store.delete_deployment(tenant, front.id, Some(Revision(9)), &journal).await;
        assert_eq!(stale.unwrap_err(), StoreError::Stale);
        let all = [back.id, front.id];
        assert_eq!(
            store.delete_connection(tenant, over.id, None, &all, &journal).await.unwrap(),
            Deleted::Now
        );
        assert_eq!(store.delete_deployment(tenant, back.id, None, &journal).await.unwrap(), Deleted::Before);
        assert_eq!(
            store.delete_connection(tenant, over.id, None, &[], &journal).await.unwrap(),
            Deleted::Before
        );
        assert_eq!(store.deployments_in_all().await.unwrap(), 0);
        let everything = AccessFilter::<resource::ModelConnection>::everything();
        let left =
            store.connections(tenant, &ConnectionFilter::default(), &everything, &page(10)).await.unwrap();
        assert_eq!(left.items, []);
    });
}

#[tokio::test]
async fn those_inside_the_service_are_read_of_all_organisations_page_by_page_and_say_what_was_seen() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let mut inside = Vec::new();
        for _ in 0..3 {
            let tenant = organization(&db).await;
            let elsewhere = connection(&store, tenant, "elsewhere").await;
            let own = connection_to(&store, tenant, "own", ProviderKind::Local).await;
            let all = [deployment(&elsewhere, "c"), deployment(&own, "a"), deployment(&own, "b")];
            inserted(&store, &all).await;
            inside.extend(all.into_iter().filter(|one| one.connection_id == own.id));
        }
        inside.sort_by_key(|one| (one.tenant, one.id));
        let (mut after, mut read) = (None, Vec::new());
        loop {
            let page = store.inside(after, 4).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some((last.tenant, last.id));
            read.extend(page);
        }
        assert_eq!(read, inside);

        let first = &inside[0];
        let seen = SeenState {
            tenant: first.tenant,
            id: first.id,
            state: DeploymentState::Missing,
            detail: Some("Fetch it.".to_owned()),
            observed: Observed { at: Some(at(3)), ..Observed::default() },
        };
        store.seen(std::slice::from_ref(&seen)).await.unwrap();
        let shown = store.inside(None, 1).await.unwrap();
        assert_eq!((shown[0].state, &shown[0].state_detail), (seen.state, &seen.detail));
        assert_eq!((&shown[0].observed, shown[0].revision), (&seen.observed, first.revision));
    });
}

#[tokio::test]
async fn a_discovery_takes_the_place_of_an_earlier_one_and_not_of_a_later() {
    on_both!(|db| {
        let store = SqlModelStore::new(db.clone());
        let over = connection(&store, organization(&db).await, "one").await;
        let of = deployment(&over, "a");
        inserted(&store, std::slice::from_ref(&of)).await;
        let entry = |model: &str| CatalogueEntry {
            model: model.to_owned(),
            display_name: model.to_owned(),
            capabilities: Capabilities::of([Capability::Chat]),
            context_length: None,
            dimensions: None,
            revision: None,
            bytes: Some(1),
        };
        let entries = [entry(&of.model), entry("new")];
        let write = |seconds| CatalogueWrite {
            tenant: over.tenant,
            connection: over.id,
            entries: &entries,
            at: at(seconds),
        };
        store.discovered(write(5), &Journal::default()).await.unwrap();
        assert_eq!(store.discovered(write(4), &Journal::default()).await.unwrap_err(), StoreError::Stale);
        let whole = store.whole_catalogue(over.tenant, over.id).await.unwrap();
        let deployed: Vec<_> = whole.iter().map(|model| model.deployment).collect();
        assert_eq!(deployed, [Some(of.id), None]);
        let filter =
            CatalogueFilter { capability: Some(Capability::Embeddings), ..CatalogueFilter::default() };
        let none = store.catalogue(over.tenant, over.id, &filter, &page(10)).await.unwrap();
        assert_eq!(none.items, []);
    });
}

//! Hooks with their sealed secrets: found by a token's digest, alone in their organisation, and met by a rotation of keys.

use std::collections::BTreeMap;

use heddle_connections::ports::{
    ConnectionStore as _, Deleted, HookFilter, HookStore, HookWrite, KeyCheck, KeyStore as _, Rewrap,
};
use heddle_connections::records::SecretState;
use heddle_connections::{Hook, HookMapping, HookSettings, HookSignature, SignatureScheme};
use heddle_kernel::{HookId, Revision, TenantId, UserId};
use heddle_policy::AccessFilter;
use heddle_store::StoreError;
use heddle_store_connections::{SqlConnectionStore, SqlHookStore};
use heddle_testkit::on_both;

use crate::support::*;

fn hook(tenant: TenantId, name: &str) -> Hook {
    let mapping = HookMapping {
        correlation_key: "body.id".to_owned(),
        idempotency_key: None,
        payload: None,
        when: None,
    };
    let secret = SecretState { updated_at: at(0), hint: None };
    let signature = HookSignature {
        scheme: SignatureScheme::Github,
        tolerance_seconds: 300,
        secret,
        previous_secret: None,
    };
    let user = id(UserId);
    Hook {
        tenant,
        id: id(HookId),
        name: name.to_owned(),
        token_sha256: format!("digest of {tenant} {name}"),
        event_type: "paid".to_owned(),
        settings: HookSettings {
            mapping,
            signature: Some(signature),
            requests_per_second: 5,
            max_bytes: 100,
            owner: None,
        },
        revision: Revision::FIRST,
        created_at: at(0),
        created_by: user,
        updated_at: at(0),
        updated_by: user,
    }
}

#[tokio::test]
async fn a_hook_is_found_by_its_token_and_lives_in_its_organisation_alone() {
    on_both!(|db| {
        let store = SqlHookStore::new(db.clone());
        let (own, other) = (organization(&db).await, organization(&db).await);
        let (one, two) = (hook(own, "one"), hook(other, "one"));
        let sealed = BTreeMap::from([("secret".to_owned(), Some(sealed("k1", "s")))]);
        for one in [&one, &two] {
            let write = HookWrite { hook: one, sealed: &sealed };
            store.insert(write, 9, &unit(one.tenant)).await.unwrap();
        }
        let found = store.by_token(&one.token_sha256).await.unwrap();
        assert_eq!((&found.hook, found.sealed.len()), (&one, 1));
        assert_eq!(store.by_token("nobody's").await.err(), Some(StoreError::NotFound));
        assert_eq!(store.get(other, one.id).await.err(), Some(StoreError::NotFound));
        let taken = store.insert(HookWrite { hook: &hook(own, "one"), sealed: &sealed }, 9, &unit(own)).await;
        assert!(matches!(taken, Err(StoreError::Duplicate(_))), "{taken:?}");
        let full = store.insert(HookWrite { hook: &hook(own, "two"), sealed: &sealed }, 1, &unit(own)).await;
        assert!(matches!(full, Err(StoreError::QuotaExceeded { limit: "hooks", .. })), "{full:?}");
        let filter = HookFilter { q: Some("PAI".to_owned()) };
        let listed = store.list(own, &filter, &AccessFilter::everything(), &page(9)).await.unwrap();
        assert_eq!(listed.items, std::slice::from_ref(&one));

        let mut changed = one.clone();
        changed.settings.signature = None;
        changed.revision = one.revision.next();
        let gone = BTreeMap::from([("secret".to_owned(), None)]);
        let write = HookWrite { hook: &changed, sealed: &gone };
        store.update(write, one.revision, &unit(own)).await.unwrap();
        let stale = store.update(write, one.revision, &unit(own)).await;
        assert_eq!(stale, Err(StoreError::Stale));
        assert!(store.by_token(&one.token_sha256).await.unwrap().sealed.is_empty());
        assert_eq!(store.delete(own, one.id, None, &unit(own)).await, Ok(Deleted::Now));
        assert_eq!(store.delete(own, one.id, None, &unit(own)).await, Ok(Deleted::Before));
        assert_eq!(store.by_token(&one.token_sha256).await.err(), Some(StoreError::NotFound));
    });
}

#[tokio::test]
async fn a_rotation_of_keys_meets_the_secrets_of_hooks_too() {
    on_both!(|db| {
        let (hooks, keys) = (SqlHookStore::new(db.clone()), SqlConnectionStore::new(db.clone()));
        let tenant = organization(&db).await;
        let check = |key: &str| KeyCheck { key: key.to_owned(), value: format!("of {key}") };
        keys.add_key_checks(&[check("k1"), check("k2")], at(0)).await.unwrap();
        let connection = inserted(&keys, tenant, "a").await;
        let hook = hook(tenant, "one");
        let secrets = BTreeMap::from([("secret".to_owned(), Some(sealed("k1", "s")))]);
        hooks.insert(HookWrite { hook: &hook, sealed: &secrets }, 9, &unit(tenant)).await.unwrap();
        assert_eq!(keys.keys_in_use().await.unwrap()["k1"], 2);
        assert_eq!(keys.sealed_under("k1", 10).await.unwrap().len(), 2);
        assert_eq!(keys.forget_key("k1", at(1)).await, Ok(2));
        let (mut met, mut after) = (Vec::new(), None);
        loop {
            let rows = keys.sealed_under_others("k2", after.as_ref(), 1).await.unwrap();
            let Some(row) = rows.last() else { break };
            after = Some(row.place.clone());
            met.extend(rows);
        }
        assert_eq!(met.len(), 2);
        let anew = |row| Rewrap { row, sealed: sealed("k2", "anew") };
        let rewraps: Vec<Rewrap> = met.into_iter().map(anew).collect();
        assert_eq!(keys.rewrapped(&rewraps).await, Ok(2));
        assert_eq!(hooks.by_token(&hook.token_sha256).await.unwrap().sealed["secret"], sealed("k2", "anew"));
        assert_eq!(keys.forget_key("k1", at(1)).await, Ok(0));
        assert!(keys.stored(tenant, connection.id).await.is_ok());
    });
}

//! Hooks: who may make one, what is refused, and what becomes of a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::Patch;
use heddle_policy::capability::HookCreate;
use heddle_usecase::StoreError;
use serde_json::json;

use super::{START, context, context_denied, ids, kind, nothing, sealer};
use crate::UseCaseError;
use crate::hooks::{HookCall, HookRefusal, Hooked, Hooks, NewHook, NewSignature, SignatureFault};
use crate::ports::{MockHookStore, StoredHook};
use crate::records::{Hook, HookMapping, SignatureScheme};
use crate::secret::Secret;

fn new() -> NewHook {
    NewHook {
        name: "payments".to_owned(),
        token_sha256: "digest".to_owned(),
        event_type: "paid".to_owned(),
        mapping: HookMapping {
            correlation_key: "body.id".to_owned(),
            idempotency_key: None,
            payload: None,
            when: None,
        },
        signature: None,
        requests_per_second: None,
        max_bytes: None,
    }
}

fn github(secret: Option<&str>) -> NewSignature {
    NewSignature {
        scheme: SignatureScheme::Github,
        tolerance_seconds: None,
        secret: secret.map(Secret::new),
        previous_secret: Patch::Absent,
    }
}

async fn made(new: NewHook) -> Result<StoredHook, UseCaseError> {
    let mut store = MockHookStore::new();
    let written = Arc::new(std::sync::Mutex::new(None));
    let kept = Arc::clone(&written);
    store.expect_insert().returning(move |write, _, _| {
        let sealed = write.sealed.iter().filter_map(|(name, form)| Some((name.clone(), form.clone()?)));
        let stored = StoredHook { hook: write.hook.clone(), sealed: sealed.collect::<BTreeMap<_, _>>() };
        *kept.lock().unwrap() = Some(stored);
        Ok(())
    });
    let hooks = Hooks::new(Arc::new(store), sealer(), ids());
    let context = context();
    let _: Hook = hooks.create(&kind::<HookCreate>(&context), &context, new, &nothing).await?;
    Ok(written.lock().unwrap().take().unwrap())
}

fn reasons(result: Result<StoredHook, UseCaseError>) -> Vec<(String, &'static str)> {
    let Err(UseCaseError::Invalid(problems)) = result else { panic!("{result:?}") };
    problems.into_iter().map(|one| (one.field.unwrap_or_default(), one.reason)).collect()
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_hook_is_told() {
    let mut wrong = new();
    wrong.mapping.when = Some("1 +".to_owned());
    wrong.max_bytes = Some(0);
    wrong.signature = Some(github(None));
    let found = reasons(made(wrong).await);
    let expected =
        [("when", "notAnExpression"), ("maxBytes", "outOfRange"), ("signature.secret", "required")];
    assert_eq!(found, expected.map(|(field, reason)| (field.to_owned(), reason)));
    let whsec = NewSignature { scheme: SignatureScheme::StandardWebhooks, ..github(Some("not base64")) };
    let found = reasons(made(NewHook { signature: Some(whsec), ..new() }).await);
    assert_eq!(found, [("signature.secret".to_owned(), "wrongFormat")]);
}

#[tokio::test]
async fn who_may_not_send_events_makes_no_address_for_them() {
    let hooks = Hooks::new(Arc::new(MockHookStore::new()), sealer(), ids());
    let context = context_denied("case", "create", "*");
    let refused = hooks.create(&kind::<HookCreate>(&context), &context, new(), &nothing).await;
    assert!(matches!(refused, Err(UseCaseError::Forbidden(_))), "{refused:?}");
}

#[tokio::test]
async fn a_call_is_held_against_its_hook() {
    let stored =
        made(NewHook { signature: Some(github(Some("a secret of github"))), max_bytes: Some(30), ..new() });
    let stored = stored.await.unwrap();
    assert_eq!(stored.hook.settings.signature.as_ref().unwrap().secret.hint.as_deref(), Some("…thub"));
    let mut store = MockHookStore::new();
    store.expect_by_token().returning(move |digest| {
        let known = heddle_usecase::sha256_hex(b"token");
        if digest == known { Ok(stored.clone()) } else { Err(StoreError::NotFound) }
    });
    let hooks = Hooks::new(Arc::new(store), sealer(), ids());
    let take = async |token: &str, body: &str| {
        let call = HookCall { token, headers: &[], query: &[], body: body.as_bytes(), now: START };
        hooks.take(call).await
    };
    assert!(matches!(take("other", "{}").await, Err(HookRefusal::Unknown)));
    let unsigned = take("token", "{}").await;
    assert!(matches!(unsigned, Err(HookRefusal::Signature(SignatureFault::Missing))), "{unsigned:?}");
    let long = json!({ "id": "x".repeat(40) }).to_string();
    assert!(matches!(take("token", &long).await, Err(HookRefusal::TooLarge { most: 30 })));
}

#[tokio::test]
async fn keys_of_two_hooks_are_not_the_same() {
    let mut keys = Vec::new();
    for _ in 0..2 {
        let stored = made(new()).await.unwrap();
        let mut store = MockHookStore::new();
        let mut of_this = stored.clone();
        of_this.hook.id = heddle_kernel::HookId(uuid::Uuid::from_u128(keys.len() as u128));
        store.expect_by_token().returning(move |_| Ok(of_this.clone()));
        let hooks = Hooks::new(Arc::new(store), sealer(), ids());
        let call = HookCall { token: "t", headers: &[], query: &[], body: b"{\"id\": 7}", now: START };
        let Ok(Hooked::Event(event)) = hooks.take(call).await else { panic!("an event") };
        assert_eq!((event.correlation_key.as_str(), event.event_type.as_str()), ("7", "paid"));
        keys.push(event.idempotency_key);
    }
    assert_ne!(keys[0], keys[1]);
}

//! The use cases over mocked ports.

mod hooks;
mod manage;
mod rotation;
mod types;
mod webhooks;

use std::collections::BTreeMap;
use std::sync::Arc;

use heddle_kernel::{
    ConnectionId, RequestId, Revision, SequentialIds, SessionId, TenantId, Timestamp, UserId, WorkflowId,
};
use heddle_policy::resource::Top;
use heddle_policy::{
    Authorized, AuthorizedKind, Capability, Effect, Facts, Principal, RequestContext, RequestFacts, Resource,
    ResourceRule, RoleRules, SessionKind, Snapshot,
};
use heddle_usecase::{Journal, Problem};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::UseCaseError;
use crate::ports::{MockSealer, Sealer};
use crate::records::{Connection, SecretState};
use crate::secret::{SealedSecret, Secret};
use crate::types::ConnectionKind;

pub(crate) const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
pub(crate) const CANARY: &str = "canary-0123456789-a1b2";

pub(crate) fn tenant() -> TenantId {
    TenantId(Uuid::from_u128(100))
}

pub(crate) fn connection_id(number: u128) -> ConnectionId {
    ConnectionId(Uuid::from_u128(500 + number))
}

pub(crate) fn workflow_id(number: u128) -> WorkflowId {
    WorkflowId(Uuid::from_u128(600 + number))
}

pub(crate) fn ids() -> Arc<SequentialIds> {
    Arc::new(SequentialIds::default())
}

/// The context of a user with these facts.
pub(crate) fn context_of(facts: &Facts) -> RequestContext {
    let principal = Principal {
        user_id: facts.user_id,
        session: SessionKind::Session(SessionId(Uuid::from_u128(300))),
        email: "ada@example.com".to_owned(),
        display: "Ada".to_owned(),
        groups: Vec::new(),
    };
    let request_id = RequestId::from_caller("request-1").unwrap();
    let request = RequestFacts { request_id, now: START, client_ip: None };
    RequestContext::of_caller(&Snapshot::new(facts, START), principal, request)
}

pub(crate) fn facts() -> Facts {
    Facts::member(UserId(Uuid::from_u128(200)), tenant()).with_system_role("owner")
}

pub(crate) fn context() -> RequestContext {
    context_of(&facts())
}

/// The context of an owner who is denied one thing.
pub(crate) fn context_denied(resource: &str, action: &str, selector: &str) -> RequestContext {
    let rule = ResourceRule {
        resource: resource.to_owned(),
        actions: vec![action.to_owned()],
        selector: selector.to_owned(),
        effect: Effect::Deny,
    };
    context_of(&facts().with_role(
        "r",
        "held back",
        RoleRules { resources: vec![rule], ..RoleRules::default() },
    ))
}

pub(crate) fn kind<C: Capability>(context: &RequestContext) -> AuthorizedKind<C> {
    context.snapshot().authorize_kind().unwrap()
}

pub(crate) fn one<C>(context: &RequestContext, id: <C::On as Resource>::Id) -> Authorized<C>
where
    C: Capability,
    C::On: Resource<Parent = Top>,
{
    context.snapshot().authorize_one(id, ()).unwrap()
}

pub(crate) fn nothing<T>(_: &T) -> Journal {
    Journal::default()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("{value} is no object") };
    members
}

/// A connection of the type with this configuration and these secrets.
pub(crate) fn connection(of: ConnectionKind, config: Value, secrets: &[&str]) -> Connection {
    let user = UserId(Uuid::from_u128(200));
    let state = SecretState { updated_at: START, hint: None };
    Connection {
        tenant: tenant(),
        id: connection_id(1),
        name: "one".to_owned(),
        kind: of,
        description: None,
        labels: BTreeMap::new(),
        config: object(config),
        secrets: secrets.iter().map(|name| ((*name).to_owned(), state.clone())).collect(),
        revision: Revision(4),
        last_test: None,
        created_at: START,
        created_by: user,
        updated_at: START,
        updated_by: user,
    }
}

pub(crate) fn mail() -> Connection {
    connection(ConnectionKind::Smtp, json!({"host": "mx.test", "username": "ada"}), &["password"])
}

/// A sealer that turns texts round.
pub(crate) fn sealer() -> Arc<dyn Sealer> {
    fn round(text: &str) -> String {
        text.chars().rev().collect()
    }
    let mut sealer = MockSealer::new();
    sealer
        .expect_seal()
        .returning(|_, secret| Ok(SealedSecret { key: "k1".to_owned(), text: round(secret.expose()) }));
    sealer.expect_open().returning(|_, sealed| Ok(Secret::new(round(&sealed.text))));
    Arc::new(sealer)
}

pub(crate) fn problems(error: UseCaseError) -> Vec<Problem> {
    match error {
        UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems) => problems,
        UseCaseError::Forbidden(problem) => vec![problem],
        other => panic!("{other:?}"),
    }
}

/// Field and reason of each problem, as `field: reason`.
pub(crate) fn told(error: UseCaseError) -> Vec<String> {
    let one = |problem: Problem| format!("{}: {}", problem.field.unwrap_or_default(), problem.reason);
    problems(error).into_iter().map(one).collect()
}

//! The use cases over mocked ports.

mod ingestion;
mod jobs;
mod queries;
mod recipes;

use std::sync::Arc;

use heddle_kernel::{
    DatabaseName, FileId, RequestId, Revision, SequentialIds, SessionId, TenantId, Timestamp, UserId,
    VectorDatabaseId,
};
use heddle_policy::resource::Within;
use heddle_policy::{
    Authorized, Capability, Effect, Facts, Principal, RequestContext, RequestFacts, Resource, ResourceRule,
    RoleRules, SessionKind, Snapshot, resource,
};
use heddle_usecase::Journal;
use serde_json::Map;
use uuid::Uuid;

use crate::records::{
    Backend, Chunking, Counts, DatabaseState, MetadataSchema, QueryDefaults, Recipe, VectorDatabase,
};

pub(crate) const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);

pub(crate) fn tenant() -> TenantId {
    TenantId(Uuid::from_u128(100))
}

pub(crate) fn file_id(number: u128) -> FileId {
    FileId(Uuid::from_u128(500 + number))
}

pub(crate) fn ids() -> Arc<SequentialIds> {
    Arc::new(SequentialIds::default())
}

/// A database of words that is there.
pub(crate) fn database() -> VectorDatabase {
    let user = UserId(Uuid::from_u128(200));
    let chunking = Chunking { id: "recursive".to_owned(), options: Map::new() };
    VectorDatabase {
        tenant: tenant(),
        id: VectorDatabaseId(Uuid::from_u128(300)),
        name: DatabaseName::parse("manuals").unwrap(),
        display_name: "Manuals".to_owned(),
        description: None,
        state: DatabaseState::Ready,
        backend: Backend::Embedded,
        generation: 1,
        last_generation: 1,
        recipe: Recipe { model: None, chunking },
        next: None,
        schema: MetadataSchema::new(),
        defaults: QueryDefaults::default(),
        sequence: 0,
        counts: Counts::default(),
        revision: Revision(4),
        created_at: START,
        created_by: user,
        updated_at: START,
        updated_by: user,
        last_ingested_at: None,
    }
}

/// The context of a user with these facts.
fn context_of(facts: &Facts) -> RequestContext {
    let principal = Principal {
        user_id: facts.user_id,
        session: SessionKind::Session(SessionId(Uuid::from_u128(400))),
        email: "ada@example.com".to_owned(),
        display: "Ada".to_owned(),
        groups: Vec::new(),
    };
    let request_id = RequestId::from_caller("request-1").unwrap();
    let request = RequestFacts { request_id, now: START, client_ip: None };
    RequestContext::of_caller(&Snapshot::new(facts, START), principal, request)
}

fn member() -> Facts {
    Facts::member(UserId(Uuid::from_u128(200)), tenant())
}

/// The context of an owner.
pub(crate) fn context() -> RequestContext {
    context_of(&member().with_system_role("owner"))
}

/// A rule on things of a kind.
pub(crate) fn rule(resource: &str, action: &str, selector: &str, effect: Effect) -> ResourceRule {
    ResourceRule {
        resource: resource.to_owned(),
        actions: vec![action.to_owned()],
        selector: selector.to_owned(),
        effect,
    }
}

/// The context of an owner who is denied one thing.
pub(crate) fn context_denied(resource: &str, action: &str, selector: &str) -> RequestContext {
    let resources = vec![rule(resource, action, selector, Effect::Deny)];
    let rules = RoleRules { resources, ..RoleRules::default() };
    context_of(&member().with_system_role("owner").with_role("r", "held back", rules))
}

/// The context of a member who has these rights alone.
pub(crate) fn context_with(rules: RoleRules) -> RequestContext {
    context_of(&member().with_role("r", "reader", rules))
}

/// A right to one thing that stands in a database.
pub(crate) fn within<C>(context: &RequestContext, id: <C::On as Resource>::Id) -> Authorized<C>
where
    C: Capability,
    C::On: Resource<Parent = resource::VectorDatabase>,
{
    context.snapshot().authorize_one(id, Within::of(database().name)).unwrap()
}

pub(crate) fn nothing<T>(_: &T) -> Journal {
    Journal::default()
}

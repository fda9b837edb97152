//! The use cases over mocked storage.

mod access;
mod chain;
mod federation;
mod licence;
mod people;
mod rights;
mod second_factor;
mod setup;
mod sign_in;

use std::sync::Arc;

use heddle_kernel::{
    FixedClock, RequestId, Revision, RoleId, SequentialIds, SessionId, TenantId, Timestamp, UserId,
};
use heddle_policy::resource::Top;
use heddle_policy::{
    Authorized, AuthorizedKind, Capability, Facts, Principal, RequestContext, RequestFacts, Resource,
    RoleRules, SessionKind, Snapshot, system_roles,
};
use heddle_usecase::Journal;
use uuid::Uuid;

use crate::password::Cost;
use crate::ports::{
    MockAccessStore, MockDirectoryStore, MockFactorSealer, MockFactorStore, MockInstallationStore,
    MockSessionStore, TenantAccess,
};
use crate::records::{
    Membership, Organization, OwnOrganization, Role, RoleEnds, Session, User, UserKind, UserState,
};
use crate::{Identity, InstallationKey, Ports, Settings, Tools, UseCaseError};
use heddle_usecase::Problem;

pub(crate) const START: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Mocks to be told what to expect; what is not expected fails the test.
pub(crate) struct World {
    pub access: MockAccessStore,
    pub sessions: MockSessionStore,
    pub factors: MockFactorStore,
    pub sealer: MockFactorSealer,
    pub directory: MockDirectoryStore,
    pub installation: MockInstallationStore,
    pub clock: Arc<FixedClock>,
    pub settings: Settings,
}

impl World {
    pub(crate) fn new() -> Self {
        let cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };
        Self {
            access: MockAccessStore::new(),
            sessions: MockSessionStore::new(),
            factors: MockFactorStore::new(),
            sealer: MockFactorSealer::new(),
            directory: MockDirectoryStore::new(),
            installation: MockInstallationStore::new(),
            clock: Arc::new(FixedClock::at(START)),
            settings: Settings { cost, hashes_at_once: 2, hash_queue: 4, ..Settings::default() },
        }
    }

    pub(crate) fn identity(self) -> Identity {
        let ports = Ports {
            access: Arc::new(self.access),
            sessions: Arc::new(self.sessions),
            factors: Arc::new(self.factors),
            sealer: Arc::new(self.sealer),
            directory: Arc::new(self.directory),
            installation: Arc::new(self.installation),
        };
        let tools = Tools { clock: self.clock, ids: Arc::new(SequentialIds::default()), key: key() };
        Identity::new(ports, tools, self.settings).unwrap()
    }
}

pub(crate) fn key() -> InstallationKey {
    InstallationKey::new([7; 32]).unwrap()
}

pub(crate) fn tenant() -> TenantId {
    TenantId(Uuid::from_u128(100))
}

pub(crate) fn user_id(number: u128) -> UserId {
    UserId(Uuid::from_u128(200 + number))
}

pub(crate) fn request_at(now: Timestamp) -> RequestFacts {
    let request_id = RequestId::from_caller("request-1").unwrap();
    RequestFacts { request_id, now, client_ip: Some("192.0.2.7".to_owned()) }
}

/// A user with the usual password, under the cheap cost of the tests.
pub(crate) fn user(number: u128) -> User {
    use argon2::{Argon2, Params, PasswordHasher as _};
    let argon = Argon2::from(Params::new(64, 1, 1, None).unwrap());
    User {
        id: user_id(number),
        home: tenant(),
        kind: UserKind::Person,
        email: format!("user{number}@example.com"),
        display_name: format!("User {number}"),
        password_hash: Some(argon.hash_password(PASSWORD.as_bytes()).unwrap().to_string()),
        state: UserState::Active,
        password_changed_at: None,
        totp_enrolled_at: None,
        revision: Revision(3),
        created_at: START,
        updated_at: START,
    }
}

pub(crate) fn own_organizations() -> Vec<OwnOrganization> {
    let organization = Organization {
        id: tenant(),
        slug: "acme".to_owned(),
        display_name: "Acme".to_owned(),
        revision: Revision::FIRST,
        created_at: START,
        updated_at: START,
    };
    vec![OwnOrganization { organization, roles: vec!["owner".to_owned()] }]
}

pub(crate) fn session(number: u128) -> Session {
    Session {
        id: SessionId(Uuid::from_u128(300 + number)),
        user_id: user_id(number),
        tenant: tenant(),
        token_sha256: "00".repeat(32),
        created_at: START,
        last_seen_at: START,
        expires_at: START.plus_seconds(12 * 3600),
        client_ip: None,
        user_agent: None,
        second_factor: None,
        provider: None,
    }
}

pub(crate) fn role(number: u128, name: &str, rules: RoleRules) -> Role {
    Role {
        tenant: tenant(),
        id: RoleId(Uuid::from_u128(400 + number)),
        name: name.to_owned(),
        description: None,
        system: false,
        rules,
        revision: Revision(2),
        created_at: START,
        updated_at: START,
    }
}

/// The system role of that name, numbered by its place.
pub(crate) fn system_role(name: &str) -> Role {
    let at = system_roles::SYSTEM_ROLES.iter().position(|role| role.name == name).unwrap();
    let known = &system_roles::SYSTEM_ROLES[at];
    Role { system: true, ..role(at as u128, name, known.rules()) }
}

pub(crate) fn all_system_roles() -> Vec<Role> {
    system_roles::SYSTEM_ROLES.iter().map(|known| system_role(known.name)).collect()
}

pub(crate) fn membership(number: u128, roles: &[&str]) -> Membership {
    Membership {
        tenant: tenant(),
        user_id: user_id(number),
        roles: roles.iter().map(|name| system_role(name).id).collect(),
        role_ends: RoleEnds::new(),
        groups: Vec::new(),
        expires_at: None,
        revision: Revision(5),
        created_at: START,
        updated_at: START,
    }
}

pub(crate) fn standing(number: u128, roles: &[&str]) -> TenantAccess {
    TenantAccess {
        membership: Some(membership(number, roles)),
        roles: roles.iter().map(|name| system_role(name)).collect(),
        role_ends: RoleEnds::new(),
        groups: Vec::new(),
        grants: Vec::new(),
        revision: 1,
    }
}

/// The context of user 0 with these facts, by a session.
pub(crate) fn context_of(facts: &Facts, now: Timestamp) -> RequestContext {
    let principal = Principal {
        user_id: facts.user_id,
        session: SessionKind::Session(session(0).id),
        email: "user0@example.com".to_owned(),
        display: "User 0".to_owned(),
        groups: Vec::new(),
    };
    RequestContext::of_caller(&Snapshot::new(facts, now), principal, request_at(now))
}

/// The context of user 0 with a system role.
pub(crate) fn context(role: &str) -> RequestContext {
    context_of(&Facts::member(user_id(0), tenant()).with_system_role(role), START)
}

/// The proof for all of a kind.
pub(crate) fn kind<C: Capability>(context: &RequestContext) -> AuthorizedKind<C> {
    context.snapshot().authorize_kind().unwrap()
}

/// The proof for one thing.
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

/// The machine word of a refusal.
pub(crate) fn reason(error: &UseCaseError) -> &'static str {
    let first = |problems: &[Problem]| problems[0].reason;
    match error {
        UseCaseError::Invalid(problems) | UseCaseError::Conflict(problems) => first(problems),
        UseCaseError::Forbidden(problem) => problem.reason,
        other => panic!("{other:?}"),
    }
}

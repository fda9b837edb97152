//! One organisation with an owner, to begin from.

use heddle_identity::ports::{
    Access, AccessStore, DirectoryStore, InstallationStore, LimitOutcome, NewOrganization, NewSession,
    NewUser, SessionStore, SetUp, TokenKind,
};
use heddle_identity::records::{
    ApiToken, GrantPrincipal, GrantRow, InstallationState, Membership, Organization, Role, RoleEnds,
    SecondFactor, Session, User, UserKind, UserState,
};
use heddle_kernel::{
    EventId, GrantId, PageRequest, Revision, RoleId, SessionId, TenantId, Timestamp, TokenId, UserId,
};
use heddle_policy::{Effect, RoleRules};
use heddle_store::Db;
use heddle_store_identity::IdentityStore;
use heddle_usecase::{Actor, ActorKind, AuditEntry, Journal, Outcome};
use uuid::Uuid;

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
pub(crate) const ACME: TenantId = TenantId(Uuid::from_u128(100));
pub(crate) const OTHER: TenantId = TenantId(Uuid::from_u128(200));
pub(crate) const ADA: UserId = UserId(Uuid::from_u128(1));
pub(crate) const BOB: UserId = UserId(Uuid::from_u128(2));
pub(crate) const OWNER: RoleId = RoleId(Uuid::from_u128(10));
pub(crate) const WORKER: RoleId = RoleId(Uuid::from_u128(11));

pub(crate) fn page(limit: u32) -> PageRequest {
    PageRequest { limit, cursor: None }
}

pub(crate) fn audit(n: u128, tenant: Option<TenantId>, action: &str) -> AuditEntry {
    AuditEntry {
        id: EventId(Uuid::from_u128(n)),
        tenant,
        at: NOW,
        actor: Actor {
            kind: ActorKind::User,
            id: Some(ADA.to_string()),
            display: "Ada".to_owned(),
            credential: None,
        },
        action: action.to_owned(),
        resource_type: "thing".to_owned(),
        resource_id: Some(n.to_string()),
        target: None,
        outcome: Outcome::Succeeded,
        request_id: "r".to_owned(),
        client_ip: None,
        details: serde_json::json!({}),
    }
}

/// The id of an event of an instant: ids are made from it, and rise with it.
pub(crate) fn event_id(at: Timestamp, n: u128) -> EventId {
    EventId(Uuid::from_u128((u128::try_from(at.micros() / 1_000).unwrap() << 80) | n))
}

/// A journal whose audit event tells whether it was written.
pub(crate) fn journal(n: u128) -> Journal {
    Journal { audit: Some(audit(n, Some(ACME), "test.done")), ..Journal::default() }
}

pub(crate) fn organization(id: TenantId, slug: &str) -> Organization {
    Organization {
        id,
        slug: slug.to_owned(),
        display_name: slug.to_uppercase(),
        revision: Revision::FIRST,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn role(tenant: TenantId, id: RoleId, name: &str, system: bool) -> Role {
    let rules = serde_json::json!({"permissions": {"listed": ["workflows.view"]}, "resources":
        [{"resource": "workflow", "actions": ["read"], "selector": "*", "effect": "allow"}]});
    Role {
        tenant,
        id,
        name: name.to_owned(),
        description: None,
        system,
        rules: serde_json::from_value::<RoleRules>(rules).unwrap(),
        revision: Revision::FIRST,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn user(id: UserId, home: TenantId, name: &str) -> User {
    User {
        id,
        home,
        kind: UserKind::Person,
        email: format!("{}@example.org", name.to_lowercase()),
        display_name: name.to_owned(),
        password_hash: Some("$argon2id$x".to_owned()),
        state: UserState::Active,
        password_changed_at: None,
        totp_enrolled_at: None,
        revision: Revision::FIRST,
        created_at: NOW.plus_seconds(i64::try_from(id.0.as_u128()).unwrap()),
        updated_at: NOW,
    }
}

pub(crate) fn membership(tenant: TenantId, user_id: UserId, roles: &[RoleId]) -> Membership {
    Membership {
        tenant,
        user_id,
        roles: roles.to_vec(),
        role_ends: RoleEnds::new(),
        groups: Vec::new(),
        expires_at: None,
        revision: Revision::FIRST,
        created_at: NOW.plus_seconds(i64::try_from(user_id.0.as_u128()).unwrap()),
        updated_at: NOW,
    }
}

pub(crate) fn grant(n: u128, principal: GrantPrincipal) -> GrantRow {
    GrantRow {
        tenant: ACME,
        id: GrantId(Uuid::from_u128(n)),
        principal,
        resource: "workflow".to_owned(),
        action: "read".to_owned(),
        selector: "*".to_owned(),
        effect: Effect::Allow,
        reason: Some("why".to_owned()),
        expires_at: Some(NOW.plus_seconds(60)),
        created_at: NOW,
        created_by: ADA,
    }
}

pub(crate) fn session(n: u128, user_id: UserId) -> Session {
    Session {
        id: SessionId(Uuid::from_u128(n)),
        user_id,
        tenant: ACME,
        token_sha256: format!("session-{n}"),
        created_at: NOW.plus_seconds(i64::try_from(n).unwrap()),
        last_seen_at: NOW,
        expires_at: NOW.plus_seconds(3600),
        client_ip: None,
        user_agent: Some("curl".to_owned()),
        second_factor: n.is_multiple_of(2).then_some(SecondFactor::Totp),
        provider: None,
    }
}

pub(crate) fn token(n: u128, user_id: UserId, tenant: Option<TenantId>) -> ApiToken {
    ApiToken {
        id: TokenId(Uuid::from_u128(n)),
        user_id,
        tenant,
        name: format!("token {n}"),
        token_sha256: format!("token-{n}"),
        hint: "abcd".to_owned(),
        permissions: Some(vec!["runs.view".to_owned()]),
        checksum: n.is_multiple_of(2),
        created_at: NOW.plus_seconds(i64::try_from(n).unwrap()),
        last_used_at: None,
        expires_at: Some(NOW.plus_seconds(3600)),
    }
}

pub(crate) fn installation() -> InstallationState {
    InstallationState {
        installation_id: "i".to_owned(),
        setup_token_sha256: Some("t".to_owned()),
        setup_expires_at: Some(NOW),
        set_up_at: None,
        licence: None,
        licence_installed_at: None,
        trial_started_at: None,
        revoked: vec!["l1".to_owned()],
        high_water_mark: NOW,
        seal: "s".to_owned(),
        revision: Revision::FIRST,
        created_at: NOW,
    }
}

pub(crate) fn first_organization() -> NewOrganization {
    NewOrganization {
        organization: organization(ACME, "acme"),
        roles: vec![role(ACME, OWNER, "owner", true), role(ACME, WORKER, "worker", true)],
        owner: membership(ACME, ADA, &[OWNER]),
    }
}

/// Acme with its owner Ada.
pub(crate) async fn world(db: &Db) -> IdentityStore {
    let store = IdentityStore::new(db.clone(), Vec::new());
    let state = installation();
    store.insert(&state, &Journal::default()).await.unwrap();
    let set_up = SetUp {
        organization: first_organization(),
        user: NewUser { user: user(ADA, ACME, "Ada"), membership: membership(ACME, ADA, &[OWNER]) },
        state: InstallationState {
            revision: Revision(2),
            set_up_at: Some(NOW),
            setup_token_sha256: None,
            ..state
        },
        expected: Revision::FIRST,
    };
    store.set_up(&set_up, &journal(1)).await.unwrap();
    store
}

pub(crate) async fn add_bob(store: &IdentityStore, roles: &[RoleId]) {
    let new = NewUser { user: user(BOB, ACME, "Bob"), membership: membership(ACME, BOB, roles) };
    assert_eq!(store.insert_user(&new, None, &Journal::default()).await, Ok(LimitOutcome::Done));
}

pub(crate) async fn sign_in(store: &IdentityStore, n: u128, user: UserId) -> Session {
    let session = session(n, user);
    let account = SessionStore::user(store, user).await.unwrap().unwrap();
    let new = NewSession {
        session: session.clone(),
        seen: account.revision,
        forgotten: Vec::new(),
        forgiven: Vec::new(),
        rehash: None,
        replaces: None,
        factor: None,
    };
    store.open(&new, &Journal::default()).await.unwrap();
    session
}

pub(crate) async fn access(store: &IdentityStore, session: &Session) -> Option<Access> {
    store.access(TokenKind::Session, &session.token_sha256, None).await.unwrap()
}

/// Whether the audit event of [`journal`] was written.
pub(crate) async fn was_written(store: &IdentityStore, n: u128) -> bool {
    let all = heddle_policy::AccessFilter::everything();
    let events = store.audit_events(Some(ACME), &Default::default(), &all, &page(200)).await.unwrap();
    events.items.iter().any(|event| event.id.0.as_u128() == n)
}

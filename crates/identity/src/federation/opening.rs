//! Opening of a session for a person whom a provider proved, with the roles that their groups give.

use heddle_kernel::{Revision, RoleId, SessionId, TenantId, Timestamp};
use heddle_policy::RequestFacts;
use heddle_usecase::{Actor, Journal, Outcome, StoreError};
use serde_json::json;

use super::account::Found;
use super::rules::{Next, Present, ProviderRules, is_owner};
use super::{Federation, FederationError, ProvenPerson, ProviderSignedIn, Visit, refused};
use crate::audit::{Event, acting};
use crate::ports::{MappedMembership, ProviderAccount, ProviderOutcome, ProviderSession};
use crate::records::{MappedRole, Membership, Role, RoleEnds, Session, User};
use crate::sign_in::USER_AGENT_MAX;
use crate::token::{self, SESSION_PREFIX, Token};

/// Outcome of one try.
pub(super) enum Attempted {
    /// Session opened.
    Done(Box<ProviderSignedIn>),
    /// Ground that it rested on changed in the meantime.
    Again,
    /// The groups would take the last owner away.
    NobodyLeft,
}

/// Roles that somebody's groups give in one organisation.
struct Wanted {
    tenant: TenantId,
    roles: Vec<RoleId>,
    /// All roles of the organisation, for their names.
    known: Vec<Role>,
}

/// A membership that changes, with what the audit trail says of it.
struct Change {
    mapped: MappedMembership,
    journal: Journal,
}

impl Federation {
    pub(super) async fn try_once(
        &self,
        rules: &ProviderRules,
        person: &ProvenPerson,
        visit: &Visit,
        request: &RequestFacts,
        keeps: bool,
    ) -> Result<Attempted, FederationError> {
        let wanted = self.wanted(rules, person).await?;
        let home = wanted.iter().find(|place| !place.roles.is_empty()).map(|place| place.tenant);
        let places: Vec<TenantId> = wanted.iter().map(|place| place.tenant).collect();
        let Found { user, account } = self.account(rules, person, home, &places, request).await?;
        let changes = self.changes(rules, &user, &account, &wanted, request, keeps).await?;
        let token = Token::random(SESSION_PREFIX)?;
        let tenant = self.tenant_of_session(&user, &wanted, &changes, request.now).await?;
        let session = Session {
            id: SessionId(self.identity.new_id(request.now)),
            user_id: user.id,
            tenant,
            token_sha256: token.sha256(),
            created_at: request.now,
            last_seen_at: request.now,
            expires_at: request.now.plus_seconds(self.identity.settings.absolute_seconds),
            client_ip: request.client_ip.clone(),
            user_agent: visit.user_agent.as_ref().map(|agent| agent.chars().take(USER_AGENT_MAX).collect()),
            second_factor: None,
            provider: Some(rules.name.clone()),
        };
        let mut journals = self.journals(person, &user, &account, request);
        let (mut memberships, mut told): (Vec<_>, Vec<_>) =
            changes.into_iter().map(|change| (change.mapped, change.journal)).unzip();
        memberships.sort_by_key(|one: &MappedMembership| one.membership.tenant);
        journals.append(&mut told);
        journals.push(self.opened(&session, &user, request));
        let new = ProviderSession {
            session: session.clone(),
            account,
            identity: person.identity.clone(),
            memberships,
            replaces: visit.presented.as_deref().and_then(token::read).map(|(_, sha256)| sha256),
        };
        match self.store.open_by_provider(&new, &journals).await {
            Ok(ProviderOutcome::Done) => Ok(Attempted::Done(Box::new(ProviderSignedIn { token, session }))),
            Ok(ProviderOutcome::LimitReached) => {
                Err(refused("limitReached", "The licence allows no further account."))
            }
            Err(StoreError::LockOut) => Ok(Attempted::NobodyLeft),
            Err(StoreError::Stale | StoreError::Duplicate(_) | StoreError::NotFound) => Ok(Attempted::Again),
            Err(error) => Err(error.into()),
        }
    }

    /// Roles that the person's groups give, in the organisations of the rules that there are.
    async fn wanted(
        &self,
        rules: &ProviderRules,
        person: &ProvenPerson,
    ) -> Result<Vec<Wanted>, FederationError> {
        let mut found = Vec::new();
        for place in &rules.places {
            let (provider, slug) = (&rules.name, &place.slug);
            let Some(organization) = self.store.organization_named(slug).await? else {
                tracing::warn!(provider, slug, "the organisation of a provider's rules is not there");
                continue;
            };
            let known = self.identity.ports.directory.all_roles(organization.id).await?;
            let mut roles = Vec::new();
            for name in place.wanted(&person.groups) {
                match known.iter().find(|role| role.name == name) {
                    Some(role) if is_owner(role) && !rules.allow_owner => {
                        tracing::warn!(provider, slug, "a provider's rules may not give the owner role");
                    }
                    Some(role) => roles.push(role.id),
                    None => tracing::warn!(provider, slug, name, "a role of a provider's rules is not there"),
                }
            }
            found.push(Wanted { tenant: organization.id, roles, known });
        }
        Ok(found)
    }

    /// Memberships that change: where groups give roles or gave some.
    async fn changes(
        &self,
        rules: &ProviderRules,
        user: &User,
        account: &ProviderAccount,
        wanted: &[Wanted],
        request: &RequestFacts,
        keeps: bool,
    ) -> Result<Vec<Change>, FederationError> {
        let is_new = matches!(account, ProviderAccount::Made { .. });
        let marks = if is_new { Vec::new() } else { self.store.mapped_roles(user.id).await? };
        // An organisation that the rules name no more takes back what they gave.
        let mut tenants: Vec<TenantId> = wanted.iter().map(|place| place.tenant).collect();
        let own = marks.iter().filter(|mark| mark.provider == rules.name).map(|mark| mark.tenant);
        tenants.extend(own);
        tenants.sort_unstable();
        tenants.dedup();
        let mut changes = Vec::new();
        for tenant in tenants {
            let present = if is_new { None } else { self.membership(tenant, user).await? };
            let place = wanted.iter().find(|place| place.tenant == tenant);
            let roles: &[RoleId] = place.map_or(&[], |place| &place.roles);
            let of = |ours: bool| roles_of(&marks, tenant, &rules.name, ours);
            let (own, others) = (of(true), of(false));
            let had = present.as_ref().map(|member| had(member, roles, request.now)).unwrap_or_default();
            let before = Present { roles: &had, own: &own, others: &others };
            let next = Next::of(&before, roles, keeps);
            // Who is no member and gets no role becomes none.
            if next.is_same(&before) || (present.is_none() && next.roles.is_empty()) {
                continue;
            }
            let names: &[Role] = place.map_or(&[], |place| &place.known);
            let journal = self.changed(rules, user, tenant, &next, names, request);
            let mapped = mapped(present.clone(), next, tenant, user, request.now);
            let journal = journal.changing(present.as_ref(), Some(&mapped.membership));
            changes.push(Change { mapped, journal });
        }
        Ok(changes)
    }

    async fn membership(&self, tenant: TenantId, user: &User) -> Result<Option<Membership>, FederationError> {
        match self.identity.ports.directory.member(tenant, user.id).await {
            Ok(member) => Ok(Some(member.membership)),
            Err(StoreError::NotFound) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The organisation of the session: the first of the rules to which the user belongs, else their home or another of
    /// theirs.
    async fn tenant_of_session(
        &self,
        user: &User,
        wanted: &[Wanted],
        changes: &[Change],
        now: Timestamp,
    ) -> Result<TenantId, FederationError> {
        let own = self.identity.ports.sessions.organizations_of(user.id, now).await?;
        let made = |tenant: TenantId| {
            changes
                .iter()
                .any(|change| change.mapped.expected.is_none() && change.mapped.membership.tenant == tenant)
        };
        let belongs = |tenant: TenantId| made(tenant) || own.iter().any(|one| one.organization.id == tenant);
        let of_rules = wanted.iter().map(|place| place.tenant).find(|tenant| belongs(*tenant));
        Ok(of_rules
            .or_else(|| belongs(user.home).then_some(user.home))
            .or_else(|| own.first().map(|one| one.organization.id))
            .unwrap_or(user.home))
    }

    /// Events that the audit trail has of an account that is made or linked.
    fn journals(
        &self,
        person: &ProvenPerson,
        user: &User,
        account: &ProviderAccount,
        request: &RequestFacts,
    ) -> Vec<Journal> {
        let identity = &person.identity;
        let event = |action, actor, details| Event {
            tenant: Some(user.home),
            actor,
            action,
            resource: ("user", Some(user.id.to_string())),
            outcome: Outcome::Succeeded,
            details,
        };
        let journal = |event| self.identity.journal(request, event);
        let linked = || {
            let details = json!({ "provider": identity.provider });
            journal(event("user.identity_linked", acting(user), details)).changing(None, Some(identity))
        };
        match account {
            ProviderAccount::Known { .. } => Vec::new(),
            ProviderAccount::Linked { .. } => vec![linked()],
            ProviderAccount::Made { .. } => {
                let by = Actor::system(&format!("provider {}", identity.provider));
                // Names and addresses of people stay out of the trail.
                let made = json!({ "provider": identity.provider });
                vec![journal(event("user.created", by, made)).changing(None, Some(user)), linked()]
            }
        }
    }

    fn changed(
        &self,
        rules: &ProviderRules,
        user: &User,
        tenant: TenantId,
        next: &Next,
        known: &[Role],
        request: &RequestFacts,
    ) -> Journal {
        let names = |ids: &[RoleId]| {
            let name = |id: &RoleId| {
                let role = known.iter().find(|role| role.id == *id);
                role.map_or_else(|| id.to_string(), |role| role.name.clone())
            };
            ids.iter().map(name).collect::<Vec<_>>()
        };
        let event = Event {
            tenant: Some(tenant),
            actor: Actor::system(&format!("provider {}", rules.name)),
            action: "member.set",
            resource: ("member", Some(user.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({
                "provider": rules.name, "added": names(&next.added), "removed": names(&next.removed),
            }),
        };
        self.identity.journal(request, event)
    }

    fn opened(&self, session: &Session, user: &User, request: &RequestFacts) -> Journal {
        let event = Event {
            tenant: Some(session.tenant),
            actor: acting(user),
            action: "session.created",
            resource: ("session", Some(session.id.to_string())),
            outcome: Outcome::Succeeded,
            details: json!({ "method": "oidc", "provider": session.provider }),
        };
        self.identity.journal(request, event)
    }
}

/// Roles of an organisation that this provider gave, or that others did.
fn roles_of(marks: &[MappedRole], tenant: TenantId, provider: &str, ours: bool) -> Vec<RoleId> {
    let of = |mark: &&MappedRole| mark.tenant == tenant && (mark.provider == provider) == ours;
    marks.iter().filter(of).map(|mark| mark.role).collect()
}

/// Roles of a member, without those that have ended and that the groups give anew.
fn had(member: &Membership, wanted: &[RoleId], now: Timestamp) -> Vec<RoleId> {
    let has_ended = |id: &RoleId| member.role_ends.get(id).is_some_and(|end| *end <= now);
    member.roles.iter().filter(|id| !(wanted.contains(id) && has_ended(id))).copied().collect()
}

fn mapped(
    present: Option<Membership>,
    next: Next,
    tenant: TenantId,
    user: &User,
    now: Timestamp,
) -> MappedMembership {
    let expected = present.as_ref().map(|membership| membership.revision);
    let membership = match present {
        Some(before) => {
            // A role that comes has no end, also where it had one before.
            let mut role_ends = before.role_ends;
            role_ends.retain(|role, _| next.roles.contains(role) && !next.added.contains(role));
            let revision = before.revision.next();
            Membership { roles: next.roles, role_ends, revision, updated_at: now, ..before }
        }
        None => Membership {
            tenant,
            user_id: user.id,
            roles: next.roles,
            expires_at: None,
            role_ends: RoleEnds::default(),
            groups: Vec::new(),
            revision: Revision::FIRST,
            created_at: now,
            updated_at: now,
        },
    };
    MappedMembership { membership, expected, mapped: next.mapped }
}

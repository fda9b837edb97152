//! Authentication: from a token to a caller with rights.

use std::sync::Arc;

use heddle_kernel::{SessionId, TenantId, Timestamp, UserId};
use heddle_policy::{
    Facts, GrantFacts, Principal, RequestContext, RequestFacts, RoleFacts, SessionKind, Snapshot, Source,
    system_roles,
};

use crate::compiled::{CompiledRight, TokenKey, limits_of};
use crate::ports::{Access, Credential, TenantAccess, TokenKind};
use crate::records::{GrantPrincipal, GrantRow, Role, User, UserKind, UserState};
use crate::{Identity, UseCaseError, token};

/// Most seconds between two notes that a token was used.
const TOUCH_SECONDS: i64 = 60;

/// Caller who proved their identity.
#[derive(Debug, Clone)]
pub struct Authenticated {
    /// Account of the caller.
    pub user: User,
    /// Session or API token that they showed.
    pub credential: Credential,
    /// Principal in the organisation, on whom access is decided.
    pub principal: Principal,
    /// Snapshot of their permissions there.
    pub snapshot: Snapshot,
}

impl Authenticated {
    /// Whether they belong to the organisation.
    #[must_use]
    pub fn is_member(&self) -> bool {
        self.snapshot.is_member()
    }

    /// Organisation, if they belong to it.
    #[must_use]
    pub fn tenant(&self) -> Option<TenantId> {
        self.is_member().then(|| self.snapshot.tenant())
    }

    /// Session of the caller; none for an API token and on the command line.
    #[must_use]
    pub const fn session_id(&self) -> Option<SessionId> {
        match &self.credential {
            Credential::Session(session) => Some(session.id),
            Credential::ApiToken(_) | Credential::CommandLine(_) => None,
        }
    }

    /// Context of their request.
    #[must_use]
    pub fn context(&self, request: RequestFacts) -> RequestContext {
        RequestContext::of_caller(&self.snapshot, self.principal.clone(), request)
    }
}

impl Identity {
    /// Caller for whom a token stands, with their permissions in an organisation (their session's, when none
    /// is named). None for a token that is unknown, has ended, or belongs to an account that is switched off.
    ///
    /// # Errors
    /// `Unavailable`: a dead database never lets anybody in, and never says that a token is wrong.
    pub async fn authenticate(
        &self,
        text: &str,
        tenant: Option<TenantId>,
        now: Timestamp,
    ) -> Result<Option<Authenticated>, UseCaseError> {
        let Some((kind, sha256)) = token::read(text) else { return Ok(None) };
        let Some(access) = self.living(kind, &sha256, tenant, now).await? else { return Ok(None) };
        self.touch(kind, &sha256, &access.credential, now).await;
        let right = self.compiled((kind, sha256, tenant), &access, now);
        Ok(Some(authenticated(access, &right)))
    }

    /// Caller for whom a token stands, as [`Self::authenticate`] says, but without a use of the token: for looking
    /// again at what goes on by itself, such as an open stream.
    ///
    /// # Errors
    /// As [`Self::authenticate`].
    pub async fn recognize(
        &self,
        text: &str,
        tenant: Option<TenantId>,
        now: Timestamp,
    ) -> Result<Option<Authenticated>, UseCaseError> {
        let Some((kind, sha256)) = token::read(text) else { return Ok(None) };
        let access = self.living(kind, &sha256, tenant, now).await?;
        Ok(access.map(|access| {
            let right = self.compiled((kind, sha256, tenant), &access, now);
            authenticated(access, &right)
        }))
    }

    /// Rights of an access: compiled before, or now.
    fn compiled(&self, key: TokenKey, access: &Access, now: Timestamp) -> Arc<CompiledRight> {
        if let Some(right) = self.rights.get(&key, access, now) {
            return right;
        }
        let right = Arc::new(compile(access, now));
        self.rights.keep(key, &right);
        right
    }

    /// Account in whose name something acts that it has set up, such as a hook, with the permissions that it has now in an
    /// organisation, whatever it had then. None for an account that is neither at home nor a member there, or is switched
    /// off.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn of_maker(
        &self,
        user: UserId,
        tenant: TenantId,
        now: Timestamp,
    ) -> Result<Option<Authenticated>, UseCaseError> {
        self.of_command_line(user, tenant, now).await
    }

    /// Account that the operator names on the command line of the machine itself, with its permissions in an
    /// organisation. None for an account that is neither at home nor a member there, or is switched off.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn of_command_line(
        &self,
        user: UserId,
        tenant: TenantId,
        now: Timestamp,
    ) -> Result<Option<Authenticated>, UseCaseError> {
        let found = self.ports.access.standing(tenant, user).await?;
        let active = found.filter(|(user, _)| user.state == UserState::Active);
        Ok(active.map(|(user, standing)| {
            // What a session may hold at once, such as streams, is counted by account here.
            let credential = Credential::CommandLine(SessionId(user.id.0));
            let access = Access { credential, user, tenant, standing: Arc::new(standing) };
            let right = compile(&access, now);
            authenticated(access, &right)
        }))
    }

    async fn living(
        &self,
        kind: TokenKind,
        sha256: &str,
        tenant: Option<TenantId>,
        now: Timestamp,
    ) -> Result<Option<Access>, UseCaseError> {
        let access = self.ports.access.access(kind, sha256, tenant).await?;
        Ok(access
            .filter(|access| access.user.state == UserState::Active && self.lives(&access.credential, now)))
    }

    fn lives(&self, credential: &Credential, now: Timestamp) -> bool {
        match credential {
            Credential::Session(session) => {
                now < session.expires_at
                    && now < session.last_seen_at.plus_seconds(self.settings.idle_seconds)
            }
            Credential::ApiToken(token) => token.expires_at.is_none_or(|end| now < end),
            Credential::CommandLine(_) => true,
        }
    }

    async fn touch(&self, kind: TokenKind, sha256: &str, credential: &Credential, now: Timestamp) {
        let last = match credential {
            Credential::Session(session) => Some(session.last_seen_at),
            Credential::ApiToken(token) => token.last_used_at,
            Credential::CommandLine(_) => return,
        };
        // A session that is in use must be noted before it counts as unused.
        let between = match kind {
            TokenKind::Session => TOUCH_SECONDS.min(self.settings.idle_seconds / 4),
            TokenKind::ApiToken => TOUCH_SECONDS,
        };
        if last.is_some_and(|last| now < last.plus_seconds(between)) {
            return;
        }
        if let Err(error) = self.ports.access.touch(kind, sha256, now).await {
            tracing::warn!(%error, "the use of a token was not noted");
        }
    }
}

fn compile(access: &Access, now: Timestamp) -> CompiledRight {
    let (bound, narrow) = limits_of(&access.credential);
    let mut facts = facts_of(&access.user, access.tenant, &access.standing, now);
    facts.limited = narrow.is_some() || bound.is_some();
    facts.narrow_to = narrow.cloned();
    // A token that is bound to an organisation is nobody in all others.
    facts.member &= bound.is_none_or(|bound| bound == access.tenant);
    CompiledRight {
        tenant: access.tenant,
        state: access.user.state,
        standing: Arc::clone(&access.standing),
        bound,
        narrow: narrow.cloned(),
        email: access.user.email.clone(),
        made_at: now,
        snapshot: Snapshot::new(&facts, now),
        groups: facts.groups,
    }
}

fn authenticated(access: Access, right: &CompiledRight) -> Authenticated {
    let Access { credential, user, .. } = access;
    let session = match &credential {
        Credential::Session(session) => SessionKind::Session(session.id),
        Credential::CommandLine(id) => SessionKind::CommandLine(*id),
        Credential::ApiToken(token) => match user.kind {
            UserKind::Person => SessionKind::ApiToken(token.id),
            UserKind::Service => SessionKind::ServiceToken(token.id),
        },
    };
    let principal = Principal {
        user_id: user.id,
        session,
        email: user.email.clone(),
        display: user.display_name.clone(),
        groups: right.groups.clone(),
    };
    Authenticated { snapshot: right.snapshot.clone(), user, credential, principal }
}

/// Rights of a user in an organisation, from what was read there: those of a whole account, of no narrowed token.
pub(crate) fn rights_of(user: &User, tenant: TenantId, standing: &TenantAccess, now: Timestamp) -> Snapshot {
    Snapshot::new(&facts_of(user, tenant, standing, now), now)
}

/// Rights of who is nobody in the organisation of a request: none.
pub(crate) fn rights_of_nobody(context: &RequestContext, id: UserId) -> Snapshot {
    let facts = Facts {
        user_id: id,
        email: String::new(),
        groups: Vec::new(),
        tenant: context.tenant(),
        active: true,
        member: false,
        member_until: None,
        revision: context.snapshot().revision(),
        roles: Vec::new(),
        grants: Vec::new(),
        narrow_to: None,
        limited: false,
    };
    Snapshot::new(&facts, context.now())
}

/// Facts about a user in an organisation, in the words of the decision.
fn facts_of(user: &User, tenant: TenantId, standing: &TenantAccess, now: Timestamp) -> Facts {
    Facts {
        user_id: user.id,
        email: user.email.clone(),
        groups: standing.candidate_of(now),
        tenant,
        active: user.state == UserState::Active,
        member: standing.membership.is_some(),
        member_until: standing.membership.as_ref().and_then(|membership| membership.expires_at),
        revision: standing.revision,
        roles: standing.roles.iter().map(|role| role_facts(role, standing)).collect(),
        grants: standing.grants.iter().map(grant_facts).collect(),
        narrow_to: None,
        limited: false,
    }
}

/// Permissions that a role gives and takes. For a system role the code's table counts, so that an update of
/// the service updates the roles, and no row can change them.
pub(crate) fn rules_of(role: &Role) -> heddle_policy::RoleRules {
    match system_roles::find(&role.name) {
        Some(known) if role.system => known.rules(),
        _ => role.rules.clone(),
    }
}

fn role_facts(role: &Role, standing: &TenantAccess) -> RoleFacts {
    RoleFacts {
        id: role.id.to_string(),
        name: role.name.clone(),
        rules: rules_of(role),
        expires_at: standing.role_ends.get(&role.id).copied(),
    }
}

fn grant_facts(grant: &GrantRow) -> GrantFacts {
    let source = match grant.principal {
        GrantPrincipal::User(_) => Source::User,
        GrantPrincipal::Group(id) => Source::Group(id.to_string()),
        GrantPrincipal::Role(id) => Source::Role(id.to_string()),
        GrantPrincipal::Everyone => Source::Everyone,
    };
    GrantFacts {
        id: grant.id.to_string(),
        source,
        resource: grant.resource.clone(),
        action: grant.action.clone(),
        selector: grant.selector.clone(),
        effect: grant.effect,
        expires_at: grant.expires_at,
    }
}

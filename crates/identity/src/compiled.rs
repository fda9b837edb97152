//! Rights of tokens as they were compiled last: compiling the rules of a caller costs more than the rest of the gate.

use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::{TenantId, Timestamp};
use heddle_policy::Snapshot;

use crate::ports::{Access, Credential, TenantAccess, TokenKind};
use crate::records::UserState;

/// Most rules and grants of the rights that are kept, together; each weighs some hundred bytes.
const RULES: u64 = 200_000;
/// Time after which rights that nobody asks for go.
const IDLE: Duration = Duration::from_secs(300);

/// Kind and hash of a token, and the organisation that was asked for.
pub(crate) type TokenKey = (TokenKind, String, Option<TenantId>);

/// Compiled rights by token. They hold while all that they were made of is the same (the standing is compared by
/// identity), and until the first of their rules ends.
pub(crate) struct CompiledRights(moka::sync::Cache<TokenKey, Arc<CompiledRight>>);

/// Rights of a token in an organisation, and what they were made of.
pub(crate) struct CompiledRight {
    pub tenant: TenantId,
    pub state: UserState,
    pub standing: Arc<TenantAccess>,
    /// Organisation to which the token is bound.
    pub bound: Option<TenantId>,
    /// Permissions to which it is narrowed.
    pub narrow: Option<Vec<String>>,
    /// Address by which things name the user.
    pub email: String,
    pub made_at: Timestamp,
    pub snapshot: Snapshot,
    /// Names and ids of roles and groups, by which human tasks name the caller.
    pub groups: Vec<String>,
}

impl Default for CompiledRights {
    fn default() -> Self {
        let weight = |_: &TokenKey, right: &Arc<CompiledRight>| {
            let rules = right.standing.roles.iter().map(|role| role.rules.resources.len() + 20);
            // What a token weighs without any rule counts, too.
            u32::try_from(20 + rules.sum::<usize>() + right.standing.grants.len()).unwrap_or(u32::MAX)
        };
        let cache = moka::sync::Cache::builder().weigher(weight).max_capacity(RULES).time_to_idle(IDLE);
        Self(cache.build())
    }
}

impl CompiledRights {
    /// The rights that were compiled from the same access and hold at this instant.
    pub(crate) fn get(&self, key: &TokenKey, access: &Access, now: Timestamp) -> Option<Arc<CompiledRight>> {
        self.0.get(key).filter(|right| right.holds(access, now))
    }

    pub(crate) fn keep(&self, key: TokenKey, right: &Arc<CompiledRight>) {
        self.0.insert(key, Arc::clone(right));
    }
}

impl CompiledRight {
    fn holds(&self, access: &Access, now: Timestamp) -> bool {
        let (bound, narrow) = limits_of(&access.credential);
        Arc::ptr_eq(&self.standing, &access.standing)
            && self.tenant == access.tenant
            && self.state == access.user.state
            && self.snapshot.user_id() == access.user.id
            && self.email == access.user.email
            && self.bound == bound
            && self.narrow.as_ref() == narrow
            && self.made_at <= now
            && self.snapshot.valid_until().is_none_or(|end| now < end)
    }
}

/// Organisation to which a credential is bound, and permissions to which it is narrowed.
pub(crate) const fn limits_of(credential: &Credential) -> (Option<TenantId>, Option<&Vec<String>>) {
    match credential {
        Credential::Session(_) | Credential::CommandLine(_) => (None, None),
        Credential::ApiToken(token) => (token.tenant, token.permissions.as_ref()),
    }
}

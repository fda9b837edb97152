//! Sign-in by a provider: who somebody is says the provider, who they are here say the operator's rules.

mod account;
mod opening;
mod pending;
mod rules;

use std::sync::Arc;

use heddle_kernel::Timestamp;
use heddle_policy::RequestFacts;
use heddle_usecase::StoreError;

pub use pending::{BegunSignIn, ResumedSignIn, SIGN_IN_SECONDS};
pub use rules::{PlaceRules, ProviderRules, RulesError};

use crate::ports::FederationStore;
use crate::records::{ExternalIdentity, Session};
use crate::token::Token;
use crate::{Identity, UseCaseError};

/// Most times that a sign-in is tried while what it rests on changes.
const TRIES: usize = 4;

/// Person, as a provider proved them.
#[derive(Clone, PartialEq, Eq)]
pub struct ProvenPerson {
    /// The person's id there.
    pub identity: ExternalIdentity,
    /// E-mail address, if the provider verified it.
    pub verified_email: Option<String>,
    /// Name for people.
    pub name: Option<String>,
    /// Groups.
    pub groups: Vec<String>,
    /// Methods by which they proved who they are.
    pub methods: Vec<String>,
}

impl std::fmt::Debug for ProvenPerson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProvenPerson").field("provider", &self.identity.provider).finish_non_exhaustive()
    }
}

/// Facts that a browser came with.
#[derive(Clone, Default)]
pub struct Visit {
    /// `User-Agent`.
    pub user_agent: Option<String>,
    /// The token of a session, which ends by the sign-in.
    pub presented: Option<String>,
}

impl std::fmt::Debug for Visit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visit").field("user_agent", &self.user_agent).finish_non_exhaustive()
    }
}

/// A session that was opened for who signed in by a provider.
#[derive(Debug, Clone)]
pub struct ProviderSignedIn {
    /// Token of the session; it is shown this once.
    pub token: Token,
    /// The session.
    pub session: Session,
}

/// Reason for which somebody who a provider knows is not signed in.
#[derive(Debug, thiserror::Error)]
pub enum FederationError {
    /// The rules, or the account, do not let them in.
    #[error("{message}")]
    Refused {
        /// Machine word of the reason.
        reason: &'static str,
        /// Sentence for people.
        message: &'static str,
    },
    /// Failure that a use case met.
    #[error(transparent)]
    Failed(#[from] UseCaseError),
}

impl From<StoreError> for FederationError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

fn refused(reason: &'static str, message: &'static str) -> FederationError {
    FederationError::Refused { reason, message }
}

/// The use cases of sign-in by providers.
pub struct Federation {
    identity: Arc<Identity>,
    store: Arc<dyn FederationStore>,
    rules: Vec<ProviderRules>,
}

impl std::fmt::Debug for Federation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Federation").field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl Federation {
    /// The use cases with the rules of each provider.
    #[must_use]
    pub fn new(identity: Arc<Identity>, store: Arc<dyn FederationStore>, rules: Vec<ProviderRules>) -> Self {
        Self { identity, store, rules }
    }

    fn rules_of(&self, provider: &str) -> Result<&ProviderRules, UseCaseError> {
        self.rules.iter().find(|rules| rules.name == provider).ok_or(UseCaseError::NotFound)
    }

    /// Begins a sign-in in a browser, which is led to `return_to` in the end.
    ///
    /// # Errors
    /// `NotFound` for an unknown provider; `Invalid` for a path that is not one of this service; `Internal`.
    pub fn begin(
        &self,
        provider: &str,
        return_to: &str,
        now: Timestamp,
    ) -> Result<BegunSignIn, UseCaseError> {
        self.rules_of(provider)?;
        if !pending::is_own_path(return_to) {
            let message = "A path of this service is needed: it begins with one slash and has no host.";
            return Err(UseCaseError::invalid("returnTo", "wrongFormat", message));
        }
        pending::begin(&self.identity.tools.key, provider, return_to, now)
    }

    /// Takes a sign-in that came back with `state` to the browser that has the cookie: once.
    ///
    /// # Errors
    /// `NotFound` for an unknown provider; `Invalid` for one that was not begun in this browser, with this provider and
    /// not long ago, and for one that was taken before; `Unavailable`.
    pub async fn resume(
        &self,
        provider: &str,
        state: &str,
        cookie: Option<&str>,
        now: Timestamp,
    ) -> Result<ResumedSignIn, UseCaseError> {
        self.rules_of(provider)?;
        let unknown = || {
            let message = "No sign-in with this `state` waits in this browser: it was begun elsewhere, was finished, or \
                           took too long. Begin again.";
            UseCaseError::invalid("state", "unknownSignIn", message)
        };
        let key = &self.identity.tools.key;
        let resumed = pending::resume(key, provider, state, cookie.unwrap_or_default(), now)?;
        let resumed = resumed.ok_or_else(unknown)?;
        let taken = heddle_usecase::sha256_hex(resumed.state.as_bytes());
        match self.store.take(&taken, resumed.until).await? {
            true => Ok(resumed),
            false => Err(unknown()),
        }
    }

    /// Opens a session for a person whom a provider proved: for the account that is theirs, that is linked by their
    /// address, or that is made. Their groups give and take roles.
    ///
    /// # Errors
    /// `Refused`; `Failed` with `NotFound` for an unknown provider, `Busy` while everything changes, `Unavailable`.
    pub async fn sign_in(
        &self,
        person: &ProvenPerson,
        visit: &Visit,
        request: &RequestFacts,
    ) -> Result<ProviderSignedIn, FederationError> {
        let rules = self.rules_of(&person.identity.provider)?;
        if !rules.takes_methods(&person.methods) {
            let message = "The provider must ask for a second factor, and did not say that it has.";
            return Err(refused("secondFactorRequired", message));
        }
        let mut keeps = false;
        for _ in 0..TRIES {
            match self.try_once(rules, person, visit, request, keeps).await? {
                opening::Attempted::Done(signed_in) => return Ok(*signed_in),
                opening::Attempted::Again => {}
                opening::Attempted::NobodyLeft => {
                    tracing::warn!(
                        provider = rules.name,
                        "the groups would leave an organisation without an owner: the roles stay"
                    );
                    keeps = true;
                }
            }
        }
        Err(UseCaseError::Busy.into())
    }
}

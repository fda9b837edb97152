//! Use cases: organisations, users, sessions, sign-in, set-up, licence; and their ports.
//!
//! A use case that the gate guards takes a [`heddle_policy::Authorized`] for what it does and a [`heddle_policy::RequestContext`]
//! for who does it where. Whoever manages people, roles and grants gives nobody more than they have
//! themselves.

mod access;
mod api_tokens;
mod audit;
pub mod audit_chain;
pub mod authorization;
pub mod blocklist;
pub mod chain;
mod compiled;
mod device;
mod federation;
mod grants;
mod groups;
mod identity;
pub mod key;
pub mod licence;
pub mod licensing;
mod members;
pub mod nodes;
mod organizations;
pub mod password;
pub mod ports;
pub mod records;
mod rights;
mod roles;
mod second_factor;
mod selectors;
mod sessions;
mod setup;
mod sign_in;
mod system_roles;
#[cfg(test)]
mod tests;
pub mod throttle;
mod ticket;
pub mod token;
mod told;
mod totp;
mod tries;
mod unlink;
mod unlock;
mod users;
mod validate;

pub use access::Authenticated;
pub use api_tokens::{CreatedToken, NewApiToken};
pub use device::MARK_SECONDS;
pub use federation::{
    BegunSignIn, Federation, FederationError, PlaceRules, ProvenPerson, ProviderRules, ProviderSignedIn,
    ResumedSignIn, RulesError, SIGN_IN_SECONDS, Visit,
};
pub use grants::NewGrant;
pub use groups::{NewGroup, PatchGroup};
pub use identity::{Identity, Ports, Settings, Tools};
pub use key::InstallationKey;
pub use members::{RoleExpiry, SetMember};
pub use organizations::{CreateOrganization, PatchOrganization};
pub use rights::{Hold, hold_of};
pub use roles::{NewRole, PatchRole};
pub use second_factor::{NewFactor, RemovalProof, RewrappedFactors, SignInCode};
pub use selectors::{FindBySlug, RulePlace, Unreadable, unreadable_rules};
pub use sessions::SessionInfo;
pub use setup::{Administrator, FirstLicence, SetUpRequest, Started};
pub use sign_in::{CodeRequired, SignIn, SignInAnswer, SignedIn};
pub use users::{NewAccount, PatchUser};

pub(crate) use heddle_usecase::{JournalFor, UseCaseError};

//! Use cases: organisations, users, sessions, sign-in, set-up, licence; and their ports.
//!
//! A use case that the gate guards takes a [`heddle_policy::Authorized`] for what it does and a [`heddle_policy::RequestContext`]
//! for who does it where. Whoever manages people, roles and grants gives nobody more than they have
//! themselves.

mod access;
mod api_tokens;
mod audit;
pub mod authorization;
pub mod blocklist;
mod compiled;
mod device;
mod grants;
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
mod selectors;
mod sessions;
mod setup;
mod sign_in;
mod system_roles;
#[cfg(test)]
mod tests;
pub mod throttle;
pub mod token;
mod tries;
mod unlock;
mod users;
mod validate;

pub use access::Authenticated;
pub use api_tokens::{CreatedToken, NewApiToken};
pub use device::MARK_SECONDS;
pub use grants::NewGrant;
pub use identity::{Identity, Ports, Settings, Tools};
pub use key::InstallationKey;
pub use members::SetMember;
pub use organizations::{CreateOrganization, PatchOrganization};
pub use rights::holds_keys;
pub use roles::{NewRole, PatchRole};
pub use selectors::{FindBySlug, RulePlace, Unreadable, unreadable_rules};
pub use sessions::SessionInfo;
pub use setup::{Administrator, FirstLicence, SetUpRequest, Started};
pub use sign_in::{SignIn, SignedIn};
pub use users::{NewAccount, PatchUser};

pub(crate) use heddle_usecase::{JournalFor, UseCaseError};

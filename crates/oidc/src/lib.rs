//! OpenID Connect, the side of whoever relies on a provider: the authorization code flow with PKCE (S256), `state`, `nonce`
//! and the `iss` parameter of RFC 9207. Every request to a provider goes by the one way out.
//!
//! What a provider says of a person is believed once its ID token is signed by a key of the provider, with an asymmetric
//! algorithm, for this client, for the sign-in that was begun, and in time. What the person may do is not decided here.

mod claims;
mod error;
mod exchange;
mod metadata;
mod outward;
mod provider;
mod settings;
mod verify;

pub use claims::Claims;
pub use error::OidcError;
pub use exchange::{Answer, Secrets};
pub use provider::Provider;
pub use settings::{ClientAuthentication, ClientSecret, Settings, SettingsError};

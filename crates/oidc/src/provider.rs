//! A provider, by which people sign in.

use std::sync::Arc;

use heddle_egress::Egress;
use heddle_kernel::Timestamp;
use openidconnect::{OAuth2TokenResponse as _, TokenResponse as _};
use serde_json::{Map, Value};
use url::Url;

use crate::claims::{self, Claims};
use crate::error::OidcError;
use crate::exchange::{self, Answer, Secrets};
use crate::metadata::{Known, Metadata};
use crate::outward;
use crate::settings::Settings;
use crate::verify::{Presented, Unproved, prove};

/// A provider, by which people sign in. A clone is the same provider.
#[derive(Clone)]
pub struct Provider {
    inner: Arc<Inner>,
}

struct Inner {
    settings: Settings,
    egress: Egress,
    metadata: Metadata,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

impl Provider {
    /// A provider with these settings, which is asked by a way out.
    #[must_use]
    pub fn new(settings: Settings, egress: Egress) -> Self {
        // A provider whose name is slow to resolve takes no place from organisations, nor they from it.
        let egress = egress.on_behalf_of(&outward::scope(&settings.name));
        Self { inner: Arc::new(Inner { settings, egress, metadata: Metadata::default() }) }
    }

    /// Settings of the provider.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    async fn known(&self) -> Result<Known, OidcError> {
        let Inner { settings, egress, metadata } = &*self.inner;
        metadata.known(&settings.issuer, &outward::client(egress, &settings.name)).await
    }

    /// Address of the provider at which a person signs in, and from which they come back to `redirect`.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn begin(&self, redirect: &str, secrets: &Secrets) -> Result<Url, OidcError> {
        let known = self.known().await?;
        exchange::way(&self.inner.settings, &known, redirect, secrets)
    }

    /// Claims of the provider about the person who came back with an answer, proved.
    ///
    /// # Errors
    /// `Refused`, `Unavailable`.
    pub async fn finish(
        &self,
        answer: Answer<'_>,
        redirect: &str,
        secrets: &Secrets,
        now: Timestamp,
    ) -> Result<Claims, OidcError> {
        let Inner { settings, egress, .. } = &*self.inner;
        let known = self.known().await?;
        exchange::same_issuer(answer, &known)?;
        let outward = outward::client(egress, &settings.name);
        let tokens = exchange::tokens(settings, &known, redirect, answer.code, secrets, &outward).await?;
        let Some(token) = tokens.id_token() else {
            return Err(OidcError::unbelieved("the answer holds no ID token"));
        };
        let presented = Presented { token, access: tokens.access_token(), nonce: &secrets.nonce, now };
        let mut told = self.proved(&presented, &known).await?;
        if claims::is_short(&told, settings) {
            let access = tokens.access_token().secret();
            let more = exchange::user_info(egress, &outward::scope(&settings.name), &known, access).await?;
            told = joined(told, more, settings)?;
        }
        claims::read(&told, settings)
    }

    /// The claims of a token. The provider may have a new key since its keys were read.
    async fn proved(
        &self,
        presented: &Presented<'_>,
        known: &Known,
    ) -> Result<Map<String, Value>, OidcError> {
        let Inner { settings, egress, metadata } = &*self.inner;
        let unknown = || OidcError::unbelieved("no key of the provider can have signed the ID token");
        match prove(presented, known, settings) {
            Ok(claims) => return Ok(claims),
            Err(Unproved::Refused(error)) => return Err(error),
            Err(Unproved::UnknownKey) => {}
        }
        let outward = outward::client(egress, &settings.name);
        let Some(known) = metadata.reread_keys(known, &outward).await? else { return Err(unknown()) };
        prove(presented, &known, settings).map_err(|unproved| match unproved {
            Unproved::UnknownKey => unknown(),
            Unproved::Refused(error) => error,
        })
    }
}

/// The claims of a token with those that the provider tells elsewhere, which must be of the same person (OpenID Connect
/// Core 1.0, 5.3.2).
fn joined(
    token: Map<String, Value>,
    more: Map<String, Value>,
    settings: &Settings,
) -> Result<Map<String, Value>, OidcError> {
    if !more.is_empty() && more.get("sub") != token.get("sub") {
        return Err(OidcError::unbelieved("the user info is of somebody else"));
    }
    Ok(claims::completed(token, more, settings))
}

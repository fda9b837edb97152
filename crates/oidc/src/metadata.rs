//! Description that a provider gives of itself: its addresses and its keys, kept and read again.

use std::sync::Arc;
use std::time::Duration;

use heddle_egress::{EgressError, Instant};
use openidconnect::core::{
    CoreAuthDisplay, CoreClaimName, CoreClaimType, CoreClientAuthMethod, CoreGrantType, CoreJsonWebKey,
    CoreJsonWebKeySet, CoreJweContentEncryptionAlgorithm, CoreJweKeyManagementAlgorithm, CoreResponseMode,
    CoreResponseType, CoreSubjectIdentifierType,
};
use openidconnect::{
    AdditionalProviderMetadata, DiscoveryError, HttpRequest, HttpResponse, IssuerUrl, ProviderMetadata,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use crate::error::OidcError;
use crate::settings::is_safe;

/// Time for which the description and the keys are kept.
const KEPT: Duration = Duration::from_secs(3600);
/// Most times that the keys are read again within [`REREAD_WINDOW`]: tokens with made-up keys cost the provider no more.
const MOST_REREADS: u32 = 5;
/// Time in which readings of the keys are counted.
const REREAD_WINDOW: Duration = Duration::from_secs(60);

/// The part of the description that the library does not know.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct MoreMetadata {
    /// Whether each answer of the authorization endpoint has `iss` (RFC 9207, 3).
    #[serde(default)]
    pub(crate) authorization_response_iss_parameter_supported: bool,
}

impl AdditionalProviderMetadata for MoreMetadata {}

/// Description of a provider.
pub(crate) type Description = ProviderMetadata<
    MoreMetadata,
    CoreAuthDisplay,
    CoreClientAuthMethod,
    CoreClaimName,
    CoreClaimType,
    CoreGrantType,
    CoreJweContentEncryptionAlgorithm,
    CoreJweKeyManagementAlgorithm,
    CoreJsonWebKey,
    CoreResponseMode,
    CoreResponseType,
    CoreSubjectIdentifierType,
>;

/// Description and keys of a provider.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) description: Arc<Description>,
    pub(crate) keys: Arc<CoreJsonWebKeySet>,
    read_at: Instant,
}

/// A reading that failed.
struct Failed {
    at: Instant,
    cause: String,
}

/// Count of readings of the keys.
struct Rereads {
    since: Instant,
    count: u32,
}

/// Description of a provider, as it is kept.
#[derive(Default)]
struct Kept {
    known: Option<Known>,
    failed: Option<Failed>,
    rereads: Option<Rereads>,
}

/// Keeper of what is known of a provider.
#[derive(Default)]
pub(crate) struct Metadata {
    kept: Mutex<Kept>,
}

impl Metadata {
    /// Description and keys: kept, or read. Whoever waits while a reading fails shares the failure, so that a provider
    /// that is away is not asked once for everybody in turn.
    pub(crate) async fn known<C>(&self, issuer: &str, outward: &C) -> Result<Known, OidcError>
    where
        C: Outward,
    {
        let asked = Instant::now();
        let mut kept = self.kept.lock().await;
        if let Some(known) = kept.known.as_ref().filter(|known| known.read_at.elapsed() < KEPT) {
            return Ok(known.clone());
        }
        if let Some(failed) = kept.failed.as_ref().filter(|failed| failed.at > asked) {
            let cause = failed.cause.clone();
            return kept.known.clone().ok_or(OidcError::Unavailable(cause));
        }
        match read(issuer, outward).await {
            Ok(known) => {
                kept.known = Some(known.clone());
                kept.failed = None;
                Ok(known)
            }
            Err(cause) => {
                kept.failed = Some(Failed { at: Instant::now(), cause: cause.clone() });
                match kept.known.clone() {
                    // Its keys are those of an hour ago: a token that is signed by others is refused in any case.
                    Some(known) => {
                        tracing::warn!(issuer, cause, "a provider's description can't be read again");
                        Ok(known)
                    }
                    None => Err(OidcError::Unavailable(cause)),
                }
            }
        }
    }

    /// The keys, read again because none of those that were seen signed a token. None when they were read too often.
    pub(crate) async fn reread_keys<C>(&self, seen: &Known, outward: &C) -> Result<Option<Known>, OidcError>
    where
        C: Outward,
    {
        let mut kept = self.kept.lock().await;
        if let Some(known) = kept.known.as_ref().filter(|known| !Arc::ptr_eq(&known.keys, &seen.keys)) {
            return Ok(Some(known.clone()));
        }
        let now = Instant::now();
        let present = kept.rereads.take().filter(|rereads| rereads.since + REREAD_WINDOW > now);
        let mut rereads = present.unwrap_or(Rereads { since: now, count: 0 });
        let may = rereads.count < MOST_REREADS;
        rereads.count += u32::from(may);
        kept.rereads = Some(rereads);
        if !may {
            return Ok(None);
        }
        let keys = CoreJsonWebKeySet::fetch_async(seen.description.jwks_uri(), outward).await;
        let keys = keys.map_err(|error| OidcError::Unavailable(in_words(&error)))?;
        let known = Known { keys: Arc::new(keys), ..seen.clone() };
        kept.known = Some(known.clone());
        Ok(Some(known))
    }
}

/// A client of HTTP, as the library takes it.
pub(crate) trait Outward:
    Fn(HttpRequest) -> futures::future::BoxFuture<'static, Result<HttpResponse, EgressError>> + Send + Sync
{
}

impl<T> Outward for T where
    T: Fn(HttpRequest) -> futures::future::BoxFuture<'static, Result<HttpResponse, EgressError>>
        + Send
        + Sync
{
}

async fn read<C: Outward>(issuer: &str, outward: &C) -> Result<Known, String> {
    let url = IssuerUrl::new(issuer.to_owned()).map_err(|error| error.to_string())?;
    let found = Description::discover_async(url.clone(), outward).await;
    let description = found.map_err(|error| in_words(&error))?;
    let token = description.token_endpoint().map(|endpoint| endpoint.url());
    let Some(token) = token else { return Err("the provider has no token endpoint".to_owned()) };
    let user_info = description.userinfo_endpoint().map(|endpoint| endpoint.url());
    let others = [description.authorization_endpoint().url(), description.jwks_uri().url(), token];
    let plain = url.url().scheme() == "http";
    let fits = |one: &&Url| is_safe(one) && (plain || one.scheme() == "https");
    if let Some(bad) = others.into_iter().chain(user_info).find(|one| !fits(one)) {
        return Err(format!("an address of the provider is not under TLS: {bad}"));
    }
    let keys = Arc::new(description.jwks().clone());
    Ok(Known { description: Arc::new(description), keys, read_at: Instant::now() })
}

/// The error with its cause, for the log.
fn in_words(error: &DiscoveryError<EgressError>) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

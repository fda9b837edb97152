//! Sign-in by providers: the providers of the configuration, and where they lead browsers back to.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use heddle_egress::{Egress, Url};
use heddle_identity::{Federation, Identity};
use heddle_oidc::Provider;
use heddle_store_identity::IdentityStore;
use serde::Serialize;

use crate::config::Config;
use crate::error::StartError;

/// A provider that pages offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Offered {
    /// Name in paths.
    pub name: String,
    /// Name for people.
    pub display_name: String,
}

/// Sign-in by providers.
pub struct SignIns {
    providers: Vec<Provider>,
    offered: Vec<Offered>,
    /// Use cases.
    pub federation: Federation,
    public_url: Option<String>,
    scheme: &'static str,
}

impl std::fmt::Debug for SignIns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIns").field("providers", &self.providers).finish_non_exhaustive()
    }
}

impl SignIns {
    /// Checks the providers of the configuration. None is asked yet: one that is away stops no server.
    ///
    /// # Errors
    /// `SignIn`, with the provider and the setting.
    pub fn open(
        config: &Config,
        identity: &Arc<Identity>,
        store: &Arc<IdentityStore>,
        egress: &Egress,
    ) -> Result<Self, StartError> {
        let all = &config.sign_in_providers;
        let mut names = BTreeSet::new();
        for provider in all {
            let name = &provider.client.name;
            let wrong = |why: String| StartError::SignIn(format!("the provider `{name}` of sign-ins: {why}"));
            provider.client.check().map_err(|error| wrong(error.to_string()))?;
            provider.rules.check().map_err(|error| wrong(error.to_string()))?;
            if provider.rules.name != *name || !names.insert(name.as_str()) {
                return Err(wrong("`name`: each provider stands once".to_owned()));
            }
        }
        let public_url = config.public_url.as_deref().map(base).transpose()?;
        if public_url.is_none() && !all.is_empty() && !config.listen.ip().is_loopback() {
            let message = "`public_url` is needed for sign-in by providers: the address under which browsers reach \
                           this service";
            return Err(StartError::SignIn(message.to_owned()));
        }
        let offered = all.iter().map(|provider| Offered {
            name: provider.client.name.clone(),
            display_name: provider.display_name.clone(),
        });
        let rules = all.iter().map(|provider| provider.rules.clone()).collect();
        Ok(Self {
            offered: offered.collect(),
            providers: all
                .iter()
                .map(|provider| Provider::new(provider.client.clone(), egress.clone()))
                .collect(),
            federation: Federation::new(Arc::clone(identity), store.clone(), rules),
            public_url,
            scheme: if config.speaks_tls() { "https" } else { "http" },
        })
    }

    /// Providers, as pages offer them.
    #[must_use]
    pub fn offered(&self) -> &[Offered] {
        &self.offered
    }

    /// The provider of a name.
    #[must_use]
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.settings().name == name)
    }

    /// Address to which a provider leads the browser back. What the browser names as the host counts on this machine
    /// alone: elsewhere somebody else may have chosen it, and without `public_url` there is no address.
    #[must_use]
    pub fn redirect(&self, provider: &str, host: Option<&str>) -> Option<String> {
        let base = match (&self.public_url, host.filter(|host| is_loopback(host))) {
            (Some(base), _) => base.clone(),
            (None, Some(host)) => format!("{}://{host}", self.scheme),
            (None, None) => return None,
        };
        Some(format!("{base}/api/auth/oidc/{provider}/callback"))
    }
}

/// The address of the configuration without a slash at its end.
fn base(text: &str) -> Result<String, StartError> {
    let wrong = || {
        let message = "`public_url`: an address is needed that begins with https:// and has no path (http:// on this \
                       machine alone)";
        StartError::SignIn(message.to_owned())
    };
    let url = Url::parse(text).map_err(|_reason| wrong())?;
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let own = url.username().is_empty() && url.password().is_none();
    let safe = match url.scheme() {
        "https" => true,
        "http" => url.host_str().is_some_and(is_own_name),
        _ => false,
    };
    if bare && own && safe { Ok(text.trim_end_matches('/').to_owned()) } else { Err(wrong()) }
}

/// Whether a host, with or without a port, is this machine itself.
fn is_loopback(host: &str) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else { return false };
    // What is written must be the host and the port alone.
    let plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:[]-".contains(&byte));
    plain && url.path() == "/" && url.host_str().is_some_and(is_own_name)
}

fn is_own_name(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_believed_to_be_the_host_that_it_says() {
        for own in ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "127.8.9.1"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in [
            "evil.test",
            "localhost.evil.test",
            "10.0.0.1",
            "localhost@evil.test",
            "localhost/evil",
            "localhost:8080@evil.test",
            "",
            "evil.test#localhost",
            "[::2]",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }

    #[test]
    fn the_public_address_is_under_tls_and_has_no_path() {
        assert_eq!(base("https://heddle.example.com/").unwrap(), "https://heddle.example.com");
        assert_eq!(base("http://localhost:8080").unwrap(), "http://localhost:8080");
        for wrong in [
            "",
            "heddle.example.com",
            "http://heddle.example.com",
            "https://heddle.example.com/heddle",
            "https://user@heddle.example.com",
            "https://heddle.example.com?a=1",
        ] {
            assert!(base(wrong).is_err(), "{wrong}");
        }
    }
}

//! Settings of a provider: where it is, and who we are there.

use std::fmt;

use url::{Host, Url};
use zeroize::Zeroizing;

/// The longest name of a provider.
const LONGEST_NAME: usize = 60;

/// Secret that this installation shares with a provider. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(Zeroizing<String>);

impl ClientSecret {
    /// From its text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientSecret(..)")
    }
}

/// Way in which the client secret is shown to the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuthentication {
    /// Header `Authorization` (`client_secret_basic`).
    #[default]
    Basic,
    /// Body of the request (`client_secret_post`).
    Post,
}

/// Settings of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Name in paths: small letters, digits and hyphens.
    pub name: String,
    /// Issuer: the address under which the provider's own description stands.
    pub issuer: String,
    /// Id of this installation at the provider.
    pub client_id: String,
    /// Secret of this installation at the provider; none for a public client, which PKCE alone protects.
    pub client_secret: Option<ClientSecret>,
    /// Way in which the secret is shown.
    pub client_authentication: ClientAuthentication,
    /// Scopes beside `openid`.
    pub scopes: Vec<String>,
    /// Claim with the person's groups: a name, or names with points for what is nested.
    pub groups_claim: String,
    /// Claim that says that the e-mail address was verified.
    pub email_verified_claim: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: String::new(),
            issuer: String::new(),
            client_id: String::new(),
            client_secret: None,
            client_authentication: ClientAuthentication::Basic,
            scopes: vec!["profile".to_owned(), "email".to_owned()],
            groups_claim: "groups".to_owned(),
            email_verified_claim: "email_verified".to_owned(),
        }
    }
}

/// A setting that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}`: {message}")]
pub struct SettingsError {
    /// Name of the setting.
    pub field: &'static str,
    /// Sentence that says what is needed.
    pub message: &'static str,
}

impl Settings {
    /// Checks them.
    ///
    /// # Errors
    /// The first setting that can't be used.
    pub fn check(&self) -> Result<(), SettingsError> {
        let hold = |holds: bool, field: &'static str, message: &'static str| {
            if holds { Ok(()) } else { Err(SettingsError { field, message }) }
        };
        let letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        let named = !self.name.is_empty() && self.name.len() <= LONGEST_NAME && self.name.chars().all(letter);
        hold(named, "name", "1 to 60 small letters, digits and hyphens are needed")?;
        let issuer = Url::parse(&self.issuer).ok().filter(is_safe);
        let bare = |url: &Url| url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
        hold(
            issuer.as_ref().is_some_and(bare),
            "issuer",
            "an address is needed that begins with https:// and has neither user, query nor fragment (http:// on this \
             machine alone)",
        )?;
        hold(
            !self.client_id.is_empty(),
            "client_id",
            "the id of this installation at the provider is needed",
        )?;
        let filled = self.client_secret.as_ref().is_none_or(|secret| !secret.expose().is_empty());
        hold(filled, "client_secret", "it is empty")?;
        let word = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        hold(self.scopes.iter().all(word), "scopes", "each is one word")?;
        hold(word(&self.groups_claim), "groups_claim", "the name of a claim is needed")?;
        hold(word(&self.email_verified_claim), "email_verified_claim", "the name of a claim is needed")
    }
}

/// Whether what goes to an address can be read by nobody on the way: TLS, or this machine itself.
pub(crate) fn is_safe(url: &Url) -> bool {
    match (url.scheme(), url.host()) {
        ("https", Some(_)) => true,
        ("http", Some(Host::Ipv4(address))) => address.is_loopback(),
        ("http", Some(Host::Ipv6(address))) => address.is_loopback(),
        ("http", Some(Host::Domain(name))) => name == "localhost",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Settings {
        Settings {
            name: "corporate".to_owned(),
            issuer: "https://login.example.com/realms/acme".to_owned(),
            client_id: "heddle".to_owned(),
            ..Settings::default()
        }
    }

    #[test]
    fn a_setting_that_can_not_be_used_is_named() {
        assert_eq!(good().check(), Ok(()));
        let of = |change: fn(&mut Settings)| {
            let mut settings = good();
            change(&mut settings);
            settings.check().unwrap_err().field
        };
        assert_eq!(of(|it| it.name = "Corporate".to_owned()), "name");
        assert_eq!(of(|it| it.name = "a/b".to_owned()), "name");
        assert_eq!(of(|it| it.name = String::new()), "name");
        assert_eq!(of(|it| it.issuer = "http://login.example.com".to_owned()), "issuer");
        assert_eq!(of(|it| it.issuer = "http://10.0.0.1".to_owned()), "issuer");
        assert_eq!(of(|it| it.issuer = "https://login.example.com?x=1".to_owned()), "issuer");
        assert_eq!(of(|it| it.issuer = "https://user@login.example.com".to_owned()), "issuer");
        assert_eq!(of(|it| it.issuer = "login.example.com".to_owned()), "issuer");
        assert_eq!(of(|it| it.client_id = String::new()), "client_id");
        assert_eq!(of(|it| it.client_secret = Some(ClientSecret::new(""))), "client_secret");
        assert_eq!(of(|it| it.scopes = vec!["a b".to_owned()]), "scopes");
        assert_eq!(of(|it| it.groups_claim = String::new()), "groups_claim");
    }

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for (address, safe) in [
            ("https://a.test", true),
            ("http://127.0.0.1:8080", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("http://localhost.evil.test", false),
            ("http://a.test", false),
            ("ftp://a.test", false),
        ] {
            assert_eq!(is_safe(&Url::parse(address).unwrap()), safe, "{address}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let settings = Settings { client_secret: Some(ClientSecret::new("canary")), ..good() };
        assert!(!format!("{settings:?}").contains("canary"));
    }
}

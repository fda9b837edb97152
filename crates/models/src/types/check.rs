//! Rules of what a connection is told.

use heddle_usecase::Problems;
use heddle_usecase::secret::Secret;
use url::Url;

use super::{KeyNeed, Provider, SECRET};
use crate::records::ConnectionSettings;

/// The longest address, in bytes.
const URL_MAX: usize = 2_048;
/// The longest key, in bytes.
const KEY_MAX: usize = 8_192;
/// The most headers of a connection.
const HEADERS: usize = 20;
/// The longest certificates, in bytes.
const CERTIFICATES: usize = 65_536;

/// Headers that are the client's own, say where a request goes, or carry keys: these are secrets.
const NOT_SENT: &[&str] = &[
    "accept",
    "accept-encoding",
    "api-key",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-api-key",
    "x-goog-api-key",
];

/// Whether a text holds neither a control character nor one that nobody sees.
fn is_plain(text: &str) -> bool {
    !heddle_usecase::has_hidden(text)
}

/// Adds what is wrong with the settings of a connection.
pub(crate) fn check_settings(provider: &Provider, settings: &ConnectionSettings, problems: &mut Problems) {
    let is_built_in = provider.family.is_none();
    match &settings.base_url {
        Some(_) if is_built_in => {
            problems.add("baseUrl", "notAllowed", "Models inside the service have no address.");
        }
        Some(url) => check_url(url, problems),
        None if provider.default_base_url.is_none() && !is_built_in => {
            problems.add("baseUrl", "required", "This type has no preset address: one is needed.");
        }
        None => {}
    }
    check_headers(is_built_in, settings, problems);
    match &settings.api_version {
        Some(_) if !provider.takes_api_version => {
            problems.add("apiVersion", "notAllowed", "This type has no version of its interface.");
        }
        Some(version)
            if version.is_empty()
                || version.len() > 40
                || !version.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)) =>
        {
            problems.add("apiVersion", "wrongFormat", "1 to 40 letters, digits, dots and hyphens.");
        }
        Some(_) | None => {}
    }
    if let Some(text) = &settings.certificate_authority {
        if is_built_in {
            problems.add("certificateAuthority", "notAllowed", "Models inside the service are not called.");
        } else if text.len() > CERTIFICATES {
            problems.add("certificateAuthority", "tooLong", "At most 65,536 bytes.");
        } else if !text.contains("-----BEGIN CERTIFICATE-----") || text.contains("PRIVATE KEY") {
            let message = "Certificates in PEM are needed, and no private key.";
            problems.add("certificateAuthority", "wrongFormat", message);
        }
    }
}

fn check_url(text: &str, problems: &mut Problems) {
    if text.len() > URL_MAX {
        return problems.add("baseUrl", "tooLong", "At most 2,048 bytes.");
    }
    let odd = text.chars().any(|letter| letter.is_whitespace() || letter == '\\') || !is_plain(text);
    let Ok(url) = Url::parse(text) else {
        return problems.add("baseUrl", "wrongFormat", "An address is needed: https://host/path.");
    };
    if odd || !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        problems.add("baseUrl", "wrongFormat", "An address http or https with a host is needed.");
    } else if !url.username().is_empty() || url.password().is_some() {
        problems.add("baseUrl", "notAllowed", "User and password don't stand in an address.");
    } else if url.query().is_some() || url.fragment().is_some() {
        problems.add("baseUrl", "notAllowed", "The address has neither query nor fragment here.");
    }
}

fn check_headers(is_built_in: bool, settings: &ConnectionSettings, problems: &mut Problems) {
    if is_built_in && !settings.headers.is_empty() {
        return problems.add("headers", "notAllowed", "Models inside the service are not called.");
    }
    if settings.headers.len() > HEADERS {
        problems.add("headers", "tooMany", "At most 20 headers.");
    }
    for (name, value) in &settings.headers {
        let field = format!("headers.{name}");
        let legal = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if name.is_empty() || name.len() > 100 || !legal {
            problems.add(&field, "wrongFormat", "A name is 1 to 100 letters of ASCII, digits and hyphens.");
        } else if NOT_SENT.contains(&name.to_ascii_lowercase().as_str()) {
            problems.add(&field, "notAllowed", "This header is the client's own, or carries a key.");
        }
        let visible = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if value.is_empty() || value.len() > 1_000 || !visible {
            problems.add(&field, "wrongFormat", "A value is 1 to 1,000 visible letters of ASCII.");
        }
    }
}

/// Adds what is wrong with a key that was sent, or with its absence; nothing of the key is told.
pub(crate) fn check_key(provider: &Provider, key: Option<&Secret>, is_there: bool, problems: &mut Problems) {
    if provider.key == KeyNeed::None && is_there {
        return problems.add(SECRET, "notAllowed", "This type has no key.");
    }
    if provider.key == KeyNeed::Required && !is_there {
        return problems.add(SECRET, "required", "This type needs a key.");
    }
    let Some(text) = key.map(Secret::expose) else { return };
    if text.is_empty() {
        problems.add(SECRET, "required", "A key is a text; null takes it away.");
    } else if text.len() > KEY_MAX {
        problems.add(SECRET, "tooLong", "At most 8,192 bytes.");
    } else if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        problems.add(SECRET, "wrongFormat", "Visible ASCII without spaces: it goes into a header.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ProviderKind;

    fn reasons(kind: ProviderKind, settings: &ConnectionSettings) -> Vec<(String, &'static str)> {
        let mut problems = Problems::default();
        check_settings(kind.provider(), settings, &mut problems);
        problems.into_iter().map(|one| (one.field.unwrap_or_default(), one.reason)).collect()
    }

    #[test]
    fn an_address_is_one_and_no_header_carries_a_key() {
        let with = |url: &str| ConnectionSettings { base_url: Some(url.to_owned()), ..Default::default() };
        for (url, reason) in [
            ("https://a.example/v1", None),
            ("http://127.0.0.1:11434", None),
            ("ftp://a.example", Some("wrongFormat")),
            ("https://u:p@a.example", Some("notAllowed")),
            ("https://a.example/v1?x=1", Some("notAllowed")),
            ("a.example", Some("wrongFormat")),
        ] {
            let found = reasons(ProviderKind::Custom, &with(url));
            assert_eq!(found.first().map(|(_, reason)| *reason), reason, "{url}");
        }
        assert_eq!(reasons(ProviderKind::Custom, &ConnectionSettings::default())[0].1, "required");
        for (name, value, reason) in [
            ("X-Team", "a b", None),
            ("Authorization", "x", Some("notAllowed")),
            ("x y", "x", Some("wrongFormat")),
            ("X-A", "a\nb", Some("wrongFormat")),
        ] {
            let mut settings = ConnectionSettings::default();
            settings.headers.insert(name.to_owned(), value.to_owned());
            let found = reasons(ProviderKind::Openai, &settings);
            assert_eq!(found.first().map(|(_, reason)| *reason), reason, "{name}: {value}");
        }
    }
}

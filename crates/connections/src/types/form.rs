//! Forms of single values.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use url::{Host, Url};

use super::{SecretForm, Shape};
use crate::secret::Secret;

/// The longest address, in bytes.
pub(super) const URL_MAX: usize = 2_048;
/// The longest host, in bytes (RFC 1035, 2.3.4).
pub(super) const HOST_MAX: usize = 253;
/// The longest secret, in bytes.
const SECRET_MAX: usize = 8_192;
/// Prefix of a signing key (Standard Webhooks).
pub const SIGNING_PREFIX: &str = "whsec_";

/// A reason and a sentence.
pub(super) struct Fault(pub &'static str, pub String);

fn fault(reason: &'static str, message: impl Into<String>) -> Option<Fault> {
    Some(Fault(reason, message.into()))
}

/// Fault of a value of this form, if there is one.
pub(super) fn value(shape: Shape, value: &Value) -> Option<Fault> {
    match shape {
        Shape::Port => port(value),
        Shape::Tokens(most) => tokens(most, value),
        Shape::Line(_)
        | Shape::Token(_)
        | Shape::Header
        | Shape::Url { .. }
        | Shape::Origin
        | Shape::Path
        | Shape::Host
        | Shape::Word(_)
        | Shape::Certificates
        | Shape::Mailbox => match value.as_str() {
            Some(text) => self::text(shape, text),
            None => fault("wrongType", "A text is needed."),
        },
    }
}

fn text(shape: Shape, text: &str) -> Option<Fault> {
    match shape {
        Shape::Line(most) => line(text, most),
        Shape::Token(most) => token(text, most),
        Shape::Header => header(text),
        Shape::Url { query } => url(text, query),
        Shape::Origin => origin(text),
        Shape::Path => path(text),
        Shape::Host => host(text),
        Shape::Word(words) => match words.contains(&text) {
            true => None,
            false => fault("unknownValue", format!("One of {}.", words.join(", "))),
        },
        Shape::Certificates => certificates(text),
        Shape::Mailbox => mailbox(text),
        // Neither is a text; they have arms of their own above.
        Shape::Port | Shape::Tokens(_) => None,
    }
}

/// Whether a text holds neither a control character nor one that nobody sees.
pub(crate) fn is_plain(text: &str) -> bool {
    !heddle_usecase::has_hidden(text)
}

fn line(text: &str, most: usize) -> Option<Fault> {
    match text.chars().count() {
        0 => fault("required", "A text is needed."),
        count if count > most => fault("tooLong", format!("At most {most} characters; these are {count}.")),
        _ if !is_plain(text) => fault("wrongFormat", "No control characters, and none that can't be seen."),
        _ => None,
    }
}

fn token(text: &str, most: usize) -> Option<Fault> {
    let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
    line(text, most)
        .or_else(|| if visible { None } else { fault("wrongFormat", "Visible ASCII without spaces.") })
}

/// Headers that are the client's own, or that say where a request goes.
const OWN_HEADERS: &[&str] = &[
    "connection",
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
];

fn header(text: &str) -> Option<Fault> {
    let legal = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    line(text, 100).or_else(|| match OWN_HEADERS.contains(&text.to_ascii_lowercase().as_str()) {
        true => fault("notAllowed", "This header is the client's own."),
        false if !legal => fault("wrongFormat", "Letters of ASCII, digits and hyphens."),
        false => None,
    })
}

fn parsed(text: &str) -> Result<Url, Fault> {
    let wrong = |message: &str| Fault("wrongFormat", message.to_owned());
    if text.len() > URL_MAX {
        return Err(Fault("tooLong", format!("At most {URL_MAX} bytes.")));
    }
    if text.chars().any(|letter| letter.is_whitespace() || letter == '\\') || !is_plain(text) {
        return Err(wrong("No spaces, backslashes or control characters."));
    }
    let url = Url::parse(text).or(Err(wrong("An address is needed: https://host/path.")))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong("An address http or https with a host is needed."));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Fault(
            "notAllowed",
            "User and password don't stand in an address: they are secrets.".to_owned(),
        ));
    }
    if url.fragment().is_some() {
        return Err(Fault("notAllowed", "An address has no fragment here.".to_owned()));
    }
    Ok(url)
}

fn url(text: &str, query: bool) -> Option<Fault> {
    match parsed(text) {
        Err(fault) => Some(fault),
        Ok(url) if url.query().is_some() && !query => fault("notAllowed", "The address has no query here."),
        Ok(_) => None,
    }
}

fn origin(text: &str) -> Option<Fault> {
    match parsed(text) {
        Err(fault) => Some(fault),
        Ok(url) if url.query().is_some() || !matches!(url.path(), "" | "/") => {
            fault("notAllowed", "The address has neither path nor query here.")
        }
        Ok(_) => None,
    }
}

/// Whether an address uses TLS; none when it is no address.
pub(super) fn is_https(text: &str) -> Option<bool> {
    Url::parse(text).ok().map(|url| url.scheme() == "https")
}

fn path(text: &str) -> Option<Fault> {
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\' && byte != b'#');
    if text.len() > URL_MAX {
        fault("tooLong", format!("At most {URL_MAX} bytes."))
    } else if !text.starts_with('/') || text.starts_with("//") || !plain {
        fault(
            "wrongFormat",
            "A path that begins with one `/`, in visible ASCII without spaces, backslashes and `#`.",
        )
    } else if text.split('?').next().is_some_and(has_dot_segments) {
        fault("wrongFormat", "A path without the segments `.` and `..`: they lead out of the address.")
    } else {
        None
    }
}

/// Whether a path has a segment that a parser of addresses takes for `.` or `..`, with dots written `%2e`, too.
fn has_dot_segments(path: &str) -> bool {
    path.split('/')
        .any(|segment| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | ".."))
}

fn host(text: &str) -> Option<Fault> {
    let good = if text.contains(':') {
        matches!(text.parse::<IpAddr>(), Ok(IpAddr::V6(_)))
    } else {
        let name = text.strip_suffix('.').unwrap_or(text);
        let separators = ['/', '\\', '@', '?', '#', '[', ']', '%'];
        !name.is_empty()
            && !text.chars().any(|letter| letter.is_whitespace() || separators.contains(&letter))
            && Host::parse(name).is_ok()
    };
    match text.len() {
        0 => fault("required", "A host is needed."),
        length if length > HOST_MAX => fault("tooLong", format!("At most {HOST_MAX} bytes.")),
        _ if !good || !is_plain(text) => {
            fault("wrongFormat", "The name or the address of a host, without port and brackets.")
        }
        _ => None,
    }
}

fn port(value: &Value) -> Option<Fault> {
    match value.as_i64() {
        Some(1..=65_535) => None,
        Some(_) => fault("outOfRange", "A port is 1 to 65535."),
        None => fault("wrongType", "A whole number is needed."),
    }
}

fn tokens(most: usize, value: &Value) -> Option<Fault> {
    let Some(items) = value.as_array() else { return fault("wrongType", "A list of texts is needed.") };
    if items.len() > most {
        return fault("tooMany", format!("At most {most}."));
    }
    items.iter().find_map(|item| match item.as_str() {
        Some(text) => token(text, 200),
        None => fault("wrongType", "A list of texts is needed."),
    })
}

fn certificates(text: &str) -> Option<Fault> {
    if text.len() > 65_536 {
        fault("tooLong", "At most 65,536 bytes.")
    } else if !text.contains("-----BEGIN CERTIFICATE-----") || text.contains("PRIVATE KEY") {
        fault("wrongFormat", "Certificates in PEM are needed, and no private key.")
    } else {
        None
    }
}

fn mailbox(text: &str) -> Option<Fault> {
    let parts = text.rsplit_once('@');
    let good = parts.is_some_and(|(local, domain)| {
        !local.is_empty() && !domain.is_empty() && !local.contains('@') && !domain.contains(['<', '>', ','])
    });
    if good && text.len() <= 254 && !text.chars().any(char::is_whitespace) && is_plain(text) {
        None
    } else {
        fault("wrongFormat", "An address is needed: name@domain, at most 254 bytes.")
    }
}

/// Fault of a secret of this form, if there is one. Nothing of the secret is told.
pub(super) fn secret(form: SecretForm, secret: &Secret) -> Option<Fault> {
    let text = secret.expose();
    if text.is_empty() {
        return fault("required", "A secret is a text; null takes it away.");
    }
    if text.len() > SECRET_MAX {
        return fault("tooLong", format!("At most {SECRET_MAX} bytes."));
    }
    match form {
        SecretForm::Text if text.chars().any(char::is_control) => {
            fault("wrongFormat", "No control characters.")
        }
        SecretForm::Text => None,
        SecretForm::SigningKey => match signing_key(text) {
            Some(_) => None,
            None => fault("wrongFormat", "`whsec_` and 24 to 64 random bytes in base64 are needed."),
        },
    }
}

/// The bytes of a signing key of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64; none otherwise.
#[must_use]
pub fn signing_key(text: &str) -> Option<zeroize::Zeroizing<Vec<u8>>> {
    let bytes = STANDARD.decode(text.strip_prefix(SIGNING_PREFIX)?).ok()?;
    let bytes = zeroize::Zeroizing::new(bytes);
    (24..=64).contains(&bytes.len()).then_some(bytes)
}

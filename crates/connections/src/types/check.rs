//! Checks of configurations and secrets against the table of types.

use heddle_kernel::shortened;
use serde_json::{Map, Value};

use super::form::{self, Fault};
use super::{ConnectionKind, ConnectionType, Need, Preset};
use crate::secret::Secret;
use crate::{Problem, Problems};

pub(super) fn config(of: &ConnectionType, problems: &mut Problems, config: &Map<String, Value>) {
    for name in config.keys().filter(|name| of.field(name).is_none()) {
        let message = format!("A connection of type {} has no such member.", of.kind);
        problems.push(Problem::at(format!("config.{}", shortened(name)), "unknownField", message));
    }
    for field in of.config {
        let path = format!("config.{}", field.name);
        let value = config.get(field.name);
        if let Some(Fault(reason, message)) = value.and_then(|value| form::value(field.shape, value)) {
            problems.push(Problem::at(path.as_str(), reason, message));
        }
        need(of, problems, config, &Asked { path, need: field.need, there: value.is_some() });
    }
    across(of, problems, config);
}

pub(super) fn secrets<'a>(
    of: &ConnectionType,
    problems: &mut Problems,
    config: &Map<String, Value>,
    there: impl Iterator<Item = &'a str> + Clone,
) {
    for name in there.clone().filter(|name| of.secret(name).is_none()) {
        let message = format!("A connection of type {} has no such secret.", of.kind);
        problems.push(Problem::at(format!("secrets.{}", shortened(name)), "unknownField", message));
    }
    for secret in of.secrets {
        let there = there.clone().any(|name| name == secret.name);
        let path = format!("secrets.{}", secret.name);
        need(of, problems, config, &Asked { path, need: secret.need, there });
    }
}

/// Adds what is wrong with the form of a secret that was sent.
pub(super) fn secret(of: &ConnectionType, problems: &mut Problems, name: &str, secret: &Secret) {
    let form = of.secret(name).map(|field| field.form);
    if let Some(Fault(reason, message)) = form.and_then(|form| form::secret(form, secret)) {
        problems.push(Problem::at(format!("secrets.{name}"), reason, message));
    }
}

/// A member whose presence is asked about.
struct Asked {
    path: String,
    need: Need,
    there: bool,
}

fn need(of: &ConnectionType, problems: &mut Problems, config: &Map<String, Value>, asked: &Asked) {
    let word = |other: &str| {
        let preset = of.field(other).and_then(|field| field.preset).and_then(Preset::text);
        config.get(other).and_then(Value::as_str).or(preset)
    };
    let among = |other: &str, words: &[&str]| word(other).is_some_and(|word| words.contains(&word));
    let missing = |message: String| Problem::at(asked.path.as_str(), "required", message);
    let surplus = |message: String| Problem::at(asked.path.as_str(), "notAllowed", message);
    let problem = match (asked.need, asked.there) {
        (Need::Always, false) => Some(missing("It is needed.".to_owned())),
        (Need::With(other, words), false) if among(other, words) => {
            Some(missing(format!("It is needed when `config.{other}` is {}.", words.join(" or "))))
        }
        (Need::With(other, words) | Need::MayWith(other, words), true) if !among(other, words) => Some(
            surplus(format!("It is only for `config.{other}` {}; null takes it away.", words.join(" or "))),
        ),
        (Need::Beside(other), false) if config.contains_key(other) => {
            Some(missing(format!("It is needed beside `config.{other}`.")))
        }
        (Need::Beside(other), true) if !config.contains_key(other) => {
            Some(surplus(format!("It is only for a `config.{other}`; null takes it away.")))
        }
        (Need::Always | Need::Optional | Need::With(..) | Need::MayWith(..) | Need::Beside(_), _) => None,
    };
    problems.extend(problem);
}

/// Adds what members say against each other.
fn across(of: &ConnectionType, problems: &mut Problems, config: &Map<String, Value>) {
    let word = |name: &str| {
        let preset = of.field(name).and_then(|field| field.preset).and_then(Preset::text);
        config.get(name).and_then(Value::as_str).or(preset)
    };
    let https = |name: &str| word(name).and_then(form::is_https).unwrap_or(false);
    let tls = match of.kind {
        ConnectionKind::Http => https("baseUrl") || https("tokenUrl"),
        ConnectionKind::Smtp => word("security") != Some("none"),
        ConnectionKind::Postgresql => word("tls") != Some("disable"),
        ConnectionKind::S3 => https("endpoint"),
        ConnectionKind::Webhook => https("url"),
    };
    if !tls && config.contains_key("certificateAuthority") {
        let message = "The connection does without TLS; null takes it away.";
        problems.add("config.certificateAuthority", "notAllowed", message);
    }
    if of.kind == ConnectionKind::Smtp && !tls && config.contains_key("username") {
        let message = "Nobody signs in without TLS: the password could be read on the way.";
        problems.add("config.security", "notAllowed", message);
    }
    if of.kind == ConnectionKind::Http && word("username").is_some_and(|name| name.contains(':')) {
        problems.add(
            "config.username",
            "wrongFormat",
            "A user of basic authentication has no colon (RFC 7617, 2).",
        );
    }
    if of.kind == ConnectionKind::S3 {
        problems
            .extend(bucket(word("bucket").unwrap_or_default(), word("addressing") == Some("virtualHost")));
    }
}

/// Problem of the name of a bucket, if there is one: it stands in a path or before a host.
fn bucket(name: &str, before_host: bool) -> Option<Problem> {
    let of_host =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let of_path = |byte: u8| of_host(byte) || byte.is_ascii_uppercase() || byte == b'_';
    let legal = name.bytes().all(|byte| if before_host { of_host(byte) } else { of_path(byte) });
    if legal && !name.starts_with('.') && !name.contains("..") {
        return None;
    }
    let message = "Letters of ASCII, digits, hyphens, underscores and single dots; before a host small letters alone and \
                   no underscore.";
    Some(Problem::at("config.bucket", "wrongFormat", message))
}

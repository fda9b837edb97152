//! Addresses in texts, and lists of the hosts that they may or may not name.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::Found;

static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:[a-z][a-z0-9+.\-]{1,20}:[/\\]{2}|www\.|data:[a-z]|javascript:)[^\s<>\x22'`]{1,2048}",
    )
    .ok()
});

/// Hosts that addresses may name, and those that they may not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// Names of hosts, `*.example.org` for what is below; none for any.
    pub allowed: Option<Vec<String>>,
    /// Names of hosts that are not allowed in any case.
    pub denied: Vec<String>,
}

impl Hosts {
    fn allows(&self, host: &str) -> bool {
        let is = |rule: &String| matches(rule, host);
        !self.denied.iter().any(is) && self.allowed.as_ref().is_none_or(|allowed| allowed.iter().any(is))
    }
}

/// Whether a host is the one of a rule, or below it.
fn matches(rule: &str, host: &str) -> bool {
    match rule.strip_prefix("*.") {
        Some(above) => host.strip_suffix(above).is_some_and(|below| below.ends_with('.')),
        None => rule == host,
    }
}

/// The addresses in a text whose hosts are not allowed; linear in its length.
pub(crate) fn find(text: &str, hosts: &Hosts) -> Vec<Found> {
    let mut found = Vec::new();
    for hit in ADDRESS.iter().flat_map(|pattern| pattern.find_iter(text)) {
        let own = hit.as_str().trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}']);
        let end = hit.start() + own.len();
        let kind = match host_of(own) {
            Some(host) if hosts.allows(&host) => continue,
            Some(_) => "host",
            // What runs or holds its content in the address itself names no host that could be allowed.
            None => "scheme",
        };
        found.push(Found { start: hit.start(), end, kind });
    }
    found
}

/// The host that a client would ask: behind the last `@`, without a port, in lower case; none where there is none.
fn host_of(address: &str) -> Option<String> {
    let lower = address.to_ascii_lowercase();
    if lower.starts_with("javascript:") || lower.starts_with("data:") {
        return None;
    }
    // Clients read a backslash as a slash.
    let lower = lower.replace('\\', "/");
    let behind = lower.split_once("://").map_or(lower.as_str(), |parts| parts.1);
    let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_the_host_that_is_asked() {
        let hosts = Hosts {
            allowed: Some(vec!["example.org".to_owned(), "*.example.org".to_owned()]),
            denied: vec!["bad.example.org".to_owned()],
        };
        let is_hit = |text: &str| !find(text, &hosts).is_empty();
        for fine in [
            "see https://example.org/a.",
            "(https://docs.example.org:8443/x?u=evil.test)",
            "no address at all",
        ] {
            assert!(!is_hit(fine), "{fine}");
        }
        for wrong in [
            "https://example.org@evil.test/",
            "https://evil.test/example.org",
            "https://notexample.org",
            "https:\\\\evil.test\\x",
            "HTTPS://BAD.example.org",
            "www.evil.test/x",
            "javascript:alert(1)",
            "https://[::1]/",
        ] {
            assert!(is_hit(wrong), "{wrong}");
        }
    }
}

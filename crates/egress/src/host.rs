//! Hosts as they are written.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Fault;

/// Length up to which a host is read, in bytes: a name has up to 253, and escapes make it longer.
const LONGEST: usize = 1024;

/// Host of a connection. Numbers in any form of an address (`2130706433`, `0x7f.1`, `0177.0.0.1`) are addresses, and
/// names are in the ASCII form of IDNA, in small letters, without the dot at the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// A name.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Host {
    /// Reads a host; an IPv6 address may stand in brackets or without.
    ///
    /// # Errors
    /// `BadHost`.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        if text.len() > LONGEST {
            return Err(Fault::BadHost);
        }
        if let Ok(address) = text.parse::<Ipv6Addr>() {
            return Ok(Self::Address(address.into()));
        }
        url::Host::parse(text).map_err(|_reason| Fault::BadHost).and_then(Self::of)
    }

    /// The host of a URL.
    pub(crate) fn of(host: url::Host<impl AsRef<str>>) -> Result<Self, Fault> {
        match host {
            url::Host::Ipv4(address) => Ok(Self::Address(address.into())),
            url::Host::Ipv6(address) => Ok(Self::Address(address.into())),
            url::Host::Domain(name) => {
                let name = name.as_ref().strip_suffix('.').unwrap_or(name.as_ref());
                let is_label = |label: &str| !label.is_empty() && label.len() <= 63;
                if name.len() > 253 || !name.split('.').all(is_label) {
                    return Err(Fault::BadHost);
                }
                Ok(Self::Name(name.to_ascii_lowercase()))
            }
        }
    }

    /// Addresses that the host has without asking anybody: an address its own, and `localhost` with all below it those
    /// of this machine (RFC 6761, 6.3), whatever a name server says.
    pub(crate) fn own_addresses(&self) -> Option<Vec<IpAddr>> {
        match self {
            Self::Address(address) => Some(vec![*address]),
            Self::Name(name) if name == "localhost" || name.ends_with(".localhost") => {
                Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()])
            }
            Self::Name(_) => None,
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_address_is_the_address() {
        for text in [
            "127.0.0.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "017700000001",
            "127.1",
            "127.0.1",
            "0x7F.0.0x0.01",
            "%31%32%37.0.0.1",
            "①②⑦.⓪.⓪.①",
            "127。0。0。1",
            "１２７.0.0.1",
        ] {
            assert_eq!(Host::parse(text).unwrap(), Host::Address(Ipv4Addr::LOCALHOST.into()), "{text}");
        }
        for text in ["::1", "[::1]", "0:0:0:0:0:0:0:1", "[0::0001]"] {
            assert_eq!(Host::parse(text).unwrap(), Host::Address(Ipv6Addr::LOCALHOST.into()), "{text}");
        }
        for (text, name) in [
            ("LOCALHOST.", "localhost"),
            ("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost"),
            ("a.LocalHost", "a.localhost"),
            ("Bücher.example", "xn--bcher-kva.example"),
            ("my_service", "my_service"),
            ("loc%61lhost", "localhost"),
        ] {
            assert_eq!(Host::parse(text).unwrap(), Host::Name(name.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused() {
        let long = format!("{}.example", "a".repeat(64));
        for text in [
            "",
            ".",
            "a..b",
            "a b",
            "a/b",
            "a:80",
            "fe80::1%eth0",
            "[fe80::1%25eth0]",
            "[::1",
            "1.2.3.4.5",
            "256.0.0.1",
            "0x100000000",
            "a@b",
            "a\0b",
            "a\r\nb",
            &long,
            &"a.".repeat(600),
        ] {
            assert!(matches!(Host::parse(text), Err(Fault::BadHost)), "{text:?}: {:?}", Host::parse(text));
        }
    }

    #[test]
    fn localhost_asks_nobody() {
        for name in ["localhost", "a.localhost", "Localhost."] {
            let found = Host::parse(name).unwrap().own_addresses().unwrap();
            assert!(found.iter().all(IpAddr::is_loopback), "{name}");
        }
        assert_eq!(Host::parse("localhost.example").unwrap().own_addresses(), None);
        assert_eq!(Host::parse("notlocalhost").unwrap().own_addresses(), None);
    }
}

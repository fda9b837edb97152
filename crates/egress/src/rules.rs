//! Rules of where connections go.

use std::fmt;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::str::FromStr;

use crate::address::{self, AddressClass, classify};

/// Rules of where connections go, set by the operator alone. By default: to public addresses.
#[derive(Clone, Debug)]
pub struct EgressRules {
    /// Addresses that are allowed although they are not public.
    pub allow: Vec<AllowRule>,
    /// Whether this machine's own loopback addresses are allowed, as on a developer's machine.
    pub loopback: bool,
    /// Whether public addresses are allowed. If not, only those of [`Self::allow`] are.
    pub public: bool,
    /// Addresses at which the server itself and its database listen: allowed only by a rule that names this very address and port.
    /// An unspecified address stands for each address of this machine.
    pub own: Vec<SocketAddr>,
}

impl Default for EgressRules {
    fn default() -> Self {
        Self { allow: Vec::new(), loopback: false, public: true, own: Vec::new() }
    }
}

impl EgressRules {
    /// Judges an address.
    ///
    /// # Errors
    /// The class of the address when no connection goes there.
    pub fn judge(&self, address: IpAddr, port: u16) -> Result<(), AddressClass> {
        let address = address.to_canonical();
        let class = classify(address);
        let listed = self.allow.iter().filter(|rule| rule.covers(address, port));
        let (mut is_listed, mut is_exact, mut is_exact_with_port) = (false, false, false);
        for rule in listed {
            is_listed = true;
            is_exact |= rule.is_one_address();
            is_exact_with_port |= rule.is_one_address() && rule.port.is_some();
        }
        if self.is_own(address, port) && !is_exact_with_port {
            return Err(AddressClass::Own);
        }
        match class {
            Some(class @ (AddressClass::Unspecified | AddressClass::Multicast)) => Err(class),
            Some(AddressClass::Metadata) if is_exact => Ok(()),
            Some(AddressClass::Metadata) => Err(AddressClass::Metadata),
            // Whoever translates goes on to the address within: it is judged as if it had been written.
            Some(AddressClass::Translated) if is_listed => match address {
                IpAddr::V6(outer) => {
                    address::embedded(outer).into_iter().try_for_each(|inner| self.judge(inner.into(), port))
                }
                IpAddr::V4(_) => Err(AddressClass::Translated),
            },
            Some(AddressClass::Translated) => Err(AddressClass::Translated),
            Some(_) | None if is_listed => Ok(()),
            Some(AddressClass::Loopback) if self.loopback => Ok(()),
            Some(class) => Err(class),
            None if self.public => Ok(()),
            None => Err(AddressClass::NotListed),
        }
    }

    fn is_own(&self, address: IpAddr, port: u16) -> bool {
        self.own.iter().any(|own| {
            let ip = own.ip().to_canonical();
            own.port() == port && (ip == address || ip.is_unspecified() && is_of_this_machine(address))
        })
    }
}

/// Whether an address is this machine's: nobody binds to another's.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

/// An allowed network, with a port or with all: `10.0.0.0/8:443`, `127.0.0.1:11434`, `192.168.1.7`,
/// `[fd12:3456::/32]:443`, `fd12:3456::1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowRule {
    network: IpAddr,
    prefix: u8,
    port: Option<u16>,
}

/// Reason for which a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllowRuleError {
    /// Text that is no address.
    #[error(
        "`{0}` is not an address, a network or one with a port, such as `10.0.0.0/8:443` or `[fd00::1]:8443`; names are not taken, since whoever owns one points it elsewhere"
    )]
    NotAnAddress(String),
    /// The prefix is longer than an address.
    #[error("`{0}`: the length of the prefix is 0 to {1}")]
    BadPrefix(String, u8),
    /// The address has bits behind its prefix.
    #[error("`{0}` has bits behind its prefix; the network is `{1}`")]
    HostBits(String, String),
    /// The port is none.
    #[error("`{0}`: a port is 1 to 65535")]
    BadPort(String),
    /// The IPv4 address stands in IPv6's form.
    #[error("`{0}`: write the address as IPv4")]
    Mapped(String),
}

impl AllowRule {
    /// Whether the rule covers an address and a port.
    #[must_use]
    pub fn covers(&self, address: IpAddr, port: u16) -> bool {
        address::within(address.to_canonical(), self.network, self.prefix)
            && self.port.is_none_or(|allowed| allowed == port)
    }

    const fn is_one_address(&self) -> bool {
        self.prefix == bits(self.network)
    }
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

impl FromStr for AllowRule {
    type Err = AllowRuleError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let not_an_address = || AllowRuleError::NotAnAddress(text.to_owned());
        let (network, port) = parts(text.trim()).ok_or_else(not_an_address)?;
        let port = match port.map(|port| (port, port.parse::<u16>())) {
            None => None,
            Some((digits, Ok(port))) if port > 0 && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port)
            }
            Some(_) => return Err(AllowRuleError::BadPort(text.to_owned())),
        };
        let (address, prefix) = network.split_once('/').map_or((network, None), |(a, p)| (a, Some(p)));
        let address: IpAddr = address.parse().map_err(|_no_address| not_an_address())?;
        if address.to_canonical() != address {
            return Err(AllowRuleError::Mapped(text.to_owned()));
        }
        let most = bits(address);
        let prefix = match prefix.map(str::parse::<u8>) {
            None => most,
            Some(Ok(prefix)) if prefix <= most => prefix,
            Some(_) => return Err(AllowRuleError::BadPrefix(text.to_owned(), most)),
        };
        let network = cut(address, prefix);
        let rule = Self { network, prefix, port };
        if network == address {
            Ok(rule)
        } else {
            Err(AllowRuleError::HostBits(text.to_owned(), rule.to_string()))
        }
    }
}

/// Network and port of a rule. An IPv6 address with a port stands in brackets.
fn parts(text: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = text.strip_prefix('[') {
        let (network, port) = rest.split_once(']')?;
        return match port.strip_prefix(':') {
            Some(port) => Some((network, Some(port))),
            None => port.is_empty().then_some((network, None)),
        };
    }
    match text.split_once(':') {
        Some((network, port)) if !port.contains(':') => Some((network, Some(port))),
        Some(_) | None => Some((text, None)),
    }
}

fn cut(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix.into())).unwrap_or(0);
            IpAddr::V4(std::net::Ipv4Addr::from_bits(address.to_bits() & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix.into())).unwrap_or(0);
            IpAddr::V6(std::net::Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

impl fmt::Display for AllowRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut network = self.network.to_string();
        if !self.is_one_address() {
            network = format!("{network}/{}", self.prefix);
        }
        match (self.port, self.network) {
            (None, _) => f.write_str(&network),
            (Some(port), IpAddr::V4(_)) => write!(f, "{network}:{port}"),
            (Some(port), IpAddr::V6(_)) => write!(f, "[{network}]:{port}"),
        }
    }
}

#[cfg(test)]
mod tests;

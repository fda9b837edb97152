//! Addresses of clients: who counts as one, and who stands behind a proxy.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Client for the purposes of limits: an IPv4 address, or an IPv6 network of 64 bits, which one customer has whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Source(IpAddr);

impl Source {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(four) => Self(IpAddr::V4(four)),
            IpAddr::V6(six) => Self(IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & (u128::MAX << 64)))),
        }
    }
}

/// Whether an address is one of the trusted proxies.
pub(crate) fn is_trusted(address: IpAddr, trusted: &[IpAddr]) -> bool {
    trusted.iter().any(|proxy| proxy.to_canonical() == address.to_canonical())
}

/// Address of the client behind a peer, by the lines of `X-Forwarded-For` in their order. Each proxy adds its own peer
/// at the right end, so the search goes from the right over the trusted ones; what stands left of the first other one
/// can be made up. An entry that cannot be read ends the search: then nobody but the peer is known.
pub(crate) fn client<'a>(
    peer: IpAddr,
    lines: impl DoubleEndedIterator<Item = &'a [u8]>,
    trusted: &[IpAddr],
) -> IpAddr {
    let peer = peer.to_canonical();
    if !is_trusted(peer, trusted) {
        return peer;
    }
    for line in lines.rev() {
        for entry in line.rsplit(|byte| *byte == b',') {
            match read(entry) {
                Some(address) if is_trusted(address, trusted) => {}
                Some(address) => return address,
                None => return peer,
            }
        }
    }
    peer
}

/// An address, with or without a port: `192.0.2.7`, `192.0.2.7:80`, `2001:db8::7`, `[2001:db8::7]`, `[2001:db8::7]:80`.
fn read(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match bare {
        Some(six) => six.parse::<Ipv6Addr>().map(IpAddr::V6).ok()?,
        None => text.parse().or_else(|_| text.parse::<SocketAddr>().map(|with_port| with_port.ip())).ok()?,
    };
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_the_last_that_is_no_proxy_of_ours() {
        let trusted: Vec<IpAddr> =
            ["10.0.0.1", "10.0.0.2", "fd00::1"].map(|text| text.parse().unwrap()).into();
        let cases: &[(&str, &[&str], &str)] = &[
            // Nobody believes a stranger.
            ("192.0.2.1", &["198.51.100.9"], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.9"], "198.51.100.9"),
            ("10.0.0.1", &["9.9.9.9, 198.51.100.9"], "198.51.100.9"),
            ("10.0.0.1", &["9.9.9.9, 198.51.100.9, 10.0.0.2"], "198.51.100.9"),
            // A proxy that adds a line of its own.
            ("10.0.0.1", &["9.9.9.9", "198.51.100.9"], "198.51.100.9"),
            ("10.0.0.1", &["198.51.100.9", "10.0.0.2"], "198.51.100.9"),
            // Ports, as some gateways write them.
            ("10.0.0.1", &["9.9.9.9, 198.51.100.9:5555"], "198.51.100.9"),
            ("10.0.0.1", &["9.9.9.9,[2001:db8::7]:443"], "2001:db8::7"),
            ("10.0.0.1", &["9.9.9.9,[2001:db8::7]"], "2001:db8::7"),
            ("10.0.0.1", &["2001:db8::7"], "2001:db8::7"),
            ("fd00::1", &["198.51.100.9, 10.0.0.2:80"], "198.51.100.9"),
            // What cannot be read ends the search.
            ("10.0.0.1", &["9.9.9.9, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9, _hidden, 10.0.0.2"], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9, "], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9", ""], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9, 198.51.100.9:port"], "10.0.0.1"),
            ("10.0.0.1", &["9.9.9.9, [198.51.100.9]"], "10.0.0.1"),
            // Only proxies: nobody else is known.
            ("10.0.0.1", &["10.0.0.2"], "10.0.0.1"),
            // The same address in both families.
            ("::ffff:10.0.0.1", &["::ffff:198.51.100.9"], "198.51.100.9"),
        ];
        for (peer, lines, expected) in cases {
            let found = client(peer.parse().unwrap(), lines.iter().map(|line| line.as_bytes()), &trusted);
            assert_eq!(found.to_string(), *expected, "{peer} {lines:?}");
        }
        let broken: [&[u8]; 2] = [b"9.9.9.9", b"\xff\xfe"];
        let found = client("10.0.0.1".parse().unwrap(), broken.into_iter(), &trusted);
        assert_eq!(found.to_string(), "10.0.0.1");
    }

    #[test]
    fn a_customers_network_is_one_client() {
        let of = |text: &str| Source::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.2"), of("192.0.2.1"));
    }
}

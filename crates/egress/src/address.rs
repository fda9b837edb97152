//! Classes of addresses that are not the public network's.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Class of an address to which a connection does not go by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressClass {
    /// The machine itself, written as no address (`0.0.0.0`, `::`).
    Unspecified,
    /// The machine itself.
    Loopback,
    /// A private network.
    Private,
    /// The network of a carrier (RFC 6598).
    Shared,
    /// The link alone.
    LinkLocal,
    /// The service that tells a machine of a cloud about itself, and gives its credentials.
    Metadata,
    /// Documentation, benchmarks, protocols: nobody's addresses.
    Reserved,
    /// An IPv4 address within an IPv6 one, which a translator or a tunnel takes out.
    Translated,
    /// Many machines at once.
    Multicast,
    /// An address of this installation: the server's own, or its database's.
    Own,
    /// A public address, where only listed ones are allowed.
    NotListed,
}

impl fmt::Display for AddressClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "unspecified",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::LinkLocal => "link-local",
            Self::Metadata => "metadata service",
            Self::Reserved => "reserved",
            Self::Translated => "translated",
            Self::Multicast => "multicast",
            Self::Own => "this installation's own",
            Self::NotListed => "not listed",
        })
    }
}

/// A network of IPv4.
struct Net4(Ipv4Addr, u8, AddressClass);

const fn net4(octets: [u8; 4], prefix: u8, class: AddressClass) -> Net4 {
    Net4(Ipv4Addr::from_octets(octets), prefix, class)
}

/// Networks of IPv4 that are not public (the IANA special-purpose registry).
const NETS4: &[Net4] = &[
    net4([0, 0, 0, 0], 8, AddressClass::Unspecified),
    net4([10, 0, 0, 0], 8, AddressClass::Private),
    net4([100, 64, 0, 0], 10, AddressClass::Shared),
    net4([127, 0, 0, 0], 8, AddressClass::Loopback),
    net4([169, 254, 0, 0], 16, AddressClass::Metadata),
    net4([172, 16, 0, 0], 12, AddressClass::Private),
    net4([192, 0, 0, 0], 24, AddressClass::Reserved),
    net4([192, 0, 2, 0], 24, AddressClass::Reserved),
    net4([192, 88, 99, 0], 24, AddressClass::Reserved),
    net4([192, 168, 0, 0], 16, AddressClass::Private),
    net4([198, 18, 0, 0], 15, AddressClass::Reserved),
    net4([198, 51, 100, 0], 24, AddressClass::Reserved),
    net4([203, 0, 113, 0], 24, AddressClass::Reserved),
    net4([224, 0, 0, 0], 4, AddressClass::Multicast),
    net4([240, 0, 0, 0], 4, AddressClass::Reserved),
];

/// Metadata services outside of the link's network: of Alibaba, Oracle, and Azure (which is a public address).
const METADATA4: [[u8; 4]; 3] = [[100, 100, 100, 200], [192, 0, 0, 192], [168, 63, 129, 16]];
/// Metadata services of IPv6: of Amazon (instances, containers) and Google.
const METADATA6: [[u16; 8]; 3] = [
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],
    [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],
];

/// A network of IPv6.
struct Net6([u16; 8], u8, AddressClass);

/// Networks of IPv6 within the public `2000::/3` that are not public, and those outside that have a name.
const NETS6: &[Net6] = &[
    Net6([0, 0, 0, 0, 0, 0, 0, 0], 128, AddressClass::Unspecified),
    Net6([0, 0, 0, 0, 0, 0, 0, 1], 128, AddressClass::Loopback),
    Net6([0, 0, 0, 0, 0, 0, 0, 0], 96, AddressClass::Translated),
    Net6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, AddressClass::Translated),
    Net6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, AddressClass::Translated),
    Net6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, AddressClass::Translated),
    Net6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, AddressClass::Translated),
    Net6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, AddressClass::Translated),
    Net6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, AddressClass::Reserved),
    Net6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, AddressClass::Reserved),
    Net6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, AddressClass::Translated),
    Net6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, AddressClass::Reserved),
    Net6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, AddressClass::Private),
    Net6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::LinkLocal),
    Net6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, AddressClass::Private),
    Net6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, AddressClass::Multicast),
];

/// Class of an address; `None` for one of the public network.
pub(crate) fn classify(address: IpAddr) -> Option<AddressClass> {
    match address.to_canonical() {
        IpAddr::V4(address) if METADATA4.contains(&address.octets()) => Some(AddressClass::Metadata),
        IpAddr::V4(address) => {
            let found =
                NETS4.iter().find(|Net4(net, prefix, _)| within(address.into(), (*net).into(), *prefix));
            found.map(|Net4(_, _, class)| *class)
        }
        IpAddr::V6(address) if METADATA6.contains(&address.segments()) => Some(AddressClass::Metadata),
        IpAddr::V6(address) => {
            let found = NETS6.iter().find(|Net6(net, prefix, _)| {
                within(address.into(), Ipv6Addr::from_segments(*net).into(), *prefix)
            });
            // Only this eighth of all addresses is given out as public.
            let is_global = address.segments().first().is_some_and(|first| first >> 13 == 1);
            found.map(|Net6(_, _, class)| *class).or((!is_global).then_some(AddressClass::Reserved))
        }
    }
}

/// The IPv4 addresses that a translator or a tunnel may take out of an IPv6 address.
pub(crate) fn embedded(address: Ipv6Addr) -> Vec<Ipv4Addr> {
    let octets = address.octets();
    let at = |from: usize| {
        let mut found = [0; 4];
        octets.iter().skip(from).zip(&mut found).for_each(|(octet, place)| *place = *octet);
        Ipv4Addr::from_octets(found)
    };
    match address.segments() {
        // Teredo has the server's address, and the client's with each bit turned.
        [0x2001, 0, ..] => vec![at(4), Ipv4Addr::from_bits(!at(12).to_bits())],
        [0x2002, ..] => vec![at(2)],
        [0x64, 0xff9b, 1, ..] => {
            // The local prefix has lengths of its own (RFC 6052, 2.2): each place where the address may stand. The octet
            // 8 is none of the address's.
            let split = |from: usize| {
                let mut octets = octets.iter().enumerate().skip(from).filter(|(index, _)| *index != 8);
                let mut next = || octets.next().map_or(0, |(_, octet)| *octet);
                Ipv4Addr::new(next(), next(), next(), next())
            };
            vec![split(6), split(7), split(9), at(12)]
        }
        _ if classify(address.into()) == Some(AddressClass::Translated) => vec![at(12)],
        _ => Vec::new(),
    }
}

/// Whether an address lies in a network; one of the other family never does.
pub(crate) fn within(address: IpAddr, network: IpAddr, prefix: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix.into())).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix.into())).unwrap_or(0);
            address.to_bits() & mask == network.to_bits() & mask
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

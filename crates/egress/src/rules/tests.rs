use super::*;

fn rules(allow: &[&str]) -> EgressRules {
    EgressRules { allow: allow.iter().map(|rule| rule.parse().unwrap()).collect(), ..EgressRules::default() }
}

fn judged(rules: &EgressRules, address: &str, port: u16) -> Result<(), AddressClass> {
    rules.judge(address.parse().unwrap(), port)
}

#[test]
fn the_table_of_what_is_not_public() {
    use AddressClass::{
        LinkLocal, Loopback, Metadata, Multicast, Private, Reserved, Shared, Translated, Unspecified,
    };
    let rules = EgressRules::default();
    for (addresses, class) in [
        ("0.0.0.0 0.255.255.255 ::", Unspecified),
        ("127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1", Loopback),
        ("10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fdff::1 fec0::1", Private),
        ("::ffff:10.1.2.3 ::ffff:c0a8:101", Private),
        ("100.64.0.1 100.127.255.255", Shared),
        ("fe80::1 febf::1", LinkLocal),
        (
            "169.254.169.254 169.254.0.1 ::ffff:169.254.169.254 fd00:ec2::254 fd00:ec2::23 fd20:ce::254",
            Metadata,
        ),
        ("100.100.100.200 192.0.0.192 168.63.129.16", Metadata),
        ("192.0.0.1 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1", Reserved),
        ("240.0.0.1 255.255.255.255 100::1 2001:2::1 2001:db8::1 3fff::1 5f00::1 4000::1 e000::1", Reserved),
        ("224.0.0.1 239.255.255.255 ff02::1 ff0e::1", Multicast),
        (
            "64:ff9b::8.8.8.8 64:ff9b:1::8.8.8.8 2002:808:808:: 2001:0:1:2:3:4:5:6 ::8.8.8.8 ::ffff:0:8.8.8.8",
            Translated,
        ),
        ("64:ff9b::7f00:1 2002:7f00:1:: 64:ff9b::a9fe:a9fe", Translated),
    ] {
        for address in addresses.split(' ') {
            assert_eq!(judged(&rules, address, 443), Err(class), "{address}");
        }
    }
    for address in [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "169.253.255.255",
        "169.255.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "192.167.255.255",
        "192.169.0.1",
        "198.17.255.255",
        "198.20.0.1",
        "223.255.255.255",
        "2606:4700::1111",
        "2001:200::1",
        "2003::1",
        "2a00::1",
        "::ffff:8.8.8.8",
    ] {
        assert_eq!(judged(&rules, address, 443), Ok(()), "{address}");
    }
}

#[test]
fn an_operator_opens_networks_and_ports() {
    let rules = rules(&["10.0.0.0/8:443", "127.0.0.1:11434", "192.168.1.7", "[fd12::/16]:443", "fd99::1"]);
    for (address, port, allowed) in [
        ("10.1.2.3", 443, true),
        ("10.1.2.3", 80, false),
        ("::ffff:10.1.2.3", 443, true),
        ("11.0.0.1", 443, true),
        ("127.0.0.1", 11434, true),
        ("127.0.0.1", 80, false),
        ("127.0.0.2", 11434, false),
        ("::1", 11434, false),
        ("192.168.1.7", 5432, true),
        ("192.168.1.8", 5432, false),
        ("fd12::9", 443, true),
        ("fd12::9", 80, false),
        ("fd13::9", 443, false),
        ("fd99::1", 25, true),
    ] {
        assert_eq!(judged(&rules, address, port).is_ok(), allowed, "{address} {port}");
    }
}

#[test]
fn metadata_is_opened_by_its_own_address_alone() {
    let wide = rules(&["0.0.0.0/0", "169.254.0.0/16", "169.254.169.254/31", "::/0", "fd00:ec2::/32"]);
    for address in
        ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "100.100.100.200"]
    {
        assert_eq!(judged(&wide, address, 80), Err(AddressClass::Metadata), "{address}");
    }
    let exact = rules(&["169.254.169.254:80", "::/0"]);
    assert_eq!(judged(&exact, "169.254.169.254", 80), Ok(()));
    assert_eq!(judged(&exact, "169.254.169.254", 8080), Err(AddressClass::Metadata));
    assert_eq!(judged(&exact, "169.254.170.2", 80), Err(AddressClass::Metadata));
}

#[test]
fn no_rule_opens_what_is_no_address_of_one_machine() {
    let wide = rules(&["0.0.0.0/0", "0.0.0.0", "::/0", "::", "224.0.0.1", "ff02::1"]);
    for (address, class) in [
        ("0.0.0.0", AddressClass::Unspecified),
        ("::", AddressClass::Unspecified),
        ("224.0.0.1", AddressClass::Multicast),
        ("ff02::1", AddressClass::Multicast),
    ] {
        assert_eq!(judged(&wide, address, 80), Err(class), "{address}");
    }
}

#[test]
fn a_translated_address_is_judged_by_the_one_within() {
    let rules = rules(&["64:ff9b::/96", "2002::/16", "2001::/32", "64:ff9b:1::/48", "::/96"]);
    for (address, verdict) in [
        ("64:ff9b::8.8.8.8", Ok(())),
        ("64:ff9b::7f00:1", Err(AddressClass::Loopback)),
        ("64:ff9b::10.0.0.1", Err(AddressClass::Private)),
        ("2002:808:808::", Ok(())),
        ("2002:7f00:1::1", Err(AddressClass::Loopback)),
        // Teredo: a public server, and a client at 127.0.0.1 with its bits turned.
        ("2001:0:808:808:0:0:80ff:fffe", Err(AddressClass::Loopback)),
        ("::10.0.0.1", Err(AddressClass::Private)),
        // The local prefix with 48 bits: the address stands around the octet 8.
        ("64:ff9b:1:7f00:0:100::", Err(AddressClass::Loopback)),
    ] {
        assert_eq!(judged(&rules, address, 80), verdict, "{address}");
    }
}

#[test]
fn the_installation_itself_is_opened_by_address_and_port_alone() {
    let own = vec!["0.0.0.0:8080".parse().unwrap(), "10.0.0.5:5432".parse().unwrap()];
    let wide = EgressRules { own: own.clone(), loopback: true, ..rules(&["10.0.0.0/8", "10.0.0.5"]) };
    assert_eq!(judged(&wide, "127.0.0.1", 8080), Err(AddressClass::Own));
    assert_eq!(judged(&wide, "::1", 8080), Err(AddressClass::Own));
    assert_eq!(judged(&wide, "127.0.0.1", 8081), Ok(()));
    assert_eq!(judged(&wide, "10.0.0.5", 5432), Err(AddressClass::Own));
    assert_eq!(judged(&wide, "::ffff:10.0.0.5", 5432), Err(AddressClass::Own));
    assert_eq!(judged(&wide, "10.0.0.5", 443), Ok(()));
    let exact = EgressRules { own, ..rules(&["10.0.0.5:5432"]) };
    assert_eq!(judged(&exact, "10.0.0.5", 5432), Ok(()));
}

#[test]
fn only_listed_addresses_when_the_public_ones_are_closed() {
    let rules = EgressRules { public: false, ..rules(&["8.8.8.8:443"]) };
    assert_eq!(judged(&rules, "8.8.8.8", 443), Ok(()));
    assert_eq!(judged(&rules, "8.8.4.4", 443), Err(AddressClass::NotListed));
    assert_eq!(judged(&rules, "10.0.0.1", 443), Err(AddressClass::Private));
}

#[test]
fn rules_are_read_and_written() {
    for text in [
        "10.0.0.0/8:443",
        "127.0.0.1:11434",
        "192.168.1.7",
        "10.0.0.0/8",
        "[fd12::/16]:443",
        "fd12::/16",
        "fd99::1",
        "[fd99::1]:25",
        "0.0.0.0/0",
        "::/0",
    ] {
        assert_eq!(text.parse::<AllowRule>().unwrap().to_string(), text);
    }
    for (text, shown) in
        [("10.0.0.1/32:80", "10.0.0.1:80"), ("[fd99::1]", "fd99::1"), (" 10.0.0.0/8 ", "10.0.0.0/8")]
    {
        assert_eq!(text.parse::<AllowRule>().unwrap().to_string(), shown);
    }
    for (text, reason) in [
        ("", "not an address"),
        ("db.internal:5432", "not an address"),
        ("10.0.0/8", "not an address"),
        ("*", "not an address"),
        ("10.0.0.0/33", "0 to 32"),
        ("10.0.0.0/x", "0 to 32"),
        ("fd00::/129", "0 to 128"),
        ("10.0.0.1/8", "`10.0.0.0/8`"),
        ("10.0.0.1/8:443", "`10.0.0.0/8:443`"),
        ("10.0.0.0/8:0", "1 to 65535"),
        ("10.0.0.0/8:70000", "1 to 65535"),
        ("10.0.0.0/8:", "1 to 65535"),
        ("10.0.0.0/8:+1", "1 to 65535"),
        ("[fd00::1", "not an address"),
        ("[fd00::1]443", "not an address"),
        ("::ffff:10.0.0.1", "as IPv4"),
        ("0x7f.1", "not an address"),
        ("fe80::1%eth0", "not an address"),
    ] {
        let error = text.parse::<AllowRule>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

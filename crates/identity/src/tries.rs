//! Buckets in which a try is counted.
//!
//! An attacker who knows an address fills the bucket of the account from the attacker's own network, and keeps nobody
//! else out. Many networks together fill the account's own bucket, which is looser; many accounts from one network
//! fill the network's. A device on which the account was signed in before has a bucket of its own and passes all of
//! them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use heddle_kernel::UserId;

use crate::throttle::{Bucket, Pace};

/// Pace of the tries of one account from anywhere.
const OF_ACCOUNT: Pace = Pace::Leaking { at_once: 50, seconds: 60 };
/// Pace of the tries from one network for any account.
const OF_NETWORK: Pace = Pace::Leaking { at_once: 100, seconds: 30 };

/// Buckets of a sign-in.
pub(crate) struct Tries {
    /// Those that belong to the account alone: a success empties them.
    pub own: Vec<Bucket>,
    /// Those of the network: a success takes back its own try.
    pub shared: Vec<Bucket>,
    /// Origin of the caller: a network, or a device that is known.
    pub origin: String,
}

impl Tries {
    /// All of them.
    pub(crate) fn all(&self) -> Vec<Bucket> {
        self.own.iter().chain(&self.shared).cloned().collect()
    }
}

/// Key of an account that is signed in to, known or not: it begins the keys of its buckets.
pub(crate) fn account_key(email: &str) -> String {
    heddle_usecase::sha256_hex(format!("sign-in|{email}").as_bytes())
}

/// Buckets of a sign-in from an address, or from a device that is known.
pub(crate) fn of_sign_in(account: &str, address: Option<&str>, device: Option<&str>) -> Tries {
    if let Some(device) = device {
        let own = Bucket { key: format!("{account}/device/{device}"), pace: Pace::Doubling };
        return Tries { own: vec![own], shared: Vec::new(), origin: format!("device/{device}") };
    }
    let network = heddle_usecase::sha256_hex(network(address.unwrap_or_default()).as_bytes());
    let pair = Bucket { key: format!("{account}/network/{network}"), pace: Pace::Doubling };
    let whole = Bucket { key: account.to_owned(), pace: OF_ACCOUNT };
    let shared = Bucket { key: format!("network/{network}"), pace: OF_NETWORK };
    Tries { own: vec![pair, whole], shared: vec![shared], origin: format!("network/{network}") }
}

/// Bucket of the tries of a present password within a session.
pub(crate) fn of_password(user: UserId) -> Bucket {
    Bucket { key: password_key(user), pace: Pace::Doubling }
}

/// Key of the bucket of a user's present password.
pub(crate) fn password_key(user: UserId) -> String {
    heddle_usecase::sha256_hex(format!("password|{user}").as_bytes())
}

/// Bucket of the tries of an account's codes, from anywhere; of a device that is known, its own.
pub(crate) fn of_code(user: UserId, device: Option<&str>) -> Bucket {
    let account = code_key(user);
    let key = match device {
        Some(device) => format!("{account}/device/{device}"),
        None => account,
    };
    Bucket { key, pace: Pace::Doubling }
}

/// Key of an account's codes: it begins the keys of their buckets.
pub(crate) fn code_key(user: UserId) -> String {
    heddle_usecase::sha256_hex(format!("code|{user}").as_bytes())
}

/// Network of an address: what one subscriber has, a /24 or a /56. A text that is no address stands for itself.
fn network(address: &str) -> String {
    match address.trim().parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            let [a, b, c, _] = address.octets();
            Ipv4Addr::new(a, b, c, 0).to_string()
        }
        Ok(IpAddr::V6(address)) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 72)).to_string(),
        Err(_) => address.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_is_what_one_subscriber_has() {
        assert_eq!(network("192.0.2.7"), network("192.0.2.200"));
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.200"));
        assert_ne!(network("192.0.2.7"), network("192.0.3.7"));
        assert_eq!(network("2001:db8:0:12ab::1"), network("2001:db8:0:12ff:9::1"));
        assert_ne!(network("2001:db8:0:12ab::1"), network("2001:db8:0:13ab::1"));
    }

    #[test]
    fn a_known_device_has_a_bucket_of_its_own() {
        let keys = |tries: Tries| tries.all().into_iter().map(|bucket| bucket.key).collect::<Vec<_>>();
        let account = account_key("ada@example.com");
        let here = keys(of_sign_in(&account, Some("192.0.2.7"), None));
        let there = keys(of_sign_in(&account, Some("198.51.100.7"), None));
        let known = keys(of_sign_in(&account, Some("192.0.2.7"), Some("d")));
        assert_eq!((here.len(), known.len()), (3, 1));
        // Only the looser bucket of the account is common to two networks.
        assert_eq!(here.iter().filter(|key| there.contains(key)).count(), 1);
        assert!(known.iter().all(|key| !here.contains(key) && key.starts_with(&account)));
    }
}

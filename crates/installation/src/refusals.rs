//! Refusals that repeat become one event with a count, and what a stranger or a caller can have written within a window
//! is bounded: a flood fills neither the trail nor the disk, and none of it is lost from the count.

use std::collections::HashMap;
use std::net::IpAddr;

use heddle_kernel::{TenantId, Timestamp};
use heddle_usecase::{ActorKind, AuditEntry};
use serde_json::{Value, json};

/// Most kinds of refusals of one caller, or of one address, that have events of their own within a window.
const KINDS_EACH: usize = 20;
/// Most kinds of refusals of all that are not signed in that have events of their own within a window.
const KINDS_OF_STRANGERS: usize = 100;

/// Kind of a refusal: what repeats it is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Kind {
    tenant: Option<TenantId>,
    /// The caller, or the network that a stranger calls from; none where too many kinds are one.
    who: Option<String>,
    action: String,
    reason: Option<String>,
    /// Operation and thing; none where too many kinds are one.
    what: Option<(String, Option<String>)>,
}

/// Refusals of a kind that came after the first one.
#[derive(Debug)]
struct Repeats {
    since: Timestamp,
    latest: AuditEntry,
    count: u64,
}

/// Refusals of the present window.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    kinds: HashMap<Kind, Option<Repeats>>,
    kinds_of: HashMap<String, usize>,
    kinds_of_strangers: usize,
}

impl Refusals {
    /// Counts a refusal; the event to write now, if it is the first of its kind.
    pub(crate) fn take(&mut self, entry: AuditEntry) -> Option<AuditEntry> {
        let kind = self.kind(&entry);
        match self.kinds.get_mut(&kind) {
            None => {
                self.kinds.insert(kind, None);
                Some(entry)
            }
            Some(Some(repeats)) => {
                repeats.count += 1;
                repeats.latest = entry;
                None
            }
            Some(none) => {
                *none = Some(Repeats { since: entry.at, latest: entry, count: 1 });
                None
            }
        }
    }

    /// The events that tell of the repeats so far; they count anew from here.
    pub(crate) fn repeats(&mut self) -> Vec<AuditEntry> {
        let mut told: Vec<AuditEntry> = self
            .kinds
            .iter_mut()
            .filter_map(|(kind, repeats)| Some(counted(kind, repeats.take()?)))
            .collect();
        told.sort_by_key(|entry| entry.id);
        told
    }

    /// Ends the window; the events that tell of its repeats.
    pub(crate) fn close(&mut self) -> Vec<AuditEntry> {
        let told = self.repeats();
        *self = Self::default();
        told
    }

    /// Kind of a refusal. Whoever has had too many of their own shares one for each reason.
    fn kind(&mut self, entry: &AuditEntry) -> Kind {
        let stranger = entry.actor.kind == ActorKind::Anonymous;
        let who = if stranger { network(entry.client_ip.as_deref()) } else { caller(entry) };
        let text = |name: &str| entry.details.get(name).and_then(Value::as_str).map(str::to_owned);
        // What a stranger asks for is whatever they care to write; an account that they try is one that there is.
        let named = !stranger || entry.action != "access.denied";
        let thing = || match (&entry.resource_id, &entry.target) {
            (None, Some(target)) => Some(target.id.clone()),
            (id, _) => id.clone(),
        };
        let own = Kind {
            tenant: entry.tenant,
            who: Some(who.clone()),
            action: entry.action.clone(),
            reason: text("reason").or_else(|| text("code")),
            what: named.then(|| (text("operation").unwrap_or_default(), thing())),
        };
        if self.kinds.contains_key(&own) {
            return own;
        }
        let each = self.kinds_of.entry(who).or_default();
        if stranger && self.kinds_of_strangers >= KINDS_OF_STRANGERS {
            return Kind { tenant: None, who: None, what: None, ..own };
        }
        if *each >= KINDS_EACH {
            return Kind { what: None, ..own };
        }
        *each += 1;
        self.kinds_of_strangers += usize::from(stranger);
        own
    }
}

fn caller(entry: &AuditEntry) -> String {
    let id = entry.actor.id.clone().unwrap_or_default();
    format!("{id} {}", entry.actor.credential.as_deref().unwrap_or_default())
}

/// Network of an address: itself, or the /64 of an IPv6 address, of which one machine has all.
fn network(address: Option<&str>) -> String {
    match address.and_then(|text| text.parse().ok()) {
        Some(IpAddr::V6(v6)) if v6.to_ipv4_mapped().is_none() => {
            let [a, b, c, d, ..] = v6.segments();
            format!("{a:x}:{b:x}:{c:x}:{d:x}")
        }
        Some(ip) => ip.to_canonical().to_string(),
        None => "unknown".to_owned(),
    }
}

/// The latest refusal of a kind, with the count of all that it stands for.
fn counted(kind: &Kind, repeats: Repeats) -> AuditEntry {
    let Repeats { since, mut latest, count } = repeats;
    if let Some(details) = latest.details.as_object_mut() {
        details.insert("count".to_owned(), json!(count));
        details.insert("since".to_owned(), json!(since));
        if kind.who.is_none() {
            details.insert("addresses".to_owned(), json!("several"));
        }
        if kind.what.is_none() && latest.actor.kind != ActorKind::Anonymous {
            details.insert("operations".to_owned(), json!("several"));
        }
    }
    latest
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::EventId;
    use heddle_usecase::{Actor, Outcome};
    use uuid::Uuid;

    fn refusal(n: u128, actor: Actor, address: &str, details: Value) -> AuditEntry {
        AuditEntry {
            id: EventId(Uuid::from_u128(n)),
            tenant: None,
            at: Timestamp::from_micros(i64::try_from(n).unwrap()),
            actor,
            action: "access.denied".to_owned(),
            resource_type: "workflow".to_owned(),
            resource_id: details.get("thing").and_then(Value::as_str).map(str::to_owned),
            target: None,
            outcome: Outcome::Denied,
            request_id: format!("r-{n}"),
            client_ip: Some(address.to_owned()),
            details,
        }
    }

    fn stranger(n: u128, address: &str, reason: &str) -> AuditEntry {
        let details = json!({ "operation": format!("op-{n}"), "reason": reason, "thing": format!("t-{n}") });
        refusal(n, Actor::anonymous(), address, details)
    }

    fn user(n: u128, thing: &str) -> AuditEntry {
        let actor = Actor {
            kind: ActorKind::User,
            id: Some("u".to_owned()),
            display: "U".to_owned(),
            credential: Some("s".to_owned()),
        };
        refusal(n, actor, "192.0.2.1", json!({ "operation": "op", "reason": "denied", "thing": thing }))
    }

    #[test]
    fn each_address_has_its_own_event_and_what_repeats_is_counted() {
        let mut refusals = Refusals::default();
        let written = |refusals: &mut Refusals, n, address, reason| {
            refusals.take(stranger(n, address, reason)).is_some()
        };
        assert!(written(&mut refusals, 1, "192.0.2.1", "invalidToken"));
        assert!(written(&mut refusals, 2, "192.0.2.2", "invalidToken"));
        assert!(written(&mut refusals, 3, "192.0.2.1", "throttled"));
        assert!(written(&mut refusals, 4, "2001:db8::1", "throttled"));
        for n in 5..15 {
            assert!(
                !written(&mut refusals, n, "192.0.2.1", "invalidToken"),
                "another operation is no other kind"
            );
        }
        assert!(!written(&mut refusals, 15, "2001:db8::ffff:2", "throttled"));
        let told = refusals.close();
        let shown: Vec<_> = told
            .iter()
            .map(|entry| {
                (entry.client_ip.as_deref().unwrap(), &entry.details["count"], &entry.details["since"])
            })
            .collect();
        let since = |n: i64| json!(Timestamp::from_micros(n));
        assert_eq!(
            shown,
            [("192.0.2.1", &json!(10), &since(5)), ("2001:db8::ffff:2", &json!(1), &since(15))]
        );
        assert!(written(&mut refusals, 16, "192.0.2.1", "invalidToken"), "a window later it is told again");
        assert!(refusals.close().is_empty());
    }

    #[test]
    fn a_flood_from_many_addresses_makes_few_events_and_each_is_counted() {
        let mut refusals = Refusals::default();
        let flood: u64 = 20_000;
        let address = |n: u64| format!("10.{}.{}.{}", n >> 16, (n >> 8) & 255, n & 255);
        let written = (0..flood)
            .filter_map(|n| refusals.take(stranger(u128::from(n), &address(n), "invalidToken")))
            .count();
        let told = refusals.close();
        assert_eq!((written, told.len()), (KINDS_OF_STRANGERS + 1, 1));
        let counted = told[0].details["count"].as_u64().unwrap();
        assert_eq!(u64::try_from(written).unwrap() + counted, flood);
        assert_eq!(told[0].details["addresses"], "several");
    }

    #[test]
    fn a_caller_who_tries_many_things_has_a_few_events_of_their_own() {
        let mut refusals = Refusals::default();
        let written = (0..1_000).filter_map(|n| refusals.take(user(n, &format!("thing-{n}")))).count();
        let told = refusals.repeats();
        assert_eq!((written, told.len()), (KINDS_EACH + 1, 1));
        assert_eq!(told[0].details["count"], 1_000 - written);
        assert_eq!(told[0].details["operations"], "several");
        assert!(refusals.repeats().is_empty(), "what was told is not told again");
        assert!(refusals.take(user(1_001, "thing-3")).is_none());
        assert_eq!(refusals.close()[0].resource_id.as_deref(), Some("thing-3"));
    }
}

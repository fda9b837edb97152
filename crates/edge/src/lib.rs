//! The edge: how much connections, addresses, slow clients and open streams may take, whoever they belong to. What is
//! refused here costs neither a descriptor, a body nor a thread. It knows connections and their encryption, and no HTTP.

mod address;
pub mod connection;
pub mod descriptors;
mod limits;
mod rate;
mod tally;
pub mod tls;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use heddle_kernel::TenantId;
use heddle_policy::SessionKind;
use tokio::time::Instant;
use uuid::Uuid;

pub use address::Source;
pub use limits::{EdgeLimits, Pace};
pub use tally::Place;

use rate::Rate;
use tally::Tally;

/// Bytes of a body that are not counted: most bodies are no larger.
const SMALL_BODY: usize = 64 * 1024;

/// Holder of something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Holder {
    /// Everybody: all connections.
    Everybody,
    /// An address: its connections, or its requests through a proxy.
    Address(Source),
    /// A session or API token: its streams.
    Credential(Uuid),
    /// An organisation: its streams.
    Organization(TenantId),
    /// All large bodies, by bytes.
    Bodies,
    /// Large bodies of an organisation, by bytes; of whoever belongs to none, together.
    BodiesOf(Option<TenantId>),
}

/// Limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// Key of the limit in the configuration.
    pub limit: &'static str,
    /// Value of the limit.
    pub most: usize,
    /// Holder of the limit.
    pub of: Whose,
}

/// Holder of a limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The node's: nobody in particular has taken too much.
    Node,
    /// The caller's.
    Caller,
}

/// Places of something open, given back when they are dropped.
#[derive(Debug)]
pub struct Places {
    _held: [Place<Holder>; 2],
}

/// Counts and rates of a node.
#[derive(Debug)]
pub struct Edge {
    limits: EdgeLimits,
    trusted: Vec<IpAddr>,
    tally: Arc<Tally<Holder>>,
    anonymous: Rate,
}

impl Edge {
    /// Edge with these limits, as far as the process may open files.
    pub fn new(limits: EdgeLimits, trusted: Vec<IpAddr>, files: Option<u64>) -> Self {
        let connections = descriptors::connections_within(files, limits.connections);
        // One address alone never takes more than half of them.
        let of_one = limits.connections_per_address.min((connections / 2).max(1));
        Self {
            limits: EdgeLimits { connections, connections_per_address: of_one, ..limits },
            trusted,
            tally: Arc::new(Tally::default()),
            anonymous: Rate::new(limits.anonymous_per_second, Instant::now()),
        }
    }

    /// The limits that hold.
    pub const fn limits(&self) -> &EdgeLimits {
        &self.limits
    }

    /// Place of a new connection. A trusted proxy has as many as it needs: its clients are counted by their requests.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn connect(&self, peer: IpAddr) -> Result<Connected, Reached> {
        let EdgeLimits { connections, connections_per_address, .. } = self.limits;
        let reached = Reached { limit: "max_connections", most: connections, of: Whose::Node };
        let all = self.tally.enter(Holder::Everybody, connections).ok_or(reached)?;
        if address::is_trusted(peer, &self.trusted) {
            return Ok(Connected { _all: all, _own: None });
        }
        let own = self.of_address(peer, connections_per_address)?;
        Ok(Connected { _all: all, _own: Some(own) })
    }

    /// Place of a client's request that came through a trusted proxy; none is needed without one, for then the
    /// connection has one.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn request(&self, peer: IpAddr, client: IpAddr) -> Result<Option<Place<Holder>>, Reached> {
        if !address::is_trusted(peer, &self.trusted) || address::is_trusted(client, &self.trusted) {
            return Ok(None);
        }
        self.of_address(client, self.limits.connections_per_address).map(Some)
    }

    fn of_address(&self, address: IpAddr, most: usize) -> Result<Place<Holder>, Reached> {
        let reached = Reached { limit: "max_connections_per_address", most, of: Whose::Caller };
        self.tally.enter(Holder::Address(Source::of(address)), most).ok_or(reached)
    }

    /// Places of a stream in its session and organisation.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn stream(&self, session: SessionKind, tenant: TenantId) -> Result<Places, Reached> {
        let credential = match session {
            SessionKind::Session(id) | SessionKind::CommandLine(id) => id.0,
            SessionKind::ApiToken(id) | SessionKind::ServiceToken(id) => id.0,
        };
        let EdgeLimits { streams_per_session, streams_per_organization, .. } = self.limits;
        let enter = |holder, limit, most| {
            self.tally.enter(holder, most).ok_or(Reached { limit, most, of: Whose::Caller })
        };
        let own = enter(Holder::Credential(credential), "max_streams_per_session", streams_per_session)?;
        let all = Holder::Organization(tenant);
        let all = enter(all, "max_streams_per_organization", streams_per_organization)?;
        Ok(Places { _held: [own, all] })
    }

    /// Places of the bytes of a body.
    pub fn body(&self, tenant: Option<TenantId>) -> HeldBody {
        let begin = |holder| self.tally.begin(holder);
        let most = self.limits.body_bytes;
        HeldBody {
            all: begin(Holder::Bodies),
            own: begin(Holder::BodiesOf(tenant)),
            most,
            counted: SMALL_BODY,
        }
    }

    /// One anonymous request of a client.
    ///
    /// # Errors
    /// Time after which the next one is taken.
    pub fn anonymous(&self, client: IpAddr) -> Result<(), Duration> {
        self.anonymous.take(Source::of(client), Instant::now())
    }

    /// Client behind a peer.
    pub fn client<'a>(&self, peer: IpAddr, lines: impl DoubleEndedIterator<Item = &'a [u8]>) -> IpAddr {
        address::client(peer, lines, &self.trusted)
    }

    /// Whether connections that nobody needs at the moment should make room.
    pub fn is_crowded(&self) -> bool {
        self.tally.of(Holder::Everybody) > self.limits.connections / 4 * 3
    }
}

/// Bytes of a body that are held, given back when it is dropped.
#[derive(Debug)]
pub struct HeldBody {
    all: Place<Holder>,
    own: Place<Holder>,
    most: usize,
    counted: usize,
}

impl HeldBody {
    /// The body has so many bytes now.
    ///
    /// # Errors
    /// The limit that is reached.
    pub fn reach(&mut self, bytes: usize) -> Result<(), Reached> {
        let more = bytes.saturating_sub(self.counted);
        if more == 0 {
            return Ok(());
        }
        let reached = |most, of| Reached { limit: "max_body_memory_mib", most, of };
        if !self.own.grow(more, self.most / 2) {
            return Err(reached(self.most / 2, Whose::Caller));
        }
        if !self.all.grow(more, self.most) {
            return Err(reached(self.most, Whose::Node));
        }
        self.counted = bytes;
        Ok(())
    }
}

/// Places of a connection.
#[derive(Debug)]
pub struct Connected {
    _all: Place<Holder>,
    _own: Option<Place<Holder>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::SessionId;

    fn edge(limits: EdgeLimits) -> Edge {
        Edge::new(limits, vec![ip("10.0.0.1")], None)
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_has_a_share_of_the_connections_and_a_proxy_as_many_as_it_needs() {
        let limits = EdgeLimits { connections: 8, connections_per_address: 2, ..EdgeLimits::default() };
        let edge = edge(limits);
        let stranger = ip("192.0.2.1");
        let mut held: Vec<_> = (0..2).map(|_| edge.connect(stranger).unwrap()).collect();
        let reached = edge.connect(stranger).unwrap_err();
        assert_eq!((reached.limit, reached.most), ("max_connections_per_address", 2));
        held.extend((0..6).map(|_| edge.connect(ip("10.0.0.1")).unwrap()));
        assert!(edge.is_crowded());
        let reached = edge.connect(ip("192.0.2.2")).unwrap_err();
        assert_eq!((reached.limit, reached.most, reached.of), ("max_connections", 8, Whose::Node));
        held.clear();
        assert!(!edge.is_crowded() && edge.connect(stranger).is_ok());
    }

    #[test]
    fn behind_a_proxy_each_client_is_counted_by_its_requests() {
        let limits = EdgeLimits { connections_per_address: 2, ..EdgeLimits::default() };
        let (edge, proxy) = (edge(limits), ip("10.0.0.1"));
        let client = ip("192.0.2.1");
        let held: Vec<_> = (0..2).map(|_| edge.request(proxy, client).unwrap().unwrap()).collect();
        assert!(edge.request(proxy, client).is_err());
        assert!(edge.request(proxy, ip("192.0.2.2")).is_ok());
        // Without a proxy the connection is what counts; of a client that nobody told of, nothing does.
        assert!(edge.request(client, client).unwrap().is_none());
        assert!(edge.request(proxy, proxy).unwrap().is_none());
        drop(held);
        assert!(edge.request(proxy, client).is_ok());
    }

    #[test]
    fn streams_are_counted_by_session_and_by_organisation() {
        let limits =
            EdgeLimits { streams_per_session: 2, streams_per_organization: 3, ..EdgeLimits::default() };
        let edge = edge(limits);
        let session = |n| SessionKind::Session(SessionId(Uuid::from_u128(n)));
        let tenant = TenantId(Uuid::from_u128(9));
        let held: Vec<_> = (0..2).map(|_| edge.stream(session(1), tenant).unwrap()).collect();
        assert_eq!(edge.stream(session(1), tenant).unwrap_err().limit, "max_streams_per_session");
        let third = edge.stream(session(2), tenant).unwrap();
        assert_eq!(edge.stream(session(2), tenant).unwrap_err().limit, "max_streams_per_organization");
        drop(held);
        assert_eq!(edge.tally.of(Holder::Organization(tenant)), 1);
        drop(third);
        assert!(edge.stream(session(1), tenant).is_ok());
    }

    #[test]
    fn large_bodies_have_so_many_bytes_and_one_organisation_half_of_them() {
        let limits = EdgeLimits { body_bytes: 1_000_000, ..EdgeLimits::default() };
        let edge = edge(limits);
        let tenant = |n| Some(TenantId(Uuid::from_u128(n)));
        let mut small: Vec<_> = (0..100).map(|_| edge.body(tenant(1))).collect();
        assert!(small.iter_mut().all(|body| body.reach(SMALL_BODY).is_ok()), "small ones are not counted");
        let mut first = edge.body(tenant(1));
        assert!(first.reach(300_000).is_ok() && first.reach(SMALL_BODY + 500_000).is_ok());
        let reached = small[0].reach(SMALL_BODY + 1).unwrap_err();
        assert_eq!(
            (reached.limit, reached.most, reached.of),
            ("max_body_memory_mib", 500_000, Whose::Caller)
        );
        let mut second = edge.body(tenant(2));
        second.reach(SMALL_BODY + 500_000).unwrap();
        assert_eq!(edge.body(tenant(3)).reach(SMALL_BODY + 1).unwrap_err().of, Whose::Node);
        drop((first, second));
        assert!(edge.body(tenant(3)).reach(SMALL_BODY + 500_000).is_ok());
    }

    #[test]
    fn one_address_never_takes_all_that_the_process_can_open() {
        let edge = Edge::new(EdgeLimits::default(), Vec::new(), Some(1024));
        assert_eq!((edge.limits().connections, edge.limits().connections_per_address), (896, 448));
    }
}

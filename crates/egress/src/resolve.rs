//! Resolution of names.

use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};

use crate::places::Places;
use async_trait::async_trait;

/// Source of the addresses of a name.
#[async_trait]
pub trait Resolve: Send + Sync {
    /// Addresses of a name, in the order in which they are tried. No address is no error.
    ///
    /// # Errors
    /// The source's, when the name is unknown or nobody could be asked.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;

    /// The same on behalf of a party, such as an organisation: a source that can't serve all at a time divides itself
    /// fairly between parties.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    async fn resolve_for(&self, party: &str, name: &str) -> io::Result<Vec<IpAddr>> {
        let _ = party;
        self.resolve(name).await
    }
}

/// Number of names that the system is asked at a time: each holds a thread until the system gives up.
const AT_ONCE: usize = 32;

/// The system's resolver, which knows `/etc/hosts` and the name servers of `/etc/resolv.conf`. It asks for 32 names at a
/// time, and one party's slow names leave places to the others.
#[derive(Clone, Debug)]
pub struct SystemResolver {
    places: Places,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { places: Places::new(AT_ONCE) }
    }
}

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.resolve_for("", name).await
    }

    async fn resolve_for(&self, party: &str, name: &str) -> io::Result<Vec<IpAddr>> {
        let place = self.places.take(party).await.ok_or_else(|| io::Error::other("no place is left"))?;
        let name = name.to_owned();
        let asked = tokio::task::spawn_blocking(move || {
            // The place is held by the thread: whoever stops waiting does not end it.
            let _place = place;
            let found = (name.as_str(), 0).to_socket_addrs()?;
            Ok(found.map(|address| address.ip()).collect())
        });
        asked.await.map_err(io::Error::other)?
    }
}

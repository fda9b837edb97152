//! Connections that wait for the next request.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::thread::ThreadId;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::request::Target;

/// Time for which a connection waits for the next request. Most servers close theirs after 60 s or more.
const IDLE: Duration = Duration::from_secs(30);
/// Age after which a connection is not used again: then its name is resolved anew.
const OLDEST: Duration = Duration::from_mins(5);
/// Number of connections that wait, of one key and in all: whoever asks a provider with many callers opens none anew for
/// each burst.
const MOST_OF_A_KEY: usize = 128;
const MOST: usize = 512;

/// Things that two requests have in common that may use one connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) target: Target,
    pub(crate) tls: [u8; 32],
    pub(crate) scope: String,
}

/// An open connection of a client.
pub(crate) struct Link {
    pub(crate) sender: SendRequest<Full<Bytes>>,
    pub(crate) peer: SocketAddr,
    pub(crate) opened: Instant,
    /// The thread that opened it. Where each thread has a runtime of its own, its bytes are moved there: whoever sends from
    /// another one wakes it for every request, and is woken by it for every answer.
    pub(crate) thread: ThreadId,
}

struct Waiting {
    link: Link,
    since: Instant,
}

#[derive(Default)]
struct Inner {
    waiting: HashMap<Key, Vec<Waiting>>,
    count: usize,
    is_swept: bool,
}

impl Inner {
    fn sweep(&mut self, now: Instant) {
        self.waiting.retain(|_, links| {
            links.retain(|waiting| waiting.is_fresh(now));
            !links.is_empty()
        });
        self.count = self.waiting.values().map(Vec::len).sum();
    }
}

impl Waiting {
    fn is_fresh(&self, now: Instant) -> bool {
        now.duration_since(self.since) < IDLE
            && now.duration_since(self.link.opened) < OLDEST
            && !self.link.sender.is_closed()
    }
}

/// Connections that wait, the youngest first in use.
#[derive(Default)]
pub(crate) struct Pool {
    inner: Mutex<Inner>,
}

impl Pool {
    /// A connection that waits, if there is one: of this thread where there is one of it.
    pub(crate) fn take(&self, key: &Key) -> Option<Link> {
        let now = Instant::now();
        let own = std::thread::current().id();
        let mut inner = self.inner.lock();
        let links = inner.waiting.get_mut(key)?;
        let mut taken = 0;
        let mut found = None;
        while found.is_none() && !links.is_empty() {
            let last = links.len() - 1;
            let at = links.iter().rposition(|waiting| waiting.link.thread == own).unwrap_or(last);
            let waiting = links.remove(at);
            taken += 1;
            found = waiting.is_fresh(now).then_some(waiting.link);
        }
        if links.is_empty() {
            inner.waiting.remove(key);
        }
        inner.count = inner.count.saturating_sub(taken);
        found
    }

    /// Lets a connection wait.
    pub(crate) fn put(self: &Arc<Self>, key: Key, link: Link) {
        if link.sender.is_closed() {
            return;
        }
        let now = Instant::now();
        let mut inner = self.inner.lock();
        if inner.count >= MOST {
            inner.sweep(now);
        }
        if inner.count >= MOST {
            return;
        }
        let links = inner.waiting.entry(key).or_default();
        if links.len() >= MOST_OF_A_KEY {
            return;
        }
        links.push(Waiting { link, since: now });
        inner.count += 1;
        if !std::mem::replace(&mut inner.is_swept, true) {
            tokio::spawn(sweep(Arc::downgrade(self)));
        }
    }
}

/// Closes what waits too long, until nothing waits.
async fn sweep(pool: Weak<Pool>) {
    loop {
        tokio::time::sleep(IDLE).await;
        let Some(pool) = pool.upgrade() else { return };
        let mut inner = pool.inner.lock();
        inner.sweep(Instant::now());
        if inner.count == 0 {
            inner.is_swept = false;
            return;
        }
    }
}

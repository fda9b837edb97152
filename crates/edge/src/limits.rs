//! Limits of the edge, as they are configured.

use std::time::Duration;

use tokio::time::Instant;

/// Limits on connections, slow clients, anonymous requests and open streams. They hold for each node by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeLimits {
    /// Most connections at once; fewer where the process may not open as many files.
    pub connections: usize,
    /// Most connections of one address at once; behind a trusted proxy, most open requests of one client.
    pub connections_per_address: usize,
    /// Longest time from the first byte of a request's head to its end.
    pub head: Duration,
    /// Longest time that a connection stays open without a request.
    pub keep_alive: Duration,
    /// Least pace of a body that is sent and of an answer that is read.
    pub pace: Pace,
    /// Most bytes of large bodies that are held at once; one organisation has half of them at most.
    pub body_bytes: usize,
    /// Anonymous requests a second of one address in the long run; 0 sets no limit.
    pub anonymous_per_second: u32,
    /// Most open event streams of one session or API token.
    pub streams_per_session: usize,
    /// Most open event streams of one organisation.
    pub streams_per_organization: usize,
    /// Longest time between two checks of a stream reader's rights, and between two signs of life.
    pub stream_check: Duration,
}

impl Default for EdgeLimits {
    fn default() -> Self {
        Self {
            connections: 4096,
            connections_per_address: 1024,
            head: Duration::from_secs(10),
            keep_alive: Duration::from_secs(75),
            pace: Pace { grace: Duration::from_secs(30), bytes_per_second: 4096 },
            body_bytes: 256 * 1024 * 1024,
            anonymous_per_second: 100,
            streams_per_session: 100,
            streams_per_organization: 1000,
            stream_check: Duration::from_secs(15),
        }
    }
}

/// Least pace of a transfer: some time for whatever happens on the way, and a number of bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time that every transfer has.
    pub grace: Duration,
    /// Bytes that each further second has to bring.
    pub bytes_per_second: u32,
}

impl Pace {
    /// Instant at which a transfer of so many bytes is too slow.
    #[must_use]
    pub fn deadline(self, begin: Instant, bytes: usize) -> Instant {
        let seconds = bytes as u64 / u64::from(self.bytes_per_second.max(1));
        begin + self.grace + Duration::from_secs(seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_on_at_the_least_pace_is_never_cut() {
        let pace = Pace { grace: Duration::from_secs(30), bytes_per_second: 1000 };
        let begin = Instant::now();
        for (bytes, seconds) in [(0, 30), (999, 30), (1000, 31), (25_000_000, 25_030)] {
            assert_eq!(pace.deadline(begin, bytes), begin + Duration::from_secs(seconds), "{bytes}");
        }
    }
}

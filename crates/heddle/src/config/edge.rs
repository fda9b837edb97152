//! Keys of the limits at the edge.

use std::time::Duration;

use super::{Key, number};

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "max_connections",
        help: "Most connections at once, 16 to 1000000; fewer where the process may not open as many files.",
        secret: false,
        set: |config, text| {
            config.edge.connections = number(text, 16, 1_000_000)? as usize;
            Ok(())
        },
        show: |config| config.edge.connections.to_string(),
    },
    Key {
        name: "max_connections_per_address",
        help: "Most connections of one address at once, or open requests of one client behind a trusted proxy.",
        secret: false,
        set: |config, text| {
            config.edge.connections_per_address = number(text, 1, 1_000_000)? as usize;
            Ok(())
        },
        show: |config| config.edge.connections_per_address.to_string(),
    },
    Key {
        name: "slow_client_seconds",
        help: "Seconds that a body or the reading of an answer may take beyond its least rate, 1 to 3600.",
        secret: false,
        set: |config, text| {
            config.edge.pace.grace = Duration::from_secs(u64::from(number(text, 1, 3600)?));
            Ok(())
        },
        show: |config| config.edge.pace.grace.as_secs().to_string(),
    },
    Key {
        name: "slow_client_bytes_per_second",
        help: "Least rate of bodies and of readers of answers, 1 to 1000000000.",
        secret: false,
        set: |config, text| {
            config.edge.pace.bytes_per_second = number(text, 1, 1_000_000_000)?;
            Ok(())
        },
        show: |config| config.edge.pace.bytes_per_second.to_string(),
    },
    Key {
        name: "max_body_memory_mib",
        help: "Mebibytes of large bodies that are held at once, 64 to 65536; half of them for one organisation.",
        secret: false,
        set: |config, text| {
            config.edge.body_bytes = number(text, 64, 65_536)? as usize * 1024 * 1024;
            Ok(())
        },
        show: |config| (config.edge.body_bytes / 1024 / 1024).to_string(),
    },
    Key {
        name: "anonymous_requests_per_second",
        help: "Anonymous requests a second of one address, with ten seconds' worth at once; 0 sets no limit.",
        secret: false,
        set: |config, text| {
            config.edge.anonymous_per_second = number(text, 0, 1_000_000)?;
            Ok(())
        },
        show: |config| config.edge.anonymous_per_second.to_string(),
    },
    Key {
        name: "max_streams_per_session",
        help: "Most open event streams of one session or API token, 1 to 100000.",
        secret: false,
        set: |config, text| {
            config.edge.streams_per_session = number(text, 1, 100_000)? as usize;
            Ok(())
        },
        show: |config| config.edge.streams_per_session.to_string(),
    },
    Key {
        name: "max_streams_per_organization",
        help: "Most open event streams of one organisation, 1 to 100000.",
        secret: false,
        set: |config, text| {
            config.edge.streams_per_organization = number(text, 1, 100_000)? as usize;
            Ok(())
        },
        show: |config| config.edge.streams_per_organization.to_string(),
    },
];

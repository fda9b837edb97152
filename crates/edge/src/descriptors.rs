//! File descriptors of the process, of which every connection takes one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that are kept for the database, its log, files and the runtime.
const KEPT: usize = 128;

/// Raises the soft limit on open files as far as this process may, and says what it is then; none is no limit.
pub fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current == limit.maximum {
        return limit.current;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "the limit on open files could not be raised");
            limit.current
        }
    }
}

/// Number of connections that fit below a limit on open files, at most `wanted`.
pub(crate) fn connections_within(files: Option<u64>, wanted: usize) -> usize {
    let Some(files) = files.and_then(|files| usize::try_from(files).ok()) else { return wanted };
    // With very few files half of them are for connections.
    wanted.min(files.saturating_sub(KEPT).max(files / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_stay_below_the_limit_on_open_files() {
        for (files, expected) in
            [(None, 4096), (Some(1 << 20), 4096), (Some(1024), 896), (Some(64), 32), (Some(1), 1)]
        {
            assert_eq!(connections_within(files, 4096), expected, "{files:?}");
        }
        let raised = raise();
        assert_eq!(raised, getrlimit(Resource::Nofile).current);
        assert_eq!(raised, getrlimit(Resource::Nofile).maximum);
    }
}

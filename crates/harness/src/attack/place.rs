//! The servers that attacks need: those that a common one does for share it.

use heddle_harness_kit::server::{Mode, Surroundings};

/// Address space that a server may take: what eats memory must end it, and not the machine.
const ADDRESS_SPACE: &str = "--as=6442450944";
/// Descriptors of a server that shall run out of them.
const FEW: &str = "--nofile=256:256";

/// A server, as an attack needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The common one.
    Common,
    /// One that believes the forwarded addresses of the attackers' address.
    Proxy,
    /// One with few descriptors.
    Few,
    /// One of its own, with a clock that can be moved, whose sessions end when they are idle for a minute.
    Clock,
    /// The same with two minutes.
    Idle,
    /// One of its own, in a data folder that others may read.
    Open,
    /// One of its own whose data is changed under it.
    Changed,
    /// One of its own that nobody has set up.
    Empty,
}

impl Place {
    /// Whether attacks share it.
    pub(crate) const fn shared(self) -> bool {
        matches!(self, Self::Common | Self::Proxy | Self::Few)
    }

    /// Whether the honest organisation can work on it: not where a moved clock ends licences, where data is taken away, nor before the set-up.
    pub(crate) const fn honest(self) -> bool {
        !matches!(self, Self::Clock | Self::Idle | Self::Changed | Self::Empty)
    }

    /// Options of the start.
    pub(crate) const fn mode(self) -> Mode {
        Mode { demo: !matches!(self, Self::Empty), test_clock: matches!(self, Self::Clock | Self::Idle) }
    }

    /// Surroundings of the start.
    pub(crate) fn surroundings(self) -> Surroundings {
        let mut around = Surroundings { limits: vec![ADDRESS_SPACE], ..Surroundings::default() };
        match self {
            Self::Common | Self::Changed | Self::Empty => {}
            Self::Proxy => {
                around.variables.push(("HEDDLE_TRUSTED_PROXIES", super::person::ATTACKER.to_string()));
            }
            Self::Few => around.limits.push(FEW),
            Self::Clock => around.variables.push(("HEDDLE_SESSION_IDLE_MINUTES", "1".to_owned())),
            Self::Idle => around.variables.push(("HEDDLE_SESSION_IDLE_MINUTES", "2".to_owned())),
            Self::Open => around.folder_mode = Some(0o755),
        }
        around
    }
}

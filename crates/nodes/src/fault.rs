//! Faults of work that a further attempt does not mend.

/// A fault of work that another attempt would have, too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WorkFault(pub String);

impl WorkFault {
    pub(crate) fn setting(member: &str, told: &str) -> Self {
        Self(format!("{member}: {told}"))
    }
}

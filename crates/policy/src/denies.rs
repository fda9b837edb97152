//! Denies that count where rights are compared.

use crate::decision::DeterminingRule;
use crate::facts::Source;

/// Denies that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denies {
    /// All.
    All,
    /// All but those to everyone.
    OfSome,
}

impl Denies {
    /// Whether a deny counts.
    pub(crate) fn counts(self, rule: &DeterminingRule) -> bool {
        self == Self::All || rule.source != Source::Everyone
    }
}

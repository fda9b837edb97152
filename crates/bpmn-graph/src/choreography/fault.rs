//! Reasons why a choreography is not monitored.

/// Reason why a choreography has no monitor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sentence}")]
pub struct ChoreographyFault {
    /// The element that stands in the way; empty for the definition as a whole.
    pub element: String,
    /// A sentence.
    pub sentence: String,
    /// Clause of the standard.
    pub clause: &'static str,
}

impl ChoreographyFault {
    pub(super) fn new(element: &str, sentence: impl Into<String>, clause: &'static str) -> Self {
        Self { element: element.to_owned(), sentence: sentence.into(), clause }
    }
}

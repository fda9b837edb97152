//! Reasons for which a sign-in by a provider ends.

/// Reason for which a sign-in by a provider ends.
#[derive(Debug, thiserror::Error)]
pub enum OidcError {
    /// The provider does not answer, or not as a provider does. The text is for the log: it may hold addresses.
    #[error("{0}")]
    Unavailable(String),
    /// Word of the provider that is not believed, or its refusal of the person.
    #[error("{message}")]
    Refused {
        /// Machine word of the reason.
        reason: &'static str,
        /// Sentence for people, without anything that the provider or the person sent.
        message: &'static str,
        /// Details for the log.
        cause: String,
    },
}

impl OidcError {
    /// An answer of the provider that is not believed.
    pub(crate) fn unbelieved(cause: impl Into<String>) -> Self {
        let message = "What the provider said of the person can't be believed.";
        Self::Refused { reason: "tokenRefused", message, cause: cause.into() }
    }

    /// A sign-in that the provider does not know, or knows no longer.
    pub(crate) fn unknown_code(cause: impl Into<String>) -> Self {
        let message = "The provider does not know this sign-in, or no longer; begin again.";
        Self::Refused { reason: "codeRefused", message, cause: cause.into() }
    }
}

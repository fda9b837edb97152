//! Errors of the chat in the process.

use thiserror::Error;

/// Reason for which a model does not chat.
#[derive(Debug, Error)]
pub enum ChatError {
    /// No file of that name stands on the shelf.
    #[error("there is no model file `{0}`")]
    Missing(String),
    /// Size beyond the whole budget.
    #[error("the model takes {needed} bytes, and the budget is {budget}")]
    TooLarge {
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that there are.
        budget: u64,
    },
    /// The models in memory are all at work, and there is no room for another one.
    #[error("all models in memory are at work")]
    Busy,
    /// The file is none that is understood, in words.
    #[error("the model file cannot be used: {0}")]
    Unusable(String),
    /// The conversation has more tokens than the model reads.
    #[error("the conversation has {tokens} tokens, and the model reads {most}")]
    TooLong {
        /// Tokens of the conversation.
        tokens: usize,
        /// Tokens that it reads at most.
        most: usize,
    },
    /// The file could not be read.
    #[error("the model file cannot be read")]
    Io(#[from] std::io::Error),
    /// The computation failed, in words that hold no text of the conversation.
    #[error("the computation failed: {0}")]
    Failed(String),
}

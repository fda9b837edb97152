//! The extractive answerer: of the passages that come with a question it gives the sentences that answer it, word for
//! word, each with the number of its passage, or says that there is none.
//!
//! It is no language model: it makes up nothing, follows no instruction that stands in a passage, and gives the same
//! answer to the same question. So a demonstration of retrieval runs without a key, a network and a download.
//! [`answer`] takes a conversation and finds passages where people put them: in tools' answers, in tags, behind `[1]`,
//! below `Context:`. Sentences and words are those of Unicode (UAX 29), and their ranks are of BM25's form (S. Robertson
//! and H. Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009) over sentences in place of documents.

mod compose;
mod json;
mod language;
mod marked;
mod question;
mod rank;
#[cfg(test)]
mod tests;
mod words;

pub use compose::{Answer, Citation, End, Options};
pub use words::tokens;

/// Name by which its answers call it, so that nobody takes them for a language model's.
pub const MODEL: &str = "heddle-extractive";

/// Version of what it computes: other words for the same question mean another number.
pub const REVISION: &str = "1";

/// Tokens, as [`tokens`] counts them, that it reads at most of one conversation. What is beyond is not read: the oldest
/// passages go first.
pub const CONTEXT: usize = 131_072;

/// Most passages of one conversation.
const MOST_PASSAGES: usize = 1_000;

/// Speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions, `developer` among them.
    System,
    /// The one who asks.
    User,
    /// An earlier answer, which is never taken for a source.
    Assistant,
    /// Result of a tool, such as a query of a vector database.
    Tool,
}

/// Message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Speaker.
    pub role: Role,
    /// Text of the message; parts that are no text (images) are left out by the caller, or refused.
    pub text: String,
}

/// Passage that a sentence may be cited from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Name that it came with, such as a file's or a number; empty without one.
    pub source: String,
    /// The text.
    pub text: String,
}

/// Answers the last question of a conversation from the passages in it, and from further ones that were given beside it.
///
/// The same arguments give the same answer. Its cost is bounded by [`CONTEXT`] and grows in line with what is read.
#[must_use]
pub fn answer(conversation: &[Message], beside: &[Passage], options: &Options) -> Answer {
    let asked = question::of(conversation, beside);
    let chosen = rank::best(&asked.question, &asked.passages);
    compose::answer(&asked, &chosen, options)
}

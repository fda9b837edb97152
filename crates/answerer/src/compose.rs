//! Composition of an answer: chosen sentences with the numbers of their passages, as text or as JSON.

use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::question::Asked;
use crate::rank::Sentence;
use crate::words::{tokens, words};
use crate::{MODEL, REVISION, language};

/// Longest sentence that is given whole, in bytes; of a longer one its beginning.
const LONGEST: usize = 1_200;

/// Wishes of the one who asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Tokens of the answer at most, as [`tokens`] counts them; no limit when absent.
    pub most_tokens: Option<usize>,
    /// Words at which the answer ends, without them.
    pub stop: Vec<String>,
    /// Whether the answer is a JSON object, `{"answer", "found", "citations"}`, in place of text.
    pub json: bool,
}

/// Sentence that was cited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// Number of the passage, from 1 on, which stands in brackets behind the sentence.
    pub passage: usize,
    /// Name that the passage came with; empty without one.
    pub source: String,
    /// First byte of the sentence in the passage's text.
    pub begin: usize,
    /// Byte behind its last.
    pub end: usize,
    /// The sentence as it stands there.
    pub quote: String,
}

/// Reason why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// End of a whole answer, or a stop word.
    Stop,
    /// Limit of tokens that was reached.
    Length,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text for the one who asked; with [`Options::json`] a JSON object.
    pub text: String,
    /// Whether a sentence answers; else the text says that none does.
    pub found: bool,
    /// The sentences, in the order of the text. Where it was cut, those of the whole answer.
    pub citations: Vec<Citation>,
    /// Reason why it ends.
    pub end: End,
    /// Tokens that were read.
    pub prompt_tokens: usize,
    /// Tokens of the text.
    pub completion_tokens: usize,
}

impl Answer {
    /// Member that labels an answer as what it is: `{"extractive": true, "model", "revision", "found", "citations"}`.
    #[must_use]
    pub fn label(&self) -> Value {
        json!({ "extractive": true, "model": MODEL, "revision": REVISION, "found": self.found,
            "citations": self.citations.iter().map(Citation::told).collect::<Vec<_>>() })
    }

    /// The text in pieces, for a stream: joined they are the text.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.text.split_inclusive(char::is_whitespace)
    }
}

impl Citation {
    fn told(&self) -> Value {
        json!({ "passage": self.passage, "source": self.source, "begin": self.begin, "end": self.end,
            "quote": self.quote })
    }
}

/// Composes the answer of the chosen sentences.
pub(crate) fn answer(asked: &Asked, chosen: &[Sentence], options: &Options) -> Answer {
    let citations: Vec<Citation> = chosen.iter().filter_map(|sentence| cited(asked, sentence)).collect();
    let found = !citations.is_empty();
    let text = if found { joined(&citations) } else { nothing(asked).to_owned() };
    let text = if options.json {
        let told: Vec<Value> = citations.iter().map(Citation::told).collect();
        json!({ "answer": text, "found": found, "citations": told }).to_string()
    } else {
        text
    };
    let stopped =
        options.stop.iter().filter(|stop| !stop.is_empty()).filter_map(|stop| text.find(stop.as_str())).min();
    let text = stopped.and_then(|at| text.get(..at)).unwrap_or(&text);
    let (text, end) = cut(text, options.most_tokens);
    Answer { completion_tokens: tokens(&text), text, found, citations, end, prompt_tokens: asked.tokens }
}

fn cited(asked: &Asked, sentence: &Sentence) -> Option<Citation> {
    let passage = asked.passages.get(sentence.passage)?;
    let (begin, end) = (sentence.place.start, sentence.place.end);
    let quote = passage.text.get(begin..end)?.to_owned();
    Some(Citation { passage: sentence.passage + 1, source: passage.source.clone(), begin, end, quote })
}

fn joined(citations: &[Citation]) -> String {
    let told = citations.iter().map(|one| format!("{} [{}]", shown(&one.quote), one.passage));
    told.collect::<Vec<_>>().join(" ")
}

/// A sentence in one line; a very long one with its beginning alone.
fn shown(quote: &str) -> String {
    let line = quote.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= LONGEST {
        return line;
    }
    let mut short = String::new();
    for piece in line.split_word_bounds() {
        if short.len() + piece.len() > LONGEST {
            break;
        }
        short.push_str(piece);
    }
    format!("{}…", short.trim_end())
}

fn nothing(asked: &Asked) -> &'static str {
    language::nothing(&words(&asked.question), !asked.passages.is_empty())
}

/// The text up to so many tokens.
fn cut(text: &str, most: Option<usize>) -> (String, End) {
    let Some(most) = most else { return (text.to_owned(), End::Stop) };
    let mut count = 0;
    for (at, piece) in text.split_word_bound_indices() {
        if !piece.trim().is_empty() {
            if count == most {
                return (text.get(..at).unwrap_or_default().trim_end().to_owned(), End::Length);
            }
            count += 1;
        }
    }
    (text.to_owned(), End::Stop)
}

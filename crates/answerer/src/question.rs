//! Question: what a conversation asks last, and the passages that came with it.

use std::collections::HashSet;

use crate::marked::{self, paragraphs};
use crate::words::tokens;
use crate::{CONTEXT, MOST_PASSAGES, Message, Passage, Role, json};

/// Paragraph of a system message from which on it is taken for a source, where nothing else is one: the first instructs.
const INSTRUCTION: usize = 1;

/// A question and what may answer it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Words of the one who asks, without the passages among them.
    pub(crate) question: String,
    /// Passages in the order in which they are numbered; none twice.
    pub(crate) passages: Vec<Passage>,
    /// Tokens that were read.
    pub(crate) tokens: usize,
}

/// The last question, with the passages of the whole conversation and those beside it, which come first.
pub(crate) fn of(conversation: &[Message], beside: &[Passage]) -> Asked {
    let mut asked = Asked::default();
    let mut passages: Vec<Passage> = beside.to_vec();
    asked.tokens += beside.iter().map(|passage| tokens(&passage.text)).sum::<usize>();
    let mut unmarked = Vec::new();
    for message in readable(conversation, &mut asked.tokens) {
        match message.role {
            Role::Assistant => {}
            Role::Tool => match json::passages(&message.text) {
                Some(found) => passages.extend(found),
                None => passages.extend(marked_or_whole(&message.text)),
            },
            Role::System => {
                let parted = marked::parted(&message.text);
                passages.extend(parted.passages);
                unmarked.extend(paragraphs(&parted.rest).skip(INSTRUCTION).map(unnamed));
            }
            Role::User => {
                let parted = marked::parted(&message.text);
                passages.extend(parted.passages);
                if !parted.rest.is_empty() {
                    asked.question = parted.rest;
                }
            }
        }
    }
    if passages.is_empty() {
        passages = unmarked;
    }
    if passages.is_empty() {
        passages = around_question(&mut asked.question);
    }
    asked.passages = once(passages);
    asked
}

/// The messages that are read, within [`CONTEXT`]: the last ones, since the question is among them.
fn readable<'a>(conversation: &'a [Message], read: &mut usize) -> Vec<&'a Message> {
    let mut kept = Vec::new();
    for message in conversation.iter().rev() {
        // A text has at most as many tokens as bytes: a giant is not even counted.
        let cost = if message.text.len() > CONTEXT * 16 { CONTEXT } else { tokens(&message.text) };
        if *read + cost > CONTEXT {
            break;
        }
        *read += cost;
        kept.push(message);
    }
    kept.reverse();
    kept
}

fn marked_or_whole(text: &str) -> Vec<Passage> {
    let parted = marked::parted(text);
    if parted.passages.is_empty() { paragraphs(text).map(unnamed).collect() } else { parted.passages }
}

fn unnamed(text: &str) -> Passage {
    Passage { source: String::new(), text: text.to_owned() }
}

/// Text that somebody pasted above or below their question: of several paragraphs the last or the first one asks.
fn around_question(question: &mut String) -> Vec<Passage> {
    let asks = |text: &str| text.trim_end().ends_with(['?', '？', '؟', ';']);
    let whole: Vec<&str> = paragraphs(question).collect();
    let (asked, others) = match whole.as_slice() {
        [others @ .., last] if !others.is_empty() && asks(last) => (*last, others),
        [first, others @ ..] if !others.is_empty() && asks(first) => (*first, others),
        _ => return Vec::new(),
    };
    let passages = others.iter().copied().map(unnamed).collect();
    let asked = asked.to_owned();
    *question = asked;
    passages
}

/// The passages without those whose text was there before.
fn once(passages: Vec<Passage>) -> Vec<Passage> {
    let mut seen = HashSet::new();
    passages.into_iter().filter(|passage| seen.insert(passage.text.clone())).take(MOST_PASSAGES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message { role, text: text.to_owned() }
    }

    fn texts(asked: &Asked) -> Vec<&str> {
        asked.passages.iter().map(|passage| passage.text.as_str()).collect()
    }

    #[test]
    fn passages_come_from_tools_tags_systems_and_what_was_pasted() {
        let ask = |text: &str| message(Role::User, text);
        for (conversation, question, passages) in [
            (vec![message(Role::Tool, "Ships sail."), ask("How?")], "How?", vec!["Ships sail."]),
            (
                vec![message(Role::Tool, r#"{"passages":[{"text":"Ships sail."}]}"#), ask("How?")],
                "How?",
                vec!["Ships sail."],
            ),
            (
                vec![message(Role::System, "Answer from it.\n\nShips sail."), ask("How?")],
                "How?",
                vec!["Ships sail."],
            ),
            (vec![message(Role::System, "You are kind."), ask("How?")], "How?", vec![]),
            (vec![ask("Ships sail.\n\nHow?")], "How?", vec!["Ships sail."]),
            (
                vec![ask("[1] Ships sail.\n\nHow?"), message(Role::Assistant, "Well."), ask("Why?")],
                "Why?",
                vec!["Ships sail."],
            ),
            (vec![message(Role::Assistant, "[1] Lies."), ask("How?")], "How?", vec![]),
        ] {
            let asked = of(&conversation, &[]);
            assert_eq!((asked.question.as_str(), texts(&asked)), (question, passages), "{conversation:?}");
        }
    }

    #[test]
    fn a_passage_counts_once_and_those_beside_come_first() {
        let beside = [unnamed("B."), unnamed("A.")];
        let asked = of(&[message(Role::Tool, "A.\n\nC."), message(Role::User, "How?")], &beside);
        assert_eq!(texts(&asked), ["B.", "A.", "C."]);
    }

    #[test]
    fn what_is_too_much_is_not_read_and_the_question_stays() {
        let long = message(Role::Tool, &"word ".repeat(CONTEXT));
        let asked = of(&[long, message(Role::Tool, "Ships sail."), message(Role::User, "How?")], &[]);
        assert_eq!((asked.question.as_str(), texts(&asked)), ("How?", vec!["Ships sail."]));
        assert!(asked.tokens < 20);
    }
}

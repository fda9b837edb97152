//! Ranks of sentences: how well each answers a question.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::Passage;
use crate::language::is_small;
use crate::words::{likeness, words};

/// Sentences of an answer at most.
const MOST: usize = 3;
/// Sentences that are ranked at most.
const MOST_RANKED: usize = 20_000;
/// Words of a question that count at most.
const MOST_ASKED: usize = 64;
/// Share of the best sentence's rank that another one of the answer has at least.
const BESIDE: f64 = 0.55;
/// Share of the question's weight that a sentence must have to be an answer at all.
const ENOUGH: f64 = 0.34;
/// Share of common words from which on two sentences say the same.
const SAME: f64 = 0.8;
/// BM25's saturation of repeated words and its weight of length.
const K1: f64 = 1.2;
const B: f64 = 0.4;

/// A sentence of a passage.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sentence {
    /// Index of its passage.
    pub(crate) passage: usize,
    /// Bytes of the passage's text that it is.
    pub(crate) place: Range<usize>,
    /// Rank: higher is better; of the same question alone.
    pub(crate) rank: f64,
}

/// A sentence with its words.
struct Candidate {
    sentence: Sentence,
    words: Vec<String>,
}

/// The sentences that answer a question, in the order of the passages; none when nothing is enough.
pub(crate) fn best(question: &str, passages: &[Passage]) -> Vec<Sentence> {
    let asked = asked(question);
    let mut candidates = candidates(passages);
    let weights = weights(&asked, &candidates);
    let whole: f64 = weights.values().sum();
    let length = candidates.iter().map(|one| one.words.len()).sum::<usize>() as f64;
    let average = (length / candidates.len().max(1) as f64).max(1.0);
    for candidate in &mut candidates {
        candidate.sentence.rank = rank(&candidate.words, &weights, whole, average);
    }
    candidates.retain(|candidate| candidate.sentence.rank > 0.0);
    // By rank, and by place where that is the same: the sort keeps the order of equals.
    candidates.sort_by(|one, other| other.sentence.rank.total_cmp(&one.sentence.rank));
    let least = candidates.first().map_or(f64::INFINITY, |best| best.sentence.rank * BESIDE);
    let mut chosen: Vec<&Candidate> = Vec::new();
    for candidate in candidates.iter().take_while(|candidate| candidate.sentence.rank >= least) {
        if chosen.len() < MOST && !chosen.iter().any(|other| same(&candidate.words, &other.words)) {
            chosen.push(candidate);
        }
    }
    let mut sentences: Vec<Sentence> = chosen.into_iter().map(|one| one.sentence.clone()).collect();
    sentences.sort_by_key(|one| (one.passage, one.place.start));
    sentences
}

/// The words that a question is about: without small ones, unless it has no others.
fn asked(question: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    let all: Vec<String> = words(question).into_iter().filter(|word| seen.insert(word.clone())).collect();
    let telling: Vec<String> = all.iter().filter(|word| !is_small(word)).cloned().collect();
    let mut kept = if telling.is_empty() { all } else { telling };
    kept.truncate(MOST_ASKED);
    kept
}

fn candidates(passages: &[Passage]) -> Vec<Candidate> {
    let of = |(passage, text): (usize, &str)| {
        sentences(text)
            .map(|place| Candidate {
                words: words(text.get(place.clone()).unwrap_or_default()),
                sentence: Sentence { passage, place, rank: 0.0 },
            })
            .collect::<Vec<_>>()
    };
    let texts = passages.iter().map(|passage| passage.text.as_str()).enumerate();
    texts.flat_map(of).take(MOST_RANKED).collect()
}

/// Places of a text's sentences. A line break ends one where an empty line, a list's or a table's row follows: UAX 29 ends
/// it at every line break, which wraps within paragraphs are not.
fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for (begin, sentence) in text.split_sentence_bound_indices() {
        let end = begin + sentence.len();
        match places.last_mut() {
            Some(last) if wraps(text, last, sentence) => last.end = end,
            _ => places.push(begin..end),
        }
    }
    places.into_iter().filter_map(|place| trimmed(text, place))
}

/// Whether a sentence was only broken by the end of a line: it has no full stop, and goes on with a small letter.
fn wraps(text: &str, before: &Range<usize>, next: &str) -> bool {
    let before = text.get(before.clone()).unwrap_or_default();
    let ended = before
        .trim_end_matches([' ', '\t', '\r', '\n'])
        .ends_with(['.', '!', '?', '。', '！', '？', '।', ':', '؟']);
    let one_break = before.ends_with('\n') && !before.ends_with("\n\n") && !before.ends_with("\n\r\n");
    one_break && !ended && next.chars().next().is_some_and(char::is_lowercase)
}

fn trimmed(text: &str, place: Range<usize>) -> Option<Range<usize>> {
    let sentence = text.get(place.clone())?;
    let begin = place.start + (sentence.len() - sentence.trim_start().len());
    let end = begin + sentence.trim().len();
    (begin < end).then_some(begin..end)
}

/// Weight of each asked word: the rarer it is among the sentences, the more. One that none has weighs as if one had it,
/// since questions are put in words of their own.
fn weights<'a>(asked: &'a [String], candidates: &[Candidate]) -> HashMap<&'a str, f64> {
    let count = candidates.len() as f64;
    let weight = |word: &'a String| {
        let having = |one: &&Candidate| one.words.iter().any(|other| likeness(word, other) > 0.0);
        let having = candidates.iter().filter(having).count().max(1) as f64;
        (word.as_str(), ((count - having + 0.5).max(0.5) / (having + 0.5)).ln_1p())
    };
    asked.iter().map(weight).collect()
}

fn rank(words: &[String], weights: &HashMap<&str, f64>, whole: f64, average: f64) -> f64 {
    let (mut rank, mut covered) = (0.0, 0.0);
    let mut asked: Vec<(&&str, &f64)> = weights.iter().collect();
    // Sums of floats depend on their order, which a map's is not the same twice.
    asked.sort_by(|one, other| one.0.cmp(other.0));
    for (word, weight) in asked {
        let (mut often, mut alike) = (0.0, 0.0_f64);
        for other in words {
            let like = likeness(word, other);
            often += like;
            alike = alike.max(like);
        }
        let length = K1 * (1.0 - B + B * words.len() as f64 / average);
        rank += weight * often * (K1 + 1.0) / (often + length);
        covered += weight * alike;
    }
    if covered > 0.0 && covered >= whole * ENOUGH {
        rank * covered / whole.max(f64::MIN_POSITIVE)
    } else {
        0.0
    }
}

/// Whether two sentences say the same.
fn same(one: &[String], other: &[String]) -> bool {
    let (one, other): (HashSet<&String>, HashSet<&String>) = (one.iter().collect(), other.iter().collect());
    let either = one.union(&other).count().max(1) as f64;
    one.intersection(&other).count() as f64 / either >= SAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_not_ended_by_wrapped_lines() {
        let text = "Ships sail far\nand wide. Trains run.\n\n- A list\n- goes on";
        let found: Vec<&str> = sentences(text).filter_map(|place| text.get(place)).collect();
        assert_eq!(found, ["Ships sail far\nand wide.", "Trains run.", "- A list", "- goes on"]);
    }

    #[test]
    fn small_words_count_only_where_there_are_no_others() {
        assert_eq!(asked("What is the notice period?"), ["notice", "period"]);
        assert_eq!(asked("Who are you?"), ["who", "are", "you"]);
    }
}

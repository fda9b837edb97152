//! Words: what a text is compared by, in every script.

use unicode_normalization::UnicodeNormalization as _;
use unicode_segmentation::UnicodeSegmentation as _;

/// Longest word that is compared, in characters: what is longer is cut.
const LONGEST: usize = 40;
/// Characters that two forms of a word share at least from their beginning.
const STEM: usize = 4;

/// Tokens of a text: its words, and each other sign that is no space. An estimate of its own, since this has no tokenizer.
#[must_use]
pub fn tokens(text: &str) -> usize {
    text.split_word_bounds().filter(|piece| !piece.trim().is_empty()).count()
}

/// The words of a text in the form they are compared in: compatible forms are one (NFKD), without case and without the
/// accents of Latin, Greek and Cyrillic. Where a script has no spaces, two neighbouring signs are a word.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut before: Option<(usize, String)> = None;
    for (at, word) in text.unicode_word_indices() {
        let folded = folded(word);
        if folded.is_empty() {
            continue;
        }
        if !is_sign(word) {
            before = None;
            found.push(folded);
            continue;
        }
        let joined = before.take().filter(|(end, _)| *end == at).map(|(_, first)| format!("{first}{folded}"));
        let alone = joined.is_none() && !continues(text, at + word.len());
        match joined {
            Some(pair) => found.push(pair),
            None if alone => found.push(folded.clone()),
            None => {}
        }
        before = Some((at + word.len(), folded));
    }
    found
}

/// Whether a sign of a script without spaces stands there.
fn continues(text: &str, at: usize) -> bool {
    text.get(at..)
        .and_then(|rest| rest.unicode_words().next().filter(|word| rest.starts_with(word)))
        .is_some_and(is_sign)
}

/// Whether a segment is a sign of a script without spaces between words: those that Unicode leaves to dictionaries.
fn is_sign(word: &str) -> bool {
    let mut letters = word.chars().filter(|letter| letter.is_alphabetic());
    letters.next().is_some_and(without_spaces) && letters.next().is_none_or(without_spaces)
}

fn without_spaces(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{309F}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

fn folded(word: &str) -> String {
    let is_accent = |letter: &char| matches!(letter, '\u{0300}'..='\u{036F}');
    let bare =
        word.nfkd().filter(|letter| !is_accent(letter) && (letter.is_alphanumeric() || is_mark(*letter)));
    bare.flat_map(char::to_lowercase).take(LONGEST).collect()
}

/// Whether a sign belongs to a word without being a letter, as vowels of Indic scripts do.
fn is_mark(letter: char) -> bool {
    unicode_normalization::char::is_combining_mark(letter)
}

/// Likeness of two words from 0 to 1: the same, or forms of one, which begin alike and end in a few other letters.
/// This takes the place of a stemmer for each language.
pub(crate) fn likeness(one: &str, other: &str) -> f64 {
    if one == other {
        return 1.0;
    }
    let (mut shared, mut first, mut second) = (0, one.chars().peekable(), other.chars().peekable());
    while let (Some(left), Some(right)) = (first.peek(), second.peek()) {
        if left != right {
            break;
        }
        shared += 1;
        first.next();
        second.next();
    }
    let (left, right) = (first.count(), second.count());
    // Numbers have no forms: 2023 is not 2024.
    let counts =
        one.bytes().any(|byte| byte.is_ascii_digit()) || other.bytes().any(|byte| byte.is_ascii_digit());
    // As many letters again as may differ: `house` and `houses`, not `port` and `portrait`.
    let alike = shared >= STEM && left.max(right) <= 3 && left + right <= shared;
    if alike && !counts { 0.7 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_accents_and_forms() {
        assert_eq!(words("Über Ⅳ CAFÉ, ﬁnal—42!"), ["uber", "iv", "cafe", "final", "42"]);
        for (one, other, expected) in [
            ("deadline", "deadlines", 0.7),
            ("invoice", "invoices", 0.7),
            ("rechnung", "rechnungen", 0.7),
            ("port", "portrait", 0.0),
            ("2023", "2024", 0.0),
            ("cat", "car", 0.0),
            ("same", "same", 1.0),
        ] {
            assert!((likeness(one, other) - expected).abs() < f64::EPSILON, "{one} {other}");
            assert!((likeness(other, one) - expected).abs() < f64::EPSILON, "{other} {one}");
        }
    }

    #[test]
    fn scripts_without_spaces_are_compared_by_pairs() {
        assert_eq!(words("東京都"), ["東京", "京都"]);
        assert_eq!(words("水"), ["水"]);
        assert!(words("ประเทศไทย").len() > 2, "{:?}", words("ประเทศไทย"));
        assert_eq!(words("हिन्दी भाषा").len(), 2, "{:?}", words("हिन्दी भाषा"));
    }

    #[test]
    fn tokens_are_words_and_signs() {
        assert_eq!(tokens("One, two."), 4);
        assert_eq!(tokens("  \n"), 0);
    }
}

//! Tokens of a text.

/// Tokens of a text as a model counts them.
pub trait TokenCounter {
    /// Bytes at which the tokens of a text begin, ascending, as far as its first 4 GiB; one pass over the text. Tokens a
    /// model adds around a text are not counted.
    fn token_starts(&self, text: &str) -> Vec<u32>;

    /// Number of tokens of a text.
    fn count(&self, text: &str) -> usize {
        self.token_starts(text).len()
    }
}

/// Estimate of tokens where no model counts them: a word of up to six letters is one token and each six further letters
/// another, every other character that is no white space, and every ideograph, is one. English text comes within about a
/// tenth of WordPiece.
#[derive(Debug, Clone, Copy, Default)]
pub struct EstimatedTokens;

/// Letters of a token.
const LETTERS: usize = 6;

impl TokenCounter for EstimatedTokens {
    fn token_starts(&self, text: &str) -> Vec<u32> {
        let mut starts = Vec::with_capacity(text.len() / 5);
        let mut letters = 0;
        for (at, letter) in text.char_indices() {
            let Ok(at) = u32::try_from(at) else { break };
            if letter.is_whitespace() {
                letters = 0;
            } else if letter.is_alphanumeric() && !is_ideograph(letter) {
                if letters % LETTERS == 0 {
                    starts.push(at);
                }
                letters += 1;
            } else {
                starts.push(at);
                letters = 0;
            }
        }
        starts
    }
}

/// Longest token in bytes, with the white space behind it.
pub(super) const LONGEST: usize = 64;

/// Tokens of a text for what is cut by them: a model takes a word without end, or white space without end, for one token
/// or for none. What is longer than [`LONGEST`] counts as [`EstimatedTokens`] estimates it, and as one token for so many
/// bytes at the least: a passage of so many tokens has a size.
pub(super) fn bounded(text: &str, starts: Vec<u32>) -> Vec<u32> {
    let place = |start: &u32| usize::try_from(*start).unwrap_or(usize::MAX);
    let ends = || starts.iter().skip(1).map(place).chain([text.len()]);
    let first = starts.first().map_or(text.len(), place);
    let is_long = |(from, to): (usize, usize)| to.saturating_sub(from) > LONGEST;
    if !is_long((0, first)) && !starts.iter().map(place).zip(ends()).any(is_long) {
        return starts;
    }
    let mut all = Vec::with_capacity(starts.len() + text.len() / LONGEST);
    let head = (first > 0).then_some((0, first));
    for (from, to) in head.into_iter().chain(starts.iter().map(place).zip(ends())) {
        if !is_long((from, to)) {
            all.extend(u32::try_from(from).ok());
            continue;
        }
        let mut last = None;
        let inner = text.get(from..to).unwrap_or_default();
        let mut estimated = EstimatedTokens.token_starts(inner).into_iter().map(|at| place(&at)).peekable();
        for (at, _) in inner.char_indices() {
            let is_estimated = estimated.next_if_eq(&at).is_some();
            if is_estimated || last.is_none_or(|last| at - last >= LONGEST) {
                all.extend(u32::try_from(from + at).ok());
                last = Some(at);
            }
        }
    }
    all
}

/// Whether a character is a word or a syllable of its own: Han, kana, Hangul.
const fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_marks_and_ideographs_are_counted() {
        assert_eq!(
            EstimatedTokens.token_starts("a word, internationally 漢字"),
            [0, 2, 6, 8, 14, 20, 24, 27]
        );
    }

    #[test]
    fn no_token_is_longer_than_is_allowed_whatever_a_model_says() {
        let short = "one two".to_owned();
        assert_eq!(bounded(&short, vec![0, 4]), [0, 4]);
        assert_eq!(bounded("", Vec::new()), [0_u32; 0]);
        for long in ["x".repeat(1000), "é".repeat(1000), "漢".repeat(500), " ".repeat(1000), "- ".repeat(200)]
        {
            for (text, starts) in [
                (format!("a {long} b"), vec![0, 2, u32::try_from(long.len()).unwrap() + 3]),
                (long.clone(), Vec::new()),
                (long.clone(), vec![0]),
            ] {
                let starts = bounded(&text, starts);
                assert_eq!(starts.first(), Some(&0), "{text}");
                let ends = starts.iter().skip(1).copied().chain([u32::try_from(text.len()).unwrap()]);
                for (from, to) in starts.iter().zip(ends) {
                    let (from, to) = (*from as usize, to as usize);
                    assert!(from < to && to - from < LONGEST + 4, "{from} to {to} of {text}");
                    assert!(text.is_char_boundary(from), "{text}");
                }
            }
        }
    }
}

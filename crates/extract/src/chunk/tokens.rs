//! Tokens of a text.

/// Tokens of a text as a model counts them.
pub trait TokenCounter {
    /// Bytes at which the tokens of a text begin, ascending; one pass over the text. Tokens a model adds around a text
    /// are not counted.
    fn token_starts(&self, text: &str) -> Vec<usize>;

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
    fn token_starts(&self, text: &str) -> Vec<usize> {
        let mut starts = Vec::with_capacity(text.len() / 5);
        let mut letters = 0;
        for (at, letter) in text.char_indices() {
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
}

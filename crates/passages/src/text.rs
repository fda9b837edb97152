//! Text: how passages and queries become words.

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{
    LowerCaser, RemoveLongFilter, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// The longest word in bytes; what is longer is no word, but data.
const LONGEST_WORD: usize = 40;

/// The language whose words are reduced to their stems (Snowball's algorithms).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "their names say which languages they are")]
pub enum Language {
    Arabic,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    /// Any other language, and a mixture: words stay as they are.
    Plain,
}

impl Language {
    /// The language of a tag of BCP 47 (`de`, `de-AT`), or plain words for one without stems here.
    #[must_use]
    pub fn of_tag(tag: &str) -> Self {
        let primary = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        match primary.as_str() {
            "ar" => Self::Arabic,
            "da" => Self::Danish,
            "nl" => Self::Dutch,
            "en" => Self::English,
            "fi" => Self::Finnish,
            "fr" => Self::French,
            "de" => Self::German,
            "el" => Self::Greek,
            "hu" => Self::Hungarian,
            "it" => Self::Italian,
            "no" | "nb" | "nn" => Self::Norwegian,
            "pt" => Self::Portuguese,
            "ro" => Self::Romanian,
            "ru" => Self::Russian,
            "es" => Self::Spanish,
            "sv" => Self::Swedish,
            "ta" => Self::Tamil,
            "tr" => Self::Turkish,
            _other => Self::Plain,
        }
    }

    fn stemmer(self) -> Option<Stemmer> {
        use tantivy::tokenizer::Language as Stem;
        let language = match self {
            Self::Arabic => Stem::Arabic,
            Self::Danish => Stem::Danish,
            Self::Dutch => Stem::Dutch,
            Self::English => Stem::English,
            Self::Finnish => Stem::Finnish,
            Self::French => Stem::French,
            Self::German => Stem::German,
            Self::Greek => Stem::Greek,
            Self::Hungarian => Stem::Hungarian,
            Self::Italian => Stem::Italian,
            Self::Norwegian => Stem::Norwegian,
            Self::Portuguese => Stem::Portuguese,
            Self::Romanian => Stem::Romanian,
            Self::Russian => Stem::Russian,
            Self::Spanish => Stem::Spanish,
            Self::Swedish => Stem::Swedish,
            Self::Tamil => Stem::Tamil,
            Self::Turkish => Stem::Turkish,
            Self::Plain => return None,
        };
        Some(Stemmer::new(language))
    }

    /// Words in lower case, reduced to their stems.
    pub(crate) fn analyzer(self) -> TextAnalyzer {
        let words = TextAnalyzer::builder(Words::default())
            .filter(RemoveLongFilter::limit(LONGEST_WORD))
            .filter(LowerCaser);
        match self.stemmer() {
            Some(stemmer) => words.filter(stemmer).build(),
            None => words.build(),
        }
    }
}

/// Words: runs of letters and digits; of scripts without spaces between words, each two neighbouring signs.
#[derive(Debug, Clone, Default)]
struct Words {
    token: Token,
    places: Vec<(usize, usize)>,
}

/// The words of one text.
#[derive(Debug)]
struct WordStream<'a> {
    text: &'a str,
    places: std::slice::Iter<'a, (usize, usize)>,
    token: &'a mut Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        cut(text, &mut self.places);
        WordStream { text, places: self.places.iter(), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((from, to)) = self.places.next() else { return false };
        self.token.text.clear();
        self.token.text.push_str(self.text.get(*from..*to).unwrap_or_default());
        self.token.position = self.token.position.wrapping_add(1);
        (self.token.offset_from, self.token.offset_to) = (*from, *to);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Run that the sign before belongs to.
enum Run {
    None,
    /// A word, from this byte on.
    Word(usize),
    /// A sign of a script without spaces, at these bytes; whether it is in a pair already.
    Sign(usize, usize, bool),
}

/// The places of the words of a text.
fn cut(text: &str, places: &mut Vec<(usize, usize)>) {
    places.clear();
    let mut run = Run::None;
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        let next = if unspaced(sign) {
            Run::Sign(at, end, false)
        } else if sign.is_alphanumeric() {
            Run::Word(at)
        } else {
            Run::None
        };
        run = match (run, next) {
            (Run::Word(from), Run::Word(_)) => Run::Word(from),
            (Run::Sign(from, _, _), Run::Sign(at, end, _)) => {
                places.push((from, end));
                Run::Sign(at, end, true)
            }
            (before, next) => {
                close(&before, at, places);
                next
            }
        };
    }
    close(&run, text.len(), places);
}

fn close(run: &Run, at: usize, places: &mut Vec<(usize, usize)>) {
    match run {
        Run::Word(from) => places.push((*from, at)),
        Run::Sign(from, end, false) => places.push((*from, *end)),
        Run::Sign(_, _, true) | Run::None => {}
    }
}

/// Whether a sign is of a script that writes no spaces between words: Han, Kana, Thai, Lao, Burmese, Khmer.
fn unspaced(sign: char) -> bool {
    matches!(
        sign,
        '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}' | '\u{0e81}'..='\u{0ece}' | '\u{1000}'..='\u{103f}'
            | '\u{1780}'..='\u{17d3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(language: Language, text: &str) -> Vec<String> {
        let mut analyzer = language.analyzer();
        let mut stream = analyzer.token_stream(text);
        let mut words = vec![];
        stream.process(&mut |token| words.push(token.text.clone()));
        words
    }

    #[test]
    fn words_are_reduced_to_their_stems() {
        assert_eq!(
            words(Language::English, "Running, the runners' 2-step!"),
            ["run", "the", "runner", "2", "step"]
        );
        assert_eq!(words(Language::German, "Häuser"), words(Language::German, "Haus"));
        assert_eq!(words(Language::Plain, "Häuser AND c:\\x"), ["häuser", "and", "c", "x"]);
    }

    #[test]
    fn scripts_without_spaces_are_found_by_pairs() {
        assert_eq!(words(Language::Plain, "東京都 a税b"), ["東京", "京都", "a", "税", "b"]);
    }

    #[test]
    fn what_is_too_long_is_no_word() {
        assert_eq!(words(Language::Plain, &format!("a {} b", "x".repeat(200))), ["a", "b"]);
    }
}

//! Text: how passages and queries become words.

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::{LowerCaser, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Characters of a word that count: a digest of 512 bits has so many.
const LONGEST_WORD: usize = 128;

/// Side of a search whose text becomes words: the two are cut alike, but for the signs of scripts without spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// A passage, which is found by each sign and by each two that are neighbours.
    Passage,
    /// A query, which asks for pairs, and for a sign that stands alone.
    Query,
}

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
    pub(crate) fn analyzer(self, side: Side) -> TextAnalyzer {
        let words = Words { side, plain: String::new(), token: Token::default(), places: Vec::new() };
        let words = TextAnalyzer::builder(words).filter(LowerCaser);
        match self.stemmer() {
            Some(stemmer) => words.filter(stemmer).build(),
            None => words.build(),
        }
    }
}

/// Words: runs of letters and digits; of scripts without spaces between words, each two neighbouring signs.
#[derive(Debug, Clone)]
struct Words {
    side: Side,
    /// The text in one form of its characters, where it may have several.
    plain: String,
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
        let text = if text.is_ascii() {
            text
        } else {
            self.plain.clear();
            let seen = text.chars().filter(|sign| !is_unseen(*sign));
            self.plain.extend(seen.flat_map(spelled).nfkc().map(one_form));
            &self.plain
        };
        cut(text, self.side, &mut self.places);
        WordStream { text, places: self.places.iter(), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some((from, to)) = self.places.next() else { return false };
        let word = self.text.get(*from..*to).unwrap_or_default();
        let end = word.char_indices().nth(LONGEST_WORD).map_or(word.len(), |(end, _)| end);
        self.token.text.clear();
        self.token.text.push_str(word.get(..end).unwrap_or(word));
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

/// Whether a character shows nothing and parts no words: those of the category Cf, such as soft hyphens, joiners and marks
/// of direction, selectors of variants, and what is drawn around another sign.
fn is_unseen(sign: char) -> bool {
    matches!(
        sign,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
            | '\u{8e2}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{20dd}'..='\u{20e0}' | '\u{20e2}'..='\u{20e4}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// A sign before its plain form is taken: a sharp s as it is in capitals, and with what keeps it apart from its neighbours.
fn spelled(sign: char) -> impl Iterator<Item = char> {
    let signs = match sign {
        'ß' | 'ẞ' => [Some('s'), Some('s'), None],
        sign if stands_apart(sign) => [Some(' '), Some(sign), Some(' ')],
        sign => [Some(sign), None, None],
    };
    signs.into_iter().flatten()
}

/// Whether a sign is a word of its own, though its plain form consists of letters or digits: ™ and №, fractions, numbers in
/// circles, units and words in a square.
fn stands_apart(sign: char) -> bool {
    let is_symbol = !sign.is_ascii() && !sign.is_alphanumeric() && !is_combining_mark(sign);
    is_symbol
        || matches!(
            sign,
            '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215f}' | '\u{2189}' | '\u{2460}'..='\u{24ff}'
                | '\u{2776}'..='\u{2793}' | '\u{3200}'..='\u{33ff}'
        )
}

/// A letter in the form that it has within a word, where capitals or the end of a word give it another.
const fn one_form(sign: char) -> char {
    match sign {
        'ς' => 'σ',
        'İ' => 'i',
        sign => sign,
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
fn cut(text: &str, side: Side, places: &mut Vec<(usize, usize)>) {
    places.clear();
    let mut run = Run::None;
    for (at, sign) in text.char_indices() {
        let end = at + sign.len_utf8();
        let next = if unspaced(sign) {
            Run::Sign(at, end, false)
        } else if sign.is_alphanumeric() {
            Run::Word(at)
        } else if let (Run::Word(from), true) = (&run, !sign.is_ascii() && is_combining_mark(sign)) {
            // What has no form of its own with its letter stands behind it, and ends no word.
            Run::Word(*from)
        } else {
            Run::None
        };
        run = match (run, next) {
            (Run::Word(from), Run::Word(_)) => Run::Word(from),
            (Run::Sign(from, before, _), Run::Sign(at, end, _)) => {
                if side == Side::Passage {
                    places.push((from, before));
                }
                places.push((from, end));
                Run::Sign(at, end, true)
            }
            (before, next) => {
                close(&before, at, side, places);
                next
            }
        };
    }
    close(&run, text.len(), side, places);
}

fn close(run: &Run, at: usize, side: Side, places: &mut Vec<(usize, usize)>) {
    match run {
        Run::Word(from) => places.push((*from, at)),
        Run::Sign(from, end, is_paired) if !is_paired || side == Side::Passage => places.push((*from, *end)),
        Run::Sign(..) | Run::None => {}
    }
}

/// Whether a sign is of a script that writes no spaces between words (Han, Kana, Thai, Lao, Burmese, Khmer), or whose words
/// carry what other languages write apart (Hangul).
fn unspaced(sign: char) -> bool {
    matches!(
        sign,
        '\u{0e01}'..='\u{0e3a}' | '\u{0e40}'..='\u{0e4e}' | '\u{0e81}'..='\u{0ece}' | '\u{1000}'..='\u{103f}'
            | '\u{1780}'..='\u{17d3}' | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{ac00}'..='\u{d7a3}' | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{323af}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(language: Language, side: Side, text: &str) -> Vec<String> {
        let mut analyzer = language.analyzer(side);
        let mut stream = analyzer.token_stream(text);
        let mut words = vec![];
        stream.process(&mut |token| words.push(token.text.clone()));
        words
    }

    fn words(language: Language, text: &str) -> Vec<String> {
        words_of(language, Side::Query, text)
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
    fn scripts_without_spaces_are_found_by_pairs_and_by_single_signs() {
        assert_eq!(words(Language::Plain, "東京都 a税b"), ["東京", "京都", "a", "税", "b"]);
        let passage = words_of(Language::Plain, Side::Passage, "東京都 a税b 학교에서");
        assert_eq!(
            passage,
            [
                "東", "東京", "京", "京都", "都", "a", "税", "b", "학", "학교", "교", "교에", "에", "에서",
                "서"
            ]
        );
        for query in ["都", "京都", "東京", "학교", "교"] {
            assert!(words(Language::Plain, query).iter().all(|word| passage.contains(word)), "{query}");
        }
    }

    /// Words that look the same are the same: composed or not, in a ligature, wide, with what nobody sees in it.
    #[test]
    fn a_word_is_found_in_each_of_its_forms() {
        for (one, others) in [
            ("müller", ["mu\u{308}ller", "MU\u{308}LLER", "mül\u{ad}ler", "\u{feff}Mü\u{200b}ller"]),
            ("office", ["o\u{fb03}ce", "ｏｆｆｉｃｅ", "of\u{2060}fice", "OFFICE"]),
            ("ガラス", ["ｶﾞﾗｽ", "カ\u{3099}ラス", "ガラ\u{200d}ス", "ガラス"]),
            (
                "한국",
                ["\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", "한국", "한\u{ad}국", "한국\u{200c}"],
            ),
            ("strasse", ["Straße", "STRASSE", "STRAẞE", "Stra\u{ad}ße"]),
            ("istanbul", ["İstanbul", "I\u{307}stanbul", "İSTANBUL", "ISTANBUL"]),
            ("κόσμος", ["κόσμοσ", "ΚΌΣΜΟΣ", "κο\u{301}σμος", "κόσμος"]),
            ("हिन्दी", ["हिन्दी", "हि\u{ad}न्दी", "\u{200e}हिन्दी", "हिन्दी"]),
        ] {
            for other in others {
                for side in [Side::Query, Side::Passage] {
                    let (one, other) =
                        (words_of(Language::Plain, side, one), words_of(Language::Plain, side, other));
                    assert_eq!(one, other);
                }
            }
        }
        assert_eq!(words(Language::Plain, "हिन्दी"), ["हिन्दी"], "a mark within a word ends none");
    }

    #[test]
    fn a_sign_that_is_a_word_of_its_own_hides_no_other() {
        for (text, expected) in [
            ("Heddle™", "heddle tm"),
            ("№5", "no 5"),
            ("2½", "2 1 2"),
            ("①Start", "1 start"),
            ("1\u{fe0f}\u{20e3}", "1"),
            ("5㎏", "5 kg"),
            ("CO₂", "co2"),
            ("so…oder—so", "so oder so"),
        ] {
            for side in [Side::Query, Side::Passage] {
                assert_eq!(words_of(Language::Plain, side, text).join(" "), expected);
            }
        }
    }

    #[test]
    fn a_long_word_is_found_by_its_beginning_on_both_sides() {
        let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        assert_eq!(words(Language::Plain, digest), [digest]);
        let cyrillic = "превысокомногорассмотрительствующий";
        assert_eq!(words(Language::Plain, cyrillic), [cyrillic]);
        let long = "é".repeat(200);
        assert_eq!(words(Language::Plain, &long), ["é".repeat(LONGEST_WORD)]);
        assert_eq!(words_of(Language::Plain, Side::Passage, &long), ["é".repeat(LONGEST_WORD)]);
    }
}

//! Texts as they are searched: normalised, with the way back to where each letter stood.

use unicode_normalization::UnicodeNormalization as _;

/// A place in a text at which something was found, in bytes of the text as it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Found {
    /// First byte.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
    /// Kind of what was found, such as `card` or `github`.
    pub kind: &'static str,
}

/// A text in one form: lower case, compatibility forms as what they stand for, letters that look like Latin ones as
/// those, nothing without width, one space for any run of space.
#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub text: String,
    /// Place in the given text of each byte.
    places: Vec<u32>,
    /// Length of the given text.
    length: usize,
}

impl Folded {
    /// Folds a text; linear in its length.
    pub(crate) fn of(text: &str) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), places: Vec::new(), length: text.len() };
        let mut gap = true;
        for (at, letter) in text.char_indices() {
            if is_invisible(letter) {
                continue;
            }
            for part in std::iter::once(letter).nfkc() {
                if part.is_whitespace() {
                    if !gap {
                        folded.push(' ', at);
                    }
                    gap = true;
                    continue;
                }
                gap = false;
                for lower in part.to_lowercase() {
                    folded.push(latin(base_of(lower)), at);
                }
            }
        }
        folded
    }

    fn push(&mut self, letter: char, at: usize) {
        self.text.push(letter);
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        self.places.extend(std::iter::repeat_n(place, letter.len_utf8()));
    }

    /// The place in the given text of a part of the folded one, whole letters of `given` alone.
    pub(crate) fn origin(&self, start: usize, end: usize, kind: &'static str) -> Found {
        let place = |at: usize| self.places.get(at).map_or(self.length, |place| *place as usize);
        let first = place(start);
        // The end is where the next letter that came of another one stands.
        let last = self.places.get(end.saturating_sub(1)).copied();
        let rest = self.places.get(end..).unwrap_or_default();
        let next = rest.iter().copied().find(|own| Some(*own) != last);
        let behind = next.map_or(self.length, |next| next as usize);
        Found { start: first, end: behind.max(first), kind }
    }
}

/// A letter without its accents. Syllables of Hangul are letters of their own.
fn base_of(letter: char) -> char {
    if ('\u{AC00}'..='\u{D7A3}').contains(&letter) {
        return letter;
    }
    std::iter::once(letter).nfd().next().unwrap_or(letter)
}

/// Whether a character takes no room: joiners, direction marks, soft hyphens, variation selectors, tags, combining marks.
const fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{0300}'..='\u{036F}'
            | '\u{E0000}'..='\u{E007F}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

/// The Latin letter that a lower-case letter of another script looks like, or the letter itself. Those of words that are
/// searched for in their own script are folded alike there.
const fn latin(letter: char) -> char {
    match letter {
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'ь' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' | 'ɗ' => 'd',
        'е' | 'ε' | 'є' => 'e',
        'ɡ' => 'g',
        'һ' | 'н' => 'h',
        'і' | 'ι' | 'ı' | 'ɩ' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' | 'ⅼ' => 'l',
        'м' => 'm',
        'ո' => 'n',
        'о' | 'ο' | 'σ' | 'օ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' => 'u',
        'ν' | 'ѵ' => 'v',
        'ѡ' | 'ԝ' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        _ => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_come_off_and_places_stay() {
        let text = "Bitte: Ｉｇｎ\u{200B}оrе   previous";
        let folded = Folded::of(text);
        assert_eq!(folded.text, "bitte: ignore previous");
        let at = folded.text.find("ignore").unwrap();
        let found = folded.origin(at, at + "ignore".len(), "x");
        assert_eq!(&text[found.start..found.end].trim_end(), &"Ｉｇｎ\u{200B}оrе");
        let whole = folded.origin(0, folded.text.len(), "x");
        assert_eq!((whole.start, whole.end), (0, text.len()));
        assert_eq!(Folded::of("Über Größe").text, "uber große");
    }
}

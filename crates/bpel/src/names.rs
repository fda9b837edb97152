//! Names of XML: NCNames from any text, each given once.

use std::collections::HashMap;

/// Names that were given.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Given names with the number that the next clash gets.
    given: HashMap<String, u32>,
}

impl Names {
    /// The text as an NCName that was not given before.
    pub(crate) fn unique(&mut self, text: &str) -> String {
        let base = clean(text);
        let Some(next) = self.given.get(&base).copied() else {
            self.given.insert(base.clone(), 2);
            return base;
        };
        let mut number = next;
        loop {
            let name = format!("{base}_{number}");
            number = number.saturating_add(1);
            if !self.given.contains_key(&name) {
                self.given.insert(base, number);
                self.given.insert(name.clone(), 2);
                return name;
            }
        }
    }
}

/// The text as an NCName; what cannot stand in one becomes an underscore. A dot is left out too, because names of
/// variables must not have one.
pub(super) fn clean(text: &str) -> String {
    let text = text.trim();
    let allowed =
        |letter: char| letter == '_' || letter == '-' || letter.is_ascii_alphanumeric() || is_letter(letter);
    let mut name: String =
        text.chars().take(120).map(|letter| if allowed(letter) { letter } else { '_' }).collect();
    let starts = |letter: char| letter == '_' || letter.is_ascii_alphabetic() || is_letter(letter);
    if !name.starts_with(starts) {
        name.insert(0, '_');
    }
    name
}

/// Letters of which every reader of XML 1.0 says that they are letters.
fn is_letter(letter: char) -> bool {
    matches!(letter, '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{131}' | '\u{391}'..='\u{3a1}'
        | '\u{3b1}'..='\u{3c9}' | '\u{410}'..='\u{44f}' | '\u{4e00}'..='\u{9fa5}')
}

/// A URI from any text: what cannot stand in one is percent-encoded; the fallback stands for an empty text.
pub(super) fn uri(text: Option<&str>, fallback: &str) -> String {
    let text = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(fallback);
    let mut uri = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:/?#@!$&'()*+,;=%".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_ncname_and_given_once() {
        let mut names = Names::default();
        for (text, name) in [
            ("Check order", "Check_order"),
            ("Check order", "Check_order_2"),
            ("Check_order_2", "Check_order_2_2"),
            ("1st", "_1st"),
            ("", "_"),
            ("Prüfung", "Prüfung"),
            ("a.b:c", "a_b_c"),
        ] {
            assert_eq!(names.unique(text), name);
        }
        assert_eq!(uri(Some("http://x/a b[1]"), "urn:y"), "http://x/a%20b%5B1%5D");
        assert_eq!(uri(Some("  "), "urn:y"), "urn:y");
    }
}

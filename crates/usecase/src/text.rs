//! The rules of texts that callers send: slugs, names, lengths.

use std::ops::RangeInclusive;

use crate::{Problem, Problems};

/// The most characters of a slug.
const SLUG_MAX: usize = 100;

/// Checks how many characters a text has; the problem otherwise is `tooShort` or `tooLong`.
pub fn length(problems: &mut Problems, field: &str, text: &str, allowed: RangeInclusive<usize>) {
    let (least, most) = allowed.into_inner();
    let count = text.chars().count();
    if count < least {
        problems.push(Problem::at(field, "tooShort", format!("At least {least} characters.")));
    } else if count > most {
        problems.push(Problem::at(
            field,
            "tooLong",
            format!("At most {most} characters; these are {count}."),
        ));
    }
}

/// Checks a slug: `^[a-z0-9]+(-[a-z0-9]+)*$`, 1 to 100 characters; the problem otherwise is `tooShort`, `tooLong` or
/// `pattern`.
pub fn slug(problems: &mut Problems, field: &str, text: &str) {
    let word =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !(1..=SLUG_MAX).contains(&text.chars().count()) {
        length(problems, field, text, 1..=SLUG_MAX);
    } else if !text.split('-').all(word) {
        let message = "Small letters and digits, in words joined by single hyphens.";
        problems.push(Problem::at(field, "pattern", message));
    }
}

/// The slug that a name gives: its letters and digits of ASCII in small letters, joined by hyphens; `fallback` when
/// there are none.
#[must_use]
pub fn slug_from(name: &str, fallback: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == SLUG_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { fallback.to_owned() } else { slug.to_owned() }
}

/// Checks a name for people: 1 to `most` characters, none of them hidden ([`has_hidden`]), not only spaces; the problem
/// otherwise is `required`, `tooLong` or `wrongFormat`.
pub fn name(problems: &mut Problems, field: &str, text: &str, most: usize) {
    if text.trim().is_empty() {
        problems.push(Problem::at(field, "required", "A name is needed."));
    } else if text.chars().count() > most {
        length(problems, field, text, 1..=most);
    } else if has_hidden(text) {
        let message = "No control characters, and none that turn the direction of writing or can't be seen.";
        problems.push(Problem::at(field, "wrongFormat", message));
    }
}

/// Whether a text holds characters that nobody sees: control characters, marks of the direction of writing, and
/// spaces of no width, with which one name can look like another. A joiner between two letters beyond ASCII is
/// part of how they are written (Persian, Hindi, families of emoji) and is none of them.
#[must_use]
pub fn has_hidden(text: &str) -> bool {
    let beyond_ascii = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_hidden(c) && !is_joiner(c));
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_hidden(letter) {
            return true;
        }
        if is_joiner(letter) && !(beyond_ascii(before) && beyond_ascii(letters.peek().copied())) {
            return true;
        }
        before = Some(letter);
    }
    false
}

const fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}')
}

/// Whether a character is one that nobody sees, whatever stands beside it.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            // Fillers and separators that take the place of nothing.
            '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}' | '\u{3164}'
            | '\u{FFA0}' | '\u{200B}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'
            // Marks of direction.
            | '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{206F}'
            // Annotations and tags.
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Checks a text for people that may be absent: at most `most` characters; the problem otherwise is `tooLong`.
pub fn text(problems: &mut Problems, field: &str, text: Option<&str>, most: usize) {
    length(problems, field, text.unwrap_or_default(), 0..=most);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(check: impl FnOnce(&mut Problems)) -> Option<&'static str> {
        let mut problems = Problems::default();
        check(&mut problems);
        problems.into_iter().next().map(|problem| problem.reason)
    }

    #[test]
    fn slugs_follow_their_rule() {
        for good in ["a", "a-b", "2024-q1-review", &"x".repeat(100)] {
            assert_eq!(reason(|problems| slug(problems, "slug", good)), None, "{good}");
        }
        for bad in ["-", "a-", "-a", "a--b", "A", "a_b", "ä", "a b"] {
            assert_eq!(reason(|problems| slug(problems, "slug", bad)), Some("pattern"), "{bad}");
        }
        assert_eq!(reason(|problems| slug(problems, "slug", "")), Some("tooShort"));
        assert_eq!(reason(|problems| slug(problems, "slug", &"x".repeat(101))), Some("tooLong"));
    }

    #[test]
    fn a_slug_is_made_from_any_name() {
        for (name, slug) in
            [("Order Approval", "order-approval"), ("  -- ", "x"), ("Ä1", "1"), ("a__b", "a-b")]
        {
            assert_eq!(slug_from(name, "x"), slug, "{name}");
        }
        assert_eq!(slug_from(&"a-".repeat(80), "x").len(), 99);
    }

    #[test]
    fn names_and_texts_follow_their_rules() {
        for (text, expected) in [
            ("Ada", None),
            ("  ", Some("required")),
            ("a\u{7}b", Some("wrongFormat")),
            ("adm\u{200B}in", Some("wrongFormat")),
            ("\u{202E}nimda", Some("wrongFormat")),
            ("adm\u{200D}in", Some("wrongFormat")),
            ("Ada\u{FEFF}", Some("wrongFormat")),
            // Persian with its joiner, a family, and Hebrew without marks.
            ("می\u{200C}خواهم", None),
            ("👩\u{200D}👧", None),
            ("עדה", None),
            (&*"ü".repeat(200), None),
            (&"ü".repeat(201), Some("tooLong")),
        ] {
            assert_eq!(reason(|problems| name(problems, "displayName", text, 200)), expected, "{text}");
        }
        assert_eq!(reason(|problems| super::text(problems, "reason", None, 1)), None);
        assert_eq!(reason(|problems| super::text(problems, "reason", Some("ab"), 1)), Some("tooLong"));
    }
}

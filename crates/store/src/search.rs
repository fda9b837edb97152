//! Searches by a part of a text, taken letter for letter: patterns of `LIKE .. ESCAPE '\'`.

/// The text with the signs of a pattern escaped.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// The pattern that finds a text anywhere in a searched column, which holds small letters: SQLite's own comparison
/// knows the small letters of ASCII alone.
#[must_use]
pub fn anywhere(text: &str) -> String {
    format!("%{}%", escaped(&text.to_lowercase()))
}

/// The pattern that finds what begins with a text, in its case.
#[must_use]
pub fn beginning(text: &str) -> String {
    format!("{}%", escaped(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_are_letters() {
        for (text, pattern) in [("Übung", "%übung%"), ("50%_\\", "%50\\%\\_\\\\%"), ("", "%%")] {
            assert_eq!(anywhere(text), pattern);
        }
        assert_eq!(beginning("A_b."), "A\\_b.%");
    }
}

//! What the list of workflows is searched in.

/// Between two texts that are searched together; no key of a keyboard, so that no search spans two texts.
const BETWEEN: char = '\u{1f}';

/// The searched text of a workflow: slug, name and description in small letters. SQLite's own comparison
/// knows the small letters of ASCII alone.
pub fn text(slug: &str, display_name: &str, description: &str) -> String {
    format!("{slug}{BETWEEN}{display_name}{BETWEEN}{description}").to_lowercase()
}

/// The pattern of `LIKE ... ESCAPE '\'` that finds `q` anywhere, taken letter for letter.
pub fn pattern(q: &str) -> String {
    let mut pattern = String::with_capacity(q.len() + 2);
    pattern.push('%');
    for letter in q.to_lowercase().chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_are_letters() {
        for (q, expected) in [("Übung", "%übung%"), ("50%_\\", "%50\\%\\_\\\\%"), ("", "%%")] {
            assert_eq!(pattern(q), expected);
        }
        assert_eq!(text("a-b", "Ä", "C"), "a-b\u{1f}ä\u{1f}c");
    }
}

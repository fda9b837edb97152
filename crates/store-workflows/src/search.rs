//! Text in which the list of workflows is searched.

/// Between two texts that are searched together; no key of a keyboard, so that no search spans two texts.
const BETWEEN: char = '\u{1f}';

/// The searched text of a workflow: slug, name and description in small letters. SQLite's own comparison
/// knows the small letters of ASCII alone.
pub(crate) fn text(slug: &str, display_name: &str, description: &str) -> String {
    format!("{slug}{BETWEEN}{display_name}{BETWEEN}{description}").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_stand_apart_in_small_letters() {
        assert_eq!(text("a-b", "Ä", "C"), "a-b\u{1f}ä\u{1f}c");
    }
}

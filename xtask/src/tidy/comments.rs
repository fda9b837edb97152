//! First words of doc comments: the first sentence names the thing with its noun.

/// Words that ask or point instead of naming.
const WORDS: &[&str] = &[
    "By", "For", "How", "In", "It", "Its", "On", "That", "They", "This", "What", "When", "Where", "Who",
    "Whom", "Whose", "Why",
];

/// Adds the doc comments of one file that begin with another word than a noun.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    let mut within = false;
    for (index, line) in content.lines().enumerate() {
        let text = line.trim_start();
        let doc = text.strip_prefix("//! ").or_else(|| text.strip_prefix("/// "));
        if let Some(word) = doc.filter(|_| !within).and_then(first).filter(|word| WORDS.contains(word)) {
            found.push(format!("{place}:{}: the comment begins with `{word}`: name the thing", index + 1));
        }
        within = text.starts_with("//!") || text.starts_with("///");
    }
}

fn first(text: &str) -> Option<&str> {
    text.split(' ').next().map(|word| word.trim_end_matches(['.', ',', ':', ';']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_asks_instead_of_naming_is_found_by_its_line() {
        let mut found = Vec::new();
        let content =
            "//! Runs.\n\n/// When.\nx: T,\n/// Instant of creation.\n/// When it is null, nobody.\ny: T,\n";
        check("a.rs", content, &mut found);
        assert_eq!(found, ["a.rs:3: the comment begins with `When`: name the thing"]);
    }
}

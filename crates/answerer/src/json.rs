//! Passages within what a tool answered: JSON as a query of a vector database gives it, or of any other shape.

use serde_json::Value;

use crate::Passage;

/// Members that hold a list of passages.
const LISTS: [&str; 9] =
    ["passages", "results", "documents", "chunks", "matches", "hits", "sources", "context", "items"];
/// Members that hold a passage's text, the better ones first.
const TEXTS: [&str; 8] =
    ["text", "content", "passage", "page_content", "pageContent", "chunk", "snippet", "body"];
/// Members that name a passage, the better ones first.
const NAMES: [&str; 8] = ["fileName", "title", "source", "name", "file", "url", "fileId", "id"];
/// Deepest nesting that is looked into.
const DEEPEST: usize = 6;
/// Most lines that are made of other members.
const MOST_LINES: usize = 200;

/// Passages of an answer in JSON; none when the text is no JSON object or list.
pub(crate) fn passages(text: &str) -> Option<Vec<Passage>> {
    let value: Value =
        serde_json::from_str(text).ok().filter(|value: &Value| value.is_object() || value.is_array())?;
    let mut found = Vec::new();
    lists(&value, 0, &mut found);
    if found.is_empty() {
        let mut lines = Vec::new();
        told(&value, "", 0, &mut lines);
        found.extend((!lines.is_empty()).then(|| Passage { source: String::new(), text: lines.join("\n") }));
    }
    Some(found)
}

fn lists(value: &Value, depth: usize, found: &mut Vec<Passage>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| one(item, depth + 1, found)),
        Value::Object(members) if depth < DEEPEST => {
            let named = LISTS.iter().filter_map(|name| members.get(*name)).filter(|value| value.is_array());
            let before = found.len();
            named.for_each(|list| lists(list, depth + 1, found));
            if found.len() == before {
                members
                    .values()
                    .filter(|value| value.is_object())
                    .for_each(|inner| lists(inner, depth + 1, found));
            }
        }
        Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn one(item: &Value, depth: usize, found: &mut Vec<Passage>) {
    match item {
        Value::String(text) => push("", text, found),
        Value::Object(members) => {
            let text = TEXTS.iter().find_map(|name| members.get(*name)?.as_str());
            match text {
                Some(text) => {
                    let source = NAMES.iter().find_map(|name| members.get(*name)?.as_str());
                    push(source.unwrap_or_default(), text, found);
                }
                None if depth < DEEPEST => lists(item, depth + 1, found),
                None => {}
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    }
}

fn push(source: &str, text: &str, found: &mut Vec<Passage>) {
    if !text.trim().is_empty() {
        found.push(Passage { source: source.to_owned(), text: text.to_owned() });
    }
}

/// Values as lines, `name: value`.
fn told(value: &Value, name: &str, depth: usize, lines: &mut Vec<String>) {
    if lines.len() >= MOST_LINES || depth > DEEPEST {
        return;
    }
    match value {
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) => lines.push(format!("{name}: {value}")),
        Value::String(text) => lines.push(format!("{name}: {text}")),
        Value::Array(items) => items.iter().for_each(|item| told(item, name, depth + 1, lines)),
        Value::Object(members) => {
            for (member, value) in members {
                let name = if name.is_empty() { member.clone() } else { format!("{name} {member}") };
                told(value, &name, depth + 1, lines);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn passages_of_queries_are_found_with_their_names() {
        for (answer, expected) in [
            (
                json!({"data": {"passages": [{"fileName": "a.pdf", "text": "Ships.", "score": 1}]}}),
                vec![("a.pdf", "Ships.")],
            ),
            (json!(["One.", "Two."]), vec![("", "One."), ("", "Two.")]),
            (json!({"results": [{"title": "T", "snippet": "S."}, {"title": "empty"}]}), vec![("T", "S.")]),
            (
                json!({"weather": {"city": "Berlin", "degrees": 21}}),
                vec![("", "weather city: Berlin\nweather degrees: 21")],
            ),
            (json!({}), vec![]),
        ] {
            let found = passages(&answer.to_string()).unwrap();
            let found: Vec<(&str, &str)> =
                found.iter().map(|passage| (passage.source.as_str(), passage.text.as_str())).collect();
            assert_eq!(found, expected, "{answer}");
        }
        assert!(passages("plain words").is_none() && passages("42").is_none());
    }
}

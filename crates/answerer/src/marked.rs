//! Passages within a text: in tags, behind labels in brackets, below a heading.

use crate::Passage;

/// Tags whose content is a passage, or holds some.
const TAGS: [&str; 9] =
    ["passage", "document", "doc", "chunk", "excerpt", "document_content", "context", "documents", "sources"];
/// Attributes that name a passage, the better ones first.
const NAMES: [&str; 4] = ["source", "title", "name", "file"];
/// Attributes that tell it from others, where nothing names it.
const NUMBERS: [&str; 3] = ["id", "index", "number"];
/// Headings below which passages stand, without their colon.
const HEADINGS: [&str; 17] = [
    "context",
    "sources",
    "passages",
    "documents",
    "excerpts",
    "search results",
    "kontext",
    "quellen",
    "abschnitte",
    "auszüge",
    "contexte",
    "extraits",
    "contexto",
    "fuentes",
    "fontes",
    "contesto",
    "bronnen",
];
/// Words before a question that stands below its passages.
const QUESTIONS: [&str; 9] =
    ["question", "query", "frage", "pregunta", "domanda", "pergunta", "vraag", "user question", "質問"];
/// Deepest nesting of tags that is looked into.
const DEEPEST: usize = 4;
/// Longest tag with its attributes, in bytes.
const LONGEST_HEAD: usize = 512;
/// Longest label in brackets, in bytes.
const LABEL: usize = 80;

/// Parts of a text: its passages, and what is left without them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parted {
    /// The passages, in their order.
    pub(crate) passages: Vec<Passage>,
    /// Text around them.
    pub(crate) rest: String,
}

/// Parts a text. Without marks there is no passage, and all of it is the rest.
pub(crate) fn parted(text: &str) -> Parted {
    let mut parted = Parted::default();
    let rest = tagged(text, "", &mut parted.passages, 0);
    let rest = headed(&rest, &mut parted.passages);
    parted.rest = labelled(&rest, &mut parted.passages).trim().to_owned();
    parted
}

/// Paragraphs of a text that are not empty.
pub(crate) fn paragraphs(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.split('\n');
    let mut at = 0;
    let mut begin = None;
    let mut found = Vec::new();
    for line in lines {
        if line.trim().is_empty() {
            found.extend(begin.take().and_then(|begin: usize| text.get(begin..at)));
        } else if begin.is_none() {
            begin = Some(at);
        }
        at += line.len() + 1;
    }
    found.extend(begin.and_then(|begin| text.get(begin..)));
    found.into_iter().map(str::trim)
}

/// Takes what stands in tags; gives the text without it.
fn tagged(text: &str, source: &str, passages: &mut Vec<Passage>, depth: usize) -> String {
    let mut rest = String::new();
    let mut left = text;
    let mut unclosed = Vec::new();
    while let Some(tag) = Tag::first(left, &mut unclosed) {
        rest.push_str(left.get(..tag.begin).unwrap_or_default());
        let inner = left.get(tag.inner.clone()).unwrap_or_default();
        let within = || element(inner, "source").or_else(|| element(inner, "title"));
        let named = tag.name.as_deref().or_else(within).or(tag.number.as_deref());
        let source = named.map_or(source, str::trim).to_owned();
        if depth < DEEPEST && Tag::first(inner, &mut Vec::new()).is_some() {
            // What stands between inner tags names them, and is no passage.
            tagged(inner, &source, passages, depth + 1);
        } else {
            bare(inner, &source, passages);
        }
        left = left.get(tag.end..).unwrap_or_default();
    }
    rest.push_str(left);
    rest
}

/// Takes a content without tags: its labelled parts, or the whole of it.
fn bare(content: &str, source: &str, passages: &mut Vec<Passage>) {
    let before = passages.len();
    let rest = labelled(content, passages);
    if passages.len() == before {
        push(source, &rest, passages);
    }
}

fn push(source: &str, text: &str, passages: &mut Vec<Passage>) {
    if !text.trim().is_empty() {
        passages.push(Passage { source: source.to_owned(), text: text.trim().to_owned() });
    }
}

/// Content of the first element of a name that stands whole in a text.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begin = text.find(&format!("<{name}>"))? + name.len() + 2;
    let length = text.get(begin..)?.find(&format!("</{name}>"))?;
    text.get(begin..begin + length).filter(|content| content.len() <= LABEL)
}

/// An element that holds a passage.
struct Tag {
    begin: usize,
    inner: std::ops::Range<usize>,
    end: usize,
    name: Option<String>,
    number: Option<String>,
}

impl Tag {
    /// The first whole one of a text. Names whose end was sought in vain are told and not sought again, so that tags
    /// that nobody closes cost no more than others.
    fn first(text: &str, unclosed: &mut Vec<&'static str>) -> Option<Self> {
        let mut from = 0;
        while let Some(found) = text.get(from..)?.find('<') {
            let begin = from + found;
            if let Some(tag) = Self::at(text, begin, unclosed) {
                return Some(tag);
            }
            from = begin + 1;
        }
        None
    }

    fn at(text: &str, begin: usize, unclosed: &mut Vec<&'static str>) -> Option<Self> {
        let after = text.get(begin + 1..)?;
        let name: &'static str = TAGS.iter().copied().find(|name| {
            let ends = |rest: &str| rest.starts_with(['>', ' ', '\n']);
            after.strip_prefix(name).is_some_and(ends)
        })?;
        if unclosed.contains(&name) {
            return None;
        }
        let head = after.bytes().take(LONGEST_HEAD).position(|byte| byte == b'>')?;
        let attributes = after.get(name.len()..head)?;
        let inner = begin + 1 + head + 1;
        let closing = format!("</{name}>");
        let Some(length) = text.get(inner..)?.find(&closing) else {
            unclosed.push(name);
            return None;
        };
        let first = |names: &[&str]| names.iter().find_map(|name| attribute(attributes, name));
        let (end, inner) = (inner + length + closing.len(), inner..inner + length);
        Some(Self { begin, inner, end, name: first(&NAMES), number: first(&NUMBERS) })
    }
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let at = attributes.find(&format!(" {name}=\""))? + name.len() + 3;
    let value = attributes.get(at..)?.split('"').next()?;
    (!value.is_empty() && value.len() <= LABEL).then(|| value.to_owned())
}

/// Takes paragraphs behind a label in brackets at the beginning of a line, `[1] text`; gives the rest.
fn labelled(text: &str, passages: &mut Vec<Passage>) -> String {
    let mut rest = String::new();
    let mut open: Option<(String, String)> = None;
    for line in text.split_inclusive('\n') {
        let begun = label(line.trim_start());
        if (begun.is_some() || line.trim().is_empty())
            && let Some((source, text)) = open.take()
        {
            push(&source, &text, passages);
        }
        match (begun, &mut open) {
            (Some((source, begin)), _) => open = Some((source.to_owned(), begin.to_owned())),
            (None, Some((_, text))) => text.push_str(line),
            (None, None) => rest.push_str(line),
        }
    }
    if let Some((source, text)) = open {
        push(&source, &text, passages);
    }
    rest
}

/// The label of a line and what stands behind it; a link, `[text](address)`, is none.
fn label(line: &str) -> Option<(&str, &str)> {
    let (label, after) = line.strip_prefix('[')?.split_once(']')?;
    let plain = !label.trim().is_empty() && label.len() <= LABEL && !label.contains(['[', '\n', '"', '{']);
    let after = after.strip_prefix(':').unwrap_or(after);
    (plain && !after.starts_with('(') && !after.trim().is_empty()).then(|| (label.trim(), after))
}

/// Takes what stands below a heading until a question begins; gives the rest.
fn headed(text: &str, passages: &mut Vec<Passage>) -> String {
    let (mut rest, mut below, mut within) = (String::new(), String::new(), false);
    for line in text.split_inclusive('\n') {
        if let Some(asked) = question(line) {
            within = false;
            rest.push_str(asked);
        } else if let Some(begin) = heading(line) {
            within = true;
            below.push_str(begin);
            below.push('\n');
        } else if within {
            below.push_str(line);
        } else {
            rest.push_str(line);
        }
    }
    let unlabelled = labelled(&below, passages);
    paragraphs(&unlabelled).for_each(|paragraph| push("", paragraph, passages));
    rest
}

/// Rest of a line behind its heading; none when the line is no heading.
fn heading(line: &str) -> Option<&str> {
    behind(line, &HEADINGS)
}

fn question(line: &str) -> Option<&str> {
    behind(line, &QUESTIONS)
}

fn behind<'a>(line: &'a str, words: &[&str]) -> Option<&'a str> {
    let bare = line.trim_start_matches(['#', '*', ' ', '\t']);
    let (head, after) = bare.split_once([':', '：'])?;
    let head = head.trim_matches(['*', ' ', '\u{a0}']).to_lowercase();
    words.contains(&head.as_str()).then(|| after.trim_start_matches('*').trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Vec<(String, String)>, String) {
        let parted = parted(text);
        let passages = parted.passages.into_iter().map(|passage| (passage.source, passage.text));
        (passages.collect(), parted.rest)
    }

    fn pair(source: &str, text: &str) -> (String, String) {
        (source.to_owned(), text.to_owned())
    }

    #[test]
    fn passages_are_found_where_people_put_them() {
        let (a, b) = (pair("1", "Ships sail."), pair("2", "Trains run.\nOn rails."));
        for (text, passages, rest) in [
            ("How?", vec![], "How?"),
            ("[1] Ships sail.\n[2]: Trains run.\nOn rails.\n\nHow?", vec![a.clone(), b.clone()], "How?"),
            ("Context:\n[1] Ships sail.\n\nQuestion: How?", vec![a.clone()], "How?"),
            (
                "## Kontext:\nShips sail.\n\nTrains run.\nFrage: Wie?",
                vec![pair("", "Ships sail."), pair("", "Trains run.")],
                "Wie?",
            ),
            ("Use it. <context>Ships sail.</context> How?", vec![pair("", "Ships sail.")], "Use it.  How?"),
            (
                "<documents><document index=\"1\"><source>a.txt</source><document_content>Ships sail.\
                 </document_content></document></documents>How?",
                vec![pair("a.txt", "Ships sail.")],
                "How?",
            ),
            ("<passage id=\"x\">Ships sail.</passage>", vec![pair("x", "Ships sail.")], ""),
            ("<context>Never closed. How?", vec![], "<context>Never closed. How?"),
            ("[A link](https://example.com) is none.", vec![], "[A link](https://example.com) is none."),
            ("<contextual>no</contextual>", vec![], "<contextual>no</contextual>"),
        ] {
            assert_eq!(of(text), (passages, rest.to_owned()), "{text}");
        }
    }

    #[test]
    fn paragraphs_end_at_empty_lines() {
        let found: Vec<&str> = paragraphs("\n one\ntwo\n \n\nthree").collect();
        assert_eq!(found, ["one\ntwo", "three"]);
    }

    #[test]
    fn deep_nesting_ends() {
        let text = format!("{}x{}", "<context>".repeat(2_000), "</context>".repeat(2_000));
        assert!(parted(&text).passages.len() <= 1);
    }
}

//! Plain text and Markdown.

use super::{Read, Source};
use crate::builder::Builder;
use crate::document::Markup;
use crate::encoding::decode;
use crate::error::ExtractError;

/// Charset that a media type names.
pub(super) fn charset(media_type: Option<&str>) -> Option<&str> {
    media_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    })
}

/// Text of the source, by its marks, its media type and its look.
pub(super) fn decoded(source: Source<'_>) -> String {
    let mut text = decode(source.content, charset(source.request.media_type.as_deref()));
    // DOS ends texts by a mark.
    text.truncate(text.trim_end_matches('\u{1A}').len());
    text
}

pub(super) fn plain(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    builder.push(&decoded(source))?;
    Ok(Markup::Plain)
}

pub(super) fn markdown(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let text = decoded(source);
    let (matter, body) = front_matter(&text);
    for line in matter.lines() {
        note(line, builder);
    }
    push(body, builder)?;
    Ok(Markup::Markdown)
}

fn push(body: &str, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    builder.push(body.trim_start_matches(['\n', '\r']))
}

/// Notes a `name: value` of the front matter; what is nested or a list is left out.
fn note(line: &str, builder: &mut Builder<'_>) {
    let Some((name, value)) = line.split_once(':') else { return };
    let value = value.trim().trim_matches(['"', '\'']);
    match name.trim_end() {
        "title" => builder.titled(Some(value)),
        name @ ("author" | "date" | "description" | "subject") => builder.note(name, Some(value)),
        _other => {}
    }
}

/// Front matter between two lines of `---` at the start, and what follows it.
fn front_matter(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else {
        return ("", text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (rest.get(..at).unwrap_or_default(), rest.get(at + line.len()..).unwrap_or_default());
        }
        at += line.len();
    }
    ("", text)
}

#[cfg(test)]
mod tests {
    use crate::document::Markup;
    use crate::parse::tests::read;

    #[test]
    fn plain_text_stays_as_it_is_but_for_its_line_ends() {
        let document = read("a.txt", b"# not a heading\r\nline\rlast").unwrap();
        assert_eq!((document.text.as_str(), document.markup), ("# not a heading\nline\nlast", Markup::Plain));
        assert_eq!((document.characters, document.headings.len()), (25, 0));
    }

    #[test]
    fn markdown_gives_its_front_matter_headings_and_their_offsets() {
        let document = read(
            "a.md",
            "---\ntitle: \"Häuser\"\nauthor: X\n---\n\n# Äpfel\n\nWorte.\n\n## Birnen\n".as_bytes(),
        )
        .unwrap();
        assert_eq!(document.title.as_deref(), Some("Häuser"));
        assert_eq!(document.metadata["author"], "X");
        let second = &document.headings[1];
        assert_eq!((second.text.as_str(), second.level, second.start_char), ("Birnen", 2, 17));
        assert!(document.text.starts_with("# Äpfel"));
    }
}

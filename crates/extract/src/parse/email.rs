//! E-mail: its headers, its text, and the text of its attachments.

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::{Read, Request, Source, html, nested};
use crate::builder::Builder;
use crate::document::{Attachment, Markup, PartKind};
use crate::error::{ExtractError, Limit};

/// Messages inside each other whose text is taken.
const DEEPEST: u64 = 3;

pub(super) fn read(source: Source<'_>, builder: &mut Builder<'_>) -> Read {
    let message = MessageParser::default()
        .parse(source.content)
        .filter(|message| message.from().is_some() || message.subject().is_some() || message.date().is_some())
        .ok_or_else(|| ExtractError::parse("it has no headers of an e-mail"))?;
    head(&message, builder)?;
    body(&message, builder)?;
    let mut taken = 0;
    for (number, part) in (1..).zip(message.attachments()) {
        attachment(number, part, source, &mut taken, builder)?;
    }
    Ok(Markup::Markdown)
}

fn head(message: &Message<'_>, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    builder.titled(message.subject());
    let subject = builder.title.clone();
    builder.note("subject", subject.as_deref());
    if let Some(subject) = subject {
        builder.push(&format!("# {subject}\n\n"))?;
    }
    let date = message.date().map(mail_parser::DateTime::to_rfc3339);
    let lines = [
        ("from", "From", message.from().map(people)),
        ("to", "To", message.to().map(people)),
        ("cc", "Cc", message.cc().map(people)),
        ("created", "Date", date),
    ];
    for (name, label, value) in lines {
        let Some(value) = value.filter(|value| !value.is_empty()) else { continue };
        builder.note(name, Some(&value));
        // Two spaces end a line of Markdown without ending the paragraph.
        builder.frame(&format!("{label}: {value}  \n"))?;
    }
    Ok(())
}

fn people(address: &Address<'_>) -> String {
    let people = address.iter().filter_map(|one| match (one.name.as_deref(), one.address.as_deref()) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    });
    people.collect::<Vec<_>>().join(", ")
}

fn body(message: &Message<'_>, builder: &mut Builder<'_>) -> Result<(), ExtractError> {
    let start = builder.characters();
    bodies(message.text_bodies(), builder)?;
    if builder.characters() == start {
        bodies(message.html_bodies(), builder)?;
    }
    Ok(())
}

/// Adds bodies, those of HTML as Markdown: the parser's own conversion drops tables and links.
fn bodies<'m>(
    parts: impl Iterator<Item = &'m MessagePart<'m>>,
    builder: &mut Builder<'_>,
) -> Result<(), ExtractError> {
    for part in parts {
        match &part.body {
            PartType::Text(text) if text.trim().is_empty() => {}
            PartType::Text(text) => {
                builder.gap()?;
                builder.push(text.trim())?;
            }
            PartType::Html(page) => {
                builder.gap()?;
                html::markdown(page, html::Place::Message, builder)?;
            }
            PartType::Binary(_)
            | PartType::InlineBinary(_)
            | PartType::Message(_)
            | PartType::Multipart(_) => {}
        }
    }
    Ok(())
}

fn attachment(
    number: u32,
    part: &MessagePart<'_>,
    source: Source<'_>,
    taken: &mut u64,
    builder: &mut Builder<'_>,
) -> Result<(), ExtractError> {
    let media_type = part.content_type().map(|found| match found.subtype() {
        Some(subtype) => format!("{}/{subtype}", found.ctype()),
        None => found.ctype().to_owned(),
    });
    let message = matches!(part.body, PartType::Message(_));
    let name = part.attachment_name().map_or_else(
        || if message { format!("message-{number}.eml") } else { format!("attachment-{number}") },
        str::to_owned,
    );
    let content = part.contents();
    let mut entry = Attachment {
        name: name.clone(),
        media_type: media_type.clone(),
        bytes: content.len() as u64,
        included: false,
    };
    let reason = if source.depth >= DEEPEST {
        Err(format!("it stands in more than {DEEPEST} messages"))
    } else if *taken >= source.request.limits.attachments {
        Err(format!("only {} attachments are read", source.request.limits.attachments))
    } else {
        // What is left of the characters is what the attachment may have; time and memory are the whole's.
        let mut limits = source.request.limits.clone();
        limits.characters = limits.characters.saturating_sub(builder.characters());
        let request = Request { name: name.clone(), media_type, ocr: source.request.ocr.clone(), limits };
        match nested(Source { request: &request, content, depth: source.depth + 1 }) {
            Ok(document) => {
                *taken += 1;
                builder.part(PartKind::Section, number, Some(name.clone()), &document.text)?;
                entry.included = true;
                Ok(())
            }
            Err(error @ ExtractError::LimitExceeded { limit: Limit::Characters, .. }) => return Err(error),
            Err(error) => Err(error.to_string()),
        }
    };
    if let Err(reason) = reason {
        builder.warnings.push(format!("the attachment `{name}` was left out: {reason}"));
    }
    builder.attachments.push(entry);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::document::PartKind;
    use crate::parse::tests::{read, slice};

    const MAIL: &str = "From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>\r\nTo: a@example.org, B <b@example.org>\r\n\
        Subject: Quarterly =?utf-8?q?=C3=BCbersicht?=\r\nDate: Tue, 3 Feb 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n\
        <p>See the <b>table</b>.</p>\r\n--x\r\nContent-Type: text/plain\r\n\r\nYours\r\n--x\r\nContent-Type: text/csv; name=t.csv\r\n\
        Content-Disposition: attachment; filename=t.csv\r\n\r\na,b\r\nx,2\r\n--x\r\nContent-Type: video/mp4\r\n\
        Content-Disposition: attachment; filename=v.mp4\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--x--\r\n";

    #[test]
    fn headers_body_and_attachments_are_read_and_what_is_not_is_told() {
        let document = read("a.eml", MAIL.as_bytes()).unwrap();
        assert_eq!(document.title.as_deref(), Some("Quarterly übersicht"));
        assert_eq!(document.metadata["from"], "Jürgen <j@example.org>");
        assert!(document.text.contains("See the **table**."), "{}", document.text);
        let part = &document.parts[0];
        assert_eq!((part.kind, part.name.as_deref()), (PartKind::Section, Some("t.csv")));
        assert_eq!(
            slice(&document.text, part.start_char, part.end_char),
            "## t.csv\n\n| a | b |\n|---|---|\n| x | 2 |"
        );
        assert!(document.text.contains("Yours\n"), "{}", document.text);
        let included: Vec<_> =
            document.attachments.iter().map(|one| (one.name.as_str(), one.included)).collect();
        assert_eq!(included, [("t.csv", true), ("v.mp4", false)]);
        assert_eq!(document.warnings.len(), 1);
    }
}

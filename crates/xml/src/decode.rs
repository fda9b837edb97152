//! From bytes to text by byte order mark and declared encoding.

use crate::XmlError;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::borrow::Cow;

/// Decodes a document of at most `limit` bytes by its byte order mark, else by the encoding it declares, else as UTF-8.
///
/// # Errors
///
/// When it is larger (`tooLarge`), `empty`, a `zipArchive`, or holds bytes that are not of its encoding
/// (`unknownEncoding`, `invalidEncoding`).
pub fn decode(bytes: &[u8], limit: usize) -> Result<Cow<'_, str>, XmlError> {
    let refuse = |reason, message: &str| XmlError { message: message.to_owned(), line: 1, column: 1, reason };
    if bytes.len() > limit {
        let message = format!("The document is larger than {} MiB.", limit >> 20);
        return Err(refuse("tooLarge", &message));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(refuse("empty", "The document is empty."));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return Err(refuse("zipArchive", "The document is a zip archive, not XML."));
    }
    if let Some((body, word)) = utf_32(bytes) {
        let letters = body.chunks(4).map(|four| char::from_u32(word(four.try_into().ok()?)));
        let text = letters.collect::<Option<String>>();
        return text
            .map(Cow::Owned)
            .ok_or_else(|| refuse("invalidEncoding", "The document holds bytes that are not UTF-32."));
    }
    let (encoding, body) = detect(bytes)?;
    if encoding == UTF_8 {
        return match std::str::from_utf8(body) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(invalid_utf8(body, error.valid_up_to())),
        };
    }
    let text = encoding.decode_without_bom_handling_and_without_replacement(body);
    text.ok_or_else(|| {
        let message = format!("The document holds bytes that are not {}.", encoding.name());
        XmlError { message, line: 1, column: 1, reason: "invalidEncoding" }
    })
}

fn invalid_utf8(body: &[u8], valid: usize) -> XmlError {
    let good = String::from_utf8_lossy(body.get(..valid).unwrap_or_default());
    let (line, column) = position(&good, good.len());
    let message = "The document holds bytes that are not UTF-8.".to_owned();
    XmlError { message, line, column, reason: "invalidEncoding" }
}

/// Line and column, both from 1, of a byte offset.
#[must_use]
pub fn position(text: &str, offset: usize) -> (u32, u32) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// Byte order of UTF-32: from four bytes to a code point.
type Word = fn([u8; 4]) -> u32;

/// The bytes after the byte order mark of a document in UTF-32, which the web's encodings leave out and XML does not
/// (XML 1.0, appendix F).
fn utf_32(bytes: &[u8]) -> Option<(&[u8], Word)> {
    match bytes {
        [0xFF, 0xFE, 0, 0, body @ ..] => Some((body, u32::from_le_bytes)),
        [0, 0, 0xFE, 0xFF, body @ ..] => Some((body, u32::from_be_bytes)),
        [b'<', 0, 0, 0, ..] => Some((bytes, u32::from_le_bytes)),
        [0, 0, 0, b'<', ..] => Some((bytes, u32::from_be_bytes)),
        _ => None,
    }
}

/// The encoding and the bytes after the byte order mark.
fn detect(bytes: &[u8]) -> Result<(&'static Encoding, &[u8]), XmlError> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return Ok((encoding, bytes.get(length..).unwrap_or_default()));
    }
    match bytes {
        [b'<', 0, ..] => return Ok((UTF_16LE, bytes)),
        [0, b'<', ..] => return Ok((UTF_16BE, bytes)),
        _ => {}
    }
    let Some(label) = declared(bytes) else { return Ok((UTF_8, bytes)) };
    let Some(encoding) = Encoding::for_label(label) else {
        let message = format!("The encoding {:?} is unknown.", String::from_utf8_lossy(label));
        return Err(XmlError { message, line: 1, column: 1, reason: "unknownEncoding" });
    };
    // A document that could be read so far is not UTF-16: some tools declare what they wrote before
    // transcoding to UTF-8.
    let encoding = if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding };
    Ok((encoding, bytes))
}

/// The label in the XML declaration, when there is one.
fn declared(bytes: &[u8]) -> Option<&[u8]> {
    let head = bytes.strip_prefix(b"<?xml")?;
    let end = head.windows(2).take(512).position(|pair| pair == b"?>")?;
    let head = head.get(..end)?;
    let at = head.windows(8).position(|word| word == b"encoding")?;
    let rest = head.get(at + 8..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (&quote, rest) = rest.split_first()?;
    let end = rest.iter().position(|&byte| byte == quote)?;
    rest.get(..end)
}

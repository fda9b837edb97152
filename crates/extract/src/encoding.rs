//! Bytes to text: byte order marks, UTF-8, what the file declares, and else what its bytes look like.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_16BE, UTF_16LE};

/// Bytes that the guess of an encoding looks at.
const SAMPLE: usize = 256 << 10;

/// Text of some bytes. A byte order mark decides first, then valid UTF-8, then the declared encoding, then the look of
/// the bytes (UTF-16 without a mark, Windows-1252, Shift_JIS and the other encodings of the web). What an encoding has
/// no character for becomes U+FFFD.
pub(crate) fn decode(bytes: &[u8], declared: Option<&str>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0.into_owned();
    }
    if let Some(encoding) = wide(bytes) {
        return encoding.decode_without_bom_handling(bytes).0.into_owned();
    }
    let declared = declared.and_then(named);
    // Seven bits of each byte are used by this one, so that its texts are valid UTF-8, and say something else.
    let is_shifted = declared == Some(ISO_2022_JP) && bytes.contains(&0x1B);
    if !is_shifted && let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let encoding = declared.unwrap_or_else(|| guess(bytes));
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

fn named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

/// Whether texts of a charset are read, by one of its names (Encoding Standard, 4.2).
#[must_use]
pub fn knows_charset(label: &str) -> bool {
    named(label).is_some()
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    let sample = bytes.get(..SAMPLE);
    detector.feed(sample.unwrap_or(bytes), sample.is_none());
    detector.guess(None, Utf8Detection::Allow)
}

/// UTF-16 without a mark: of the first bytes nearly all of one half are zero and hardly any of the other.
pub(crate) fn wide(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..1024).unwrap_or(bytes);
    if head.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), head.len() / 2);
    if odd * 10 > half * 7 && even * 10 < half {
        Some(UTF_16LE)
    } else if even * 10 > half * 7 && odd * 10 < half {
        Some(UTF_16BE)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_every_usual_encoding_is_read() {
        let text = "Größe: 5 € für Ärzte – naïve façade";
        assert_eq!(decode(text.as_bytes(), None), text);
        assert_eq!(decode(&[b"\xEF\xBB\xBF", text.as_bytes()].concat(), None), text);
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&[b"\xFF\xFE".as_slice(), &little].concat(), None), text);
        assert_eq!(decode(&[b"\xFE\xFF".as_slice(), &big].concat(), None), text);
        assert_eq!(decode(&little, None), text);
        assert_eq!(decode(&big, None), text);
        let (western, _, _) = encoding_rs::WINDOWS_1252.encode(text);
        assert_eq!(decode(&western, None), text);
        let (cyrillic, _, _) = encoding_rs::KOI8_R.encode("Съешь ещё этих мягких булок");
        assert_eq!(decode(&cyrillic, Some("koi8-r")), "Съешь ещё этих мягких булок");
        let (shifted, _, _) = ISO_2022_JP.encode("織機の綜絖");
        assert_eq!(decode(&shifted, Some("ISO-2022-JP")), "織機の綜絖");
        assert_eq!(decode(b"plain", Some("ISO-2022-JP")), "plain");
    }

    #[test]
    fn charsets_are_known_by_their_names() {
        assert!(["utf-8", "Latin1", "windows-1252", " shift_jis "].into_iter().all(knows_charset));
        assert!(!["klingon", "", "replacement", "iso-2022-kr"].into_iter().any(knows_charset));
    }
}

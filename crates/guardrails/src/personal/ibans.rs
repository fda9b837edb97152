//! International bank account numbers (ISO 13616-1).

use std::sync::LazyLock;

use regex::Regex;

use super::stands_alone;
use crate::text::Found;

/// Length by country, of SWIFT's registry of IBANs.
const LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BI", 27),
    ("BR", 29),
    ("BY", 28),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DJ", 27),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FK", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HN", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IQ", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LC", 32),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("LY", 25),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MN", 20),
    ("MR", 27),
    ("MT", 31),
    ("MU", 30),
    ("NI", 28),
    ("NL", 18),
    ("NO", 15),
    ("OM", 23),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("RU", 33),
    ("SA", 24),
    ("SC", 31),
    ("SD", 18),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("SO", 23),
    ("ST", 25),
    ("SV", 28),
    ("TL", 23),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("VG", 24),
    ("XK", 20),
    ("YE", 30),
];

static CANDIDATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[A-Za-z]{2}[0-9]{2}(?:[ \-\u{00A0}]?[0-9A-Za-z]){11,29}").ok());

/// Length of a country's numbers; none for a country without any.
pub(crate) fn length_of(country: &str) -> Option<usize> {
    LENGTHS.iter().find(|own| own.0 == country).map(|own| own.1)
}

/// Whether letters and digits, with or without spaces, are an IBAN: by its country's length and modulo 97.
#[must_use]
pub fn is_valid(text: &str) -> bool {
    let is_gap = |letter: &char| !matches!(letter, ' ' | '-' | '\u{00A0}');
    let own: String = text.chars().filter(is_gap).map(|letter| letter.to_ascii_uppercase()).collect();
    if !own.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let (Some(country), Some(body)) = (own.get(..2), own.get(4..)) else { return false };
    length_of(country) == Some(own.len()) && remainder(body, own.get(..4).unwrap_or_default()) == 1
}

/// Remainder modulo 97 of letters and digits, one part behind the other.
pub(crate) fn remainder(body: &str, head: &str) -> u32 {
    body.bytes().chain(head.bytes()).fold(0, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        b'A'..=b'Z' => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
        _ => sum,
    })
}

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let Some(candidate) = CANDIDATE.as_ref() else { return };
    let mut from = 0;
    while let Some(hit) = candidate.find_at(text, from) {
        from = hit.end();
        // What follows in capitals or digits may have been taken along: the country says how long the number is.
        let country = hit.as_str().get(..2).unwrap_or_default().to_ascii_uppercase();
        let Some(length) = length_of(&country) else {
            from = hit.start() + 2;
            continue;
        };
        let is_part = |letter: char| letter.is_ascii_alphanumeric();
        let last = hit.as_str().char_indices().filter(|own| is_part(own.1)).nth(length - 1);
        let Some(end) = last.map(|own| hit.start() + own.0 + own.1.len_utf8()) else { continue };
        let whole = text.get(hit.start()..end).unwrap_or_default();
        if stands_alone(text, hit.start(), end) && is_valid(whole) {
            found.push(Found { start: hit.start(), end, kind: "iban" });
            from = end;
        }
    }
}

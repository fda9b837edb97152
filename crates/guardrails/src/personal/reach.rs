//! Ways to reach a person: telephone numbers with the code of a country (ITU-T E.164) and addresses of mail (RFC 5321).

use std::sync::LazyLock;

use regex::Regex;

use super::stands_alone;
use crate::text::Found;

/// Digits of an international number, its country's code among them.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=15;

static PHONE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:\+|\b00)[1-9](?:[ \-./()\u{00A0}]{0,2}[0-9]){6,14}").ok());
/// A number of North America, as it is written there.
static NATIONAL: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\(?[2-9][0-9]{2}\)?[ \-.][2-9][0-9]{2}[\-.][0-9]{4}").ok());
static MAIL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[0-9A-Za-z_][0-9A-Za-z._%+\-]{0,63}@[0-9A-Za-z](?:[0-9A-Za-z\-]{0,62}\.){1,8}[A-Za-z]{2,24}")
        .ok()
});

pub(super) fn phones(text: &str, found: &mut Vec<Found>) {
    let hits = PHONE.iter().flat_map(|pattern| pattern.find_iter(text));
    for hit in hits {
        let count = hit.as_str().trim_start_matches("00").bytes().filter(u8::is_ascii_digit).count();
        // Two zeros behind other groups of digits are the rest of a longer number.
        let before = text.get(..hit.start()).unwrap_or_default().trim_end_matches([' ', '-']);
        let is_rest = hit.as_str().starts_with("00") && before.ends_with(|last: char| last.is_ascii_digit());
        if LENGTHS.contains(&count) && !is_rest && stands_alone(text, hit.start(), hit.end()) {
            found.push(Found { start: hit.start(), end: hit.end(), kind: "phone" });
        }
    }
    for hit in NATIONAL.iter().flat_map(|pattern| pattern.find_iter(text)) {
        if stands_alone(text, hit.start(), hit.end()) {
            found.push(Found { start: hit.start(), end: hit.end(), kind: "phone" });
        }
    }
}

pub(super) fn mails(text: &str, found: &mut Vec<Found>) {
    for hit in MAIL.iter().flat_map(|pattern| pattern.find_iter(text)) {
        let is_dotted = hit.as_str().contains("..") || hit.as_str().contains(".@");
        if !is_dotted && stands_alone(text, hit.start(), hit.end()) {
            found.push(Found { start: hit.start(), end: hit.end(), kind: "email" });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;

    #[test]
    fn who_can_be_reached_is_told_and_what_has_digits_is_not() {
        let kinds = |text: &str| -> Vec<&str> {
            find(text, super::super::KINDS).iter().map(|found| found.kind).collect()
        };
        assert_eq!(kinds("Call +49 30 1234567 or (212) 555-0147."), ["phone", "phone"]);
        assert_eq!(kinds("ann.o'neill+x@mail.example.org"), ["email"]);
        assert_eq!(kinds("order 20240117-0001, version 1.2.3-4, 12:30:59, user@localhost"), [""; 0]);
        assert_eq!(kinds("4111 1111 1111 1111 and DE89 3704 0044 0532 0130 00"), ["card", "iban"]);
        assert_eq!(kinds("4111 1111 1111 1112 and DE89 3704 0044 0532 0130 01"), [""; 0]);
    }
}

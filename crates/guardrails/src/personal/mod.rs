//! Personal data in texts, by check digits where there are any: cards, accounts, national numbers, telephone numbers and
//! addresses of mail.
//!
//! Sources: ISO/IEC 7812-1 (Luhn, Annex B) with the ranges that issuers publish; ISO 13616-1 and the lengths of SWIFT's
//! IBAN registry; the national numbers by their laws, named at each.

mod cards;
mod ibans;
mod national;
mod reach;

pub use cards::is_valid as card_is_valid;
pub use ibans::is_valid as iban_is_valid;
#[cfg(any(test, feature = "labelled"))]
pub(crate) use ibans::{length_of as iban_length, remainder as iban_remainder};

use crate::text::Found;

/// Kinds of personal data that are looked for.
pub(crate) const KINDS: &[&str] = &["card", "iban", "national", "phone", "email"];

/// The personal data of some kinds in a text, in the order of their places, none within another; linear in its length.
pub(crate) fn find(text: &str, wanted: &[&str]) -> Vec<Found> {
    let mut found = Vec::new();
    let is_wanted = |kind: &str| wanted.contains(&kind);
    if is_wanted("card") {
        cards::find(text, &mut found);
    }
    if is_wanted("iban") {
        ibans::find(text, &mut found);
    }
    if is_wanted("national") {
        national::find(text, &mut found);
    }
    if is_wanted("email") {
        reach::mails(text, &mut found);
    }
    if is_wanted("phone") {
        reach::phones(text, &mut found);
    }
    // What has a check digit is that, and not a telephone number besides.
    let rank = |kind: &str| KINDS.iter().position(|own| *own == kind).unwrap_or(KINDS.len());
    found.sort_unstable_by_key(|one| (rank(one.kind), one.start));
    let mut kept: Vec<Found> = Vec::new();
    for one in found {
        let place = kept.partition_point(|own| own.start < one.start);
        let before = place.checked_sub(1).and_then(|before| kept.get(before));
        let is_free = before.is_none_or(|own| own.end <= one.start)
            && kept.get(place).is_none_or(|own| own.start >= one.end);
        if is_free {
            kept.insert(place, one);
        }
    }
    kept
}

/// Digits of a part of a text, without what parts groups of them.
fn digits(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect()
}

/// Whether the letters around a part are no letters or digits, so that it stands by itself.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let behind = text.get(end..).and_then(|behind| behind.chars().next());
    let is_free = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    is_free(before) && is_free(behind)
}

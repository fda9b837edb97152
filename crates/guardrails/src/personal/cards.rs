//! Numbers of payment cards.

use std::sync::LazyLock;

use regex::Regex;

use super::{digits, stands_alone};
use crate::text::Found;

/// A range of issuers: the first and the last of its prefixes, of equally many digits, and the lengths of its numbers.
struct Issuers {
    first: u32,
    last: u32,
    lengths: &'static [usize],
}

const fn issuers(first: u32, last: u32, lengths: &'static [usize]) -> Issuers {
    Issuers { first, last, lengths }
}

/// Ranges of issuers: Visa, Mastercard, American Express, Discover, Diners Club, JCB, UnionPay, Maestro, Mir, RuPay, Troy,
/// Dankort, Verve, UATP.
const ISSUERS: &[Issuers] = &[
    issuers(4, 4, &[13, 16, 19]),
    issuers(51, 55, &[16]),
    issuers(2221, 2720, &[16]),
    issuers(34, 34, &[15]),
    issuers(37, 37, &[15]),
    issuers(6011, 6011, &[16, 17, 18, 19]),
    issuers(644, 649, &[16, 17, 18, 19]),
    issuers(65, 65, &[16, 17, 18, 19]),
    issuers(300, 305, &[14, 16, 19]),
    issuers(3095, 3095, &[14, 16, 19]),
    issuers(36, 36, &[14, 16, 19]),
    issuers(38, 39, &[14, 16, 19]),
    issuers(3528, 3589, &[16, 17, 18, 19]),
    issuers(62, 62, &[16, 17, 18, 19]),
    issuers(81, 81, &[16, 17, 18, 19]),
    issuers(5018, 5018, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(5020, 5020, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(5038, 5038, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(5893, 5893, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(6304, 6304, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(6759, 6763, &[12, 13, 14, 15, 16, 17, 18, 19]),
    issuers(2200, 2204, &[16, 17, 18, 19]),
    issuers(60, 60, &[16]),
    issuers(508, 508, &[16]),
    issuers(9792, 9792, &[16]),
    issuers(5019, 5019, &[16]),
    issuers(4571, 4571, &[16]),
    issuers(5060, 5061, &[16, 18, 19]),
    issuers(6500, 6500, &[16, 18, 19]),
    issuers(1, 1, &[15]),
];

static CANDIDATE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[0-9](?:[ \-\u{00A0}\u{202F}.]?[0-9]){11,18}").ok());

/// Whether digits are the number of a card: by the Luhn formula, the range of an issuer and its lengths.
#[must_use]
pub fn is_valid(number: &[u8]) -> bool {
    // A number of one digit alone satisfies the formula, and is none.
    let is_dull = number.first().is_none_or(|first| number.iter().all(|own| own == first));
    !is_dull && luhn(number) && ISSUERS.iter().any(|issuers| issuers.has(number))
}

impl Issuers {
    fn has(&self, number: &[u8]) -> bool {
        let size = self.first.ilog10() as usize + 1;
        let Some(prefix) = number.get(..size) else { return false };
        let prefix = prefix.iter().fold(0, |sum, digit| sum * 10 + u32::from(*digit));
        (self.first..=self.last).contains(&prefix) && self.lengths.contains(&number.len())
    }
}

/// The Luhn formula (ISO/IEC 7812-1, Annex B).
pub(super) fn luhn(number: &[u8]) -> bool {
    let doubled = |digit: u8| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let part =
        |(place, digit): (usize, &u8)| u32::from(if place % 2 == 1 { doubled(*digit) } else { *digit });
    let sum: u32 = number.iter().rev().enumerate().map(part).sum();
    !number.is_empty() && sum.is_multiple_of(10)
}

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    let Some(candidate) = CANDIDATE.as_ref() else { return };
    for hit in candidate.find_iter(text) {
        if stands_alone(text, hit.start(), hit.end()) && is_valid(&digits(hit.as_str())) {
            found.push(Found { start: hit.start(), end: hit.end(), kind: "card" });
        }
    }
}

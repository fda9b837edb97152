//! National numbers of persons, each by the check digits of its law.

use std::sync::LazyLock;

use regex::Regex;

use super::{digits, stands_alone};
use crate::text::Found;

/// A number of a country's persons.
struct Number {
    pattern: &'static str,
    /// Whether a candidate, as written, is one.
    is_valid: fn(&str) -> bool,
}

/// Numbers by country.
const NUMBERS: &[Number] = &[
    // United States, social security number: never 000, 666 or 900 to 999 in front, no group of zeros.
    Number { pattern: r"[0-9]{3}-[0-9]{2}-[0-9]{4}", is_valid: social_security },
    // United Kingdom, national insurance number.
    Number {
        pattern: r"(?i)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]",
        is_valid: insurance,
    },
    // Germany, Steuerliche Identifikationsnummer: eleven digits, ISO 7064 MOD 11,10.
    Number { pattern: r"[1-9][0-9] ?[0-9]{3} ?[0-9]{3} ?[0-9]{3}", is_valid: tax_id },
    // France, numéro d'inscription au répertoire: thirteen digits and 97 minus their remainder.
    Number {
        pattern: r"[12] ?[0-9]{2} ?(?:0[1-9]|1[0-2]|[2-9][0-9]) ?[0-9][0-9AB] ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}",
        is_valid: registry,
    },
    // Italy, codice fiscale.
    Number { pattern: r"(?i)[A-Z]{6}[0-9]{2}[A-EHLMPR-T][0-9]{2}[A-Z][0-9]{3}[A-Z]", is_valid: fiscal_code },
    // Spain, DNI and NIE.
    Number { pattern: r"(?i)[0-9XYZ][0-9]{7}[ \-]?[A-HJ-NP-TV-Z]", is_valid: identity_document },
    // Netherlands, burgerservicenummer, written with its name: eight or nine digits alone say little.
    Number { pattern: r"(?i)BSN:? ?[0-9]{9}", is_valid: citizen_service },
    // Poland, PESEL, written with its name.
    Number { pattern: r"(?i)PESEL:? ?[0-9]{11}", is_valid: pesel },
    // Switzerland, AHV number: thirteen digits, an EAN.
    Number { pattern: r"756\.?[0-9]{4}\.?[0-9]{4}\.?[0-9]{2}", is_valid: old_age },
    // Belgium, Rijksregisternummer.
    Number { pattern: r"[0-9]{2}\.[0-9]{2}\.[0-9]{2}-[0-9]{3}\.[0-9]{2}", is_valid: register },
    // Brazil, CPF.
    Number { pattern: r"[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}", is_valid: taxpayer },
];

struct Reader {
    number: &'static Number,
    pattern: Regex,
}

static READERS: LazyLock<Vec<Reader>> = LazyLock::new(|| {
    let reader = |number: &'static Number| Some(Reader { number, pattern: Regex::new(number.pattern).ok()? });
    NUMBERS.iter().filter_map(reader).collect()
});

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    for Reader { number, pattern } in READERS.iter() {
        for hit in pattern.find_iter(text) {
            if stands_alone(text, hit.start(), hit.end()) && (number.is_valid)(hit.as_str()) {
                found.push(Found { start: hit.start(), end: hit.end(), kind: "national" });
            }
        }
    }
}

/// Number of some digits.
fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
}

/// Sum of digits by weights.
fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

fn social_security(text: &str) -> bool {
    let own = digits(text);
    let part = |from: usize, to: usize| number(own.get(from..to).unwrap_or_default());
    let area = part(0, 3);
    own.len() == 9 && area != 0 && area != 666 && area < 900 && part(3, 5) != 0 && part(5, 9) != 0
}

fn insurance(text: &str) -> bool {
    let prefix: String = text.chars().take(2).map(|letter| letter.to_ascii_uppercase()).collect();
    // Prefixes that are not given out.
    !matches!(prefix.as_str(), "BG" | "GB" | "KN" | "NK" | "NT" | "TN" | "ZZ")
}

fn tax_id(text: &str) -> bool {
    let own = digits(text);
    let (Some(body), Some(check)) = (own.get(..10), own.get(10)) else { return false };
    let mut counts = [0_u8; 10];
    for digit in body {
        if let Some(count) = counts.get_mut(usize::from(*digit)) {
            *count += 1;
        }
    }
    // One digit stands there twice or three times, and the others once at most.
    let repeated = counts.iter().filter(|count| **count > 1).count();
    let most = counts.iter().copied().max().unwrap_or_default();
    let product = body.iter().fold(10_u32, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    let wanted = (11 - product) % 10;
    own.len() == 11 && repeated == 1 && most <= 3 && wanted == u32::from(*check)
}

fn registry(text: &str) -> bool {
    let own: String = text.chars().filter(|letter| *letter != ' ').collect();
    let (Some(body), Some(key)) = (own.get(..13), own.get(13..15)) else { return false };
    // Corsica counts as 19 and 18.
    let body = body.replacen("2A", "19", 1).replacen("2B", "18", 1);
    let (Ok(body), Ok(key)) = (body.parse::<u64>(), key.parse::<u64>()) else { return false };
    own.len() == 15 && 97 - body % 97 == key
}

fn fiscal_code(text: &str) -> bool {
    const ODD: [u32; 36] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12,
        14, 16, 10, 22, 25, 24, 23,
    ];
    let own = text.to_ascii_uppercase();
    let value = |byte: u8| match byte {
        b'0'..=b'9' => usize::from(byte - b'0'),
        _ => usize::from(byte.saturating_sub(b'A')) + 10,
    };
    let even = |value: usize| u32::try_from(if value > 9 { value - 10 } else { value }).unwrap_or_default();
    let part = |(place, byte): (usize, u8)| match place % 2 {
        0 => ODD.get(value(byte)).copied().unwrap_or_default(),
        _ => even(value(byte)),
    };
    let sum: u32 = own.bytes().take(15).enumerate().map(part).sum();
    own.as_bytes().get(15).is_some_and(|check| u32::from(check.saturating_sub(b'A')) == sum % 26)
}

fn identity_document(text: &str) -> bool {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let own = text.to_ascii_uppercase();
    let first = match own.bytes().next() {
        Some(b'X') => "0",
        Some(b'Y') => "1",
        Some(b'Z') => "2",
        Some(_) | None => own.get(..1).unwrap_or_default(),
    };
    let Ok(value) = format!("{first}{}", own.get(1..8).unwrap_or_default()).parse::<usize>() else {
        return false;
    };
    own.bytes().last() == LETTERS.get(value % 23).copied()
}

fn citizen_service(text: &str) -> bool {
    let own = digits(text);
    let sum = weighted(own.get(..8).unwrap_or_default(), &[9, 8, 7, 6, 5, 4, 3, 2]);
    let last = own.get(8).copied().map_or(0, u32::from);
    own.len() == 9 && number(&own) > 0 && sum % 11 == last
}

fn pesel(text: &str) -> bool {
    let own = digits(text);
    let sum = weighted(own.get(..10).unwrap_or_default(), &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
    own.len() == 11 && (10 - sum % 10) % 10 == own.get(10).copied().map_or(0, u32::from)
}

fn old_age(text: &str) -> bool {
    let own = digits(text);
    let sum = weighted(own.get(..12).unwrap_or_default(), &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    own.len() == 13 && (10 - sum % 10) % 10 == own.get(12).copied().map_or(0, u32::from)
}

fn register(text: &str) -> bool {
    let own = digits(text);
    let (Some(body), Some(check)) = (own.get(..9), own.get(9..11)) else { return false };
    let (body, check) = (number(body), number(check));
    // Who is born from 2000 on has a 2 in front.
    97 - body % 97 == check || 97 - (2_000_000_000 + body) % 97 == check
}

fn taxpayer(text: &str) -> bool {
    let own = digits(text);
    let is_dull = own.first().is_none_or(|first| own.iter().all(|digit| digit == first));
    let check = |size: usize| {
        let weights: Vec<u32> = (2..=u32::try_from(size).unwrap_or_default() + 1).rev().collect();
        let rest = weighted(own.get(..size).unwrap_or_default(), &weights) * 10 % 11 % 10;
        own.get(size).copied().map_or(u32::MAX, u32::from) == rest
    };
    own.len() == 11 && !is_dull && check(9) && check(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that the authorities print as examples, each with a digit that makes it wrong.
    #[test]
    fn numbers_are_told_by_their_check_digits() {
        assert_eq!(READERS.len(), NUMBERS.len());
        let is_found = |text: &str| {
            let mut found = Vec::new();
            find(text, &mut found);
            !found.is_empty()
        };
        for (good, wrong) in [
            ("078-05-1120", "666-05-1120"),
            ("AB 12 34 56 C", "ZZ 12 34 56 C"),
            ("65929970489", "65929970488"),
            ("2 55 08 14 168 025 38", "2 55 08 14 168 025 39"),
            ("RSSMRA85T10A562S", "RSSMRA85T10A562T"),
            ("12345678Z", "12345678A"),
            ("BSN 111222333", "BSN 111222334"),
            ("PESEL: 44051401359", "PESEL: 44051401358"),
            ("756.9217.0769.85", "756.9217.0769.84"),
            ("93.05.18-223.61", "93.05.18-223.62"),
            ("111.444.777-35", "111.444.777-36"),
        ] {
            assert!(is_found(&format!("number {good}, he said")), "{good}");
            assert!(!is_found(&format!("number {wrong}, he said")), "{wrong}");
        }
    }
}

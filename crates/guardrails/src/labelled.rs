//! Labelled texts, by which precision and recall are measured: numbers and keys that are valid, and others that differ in
//! a digit, each within sentences of several languages. The same seed gives the same set.

use crate::personal::{card_is_valid, iban_is_valid};
use crate::secrets::checksum;
use crate::{personal, secrets};

/// A text with what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// Kind of the sample: `card`, `iban` or `key`.
    pub kind: &'static str,
    /// The text.
    pub text: String,
    /// Whether it has a valid one.
    pub is_valid: bool,
}

/// Counts of the decisions on one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Score {
    /// Valid ones that were found.
    pub hits: u32,
    /// Others that were found.
    pub false_alarms: u32,
    /// Valid ones that were not found.
    pub misses: u32,
    /// Others that were not found.
    pub passes: u32,
}

impl Score {
    /// Share of the findings that are right, from 0 to 1.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.hits, self.false_alarms)
    }

    /// Share of the valid ones that were found, from 0 to 1.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.hits, self.misses)
    }
}

fn share(part: u32, rest: u32) -> f64 {
    f64::from(part) / f64::from((part + rest).max(1))
}

/// Kinds of samples.
pub const KINDS: [&str; 3] = ["card", "iban", "key"];

const SENTENCES: &[&str] = &[
    "Please charge {} for the order of 12 May 2024.",
    "Meine Nummer lautet {}, danke.",
    "Le numéro est : {}\nMerci !",
    "{\"value\": \"{}\", \"id\": 20240512123456}",
    "a,b,{},2024-05-12T10:00:00Z",
    "«{}» это номер",
    "番号は {} です",
    "see ({}) below",
];
/// Head and length of numbers of issuers.
const CARDS: &[(&str, usize)] = &[
    ("4", 16),
    ("51", 16),
    ("2221", 16),
    ("34", 15),
    ("6011", 16),
    ("36", 14),
    ("3530", 16),
    ("62", 16),
    ("4", 13),
];
const COUNTRIES: &[&str] = &["DE", "FR", "GB", "NL", "IT", "ES", "CH", "NO", "PL", "MT", "SE", "BE"];

/// A generator by a linear congruence (Knuth's constants).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }

    fn pick<'l, T>(&mut self, list: &'l [T]) -> Option<&'l T> {
        let place = self.next(u64::try_from(list.len()).unwrap_or(1));
        list.get(usize::try_from(place).unwrap_or_default())
    }

    fn letters(&mut self, alphabet: &[u8], count: usize) -> String {
        (0..count).filter_map(|_| self.pick(alphabet).copied().map(char::from)).collect()
    }
}

const DIGITS: &[u8] = b"0123456789";
const MIXED: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// So many samples of each kind, half of them valid.
#[must_use]
pub fn samples(seed: u64, of_each: u32) -> Vec<Labelled> {
    let mut numbers = Numbers(seed);
    let mut all = Vec::new();
    for at in 0..of_each {
        let is_valid = at % 2 == 0;
        let made = [card(&mut numbers, is_valid), iban(&mut numbers, is_valid), key(&mut numbers, is_valid)];
        for (kind, own) in KINDS.into_iter().zip(made) {
            let sentence = numbers.pick(SENTENCES).copied().unwrap_or("{}");
            all.push(Labelled { kind, text: sentence.replacen("{}", &own, 1), is_valid });
        }
    }
    all
}

/// The score of the checks on samples of a kind.
#[must_use]
pub fn score(samples: &[Labelled], kind: &str) -> Score {
    let mut score = Score::default();
    for sample in samples.iter().filter(|sample| sample.kind == kind) {
        let is_found = match kind {
            "key" => !secrets::find(&sample.text).is_empty(),
            _ => !personal::find(&sample.text, &["card", "iban"]).is_empty(),
        };
        let count = match (sample.is_valid, is_found) {
            (true, true) => &mut score.hits,
            (true, false) => &mut score.misses,
            (false, true) => &mut score.false_alarms,
            (false, false) => &mut score.passes,
        };
        *count += 1;
    }
    score
}

/// A table of precision and recall, a line for each kind.
#[must_use]
pub fn table(samples: &[Labelled]) -> String {
    let line = |kind: &str| {
        let own = score(samples, kind);
        format!(
            "{kind:<6} samples {:>6}  precision {:.4}  recall {:.4}  (hits {}, false alarms {}, misses {}, passes {})",
            own.hits + own.false_alarms + own.misses + own.passes,
            own.precision(),
            own.recall(),
            own.hits,
            own.false_alarms,
            own.misses,
            own.passes
        )
    };
    KINDS.map(line).join("\n")
}

fn grouped(numbers: &mut Numbers, text: &str) -> String {
    let gap = match numbers.next(4) {
        0 => " ",
        1 => "-",
        _ => return text.to_owned(),
    };
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(4).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join(gap)
}

fn card(numbers: &mut Numbers, is_valid: bool) -> String {
    let Some((head, length)) = numbers.pick(CARDS).copied() else { return String::new() };
    loop {
        let body = numbers.letters(DIGITS, length - head.len());
        let text = format!("{head}{body}");
        let digits: Vec<u8> = text.bytes().map(|byte| byte - b'0').collect();
        if card_is_valid(&digits) == is_valid {
            return grouped(numbers, &text);
        }
    }
}

fn iban(numbers: &mut Numbers, is_valid: bool) -> String {
    let country = numbers.pick(COUNTRIES).copied().unwrap_or("DE");
    let length = personal::iban_length(country).unwrap_or(22);
    let body = numbers.letters(DIGITS, length - 4);
    let rest = personal::iban_remainder(&body, &format!("{country}00"));
    let right = 98 - rest;
    let check =
        if is_valid { right } else { (right + 1 + u32::try_from(numbers.next(90)).unwrap_or(0)) % 97 + 2 };
    let text = format!("{country}{check:02}{body}");
    match iban_is_valid(&text) == is_valid {
        true if numbers.next(2) == 0 => {
            let letters: Vec<char> = text.chars().collect();
            letters.chunks(4).map(|part| part.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
        }
        true => text,
        false => iban(numbers, is_valid),
    }
}

fn key(numbers: &mut Numbers, is_valid: bool) -> String {
    let with_check = |prefix: &str, body: String| {
        let check = if is_valid { checksum(&body) } else { checksum(&format!("{body}.")) };
        format!("{prefix}{body}{check}")
    };
    match numbers.next(5) {
        0 => with_check("ghp_", numbers.letters(MIXED, 30)),
        1 => with_check("npm_", numbers.letters(MIXED, 30)),
        2 => with_check("hdk_", numbers.letters(MIXED, 43)),
        3 if is_valid => format!("AKIA{}", numbers.letters(BASE32, 16)),
        // A place for a key in a manual.
        3 => "AKIAXXXXXXXXXXXXXXXX".to_owned(),
        _ if is_valid => format!("sk_live_{}", numbers.letters(MIXED, 32)),
        _ => "sk_live_000000000000000000000000".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checks_know_the_valid_from_the_others() {
        let samples = samples(7, 2_000);
        for kind in KINDS {
            let own = score(&samples, kind);
            assert!(own.precision() >= 0.995, "{kind}: {own:?}");
            assert!(own.recall() >= 0.99, "{kind}: {own:?}");
        }
    }
}

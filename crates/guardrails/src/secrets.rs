//! Secrets in texts: keys of known formats, by their checksums where they have some and by their entropy where not,
//! private keys, tokens, and what is assigned to a name such as `password`.
//!
//! Sources: GitHub, "Behind GitHub's new authentication token formats" (2021), for CRC32 in base 62; npm's tokens have the
//! same; RFC 7519 for JSON web tokens; RFC 7468 for the armour of private keys; the key prefixes are those that their
//! issuers document for secret scanning.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::Found;

/// Digits of base 62, in the order in which checksums of tokens count.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Letters of the checksum at the end of a token.
const CHECK: usize = 6;
/// Bits a letter that the random part of a key has at least: of 20 letters no more than four or five repeat.
const RANDOM: f64 = 3.0;
/// Bits a letter that a value assigned to a secret's name has at least.
const ASSIGNED: f64 = 3.2;

/// Proof that what looks like a key is one.
#[derive(Clone, Copy)]
enum Proof {
    /// The form alone is proof enough.
    Form,
    /// The last six letters are the CRC32 of those between the prefix of so many letters and them.
    Checksum(usize),
    /// The letters behind a prefix of so many are random.
    Entropy(usize),
    /// The head is a JSON object.
    Token,
}

struct Format {
    kind: &'static str,
    pattern: &'static str,
    proof: Proof,
}

const FORMATS: &[Format] = &[
    Format { kind: "github", pattern: r"\bgh[pousr]_[0-9A-Za-z]{36}\b", proof: Proof::Checksum(4) },
    Format {
        kind: "github",
        pattern: r"\bgithub_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}\b",
        proof: Proof::Entropy(11),
    },
    Format { kind: "npm", pattern: r"\bnpm_[0-9A-Za-z]{36}\b", proof: Proof::Checksum(4) },
    Format { kind: "heddle", pattern: r"\bhd[hlks]_[0-9A-Za-z]{49}\b", proof: Proof::Checksum(4) },
    Format { kind: "aws", pattern: r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", proof: Proof::Entropy(4) },
    Format { kind: "google", pattern: r"\bAIza[0-9A-Za-z_\-]{35}\b", proof: Proof::Entropy(4) },
    Format { kind: "google", pattern: r"\bGOCSPX-[0-9A-Za-z_\-]{28}\b", proof: Proof::Entropy(7) },
    Format {
        kind: "openai",
        pattern: r"\bsk-(?:proj-|svcacct-|admin-)?[0-9A-Za-z_\-]{16,120}T3BlbkFJ[0-9A-Za-z_\-]{16,120}\b",
        proof: Proof::Form,
    },
    Format { kind: "openai", pattern: r"\bsk-[0-9A-Za-z]{48}\b", proof: Proof::Entropy(3) },
    Format {
        kind: "anthropic",
        pattern: r"\bsk-ant-[a-z]{3,8}[0-9]{2}-[0-9A-Za-z_\-]{80,120}",
        proof: Proof::Entropy(13),
    },
    Format { kind: "huggingface", pattern: r"\bhf_[0-9A-Za-z]{34,40}\b", proof: Proof::Entropy(3) },
    Format { kind: "slack", pattern: r"\bxox[abeprs]-[0-9A-Za-z\-]{20,200}\b", proof: Proof::Entropy(5) },
    Format {
        kind: "slack",
        pattern: r"https://hooks\.slack\.com/services/T[0-9A-Z]{6,12}/B[0-9A-Z]{6,12}/[0-9A-Za-z]{20,28}",
        proof: Proof::Form,
    },
    Format {
        kind: "stripe",
        pattern: r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{20,120}\b",
        proof: Proof::Entropy(8),
    },
    Format { kind: "stripe", pattern: r"\bwhsec_[0-9A-Za-z+/=]{32,64}", proof: Proof::Entropy(6) },
    Format {
        kind: "gitlab",
        pattern: r"\bgl(?:pat|dt|rt|oas|ptt)-[0-9A-Za-z_\-]{20,64}\b",
        proof: Proof::Entropy(6),
    },
    Format {
        kind: "sendgrid",
        pattern: r"\bSG\.[0-9A-Za-z_\-]{22}\.[0-9A-Za-z_\-]{43}\b",
        proof: Proof::Entropy(3),
    },
    Format { kind: "twilio", pattern: r"\bSK[0-9a-f]{32}\b", proof: Proof::Entropy(2) },
    Format { kind: "digitalocean", pattern: r"\bdo[opr]_v1_[0-9a-f]{64}\b", proof: Proof::Entropy(7) },
    Format { kind: "pypi", pattern: r"\bpypi-AgEIcHlwaS5vcmc[0-9A-Za-z_\-]{50,200}", proof: Proof::Form },
    Format {
        kind: "jwt",
        pattern: r"\beyJ[0-9A-Za-z_\-]{8,2000}\.eyJ[0-9A-Za-z_\-]{2,8000}\.[0-9A-Za-z_\-]{10,1000}",
        proof: Proof::Token,
    },
    Format {
        kind: "privateKey",
        pattern: r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----",
        proof: Proof::Form,
    },
    Format {
        kind: "credentials",
        pattern: r"\b[a-z][a-z0-9+.\-]{1,20}://[^\s/:@]{1,64}:[^\s/@]{3,128}@[0-9A-Za-z.\-]{1,253}",
        proof: Proof::Form,
    },
];

/// A value that is assigned to the name of a secret.
static ASSIGNMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b(?:api[_\-]?key|secret(?:[_\-]?(?:key|access[_\-]?key))?|access[_\-]?token|auth[_\-]?token|client[_\-]?secret|passw(?:or)?d|pwd|private[_\-]?key)\b["']?\s{0,4}(?::|=|:=|=>)\s{0,4}["']?([0-9A-Za-z+/=_.!@#$%^&*\-]{12,256})"#,
    )
    .ok()
});

struct Reader {
    format: &'static Format,
    pattern: Regex,
}

static READERS: LazyLock<Vec<Reader>> = LazyLock::new(|| {
    let reader = |format: &'static Format| {
        let pattern = Regex::new(format.pattern).ok()?;
        Some(Reader { format, pattern })
    };
    FORMATS.iter().filter_map(reader).collect()
});

/// The end of a private key's armour.
const ARMOUR_END: &str = "-----END";

/// The secrets in a text, in the order of their places; linear in its length.
#[must_use]
pub fn find(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for Reader { format, pattern } in READERS.iter() {
        for hit in pattern.find_iter(text) {
            if !is_proved(format.proof, hit.as_str()) {
                continue;
            }
            let end = if format.kind == "privateKey" { armour_end(text, hit.end()) } else { hit.end() };
            found.push(Found { start: hit.start(), end, kind: format.kind });
        }
    }
    if let Some(pattern) = ASSIGNMENT.as_ref() {
        for captured in pattern.captures_iter(text) {
            let Some(value) = captured.get(1) else { continue };
            if entropy(value.as_str()) >= ASSIGNED && is_mixed(value.as_str()) {
                found.push(Found { start: value.start(), end: value.end(), kind: "assigned" });
            }
        }
    }
    found.sort_unstable();
    // A key that is assigned to a name is found once, as the key that it is.
    let mut kept: Vec<Found> = Vec::new();
    for one in found {
        match kept.last_mut() {
            Some(last) if one.start < last.end => {
                if last.kind == "assigned" {
                    last.kind = one.kind;
                }
                last.end = last.end.max(one.end);
            }
            Some(_) | None => kept.push(one),
        }
    }
    kept
}

/// Whether a token ends in the CRC32, in six digits of base 62, of what stands behind its prefix.
pub(crate) fn has_checksum(token: &str, prefix: usize) -> bool {
    let Some(body_end) = token.len().checked_sub(CHECK) else { return false };
    let (Some(body), Some(check)) = (token.get(prefix..body_end), token.get(body_end..)) else {
        return false;
    };
    check == checksum(body)
}

/// CRC32 of a text in six digits of base 62.
pub(crate) fn checksum(body: &str) -> String {
    let mut left = crc32fast::hash(body.as_bytes());
    let mut digits = ['0'; CHECK];
    for place in digits.iter_mut().rev() {
        let digit = usize::try_from(left % 62).unwrap_or(0);
        *place = DIGITS.get(digit).copied().map_or('0', char::from);
        left /= 62;
    }
    digits.iter().collect()
}

fn is_proved(proof: Proof, hit: &str) -> bool {
    let random = |prefix: usize| hit.get(prefix..).is_some_and(|body| entropy(body) >= RANDOM);
    match proof {
        Proof::Form => true,
        Proof::Checksum(prefix) => has_checksum(hit, prefix),
        Proof::Entropy(prefix) => random(prefix),
        Proof::Token => hit.split('.').next().is_some_and(is_json_head),
    }
}

/// Bits a letter, by the frequencies of the letters in the text itself.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    let mut length = 0_u32;
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
        length += 1;
    }
    let total = f64::from(length.max(1));
    let part = |count: &u32| {
        let share = f64::from(*count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

/// Whether a value has letters and digits, so that it is no word of a language.
fn is_mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether the first part of a token reads as the head of a signed one: base64url of an object with `alg`.
fn is_json_head(part: &str) -> bool {
    let mut bytes = Vec::with_capacity(part.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in part.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return false,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from((bits >> count) & 0xFF).unwrap_or_default());
        }
    }
    let head: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_slice(&bytes);
    head.is_ok_and(|head| head.contains_key("alg"))
}

/// Byte behind the armour of a private key that begins before `from`: all of the text where it has no end.
fn armour_end(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let Some(end) = rest.find(ARMOUR_END) else { return text.len() };
    let behind = from + end + ARMOUR_END.len();
    let tail = text.get(behind..).unwrap_or_default();
    let close = tail.find("-----").filter(|close| *close < 64);
    behind + close.map_or(0, |close| close + 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<&'static str> {
        find(text).iter().map(|found| found.kind).collect()
    }

    #[test]
    fn every_format_compiles() {
        assert_eq!(READERS.len(), FORMATS.len());
        assert!(ASSIGNMENT.is_some());
    }

    #[test]
    fn a_token_with_its_checksum_is_one_and_another_is_not() {
        let body = "16C7e42F292c6912E7710c838347Ae";
        let good = format!("ghp_{body}{}", checksum(body));
        assert_eq!(kinds(&format!("use {good} here")), ["github"]);
        let wrong = format!("ghp_{body}{}", "000000");
        assert_eq!(kinds(&wrong), [""; 0]);
    }

    #[test]
    fn keys_and_assignments_are_found_once() {
        assert_eq!(kinds("AKIAQ3EGR7ZKX2LMWT5B and AKIAAAAAAAAAAAAAAAAA"), ["aws"]);
        assert_eq!(kinds("api_key = \"AKIAQ3EGR7ZKX2LMWT5B\""), ["aws"]);
        assert_eq!(kinds("password: hT7#kQ2zLm9xWv"), ["assigned"]);
        assert_eq!(kinds("password: pleasechangeit"), [""; 0]);
        assert_eq!(kinds("postgres://me:s3cret@db.example/x"), ["credentials"]);
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2ln";
        assert_eq!(kinds(token), ["jwt"]);
        let key = "a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b";
        let found = find(key);
        assert_eq!(key.get(found[0].end..), Some(" b"));
    }
}

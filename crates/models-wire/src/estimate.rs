//! Tokens by the length of texts, where nobody has counted yet: limits and budgets reserve by it and settle by what the
//! provider counted.

/// Tokens of a picture or a file, whatever its size: providers count between some 250 and 1,600.
const TOKENS_OF_MEDIA: u64 = 1_000;

/// Tokens that a message or a list adds around its texts.
const TOKENS_AROUND: u64 = 4;

/// Tokens of the texts within a JSON text: four letters of ASCII are one, three bytes of others are one; data in base64
/// counts as one medium.
#[must_use]
pub fn tokens_of_json(json: &str) -> u64 {
    let mut tokens = Counter::default();
    let mut objects = 0u64;
    let bytes = json.as_bytes();
    let mut place = 0;
    while let Some(byte) = bytes.get(place) {
        place += 1;
        match byte {
            b'"' => place = tokens.text(bytes, place),
            b'{' => objects += 1,
            b'0'..=b'9' => tokens.ascii += 1,
            _ => {}
        }
    }
    tokens.total() + objects.saturating_mul(TOKENS_AROUND).min(tokens.total() + TOKENS_AROUND)
}

/// Tokens of an answer's text of this many bytes.
#[must_use]
pub const fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

#[derive(Default)]
struct Counter {
    ascii: u64,
    other: u64,
    media: u64,
}

impl Counter {
    /// Counts a text from behind its quote on; gives the place behind its end.
    fn text(&mut self, bytes: &[u8], from: usize) -> usize {
        let rest = bytes.get(from..).unwrap_or_default();
        let media = rest.starts_with(b"data:");
        let mut ascii = 0;
        let mut other = 0;
        let mut place = from;
        while let Some(byte) = bytes.get(place) {
            place += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    place += 1;
                    ascii += 1;
                }
                _ if byte.is_ascii() => ascii += 1,
                _ => other += 1,
            }
        }
        if media {
            self.media += 1;
        } else {
            self.ascii += ascii;
            self.other += other;
        }
        place
    }

    const fn total(&self) -> u64 {
        self.ascii.div_ceil(4) + self.other.div_ceil(3) + self.media.saturating_mul(TOKENS_OF_MEDIA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_counts_as_one_and_texts_by_their_letters() {
        let text = format!(r#"[{{"role":"user","content":"{}"}}]"#, "word ".repeat(400));
        let tokens = tokens_of_json(&text);
        assert!((480..560).contains(&tokens), "{tokens}");
        let picture = format!(r#"[{{"url":"data:image/png;base64,{}"}}]"#, "A".repeat(4_000_000));
        assert!(tokens_of_json(&picture) < 1_020);
        assert!((100..130).contains(&tokens_of_json(&format!("\"{}\"", "語".repeat(100)))));
        assert_eq!(tokens_of_json(r#""\"\"\"\"""#), 1, "what is escaped ends no text");
    }
}

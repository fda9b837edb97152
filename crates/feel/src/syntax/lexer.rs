//! Tokens (DMN 1.5, grammar rules 22 to 37).

use crate::error::SyntaxError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Name,
    Number,
    String,
    /// A name between backticks (a dialect's).
    Quoted,
    At,
    Plus,
    Minus,
    Star,
    StarStar,
    Slash,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Comma,
    Colon,
    Dot,
    DotDot,
    Arrow,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

pub(crate) fn is_name_start(c: char) -> bool {
    c == '?'
        || c == '_'
        || c.is_alphabetic()
        || matches!(c, '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
            | '\u{3001}'..='\u{D7FF}' | '\u{10000}'..='\u{EFFFF}')
}

pub(crate) fn is_name_part(c: char) -> bool {
    is_name_start(c)
        || c.is_numeric()
        || matches!(c, '\u{B7}' | '\u{0300}'..='\u{036F}' | '\u{203F}'..='\u{2040}')
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{180E}' | '\u{200B}' | '\u{0085}')
}

/// The first byte at or after `at` that is neither white space nor part of a comment.
pub(crate) fn skip_space(source: &str, mut at: usize) -> Result<usize, SyntaxError> {
    let bytes = source.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\n' | b'\t' | b'\r' | 0x0B | 0x0C) => at += 1,
            Some(b'/') if bytes.get(at + 1) == Some(&b'/') => {
                let rest = source.get(at..).unwrap_or_default();
                at += rest.find(['\n', '\r']).unwrap_or(rest.len());
            }
            Some(b'/') if bytes.get(at + 1) == Some(&b'*') => {
                let rest = source.get(at + 2..).unwrap_or_default();
                match rest.find("*/") {
                    Some(end) => at += end + 4,
                    None => return Err(SyntaxError::at(source, at, "this comment has no end")),
                }
            }
            Some(byte) if *byte >= 0x80 => match source.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if is_space(c) => at += c.len_utf8(),
                _ => return Ok(at),
            },
            _ => return Ok(at),
        }
    }
}

/// The end of the identifier that starts at `at`; `at` itself when none does.
pub(crate) fn identifier_end(source: &str, at: usize) -> usize {
    let bytes = source.as_bytes();
    let mut end = at;
    // Most names are ASCII, and a step for them costs far less than decoding.
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'?' => end += 1,
            b'0'..=b'9' if end > at => end += 1,
            0x80.. => match source.get(end..).and_then(|rest| rest.chars().next()) {
                Some(c) if end == at && is_name_start(c) || end > at && is_name_part(c) => {
                    end += c.len_utf8()
                }
                _ => break,
            },
            _ => break,
        }
    }
    end
}

fn number_end(bytes: &[u8], mut at: usize) -> usize {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    at = digits(at);
    if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at = digits(at + 1 + sign);
        }
    }
    at
}

/// The token at or after `from`.
pub(crate) fn token(source: &str, from: usize) -> Result<Token, SyntaxError> {
    let start = skip_space(source, from)?;
    let bytes = source.as_bytes();
    let next = bytes.get(start + 1).copied();
    let (kind, length) = match bytes.get(start).copied() {
        None => (Kind::End, 0),
        Some(b'+') => (Kind::Plus, 1),
        Some(b'-') if next == Some(b'>') => (Kind::Arrow, 2),
        Some(b'-') => (Kind::Minus, 1),
        Some(b'*') if next == Some(b'*') => (Kind::StarStar, 2),
        Some(b'*') => (Kind::Star, 1),
        Some(b'/') => (Kind::Slash, 1),
        Some(b'=') => (Kind::Eq, if next == Some(b'=') { 2 } else { 1 }),
        Some(b'!') if next == Some(b'=') => (Kind::Ne, 2),
        Some(b'<') if next == Some(b'=') => (Kind::Le, 2),
        Some(b'<') => (Kind::Lt, 1),
        Some(b'>') if next == Some(b'=') => (Kind::Ge, 2),
        Some(b'>') => (Kind::Gt, 1),
        Some(b'(') => (Kind::OpenParen, 1),
        Some(b')') => (Kind::CloseParen, 1),
        Some(b'[') => (Kind::OpenBracket, 1),
        Some(b']') => (Kind::CloseBracket, 1),
        Some(b'{') => (Kind::OpenBrace, 1),
        Some(b'}') => (Kind::CloseBrace, 1),
        Some(b',') => (Kind::Comma, 1),
        Some(b':') => (Kind::Colon, 1),
        Some(b'@') => (Kind::At, 1),
        Some(b'.') if next == Some(b'.') => (Kind::DotDot, 2),
        Some(b'.') if next.is_some_and(|b| b.is_ascii_digit()) => {
            (Kind::Number, number_end(bytes, start) - start)
        }
        Some(b'.') => (Kind::Dot, 1),
        Some(b'0'..=b'9') => (Kind::Number, number_end(bytes, start) - start),
        Some(b'"') => (Kind::String, string_end(source, start)? - start),
        Some(b'`') => match source.get(start + 1..).and_then(|rest| rest.find('`')) {
            Some(end) => (Kind::Quoted, end + 2),
            None => return Err(SyntaxError::at(source, start, "this name has no closing backtick")),
        },
        Some(_) => match identifier_end(source, start) - start {
            0 => {
                let c = source.get(start..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
                return Err(SyntaxError::at(
                    source,
                    start,
                    format!("`{}` has no meaning here", c.escape_debug()),
                ));
            }
            length => (Kind::Name, length),
        },
    };
    Ok(Token { kind, start, end: start + length })
}

fn string_end(source: &str, start: usize) -> Result<usize, SyntaxError> {
    let bytes = source.as_bytes();
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return Ok(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    Err(SyntaxError::at(source, start, "this string has no closing quote"))
}

/// The text between the quotes of a string token, with its escapes resolved.
pub(crate) fn unescape(source: &str, token: Token) -> Result<std::borrow::Cow<'_, str>, SyntaxError> {
    let inner = source.get(token.start + 1..token.end - 1).unwrap_or_default();
    if !inner.contains('\\') {
        return Ok(inner.into());
    }
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        text.push_str(plain);
        let offset = token.end - 1 - escape.len();
        let wrong = |what: &str| SyntaxError::at(source, offset, what);
        let mut chars = escape.chars();
        chars.next();
        let kind = chars.next().ok_or_else(|| wrong("this escape has no end"))?;
        let mut taken = 1 + kind.len_utf8();
        match kind {
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            '\'' | '"' | '\\' => text.push(kind),
            'u' | 'U' => {
                let width = if kind == 'u' { 4 } else { 6 };
                let first =
                    hex(escape, 2, width).ok_or_else(|| wrong("this escape needs hexadecimal digits"))?;
                taken += width;
                let code = match first {
                    0xD800..=0xDBFF => {
                        let second = escape.get(taken..).filter(|next| next.starts_with("\\u"));
                        let low = second
                            .and_then(|next| hex(next, 2, 4))
                            .filter(|low| (0xDC00..0xE000).contains(low));
                        let low =
                            low.ok_or_else(|| wrong("this surrogate is not followed by its other half"))?;
                        taken += 6;
                        0x1_0000 + ((first - 0xD800) << 10) + (low - 0xDC00)
                    }
                    other => other,
                };
                text.push(char::from_u32(code).ok_or_else(|| wrong("this escape is no Unicode character"))?);
            }
            // XPath's classes, such as \d, are common in patterns and stand for themselves.
            other => {
                text.push('\\');
                text.push(other);
            }
        }
        rest = escape.get(taken..).unwrap_or_default();
    }
    text.push_str(rest);
    Ok(text.into())
}

fn hex(text: &str, from: usize, width: usize) -> Option<u32> {
    let digits = text.get(from..from + width)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

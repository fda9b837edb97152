//! Notation of XPath's regular expressions (XML Schema's with anchors), translated to that of the `regex` crate.

use super::backtrack::reference;

const NAME_START: &str = r":A-Z_a-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}";
const NAME_MORE: &str = r"\-.0-9\u{B7}\u{300}-\u{36F}\u{203F}-\u{2040}";

/// Some of the Unicode blocks that XML Schema names by `\p{Is...}`.
fn block(name: &str) -> Option<&'static str> {
    Some(match name {
        "BasicLatin" => r"\u{0}-\u{7F}",
        "Latin-1Supplement" => r"\u{80}-\u{FF}",
        "LatinExtended-A" => r"\u{100}-\u{17F}",
        "LatinExtended-B" => r"\u{180}-\u{24F}",
        "IPAExtensions" => r"\u{250}-\u{2AF}",
        "CombiningDiacriticalMarks" => r"\u{300}-\u{36F}",
        "Greek" | "GreekandCoptic" => r"\u{370}-\u{3FF}",
        "Cyrillic" => r"\u{400}-\u{4FF}",
        "Armenian" => r"\u{530}-\u{58F}",
        "Hebrew" => r"\u{590}-\u{5FF}",
        "Arabic" => r"\u{600}-\u{6FF}",
        "Devanagari" => r"\u{900}-\u{97F}",
        "Thai" => r"\u{E00}-\u{E7F}",
        "GeneralPunctuation" => r"\u{2000}-\u{206F}",
        "CurrencySymbols" => r"\u{20A0}-\u{20CF}",
        "Hiragana" => r"\u{3040}-\u{309F}",
        "Katakana" => r"\u{30A0}-\u{30FF}",
        "CJKUnifiedIdeographs" => r"\u{4E00}-\u{9FFF}",
        "HangulSyllables" => r"\u{AC00}-\u{D7A3}",
        _ => return None,
    })
}

/// The number of a back reference: as many digits as still name one of the groups begun.
fn group_number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, groups: u32) -> Option<u32> {
    let mut group = chars.next()?.to_digit(10)?;
    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)).filter(|d| group * 10 + d <= groups) {
        group = group * 10 + digit;
        chars.next();
    }
    Some(group)
}

/// The pattern in the notation of the `regex` crate.
pub(super) fn translate(pattern: &str, all: bool) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut class = 0u32;
    let mut class_start = false;
    // The capturing groups begun, and those still open.
    let (mut groups, mut open) = (0u32, Vec::new());
    while let Some(c) = chars.next() {
        let at_start = std::mem::take(&mut class_start);
        match c {
            '\\' if class == 0 && chars.peek().is_some_and(|c| matches!(c, '1'..='9')) => {
                let group = group_number(&mut chars, groups)?;
                if group > groups || open.contains(&Some(group)) {
                    return None;
                }
                out.push(reference(group)?);
            }
            '\\' => escape(chars.next()?, &mut chars, class > 0, &mut out)?,
            '[' if class == 0 => {
                class = 1;
                class_start = true;
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            // Subtraction: `[a-z-[aeiou]]`.
            '-' if class > 0 && chars.peek() == Some(&'[') => {
                chars.next();
                class += 1;
                class_start = true;
                out.push_str("--[");
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
            }
            ']' if class > 0 && !at_start => {
                class -= 1;
                out.push(']');
            }
            '[' | '&' | '~' if class > 0 => out.extend(['\\', c]),
            // Two characters end a line in XPath, and the flag s lets the dot match them too.
            '.' if class == 0 && !all => out.push_str(r"[^\n\r]"),
            '(' if class == 0 && chars.peek() == Some(&'?') => {
                chars.next();
                // XPath has only groups without capture here; the crate's inline flags and names are not XPath.
                if chars.next() != Some(':') {
                    return None;
                }
                out.push_str("(?:");
                open.push(None);
            }
            '(' if class == 0 => {
                groups += 1;
                open.push(Some(groups));
                out.push(c);
            }
            ')' if class == 0 => {
                open.pop();
                out.push(c);
            }
            c => out.push(c),
        }
    }
    (class == 0).then_some(out)
}

/// The pattern without the white space that means nothing under the flag x: all but that in classes.
pub(super) fn squeeze(pattern: &str) -> String {
    let (mut class, mut escaped) = (0u32, false);
    let mut out = String::with_capacity(pattern.len());
    for c in pattern.chars() {
        if class == 0 && matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        match c {
            '[' if !escaped => class += 1,
            ']' if !escaped => class = class.saturating_sub(1),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}

fn escape(
    c: char,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    in_class: bool,
    out: &mut String,
) -> Option<()> {
    let class = |out: &mut String, members: &str, negated: bool| {
        if in_class && !negated {
            out.push_str(members);
        } else {
            out.push_str(if negated { "[^" } else { "[" });
            out.push_str(members);
            out.push(']');
        }
    };
    match c {
        'i' | 'I' => class(out, NAME_START, c == 'I'),
        'c' | 'C' => class(out, &[NAME_START, NAME_MORE].concat(), c == 'C'),
        'p' | 'P' => {
            if chars.next() != Some('{') {
                return None;
            }
            let mut name = String::new();
            loop {
                match chars.next()? {
                    '}' => break,
                    c => name.push(c),
                }
            }
            match name.strip_prefix("Is") {
                Some(known) => class(out, block(known)?, c == 'P'),
                None => {
                    // The flag i does not touch a category (XQuery and XPath Functions 3.1, 5.6.2).
                    let (open, close) = if in_class { ("", "") } else { ("(?-i:", ")") };
                    out.extend([open, "\\", if c == 'p' { "p{" } else { "P{" }, &name, "}", close]);
                }
            }
        }
        'n' | 'r' | 't' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' => out.extend(['\\', c]),
        '\\' | '|' | '.' | '-' | '^' | '?' | '*' | '+' | '{' | '}' | '(' | ')' | '[' | ']' | '$' => {
            out.extend(['\\', c]);
        }
        // The rest is no escape of XPath.
        _ => return None,
    }
    Some(())
}

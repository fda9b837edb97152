//! Regular expressions: XPath's (XML Schema's with anchors), matched in time linear in the text.

use regex::{Regex, RegexBuilder};

use super::{Args, Builtin};
use crate::eval::{Machine, Outcome, null};
use crate::{LimitError, Value};

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

/// The pattern in the notation of the `regex` crate.
fn translate(pattern: &str, all: bool) -> Option<String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars().peekable();
    let mut class = 0u32;
    let mut class_start = false;
    while let Some(c) = chars.next() {
        let at_start = std::mem::take(&mut class_start);
        match c {
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
            }
            c => out.push(c),
        }
    }
    (class == 0).then_some(out)
}

/// Without the white space that means nothing under the flag x: all but that in classes.
fn squeeze(pattern: &str) -> String {
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
                None => out.extend(["\\", if c == 'p' { "p{" } else { "P{" }, &name, "}"]),
            }
        }
        'n' | 'r' | 't' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' => out.extend(['\\', c]),
        '\\' | '|' | '.' | '-' | '^' | '?' | '*' | '+' | '{' | '}' | '(' | ')' | '[' | ']' | '$' => {
            out.extend(['\\', c]);
        }
        // Back references can't be matched in linear time, and the rest is no escape of XPath.
        _ => return None,
    }
    Some(())
}

fn compile(pattern: &str, flags: &str) -> Option<Regex> {
    if !flags.chars().all(|flag| "smixq".contains(flag)) {
        return None;
    }
    let all = flags.contains('s');
    let translated = if flags.contains('q') {
        regex::escape(pattern)
    } else if flags.contains('x') {
        translate(&squeeze(pattern), all)?
    } else {
        translate(pattern, all)?
    };
    RegexBuilder::new(&translated)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(1 << 20)
        .dfa_size_limit(1 << 20)
        .nest_limit(100)
        .build()
        .ok()
}

/// `$1` and `\$` of XPath in the notation of the crate.
fn replacement(text: &str, literal: bool, groups: usize) -> Option<String> {
    if literal {
        return Some(text.replace('$', "$$"));
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                '\\' => out.push('\\'),
                '$' => out.push_str("$$"),
                _ => return None,
            },
            '$' => {
                let mut group = chars.next()?.to_digit(10)? as usize;
                // As many digits as still name a group.
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    if longer >= groups {
                        break;
                    }
                    group = longer;
                    chars.next();
                }
                out.push_str(&format!("${{{group}}}"));
            }
            c => out.push(c),
        }
    }
    Some(out)
}

fn flags<'a>(args: &'a Args<'_>, at: usize) -> Outcome<&'a str> {
    match args.single(at) {
        Value::Null => Ok(""),
        Value::String(flags) => Ok(flags),
        other => null(format!("a {} is no set of flags", other.type_name())),
    }
}

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (text, pattern) = (args.string(0)?, args.string(1)?);
    machine.charge((text.len() + pattern.len()) as u64 / 8)?;
    let flags = match builtin {
        Builtin::Replace => flags(args, 3)?,
        Builtin::Matches => flags(args, 2)?,
        _ => "",
    };
    let Some(regex) = args.program.patterns.get(pattern, flags, || compile(pattern, flags)) else {
        return null("the pattern is no regular expression of XPath that can be matched in linear time");
    };
    Ok(match builtin {
        Builtin::Matches => Value::Boolean(regex.is_match(text)),
        Builtin::Replace => return replace(machine, &regex, args, flags.contains('q')),
        Builtin::Split => {
            let parts: Vec<Value> = regex.split(text).map(Value::string).collect();
            machine.charge(parts.len() as u64)?;
            Value::list(parts)
        }
        _ => Value::list(regex.find_iter(text).map(|found| Value::string(found.as_str())).collect()),
    })
}

fn replace(machine: &mut Machine, regex: &Regex, args: &Args<'_>, literal: bool) -> Outcome {
    let text = args.string(0)?;
    let Some(new) = replacement(args.string(2)?, literal, regex.captures_len()) else {
        return null("`$` in a replacement is followed by a group's number");
    };
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    for found in regex.captures_iter(text) {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(text.get(last..whole.start()).unwrap_or_default());
        found.expand(&new, &mut out);
        last = whole.end();
        if out.len() > machine.string_size() {
            return Err(LimitError::StringSize(machine.string_size()).into());
        }
    }
    out.push_str(text.get(last..).unwrap_or_default());
    Ok(Value::string(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xpath_notation() {
        for (pattern, flags, text, want) in [
            (r"[a-z-[aeiou]]+", "", "xyz", true),
            (r"^[a-z-[aeiou]]+$", "", "xaz", false),
            (r"^\i\c*$", "", "a-b.c", true),
            (r"^\i\c*$", "", "1a", false),
            (r"^\p{IsBasicLatin}+$", "", "abc", true),
            (r"^\p{IsBasicLatin}+$", "", "abcé", false),
            (r"h e l l o", "x", "hello", true),
            (r"a.b", "s", "a\nb", true),
            (r"a.b", "q", "axb", false),
            (r"^b$", "m", "a\nb\nc", true),
            (r"[&&a]", "", "&", true),
        ] {
            let regex = compile(pattern, flags).expect(pattern);
            assert_eq!(regex.is_match(text), want, "{pattern} {text}");
        }
        for bad in [r"(a)\1", "[a", "(?i)a", r"\q", "(?P<n>a)", "(((("] {
            assert!(compile(bad, "").is_none(), "{bad}");
        }
        assert!(compile("a", "z").is_none());
    }
}

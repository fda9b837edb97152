//! Regular expressions: XPath's (XML Schema's with anchors), matched in time linear in the text unless they have back
//! references.

use std::ops::Range;
use std::sync::Arc;

use regex::RegexBuilder;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::backtrack::{Backtracking, has_references, reference};
use super::{Args, Builtin};
use crate::eval::{Machine, Outcome, null};
use crate::program::Program;
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
fn translate(pattern: &str, all: bool) -> Option<String> {
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

/// A compiled pattern and what matching costs.
#[derive(Debug)]
pub(crate) struct Regex {
    matcher: Matcher,
    /// Places in the pattern where a match can stand: each byte of a text is held against each of them at worst.
    places: u64,
    /// What stands in repetitions without an end; none when every match has a greatest length. The search for a match
    /// can look beyond its end only over such characters and as many others as there are places.
    loops: Option<ClassUnicode>,
}

#[derive(Debug)]
enum Matcher {
    Linear(regex::Regex),
    /// Of a pattern with back references.
    Backtracking(Backtracking),
}

/// Where the group of that number lies in a match; 0 is the match itself.
type Groups<'g> = &'g dyn Fn(usize) -> Option<Range<usize>>;

/// Bytes of the longest pattern.
const MAX_PATTERN: usize = 4096;
/// Ranges of characters in the largest pattern with its repetitions written out. It takes about 30 ms to compile.
const MAX_RANGES: u64 = 110_000;

/// How many ranges of characters a pattern has with its repetitions written out, and how many places.
fn size(hir: &Hir) -> (u64, u64) {
    let sum = |parts: &[Hir]| {
        parts.iter().map(size).fold((0u64, 0u64), |(r, p), (x, y)| (r.saturating_add(x), p.saturating_add(y)))
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => (1, 1),
        HirKind::Literal(literal) => (literal.0.len() as u64, literal.0.len() as u64),
        HirKind::Class(Class::Unicode(class)) => (class.ranges().len() as u64 + 1, 1),
        HirKind::Class(Class::Bytes(class)) => (class.ranges().len() as u64 + 1, 1),
        HirKind::Repetition(repetition) => {
            let times = u64::from(repetition.max.unwrap_or(repetition.min).max(1));
            let (ranges, places) = size(&repetition.sub);
            (ranges.saturating_mul(times), places.saturating_mul(times))
        }
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// The pattern in the notation of the crate, with its size; none when it is not of XPath or too large.
fn read(pattern: &str, flags: &str) -> Option<(String, Hir)> {
    if pattern.len() > MAX_PATTERN
        || has_references(pattern)
        || !flags.chars().all(|flag| "smixq".contains(flag))
    {
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
    let hir = ParserBuilder::new()
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(all)
        .nest_limit(100)
        .build()
        .parse(&translated)
        .ok()?;
    Some((translated, hir))
}

fn compile(pattern: &str, flags: &str) -> Option<Regex> {
    let (translated, hir) = read(pattern, flags)?;
    let (ranges, places) = size(&hir);
    if ranges > MAX_RANGES {
        return None;
    }
    let loops = hir.properties().maximum_len().is_none().then(|| {
        let mut loops = ClassUnicode::empty();
        looped(&hir, false, &mut loops);
        loops
    });
    if has_references(&translated) {
        let matcher = Matcher::Backtracking(Backtracking::new(&hir, flags.contains('i'))?);
        return Some(Regex { matcher, places: 1, loops });
    }
    let regex = RegexBuilder::new(&translated)
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .size_limit(8 << 20)
        .dfa_size_limit(1 << 20)
        .nest_limit(100)
        .build()
        .ok()?;
    Some(Regex { matcher: Matcher::Linear(regex), places, loops })
}

/// The compiled pattern, counting the work of compiling it when it is new.
fn prepared(
    machine: &mut Machine,
    program: &Program,
    pattern: &str,
    flags: &str,
) -> Result<Option<Arc<Regex>>, LimitError> {
    if let Some(known) = program.patterns.find(pattern, flags) {
        return Ok(known);
    }
    // A class of two letters can stand for hundreds of ranges, be there ever so few places.
    machine.charge(200 + pattern.len() as u64 * 128)?;
    if let Some((_, hir)) = read(pattern, flags) {
        machine.charge(size(&hir).0.min(MAX_RANGES) * 8)?;
    }
    let regex = compile(pattern, flags).map(Arc::new);
    program.patterns.keep(pattern, flags, regex.clone());
    Ok(regex)
}

impl Regex {
    /// Counts the work of searching these bytes once.
    fn charge(&self, machine: &mut Machine, bytes: usize) -> Result<(), LimitError> {
        machine.charge((bytes as u64).saturating_mul(self.places) / 8 + 1)
    }

    /// Counts the work of finding a match: a search can look beyond its end before it takes the match.
    fn charge_match(
        &self,
        machine: &mut Machine,
        text: &str,
        found: &Range<usize>,
    ) -> Result<(), LimitError> {
        let mut ahead = 0u64;
        if let Some(loops) = &self.loops {
            let mut others = 0;
            for c in text.get(found.start..).unwrap_or_default().chars() {
                let at = loops.ranges().partition_point(|range| range.end() < c);
                others += u64::from(loops.ranges().get(at).is_none_or(|range| range.start() > c));
                if others > self.places {
                    break;
                }
                ahead += 1;
            }
        }
        machine.charge(ahead.saturating_mul(self.places.max(16) / 16) / 4 + 2)
    }
}

/// Adds what stands in repetitions without an end.
fn looped(hir: &Hir, within: bool, loops: &mut ClassUnicode) {
    match hir.kind() {
        HirKind::Repetition(repetition) => looped(&repetition.sub, within || repetition.max.is_none(), loops),
        HirKind::Capture(capture) => looped(&capture.sub, within, loops),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| looped(part, within, loops));
        }
        HirKind::Literal(literal) if within => {
            let text = String::from_utf8_lossy(&literal.0);
            loops.union(&ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c))));
        }
        HirKind::Class(Class::Unicode(class)) if within => loops.union(class),
        HirKind::Class(Class::Bytes(class)) if within => {
            let ranges = class.ranges().iter().map(|r| (char::from(r.start()), char::from(r.end())));
            loops.union(&ClassUnicode::new(ranges.map(|(low, high)| ClassUnicodeRange::new(low, high))));
        }
        _ => {}
    }
}

/// A part of a replacement.
enum Piece {
    Text(String),
    Group(usize),
}

/// A replacement with its `$1` and `\$` resolved; none when it is not of XPath.
fn replacement(text: &str, literal: bool, groups: usize) -> Option<Vec<Piece>> {
    if literal {
        return Some(vec![Piece::Text(text.to_owned())]);
    }
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                escaped @ ('\\' | '$') => plain.push(escaped),
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
                if !plain.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut plain)));
                }
                pieces.push(Piece::Group(group));
            }
            c => plain.push(c),
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    Some(pieces)
}

fn flags<'a>(args: &'a Args<'_>, at: usize) -> Outcome<&'a str> {
    match args.single(at) {
        Value::Null => Ok(""),
        Value::String(flags) => Ok(flags),
        other => null(format!("a {} is no set of flags", other.type_name())),
    }
}

impl Regex {
    fn groups(&self) -> usize {
        match &self.matcher {
            Matcher::Linear(regex) => regex.captures_len(),
            Matcher::Backtracking(pattern) => pattern.groups,
        }
    }

    fn is_match(&self, machine: &mut Machine, text: &str) -> Result<bool, LimitError> {
        match &self.matcher {
            Matcher::Linear(regex) => Ok(regex.is_match(text)),
            Matcher::Backtracking(pattern) => Ok(pattern.find(machine, text, 0)?.is_some()),
        }
    }

    /// Does something for each match in order.
    fn each(
        &self,
        machine: &mut Machine,
        text: &str,
        with_groups: bool,
        mut work: impl FnMut(&mut Machine, Groups<'_>) -> Result<(), LimitError>,
    ) -> Result<(), LimitError> {
        match &self.matcher {
            Matcher::Linear(regex) if with_groups => {
                for found in regex.captures_iter(text) {
                    let whole = found.get(0).map(|whole| whole.range()).unwrap_or_default();
                    self.charge_match(machine, text, &whole)?;
                    work(machine, &|group| found.get(group).map(|part| part.range()))?;
                }
            }
            Matcher::Linear(regex) => {
                for found in regex.find_iter(text) {
                    self.charge_match(machine, text, &found.range())?;
                    work(machine, &|group| (group == 0).then(|| found.range()))?;
                }
            }
            Matcher::Backtracking(pattern) => {
                let (mut from, mut last) = (0, None);
                while let Some(found) = pattern.find(machine, text, from)? {
                    let Some(Some(whole)) = found.first().cloned() else { break };
                    // An empty match right after another is none.
                    let counts = !whole.is_empty() || last != Some(whole.end);
                    if counts {
                        work(machine, &|group| found.get(group).cloned().flatten())?;
                    }
                    last = Some(whole.end);
                    from = whole.end;
                    if whole.is_empty() {
                        let Some(next) = text.get(from..).and_then(|rest| rest.chars().next()) else { break };
                        from += next.len_utf8();
                    }
                }
            }
        }
        Ok(())
    }
}

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let (text, pattern) = (args.string(0)?, args.string(1)?);
    let flags = match builtin {
        Builtin::Replace => flags(args, 3)?,
        Builtin::Matches => flags(args, 2)?,
        _ => "",
    };
    let Some(regex) = prepared(machine, args.program, pattern, flags)? else {
        return null("the pattern is no regular expression of XPath, or too large");
    };
    regex.charge(machine, text.len())?;
    if matches!(builtin, Builtin::Replace | Builtin::Split) && regex.is_match(machine, "")? {
        return null("the pattern matches an empty text (FORX0003)");
    }
    let mut parts = Vec::new();
    let part = |range: Range<usize>| Value::string(text.get(range).unwrap_or_default());
    match builtin {
        Builtin::Matches => return Ok(Value::Boolean(regex.is_match(machine, text)?)),
        Builtin::Replace => return replace(machine, &regex, args, flags.contains('q')),
        Builtin::Split => {
            let mut last = 0;
            regex.each(machine, text, false, |_, groups| {
                let whole = groups(0).unwrap_or_default();
                parts.push(part(last..whole.start));
                last = whole.end;
                Ok(())
            })?;
            parts.push(part(last..text.len()));
        }
        _ => regex.each(machine, text, false, |_, groups| {
            parts.push(part(groups(0).unwrap_or_default()));
            Ok(())
        })?,
    }
    Ok(Value::list(parts))
}

fn replace(machine: &mut Machine, regex: &Regex, args: &Args<'_>, literal: bool) -> Outcome {
    let text = args.string(0)?;
    let Some(pieces) = replacement(args.string(2)?, literal, regex.groups()) else {
        return null("`$` in a replacement is followed by a group's number");
    };
    let room = machine.string_size();
    let mut out = String::new();
    let mut add = |part: &str| -> Result<(), LimitError> {
        out.push_str(part);
        if out.len() > room { Err(LimitError::StringSize(room)) } else { Ok(()) }
    };
    let mut last = 0;
    regex.each(machine, text, true, |machine, groups| {
        let whole = groups(0).unwrap_or_default();
        // Groups are found by a slower search than whole matches.
        machine.charge((whole.len() / 8 + pieces.len() + 8) as u64)?;
        add(text.get(last..whole.start).unwrap_or_default())?;
        for piece in &pieces {
            match piece {
                Piece::Text(plain) => add(plain)?,
                Piece::Group(group) => {
                    add(groups(*group).and_then(|range| text.get(range)).unwrap_or_default())?
                }
            }
        }
        last = whole.end;
        Ok(())
    })?;
    add(text.get(last..).unwrap_or_default())?;
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
            (r"^(a)\1$", "i", "aA", true),
            (r"^(a)\1$", "", "aA", false),
            (r"^(a+)b\1$", "", "aabaa", true),
            (r"^(a+)b\1$", "", "aaba", false),
            (r"(a*)*\1$", "", "b", true),
            (r"^(?:(x)|(y))(\1|\2)$", "", "yy", true),
            (r"^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)\10\11$", "", "abcdefghijja1", true),
            (r"(\w+) \1", "", "the the", true),
        ] {
            let regex = compile(pattern, flags).expect(pattern);
            let mut machine =
                Machine::new(heddle_kernel::Timestamp::from_micros(0), crate::Limits::default());
            assert_eq!(regex.is_match(&mut machine, text), Ok(want), "{pattern} {text}");
        }
        for bad in [r"\1", r"(a\1)", r"(a)\2", r"(a)[\1]", "[a", "(?i)a", r"\q", "(?P<n>a)", "(((("] {
            assert!(compile(bad, "").is_none(), "{bad}");
        }
        assert!(compile("a", "z").is_none());
    }
}

//! Compilation of a pattern, within bounds of its size.

use regex::RegexBuilder;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

use super::backtrack::{Backtracking, has_references};
use super::notation::{squeeze, translate};
use super::{Matcher, Regex};

/// Bytes of the longest pattern.
const MAX_PATTERN: usize = 4096;
/// Ranges of characters in the largest pattern with its repetitions written out. It takes about 30 ms to compile.
pub(super) const MAX_RANGES: u64 = 110_000;

/// Size of a pattern with its repetitions written out: its ranges of characters and its places.
pub(super) fn size(hir: &Hir) -> (u64, u64) {
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
pub(super) fn read(pattern: &str, flags: &str) -> Option<(String, Hir)> {
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

pub(super) fn compile(pattern: &str, flags: &str) -> Option<Regex> {
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

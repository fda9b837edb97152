//! Regular expressions: XPath's (XML Schema's with anchors), matched in time linear in the text unless they have back
//! references. Nothing here knows of FEEL: work is counted on a [`Meter`] of the caller.

mod backtrack;
mod cache;
mod compile;
mod notation;
mod replacement;

use std::ops::Range;

use regex_syntax::hir::ClassUnicode;

use backtrack::Backtracking;
pub(crate) use cache::Patterns;
pub(crate) use replacement::{Piece, replacement};

/// Meter of the work that compiling and matching take.
pub(crate) trait Meter {
    /// Error when more work was done than is allowed.
    type Exceeded;

    /// Counts steps.
    fn charge(&mut self, steps: u64) -> Result<(), Self::Exceeded>;

    /// The error of too many steps, for work that is bounded otherwise.
    fn exhausted(&self) -> Self::Exceeded;
}

/// Compiled pattern, with the cost of matching.
#[derive(Debug)]
pub(crate) struct Regex {
    matcher: Matcher,
    /// Places in the pattern where a match can stand: each byte of a text is held against each of them at worst.
    places: u64,
    /// Characters in repetitions without an end; none when every match has a greatest length. The search for a match
    /// can look beyond its end only over such characters and as many others as there are places.
    loops: Option<ClassUnicode>,
}

#[derive(Debug)]
enum Matcher {
    Linear(regex::Regex),
    /// Trials, for a pattern with back references.
    Backtracking(Backtracking),
}

/// Place of the group of that number in a match; 0 is the match itself.
pub(crate) type Groups<'g> = &'g dyn Fn(usize) -> Option<Range<usize>>;
impl Regex {
    /// Counts the work of searching these bytes once.
    pub(crate) fn charge<M: Meter>(&self, meter: &mut M, bytes: usize) -> Result<(), M::Exceeded> {
        meter.charge((bytes as u64).saturating_mul(self.places) / 8 + 1)
    }

    /// Counts the work of finding a match: a search can look beyond its end before it takes the match.
    fn charge_match<M: Meter>(
        &self,
        meter: &mut M,
        text: &str,
        found: &Range<usize>,
    ) -> Result<(), M::Exceeded> {
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
        meter.charge(ahead.saturating_mul(self.places.max(16) / 16) / 4 + 2)
    }

    /// Number of groups, the match itself among them.
    pub(crate) fn groups(&self) -> usize {
        match &self.matcher {
            Matcher::Linear(regex) => regex.captures_len(),
            Matcher::Backtracking(pattern) => pattern.groups,
        }
    }

    /// Whether there is a match anywhere in the text.
    pub(crate) fn is_match<M: Meter>(&self, meter: &mut M, text: &str) -> Result<bool, M::Exceeded> {
        match &self.matcher {
            Matcher::Linear(regex) => Ok(regex.is_match(text)),
            Matcher::Backtracking(pattern) => Ok(pattern.find(meter, text, 0)?.is_some()),
        }
    }

    /// Calls the work for each match in order.
    pub(crate) fn each<M: Meter>(
        &self,
        meter: &mut M,
        text: &str,
        with_groups: bool,
        mut work: impl FnMut(&mut M, Groups<'_>) -> Result<(), M::Exceeded>,
    ) -> Result<(), M::Exceeded> {
        match &self.matcher {
            Matcher::Linear(regex) if with_groups => {
                for found in regex.captures_iter(text) {
                    let whole = found.get(0).map(|whole| whole.range()).unwrap_or_default();
                    self.charge_match(meter, text, &whole)?;
                    work(meter, &|group| found.get(group).map(|part| part.range()))?;
                }
            }
            Matcher::Linear(regex) => {
                for found in regex.find_iter(text) {
                    self.charge_match(meter, text, &found.range())?;
                    work(meter, &|group| (group == 0).then(|| found.range()))?;
                }
            }
            Matcher::Backtracking(pattern) => {
                let (mut from, mut last) = (0, None);
                while let Some(found) = pattern.find(meter, text, from)? {
                    let Some(Some(whole)) = found.first().cloned() else { break };
                    // An empty match right after another is none.
                    let counts = !whole.is_empty() || last != Some(whole.end);
                    if counts {
                        work(meter, &|group| found.get(group).cloned().flatten())?;
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
#[cfg(test)]
mod tests {
    use super::compile::compile;
    use super::*;

    struct Unbounded;

    impl Meter for Unbounded {
        type Exceeded = ();

        fn charge(&mut self, _steps: u64) -> Result<(), ()> {
            Ok(())
        }

        fn exhausted(&self) {}
    }

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
            assert_eq!(regex.is_match(&mut Unbounded, text), Ok(want), "{pattern} {text}");
        }
        for bad in [r"\1", r"(a\1)", r"(a)\2", r"(a)[\1]", "[a", "(?i)a", r"\q", "(?P<n>a)", "(((("] {
            assert!(compile(bad, "").is_none(), "{bad}");
        }
        assert!(compile("a", "z").is_none());
    }
}

//! Patterns with back references, which no linear matcher knows: matched by trying, every step counted.

use std::ops::Range;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::Meter;

/// A reference to group n stands in the pattern as this character and the n-th after it, of a private plane.
const REFERENCES: u32 = 0x10_F000;
const MAX_GROUP: u32 = 99;
const MAX_INSTRUCTIONS: usize = 20_000;
const MAX_TRIALS: usize = 500_000;

/// The character that stands for a reference to the group.
pub(super) fn reference(group: u32) -> Option<char> {
    if (1..=MAX_GROUP).contains(&group) { char::from_u32(REFERENCES + group) } else { None }
}

fn referenced(c: char) -> Option<usize> {
    let group = u32::from(c).checked_sub(REFERENCES)?;
    (1..=MAX_GROUP).contains(&group).then_some(group as usize)
}

/// Whether the text has characters that stand for references.
pub(super) fn has_references(text: &str) -> bool {
    text.chars().any(|c| referenced(c).is_some())
}

#[derive(Debug)]
enum Instruction {
    Character(char),
    Class(Vec<(char, char)>),
    Look(Look),
    /// The text that the group matched, or none when it did not.
    Group(usize),
    /// Goes on at the first, and at the second when that fails.
    Either(usize, usize),
    Jump(usize),
    Save(usize),
    /// Fails when nothing was matched since the place was saved.
    Moved(usize),
    Match,
}

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Backtracking {
    code: Vec<Instruction>,
    slots: usize,
    pub(super) groups: usize,
    ignore_case: bool,
}

/// Places of a match and its groups; a group that took no part has no place.
pub(super) type Found = Vec<Option<Range<usize>>>;

/// End of a match, and the places saved on the way to it.
struct Reached {
    end: usize,
    slots: Vec<Option<usize>>,
}

/// Way still to be tried, or a saved place to be put back before it.
enum Trial {
    At(usize, usize),
    Restore(usize, Option<usize>),
}

struct Compiler {
    code: Vec<Instruction>,
    slots: usize,
    groups: usize,
}

impl Compiler {
    fn push(&mut self, instruction: Instruction) -> Option<usize> {
        if self.code.len() >= MAX_INSTRUCTIONS {
            return None;
        }
        self.code.push(instruction);
        Some(self.code.len() - 1)
    }

    fn set(&mut self, at: usize, instruction: Instruction) {
        if let Some(place) = self.code.get_mut(at) {
            *place = instruction;
        }
    }

    fn character(&mut self, c: char) -> Option<()> {
        let instruction = referenced(c).map_or(Instruction::Character(c), Instruction::Group);
        self.push(instruction).map(drop)
    }

    fn class(&mut self, ranges: Vec<(char, char)>) -> Option<()> {
        // `\1|\2` arrives as a class of the two.
        let reference = |c: char| referenced(c).is_some();
        if ranges.iter().all(|(low, high)| reference(*low) && reference(*high)) {
            let all: Vec<char> = ranges.into_iter().flat_map(|(low, high)| low..=high).collect();
            return self.alternatives(&all, |compiler, c| compiler.character(*c));
        }
        self.push(Instruction::Class(ranges)).map(drop)
    }

    fn alternatives<T>(
        &mut self,
        parts: &[T],
        mut compile: impl FnMut(&mut Self, &T) -> Option<()>,
    ) -> Option<()> {
        let mut jumps = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            if at + 1 == parts.len() {
                compile(self, part)?;
                break;
            }
            let either = self.push(Instruction::Match)?;
            compile(self, part)?;
            jumps.push(self.push(Instruction::Match)?);
            self.set(either, Instruction::Either(either + 1, self.code.len()));
        }
        let end = self.code.len();
        for jump in jumps {
            self.set(jump, Instruction::Jump(end));
        }
        Some(())
    }

    fn repeat(&mut self, repetition: &Repetition) -> Option<()> {
        for _ in 0..repetition.min {
            self.compile(&repetition.sub)?;
        }
        let either = |greedy: bool, inner: usize, outer: usize| {
            if greedy { Instruction::Either(inner, outer) } else { Instruction::Either(outer, inner) }
        };
        match repetition.max {
            None => {
                let place = self.slots;
                self.slots += 1;
                let start = self.push(Instruction::Match)?;
                self.push(Instruction::Save(place))?;
                self.compile(&repetition.sub)?;
                self.push(Instruction::Moved(place))?;
                self.push(Instruction::Jump(start))?;
                self.set(start, either(repetition.greedy, start + 1, self.code.len()));
            }
            Some(max) => {
                let mut starts = Vec::new();
                for _ in repetition.min..max {
                    starts.push(self.push(Instruction::Match)?);
                    self.compile(&repetition.sub)?;
                }
                let end = self.code.len();
                for start in starts {
                    self.set(start, either(repetition.greedy, start + 1, end));
                }
            }
        }
        Some(())
    }

    fn compile(&mut self, hir: &Hir) -> Option<()> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                for c in std::str::from_utf8(&literal.0).ok()?.chars() {
                    self.character(c)?;
                }
            }
            HirKind::Class(Class::Unicode(class)) => {
                self.class(class.ranges().iter().map(|range| (range.start(), range.end())).collect())?;
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter().map(|r| (char::from(r.start()), char::from(r.end())));
                self.class(ranges.collect())?;
            }
            HirKind::Look(look) => {
                self.push(Instruction::Look(*look))?;
            }
            HirKind::Repetition(repetition) => self.repeat(repetition)?,
            HirKind::Capture(capture) => {
                let group = capture.index as usize;
                self.groups = self.groups.max(group + 1);
                self.push(Instruction::Save(group * 2))?;
                self.compile(&capture.sub)?;
                self.push(Instruction::Save(group * 2 + 1))?;
            }
            HirKind::Concat(parts) => {
                for part in parts {
                    self.compile(part)?;
                }
            }
            HirKind::Alternation(parts) => self.alternatives(parts, Self::compile)?,
        }
        Some(())
    }
}

fn same(a: char, b: char, ignore_case: bool) -> bool {
    a == b || ignore_case && a.to_lowercase().eq(b.to_lowercase())
}

impl Backtracking {
    /// The pattern, unless it is too large.
    pub(super) fn new(hir: &Hir, ignore_case: bool) -> Option<Self> {
        let captures = hir.properties().explicit_captures_len() + 1;
        let mut compiler = Compiler { code: Vec::new(), slots: captures * 2, groups: captures };
        compiler.compile(hir)?;
        compiler.push(Instruction::Match)?;
        let Compiler { code, slots, groups } = compiler;
        Some(Self { code, slots, groups, ignore_case })
    }

    /// The first match from there on: where it and its groups lie.
    pub(super) fn find<M: Meter>(
        &self,
        meter: &mut M,
        text: &str,
        from: usize,
    ) -> Result<Option<Found>, M::Exceeded> {
        for (at, _) in text.char_indices().skip_while(|(at, _)| *at < from).chain([(text.len(), ' ')]) {
            if let Some(Reached { end, slots }) = self.match_at(meter, text, at)? {
                let group = |n: usize| match (slots.get(n * 2), slots.get(n * 2 + 1)) {
                    (Some(Some(start)), Some(Some(end))) if start <= end => Some(*start..*end),
                    _ => None,
                };
                return Ok(Some(
                    (0..self.groups).map(|n| if n == 0 { Some(at..end) } else { group(n) }).collect(),
                ));
            }
        }
        Ok(None)
    }

    fn match_at<M: Meter>(
        &self,
        meter: &mut M,
        text: &str,
        start: usize,
    ) -> Result<Option<Reached>, M::Exceeded> {
        let mut slots = vec![None; self.slots];
        let mut trials = vec![Trial::At(0, start)];
        meter.charge(self.slots as u64 / 4 + 1)?;
        while let Some(trial) = trials.pop() {
            let (mut pc, mut at) = match trial {
                Trial::At(pc, at) => (pc, at),
                Trial::Restore(slot, old) => {
                    if let Some(place) = slots.get_mut(slot) {
                        *place = old;
                    }
                    continue;
                }
            };
            if trials.len() > MAX_TRIALS {
                return Err(meter.exhausted());
            }
            loop {
                meter.charge(1)?;
                let Some(instruction) = self.code.get(pc) else { break };
                pc += 1;
                match instruction {
                    Instruction::Match => return Ok(Some(Reached { end: at, slots })),
                    Instruction::Jump(to) => pc = *to,
                    Instruction::Either(first, second) => {
                        trials.push(Trial::At(*second, at));
                        pc = *first;
                    }
                    Instruction::Save(slot) => {
                        if let Some(place) = slots.get_mut(*slot) {
                            trials.push(Trial::Restore(*slot, *place));
                            *place = Some(at);
                        }
                    }
                    Instruction::Moved(slot) if slots.get(*slot) == Some(&Some(at)) => break,
                    Instruction::Moved(_) => {}
                    Instruction::Look(look) if holds(*look, text, at) => {}
                    Instruction::Look(_) => break,
                    Instruction::Group(group) => {
                        let (Some(Some(from)), Some(Some(to))) =
                            (slots.get(group * 2), slots.get(group * 2 + 1))
                        else {
                            continue;
                        };
                        let wanted = text.get(*from..*to).unwrap_or_default();
                        meter.charge(wanted.len() as u64 / 8)?;
                        match self.repeated(text.get(at..).unwrap_or_default(), wanted) {
                            Some(length) => at += length,
                            None => break,
                        }
                    }
                    Instruction::Character(_) | Instruction::Class(_) => {
                        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                        if !takes(instruction, c) {
                            break;
                        }
                        at += c.len_utf8();
                    }
                }
            }
        }
        Ok(None)
    }

    /// Length of what is wanted where the text repeats it at its start.
    fn repeated(&self, text: &str, wanted: &str) -> Option<usize> {
        let mut chars = text.char_indices();
        for c in wanted.chars() {
            let (_, found) = chars.next()?;
            if !same(found, c, self.ignore_case) {
                return None;
            }
        }
        Some(text.len() - chars.as_str().len())
    }
}

/// Whether the instruction takes the character.
fn takes(instruction: &Instruction, c: char) -> bool {
    match instruction {
        Instruction::Character(wanted) => c == *wanted,
        Instruction::Class(ranges) => {
            let found = ranges.partition_point(|(_, high)| *high < c);
            ranges.get(found).is_some_and(|(low, _)| *low <= c)
        }
        _ => false,
    }
}

fn holds(look: Look, text: &str, at: usize) -> bool {
    let before = text.as_bytes().get(..at).and_then(<[u8]>::last);
    let after = text.as_bytes().get(at);
    match look {
        Look::Start => before.is_none(),
        Look::End => after.is_none(),
        Look::StartLF => before.is_none_or(|b| *b == b'\n'),
        Look::EndLF => after.is_none_or(|b| *b == b'\n'),
        // XPath has no others.
        _ => false,
    }
}

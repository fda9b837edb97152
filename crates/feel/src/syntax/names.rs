//! Names: which are in sight, how long they are in the text, and where their values lie.

use std::collections::HashMap;
use std::sync::Arc;

use super::Parser;
use super::index::{Seen, SpacedNames};
use super::lexer::{self, Kind, Token};
use crate::error::SyntaxError;
use crate::program::{Node, NodeId, Source};
use crate::types::Types;

/// Variables of one function, or of the expression itself.
#[derive(Default)]
pub(super) struct Frame {
    scopes: Vec<Entry>,
    /// Filtered items, whose members are names: how many entries are further out, and the slot.
    items: Vec<(usize, u32)>,
    /// Places of each name among the scopes, once these are many.
    places: HashMap<Arc<str>, Vec<usize>>,
    next: u32,
    pub slots: u32,
    pub captures: Vec<(Source, u32)>,
    captured: HashMap<Source, u32>,
}

struct Entry(Arc<str>, u32);

/// Up to so many entries are looked through.
const FEW: usize = 32;

impl Frame {
    fn enter(&mut self, entry: Entry) {
        self.scopes.push(entry);
        let from = match self.scopes.len() {
            FEW => 0,
            len if len > FEW => len - 1,
            _ => return,
        };
        for (at, entry) in self.scopes.iter().enumerate().skip(from) {
            self.places.entry(entry.0.clone()).or_default().push(at);
        }
    }

    fn leave_to(&mut self, depth: usize) {
        if depth < FEW {
            self.places.clear();
        } else {
            for Entry(name, _) in self.scopes.iter().skip(depth) {
                if let Some(places) = self.places.get_mut(name) {
                    places.pop();
                }
            }
        }
        self.scopes.truncate(depth);
        while self.items.last().is_some_and(|(at, _)| *at > depth) {
            self.items.pop();
        }
    }

    /// The last place of the name, and its slot.
    fn find(&self, name: &str) -> Option<(usize, u32)> {
        let slot = |at: usize| match self.scopes.get(at) {
            Some(Entry(known, slot)) if **known == *name => Some((at, *slot)),
            _ => None,
        };
        if self.scopes.len() < FEW {
            return (0..self.scopes.len()).rev().find_map(slot);
        }
        self.places.get(name)?.last().and_then(|at| slot(*at))
    }
}

/// Names of several words or with operators in them.
#[derive(Default)]
pub(super) struct Known {
    names: SpacedNames,
    /// Keys of contexts read so far, which may name members.
    keys: SpacedNames,
    seen: Seen,
    plain: Vec<String>,
    /// Names of declared types.
    types: SpacedNames,
}

impl Known {
    pub(super) fn new(names: &[String], members: &[String], types: &Types) -> Self {
        let mut known = Self { plain: names.to_vec(), ..Self::default() };
        for name in members {
            known.keys.push(name);
        }
        for name in names {
            known.names.push(name);
        }
        for name in types.names() {
            known.types.push(name);
        }
        known
    }
}

/// A name as it stands in the text.
pub(super) struct Found {
    pub name: Arc<str>,
    pub end: usize,
}

const KEYWORDS: [&str; 17] = [
    "if",
    "then",
    "else",
    "for",
    "in",
    "return",
    "some",
    "every",
    "satisfies",
    "and",
    "or",
    "between",
    "instance",
    "true",
    "false",
    "null",
    "function",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

impl Parser<'_> {
    /// The longest name in sight that begins at this token, of more than one word.
    pub(super) fn spaced_name(&self, member: bool) -> Option<Found> {
        if self.known.names.len() == 0 && self.known.keys.len() == 0 {
            return None;
        }
        let at = self.token.start;
        let name = self.known.names.longest(self.source, at);
        let with_keys = member || self.filters > 0;
        let key = if with_keys { self.known.keys.longest(self.source, at) } else { None };
        let (name, end) = match (name, key) {
            (Some(a), Some(b)) if b.1 > a.1 => b,
            (Some(a), _) => a,
            (None, b) => b?,
        };
        Some(Found { name, end })
    }

    /// The longest name of a declared type that begins at this token, of more than one word.
    pub(super) fn spaced_type(&self) -> Option<Found> {
        let found = self.known.types.longest(self.source, self.token.start);
        found.map(|(name, end)| Found { name, end })
    }

    /// Whether the declaration list has the name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.known.plain.iter().any(|known| known == name)
    }

    /// Whether this part of the expression itself defines the name.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.frames.iter().any(|frame| frame.find(name).is_some())
    }

    /// Remembers a context's key, which may later name a member.
    pub(super) fn remember_key(&mut self, name: &Arc<str>) {
        if lexer::identifier_end(name, 0) < name.len() && self.known.seen.add(name) {
            self.known.keys.push(name);
        }
    }

    #[expect(clippy::indexing_slicing, reason = "a frame is pushed where there was none")]
    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::default());
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn new_slot(&mut self) -> u32 {
        let frame = self.frame();
        let slot = frame.next;
        frame.next += 1;
        frame.slots = frame.slots.max(frame.next);
        slot
    }

    /// Brings a variable in sight.
    pub(super) fn declare(&mut self, name: Arc<str>) -> u32 {
        let slot = self.new_slot();
        self.declare_at(name, slot);
        slot
    }

    pub(super) fn declare_at(&mut self, name: Arc<str>, slot: u32) {
        self.known.names.push(&name);
        self.frame().enter(Entry(name, slot));
    }

    /// Brings the members of a filter's items in sight, and `item`.
    pub(super) fn declare_items(&mut self) -> u32 {
        let slot = self.new_slot();
        let frame = self.frame();
        frame.enter(Entry("item".into(), slot));
        frame.items.push((frame.scopes.len(), slot));
        slot
    }

    /// Reads something whose declarations go out of sight after it; their slots are used again.
    pub(super) fn scoped<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        let (depth, next) = {
            let frame = self.frame();
            (frame.scopes.len(), frame.next)
        };
        let names = self.known.names.len();
        let result = read(self);
        self.known.names.truncate(names);
        let frame = self.frame();
        frame.leave_to(depth);
        frame.next = next;
        result
    }

    /// Reads a function's body in a frame of its own and gives what it captures and how many slots it needs.
    pub(super) fn in_frame<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<(T, Frame), SyntaxError> {
        let names = self.known.names.len();
        self.frames.push(Frame::default());
        let result = read(self);
        let frame = self.frames.pop().unwrap_or_default();
        self.known.names.truncate(names);
        Ok((result?, frame))
    }

    fn capture(&mut self, frame: usize, source: Source) -> u32 {
        let Some(frame) = self.frames.get_mut(frame) else { return 0 };
        if let Some(slot) = frame.captured.get(&source) {
            return *slot;
        }
        // Captured values stay for the whole call, so they take slots above all that scopes use again.
        let slot = Self::CAPTURED + u32::try_from(frame.captures.len()).unwrap_or(0);
        frame.captures.push((source, slot));
        frame.captured.insert(source, slot);
        slot
    }

    /// Slots from here on are captures; a function's definition moves them behind its other slots.
    pub(super) const CAPTURED: u32 = 1 << 24;

    /// Source of the name's value for the frame, and the filtered items whose members it may name before that.
    fn resolve(&mut self, frame: usize, name: &str, items: &mut Vec<u32>) -> Source {
        let mut found = None;
        if let Some(frame) = self.frames.get(frame) {
            found = frame.find(name);
            if self.filters > 0 {
                let within = |at: usize| found.is_none_or(|(name, _)| at > name);
                let inner = frame.items.iter().rev().take_while(|(at, _)| within(*at));
                items.extend(inner.map(|(_, slot)| *slot));
            }
        }
        if let Some((_, slot)) = found {
            return Source::Local(slot);
        }
        if frame == 0 {
            return Source::Global(self.intern(name));
        }
        let mut outer = Vec::new();
        let source = self.resolve(frame - 1, name, &mut outer);
        for slot in outer {
            let captured = self.capture(frame, Source::Local(slot));
            items.push(captured);
        }
        Source::Local(self.capture(frame, source))
    }

    /// The node that reads the variable.
    pub(super) fn variable(&mut self, name: &str, at: usize) -> Result<NodeId, SyntaxError> {
        if name == "?" {
            self.input_uses += 1;
        }
        let mut items = Vec::new();
        let source = self.resolve(self.frames.len() - 1, name, &mut items);
        let last = match source {
            Source::Local(slot) => self.push(Node::Local(slot), at)?,
            Source::Global(name) => self.push(Node::Global(name), at)?,
        };
        if items.is_empty() {
            return Ok(last);
        }
        let name = self.intern(name);
        let mut words = vec![name, last];
        words.extend(items);
        let run = self.extend(&words);
        self.push(Node::Member(run), at)
    }

    /// The name before a `:` (a context's key or a named argument), or nothing.
    pub(super) fn key(&self) -> Result<Option<Found>, SyntaxError> {
        let mut token = self.token;
        if token.kind == Kind::Quoted {
            let name = self.source.get(token.start + 1..token.end - 1).unwrap_or_default();
            let after = lexer::token(self.source, token.end)?;
            return Ok((after.kind == Kind::Colon).then(|| Found { name: name.into(), end: token.end }));
        }
        if token.kind != Kind::Name {
            return Ok(None);
        }
        let mut name = String::new();
        let mut end = token.start;
        loop {
            let allowed = matches!(
                token.kind,
                Kind::Name
                    | Kind::Number
                    | Kind::Plus
                    | Kind::Minus
                    | Kind::Star
                    | Kind::StarStar
                    | Kind::Slash
                    | Kind::Dot
            );
            if token.kind == Kind::Colon {
                return Ok(Some(Found { name: name.into(), end }));
            }
            let apostrophe = self.source.get(token.start..).is_some_and(|rest| rest.starts_with('\''));
            if !allowed && !apostrophe {
                return Ok(None);
            }
            if !name.is_empty() && token.start > end {
                name.push(' ');
            }
            name.push_str(self.source.get(token.start..token.end).unwrap_or_default());
            end = token.end;
            token = match lexer::token(self.source, end) {
                Ok(token) => token,
                Err(_) => match self.quote(end) {
                    Some(token) => token,
                    None => return Ok(None),
                },
            };
        }
    }

    /// An apostrophe, which is no token of its own but may stand within names.
    fn quote(&self, at: usize) -> Option<Token> {
        let start = lexer::skip_space(self.source, at).ok()?;
        let c = self.source.get(start..)?.chars().next()?;
        matches!(c, '\'' | '\u{2019}').then(|| Token { kind: Kind::Name, start, end: start + c.len_utf8() })
    }

    /// A declared name: identifiers up to something else, or to the given keyword.
    pub(super) fn new_name(&mut self, until: &str) -> Result<Arc<str>, SyntaxError> {
        if self.token.kind == Kind::Quoted {
            let name = self.source.get(self.token.start + 1..self.token.end - 1).unwrap_or_default();
            self.advance()?;
            return Ok(name.into());
        }
        let mut name = String::new();
        while self.token.kind == Kind::Name && self.word() != until {
            if name.is_empty() && is_keyword(self.word()) {
                return Err(self.unexpected("a name"));
            }
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(self.word());
            self.advance()?;
        }
        if name.is_empty() { Err(self.unexpected("a name")) } else { Ok(name.into()) }
    }
}

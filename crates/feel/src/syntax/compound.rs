//! `if`, `for`, `some`, `every`, contexts and function definitions.

use std::sync::Arc;

use super::Parser;
use super::index::Seen;
use super::lexer::{self, Kind};
use crate::error::SyntaxError;
use crate::program::{Definition, EXTERNAL, NONE, Node, NodeId, Parameter};

/// Mark in the program being written: where the next node, word and definition will stand.
#[derive(Debug, Clone, Copy)]
struct Mark {
    node: usize,
    word: usize,
    definition: usize,
}

impl Parser<'_> {
    fn mark(&self) -> Mark {
        Mark { node: self.nodes.len(), word: self.extra.len(), definition: self.definitions.len() }
    }

    pub(super) fn if_expression(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        self.bracketed(|p| {
            let condition = p.expression()?;
            p.expect_word("then")?;
            let yes = p.expression()?;
            p.expect_word("else")?;
            let no = p.expression()?;
            p.push(Node::If { condition, yes, no }, at)
        })
    }

    /// `name in domain` by commas; each name is in sight from there on.
    fn iterators(&mut self, words: &mut Vec<u32>, ranges: bool) -> Result<(), SyntaxError> {
        loop {
            let name = self.new_name("in")?;
            self.expect_word("in")?;
            let first = self.expression()?;
            let last = if ranges && self.eat(Kind::DotDot)? { self.expression()? } else { NONE };
            let slot = self.declare(name);
            words.extend([slot, first, last]);
            if !self.eat(Kind::Comma)? {
                return Ok(());
            }
        }
    }

    pub(super) fn for_expression(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        self.bracketed(|p| {
            p.scoped(|p| {
                let mut words = vec![0, 0];
                p.iterators(&mut words, true)?;
                p.expect_word("return")?;
                let partial = p.declare("partial".into());
                let first = p.mark();
                let result = p.expression()?;
                // Most loops don't ask for the results so far, and keeping them in sight costs time.
                let local = crate::program::Source::Local(partial);
                let used = p
                    .nodes
                    .iter()
                    .skip(first.node)
                    .any(|n| matches!(n, Node::Local(slot) if *slot == partial))
                    || p.definitions
                        .iter()
                        .skip(first.definition)
                        .any(|d| d.captures.iter().any(|(source, _)| *source == local));
                let partial = if used { partial } else { NONE };
                if let [first, second, ..] = words.as_mut_slice() {
                    (*first, *second) = (result, partial);
                }
                let run = p.extend(&words);
                p.push(Node::For(run), at)
            })
        })
    }

    pub(super) fn quantified(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        let every = self.word() == "every";
        self.advance()?;
        self.bracketed(|p| {
            p.scoped(|p| {
                let mut words = vec![0];
                p.iterators(&mut words, true)?;
                p.expect_word("satisfies")?;
                let condition = p.expression()?;
                if let Some(first) = words.first_mut() {
                    *first = condition;
                }
                let run = p.extend(&words);
                p.push(if every { Node::Every(run) } else { Node::Some(run) }, at)
            })
        })
    }

    pub(super) fn context(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        self.bracketed(|p| {
            p.scoped(|p| {
                let mut words = Vec::new();
                let mut seen = Seen::default();
                while p.token.kind != Kind::CloseBrace || !words.is_empty() {
                    let start = p.token.start;
                    let key = p.context_key()?;
                    if !seen.add(&key) {
                        return Err(p.error(start, format!("the key `{key}` stands twice in this context")));
                    }
                    p.expect(Kind::Colon, "`:`")?;
                    p.own_name = Some(key.clone());
                    let value = p.expression()?;
                    let name = p.intern(&key);
                    p.remember_key(&key);
                    let slot = p.declare(key);
                    words.extend([name, value, slot]);
                    if !p.eat(Kind::Comma)? {
                        break;
                    }
                }
                p.expect(Kind::CloseBrace, "`,` or `}`")?;
                let run = p.extend(&words);
                p.push(Node::Context(run), at)
            })
        })
    }

    fn context_key(&mut self) -> Result<Arc<str>, SyntaxError> {
        if self.token.kind == Kind::String {
            let key = lexer::unescape(self.source, self.token)?;
            self.advance()?;
            return Ok(key.into());
        }
        match self.key()? {
            Some(found) => {
                self.advance_to(found.end)?;
                Ok(found.name)
            }
            None => Err(self.unexpected("a key followed by `:`")),
        }
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, SyntaxError> {
        self.expect(Kind::OpenParen, "`(`")?;
        let mut parameters = Vec::new();
        while self.token.kind != Kind::CloseParen || !parameters.is_empty() {
            let name = self.new_name("")?;
            let kind = if self.eat(Kind::Colon)? {
                let kind = self.type_expression()?;
                self.types.push(kind);
                Some(u32::try_from(self.types.len() - 1).unwrap_or(0))
            } else {
                None
            };
            parameters.push(Parameter { name, kind });
            if !self.eat(Kind::Comma)? {
                break;
            }
        }
        self.expect(Kind::CloseParen, "`,` or `)`")?;
        Ok(parameters)
    }

    /// `function(a, b) body`; its value sees what is in sight here, and itself under the name of its context entry.
    pub(super) fn function(&mut self, own_name: Option<Arc<str>>) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        let parameters = self.parameters()?;
        let before = self.mark();
        let (body, frame) = self.in_frame(|p| {
            p.bracketed(|p| {
                match own_name {
                    Some(name) => p.declare(name),
                    None => p.new_slot(),
                };
                for parameter in &parameters {
                    p.declare(parameter.name.clone());
                }
                if p.word() == "external" {
                    p.advance()?;
                    p.expression()?;
                    let reason = p.intern(EXTERNAL);
                    return p.push(Node::Invalid(reason), at);
                }
                p.expression()
            })
        })?;
        let slots = frame.slots + u32::try_from(frame.captures.len()).unwrap_or(0);
        self.place_captures(frame.slots, before);
        let captures = frame
            .captures
            .iter()
            .map(|(source, slot)| (*source, slot - Self::CAPTURED + frame.slots))
            .collect();
        self.definitions.push(Definition { parameters, body, self_slot: 0, captures, slots });
        self.push(Node::Function(u32::try_from(self.definitions.len() - 1).unwrap_or(0)), at)
    }

    /// Moves the captures of the function just read behind its other slots, whose number is known only now.
    fn place_captures(&mut self, base: u32, first: Mark) {
        let moved = |slot: &mut u32| {
            if (Self::CAPTURED..Self::CAPTURED * 2).contains(slot) {
                *slot = *slot - Self::CAPTURED + base;
            }
        };
        let mut members = Vec::new();
        for node in self.nodes.iter_mut().skip(first.node) {
            match node {
                Node::Local(slot) => moved(slot),
                Node::Member(run) => members.push(*run),
                _ => {}
            }
        }
        for run in members {
            let from = (run.start as usize).max(first.word) + 2;
            let to = (run.start + run.len) as usize;
            self.extra.get_mut(from..to).into_iter().flatten().for_each(moved);
        }
        for definition in self.definitions.iter_mut().skip(first.definition) {
            for (source, _) in &mut definition.captures {
                if let crate::program::Source::Local(slot) = source {
                    moved(slot);
                }
            }
        }
    }
}

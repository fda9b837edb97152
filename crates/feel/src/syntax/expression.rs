//! Operators, literals, paths and filters.

use std::sync::Arc;

use super::Parser;
use super::lexer::{self, Kind};
use super::names::is_keyword;
use crate::catalog::Dialect;
use crate::error::SyntaxError;
use crate::program::{Node, NodeId, Op, Strategy};
use crate::value::Value;
use crate::value::number::Number;
use crate::value::text::{Duration, parse_date, parse_date_time, parse_duration, parse_time};

/// Operators of one level in a row before their chain is evaluated by a loop.
const LONG_CHAIN: u32 = 16;

/// Nodes of a tree that is evaluated in registers; what fails there is evaluated again the general way.
const QUICK_NODES: usize = 12;

const COMPARISON: u8 = 3;
const ADDITIVE: u8 = 4;

fn comparison(kind: Kind) -> Option<Op> {
    Some(match kind {
        Kind::Eq => Op::Eq,
        Kind::Ne => Op::Ne,
        Kind::Lt => Op::Lt,
        Kind::Le => Op::Le,
        Kind::Gt => Op::Gt,
        Kind::Ge => Op::Ge,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Any expression (grammar rules 1 and 2).
    pub(super) fn expression(&mut self) -> Result<NodeId, SyntaxError> {
        self.nested(|p| {
            let own_name = p.own_name.take();
            match p.word() {
                // A name that has been declared goes before the keyword that it begins with.
                "if" | "for" | "some" | "every" | "function" if p.spaced_name(false).is_some() => p.binary(1),
                "if" => p.if_expression(),
                "for" => p.for_expression(),
                "some" | "every" if !p.is_declared(p.word()) => p.quantified(),
                "function" => p.function(own_name),
                _ => p.binary(1),
            }
        })
    }

    fn operator(&self) -> Option<(Op, u8)> {
        Some(match self.token.kind {
            Kind::Name => match self.text() {
                "or" => (Op::Or, 1),
                "and" => (Op::And, 2),
                _ => return None,
            },
            Kind::Plus => (Op::Add, ADDITIVE),
            Kind::Minus => (Op::Sub, ADDITIVE),
            Kind::Star => (Op::Mul, 5),
            Kind::Slash => (Op::Div, 5),
            Kind::StarStar => (Op::Pow, 6),
            kind => (comparison(kind)?, COMPARISON),
        })
    }

    /// Operators of at least that level; all of them group to the left.
    pub(super) fn binary(&mut self, level: u8) -> Result<NodeId, SyntaxError> {
        let mut left = self.unary()?;
        let mut chain = 0;
        loop {
            let at = self.token.start;
            if level <= COMPARISON && matches!(self.word(), "between" | "in") {
                left = self.membership(left, at)?;
                chain += 1;
                continue;
            }
            let Some((op, found)) = self.operator().filter(|(_, found)| *found >= level) else {
                return Ok(left);
            };
            self.advance()?;
            let right = self.nested(|p| p.binary(found + 1))?;
            chain += 1;
            let strategy = if chain > LONG_CHAIN {
                Strategy::Long
            } else if self.is_quick(op, left, right) {
                Strategy::Quick
            } else {
                Strategy::Plain
            };
            left = self.push(Node::Binary { op, strategy, left, right }, at)?;
        }
    }

    /// Whether the operator and all below it only read and reckon, in a few nodes.
    fn is_quick(&self, op: Op, left: NodeId, right: NodeId) -> bool {
        let mut room = QUICK_NODES;
        op != Op::Pow && self.takes(left, &mut room) && self.takes(right, &mut room)
    }

    /// Takes the nodes of a quick tree off the room for them.
    fn takes(&self, id: NodeId, room: &mut usize) -> bool {
        let Some(left) = room.checked_sub(1) else { return false };
        *room = left;
        match self.nodes.get(id as usize) {
            Some(Node::Const(_) | Node::Boolean(_) | Node::Local(_) | Node::Global(_)) => true,
            Some(Node::Path { base, .. }) => {
                !matches!(self.nodes.get(*base as usize), Some(Node::Binary { .. }))
                    && self.takes(*base, room)
            }
            Some(Node::Member(run)) => {
                *room = room.saturating_sub(run.len as usize);
                true
            }
            Some(Node::Binary { strategy: Strategy::Quick, left, right, .. }) => {
                self.takes(*left, room) && self.takes(*right, room)
            }
            _ => false,
        }
    }

    /// `between` and `in`, which can follow each other only a few times.
    fn membership(&mut self, value: NodeId, at: usize) -> Result<NodeId, SyntaxError> {
        self.nested(|p| {
            if p.eat_word("between")? {
                let low = p.binary(ADDITIVE)?;
                p.expect_word("and")?;
                let high = p.binary(ADDITIVE)?;
                return p.push(Node::Between { value, low, high }, at);
            }
            p.expect_word("in")?;
            let mut tests = Vec::new();
            if p.token.kind == Kind::OpenParen {
                let open = p.token.start;
                p.advance()?;
                p.bracketed(|p| {
                    tests.push(p.positive_test()?);
                    if p.token.kind == Kind::DotDot && tests.len() == 1 {
                        tests = vec![p.range_tail(tests.first().copied().unwrap_or(0), false, open)?];
                        return Ok(());
                    }
                    while p.eat(Kind::Comma)? {
                        tests.push(p.positive_test()?);
                    }
                    p.expect(Kind::CloseParen, "`)`")
                })?;
            } else {
                tests.push(p.comparison_test(false)?);
            }
            let tests = p.extend(&tests);
            p.push(Node::In { value, tests }, at)
        })
    }

    /// One test: `< 5` or an expression (grammar rules 7 and 17).
    pub(super) fn positive_test(&mut self) -> Result<NodeId, SyntaxError> {
        self.comparison_test(true)
    }

    fn comparison_test(&mut self, any: bool) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        if let Some(op) = comparison(self.token.kind) {
            self.advance()?;
            let end = self.nested(|p| p.binary(ADDITIVE))?;
            return self.push(Node::Test { op, end }, at);
        }
        if any { self.expression() } else { self.nested(|p| p.binary(ADDITIVE)) }
    }

    fn unary(&mut self) -> Result<NodeId, SyntaxError> {
        if self.token.kind != Kind::Minus {
            return self.postfix();
        }
        let at = self.token.start;
        self.advance()?;
        let inner = self.nested(Self::unary)?;
        if let Some(Node::Const(id)) = self.nodes.get(inner as usize).copied()
            && inner as usize + 1 == self.nodes.len()
            && let Some(Value::Number(number)) = self.constants.get_mut(id as usize)
        {
            *number = number.negate();
            return Ok(inner);
        }
        self.push(Node::Negate(inner), at)
    }

    /// A value followed by calls, paths, filters and `instance of`.
    fn postfix(&mut self) -> Result<NodeId, SyntaxError> {
        let outer = self.nesting;
        let result = self.primary().and_then(|first| self.postfixes(first));
        self.nesting = outer;
        result
    }

    fn postfixes(&mut self, mut value: NodeId) -> Result<NodeId, SyntaxError> {
        loop {
            let at = self.token.start;
            let longer = match self.token.kind {
                Kind::OpenParen => {
                    self.advance()?;
                    self.call(value, at)?
                }
                Kind::Dot => {
                    self.advance()?;
                    let name = self.member_name()?;
                    self.push(Node::Path { base: value, name }, at)?
                }
                Kind::OpenBracket if !self.closes_range(value)? => {
                    self.advance()?;
                    self.filter(value, at)?
                }
                Kind::Name if self.text() == "instance" => {
                    self.advance()?;
                    self.expect_word("of")?;
                    let kind = self.type_expression()?;
                    self.types.push(kind);
                    let kind = u32::try_from(self.types.len() - 1).unwrap_or(0);
                    self.push(Node::InstanceOf { value, kind }, at)?
                }
                _ => return Ok(value),
            };
            value = longer;
            // Each makes the tree one level deeper, though reading it does not recurse.
            self.nested(|_| Ok(()))?;
            self.nesting += 1;
        }
    }

    /// Whether this `[` ends a range (`]1..5[`) instead of opening a filter.
    fn closes_range(&self, value: NodeId) -> Result<bool, SyntaxError> {
        if !self.range_end {
            return Ok(false);
        }
        if matches!(self.nodes.get(value as usize), Some(Node::Const(_))) {
            return Ok(true);
        }
        let next = lexer::token(self.source, self.token.end)?;
        let word = self.source.get(next.start..next.end).unwrap_or_default();
        Ok(match next.kind {
            Kind::Name => {
                matches!(word, "and" | "or" | "then" | "else" | "return" | "satisfies" | "in" | "instance")
            }
            Kind::Number | Kind::String | Kind::Quoted | Kind::At | Kind::Minus => false,
            Kind::OpenParen | Kind::OpenBracket | Kind::OpenBrace => false,
            _ => true,
        })
    }

    fn filter(&mut self, base: NodeId, at: usize) -> Result<NodeId, SyntaxError> {
        self.bracketed(|p| {
            p.scoped(|p| {
                let slot = p.declare_items();
                p.filters += 1;
                let body = p.expression()?;
                p.filters -= 1;
                p.expect(Kind::CloseBracket, "`]`")?;
                p.push(Node::Filter { base, body, slot }, at)
            })
        })
    }

    /// The name after a dot: identifiers in a row are one name there, since nothing else could follow.
    fn member_name(&mut self) -> Result<u32, SyntaxError> {
        if self.token.kind == Kind::Quoted {
            let name = self.source.get(self.token.start + 1..self.token.end - 1).unwrap_or_default();
            let name = self.intern(name);
            self.advance()?;
            return Ok(name);
        }
        if self.token.kind != Kind::Name {
            return Err(self.unexpected("a name"));
        }
        if let Some(found) = self.spaced_name(true) {
            self.advance_to(found.end)?;
            return Ok(self.intern(&found.name));
        }
        let mut name = self.text().to_owned();
        self.advance()?;
        while self.token.kind == Kind::Name && !is_keyword(self.text()) {
            name.push(' ');
            name.push_str(self.text());
            self.advance()?;
        }
        Ok(self.intern(&name))
    }

    fn primary(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        match self.token.kind {
            Kind::Number => {
                let number = self.text().parse::<Number>();
                self.advance()?;
                match number {
                    Ok(number) => self.constant(Value::Number(number), at),
                    Err(_) => Err(self.error(at, "this number is beyond 128-bit decimals")),
                }
            }
            Kind::String => {
                let text: Arc<str> = lexer::unescape(self.source, self.token)?.into();
                self.advance()?;
                self.constant(Value::String(text), at)
            }
            Kind::At => self.at_literal(),
            Kind::OpenParen => self.parenthesis(),
            Kind::OpenBracket | Kind::CloseBracket => self.list_or_range(),
            Kind::OpenBrace => self.context(),
            Kind::Quoted if self.dialect == Dialect::Heddle => {
                let name = self.source.get(at + 1..self.token.end - 1).unwrap_or_default();
                self.advance()?;
                self.variable(name, at)
            }
            Kind::Name => self.name(),
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn at_literal(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        if self.token.kind != Kind::String {
            return Err(self.unexpected("a string after `@`"));
        }
        let text = lexer::unescape(self.source, self.token)?;
        self.advance()?;
        let value = if let Some(date) = parse_date(&text) {
            Value::Date(date)
        } else if let Some(time) = parse_date_time(&text) {
            Value::date_time(time)
        } else if let Some(time) = parse_time(&text) {
            Value::time(time)
        } else {
            match parse_duration(&text) {
                Some(Duration::DaysAndTime(duration)) => Value::DaysAndTimeDuration(duration),
                Some(Duration::YearsAndMonths(months)) => Value::YearsAndMonthsDuration(months),
                None => {
                    let reason = self.intern(&format!("@\"{text}\" is no date, time or duration"));
                    return self.push(Node::Invalid(reason), at);
                }
            }
        };
        self.constant(value, at)
    }

    /// `(x)`, `(1..5]`, `(< 5)`.
    fn parenthesis(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        self.advance()?;
        self.bracketed(|p| {
            let first = p.positive_test()?;
            if p.token.kind == Kind::DotDot {
                return p.range_tail(first, false, at);
            }
            p.expect(Kind::CloseParen, "`)`")?;
            Ok(first)
        })
    }

    /// The rest of a range from `..` on.
    pub(super) fn range_tail(
        &mut self,
        low: NodeId,
        low_included: bool,
        at: usize,
    ) -> Result<NodeId, SyntaxError> {
        self.expect(Kind::DotDot, "`..`")?;
        let outer = std::mem::replace(&mut self.range_end, true);
        let high = self.expression();
        self.range_end = outer;
        let high = high?;
        let high_included = match self.token.kind {
            Kind::CloseBracket => true,
            Kind::CloseParen | Kind::OpenBracket => false,
            _ => return Err(self.unexpected("`]`, `)` or `[` at the end of a range")),
        };
        self.advance()?;
        self.push(Node::Range { low, high, low_included, high_included }, at)
    }

    fn list_or_range(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        let open = self.token.kind == Kind::CloseBracket;
        self.advance()?;
        self.bracketed(|p| {
            let mut items = Vec::new();
            while open || p.token.kind != Kind::CloseBracket || !items.is_empty() {
                let item = p.positive_test()?;
                if items.is_empty() && (open || p.token.kind == Kind::DotDot) {
                    return p.range_tail(item, !open, at);
                }
                items.push(item);
                if !p.eat(Kind::Comma)? {
                    break;
                }
            }
            p.expect(Kind::CloseBracket, "`,` or `]`")?;
            let run = p.extend(&items);
            p.push(Node::List(run), at)
        })
    }

    fn name(&mut self) -> Result<NodeId, SyntaxError> {
        let at = self.token.start;
        if let Some(found) = self.spaced_name(false) {
            self.advance_to(found.end)?;
            return self.variable(&found.name, at);
        }
        if let Some(call) = self.builtin_call()? {
            return Ok(call);
        }
        if let Some((name, end)) = self.builtin_value()? {
            self.advance_to(end)?;
            return self.variable(name, at);
        }
        let word = self.text();
        if matches!(word, "if" | "for" | "some" | "every" | "function") {
            return self.expression();
        }
        let literal = match word {
            "true" => Some(Node::Boolean(true)),
            "false" => Some(Node::Boolean(false)),
            "null" => Some(Node::Null),
            _ => None,
        };
        if literal.is_none() && is_keyword(word) {
            return Err(self.unexpected("an expression"));
        }
        self.advance()?;
        match literal {
            Some(node) => self.push(node, at),
            None => self.variable(word, at),
        }
    }
}

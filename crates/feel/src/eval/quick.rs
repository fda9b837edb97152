//! Small trees of variables, members, literals, arithmetic and comparisons, evaluated in registers.
//!
//! Most of what decisions and conditions ask is of this kind, and building a [`Ref`] for each step costs more than the
//! step. Nothing here adds a note, counts a step or changes anything: where a value is not there or not of the kind
//! expected, the general way is taken from the start. That is bounded, since the parser marks only trees of a few
//! nodes ([`Strategy::Quick`]).

use serde_json::Value as Json;

use super::Evaluator;
use super::compare::ordered;
use crate::error::LimitError;
use crate::program::{Node, NodeId, Op, Program, Run, Strategy};
use crate::scope::{Ref, Scope};
use crate::value::Value;
use crate::value::json::quick_number;
use crate::value::number::Number;

/// Longer strings are compared the general way, which counts the work.
const LONG_TEXT: usize = 1024;

/// Value where it lies.
#[derive(Clone, Copy)]
enum Seen<'s> {
    Json(&'s Json),
    Value(&'s Value),
}

impl<'s> Seen<'s> {
    fn of(found: &'s Ref<'_>) -> Self {
        match found {
            Ref::Json(json) => Self::Json(json),
            Ref::Borrowed(value) => Self::Value(value),
            Ref::Owned(value) => Self::Value(value),
        }
    }

    fn member(self, name: &str) -> Option<Self> {
        match self {
            Self::Json(Json::Object(members)) => members.get(name).map(Self::Json),
            Self::Value(Value::Context(context)) => context.get(name).map(Self::Value),
            _ => None,
        }
    }

    fn number(self) -> Number {
        match self {
            Self::Json(Json::Number(number)) => quick_number(number),
            Self::Value(Value::Number(number)) => *number,
            _ => Number::ABSENT,
        }
    }

    fn text(self) -> Option<&'s str> {
        match self {
            Self::Json(Json::String(text)) => Some(text),
            Self::Value(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn truth(self) -> Option<bool> {
        match self {
            Self::Json(Json::Bool(value)) => Some(*value),
            Self::Value(Value::Boolean(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Reader of quick trees.
pub(crate) struct Reader<'s, 'a> {
    pub(crate) program: &'s Program,
    pub(crate) scope: &'a dyn Scope,
    pub(crate) locals: &'s [Option<Ref<'a>>],
}

/// Most steps that [`whole`] takes.
#[inline]
pub(crate) fn steps(program: &Program) -> u32 {
    match program.node(program.root) {
        Node::UnaryTests { tests, .. } => tests.len.saturating_mul(8),
        _ => 16,
    }
}

/// The value of a whole program that is one quick tree, or of unary tests that are; `None` when the general way must
/// be taken. `input` is that of the tests.
#[inline]
pub(crate) fn whole(program: &Program, scope: &dyn Scope, input: Option<&Value>) -> Option<Value> {
    match program.node(program.root) {
        Node::Binary { op, strategy: Strategy::Quick, .. } if input.is_none() => {
            Reader { program, scope, locals: &[] }.evaluate(program.root, op)
        }
        Node::UnaryTests { tests, negated } => {
            let locals = [input.map(Ref::Borrowed)];
            let passed = Reader { program, scope, locals: &locals }.tests(input?, tests)?;
            Some(Value::Boolean(passed != negated))
        }
        _ => None,
    }
}

/// The value of a whole program that is a variable, or a member of one; `None` when the general way must be taken.
#[inline]
pub(crate) fn variable<'a>(program: &Program, scope: &'a dyn Scope) -> Option<Ref<'a>> {
    match program.node(program.root) {
        Node::Global(name) => scope.get(program.name(name)),
        Node::Path { base, name } => {
            let base = match program.node(base) {
                Node::Global(variable) => scope.get(program.name(variable))?,
                Node::Path { base, name } => match program.node(base) {
                    Node::Global(variable) => {
                        scope.get(program.name(variable))?.member(program.name(name))?
                    }
                    _ => return None,
                },
                _ => return None,
            };
            base.member(program.name(name))
        }
        _ => None,
    }
}

impl<'a> Reader<'_, 'a> {
    #[inline]
    fn evaluate(&self, id: NodeId, op: Op) -> Option<Value> {
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => {
                let number = self.number(id);
                (!number.is_absent()).then_some(Value::Number(number))
            }
            _ => self.truth(id).map(Value::Boolean),
        }
    }

    fn leaf(&self, id: NodeId) -> Option<Seen<'_>> {
        match self.program.node(id) {
            Node::Const(at) => self.program.constants.get(at as usize).map(Seen::Value),
            Node::Local(slot) => self.local(slot),
            Node::Global(name) => self.global(name),
            Node::Path { base, name } => self.leaf(base)?.member(self.program.name(name)),
            Node::Member(run) => {
                let [name, last, slots @ ..] = self.program.run(run) else { return None };
                let name = self.program.name(*name);
                let found = slots.iter().find_map(|slot| self.local(*slot)?.member(name));
                found.or_else(|| self.leaf(*last))
            }
            _ => None,
        }
    }

    #[inline]
    fn local(&self, slot: u32) -> Option<Seen<'_>> {
        self.locals.get(slot as usize)?.as_ref().map(Seen::of)
    }

    #[inline]
    fn global(&self, name: u32) -> Option<Seen<'_>> {
        let scope: &'a dyn Scope = self.scope;
        match scope.get(self.program.name(name))? {
            Ref::Json(json) => Some(Seen::Json(json)),
            Ref::Borrowed(value) => Some(Seen::Value(value)),
            // A scope that makes its values has no place where they lie.
            Ref::Owned(_) => None,
        }
    }

    /// The number of a quick tree, or [`Number::ABSENT`].
    pub(super) fn number(&self, id: NodeId) -> Number {
        let Node::Binary { op, strategy: Strategy::Quick, left, right } = self.program.node(id) else {
            return self.leaf(id).map_or(Number::ABSENT, Seen::number);
        };
        let a = self.number(left);
        if a.is_absent() {
            return a;
        }
        let b = self.number(right);
        if b.is_absent() {
            return b;
        }
        let result = match op {
            Op::Add => a.plus(b),
            Op::Sub => a.minus(b),
            Op::Mul => a.times(b),
            Op::Div => a.over(b),
            _ => return Number::ABSENT,
        };
        result.unwrap_or(Number::ABSENT)
    }

    /// The truth value of a quick tree; `None` also for null.
    pub(super) fn truth(&self, id: NodeId) -> Option<bool> {
        let Node::Binary { op, strategy: Strategy::Quick, left, right } = self.program.node(id) else {
            return match self.program.node(id) {
                Node::Boolean(value) => Some(value),
                _ => self.leaf(id)?.truth(),
            };
        };
        match op {
            Op::And => Some(self.truth(left)? && self.truth(right)?),
            Op::Or => Some(self.truth(left)? || self.truth(right)?),
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => self.comparison(op, left, right),
            _ => None,
        }
    }

    #[inline]
    fn comparison(&self, op: Op, left: NodeId, right: NodeId) -> Option<bool> {
        let arithmetic = |id: NodeId| matches!(self.program.node(id), Node::Binary { .. });
        if arithmetic(left) || arithmetic(right) {
            let (a, b) = (self.number(left), self.number(right));
            return (!a.is_absent() && !b.is_absent()).then(|| ordered(op, a.cmp(&b)));
        }
        compared(op, self.leaf(left)?, self.leaf(right)?)
    }

    /// Whether the input passes one of the tests.
    fn tests(&self, input: &Value, tests: Run) -> Option<bool> {
        for test in self.program.run(tests).chunks_exact(2) {
            let [node, uses_input] = test else { continue };
            if self.test(Seen::Value(input), *node, *uses_input == 1)? {
                return Some(true);
            }
        }
        Some(false)
    }

    fn test(&self, input: Seen<'_>, node: NodeId, uses_input: bool) -> Option<bool> {
        match self.program.node(node) {
            Node::Const(_) => compared(Op::Eq, input, self.leaf(node)?),
            Node::Test { op, end } => compared(op, input, self.leaf(end)?),
            Node::Range { low, high, low_included, high_included } => {
                let (low, high) = (self.leaf(low)?, self.leaf(high)?);
                if !compared(Op::Le, low, high)? {
                    return None;
                }
                let above = if low_included { Op::Ge } else { Op::Gt };
                let below = if high_included { Op::Le } else { Op::Lt };
                Some(compared(above, input, low)? && compared(below, input, high)?)
            }
            Node::Binary { strategy: Strategy::Quick, .. } if uses_input => self.truth(node),
            _ => None,
        }
    }
}

/// The comparison of two numbers, strings or truth values; `None` of any others.
#[inline]
fn compared(op: Op, a: Seen<'_>, b: Seen<'_>) -> Option<bool> {
    let number = a.number();
    if !number.is_absent() {
        let other = b.number();
        return (!other.is_absent()).then(|| ordered(op, number.cmp(&other)));
    }
    if let Some(text) = a.text() {
        let other = b.text()?;
        if text.len().min(other.len()) > LONG_TEXT {
            return None;
        }
        return Some(match op {
            Op::Eq => text == other,
            Op::Ne => text != other,
            _ => ordered(op, text.cmp(other)),
        });
    }
    let (a, b) = (a.truth()?, b.truth()?);
    match op {
        Op::Eq => Some(a == b),
        Op::Ne => Some(a != b),
        _ => None,
    }
}

impl<'a> Evaluator<'a, '_> {
    #[inline]
    pub(super) fn reader(&self) -> Reader<'_, 'a> {
        Reader { program: self.program, scope: self.scope, locals: &self.locals }
    }

    /// The result of a node of the strategy [`Strategy::Quick`]; `None` when the general way must be taken.
    #[inline]
    pub(super) fn quick(&mut self, id: NodeId, op: Op) -> Result<Option<Ref<'a>>, LimitError> {
        let Some(value) = self.reader().evaluate(id, op) else { return Ok(None) };
        self.machine.charge(value.as_number().map_or(2, Number::steps) + 1)?;
        Ok(Some(Ref::Owned(value)))
    }

    /// The truth value of a node, or null.
    #[inline]
    pub(super) fn condition(&mut self, id: NodeId) -> Result<Option<bool>, LimitError> {
        match self.reader().truth(id) {
            Some(truth) => {
                self.machine.charge(2)?;
                Ok(Some(truth))
            }
            None => Ok(self.eval(id)?.as_bool()),
        }
    }

    /// The value of a node.
    #[inline]
    pub(super) fn value(&mut self, id: NodeId) -> Result<Value, LimitError> {
        let number = self.reader().number(id);
        if number.is_absent() {
            let value = self.eval(id)?;
            return self.machine.own(value);
        }
        self.machine.charge(number.steps())?;
        Ok(Value::Number(number))
    }
}

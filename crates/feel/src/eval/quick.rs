//! Small trees of variables, members, literals, arithmetic and comparisons, evaluated in registers.
//!
//! Most of what decisions and conditions ask is of this kind, and building a [`Ref`] for each step costs more than the
//! step. Nothing here records a note, counts a step or changes anything: where a value is not there or not of the kind
//! expected, the general way is taken from the start. That is bounded, since the parser marks only trees of a few
//! nodes ([`Shape::Quick`]).

use serde_json::Value as Json;

use super::Evaluator;
use super::compare::ordered;
use crate::program::{Node, NodeId, Op, Shape};
use crate::scope::Ref;
use crate::value::json::quick_number;
use crate::value::number::Number;
use crate::{LimitError, Value};

/// A value where it lies.
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

impl<'a> Evaluator<'a, '_> {
    /// The result of a node of the shape [`Shape::Quick`]; `None` when the general way must be taken.
    #[inline]
    pub(super) fn quick(&mut self, id: NodeId, op: Op) -> Result<Option<Ref<'a>>, LimitError> {
        let value = match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => {
                let number = self.quick_number(id);
                if number.is_absent() {
                    return Ok(None);
                }
                Value::Number(number)
            }
            _ => match self.quick_truth(id) {
                Some(truth) => Value::Boolean(truth),
                None => return Ok(None),
            },
        };
        self.machine.charge(2)?;
        Ok(Some(Ref::Owned(value)))
    }

    /// The truth value of a node, or null.
    #[inline]
    pub(super) fn condition(&mut self, id: NodeId) -> Result<Option<bool>, LimitError> {
        match self.quick_truth(id) {
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
        let number = self.quick_number(id);
        if number.is_absent() {
            return self.eval(id).map(Ref::into_value);
        }
        self.machine.charge(2)?;
        Ok(Value::Number(number))
    }

    fn leaf(&self, id: NodeId) -> Option<Seen<'_>> {
        match self.program.node(id) {
            Node::Const(at) => self.program.constants.get(at as usize).map(Seen::Value),
            Node::Local(slot) => self.seen_local(slot),
            Node::Global(name) => self.seen_global(name),
            Node::Path { base, name } => self.leaf(base)?.member(self.program.name(name)),
            Node::Member(run) => {
                let [name, last, slots @ ..] = self.program.run(run) else { return None };
                let name = self.program.name(*name);
                let found = slots.iter().find_map(|slot| self.seen_local(*slot)?.member(name));
                found.or_else(|| self.leaf(*last))
            }
            _ => None,
        }
    }

    #[inline]
    fn seen_local(&self, slot: u32) -> Option<Seen<'_>> {
        self.locals.get(slot as usize)?.as_ref().map(Seen::of)
    }

    #[inline]
    fn seen_global(&self, name: u32) -> Option<Seen<'_>> {
        let scope: &'a dyn crate::Scope = self.scope;
        match scope.get(self.program.name(name))? {
            Ref::Json(json) => Some(Seen::Json(json)),
            Ref::Borrowed(value) => Some(Seen::Value(value)),
            // A scope that makes its values has no place where they lie.
            Ref::Owned(_) => None,
        }
    }

    /// The number of a quick tree, or [`Number::ABSENT`].
    pub(super) fn quick_number(&self, id: NodeId) -> Number {
        let Node::Binary { op, shape: Shape::Quick, left, right } = self.program.node(id) else {
            return self.leaf(id).map_or(Number::ABSENT, Seen::number);
        };
        let a = self.quick_number(left);
        if a.is_absent() {
            return a;
        }
        let b = self.quick_number(right);
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
    pub(super) fn quick_truth(&self, id: NodeId) -> Option<bool> {
        let Node::Binary { op, shape: Shape::Quick, left, right } = self.program.node(id) else {
            return match self.program.node(id) {
                Node::Boolean(value) => Some(value),
                _ => self.leaf(id)?.truth(),
            };
        };
        match op {
            Op::And => Some(self.quick_truth(left)? && self.quick_truth(right)?),
            Op::Or => Some(self.quick_truth(left)? || self.quick_truth(right)?),
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => self.quick_comparison(op, left, right),
            _ => None,
        }
    }

    #[inline]
    fn quick_comparison(&self, op: Op, left: NodeId, right: NodeId) -> Option<bool> {
        let arithmetic = |id: NodeId| matches!(self.program.node(id), Node::Binary { .. });
        if arithmetic(left) || arithmetic(right) {
            let (a, b) = (self.quick_number(left), self.quick_number(right));
            return (!a.is_absent() && !b.is_absent()).then(|| ordered(op, a.cmp(&b)));
        }
        let (a, b) = (self.leaf(left)?, self.leaf(right)?);
        let number = a.number();
        if !number.is_absent() {
            let other = b.number();
            return (!other.is_absent()).then(|| ordered(op, number.cmp(&other)));
        }
        if let Some(text) = a.text() {
            let other = b.text()?;
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
}

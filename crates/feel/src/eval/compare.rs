//! Comparisons, `between`, `in` and unary tests.

use std::cmp::Ordering;

use super::{Evaluation, Evaluator, truth};
use crate::error::LimitError;
use crate::program::{Node, NodeId, Op, Run};
use crate::scope::{Ref, View};
use crate::value::Value;

#[inline]
pub(super) fn ordered(op: Op, order: Ordering) -> bool {
    match op {
        Op::Lt => order == Ordering::Less,
        Op::Le => order != Ordering::Greater,
        Op::Gt => order == Ordering::Greater,
        Op::Ge => order != Ordering::Less,
        Op::Ne => order != Ordering::Equal,
        Op::Eq | Op::Or | Op::And | Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => {
            order == Ordering::Equal
        }
    }
}

/// A list of one item where one value is meant reads as that value (DMN 1.5, 10.3.2.9.4).
fn single(value: Value) -> Value {
    match &value {
        Value::List(items) if items.len() == 1 => items.first().cloned().unwrap_or_default(),
        _ => value,
    }
}

/// Three-valued disjunction.
struct AnyOf(Option<bool>);

impl AnyOf {
    fn add(&mut self, passed: Option<bool>) {
        self.0 = match (self.0, passed) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (None, _) | (_, None) => None,
            _ => Some(false),
        };
    }
}

impl<'a> Evaluator<'a, '_> {
    #[inline]
    pub(super) fn comparison(
        &mut self,
        id: NodeId,
        op: Op,
        left: &Ref<'a>,
        right: &Ref<'a>,
    ) -> Evaluation<'a> {
        let result = match (left.view(), right.view()) {
            (View::Number(a), View::Number(b)) => Some(ordered(op, a.cmp(&b))),
            (View::String(a), View::String(b)) => {
                self.machine.charge(a.len().min(b.len()) as u64 / 64)?;
                Some(ordered(op, a.cmp(b)))
            }
            (View::Null, View::Null) if matches!(op, Op::Eq | Op::Ne) => Some(op == Op::Eq),
            (View::Null, _) | (_, View::Null) if matches!(op, Op::Eq | Op::Ne) => Some(op == Op::Ne),
            (View::Boolean(a), View::Boolean(b)) if matches!(op, Op::Eq | Op::Ne) => {
                Some((a == b) == (op == Op::Eq))
            }
            _ => return self.compare_values(id, op, left, right),
        };
        Ok(truth(result))
    }

    #[inline(never)]
    fn compare_values(&mut self, id: NodeId, op: Op, left: &Ref<'a>, right: &Ref<'a>) -> Evaluation<'a> {
        let (a, b) = (self.machine.own(left.clone())?, self.machine.own(right.clone())?);
        let result = self.compare(op, &a, &b)?;
        if result.is_none() {
            return Ok(
                self.null(id, || format!("a {} cannot be compared with a {}", a.type_name(), b.type_name()))
            );
        }
        Ok(truth(result))
    }

    fn compare(&mut self, op: Op, a: &Value, b: &Value) -> Result<Option<bool>, LimitError> {
        self.machine.charge(u64::from(a.weight().min(b.weight())) / 4)?;
        if matches!(a, Value::DateTime(_) | Value::Time(_)) {
            // The offset of a region is looked up.
            self.machine.charge(8)?;
        }
        Ok(match op {
            Op::Eq => a.equals(b),
            Op::Ne => a.equals(b).map(|equal| !equal),
            _ => a.compare(b).map(|order| ordered(op, order)),
        })
    }

    pub(super) fn between(&mut self, id: NodeId, value: NodeId, low: NodeId, high: NodeId) -> Evaluation<'a> {
        let value = self.value(value)?;
        let low = self.value(low)?;
        let high = self.value(high)?;
        self.machine.charge(u64::from(value.weight()))?;
        match (value.compare(&low), value.compare(&high)) {
            (Some(a), Some(b)) => Ok(truth(Some(a != Ordering::Less && b != Ordering::Greater))),
            _ => Ok(self.null(id, || {
                format!(
                    "a {} cannot lie between a {} and a {}",
                    value.type_name(),
                    low.type_name(),
                    high.type_name()
                )
            })),
        }
    }

    pub(super) fn is_in(&mut self, id: NodeId, value: NodeId, tests: Run) -> Evaluation<'a> {
        let value = self.value(value)?;
        let program = self.program;
        let mut any = AnyOf(Some(false));
        for test in program.run(tests) {
            any.add(self.passes(&value, *test)?);
        }
        if any.0.is_none() {
            return Ok(self.null(id, || format!("a {} cannot be tested so", value.type_name())));
        }
        Ok(truth(any.0))
    }

    /// Whether the value passes the test.
    fn passes(&mut self, value: &Value, test: NodeId) -> Result<Option<bool>, LimitError> {
        if let Node::Test { op, end } = self.program.node(test) {
            let end = self.value(end)?;
            return match (op, value, &end) {
                (Op::Eq | Op::Ne, _, _) => self.compare(op, value, &end),
                (_, Value::List(_), _) => self.compare(op, &single(value.clone()), &end),
                _ => self.compare(op, value, &end),
            };
        }
        let test = self.value(test)?;
        self.matches(value, &test)
    }

    /// Whether the value is in what a test came out as (Table 54).
    fn matches(&mut self, value: &Value, test: &Value) -> Result<Option<bool>, LimitError> {
        self.machine.charge(u64::from(value.weight()) / 4)?;
        Ok(match test {
            Value::Range(range) => match value {
                Value::Range(_) => value.equals(test),
                _ => range.includes(value),
            },
            Value::List(items) => {
                self.machine.charge(u64::from(test.weight()) / 4)?;
                if matches!(value, Value::List(_)) && value.equals(test) == Some(true) {
                    return Ok(Some(true));
                }
                let hit = |item: &Value| match item {
                    Value::Range(range) => {
                        range.includes(value) == Some(true) || value.equals(item) == Some(true)
                    }
                    _ => value.equals(item) == Some(true),
                };
                Some(items.iter().any(hit))
            }
            _ => self.compare(Op::Eq, value, test)?,
        })
    }

    pub(crate) fn unary_tests(&mut self, tests: Run, negated: bool) -> Evaluation<'a> {
        let input = self.local(0).unwrap_or(Ref::NULL);
        let input = self.machine.own(input)?;
        let program = self.program;
        let mut any = AnyOf(Some(false));
        for test in program.run(tests).chunks_exact(2) {
            let [node, uses_input] = test else { continue };
            any.add(self.unary_test(&input, *node, *uses_input == 1)?);
            if any.0 == Some(true) {
                break;
            }
        }
        Ok(truth(if negated { any.0.map(|passed| !passed) } else { any.0 }))
    }

    fn unary_test(
        &mut self,
        input: &Value,
        node: NodeId,
        uses_input: bool,
    ) -> Result<Option<bool>, LimitError> {
        if matches!(self.program.node(node), Node::Test { .. }) {
            return self.passes(input, node);
        }
        let test = self.value(node)?;
        Ok(match (&test, input) {
            // An expression over the input decides by itself.
            (Value::Boolean(passed), _) if uses_input => Some(*passed),
            (Value::Null, _) if uses_input => None,
            (Value::Boolean(passed), Value::Boolean(input)) => Some(passed == input),
            (Value::Boolean(passed), _) => Some(*passed),
            _ => self.matches(input, &test)?,
        })
    }
}

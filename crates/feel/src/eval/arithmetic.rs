//! Operators of arithmetic on numbers, strings, dates, times and durations (DMN 1.5, Tables 52 to 57).

use super::{Evaluation, Evaluator};
use crate::program::{NodeId, Op};
use crate::scope::{Ref, View};
use crate::value::Value;
use crate::value::arithmetic::{add, divide, multiply, negate, subtract};
use crate::value::outcome::{Failure, null};

impl<'a> Evaluator<'a, '_> {
    #[inline]
    pub(super) fn arithmetic(&mut self, id: NodeId, op: Op, left: Ref<'a>, right: Ref<'a>) -> Evaluation<'a> {
        if let (Some(a), Some(b)) = (left.as_number(), right.as_number()) {
            if op == Op::Pow {
                self.machine.charge(a.pow_steps(b))?;
            }
            let result = match op {
                Op::Add => a.plus(b),
                Op::Sub => a.minus(b),
                Op::Mul => a.times(b),
                Op::Div => a.over(b),
                _ => a.pow(b),
            };
            return match result {
                Ok(number) => {
                    self.machine.charge(number.steps())?;
                    Ok(Ref::Owned(Value::Number(number)))
                }
                Err(error) => self.settle(id, Err(error.into())),
            };
        }
        self.other_arithmetic(id, op, left, right)
    }

    #[inline(never)]
    fn other_arithmetic(&mut self, id: NodeId, op: Op, left: Ref<'a>, right: Ref<'a>) -> Evaluation<'a> {
        if let (View::String(a), View::String(b), Op::Add) = (left.view(), right.view(), op) {
            self.machine.text(a.len() + b.len())?;
            return Ok(Ref::Owned(Value::string([a, b].concat())));
        }
        let (a, b) = (self.machine.own(left)?, self.machine.own(right)?);
        self.machine.charge(4)?;
        let outcome = match op {
            Op::Add => add(&a, &b),
            Op::Sub => subtract(&a, &b),
            Op::Mul => multiply(&a, &b),
            Op::Div => divide(&a, &b),
            _ => null("powers are of numbers"),
        };
        let outcome = match outcome {
            Err(Failure::Null(reason)) if reason.is_empty() => {
                let sign = match op {
                    Op::Add => "+",
                    Op::Sub => "-",
                    Op::Mul => "*",
                    Op::Div => "/",
                    _ => "**",
                };
                null(format!("`{sign}` has no meaning between a {} and a {}", a.type_name(), b.type_name()))
            }
            other => other,
        };
        self.settle(id, outcome)
    }

    pub(super) fn negate(&mut self, id: NodeId, inner: NodeId) -> Evaluation<'a> {
        let value = self.value(inner)?;
        let outcome = negate(&value);
        self.settle(id, outcome)
    }
}

//! Evaluation of whole programs.

use std::sync::Arc;

use super::{Evaluator, quick};
use crate::error::LimitError;
use crate::machine::Machine;
use crate::program::{Node, Program};
use crate::scope::{Ref, Scope};
use crate::value::Value;

impl Machine {
    /// A whole program, the quick way when there is one.
    #[inline]
    pub(crate) fn whole(
        &mut self,
        program: &Arc<Program>,
        scope: &dyn Scope,
        input: Option<&Value>,
    ) -> Result<Value, LimitError> {
        if let Some(value) = quick::whole(program, scope, input) {
            self.charge(u64::from(quick::steps(program)))?;
            return Ok(value);
        }
        if input.is_some() {
            return self.run(program, scope, input);
        }
        match quick::variable(program, scope) {
            None => self.run(program, scope, input),
            Some(Ref::Borrowed(Value::Number(number))) => {
                self.charge(2)?;
                Ok(Value::Number(*number))
            }
            Some(Ref::Borrowed(Value::String(text))) => {
                self.charge(2)?;
                self.text(text.len())?;
                Ok(Value::String(text.clone()))
            }
            Some(value) => {
                self.charge(2)?;
                let value = self.own(value)?;
                self.admit(value)
            }
        }
    }

    /// Evaluates a whole program; `input` is that of unary tests.
    pub(crate) fn run(
        &mut self,
        program: &Arc<Program>,
        scope: &dyn Scope,
        input: Option<&Value>,
    ) -> Result<Value, LimitError> {
        let mut locals = if program.slots == 0 { Vec::new() } else { vec![None; program.slots as usize] };
        if let (Some(first), Some(input)) = (locals.first_mut(), input) {
            *first = Some(Ref::Borrowed(input));
        }
        let root = program.root;
        let mut evaluator = Evaluator { program, shared: program, scope, machine: self, locals };
        let value = match program.node(root) {
            // The result of tests standing alone is what they let through.
            Node::UnaryTests { tests, negated } => evaluator.unary_tests(tests, negated)?,
            _ => evaluator.eval(root)?,
        };
        // What was taken from the outside as it is can be deeper than what is made here.
        let value = self.own(value)?;
        self.admit(value)
    }
}

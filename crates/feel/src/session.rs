//! Evaluations made of several expressions within shared limits.

use std::any::Any;
use std::sync::Arc;

use crate::error::{LimitError, Note};
use crate::expression::{EvalContext, Expression, UnaryTests};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::scope::Scope;
use crate::value::Value;
use crate::value::function::{Function, Host};

impl Host<'_> {
    /// Runs an evaluation made of several expressions within these limits. `extension` is what functions called
    /// within find by [`Host::extension`].
    pub fn open<T>(
        ctx: &EvalContext,
        limits: &Limits,
        extension: Box<dyn Any>,
        body: impl FnOnce(&mut Host<'_>) -> T,
    ) -> T {
        let mut machine = Machine::new(ctx.now, limits.clone());
        machine.extension = Some(extension);
        body(&mut Host(&mut machine))
    }

    /// Evaluates an expression.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    pub fn evaluate(&mut self, expression: &Expression, scope: &dyn Scope) -> Result<Value, LimitError> {
        self.0.whole(&expression.program, scope, None)
    }

    /// Calls a function value.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    pub fn call(&mut self, function: &Function, arguments: Vec<Value>) -> Result<Value, LimitError> {
        self.0.call(function, arguments, 0)
    }

    /// Calls a function value with arguments by name.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    pub fn call_named(
        &mut self,
        function: &Function,
        arguments: Vec<(Arc<str>, Value)>,
    ) -> Result<Value, LimitError> {
        self.0.call_named(function, arguments, 0)
    }

    /// Whether the input passes the tests: true, false or null.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    pub fn test(
        &mut self,
        tests: &UnaryTests,
        input: &Value,
        scope: &dyn Scope,
    ) -> Result<Value, LimitError> {
        self.0.whole(&tests.program, scope, Some(input))
    }

    /// Counts steps of work done outside of expressions.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<(), LimitError> {
        self.0.charge(steps)
    }

    /// Steps taken so far.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.0.taken()
    }

    /// Does something that nests as deeply as that many levels of an expression.
    ///
    /// # Errors
    /// When the limits of the whole evaluation are exceeded.
    pub fn nested<T>(
        &mut self,
        levels: u32,
        body: impl FnOnce(&mut Self) -> Result<T, LimitError>,
    ) -> Result<T, LimitError> {
        self.0.enter_levels(levels)?;
        let result = body(self);
        self.0.leave_levels(levels);
        result
    }

    /// Checks a value made outside of expressions against the limits of sizes.
    ///
    /// # Errors
    /// When it is larger or nested more deeply than they allow.
    pub fn admit(&mut self, value: Value) -> Result<Value, LimitError> {
        self.0.admit(value)
    }

    /// Number of notes.
    #[must_use]
    pub fn noted(&mut self) -> usize {
        self.0.notes().len()
    }

    /// Takes the notes away that came after there were that many.
    pub fn take_notes(&mut self, from: usize) -> Vec<Note> {
        let notes = self.0.notes();
        notes.split_off(from.min(notes.len()))
    }
}

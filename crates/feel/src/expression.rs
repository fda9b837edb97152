//! Expressions and unary tests, compiled once and evaluated often.

use std::sync::Arc;

use heddle_kernel::Timestamp;

use crate::budget::StepBudget;
use crate::catalog::Dialect;
use crate::error::{LimitError, Note, SyntaxError};
use crate::eval::quick;
use crate::limits::Limits;
use crate::machine::Machine;
use crate::program::Program;
use crate::scope::Scope;
use crate::syntax::{self, Options};
use crate::types::Types;
use crate::value::Value;

/// Context of an evaluation: what it takes from outside.
#[derive(Debug, Clone, Copy)]
pub struct EvalContext {
    /// The present time, for `now()` and `today()`, which give it in UTC.
    pub now: Timestamp,
}

/// Result of an evaluation.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// The result.
    pub value: Value,
    /// Notes of why parts of the expression were null.
    pub notes: Vec<Note>,
}

/// A compiled expression. Cloning shares it; threads may evaluate it at the same time.
#[derive(Debug, Clone)]
pub struct Expression {
    pub(crate) program: Arc<Program>,
}

/// Compiled unary tests: the entry of a decision table, or allowed values.
#[derive(Debug, Clone)]
pub struct UnaryTests {
    pub(crate) program: Arc<Program>,
}

fn evaluate(
    program: &Arc<Program>,
    scope: &dyn Scope,
    input: Option<&Value>,
    ctx: &EvalContext,
    limits: &Limits,
) -> Result<Evaluated, LimitError> {
    if limits.allow(quick::steps(program))
        && let Some(value) = quick::whole(program, scope, input)
    {
        return Ok(Evaluated { value, notes: Vec::new() });
    }
    evaluate_any(program, scope, input, ctx, limits, &mut 0)
}

#[inline(never)]
fn evaluate_any(
    program: &Arc<Program>,
    scope: &dyn Scope,
    input: Option<&Value>,
    ctx: &EvalContext,
    limits: &Limits,
    taken: &mut u64,
) -> Result<Evaluated, LimitError> {
    let mut machine = Machine::new(ctx.now, limits.clone());
    let value = machine.run(program, scope, input);
    *taken = machine.taken();
    Ok(Evaluated { value: value?, notes: machine.into_notes() })
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// When the text is no expression, or nested or long beyond the bounds.
    pub fn compile(source: &str, dialect: Dialect) -> Result<Self, SyntaxError> {
        Self::compile_with(source, &Options { dialect, ..Options::default() })
    }

    /// Compiles an expression whose names of several words are declared.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile_with(source: &str, options: &Options) -> Result<Self, SyntaxError> {
        Self::compile_typed(source, options, &Types::default())
    }

    /// Compiles an expression over declared names and types, which `instance of` and parameters may name.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile_typed(source: &str, options: &Options, types: &Types) -> Result<Self, SyntaxError> {
        syntax::expression(source, options, types).map(|program| Self { program: Arc::new(program) })
    }

    /// The text as given.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.program.source
    }

    /// Whether it defines functions in another language (`function(...) external {...}`), which are not carried out.
    #[must_use]
    pub fn has_externals(&self) -> bool {
        self.program.definitions.iter().any(|definition| self.program.is_external(definition))
    }

    /// Evaluates within the default limits.
    ///
    /// # Errors
    /// When a limit is exceeded; nothing else fails.
    pub fn evaluate(&self, scope: &dyn Scope, ctx: &EvalContext) -> Result<Evaluated, LimitError> {
        evaluate(&self.program, scope, None, ctx, &Limits::DEFAULT)
    }

    /// Evaluates within these limits.
    ///
    /// # Errors
    /// When a limit is exceeded; nothing else fails.
    pub fn evaluate_within(
        &self,
        scope: &dyn Scope,
        ctx: &EvalContext,
        limits: &Limits,
    ) -> Result<Evaluated, LimitError> {
        evaluate(&self.program, scope, None, ctx, limits)
    }

    /// Evaluates within the default limits and a budget that other evaluations share.
    ///
    /// # Errors
    /// When a limit or the budget is exceeded; nothing else fails.
    pub fn evaluate_on(
        &self,
        scope: &dyn Scope,
        ctx: &EvalContext,
        budget: &StepBudget,
    ) -> Result<Evaluated, LimitError> {
        let quick = quick::steps(&self.program);
        if budget.left() >= u64::from(quick)
            && let Some(value) = quick::whole(&self.program, scope, None)
        {
            budget.charge(u64::from(quick))?;
            return Ok(Evaluated { value, notes: Vec::new() });
        }
        budget.within(&Limits::DEFAULT, |limits, taken| {
            evaluate_any(&self.program, scope, None, ctx, limits, taken)
        })
    }
}

impl UnaryTests {
    /// Compiles unary tests (grammar rule 12): `-`, tests by commas, or `not(...)` of them. `?` names the input.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile(source: &str, dialect: Dialect) -> Result<Self, SyntaxError> {
        Self::compile_with(source, &Options { dialect, ..Options::default() })
    }

    /// Compiles unary tests over declared names.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile_with(source: &str, options: &Options) -> Result<Self, SyntaxError> {
        Self::compile_typed(source, options, &Types::default())
    }

    /// Compiles unary tests over declared names and types.
    ///
    /// # Errors
    /// As [`Expression::compile`].
    pub fn compile_typed(source: &str, options: &Options, types: &Types) -> Result<Self, SyntaxError> {
        syntax::unary_tests(source, options, types).map(|program| Self { program: Arc::new(program) })
    }

    /// The text as given.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.program.source
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the input passes: true, false or null.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn evaluate(
        &self,
        input: &Value,
        scope: &dyn Scope,
        ctx: &EvalContext,
    ) -> Result<Evaluated, LimitError> {
        evaluate(&self.program, scope, Some(input), ctx, &Limits::DEFAULT)
    }

    /// Whether the input passes, decided within these limits.
    ///
    /// # Errors
    /// When a limit is exceeded.
    pub fn evaluate_within(
        &self,
        input: &Value,
        scope: &dyn Scope,
        ctx: &EvalContext,
        limits: &Limits,
    ) -> Result<Evaluated, LimitError> {
        evaluate(&self.program, scope, Some(input), ctx, limits)
    }
}

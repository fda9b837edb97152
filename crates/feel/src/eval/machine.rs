//! What all activations of one evaluation share: its limits, its notes, the present time.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use heddle_kernel::Timestamp;

use super::{Evaluator, types};
use crate::builtins::{self, Args};
use crate::function::{Closure, Function, Host, Kind};
use crate::program::{Node, Program};
use crate::scope::{Ref, Scope};
use crate::value::MAX_VALUE_DEPTH;
use crate::value::number::NumberError;
use crate::{LimitError, Limits, Note, Value};

/// Why there is no value.
pub(crate) enum Failure {
    Limit(LimitError),
    /// The result is null for this reason.
    Null(Cow<'static, str>),
}

pub(crate) type Outcome<T = Value> = Result<T, Failure>;

/// Null for a reason.
pub(crate) fn null<T>(reason: impl Into<Cow<'static, str>>) -> Outcome<T> {
    Err(Failure::Null(reason.into()))
}

impl From<LimitError> for Failure {
    fn from(limit: LimitError) -> Self {
        Self::Limit(limit)
    }
}

impl From<NumberError> for Failure {
    fn from(error: NumberError) -> Self {
        match error {
            NumberError::Overflow => Self::Limit(LimitError::Exponent),
            NumberError::Undefined => Self::Null("the operation has no result for these numbers".into()),
        }
    }
}

pub(crate) struct Machine {
    left: u64,
    /// Steps until the cancel flag is looked at again.
    unwatched: u32,
    depth: u32,
    quiet: u32,
    limits: Limits,
    now: Timestamp,
    notes: Vec<Note>,
    /// What the program around FEEL keeps with the evaluation.
    pub extension: Option<Box<dyn std::any::Any>>,
}

impl Machine {
    pub const fn new(now: Timestamp, limits: Limits) -> Self {
        Self {
            left: limits.steps,
            unwatched: 0,
            depth: 0,
            quiet: 0,
            limits,
            now,
            notes: Vec::new(),
            extension: None,
        }
    }

    pub fn into_notes(self) -> Vec<Note> {
        self.notes
    }

    pub const fn notes(&mut self) -> &mut Vec<Note> {
        &mut self.notes
    }

    pub const fn now(&self) -> Timestamp {
        self.now
    }

    #[inline]
    pub fn enter(&mut self) -> Result<(), LimitError> {
        if self.depth >= self.limits.depth {
            return Err(LimitError::Depth(self.limits.depth));
        }
        self.depth += 1;
        self.charge(1)
    }

    #[inline]
    pub const fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Goes down several levels at once.
    #[inline]
    pub fn enter_levels(&mut self, levels: u32) -> Result<(), LimitError> {
        if self.limits.depth.saturating_sub(self.depth) < levels {
            return Err(LimitError::Depth(self.limits.depth));
        }
        self.depth += levels;
        self.charge(u64::from(levels))
    }

    #[inline]
    pub const fn leave_levels(&mut self, levels: u32) {
        self.depth -= levels;
    }

    /// Counts steps.
    #[inline]
    pub fn charge(&mut self, steps: u64) -> Result<(), LimitError> {
        if self.left < steps {
            return Err(LimitError::Steps(self.limits.steps));
        }
        self.left -= steps;
        if self.unwatched == 0 {
            self.unwatched = 1024;
            if self.limits.cancel.as_ref().is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                return Err(LimitError::Cancelled);
            }
        }
        self.unwatched -= 1;
        Ok(())
    }

    /// The error of too many steps, for work that is bounded otherwise.
    pub const fn exhausted(&self) -> LimitError {
        LimitError::Steps(self.limits.steps)
    }

    pub const fn string_size(&self) -> usize {
        self.limits.string_size
    }

    /// Checks that a list of that many items may be made.
    pub fn room(&mut self, items: usize) -> Result<(), LimitError> {
        if items > self.limits.list_size { Err(LimitError::ListSize(self.limits.list_size)) } else { Ok(()) }
    }

    /// Checks that a string of that many bytes may be made, and counts the work.
    pub fn text(&mut self, bytes: usize) -> Result<(), LimitError> {
        if bytes > self.limits.string_size {
            return Err(LimitError::StringSize(self.limits.string_size));
        }
        self.charge(bytes as u64 / 32)
    }

    /// The value, which is the evaluation's own from here on. Converting JSON is counted as work.
    pub fn own(&mut self, value: Ref<'_>) -> Result<Value, LimitError> {
        let is_json = matches!(value, Ref::Json(_));
        let value = value.into_value();
        if is_json {
            self.charge(u64::from(value.weight()))?;
        }
        if value.depth() > MAX_VALUE_DEPTH {
            return Err(LimitError::Depth(MAX_VALUE_DEPTH));
        }
        Ok(value)
    }

    /// Lets a new value in when it is neither too large nor too deep.
    #[inline]
    pub fn admit(&mut self, value: Value) -> Result<Value, LimitError> {
        self.check(&value)?;
        Ok(value)
    }

    /// Checks that a new value is neither too large nor too deep.
    #[inline]
    fn check(&mut self, value: &Value) -> Result<(), LimitError> {
        match value {
            Value::String(text) => self.text(text.len()),
            Value::List(_) | Value::Context(_) | Value::Function(_) => self.admit_compound(value),
            _ => Ok(()),
        }
    }

    fn admit_compound(&mut self, value: &Value) -> Result<(), LimitError> {
        let len = match value {
            Value::List(list) => list.len(),
            Value::Context(context) => context.len(),
            _ => 0,
        };
        self.room(len)?;
        self.room(value.weight() as usize / 4)?;
        if value.depth() > MAX_VALUE_DEPTH {
            return Err(LimitError::Depth(MAX_VALUE_DEPTH));
        }
        self.charge(len as u64 / 4)
    }

    /// Records a reason, unless enough have been or nobody wants to know.
    pub fn note(&mut self, offset: u32, reason: impl FnOnce() -> String) {
        if self.quiet == 0 && self.notes.len() < self.limits.notes {
            self.notes.push(Note { message: reason(), offset: offset as usize });
        }
    }

    /// How many reasons have been recorded.
    pub const fn noted(&self) -> usize {
        self.notes.len()
    }

    /// Does something whose notes don't matter.
    pub fn quiet(&mut self, on: bool) {
        self.quiet = if on { self.quiet + 1 } else { self.quiet.saturating_sub(1) };
    }

    /// Evaluates a whole program; `input` is that of unary tests.
    pub fn run(
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

    /// Calls a function with arguments in order.
    pub fn call(&mut self, function: &Function, arguments: Vec<Value>, at: u32) -> Result<Value, LimitError> {
        match &function.0 {
            Kind::Builtin(builtin) => self.call_builtin(*builtin, arguments, at),
            Kind::Closure(closure) => self.call_closure(closure, arguments, at),
            Kind::Host(host) => {
                if arguments.len() != host.parameters().len() {
                    self.note(at, || format!("the function takes {} arguments", host.parameters().len()));
                    return Ok(Value::Null);
                }
                self.enter()?;
                let outcome = host.call(arguments, &mut Host(self));
                self.leave();
                if let Ok(value) = &outcome {
                    self.check(value)?;
                }
                outcome
            }
        }
    }

    /// Calls a function with arguments by name; those of a built-in function choose among its signatures.
    pub fn call_named(
        &mut self,
        function: &Function,
        named: Vec<(Arc<str>, Value)>,
        at: u32,
    ) -> Result<Value, LimitError> {
        let parameters = function.parameters();
        self.charge((parameters.len() * named.len()) as u64 + 1)?;
        if let Kind::Builtin(builtin) = &function.0 {
            let names: Vec<&str> = named.iter().map(|(name, _)| &**name).collect();
            let Some(places) = builtin.places(&names) else {
                self.note(at, || format!("{}() does not take these arguments", builtin.name()));
                return Ok(Value::Null);
            };
            let mut values = vec![None; places.iter().max().map_or(0, |last| last + 1)];
            for (place, (_, value)) in places.into_iter().zip(named) {
                if let Some(slot) = values.get_mut(place) {
                    *slot = Some(value);
                }
            }
            return self.settle_builtin(*builtin, Args::new(values, true, builtins::no_program(), at));
        }
        let count = named.len();
        let mut values: Vec<Option<Value>> = vec![None; parameters.len()];
        for (name, value) in named {
            match parameters.iter().position(|known| *known == name).and_then(|at| values.get_mut(at)) {
                Some(slot) => *slot = Some(value),
                None => {
                    self.note(at, || format!("the function has no parameter `{name}`"));
                    return Ok(Value::Null);
                }
            }
        }
        if count != parameters.len() || values.iter().any(Option::is_none) {
            self.note(at, || format!("the function takes {} arguments", parameters.len()));
            return Ok(Value::Null);
        }
        self.call(function, values.into_iter().flatten().collect(), at)
    }

    fn call_builtin(
        &mut self,
        builtin: builtins::Builtin,
        arguments: Vec<Value>,
        at: u32,
    ) -> Result<Value, LimitError> {
        if !builtin.accepts(arguments.len()) {
            self.note(at, || format!("{}() does not take these arguments", builtin.name()));
            return Ok(Value::Null);
        }
        let program = builtins::no_program();
        let arguments = Args::new(arguments.into_iter().map(Some).collect(), false, program, at);
        self.settle_builtin(builtin, arguments)
    }

    fn settle_builtin(
        &mut self,
        builtin: builtins::Builtin,
        arguments: Args<'_>,
    ) -> Result<Value, LimitError> {
        let at = arguments.at;
        match builtins::call(builtin, self, arguments) {
            Ok(value) => self.admit(value),
            Err(Failure::Limit(limit)) => Err(limit),
            Err(Failure::Null(reason)) => {
                self.note(at, || reason.into_owned());
                Ok(Value::Null)
            }
        }
    }

    fn call_closure(
        &mut self,
        closure: &Arc<Closure>,
        arguments: Vec<Value>,
        at: u32,
    ) -> Result<Value, LimitError> {
        let Some(definition) = closure.definition() else { return Ok(Value::Null) };
        if arguments.len() != definition.parameters.len() {
            self.note(at, || format!("the function takes {} arguments", definition.parameters.len()));
            return Ok(Value::Null);
        }
        self.charge(u64::from(definition.slots) + 3)?;
        let mut locals: Vec<Option<Ref<'_>>> = vec![None; definition.slots as usize];
        let own = Value::Function(Function(Kind::Closure(closure.clone())));
        let slot = definition.self_slot as usize;
        if let Some(local) = locals.get_mut(slot) {
            *local = Some(Ref::Owned(own));
        }
        for ((argument, parameter), local) in
            arguments.into_iter().zip(&definition.parameters).zip(locals.iter_mut().skip(slot + 1))
        {
            let kind = parameter.kind.and_then(|kind| closure.program.types.get(kind as usize));
            if kind.is_some() {
                self.charge(u64::from(argument.weight()))?;
            }
            let Some(value) = types::coerce(argument, kind, &closure.program.declared) else {
                self.note(at, || format!("the argument `{}` is not of the parameter's type", parameter.name));
                return Ok(Value::Null);
            };
            *local = Some(Ref::Owned(value));
        }
        for (value, (_, slot)) in closure.captured.iter().zip(&definition.captures) {
            if let Some(local) = locals.get_mut(*slot as usize) {
                *local = value.as_ref().map(Ref::Borrowed);
            }
        }
        let mut evaluator = Evaluator {
            program: &closure.program,
            shared: &closure.program,
            scope: &(),
            machine: self,
            locals,
        };
        evaluator.value(definition.body)
    }
}

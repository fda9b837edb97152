//! Calls of function values, wherever they come from.

use std::sync::Arc;

use super::{Args, call};
use crate::catalog::Builtin;
use crate::error::LimitError;
use crate::machine::Machine;
use crate::pattern::Patterns;
use crate::value::Value;
use crate::value::function::{Function, Host, Kind};
use crate::value::outcome::{Failure, Outcome};

/// Patterns of calls that stand in no text, such as one of a function handed to `sort`.
static NO_PROGRAM: Patterns = Patterns::new();

impl Machine {
    /// Calls a function with arguments in order.
    pub(crate) fn call(
        &mut self,
        function: &Function,
        arguments: Vec<Value>,
        at: u32,
    ) -> Result<Value, LimitError> {
        match &function.0 {
            Kind::Builtin(builtin) => self.call_builtin(*builtin, arguments, at),
            Kind::Defined(defined) => defined.call(function, arguments, at, self),
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
    pub(crate) fn call_named(
        &mut self,
        function: &Function,
        named: Vec<(Arc<str>, Value)>,
        at: u32,
    ) -> Result<Value, LimitError> {
        let parameters = function.parameters();
        self.charge((parameters.len() * named.len()) as u64 + 1)?;
        if let Kind::Builtin(builtin) = &function.0 {
            return self.call_builtin_named(*builtin, named, at);
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

    fn call_builtin_named(
        &mut self,
        builtin: Builtin,
        named: Vec<(Arc<str>, Value)>,
        at: u32,
    ) -> Result<Value, LimitError> {
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
        let outcome = call(builtin, self, &Args::new(values, true, &NO_PROGRAM, at));
        self.settled(outcome, at)
    }

    fn call_builtin(
        &mut self,
        builtin: Builtin,
        arguments: Vec<Value>,
        at: u32,
    ) -> Result<Value, LimitError> {
        if !builtin.accepts(arguments.len()) {
            self.note(at, || format!("{}() does not take these arguments", builtin.name()));
            return Ok(Value::Null);
        }
        let arguments = arguments.into_iter().map(Some).collect();
        let outcome = call(builtin, self, &Args::new(arguments, false, &NO_PROGRAM, at));
        self.settled(outcome, at)
    }

    /// The value of an outcome: null, with a note, where there is none.
    pub(crate) fn settled(&mut self, outcome: Outcome, at: u32) -> Result<Value, LimitError> {
        match outcome {
            Ok(value) => self.admit(value),
            Err(Failure::Limit(limit)) => Err(limit),
            Err(Failure::Null(reason)) => {
                self.note(at, || reason.into_owned());
                Ok(Value::Null)
            }
        }
    }
}

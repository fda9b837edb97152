//! Functions defined in expressions.

use std::sync::Arc;

use super::{Evaluator, types};
use crate::error::LimitError;
use crate::machine::Machine;
use crate::program::{Definition, Node, Parameter, Program};
use crate::scope::Ref;
use crate::types::Type;
use crate::value::Value;
use crate::value::function::{Callable, Function};

/// Function definition with what it saw where it was evaluated.
#[derive(Debug)]
pub(super) struct Closure {
    pub(super) program: Arc<Program>,
    pub(super) definition: u32,
    pub(super) captured: Vec<Option<Value>>,
    pub(super) depth: u32,
}

impl Closure {
    fn definition(&self) -> Option<&Definition> {
        self.program.definitions.get(self.definition as usize)
    }

    fn declared(&self) -> &[Parameter] {
        self.definition().map_or(&[], |definition| &definition.parameters)
    }
}

impl Callable for Closure {
    fn parameters(&self) -> Vec<Arc<str>> {
        self.declared().iter().map(|parameter| parameter.name.clone()).collect()
    }

    fn parameter_types(&self) -> Vec<Option<&Type>> {
        let kind = |kind: u32| self.program.types.get(kind as usize);
        self.declared().iter().map(|parameter| parameter.kind.and_then(kind)).collect()
    }

    fn literal_type(&self) -> Option<Type> {
        match self.program.node(self.definition()?.body) {
            Node::Boolean(_) => Some(Type::Boolean),
            Node::Const(at) => types::scalar(self.program.constants.get(at as usize)?),
            _ => None,
        }
    }

    fn depth(&self) -> u32 {
        self.depth
    }

    fn is_external(&self) -> bool {
        self.definition().is_some_and(|definition| self.program.is_external(definition))
    }

    fn call(
        &self,
        own: &Function,
        arguments: Vec<Value>,
        at: u32,
        machine: &mut Machine,
    ) -> Result<Value, LimitError> {
        let Some(definition) = self.definition() else { return Ok(Value::Null) };
        if arguments.len() != definition.parameters.len() {
            machine.note(at, || format!("the function takes {} arguments", definition.parameters.len()));
            return Ok(Value::Null);
        }
        machine.charge(u64::from(definition.slots) + 3)?;
        let mut locals: Vec<Option<Ref<'_>>> = vec![None; definition.slots as usize];
        let slot = definition.self_slot as usize;
        if let Some(local) = locals.get_mut(slot) {
            *local = Some(Ref::Owned(Value::Function(own.clone())));
        }
        for ((argument, parameter), local) in
            arguments.into_iter().zip(&definition.parameters).zip(locals.iter_mut().skip(slot + 1))
        {
            let kind = parameter.kind.and_then(|kind| self.program.types.get(kind as usize));
            if kind.is_some() {
                machine.charge(u64::from(argument.weight()))?;
            }
            let Some(value) = types::coerce(argument, kind, &self.program.declared) else {
                machine
                    .note(at, || format!("the argument `{}` is not of the parameter's type", parameter.name));
                return Ok(Value::Null);
            };
            *local = Some(Ref::Owned(value));
        }
        for (value, (_, slot)) in self.captured.iter().zip(&definition.captures) {
            if let Some(local) = locals.get_mut(*slot as usize) {
                *local = value.as_ref().map(Ref::Borrowed);
            }
        }
        let mut evaluator =
            Evaluator { program: &self.program, shared: &self.program, scope: &(), machine, locals };
        evaluator.value(definition.body)
    }
}

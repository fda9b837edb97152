//! Values that can be called.

use std::fmt;
use std::sync::Arc;

use crate::builtins::Builtin;
use crate::eval::Machine;
use crate::program::Program;
use crate::scope::Scope;
use crate::types::Signature;
use crate::value::Value;
use crate::{Expression, LimitError};

/// A function value: built in, defined in an expression, or given by the program around it.
#[derive(Clone)]
pub struct Function(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Builtin(Builtin),
    Closure(Arc<Closure>),
    Host(Arc<dyn HostFunction>),
}

/// A function definition with what it saw where it was evaluated.
pub(crate) struct Closure {
    pub program: Arc<Program>,
    pub definition: u32,
    pub captured: Vec<Option<Value>>,
    pub depth: u32,
}

/// A function that the program around FEEL gives, such as a business knowledge model.
pub trait HostFunction: Send + Sync {
    /// The parameters' names, in the order of positional arguments.
    fn parameters(&self) -> &[Arc<str>];

    /// The parameters' types and the result's, `Any` where nothing is declared; none when nothing is known of them.
    fn signature(&self) -> Option<Signature> {
        None
    }

    /// The result for arguments in the order of the parameters, as many as these.
    ///
    /// # Errors
    /// When an evaluation within it exceeds the limits.
    fn call(&self, arguments: Vec<Value>, host: &mut Host<'_>) -> Result<Value, LimitError>;
}

/// What a [`HostFunction`] can do within the evaluation that calls it: its steps and notes count as the caller's.
pub struct Host<'m>(pub(crate) &'m mut Machine);

impl Host<'_> {
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

    /// What [`Host::open`] was given for functions to find.
    pub fn extension<T: 'static>(&mut self) -> Option<&mut T> {
        self.0.extension.as_mut()?.downcast_mut()
    }

    /// Records why a result is null.
    pub fn note(&mut self, reason: impl Into<String>) {
        self.0.note(0, || reason.into());
    }
}

impl Function {
    /// A function of the program around FEEL.
    #[must_use]
    pub fn host(function: Arc<dyn HostFunction>) -> Self {
        Self(Kind::Host(function))
    }

    /// The parameters' names; of a built-in function those of its first signature.
    #[must_use]
    pub fn parameters(&self) -> Vec<Arc<str>> {
        match &self.0 {
            Kind::Builtin(builtin) => builtin.parameters().iter().map(|&name| Arc::from(name)).collect(),
            Kind::Closure(closure) => closure
                .definition()
                .map(|d| d.parameters.iter().map(|p| p.name.clone()).collect())
                .unwrap_or_default(),
            Kind::Host(host) => host.parameters().to_vec(),
        }
    }

    /// The parameters' names without copying them; of functions of the program around FEEL only.
    #[must_use]
    pub fn host_parameters(&self) -> Option<&[Arc<str>]> {
        match &self.0 {
            Kind::Host(host) => Some(host.parameters()),
            _ => None,
        }
    }

    /// Whether FEEL has a function of its own of that name.
    #[must_use]
    pub fn is_builtin_name(name: &str) -> bool {
        Builtin::named(name, crate::Dialect::Heddle).is_some()
    }

    /// Whether it is one of FEEL's own functions.
    #[must_use]
    pub const fn is_builtin(&self) -> bool {
        matches!(self.0, Kind::Builtin(_))
    }

    pub(crate) fn depth(&self) -> u32 {
        match &self.0 {
            Kind::Closure(closure) => closure.depth,
            _ => 0,
        }
    }

    /// Whether it is written in another language (`function(...) external {...}`), which is not carried out.
    #[must_use]
    pub fn is_external(&self) -> bool {
        let Kind::Closure(closure) = &self.0 else { return false };
        closure.definition().is_some_and(|definition| closure.program.is_external(definition))
    }

    /// Whether both are one function.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Builtin(a), Kind::Builtin(b)) => a == b,
            (Kind::Closure(a), Kind::Closure(b)) => Arc::ptr_eq(a, b),
            (Kind::Host(a), Kind::Host(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl Closure {
    pub(crate) fn definition(&self) -> Option<&crate::program::Definition> {
        self.program.definitions.get(self.definition as usize)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function({})", self.parameters().join(", "))
    }
}

//! Values that can be called.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::Value;
use crate::catalog::{Builtin, Dialect};
use crate::error::LimitError;
use crate::machine::Machine;
use crate::types::{Signature, Type};

/// A function value: built in, defined in an expression, or given by the program around it.
#[derive(Clone)]
pub struct Function(pub(crate) Kind);

/// Origin of a function.
#[derive(Clone)]
pub(crate) enum Kind {
    /// One of FEEL's own.
    Builtin(Builtin),
    /// Defined in an expression.
    Defined(Arc<dyn Callable>),
    /// Given by the program around FEEL.
    Host(Arc<dyn HostFunction>),
}

/// Function defined in an expression, with what it saw where it was evaluated. Only the evaluator knows more of it.
pub(crate) trait Callable: Send + Sync {
    /// The parameters' names.
    fn parameters(&self) -> Vec<Arc<str>>;

    /// The parameters' types, where they are declared.
    fn parameter_types(&self) -> Vec<Option<&Type>>;

    /// The type of a body that is a literal; any other is not known before it is evaluated.
    fn literal_type(&self) -> Option<Type>;

    /// Levels of values within what it captured.
    fn depth(&self) -> u32;

    /// Whether it is written in another language.
    fn is_external(&self) -> bool;

    /// Calls it with arguments in order; `own` is the function itself as a value.
    fn call(
        &self,
        own: &Function,
        arguments: Vec<Value>,
        at: u32,
        machine: &mut Machine,
    ) -> Result<Value, LimitError>;
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

/// Evaluation that calls a [`HostFunction`], and what the function can do within it: its steps and notes count as the caller's.
#[derive(Debug)]
pub struct Host<'m>(pub(crate) &'m mut Machine);

impl Host<'_> {
    /// The extension that [`Host::open`] was given for functions to find.
    pub fn extension<T: 'static>(&mut self) -> Option<&mut T> {
        let extension: &mut Box<dyn Any> = self.0.extension.as_mut()?;
        extension.downcast_mut()
    }

    /// Adds a note of why a result is null.
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
            Kind::Defined(defined) => defined.parameters(),
            Kind::Host(host) => host.parameters().to_vec(),
        }
    }

    /// The parameters' names without copying them; of functions of the program around FEEL only.
    #[must_use]
    pub fn host_parameters(&self) -> Option<&[Arc<str>]> {
        match &self.0 {
            Kind::Host(host) => Some(host.parameters()),
            Kind::Builtin(_) | Kind::Defined(_) => None,
        }
    }

    /// Whether FEEL has a function of its own of that name.
    #[must_use]
    pub fn is_builtin_name(name: &str) -> bool {
        Builtin::named(name, Dialect::Heddle).is_some()
    }

    /// Whether it is one of FEEL's own functions.
    #[must_use]
    pub const fn is_builtin(&self) -> bool {
        matches!(self.0, Kind::Builtin(_))
    }

    pub(crate) fn depth(&self) -> u32 {
        match &self.0 {
            Kind::Defined(defined) => defined.depth(),
            Kind::Builtin(_) | Kind::Host(_) => 0,
        }
    }

    /// Whether it is written in another language (`function(...) external {...}`), which is not carried out.
    #[must_use]
    pub fn is_external(&self) -> bool {
        matches!(&self.0, Kind::Defined(defined) if defined.is_external())
    }

    /// Whether both are one function.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Builtin(a), Kind::Builtin(b)) => a == b,
            (Kind::Defined(a), Kind::Defined(b)) => Arc::ptr_eq(a, b),
            (Kind::Host(a), Kind::Host(b)) => Arc::ptr_eq(a, b),
            (Kind::Builtin(_) | Kind::Defined(_) | Kind::Host(_), _) => false,
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function({})", self.parameters().join(", "))
    }
}

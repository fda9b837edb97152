//! Types as they are written and declared (DMN 1.5, grammar rules 54 and 55; item definitions of clause 7.3.2).

use std::collections::HashMap;
use std::sync::Arc;

/// The parameters' types and the result's.
pub type Signature = (Vec<Type>, Box<Type>);

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `Any`: every value but null.
    Any,
    /// `Null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// `date`
    Date,
    /// `time`
    Time,
    /// `date and time`
    DateTime,
    /// `days and time duration`
    DaysAndTimeDuration,
    /// `years and months duration`
    YearsAndMonthsDuration,
    /// `list<T>`, or `list` of anything.
    List(Option<Box<Type>>),
    /// `context<name: T>`: at least these entries.
    Context(Vec<(Arc<str>, Type)>),
    /// `range<T>`, or `range` of anything.
    Range(Option<Box<Type>>),
    /// `function<T, ...> -> R`, or any function.
    Function(Option<Signature>),
    /// A declared type by its name.
    Named(Arc<str>),
}

/// Declared types by name, such as a model's item definitions. Cloning shares them; they may name each other.
#[derive(Debug, Clone, Default)]
pub struct Types(Arc<HashMap<Arc<str>, Type>>);

impl Types {
    /// The type of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Type> {
        self.0.get(name)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.keys()
    }

    /// The type once names of names are followed; none when the name is not declared or means only itself.
    #[must_use]
    pub fn resolve<'t>(&'t self, mut kind: &'t Type) -> Option<&'t Type> {
        // More names in a row than there are come back to one.
        for _ in 0..=self.0.len() {
            match kind {
                Type::Named(name) => kind = self.get(name)?,
                other => return Some(other),
            }
        }
        None
    }
}

impl<N: Into<Arc<str>>> FromIterator<(N, Type)> for Types {
    fn from_iter<I: IntoIterator<Item = (N, Type)>>(types: I) -> Self {
        Self(Arc::new(types.into_iter().map(|(name, kind)| (name.into(), kind)).collect()))
    }
}

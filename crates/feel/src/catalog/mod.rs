//! Catalog of the built-in functions (DMN 1.5, 10.3.4): their ids, names, signatures, results and costs.
//!
//! A row of the [table](table) is the whole of a built-in function. This module makes of it what reading and typing
//! need, and `builtins` the dispatch to the functions themselves.

mod signature;
mod table;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use signature::Signature;
pub(crate) use table::built_ins;

/// Dialect of FEEL: which functions and notations an expression may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// DMN 1.5 alone.
    #[default]
    Standard,
    /// DMN 1.5 and what users of workflow engines expect besides: `is defined(x)`, `get or else(x, y)`,
    /// names between backticks and further functions on strings, lists and contexts.
    Heddle,
}

/// Static type of a function's result, as far as it is known before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultType {
    Boolean,
    Number,
    String,
    Date,
    Time,
    DateTime,
    Months,
    Range,
    /// List of anything.
    List,
    /// List of strings.
    Strings,
    /// List of numbers.
    Numbers,
    /// List of what the first argument holds.
    Items,
    /// Item of what the first argument holds, or its kind when it is no list.
    Item,
    /// The first argument's type.
    Argument,
    /// Anything.
    Any,
}

/// Cost of a call, in steps counted before the function begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// None but what the function counts itself, since it knows better.
    Own,
    /// A number of steps.
    Steps(u32),
    /// The bytes of the first argument.
    Text,
    /// The bytes of the first argument, looked through for the second.
    Search,
    /// A comparison of every item of the list that is the first argument.
    Items,
    /// A look at every item of the only argument, or at every argument.
    Values,
}

/// Entry of the catalog as programs around FEEL see it, such as a statement of conformance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// Name.
    pub name: &'static str,
    /// The least dialect that has it.
    pub dialect: Dialect,
    /// Clause of DMN 1.5 that defines it; empty for one beyond the standard.
    pub clause: &'static str,
    /// Parameters in the ways in which it can be called: `?` marks what may be missing, `...` what may be repeated, and
    /// `-` a place that another name takes in this signature.
    pub signatures: &'static [&'static str],
    /// Description of what it gives; empty for one of the standard, which says so itself.
    pub gives: &'static str,
    /// Expression that calls it.
    pub example: &'static str,
    /// Expression of the value that the example has.
    pub value: &'static str,
}

macro_rules! ids {
    ($($dialect:ident $clause:literal {$(
        $(#[doc = $gives:literal])?
        $id:ident $name:literal [$($signature:literal),* $(,)?] -> $result:ident, $cost:ident $(($steps:literal))?,
            $module:ident::$function:ident, $example:literal => $value:literal;
    )*})*) => {
        /// Id of a built-in function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Builtin { $($($id,)*)* }

        const ALL: &[Builtin] = &[$($(Builtin::$id,)*)*];

        static SIGNATURES: LazyLock<Vec<Vec<Signature>>> =
            LazyLock::new(|| vec![$($(vec![$(Signature::of($signature)),*],)*)*]);

        impl Builtin {
            /// The entry of the catalog.
            const fn entry(self) -> &'static BuiltIn {
                match self {$($(
                    Self::$id => const { &BuiltIn {
                        name: $name,
                        dialect: Dialect::$dialect,
                        clause: $clause,
                        signatures: &[$($signature),*],
                        gives: concat!($($gives)?),
                        example: $example,
                        value: $value,
                    } },
                )*)*}
            }

            /// The static type of the result.
            pub(crate) const fn result(self) -> ResultType {
                match self { $($(Self::$id => ResultType::$result,)*)* }
            }

            /// The cost of a call.
            pub(crate) const fn cost(self) -> Cost {
                match self { $($(Self::$id => Cost::$cost $(($steps))?,)*)* }
            }
        }
    };
}

built_ins!(ids);

static BY_NAME: LazyLock<HashMap<&'static str, Builtin>> =
    LazyLock::new(|| ALL.iter().map(|builtin| (builtin.name(), *builtin)).collect());

static FIRST_WORDS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| ALL.iter().filter_map(|it| it.name().split_once(' ')).map(|(first, _)| first).collect());

/// The catalog of the built-in functions, in the order of the standard's clauses.
pub fn built_ins() -> impl Iterator<Item = &'static BuiltIn> {
    ALL.iter().map(|builtin| builtin.entry())
}

/// The names of the built-in functions of a dialect, in the order of the standard's clauses.
pub fn built_in_functions(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(move |builtin| builtin.is_in(dialect)).map(|builtin| builtin.name())
}

impl Builtin {
    /// The function of that name in the dialect.
    pub(crate) fn named(name: &str, dialect: Dialect) -> Option<Self> {
        BY_NAME.get(name).copied().filter(|builtin| builtin.is_in(dialect))
    }

    fn is_in(self, dialect: Dialect) -> bool {
        match self.entry().dialect {
            Dialect::Standard => true,
            Dialect::Heddle => dialect == Dialect::Heddle,
        }
    }

    /// Whether a name of several words begins with this one.
    pub(crate) fn begins_long_name(word: &str) -> bool {
        FIRST_WORDS.contains(word)
    }

    pub(crate) const fn name(self) -> &'static str {
        self.entry().name
    }

    fn signatures(self) -> &'static [Signature] {
        SIGNATURES.get(self as usize).map_or(&[], Vec::as_slice)
    }

    /// The parameters of the first signature.
    pub(crate) fn parameters(self) -> &'static [&'static str] {
        self.signatures().first().map_or(&[], |signature| &signature.names)
    }

    /// Whether so many arguments in order fit one of the signatures.
    pub(crate) fn accepts(self, count: usize) -> bool {
        self.signatures().iter().any(|signature| signature.accepts(count))
    }

    /// The places of arguments of these names in the first signature that takes them.
    pub(crate) fn places(self, names: &[&str]) -> Option<Vec<usize>> {
        self.signatures().iter().find_map(|signature| signature.places(names))
    }
}

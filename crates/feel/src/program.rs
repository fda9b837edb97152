//! Programs, the compiled form of expressions: nodes in one array, variables as slots, names and constants in tables.

use std::sync::Arc;

use crate::catalog::Builtin;
use crate::pattern::Patterns;
use crate::types::{Type, Types};
use crate::value::Value;

pub(crate) type NodeId = u32;

/// Mark in place of a node: none given.
pub(crate) const NONE: NodeId = u32::MAX;

/// Reason why the body of a function in another language is null.
pub(crate) const EXTERNAL: &str = "external functions are not evaluated";

/// A run of [`Program::extra`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub start: u32,
    pub len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Pow,
}

/// Strategy of evaluating a tree of operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    Plain,
    /// The upper part of a chain of operators that is too long to evaluate by recursion.
    Long,
    /// A few operators over variables, members and literals.
    Quick,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Const(u32),
    /// Null for a reason known when compiled: names\[0\].
    Invalid(u32),
    Local(u32),
    Global(u32),
    /// A name within filters: `name, fallback node, slots of the items innermost first`.
    Member(Run),
    Path {
        base: NodeId,
        name: u32,
    },
    Binary {
        op: Op,
        strategy: Strategy,
        left: NodeId,
        right: NodeId,
    },
    Negate(NodeId),
    Between {
        value: NodeId,
        low: NodeId,
        high: NodeId,
    },
    In {
        value: NodeId,
        tests: Run,
    },
    If {
        condition: NodeId,
        yes: NodeId,
        no: NodeId,
    },
    /// `result, slot of partial, then per iterator: slot, first, last` (`last` is NONE for a list).
    For(Run),
    /// `condition, then iterators as in For`.
    Some(Run),
    Every(Run),
    Filter {
        base: NodeId,
        body: NodeId,
        slot: u32,
    },
    List(Run),
    /// `name, node, slot` per entry.
    Context(Run),
    Range {
        low: NodeId,
        high: NodeId,
        low_included: bool,
        high_included: bool,
    },
    /// `(< 5)`: outside of tests the range of what passes.
    Test {
        op: Op,
        end: NodeId,
    },
    Function(u32),
    Builtin {
        builtin: Builtin,
        named: bool,
        arguments: Run,
    },
    /// `callee, arguments`.
    Call(Run),
    /// `callee, then name and argument by turns`.
    CallNamed(Run),
    /// A call of a built-in function by a name that a variable has too: of the variable when it is a function.
    CallEither {
        callee: NodeId,
        call: NodeId,
        builtin: NodeId,
    },
    InstanceOf {
        value: NodeId,
        kind: u32,
    },
    /// `node, whether it names the input` per test; the input is in slot 0.
    UnaryTests {
        tests: Run,
        negated: bool,
    },
    IsDefined(NodeId),
}

/// Source of an outer value of a function's body when the function is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Local(u32),
    Global(u32),
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub name: Arc<str>,
    pub kind: Option<u32>,
}

#[derive(Debug)]
pub(crate) struct Definition {
    pub parameters: Vec<Parameter>,
    pub body: NodeId,
    /// The slot in which the function finds itself; the parameters' slots follow it.
    pub self_slot: u32,
    pub captures: Vec<(Source, u32)>,
    pub slots: u32,
}

/// A compiled expression or set of unary tests.
#[derive(Debug)]
pub(crate) struct Program {
    pub source: Arc<str>,
    pub nodes: Vec<Node>,
    pub offsets: Vec<u32>,
    pub extra: Vec<u32>,
    pub constants: Vec<Value>,
    pub names: Vec<Arc<str>>,
    pub definitions: Vec<Definition>,
    pub types: Vec<Type>,
    /// The declared types that [`Type::Named`] means.
    pub declared: Types,
    pub root: NodeId,
    pub slots: u32,
    /// Regular expressions that its evaluations have compiled.
    pub patterns: Patterns,
}

impl Program {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or(Node::Null)
    }

    /// Whether a function is written in another language.
    pub(crate) fn is_external(&self, definition: &Definition) -> bool {
        matches!(self.node(definition.body), Node::Invalid(reason) if **self.name(reason) == *EXTERNAL)
    }

    pub(crate) fn run(&self, run: Run) -> &[u32] {
        self.extra.get(run.start as usize..(run.start + run.len) as usize).unwrap_or_default()
    }

    pub(crate) fn name(&self, id: u32) -> &Arc<str> {
        static EMPTY: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| Arc::from(""));
        self.names.get(id as usize).unwrap_or(&EMPTY)
    }

    pub(crate) fn offset(&self, id: NodeId) -> u32 {
        self.offsets.get(id as usize).copied().unwrap_or(0)
    }
}

//! Inspection of what an expression names and whether it is constant.

use std::sync::Arc;

use crate::eval::Evaluator;
use crate::expression::{Expression, UnaryTests};
use crate::limits::Limits;
use crate::machine::Machine;
use crate::program::{Node, NodeId, Program, Source};
use crate::types::Type;
use crate::value::Value;

/// The names that a program takes from its scope, each as often as it stands there; built-in functions are among
/// them when they are not called at once.
fn globals(program: &Program) -> impl Iterator<Item = &str> {
    let read = program.nodes.iter().filter_map(|node| match node {
        Node::Global(name) => Some(&**program.name(*name)),
        _ => None,
    });
    let captured = program.definitions.iter().flat_map(|definition| &definition.captures);
    let captured = captured.filter_map(|(source, _)| match source {
        Source::Global(name) => Some(&**program.name(*name)),
        Source::Local(_) => None,
    });
    read.chain(captured)
}

/// Whether nothing but the program itself decides its value.
fn is_closed(program: &Program) -> bool {
    let open = |node: &Node| match node {
        Node::Global(_) | Node::Member(_) | Node::Call(_) | Node::CallNamed(_) | Node::CallEither { .. } => {
            true
        }
        Node::Function(_) => true,
        Node::Null
        | Node::Boolean(_)
        | Node::Const(_)
        | Node::Invalid(_)
        | Node::Local(_)
        | Node::Path { .. }
        | Node::Binary { .. }
        | Node::Negate(_)
        | Node::Between { .. }
        | Node::In { .. }
        | Node::If { .. }
        | Node::For(_)
        | Node::Some(_)
        | Node::Every(_)
        | Node::Filter { .. }
        | Node::List(_)
        | Node::Builtin { .. }
        | Node::Context(_)
        | Node::Range { .. }
        | Node::Test { .. }
        | Node::InstanceOf { .. }
        | Node::UnaryTests { .. }
        | Node::IsDefined(_) => false,
    };
    !program.nodes.iter().any(open)
}

/// The value of a part of a closed program, when it needs little work, does not depend on the present time and has no
/// reason to be null.
fn fold(program: &Arc<Program>, id: NodeId) -> Option<Value> {
    let limits = Limits { steps: 1000, depth: 40, list_size: 1000, string_size: 4096, ..Limits::default() };
    let mut machine = Machine::new(heddle_kernel::Timestamp::from_micros(0), limits);
    let locals = vec![None; program.slots as usize];
    let mut evaluator = Evaluator { program, shared: program, scope: &(), machine: &mut machine, locals };
    let value = evaluator.eval(id).ok()?.into_value();
    (!machine.is_dated() && machine.notes().is_empty()).then_some(value)
}

fn resolve(kind: &mut Type, named: &dyn Fn(&str) -> Option<Type>) {
    match kind {
        Type::Named(name) => {
            if let Some(known) = named(name) {
                *kind = known;
            }
        }
        Type::List(Some(inner)) | Type::Range(Some(inner)) => resolve(inner, named),
        Type::Context(members) => members.iter_mut().for_each(|(_, inner)| resolve(inner, named)),
        Type::Function(Some((parameters, result))) => {
            parameters.iter_mut().for_each(|inner| resolve(inner, named));
            resolve(result, named);
        }
        _ => {}
    }
}

fn resolve_types(program: &mut Arc<Program>, named: &dyn Fn(&str) -> Option<Type>) {
    if program.types.is_empty() {
        return;
    }
    if let Some(program) = Arc::get_mut(program) {
        program.types.iter_mut().for_each(|kind| resolve(kind, named));
    }
}

/// The names of types that declarations around have to explain.
fn type_names(program: &Program) -> Vec<String> {
    let mut names = Vec::new();
    let mut left: Vec<&Type> = program.types.iter().collect();
    while let Some(kind) = left.pop() {
        match kind {
            Type::Named(name) => names.push(name.to_string()),
            Type::List(Some(inner)) | Type::Range(Some(inner)) => left.push(inner),
            Type::Context(members) => left.extend(members.iter().map(|(_, inner)| inner)),
            Type::Function(Some((parameters, result))) => {
                left.extend(parameters);
                left.push(result);
            }
            _ => {}
        }
    }
    names
}

impl Expression {
    /// The names of types in it that the standard does not define.
    #[must_use]
    pub fn type_names(&self) -> Vec<String> {
        type_names(&self.program)
    }

    /// The names taken from the scope, with repetitions.
    pub fn globals(&self) -> impl Iterator<Item = &str> {
        globals(&self.program)
    }

    /// The variable's name, when the expression is nothing but a variable.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        match self.program.node(self.program.root) {
            Node::Global(name) => Some(self.program.name(name)),
            _ => None,
        }
    }

    /// The value, when nothing but the text decides it.
    #[must_use]
    pub fn constant(&self) -> Option<Value> {
        is_closed(&self.program).then(|| fold(&self.program, self.program.root)).flatten()
    }

    /// The type named in the expression, when it names one only: a way to read a type's text.
    #[must_use]
    pub fn single_type(&self) -> Option<Type> {
        match self.program.types.as_slice() {
            [kind] => Some(kind.clone()),
            _ => None,
        }
    }

    /// Puts types in the place of their names; to be done before the expression is shared.
    pub fn resolve_types(&mut self, named: &dyn Fn(&str) -> Option<Type>) {
        resolve_types(&mut self.program, named);
    }
}

/// Unary tests that depend on nothing but their input.
#[derive(Debug, Clone)]
pub struct ConstantTests {
    /// Whether what passes is what passes none of them.
    pub negated: bool,
    /// A range lets through what lies in it, a list what it holds, any other value what equals it; empty: everything
    /// passes.
    pub tests: Vec<Value>,
}

impl UnaryTests {
    /// The names of types in them that the standard does not define.
    #[must_use]
    pub fn type_names(&self) -> Vec<String> {
        type_names(&self.program)
    }

    /// The names taken from the scope, with repetitions.
    pub fn globals(&self) -> impl Iterator<Item = &str> {
        globals(&self.program)
    }

    /// The tests as values, when nothing but the text decides them and none is an expression over the input.
    #[must_use]
    pub fn constants(&self) -> Option<ConstantTests> {
        if !is_closed(&self.program) {
            return None;
        }
        match self.program.node(self.program.root) {
            Node::Boolean(true) => Some(ConstantTests { negated: false, tests: Vec::new() }),
            Node::UnaryTests { tests, negated } => {
                let mut values = Vec::new();
                for test in self.program.run(tests).chunks_exact(2) {
                    let [node, 0] = test else { return None };
                    values.push(fold(&self.program, *node)?);
                }
                Some(ConstantTests { negated, tests: values })
            }
            _ => None,
        }
    }

    /// Puts types in the place of their names; to be done before the tests are shared.
    pub fn resolve_types(&mut self, named: &dyn Fn(&str) -> Option<Type>) {
        resolve_types(&mut self.program, named);
    }
}

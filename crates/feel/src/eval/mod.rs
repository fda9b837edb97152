//! Evaluation of the compiled form.

mod arithmetic;
mod closure;
mod collections;
mod compare;
mod iterate;
mod paths;
pub(crate) mod quick;
mod run;
pub(crate) mod types;

use std::sync::Arc;

use crate::builtins::{self, Args};
use crate::catalog::{Builtin, Dialect};
use crate::error::LimitError;
use crate::machine::Machine;
use crate::program::{NONE, Node, NodeId, Op, Program, Run, Source, Strategy};
use crate::scope::{Ref, Scope, View};
use crate::value::function::{Function, Kind};
use crate::value::outcome::{Failure, Outcome};
use crate::value::{Bound, Value};

use closure::Closure;

/// Activation of the expression itself or of a function's body.
pub(crate) struct Evaluator<'a, 'm> {
    pub(crate) program: &'a Program,
    /// The same, to be shared by functions made here.
    pub(crate) shared: &'a Arc<Program>,
    pub(crate) scope: &'a dyn Scope,
    pub(crate) machine: &'m mut Machine,
    pub(crate) locals: Vec<Option<Ref<'a>>>,
}

type Evaluation<'a> = Result<Ref<'a>, LimitError>;

fn truth<'a>(value: Option<bool>) -> Ref<'a> {
    Ref::Owned(value.map_or(Value::Null, Value::Boolean))
}

impl<'a> Evaluator<'a, '_> {
    pub(crate) fn eval(&mut self, id: NodeId) -> Evaluation<'a> {
        self.machine.enter()?;
        let result = self.node(id);
        self.machine.leave();
        result
    }

    fn node(&mut self, id: NodeId) -> Evaluation<'a> {
        match self.program.node(id) {
            Node::Null => Ok(Ref::NULL),
            Node::Boolean(value) => Ok(Ref::Owned(Value::Boolean(value))),
            Node::Const(at) => Ok(self.constant(at)),
            Node::Local(slot) => Ok(self.local(slot).unwrap_or(Ref::NULL)),
            Node::Global(name) => Ok(self.global(id, name)),
            Node::Binary { op, strategy, left, right } => {
                if strategy == Strategy::Quick
                    && let Some(value) = self.quick(id, op)?
                {
                    return Ok(value);
                }
                self.binary(id, op, strategy, left, right)
            }
            Node::Path { base, name } => self.path(id, base, name),
            Node::If { condition, yes, no } => {
                if self.condition(condition)? == Some(true) {
                    self.eval(yes)
                } else {
                    self.eval(no)
                }
            }
            Node::Member(run) => self.member(run),
            Node::Filter { base, body, slot } => self.filter(id, base, body, slot),
            Node::List(run) => self.list(run),
            Node::Context(run) => self.context(run),
            Node::Builtin { builtin, named, arguments } => self.builtin(id, builtin, named, arguments),
            Node::Call(run) => self.call(id, run),
            other => self.rarer(id, other),
        }
    }

    /// Kept apart so that the stack frame of the frequent nodes stays small.
    #[inline(never)]
    fn rarer(&mut self, id: NodeId, node: Node) -> Evaluation<'a> {
        match node {
            Node::Invalid(reason) => {
                let reason = self.program.name(reason).to_string();
                Ok(self.null(id, || reason))
            }
            Node::Negate(inner) => self.negate(id, inner),
            Node::Between { value, low, high } => self.between(id, value, low, high),
            Node::In { value, tests } => self.is_in(id, value, tests),
            Node::For(run) => self.for_loop(id, run),
            Node::Some(run) => self.quantified(id, run, false),
            Node::Every(run) => self.quantified(id, run, true),
            Node::Range { low, high, low_included, high_included } => {
                let low = Bound { value: low, included: low_included };
                let high = Bound { value: high, included: high_included };
                self.range(id, low, high)
            }
            Node::Test { op, end } => self.test_range(id, op, end),
            Node::Function(definition) => self.closure(definition),
            Node::CallNamed(run) => self.call_named(id, run),
            Node::CallEither { callee, call, builtin } => {
                self.machine.quiet(true);
                let callee = self.eval(callee);
                self.machine.quiet(false);
                // An external function cannot be carried out; FEEL's own of that name stands in for it.
                let other = match callee?.view() {
                    View::Other(Value::Function(function)) => !function.is_external(),
                    _ => false,
                };
                self.eval(if other { call } else { builtin })
            }
            Node::InstanceOf { value, kind } => {
                let value = self.value(value)?;
                self.machine.charge(u64::from(value.weight()))?;
                let kind = self.program.types.get(kind as usize);
                let result = types::instance_of(&value, kind, &self.program.declared);
                if result.is_none() {
                    return Ok(
                        self.null(id, || "the type, or one that it is made of, is not declared".to_owned())
                    );
                }
                Ok(truth(result))
            }
            Node::UnaryTests { tests, negated } => self.unary_tests(tests, negated),
            Node::IsDefined(inner) => Ok(truth(Some(self.is_defined(inner)?))),
            // The frequent nodes, which `node` takes.
            Node::Null
            | Node::Boolean(_)
            | Node::Const(_)
            | Node::Local(_)
            | Node::Global(_)
            | Node::Binary { .. }
            | Node::Path { .. }
            | Node::If { .. }
            | Node::Member(_)
            | Node::Filter { .. }
            | Node::List(_)
            | Node::Context(_)
            | Node::Builtin { .. }
            | Node::Call(_) => Ok(Ref::NULL),
        }
    }

    /// Null, with a note of the reason.
    pub(crate) fn null(&mut self, id: NodeId, reason: impl FnOnce() -> String) -> Ref<'a> {
        self.machine.note(self.program.offset(id), reason);
        Ref::NULL
    }

    pub(crate) fn settle(&mut self, id: NodeId, outcome: Outcome) -> Evaluation<'a> {
        match outcome {
            Ok(value) => Ok(Ref::Owned(self.machine.admit(value)?)),
            Err(Failure::Limit(limit)) => Err(limit),
            Err(Failure::Null(reason)) => Ok(self.null(id, || reason.into_owned())),
        }
    }

    fn constant(&self, at: u32) -> Ref<'a> {
        let program = self.program;
        program.constants.get(at as usize).map_or(Ref::NULL, Ref::Borrowed)
    }

    pub(crate) fn local(&self, slot: u32) -> Option<Ref<'a>> {
        self.locals.get(slot as usize).and_then(Clone::clone)
    }

    pub(crate) fn set(&mut self, slot: u32, value: Option<Ref<'a>>) {
        if let Some(local) = self.locals.get_mut(slot as usize) {
            *local = value;
        }
    }

    fn global(&mut self, id: NodeId, name: u32) -> Ref<'a> {
        let program = self.program;
        let name = program.name(name);
        let scope: &'a dyn Scope = self.scope;
        if let Some(value) = scope.get(name) {
            return value;
        }
        match Builtin::named(name, Dialect::Standard) {
            Some(builtin) => Ref::Owned(Value::Function(Function(Kind::Builtin(builtin)))),
            None => self.null(id, || format!("there is no variable `{name}`")),
        }
    }

    /// A name within filters: a member of an item, or what the name means outside.
    fn member(&mut self, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let [name, last, slots @ ..] = program.run(run) else { return Ok(Ref::NULL) };
        let name = program.name(*name);
        for slot in slots {
            if let Some(value) = self.local(*slot).and_then(|item| item.member(name)) {
                return Ok(value);
            }
        }
        self.eval(*last)
    }

    fn is_defined(&mut self, id: NodeId) -> Result<bool, LimitError> {
        Ok(match self.program.node(id) {
            Node::Global(name) => self.scope.get(self.program.name(name)).is_some(),
            Node::Local(slot) => self.local(slot).is_some(),
            Node::Path { base, name } => {
                let name = self.program.name(name).clone();
                self.is_defined(base)? && self.eval(base)?.member(&name).is_some()
            }
            Node::Member(run) => {
                let program = self.program;
                let [name, last, slots @ ..] = program.run(run) else { return Ok(false) };
                let name = program.name(*name);
                let found = slots
                    .iter()
                    .any(|slot| self.local(*slot).is_some_and(|item| item.member(name).is_some()));
                found || self.is_defined(*last)?
            }
            _ => !self.eval(id)?.is_null(),
        })
    }

    #[inline(never)]
    fn binary(
        &mut self,
        id: NodeId,
        op: Op,
        strategy: Strategy,
        left: NodeId,
        right: NodeId,
    ) -> Evaluation<'a> {
        if strategy == Strategy::Long {
            return self.chain(id);
        }
        let left = self.operand(left)?;
        self.operate(id, op, left, right)
    }

    /// The value of a node that only reads, be it none: most operands are variables, members and literals, and going through
    /// `eval` costs several times what reading them does.
    #[inline]
    fn read(&self, id: NodeId) -> Option<Ref<'a>> {
        match self.program.node(id) {
            Node::Const(at) => Some(self.constant(at)),
            Node::Local(slot) => self.local(slot),
            Node::Global(name) => self.scope.get(self.program.name(name)),
            Node::Path { base, name } => match self.program.node(base) {
                Node::Global(variable) => {
                    self.scope.get(self.program.name(variable))?.member(self.program.name(name))
                }
                Node::Local(slot) => self.local(slot)?.member(self.program.name(name)),
                _ => None,
            },
            _ => None,
        }
    }

    #[inline]
    fn operand(&mut self, id: NodeId) -> Evaluation<'a> {
        match self.read(id) {
            Some(value) => {
                self.machine.charge(1)?;
                Ok(value)
            }
            None => self.eval(id),
        }
    }

    /// The operator on a left side already evaluated; the right side is evaluated as far as it matters.
    #[inline]
    fn operate(&mut self, id: NodeId, op: Op, left: Ref<'a>, right: NodeId) -> Evaluation<'a> {
        if matches!(op, Op::And | Op::Or) {
            // `false and x` is false and `true or x` true whatever x is (Table 48).
            let deciding = op == Op::Or;
            let (kind, left) = (left.type_name(), left.as_bool());
            if left == Some(deciding) {
                return Ok(truth(left));
            }
            let right = self.operand(right)?;
            return Ok(match (left, right.as_bool()) {
                (_, Some(value)) if value == deciding => truth(Some(deciding)),
                (Some(_), Some(_)) => truth(Some(!deciding)),
                (None, _) => self.null(id, || format!("a {kind} is no truth value")),
                (_, None) => self.null(id, || format!("a {} is no truth value", right.type_name())),
            });
        }
        let right = self.operand(right)?;
        match op {
            Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Pow => self.arithmetic(id, op, left, right),
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::And | Op::Or => {
                self.comparison(id, op, &left, &right)
            }
        }
    }

    /// A long chain of operators that group to the left, from its innermost on.
    #[inline(never)]
    fn chain(&mut self, id: NodeId) -> Evaluation<'a> {
        let mut upper = Vec::new();
        let mut at = id;
        while let Node::Binary { op, strategy: Strategy::Long, left, right } = self.program.node(at) {
            upper.push((at, op, right));
            at = left;
        }
        let mut value = self.eval(at)?;
        for (at, op, right) in upper.into_iter().rev() {
            self.machine.charge(1)?;
            value = self.operate(at, op, value, right)?;
        }
        Ok(value)
    }

    fn builtin(&mut self, id: NodeId, builtin: Builtin, named: bool, arguments: Run) -> Evaluation<'a> {
        let program = self.program;
        let nodes = program.run(arguments);
        if let (Builtin::Sum | Builtin::Count, [argument]) = (builtin, nodes)
            && let Some(value) = self.aggregate(builtin, *argument)?
        {
            return Ok(value);
        }
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(if *node == NONE { None } else { Some(self.value(*node)?) });
        }
        let known = self.machine.noted();
        let outcome = builtins::call(
            builtin,
            self.machine,
            &Args::new(values, named, &program.patterns, program.offset(id)),
        );
        if matches!(outcome, Ok(Value::Null)) && self.machine.noted() == known {
            return Ok(self.null(id, || format!("{}() gives null for these arguments", builtin.name())));
        }
        self.settle(id, outcome)
    }

    fn call(&mut self, id: NodeId, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let [callee, nodes @ ..] = program.run(run) else { return Ok(Ref::NULL) };
        let callee = self.eval(*callee)?;
        let mut values = Vec::with_capacity(nodes.len());
        for node in nodes {
            values.push(self.value(*node)?);
        }
        match callee.view() {
            View::Other(Value::Function(function)) => {
                let value = self.machine.call(function, values, program.offset(id))?;
                Ok(Ref::Owned(value))
            }
            _ => Ok(self.null(id, || format!("a {} cannot be called", callee.type_name()))),
        }
    }

    fn call_named(&mut self, id: NodeId, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let [callee, pairs @ ..] = program.run(run) else { return Ok(Ref::NULL) };
        let callee = self.value(*callee)?;
        let Value::Function(function) = callee else {
            return Ok(self.null(id, || format!("a {} cannot be called", callee.type_name())));
        };
        let mut named = Vec::with_capacity(pairs.len() / 2);
        for pair in pairs.chunks_exact(2) {
            let [name, node] = pair else { continue };
            named.push((program.name(*name).clone(), self.value(*node)?));
        }
        self.machine.call_named(&function, named, program.offset(id)).map(Ref::Owned)
    }

    fn closure(&mut self, at: u32) -> Evaluation<'a> {
        let program = self.program;
        let Some(definition) = program.definitions.get(at as usize) else { return Ok(Ref::NULL) };
        let scope: &'a dyn Scope = self.scope;
        let mut captured = Vec::with_capacity(definition.captures.len());
        let mut depth = 0;
        for (source, _) in &definition.captures {
            let value = match source {
                Source::Local(slot) => self.local(*slot),
                Source::Global(name) => {
                    let name = program.name(*name);
                    scope.get(name).or_else(|| {
                        let builtin = Builtin::named(name, Dialect::Standard)?;
                        Some(Ref::Owned(Value::Function(Function(Kind::Builtin(builtin)))))
                    })
                }
            };
            let value = match value {
                Some(value) => Some(self.machine.own(value)?),
                None => None,
            };
            depth = depth.max(value.as_ref().map_or(0, Value::depth));
            captured.push(value);
        }
        let closure = Closure { program: self.shared.clone(), definition: at, captured, depth: depth + 1 };
        let value = Value::Function(Function(Kind::Defined(Arc::new(closure))));
        self.machine.admit(value).map(Ref::Owned)
    }
}

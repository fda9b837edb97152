//! Types that can be told without evaluating, for finding errors in models before they run.
//!
//! What is not known is [`Type::Any`]: nothing follows from it, neither that a use is right nor that it is wrong.

use crate::catalog::{Builtin, ResultType};
use crate::eval::types::scalar;
use crate::expression::{Expression, UnaryTests};
use crate::program::{NONE, Node, NodeId, Op, Program, Run, Strategy};
use crate::types::Type;

/// The declared type of a variable, if it has one.
pub type Declared<'d> = &'d dyn Fn(&str) -> Option<Type>;

impl Expression {
    /// The type of the result; null results, which any part can have, aside.
    #[must_use]
    pub fn type_of(&self, variable: Declared<'_>) -> Type {
        Typing::new(&self.program, variable).of(self.program.root)
    }
}

/// Type of one of several unary tests.
#[derive(Debug, Clone, PartialEq)]
pub struct TestType {
    /// Type that the input is held against: that of the value, of the range's or the comparison's ends, of a list's
    /// items; boolean for an expression that decides by itself.
    pub against: Type,
    /// Whether the test is such an expression, since it names the input.
    pub decides: bool,
    /// Byte offset of the test in the source.
    pub offset: usize,
}

impl UnaryTests {
    /// The types of the tests in their order; none for `-`.
    #[must_use]
    pub fn types_of(&self, input: &Type, variable: Declared<'_>) -> Vec<TestType> {
        let program = self.program();
        let Node::UnaryTests { tests, .. } = program.node(program.root) else { return Vec::new() };
        let mut typing = Typing::new(program, variable);
        typing.set(0, input.clone());
        let pairs = program.run(tests).chunks_exact(2);
        let types = pairs.filter_map(|pair| match pair {
            [node, uses_input] => Some((*node, *uses_input == 1)),
            _ => None,
        });
        types
            .map(|(node, uses_input)| {
                let kind = match program.node(node) {
                    Node::Test { end, .. } => typing.of(end),
                    _ => typing.of(node),
                };
                let decides = uses_input && kind == Type::Boolean;
                let against = match kind {
                    Type::Range(inner) | Type::List(inner) => inner.map_or(Type::Any, |inner| *inner),
                    other => other,
                };
                TestType { against, decides, offset: program.offset(node) as usize }
            })
            .collect()
    }
}

struct Typing<'p> {
    program: &'p Program,
    variable: Declared<'p>,
    slots: Vec<Type>,
    /// Parts of types that may still be copied; types of types of contexts would otherwise grow without bound.
    left: usize,
}

const MAX_COPIED: usize = 1_000_000;

fn size(kind: &Type) -> usize {
    match kind {
        Type::Context(members) => 1 + members.iter().map(|(_, kind)| size(kind)).sum::<usize>(),
        Type::List(Some(inner)) | Type::Range(Some(inner)) => 1 + size(inner),
        _ => 1,
    }
}

fn list(item: Type) -> Type {
    Type::List(Some(Box::new(item)))
}

/// A type that both are; null is of every type.
fn common(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Null, other) | (other, Type::Null) => other,
        (a, b) if a == b => a,
        _ => Type::Any,
    }
}

impl<'p> Typing<'p> {
    fn new(program: &'p Program, variable: Declared<'p>) -> Self {
        Self { program, variable, slots: vec![Type::Any; program.slots as usize], left: MAX_COPIED }
    }

    fn set(&mut self, slot: u32, kind: Type) {
        if let Some(place) = self.slots.get_mut(slot as usize) {
            *place = kind;
        }
    }

    fn resolved(&self, kind: Type) -> Type {
        match kind {
            Type::Named(_) => self.program.declared.resolve(&kind).cloned().unwrap_or(Type::Any),
            other => other,
        }
    }

    fn of(&mut self, id: NodeId) -> Type {
        match self.program.node(id) {
            Node::Null | Node::Invalid(_) => Type::Null,
            Node::Const(at) => self.program.constants.get(at as usize).and_then(scalar).unwrap_or(Type::Any),
            Node::Local(slot) => {
                let Some(kind) = self.slots.get(slot as usize).filter(|_| self.left > 0) else {
                    return Type::Any;
                };
                match self.left.checked_sub(size(kind)) {
                    Some(left) => {
                        self.left = left;
                        kind.clone()
                    }
                    None => {
                        self.left = 0;
                        Type::Any
                    }
                }
            }
            Node::Global(_) if self.left == 0 => Type::Any,
            Node::Global(name) => {
                let declared =
                    (self.variable)(self.program.name(name)).map_or(Type::Any, |kind| self.resolved(kind));
                match self.left.checked_sub(size(&declared)) {
                    Some(left) => {
                        self.left = left;
                        declared
                    }
                    None => {
                        self.left = 0;
                        Type::Any
                    }
                }
            }
            Node::Member(run) => self.filtered_member(run),
            Node::Path { base, name } => {
                let base = self.of(base);
                self.member(base, self.program.name(name))
            }
            Node::Binary { op, strategy, left, right } => self.binary(id, op, strategy, left, right),
            Node::Negate(inner) => match self.of(inner) {
                kind @ (Type::Number | Type::DaysAndTimeDuration | Type::YearsAndMonthsDuration) => kind,
                _ => Type::Any,
            },
            Node::Boolean(_)
            | Node::Between { .. }
            | Node::In { .. }
            | Node::Some(_)
            | Node::Every(_)
            | Node::InstanceOf { .. }
            | Node::UnaryTests { .. }
            | Node::IsDefined(_) => Type::Boolean,
            Node::If { yes, no, .. } => {
                let yes = self.of(yes);
                common(yes, self.of(no))
            }
            Node::For(run) => self.for_loop(run),
            Node::Filter { base, body, slot } => self.filter(base, body, slot),
            Node::List(run) => {
                let kinds = self.program.run(run).iter().map(|item| self.of(*item)).reduce(common);
                Type::List(kinds.map(Box::new))
            }
            Node::Context(run) => self.context(run),
            Node::Range { low, high, .. } => {
                let low = self.of(low);
                Type::Range(Some(Box::new(common(low, self.of(high)))))
            }
            Node::Test { end, .. } => Type::Range(Some(Box::new(self.of(end)))),
            Node::Function(_) => Type::Function(None),
            Node::Builtin { builtin, arguments, .. } => self.builtin(builtin, arguments),
            Node::Call(_) | Node::CallNamed(_) | Node::CallEither { .. } => Type::Any,
        }
    }

    fn filtered_member(&mut self, run: Run) -> Type {
        let program = self.program;
        let [name, last, slots @ ..] = program.run(run) else { return Type::Any };
        let name = program.name(*name);
        for slot in slots {
            match self.slots.get(*slot as usize) {
                Some(Type::Context(members)) => {
                    if let Some((_, kind)) = members.iter().find(|(known, _)| known == name) {
                        return self.resolved(kind.clone());
                    }
                    // A context may have more entries than its type tells.
                    return Type::Any;
                }
                Some(Type::Any) | None => return Type::Any,
                Some(_) => {}
            }
        }
        self.of(*last)
    }

    fn member(&self, base: Type, name: &str) -> Type {
        match (self.resolved(base), name) {
            (Type::Context(members), _) => {
                let found = members.into_iter().find(|(known, _)| **known == *name);
                found.map_or(Type::Any, |(_, kind)| self.resolved(kind))
            }
            (Type::List(Some(item)), _) => list(self.member(*item, name)),
            (Type::Date | Type::DateTime, "year" | "month" | "day" | "weekday")
            | (Type::Date | Type::Time | Type::DateTime, "hour" | "minute" | "second")
            | (Type::DaysAndTimeDuration, "days" | "hours" | "minutes" | "seconds")
            | (Type::YearsAndMonthsDuration, "years" | "months") => Type::Number,
            (Type::Time | Type::DateTime, "time offset") => Type::DaysAndTimeDuration,
            (Type::Time | Type::DateTime, "timezone") => Type::String,
            (Type::Range(Some(end)), "start" | "end") => *end,
            (Type::Range(_), "start included" | "end included") => Type::Boolean,
            _ => Type::Any,
        }
    }

    fn binary(&mut self, id: NodeId, op: Op, strategy: Strategy, left: NodeId, right: NodeId) -> Type {
        if strategy != Strategy::Long {
            let left = self.of(left);
            let right = self.of(right);
            return arithmetic(op, left, right);
        }
        let (mut upper, mut at) = (Vec::new(), id);
        while let Node::Binary { op, strategy: Strategy::Long, left, right } = self.program.node(at) {
            upper.push((op, right));
            at = left;
        }
        let mut kind = self.of(at);
        for (op, right) in upper.into_iter().rev() {
            let right = self.of(right);
            kind = arithmetic(op, kind, right);
        }
        kind
    }

    /// The type of what an iteration over the type gives one by one.
    fn item(&self, domain: Type) -> Type {
        match self.resolved(domain) {
            Type::List(item) | Type::Range(item) => item.map_or(Type::Any, |item| self.resolved(*item)),
            // A single value reads as the list of it.
            kind @ (Type::Boolean | Type::Number | Type::String | Type::Context(_)) => kind,
            _ => Type::Any,
        }
    }

    fn for_loop(&mut self, run: Run) -> Type {
        let program = self.program;
        let [result, partial, iterators @ ..] = program.run(run) else { return Type::Any };
        for iterator in iterators.chunks_exact(3) {
            let [slot, first, last] = iterator else { continue };
            let first = self.of(*first);
            let item = if *last == NONE { self.item(first) } else { first };
            self.set(*slot, item);
        }
        self.set(*partial, Type::Any);
        list(self.of(*result))
    }

    fn filter(&mut self, base: NodeId, body: NodeId, slot: u32) -> Type {
        let base = self.of(base);
        let item = self.item(base);
        self.set(slot, item.clone());
        match self.of(body) {
            Type::Boolean => list(item),
            Type::Number => item,
            _ => Type::Any,
        }
    }

    fn context(&mut self, run: Run) -> Type {
        let program = self.program;
        let mut members = Vec::new();
        for entry in program.run(run).chunks_exact(3) {
            let [name, node, slot] = entry else { continue };
            let kind = self.of(*node);
            self.set(*slot, kind.clone());
            members.push((program.name(*name).clone(), kind));
        }
        Type::Context(members)
    }

    fn builtin(&mut self, builtin: Builtin, arguments: Run) -> Type {
        let first = self.program.run(arguments).first().copied().filter(|node| *node != NONE);
        let first = first.map_or(Type::Any, |node| self.of(node));
        let item = self.item(first.clone());
        result_type(builtin.result(), first, item)
    }
}

/// The type of a built-in function's result; `first` is that of its first argument, and `item` what that holds.
fn result_type(result: ResultType, first: Type, item: Type) -> Type {
    match result {
        ResultType::Boolean => Type::Boolean,
        ResultType::Number => Type::Number,
        ResultType::String => Type::String,
        ResultType::Date => Type::Date,
        ResultType::Time => Type::Time,
        ResultType::DateTime => Type::DateTime,
        ResultType::Months => Type::YearsAndMonthsDuration,
        ResultType::Range => Type::Range(None),
        ResultType::List => Type::List(None),
        ResultType::Strings => list(Type::String),
        ResultType::Numbers => list(Type::Number),
        ResultType::Items => list(item),
        ResultType::Item => match first {
            Type::List(item) => item.map_or(Type::Any, |item| *item),
            kind => kind,
        },
        ResultType::Argument => first,
        ResultType::Any => Type::Any,
    }
}

/// The type of an operator's result (DMN 1.5, Tables 48 to 57).
fn arithmetic(op: Op, left: Type, right: Type) -> Type {
    use Type::{
        Date, DateTime, DaysAndTimeDuration as Days, Number, String, Time, YearsAndMonthsDuration as Months,
    };
    match (op, left, right) {
        (Op::Or | Op::And | Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ..) => Type::Boolean,
        (_, Number, Number) => Number,
        (Op::Add, String, String) => String,
        (Op::Add | Op::Sub, Days, Days) | (Op::Mul | Op::Div, Days, Number) | (Op::Mul, Number, Days) => Days,
        (Op::Add | Op::Sub, Months, Months)
        | (Op::Mul | Op::Div, Months, Number)
        | (Op::Mul, Number, Months) => Months,
        (Op::Div, Days, Days) | (Op::Div, Months, Months) => Number,
        (Op::Sub, Date | DateTime, Date | DateTime) | (Op::Sub, Time, Time) => Days,
        (Op::Add | Op::Sub, kind @ (Date | DateTime), Days | Months) => kind,
        (Op::Add, Days | Months, kind @ (Date | DateTime)) => kind,
        (Op::Add | Op::Sub, Time, Days) | (Op::Add, Days, Time) => Time,
        _ => Type::Any,
    }
}

//! Evaluation of boxed expressions.

use std::sync::Arc;

use heddle_feel::{
    Context, Date, Function, Host, HostFunction, LimitError, Range, Ref, Scope, Signature, Type, Value,
};

use super::check::typed;
use super::log::{note, notes};
use super::table;
use crate::compile::plan::{Column, Entry, FunctionLogic, ItemType, Kind, Logic, Place};
use heddle_xml::hash::HashMap;

type Outcome = Result<Value, LimitError>;

/// Levels of an expression of FEEL that a boxed one takes as much stack as.
const LEVELS: u32 = 4;

/// From so many entries on a context's names are found by hash.
const INDEXED: usize = 32;

/// The entries of a context so far, over what is around it.
struct Entries<'s> {
    values: Vec<(Arc<str>, Value)>,
    /// Index of each name in `values`, once there are many.
    places: HashMap<Arc<str>, usize>,
    around: &'s dyn Scope,
}

impl Entries<'_> {
    fn find(&self, name: &str) -> Option<&Value> {
        if self.values.len() < INDEXED {
            return self.values.iter().find(|(known, _)| **known == *name).map(|(_, value)| value);
        }
        self.places.get(name).and_then(|at| self.values.get(*at)).map(|(_, value)| value)
    }

    fn push(&mut self, name: Arc<str>, value: Value) {
        self.values.push((name, value));
        let from = match self.values.len() {
            INDEXED => 0,
            len if len > INDEXED => len - 1,
            _ => return,
        };
        let added = self.values.iter().enumerate().skip(from);
        self.places.extend(added.map(|(at, (name, _))| (name.clone(), at)));
    }
}

impl Scope for Entries<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        self.find(name).map(Ref::Borrowed).or_else(|| self.around.get(name))
    }
}

/// Named values over what is around them.
struct Locals<'s> {
    values: &'s [(Arc<str>, Value)],
    around: &'s dyn Scope,
}

impl Scope for Locals<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        match self.values.iter().rev().find(|(known, _)| **known == *name) {
            Some((_, value)) => Some(Ref::Borrowed(value)),
            None => self.around.get(name),
        }
    }
}

/// Arguments of a function over what is around it.
struct Arguments<'s> {
    function: &'s FunctionLogic,
    values: &'s [Value],
    around: &'s dyn Scope,
}

impl Scope for Arguments<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        match self.function.names.iter().zip(self.values).rev().find(|(known, _)| ***known == *name) {
            Some((_, value)) => Some(Ref::Borrowed(value)),
            None => self.around.get(name),
        }
    }
}

/// An item of a list and its members over what is around them.
struct Item<'s> {
    item: &'s Value,
    around: &'s dyn Scope,
}

impl Scope for Item<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        if let Value::Context(context) = self.item
            && let Some(member) = context.get(name)
        {
            return Some(Ref::Borrowed(member));
        }
        if name == "item" { Some(Ref::Borrowed(self.item)) } else { self.around.get(name) }
    }
}

/// A function defined in boxed logic, with what it saw.
struct BoxedFunction {
    logic: Arc<FunctionLogic>,
    place: Place,
    captured: Vec<(Arc<str>, Value)>,
    /// The name by which it may call itself.
    own: Option<Arc<str>>,
    me: std::sync::Weak<Self>,
}

impl HostFunction for BoxedFunction {
    fn parameters(&self) -> &[Arc<str>] {
        &self.logic.names
    }

    fn signature(&self) -> Option<Signature> {
        Some(signature(&self.logic))
    }

    fn call(&self, arguments: Vec<Value>, host: &mut Host<'_>) -> Outcome {
        let me = self.own.clone().zip(self.me.upgrade());
        let own: Vec<(Arc<str>, Value)> =
            me.map(|(name, me)| (name, Value::Function(Function::host(me)))).into_iter().collect();
        let captured = Locals { values: &self.captured, around: &() };
        let around = Locals { values: &own, around: &captured };
        call(&self.logic, arguments, &around, &self.place, host)
    }
}

/// The types of a function of the model.
pub(super) fn signature(function: &FunctionLogic) -> Signature {
    let kind = |kind: &Option<Arc<ItemType>>| kind.as_ref().map_or(Type::Any, |kind| kind.feel.clone());
    let parameters = function.parameters.iter().map(|parameter| kind(&parameter.kind)).collect();
    (parameters, Box::new(kind(&function.result)))
}

/// Calls a function of the model.
pub(super) fn call(
    function: &FunctionLogic,
    arguments: Vec<Value>,
    around: &dyn Scope,
    place: &Place,
    host: &mut Host<'_>,
) -> Outcome {
    let mut values = arguments;
    for (parameter, value) in function.parameters.iter().zip(&mut values) {
        let given = !value.is_null();
        *value = typed(std::mem::take(value), parameter.kind.as_deref(), place, host)?;
        if given && value.is_null() {
            note(host, place, format!("the argument `{}` is not of the parameter's type", parameter.name));
            return Ok(Value::Null);
        }
    }
    let scope = Arguments { function, values: &values, around };
    match function.result.as_deref() {
        None => logic(&function.body, &scope, host),
        kind => typed(logic(&function.body, &scope, host)?, kind, place, host),
    }
}

/// Evaluates logic.
pub(super) fn logic(it: &Logic, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    match &it.result {
        None => untyped(it, scope, host),
        Some(kind) => typed(untyped(it, scope, host)?, Some(kind), &it.place, host),
    }
}

/// Evaluates logic without regard to the type of its result. The result is handed on as it comes: taking it out and
/// putting it back costs more than what most expressions do.
#[inline]
fn untyped(it: &Logic, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    match &it.kind {
        Kind::Feel(expression) => {
            let outcome = host.evaluate(expression, scope);
            if host.noted() > 0 {
                notes(host, &it.place);
            }
            outcome
        }
        Kind::Constant(value) => Ok(value.clone()),
        Kind::Table(table) => table::evaluate(table, &it.place, scope, host),
        _ => host.nested(LEVELS, |host| boxed(it, scope, host)),
    }
}

#[inline(never)]
fn boxed(it: &Logic, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    match &it.kind {
        Kind::Missing(reason) => {
            note(host, &it.place, &**reason);
            Ok(Value::Null)
        }
        Kind::Context(entries) => context(entries, &it.place, scope, host),
        Kind::List(items) => {
            let mut values = Vec::with_capacity(items.len());
            for item in items {
                values.push(logic(item, scope, host)?);
            }
            host.admit(Value::list(values))
        }
        Kind::Relation { columns, rows } => relation(columns, rows, &it.place, scope, host),
        Kind::Invocation { callee, arguments } => invocation(callee, arguments, &it.place, scope, host),
        Kind::Function(function) => closure(function, None, &it.place, scope, host),
        Kind::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            let condition = logic(condition, scope, host)?;
            if condition.as_bool().is_none() && !condition.is_null() {
                note(host, &it.place, format!("a {} is no condition", condition.type_name()));
                return Ok(Value::Null);
            }
            logic(if condition.as_bool() == Some(true) { yes } else { no }, scope, host)
        }
        Kind::Filter { list, test } => filter(list, test, scope, host),
        Kind::For { name, list, body } => for_each(name, list, body, scope, host),
        Kind::Quantified { every, name, list, body } => quantified(*every, name, list, body, scope, host),
        Kind::Feel(_) | Kind::Constant(_) | Kind::Table(_) => Ok(Value::Null),
    }
}

fn context(entries: &[Entry], place: &Place, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    let values = Vec::with_capacity(entries.len());
    let mut known = Entries { values, places: HashMap::default(), around: scope };
    for entry in entries {
        let value = match (&entry.value.kind, &entry.name) {
            (Kind::Function(function), Some(name)) => {
                closure(function, Some(name.clone()), &entry.value.place, &known, host)?
            }
            _ => logic(&entry.value, &known, host)?,
        };
        let value = typed(value, entry.kind.as_deref(), &entry.value.place, host)?;
        let Some(name) = &entry.name else { return Ok(value) };
        if known.find(name).is_some() {
            note(host, place, format!("the context has two entries `{name}`"));
            return Ok(Value::Null);
        }
        known.push(name.clone(), value);
    }
    host.admit(Value::context(Context::from_iter(known.values)))
}

fn relation(
    columns: &[Column],
    rows: &[Vec<Logic>],
    place: &Place,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Outcome {
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        let mut context = Context::new();
        for (at, column) in columns.iter().enumerate() {
            let value = match row.get(at) {
                Some(cell) => logic(cell, scope, host)?,
                None => Value::Null,
            };
            context.put(column.name.clone(), typed(value, column.kind.as_deref(), place, host)?);
        }
        values.push(Value::context(context));
    }
    host.admit(Value::list(values))
}

fn invocation(
    callee: &Logic,
    arguments: &[(Arc<str>, Logic)],
    place: &Place,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Outcome {
    let callee = logic(callee, scope, host)?;
    let Value::Function(function) = &callee else {
        note(host, place, format!("a {} cannot be called", callee.type_name()));
        return Ok(Value::Null);
    };
    let outcome = match function.host_parameters() {
        Some(parameters) => {
            let mut values = vec![None; parameters.len()];
            for (name, argument) in arguments {
                let at = parameters.iter().position(|known| known == name);
                let Some(slot) = at.and_then(|at| values.get_mut(at)) else {
                    note(host, place, format!("the function has no parameter `{name}`"));
                    return Ok(Value::Null);
                };
                let given = logic(argument, scope, host)?;
                *slot = Some(given);
            }
            if values.iter().any(Option::is_none) {
                note(host, place, format!("the function takes {} arguments", parameters.len()));
                return Ok(Value::Null);
            }
            host.call(function, values.into_iter().flatten().collect())
        }
        None => {
            let mut named = Vec::with_capacity(arguments.len());
            for (name, argument) in arguments {
                named.push((name.clone(), logic(argument, scope, host)?));
            }
            host.call_named(function, named)
        }
    };
    if host.noted() > 0 {
        notes(host, place);
    }
    outcome
}

fn closure(
    function: &Arc<FunctionLogic>,
    own: Option<Arc<str>>,
    place: &Place,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Outcome {
    let captured = function.free.iter().filter(|name| Some(*name) != own.as_ref());
    let captured = captured.filter_map(|name| Some((name.clone(), scope.get(name)?.into_value()))).collect();
    let made = Arc::new_cyclic(|me| BoxedFunction {
        logic: function.clone(),
        place: place.clone(),
        captured,
        own,
        me: me.clone(),
    });
    host.admit(Value::Function(Function::host(made)))
}

/// The items that a list, a range of whole numbers or days or a single value stands for.
fn items(value: Value, place: &Place, host: &mut Host<'_>) -> Result<Option<Vec<Value>>, LimitError> {
    match value {
        Value::List(list) => {
            host.charge(list.len() as u64)?;
            Ok(Some(list.to_vec()))
        }
        Value::Range(range) => within(&range, place, host),
        Value::Null => {
            note(host, place, "null is no list");
            Ok(None)
        }
        value => Ok(Some(vec![value])),
    }
}

fn within(range: &Range, place: &Place, host: &mut Host<'_>) -> Result<Option<Vec<Value>>, LimitError> {
    let ends = match (&range.low, &range.high) {
        (Some(Value::Number(low)), Some(Value::Number(high))) => low.to_i64().zip(high.to_i64()),
        (Some(Value::Date(low)), Some(Value::Date(high))) => Some((low.epoch_day(), high.epoch_day())),
        _ => None,
    };
    let Some((low, high)) = ends else {
        note(host, place, "the range is not one of whole numbers or of dates");
        return Ok(None);
    };
    let low = low.saturating_add(i64::from(!range.low_included));
    let high = high.saturating_sub(i64::from(!range.high_included));
    let count = high.saturating_sub(low).saturating_add(1).max(0).unsigned_abs();
    host.charge(count)?;
    let days = matches!(range.low, Some(Value::Date(_)));
    let item = |at: i64| {
        if days { Date::from_epoch_day(at).map_or(Value::Null, Value::Date) } else { Value::integer(at) }
    };
    Ok(Some((low..=high).map(item).collect()))
}

fn filter(list: &Logic, test: &Logic, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    let value = logic(list, scope, host)?;
    let value = if value.is_null() { Value::list(Vec::new()) } else { value };
    let Some(items) = items(value, &list.place, host)? else { return Ok(Value::Null) };
    let mut kept = Vec::new();
    let count = items.len();
    for (at, item) in items.iter().enumerate() {
        let passed = logic(test, &Item { item, around: scope }, host)?;
        if at == 0
            && let Some(index) = passed.as_number()
        {
            return Ok(indexed(&items, index, count));
        }
        if passed.as_bool().is_none() && !passed.is_null() {
            note(host, &test.place, format!("a {} is no condition", passed.type_name()));
            return Ok(Value::Null);
        }
        if passed.as_bool() == Some(true) {
            kept.push(item.clone());
        }
    }
    host.admit(Value::list(kept))
}

/// The item at a place from 1, or from -1 backwards.
fn indexed(items: &[Value], index: heddle_feel::Number, count: usize) -> Value {
    let at = index.to_i64().and_then(|index| {
        let count = i64::try_from(count).ok()?;
        usize::try_from(if index < 0 { count + index } else { index - 1 }).ok()
    });
    at.and_then(|at| items.get(at)).cloned().unwrap_or_default()
}

fn for_each(name: &Arc<str>, list: &Logic, body: &Logic, scope: &dyn Scope, host: &mut Host<'_>) -> Outcome {
    let value = logic(list, scope, host)?;
    let Some(items) = items(value, &list.place, host)? else { return Ok(Value::Null) };
    let mut results: Vec<Value> = Vec::with_capacity(items.len().min(1024));
    let partial: Option<Arc<str>> = body.names_partial().then(|| Arc::from("partial"));
    for item in items {
        let mut values = Vec::with_capacity(2);
        if let Some(partial) = &partial {
            host.charge(results.len() as u64)?;
            values.push((partial.clone(), Value::list(results.clone())));
        }
        values.push((name.clone(), item));
        let result = logic(body, &Locals { values: &values, around: scope }, host)?;
        results.push(result);
    }
    host.admit(Value::list(results))
}

fn quantified(
    every: bool,
    name: &Arc<str>,
    list: &Logic,
    body: &Logic,
    scope: &dyn Scope,
    host: &mut Host<'_>,
) -> Outcome {
    let value = logic(list, scope, host)?;
    let Some(items) = items(value, &list.place, host)? else { return Ok(Value::Null) };
    let mut result = Some(every);
    for item in items {
        let values = [(name.clone(), item)];
        let passed = logic(body, &Locals { values: &values, around: scope }, host)?;
        match passed.as_bool() {
            Some(passed) if passed != every => return Ok(Value::Boolean(!every)),
            Some(_) => {}
            // One is enough to tell why there may be no result.
            None if result.is_none() => {}
            None => {
                note(host, &body.place, format!("a {} is no condition", passed.type_name()));
                result = None;
            }
        }
    }
    Ok(result.map_or(Value::Null, Value::Boolean))
}

impl Logic {
    /// Whether it may use the results so far of the loop that it is the body of.
    fn names_partial(&self) -> bool {
        match &self.kind {
            Kind::Feel(expression) => expression.globals().any(|name| name == "partial"),
            Kind::Constant(_) | Kind::Missing(_) => false,
            _ => true,
        }
    }
}

//! `for`, `some` and `every`.

use std::sync::Arc;

use super::paths::Picked;
use super::{Evaluation, Evaluator, truth};
use crate::builtins::{self, Args};
use crate::catalog::Builtin;
use crate::error::LimitError;
use crate::program::{NONE, Node, NodeId, Run};
use crate::scope::{Items, Ref, View};
use crate::value::date::Date;
use crate::value::number::Number;
use crate::value::{List, Value};

/// Domain of an iterator.
enum Domain<'a> {
    Items(Items<'a>),
    Numbers(i64, i64),
    /// Days since 1970.
    Dates(i64, i64),
}

impl<'a> Domain<'a> {
    #[inline]
    fn len(&self) -> u64 {
        match self {
            Self::Items(items) => items.len() as u64,
            Self::Numbers(first, last) | Self::Dates(first, last) => first.abs_diff(*last).saturating_add(1),
        }
    }

    #[inline]
    fn get(&self, at: u64) -> Option<Ref<'a>> {
        let step = |first: i64, last: i64| {
            let at = i64::try_from(at).ok()?;
            if first <= last { first.checked_add(at) } else { first.checked_sub(at) }
        };
        match self {
            Self::Items(items) => items.get(usize::try_from(at).ok()?),
            Self::Numbers(first, last) => step(*first, *last).map(|n| Ref::Owned(Value::integer(n))),
            Self::Dates(first, last) => {
                step(*first, *last).and_then(Date::from_epoch_day).map(|date| Ref::Owned(Value::Date(date)))
            }
        }
    }
}

/// Body of the innermost iteration; `false` ends all.
enum Body {
    Collect { result: NodeId, partial: u32, found: Vec<Value>, shared: Arc<List> },
    Quantify { condition: NodeId, every: bool, found: Option<bool> },
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn for_loop(&mut self, id: NodeId, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let [result, partial, iterators @ ..] = program.run(run) else { return Ok(Ref::NULL) };
        let mut body =
            Body::Collect { result: *result, partial: *partial, found: Vec::new(), shared: Arc::default() };
        if self.level(id, iterators, &mut body)?.is_none() {
            return Ok(Ref::NULL);
        }
        let Body::Collect { partial, found, shared, .. } = body else { return Ok(Ref::NULL) };
        self.set(partial, None);
        let value = if partial == NONE { Value::list(found) } else { Value::List(shared) };
        self.machine.admit(value).map(Ref::Owned)
    }

    pub(super) fn quantified(&mut self, id: NodeId, run: Run, every: bool) -> Evaluation<'a> {
        let program = self.program;
        let [condition, iterators @ ..] = program.run(run) else { return Ok(Ref::NULL) };
        let mut body = Body::Quantify { condition: *condition, every, found: Some(every) };
        if self.level(id, iterators, &mut body)?.is_none() {
            return Ok(Ref::NULL);
        }
        let Body::Quantify { found, .. } = body else { return Ok(Ref::NULL) };
        Ok(truth(found))
    }

    /// Runs the first of the iterators, and the rest within it. `None` when a domain is none; `Some(false)` to end.
    fn level(&mut self, id: NodeId, iterators: &[u32], body: &mut Body) -> Result<Option<bool>, LimitError> {
        let [slot, first, last, rest @ ..] = iterators else { return self.body(body) };
        let Some(domain) = self.domain(id, *first, *last)? else { return Ok(None) };
        self.run_over(id, &domain, *slot, rest, body)
    }

    fn run_over(
        &mut self,
        id: NodeId,
        domain: &Domain<'a>,
        slot: u32,
        rest: &[u32],
        body: &mut Body,
    ) -> Result<Option<bool>, LimitError> {
        let len = domain.len();
        if matches!(body, Body::Collect { .. }) {
            // Told before the first item is computed, since a list so long cannot come out.
            self.machine.room(usize::try_from(len).unwrap_or(usize::MAX))?;
        }
        self.machine.enter()?;
        let mut outcome = Some(true);
        for at in 0..len {
            self.machine.charge(1)?;
            let Some(item) = domain.get(at) else { break };
            self.set(slot, Some(item));
            outcome = if rest.is_empty() { self.body(body)? } else { self.level(id, rest, body)? };
            if outcome != Some(true) {
                break;
            }
        }
        self.machine.leave();
        self.set(slot, None);
        Ok(outcome)
    }

    /// `sum` of a loop and `count` of a filter, without the list between them.
    #[inline(never)]
    pub(super) fn aggregate(&mut self, builtin: Builtin, id: NodeId) -> Result<Option<Ref<'a>>, LimitError> {
        if builtin == Builtin::Sum {
            return self.sum_of_loop(id);
        }
        let items = match self.picked(id)? {
            Some(Picked::Many(items)) => items,
            Some(Picked::One(item)) => match (item.is_null(), item.clone().items()) {
                (true, _) => {
                    return Ok(Some(self.null(id, || "argument 1 is a null, not a list".to_owned())));
                }
                (false, Some(items)) => {
                    return Ok(Some(Ref::Owned(Value::Number(Number::from(items.len())))));
                }
                (false, None) => return Ok(Some(Ref::Owned(Value::Number(Number::ONE)))),
            },
            None => return Ok(None),
        };
        Ok(Some(Ref::Owned(Value::Number(Number::from(items.len())))))
    }

    /// The sum of a loop's results without the list of them; none when the argument is no such loop. Results that are
    /// no numbers end the short way, and the loop runs again over the same domain.
    fn sum_of_loop(&mut self, id: NodeId) -> Result<Option<Ref<'a>>, LimitError> {
        let program = self.program;
        let Node::For(run) = program.node(id) else { return Ok(None) };
        let [result, NONE, slot, first, last] = program.run(run) else { return Ok(None) };
        let Some(domain) = self.domain(id, *first, *last)? else { return Ok(Some(Ref::NULL)) };
        if let Some(sum) = self.quick_sum(*result, *slot, &domain)? {
            return Ok(Some(Ref::Owned(Value::Number(sum))));
        }
        let mut body =
            Body::Collect { result: *result, partial: NONE, found: Vec::new(), shared: Arc::default() };
        self.run_over(id, &domain, *slot, &[], &mut body)?;
        let Body::Collect { found, .. } = body else { return Ok(None) };
        let list = self.machine.admit(Value::list(found))?;
        let outcome = builtins::call(
            Builtin::Sum,
            self.machine,
            &Args::new(vec![Some(list)], false, &program.patterns, program.offset(id)),
        );
        self.settle(id, outcome).map(Some)
    }

    fn quick_sum(
        &mut self,
        result: NodeId,
        slot: u32,
        domain: &Domain<'a>,
    ) -> Result<Option<Number>, LimitError> {
        let len = domain.len();
        if len == 0 {
            return Ok(None);
        }
        self.machine.room(usize::try_from(len).unwrap_or(usize::MAX))?;
        let mut sum = Number::ZERO;
        for at in 0..len {
            let Some(item) = domain.get(at) else { return Ok(None) };
            self.set(slot, Some(item));
            let number = self.reader().number(result);
            if number.is_absent() {
                return Ok(None);
            }
            self.machine.charge(number.steps() + 1)?;
            match sum.plus(number) {
                Ok(more) => sum = more,
                Err(_) => return Ok(None),
            }
        }
        self.set(slot, None);
        Ok(Some(sum))
    }

    fn body(&mut self, body: &mut Body) -> Result<Option<bool>, LimitError> {
        match body {
            Body::Collect { result, partial, found, shared } => {
                if *partial == NONE {
                    let value = self.value(*result)?;
                    self.machine.room(found.len() + 1)?;
                    found.push(value);
                    return Ok(Some(true));
                }
                self.set(*partial, Some(Ref::Owned(Value::List(shared.clone()))));
                let value = self.value(*result)?;
                self.set(*partial, None);
                self.machine.room(shared.len() + 1)?;
                if Arc::get_mut(shared).is_none() {
                    // The result kept the list of the results so far, so the next one is a copy.
                    self.machine.charge(shared.len() as u64 / 4)?;
                    *shared = Arc::new(List::clone(shared));
                }
                if let Some(list) = Arc::get_mut(shared) {
                    list.push(value);
                }
                self.machine.admit(Value::List(shared.clone()))?;
                Ok(Some(true))
            }
            Body::Quantify { condition, every, found } => {
                match self.condition(*condition)? {
                    Some(value) if value != *every => {
                        *found = Some(value);
                        return Ok(Some(false));
                    }
                    Some(_) => {}
                    None => *found = None,
                }
                Ok(Some(true))
            }
        }
    }

    fn domain(&mut self, id: NodeId, first: NodeId, last: NodeId) -> Result<Option<Domain<'a>>, LimitError> {
        let value = match self.picked(first)? {
            Some(Picked::Many(items)) if last == NONE => {
                return Ok(Some(Domain::Items(Items::Picked(items))));
            }
            // The list of them is no end of a range either.
            Some(Picked::Many(_)) => Ref::Owned(Value::list(Vec::new())),
            Some(Picked::One(item)) => item,
            None => self.eval(first)?,
        };
        if last != NONE {
            let a = self.machine.own(value)?;
            let b = self.value(last)?;
            let ends = ends(&a, &b);
            if ends.is_none() {
                self.null(id, || {
                    format!(
                        "an iteration runs between whole numbers or dates, not a {} and a {}",
                        a.type_name(),
                        b.type_name()
                    )
                });
            }
            return Ok(ends);
        }
        if value.is_null() {
            self.null(id, || "an iteration runs over a list or a range, not null".into());
            return Ok(None);
        }
        if let View::Other(Value::Range(range)) = value.view() {
            let range = range.clone();
            let bounded = range.low.as_ref().zip(range.high.as_ref()).and_then(|(low, high)| ends(low, high));
            let domain =
                bounded.and_then(|domain| match domain {
                    Domain::Numbers(a, b) => within(a, b, range.low_included, range.high_included)
                        .map(|(a, b)| Domain::Numbers(a, b)),
                    Domain::Dates(a, b) => within(a, b, range.low_included, range.high_included)
                        .map(|(a, b)| Domain::Dates(a, b)),
                    Domain::Items(_) => None,
                });
            if domain.is_none() {
                self.null(id, || "an iteration runs over a range of whole numbers or dates".into());
            }
            return Ok(domain);
        }
        match value.clone().items() {
            Some(items) => Ok(Some(Domain::Items(items))),
            // A single value reads as the list of it.
            None => Ok(Value::list(vec![self.machine.own(value)?]).items()),
        }
    }
}

impl Value {
    fn items<'a>(self) -> Option<Domain<'a>> {
        Ref::Owned(self).items().map(Domain::Items)
    }
}

/// The whole numbers of a range; a range runs upwards only.
fn within(first: i64, last: i64, low: bool, high: bool) -> Option<(i64, i64)> {
    let first = if low { first } else { first.checked_add(1)? };
    let last = if high { last } else { last.checked_sub(1)? };
    (first <= last).then_some((first, last))
}

fn ends<'a>(first: &Value, last: &Value) -> Option<Domain<'a>> {
    match (first, last) {
        (Value::Number(a), Value::Number(b)) => Some(Domain::Numbers(a.to_i64()?, b.to_i64()?)),
        (Value::Date(a), Value::Date(b)) => Some(Domain::Dates(a.epoch_day(), b.epoch_day())),
        _ => None,
    }
}

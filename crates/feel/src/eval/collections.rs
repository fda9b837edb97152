//! Lists, contexts and ranges as they are written.

use std::sync::Arc;

use super::{Evaluation, Evaluator};
use crate::program::{NodeId, Op, Run};
use crate::scope::Ref;
use crate::value::{Context, Range, RangeForm};
use crate::{LimitError, Value};

/// Whether values of the kind have an order, so that they can be the ends of ranges.
fn can_bound(value: &Value) -> bool {
    matches!(
        value,
        Value::Null
            | Value::Number(_)
            | Value::String(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::DaysAndTimeDuration(_)
            | Value::YearsAndMonthsDuration(_)
    )
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn list(&mut self, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let nodes = program.run(run);
        let mut items = Vec::with_capacity(nodes.len());
        for node in nodes {
            items.push(self.value(*node)?);
        }
        self.machine.admit(Value::list(items)).map(Ref::Owned)
    }

    pub(super) fn context(&mut self, run: Run) -> Evaluation<'a> {
        let program = self.program;
        let mut context = Context::new();
        self.machine.charge(u64::from(run.len))?;
        for entry in program.run(run).chunks_exact(3) {
            let [name, node, slot] = entry else { continue };
            let value = self.value(*node)?;
            self.set(*slot, Some(Ref::Owned(value.clone())));
            context.put(program.name(*name).clone(), value);
        }
        self.machine.admit(Value::context(context)).map(Ref::Owned)
    }

    pub(super) fn range(&mut self, id: NodeId, low: (NodeId, bool), high: (NodeId, bool)) -> Evaluation<'a> {
        let low_value = self.value(low.0)?;
        let high_value = self.value(high.0)?;
        match make_range((low_value, low.1), (high_value, high.1)) {
            Some(range) => Ok(Ref::Owned(range)),
            None => Ok(self.null(id, || "a range needs two ends of one kind that has an order".into())),
        }
    }

    /// `(< 5)` as a value.
    pub(super) fn test_range(&mut self, id: NodeId, op: Op, end: NodeId) -> Evaluation<'a> {
        let end = self.value(end)?;
        match test_value(op, end)? {
            Some(range) => Ok(Ref::Owned(range)),
            None => Ok(self.null(id, || "a comparison needs an end that has an order".into())),
        }
    }
}

/// A range between ends of one kind, either of which may be null; `None` when they cannot bound one.
pub(crate) fn make_range(low: (Value, bool), high: (Value, bool)) -> Option<Value> {
    if !can_bound(&low.0) || !can_bound(&high.0) {
        return None;
    }
    if low.0.is_null() && high.0.is_null() {
        return None;
    }
    let open = low.0.is_null() || high.0.is_null();
    let ascending = open || low.0.compare(&high.0).is_some_and(std::cmp::Ordering::is_le);
    ascending.then(|| {
        Value::Range(Arc::new(Range {
            low: Some(low.0),
            low_included: low.1,
            high: Some(high.0),
            high_included: high.1,
            form: RangeForm::Interval,
        }))
    })
}

/// The range of what passes a comparison.
pub(crate) fn test_value(op: Op, end: Value) -> Result<Option<Value>, LimitError> {
    let equality = matches!(op, Op::Eq | Op::Ne);
    // Not even for equality an end is a list or the like: ranges would come to lie within ranges.
    if !can_bound(&end) && !(equality && matches!(end, Value::Boolean(_))) {
        return Ok(None);
    }
    let form = match op {
        Op::Eq => RangeForm::Equal,
        Op::Ne => RangeForm::NotEqual,
        _ => RangeForm::Comparison,
    };
    let low = (equality || matches!(op, Op::Gt | Op::Ge)).then(|| end.clone());
    let high = (equality || matches!(op, Op::Lt | Op::Le)).then_some(end);
    Ok(Some(Value::Range(Arc::new(Range {
        low,
        low_included: matches!(op, Op::Ge | Op::Eq),
        high,
        high_included: matches!(op, Op::Le | Op::Eq),
        form,
    }))))
}

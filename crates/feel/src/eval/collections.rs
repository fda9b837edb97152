//! Lists, contexts and ranges as they are written.

use std::sync::Arc;

use super::{Evaluation, Evaluator};
use crate::error::LimitError;
use crate::program::{NodeId, Op, Run};
use crate::scope::Ref;
use crate::value::{Bound, Context, Range, RangeForm, Value};

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

    pub(super) fn range(&mut self, id: NodeId, low: Bound<NodeId>, high: Bound<NodeId>) -> Evaluation<'a> {
        let low = Bound { value: self.value(low.value)?, included: low.included };
        let high = Bound { value: self.value(high.value)?, included: high.included };
        match Range::between(low, high) {
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

/// The range of what passes a comparison.
pub(crate) fn test_value(op: Op, end: Value) -> Result<Option<Value>, LimitError> {
    let equality = matches!(op, Op::Eq | Op::Ne);
    // Not even for equality an end is a list or the like: ranges would come to lie within ranges.
    if !(end.can_bound() || equality && matches!(end, Value::Boolean(_))) {
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

//! Members, properties and filters.

use super::{Evaluation, Evaluator};
use crate::builtins::property;
use crate::program::{Node, NodeId};
use crate::scope::{Items, Ref, View};
use crate::value::number::Number;
use crate::{LimitError, Value};

/// What an expression in brackets came out as.
enum Selection {
    Index(Number),
    Keep(bool),
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn path(&mut self, id: NodeId, base: NodeId, name: u32) -> Evaluation<'a> {
        let base = self.eval(base)?;
        let program = self.program;
        let name = program.name(name);
        if let Some(value) = base.member(name) {
            return Ok(value);
        }
        self.missing(id, base, name)
    }

    #[inline(never)]
    fn missing(&mut self, id: NodeId, base: Ref<'a>, name: &str) -> Evaluation<'a> {
        match base.view() {
            View::JsonList | View::Other(Value::List(_)) => {
                let Some(items) = base.items() else { return Ok(Ref::NULL) };
                let mut values = Vec::with_capacity(items.len());
                self.machine.charge(items.len() as u64)?;
                for at in 0..items.len() {
                    let item = items.get(at).unwrap_or(Ref::NULL);
                    let value = match item.member(name) {
                        Some(value) => value.into_value(),
                        None => property(&item.into_value(), name).unwrap_or_default(),
                    };
                    values.push(value);
                }
                return self.machine.admit(Value::list(values)).map(Ref::Owned);
            }
            View::Other(value) => {
                if let Some(value) = property(value, name) {
                    return Ok(Ref::Owned(value));
                }
            }
            _ => {}
        }
        let kind = base.type_name();
        Ok(self.null(id, || format!("a {kind} has no `{name}` here")))
    }

    pub(super) fn filter(&mut self, id: NodeId, base: NodeId, body: NodeId, slot: u32) -> Evaluation<'a> {
        let base = self.eval(base)?;
        let is_list = matches!(base.view(), View::JsonList | View::Other(Value::List(_)));
        let items = if is_list {
            base.items()
        } else if base.is_null() {
            // Null reads as no list at all.
            Some(Items::Owned(std::sync::Arc::default()))
        } else {
            Ref::Owned(Value::list(vec![base.into_value()])).items()
        };
        let Some(items) = items else { return Ok(Ref::NULL) };
        if let Node::Const(at) = self.program.node(body)
            && let Some(Value::Number(number)) = self.program.constants.get(at as usize)
        {
            return Ok(self.indexed(id, &items, *number));
        }
        let mut kept = Vec::new();
        if items.len() == 0 {
            self.machine.quiet(true);
            let selection = self.select(body, slot, Ref::NULL);
            self.machine.quiet(false);
            return match selection? {
                Selection::Index(number) => Ok(self.indexed(id, &items, number)),
                Selection::Keep(_) => Ok(Ref::Owned(Value::list(kept))),
            };
        }
        for at in 0..items.len() {
            let Some(item) = items.get(at) else { break };
            match self.select(body, slot, item.clone())? {
                // Only an expression that does not look at the items selects by position.
                Selection::Index(number) if at == 0 => return Ok(self.indexed(id, &items, number)),
                Selection::Keep(true) => kept.push(item.into_value()),
                _ => {}
            }
        }
        self.machine.admit(Value::list(kept)).map(Ref::Owned)
    }

    fn select(&mut self, body: NodeId, slot: u32, item: Ref<'a>) -> Result<Selection, LimitError> {
        self.set(slot, Some(item));
        let selected = self.eval(body)?;
        self.set(slot, None);
        Ok(match selected.as_number() {
            Some(number) => Selection::Index(number),
            None => Selection::Keep(selected.as_bool() == Some(true)),
        })
    }

    fn indexed(&mut self, id: NodeId, items: &Items<'a>, number: Number) -> Ref<'a> {
        let index = number.to_i64().and_then(|index| match index {
            0 => None,
            1.. => usize::try_from(index - 1).ok(),
            _ => items.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?),
        });
        match index.and_then(|index| items.get(index)) {
            Some(item) => item,
            None => self.null(id, || format!("a list of {} items has none at {number}", items.len())),
        }
    }
}

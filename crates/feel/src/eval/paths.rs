//! Members, properties and filters.

use super::{Evaluation, Evaluator};
use crate::error::LimitError;
use crate::program::{Node, NodeId};
use crate::scope::{Items, Ref, View};
use crate::value::Value;
use crate::value::number::Number;
use crate::value::property::property;

/// Result of an expression in brackets.
enum Selection {
    Index(Number),
    Keep(bool),
}

/// Selection of a filter.
pub(super) enum Picked<'a> {
    /// An item by its position, or null.
    One(Ref<'a>),
    /// The items that fulfil its condition.
    Many(Vec<Ref<'a>>),
}

impl<'a> Evaluator<'a, '_> {
    pub(super) fn path(&mut self, id: NodeId, base: NodeId, name: u32) -> Evaluation<'a> {
        let program = self.program;
        let name = program.name(name);
        let base = match self.picked(base)? {
            Some(Picked::Many(items)) => return self.members(&Items::Picked(items), name),
            Some(Picked::One(item)) => item,
            None => self.eval(base)?,
        };
        if let Some(value) = base.member(name) {
            return Ok(value);
        }
        self.missing(id, base, name)
    }

    /// The member of each item.
    fn members(&mut self, items: &Items<'a>, name: &str) -> Evaluation<'a> {
        let mut values = Vec::with_capacity(items.len());
        self.machine.charge(items.len() as u64)?;
        for at in 0..items.len() {
            let item = items.get(at).unwrap_or(Ref::NULL);
            let value = match item.member(name) {
                Some(value) => self.machine.own(value)?,
                None => property(&self.machine.own(item)?, name).unwrap_or_default(),
            };
            values.push(value);
        }
        self.machine.admit(Value::list(values)).map(Ref::Owned)
    }

    #[inline(never)]
    fn missing(&mut self, id: NodeId, base: Ref<'a>, name: &str) -> Evaluation<'a> {
        match base.view() {
            View::JsonList | View::Other(Value::List(_)) => {
                let Some(items) = base.items() else { return Ok(Ref::NULL) };
                return self.members(&items, name);
            }
            View::Other(value) => {
                // The offset of a region is looked up.
                self.machine.charge(8)?;
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
        match self.pick(id, base, body, slot)? {
            Picked::One(item) => Ok(item),
            Picked::Many(items) => {
                let items: Result<Vec<Value>, LimitError> =
                    items.into_iter().map(|item| self.machine.own(item)).collect();
                self.machine.admit(Value::list(items?)).map(Ref::Owned)
            }
        }
    }

    /// The items that the node lets through when it is a filter by a condition: they stay where they are.
    pub(super) fn picked(&mut self, id: NodeId) -> Result<Option<Picked<'a>>, LimitError> {
        match self.program.node(id) {
            Node::Filter { base, body, slot } => {
                self.machine.enter()?;
                let picked = self.pick(id, base, body, slot)?;
                self.machine.leave();
                Ok(Some(picked))
            }
            _ => Ok(None),
        }
    }

    fn pick(&mut self, id: NodeId, base: NodeId, body: NodeId, slot: u32) -> Result<Picked<'a>, LimitError> {
        let Some(items) = self.filtered(base)? else { return Ok(Picked::One(Ref::NULL)) };
        if let Node::Const(at) = self.program.node(body)
            && let Some(Value::Number(number)) = self.program.constants.get(at as usize)
        {
            return Ok(Picked::One(self.indexed(id, &items, *number)));
        }
        let mut kept = Vec::new();
        if items.len() == 0 {
            self.machine.quiet(true);
            let selection = self.select(body, slot, Ref::NULL);
            self.machine.quiet(false);
            return Ok(match selection? {
                Selection::Index(number) => Picked::One(self.indexed(id, &items, number)),
                Selection::Keep(_) => Picked::Many(kept),
            });
        }
        for at in 0..items.len() {
            let Some(item) = items.get(at) else { break };
            match self.select(body, slot, item)? {
                // Only an expression that does not look at the items selects by position.
                Selection::Index(number) if at == 0 => {
                    return Ok(Picked::One(self.indexed(id, &items, number)));
                }
                Selection::Keep(true) => {
                    self.machine.room(kept.len() + 1)?;
                    kept.extend(items.get(at));
                }
                _ => {}
            }
        }
        self.set(slot, None);
        Ok(Picked::Many(kept))
    }

    /// The items that a filter looks through.
    fn filtered(&mut self, base: NodeId) -> Result<Option<Items<'a>>, LimitError> {
        let base = match self.picked(base)? {
            Some(Picked::Many(items)) => return Ok(Some(Items::Picked(items))),
            Some(Picked::One(item)) => item,
            None => self.eval(base)?,
        };
        let is_list = matches!(base.view(), View::JsonList | View::Other(Value::List(_)));
        Ok(if is_list {
            base.items()
        } else if base.is_null() {
            // Null reads as no list at all.
            Some(Items::Picked(Vec::new()))
        } else {
            Some(Items::Picked(vec![base]))
        })
    }

    fn select(&mut self, body: NodeId, slot: u32, item: Ref<'a>) -> Result<Selection, LimitError> {
        self.set(slot, Some(item));
        if let Some(keep) = self.reader().truth(body) {
            self.machine.charge(2)?;
            return Ok(Selection::Keep(keep));
        }
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

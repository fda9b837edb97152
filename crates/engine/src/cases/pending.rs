//! Rounds that a budget stops: what of them is left to do is kept, and done when that is settled.

use super::{CaseMachine, Moved, Todo, place};
use crate::core::Spot;
use crate::event::{EventKind, IncidentCode, Pending};
use crate::state::Life;
use heddle_cmmn::plan::{CasePlan, CriterionIx};
use std::collections::VecDeque;

impl CaseMachine<'_> {
    /// Takes up what is left of an earlier round, once no budget stands against it any more; it comes before what the
    /// command caused.
    pub(super) fn take_pending(&mut self) {
        let stops = |code: IncidentCode| matches!(code, IncidentCode::Limit | IncidentCode::SentryLoop);
        let left = self.state.case.as_deref().map(|case| case.pending.as_slice()).unwrap_or_default();
        let is_open = self.state.life == Life::Active;
        if left.is_empty() || !is_open || self.state.incidents.iter().any(|own| stops(own.code)) {
            return;
        }
        let mut todo: VecDeque<Todo> = left.iter().filter_map(|own| self.todo_of(own)).collect();
        todo.append(&mut self.todo);
        self.todo = todo;
        self.emit(Spot::default(), EventKind::RoundPending { left: Vec::new() });
        self.reconsider();
    }

    /// Keeps what a round has left to do, behind what was left before.
    pub(super) fn leave_pending(&mut self) {
        if self.todo.is_empty() || self.state.life != Life::Active {
            return;
        }
        let todo = std::mem::take(&mut self.todo);
        let left: Vec<Pending> = todo.into_iter().filter_map(|own| pending_of(self.plan, own)).collect();
        if left.is_empty() {
            return;
        }
        self.emit(Spot::default(), EventKind::RoundPending { left });
    }

    fn todo_of(&self, own: &Pending) -> Option<Todo> {
        let plan = self.plan;
        Some(match own {
            Pending::Enter { id } => Todo::Enter(*id),
            Pending::Look { id } => Todo::Look(*id),
            Pending::TakeUp { id } => Todo::TakeUp(*id),
            Pending::Moved { id, item, event, criterion, parent } => {
                let around = parent.and_then(|id| self.places.get(&id));
                let item = place(plan, around.copied(), item)?;
                let own = plan.items.get(item as usize)?;
                let mut criteria = own.exit.iter().chain(&own.entry).copied();
                let named = |ix: &CriterionIx| {
                    plan.criteria.get(*ix as usize).map(|own| &own.id) == criterion.as_ref()
                };
                let by = criterion.as_ref().and_then(|_| criteria.find(named));
                Todo::Moved(Moved { id: *id, item, event: *event, criterion: by, parent: *parent })
            }
            Pending::Changed { item, event } => Todo::Changed(*plan.file_ids.get(item)?, *event),
            Pending::Set { name, before, after } => {
                Todo::Set { name: name.clone(), before: *before, after: *after }
            }
        })
    }
}

fn pending_of(plan: &CasePlan, todo: Todo) -> Option<Pending> {
    Some(match todo {
        Todo::Enter(id) => Pending::Enter { id },
        Todo::Look(id) => Pending::Look { id },
        Todo::TakeUp(id) => Pending::TakeUp { id },
        Todo::Moved(Moved { id, item, event, criterion, parent }) => {
            let criterion = criterion.and_then(|ix| plan.criteria.get(ix as usize));
            let criterion = criterion.map(|own| own.id.clone());
            Pending::Moved { id, item: plan.items.get(item as usize)?.id.clone(), event, criterion, parent }
        }
        Todo::Changed(file, event) => {
            Pending::Changed { item: plan.file.get(file as usize)?.id.clone(), event }
        }
        Todo::Set { name, before, after } => Pending::Set { name, before, after },
    })
}

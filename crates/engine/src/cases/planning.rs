//! Discretionary items (clauses 5.4.9 and 8.7): what may be planned, by whom, and where.

use super::CaseMachine;
use super::items::Creation;
use crate::command::ItemTarget;
use crate::core::StepFault;
use crate::event::ItemState;
use crate::{LocalId, Rejection};
use heddle_cmmn::plan::{Item, ItemIx, Rule, Work};
use std::sync::Arc;

impl CaseMachine<'_> {
    /// Puts a discretionary item into the plan.
    pub(super) fn plan_discretionary(
        &mut self,
        host: Option<ItemTarget>,
        item: &str,
    ) -> Result<(), Rejection> {
        let unknown = || Rejection::UnknownItem(item.to_owned());
        let named = self.items_of(item);
        let own = named.first().and_then(|ix| self.plan_item(*ix)).ok_or_else(unknown)?;
        let refused =
            |reason: &str| Rejection::NotPlannable { item: item.to_owned(), reason: reason.to_owned() };
        if own.discretionary.is_none() {
            return Err(refused("it is no discretionary item"));
        }
        let found: Vec<(ItemIx, LocalId)> =
            named.iter().flat_map(|ix| self.hosts(*ix).into_iter().map(move |id| (*ix, id))).collect();
        let mut hosts = found.iter().copied();
        let nowhere = if host.is_some() {
            "the host that is named is no active stage or task that has it in its planning table"
        } else {
            "no active stage or task has it in its planning table"
        };
        let host = match host {
            Some(ItemTarget::Instance(id)) => hosts.find(|(_, own)| *own == id),
            Some(ItemTarget::Item(name)) => {
                hosts.find(|(_, id)| self.state.item(*id).is_some_and(|own| *own.item == *name))
            }
            None => match found.as_slice() {
                [] => None,
                [only] => Some(*only),
                [..] => return Err(refused("several instances have it in their planning table: name one")),
            },
        };
        let (ix, host) = host.ok_or_else(|| refused(nowhere))?;
        let own = self.plan_item(ix).ok_or_else(unknown)?;
        let Some(discretion) = &own.discretionary else {
            return Err(refused("it is no discretionary item"));
        };
        for roles in &discretion.roles {
            self.admit_roles(&own.id, roles)?;
        }
        match self.applies(own, host) {
            Ok(None) => {}
            Ok(Some(text)) => return Err(refused(&format!("its applicability rule `{text}` does not hold"))),
            Err(StepFault::Rejected(rejection)) => return Err(rejection),
            Err(StepFault::Incident(_, message)) => return Err(refused(&message)),
        }
        let stage = self.stage_of(host)?;
        if !self.may_come(ix, own, stage) {
            return Err(refused("it is planned already and does not repeat"));
        }
        self.create(ix, stage, Creation { planned: true, ..Creation::default() }).map(drop)
    }

    /// Active instances with an item in their planning table.
    pub(super) fn hosts(&self, ix: ItemIx) -> Vec<LocalId> {
        let tables = (0..).zip(&self.plan.items).filter(|(_, own): &(ItemIx, &Item)| own.table.contains(&ix));
        let there = tables.flat_map(|(host, _)| self.live(host).iter().copied());
        let is_active = |id: &LocalId| self.state.item(*id).is_some_and(|own| own.state == ItemState::Active);
        there.filter(is_active).collect()
    }

    /// Stage into which something is planned from a stage or a human task.
    fn stage_of(&self, host: LocalId) -> Result<LocalId, Rejection> {
        let (_, item) = self.item_of(host)?;
        Ok(match item.work {
            Work::Stage { .. } => host,
            _ => self.item(host)?.parent.unwrap_or(LocalId::ROOT),
        })
    }

    /// The first applicability rule that does not hold, as its text.
    pub(super) fn applies(&self, item: &Item, host: LocalId) -> Result<Option<Arc<str>>, StepFault> {
        let Some(discretion) = &item.discretionary else { return Ok(None) };
        let scope = self.inner(host);
        for condition in &discretion.applicable {
            if !self.part(condition, scope)? {
                return Ok(Some(condition.text.clone()));
            }
        }
        Ok(None)
    }

    /// Whether one more instance of a discretionary item may come: one at a time, unless it repeats.
    fn may_come(&self, ix: ItemIx, item: &Item, stage: LocalId) -> bool {
        let mut there = self.live(ix).iter().filter_map(|id| self.state.item(*id));
        let repeats = !matches!(item.control.repetition, Rule::No);
        let is_there = there.any(|own| own.parent == Some(stage));
        if repeats { self.has_room(ix, item, stage) } else { !is_there }
    }

    /// Whether a discretionary item may still be planned into a stage that would complete.
    pub(super) fn is_left_to_plan(&self, ix: ItemIx, item: &Item, stage: LocalId) -> bool {
        let planned = self.case().is_ok_and(|case| case.tally(stage, &item.id).is_some());
        let again = !matches!(item.control.repetition, Rule::No);
        if planned && !again {
            return false;
        }
        // A rule that cannot be told holds the stage, as one that holds does.
        !matches!(self.applies(item, stage), Ok(Some(_))) && self.may_come(ix, item, stage)
    }

    /// Checks that the user fills one of the roles; without a role everyone who may work on the case is meant, and the
    /// service itself may do everything.
    pub(super) fn admit_roles(&self, item: &str, roles: &[Arc<str>]) -> Result<(), Rejection> {
        let Some(actor) = &self.cx.actor else { return Ok(()) };
        if roles.is_empty() {
            return Ok(());
        }
        let user = actor.user_id.to_string();
        let people = self.state.case.as_deref().map(|case| &case.people);
        let fills = |role: &Arc<str>| {
            let name = self.plan.roles.iter().find(|own| own.id == *role).map(|own| &own.name);
            let given = |own: &String| **own == **role || name.is_some_and(|name| **own == **name);
            self.cx.roles.iter().any(given)
                || people.and_then(|people| people.get(role)).is_some_and(|users| users.contains(&user))
        };
        if roles.iter().any(fills) {
            return Ok(());
        }
        let name = |role: &Arc<str>| {
            let own = self.plan.roles.iter().find(|own| own.id == *role);
            own.map_or_else(|| role.to_string(), |own| own.name.to_string())
        };
        Err(Rejection::NotAllowed { item: item.to_owned(), roles: roles.iter().map(name).collect() })
    }
}

//! Reach: which items can be there, begin and move, whatever people and data do.
//!
//! It errs on the side of what can happen: an item that is told of can never begin.

use super::Checked;
use crate::finding::{Diagnostic, Severity};
use crate::life::word;
use crate::plan::{
    CasePlan, Condition, CriterionIx, ItemEvent, ItemIx, OnPart, PLAN_MODEL, Rule, Source, Work,
};
use std::collections::VecDeque;

/// Possibilities of each item: what can happen to it.
#[derive(Debug)]
pub(super) struct Reach {
    /// Whether it can be there: its stage can become active.
    pub created: Vec<bool>,
    /// Whether it can begin: become enabled or active, or occur.
    pub begins: Vec<bool>,
}

impl Reach {
    pub(super) fn of(plan: &CasePlan) -> Self {
        let count = plan.items.len();
        let mut reach = Self { created: vec![false; count], begins: vec![false; count] };
        // An item is looked at again when something that it depends on has come further.
        let mut next: VecDeque<ItemIx> = (0..).take(count).collect();
        let mut waits = vec![true; count];
        while let Some(ix) = next.pop_front() {
            if let Some(waits) = waits.get_mut(ix as usize) {
                *waits = false;
            }
            if !reach.look(plan, ix) {
                continue;
            }
            for other in dependents(plan, ix) {
                if let Some(waits) = waits.get_mut(other as usize)
                    && !std::mem::replace(waits, true)
                {
                    next.push_back(other);
                }
            }
        }
        reach
    }

    /// Looks at what can happen to an item; answers whether it is more than before.
    fn look(&mut self, plan: &CasePlan, ix: ItemIx) -> bool {
        let Some(item) = plan.items.get(ix as usize) else { return false };
        let created = item.parent.is_none_or(|parent| self.has_begun(parent));
        let begins =
            created && (item.entry.is_empty() || item.entry.iter().any(|own| self.can_be_met(plan, *own)));
        let mut has_moved = false;
        for (known, now) in [(&mut self.created, created), (&mut self.begins, begins)] {
            if let Some(known) = known.get_mut(ix as usize)
                && now
                && !*known
            {
                *known = true;
                has_moved = true;
            }
        }
        has_moved
    }

    fn is_created(&self, ix: ItemIx) -> bool {
        self.created.get(ix as usize).copied().unwrap_or_default()
    }

    pub(super) fn has_begun(&self, ix: ItemIx) -> bool {
        self.begins.get(ix as usize).copied().unwrap_or_default()
    }

    /// Whether a criterion can be met.
    pub(super) fn can_be_met(&self, plan: &CasePlan, criterion: CriterionIx) -> bool {
        let sentry =
            plan.criteria.get(criterion as usize).and_then(|own| plan.sentries.get(own.sentry as usize));
        sentry.is_some_and(|sentry| {
            !sentry.condition.as_ref().is_some_and(is_never)
                && sentry.on.iter().all(|part| self.can_happen(plan, &part.source))
        })
    }

    fn can_happen(&self, plan: &CasePlan, source: &Source) -> bool {
        let (item, event, exit) = match source {
            // People and other cases change the case file.
            Source::File { .. } => return true,
            Source::Item { item, event, exit } => (*item, *event, *exit),
        };
        let Some(own) = plan.items.get(item as usize) else { return false };
        if !has_transition(&own.work, event) {
            return false;
        }
        let (there, begins) = (self.is_created(item), self.has_begun(item));
        match event {
            ItemEvent::Create
            | ItemEvent::Suspend
            | ItemEvent::Resume
            | ItemEvent::ParentSuspend
            | ItemEvent::ParentResume
            | ItemEvent::ParentTerminate => there,
            ItemEvent::Exit => exit.map_or(there, |exit| there && self.can_be_met(plan, exit)),
            ItemEvent::Terminate if is_passive(&own.work) => there,
            ItemEvent::Enable | ItemEvent::Disable | ItemEvent::Reenable | ItemEvent::ManualStart => {
                begins && !matches!(own.control.manual, Rule::No)
            }
            ItemEvent::Start => begins && !matches!(own.control.manual, Rule::Yes),
            ItemEvent::Complete
            | ItemEvent::Occur
            | ItemEvent::Terminate
            | ItemEvent::Fault
            | ItemEvent::Reactivate => begins,
            ItemEvent::Close => false,
        }
    }
}

/// Items whose beginning depends on another one: those in it, those that wait for it, and, where it is waited for by an exit
/// criterion, those that wait for that exit.
fn dependents(plan: &CasePlan, ix: ItemIx) -> Vec<ItemIx> {
    let waiting = |ix: ItemIx| {
        let criteria = plan.on_item.get(&ix).map(Vec::as_slice).unwrap_or_default();
        criteria.iter().filter_map(|own| plan.criteria.get(*own as usize))
    };
    let mut found = plan.items.get(ix as usize).map(|own| own.children.clone()).unwrap_or_default();
    for criterion in waiting(ix) {
        found.push(criterion.item);
        if criterion.is_exit {
            found.extend(waiting(criterion.item).map(|own| own.item));
        }
    }
    found
}

fn is_never(condition: &Condition) -> bool {
    condition.expression.constant().is_some_and(|value| value == heddle_feel::Value::Boolean(false))
}

/// Whether it is a milestone or an event listener.
fn is_passive(work: &Work) -> bool {
    match work {
        Work::Milestone { .. }
        | Work::Timer { .. }
        | Work::UserEvent { .. }
        | Work::Message { .. }
        | Work::Signal { .. }
        | Work::Variable { .. }
        | Work::Reactivation { .. } => true,
        Work::Stage { .. }
        | Work::Human { .. }
        | Work::Process { .. }
        | Work::Case { .. }
        | Work::Decision { .. }
        | Work::Job { .. }
        | Work::Script { .. }
        | Work::Task => false,
    }
}

/// Whether items of a kind have a transition (clause 8.4).
fn has_transition(work: &Work, event: ItemEvent) -> bool {
    match event {
        ItemEvent::Create
        | ItemEvent::Terminate
        | ItemEvent::Suspend
        | ItemEvent::Resume
        | ItemEvent::Exit => true,
        ItemEvent::ParentSuspend | ItemEvent::ParentResume => true,
        ItemEvent::Occur | ItemEvent::ParentTerminate => is_passive(work),
        ItemEvent::Complete
        | ItemEvent::Disable
        | ItemEvent::Enable
        | ItemEvent::Fault
        | ItemEvent::ManualStart
        | ItemEvent::Reactivate
        | ItemEvent::Reenable
        | ItemEvent::Start => !is_passive(work),
        // Only the case is closed.
        ItemEvent::Close => false,
    }
}

/// Tells of transitions that their sources do not have, of criteria that are never met and of items that never begin.
pub(super) fn check(case: &Checked<'_>, reach: &Reach) -> Vec<Diagnostic> {
    let plan = case.plan;
    let mut told = Vec::new();
    for (ix, item) in plan.items.iter().enumerate() {
        let ix = ix as ItemIx;
        for criterion in item.entry.iter().chain(&item.exit) {
            let Some(own) = plan.criteria.get(*criterion as usize) else { continue };
            let Some(sentry) = plan.sentries.get(own.sentry as usize) else { continue };
            told.extend(sentry.on.iter().filter_map(|part| impossible(case, ix, part)));
            if sentry.condition.as_ref().is_some_and(is_never) {
                let message = format!("the if-part of the sentry {:?} is never true", sentry.id);
                told.push(case.about(ix, Severity::Warning, ("sentryNeverMet", "5.4.7.2"), message));
            }
        }
        if let Work::Timer { start: Some(part), .. } = &item.work {
            told.extend(impossible(case, ix, part));
        }
        if !is_stage_or_task(&item.work)
            && !matches!(item.work, Work::Milestone { .. })
            && !item.entry.is_empty()
        {
            let message = "an event listener is there as soon as its stage is; it has no entry criterion";
            told.push(case.about(ix, Severity::Error, ("entryOfListener", "5.4.5"), message));
        } else if reach.is_created(ix) && !reach.has_begun(ix) {
            told.push(unreachable(case, reach, ix));
        }
    }
    told
}

fn is_stage_or_task(work: &Work) -> bool {
    !is_passive(work)
}

fn impossible(case: &Checked<'_>, item: ItemIx, part: &OnPart) -> Option<Diagnostic> {
    let Source::Item { item: source, event, .. } = &part.source else { return None };
    let own = case.plan.items.get(*source as usize)?;
    if has_transition(&own.work, *event) {
        return None;
    }
    let kind = if is_passive(&own.work) { "milestone or event listener" } else { "stage or task" };
    let message = format!("{:?} is waited for to `{}`, which no {kind} does", own.id, word(*event));
    Some(case.about(item, Severity::Error, ("impossibleTransition", "8.4"), message))
}

/// The finding on an item that can never begin, with what it waits for.
fn unreachable(case: &Checked<'_>, reach: &Reach, ix: ItemIx) -> Diagnostic {
    let plan = case.plan;
    let item = plan.items.get(ix as usize);
    let criteria = item.map(|own| own.entry.as_slice()).unwrap_or_default();
    let waits = criteria.iter().filter_map(|criterion| {
        let sentry = plan.sentries.get(plan.criteria.get(*criterion as usize)?.sentry as usize)?;
        let never = sentry.on.iter().find(|part| !reach.can_happen(plan, &part.source));
        Some(match never.map(|part| &part.source) {
            Some(Source::Item { item, event, .. }) => {
                let source = plan.items.get(*item as usize).map(|own| &*own.id).unwrap_or_default();
                format!("`{}` of {source:?}", word(*event))
            }
            Some(Source::File { .. }) | None => format!("the if-part of {:?}", sentry.id),
        })
    });
    let waits: Vec<String> = waits.take(5).collect();
    let required = item.is_some_and(|own| !matches!(own.control.required, Rule::No));
    let rule = if required { ("requiredNeverEnabled", "8.6.1") } else { ("unreachableItem", "5.4.3") };
    let what = if required { "the required item" } else { "the item" };
    let message = format!("{what} can never begin: never happens {}", waits.join(", "));
    debug_assert!(ix != PLAN_MODEL, "the case plan model has no entry criterion");
    case.about(ix, Severity::Warning, rule, message)
}

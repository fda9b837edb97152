//! Ends: stages that can never end by themselves, and items that repeat without an end.

use super::Checked;
use super::reach::Reach;
use crate::finding::{Diagnostic, Severity};
use crate::plan::{Item, ItemIx, ParentCompletion, Rule, Work};

/// Tells of endless repetitions and of stages without an end.
pub(super) fn check(case: &Checked<'_>, reach: &Reach) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    for (ix, item) in case.plan.items.iter().enumerate() {
        let ix = ix as ItemIx;
        if repeats_for_ever(item) && is_instant(case, item) {
            let message = "the item ends as soon as it begins, and always comes again";
            told.push(case.about(ix, Severity::Error, ("endlessRepetition", "5.4.11.3"), message));
        }
        if let Work::Stage { auto_complete } = item.work
            && reach.has_begun(ix)
            && let Some(message) = never_ends(case, reach, item, auto_complete)
        {
            told.push(case.about(ix, Severity::Warning, ("stageNeverEnds", "8.6.1"), message));
        }
    }
    told
}

/// Whether another one always follows the end of an item.
fn repeats_for_ever(item: &Item) -> bool {
    matches!(item.control.repetition, Rule::Yes)
        && item.entry.is_empty()
        && item.control.repeats.collection.is_none()
}

/// Whether an item ends with its beginning, without anybody or anything outside.
fn is_instant(case: &Checked<'_>, item: &Item) -> bool {
    if matches!(item.control.manual, Rule::Yes) || item.discretionary.is_some() {
        return false;
    }
    match &item.work {
        Work::Milestone { .. } | Work::Decision { .. } | Work::Script { .. } => true,
        Work::Stage { .. } => item.children.is_empty() && item.table.is_empty() && case.plan.items.len() > 1,
        Work::Human { .. } | Work::Process { .. } | Work::Case { .. } | Work::Job { .. } | Work::Task => {
            !item.extra.blocking
        }
        Work::Timer { .. }
        | Work::UserEvent { .. }
        | Work::Message { .. }
        | Work::Signal { .. }
        | Work::Variable { .. }
        | Work::Reactivation { .. } => false,
    }
}

/// Reason why a stage can never end by itself; none where it can.
fn never_ends(case: &Checked<'_>, reach: &Reach, stage: &Item, auto_complete: bool) -> Option<String> {
    let plan = case.plan;
    if stage.exit.iter().any(|own| reach.can_be_met(plan, *own)) {
        return None;
    }
    stage.children.iter().find_map(|&ix| {
        let child = plan.items.get(ix as usize)?;
        if child.discretionary.is_some() || child.control.parent_completion == ParentCompletion::Ignore {
            return None;
        }
        let ends = child.exit.iter().any(|own| reach.can_be_met(plan, *own));
        if matches!(child.control.required, Rule::Yes) && !reach.has_begun(ix) && !ends {
            return Some(format!("the required item {:?} can never begin", child.id));
        }
        let listens = matches!(
            child.work,
            Work::Timer { .. } | Work::UserEvent { .. } | Work::Message { .. } | Work::Signal { .. }
        );
        if !auto_complete && repeats_for_ever(child) && !listens && !ends {
            return Some(format!("`autoComplete` is false, and the item {:?} always comes again", child.id));
        }
        None
    })
}

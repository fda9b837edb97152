//! Usage: variables that nothing in the case sets, and roles that nothing in it asks for.

use super::Checked;
use crate::finding::{At, Diagnostic, Severity, found};
use crate::plan::{Condition, Item, Reactivation, Rule, Work};
use heddle_settings::{DataMapping, Target};
use serde_json::Value;
use std::collections::BTreeSet;

/// Tells of variables and roles, as facts alone: a case gets variables at its start and by its tasks.
pub(super) fn check(case: &Checked<'_>) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    let known = known(case);
    let mut unknown = BTreeSet::new();
    for condition in conditions(case) {
        let names = condition.expression.globals().filter(|name| !known.contains(*name));
        let context = condition.context.is_some();
        // With a context the names are its members.
        unknown.extend(names.filter(|_| !context).map(str::to_owned));
    }
    for name in unknown {
        let message = format!("a condition reads the variable `{name}`, which nothing in the case sets");
        let at = At { id: &case.plan.id, path: case.path };
        told.push(found(Severity::Info, ("unknownVariable", "5.4.7.2"), at, message));
    }
    if case.plan.reactivation.is_none()
        && let Some((ix, item)) =
            (0..).zip(&case.plan.items).find(|(_, item)| matches!(item.work, Work::Reactivation { .. }))
    {
        let message = format!(
            "when {:?} reactivates the case, what waits for events and criteria is there anew, and what was done stays done: no \
             rule says otherwise",
            item.id
        );
        told.push(case.about(ix, Severity::Info, ("reactivationUnruled", "8.4"), message));
    }
    let used = used_roles(case);
    for (number, role) in case.plan.roles.iter().enumerate() {
        if !used.contains(&*role.id) {
            let path = format!("{}.roles[{number}]", case.path);
            let message = format!("nothing in the case asks for the role `{}`", role.name);
            let at = At { id: &role.id, path: &path };
            told.push(found(Severity::Info, ("roleUnused", "5.2.2"), at, message));
        }
    }
    told
}

/// All conditions of a plan.
fn conditions<'p>(case: &Checked<'p>) -> impl Iterator<Item = &'p Condition> {
    let plan = case.plan;
    let of_sentries = plan.sentries.iter().filter_map(|sentry| sentry.condition.as_ref());
    let of_items = plan.items.iter().flat_map(|item| {
        let control = &item.control;
        let rules = [&control.required, &control.manual, &control.repetition];
        let rules = rules.into_iter().chain(control.completion_neutral.as_ref());
        let rules = rules.chain(control.reactivation.as_deref().into_iter().flat_map(of_reactivation));
        let rules = rules.filter_map(condition_of);
        let applicable = item.discretionary.iter().flat_map(|own| &own.applicable);
        rules.chain(item.extra.available.as_ref()).chain(applicable)
    });
    let default = plan.reactivation.iter().flat_map(of_reactivation).filter_map(condition_of);
    of_sentries.chain(of_items).chain(default)
}

fn of_reactivation(rules: &Reactivation) -> [&Rule; 3] {
    [&rules.activate, &rules.ignore, &rules.anew]
}

fn condition_of(rule: &Rule) -> Option<&Condition> {
    match rule {
        Rule::When(condition) => Some(&**condition),
        Rule::No | Rule::Yes => None,
    }
}

/// Names that something in the case sets.
fn known<'p>(case: &Checked<'p>) -> BTreeSet<&'p str> {
    let plan = case.plan;
    let mut known: BTreeSet<&str> = ["caseFile", "caseInstanceId", "caseId"].into();
    known.extend(plan.inputs.iter().map(|own| &*own.name));
    known.extend(plan.starts.iter().filter_map(|own| own.target.as_ref()).map(|own| &*own.variable));
    for item in &plan.items {
        let repeats = &item.control.repeats;
        let names = [&repeats.element_variable, &repeats.index_variable, &repeats.counter_variable];
        known.extend(names.into_iter().flatten().map(|name| &**name));
        known.extend(item.extra.mappings.outputs.iter().map(|(target, _)| &*target.variable));
        known.extend(
            item.extra
                .listeners
                .iter()
                .filter_map(|own| own.variable.as_ref())
                .map(|own: &Target| &*own.variable),
        );
        known.extend(item.extra.settings.get("initiator").and_then(Value::as_str));
        set_by(item, &mut known);
    }
    known
}

fn set_by<'p>(item: &'p Item, known: &mut BTreeSet<&'p str>) {
    let mut data = |own: &'p DataMapping| {
        known.extend(own.result_variable.as_deref());
        known.extend(own.outputs.iter().map(|(target, _)| &*target.variable));
    };
    match &item.work {
        Work::Decision { decision } => data(&decision.data),
        Work::Script { script } => data(&script.data),
        Work::Milestone { variable } => known.extend(variable.as_deref()),
        Work::Job { job } => known.extend(job.result_variable.as_deref()),
        Work::Human { task, .. } => {
            known.extend(task.outcome_values.values().flat_map(|own| own.keys()).map(String::as_str));
            let form =
                task.form.as_deref().and_then(|form| form.get("properties")).and_then(Value::as_object);
            known.extend(form.into_iter().flat_map(|own| own.keys()).map(String::as_str));
            if !task.outcomes.is_empty() {
                known.insert("outcome");
            }
        }
        Work::Stage { .. }
        | Work::Timer { .. }
        | Work::UserEvent { .. }
        | Work::Message { .. }
        | Work::Signal { .. }
        | Work::Variable { .. }
        | Work::Reactivation { .. }
        | Work::Process { .. }
        | Work::Case { .. }
        | Work::Task => {}
    }
}

/// Ids of the roles that something asks for.
fn used_roles<'p>(case: &Checked<'p>) -> BTreeSet<&'p str> {
    let mut used = BTreeSet::new();
    for item in &case.plan.items {
        if let Work::UserEvent { roles } = &item.work {
            used.extend(roles.iter().map(|role| &**role));
        }
        if let Work::Human { performer, .. } = &item.work {
            used.extend(performer.as_deref());
        }
        let planning = item.discretionary.iter().flat_map(|own| own.roles.iter().flatten());
        used.extend(planning.map(|role| &**role));
    }
    used
}

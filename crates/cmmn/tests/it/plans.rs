//! The suites' models as plans: each is executable, or says why not.

use crate::folders::{models, suites};
use heddle_cmmn::plan::{CasePlan, PLAN_MODEL, Source, Work};
use heddle_cmmn::{Compiled, Meaning, examine, xml};
use std::path::Path;

fn examined(path: &Path) -> Compiled {
    let source = std::fs::read(path).unwrap();
    examine(&xml::read(&source).unwrap().definition, Meaning::default())
}

/// Indexes point at what is there, and every criterion is found by what it waits for.
fn holds_together(plan: &CasePlan) {
    assert!(matches!(plan.items[PLAN_MODEL as usize].work, Work::Stage { .. }));
    for (ix, item) in plan.items.iter().enumerate() {
        assert_eq!(item.parent.is_none(), ix == PLAN_MODEL as usize, "{}", item.id);
        let around = item.parent.map(|parent| &plan.items[parent as usize]);
        assert!(around.is_none_or(|around| around.children.contains(&(ix as u32))), "{}", item.id);
        for &criterion in item.entry.iter().chain(&item.exit) {
            assert_eq!(plan.criteria[criterion as usize].item as usize, ix);
        }
    }
    for (ix, criterion) in plan.criteria.iter().enumerate() {
        let ix = ix as u32;
        let sentry = &plan.sentries[criterion.sentry as usize];
        assert!(!sentry.on.is_empty() || sentry.condition.is_some(), "{}", sentry.id);
        for part in &sentry.on {
            let concerned = match part.source {
                Source::Item { item, .. } => &plan.on_item[&item],
                Source::File { item, .. } => &plan.on_file[&item],
            };
            assert!(concerned.contains(&ix), "{}", criterion.id);
        }
        assert_eq!(sentry.condition.is_some(), plan.on_data.contains(&ix), "{}", criterion.id);
    }
}

#[test]
fn every_model_is_executable_or_says_why_not() {
    let Some(suites) = suites() else { return };
    let (mut executable, mut refused) = (0, Vec::new());
    for path in models(&suites.join("cmmn/pool")) {
        let compiled = examined(&path);
        compiled.cases.iter().for_each(|plan| holds_together(plan));
        if compiled.is_executable() {
            assert!(!compiled.cases.is_empty(), "{}", path.display());
            executable += 1;
            continue;
        }
        for found in compiled.diagnostics.iter().filter(|own| own.is_error()) {
            assert!(found.clause.is_some() && found.path.is_some() && found.remedy.is_some(), "{found:?}");
            refused.push(format!("{}: {} {}", path.display(), found.code, found.message));
        }
    }
    println!("{executable} executable; refused:\n{}", refused.join("\n"));
    assert!(executable > 100, "{executable} executable; refused:\n{}", refused.join("\n"));
}

#[test]
fn the_models_with_expectations_are_executable() {
    let Some(suites) = suites() else { return };
    let all = models(&suites.join("cmmn/execution"));
    assert!(!all.is_empty());
    for path in all {
        let compiled = examined(&path);
        assert!(compiled.is_executable(), "{}: {:#?}", path.display(), compiled.diagnostics);
        compiled.cases.iter().for_each(|plan| holds_together(plan));
    }
}

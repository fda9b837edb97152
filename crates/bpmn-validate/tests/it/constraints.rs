//! The catalogue of constraints on models that each break one rule, and on models that break none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use heddle_bpmn::xml;
use heddle_bpmn_validate::{Profile, RuleProfile, constraints, rules};

use crate::folders::{models, suites};

/// The rule that a file of the suite breaks: its folder's name, or the number in its own.
fn rule_of(path: &Path) -> String {
    let folder = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    if folder != "REF" {
        return folder;
    }
    let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
    let number: u32 = stem.trim_start_matches("REF_").parse().unwrap();
    format!("REF{number:03}")
}

fn profile_of(rule: &str) -> Profile {
    match rules().iter().find(|one| one.rule == rule).map(|one| one.profile) {
        Some(RuleProfile::CommonExecutable) => Profile::CommonExecutable,
        Some(RuleProfile::Full) => Profile::Full,
        _ => Profile::Structural,
    }
}

#[test]
fn each_broken_rule_is_found() {
    let Some(suites) = suites() else { return };
    let mut missed = Vec::new();
    let files = models(&suites.join("bpmn/constraints"));
    for path in &files {
        let rule = rule_of(path);
        let imported = xml::read(&std::fs::read(path).unwrap()).unwrap();
        let found = constraints(&imported.definition, profile_of(&rule));
        assert!(found.iter().all(|one| one.clause.is_some() && one.remedy.is_some()), "{found:?}");
        if !found.iter().any(|one| one.rule.as_deref() == Some(&rule) && one.is_error()) {
            let others: Vec<_> = found.iter().filter_map(|one| one.rule.as_deref()).collect();
            missed.push(format!("{}: {others:?}", path.file_name().unwrap().to_string_lossy()));
        }
    }
    assert!(
        files.len() > 150 && missed.is_empty(),
        "{} of {}\n{}",
        missed.len(),
        files.len(),
        missed.join("\n")
    );
}

/// Models of the control that break a rule, as the suite's description says: they may be refused. Each is named by
/// the rule, or by the code of a finding without a rule.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("Token_StartQuantity_Zero", "EXT037"),
    ("Token_CompletionQuantity_Zero", "EXT038"),
    // An error that is thrown and caught is not declared.
    ("BoundaryErrorEventTest.subprocess.bpmn", "danglingReference"),
    ("BoundaryErrorEventTest.testCatchErrorThrownByCallActivityOnSubprocess", "danglingReference"),
];

#[test]
fn models_that_break_no_rule_are_not_refused() {
    let Some(suites) = suites() else { return };
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for folder in ["bpmn/execution", "bpmn/miwg"] {
        for path in models(&suites.join(folder)) {
            let imported = xml::read(&std::fs::read(&path).unwrap()).unwrap();
            for one in constraints(&imported.definition, Profile::Publication) {
                let name = path.file_name().unwrap().to_string_lossy();
                let rule = one.rule.clone().unwrap_or(one.code);
                if EXCEPTIONS.iter().any(|(file, broken)| name.contains(file) && rule == *broken) {
                    continue;
                }
                refused
                    .entry(rule)
                    .or_default()
                    .push(format!("{name} {}", one.element_id.unwrap_or_default()));
            }
        }
    }
    let lines: Vec<_> = refused
        .iter()
        .map(|(rule, all)| format!("{rule} {} {:?}", all.len(), &all[..all.len().min(6)]))
        .collect();
    assert!(refused.is_empty(), "{}", lines.join("\n"));
}

/// Rules that real models break without harm: a validation tells them, a publication does not refuse them.
const TOLD: &[&str] = &["EXT023", "EXT091", "EXT101", "EXT151"];

#[test]
fn what_real_models_break_is_told_and_not_refused() {
    let Some(suites) = suites() else { return };
    let mut told = BTreeSet::new();
    for folder in ["bpmn/execution", "bpmn/miwg"] {
        for path in models(&suites.join(folder)) {
            let imported = xml::read(&std::fs::read(&path).unwrap()).unwrap();
            let found = constraints(&imported.definition, Profile::Structural);
            let refused = constraints(&imported.definition, Profile::Publication);
            let more = found.into_iter().filter(|one| one.rule.is_some() && !refused.contains(one));
            told.extend(more.filter_map(|one| one.rule));
        }
    }
    assert_eq!(told.iter().map(String::as_str).collect::<Vec<_>>(), TOLD);
}

//! Soundness of the suites' models.

use heddle_bpmn::xml;
use heddle_bpmn_validate::soundness;

use crate::folders::{models, suites};

/// Every model is judged to its end, and the reference models that engines run are not called stuck.
#[test]
fn models_of_the_suites_are_judged() {
    let Some(suites) = suites() else { return };
    let mut told = Vec::new();
    for path in models(&suites.join("bpmn/execution")) {
        let imported = xml::read(&std::fs::read(&path).unwrap()).unwrap();
        let found = soundness(&imported.definition);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(found.complete, "{name}");
        let ids = |list: &[heddle_bpmn_validate::soundness::Finding]| {
            list.iter().map(|one| one.element_ids.join("+")).collect::<Vec<_>>().join(" ")
        };
        for (kind, list) in [
            ("deadlock", &found.deadlocks),
            ("lackOfSynchronization", &found.lack_of_synchronization),
            ("unreachable", &found.unreachable),
            ("unboundedCycle", &found.unbounded_cycles),
        ] {
            if !list.is_empty() {
                told.push(format!("{name} {kind} {}", ids(list)));
            }
        }
    }
    insta::assert_snapshot!(told.join("\n"));
}

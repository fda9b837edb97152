//! People whom a case type names.

use std::collections::BTreeSet;
use std::sync::Arc;

use heddle_cmmn::plan::{CasePlan, Work};
use heddle_execution::people::{Named, literals};

/// Names that human tasks say literally, or take from the role of their performer. A definition that stands in a plan
/// several times is looked at once.
pub(super) fn named(cases: &[Arc<CasePlan>]) -> Vec<Named> {
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for item in cases.iter().flat_map(|plan| &plan.items) {
        let Work::Human { task, .. } = &item.work else { continue };
        let users = task.users().flat_map(literals).map(|name| (name, false));
        for (name, is_group) in users.chain(task.groups().flat_map(literals).map(|name| (name, true))) {
            if told.insert((&*item.definition, name.clone(), is_group)) {
                found.push(Named { name, element: item.definition.to_string(), path: None, is_group });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_cmmn::Meaning;
    use serde_json::json;

    #[test]
    fn those_whom_tasks_name_are_found_once_for_each_definition() {
        let document = json!({ "cases": [{ "id": "c", "roles": [{ "id": "r", "name": "Clerk" }],
            "casePlanModel": { "id": "plan", "type": "casePlanModel",
                "items": [{ "id": "one", "definitionRef": "a" }, { "id": "two", "definitionRef": "a" },
                    { "id": "three", "definitionRef": "b" }],
                "definitions": [
                    { "id": "a", "type": "humanTask", "configuration": { "assignee": "ada",
                        "candidateUsers": "bob, ada", "candidateGroups": "=groups" } },
                    { "id": "b", "type": "humanTask", "performerRef": "r" }] } }] });
        let definition = super::super::typed(&document).unwrap();
        let compiled = heddle_cmmn::compile_with(&definition, Meaning::default());
        let named = named(&compiled.cases);
        let told: Vec<_> = named.iter().map(|one| (&*one.element, &*one.name, one.is_group)).collect();
        assert_eq!(told, [("a", "ada", false), ("a", "bob", false), ("b", "Clerk", true)]);
    }
}

//! Things that a case begins with: people in its roles, and values of its file.

use std::collections::{BTreeMap, BTreeSet};

use heddle_cmmn::plan::CasePlan;
use heddle_policy::RequestContext;
use serde_json::{Map, Value};

use super::Runs;
use crate::{Problem, UseCaseError};

/// Member of a start's input with the values of the case file.
pub const CASE_FILE: &str = "caseFile";
/// Most people whom a start names.
const MOST_PEOPLE: usize = 200;

impl Runs {
    /// The people whom a start names for roles, by their ids.
    ///
    /// # Errors
    /// `Invalid` for one who is no member (`unknownUser`), for a role without anybody and for too many; `Unavailable`.
    pub(super) async fn known_people(
        &self,
        context: &RequestContext,
        given: BTreeMap<String, Vec<String>>,
    ) -> Result<BTreeMap<String, Vec<String>>, UseCaseError> {
        if given.values().map(Vec::len).sum::<usize>() > MOST_PEOPLE {
            let message = format!("A start names at most {MOST_PEOPLE} people.");
            return Err(UseCaseError::invalid("roles", "tooLong", message));
        }
        let mut known = BTreeMap::new();
        for (role, names) in given {
            if names.is_empty() {
                let message = "Name somebody, or leave the role out.";
                return Err(UseCaseError::invalid(&format!("roles.{role}"), "required", message));
            }
            let mut ids = BTreeSet::new();
            for (at, name) in names.iter().enumerate() {
                let person = self.person(context, &format!("roles.{role}[{at}]"), name).await?;
                ids.insert(person.id.to_string());
            }
            known.insert(role, ids.into_iter().collect());
        }
        Ok(known)
    }
}

/// The same people by the ids of the roles, which a start may name by their ids or names.
///
/// # Errors
/// `Invalid` (`unknownRole`) for a role that the case does not have.
pub(super) fn people(
    plan: &CasePlan,
    given: BTreeMap<String, Vec<String>>,
) -> Result<BTreeMap<String, Vec<String>>, UseCaseError> {
    let mut by_id: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut problems = Vec::new();
    for (named, users) in given {
        let by_its_id = plan.roles.iter().find(|role| *role.id == *named);
        let Some(role) = by_its_id.or_else(|| plan.roles.iter().find(|role| *role.name == *named)) else {
            let known: Vec<String> = plan.roles.iter().map(|role| format!("`{}`", role.id)).collect();
            let message = match known.as_slice() {
                [] => "The case has no roles.".to_owned(),
                known => format!("The case has the roles {}.", known.join(", ")),
            };
            problems.push(Problem::at(format!("roles.{named}"), "unknownRole", message));
            continue;
        };
        let own = by_id.entry(role.id.to_string()).or_default();
        own.extend(users);
        own.sort_unstable();
        own.dedup();
    }
    if problems.is_empty() { Ok(by_id) } else { Err(UseCaseError::Invalid(problems)) }
}

/// Checks that the case file has the items of which a start gives values.
///
/// # Errors
/// `Invalid` for each that it does not have.
pub(super) fn check_file(plan: &CasePlan, input: &Map<String, Value>) -> Result<(), UseCaseError> {
    let given = match input.get(CASE_FILE) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(given)) => given,
        Some(_) => {
            let message = "An object of values by the names of case file items is needed.";
            return Err(UseCaseError::invalid("file", "wrongType", message));
        }
    };
    let unknown = given.keys().filter(|name| !plan.file_ids.contains_key(name.as_str()));
    let problem = |name: &String| {
        let message = format!("The case file has no item `{name}`.");
        Problem::at(format!("file.{name}"), "unknownItem", message)
    };
    let problems: Vec<Problem> = unknown.map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(UseCaseError::Invalid(problems)) }
}

/// A refusal of the values of a start, at the member that has them.
pub(super) fn at_start(error: UseCaseError) -> UseCaseError {
    let UseCaseError::Invalid(problems) = error else { return error };
    let placed = |mut problem: Problem| {
        if problem.field.as_deref() == Some("value") {
            problem.field = Some("file".to_owned());
        }
        problem
    };
    UseCaseError::Invalid(problems.into_iter().map(placed).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use heddle_cmmn::model::CaseDefinition;
    use serde_json::json;

    fn plan() -> Arc<CasePlan> {
        let definition = json!({ "cases": [{ "id": "claim", "name": "Claim",
            "caseFile": { "items": [{ "id": "f1", "name": "claimed" }] },
            "roles": [{ "id": "r1", "name": "adjuster" }],
            "casePlanModel": { "id": "plan", "type": "casePlanModel",
                "items": [{ "id": "item", "definitionRef": "done" }],
                "definitions": [{ "id": "done", "type": "milestone", "name": "Done" }] } }] });
        let definition: CaseDefinition = serde_json::from_value(definition).unwrap();
        let compiled = heddle_cmmn::compile_with(&definition, heddle_cmmn::Meaning::default());
        compiled.cases.first().cloned().unwrap_or_else(|| panic!("{:?}", compiled.diagnostics))
    }

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn roles_are_named_by_id_or_name_and_unknown_ones_are_refused() {
        let plan = plan();
        let given = |role: &str| BTreeMap::from([(role.to_owned(), vec!["u".to_owned()])]);
        for named in ["r1", "adjuster"] {
            assert_eq!(people(&plan, given(named)).unwrap(), given("r1"));
        }
        let both = BTreeMap::from(["r1", "adjuster"].map(|role| (role.to_owned(), vec!["u".to_owned()])));
        assert_eq!(people(&plan, both).unwrap(), given("r1"), "nobody is named twice");
        let Err(UseCaseError::Invalid(problems)) = people(&plan, given("judge")) else {
            panic!("it is taken")
        };
        assert_eq!((problems[0].field.as_deref(), problems[0].reason), (Some("roles.judge"), "unknownRole"));
    }

    #[test]
    fn values_of_unknown_items_are_refused_by_their_names() {
        let plan = plan();
        assert!(check_file(&plan, &object(json!({ "caseFile": { "claimed": 1, "f1": 2 }, "x": 3 }))).is_ok());
        let wrong = object(json!({ "caseFile": { "claim": 1 } }));
        let Err(UseCaseError::Invalid(problems)) = check_file(&plan, &wrong) else { panic!("it is taken") };
        assert_eq!((problems[0].field.as_deref(), problems[0].reason), (Some("file.claim"), "unknownItem"));
    }
}

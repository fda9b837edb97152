//! People whom a definition names: a task for somebody who is not there waits for nobody, which its author wants to know.

use std::collections::HashMap;

use heddle_bpmn::ElementKind;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn_graph::lane_names;
use heddle_kernel::TenantId;
use serde_json::Value;

use crate::UseCaseError;
use crate::ports::Directory;

/// Most users of one definition who are looked up.
const MOST_USERS: usize = 200;

/// A name that a human task says literally, or takes from its lane.
struct Named {
    name: String,
    element: String,
    path: String,
    is_group: bool,
}

/// A warning for each user and group that a human task names and that the organisation does not have. What an
/// expression gives is known when the task is created.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn findings(
    directory: &dyn Directory,
    tenant: TenantId,
    definition: &WorkflowDefinition,
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let (groups, users): (Vec<Named>, Vec<Named>) =
        named(definition).into_iter().partition(|one| one.is_group);
    let mut found = Vec::new();
    let mut known: HashMap<&str, bool> = HashMap::new();
    for one in &users {
        let there = match known.get(one.name.as_str()) {
            Some(there) => *there,
            None if known.len() >= MOST_USERS => break,
            None => directory.person(tenant, &one.name).await?.is_some(),
        };
        known.insert(&one.name, there);
        if !there {
            let message =
                format!("No member of the organisation has the id or e-mail address `{}`.", one.name);
            let remedy = "Name a member by id or e-mail address; otherwise the task waits until an operator assigns it.";
            found.push(warning("unknownUser", message, one).with_remedy(remedy));
        }
    }
    if groups.is_empty() {
        return Ok(found);
    }
    let roles = directory.groups(tenant).await?;
    for one in groups.iter().filter(|one| !roles.contains(&one.name)) {
        let message = format!(
            "The organisation has no role or group `{}`, so that nobody is a candidate by it.",
            one.name
        );
        let remedy = "Make a group of this name with members (POST /api/groups), or name a group or a role that is there.";
        found.push(warning("unknownGroup", message, one).with_remedy(remedy));
    }
    Ok(found)
}

fn warning(code: &str, message: String, one: &Named) -> Diagnostic {
    diagnostic::warning(code, message).with_element(one.element.clone()).with_path(one.path.clone())
}

fn named(definition: &WorkflowDefinition) -> Vec<Named> {
    let lanes = lane_names(definition);
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        let Some(configuration) =
            at.node.configuration.as_ref().filter(|_| at.node.is(ElementKind::UserTask))
        else {
            continue;
        };
        for (member, is_group) in [("assignee", false), ("candidateUsers", false), ("candidateGroups", true)]
        {
            let names = configuration.get(member).map(literals).unwrap_or_default();
            found.extend(names.into_iter().map(|name| Named {
                name,
                element: at.node.element_id().unwrap_or_default().to_owned(),
                path: format!("{}.configuration.{member}", at.path),
                is_group,
            }));
        }
        let asks_lane = configuration.get("laneCandidates").and_then(Value::as_bool) == Some(true);
        let lane = at.node.element_id().filter(|_| asks_lane).and_then(|id| lanes.get(id));
        found.extend(lane.map(|name| Named {
            name: (*name).to_owned(),
            element: at.node.element_id().unwrap_or_default().to_owned(),
            path: format!("{}.configuration.laneCandidates", at.path),
            is_group: true,
        }));
    }
    found
}

/// The names of a setting: a text with commas or a list of texts; none of an expression.
fn literals(setting: &Value) -> Vec<String> {
    let texts: Vec<&str> = match setting {
        Value::String(text) if text.trim_start().starts_with('=') => Vec::new(),
        Value::String(text) => text.split(',').collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

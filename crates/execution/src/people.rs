//! People whom a definition names: a task for somebody who is not there waits for nobody, which its author wants to know.

use std::collections::HashMap;

use heddle_kernel::{Diagnostic, Severity, TenantId};
use serde_json::Value;

use crate::UseCaseError;
use crate::ports::Directory;

/// Most users of one definition who are looked up.
const MOST_USERS: usize = 200;

/// A name that a human task says literally, or takes from what it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Id of the element that says it.
    pub element: String,
    /// JSON path of the place that says it, where one alone does.
    pub path: Option<String>,
    /// Whether it is a group's, or a user's.
    pub is_group: bool,
}

/// A warning for each user and group that is named and that the organisation does not have. What an expression gives is
/// known when the task is created.
///
/// # Errors
/// `Unavailable`.
pub async fn findings(
    directory: &dyn Directory,
    tenant: TenantId,
    named: Vec<Named>,
) -> Result<Vec<Diagnostic>, UseCaseError> {
    let (groups, users): (Vec<Named>, Vec<Named>) = named.into_iter().partition(|one| one.is_group);
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
    let warning = Diagnostic::new(Severity::Warning, code, message).with_element(one.element.clone());
    Diagnostic { path: one.path.clone(), ..warning }
}

/// The names of a setting: a text with commas or a list of texts; none of an expression.
#[must_use]
pub fn literals(setting: &Value) -> Vec<String> {
    let texts: Vec<&str> = match setting {
        Value::String(text) if text.trim_start().starts_with('=') => Vec::new(),
        Value::String(text) => text.split(',').collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    texts.into_iter().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

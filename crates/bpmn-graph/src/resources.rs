//! Resource roles of user tasks: who performs a task, and who may (clauses 10.3.1 and 10.3.4.1).

use super::settings::{Setting, UserTask};
use heddle_bpmn::juel;
use heddle_bpmn::model::{Resource, ResourceRole};
use heddle_feel::{Dialect, Expression};
use serde_json::Value;

/// Gives a task the people that its roles name, where its settings name none of their kind. A performer is the assignee, a
/// potential owner a candidate; a name alone is a group's, `user(…)` and `group(…)` say which it is, and a resource without
/// an expression is the group of its name.
///
/// # Errors
/// A sentence when an expression cannot be read.
pub(super) fn assign(
    task: &mut UserTask,
    roles: &[ResourceRole],
    resources: &[Resource],
) -> Result<(), String> {
    let mut read = Named::default();
    for role in roles {
        let performs =
            role.role.as_deref().is_some_and(|role| role.to_ascii_lowercase().ends_with("performer"));
        let text = role.assignment_expression.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match text {
            Some(text) => read.expression(text, performs)?,
            None => {
                let id = role.resource_ref.as_deref().unwrap_or_default();
                let named = resources.iter().find(|own| own.id.as_deref() == Some(id));
                let name = named.and_then(|own| own.name.as_deref()).unwrap_or(id).trim();
                if !name.is_empty() {
                    read.groups.push(name.to_owned());
                }
            }
        }
    }
    if task.assignee.is_none() {
        task.assignee = read.assignee;
    }
    if task.candidate_users.is_none() {
        task.candidate_users = list(read.users);
    }
    if task.candidate_groups.is_none() {
        task.candidate_groups = read.computed.or_else(|| list(read.groups));
    }
    Ok(())
}

fn list(names: Vec<String>) -> Option<Setting> {
    let names: Vec<Value> = names.into_iter().map(Value::from).collect();
    (!names.is_empty()).then_some(Setting::Literal(Value::Array(names)))
}

#[derive(Default)]
struct Named {
    assignee: Option<Setting>,
    users: Vec<String>,
    groups: Vec<String>,
    /// Groups that an expression gives.
    computed: Option<Setting>,
}

impl Named {
    fn expression(&mut self, text: &str, performs: bool) -> Result<(), String> {
        let feel = if juel::is_juel(text) {
            Some(juel::value(text).map_err(|error| format!("`{text}` is not translated to FEEL: {error}"))?)
        } else {
            text.strip_prefix('=').map(|feel| feel.trim().to_owned())
        };
        if let Some(feel) = feel {
            let compiled = Expression::compile(&feel, Dialect::Heddle);
            let setting =
                Setting::Expression(compiled.map_err(|error| format!("`{text}` is no FEEL: {error}"))?);
            let place = if performs { &mut self.assignee } else { &mut self.computed };
            place.get_or_insert(setting);
            return Ok(());
        }
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let inner = |word: &str| {
                let rest = name.strip_prefix(word)?.trim_start().strip_prefix('(')?;
                Some(rest.strip_suffix(')')?.trim().trim_matches(['"', '\'']).to_owned())
            };
            match (inner("user"), inner("group")) {
                (Some(user), _) if performs => {
                    self.assignee.get_or_insert(Setting::Literal(user.into()));
                }
                (Some(user), _) => self.users.push(user),
                (None, Some(group)) => self.groups.push(group),
                (None, None) if performs => {
                    self.assignee.get_or_insert(Setting::Literal(name.into()));
                }
                (None, None) => self.groups.push(name.to_owned()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn role(role: &str, expression: &str) -> ResourceRole {
        ResourceRole {
            role: Some(role.to_owned()),
            assignment_expression: Some(expression.to_owned()),
            ..ResourceRole::default()
        }
    }

    fn assigned(roles: &[ResourceRole]) -> UserTask {
        let resources =
            [Resource { id: Some("r".to_owned()), name: Some("Sales".to_owned()), ..Resource::default() }];
        let mut task = UserTask::default();
        assign(&mut task, roles, &resources).unwrap();
        task
    }

    fn literal(setting: Option<&Setting>) -> Option<&Value> {
        match setting {
            Some(Setting::Literal(value)) => Some(value),
            Some(Setting::Expression(_)) | None => None,
        }
    }

    #[test]
    fn roles_name_the_people_of_a_task() {
        let task = assigned(&[
            role("humanPerformer", "ada"),
            role("potentialOwner", "user(bob), group(x), y"),
            ResourceRole {
                role: Some("potentialOwner".to_owned()),
                resource_ref: Some("r".to_owned()),
                ..ResourceRole::default()
            },
        ]);
        assert_eq!(literal(task.assignee.as_ref()), Some(&json!("ada")));
        assert_eq!(literal(task.candidate_users.as_ref()), Some(&json!(["bob"])));
        assert_eq!(literal(task.candidate_groups.as_ref()), Some(&json!(["x", "y", "Sales"])));
        let computed = assigned(&[role("humanPerformer", "${who}"), role("potentialOwner", "= groups")]);
        assert!(matches!(computed.assignee, Some(Setting::Expression(_))));
        assert!(matches!(computed.candidate_groups, Some(Setting::Expression(_))));
    }

    #[test]
    fn settings_of_the_task_win_and_what_is_no_expression_is_told() {
        let mut task = UserTask { assignee: Some(Setting::Literal("eve".into())), ..UserTask::default() };
        assign(&mut task, &[role("humanPerformer", "ada")], &[]).unwrap();
        assert_eq!(literal(task.assignee.as_ref()), Some(&json!("eve")));
        assert!(assign(&mut task, &[role("potentialOwner", "=1 +")], &[]).unwrap_err().contains("1 +"));
    }
}

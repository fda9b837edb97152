//! Resource roles of user tasks: who performs a task, and who may (clauses 10.3.1 and 10.3.4.1).

use super::bindings::{Binding, RoleBindings};
use super::settings::{Setting, UserTask};
use heddle_bpmn::juel;
use heddle_bpmn::model::{Resource, ResourceRole};
use heddle_feel::{Dialect, Expression};
use serde_json::Value;

/// Gives a task the people that its roles name, where its settings name none of their kind. A performer is the assignee, a
/// potential owner a candidate; a name alone is a group's, `user(…)` and `group(…)` say which it is, and a resource without
/// an expression is the group of its name. Of a resource with a bound parameter the value of that names who fits it: users,
/// where the parameter is called `user` or `users`, groups where it is called `group`, `groups`, `role` or `roles`.
///
/// # Errors
/// A sentence when an expression cannot be read, or a binding names nobody.
pub(super) fn assign(
    task: &mut UserTask,
    roles: &[ResourceRole],
    resources: &[Resource],
    bound: Option<&RoleBindings>,
) -> Result<(), String> {
    let mut read = Named::default();
    for (place, role) in roles.iter().enumerate() {
        let performs =
            role.role.as_deref().is_some_and(|role| role.to_ascii_lowercase().ends_with("performer"));
        let text = role.assignment_expression.as_deref().map(str::trim).filter(|text| !text.is_empty());
        match text {
            Some(text) => read.expression(text, performs)?,
            None => {
                let id = role.resource_ref.as_deref().unwrap_or_default();
                let named = resources.iter().find(|own| own.id.as_deref() == Some(id));
                if let Some(bound) = bound.and_then(|bound| bound.get(&place)) {
                    read.bound(bound, named, performs)?;
                    continue;
                }
                let name = named.and_then(|own| own.name.as_deref()).unwrap_or(id).trim();
                if !name.is_empty() {
                    read.groups.push(name.to_owned());
                }
            }
        }
    }
    read.check()?;
    if task.assignee.is_none() {
        task.assignee = read.assignee;
    }
    if task.candidate_users.is_none() {
        task.candidate_users = read.bound_users.or_else(|| list(read.users));
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
    /// Users that the parameter of a resource gives.
    bound_users: Option<Setting>,
    /// Whether the groups are those that the parameter of a resource gives.
    are_bound: bool,
}

impl Named {
    /// Candidates who fit a resource by the value of its parameter.
    fn bound(
        &mut self,
        bound: &[Binding],
        resource: Option<&Resource>,
        performs: bool,
    ) -> Result<(), String> {
        let of = resource.and_then(|own| own.name.as_deref().or(own.id.as_deref())).unwrap_or_default();
        let [Binding { parameter, expression }] = bound else {
            return Err(format!(
                "several parameters of the resource `{of}` are bound: who fits all of them is not known; bind one"
            ));
        };
        let parameters = resource.and_then(|own| own.parameters.as_deref()).unwrap_or_default();
        let known = parameters.iter().find(|own| own.id.as_deref() == Some(&**parameter));
        let name = known.and_then(|own| own.name.as_deref()).unwrap_or(parameter).trim();
        let feel = if juel::is_juel(expression) {
            juel::value(expression)
                .map_err(|error| format!("`{expression}` is not translated to FEEL: {error}"))?
        } else {
            expression.strip_prefix('=').unwrap_or(expression).trim().to_owned()
        };
        let compiled = Expression::compile(&feel, Dialect::Heddle);
        let setting =
            Setting::Expression(compiled.map_err(|error| format!("`{expression}` is no FEEL: {error}"))?);
        let place = match name.to_ascii_lowercase().as_str() {
            "user" | "users" if performs => &mut self.assignee,
            "user" | "users" => &mut self.bound_users,
            "group" | "groups" | "role" | "roles" => {
                self.are_bound = true;
                &mut self.computed
            }
            _ => {
                return Err(format!(
                    "nobody is found by the parameter `{name}` of the resource `{of}`: it must be called user, users, \
                     group, groups, role or roles"
                ));
            }
        };
        if place.replace(setting).is_some() {
            return Err(format!(
                "who fits the resource `{of}` is named by another role, too: one of them says it"
            ));
        }
        Ok(())
    }

    /// Refuses roles of which one would be passed over for the parameter of a resource.
    fn check(&self) -> Result<(), String> {
        let groups = self.are_bound && !self.groups.is_empty();
        let users = self.bound_users.is_some() && !self.users.is_empty();
        if groups || users {
            let sentence = "a role with a bound parameter stands beside one that names candidates of the same kind: put all \
                            of them into the value of the parameter";
            return Err(sentence.to_owned());
        }
        Ok(())
    }

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
    use heddle_bpmn::model::ResourceParameter;
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
        assign(&mut task, roles, &resources, None).unwrap();
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
        assign(&mut task, &[role("humanPerformer", "ada")], &[], None).unwrap();
        assert_eq!(literal(task.assignee.as_ref()), Some(&json!("eve")));
        assert!(assign(&mut task, &[role("potentialOwner", "=1 +")], &[], None).unwrap_err().contains("1 +"));
    }

    #[test]
    fn the_value_of_a_resources_parameter_names_who_fits_it() {
        let parameter = |name: &str| ResourceParameter {
            id: Some(format!("p-{name}")),
            name: Some(name.to_owned()),
            ..ResourceParameter::default()
        };
        let resources = [Resource {
            id: Some("r".to_owned()),
            name: Some("Manager".to_owned()),
            parameters: Some(["users", "roles", "region"].map(parameter).to_vec()),
        }];
        let owner = |role: &str| ResourceRole {
            role: Some(role.to_owned()),
            resource_ref: Some("r".to_owned()),
            ..ResourceRole::default()
        };
        let bound = |parameter: &str| Binding {
            parameter: format!("p-{parameter}"),
            expression: "order.who".to_owned(),
        };
        let assigned = |roles: &[ResourceRole], bound: RoleBindings| {
            let mut task = UserTask::default();
            assign(&mut task, roles, &resources, Some(&bound)).map(|()| task)
        };
        let one = |parameter: &str| RoleBindings::from([(0, vec![bound(parameter)])]);
        let task = assigned(&[owner("potentialOwner")], one("users")).unwrap();
        assert!(
            matches!(task.candidate_users, Some(Setting::Expression(_))) && task.candidate_groups.is_none()
        );
        let task = assigned(&[owner("potentialOwner")], one("roles")).unwrap();
        assert!(matches!(task.candidate_groups, Some(Setting::Expression(_))), "not the group of its name");
        let task = assigned(&[owner("humanPerformer")], one("users")).unwrap();
        assert!(matches!(task.assignee, Some(Setting::Expression(_))));

        let told = |roles: &[ResourceRole], bound| assigned(roles, bound).unwrap_err();
        assert!(told(&[owner("potentialOwner")], one("region")).contains("`region`"));
        let two = RoleBindings::from([(0, vec![bound("users"), bound("roles")])]);
        assert!(told(&[owner("potentialOwner")], two).contains("several parameters"));
        let beside = [owner("potentialOwner"), role("potentialOwner", "group(x)")];
        assert!(told(&beside, one("roles")).contains("beside"));
    }
}

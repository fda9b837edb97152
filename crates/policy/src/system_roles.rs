//! The roles that every organisation has and nobody can change.

use crate::facts::{ANY, Effect, Facts, PermissionSet, ResourceRule, RoleRules};

/// A system role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemRole {
    /// Name of the role.
    pub name: &'static str,
    /// Permissions that it gives: `*`, `* except a b` or `a b c`.
    pub permissions: &'static str,
    /// Resource actions that it gives: `type / actions / selector`, separated by `;`.
    pub resource_actions: &'static str,
    /// Purpose of the role, for people.
    pub description: &'static str,
}

/// The role that may do everything; an organisation always has somebody with it.
pub const OWNER: &str = "owner";

/// All system roles.
pub const SYSTEM_ROLES: &[SystemRole] = &[
    SystemRole {
        name: OWNER,
        permissions: "*",
        resource_actions: "* / * / *",
        description: "the last owner of an organisation cannot be removed; may do all that the installation licence \
                      allows",
    },
    SystemRole {
        name: "administrator",
        permissions: "* except licence.manage",
        resource_actions: "* / * / *",
        description: "manages people, roles, grants, connections, models",
    },
    SystemRole {
        name: "designer",
        permissions: "workflows.view workflows.manage workflows.run runs.view case-types.view case-types.manage \
                      vectors.view vectors.query documents.view models.view models.use connections.view \
                      authorization.check authorization.view",
        resource_actions: "workflow / * / *; case-type / * / *; run / read,list / *; \
                           vector-database / list,read,query / *; document / list,read / *; \
                           deployment / chat,embed,list,read / *; connection / list,read / *; model / list / *; \
                           authorization / check,view / *",
        description: "draws, validates, publishes",
    },
    SystemRole {
        name: "operator",
        permissions: "runs.view runs.operate workflows.view workflows.run tasks.work cases.work cases.view \
                      audit.view authorization.check authorization.view",
        resource_actions: "workflow / list,read,run / *; run / * / *; case / * / *; case-type / list,read / *; \
                           audit-event / list,read / *; dead-letter / * / *; job / list / *; \
                           authorization / check,view / *",
        description: "keeps runs and cases going: retry, skip, move, cancel, suspend",
    },
    SystemRole {
        name: "worker",
        permissions: "tasks.work cases.view runs.view authorization.check authorization.view",
        resource_actions: "run / read,complete-task,decide / *; case / read,complete-task / *; \
                           authorization / check,view / *",
        description: "completes human tasks that name it, its groups or its roles as candidate",
    },
    SystemRole {
        name: "librarian",
        permissions: "vectors.view vectors.manage vectors.query documents.view documents.create documents.update \
                      documents.delete documents.manage models.view authorization.check authorization.view",
        resource_actions: "vector-database / * / *; document / * / *; ingestion-job / * / *; \
                           authorization / check,view / *; model / list / *",
        description: "keeps the knowledge bases",
    },
    SystemRole {
        name: "integrator",
        permissions: "workflows.run cases.work runs.view vectors.query models.use authorization.check jobs.work \
                      authorization.view",
        resource_actions: "workflow / run,read,list / *; run / read,list / *; case / create,read / *; \
                           vector-database / query / *; deployment / chat,embed / *; model / list / *; job / * / *; \
                           authorization / check,view / *",
        description: "service accounts",
    },
    SystemRole {
        name: "viewer",
        permissions: "workflows.view case-types.view runs.view cases.view vectors.view documents.view models.view \
                      connections.view authorization.check authorization.view",
        resource_actions: "* / list,read / *; authorization / check,view / *",
        description: "reads all, changes nothing",
    },
    SystemRole {
        name: "requester",
        permissions: "workflows.view workflows.run tasks.work authorization.check authorization.view",
        resource_actions: "workflow / list,read,run / *; run / list,read,complete-task,decide / own; \
                           authorization / check,view / *",
        description: "an employee who starts what is open to them and works on the tasks that name them",
    },
];

/// The system role of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static SystemRole> {
    SYSTEM_ROLES.iter().find(|role| role.name == name)
}

impl Facts {
    /// With one more system role; an unknown name adds nothing.
    #[must_use]
    pub fn with_system_role(self, name: &str) -> Self {
        match find(name) {
            Some(role) => self.with_role(name, name, role.rules()),
            None => self,
        }
    }
}

impl SystemRole {
    /// Rules that the role stands for.
    #[must_use]
    pub fn rules(&self) -> RoleRules {
        RoleRules {
            permissions: PermissionSet::parse(self.permissions),
            denied_permissions: Vec::new(),
            resources: self.resource_actions.split(';').filter_map(resource_rule).collect(),
        }
    }
}

fn resource_rule(text: &str) -> Option<ResourceRule> {
    let mut parts = text.split('/').map(str::trim);
    let (resource, actions) = (parts.next()?, parts.next()?);
    Some(ResourceRule {
        resource: resource.to_owned(),
        actions: actions.split(',').map(|action| action.trim().to_owned()).collect(),
        selector: parts.next().unwrap_or(ANY).to_owned(),
        effect: Effect::Allow,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::{Action, Permission, ResourceType};
    use crate::rule_id::StoredSelector;

    #[test]
    fn name_only_what_is_registered() {
        for role in SYSTEM_ROLES {
            let rules = role.rules();
            for name in rules.permissions.listed.iter().chain(&rules.permissions.except) {
                assert!(Permission::parse(name).is_some(), "{}: {name}", role.name);
            }
            for rule in &rules.resources {
                assert!(rule.resource == ANY || ResourceType::parse(&rule.resource).is_some(), "{rule:?}");
                let kind = ResourceType::parse(&rule.resource);
                let selector = StoredSelector::read(kind, &rule.selector);
                assert!(matches!(selector, StoredSelector::All | StoredSelector::Own), "{rule:?}");
                for action in &rule.actions {
                    let named = Action::parse(action);
                    assert!(action == ANY || named.is_some(), "{}: {action}", role.name);
                    if let (Some(kind), Some(named)) = (kind, named) {
                        let says_something =
                            crate::capability::actions(rule.effect, kind).any(|one| one == named);
                        assert!(says_something, "{}: {kind} / {action}", role.name);
                    }
                }
            }
        }
    }

    /// The additions of `roles-to-come.tsv` that are built, by what they come with.
    const BUILT: &[&str] = &["it holds", "real models run", "access"];

    /// The rows of a table of the contract, without its head; none where the contract is not at hand.
    fn rows(file: &str) -> Option<Vec<Vec<String>>> {
        let path = format!("{}/../../../shared/contract/{file}", env!("CARGO_MANIFEST_DIR"));
        let Ok(table) = std::fs::read_to_string(path) else {
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "the contract's roles are not there"
            );
            println!("skipped: the contract's roles are not there");
            return None;
        };
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
        Some(table.lines().skip(1).filter(|line| !line.is_empty()).map(cells).collect())
    }

    /// Lays an addition over the roles: more words for a cell, or a role of its own.
    fn lay_over(roles: &mut Vec<Vec<String>>, addition: &[String]) {
        let [name, permissions, actions, _, note] = addition else { panic!("{addition:?}") };
        let Some(role) = roles.iter_mut().find(|role| role[0] == *name) else {
            // The note says also that it is new, and what the selector means.
            let purpose = note.strip_prefix("new: ").unwrap_or(note);
            let purpose = purpose.split_once(';').map_or(purpose, |(purpose, _)| purpose);
            roles.push(vec![name.clone(), permissions.clone(), actions.clone(), purpose.to_owned()]);
            return;
        };
        for (cell, more, between) in [(1, permissions, " "), (2, actions, "; ")] {
            if more != "-" {
                role[cell] = format!("{}{between}{more}", role[cell]);
            }
        }
    }

    #[test]
    fn are_those_of_the_contract() {
        let (Some(mut roles), Some(additions)) = (rows("roles.tsv"), rows("roles-to-come.tsv")) else {
            return;
        };
        for with in BUILT {
            assert!(additions.iter().any(|row| row[3] == *with), "{with} adds nothing");
        }
        for addition in additions.iter().filter(|row| BUILT.contains(&row[3].as_str())) {
            lay_over(&mut roles, addition);
        }
        let ours: Vec<Vec<&str>> = SYSTEM_ROLES
            .iter()
            .map(|role| vec![role.name, role.permissions, role.resource_actions, role.description])
            .collect();
        assert_eq!(ours, roles);
    }

    #[test]
    fn additions_are_laid_over_the_roles() {
        let row = |cells: &[&str]| -> Vec<String> { cells.iter().map(|cell| (*cell).to_owned()).collect() };
        let mut roles = vec![row(&["operator", "runs.view", "run / * / *", "keeps"])];
        lay_over(&mut roles, &row(&["operator", "-", "job / list / *", "jobs", ""]));
        lay_over(&mut roles, &row(&["operator", "jobs.work", "-", "jobs", ""]));
        lay_over(
            &mut roles,
            &row(&["requester", "tasks.work", "run / read / own", "access", "new: asks; `own` = theirs"]),
        );
        let expected = [
            row(&["operator", "runs.view jobs.work", "run / * / *; job / list / *", "keeps"]),
            row(&["requester", "tasks.work", "run / read / own", "asks"]),
        ];
        assert_eq!(roles, expected);
    }
}

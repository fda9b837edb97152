//! What each system role may do, as a text that a change shows up in.

use std::fmt::Write as _;

use heddle_policy::capability::ALL;
use heddle_policy::system_roles::SYSTEM_ROLES;
use heddle_policy::{Ownership, Question, Snapshot, Target};

use crate::spec::{NOW, facts, rule_id};

#[test]
fn the_system_roles_may_do_this() {
    let roles: Vec<(&str, Snapshot)> = SYSTEM_ROLES
        .iter()
        .map(|role| (role.name, Snapshot::new(&facts().with_system_role(role.name), NOW)))
        .collect();
    let mut table = String::new();
    write!(table, "{:20}", "").unwrap();
    for (name, _) in &roles {
        write!(table, " {name}").unwrap();
    }
    for capability in ALL {
        write!(table, "\n{:20}", capability.name).unwrap();
        for (name, snapshot) in &roles {
            let (target, lists) = match capability.lists {
                true => (Target::all(), true),
                // Of what may be one's own, one's own is asked for.
                false => (Target::one(rule_id("some")).owned(Ownership::Own), false),
            };
            let question = Question {
                permissions: capability.permissions,
                resource: capability.resource.as_str(),
                action: capability.action.as_str(),
                lists,
                target: &target,
            };
            let mark = if snapshot.decide(&question).allowed() { "x" } else { "." };
            write!(table, " {mark:width$}", width = name.len()).unwrap();
        }
    }
    let trimmed: Vec<&str> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(trimmed.join("\n"));
}

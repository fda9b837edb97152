//! The capabilities are the contract's rows.

use std::collections::BTreeSet;

use heddle_policy::capability::{ALL, Described};
use heddle_policy::{Action, Permission, ResourceType};

type Row = (Vec<String>, String, String);

/// The rows of a table that need a permission: permissions, resource, action.
fn rows(file: &str, columns: (usize, usize, usize)) -> Option<Vec<(String, Row)>> {
    let path = format!("{}/../../../shared/contract/{file}", env!("CARGO_MANIFEST_DIR"));
    let Ok(table) = std::fs::read_to_string(path) else {
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "the contract's {file} is not there");
        println!("skipped: the contract's {file} is not there");
        return None;
    };
    let (area, permissions, resource) = columns;
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let (resource, rest) = cells[resource].split_once(" / ")?;
        let action = rest.split(" / ").next()?.trim();
        let names = cells[permissions].split('|').map(str::to_owned).collect();
        Some((cells[area].to_owned(), (names, resource.to_owned(), action.to_owned())))
    };
    let permitted = |(_, row): &(String, Row)| row.0 != ["session"] && row.0 != ["public"];
    Some(table.lines().skip(1).filter_map(row).filter(permitted).collect())
}

fn all_rows() -> Option<Vec<(String, Row)>> {
    let mut all = rows("operations.tsv", (3, 5, 6))?;
    all.extend(rows("platform-operations.tsv", (0, 3, 4))?);
    all.extend(rows("compatibility-operations.tsv", (0, 3, 4))?);
    Some(all)
}

/// Rows of served areas whose operations are still to come (`to-come.txt` of the crate `api`).
const TO_COME: &[(&str, &str)] = &[("licence.manage", "audit-event")];

/// Capabilities without a row of their own: of hooks, which stand beside the contract, and of tasks of cases, whose rows
/// tell of those of runs.
const BESIDE: &[&str] = &[
    "CaseCompleteTask",
    "CaseTaskAssign",
    "CaseTaskList",
    "CaseTaskRead",
    "HookCreate",
    "HookDelete",
    "HookList",
    "HookRead",
    "HookUpdate",
];

fn row_of(one: &Described) -> Row {
    let names = one.permissions.iter().map(ToString::to_string).collect();
    (names, one.resource.to_string(), one.action.to_string())
}

#[test]
fn every_row_of_what_is_served_has_its_capability_and_every_capability_its_row() {
    let Some(rows) = all_rows() else { return };
    let ours: BTreeSet<Row> = ALL.iter().map(row_of).collect();
    let served = [
        "workflows",
        "case-types",
        "cases",
        "case-events",
        "licence",
        "administration",
        "audit",
        "work",
        "connections",
        "authorization",
        "vector-databases",
        "models-and-inference",
        "models",
    ];
    let theirs: BTreeSet<Row> = rows.iter().map(|(_, row)| row.clone()).collect();
    let to_come = |row: &Row| TO_COME.contains(&(row.0[0].as_str(), row.1.as_str()));
    for (area, row) in rows.iter().filter(|(area, row)| served.contains(&area.as_str()) && !to_come(row)) {
        assert!(ours.contains(row), "{area}: {row:?}");
    }
    for one in ALL {
        assert_eq!(theirs.contains(&row_of(one)), !BESIDE.contains(&one.name), "{}", one.name);
    }
}

#[test]
fn every_word_of_the_rows_is_registered() {
    let Some(rows) = all_rows() else { return };
    for (area, (permissions, resource, action)) in rows {
        for name in permissions.iter().filter(|name| !name.starts_with('-')) {
            assert!(Permission::parse(name).is_some(), "{area}: {name}");
        }
        assert!(ResourceType::parse(&resource).is_some(), "{area}: {resource}");
        assert!(Action::parse(&action).is_some(), "{area}: {action}");
    }
}

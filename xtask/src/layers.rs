//! Who may know whom: the workspace's normal dependencies against a table.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{out, workspace};

/// A crate of the workspace and the workspace crates it may name.
struct Layer {
    name: &'static str,
    knows: &'static [&'static str],
}

const PURE_OF_WORKFLOWS: &[&str] =
    &["heddle-kernel", "heddle-policy", "heddle-feel", "heddle-bpmn", "heddle-dmn", "heddle-engine"];

/// `*` stands for every crate of the workspace.
const LAYERS: &[Layer] = &[
    Layer { name: "heddle-kernel", knows: &[] },
    Layer { name: "heddle-policy", knows: &["heddle-kernel"] },
    Layer { name: "heddle-feel", knows: &["heddle-kernel"] },
    Layer { name: "heddle-xml", knows: &[] },
    Layer { name: "heddle-dmn", knows: &["heddle-kernel", "heddle-feel", "heddle-xml"] },
    Layer { name: "heddle-bpmn", knows: &["heddle-kernel", "heddle-feel", "heddle-xml"] },
    Layer { name: "heddle-cmmn", knows: &["heddle-kernel", "heddle-feel"] },
    Layer {
        name: "heddle-engine",
        knows: &["heddle-kernel", "heddle-feel", "heddle-dmn", "heddle-bpmn", "heddle-cmmn"],
    },
    Layer { name: "heddle-workflows", knows: PURE_OF_WORKFLOWS },
    Layer {
        name: "heddle-cases",
        knows: &["heddle-kernel", "heddle-policy", "heddle-feel", "heddle-cmmn", "heddle-engine"],
    },
    Layer { name: "heddle-vectors", knows: &["heddle-kernel", "heddle-policy"] },
    Layer { name: "heddle-models", knows: &["heddle-kernel", "heddle-policy"] },
    Layer { name: "heddle-connections", knows: &["heddle-kernel", "heddle-policy"] },
    Layer { name: "heddle-identity", knows: &["heddle-kernel", "heddle-policy"] },
    Layer {
        name: "heddle-api",
        knows: &["heddle-kernel", "heddle-policy", "heddle-bpmn", "heddle-dmn", "heddle-cmmn"],
    },
    // The audit record and the tenant filter are policy's types; the store knows no area.
    Layer { name: "heddle-store", knows: &["heddle-kernel", "heddle-policy"] },
    Layer {
        name: "heddle-store-identity",
        knows: &["heddle-kernel", "heddle-policy", "heddle-store", "heddle-identity"],
    },
    Layer {
        name: "heddle-store-workflows",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-store",
            "heddle-workflows",
            "heddle-bpmn",
            "heddle-engine",
        ],
    },
    Layer {
        name: "heddle-store-cases",
        knows: &["heddle-kernel", "heddle-policy", "heddle-store", "heddle-cases"],
    },
    Layer {
        name: "heddle-store-vectors",
        knows: &["heddle-kernel", "heddle-policy", "heddle-store", "heddle-vectors"],
    },
    Layer {
        name: "heddle-store-models",
        knows: &["heddle-kernel", "heddle-policy", "heddle-store", "heddle-models"],
    },
    Layer {
        name: "heddle-store-connections",
        knows: &["heddle-kernel", "heddle-policy", "heddle-store", "heddle-connections"],
    },
    Layer {
        name: "heddle-runtime",
        knows: &[
            "heddle-kernel",
            "heddle-policy",
            "heddle-feel",
            "heddle-dmn",
            "heddle-bpmn",
            "heddle-cmmn",
            "heddle-engine",
            "heddle-workflows",
            "heddle-cases",
        ],
    },
    Layer { name: "heddle-egress", knows: &["heddle-kernel", "heddle-policy"] },
    Layer {
        name: "heddle-providers",
        knows: &["heddle-kernel", "heddle-policy", "heddle-models", "heddle-egress"],
    },
    Layer { name: "heddle-passages", knows: &["heddle-kernel", "heddle-vectors"] },
    Layer { name: "heddle-server", knows: &["*"] },
    Layer { name: "heddle", knows: &["*"] },
    Layer { name: "heddle-testkit", knows: &["*"] },
    Layer { name: "xtask", knows: &["heddle-kernel", "heddle-dmn"] },
];

/// Crates from outside, by prefix, that only some of ours may name.
struct Reserved {
    prefix: &'static str,
    holders: &'static [&'static str],
    why: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved { prefix: "diesel", holders: &["heddle-store*"], why: "only store crates name diesel" },
    Reserved {
        prefix: "libsqlite3-sys",
        holders: &["heddle-store*"],
        why: "only store crates name a database driver",
    },
    Reserved { prefix: "actix", holders: &["heddle-server"], why: "only the server names actix" },
    Reserved {
        prefix: "utoipa",
        holders: &["heddle-api", "heddle-bpmn", "heddle-dmn", "heddle-cmmn", "heddle-server"],
        why: "wire types live in api, definitions in their own crate",
    },
    Reserved {
        prefix: "reqwest",
        holders: &["heddle-egress", "heddle-testkit", "xtask"],
        why: "only egress opens outbound connections",
    },
    Reserved { prefix: "hyper", holders: &["heddle-egress"], why: "only egress opens outbound connections" },
];

/// What a crate without I/O must not name.
const PURE: &[&str] = &[
    "heddle-kernel",
    "heddle-policy",
    "heddle-feel",
    "heddle-dmn",
    "heddle-bpmn",
    "heddle-cmmn",
    "heddle-engine",
];
const IMPURE: &[&str] =
    &["tokio", "async-trait", "futures", "tracing", "parking_lot", "getrandom", "tempfile"];

/// Checks the workspace; prints each violation with its rule.
pub fn run() -> Result<bool> {
    let violations = violations(&normal_dependencies(&workspace::metadata()?)?);
    for violation in &violations {
        out::line(violation);
    }
    out::line(format_args!("layers: {} violation(s)", violations.len()));
    Ok(violations.is_empty())
}

/// Package name to the names of its normal and build dependencies (those of tests are free).
fn normal_dependencies(metadata: &Value) -> Result<BTreeMap<String, Vec<String>>> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut found = BTreeMap::new();
    for package in packages {
        let name = package["name"].as_str().context("a package without a name")?;
        let dependencies = package["dependencies"].as_array().context("a package without dependencies")?;
        let names = dependencies
            .iter()
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .filter_map(|dependency| dependency["name"].as_str().map(str::to_owned))
            .collect();
        found.insert(name.to_owned(), names);
    }
    Ok(found)
}

fn violations(packages: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, dependencies) in packages {
        let Some(layer) = LAYERS.iter().find(|layer| layer.name == name) else {
            found.push(format!("`{name}` has no row in the table of layers: say what it may know"));
            continue;
        };
        for dependency in dependencies {
            if packages.contains_key(dependency) {
                inside(layer, dependency, &mut found);
            } else {
                outside(name, dependency, &mut found);
            }
        }
    }
    found
}

fn inside(layer: &Layer, dependency: &str, found: &mut Vec<String>) {
    if dependency == "heddle-testkit" {
        found.push(format!("`{}` names `heddle-testkit`: it is a dependency of tests only", layer.name));
    } else if !layer.knows.contains(&"*") && !layer.knows.contains(&dependency) {
        let allowed = if layer.knows.is_empty() { "nothing".to_owned() } else { layer.knows.join(", ") };
        found.push(format!("`{}` names `{dependency}`: it may know {allowed}", layer.name));
    }
}

fn outside(name: &str, dependency: &str, found: &mut Vec<String>) {
    for reserved in RESERVED.iter().filter(|reserved| dependency.starts_with(reserved.prefix)) {
        if !reserved.holders.iter().any(|holder| holds(holder, name)) {
            found.push(format!("`{name}` names `{dependency}`: {}", reserved.why));
        }
    }
    if PURE.contains(&name) && IMPURE.contains(&dependency) {
        found.push(format!("`{name}` names `{dependency}`: a pure crate does no I/O and knows no executor"));
    }
}

fn holds(holder: &str, name: &str) -> bool {
    holder.strip_suffix('*').map_or(holder == name, |prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packages(rows: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        rows.iter()
            .map(|(name, names)| ((*name).to_owned(), names.iter().map(|name| (*name).to_owned()).collect()))
            .collect()
    }

    #[test]
    fn the_workspace_keeps_its_layers() {
        let metadata = workspace::metadata().unwrap();
        let found = violations(&normal_dependencies(&metadata).unwrap());
        assert!(found.is_empty(), "{}", found.join("\n"));
    }

    #[test]
    fn violations_are_found_and_named() {
        type Row<'a> = (&'a [(&'a str, &'a [&'a str])], &'a str);
        let cases: &[Row<'_>] = &[
            (&[("heddle-kernel", &["heddle-policy"]), ("heddle-policy", &[])], "may know nothing"),
            (
                &[("heddle-workflows", &["heddle-identity"]), ("heddle-identity", &[])],
                "may know heddle-kernel",
            ),
            (&[("heddle-api", &["diesel-async"])], "only store crates name diesel"),
            (&[("heddle", &["actix-web"])], "only the server names actix"),
            (&[("heddle-runtime", &["reqwest"])], "only egress opens outbound connections"),
            (&[("heddle-engine", &["tokio"])], "a pure crate does no I/O"),
            (&[("heddle-server", &["heddle-testkit"]), ("heddle-testkit", &[])], "tests only"),
            (&[("heddle-new", &[])], "no row in the table"),
        ];
        for (rows, expected) in cases {
            let found = violations(&packages(rows));
            assert_eq!(found.len(), 1, "{rows:?}: {found:?}");
            assert!(found[0].contains(expected), "{rows:?}: {found:?}");
        }
    }

    #[test]
    fn what_is_allowed_passes_and_test_dependencies_are_free() {
        let rows = packages(&[
            ("heddle-store-workflows", &["diesel", "heddle-store"]),
            ("heddle-store", &["libsqlite3-sys"]),
            ("heddle-server", &["actix-web", "heddle-store"]),
        ]);
        assert!(violations(&rows).is_empty());
        let metadata = serde_json::json!({"packages": [
            {"name": "heddle-kernel", "dependencies": [{"name": "heddle-testkit", "kind": "dev"}]}]});
        assert_eq!(normal_dependencies(&metadata).unwrap()["heddle-kernel"], Vec::<String>::new());
    }
}

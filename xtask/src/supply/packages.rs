//! The packages that go into the program: what cargo resolves for it on the platform that is shipped, without what only
//! tests and tools need.

#![expect(clippy::indexing_slicing, reason = "members of JSON: an absent one reads as null")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use heddle_harness_kit::workspace;
use serde_json::Value;
use toml::Table;

/// Platform of the program that is shipped.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// Package of the program.
pub(crate) const PROGRAM: &str = "heddle";

/// Name and version of a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// A package that goes into the program.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) id: Id,
    /// Licence expression, as the package gives it.
    pub(crate) licence: String,
    pub(crate) repository: Option<String>,
    /// Whether it is one of this workspace.
    pub(crate) own: bool,
    pub(crate) folder: PathBuf,
    /// SHA-256 of the package's file, from the lock file.
    pub(crate) checksum: Option<String>,
    pub(crate) dependencies: BTreeSet<Id>,
}

/// The packages that go into the program, by name and version.
#[derive(Debug)]
pub(crate) struct Shipped(pub(crate) BTreeMap<Id, Package>);

impl Shipped {
    /// Asks cargo.
    pub(crate) fn read(lock: &str) -> Result<Self> {
        let tree = ask(
            &["tree", "--package", PROGRAM, "--edges", "normal,build", "--prefix", "none"],
            &["--target"],
        )?;
        Self::of(&metadata()?, &resolved(&String::from_utf8(tree)?)?, &checksums(lock)?)
    }

    fn of(metadata: &Value, wanted: &BTreeSet<Id>, checksums: &BTreeMap<Id, String>) -> Result<Self> {
        let listed = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let ids: BTreeMap<&str, Id> =
            listed.iter().filter_map(|package| Some((package["id"].as_str()?, id(package)))).collect();
        let mut edges: BTreeMap<&Id, BTreeSet<Id>> = BTreeMap::new();
        for node in metadata["resolve"]["nodes"].as_array().into_iter().flatten() {
            let Some(from) = node["id"].as_str().and_then(|id| ids.get(id)) else { continue };
            let dependencies = node["deps"].as_array().into_iter().flatten().filter(|edge| is_shipped(edge));
            let to = dependencies.filter_map(|edge| ids.get(edge["pkg"].as_str()?));
            edges.insert(from, to.filter(|to| wanted.contains(to)).cloned().collect());
        }
        let mut shipped = BTreeMap::new();
        for package in listed {
            let id = id(package);
            if !wanted.contains(&id) {
                continue;
            }
            let text = |key: &str| package[key].as_str().map(str::to_owned);
            let manifest = PathBuf::from(text("manifest_path").context("a package without a manifest")?);
            shipped.insert(
                id.clone(),
                Package {
                    licence: text("license").with_context(|| format!("`{}` names no licence", id.name))?,
                    repository: text("repository"),
                    own: package["source"].is_null(),
                    folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
                    checksum: checksums.get(&id).cloned(),
                    dependencies: edges.get(&id).cloned().unwrap_or_default(),
                    id,
                },
            );
        }
        match wanted.iter().find(|id| !shipped.contains_key(id)) {
            Some(missing) => bail!("cargo metadata does not know `{} {}`", missing.name, missing.version),
            None => Ok(Self(shipped)),
        }
    }
}

/// `cargo metadata` with the graph of dependencies on the shipped platform.
pub(crate) fn metadata() -> Result<Value> {
    let output = ask(&["metadata", "--format-version", "1"], &["--filter-platform"])?;
    serde_json::from_slice(&output).context("cargo metadata did not answer in JSON")
}

fn ask(arguments: &[&str], platform: &[&str]) -> Result<Vec<u8>> {
    let mut cargo = workspace::cargo();
    cargo.args(arguments).args(platform).args([TARGET, "--locked"]);
    let output = cargo.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("cargo failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}

fn id(package: &Value) -> Id {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    Id { name: text("name"), version: text("version") }
}

fn is_shipped(edge: &Value) -> bool {
    let kinds = edge["dep_kinds"].as_array();
    kinds.is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
}

/// The packages of `cargo tree --prefix none`: `name v1.2.3`, perhaps with more behind it.
fn resolved(tree: &str) -> Result<BTreeSet<Id>> {
    let mut found = BTreeSet::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let (name, version) = (words.next(), words.next().and_then(|word| word.strip_prefix('v')));
        let (Some(name), Some(version)) = (name, version) else { bail!("`{line}` is no package") };
        found.insert(Id { name: name.to_owned(), version: version.to_owned() });
    }
    Ok(found)
}

fn checksums(lock: &str) -> Result<BTreeMap<Id, String>> {
    let lock: Table = lock.parse().context("Cargo.lock does not parse")?;
    let packages =
        lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let checksum = |package: &toml::Value| {
        let text = |key| package.get(key).and_then(toml::Value::as_str).map(str::to_owned);
        Some((Id { name: text("name")?, version: text("version")? }, text("checksum")?))
    };
    Ok(packages.iter().filter_map(checksum).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    /// A program of ours with a package of others that it needs, and one that only its tests need.
    pub(crate) fn sample(folder: &str) -> Shipped {
        let of = |name: &str, version: &str, source: Value, licence: &str| {
            json!({ "id": format!("id {name}"), "name": name, "version": version, "source": source, "license": licence,
                "repository": "https://example.org/code", "manifest_path": format!("{folder}/Cargo.toml") })
        };
        let edge =
            |name: &str, kind: Value| json!({ "pkg": format!("id {name}"), "dep_kinds": [{ "kind": kind }] });
        let metadata = json!({
            "packages": [
                of("heddle", "0.1.0", Value::Null, "LicenseRef-Heddle"),
                of("needed", "1.2.3+c", json!("registry"), "MIT/Apache-2.0"),
                of("tests-only", "2.0.0", json!("registry"), "MIT"),
            ],
            "resolve": { "nodes": [
                { "id": "id heddle", "deps": [edge("needed", Value::Null), edge("tests-only", json!("dev"))] },
                { "id": "id needed", "deps": [] },
            ] },
        });
        let tree = "heddle v0.1.0 (/somewhere)\nneeded v1.2.3+c (proc-macro)\n\nneeded v1.2.3+c (*)\n";
        let lock = format!(
            "[[package]]\nname = \"needed\"\nversion = \"1.2.3+c\"\nchecksum = \"{}\"\n\
             [[package]]\nname = \"heddle\"\nversion = \"0.1.0\"\n",
            "ab".repeat(32)
        );
        Shipped::of(&metadata, &resolved(tree).unwrap(), &checksums(&lock).unwrap()).unwrap()
    }

    #[test]
    fn only_what_goes_into_the_program_is_listed_with_what_it_needs() {
        let shipped = sample("/x").0;
        let names: Vec<_> = shipped.keys().map(|id| id.name.as_str()).collect();
        assert_eq!(names, ["heddle", "needed"]);
        let program = shipped.values().next().unwrap();
        assert_eq!(program.dependencies.iter().map(|id| id.name.as_str()).collect::<Vec<_>>(), ["needed"]);
        assert_eq!((program.own, &program.checksum), (true, &None));
        let needed = shipped.values().next_back().unwrap();
        assert_eq!((needed.own, needed.checksum.as_deref()), (false, Some("ab".repeat(32).as_str())));
        assert!(resolved("heddle").is_err());
    }
}

//! Duplicate packages: one that our manifests name stands once in the lock file.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;
use toml::Table;

/// Packages that stand there twice since others pin an older version, with the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("base64", "postgres-protocol (under diesel-async) has 0.22; reqwest and utoipa-swagger-ui have ours"),
    ("foldhash", "hashbrown 0.15 (under whatlang) has 0.1; what we write and newer tables have ours"),
    ("getrandom", "ahash (under actix-web) has 0.3; uuid, rand, tempfile and password-hash have ours"),
    ("hmac", "p256 and p384 (under openidconnect) have 0.12; postgres-protocol and what we write have ours"),
    ("http", "actix-http has 0.2; hyper and what we write over it have ours"),
    ("quick-xml", "object_store has 0.41; what we write has ours"),
    ("sha2", "openidconnect and its curves have 0.10; what we write has ours"),
    ("syn", "derive macros of actix-web, diesel and icu have 2; those of serde, tokio and clap have ours"),
    ("thiserror", "openidconnect and oauth2 have 1; all others have ours"),
];

/// Adds what stands twice, and what is allowed without need.
pub(crate) fn check(lock: &str, metadata: &Value, found: &mut Vec<String>) -> Result<()> {
    check_with(ALLOWED, lock, &named(metadata)?, found)
}

fn check_with(
    allowed: &[(&str, &str)],
    lock: &str,
    named: &BTreeMap<String, BTreeSet<String>>,
    found: &mut Vec<String>,
) -> Result<()> {
    let lock: Table = lock.parse().context("Cargo.lock does not parse")?;
    let packages =
        lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let text = |key| package.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        versions.entry(text("name")).or_default().push(text("version"));
    }
    for (name, requirements) in named {
        let there = versions.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
        if there.len() > 1 && !allowed.iter().any(|(allowed, _)| allowed == name) {
            found.push(format!("Cargo.lock: `{name}`, which we name, stands there as {}", there.join(", ")));
        }
        if requirements.contains("*") {
            found.push(format!("Cargo.toml: `{name}` has no version"));
        }
    }
    for (name, _) in allowed {
        if !named.contains_key(*name) || versions.get(name).is_none_or(|there| there.len() < 2) {
            found.push(format!(
                "xtask/src/tidy/doubles.rs: `{name}` stands there once: take it from the table"
            ));
        }
    }
    Ok(())
}

/// The packages from outside that our manifests name, with the versions that they ask for.
fn named(metadata: &Value) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let dependencies = packages.iter().filter_map(|package| package["dependencies"].as_array()).flatten();
    let mut named: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for dependency in dependencies.filter(|dependency| !dependency["source"].is_null()) {
        let text = |key: &str| dependency[key].as_str().unwrap_or_default().to_owned();
        named.entry(text("name")).or_default().insert(text("req"));
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_versions_of_what_we_name_are_told_unless_they_are_allowed() {
        let lock = ["one@1", "two@1", "two@2", "three@1", "three@2"]
            .map(|package| {
                let (name, version) = package.split_once('@').unwrap();
                format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n")
            })
            .concat();
        let metadata = serde_json::json!({"packages": [{"dependencies": [
            {"name": "one", "req": "*", "source": "registry"}, {"name": "two", "req": "^2", "source": "registry"},
            {"name": "ours", "req": "*", "source": null}]}]});
        let of = |allowed: &[(&str, &str)]| {
            let mut found = Vec::new();
            check_with(allowed, &lock, &named(&metadata).unwrap(), &mut found).unwrap();
            found
        };
        assert_eq!(
            of(&[]),
            ["Cargo.toml: `one` has no version", "Cargo.lock: `two`, which we name, stands there as 1, 2"]
        );
        assert_eq!(of(&[("two", "old")]).len(), 1);
        assert_eq!(of(&[("two", "old"), ("three", "nobody of ours names it")]).len(), 2);
    }
}

//! The packages of others held against `deny.toml`, which is in the form of cargo-deny: licences, bans and sources.
//! Offline and without a further tool; advisories, which change by the day, are that tool's.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;
use toml::Table;

use super::expression::Expression;

/// Findings; empty when all is as it may be.
pub(crate) fn check(rules: &str, lock: &str, metadata: &Value) -> Result<Vec<String>> {
    let rules: Table = rules.parse().context("deny.toml does not parse")?;
    let lock: Table = lock.parse().context("Cargo.lock does not parse")?;
    let locked = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let mut found = Vec::new();
    licences(&allowed(&rules)?, metadata, &mut found)?;
    bans(&rules, locked, metadata, &mut found)?;
    sources(&rules, locked, &mut found)?;
    found.sort();
    found.dedup();
    Ok(found)
}

/// The licences that `deny.toml` allows, the preferred ones first.
pub(crate) fn allowed(rules: &Table) -> Result<Vec<String>> {
    texts(rules, "licenses", "allow")
}

fn section<'a>(rules: &'a Table, section: &str, key: &str) -> Result<&'a toml::Value> {
    let found = rules.get(section).and_then(|section| section.get(key));
    found.with_context(|| format!("deny.toml has no `{key}` under `{section}`"))
}

fn texts(rules: &Table, name: &str, key: &str) -> Result<Vec<String>> {
    let list = section(rules, name, key)?.as_array().with_context(|| format!("`{key}` is no list"))?;
    Ok(list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
}

fn licences(allowed: &[String], metadata: &Value, found: &mut Vec<String>) -> Result<()> {
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut met = BTreeSet::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(text) = package["license"].as_str() else {
            found.push(format!("{name}: names no licence"));
            continue;
        };
        match Expression::read(text) {
            Ok(licence) if licence.choose(allowed).is_none() => {
                found.push(format!("{name}: `{text}` is not allowed"));
            }
            Ok(licence) => met.extend(licence.licences().into_iter().map(str::to_owned)),
            Err(error) => found.push(format!("{name}: {error:#}")),
        }
    }
    for unmet in allowed.iter().filter(|licence| !met.contains(*licence)) {
        found.push(format!("deny.toml: nothing has the licence `{unmet}`: take it from the list"));
    }
    Ok(())
}

fn bans(rules: &Table, locked: &[toml::Value], metadata: &Value, found: &mut Vec<String>) -> Result<()> {
    let banned = section(rules, "bans", "deny")?.as_array().context("`deny` is no list")?;
    for ban in banned {
        let name = ban.get("crate").and_then(toml::Value::as_str).context("a ban names no `crate`")?;
        let reason = ban.get("reason").and_then(toml::Value::as_str).context("a ban has no `reason`")?;
        if locked.iter().any(|package| text(package, "name") == Some(name)) {
            found.push(format!("{name}: is banned: {reason}"));
        }
    }
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    for package in packages.iter().filter(|package| package["source"].is_null()) {
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        for open in dependencies.filter(|one| one["req"] == "*" && !one["source"].is_null()) {
            found.push(format!("{}: `{}` has no version", package["name"], open["name"]));
        }
    }
    Ok(())
}

fn sources(rules: &Table, locked: &[toml::Value], found: &mut Vec<String>) -> Result<()> {
    let registries = texts(rules, "sources", "allow-registry")?;
    let allowed: Vec<String> = registries.iter().map(|registry| format!("registry+{registry}")).collect();
    for package in locked {
        let name = text(package, "name").unwrap_or_default();
        // What has no source is of this workspace.
        let Some(source) = text(package, "source") else { continue };
        if !allowed.iter().any(|one| one == source) {
            found.push(format!("{name}: comes from `{source}`"));
        }
        if text(package, "checksum").is_none() {
            found.push(format!("{name}: has no checksum"));
        }
    }
    Ok(())
}

fn text<'a>(package: &'a toml::Value, key: &str) -> Option<&'a str> {
    package.get(key).and_then(toml::Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const RULES: &str = r#"
        [licenses]
        allow = ["Apache-2.0", "MIT"]
        [bans]
        deny = [{ crate = "openssl-sys", reason = "one TLS" }]
        [sources]
        allow-registry = ["https://registry.example"]
    "#;

    fn lock(name: &str, source: &str) -> String {
        format!(
            "[[package]]\nname = \"ours\"\nversion = \"1.0.0\"\n\
             [[package]]\nname = \"{name}\"\nversion = \"1.0.0\"\nsource = \"{source}\"\nchecksum = \"aa\"\n"
        )
    }

    fn metadata(licence: &Value, requirement: &str) -> Value {
        json!({ "packages": [
            { "name": "ours", "source": null, "license": "LicenseRef-Own", "dependencies": [
                { "name": "theirs", "req": requirement, "source": "registry" },
                { "name": "other", "req": "*", "source": null }] },
            { "name": "theirs", "source": "registry", "license": licence },
            { "name": "both", "source": "registry", "license": "MIT OR Apache-2.0" },
        ] })
    }

    #[test]
    fn each_rule_finds_what_breaks_it_and_nothing_else() {
        let good = "registry+https://registry.example";
        let (mit, gpl) = (json!("MIT"), json!("GPL-3.0-or-later"));
        for (name, source, licence, requirement, wanted) in [
            ("theirs", good, &mit, "^1", None),
            ("theirs", good, &gpl, "^1", Some("theirs: `GPL-3.0-or-later` is not allowed")),
            ("theirs", good, &Value::Null, "^1", Some("theirs: names no licence")),
            ("theirs", good, &json!("MIT OR"), "^1", Some("theirs: `MIT OR` is no licence expression")),
            ("openssl-sys", good, &mit, "^1", Some("openssl-sys: is banned: one TLS")),
            ("theirs", "git+https://elsewhere.example", &mit, "^1", Some("theirs: comes from `git+https")),
            ("theirs", good, &mit, "*", Some("has no version")),
        ] {
            let found = check(RULES, &lock(name, source), &metadata(licence, requirement)).unwrap();
            match wanted {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(wanted) => {
                    assert!(found.len() == 1 && found[0].contains(wanted), "{wanted}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn an_allowance_that_nothing_needs_is_told() {
        let rules = RULES.replace("\"MIT\"", "\"MIT\", \"Zlib\"");
        let found =
            check(&rules, &lock("a", "registry+https://registry.example"), &metadata(&json!("MIT"), "^1"))
                .unwrap();
        assert_eq!(found, ["deny.toml: nothing has the licence `Zlib`: take it from the list"]);
    }
}

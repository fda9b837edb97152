//! The bill of materials: CycloneDX 1.6 in JSON. The same packages give the same text, so it has no time and no number.

#![expect(clippy::indexing_slicing, reason = "members of JSON objects that are made here")]

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::expression::spdx;
use super::packages::{Id, PROGRAM, Package, Shipped};

/// The bill.
pub(crate) fn bill(shipped: &Shipped) -> Result<Value> {
    let program = shipped.0.values().find(|package| package.own && package.id.name == PROGRAM);
    let program = program.context("the program is not among its packages")?;
    let others = shipped.0.values().filter(|package| package.id != program.id);
    let components: Vec<Value> = others.map(|package| component(package, "library")).collect();
    let dependencies: Vec<Value> = shipped.0.values().map(|package| dependency(package, shipped)).collect();
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": component(program, "application") },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(package: &Package, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(&package.id, package.own),
        "name": package.id.name,
        "version": package.id.version,
        "licenses": [{ "expression": spdx(&package.licence) }],
    });
    if !package.own {
        component["purl"] = json!(purl(&package.id));
        component["scope"] = json!("required");
    }
    if let Some(checksum) = &package.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    if let (Some(repository), false) = (&package.repository, package.own) {
        component["externalReferences"] = json!([{ "type": "vcs", "url": repository }]);
    }
    component
}

fn dependency(package: &Package, shipped: &Shipped) -> Value {
    let own = |id: &Id| shipped.0.get(id).is_some_and(|package| package.own);
    let on: Vec<String> = package.dependencies.iter().map(|id| reference(id, own(id))).collect();
    json!({ "ref": reference(&package.id, package.own), "dependsOn": on })
}

/// Reference of a package within the bill: its purl, where it has one.
fn reference(id: &Id, own: bool) -> String {
    if own { format!("{}@{}", id.name, id.version) } else { purl(id) }
}

/// Package URL: a `+` of a version is escaped.
fn purl(id: &Id) -> String {
    format!("pkg:cargo/{}@{}", id.name, id.version.replace('+', "%2B"))
}

#[cfg(test)]
mod tests {
    use super::super::packages::tests::sample;
    use super::*;

    #[test]
    fn the_bill_names_each_package_with_its_licence_its_hash_and_what_it_needs() {
        let bill = bill(&sample("/x")).unwrap();
        assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&json!("CycloneDX"), &json!("1.6")));
        assert_eq!(bill["metadata"]["component"]["bom-ref"], "heddle@0.1.0");
        assert_eq!(
            bill["components"],
            json!([{
                "type": "library", "bom-ref": "pkg:cargo/needed@1.2.3%2Bc", "name": "needed", "version": "1.2.3+c",
                "purl": "pkg:cargo/needed@1.2.3%2Bc", "scope": "required",
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
                "hashes": [{ "alg": "SHA-256", "content": "ab".repeat(32) }],
                "externalReferences": [{ "type": "vcs", "url": "https://example.org/code" }],
            }])
        );
        assert_eq!(
            bill["dependencies"],
            json!([
                { "ref": "heddle@0.1.0", "dependsOn": ["pkg:cargo/needed@1.2.3%2Bc"] },
                { "ref": "pkg:cargo/needed@1.2.3%2Bc", "dependsOn": [] },
            ])
        );
    }
}

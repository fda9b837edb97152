//! Requirements on every package's manifest.

use toml::{Table, Value};

/// Manifest of the one package with unsafe code: SQLite calls its file systems in C.
const UNSAFE: &str = "crates/sqlite-log/Cargo.toml";

/// Adds what is wrong with one `Cargo.toml`.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    let manifest: Table = match content.parse() {
        Ok(manifest) => manifest,
        Err(error) => {
            found.push(format!("{place}: does not parse: {error}"));
            return;
        }
    };
    // A workspace of its own, such as that of fuzz targets, has nothing to inherit from.
    if manifest.contains_key("workspace") {
        return;
    }
    let inherits = |table: &str, key: &str| {
        manifest.get(table).and_then(|table| table.get(key)).and_then(Value::as_bool) == Some(true)
    };
    if !inherits("lints", "workspace") && place != UNSAFE {
        found.push(format!("{place}: lints are not the workspace's (`[lints] workspace = true`)"));
    }
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        let value = manifest.get("package").and_then(|package| package.get(key));
        if value.and_then(|value| value.get("workspace")).and_then(Value::as_bool) != Some(true) {
            found.push(format!("{place}: `package.{key}` is not the workspace's"));
        }
    }
    let described =
        manifest.get("package").and_then(|package| package.get("description")).and_then(Value::as_str);
    if described.is_none_or(str::is_empty) {
        found.push(format!("{place}: the package has no description"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[package]\nname = \"a\"\ndescription = \"A.\"\nversion.workspace = true\nedition.workspace = true\n\
        rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n[lints]\nworkspace = true\n";

    #[test]
    fn each_rule_has_a_finding() {
        let of = |content: &str| {
            let mut found = Vec::new();
            check("Cargo.toml", content, &mut found);
            found
        };
        assert_eq!(of(GOOD), Vec::<String>::new());
        for (from, to, expected) in [
            ("[lints]\nworkspace = true", "", "lints are not"),
            ("[lints]\nworkspace = true", "[lints]\nworkspace = false", "lints are not"),
            ("edition.workspace = true", "edition = \"2021\"", "`package.edition`"),
            ("publish.workspace = true", "", "`package.publish`"),
            ("description = \"A.\"", "", "no description"),
            ("[package]", "[package", "does not parse"),
        ] {
            let found = of(&GOOD.replace(from, to));
            assert_eq!(found.len(), 1, "{to}: {found:?}");
            assert!(found[0].contains(expected), "{to}: {found:?}");
        }
    }
}

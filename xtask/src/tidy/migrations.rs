//! Migrations carry the same names for both databases and go both ways.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};

const SIDES: [&str; 2] = ["sqlite", "postgres"];

/// Adds what is wrong with the folder of migrations; an absent one has nothing wrong.
pub(crate) fn check(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let names = [names(&folder.join(SIDES[0]))?, names(&folder.join(SIDES[1]))?];
    for (side, other) in [(0, 1), (1, 0)] {
        for missing in names[other].difference(&names[side]) {
            found.push(format!("migrations/{}: `{missing}` is only for {}", SIDES[side], SIDES[other]));
        }
        for name in &names[side] {
            for file in ["up.sql", "down.sql"] {
                if !folder.join(SIDES[side]).join(name).join(file).is_file() {
                    found.push(format!("migrations/{}/{name}: {file} is missing", SIDES[side]));
                }
            }
        }
    }
    Ok(())
}

fn names(folder: &Path) -> Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.insert(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_are_compared() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "select 1;\n").unwrap();
        };
        for side in SIDES {
            put(&format!("{side}/1_a/up.sql"));
            put(&format!("{side}/1_a/down.sql"));
        }
        let mut found = Vec::new();
        check(root.path(), &mut found).unwrap();
        assert!(found.is_empty(), "{found:?}");

        put("postgres/2_b/up.sql");
        check(root.path(), &mut found).unwrap();
        assert_eq!(
            found,
            ["migrations/sqlite: `2_b` is only for postgres", "migrations/postgres/2_b: down.sql is missing"]
        );
    }
}

//! Which store names which tables: its own area's and the shared ones. The migrations say whose a table is.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::circles::File;
use super::source::{Source, is_cfg_test, skip_item};

/// The area of what every area writes.
const SHARED: &str = "shared";
/// The store crates (by folder) that are under the check.
const CRATES: &[&str] =
    &["store", "store-connections", "store-identity", "store-models", "store-vectors", "store-workflows"];

/// Table to area.
pub(crate) type Tables = BTreeMap<String, String>;

/// Reads whose each table is: migrations are named `<time>_<area>`, perhaps with more behind it.
pub(crate) fn read(migrations: &Path) -> Result<Tables> {
    let (folder, mut tables) = (migrations.join("sqlite"), Tables::new());
    if !folder.is_dir() {
        return Ok(tables);
    }
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (Some(area), Ok(script)) =
            (name.split('_').nth(1), std::fs::read_to_string(entry.path().join("up.sql")))
        else {
            continue;
        };
        for table in created(&script) {
            tables.insert(table, area.to_owned());
        }
    }
    Ok(tables)
}

fn created(script: &str) -> Vec<String> {
    let words: Vec<&str> = script
        .split(|mark: char| !(mark.is_alphanumeric() || mark == '_'))
        .filter(|word| !word.is_empty())
        .collect();
    let created = words
        .windows(3)
        .filter(|words| words[0].eq_ignore_ascii_case("create") && words[1].eq_ignore_ascii_case("table"));
    created.map(|words| words[2].to_owned()).collect()
}

/// Adds the tables of other areas that a store crate names.
pub(crate) fn check(name: &str, files: &[File<'_>], tables: &Tables, found: &mut Vec<String>) {
    if CRATES.contains(&name) {
        report(name, files, tables, found);
    }
}

fn report(name: &str, files: &[File<'_>], tables: &Tables, found: &mut Vec<String>) {
    let own = name.strip_prefix("store-").unwrap_or(SHARED);
    for source in files.iter().filter_map(|(path, content)| Source::of(path, content)) {
        walk(source.tokens.clone(), &mut |table, line| {
            if let Some(area) = tables.get(table).filter(|area| *area != own && *area != SHARED) {
                let path = &source.path;
                found.push(format!(
                    "crates/{name}/src/{path}:{line}: `{table}` is a table of the area {area}"
                ));
            }
        });
    }
}

/// Tells every name that stands where a table's does: before `::`, and before the key of its declaration.
fn walk(tokens: TokenStream, tell: &mut impl FnMut(&str, usize)) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        if is_cfg_test(&trees[at..]) {
            at = skip_item(&trees, at + 2);
            continue;
        }
        match tree {
            TokenTree::Ident(word) if is_path(&trees[at + 1..]) || is_declaration(&trees[at + 1..]) => {
                tell(&word.to_string(), word.span().start().line);
            }
            TokenTree::Group(group) => walk(group.stream(), tell),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        at += 1;
    }
}

fn is_path(behind: &[TokenTree]) -> bool {
    let colon = |at: usize| matches!(behind.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(0) && colon(1)
}

fn is_declaration(behind: &[TokenTree]) -> bool {
    let group = |at: usize, delimiter: Delimiter| matches!(behind.get(at), Some(TokenTree::Group(group)) if group.delimiter() == delimiter);
    let arrow = || {
        let mark = |at: usize, mark: char| matches!(behind.get(at), Some(TokenTree::Punct(found)) if found.as_char() == mark);
        mark(1, '=') && mark(2, '>')
    };
    // `table!` has the columns next, `row!` the name of the row.
    group(0, Delimiter::Parenthesis) && (group(1, Delimiter::Brace) || arrow())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_other_areas_are_found() {
        let script = "CREATE TABLE runs (\n  id blob\n) STRICT;\ncreate table workflows(id blob);\nCREATE INDEX a ON runs (id);";
        assert_eq!(created(script), ["runs", "workflows"]);
        let tables: Tables = [("runs", "workflows"), ("users", "identity"), ("audit", "shared")]
            .map(|(table, area)| (table.to_owned(), area.to_owned()))
            .into();
        let of = |name: &str, text: &str| {
            let mut found = Vec::new();
            report(name, &[("a.rs", text)], &tables, &mut found);
            found
        };
        for text in [
            "fn f() { runs::table.filter(runs::id.eq(1)); }",
            "diesel::table! { runs (id) { id -> Text, } }",
            "row! { runs (id) => RunRow { key id: [Text] String, } }",
        ] {
            assert!(!of("store", text).is_empty(), "{text}");
            assert!(!of("store-identity", text).is_empty(), "{text}");
            assert!(of("store-workflows", text).is_empty(), "{text}");
        }
        let found = of("store-identity", "fn f() { users::id; audit::id;\n runs::id }");
        assert_eq!(found, ["crates/store-identity/src/a.rs:2: `runs` is a table of the area workflows"]);
        for text in ["// runs::id", "#[cfg(test)] mod tests { use runs::id; }", "fn f(runs: u8) { g(runs) }"]
        {
            assert!(of("store", text).is_empty(), "{text}");
        }
    }
}

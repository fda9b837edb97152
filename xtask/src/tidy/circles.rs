//! Circles between the top-level modules of a crate.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::source::{Source, is_cfg_test, skip_item};

/// The crates (by folder) whose modules form no circle.
const CRATES: &[&str] = &[
    "answerer",
    "api",
    "cases",
    "connections",
    "definitions",
    "edge",
    "egress",
    "embedding",
    "engine",
    "execution",
    "extract",
    "faces",
    "feel",
    "harness",
    "harness-kit",
    "heddle",
    "identity",
    "installation",
    "kernel",
    "models-wire",
    "models-local",
    "oidc",
    "outbound",
    "passages",
    "blobs",
    "policy",
    "runtime",
    "seal",
    "server",
    "service-nodes",
    "settings",
    "store",
    "store-connections",
    "store-identity",
    "store-models",
    "store-vectors",
    "store-workflows",
    "testkit",
    "usecase",
    "models",
    "vector-service",
    "vectors",
    "workflows",
    "xml",
];

/// A file of a crate: its path below `src`, and what it says.
pub(crate) type File<'a> = (&'a str, &'a str);

/// From one top-level module to another, with a place where it is named.
type Arrows = BTreeMap<(String, String), String>;

/// Adds the circles of one crate.
pub(crate) fn check(name: &str, files: &[File<'_>], found: &mut Vec<String>) {
    if CRATES.contains(&name) {
        report(name, files, found);
    }
}

fn report(name: &str, files: &[File<'_>], found: &mut Vec<String>) {
    let arrows = arrows(files);
    for circle in circles(&arrows) {
        let names: Vec<&str> = circle.iter().map(String::as_str).collect();
        let mut finding = format!("crates/{name}: the modules {} form a circle", names.join(", "));
        for ((from, to), place) in &arrows {
            if circle.contains(from) && circle.contains(to) {
                finding.push_str(&format!("\n    {from} -> {to} (src/{place})"));
            }
        }
        found.push(finding);
    }
}

/// Every module that is on a circle, with those that it shares one with.
fn circles(arrows: &Arrows) -> Vec<BTreeSet<String>> {
    let modules: BTreeSet<&String> = arrows.keys().flat_map(|(from, to)| [from, to]).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        modules.iter().map(|module| (*module, reach(module, arrows))).collect();
    let mut found: Vec<BTreeSet<String>> = Vec::new();
    for module in &modules {
        if found.iter().any(|circle| circle.contains(*module)) {
            continue;
        }
        let there =
            |other: &&&String| reached[*module].contains(**other) && reached[**other].contains(*module);
        let circle: BTreeSet<String> = modules.iter().filter(there).map(|other| (*other).clone()).collect();
        if !circle.is_empty() {
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(module: &'a String, arrows: &'a Arrows) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(here) = open.pop() {
        open.extend(
            arrows.keys().filter(|(from, _)| from == here).map(|(_, to)| to).filter(|to| reached.insert(*to)),
        );
    }
    reached
}

fn arrows(files: &[File<'_>]) -> Arrows {
    let sources: Vec<Source> = files.iter().filter_map(|(path, content)| Source::of(path, content)).collect();
    let root = Root::of(&sources);
    let mut arrows = Arrows::new();
    for source in sources.iter().filter(|source| !root.tests.contains(&source.module)) {
        let Some(from) = source.module.first() else { continue };
        let mut walk = Walk { source, root: &root, arrows: &mut arrows, from };
        walk.tokens(source.tokens.clone(), &source.module);
    }
    arrows
}

/// Root of a crate: modules, names that it passes on, and the modules of tests.
struct Root {
    modules: BTreeSet<String>,
    names: BTreeMap<String, String>,
    tests: BTreeSet<Vec<String>>,
}

impl Root {
    fn of(sources: &[Source]) -> Self {
        let modules: BTreeSet<String> =
            sources.iter().filter_map(|source| source.module.first().cloned()).collect();
        let mut root = Self { modules, names: BTreeMap::new(), tests: BTreeSet::new() };
        for source in sources {
            root.tests.extend(source.modules_of_tests());
        }
        for source in sources.iter().filter(|source| source.module.is_empty()) {
            for path in source.imports() {
                let path: Vec<&str> = path
                    .iter()
                    .map(String::as_str)
                    .skip_while(|part| matches!(*part, "crate" | "self"))
                    .collect();
                match path.as_slice() {
                    [module, .., "*"] if root.modules.contains(*module) => {
                        let within =
                            |other: &&Source| other.module.first().is_some_and(|first| first == module);
                        let names = sources.iter().filter(within).flat_map(Source::items);
                        root.names.extend(names.map(|name| (name, (*module).to_owned())));
                    }
                    [module, .., name] if root.modules.contains(*module) => {
                        root.names.insert((*name).to_owned(), (*module).to_owned());
                    }
                    _ => {}
                }
            }
        }
        root
    }

    fn holder(&self, name: &str) -> Option<&String> {
        self.modules.get(name).or_else(|| self.names.get(name))
    }
}

/// The search of one file for paths that leave its top-level module, inside macros as well.
struct Walk<'a> {
    source: &'a Source,
    root: &'a Root,
    arrows: &'a mut Arrows,
    from: &'a str,
}

impl Walk<'_> {
    fn tokens(&mut self, tokens: TokenStream, module: &[String]) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            if is_cfg_test(&trees[at..]) {
                at = skip_item(&trees, at + 2);
                continue;
            }
            match tree {
                TokenTree::Ident(word) if *word == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                        (trees.get(at + 1), trees.get(at + 2))
                    {
                        let inner = [module, &[name.to_string()]].concat();
                        self.tokens(body.stream(), &inner);
                        at += 2;
                    }
                }
                TokenTree::Ident(word) if *word == "crate" => self.path(&trees[at + 1..], &[]),
                // `super::super` is followed from its first word on.
                TokenTree::Ident(word) if *word == "super" && !follows_super(&trees, at) => {
                    self.path(&trees[at + 1..], &module[..module.len().saturating_sub(1)]);
                }
                TokenTree::Group(group) => self.tokens(group.stream(), module),
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    /// Reads the path behind a word for a module: `::name`, `::super`, or `::{..}`.
    fn path(&mut self, rest: &[TokenTree], module: &[String]) {
        if !is_colons(rest) {
            return;
        }
        match rest.get(2) {
            Some(TokenTree::Ident(word)) => self.name(word, &rest[3..], module),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let trees: Vec<TokenTree> = group.stream().into_iter().collect();
                let comma =
                    |tree: &TokenTree| matches!(tree, TokenTree::Punct(mark) if mark.as_char() == ',');
                for part in trees.split(comma) {
                    if let Some(TokenTree::Ident(word)) = part.first() {
                        self.name(word, &part[1..], module);
                    }
                }
            }
            Some(TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_)) | None => {}
        }
    }

    fn name(&mut self, word: &proc_macro2::Ident, rest: &[TokenTree], module: &[String]) {
        if *word == "super" {
            return self.path(rest, &module[..module.len().saturating_sub(1)]);
        }
        if !module.is_empty() {
            return;
        }
        if let Some(to) = self.root.holder(&word.to_string()).filter(|to| *to != self.from) {
            let place = || format!("{}:{}", self.source.path, word.span().start().line);
            self.arrows.entry((self.from.to_owned(), to.clone())).or_insert_with(place);
        }
    }
}

fn is_colons(trees: &[TokenTree]) -> bool {
    let colon =
        |tree: Option<&TokenTree>| matches!(tree, Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    colon(trees.first()) && colon(trees.get(1))
}

fn follows_super(trees: &[TokenTree], at: usize) -> bool {
    at >= 3
        && is_colons(&trees[at - 2..])
        && matches!(&trees[at - 3], TokenTree::Ident(word) if *word == "super")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[File<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        report("x", files, &mut found);
        found
    }

    #[test]
    fn a_circle_is_found_with_its_arrows_however_the_modules_are_named() {
        let found = of(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Third;\n"),
            ("a.rs", "use crate::b::Second;\n"),
            ("b/mod.rs", "mod deep;\n"),
            ("b/deep.rs", "fn f() { println!(\"{}\", crate::Third::new()) }\n"),
            ("c.rs", "\nfn f() -> super::a::First { panic!() }\n"),
        ]);
        assert_eq!(
            found,
            [
                "crates/x: the modules a, b, c form a circle\n    a -> b (src/a.rs:1)\n    b -> c (src/b/deep.rs:1)\n    \
              c -> a (src/c.rs:2)"
            ]
        );
    }

    #[test]
    fn groups_globs_supers_and_inline_modules_are_followed() {
        let back = ("b.rs", "use crate::a::One;");
        for a in [
            "use crate::{c::Four, b::{Two, Three}};",
            "use crate::{self as all, c, b};",
            "mod inner { use super::super::b::Two; }",
            "mod inner { use super::{One, super::b::Two}; }",
            "use super::b;",
            "use crate::FromAll;",
            "macro_rules! m { () => { $crate::b::Two } }",
            "pub(super) fn f() { let x: Vec<crate::b::Two> = vec![]; }",
        ] {
            let files = [("lib.rs", "mod a; mod b; mod c; pub use b::*;"), ("a.rs", a), back, ("c.rs", "")];
            let files: Vec<File<'_>> = files
                .iter()
                .map(|(path, text)| (*path, *text))
                .chain([("b/sub.rs", "pub struct FromAll;")])
                .collect();
            assert_eq!(of(&files).len(), 1, "{a}: {:?}", arrows(&files));
        }
    }

    #[test]
    fn what_runs_one_way_or_within_a_module_or_in_tests_is_no_circle() {
        for a in [
            "use crate::c::Four;",
            "mod inner { use super::b::Two; }",
            "#[cfg(test)] mod tests { use crate::b::Two; }",
            "#[cfg(test)] use crate::b::Two;\nfn f() {}",
            "#[cfg(test)] fn helper() -> crate::b::Two { todo() }",
            "// crate::b::Two\nconst A: &str = \"crate::b::Two\";",
            "use other::b::Two;",
        ] {
            let files = [
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", a),
                ("b.rs", "use crate::a::One;"),
                ("c.rs", ""),
            ];
            assert_eq!(of(&files), Vec::<String>::new(), "{a}");
        }
    }

    #[test]
    fn files_of_tests_are_known_by_their_declaration() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "#[cfg(test)]\nmod trials;"),
            ("a/trials.rs", "use crate::b::Two;"),
            ("b.rs", "use crate::a::One;"),
        ];
        assert_eq!(of(&files), Vec::<String>::new());
    }
}

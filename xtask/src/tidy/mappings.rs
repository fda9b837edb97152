//! Mappings from one enum to another name every kind: a new one must not be taken for an old one.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The files of mappings; a folder ends in `/`.
const MAPPINGS: &[&str] = &[
    "crates/api/src/error.rs",
    "crates/api/src/wire/",
    "crates/engine/src/command.rs",
    "crates/engine/src/step/enter.rs",
    "crates/engine/src/step/error.rs",
    "crates/engine/src/step/mod.rs",
    "crates/faces/src/run_view.rs",
    "crates/harness-conformance/src/judge.rs",
    "crates/installation/src/error.rs",
    "crates/kernel/src/",
    "crates/policy/src/words.rs",
    "crates/runtime/src/",
    "crates/server/src/failure.rs",
    "crates/server/src/handlers/accounts.rs",
    "crates/server/src/handlers/directory.rs",
    "crates/server/src/handlers/licence.rs",
    "crates/store-identity/src/",
    "crates/store-workflows/src/words.rs",
    "crates/usecase/src/",
];

/// Adds the arms of a mapping that take whatever comes.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    if MAPPINGS
        .iter()
        .any(|mapping| place == *mapping || mapping.ends_with('/') && place.starts_with(mapping))
    {
        report(place, content, found);
    }
}

fn report(place: &str, content: &str, found: &mut Vec<String>) {
    if let Ok(file) = syn::parse_file(content) {
        Arms { place, found }.visit_file(&file);
    }
}

struct Arms<'a> {
    place: &'a str,
    found: &'a mut Vec<String>,
}

impl<'ast> Visit<'ast> for Arms<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(super::functions::of_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        // Texts and numbers have no end of kinds.
        let open = item.arms.iter().any(|arm| is_open(&arm.pat));
        for arm in item.arms.iter().filter(|arm| !open && takes_all(&arm.pat)) {
            let line = arm.span().start().line;
            self.found.push(format!("{}:{line}: takes every kind that is to come: name them", self.place));
        }
        visit::visit_expr_match(self, item);
    }
}

fn is_open(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Lit(_) | syn::Pat::Range(_) | syn::Pat::Slice(_) => true,
        syn::Pat::Or(cases) => cases.cases.iter().any(is_open),
        syn::Pat::Paren(inner) => is_open(&inner.pat),
        syn::Pat::Reference(inner) => is_open(&inner.pat),
        syn::Pat::Tuple(tuple) => tuple.elems.iter().any(is_open),
        syn::Pat::TupleStruct(inner) => inner.elems.iter().any(is_open),
        _ => false,
    }
}

/// `_`, or a name of its own for whatever comes.
fn takes_all(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Wild(_) => true,
        syn::Pat::Ident(name) => {
            name.subpat.is_none() && name.ident.to_string().starts_with(|first: char| first.is_lowercase())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_that_take_whatever_comes_are_found_where_kinds_have_an_end() {
        let of = |arms: &str| {
            let mut found = Vec::new();
            report("a.rs", &format!("fn f(x: X) -> Y {{ match x {{ {arms} }} }}"), &mut found);
            found.len()
        };
        for (arms, count) in [
            ("X::A => Y::A, _ => Y::B", 1),
            ("X::A => Y::A, other => Y::of(other)", 1),
            ("X::A => match z { Z::A => 1, _ => 2 }, X::B => Y::B", 1),
            ("X::A | X::B => Y::A, X::C(_) => Y::B", 0),
            ("X::A => Y::A, A if a => Y::B, B => Y::B", 0),
            ("\"a\" => Y::A, _ => Y::B", 0),
            ("Some(\"a\") => Y::A, _ => Y::B", 0),
            ("1..=3 => Y::A, _ => Y::B", 0),
        ] {
            assert_eq!(of(arms), count, "{arms}");
        }
        let mut found = Vec::new();
        report("a.rs", "#[cfg(test)] mod tests { fn f(x: X) { match x { X::A => 1, _ => 2 } } }", &mut found);
        assert!(found.is_empty());
    }
}

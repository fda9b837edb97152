//! Tuples as arguments: what belongs together has a type with a name, and what does not comes as arguments of its own.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::functions::of_tests;

/// A function whose pair is the natural thing.
struct Allowed {
    place: &'static str,
    function: &'static str,
    reason: &'static str,
}

/// Functions that may keep their tuples, with the reason. Closures, adaptors of iterators and what a foreign
/// trait asks for do not count.
const ALLOWED: &[Allowed] = &[];

/// Adds the functions of one file that take a tuple, and what is allowed there without need.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    check_with(ALLOWED, place, content, found);
}

fn check_with(allowed: &[Allowed], place: &str, content: &str, found: &mut Vec<String>) {
    let allowed: Vec<&Allowed> = allowed.iter().filter(|one| one.place == place).collect();
    let Ok(file) = syn::parse_file(content) else { return };
    let mut tuples = Tuples { found: Vec::new() };
    if !super::text::is_test(place) {
        tuples.visit_file(&file);
    }
    for tuple in &tuples.found {
        if !allowed.iter().any(|one| one.function == tuple.function) {
            let Tuple { function, line } = tuple;
            found.push(format!(
                "{place}:{line}: `{function}` takes a tuple: name its type, or take arguments of their own"
            ));
        }
    }
    for Allowed { function, reason, .. } in allowed {
        if !tuples.found.iter().any(|tuple| tuple.function == *function) {
            found.push(format!(
                "xtask/src/tidy/arguments.rs: `{function}` ({reason}) takes no tuple: take it from the table"
            ));
        }
    }
}

/// Function that takes a tuple, and where.
struct Tuple {
    function: String,
    line: usize,
}

struct Tuples {
    found: Vec<Tuple>,
}

impl<'ast> Visit<'ast> for Tuples {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !item.attrs.iter().any(of_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !item.attrs.iter().any(of_tests) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if item.trait_.is_none() {
            return visit::visit_item_impl(self, item);
        }
        // What a trait asks for is the trait's; ours stand where they are declared.
        for member in &item.items {
            if let syn::ImplItem::Fn(function) = member {
                self.visit_block(&function.block);
            }
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        for argument in &signature.inputs {
            if let syn::FnArg::Typed(typed) = argument
                && is_tuple(&typed.ty)
            {
                let line = typed.span().start().line;
                self.found.push(Tuple { function: signature.ident.to_string(), line });
            }
        }
        visit::visit_signature(self, signature);
    }
}

/// Whether a type is a tuple of two or more, or a reference to one.
fn is_tuple(kind: &syn::Type) -> bool {
    match kind {
        syn::Type::Tuple(tuple) => tuple.elems.len() > 1,
        syn::Type::Reference(reference) => is_tuple(&reference.elem),
        syn::Type::Paren(inner) => is_tuple(&inner.elem),
        syn::Type::Group(inner) => is_tuple(&inner.elem),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &str, content: &str) -> Vec<String> {
        let mut found = Vec::new();
        check_with(&[], place, content, &mut found);
        found
    }

    #[test]
    fn tuples_are_found_in_every_kind_of_function() {
        for (content, count) in [
            ("fn f((a, b): (u8, u8)) {}", 1),
            ("fn f(a: &(u8, u8), b: &'static mut (u8, u8, u8)) {}", 2),
            ("impl A { pub(super) async fn f<'a, T: Fn(u8) -> u8>(&self, a: (T, &'a u8)) {} }", 1),
            ("trait A { fn f(&self, a: (u8, u8)); }", 1),
            ("fn outer() { fn f(a: (u8, u8)) {} }", 1),
            ("impl B for A { fn g() { fn f(a: (u8, u8)) {} } }", 1),
            ("mod inner { fn f(a: (u8, u8)) {} }", 1),
        ] {
            let found = of("crates/a/src/lib.rs", content);
            assert_eq!(found.len(), count, "{content}: {found:?}");
            assert!(found.iter().all(|finding| finding.contains("`f` takes a tuple")), "{found:?}");
        }
        assert_eq!(
            of("crates/a/src/lib.rs", "fn g() {}\n\nfn f(\n    a: u8,\n    b: (u8, u8),\n) {\n}\n"),
            ["crates/a/src/lib.rs:5: `f` takes a tuple: name its type, or take arguments of their own"]
        );
    }

    #[test]
    fn what_is_no_tuple_or_not_our_choice_is_left_alone() {
        for content in [
            "fn f(a: (), b: (u8), c: [u8; 2], d: (u8,)) {}",
            "fn f(pairs: &[(u8, u8)], found: Option<(u8, u8)>) {}",
            "fn f(rows: impl Iterator<Item = (u8, u8)>, key: impl Fn((u8, u8)) -> u8) {}",
            "fn f() -> (u8, u8) { let pair = |(a, b): (u8, u8)| a + b; (1, pair((1, 2))) }",
            "impl From<(u8, u8)> for A { fn from(pair: (u8, u8)) -> Self { A } }",
            "#[cfg(test)] mod tests { fn f(a: (u8, u8)) {} }",
            "#[cfg(test)] fn f(a: (u8, u8)) {}",
        ] {
            assert!(of("crates/a/src/lib.rs", content).is_empty(), "{content}");
        }
        for place in ["crates/a/tests/it/main.rs", "crates/a/src/tests.rs", "crates/a/src/tests/b.rs"] {
            assert!(of(place, "fn f(a: (u8, u8)) {}").is_empty(), "{place}");
        }
    }

    #[test]
    fn an_exception_holds_for_its_function_and_only_as_long_as_it_is_needed() {
        let place = "crates/a/src/lib.rs";
        let allowed = [Allowed { place, function: "f", reason: "a pair" }];
        let of = |place: &str, content: &str| {
            let mut found = Vec::new();
            check_with(&allowed, place, content, &mut found);
            found
        };
        assert!(of(place, "fn f(a: (u8, u8)) {}").is_empty());
        assert_eq!(of(place, "fn f(a: (u8, u8)) {} fn g(a: (u8, u8)) {}").len(), 1);
        assert_eq!(of("crates/b/src/lib.rs", "fn f(a: (u8, u8)) {}").len(), 1);
        assert_eq!(
            of(place, "fn f(a: u8) {}"),
            ["xtask/src/tidy/arguments.rs: `f` (a pair) takes no tuple: take it from the table"]
        );
    }
}

//! Lengths of functions, and macros that stand for work not done.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const LIMIT: usize = 70;
const ENGINE_LIMIT: usize = 100;

/// Adds what is wrong with one Rust file.
pub(crate) fn check(place: &str, content: &str, found: &mut Vec<String>) {
    let file = match syn::parse_file(content) {
        Ok(file) => file,
        Err(error) => {
            found.push(format!("{place}:{}: does not parse: {error}", error.span().start().line));
            return;
        }
    };
    let limit = if place.starts_with("crates/engine/") { ENGINE_LIMIT } else { LIMIT };
    if !super::text::is_test(place) {
        Functions { place, limit, found: &mut *found }.visit_file(&file);
    }
    if let Ok(tokens) = content.parse::<TokenStream>() {
        unfinished(place, tokens, found);
    }
}

struct Functions<'a> {
    place: &'a str,
    limit: usize,
    found: &'a mut Vec<String>,
}

impl Functions<'_> {
    fn measure(&mut self, name: &str, item: &syn::Block) {
        if is_table(item) {
            return;
        }
        let span = item.span();
        let lines = span.end().line.saturating_sub(span.start().line) + 1;
        if lines > self.limit {
            self.found.push(format!(
                "{}:{}: function `{name}` has {lines} lines, at most {}",
                self.place,
                span.start().line,
                self.limit
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // A test is as long as what it lists.
        if !item.attrs.iter().any(of_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig.ident.to_string(), &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig.ident.to_string(), &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.measure(&item.sig.ident.to_string(), block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Whether a function is one exhaustive match and nothing else: a table, as long as what it lists.
fn is_table(block: &syn::Block) -> bool {
    let Some((last, before)) = block.stmts.split_last() else { return false };
    let imports = before.iter().all(|statement| matches!(statement, syn::Stmt::Item(syn::Item::Use(_))));
    imports && matches!(last, syn::Stmt::Expr(syn::Expr::Match(_), None))
}

/// Whether an attribute marks what is for tests alone.
pub(crate) fn of_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
}

/// `todo!` and `unimplemented!`, also inside the arguments of other macros, which `syn` does not read.
fn unfinished(place: &str, tokens: TokenStream, found: &mut Vec<String>) {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Ident(word) if *word == "todo" || *word == "unimplemented" => {
                let bang =
                    matches!(trees.get(index + 1), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
                let called = matches!(trees.get(index + 2), Some(TokenTree::Group(group)) if group.delimiter() != Delimiter::None);
                if bang && called {
                    found.push(format!("{place}:{}: `{word}!` stands in the code", word.span().start().line));
                }
            }
            TokenTree::Group(group) => unfinished(place, group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &str, content: &str) -> Vec<String> {
        let mut found = Vec::new();
        check(place, content, &mut found);
        found
    }

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    let _ = 1;\n".repeat(lines - 2))
    }

    #[test]
    fn long_functions_are_found_wherever_they_stand() {
        assert!(of("crates/a/src/lib.rs", &function(70)).is_empty());
        let found = of("crates/a/src/lib.rs", &function(71));
        assert_eq!(found, ["crates/a/src/lib.rs:1: function `long` has 71 lines, at most 70"]);
        for wrap in ["impl A {\nX}", "trait A {\nX}", "mod a {\nX}", "fn outer() {\nX}"] {
            let found = of("crates/a/src/lib.rs", &wrap.replace('X', &function(75)));
            assert!(found.iter().any(|finding| finding.contains("`long` has 75 lines")), "{wrap}: {found:?}");
        }
    }

    #[test]
    fn a_single_match_is_a_table() {
        let arms = "        1 => 2,\n".repeat(80);
        let table = format!("fn long(n: u8) -> u8 {{\n    use a::b;\n    match n {{\n{arms}    }}\n}}\n");
        assert!(of("crates/a/src/lib.rs", &table).is_empty());
        let more = table.replace("    use a::b;", "    let n = n + 1;");
        assert_eq!(of("crates/a/src/lib.rs", &more).len(), 1);
    }

    #[test]
    fn tests_may_be_long() {
        assert!(
            of("crates/a/src/lib.rs", &format!("#[cfg(test)]\nmod tests {{\n{}}}", function(90))).is_empty()
        );
        assert!(of("crates/a/tests/it/main.rs", &function(90)).is_empty());
        assert_eq!(
            of("crates/a/src/lib.rs", &format!("#[cfg(unix)]\nmod tests {{\n{}}}", function(90))).len(),
            1
        );
    }

    #[test]
    fn the_engine_has_a_longer_limit() {
        assert!(of("crates/engine/src/step.rs", &function(100)).is_empty());
        assert_eq!(of("crates/engine/src/step.rs", &function(101)).len(), 1);
    }

    #[test]
    fn unfinished_work_is_found_but_not_in_text() {
        let macro_name = ["to", "do"].concat();
        let found = of("a.rs", &format!("fn a() {{ dbg!({macro_name}!()) }}"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            of("a.rs", &format!("/// No {macro_name}!() here.\nfn a() {{ let _ = \"{macro_name}!()\"; }}"))
                .is_empty()
        );
        assert!(of("a.rs", "fn a( {").iter().any(|finding| finding.contains("does not parse")));
    }
}

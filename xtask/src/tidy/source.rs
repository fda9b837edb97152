//! A Rust file as tokens, with its place among the modules of its crate.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file of a crate.
pub(crate) struct Source {
    /// The path below `src`.
    pub path: String,
    /// The module that the file is, from the crate's root, which is empty.
    pub module: Vec<String>,
    /// Content of the file as tokens.
    pub tokens: TokenStream,
}

impl Source {
    /// Reads a file; none for what does not parse, which another check tells, and for binaries beside the library.
    pub(crate) fn of(path: &str, content: &str) -> Option<Self> {
        let stem = path.strip_suffix(".rs")?;
        let mut module: Vec<String> = stem.split('/').map(str::to_owned).collect();
        if module.first().is_some_and(|first| first == "bin") {
            return None;
        }
        if module.last().is_some_and(|last| last == "mod") || matches!(stem, "lib" | "main") {
            module.pop();
        }
        Some(Self { path: path.to_owned(), module, tokens: content.parse().ok()? })
    }

    /// The modules that the file declares for tests alone.
    pub(crate) fn modules_of_tests(&self) -> Vec<Vec<String>> {
        let trees: Vec<TokenTree> = self.tokens.clone().into_iter().collect();
        let marked = (0..trees.len()).filter(|at| is_cfg_test(&trees[*at..]));
        let named = marked.filter_map(|at| {
            let rest = trees.get(at + 2..)?;
            let word =
                rest.iter().position(|tree| matches!(tree, TokenTree::Ident(word) if *word == "mod"))?;
            // A visibility may stand before it, no other item.
            let near = word <= 2;
            match rest.get(word + 1) {
                Some(TokenTree::Ident(name)) if near => {
                    Some([self.module.as_slice(), &[name.to_string()]].concat())
                }
                Some(_) | None => None,
            }
        });
        named.collect()
    }

    /// The paths that the file's own `use` items import, a `*` for all.
    pub(crate) fn imports(&self) -> Vec<Vec<String>> {
        let Ok(file) = syn::parse2::<syn::File>(self.tokens.clone()) else { return Vec::new() };
        let mut found = Vec::new();
        for item in file.items {
            if let syn::Item::Use(item) = item {
                spread(&item.tree, &mut Vec::new(), &mut found);
            }
        }
        found
    }

    /// The names of the items that stand in the file itself.
    pub(crate) fn items(&self) -> Vec<String> {
        let Ok(file) = syn::parse2::<syn::File>(self.tokens.clone()) else { return Vec::new() };
        file.items.iter().filter_map(name_of).collect()
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

fn spread(tree: &syn::UseTree, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    let mut with = |name: String| found.push([path.as_slice(), &[name]].concat());
    match tree {
        syn::UseTree::Name(name) => with(name.ident.to_string()),
        // The name that it has here is the one that others import.
        syn::UseTree::Rename(rename) => with(rename.rename.to_string()),
        syn::UseTree::Glob(_) => with("*".to_owned()),
        syn::UseTree::Path(part) => {
            path.push(part.ident.to_string());
            spread(&part.tree, path, found);
            path.pop();
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| spread(tree, path, found)),
    }
}

/// Whether an attribute `#[cfg(test)]` begins here.
pub(crate) fn is_cfg_test(trees: &[TokenTree]) -> bool {
    let hash = matches!(trees.first(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#');
    let Some(TokenTree::Group(group)) = trees.get(1) else { return false };
    hash && group.delimiter() == Delimiter::Bracket && {
        let said: String = group.stream().to_string().split_whitespace().collect();
        said == "cfg(test)"
    }
}

/// The place behind the item that begins here, attributes included.
pub(crate) fn skip_item(trees: &[TokenTree], mut at: usize) -> usize {
    while let Some(tree) = trees.get(at) {
        at += 1;
        match tree {
            TokenTree::Punct(mark) if mark.as_char() == ';' => break,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                // `use a::{b};` goes on behind its braces, an item with a body does not.
                let ends = matches!(trees.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ';');
                return at + usize::from(ends);
            }
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    at
}

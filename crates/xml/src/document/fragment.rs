//! Parts of a document as texts that stand for themselves.

use std::borrow::Cow;

use super::{COMMENT, Document, El, Names};
use crate::text::{blank, escape_attribute};

impl<'s, N: Names> Document<'s, N> {
    /// An element with its content as in the source, with the declarations between it and the root added.
    #[must_use]
    pub fn fragment(&self, el: El) -> Cow<'s, str> {
        let element = self.part(el);
        let source = self.outer(el);
        let root = self.part(self.root()).scope;
        let own = self.declarations(el);
        let outer = own.first().map_or(element.scope, |first| first.outer);
        if outer == root || element.kind == COMMENT {
            return Cow::Borrowed(source);
        }
        let mut prefixes: Vec<&str> = own.iter().map(|binding| binding.prefix).collect();
        let mut declarations = String::new();
        for binding in self.between(outer, root) {
            if prefixes.contains(&binding.prefix) {
                continue;
            }
            prefixes.push(binding.prefix);
            // Many declarations are not worth a search each.
            if prefixes.len() < 16 && !mentions(source, binding.prefix) {
                continue;
            }
            declarations.push_str(if binding.prefix.is_empty() { " xmlns" } else { " xmlns:" });
            declarations.push_str(binding.prefix);
            declarations.push_str("=\"");
            escape_attribute(self.uri(binding.ns), &mut declarations);
            declarations.push('"');
        }
        let (name, rest) = source.split_at_checked(1 + element.name.len()).unwrap_or((source, ""));
        Cow::Owned(format!("{name}{declarations}{rest}"))
    }

    /// The character data directly in an element, each piece with the child that it stands before.
    pub fn stray(&self, el: El) -> impl Iterator<Item = (Option<El>, &'s str)> + '_ {
        let element = self.part(el);
        let mut at = element.open_end;
        let ends = self.parts_of(el).map(|child| {
            let part = self.part(child);
            (Some(child), part.start, part.end)
        });
        let pieces =
            ends.chain([(None, element.close_start, element.end)]).map(move |(child, start, end)| {
                let piece = self.source.get(at as usize..start as usize).unwrap_or_default();
                at = end;
                (child, piece)
            });
        pieces.filter(|(_, piece)| !blank(piece))
    }
}

/// Whether a prefix may be in use; the default namespace always is.
fn mentions(source: &str, prefix: &str) -> bool {
    let used = |(from, found): (usize, &str)| source.as_bytes().get(from + found.len()) == Some(&b':');
    prefix.is_empty() || source.match_indices(prefix).any(used)
}

//! Variables and paths of plain words, which most texts of a decision model are: they need none of a parser's tables.

use std::sync::Arc;

use super::Options;
use super::names::is_keyword;
use crate::pattern::Patterns;
use crate::program::{Node, Program};
use crate::types::{Type, Types};

/// Most words of such a path.
const MAX_WORDS: usize = 8;

fn is_plain(word: &str) -> bool {
    let begins = word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    begins
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !is_keyword(word)
        && word != "function"
}

/// The program of a text like `customer.address.city`; `None` of any other text, and where names of several words could
/// be meant.
pub(super) fn path(source: &str, options: &Options, types: &Types) -> Option<Program> {
    if source.len() > 256 || !options.names.is_empty() || !options.members.is_empty() {
        return None;
    }
    if !source.split('.').all(is_plain) {
        return None;
    }
    let count = source.split('.').count();
    if count > MAX_WORDS {
        return None;
    }
    let mut names: Vec<Arc<str>> = Vec::with_capacity(count);
    let mut nodes = Vec::with_capacity(count);
    let mut offsets = Vec::with_capacity(count);
    let mut end = 0;
    for word in source.split('.') {
        let name = names.iter().position(|known| **known == *word).unwrap_or_else(|| {
            names.push(Arc::from(word));
            names.len() - 1
        });
        let name = u32::try_from(name).ok()?;
        let node = match u32::try_from(nodes.len()).ok()?.checked_sub(1) {
            None => Node::Global(name),
            Some(base) => Node::Path { base, name },
        };
        nodes.push(node);
        // A member's node stands at its point.
        offsets.push(end);
        end += u32::try_from(word.len()).ok()? + u32::from(nodes.len() > 1);
    }
    Some(Program {
        source: Arc::from(source),
        root: u32::try_from(nodes.len()).ok()?.checked_sub(1)?,
        nodes,
        offsets,
        extra: Vec::new(),
        constants: Vec::new(),
        names,
        definitions: Vec::new(),
        types: Vec::<Type>::new(),
        declared: types.clone(),
        slots: 0,
        patterns: Patterns::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Parser;
    use super::*;

    #[test]
    fn as_the_parser_reads_it() {
        let options = Options::default();
        let types = Types::default();
        for source in [
            "a",
            "a.b",
            "customer.address.city",
            "a.a.a",
            "_x1.y2",
            "item",
            "partial.x",
            "not",
            "date",
            "string.length",
            "e.f.g.h.i.j.k.l",
        ] {
            let mut parser = Parser::new(source, &options, &types).expect(source);
            let root = parser.expression().expect(source);
            let read = parser.finish(root);
            let simple = path(source, &options, &types).expect(source);
            let parts = |it: &Program| {
                format!("{:?} {:?} {:?} {} {}", it.nodes, it.offsets, it.names, it.root, it.slots)
            };
            assert_eq!(parts(&simple), parts(&read), "{source}");
        }
        for source in [
            "",
            "a b",
            "true",
            "null",
            "a.",
            ".a",
            "1",
            "a.1",
            "a-b",
            "if",
            "a.for",
            " a",
            "é",
            "a..b",
            "some",
            "function",
            "a.function",
        ] {
            assert!(path(source, &options, &types).is_none(), "{source}");
        }
    }
}

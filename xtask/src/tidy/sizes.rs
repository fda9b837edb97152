//! Size limits of crates: one that grows beyond must be parted.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use super::circles::File;
use super::source::{Source, is_cfg_test, skip_item};

use proc_macro2::{Span, TokenTree};

/// Lines of `src` without those of tests.
const LIMIT: usize = 17_000;
/// Those of the parts of BPMN, which the engine, the API and a single export each need alone.
const LIMIT_OF_BPMN: usize = 12_000;

/// Adds a crate that has grown too large.
pub(crate) fn check(name: &str, files: &[File<'_>], found: &mut Vec<String>) {
    let limit =
        if ["bpmn", "bpel"].iter().any(|part| name.starts_with(part)) { LIMIT_OF_BPMN } else { LIMIT };
    let lines = lines(files);
    if lines > limit {
        found.push(format!("crates/{name}: {lines} lines without tests, at most {limit}: part it"));
    }
}

fn lines(files: &[File<'_>]) -> usize {
    let sources: Vec<Source> = files.iter().filter_map(|(path, content)| Source::of(path, content)).collect();
    let tests: Vec<Vec<String>> = sources.iter().flat_map(Source::modules_of_tests).collect();
    let tested = |source: &Source| tests.iter().any(|module| source.module.starts_with(module));
    let of = |source: &Source| {
        let content = files.iter().find(|(path, _)| *path == source.path).map_or("", |(_, content)| *content);
        content.lines().count().saturating_sub(inline_tests(source))
    };
    sources.iter().filter(|source| !tested(source)).map(of).sum()
}

/// The lines of the items for tests that stand in the file.
fn inline_tests(source: &Source) -> usize {
    let trees: Vec<TokenTree> = source.tokens.clone().into_iter().collect();
    let (mut at, mut lines) = (0, 0);
    while at < trees.len() {
        if is_cfg_test(&trees[at..]) {
            let end = skip_item(&trees, at + 2);
            let line = |span: Option<Span>| span.map_or(0, |span| span.end().line);
            let begin = trees.get(at).map_or(0, |tree| tree.span().start().line);
            lines += (line(trees.get(end - 1).map(TokenTree::span)) + 1).saturating_sub(begin);
            at = end;
        } else {
            at += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tests_do_not_count() {
        let files = [
            ("lib.rs", "mod a;\n#[cfg(test)]\nmod tests;\n"),
            ("a.rs", "fn a() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n"),
            ("tests.rs", "fn c() {}\n"),
            ("tests/more.rs", "fn c() {}\n"),
        ];
        assert_eq!(lines(&files), 1 + 3);
        let mut found = Vec::new();
        let long = "// a line\n".repeat(LIMIT + 1);
        check("a", &[("lib.rs", &long)], &mut found);
        assert_eq!(found, ["crates/a: 17001 lines without tests, at most 17000: part it"]);
        check("bpmn-graph", &[("lib.rs", &long)], &mut found);
        assert_eq!(found.len(), 2);
        check("bpmn-graph", &[("lib.rs", "// a line\n")], &mut found);
        assert_eq!(found.len(), 2);
    }
}

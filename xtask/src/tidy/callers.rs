//! Guarded calls, which types cannot forbid: makers of proofs, each with the files that may call it.

#![expect(clippy::indexing_slicing, reason = "positions were found in the same list")]

use proc_macro2::{TokenStream, TokenTree};

use super::source::{is_cfg_test, skip_item};

/// Something that only some files may make.
struct Guarded {
    /// The type.
    of: &'static str,
    /// The function that makes it; empty for the literal `Type { .. }`.
    by: &'static str,
    /// The files that may, each with a reason; a folder ends in `/`.
    callers: &'static [(&'static str, &'static str)],
}

const GUARDED: &[Guarded] = &[
    Guarded {
        of: "Snapshot",
        by: "new",
        callers: &[
            ("crates/identity/src/access.rs", "what a caller may, from the facts that were read for them"),
            ("crates/policy/src/context.rs", "the installation acts by itself, with a reason"),
            ("crates/policy/examples/bench-policy.rs", "decisions that are measured, on nothing"),
        ],
    },
    Guarded {
        of: "Facts",
        by: "member",
        callers: &[
            ("crates/policy/src/context.rs", "the installation acts by itself, with a reason"),
            ("crates/policy/examples/bench-policy.rs", "decisions that are measured, on nothing"),
        ],
    },
    Guarded {
        of: "RequestContext",
        by: "of_caller",
        callers: &[
            ("crates/identity/src/access.rs", "a signed-in caller's own things"),
            ("crates/server/src/bind.rs", "the gate, for whom it lets in"),
        ],
    },
    Guarded {
        of: "RequestContext",
        by: "of_the_installation",
        callers: &[(
            "crates/installation/src/own.rs",
            "the demo and commands of the operator, where nobody calls",
        )],
    },
    Guarded {
        of: "Key",
        by: "of_stored",
        callers: &[
            ("crates/policy/src/resource/instance.rs", "an instance, from its own key of a row"),
            ("crates/execution/src/records/jobs.rs", "a job that was loaded"),
            ("crates/execution/src/records/work.rs", "a dead letter that was loaded"),
            ("crates/execution/src/runs/processes.rs", "a workflow that was found by its process"),
            (
                "crates/server/src/bind.rs",
                "an ingestion job that was loaded, and a deployment that a body names",
            ),
        ],
    },
    Guarded {
        of: "InstanceKey",
        by: "of_stored",
        callers: &[
            ("crates/store-workflows/src/runs/feed.rs", "the instance of an event, from its row"),
            ("crates/store-workflows/src/runs/tasks.rs", "a task's instance, from the task's row"),
            ("crates/store-workflows/src/runs/mod.rs", "instances that are looked up, from their rows"),
            ("crates/execution/src/records.rs", "an instance that was loaded"),
            ("crates/execution/src/records/jobs.rs", "the instance of a job that was loaded"),
            (
                "crates/execution/src/runs/feed.rs",
                "the instance of an event, from its slice, to ask whether it may be read",
            ),
            (
                "crates/execution/src/runs/read.rs",
                "a called instance, from its row, to ask whether it may be read",
            ),
        ],
    },
    Guarded {
        of: "DefinitionKey",
        by: "of_stored",
        callers: &[
            ("crates/definitions/src/records.rs", "a definition that was loaded"),
            ("crates/installation/src/outside.rs", "a workflow or a case type that a webhook names"),
            ("crates/workflows/src/ports/workflows.rs", "a workflow that a run, a call or a rule names"),
            (
                "crates/workflows/src/definitions/calls.rs",
                "what a call activity names, to tell whether it is published",
            ),
            ("crates/cases/src/versions.rs", "a case type that a case, a call or a rule names"),
            ("crates/cases/src/definitions/decisions.rs", "a workflow whose decision a case type names"),
            (
                "crates/service-nodes/src/rights.rs",
                "the definition that a job's instance follows, for its publisher",
            ),
            ("crates/service-nodes/src/uses.rs", "definitions that name a database, to tell who uses it"),
        ],
    },
    Guarded {
        of: "AccessFilter",
        by: "everything",
        callers: &[(
            "crates/server/src/models/dependents.rs",
            "what hinders the deletion of a deployment hinders it whoever may read it",
        )],
    },
    Guarded { of: "AccessFilter", by: "only", callers: &[] },
    Guarded {
        of: "TcpStream",
        by: "connect",
        callers: &[
            ("crates/egress/src/connect.rs", "the way out, to addresses that were looked at"),
            ("crates/harness-kit/src/http1.rs", "a load of many connections, without a client of our own"),
            (
                "crates/harness-models/src/attacks/answers.rs",
                "a caller who goes away in the middle of an answer",
            ),
        ],
    },
];

/// The calls of what is guarded: row by row, the files with a line.
#[derive(Default)]
pub(crate) struct Calls(Vec<(usize, String, usize)>);

impl Calls {
    /// Adds those of one file, tests apart.
    pub(crate) fn read(&mut self, place: &str, content: &str) {
        self.read_for(GUARDED, place, content);
    }

    /// Adds the findings: a call from elsewhere, and a row for a caller that calls no more.
    pub(crate) fn check(&self, found: &mut Vec<String>) {
        self.check_for(GUARDED, found);
    }

    fn read_for(&mut self, guarded: &[Guarded], place: &str, content: &str) {
        if super::text::is_test(place) || !guarded.iter().any(|row| content.contains(row.of)) {
            return;
        }
        if let Ok(tokens) = content.parse::<TokenStream>() {
            self.walk(guarded, place, tokens);
        }
    }

    fn walk(&mut self, guarded: &[Guarded], place: &str, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(tree) = trees.get(at) {
            if is_cfg_test(&trees[at..]) {
                at = skip_item(&trees, at + 2);
                continue;
            }
            match tree {
                TokenTree::Ident(word) => {
                    for (index, _) in
                        guarded.iter().enumerate().filter(|(_, row)| *word == row.of && row.made(&trees, at))
                    {
                        self.0.push((index, place.to_owned(), word.span().start().line));
                    }
                }
                TokenTree::Group(group) => self.walk(guarded, place, group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }

    fn check_for(&self, guarded: &[Guarded], found: &mut Vec<String>) {
        let covers =
            |caller: &str, place: &str| caller == place || caller.ends_with('/') && place.starts_with(caller);
        for (index, place, line) in &self.0 {
            let Some(row) = guarded.get(*index) else { continue };
            if !row.callers.iter().any(|(caller, _)| covers(caller, place)) {
                found.push(format!(
                    "{place}:{line}: makes a `{}`: give it a row with a reason, or take another way",
                    row.name()
                ));
            }
        }
        for (index, row) in guarded.iter().enumerate() {
            for (caller, _) in row.callers {
                if !self.0.iter().any(|(of, place, _)| *of == index && covers(caller, place)) {
                    found.push(format!(
                        "{caller}: makes no `{}` any more: take it from the table",
                        row.name()
                    ));
                }
            }
        }
    }
}

impl Guarded {
    fn name(&self) -> String {
        if self.by.is_empty() { format!("{} {{ .. }}", self.of) } else { format!("{}::{}", self.of, self.by) }
    }

    /// Whether the word at this place, the type's name, makes one.
    fn made(&self, trees: &[TokenTree], at: usize) -> bool {
        if self.by.is_empty() {
            return is_literal(trees, at);
        }
        let mut rest = trees.get(at + 1..).unwrap_or_default();
        while let Some(behind) = behind_colons(rest) {
            match behind.first() {
                Some(TokenTree::Ident(word)) => return *word == self.by,
                // `Type::<Of>::function`
                Some(TokenTree::Punct(mark)) if mark.as_char() == '<' => rest = behind_angles(behind),
                Some(_) | None => return false,
            }
        }
        false
    }
}

/// Whether the braces behind the name are those of a value: neither a declaration, nor a block behind a return type.
fn is_literal(trees: &[TokenTree], at: usize) -> bool {
    let braces = matches!(trees.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == proc_macro2::Delimiter::Brace);
    let declared = match at.checked_sub(1).and_then(|before| trees.get(before)) {
        Some(TokenTree::Ident(word)) => {
            ["struct", "impl", "for", "enum", "trait"].iter().any(|keyword| *word == keyword)
        }
        Some(TokenTree::Punct(mark)) => mark.as_char() == '>' && is_arrow(trees, at - 1),
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) | None => false,
    };
    braces && !declared
}

fn is_arrow(trees: &[TokenTree], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| trees.get(before));
    matches!(before, Some(TokenTree::Punct(mark)) if mark.as_char() == '-')
}

fn behind_colons(trees: &[TokenTree]) -> Option<&[TokenTree]> {
    let colon = |at: usize| matches!(trees.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == ':');
    (colon(0) && colon(1)).then(|| &trees[2..])
}

fn behind_angles(trees: &[TokenTree]) -> &[TokenTree] {
    let mut depth = 0_usize;
    for (at, tree) in trees.iter().enumerate() {
        match tree {
            TokenTree::Punct(mark) if mark.as_char() == '<' => depth += 1,
            TokenTree::Punct(mark) if mark.as_char() == '>' => depth = depth.saturating_sub(1),
            TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Group(_) | TokenTree::Literal(_) => {}
        }
        if depth == 0 {
            return &trees[at + 1..];
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &[Guarded] = &[
        Guarded { of: "Key", by: "of_stored", callers: &[("crates/store/", "reads rows")] },
        Guarded { of: "Context", by: "", callers: &[("crates/server/src/gate.rs", "the gate")] },
    ];

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        let mut calls = Calls::default();
        files.iter().for_each(|(place, content)| calls.read_for(ROWS, place, content));
        let mut found = Vec::new();
        calls.check_for(ROWS, &mut found);
        found
    }

    const GOOD: [(&str, &str); 2] = [
        ("crates/store/src/rows.rs", "fn f() { Key::of_stored(1) }"),
        ("crates/server/src/gate.rs", "fn f() -> Context { Context { tenant } }"),
    ];

    #[test]
    fn calls_from_elsewhere_are_found_in_every_spelling() {
        assert_eq!(of(&GOOD), Vec::<String>::new());
        for text in [
            "fn f() { Key::of_stored(1) }",
            "fn f() { policy::Key::<Run>::of_stored(1) }",
            "fn f() { Key::<Run<u8>>::of_stored(1) }",
            "fn f() { ids.map(Key::of_stored) }",
            "fn f() { vec![Key::of_stored(1)] }",
            "fn f() { let c = Context { tenant, ..other }; }",
        ] {
            let found = of(&[GOOD[0], GOOD[1], ("crates/a/src/b.rs", text)]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("crates/a/src/b.rs:1: makes a `"), "{found:?}");
        }
    }

    #[test]
    fn declarations_other_names_and_tests_are_free() {
        for text in [
            "struct Context { tenant: u8 }",
            "impl Context { fn f() -> Context { x } }",
            "impl From<A> for Context { }",
            "fn f() { Key::other(1); OtherKey::of_stored(1) }",
            "#[cfg(test)] mod tests { fn f() { Key::of_stored(1) } }",
        ] {
            assert_eq!(of(&[GOOD[0], GOOD[1], ("crates/a/src/b.rs", text)]), Vec::<String>::new(), "{text}");
        }
        assert_eq!(
            of(&[GOOD[0], GOOD[1], ("crates/a/tests/it/b.rs", "fn f() { Key::of_stored(1) }")]).len(),
            0
        );
    }

    #[test]
    fn a_row_without_a_call_is_told() {
        let found = of(&GOOD[..1]);
        assert_eq!(
            found,
            ["crates/server/src/gate.rs: makes no `Context { .. }` any more: take it from the table"]
        );
    }
}

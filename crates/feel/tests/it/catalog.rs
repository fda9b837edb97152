//! The catalog of built-in functions: names, examples and its page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use heddle_feel::{BuiltIn, Dialect, EvalContext, Expression, Value, built_in_functions, built_ins};
use heddle_kernel::Timestamp;

/// 2023-11-14T22:13:20Z
const NOW: EvalContext = EvalContext { now: Timestamp::from_micros(1_700_000_000_000_000) };

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/functions.md");

fn value(source: &str, dialect: Dialect) -> Value {
    let expression = Expression::compile(source, dialect).unwrap_or_else(|error| panic!("{source}: {error}"));
    expression.evaluate(&(), &NOW).unwrap_or_else(|error| panic!("{source}: {error}")).value
}

#[test]
fn every_example_calls_its_function_and_has_the_value() {
    for function in built_ins() {
        assert!(function.example.contains(&format!("{}(", function.name)), "{}", function.name);
        let (got, want) =
            (value(function.example, function.dialect), value(function.value, function.dialect));
        assert!(got == want && !got.is_null(), "{} gave {got}, not {want}", function.example);
    }
}

#[test]
fn a_name_stands_once_and_a_function_has_a_clause_or_a_description() {
    let names: BTreeSet<&str> = built_ins().map(|function| function.name).collect();
    assert_eq!(names.len(), built_ins().count());
    assert_eq!(names, built_in_functions(Dialect::Heddle).collect());
    for function in built_ins() {
        let beyond = function.dialect == Dialect::Heddle;
        assert_eq!(
            (function.clause.is_empty(), function.gives.is_empty()),
            (beyond, !beyond),
            "{}",
            function.name
        );
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn page() -> String {
    let calls = |function: &BuiltIn| {
        let calls = function.signatures.iter().map(|signature| format!("`{}({signature})`", function.name));
        calls.collect::<Vec<_>>().join("<br>")
    };
    let mut page = String::from(
        "# Built-in functions\n\nMade from the catalog (`src/catalog/table.rs`) by `HEDDLE_PAGES=1 cargo nextest run -p \
         heddle-feel page`.\n\n`?` marks what may be missing, `...` what may be repeated, `-` a place that another name \
         takes.\n\n## DMN 1.5\n\n| function | clause | example | value |\n|---|---|---|---|\n",
    );
    let (standard, beyond): (Vec<&BuiltIn>, Vec<&BuiltIn>) =
        built_ins().partition(|function| function.dialect == Dialect::Standard);
    for it in standard {
        let (example, value) = (cell(it.example), cell(it.value));
        let _ = writeln!(page, "| {} | {} | `{example}` | `{value}` |", calls(it), it.clause);
    }
    page.push_str(
        "\n## Dialect `Heddle` besides\n\n| function | gives | example | value |\n|---|---|---|---|\n",
    );
    for it in beyond {
        let (gives, example, value) = (cell(it.gives.trim()), cell(it.example), cell(it.value));
        let _ = writeln!(page, "| {} | {gives} | `{example}` | `{value}` |", calls(it));
    }
    page
}

#[test]
fn the_page_is_that_of_the_catalog() {
    if std::env::var_os("HEDDLE_PAGES").is_some() {
        std::fs::write(PAGE, page()).expect("the page is written");
    }
    let written = std::fs::read_to_string(PAGE).expect("the page");
    assert!(written == page(), "docs/functions.md is not that of the catalog; it says how to make it");
}

//! Guards: whatever an expression is, reading and evaluating it ends within its limits, on a thread with a stack of
//! 2 MB, without optimisation too. What shows that it ends soon is that the limits count all work; the figures in
//! milliseconds are in the crate's documentation.

use std::fmt::Write as _;
use std::sync::Arc;

use heddle_feel::{
    Context, Dialect, Expression, LimitError, Limits, Scope, UnaryTests, Value, context_from_json, from_json, to_json,
};
use serde_json::{Value as Json, json};

use super::{NOW, run};

/// Runs with the stack that threads have by default.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(work)
        .expect("a thread")
        .join()
        .expect("no overflow");
}

#[test]
fn hostile_texts_are_refused() {
    on_small_stack(|| {
        let n = 100_000;
        for source in [
            "(".repeat(n) + "1" + &")".repeat(n),
            "[".repeat(n) + &"]".repeat(n),
            "{a:".repeat(n) + "1" + &"}".repeat(n),
            "-".repeat(n) + "1",
            "1".to_owned() + &" + 1".repeat(n),
            "a".to_owned() + &".b".repeat(n),
            "a".to_owned() + &"[1]".repeat(n),
            "a".to_owned() + &"()".repeat(n),
            "if a then b else ".repeat(n) + "c",
            "for a in b return ".repeat(n) + "c",
            "function(a) ".repeat(n) + "c",
            "x instance of ".to_owned() + &"list<".repeat(n) + "number" + &">".repeat(n),
            "1".to_owned() + &" in (1".repeat(n) + &")".repeat(n),
            "a".to_owned() + &" between 1 and 2".repeat(n),
            "x".repeat(2 << 20),
        ] {
            let error = Expression::compile(&source, Dialect::Standard).expect_err("too deep or too long");
            assert!(error.message.contains("at most"), "{error}");
            assert!(UnaryTests::compile(&source, Dialect::Standard).is_err());
        }
    });
}

#[test]
fn the_deepest_expressions_fit_the_stack() {
    on_small_stack(|| {
        let deepest = |open: &str, inner: &str, close: &str| {
            let text = |n: usize| open.repeat(n) + inner + &close.repeat(n);
            let n = (1..2000)
                .rev()
                .find(|n| Expression::compile(&text(*n), Dialect::Standard).is_ok())
                .expect("any");
            assert!(n >= 30, "{open} nests only {n} deep");
            let expression = Expression::compile(&text(n), Dialect::Standard).expect("as found");
            // What matters is that it returns.
            let _ = expression.evaluate(&(), &NOW);
        };
        deepest("(", "1", ")");
        deepest("1 + (", "1", ")");
        deepest("[", "1", "]");
        deepest("{a: ", "1", "}");
        deepest("abs(", "1", ")");
        deepest("(function(x) x + ", "1", ")(1)");
        deepest("for i in [1] return ", "1", "");
        deepest("some i in [1] satisfies ", "true", "");
        deepest("if true then 1 + ", "1", " else 2");
        deepest("1 in (", "1", ")");
        deepest("[1][", "1", "]");
        deepest("not(", "true", ")");
    });
}

#[test]
fn hostile_evaluations_end() {
    on_small_stack(|| {
        for (source, want) in [
            ("for i in 1..1000000000 return i", LimitError::ListSize(1_000_000)),
            ("some i in 1..1000000000 satisfies i < 0", LimitError::Steps(3_000_000)),
            ("{f: function(n) f(n + 1), r: f(1)}.r", LimitError::Depth(Limits::default().depth)),
            ("10 ** 6000 * 10 ** 6000", LimitError::Exponent),
            ("10 ** 1000000000", LimitError::Exponent),
            ("exp(1000000)", LimitError::Exponent),
            (
                "for i in 1..1000 return for j in 1..1000 return for k in 1..1000 return 1",
                LimitError::Steps(3_000_000),
            ),
            ("for i in 1..100000 return {a: partial[-1]}", LimitError::Depth(200)),
            ("for i in 1..100000 return [partial]", LimitError::ListSize(1_000_000)),
            (
                "{a: for i in 1..1000 return 1, b: for i in 1..1000 return a, c: for i in 1..1000 return b}",
                LimitError::ListSize(1_000_000),
            ),
            (
                "(for i in 1..30 return if i = 1 then \"ab\" else partial[-1] + partial[-1])[-1]",
                LimitError::StringSize(1 << 20),
            ),
            (
                "sort(for i in 1..100000 return i, function(x, y) {f: function(n) f(n), r: f(1)}.r)",
                LimitError::Depth(Limits::default().depth),
            ),
        ] {
            let expression = Expression::compile(source, Dialect::Standard).expect(source);
            assert_eq!(expression.evaluate(&(), &NOW).map(|e| e.value.to_string()), Err(want), "{source}");
        }
        // The text of a range is read with what the evaluation has left of the stack.
        let deep = "(".repeat(5000);
        let source = format!("{{f: function(n) if range(\"{deep}\") = null then f(n) else 1, r: f(1)}}.r");
        let expression = Expression::compile(&source, Dialect::Standard).expect("an expression");
        assert!(matches!(expression.evaluate(&(), &NOW), Err(LimitError::Depth(_))));
        // Patterns that ruin a backtracking matcher are matched like any other.
        let evil = format!("matches(\"{}b\", \"(a+)+$\")", "a".repeat(50_000));
        assert_eq!(run(&evil, Dialect::Standard, &()).value, Value::Boolean(false));
    });
}


//! Guards: whatever an expression is, reading and evaluating it ends within its limits, on a thread with a stack of
//! 2 MB, without optimisation too. What shows that it ends soon is that the limits count all work; the figures in
//! milliseconds are in the crate's documentation.

use heddle_feel::{
    Context, Dialect, Expression, LimitError, Limits, Scope, UnaryTests, Value, context_from_json, from_json,
    to_json,
};
use serde_json::Value as Json;

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

/// What comes of an expression: its value as text, or the limit that it hit.
fn outcome(source: &str) -> Result<String, LimitError> {
    outcome_within(source, &Limits::default())
}

fn outcome_within(source: &str, limits: &Limits) -> Result<String, LimitError> {
    let expression = Expression::compile(source, Dialect::Heddle).unwrap_or_else(|e| panic!("{source}: {e}"));
    let start = std::time::Instant::now();
    let outcome = expression.evaluate_within(&(), &NOW, limits);
    // Seen with `--no-capture`; how long it takes is no matter of a test.
    println!("{:>8.1?} {}", start.elapsed(), source.chars().take(100).collect::<String>());
    outcome.map(|evaluated| evaluated.value.to_string())
}

fn check(table: &[(&str, Result<&str, LimitError>)]) {
    let short = |text: &str| text.chars().take(120).collect::<String>();
    let wrong: Vec<String> = table
        .iter()
        .map(|(source, want)| (source, outcome(source), want.clone().map(str::to_owned)))
        .filter(|(_, got, want)| got != want)
        .map(|(source, got, want)| {
            format!("{} gave {}, not {want:?}", short(source), short(&format!("{got:?}")))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const STEPS: Result<&str, LimitError> = Err(LimitError::Steps(3_000_000));
const TOO_MANY: Result<&str, LimitError> = Err(LimitError::ListSize(1_000_000));
const TOO_LONG: Result<&str, LimitError> = Err(LimitError::StringSize(1 << 20));
const EXPONENT: Result<&str, LimitError> = Err(LimitError::Exponent);

#[test]
fn long_loops_end() {
    on_small_stack(|| {
        check(&[
            ("sum(for i in 1..1000000000 return i)", TOO_MANY),
            ("sum(for i in 1..900000 return i)", Ok("405000450000")),
            ("for i in 1..900000 return 1 / i", STEPS),
            ("every i in 1..1000000000 satisfies i > 0 and i * 2 > 0", STEPS),
            ("some i in 1..1000, j in 1..1000, k in 1..1000 satisfies i + j + k > 3000", STEPS),
            (
                "every i in 1..1000 satisfies every j in 1..1000 satisfies every k in 1..1000 satisfies true",
                STEPS,
            ),
            ("for d in @\"-999999999-01-01\"..@\"999999999-12-31\" return d", TOO_MANY),
            ("{f: function(n) if n = 0 then 0 else f(n - 1) + f(n - 1), r: f(40)}.r", STEPS),
            ("(function(x) x(x))(function(x) x(x))", Err(LimitError::Depth(320))),
            ("for i in 1..1e300 return i", Ok("null")),
            ("for i in 1.5..3 return i", Ok("null")),
            ("for i in 1..100000 return exp(i / 100)", STEPS),
            ("for i in 1..100000 return log(i)", STEPS),
            ("for i in 1..100000 return i ** 0.5", STEPS),
        ]);
    });
}

#[test]
fn large_values_are_not_made_nor_read_over_and_over() {
    on_small_stack(|| {
        let fewer = Limits { steps: 500_000, ..Limits::default() };
        let of_text = |what: &str| {
            format!(
                "{{s: string join(for i in 1..1000 return string join(for j in 1..100 return \"aaaaaaaaaa\")), r: for i in 1..90000 return {what}}}.r"
            )
        };
        for what in [
            "s = s",
            "s + \"b\"",
            "upper case(s)",
            "string length(s)",
            "contains(s, \"aab\")",
            "s in [\"a\"..\"b\"]",
            "s between \"a\" and s",
            "number(s)",
            "range(s)",
            "date(s)",
            "min(s, s)",
            "is(s, s)",
            "get value({a: 1}, s)",
            "{a: s} = {a: s}",
            "list contains([s], s)",
            "substring(s, -1)",
            "matches(s, \"b\")",
        ] {
            assert_eq!(outcome_within(&of_text(what), &fewer), Err(LimitError::Steps(500_000)), "{what}");
        }
        let of_list =
            |what: &str| format!("{{l: for i in 1..90000 return i, r: for i in 1..90000 return {what}}}.r");
        for what in [
            "l = l",
            "is(l, l)",
            "l instance of list<number>",
            "(function(x: list<number>) 1)(l)",
            "append(l, 1)",
            "l.x",
            "l[item > 0]",
            "min(l)",
            "all(l)",
            "5 in l",
            "string(l)",
            "sort(l)",
            "distinct values(l)",
            "flatten(l)",
        ] {
            assert_eq!(outcome_within(&of_list(what), &fewer), Err(LimitError::Steps(500_000)), "{what}");
        }
        check(&[
            ("string join(for i in 1..100000 return \"xxxxxxxxxxxxxxxxxxxx\")", TOO_LONG),
            (
                "replace(string join(for i in 1..100000 return \"a\"), \"a\", \"$0$0$0$0$0$0$0$0$0$0$0$0\")",
                TOO_LONG,
            ),
            (
                "replace(string join(for i in 1..1000 return \"a\"), \".+\", string join(for i in 1..100000 return \"$0\"))",
                TOO_LONG,
            ),
            ("{l: for i in 1..900000 return 1, r: concatenate(l, l)}", TOO_MANY),
            (
                "flatten({l: for i in 1..1000 return 1, m: for i in 1..1000 return l, n: for i in 1..9 return m}.n)",
                TOO_MANY,
            ),
            ("distinct values(for i in 1..10000 return [i])", STEPS),
        ]);
    });
}

#[test]
fn patterns_are_matched_in_bounded_time() {
    on_small_stack(|| {
        let binary = "string join(for i in 1..50000 return \"01\")";
        check(&[
            ("matches(string join(for i in 1..50000 return \"a\") + \"b\", \"^(a|aa)+$\")", Ok("false")),
            (&format!("matches({binary}, \"[01]*1[01]{{500}}x\")"), STEPS),
            ("split(string join(for i in 1..100000 return \"A\"), \".*[^A-Z]|[A-Z]\")", STEPS),
            ("for i in 1..100000 return matches(\"a\", \"\\\\p{L}{1,50}\" + string(i))", STEPS),
            ("matches(\"a\", \"((((a{1,100}){1,100}){1,100}){1,100})\")", Ok("null")),
            ("matches(\"a\", string join(for j in 1..3000 return \"\\\\w\"))", Ok("null")),
            ("matches(\"ab@cd\", \"^\\\\w{1,64}@\\\\w{1,64}$\")", Ok("true")),
            ("count(split(string join(for i in 1..100000 return \"ab,\"), \",\"))", Ok("100001")),
        ]);
    });
}

#[test]
fn extremes_of_numbers_and_dates() {
    on_small_stack(|| {
        check(&[
            ("exp(1e300)", EXPONENT),
            ("exp(-1e300)", Ok("0")),
            ("log(0)", Ok("null")),
            ("log(1e-6143)", Ok("-14144.78022626242263692252150612605")),
            ("sqrt(-1)", Ok("null")),
            ("sqrt(1e6144)", Ok("1E+3072")),
            (
                "string(-1.234567890123456789012345678901234e-6000)",
                Ok("-1.234567890123456789012345678901234E-6000"),
            ),
            ("string(1e6144)", Ok("1E+6144")),
            ("number(\"1e999999999999\")", Ok("null")),
            ("1e-6143 * 1e-6143", Ok("0")),
            ("9.999999999999999999999999999999999e6144 + 1e6144", EXPONENT),
            ("10 ** -1000000000", Ok("0")),
            ("1 ** 1e300", Ok("1")),
            ("0 ** -1", Ok("null")),
            ("(-8) ** (1/3)", Ok("null")),
            ("2 ** 1e-300", Ok("1")),
            ("modulo(5, 0)", Ok("null")),
            ("decimal(1/3, 1e300)", Ok("null")),
            ("decimal(1/3, 6176)", Ok("0.3333333333333333333333333333333333")),
            ("decimal(1/3, -6111)", Ok("0")),
            ("round up(1e-6143, 6143)", Ok("1E-6143")),
            ("@\"999999999-12-31\" + @\"P1D\"", Ok("null")),
            ("@\"-999999999-01-01\" - @\"P1D\"", Ok("null")),
            ("@\"999999999-12-31T23:59:59\" + @\"PT1S\"", Ok("null")),
            ("date(1000000000, 1, 1)", Ok("null")),
            ("date(\"1000000000-01-01\")", Ok("null")),
            ("date(1e300, 1, 1)", Ok("null")),
            ("@\"P9223372036854775807M\" + @\"P1M\"", Ok("null")),
            ("-@\"P9223372036854775807D\"", Ok("null")),
            ("@\"P99999999999999D\" * 1e6000", Ok("null")),
            (
                "@\"999999999-12-31T00:00:00@Europe/Paris\" - @\"-999999999-01-01T00:00:00@Asia/Tokyo\" > @\"P1D\"",
                Ok("true"),
            ),
            ("years and months duration(@\"-999999999-01-01\", @\"999999999-12-31\")", Ok("P1999999998Y11M")),
            ("[1, 2][1e300]", Ok("null")),
            ("substring(\"abc\", 1e300)", Ok("null")),
            ("sort([1, 2, \"a\"])", Ok("null")),
            ("sort([3, 1, 2], function(x, y) null)", Ok("null")),
            ("sort([3, 1, 2], function(x, y) true)", Ok("[3, 1, 2]")),
            (
                "count(sort(for i in 1..5000 return modulo(i * 7919, 1000), function(x, y) odd(x)))",
                Ok("5000"),
            ),
        ]);
        for source in ["\"\\uD800\"", "\"\\uDC00\\uD800\"", "\"\\uD800x\"", "\"\\UFFFFFF\""] {
            assert!(Expression::compile(source, Dialect::Standard).is_err(), "{source}");
        }
    });
}

#[test]
fn values_come_and_go_however_deep() {
    on_small_stack(|| {
        check(&[
            ("for i in 1..100000 return {a: partial[-1]}", Err(LimitError::Depth(200))),
            ("for i in 1..100000 return function() partial", Err(LimitError::Depth(200))),
            ("(for i in 1..1000 return (= [partial]))[1]", Ok("null")),
            ("{a: for i in 1..190 return if i = 1 then [] else [partial[-1]], b: a = a}.b", Ok("true")),
            (
                "string length(string((for i in 1..190 return if i = 1 then [] else [partial[-1]])[-1]))",
                Ok("380"),
            ),
        ]);
        // What a program around FEEL makes has no limit of its own.
        let mut list = Value::Null;
        let mut context = Value::Null;
        for _ in 0..200_000 {
            list = Value::list(vec![list]);
            context = Value::context(Context::from_iter([("a", context)]));
        }
        assert_eq!(list.equals(&list.clone()), None);
        assert_eq!((list.to_string(), to_json(&context)), ("...".to_owned(), Json::Null));
        let scope = Context::from_iter([("deep", list), ("context", context)]);
        for source in ["deep = deep", "deep", "[deep]", "context.a = deep", "string(deep)", "flatten(deep)"] {
            let expression = Expression::compile(source, Dialect::Standard).expect(source);
            assert_eq!(
                expression.evaluate(&scope, &NOW).map(|e| e.value).err(),
                Some(LimitError::Depth(200)),
                "{source}"
            );
        }
        let tests = UnaryTests::compile("deep", Dialect::Standard).expect("tests");
        let input = scope.get("deep").cloned().unwrap_or_default();
        assert!(tests.evaluate(&input, &(), &NOW).is_err());
    });
}

#[test]
fn deep_json_is_read_to_a_level() {
    // As deep as JSON can be freed, which its own type does level by level.
    let mut json = Json::Null;
    for _ in 0..2_000 {
        json = Json::Array(vec![json]);
    }
    let depth = from_json(&json).depth();
    assert_eq!(depth, 201);
    let members = serde_json::Map::from_iter([("deep".to_owned(), json)]);
    let context = context_from_json(&members);
    let scopes: [&dyn Scope; 2] = [&members, &context];
    for scope in scopes {
        let expression = Expression::compile("deep = deep", Dialect::Standard).expect("an expression");
        assert_eq!(expression.evaluate(scope, &NOW).map(|e| e.value).err(), Some(LimitError::Depth(200)));
    }
}

#[test]
fn texts_of_many_names_are_read_once() {
    on_small_stack(|| {
        let each = |count: usize, item: &dyn Fn(usize) -> String| {
            (0..count).map(item).collect::<Vec<_>>().join(", ")
        };
        for source in [
            format!("{{{}}}", each(30_000, &|n| format!("a{n}: a{}", n.saturating_sub(1)))),
            format!(
                "{{{}}}",
                each(15_000, &|n| if n == 0 {
                    "a b0: 1".to_owned()
                } else {
                    format!("a b{n}: a b{}", n - 1)
                })
            ),
            format!("[{}]", each(60_000, &|n| format!("a{n}"))),
            format!("f({})", each(30_000, &|n| format!("a{n}: 1"))),
            format!("[{}]", each(15_000, &|_| "for i in a return function() i".to_owned())),
            format!(
                "{{{}, f: function() [{}]}}",
                each(15_000, &|n| format!("a{n}: 1")),
                each(15_000, &|n| format!("a{n}"))
            ),
            format!("x[{}]", each(5_000, &|n| format!("y = a{n}")).replace(',', " and")),
            format!("a in ({})", each(30_000, &|_| "< 1".to_owned())),
        ] {
            let start = std::time::Instant::now();
            let expression = Expression::compile(&source, Dialect::Standard).expect("an expression");
            println!("{:>8.1?} {}", start.elapsed(), source.chars().take(100).collect::<String>());
            assert!(expression.evaluate(&(), &NOW).is_ok());
        }
    });
}

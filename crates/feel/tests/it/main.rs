//! Expressions and their results, guards against hostile expressions, scopes and unary tests.

#![expect(clippy::expect_used, clippy::panic, reason = "helpers of tests fail like the tests")]

mod catalog;
mod guards;
mod standard;
mod suite;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use heddle_feel::{
    Context, Dialect, EvalContext, Evaluated, Expression, Function, Host, HostFunction, Layers, LimitError,
    Limits, Options, Ref, Scope, Type, UnaryTests, Value, from_json, to_json,
};
use heddle_kernel::Timestamp;
use serde_json::json;

/// 2024-03-15T10:30:00Z
const NOW: EvalContext = EvalContext { now: Timestamp::from_micros(1_710_498_600_000_000) };

fn run(source: &str, dialect: Dialect, scope: &dyn Scope) -> Evaluated {
    let expression = Expression::compile(source, dialect).unwrap_or_else(|error| panic!("{source}: {error}"));
    expression.evaluate(scope, &NOW).unwrap_or_else(|error| panic!("{source}: {error}"))
}

fn check(table: &[(&str, &str)]) {
    let json = json!({
        "a": 5, "b": 2.5, "name": "Ann", "flag": true, "nothing": null,
        "order": {"items": [{"price": 10, "n": 2}, {"price": 2.5, "n": 4}], "customer": {"age": 30, "full name": "A B"}},
        "list": [3, 1, 2]
    });
    let scope = json.as_object().expect("an object");
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(source, want)| {
            let got = run(source, Dialect::Standard, scope).value.to_string();
            (got != *want).then(|| format!("{source} gave {got}, not {want}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What unary tests say of the value of an expression.
fn unary(input: &str, tests: &str) -> String {
    let input = run(input, Dialect::Standard, &()).value;
    let tests = UnaryTests::compile(tests, Dialect::Standard).unwrap_or_else(|e| panic!("{tests}: {e}"));
    tests.evaluate(&input, &(), &NOW).expect("a result").value.to_string()
}

#[test]
fn operators() {
    check(&[
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("10 - 2 - 3", "5"),
        ("2 ** 3 ** 2", "64"),
        ("-2 ** 2", "4"),
        ("7 / 2", "3.5"),
        ("1 / 3", "0.3333333333333333333333333333333333"),
        ("0.1 + 0.2 = 0.3", "true"),
        ("1 / 0", "null"),
        ("\"a\" + \"b\"", "ab"),
        ("\"a\" + 1", "null"),
        ("a + b * 2 > 9", "true"),
        ("a - b", "2.5"),
        ("1 = 1.0", "true"),
        ("1 = \"1\"", "null"),
        ("nothing = null", "true"),
        ("null != 1", "true"),
        ("not(true)", "false"),
        ("not(null)", "null"),
        ("5 between 1 and 10 and true", "true"),
        ("a in [1..5]", "true"),
        ("a in [1..5)", "false"),
        ("a in (1, 2, > 4)", "true"),
        ("a in (1..5)", "false"),
        ("a in ]4..6[", "true"),
        ("[1..a[ = [1..5)", "true"),
        ("a in list", "false"),
        ("a in < 6", "true"),
        ("1e3", "1000"),
        ("123456789012345678901234567890.1234 + 1", "123456789012345678901234567891.1234"),
        (" \n 1 + // one\n /* two */ 2 \n", "3"),
    ]);
}

#[test]
fn three_valued_logic() {
    let values = [("true", Some(true)), ("false", Some(false)), ("null", None), ("\"x\"", None)];
    for (a, x) in values {
        for (b, y) in values {
            let text = |value: Option<bool>| value.map_or("null".to_owned(), |v| v.to_string());
            let and = if x == Some(false) || y == Some(false) { Some(false) } else { x.and(y) };
            let or = if x == Some(true) || y == Some(true) { Some(true) } else { x.and(y) };
            check(&[(&format!("{a} and {b}"), &text(and)), (&format!("{a} or {b}"), &text(or))]);
        }
    }
}

#[test]
fn control() {
    check(&[
        ("if a > 3 then \"big\" else \"small\"", "big"),
        ("if null then 1 else 2", "2"),
        ("for i in 1..3 return i * i", "[1, 4, 9]"),
        ("for i in 3..1 return i", "[3, 2, 1]"),
        ("for i in [1, 2], j in [i, 10] return i + j", "[2, 11, 4, 12]"),
        ("for i in 1..5 return if i < 3 then 1 else partial[-1] + partial[-2]", "[1, 1, 2, 3, 5]"),
        ("for i in [1..3] return i", "[1, 2, 3]"),
        ("for i in null return i", "null"),
        ("for partial in [1, 2] return 0 + count([partial])", "[1, 1]"),
        ("some x in list satisfies x > 2", "true"),
        ("every x in list satisfies x > 2", "false"),
        ("some x in [null, 1] satisfies x > 2", "null"),
        ("every x in [] satisfies false", "true"),
        ("some x in 1..3, y in 1..3 satisfies x * y = 9", "true"),
    ]);
}

#[test]
fn contexts_and_functions() {
    check(&[
        ("{a: 1, b: a + 1}.b", "2"),
        ("{first name: \"x\", y: first name + \"!\"}.y", "x!"),
        ("{\"a b\": 1}.a b", "1"),
        ("{a+b: 1, c: a+b + 1}.c", "2"),
        ("order.customer.age", "30"),
        ("order.customer.full name", "A B"),
        ("order.customer.missing", "null"),
        ("order.items.price", "[10, 2.5]"),
        ("sum(for i in order.items return i.price * i.n)", "30"),
        ("{f: function(x) x * 2, r: f(4)}.r", "8"),
        ("{f: function(x, y) x - y, r: f(y: 1, x: 4)}.r", "3"),
        ("{k: 3, f: function(x) x * k, r: f(4)}.r", "12"),
        ("{fact: function(n) if n < 2 then 1 else n * fact(n - 1), r: fact(20)}.r", "2432902008176640000"),
        ("(function(x) function(y) x + y)(1)(2)", "3"),
        ("{add: function(a) function(b) function(c) a + b + c, r: add(1)(2)(3)}.r", "6"),
        ("(function(x) x + a)(1)", "6"),
        ("(for i in 1..3 return function(x) x * i)[2](10)", "20"),
        ("{f: function(x: number) x, r: f(\"s\")}.r", "null"),
        ("{f: function(x: list<number>) x, r: f(1)}.r", "[1]"),
        ("{f: function(x) x, r: f()}.r", "null"),
        ("(function(f) f(-3))(abs)", "3"),
        ("{a: 1, b: {c: a}}", "{a: 1, b: {c: 1}}"),
        ("{}", "{}"),
    ]);
    let twice = Expression::compile("{a: 1, a: 2}", Dialect::Standard).expect_err("a key twice");
    assert_eq!((twice.line, twice.column), (1, 8));
}

#[test]
fn filters() {
    check(&[
        ("[1, 2, 3][2]", "2"),
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3][4]", "null"),
        ("[1, 2, 3][0]", "null"),
        ("list[item > 1]", "[3, 2]"),
        ("list[a - 3]", "1"),
        ("order.items[price > 5]", "[{n: 2, price: 10}]"),
        ("order.items[price > 5].n", "[2]"),
        ("order.items[price > 5][1].n", "2"),
        ("[{x: 1}, {x: 2}][x = a - 3]", "[{x: 2}]"),
        ("[{a: 1}, {b: 7}][a = 5]", "[{b: 7}]"),
        ("[{full name: \"q\"}][full name = \"q\"]", "[{full name: \"q\"}]"),
        ("[{k: [1, 2]}, {k: [3]}][count(k[item > 1]) = 1].k", "[[1, 2], [3]]"),
        ("[1, 2, 3, 4][even(item)]", "[2, 4]"),
        ("[][1]", "null"),
        ("[][item > 1]", "[]"),
        ("null[1]", "null"),
        ("5[1]", "5"),
        ("5[item > 6]", "[]"),
        ("[[1], [2, 3]][count(item) = 2]", "[[2, 3]]"),
        ("list[(function(x) x > item - 1)(item)]", "[3, 1, 2]"),
    ]);
}

#[test]
fn strings() {
    check(&[
        ("\"\\u0041\\n\\\"\"", "A\n\""),
        ("\"\\uD83D\\uDC0E\" = \"\\U01F40E\"", "true"),
        ("string length(\"\\uD83D\\uDC0Eab\")", "3"),
        ("substring(\"foobar\", 3)", "obar"),
        ("substring(\"foobar\", -2, 1)", "a"),
        ("substring(\"\\uD83D\\uDC0Eab\", 2)", "ab"),
        ("upper case(\"aé\")", "AÉ"),
        ("lower case(\"AÉ\")", "aé"),
        ("substring before(\"foobar\", \"bar\")", "foo"),
        ("substring after(\"foobar\", \"ob\")", "ar"),
        ("substring after(\"foobar\", \"\")", "foobar"),
        ("contains(\"test\", \"es\")", "true"),
        ("starts with(\"test\", \"te\")", "true"),
        ("ends with(\"test\", \"te\")", "false"),
        ("matches(\"abc\", \"^[a-c]+$\")", "true"),
        ("replace(\"abcd\", \"(ab)|(a)\", \"[1=$1][2=$2]\")", "[1=ab][2=]cd"),
        ("split(\"a;b;;c\", \";\")", "[\"a\", \"b\", \"\", \"c\"]"),
        ("string join([\"a\", null, \"b\"], \"-\")", "a-b"),
        ("string(1.50)", "1.5"),
        ("string({a: [1, \"x\"]})", "{a: [1, \"x\"]}"),
        ("string(null)", "null"),
        ("number(\"1.000,5\", \".\", \",\")", "1000.5"),
        ("number(from: \"12\")", "12"),
        ("number(\"x\")", "null"),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("count([1, 2, null])", "3"),
        ("min(3, 1, 2)", "1"),
        ("max([\"a\", \"c\", \"b\"])", "c"),
        ("sum([])", "null"),
        ("sum(1, 2.5)", "3.5"),
        ("sum([@\"PT1H\", @\"PT30M\"])", "PT1H30M"),
        ("mean([1, 2, 6])", "3"),
        ("median([8, 2, 5, 3, 4])", "4"),
        ("median([6, 1, 2, 3])", "2.5"),
        ("mode([6, 3, 9, 6, 6])", "[6]"),
        ("mode([6, 1, 9, 6, 1])", "[1, 6]"),
        ("stddev(2, 4, 7, 5)", "2.081665999466132735282297706979931"),
        ("product([2, 3, 4])", "24"),
        ("all([true, null])", "null"),
        ("all([false, null])", "false"),
        ("any([true, null])", "true"),
        ("all([])", "true"),
        ("list contains([1, null], null)", "true"),
        ("sublist([1, 2, 3], 2)", "[2, 3]"),
        ("sublist([1, 2, 3], -2, 1)", "[2]"),
        ("append([1], 2, 3)", "[1, 2, 3]"),
        ("concatenate([1], [2, 3])", "[1, 2, 3]"),
        ("insert before([1, 3], 2, 2)", "[1, 2, 3]"),
        ("remove([1, 2, 3], 2)", "[1, 3]"),
        ("list replace([2, 4, 7, 8], 3, 6)", "[2, 4, 6, 8]"),
        ("list replace([2, 4, 7, 8], function(item, newItem) item < newItem, 5)", "[5, 5, 7, 8]"),
        ("reverse([1, 2, 3])", "[3, 2, 1]"),
        ("index of([1, 2, 3, 2], 2)", "[2, 4]"),
        ("union([1, 2], [2, 3])", "[1, 2, 3]"),
        ("distinct values([1, \"1\", 1.0, null, null, [1], [1]])", "[1, \"1\", null, [1]]"),
        ("flatten([[1, 2], [[3]], 4])", "[1, 2, 3, 4]"),
        ("sort(list, function(x, y) x < y)", "[1, 2, 3]"),
        ("sort(list)", "[1, 2, 3]"),
        ("sort([{k: 1, v: 1}, {k: 0, v: 2}, {k: 1, v: 3}], function(x, y) x.k < y.k).v", "[2, 1, 3]"),
        ("sort(precedence: function(x, y) x > y, list: list)", "[3, 2, 1]"),
    ]);
}

#[test]
fn numbers() {
    check(&[
        ("decimal(1/3, 2)", "0.33"),
        ("decimal(2.5, 0)", "2"),
        ("floor(-1.5)", "-2"),
        ("floor(-1.56, 1)", "-1.6"),
        ("ceiling(1.5)", "2"),
        ("round up(5.51, 1)", "5.6"),
        ("round down(-5.5, 0)", "-5"),
        ("round half up(5.5, 0)", "6"),
        ("round half down(5.5, 0)", "5"),
        ("abs(-@\"PT5H\")", "PT5H"),
        ("modulo(-12, 5)", "3"),
        ("modulo(10.1, 4.5)", "1.1"),
        ("sqrt(16)", "4"),
        ("log(1)", "0"),
        ("exp(0)", "1"),
        ("odd(-5)", "true"),
        ("even(2.5)", "false"),
        ("abs(\"x\")", "null"),
    ]);
}

#[test]
fn dates_and_times() {
    check(&[
        ("date(2024, 2, 29)", "2024-02-29"),
        ("date(2023, 2, 29)", "null"),
        ("date(\"999999999-12-31\")", "999999999-12-31"),
        ("@\"2024-01-31\" + @\"P1M\"", "2024-02-29"),
        ("@\"2024-03-01\" - @\"2024-02-01\"", "P29D"),
        ("@\"2024-03-01T00:00:00\" - @\"P1D\"", "2024-02-29T00:00:00"),
        ("time(\"23:00:00\") + duration(\"PT2H\")", "01:00:00"),
        ("@\"PT1H\" * 1.5", "PT1H30M"),
        ("@\"P1Y\" / @\"P1M\"", "12"),
        (
            "date and time(\"2024-03-31T00:30:00@Europe/Paris\") < date and time(\"2024-03-31T00:00:00Z\")",
            "true",
        ),
        ("date and time(@\"2024-01-01\", @\"10:00:00+02:00\")", "2024-01-01T10:00:00+02:00"),
        ("time(10, 20, 30.5, @\"-PT1H\")", "10:20:30.5-01:00"),
        ("years and months duration(@\"2011-12-22\", @\"2013-08-24\")", "P1Y8M"),
        ("years and months duration(@\"2013-08-24\", @\"2011-12-22\")", "-P1Y8M"),
        ("now()", "2024-03-15T10:30:00Z"),
        ("today()", "2024-03-15"),
        ("day of week(@\"2024-03-15\")", "Friday"),
        ("day of year(@\"2024-12-31\")", "366"),
        ("week of year(@\"2005-01-01\")", "53"),
        ("month of year(@\"2024-03-15\")", "March"),
        ("@\"2024-03-15T10:30:00@Europe/Paris\".time offset", "PT1H"),
        ("@\"P1DT2H\".hours", "2"),
        ("is(@\"10:00:00Z\", @\"10:00:00+00:00\")", "true"),
        ("is(@\"10:00:00\", @\"10:00:00Z\")", "false"),
        ("for d in @\"2024-02-28\"..@\"2024-03-01\" return day of year(d)", "[59, 60, 61]"),
    ]);
}

#[test]
fn ranges_and_types() {
    check(&[
        ("before(1, [2..3])", "true"),
        ("after([5..6], 4)", "true"),
        ("meets([1..5], [5..10])", "true"),
        ("overlaps([1..5], (5..8])", "false"),
        ("includes([1..10], 5)", "true"),
        ("during([4..6], [1..10])", "true"),
        ("starts(1, [1..10])", "true"),
        ("finishes(10, [1..10])", "true"),
        ("coincides([1..5], [1..5])", "true"),
        ("[1..10].end", "10"),
        ("[1..10).end included", "false"),
        ("(< 5)", "(< 5)"),
        ("range(\"[1..3]\") = [1..3]", "true"),
        ("1 instance of number", "true"),
        ("[1, 2] instance of list<number>", "true"),
        ("[1, \"2\"] instance of list<number>", "false"),
        ("{a: 1} instance of context<a: number>", "true"),
        ("@\"2024-01-01\" instance of date and time", "false"),
        ("@\"P1D\" instance of days and time duration and true", "true"),
        ("null instance of Any", "false"),
        ("[1..3] instance of range<number>", "true"),
        ("(function(x: number) \"s\") instance of function<number> -> string", "true"),
        ("get value({a: 1}, \"a\")", "1"),
        ("get value({a: {b: 2}}, [\"a\", \"b\"])", "2"),
        ("get entries({a: 1})[1].key", "a"),
        ("context([{key: \"a\", value: 1}])", "{a: 1}"),
        ("context put({a: 1}, \"b\", 2)", "{a: 1, b: 2}"),
        ("context put({a: {b: 1}}, [\"a\", \"b\"], 2)", "{a: {b: 2}}"),
        ("context merge([{a: 1}, {a: 2, b: 3}])", "{a: 2, b: 3}"),
    ]);
}

#[test]
fn dialect() {
    let json = json!({"x": null, "o": {"m": 1}, "my-name": 3});
    let scope = json.as_object().expect("an object");
    for (source, want) in [
        ("is defined(x)", "true"),
        ("is defined(y)", "false"),
        ("is defined(o.m)", "true"),
        ("is defined(o.k)", "false"),
        ("get or else(x, 7)", "7"),
        ("get or else(o.m, 7)", "1"),
        ("`my-name` + 1", "4"),
        ("trim(\" a \")", "a"),
        ("is blank(\" \")", "true"),
        ("is empty([])", "true"),
        ("extract(\"a1b22\", \"[0-9]+\")", "[\"1\", \"22\"]"),
        ("duplicate values([1, 2, 1, 1])", "[1]"),
        ("partition([1, 2, 3], 2)", "[[1, 2], [3]]"),
        ("last day of month(@\"2024-02-01\")", "2024-02-29"),
        ("put all({a: 1}, {b: 2})", "{a: 1, b: 2}"),
        ("put({a: 1}, \"b\", 2)", "{a: 1, b: 2}"),
        ("assert(x, x = null, \"x is given\")", "null"),
        ("assert(3, true)", "3"),
        ("to base64(\"FEEL\")", "RkVFTA=="),
        ("from json(\"{\\\"a\\\": [1, 2.5, null]}\").a[2]", "2.5"),
        ("from json(\"nonsense\")", "null"),
        ("to json({a: [1, \"x\", @\"2024-01-01\", null]})", "{\"a\":[1,\"x\",\"2024-01-01\",null]}"),
    ] {
        assert_eq!(run(source, Dialect::Heddle, scope).value.to_string(), want, "{source}");
    }
    assert!(Expression::compile("is defined(x)", Dialect::Standard).is_err());
    assert!(Expression::compile("`a`", Dialect::Standard).is_err());
}

#[test]
fn declared_names() {
    let json = json!({"loan amount": 100, "a-b": 7, "a": 5, "b": 1, "rate and fee": 2, "Applicant": {"date of birth": 1}});
    let scope = json.as_object().expect("an object");
    let names = ["loan amount", "a-b", "rate and fee", "date of birth", "a"].map(str::to_owned).to_vec();
    let options = Options { dialect: Dialect::Standard, names, ..Options::default() };
    for (source, want) in [
        ("loan amount * 2", "200"),
        ("loan  amount", "100"),
        ("a-b", "7"),
        ("a - b", "7"),
        ("a+b", "6"),
        ("rate and fee + 1", "3"),
        ("Applicant.date of birth = 1", "true"),
    ] {
        let expression =
            Expression::compile_with(source, &options).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert_eq!(
            expression.evaluate(scope, &NOW).map(|e| e.value.to_string()),
            Ok(want.to_owned()),
            "{source}"
        );
    }
    assert_eq!(run("a - b", Dialect::Standard, scope).value, Value::integer(4));
    assert!(Expression::compile("loan amount * 2", Dialect::Standard).is_err());
}

#[test]
fn syntax_errors_tell_where() {
    for (source, line, column) in [
        ("", 1, 1),
        ("1 +", 1, 4),
        ("a\n  + * b", 2, 5),
        ("\"abc", 1, 1),
        ("\"\\uD800\"", 1, 2),
        ("\"\\uD800\\u0041\"", 1, 2),
        ("[1, 2", 1, 6),
        ("{a 1}", 1, 2),
        ("f(1, a: 2)", 1, 6),
        ("if a then b", 1, 12),
        ("for in x return 1", 1, 5),
        ("1 2", 1, 3),
        ("a b", 1, 3),
        ("#", 1, 1),
        ("/* x", 1, 1),
        ("1e9999", 1, 1),
        ("then", 1, 1),
        ("é + ", 1, 5),
    ] {
        let error = Expression::compile(source, Dialect::Standard).expect_err(source);
        assert_eq!((error.line, error.column), (line, column), "{source}: {error}");
    }
}

#[test]
fn nulls_have_reasons() {
    for (source, part, offset) in [
        ("1 + missing", "missing", 4),
        ("1 + \"a\"", "`+`", 2),
        ("{a: 1}.b", "`b`", 6),
        ("abs(\"x\")", "number", 0),
        ("abs(1, 2)", "arguments", 0),
        ("[1][5]", "5", 3),
        ("@\"nonsense\"", "nonsense", 0),
        ("date(\"2023-02-30\")", "date", 0),
        ("1 < \"a\"", "compared", 2),
        ("5(1)", "called", 1),
        ("matches(\"a\", \"(a)\\2\")", "pattern", 0),
    ] {
        let evaluated = run(source, Dialect::Standard, &());
        assert!(evaluated.value.is_null(), "{source}");
        let note = evaluated.notes.first().unwrap_or_else(|| panic!("{source}: no note"));
        assert!(note.message.contains(part), "{source}: {}", note.message);
        assert_eq!(note.offset, offset, "{source}");
    }
}

#[test]
fn unary_tests() {
    let scope = json!({"limit": 10, "names": ["a", "b"]});
    let scope = scope.as_object().expect("an object");
    for (source, input, want) in [
        ("-", json!(1), "true"),
        ("< 5", json!(4), "true"),
        ("< 5", json!(null), "null"),
        ("< limit", json!(4), "true"),
        ("[1..5]", json!(5), "true"),
        ("]1..5[", json!(5), "false"),
        ("1, 2, >= 7", json!(8), "true"),
        ("1, 2, >= 7", json!(5), "false"),
        ("\"a\", \"b\"", json!("b"), "true"),
        ("not(\"a\", \"b\")", json!("b"), "false"),
        ("not(\"a\", \"b\")", json!("c"), "true"),
        ("not(? > 3) or ? = 9", json!(9), "true"),
        ("? > 3 and ? < limit", json!(5), "true"),
        ("contains(?, \"es\")", json!("test"), "true"),
        ("names", json!("b"), "true"),
        ("null", json!(null), "true"),
        ("true", json!(true), "true"),
        ("false", json!(false), "true"),
        ("some x in ? satisfies x > 2", json!([1, 3]), "true"),
        ("not(null)", json!(null), "false"),
    ] {
        let tests =
            UnaryTests::compile(source, Dialect::Standard).unwrap_or_else(|e| panic!("{source}: {e}"));
        let got = tests.evaluate(&from_json(&input), scope, &NOW).expect(source).value.to_string();
        assert_eq!(got, want, "{source} of {input}");
    }
    assert!(UnaryTests::compile("", Dialect::Standard).is_err());
}

#[test]
fn layers_and_json() {
    let (inner, outer) = (json!({"a": 1}), json!({"a": 2, "b": {"c": [1, 2]}}));
    let mut own = Context::new();
    own.put("d", Value::string("x"));
    let (inner, outer) = (inner.as_object().expect("object"), outer.as_object().expect("object"));
    let layers: [&dyn Scope; 3] = [inner, outer, &own];
    let layers = Layers(&layers);
    let value = run(
        "{a: a, c: b.c, d: d, e: @\"2024-01-01\", f: 0.1 + 0.2, g: function(x) x}",
        Dialect::Standard,
        &layers,
    );
    let want = json!({"a": 1, "c": [1, 2], "d": "x", "e": "2024-01-01", "f": 0.3, "g": null});
    assert_eq!(to_json(&value.value), want);
    assert!(matches!(layers.get("b"), Some(Ref::Json(_))));
}

struct Double(Vec<Arc<str>>, Expression);

impl HostFunction for Double {
    fn parameters(&self) -> &[Arc<str>] {
        &self.0
    }

    fn call(&self, arguments: Vec<Value>, host: &mut Host<'_>) -> Result<Value, LimitError> {
        let scope: Context = self.0.iter().cloned().zip(arguments).collect();
        host.evaluate(&self.1, &scope)
    }
}

#[test]
fn functions_of_the_host() {
    let body = Expression::compile("n * 2", Dialect::Standard).expect("an expression");
    let mut scope = Context::new();
    scope.put("double", Value::Function(Function::host(Arc::new(Double(vec!["n".into()], body)))));
    assert_eq!(run("double(4) + double(n: 1)", Dialect::Standard, &scope).value, Value::integer(10));
    assert!(run("double(1, 2)", Dialect::Standard, &scope).value.is_null());
}

#[test]
fn limits_are_the_callers() {
    let expression =
        Expression::compile("sum(for i in 1..1000 return i)", Dialect::Standard).expect("an expression");
    let few = Limits { steps: 100, ..Limits::default() };
    assert_eq!(
        expression.evaluate_within(&(), &NOW, &few).map(|e| e.value).err(),
        Some(LimitError::Steps(100))
    );
    let small = Limits { list_size: 10, ..Limits::default() };
    assert_eq!(
        expression.evaluate_within(&(), &NOW, &small).map(|e| e.value).err(),
        Some(LimitError::ListSize(10))
    );
    let cancelled = Limits { cancel: Some(Arc::new(AtomicBool::new(true))), ..Limits::default() };
    assert_eq!(
        expression.evaluate_within(&(), &NOW, &cancelled).map(|e| e.value).err(),
        Some(LimitError::Cancelled)
    );
    assert_eq!(expression.evaluate(&(), &NOW).map(|e| e.value), Ok(Value::integer(500_500)));
}

#[test]
fn shared_between_threads() {
    let expression =
        Expression::compile("sum(for i in 1..100 return i * n)", Dialect::Standard).expect("an expression");
    let threads: Vec<_> = (1..=4)
        .map(|n| {
            let expression = expression.clone();
            std::thread::spawn(move || {
                let scope = json!({ "n": n });
                expression.evaluate(scope.as_object().expect("an object"), &NOW).map(|e| e.value)
            })
        })
        .collect();
    for (n, thread) in (1..=4).zip(threads) {
        assert_eq!(thread.join().expect("a result"), Ok(Value::integer(5050 * n)));
    }
}

#[test]
fn the_example_of_the_documentation_is_one_that_runs() {
    let example = include_str!("../../examples/evaluate-expression.rs");
    let code = example.split_once("\n\n").map_or(example, |(_, code)| code);
    assert!(include_str!("../../docs/feel.md").contains(&format!("```rust\n{code}```")));
}

#[test]
fn types_are_told_without_evaluating() {
    let customer = Type::Context(vec![("age".into(), Type::Number), ("name".into(), Type::String)]);
    let variable = |name: &str| match name {
        "a" => Some(Type::Number),
        "s" => Some(Type::String),
        "customer" => Some(customer.clone()),
        "customers" => Some(Type::List(Some(Box::new(customer.clone())))),
        "since" => Some(Type::Date),
        _ => None,
    };
    let list = |item: Type| Type::List(Some(Box::new(item)));
    for (source, want) in [
        ("a + 1", Type::Number),
        ("s + \"x\"", Type::String),
        ("a + s", Type::Any),
        ("a > 1 and unknown", Type::Boolean),
        ("unknown", Type::Any),
        ("customer.age * 2", Type::Number),
        ("customer.missing", Type::Any),
        ("customers.name", list(Type::String)),
        ("customers[age > 18]", list(customer.clone())),
        ("customers[1].name", Type::String),
        ("customers[age > 18].age", list(Type::Number)),
        ("for c in customers return c.age + 1", list(Type::Number)),
        ("for i in 1..3 return i", list(Type::Number)),
        ("sum(for c in customers return c.age)", Type::Number),
        ("if a > 1 then \"x\" else null", Type::String),
        ("if a > 1 then \"x\" else 1", Type::Any),
        ("since + @\"P1D\"", Type::Date),
        ("since - since", Type::DaysAndTimeDuration),
        ("since.year", Type::Number),
        ("[1, 2]", list(Type::Number)),
        ("[1, \"x\"]", list(Type::Any)),
        ("{x: a, y: x > 1}.y", Type::Boolean),
        ("[1..5]", Type::Range(Some(Box::new(Type::Number)))),
        ("upper case(s)", Type::String),
        ("some c in customers satisfies c.age > 1", Type::Boolean),
        (&format!("a{}", " + a".repeat(30_000)), Type::Number),
    ] {
        let expression = Expression::compile(source, Dialect::Standard).expect("an expression");
        assert_eq!(expression.type_of(&variable), want, "{}", source.get(..40).unwrap_or(source));
    }
    let types = |source: &str| {
        let tests = UnaryTests::compile(source, Dialect::Standard).expect("tests");
        let types = tests.types_of(&Type::Number, &variable);
        types.into_iter().map(|test| (test.against, test.decides, test.offset)).collect::<Vec<_>>()
    };
    assert_eq!(types("-"), vec![]);
    assert_eq!(types("1, < a"), vec![(Type::Number, false, 0), (Type::Number, false, 3)]);
    assert_eq!(types("[1..5], \"x\""), vec![(Type::Number, false, 0), (Type::String, false, 8)]);
    assert_eq!(types("? > 1"), vec![(Type::Boolean, true, 2)]);
    assert_eq!(types("? + 1, customers.age"), vec![(Type::Number, false, 2), (Type::Number, false, 16)]);
}

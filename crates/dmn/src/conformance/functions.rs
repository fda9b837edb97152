//! The built-in functions of FEEL (clause 10.3.4), each with calls and their values.

use super::Group;
use super::probe::{Feature, Probe};

const fn function(
    name: &'static str,
    clause: &'static str,
    text: &'static str,
    value: &'static str,
) -> Feature {
    Feature { group: Group::Function, name, clause, level: 3, mark: "", probe: Probe::Feel(text, value) }
}

const CONVERSION: &str = "10.3.4.1";
const BOOLEAN: &str = "10.3.4.2";
const STRING: &str = "10.3.4.3";
const LIST: &str = "10.3.4.4";
const NUMERIC: &str = "10.3.4.5";
const DATE_AND_TIME: &str = "10.3.4.6";
const RANGE: &str = "10.3.4.7";
const TEMPORAL: &str = "10.3.4.8";
const SORT: &str = "10.3.4.9";
const CONTEXT: &str = "10.3.4.10";
const MISCELLANEOUS: &str = "10.3.4.11";

/// By the order of the clauses.
pub(super) const FEATURES: &[Feature] = &[
    function("date", CONVERSION, r#"date("2024-02-29") = date(2024, 2, 29)"#, "true"),
    function(
        "date and time",
        CONVERSION,
        r#"date and time("2024-02-29T10:00:00") = date and time(date(2024, 2, 29), time(10, 0, 0))"#,
        "true",
    ),
    function("time", CONVERSION, r#"time("10:20:30").minute"#, "20"),
    function("number", CONVERSION, r#"number("1 000,5", " ", ",")"#, "1000.5"),
    function("string", CONVERSION, "string(12.5)", r#""12.5""#),
    function("duration", CONVERSION, r#"duration("P1DT2H").hours"#, "2"),
    function(
        "years and months duration",
        CONVERSION,
        r#"years and months duration(date("2011-12-22"), date("2013-08-24"))"#,
        r#"duration("P1Y8M")"#,
    ),
    function("range", CONVERSION, r#"5 in range("[1..10)") and not(10 in range("[1..10)"))"#, "true"),
    function("not", BOOLEAN, "not(true)", "false"),
    function("substring", STRING, r#"substring("foobar", -2, 1)"#, r#""a""#),
    function("string length", STRING, r#"string length("\U01F40E")"#, "1"),
    function("upper case", STRING, r#"upper case("aBc4")"#, r#""ABC4""#),
    function("lower case", STRING, r#"lower case("aBc4")"#, r#""abc4""#),
    function("substring before", STRING, r#"substring before("foobar", "bar")"#, r#""foo""#),
    function("substring after", STRING, r#"substring after("foobar", "ob")"#, r#""ar""#),
    function("replace", STRING, r#"replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")"#, r#""[1=ab][2=]cd""#),
    function("contains", STRING, r#"contains("foobar", "of")"#, "false"),
    function("starts with", STRING, r#"starts with("foobar", "fo")"#, "true"),
    function("ends with", STRING, r#"ends with("foobar", "r")"#, "true"),
    function("matches", STRING, r#"matches("foobar", "^Fo*b", "i")"#, "true"),
    function("split", STRING, r#"split("John Doe", "\s")"#, r#"["John", "Doe"]"#),
    function("string join", STRING, r#"string join(["a", null, "c"], "-")"#, r#""a-c""#),
    function("list contains", LIST, "list contains([1, 2, null], null)", "true"),
    function(
        "list replace",
        LIST,
        "list replace([2, 4, 7, 8], function(item, new) item < new, 5)",
        "[5, 5, 7, 8]",
    ),
    function("count", LIST, "count([1, [2, 3]])", "2"),
    function("min", LIST, "min(3, 1, 2)", "1"),
    function("max", LIST, "max([3, 1, 2])", "3"),
    function("sum", LIST, "sum([1, 2, 3.5])", "6.5"),
    function("mean", LIST, "mean(1, 2, 3)", "2"),
    function("all", LIST, "all([true, null, false])", "false"),
    function("any", LIST, "any([false, null, true])", "true"),
    function("sublist", LIST, "sublist([4, 5, 6], -2, 1)", "[5]"),
    function("append", LIST, "append([1], 2, 3)", "[1, 2, 3]"),
    function("concatenate", LIST, "concatenate([1, 2], [3])", "[1, 2, 3]"),
    function("insert before", LIST, "insert before([1, 3], 1, 2)", "[2, 1, 3]"),
    function("remove", LIST, "remove([1, 2, 3], 2)", "[1, 3]"),
    function("reverse", LIST, "reverse([1, 2, 3])", "[3, 2, 1]"),
    function("index of", LIST, "index of([1, 2, 3, 2], 2)", "[2, 4]"),
    function("union", LIST, "union([1, 2], [2, 3])", "[1, 2, 3]"),
    function("distinct values", LIST, "distinct values([1, 2, 1])", "[1, 2]"),
    function("flatten", LIST, "flatten([[1, [2]], 3])", "[1, 2, 3]"),
    function("product", LIST, "product([2, 3, 4])", "24"),
    function("median", LIST, "median([6, 1, 2, 3])", "2.5"),
    function("stddev", LIST, "stddev(2, 4, 7, 5) > 2.08 and stddev([47]) = null", "true"),
    function("mode", LIST, "mode([6, 3, 9, 6, 6, 3, 3])", "[3, 6]"),
    function("decimal", NUMERIC, "decimal(2.5, 0)", "2"),
    function("floor", NUMERIC, "floor(-1.56, 1)", "-1.6"),
    function("ceiling", NUMERIC, "ceiling(-1.56, 1)", "-1.5"),
    function("round up", NUMERIC, "round up(-5.5, 0)", "-6"),
    function("round down", NUMERIC, "round down(-5.5, 0)", "-5"),
    function("round half up", NUMERIC, "round half up(5.5, 0)", "6"),
    function("round half down", NUMERIC, "round half down(5.5, 0)", "5"),
    function("abs", NUMERIC, r#"[abs(-10), abs(@"-PT5H")]"#, r#"[10, @"PT5H"]"#),
    function("modulo", NUMERIC, "modulo(-12, 5)", "3"),
    function("sqrt", NUMERIC, "sqrt(16)", "4"),
    function("log", NUMERIC, "decimal(log(10), 8)", "2.30258509"),
    function("exp", NUMERIC, "decimal(exp(5), 8)", "148.41315910"),
    function("odd", NUMERIC, "odd(5)", "true"),
    function("even", NUMERIC, "even(5)", "false"),
    function("is", DATE_AND_TIME, r#"is(time("23:00:50z"), time("23:00:50"))"#, "false"),
    function("before", RANGE, "before([1..5), [5..10])", "true"),
    function("after", RANGE, "after(12, [1..10])", "true"),
    function("meets", RANGE, "meets([1..5], [5..10])", "true"),
    function("met by", RANGE, "met by([5..10], [1..5])", "true"),
    function("overlaps", RANGE, "overlaps([1..5], [3..8])", "true"),
    function("overlaps before", RANGE, "overlaps before([1..5], [3..8])", "true"),
    function("overlaps after", RANGE, "overlaps after([3..8], [1..5])", "true"),
    function("finishes", RANGE, "finishes(10, [1..10])", "true"),
    function("finished by", RANGE, "finished by([1..10], [5..10])", "true"),
    function("includes", RANGE, "includes([1..10], [4..6])", "true"),
    function("during", RANGE, "during([4..6], [1..10))", "true"),
    function("starts", RANGE, "starts(1, [1..10])", "true"),
    function("started by", RANGE, "started by([1..10], [1..5])", "true"),
    function("coincides", RANGE, "coincides([1..5], [1..5])", "true"),
    function("day of year", TEMPORAL, "day of year(date(2019, 9, 17))", "260"),
    function("day of week", TEMPORAL, "day of week(date(2019, 9, 17))", r#""Tuesday""#),
    function("month of year", TEMPORAL, "month of year(date(2019, 9, 17))", r#""September""#),
    function("week of year", TEMPORAL, "week of year(date(2005, 1, 1))", "53"),
    function("sort", SORT, "sort([3, 1, 4], function(x, y) x > y)", "[4, 3, 1]"),
    function("get value", CONTEXT, r#"get value({a: {b: 1}}, ["a", "b"])"#, "1"),
    function("get entries", CONTEXT, r#"get entries({a: 1})"#, r#"[{key: "a", value: 1}]"#),
    function("context", CONTEXT, r#"context([{key: "a", value: 1}])"#, "{a: 1}"),
    function("context put", CONTEXT, r#"context put({x: {y: 0}}, ["x", "y"], 1)"#, "{x: {y: 1}}"),
    function("context merge", CONTEXT, "context merge([{x: 1}, {x: 2, y: 3}])", "{x: 2, y: 3}"),
    function("now", MISCELLANEOUS, "now().year", "2023"),
    function("today", MISCELLANEOUS, "today()", r#"date("2023-11-14")"#),
];

//! Syntax and types of FEEL (clauses 9, 10.3.1 and 10.3.2), each with an expression and its value.

use super::Group;
use super::probe::{Feature, Probe};

const fn feel(
    name: &'static str,
    clause: &'static str,
    level: u8,
    text: &'static str,
    value: &'static str,
) -> Feature {
    Feature { group: Group::Feel, name, clause, level, mark: "", probe: Probe::Feel(text, value) }
}

/// Features of FEEL, those of S-FEEL first.
pub(super) const FEATURES: &[Feature] = &[
    feel("number", "9.3", 2, "1.10 + .5", "1.6"),
    feel("number of 34 digits", "10.3.2", 3, "1/3 = 0.3333333333333333333333333333333333", "true"),
    feel("string", "9.3", 2, r#""a" + "b""#, r#""ab""#),
    feel("string escapes", "10.3.1", 3, r#"string length("\n\t\"\u20AC\U01F40E\uD83D\uDC0E")"#, "6"),
    feel("boolean", "9.3", 2, "true and not(false)", "true"),
    feel("null", "10.3.1", 3, "null = null", "true"),
    feel(
        "days and time duration",
        "9.3",
        2,
        r#"duration("P1D") + duration("PT12H") = duration("PT36H")"#,
        "true",
    ),
    feel("years and months duration", "9.3", 2, r#"duration("P1Y") * 2 = duration("P24M")"#, "true"),
    feel("date", "9.3", 2, r#"date("2024-01-31") < date("2024-02-01")"#, "true"),
    feel("time", "9.3", 2, r#"time("10:00:00") < time("11:00:00")"#, "true"),
    feel("date and time", "9.3", 2, r#"date and time("2024-01-31T00:00:00").day"#, "31"),
    feel(
        "zones of times",
        "10.3.2",
        3,
        r#"date and time("2024-07-01T12:00:00@Europe/Paris") = date and time("2024-07-01T10:00:00Z")"#,
        "true",
    ),
    feel("addition, subtraction, multiplication, division", "9.2", 2, "1 + 2 * 3 - 8 / 4", "5"),
    feel("exponentiation", "9.2", 2, "2 ** 3", "8"),
    feel("negation", "9.2", 2, "-(1 + 2)", "-3"),
    feel("comparison", "9.2", 2, "1 < 2 and 2 <= 2 and 3 > 2 and 2 >= 2 and 1 != 2 and 1 = 1.0", "true"),
    feel("date arithmetic", "10.3.2", 3, r#"@"2024-02-29" + duration("P1Y") = @"2025-02-28""#, "true"),
    feel(
        "three-valued logic",
        "10.3.2",
        3,
        "[null and false, null or true, null and true]",
        "[false, true, null]",
    ),
    feel("conjunction and disjunction", "10.3.1", 3, "true and false or true", "true"),
    feel("if", "10.3.1", 3, "if n > 2 then 1 else 0", "1"),
    feel("for", "10.3.1", 3, "for i in [1, 2], j in [10, 20] return i + j", "[11, 21, 12, 22]"),
    feel(
        "for over a range, with partial results",
        "10.3.1",
        3,
        "for i in 1..4 return if i = 1 then 1 else i * partial[-1]",
        "[1, 2, 6, 24]",
    ),
    feel("some", "10.3.1", 3, "some x in [1, 2] satisfies x > 1", "true"),
    feel("every", "10.3.1", 3, "every x in [1, 2], y in [3] satisfies x < y", "true"),
    feel("between", "10.3.1", 3, "n between 1 and 5", "true"),
    feel("in with unary tests", "10.3.1", 3, "n in (< 2, [3..5], 9)", "true"),
    feel("range", "10.3.2", 3, "[3 in (3..5], 3 in [3..5[, 6 in >5]", "[false, true, true]"),
    feel(
        "instance of",
        "10.3.1",
        3,
        "[1] instance of list<number> and {a: 1} instance of context<a: number>",
        "true",
    ),
    feel("list", "10.3.2", 3, "[1, [2]][2][1]", "2"),
    feel("filter", "10.3.1", 3, "[{a: 1, b: 1}, {a: 2, b: 5}][a > 1].b", "[5]"),
    feel("context", "10.3.2", 3, r#"{a: 1, "b c": a + 1}"#, r#"{a: 1, "b c": 2}"#),
    feel("path", "10.3.1", 3, "{a: {b: 5}}.a.b", "5"),
    feel(
        "function definition and closure",
        "10.3.1",
        3,
        "{n: 2, f: function(x: number) x * n, r: f(4)}.r",
        "8",
    ),
    feel("named parameters", "10.3.1", 3, r#"substring(start position: 2, string: "abc")"#, r#""bc""#),
    feel("at literals", "10.3.1", 3, r#"@"PT1H" = duration("PT1H")"#, "true"),
    feel("comments", "10.3.1", 3, "1 /* one */ + 2 // and two", "3"),
    feel("names with spaces and operators", "10.3.1", 3, "{a b: 1, a-b: 2, r: a b + a-b}.r", "3"),
    feel("equality of contexts and lists", "10.3.2", 3, "{a: [1]} = {a: [1.0]}", "true"),
    feel("list of one item as the item", "10.3.2", 3, "abs([-2])", "2"),
    feel("null for what has no meaning", "10.3.2", 3, r#"1 + "a""#, "null"),
    feel(
        "properties of values",
        "10.3.2",
        3,
        r#"[@"2024-05-06".weekday, @"P1Y2M".months, [1..5).end included]"#,
        "[1, 2, false]",
    ),
];

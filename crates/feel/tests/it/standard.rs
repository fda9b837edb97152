//! Built-in functions and the language at their edges, as the tables of DMN 1.5 (chapter 10) have them.

use heddle_feel::{Dialect, Expression};

use super::{check, unary};

#[test]
fn conversions_refuse_what_is_no_such_value() {
    check(&[
        (r#"date("2017-08-10Z")"#, "null"),
        (r#"date("2012-12-25T11:00:00")"#, "null"),
        (r#"date(["1970-01-01"])"#, "1970-01-01"),
        ("date([])", "null"),
        ("date(2017.5, 1, 10)", "null"),
        ("date(2017, 12)", "null"),
        ("date(month: 8, year: 2017, day: 30)", "2017-08-30"),
        (r#"time("24:00:01")"#, "null"),
        (r#"time("13:20:00+02:00@Europe/Paris")"#, "null"),
        (r#"time(11, 59, 45, @"P1Y")"#, "null"),
        (r#"time(hour: 11, minute: 59, second: 0, offset: @"PT2H1M")"#, "11:59:00+02:01"),
        (r#"date and time("2017-08-10", time("10:20:00"))"#, "null"),
        (r#"date and time(2017, 1, 2, 3, 4, 5, "Europe/Paris")"#, "2017-01-02T03:04:05@Europe/Paris"),
        (r#"duration("P1Y2M3D")"#, "null"),
        (r#"duration("P1M1Y")"#, "null"),
        (r#"duration("P1W")"#, "null"),
        (r#"duration("P400D")"#, "P400D"),
        (r#"duration("PT1000M")"#, "PT16H40M"),
        (r#"years and months duration(date("2013-08-24"), date("2011-12-22"))"#, "-P1Y8M"),
        (r#"years and months duration(date("2016-01-31"), date("2016-02-29"))"#, "P0M"),
        // Only dates count.
        (r#"years and months duration(@"2016-01-30T12:00:00", @"2017-01-30T11:00:00")"#, "P1Y"),
        (r#"years and months duration("2016-01-31", "2017-01-01")"#, "null"),
        (r#"number("1.000,0", ".", ",")"#, "1000"),
        (r#"number("1,000", null, null)"#, "null"),
        (r#"number("1.000.0", ".", ".")"#, "null"),
        (r#"number("1 000", "x", ".")"#, "null"),
        (r#"number("NaN")"#, "null"),
        ("not([true])", "false"),
        ("not(1)", "null"),
        ("not(true, false)", "null"),
    ]);
}

#[test]
fn strings_count_characters_and_match_as_xpath_does() {
    check(&[
        (r#"substring("\U01F40Eab", 2)"#, "ab"),
        (r#"substring("foobar", 0)"#, "null"),
        (r#"substring("foobar", 3, 0)"#, "null"),
        (r#"substring("foobar", 3.8)"#, "obar"),
        (r#"substring("foobar", 3, null)"#, "null"),
        (r#"string length("\uD83D\uDC0Eab")"#, "3"),
        (r#"substring after("foo", "")"#, "foo"),
        (r#"substring after("", "a")"#, ""),
        (r#"substring before("foobar", "xyz")"#, ""),
        (r#"substring after("foo", null)"#, "null"),
        (r#"matches("foobar", "o", "p")"#, "null"),
        (r#"matches("helloworld", "hello world", "x")"#, "true"),
        (r#"replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")"#, "[1=ab][2=]cd"),
        (r#"replace("abc", "b", "$x")"#, "null"),
        (r#"replace("a.b.c", ".", "-", "q")"#, "a-b-c"),
        (r#"split("a1b22c", "[0-9]+")"#, r#"["a", "b", "c"]"#),
        (r#"string join(["a", null, "c"], "X")"#, "aXc"),
        (r#"string join([1])"#, "null"),
        (r#"string([@"2012-01-01", "\"q\"", {a b: null}])"#, r#"[2012-01-01, "\"q\"", {a b: null}]"#),
        (r#"string(]1..3[)"#, "(1..3)"),
        (r#"string(1e-7)"#, "0.0000001"),
    ]);
}

#[test]
fn lists_at_their_edges() {
    check(&[
        ("list contains([1, null], null)", "true"),
        ("list contains(null, null)", "null"),
        ("count([null])", "1"),
        ("count(null)", "null"),
        ("min([1, null, 3])", "null"),
        (r#"max(@"P1Y", @"PT1H")"#, "null"),
        ("sum([])", "null"),
        ("product([])", "null"),
        ("mode([])", "[]"),
        ("mode([6, 1, 9, 6, 1])", "[1, 6]"),
        ("stddev([47])", "null"),
        ("all([])", "true"),
        ("all([true, null])", "null"),
        ("any([false, null])", "null"),
        ("any([true, null])", "true"),
        ("sublist([4, 5, 6], 0)", "null"),
        ("sublist([4, 5, 6], -2, 1)", "[5]"),
        ("sublist([4, 5, 6], 1, 4)", "null"),
        ("insert before([1, 3], -1, 2)", "[1, 2, 3]"),
        ("insert before([1, 3], 4, 2)", "null"),
        ("remove([1, 2, 3], 0)", "null"),
        ("index of([1, 2, null, null], null)", "[3, 4]"),
        ("concatenate([1], null)", "null"),
        ("union([1, null], [null])", "[1, null]"),
        ("distinct values([1, \"1\", [1], [1], true, true])", r#"[1, "1", [1], true]"#),
        ("list replace([2, 4, 7, 8], -3, 6)", "[2, 6, 7, 8]"),
        ("list replace([2, 4], function(item) true, 5)", "null"),
        ("sort(list: [3, 1, 2], precedes: function(x, y) x > y)", "[3, 2, 1]"),
        ("sort([3, 1, 2], function(x) true)", "null"),
        (r#"get value({a: {b: 1}}, ["a", "b"])"#, "1"),
        (r#"get value({a: 1}, [])"#, "null"),
        (r#"context([{key: "a", value: 1}, {key: "a", value: 2}])"#, "null"),
        (r#"context({key: "a", value: null})"#, "{a: null}"),
        (r#"context put({}, ["x", "z"], 2)"#, "{x: {z: 2}}"),
        (r#"context put({x: 1}, ["x", "z"], 2)"#, "null"),
        ("context merge([{a: 1}, {a: 2, b: 3}])", "{a: 2, b: 3}"),
    ]);
}

#[test]
fn numbers_at_their_edges() {
    check(&[
        ("decimal(1.5, -6112)", "null"),
        ("decimal(1234.5, -2)", "1200"),
        ("floor(-1.56, 1)", "-1.6"),
        ("ceiling(-1.56, 1)", "-1.5"),
        ("round up(-5.5, 0)", "-6"),
        ("round half down(-5.5, 0)", "-5"),
        ("round up(5.5)", "null"),
        ("modulo(-10.1, 4.5)", "3.4"),
        ("modulo(12, -5)", "-3"),
        ("sqrt(-1)", "null"),
        ("log(0)", "null"),
        ("odd(1.5)", "false"),
        (r#"week of year(date("2005-01-01"))"#, "53"),
        (r#"day of year(@"2020-12-31T10:00:00")"#, "366"),
        (r#"is(@"PT24H", @"P1D")"#, "true"),
    ]);
}

/// Table 78, with ranges that have one end only.
#[test]
fn relations_of_ranges() {
    check(&[
        ("before(1, (1..10])", "true"),
        ("before([1..10], [10..20])", "false"),
        ("after((11..20], [1..11])", "true"),
        ("meets([1..5], [5..10])", "true"),
        ("meets([1..5), [5..10])", "false"),
        ("overlaps([1..5], (5..8])", "false"),
        ("overlaps before([1..5), (1..5])", "true"),
        ("overlaps before([1..5], [1..5])", "false"),
        ("overlaps after((1..5], [1..5))", "true"),
        ("finishes([5..10), [1..10])", "false"),
        ("finished by([1..10], (1..10])", "true"),
        ("includes([1..10), [5..10])", "false"),
        ("during((1..5], (1..10])", "true"),
        ("starts((1..5], [1..10])", "false"),
        ("started by([1..10], [1..10))", "true"),
        ("coincides(5, 5)", "true"),
        ("before(1, \"a\")", "null"),
        ("before((< 5), 6)", "true"),
        ("before((< 5), 4)", "false"),
        ("before([1..2], (> 5))", "true"),
        ("includes((< 5), [1..4])", "true"),
        ("includes((< 5), 5)", "false"),
        ("during(3, (< 5))", "true"),
        ("overlaps((< 5), (> 3))", "true"),
        ("overlaps((< 5), (> 5))", "false"),
        ("starts((< 4), (< 5))", "true"),
        ("finishes((> 4), (> 3))", "true"),
        ("starts(1, (< 5))", "false"),
        ("meets((<= 5), (>= 5))", "true"),
        ("before((!= 5), 6)", "null"),
    ]);
}

#[test]
fn moments_move_along_the_time_line() {
    check(&[
        // The clocks go forward and back in these nights.
        (r#"@"2021-03-27T10:00:00@Europe/Paris" + @"PT24H""#, "2021-03-28T11:00:00@Europe/Paris"),
        (r#"@"2021-10-31T00:30:00@Europe/Paris" + @"PT3H""#, "2021-10-31T02:30:00@Europe/Paris"),
        (r#"@"2021-03-28T10:00:00@Europe/Paris" - @"2021-03-27T10:00:00@Europe/Paris""#, "PT23H"),
        (r#"@"99999-03-27T10:00:00@Europe/Paris" + @"PT24H""#, "99999-03-28T11:00:00@Europe/Paris"),
        (r#"@"2021-03-27T10:00:00@Europe/Paris" + @"P1M""#, "2021-04-27T10:00:00@Europe/Paris"),
        (r#"date and time(@"2021-07-10T10:20:00Z", "Europe/Paris")"#, "2021-07-10T12:20:00@Europe/Paris"),
        (r#"@"10:00:00" - @"PT15H""#, "19:00:00"),
        (r#"@"10:00:00" + @"P1M""#, "null"),
        (r#"@"P1D" - @"2012-01-01""#, "null"),
        (r#"@"P1Y" + @"P1D""#, "null"),
        (r#"@"P1Y" / @"P1D""#, "null"),
        (r#"@"P1D" / @"PT12H""#, "2"),
        (r#"@"2012-01-01" - @"2011-12-25T00:00:00Z""#, "P7D"),
        (r#"@"2012-01-01" - @"2011-12-25T00:00:00""#, "null"),
    ]);
}

#[test]
fn a_variable_hides_a_function_only_when_it_is_one() {
    check(&[
        (r#"{date: @"2012-01-01", r: date("2012-01-02") > date}.r"#, "true"),
        (r#"{date: function(x) 1, r: date("2012-01-02")}.r"#, "1"),
        (r#"{date: function(x) 1, r: date(x: "2012-01-02")}.r"#, "1"),
        ("{count: 3, r: count([1, 2]) + count}.r", "5"),
        (r#"{string: "a", f: function(x) string(x) + string}.f(2)"#, "2a"),
        // Names of several words are values too.
        (r#"{f: string length, r: f("abc")}.r"#, "3"),
        (r#"{f: context put, r: f(context: {a: 1}, keys: ["b"], value: 2)}.r"#, "{a: 1, b: 2}"),
        ("{f: abs, r: f(m: 1)}.r", "null"),
        ("string length instance of function", "true"),
    ]);
}

#[test]
fn grammar() {
    for bad in
        ["[1,]", "{a: 1,}", "abs(1,)", "abs(n: 1,)", "(function(a,) a)(1)", "+1", "{,}", "{a: 1, a: 2}"]
    {
        assert!(Expression::compile(bad, Dialect::Standard).is_err(), "{bad}");
    }
    check(&[
        ("{a/b: 2, a: 10, b: 5, r: a/b}.r", "2"),
        ("{a b: 1, r: [{a b: 2}][a b = 2]}.r", "[{a b: 2}]"),
        ("1 + /* 1 + */ 1 // 1", "2"),
        ("{a: 1, f: function() a, g: function(a) f(), r: g(5)}.r", "1"),
        ("{f: function(n) if n = 0 then 1 else n * f(n - 1), r: f(5)}.r", "120"),
        ("(function(a: list<number>) a)(1)", "[1]"),
        (r#"(function(a: date and time) a)(@"2012-01-01")"#, "2012-01-01T00:00:00Z"),
        ("{x: [5], r: 2 in [1..x[1]]}.r", "true"),
        ("{x: 3, r: 2 in ]1..x[}.r", "true"),
        ("[{x: 1, y: 2}, {x: 2, y: 3}][x = 1].y", "[2]"),
        ("[{item: 1}, {item: 2}][item = 2]", "[{item: 2}]"),
        ("[1, 2, 3][null]", "[]"),
        ("for i in [1, 2], j in [i, i * 10] return j", "[1, 10, 2, 20]"),
        (r#"for i in [@"2012-01-30"..@"2012-02-01"] return i.day"#, "[30, 31, 1]"),
        ("every i in [0, null] satisfies i > 0", "false"),
        ("every i in [1, null] satisfies i > 0", "null"),
        ("1 between 2 and null", "null"),
        ("1 in ([0..2], [5..6])", "true"),
    ]);
}

#[test]
fn tests_of_inputs() {
    for (input, tests, want) in [
        ("5", "not(<6, 10)", "false"),
        ("5", "\"a\"", "null"),
        ("null", "not(null)", "false"),
        ("null", "< 5", "null"),
        ("null", "[null, 5]", "true"),
        ("5", "? between 1 and 6", "true"),
        ("[1, 2]", "list contains(?, 1)", "true"),
        ("[1, 2]", "[[1, 2], [3]]", "true"),
        ("false", "1 = 2", "true"),
        ("5", "]5..6]", "false"),
        ("5", "if ? > 3 then true else false", "true"),
    ] {
        assert_eq!(unary(input, tests), want, "{input} against {tests}");
    }
}

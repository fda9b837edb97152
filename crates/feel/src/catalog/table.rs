//! Table of the built-in functions. A new one needs its row here and its function in the module that the row names.

/// The table, handed to a macro that makes of each row what its module needs. Rows stand in sections by dialect and
/// clause:
///
/// ```text
/// /// What it gives; for functions beyond the standard.
/// Id "name" ["signature", ...] -> ResultType, Cost, module::function,
///     example => value;
/// ```
///
/// A signature marks what may be missing by `?`, what may be repeated by `...`, and by `-` a place that another name
/// takes in this signature, which then is only for named arguments. The example is tried by a test, and the statement
/// of conformance of DMN claims the functions of the standard by it. `docs/functions.md` lists all rows.
macro_rules! built_ins {
    ($consumer:ident) => { $consumer! {
    // Conversions.
    Standard "10.3.4.1" {
        Date "date" ["from", "year, month, day"] -> Date, Steps(6), dates::date,
            r#"date("2024-02-29") = date(2024, 2, 29)"# => "true";
        DateAndTime "date and time" [
            "from",
            "date, time",
            "year, month, day, hour, minute, second",
            "year, month, day, hour, minute, second, offset",
            "year, month, day, hour, minute, second, timezone",
            "date, timezone",
        ] -> DateTime, Steps(6), dates::date_and_time,
            r#"date and time("2024-02-29T10:00:00") = date and time(date(2024, 2, 29), time(10, 0, 0))"# => "true";
        Time "time" ["from", "hour, minute, second, offset?"] -> Time, Steps(6), dates::time,
            r#"time("10:20:30").minute"# => "20";
        Number "number" ["from", "from, grouping separator, decimal separator"] -> Number, Own, convert::number,
            r#"number("1 000,5", " ", ",")"# => "1000.5";
        String "string" ["from"] -> String, Own, convert::string, "string(12.5)" => r#""12.5""#;
        Duration "duration" ["from"] -> Any, Steps(6), dates::duration, r#"duration("P1DT2H").hours"# => "2";
        YearsAndMonthsDuration "years and months duration" ["from, to"]
            -> Months, Steps(4), dates::years_and_months_duration,
            r#"years and months duration(date("2011-12-22"), date("2013-08-24"))"# => r#"duration("P1Y8M")"#;
        Range "range" ["from"] -> Range, Own, convert::range,
            r#"5 in range("[1..10)") and not(10 in range("[1..10)"))"# => "true";
    }
    // Boolean functions.
    Standard "10.3.4.2" {
        Not "not" ["negand"] -> Boolean, Own, conditions::not, "not(true)" => "false";
    }
    // String functions.
    Standard "10.3.4.3" {
        Substring "substring" ["string, start position, length?"] -> String, Text, strings::substring,
            r#"substring("foobar", -2, 1)"# => r#""a""#;
        StringLength "string length" ["string"] -> Number, Text, strings::string_length,
            r#"string length("\U01F40E")"# => "1";
        UpperCase "upper case" ["string"] -> String, Text, strings::upper_case, r#"upper case("aBc4")"# => r#""ABC4""#;
        LowerCase "lower case" ["string"] -> String, Text, strings::lower_case, r#"lower case("aBc4")"# => r#""abc4""#;
        SubstringBefore "substring before" ["string, match"] -> String, Search, strings::substring_before,
            r#"substring before("foobar", "bar")"# => r#""foo""#;
        SubstringAfter "substring after" ["string, match"] -> String, Search, strings::substring_after,
            r#"substring after("foobar", "ob")"# => r#""ar""#;
        Replace "replace" ["input, pattern, replacement, flags?"] -> String, Own, patterns::replace,
            r#"replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")"# => r#""[1=ab][2=]cd""#;
        Contains "contains" ["string, match"] -> Boolean, Search, strings::contains,
            r#"contains("foobar", "of")"# => "false";
        StartsWith "starts with" ["string, match"] -> Boolean, Text, strings::starts_with,
            r#"starts with("foobar", "fo")"# => "true";
        EndsWith "ends with" ["string, match"] -> Boolean, Text, strings::ends_with,
            r#"ends with("foobar", "r")"# => "true";
        Matches "matches" ["input, pattern, flags?"] -> Boolean, Own, patterns::matches,
            r#"matches("foobar", "^Fo*b", "i")"# => "true";
        Split "split" ["string, delimiter"] -> Strings, Own, patterns::split,
            r#"split("John Doe", "\s")"# => r#"["John", "Doe"]"#;
        StringJoin "string join" ["list, delimiter?"] -> String, Own, strings::string_join,
            r#"string join(["a", null, "c"], "-")"# => r#""a-c""#;
    }
    // List functions.
    Standard "10.3.4.4" {
        ListContains "list contains" ["list, element"] -> Boolean, Items, lists::list_contains,
            "list contains([1, 2, null], null)" => "true";
        ListReplace "list replace" ["list, position, newItem", "list, match, newItem"]
            -> List, Items, lists::list_replace,
            "list replace([2, 4, 7, 8], function(item, new) item < new, 5)" => "[5, 5, 7, 8]";
        Count "count" ["list"] -> Number, Own, lists::count, "count([1, [2, 3]])" => "2";
        Min "min" ["list", "c..."] -> Item, Values, statistics::min, "min(3, 1, 2)" => "1";
        Max "max" ["list", "c..."] -> Item, Values, statistics::max, "max([3, 1, 2])" => "3";
        Sum "sum" ["list", "n..."] -> Item, Values, statistics::sum, "sum([1, 2, 3.5])" => "6.5";
        Mean "mean" ["list", "n..."] -> Item, Values, statistics::mean, "mean(1, 2, 3)" => "2";
        All "all" ["list", "b..."] -> Boolean, Values, statistics::all, "all([true, null, false])" => "false";
        Any "any" ["list", "b..."] -> Boolean, Values, statistics::any, "any([false, null, true])" => "true";
        Sublist "sublist" ["list, start position, length?"] -> Items, Items, lists::sublist,
            "sublist([4, 5, 6], -2, 1)" => "[5]";
        Append "append" ["list, item..."] -> List, Items, lists::append, "append([1], 2, 3)" => "[1, 2, 3]";
        Concatenate "concatenate" ["list..."] -> List, Own, lists::concatenate,
            "concatenate([1, 2], [3])" => "[1, 2, 3]";
        InsertBefore "insert before" ["list, position, newItem"] -> List, Items, lists::insert_before,
            "insert before([1, 3], 1, 2)" => "[2, 1, 3]";
        Remove "remove" ["list, position"] -> Items, Items, lists::remove, "remove([1, 2, 3], 2)" => "[1, 3]";
        Reverse "reverse" ["list"] -> Items, Items, lists::reverse, "reverse([1, 2, 3])" => "[3, 2, 1]";
        IndexOf "index of" ["list, match"] -> Numbers, Items, lists::index_of, "index of([1, 2, 3, 2], 2)" => "[2, 4]";
        Union "union" ["list..."] -> List, Own, lists::union, "union([1, 2], [2, 3])" => "[1, 2, 3]";
        DistinctValues "distinct values" ["list"] -> Items, Items, lists::distinct_values,
            "distinct values([1, 2, 1])" => "[1, 2]";
        Flatten "flatten" ["list"] -> List, Items, lists::flatten, "flatten([[1, [2]], 3])" => "[1, 2, 3]";
        Product "product" ["list", "n..."] -> Number, Values, statistics::product, "product([2, 3, 4])" => "24";
        Median "median" ["list", "n..."] -> Number, Values, statistics::median, "median([6, 1, 2, 3])" => "2.5";
        Stddev "stddev" ["list", "n..."] -> Number, Values, statistics::stddev,
            "stddev(2, 4, 7, 5) > 2.08 and stddev([47]) = null" => "true";
        Mode "mode" ["list", "n..."] -> Numbers, Values, statistics::mode, "mode([6, 3, 9, 6, 6, 3, 3])" => "[3, 6]";
    }
    // Numeric functions.
    Standard "10.3.4.5" {
        Decimal "decimal" ["n, scale"] -> Number, Own, numbers::decimal, "decimal(2.5, 0)" => "2";
        Floor "floor" ["n, scale?"] -> Number, Own, numbers::floor, "floor(-1.56, 1)" => "-1.6";
        Ceiling "ceiling" ["n, scale?"] -> Number, Own, numbers::ceiling, "ceiling(-1.56, 1)" => "-1.5";
        RoundUp "round up" ["n, scale"] -> Number, Own, numbers::round_up, "round up(-5.5, 0)" => "-6";
        RoundDown "round down" ["n, scale"] -> Number, Own, numbers::round_down, "round down(-5.5, 0)" => "-5";
        RoundHalfUp "round half up" ["n, scale"] -> Number, Own, numbers::round_half_up, "round half up(5.5, 0)" => "6";
        RoundHalfDown "round half down" ["n, scale"] -> Number, Own, numbers::round_half_down,
            "round half down(5.5, 0)" => "5";
        Abs "abs" ["n"] -> Argument, Steps(1), numbers::abs, r#"[abs(-10), abs(@"-PT5H")]"# => r#"[10, @"PT5H"]"#;
        Modulo "modulo" ["dividend, divisor"] -> Number, Steps(60), numbers::modulo, "modulo(-12, 5)" => "3";
        Sqrt "sqrt" ["number"] -> Number, Steps(200), numbers::sqrt, "sqrt(16)" => "4";
        Log "log" ["number"] -> Number, Steps(2700), numbers::log, "decimal(log(10), 8)" => "2.30258509";
        Exp "exp" ["number"] -> Number, Steps(2700), numbers::exp, "decimal(exp(5), 8)" => "148.41315910";
        Odd "odd" ["number"] -> Boolean, Steps(1), numbers::odd, "odd(5)" => "true";
        Even "even" ["number"] -> Boolean, Steps(1), numbers::even, "even(5)" => "false";
    }
    // Date and time functions.
    Standard "10.3.4.6" {
        Is "is" ["value1, value2", "value1", "-, value2"] -> Boolean, Steps(4), conditions::is,
            r#"is(time("23:00:50z"), time("23:00:50"))"# => "false";
    }
    // Range functions.
    Standard "10.3.4.7" {
        Before "before" ["point1, point2", "point, range", "range, point", "range1, range2"]
            -> Boolean, Own, relations::before,
            "before([1..5), [5..10])" => "true";
        After "after" ["point1, point2", "point, range", "range, point", "range1, range2"]
            -> Boolean, Own, relations::after,
            "after(12, [1..10])" => "true";
        Meets "meets" ["range1, range2"] -> Boolean, Own, relations::meets, "meets([1..5], [5..10])" => "true";
        MetBy "met by" ["range1, range2"] -> Boolean, Own, relations::met_by, "met by([5..10], [1..5])" => "true";
        Overlaps "overlaps" ["range1, range2"] -> Boolean, Own, relations::overlaps,
            "overlaps([1..5], [3..8])" => "true";
        OverlapsBefore "overlaps before" ["range1, range2"] -> Boolean, Own, relations::overlaps_before,
            "overlaps before([1..5], [3..8])" => "true";
        OverlapsAfter "overlaps after" ["range1, range2"] -> Boolean, Own, relations::overlaps_after,
            "overlaps after([3..8], [1..5])" => "true";
        Finishes "finishes" ["point, range", "range1, range2"] -> Boolean, Own, relations::finishes,
            "finishes(10, [1..10])" => "true";
        FinishedBy "finished by" ["range, point", "range1, range2"] -> Boolean, Own, relations::finished_by,
            "finished by([1..10], [5..10])" => "true";
        Includes "includes" ["range, point", "range1, range2"] -> Boolean, Own, relations::includes,
            "includes([1..10], [4..6])" => "true";
        During "during" ["point, range", "range1, range2"] -> Boolean, Own, relations::during,
            "during([4..6], [1..10))" => "true";
        Starts "starts" ["point, range", "range1, range2"] -> Boolean, Own, relations::starts,
            "starts(1, [1..10])" => "true";
        StartedBy "started by" ["range, point", "range1, range2"] -> Boolean, Own, relations::started_by,
            "started by([1..10], [1..5])" => "true";
        Coincides "coincides" ["point1, point2", "range1, range2"] -> Boolean, Own, relations::coincides,
            "coincides([1..5], [1..5])" => "true";
    }
    // Temporal functions.
    Standard "10.3.4.8" {
        DayOfYear "day of year" ["date"] -> Number, Steps(4), temporal::day_of_year,
            "day of year(date(2019, 9, 17))" => "260";
        DayOfWeek "day of week" ["date"] -> String, Steps(4), temporal::day_of_week,
            "day of week(date(2019, 9, 17))" => r#""Tuesday""#;
        MonthOfYear "month of year" ["date"] -> String, Steps(4), temporal::month_of_year,
            "month of year(date(2019, 9, 17))" => r#""September""#;
        WeekOfYear "week of year" ["date"] -> Number, Steps(4), temporal::week_of_year,
            "week of year(date(2005, 1, 1))" => "53";
    }
    // Sort.
    Standard "10.3.4.9" {
        Sort "sort" ["list, precedes?", "list, precedence"] -> Items, Items, sort::sort,
            "sort([3, 1, 4], function(x, y) x > y)" => "[4, 3, 1]";
    }
    // Context functions.
    Standard "10.3.4.10" {
        GetValue "get value" ["m, key", "context, keys"] -> Any, Own, contexts::get_value,
            r#"get value({a: {b: 1}}, ["a", "b"])"# => "1";
        GetEntries "get entries" ["m"] -> List, Own, contexts::get_entries,
            r#"get entries({a: 1})"# => r#"[{key: "a", value: 1}]"#;
        Context "context" ["entries"] -> Any, Own, contexts::context, r#"context([{key: "a", value: 1}])"# => "{a: 1}";
        ContextPut "context put" ["context, key, value", "context, -, value, keys"]
            -> Any, Own, contexts::put,
            r#"context put({x: {y: 0}}, ["x", "y"], 1)"# => "{x: {y: 1}}";
        ContextMerge "context merge" ["contexts"] -> Any, Own, contexts::context_merge,
            "context merge([{x: 1}, {x: 2, y: 3}])" => "{x: 2, y: 3}";
    }
    // Miscellaneous functions.
    Standard "10.3.4.11" {
        Now "now" [""] -> DateTime, Steps(4), temporal::now, "now().year" => "2023";
        Today "today" [""] -> Date, Steps(4), temporal::today, "today()" => r#"date("2023-11-14")"#;
    }
    // Functions beyond the standard.
    Heddle "" {
        /// Whether a variable or member is there, be it null.
        IsDefined "is defined" ["value"] -> Boolean, Own, conditions::is_defined, "is defined(x)" => "false";
        /// The value, or the default for null.
        GetOrElse "get or else" ["value, default"] -> Any, Own, conditions::get_or_else, "get or else(null, 1)" => "1";
        /// The value; null with the cause as its note when the condition is not true.
        Assert "assert" ["value, condition, cause?"] -> Argument, Own, conditions::assert,
            r#"assert(5, 5 > 3, "too small")"# => "5";
        /// The string without white space at its ends.
        Trim "trim" ["string"] -> String, Text, strings::trim, r#"trim("  a b ")"# => r#""a b""#;
        /// The string's UTF-8 in base64.
        ToBase64 "to base64" ["value"] -> String, Text, strings::to_base64, r#"to base64("FEEL")"# => r#""RkVFTA==""#;
        /// The value that a JSON text says; null when it is none.
        FromJson "from json" ["value"] -> Any, Own, convert::from_json,
            r#"from json("{\"a\": [1, null]}")"# => "{a: [1, null]}";
        /// The value as JSON text; dates, times and durations as strings.
        ToJson "to json" ["value"] -> String, Own, convert::to_json, "to json([1, true])" => r#""[1,true]""#;
        /// Whether there is nothing but white space.
        IsBlank "is blank" ["string"] -> Boolean, Text, strings::is_blank, r#"is blank("  ")"# => "true";
        /// Whether the list has no items.
        IsEmpty "is empty" ["list"] -> Boolean, Own, lists::is_empty, "is empty([])" => "true";
        /// The list of all matches.
        Extract "extract" ["string, pattern"] -> Strings, Own, patterns::extract,
            r#"extract("a1b22", "[0-9]+")"# => r#"["1", "22"]"#;
        /// The values that stand in the list more than once.
        DuplicateValues "duplicate values" ["list"] -> Items, Items, lists::duplicate_values,
            "duplicate values([1, 2, 1])" => "[1]";
        /// Lists of that size, the last maybe shorter.
        Partition "partition" ["list, size"] -> List, Items, lists::partition,
            "partition([1, 2, 3], 2)" => "[[1, 2], [3]]";
        /// The last day of the date's month.
        LastDayOfMonth "last day of month" ["date"] -> Date, Steps(4), temporal::last_day_of_month,
            "last day of month(date(2024, 2, 1))" => "date(2024, 2, 29)";
        /// The context with the entry; as `context put`.
        Put "put" ["context, key, value"] -> Any, Own, contexts::put, r#"put({x: 1}, "y", 2)"# => "{x: 1, y: 2}";
        /// One context of all entries, the later ones winning; as `context merge`.
        PutAll "put all" ["contexts..."] -> Any, Own, contexts::put_all,
            "put all({x: 1}, {x: 2, y: 3})" => "{x: 2, y: 3}";
    }
    } };
}

pub(crate) use built_ins;

//! The built-in functions' names and parameters (DMN 1.5, 10.3.4).

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::expression::Dialect;

struct Spec {
    name: &'static str,
    /// Beyond DMN.
    extra: bool,
    signatures: Vec<Signature>,
}

struct Signature {
    names: Vec<&'static str>,
    required: usize,
    variadic: bool,
}

/// `a, b?, c...`: `?` marks what may be missing, `...` what may be repeated, and `-` a place that another name takes
/// in this signature, which then is only for named arguments.
fn signature(text: &'static str) -> Signature {
    let mut parts: Vec<&'static str> = text.split(", ").filter(|part| !part.is_empty()).collect();
    let required = parts.iter().filter(|part| !part.ends_with('?')).count();
    let variadic = parts.last().is_some_and(|part| part.ends_with("..."));
    for part in &mut parts {
        *part = part.trim_end_matches(['?', '.']);
    }
    Signature { names: parts, required, variadic }
}

macro_rules! builtins {
    ($(($variant:ident, $name:literal, $extra:literal, [$($signature:literal),*]),)*) => {
        /// A built-in function.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Builtin { $($variant,)* }

        const ALL: &[Builtin] = &[$(Builtin::$variant,)*];

        static SPECS: LazyLock<Vec<Spec>> = LazyLock::new(|| vec![$(Spec {
            name: $name,
            extra: $extra,
            signatures: vec![$(signature($signature)),*],
        },)*]);
    };
}

builtins![
    (Date, "date", false, ["from", "year, month, day"]),
    (
        DateAndTime,
        "date and time",
        false,
        [
            "from",
            "date, time",
            "year, month, day, hour, minute, second",
            "year, month, day, hour, minute, second, offset",
            "year, month, day, hour, minute, second, timezone",
            "date, timezone"
        ]
    ),
    (Time, "time", false, ["from", "hour, minute, second, offset?"]),
    (Number, "number", false, ["from", "from, grouping separator, decimal separator"]),
    (String, "string", false, ["from"]),
    (Duration, "duration", false, ["from"]),
    (YearsAndMonthsDuration, "years and months duration", false, ["from, to"]),
    (Range, "range", false, ["from"]),
    (Not, "not", false, ["negand"]),
    (Substring, "substring", false, ["string, start position, length?"]),
    (StringLength, "string length", false, ["string"]),
    (UpperCase, "upper case", false, ["string"]),
    (LowerCase, "lower case", false, ["string"]),
    (SubstringBefore, "substring before", false, ["string, match"]),
    (SubstringAfter, "substring after", false, ["string, match"]),
    (Replace, "replace", false, ["input, pattern, replacement, flags?"]),
    (Contains, "contains", false, ["string, match"]),
    (StartsWith, "starts with", false, ["string, match"]),
    (EndsWith, "ends with", false, ["string, match"]),
    (Matches, "matches", false, ["input, pattern, flags?"]),
    (Split, "split", false, ["string, delimiter"]),
    (StringJoin, "string join", false, ["list, delimiter?"]),
    (ListContains, "list contains", false, ["list, element"]),
    (ListReplace, "list replace", false, ["list, position, newItem", "list, match, newItem"]),
    (Count, "count", false, ["list"]),
    (Min, "min", false, ["list", "c..."]),
    (Max, "max", false, ["list", "c..."]),
    (Sum, "sum", false, ["list", "n..."]),
    (Mean, "mean", false, ["list", "n..."]),
    (All, "all", false, ["list", "b..."]),
    (Any, "any", false, ["list", "b..."]),
    (Sublist, "sublist", false, ["list, start position, length?"]),
    (Append, "append", false, ["list, item..."]),
    (Concatenate, "concatenate", false, ["list..."]),
    (InsertBefore, "insert before", false, ["list, position, newItem"]),
    (Remove, "remove", false, ["list, position"]),
    (Reverse, "reverse", false, ["list"]),
    (IndexOf, "index of", false, ["list, match"]),
    (Union, "union", false, ["list..."]),
    (DistinctValues, "distinct values", false, ["list"]),
    (Flatten, "flatten", false, ["list"]),
    (Product, "product", false, ["list", "n..."]),
    (Median, "median", false, ["list", "n..."]),
    (Stddev, "stddev", false, ["list", "n..."]),
    (Mode, "mode", false, ["list", "n..."]),
    (Decimal, "decimal", false, ["n, scale"]),
    (Floor, "floor", false, ["n, scale?"]),
    (Ceiling, "ceiling", false, ["n, scale?"]),
    (RoundUp, "round up", false, ["n, scale"]),
    (RoundDown, "round down", false, ["n, scale"]),
    (RoundHalfUp, "round half up", false, ["n, scale"]),
    (RoundHalfDown, "round half down", false, ["n, scale"]),
    (Abs, "abs", false, ["n"]),
    (Modulo, "modulo", false, ["dividend, divisor"]),
    (Sqrt, "sqrt", false, ["number"]),
    (Log, "log", false, ["number"]),
    (Exp, "exp", false, ["number"]),
    (Odd, "odd", false, ["number"]),
    (Even, "even", false, ["number"]),
    (Is, "is", false, ["value1, value2", "value1", "-, value2"]),
    (DayOfYear, "day of year", false, ["date"]),
    (DayOfWeek, "day of week", false, ["date"]),
    (MonthOfYear, "month of year", false, ["date"]),
    (WeekOfYear, "week of year", false, ["date"]),
    (Now, "now", false, [""]),
    (Today, "today", false, [""]),
    (Sort, "sort", false, ["list, precedes?", "list, precedence"]),
    (GetValue, "get value", false, ["m, key", "context, keys"]),
    (GetEntries, "get entries", false, ["m"]),
    (Context, "context", false, ["entries"]),
    (ContextPut, "context put", false, ["context, key, value", "context, -, value, keys"]),
    (ContextMerge, "context merge", false, ["contexts"]),
    (Before, "before", false, ["point1, point2", "point, range", "range, point", "range1, range2"]),
    (After, "after", false, ["point1, point2", "point, range", "range, point", "range1, range2"]),
    (Meets, "meets", false, ["range1, range2"]),
    (MetBy, "met by", false, ["range1, range2"]),
    (Overlaps, "overlaps", false, ["range1, range2"]),
    (OverlapsBefore, "overlaps before", false, ["range1, range2"]),
    (OverlapsAfter, "overlaps after", false, ["range1, range2"]),
    (Finishes, "finishes", false, ["point, range", "range1, range2"]),
    (FinishedBy, "finished by", false, ["range, point", "range1, range2"]),
    (Includes, "includes", false, ["range, point", "range1, range2"]),
    (During, "during", false, ["point, range", "range1, range2"]),
    (Starts, "starts", false, ["point, range", "range1, range2"]),
    (StartedBy, "started by", false, ["range, point", "range1, range2"]),
    (Coincides, "coincides", false, ["point1, point2", "range1, range2"]),
    (IsDefined, "is defined", true, ["value"]),
    (GetOrElse, "get or else", true, ["value, default"]),
    (Assert, "assert", true, ["value, condition, cause?"]),
    (Trim, "trim", true, ["string"]),
    (ToBase64, "to base64", true, ["value"]),
    (FromJson, "from json", true, ["value"]),
    (ToJson, "to json", true, ["value"]),
    (IsBlank, "is blank", true, ["string"]),
    (IsEmpty, "is empty", true, ["list"]),
    (Extract, "extract", true, ["string, pattern"]),
    (DuplicateValues, "duplicate values", true, ["list"]),
    (Partition, "partition", true, ["list, size"]),
    (LastDayOfMonth, "last day of month", true, ["date"]),
    (Put, "put", true, ["context, key, value"]),
    (PutAll, "put all", true, ["contexts..."]),
];

static BY_NAME: LazyLock<HashMap<&'static str, Builtin>> =
    LazyLock::new(|| ALL.iter().map(|builtin| (builtin.name(), *builtin)).collect());

static FIRST_WORDS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    SPECS.iter().filter_map(|spec| spec.name.split_once(' ')).map(|(first, _)| first).collect()
});

/// The names of the built-in functions of a dialect, in the order of the standard's clauses.
pub fn built_in_functions(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|builtin| builtin.name()).filter(move |name| Builtin::named(name, dialect).is_some())
}

impl Builtin {
    fn spec(self) -> Option<&'static Spec> {
        SPECS.get(self as usize)
    }

    /// The function of that name in the dialect.
    pub(crate) fn named(name: &str, dialect: Dialect) -> Option<Self> {
        let builtin = BY_NAME.get(name).copied()?;
        let extra = builtin.spec().is_some_and(|spec| spec.extra);
        (!extra || dialect == Dialect::Heddle).then_some(builtin)
    }

    /// Whether a name of several words begins with this one.
    pub(crate) fn begins_long_name(word: &str) -> bool {
        FIRST_WORDS.contains(word)
    }

    pub(crate) fn name(self) -> &'static str {
        self.spec().map_or("", |spec| spec.name)
    }

    /// The parameters of the first signature.
    pub(crate) fn parameters(self) -> &'static [&'static str] {
        self.spec().and_then(|spec| spec.signatures.first()).map_or(&[], |signature| &signature.names)
    }

    /// Whether so many arguments in order fit one of the signatures.
    pub(crate) fn accepts(self, count: usize) -> bool {
        self.spec().is_some_and(|spec| {
            let fits = |s: &Signature| count >= s.required && (s.variadic || count <= s.names.len());
            spec.signatures.iter().any(|s| fits(s) && !s.names.contains(&"-"))
        })
    }

    /// Where arguments of these names stand in order.
    pub(crate) fn places(self, names: &[&str]) -> Option<Vec<usize>> {
        self.spec()?.signatures.iter().find_map(|signature| {
            let places: Option<Vec<usize>> =
                names.iter().map(|name| signature.names.iter().position(|known| known == name)).collect();
            let needed = |at: &usize| signature.names.get(*at).is_some_and(|name| *name != "-");
            places.filter(|places| (0..signature.required).filter(needed).all(|at| places.contains(&at)))
        })
    }
}

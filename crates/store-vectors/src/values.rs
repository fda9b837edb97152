//! Values of metadata as texts whose order is that of the values, each type apart from the others.

use diesel::sql_types::{Integer, Text};
use heddle_vectors::ports::{FieldTest, FieldValue};

/// Characters of a value's head, which stands in keys in its place: an index of PostgreSQL has no room for the longest values.
const HEAD: usize = 500;

diesel::define_sql_function! {
    /// A text from one of its characters on, the first of which is 1.
    #[sql_name = "substr"]
    fn text_from(text: Text, from: Integer) -> Text;
}

diesel::define_sql_function! {
    /// A text with another one in the place of each part that is the same as a given one, to the letter.
    fn replace(text: Text, part: Text, by: Text) -> Text;
}

/// Texts that a test lets through.
#[derive(Debug, PartialEq)]
pub(crate) enum Span {
    /// These.
    Any(Vec<String>),
    /// From the first one on, up to the second, which is not among them.
    Between(String, String),
    /// Those of texts that hold this part, looked at by the database one after the other.
    Holding(String),
}

/// A query of values narrowed to those that a test lets through, for what is done with it: each span makes a query of its own
/// type. By the heads an index finds them, by the values they are told apart beyond those.
macro_rules! values_through {
    ($query:expr, $test:expr, |$narrowed:ident| $then:expr) => {
        match $crate::values::span_of($test) {
            $crate::values::Span::Any(texts) => {
                let heads: Vec<String> = texts.iter().map(|text| $crate::values::head_of(text)).collect();
                let is_one = vector_fields::head.eq_any(heads).and(vector_fields::value.eq_any(texts));
                let $narrowed = $query.filter(is_one);
                $then
            }
            $crate::values::Span::Between(from, to) => {
                let (first, last) = ($crate::values::head_of(&from), $crate::values::head_of(&to));
                let is_near = vector_fields::head.ge(first).and(vector_fields::head.le(last));
                let is_between = vector_fields::value.ge(from).and(vector_fields::value.lt(to));
                let $narrowed = $query.filter(is_near.and(is_between));
                $then
            }
            $crate::values::Span::Holding(part) => {
                let is_text = vector_fields::head.ge("s:").and(vector_fields::head.lt("s;"));
                // Behind the letter of the type. A pattern of `LIKE` is not as exact on both databases.
                let text = || $crate::values::text_from(vector_fields::value, 3);
                let holds = $crate::values::replace(text(), part, "").ne(text());
                let $narrowed = $query.filter(is_text.and(holds));
                $then
            }
        }
    };
}
pub(crate) use values_through;

/// Head of a value. Of two values the lower one never has the higher head.
pub(crate) fn head_of(value: &str) -> String {
    value.chars().take(HEAD).collect()
}

/// The texts that a test lets through.
pub(crate) fn span_of(test: &FieldTest) -> Span {
    let between = |from: &str, to: &str| Span::Between(from.to_owned(), to.to_owned());
    // Nothing stands between a text and the same with this behind it: no stored text has a lower character.
    let behind = |text: String| text + "\u{1}";
    match test {
        FieldTest::In(values) => Span::Any(values.iter().map(text_of).collect()),
        FieldTest::Above(value, true) => Span::Between(text_of(value), bounds_of(value).1.to_owned()),
        FieldTest::Above(value, false) => {
            Span::Between(behind(text_of(value)), bounds_of(value).1.to_owned())
        }
        FieldTest::Below(value, true) => Span::Between(bounds_of(value).0.to_owned(), behind(text_of(value))),
        FieldTest::Below(value, false) => Span::Between(bounds_of(value).0.to_owned(), text_of(value)),
        FieldTest::Exists => between("a", "z"),
        FieldTest::Contains(part) => Span::Holding(part.clone()),
    }
}

/// A value as text: one letter for the type, and the value in the order of its type.
pub(crate) fn text_of(value: &FieldValue) -> String {
    match value {
        FieldValue::Text(text) => format!("s:{text}"),
        FieldValue::Number(number) => format!("n:{:016x}", ordered(*number)),
        FieldValue::Boolean(value) => format!("b:{}", u8::from(*value)),
        FieldValue::Instant(instant) => format!("t:{:016x}", shifted(instant.micros())),
    }
}

/// The texts between which all values of a value's type stand: the first one is not below them, the second above.
const fn bounds_of(value: &FieldValue) -> (&'static str, &'static str) {
    match value {
        FieldValue::Text(_) => ("s:", "s;"),
        FieldValue::Number(_) => ("n:", "n;"),
        FieldValue::Boolean(_) => ("b:", "b;"),
        FieldValue::Instant(_) => ("t:", "t;"),
    }
}

/// Bits of a number in its order: both zeros are one.
fn ordered(number: f64) -> u64 {
    let bits = if number == 0.0 { 0.0_f64.to_bits() } else { number.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | (1 << 63) }
}

/// A signed count in the order of unsigned ones.
const fn shifted(count: i64) -> u64 {
    count.cast_unsigned() ^ (1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_kernel::Timestamp;

    #[test]
    fn a_bound_is_among_what_is_let_through_or_is_not() {
        let two = FieldValue::Number(2.0);
        let holds = |test, number| match span_of(&test) {
            Span::Between(from, to) => {
                let text = text_of(&FieldValue::Number(number));
                from <= text && text < to
            }
            Span::Any(texts) => texts.contains(&text_of(&FieldValue::Number(number))),
            Span::Holding(part) => panic!("a part of a text: {part}"),
        };
        let told = |test: FieldTest| [1.0, 2.0, 3.0].map(|number| holds(test.clone(), number));
        assert_eq!(told(FieldTest::Above(two.clone(), false)), [false, false, true]);
        assert_eq!(told(FieldTest::Above(two.clone(), true)), [false, true, true]);
        assert_eq!(told(FieldTest::Below(two.clone(), false)), [true, false, false]);
        assert_eq!(told(FieldTest::Below(two.clone(), true)), [true, true, false]);
        assert_eq!(told(FieldTest::In(vec![two])), [false, true, false]);
        assert_eq!(told(FieldTest::Exists), [true; 3]);
    }

    #[test]
    fn heads_stand_in_the_order_of_their_values() {
        let letters = ["a", "\u{4E00}", "\u{10FFFF}"];
        let mut texts: Vec<String> = Vec::new();
        for length in [HEAD - 3, HEAD - 2, HEAD - 1, HEAD] {
            for (one, other) in letters.iter().flat_map(|one| letters.map(|other| (one, other))) {
                texts.push(format!("s:{}{other}", one.repeat(length)));
            }
        }
        texts.sort();
        assert!(texts.iter().map(|text| head_of(text)).is_sorted());
        let head = head_of(texts.last().unwrap());
        assert_eq!(
            (head.chars().count(), head.len()),
            (HEAD, 2 + 4 * (HEAD - 2)),
            "bytes that an index takes"
        );
    }

    #[test]
    fn texts_stand_in_the_order_of_their_values() {
        let numbers = [f64::MIN, -10.5, -1.0, -0.0, 1e-300, 2.0, 10.0, 1e10, f64::MAX];
        let texts: Vec<_> = numbers.iter().map(|number| text_of(&FieldValue::Number(*number))).collect();
        assert!(texts.is_sorted(), "{texts:?}");
        assert_eq!(text_of(&FieldValue::Number(0.0)), text_of(&FieldValue::Number(-0.0)));
        let instants = [-5, 0, 7].map(|n| text_of(&FieldValue::Instant(Timestamp::from_micros(n))));
        assert!(instants.is_sorted());
        for value in [FieldValue::Text("\u{10FFFF}".to_owned()), FieldValue::Number(f64::MAX)] {
            let (from, to) = bounds_of(&value);
            let text = text_of(&value);
            assert!(from <= text.as_str() && text.as_str() < to);
        }
    }
}

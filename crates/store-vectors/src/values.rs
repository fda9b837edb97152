//! Values of metadata as texts whose order is that of the values, each type apart from the others.

use heddle_vectors::ports::{FieldTest, FieldValue};

/// Texts that a test lets through.
#[derive(Debug, PartialEq)]
pub(crate) enum Span {
    /// These.
    Any(Vec<String>),
    /// From the first one on, up to the second, which is not among them.
    Between(String, String),
}

/// The texts that a test lets through. Of a part of a text all texts, which are to be looked at one by one: no pattern of a
/// database is as exact on both.
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
        FieldTest::Contains(_) => between("s:", "s;"),
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

/// The text of a stored text.
pub(crate) fn stored_text(value: &str) -> Option<&str> {
    value.strip_prefix("s:")
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

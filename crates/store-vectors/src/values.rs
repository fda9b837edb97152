//! Values of metadata as texts whose order is that of the values, each type apart from the others.

use heddle_vectors::ports::FieldValue;

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
pub(crate) const fn bounds_of(value: &FieldValue) -> (&'static str, &'static str) {
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

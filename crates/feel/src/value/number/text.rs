//! Numbers read from and written as text.

use std::fmt;
use std::str::FromStr;

use super::{Number, PRECISION, digits};

/// The text is not a decimal number, or it is beyond decimal128.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a decimal number")]
pub struct ParseNumberError;

impl FromStr for Number {
    type Err = ParseNumberError;

    /// `[+-]digits[.digits][(e|E)[+-]digits]`; the digits on one side of the point may be missing.
    fn from_str(text: &str) -> Result<Self, ParseNumberError> {
        let bytes = text.as_bytes();
        let (negative, mut at) = match bytes.first() {
            Some(b'-') => (true, 1),
            Some(b'+') => (false, 1),
            _ => (false, 0),
        };
        let (mut coefficient, mut exponent, mut sticky) = (0i128, 0i32, false);
        let (mut seen, mut point) = (false, false);
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'0'..=b'9' => {
                    seen = true;
                    // 37 digits and whether more follow decide the rounding to 34.
                    if coefficient < 1_000_000_000_000_000_000_000_000_000_000_000_000 {
                        coefficient = coefficient * 10 + i128::from(byte - b'0');
                        exponent -= i32::from(point);
                    } else {
                        sticky |= byte != b'0';
                        exponent += i32::from(!point);
                    }
                }
                b'.' if !point => point = true,
                b'e' | b'E' if seen => {
                    let power: i32 =
                        text.get(at + 1..).and_then(|t| t.parse().ok()).ok_or(ParseNumberError)?;
                    exponent = exponent.checked_add(power).ok_or(ParseNumberError)?;
                    at = bytes.len();
                    continue;
                }
                _ => return Err(ParseNumberError),
            }
            at += 1;
        }
        if !seen || text.ends_with('.') {
            return Err(ParseNumberError);
        }
        let coefficient = if negative { -coefficient } else { coefficient };
        Self::rounded(coefficient, exponent, sticky).or(Err(ParseNumberError))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (coefficient, exponent) = self.parts();
        if exponent == 0 {
            return write!(f, "{coefficient}");
        }
        let sign = if coefficient < 0 { "-" } else { "" };
        let text = coefficient.unsigned_abs().to_string();
        let adjusted = exponent + digits(coefficient.unsigned_abs()).cast_signed() - 1;
        let plain = PRECISION.cast_signed() + 6;
        if adjusted < -plain || adjusted > plain {
            let (head, tail) = text.split_at(1);
            let point = if tail.is_empty() { "" } else { "." };
            return write!(f, "{sign}{head}{point}{tail}E{adjusted:+}");
        }
        if exponent > 0 {
            return write!(f, "{sign}{text}{}", "0".repeat(exponent.unsigned_abs() as usize));
        }
        let after = exponent.unsigned_abs() as usize;
        if text.len() > after {
            let (whole, fraction) = text.split_at(text.len() - after);
            return write!(f, "{sign}{whole}.{fraction}");
        }
        write!(f, "{sign}0.{}{text}", "0".repeat(after - text.len()))
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_and_written() {
        for (text, written) in [
            ("0", "0"),
            ("-0.0", "0"),
            (".5", "0.5"),
            ("-12.340", "-12.34"),
            ("1e3", "1000"),
            ("1.5E-3", "0.0015"),
            ("1e100", "1E+100"),
            ("-1.25e-100", "-1.25E-100"),
            ("12345678901234567890123456789012345", "12345678901234567890123456789012340"),
            (
                "0.33333333333333333333333333333333335000000000000000001",
                "0.3333333333333333333333333333333334",
            ),
            ("00012", "12"),
        ] {
            assert_eq!(text.parse::<Number>().expect(text).to_string(), written, "{text}");
        }
        for bad in ["", "-", ".", "1.", "1e", "e1", "1e7000", "1.2.3", "1_000", "0x1", "NaN", "inf", " 1"] {
            assert!(bad.parse::<Number>().is_err(), "{bad}");
        }
    }
}

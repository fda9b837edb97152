//! Decimal numbers of 34 significant digits, rounded half-even, within decimal128's exponents (DMN 1.5, 10.3.2.3.1).
//!
//! Whole numbers of 64 bits take a path of their own; what fits 128 bits is computed in place, and what fits 256 in
//! [`wide`]; the transcendental functions, and the few powers for which that is not enough, go to `dashu`.
//! A number is two words, so that it is passed in registers.

mod slow;
mod text;
mod wide;

use std::cmp::Ordering;

/// Significant digits kept.
pub const PRECISION: u32 = 34;
const MAX_ADJUSTED: i32 = 6144;
const MIN_ADJUSTED: i32 = -6143;

/// A decimal number. Equal numbers have equal representations: whole numbers of 64 bits have the exponent 0, and of
/// all others no trailing zeros are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    /// The exponent in the upper 14 bits, and below it the upper 50 of the coefficient's 114 bits, both in two's
    /// complement (34 digits take 113 bits and a sign).
    hi: u64,
    lo: u64,
}

/// Position of the exponent in the upper word.
const EXPONENT: u32 = 50;
/// The upper word's part of the coefficient.
const UPPER: u64 = (1 << EXPONENT) - 1;

/// Mode of rounding: how the digits cut off change the last one kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to the even digit.
    HalfEven,
    /// To the nearest, ties away from zero.
    HalfUp,
    /// To the nearest, ties towards zero.
    HalfDown,
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
    /// Towards minus infinity.
    Floor,
    /// Towards infinity.
    Ceiling,
}

/// The result is no number of this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberError {
    /// The magnitude exceeds decimal128.
    Overflow,
    /// The operation has no result here, such as division by zero.
    Undefined,
}

#[expect(clippy::indexing_slicing, reason = "the loop stays below the length")]
const POWERS: [i128; 39] = {
    let mut table = [1i128; 39];
    let mut i = 1;
    while i < 39 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

fn power(n: u32) -> Option<i128> {
    POWERS.get(n as usize).copied()
}

/// Number of decimal digits; zero has one.
fn digits(value: u128) -> u32 {
    // One too few at most; without the divisions of a logarithm.
    let fewest = ((127 - (value | 1).leading_zeros()) * 1233) >> 12;
    fewest + 1 + u32::from(power(fewest + 1).is_some_and(|next| value >= next.unsigned_abs()))
}

/// Divides by a power of ten, rounding; `sticky` says that digits not in `value` were cut off before.
fn cut(value: i128, divisor: i128, sticky: bool, mode: Rounding) -> i128 {
    let quotient = value / divisor;
    let rest = value - quotient * divisor;
    if rest == 0 && !sticky {
        return quotient;
    }
    let negative = value < 0;
    let half = (rest.unsigned_abs() * 2).cmp(&divisor.unsigned_abs());
    let half = if half == Ordering::Equal && sticky { Ordering::Greater } else { half };
    let away = match mode {
        Rounding::HalfEven => half == Ordering::Greater || half == Ordering::Equal && quotient % 2 != 0,
        Rounding::HalfUp => half != Ordering::Less,
        Rounding::HalfDown => half == Ordering::Greater,
        Rounding::Up => true,
        Rounding::Down => false,
        Rounding::Floor => negative,
        Rounding::Ceiling => !negative,
    };
    match (away, negative) {
        (false, _) => quotient,
        (true, true) => quotient - 1,
        (true, false) => quotient + 1,
    }
}

/// The coefficient without trailing zeros; the exponent grows by as many as there were.
fn without_zeros(mut coefficient: i128, exponent: &mut i32) -> i128 {
    for zeros in [16, 16, 8, 4, 2, 1] {
        // What 10^n divides 2^n divides, which is told without a division.
        if coefficient.trailing_zeros() >= zeros
            && let Some(divisor) = power(zeros)
        {
            let quotient = coefficient / divisor;
            if quotient * divisor == coefficient {
                coefficient = quotient;
                *exponent += zeros.cast_signed();
            }
        }
    }
    coefficient
}

impl Number {
    /// Zero.
    pub const ZERO: Self = Self::from_i64(0);
    /// One.
    pub const ONE: Self = Self::from_i64(1);
    /// Mark in place of a number where there is none: an exponent that no number has.
    pub(crate) const ABSENT: Self = Self { hi: 1 << 63, lo: 0 };

    #[inline]
    pub(crate) const fn is_absent(self) -> bool {
        self.hi == Self::ABSENT.hi
    }

    /// The whole number.
    #[must_use]
    #[inline]
    pub const fn from_i64(value: i64) -> Self {
        Self { hi: (value >> 63) as u64 & UPPER, lo: value.cast_unsigned() }
    }

    #[inline]
    fn packed(coefficient: i128, exponent: i32) -> Self {
        let hi = ((coefficient >> 64) as u64 & UPPER) | (i64::from(exponent).cast_unsigned() << EXPONENT);
        Self { hi, lo: coefficient as u64 }
    }

    /// `coefficient × 10^exponent`, rounded half-even to 34 digits; zero when too small.
    ///
    /// # Errors
    /// [`NumberError::Overflow`] beyond the exponents of decimal128.
    pub fn new(coefficient: i128, exponent: i32) -> Result<Self, NumberError> {
        Self::rounded(coefficient, exponent, false)
    }

    fn rounded(mut coefficient: i128, mut exponent: i32, sticky: bool) -> Result<Self, NumberError> {
        let mut count = digits(coefficient.unsigned_abs());
        if count > PRECISION {
            let drop = count - PRECISION;
            coefficient =
                cut(coefficient, power(drop).ok_or(NumberError::Overflow)?, sticky, Rounding::HalfEven);
            exponent = exponent.checked_add(drop.cast_signed()).ok_or(NumberError::Overflow)?;
            count = digits(coefficient.unsigned_abs());
        }
        if coefficient == 0 {
            return Ok(Self::ZERO);
        }
        let adjusted = exponent.checked_add(count.cast_signed() - 1).ok_or(NumberError::Overflow)?;
        if adjusted > MAX_ADJUSTED {
            return Err(NumberError::Overflow);
        }
        if adjusted < MIN_ADJUSTED {
            return Ok(Self::ZERO);
        }
        Ok(Self::canonical(coefficient, exponent))
    }

    fn canonical(coefficient: i128, mut exponent: i32) -> Self {
        if let Ok(mut small) = i64::try_from(coefficient) {
            // Division of 64 bits is several times faster than that of 128.
            while exponent < 0 && small % 10 == 0 {
                small /= 10;
                exponent += 1;
            }
            match exponent.cmp(&0) {
                Ordering::Equal => return Self::from_i64(small),
                Ordering::Less => return Self::packed(i128::from(small), exponent),
                Ordering::Greater => {}
            }
        }
        let coefficient = without_zeros(coefficient, &mut exponent);
        if exponent >= 0
            && let Some(whole) = power(exponent.cast_unsigned()).and_then(|p| coefficient.checked_mul(p))
            && let Ok(whole) = i64::try_from(whole)
        {
            return Self::from_i64(whole);
        }
        Self::packed(coefficient, exponent)
    }

    /// Coefficient and exponent; the coefficient of a number that is not a small integer has no trailing zeros.
    #[must_use]
    #[inline]
    pub fn parts(self) -> (i128, i32) {
        let upper = (self.hi << (64 - EXPONENT)).cast_signed() >> (64 - EXPONENT);
        let exponent = self.hi.cast_signed() >> EXPONENT;
        ((i128::from(upper) << 64) | i128::from(self.lo), exponent as i32)
    }

    /// Coefficient and exponent without trailing zeros.
    fn stripped(self) -> (i128, i32) {
        let (coefficient, mut exponent) = self.parts();
        (without_zeros(coefficient, &mut exponent), exponent)
    }

    /// The number when it is whole and fits.
    #[must_use]
    #[inline]
    pub const fn to_i64(self) -> Option<i64> {
        let value = self.lo.cast_signed();
        if self.hi == (value >> 63) as u64 & UPPER { Some(value) } else { None }
    }

    /// The whole part, cut towards zero, when it fits.
    #[must_use]
    pub fn truncated(self) -> Option<i64> {
        self.round(0, Rounding::Down).ok()?.to_i64()
    }

    /// Whether it has no fraction.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.parts().1 >= 0
    }

    /// -1, 0 or 1.
    #[must_use]
    pub fn signum(self) -> i8 {
        match self.parts().0.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negate(self) -> Self {
        match self.to_i64() {
            Some(value) if value != i64::MIN => Self::from_i64(-value),
            _ => {
                let (c, e) = self.parts();
                Self::canonical(-c, e)
            }
        }
    }

    /// The distance from zero.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.signum() < 0 { self.negate() } else { self }
    }

    /// The sum.
    ///
    /// # Errors
    /// Overflow.
    #[inline]
    pub fn plus(self, other: Self) -> Result<Self, NumberError> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && let Some(sum) = a.checked_add(b)
        {
            return Ok(Self::from_i64(sum));
        }
        self.plus_wide(other)
    }

    #[inline(never)]
    fn plus_wide(self, other: Self) -> Result<Self, NumberError> {
        let ((a, ea), (b, eb)) = (self.parts(), other.parts());
        if a == 0 {
            return Ok(other);
        }
        if b == 0 {
            return Ok(self);
        }
        let e = ea.min(eb);
        let up = |c: i128, from: i32| power((from - e).cast_unsigned()).and_then(|p| c.checked_mul(p));
        match up(a, ea).zip(up(b, eb)).and_then(|(x, y)| x.checked_add(y)) {
            Some(sum) => Self::rounded(sum, e, false),
            None => wide::add(self, other),
        }
    }

    /// The difference.
    ///
    /// # Errors
    /// Overflow.
    #[inline]
    pub fn minus(self, other: Self) -> Result<Self, NumberError> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && let Some(difference) = a.checked_sub(b)
        {
            return Ok(Self::from_i64(difference));
        }
        self.plus_wide(other.negate())
    }

    /// The product.
    ///
    /// # Errors
    /// Overflow.
    #[inline]
    pub fn times(self, other: Self) -> Result<Self, NumberError> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && let Some(product) = a.checked_mul(b)
        {
            return Ok(Self::from_i64(product));
        }
        self.times_wide(other)
    }

    #[inline(never)]
    fn times_wide(self, other: Self) -> Result<Self, NumberError> {
        let ((a, ea), (b, eb)) = (self.parts(), other.parts());
        match a.checked_mul(b) {
            Some(product) => Self::rounded(product, ea + eb, false),
            None => wide::mul(self, other),
        }
    }

    /// The quotient.
    ///
    /// # Errors
    /// Overflow; undefined for a divisor of zero.
    pub fn over(self, other: Self) -> Result<Self, NumberError> {
        if let (Some(a), Some(b)) = (self.to_i64(), other.to_i64())
            && a.checked_rem(b) == Some(0)
        {
            return Ok(Self::from_i64(a / b));
        }
        wide::div(self, other)
    }

    /// The power.
    ///
    /// # Errors
    /// Overflow; undefined for a negative base with a fractional exponent and for zero to a negative power.
    pub fn pow(self, exponent: Self) -> Result<Self, NumberError> {
        if let (Some(a), Some(n @ 0..=64)) = (self.to_i64(), exponent.to_i64())
            && let Some(power) = u32::try_from(n).ok().and_then(|n| a.checked_pow(n))
        {
            return Ok(Self::from_i64(power));
        }
        let whole = exponent.to_i64().and_then(|n| wide::whole_power(self, n));
        whole.map_or_else(|| slow::pow(self, exponent), Ok)
    }

    /// Cost of an operation with this result, in steps of an evaluation.
    #[inline]
    pub(crate) const fn steps(self) -> u64 {
        if self.to_i64().is_some() { 1 } else { 12 }
    }

    /// Cost of the power, in steps of an evaluation.
    pub(crate) fn pow_steps(self, exponent: Self) -> u64 {
        match exponent.to_i64() {
            Some(0..=64) if self.to_i64().is_some() => 4,
            Some(n) => 64 + 140 * u64::from(n.unsigned_abs().checked_ilog2().unwrap_or(0)),
            None => 15_000,
        }
    }

    /// The square root; `None` of a negative number.
    #[must_use]
    pub fn sqrt(self) -> Option<Self> {
        slow::sqrt(self)
    }

    /// e to this power.
    ///
    /// # Errors
    /// Overflow.
    pub fn exp(self) -> Result<Self, NumberError> {
        slow::exp(self)
    }

    /// The natural logarithm; `None` unless positive.
    #[must_use]
    pub fn ln(self) -> Option<Self> {
        slow::ln(self)
    }

    /// Rounded to `scale` digits after the point (before it when negative).
    ///
    /// # Errors
    /// Overflow.
    pub fn round(self, scale: i32, mode: Rounding) -> Result<Self, NumberError> {
        let (coefficient, exponent) = self.parts();
        let target = scale.checked_neg().ok_or(NumberError::Overflow)?;
        if exponent >= target || coefficient == 0 {
            return Ok(self);
        }
        let drop = (target - exponent).cast_unsigned();
        let kept = match power(drop.min(38)) {
            // 10^38 exceeds twice any coefficient, so a greater divisor rounds alike.
            Some(divisor) => cut(coefficient, divisor, false, mode),
            None => 0,
        };
        Self::rounded(kept, target, false)
    }

    /// The remainder with the sign of the divisor: `self - divisor * floor(self / divisor)`.
    ///
    /// # Errors
    /// Overflow; undefined for a divisor of zero.
    pub fn modulo(self, divisor: Self) -> Result<Self, NumberError> {
        if divisor.signum() == 0 {
            return Err(NumberError::Undefined);
        }
        let ((a, ea), (b, eb)) = (self.parts(), divisor.parts());
        let e = ea.min(eb);
        let up = |c: i128, from: i32| power((from - e).cast_unsigned()).and_then(|p| c.checked_mul(p));
        match up(a, ea).zip(up(b, eb)) {
            Some((x, y)) => {
                let rest = x % y;
                Self::rounded(if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest }, e, false)
            }
            None if ea >= eb => {
                let rest = wide::modulo(a, ea.abs_diff(eb), b).ok_or(NumberError::Undefined)?;
                Self::rounded(rest, eb, false)
            }
            // The divisor is greater than the dividend by far.
            None if a == 0 || (a < 0) == (b < 0) => Ok(self),
            None => self.plus(divisor),
        }
    }

    /// The nearest number with a 34-digit decimal; `None` for infinities and NaN.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 {
            return Some(Self::from_i64(value as i64));
        }
        if let Some(short) = Self::from_short_f64(value) {
            return Some(short);
        }
        // The shortest text that reads back as the same float is what its writer meant.
        format!("{value:e}").parse().ok()
    }

    /// A float that is written with up to six digits after the point. A quotient of two whole numbers below 2^53 is
    /// the float nearest to it, and no two decimals of so few digits share one.
    fn from_short_f64(value: f64) -> Option<Self> {
        let mut power = 1.0;
        for digits in 1..=6 {
            power *= 10.0;
            let scaled = (value * power).round();
            if scaled.abs() >= 1e15 {
                return None;
            }
            if scaled / power == value {
                return Some(Self::canonical(i128::from(scaled as i64), -digits));
            }
        }
        None
    }

    /// The nearest float.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        match self.to_i64() {
            Some(value) => value as f64,
            None => {
                let (c, e) = self.parts();
                format!("{c}e{e}").parse().unwrap_or(f64::NAN)
            }
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.to_i64(), other.to_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => self.cmp_wide(*other),
        }
    }
}

impl Number {
    #[inline(never)]
    fn cmp_wide(self, other: Self) -> Ordering {
        let ((a, ea), (b, eb)) = (self.parts(), other.parts());
        if a.signum() != b.signum() || a == 0 {
            return a.signum().cmp(&b.signum());
        }
        let adjusted = |c: i128, e: i32| e + digits(c.unsigned_abs()).cast_signed();
        let order = adjusted(a, ea).cmp(&adjusted(b, eb)).then_with(|| {
            // Of equal magnitude, so the coefficient with fewer digits can be brought up to the other's length.
            let e = ea.min(eb);
            let up = |c: i128, from: i32| {
                power((from - e).cast_unsigned()).and_then(|p| c.abs().checked_mul(p)).unwrap_or(i128::MAX)
            };
            up(a, ea).cmp(&up(b, eb))
        });
        if a < 0 { order.reverse() } else { order }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::from_i64(value)
    }
}

impl From<u32> for Number {
    fn from(value: u32) -> Self {
        Self::from_i64(i64::from(value))
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Self {
        Self::from_i64(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(text: &str) -> Number {
        text.parse().expect(text)
    }

    #[test]
    fn arithmetic() {
        for (a, op, b, want) in [
            ("0.1", '+', "0.2", "0.3"),
            ("1", '/', "3", "0.3333333333333333333333333333333333"),
            ("2", '/', "3", "0.6666666666666666666666666666666667"),
            ("9223372036854775807", '+', "1", "9223372036854775808"),
            ("9223372036854775807", '*', "9223372036854775807", "85070591730234615847396907784232501249"),
            ("9999999999999999999999999999999999", '+', "1", "10000000000000000000000000000000000"),
            ("1234567890123456789012345678901234", '*', "10.1", "12469135690246913569024691356902460"),
            ("1e6000", '+', "1", "1E+6000"),
            ("1", '-', "1e-40", "1"),
            ("-7", '/', "3", "-2.333333333333333333333333333333333"),
            ("7", '/', "1.1", "6.363636363636363636363636363636364"),
            ("1e-30", '/', "9999999999999999999", "1.000000000000000000100000000000000E-49"),
            ("12345678901234567890123456789012", '/', "7", "1763668414462081127160493827001.714"),
            ("10", '%', "-3", "-2"),
            ("-10", '%', "3", "2"),
            ("10.1", '%', "4.5", "1.1"),
            ("2", '^', "0.5", "1.414213562373095048801688724209698"),
            ("2", '^', "-2", "0.25"),
            ("1.5", '^', "2", "2.25"),
            ("0", '^', "0", "1"),
            ("10", '^', "20", "100000000000000000000"),
            ("5", '^', "49", "17763568394002504646778106689453120"),
            ("0.5", '^', "49", "0.000000000000001776356839400250464677810668945312"),
            ("2", '^', "-49", "0.000000000000001776356839400250464677810668945312"),
            ("-3", '^', "3", "-27"),
            ("-1", '^', "1e30", "1"),
            ("100000000001000000000002500000000000", '^', "1.5", "3.162277660215813496901656405237215E+52"),
            ("1.000000000000000000000000000000001", '^', "1e30", "1.001000500166708341668055753993058"),
            ("9999999999999999999999999999999999", '^', "1e-6000", "1"),
        ] {
            let (x, y) = (n(a), n(b));
            let got = match op {
                '+' => x.plus(y),
                '-' => x.minus(y),
                '*' => x.times(y),
                '/' => x.over(y),
                '%' => x.modulo(y),
                _ => x.pow(y),
            };
            assert_eq!(got.map(|v| v.to_string()), Ok(n(want).to_string()), "{a} {op} {b}");
        }
        assert_eq!(n("1").over(Number::ZERO), Err(NumberError::Undefined));
        assert_eq!(n("1e6000").times(n("1e6000")), Err(NumberError::Overflow));
        assert_eq!(n("10").pow(n("1e30")), Err(NumberError::Overflow));
        assert_eq!(n("-8").pow(n("0.5")), Err(NumberError::Undefined));
        assert_eq!(n("1.0000001").pow(n("1e12")), Err(NumberError::Overflow));
        assert_eq!(n("1.000000000000000000000000000000001").pow(n("1e6000")), Err(NumberError::Overflow));
        assert_eq!(n("0.9").pow(n("1e6144")), Ok(Number::ZERO));
        assert_eq!(n("0.9").pow(n("-1e6144")), Err(NumberError::Overflow));
    }

    #[test]
    fn rounding_modes() {
        use Rounding::*;
        for (text, scale, mode, want) in [
            ("2.5", 0, HalfEven, "2"),
            ("3.5", 0, HalfEven, "4"),
            ("5.125", 2, HalfUp, "5.13"),
            ("-5.125", 2, HalfUp, "-5.13"),
            ("5.125", 2, HalfDown, "5.12"),
            ("5.1", 0, Up, "6"),
            ("-5.1", 0, Up, "-6"),
            ("5.9", 0, Down, "5"),
            ("-5.1", 0, Floor, "-6"),
            ("-5.9", 0, Ceiling, "-5"),
            ("1234", -2, HalfEven, "1200"),
            ("1e-100", 2, Up, "0.01"),
            ("4", -50, HalfUp, "0"),
        ] {
            assert_eq!(n(text).round(scale, mode), Ok(n(want)), "{text} {scale} {mode:?}");
        }
    }

    #[test]
    fn order_and_equality() {
        let sorted = [
            "-1e10",
            "-2.5",
            "-2.25",
            "0",
            "1e-9",
            "0.5",
            "1",
            "1.000000000000000000000000000000001",
            "2",
            "1e40",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(n(a).cmp(&n(b)), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(n("1.500"), n("1.5"));
        assert_eq!(n("1e3"), n("1000"));
        assert_eq!(Number::from_f64(0.1), Some(n("0.1")));
        assert_eq!(n("0.1").to_f64(), 0.1);
    }

    #[test]
    fn transcendental() {
        assert_eq!(n("4").exp().map(|v| v.to_string()), Ok("54.59815003314423907811026120286088".to_owned()));
        assert_eq!(
            n("4").ln().map(|v| v.to_string()),
            Some("1.386294361119890618834464242916353".to_owned())
        );
        assert_eq!(n("16").sqrt(), Some(n("4")));
        assert_eq!(n("-1").sqrt(), None);
        assert_eq!(n("0").ln(), None);
        assert_eq!(n("1e9").exp(), Err(NumberError::Overflow));
        assert_eq!(n("-1e9").exp(), Ok(Number::ZERO));
    }
}

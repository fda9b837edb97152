//! Sums, products and quotients of 256 bits, and whole powers by binary floats of as many.

use super::{Number, NumberError, PRECISION, digits, power};

/// An unsigned whole number of 256 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wide {
    hi: u128,
    lo: u128,
}

impl Wide {
    const fn product(a: u128, b: u128) -> Self {
        const LOW: u128 = u64::MAX as u128;
        let (a, c, b, d) = (a >> 64, a & LOW, b >> 64, b & LOW);
        let low = c * d;
        // Neither sum exceeds 128 bits.
        let middle = a * d + (low >> 64);
        let other = c * b + (middle & LOW);
        Self { hi: a * b + (middle >> 64) + (other >> 64), lo: other << 64 | low & LOW }
    }

    /// The quotient and the rest; `None` when the quotient has more than 128 bits.
    fn over(self, divisor: u128) -> Option<(u128, u128)> {
        if self.hi == 0 {
            let quotient = self.lo.checked_div(divisor)?;
            return Some((quotient, self.lo - quotient * divisor));
        }
        if self.hi >= divisor {
            return None;
        }
        let shift = divisor.leading_zeros();
        let divisor = divisor << shift;
        let (upper, lower) = match shift {
            0 => (self.hi, self.lo),
            _ => (self.hi << shift | self.lo >> (128 - shift), self.lo << shift),
        };
        let (first, rest) = digit(upper, (lower >> 64) as u64, divisor);
        let (second, rest) = digit(rest, lower as u64, divisor);
        Some((u128::from(first) << 64 | u128::from(second), rest >> shift))
    }

    const fn plus(self, other: Self) -> Self {
        let (lo, carry) = self.lo.overflowing_add(other.lo);
        Self { hi: self.hi.wrapping_add(other.hi).wrapping_add(carry as u128), lo }
    }

    const fn minus(self, other: Self) -> Self {
        let (lo, borrow) = self.lo.overflowing_sub(other.lo);
        Self { hi: self.hi.wrapping_sub(other.hi).wrapping_sub(borrow as u128), lo }
    }

    /// The signed number `± self × 10^exponent`, rounded.
    fn rounded(self, negative: bool, exponent: i32) -> Result<Number, NumberError> {
        if self.hi == 0
            && let Ok(small) = i128::try_from(self.lo)
        {
            return Number::rounded(if negative { -small } else { small }, exponent, false);
        }
        // At most one less than there are; so 36 or 37 digits are kept here, and 34 after these.
        let bits = if self.hi == 0 { 128 } else { 256 - self.hi.leading_zeros() };
        let drop = ((bits - 1) * 30_102 / 100_000 + 1).saturating_sub(36);
        let divisor = power(drop).ok_or(NumberError::Overflow)?.unsigned_abs();
        let (kept, rest) = self.over(divisor).ok_or(NumberError::Overflow)?;
        signed(kept, negative, exponent.saturating_add(drop.cast_signed()), rest != 0)
    }
}

/// Digit of a quotient in base 2^64, and the rest: of `rest × 2^64 + next` by a divisor whose highest bit is set and
/// which is greater than `rest` (Knuth's algorithm D).
fn digit(rest: u128, next: u64, divisor: u128) -> (u64, u128) {
    let (upper, lower) = (divisor >> 64, divisor & u128::from(u64::MAX));
    let mut quotient = if rest >> 64 >= upper { u128::from(u64::MAX) } else { rest / upper };
    let mut left = rest - quotient * upper;
    while left >> 64 == 0 && quotient * lower > (left << 64 | u128::from(next)) {
        quotient -= 1;
        left += upper;
    }
    let rest = (rest << 64 | u128::from(next)).wrapping_sub(quotient.wrapping_mul(divisor));
    (quotient as u64, rest)
}

/// At least 35 digits, or all there are, as a number.
fn signed(magnitude: u128, negative: bool, exponent: i32, sticky: bool) -> Result<Number, NumberError> {
    let magnitude = i128::try_from(magnitude).or(Err(NumberError::Overflow))?;
    Number::rounded(if negative { -magnitude } else { magnitude }, exponent, sticky)
}

fn scaled(value: u128, digits: u32) -> Option<u128> {
    value.checked_mul(power(digits)?.unsigned_abs())
}

/// The sum of two numbers that are not zero.
pub(super) fn add(a: Number, b: Number) -> Result<Number, NumberError> {
    let (a, b) = (a.parts(), b.parts());
    let ((x, ex), (y, ey)) = if a.1 >= b.1 { (a, b) } else { (b, a) };
    let (apart, count) = (ex.abs_diff(ey), digits(x.unsigned_abs()));
    let negative = x < 0;
    let (x, y, same) = (x.unsigned_abs(), y.unsigned_abs(), negative == (y < 0));
    if apart + count > 72 {
        // The other is less than a hundredth of the last of these 37 digits.
        let up = 37u32.saturating_sub(count);
        let x = scaled(x, up).ok_or(NumberError::Overflow)?;
        return signed(if same { x } else { x - 1 }, negative, ex - up.cast_signed(), true);
    }
    let first = apart.min(38u32.saturating_sub(count));
    let (Some(x), Some(up)) = (scaled(x, first), power(apart - first)) else {
        return Err(NumberError::Overflow);
    };
    let (x, y) = (Wide::product(x, up.unsigned_abs()), Wide { hi: 0, lo: y });
    match (same, x >= y) {
        (true, _) => x.plus(y).rounded(negative, ey),
        (false, true) => x.minus(y).rounded(negative, ey),
        (false, false) => y.minus(x).rounded(!negative, ey),
    }
}

/// The product.
pub(super) fn mul(a: Number, b: Number) -> Result<Number, NumberError> {
    let ((a, ea), (b, eb)) = (a.parts(), b.parts());
    Wide::product(a.unsigned_abs(), b.unsigned_abs()).rounded((a < 0) != (b < 0), ea + eb)
}

/// The quotient; undefined for a divisor of zero.
pub(super) fn div(a: Number, b: Number) -> Result<Number, NumberError> {
    let ((a, ea), (b, eb)) = (a.parts(), b.parts());
    let negative = (a < 0) != (b < 0);
    let (a, b) = (a.unsigned_abs(), b.unsigned_abs());
    if b == 0 {
        return Err(NumberError::Undefined);
    }
    if a == 0 {
        return Ok(Number::ZERO);
    }
    // A dividend of 38 digits, and as many more as make the quotient one of at least 35.
    let room = 38u32.saturating_sub(digits(a));
    let more = digits(b).saturating_sub(3);
    let divided = scaled(a, room).zip(power(more)).and_then(|(a, up)| {
        let wide = Wide::product(a, up.unsigned_abs());
        wide.over(b)
    });
    let (quotient, rest) = divided.ok_or(NumberError::Overflow)?;
    signed(quotient, negative, ea - eb - (room + more).cast_signed(), rest != 0)
}

/// The remainder of coefficients with the divisor's sign, where the dividend's exponent is greater by `apart`.
pub(super) fn modulo(a: i128, apart: u32, b: i128) -> Option<i128> {
    let divisor = b.unsigned_abs();
    let product = |x, y| Some(Wide::product(x, y).over(divisor)?.1);
    let mut rest = a.unsigned_abs().checked_rem(divisor)?;
    let (mut square, mut bits) = (10u128.checked_rem(divisor)?, apart);
    while bits > 0 {
        if bits & 1 == 1 {
            rest = product(rest, square)?;
        }
        square = product(square, square)?;
        bits >>= 1;
    }
    let rest = i128::try_from(if rest != 0 && (a < 0) != (b < 0) { divisor - rest } else { rest }).ok()?;
    Some(if b < 0 { -rest } else { rest })
}

/// `mantissa × 2^exponent`; the mantissa's highest bit is set, and results are cut off: each is less than its exact
/// value by less than 2^-253 of it.
#[derive(Clone, Copy)]
struct Real {
    mantissa: Wide,
    exponent: i32,
}

impl Real {
    const ONE: Self = Self { mantissa: Wide { hi: 1 << 127, lo: 0 }, exponent: -255 };

    /// The normal form of a mantissa that is not zero.
    const fn normal(mantissa: Wide, exponent: i32) -> Self {
        let Wide { hi, lo } = mantissa;
        if hi == 0 {
            let shift = lo.leading_zeros();
            return Self {
                mantissa: Wide { hi: lo << shift, lo: 0 },
                exponent: exponent - 128 - shift as i32,
            };
        }
        let shift = hi.leading_zeros();
        if shift == 0 {
            return Self { mantissa, exponent };
        }
        let mantissa = Wide { hi: hi << shift | lo >> (128 - shift), lo: lo << shift };
        Self { mantissa, exponent: exponent - shift as i32 }
    }

    const fn times(self, other: Self) -> Self {
        let (a, b) = (self.mantissa, other.mantissa);
        let top = Wide::product(a.hi, b.hi);
        let (one, two) = (Wide::product(a.hi, b.lo), Wide::product(a.lo, b.hi));
        let (low, first) = one.lo.overflowing_add(two.lo);
        let (_, second) = low.overflowing_add(Wide::product(a.lo, b.lo).hi);
        let carry = first as u128 + second as u128;
        let middle =
            Wide { hi: 0, lo: one.hi }.plus(Wide { hi: 0, lo: two.hi }).plus(Wide { hi: 0, lo: carry });
        Self::normal(top.plus(middle), self.exponent + other.exponent + 256)
    }

    /// The reciprocal: by 128 bits first, which one step of Newton's method doubles.
    fn inverse(self) -> Self {
        let half = Wide { hi: 1 << 127, lo: 0 };
        let start = half.over(self.mantissa.hi).map_or(u128::MAX, |(quotient, _)| quotient);
        // Half the reciprocal of the mantissa as a fraction of 2^256.
        let start = Self::normal(Wide { hi: start, lo: 0 }, 0);
        let fraction = Self { mantissa: self.mantissa, exponent: -256 };
        // Their product is half of one, nearly.
        let product = fraction.times(Self { exponent: -256, ..start });
        let shift = (-256 - product.exponent).unsigned_abs();
        let (Wide { hi, lo }, back) = (product.mantissa, 128 - shift.min(1));
        let product =
            if shift == 0 { product.mantissa } else { Wide { hi: hi >> 1, lo: hi << back | lo >> 1 } };
        let correction = Wide { hi: 0, lo: 0 }.minus(product);
        let improved = start.times(Self::normal(correction, -256));
        // 1 / (m × 2^e) = (2^256 / m) × 2^-256 × 2^-e, and the fraction above is half of it with 256 bits before the point.
        Self { exponent: improved.exponent + 2 - 512 - self.exponent, ..improved }
    }

    /// 10^exponent × self.
    fn scaled(self, exponent: i32) -> Self {
        let table = if exponent < 0 { &TENTHS } else { &TENS };
        let mut bits = exponent.unsigned_abs();
        let mut value = self;
        for factor in table {
            if bits & 1 == 1 {
                value = value.times(*factor);
            }
            bits >>= 1;
        }
        value
    }
}

#[expect(clippy::indexing_slicing, reason = "the loop stays below the length")]
const fn squares(first: Real) -> [Real; 13] {
    let mut table = [first; 13];
    let mut i = 1;
    while i < 13 {
        table[i] = table[i - 1].times(table[i - 1]);
        i += 1;
    }
    table
}

/// 10^(2^i).
const TENS: [Real; 13] = squares(Real::normal(Wide { hi: 0, lo: 10 }, 0));
/// 10^-(2^i).
const TENTHS: [Real; 13] =
    squares(Real { mantissa: Wide { hi: u128::MAX / 5 * 4, lo: u128::MAX / 5 * 4 + 1 }, exponent: -259 });

/// `base^n` by squaring, rounded as the exact power is. `None` for what is left to the slow way: a base of zero, a result
/// near the ends of the range, a great exponent, and what lies too near to the middle of two numbers to tell.
pub(super) fn whole_power(base: Number, n: i64) -> Option<Number> {
    let mut bits = u32::try_from(n.unsigned_abs()).ok()?;
    let (coefficient, exponent) = base.stripped();
    if coefficient == 0 {
        return None;
    }
    if coefficient.unsigned_abs() == 1 {
        // A power of ten, which needs no reckoning; one beyond the range is told so by the slow way.
        let exponent =
            i64::from(exponent).checked_mul(n).and_then(|exponent| i32::try_from(exponent).ok())?;
        return Number::new(if n % 2 == 0 { 1 } else { coefficient }, exponent).ok();
    }
    let mut square = Real::normal(Wide { hi: 0, lo: coefficient.unsigned_abs() }, 0).scaled(exponent);
    let fraction = square.mantissa.hi as f64 / 2f64.powi(128);
    let size = (fraction.log2() + f64::from(square.exponent + 256)) * f64::from(bits);
    if size.abs() > 20_600.0 {
        return None;
    }
    let mut value = Real::ONE;
    while bits > 0 {
        if bits & 1 == 1 {
            value = value.times(square);
        }
        bits >>= 1;
        if bits > 0 {
            square = square.times(square);
        }
    }
    let value = if n < 0 { value.inverse() } else { value };
    let power = decimal(value)?;
    Some(if coefficient < 0 && n % 2 != 0 { power.negate() } else { power })
}

/// The number nearest to an approximate one of which 160 bits are certain; `None` when these do not tell it.
fn decimal(value: Real) -> Option<Number> {
    // So that there are 38 or 39 digits before the point.
    let ten = (value.exponent + 255).saturating_mul(30_103).div_euclid(100_000) - 37;
    let whole = value.scaled(-ten);
    let shift = u32::try_from(-128 - whole.exponent).ok()?;
    let whole = whole.mantissa.hi.checked_shr(shift)?;
    let drop = digits(whole).checked_sub(PRECISION)?;
    let divisor = power(drop)?.unsigned_abs();
    let (kept, half) = (whole / divisor, divisor / 2);
    let rest = whole - kept * divisor;
    // The exact value is at most by one unit away.
    if rest.abs_diff(half) <= 1 {
        return None;
    }
    let kept = i128::try_from(kept + u128::from(rest > half)).ok()?;
    Number::rounded(kept, ten + drop.cast_signed(), false).ok()
}

#[cfg(test)]
mod tests {
    use dashu_int::{IBig, UBig, ops::DivRem};

    use super::super::{Rounding, cut, slow};
    use super::*;

    /// Random numbers, the same in every run.
    struct Random(u64);

    impl Random {
        fn next(&mut self, below: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) % below
        }

        fn coefficient(&mut self) -> i128 {
            let count = self.next(34) as u32 + 1;
            let mut value = 0i128;
            // Long runs of one digit make carries, ties and zeros at the end.
            while digits(value.unsigned_abs()) < count {
                let digit = match self.next(6) {
                    0 => 0,
                    1 => 9,
                    2 => 5,
                    3 => 1,
                    4 => 4,
                    _ => self.next(10) as i128,
                };
                for _ in 0..=self.next(9) {
                    if digits(value.unsigned_abs()) < count {
                        value = value * 10 + digit;
                    }
                }
            }
            let value = value.max(1);
            if self.next(2) == 0 { -value } else { value }
        }

        fn number(&mut self) -> Number {
            let exponent = match self.next(8) {
                0 => self.next(12_200) as i32 - 6100,
                1 => 6144 - self.next(40) as i32,
                2 => self.next(40) as i32 - 6176,
                _ => self.next(90) as i32 - 45,
            };
            Number::new(self.coefficient(), exponent).unwrap_or(Number::ONE)
        }
    }

    /// `numerator / denominator × 10^exponent`, rounded by exact arithmetic.
    fn nearest(numerator: &IBig, denominator: &IBig, exponent: i32) -> Result<Number, NumberError> {
        let up = 80;
        let scaled = numerator * IBig::from(UBig::from(10u32).pow(up));
        let (quotient, rest) = scaled.div_rem(denominator);
        let text = quotient.to_string();
        let drop = text.trim_start_matches('-').len().saturating_sub(37);
        let (kept, cut_off) = quotient.div_rem(IBig::from(UBig::from(10u32).pow(drop)));
        let sticky = rest != IBig::ZERO || cut_off != IBig::ZERO;
        let kept = i128::try_from(kept).expect("37 digits");
        Number::rounded(kept, exponent + drop as i32 - up as i32, sticky)
    }

    fn big(number: Number) -> (IBig, i32) {
        let (coefficient, exponent) = number.parts();
        (IBig::from(coefficient), exponent)
    }

    fn ten(exponent: u32) -> IBig {
        IBig::from(UBig::from(10u32).pow(exponent as usize))
    }

    fn exact(op: char, a: Number, b: Number) -> Result<Number, NumberError> {
        let ((x, ex), (y, ey)) = (big(a), big(b));
        let one = IBig::ONE;
        match op {
            '+' => {
                let e = ex.min(ey);
                let sum = x * ten(ex.abs_diff(e)) + y * ten(ey.abs_diff(e));
                nearest(&sum, &one, e)
            }
            '%' => {
                let e = ex.min(ey);
                let (x, y) = (x * ten(ex.abs_diff(e)), y * ten(ey.abs_diff(e)));
                let rest = x % &y;
                let other = rest != IBig::ZERO && (rest < IBig::ZERO) != (y < IBig::ZERO);
                nearest(&(if other { rest + y } else { rest }), &one, e)
            }
            '*' => nearest(&(x * y), &one, ex + ey),
            _ => nearest(&x, &y, ex - ey),
        }
    }

    #[test]
    fn as_exact_arithmetic_rounds() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for round in 0..3000 {
            let (a, b) = (random.number(), random.number());
            let b = match round % 5 {
                // Near in magnitude, so that sums and quotients have ties and cancel.
                0 => Number::new(b.parts().0, a.parts().1 + random.next(76) as i32 - 38).unwrap_or(b),
                1 => a.plus(Number::new(1, a.parts().1).unwrap_or(b)).unwrap_or(b).negate(),
                _ => b,
            };
            assert_eq!(a.plus(b), exact('+', a, b), "{a} + {b}");
            assert_eq!(a.minus(b), exact('+', a, b.negate()), "{a} - {b}");
            assert_eq!(a.times(b), exact('*', a, b), "{a} * {b}");
            if b.signum() != 0 {
                assert_eq!(a.modulo(b), exact('%', a, b), "{a} % {b}");
                assert_eq!(a.over(b), exact('/', a, b), "{a} / {b}");
            }
            if round % 16 == 0 && a.signum() != 0 && b.signum() != 0 {
                assert_eq!(a.times(b), slow::mul(a, b), "{a} * {b}");
                assert_eq!(a.over(b), slow::div(a, b), "{a} / {b}");
            }
        }
    }

    #[test]
    fn ties_of_products_and_quotients() {
        // Quotients of 35 digits that end in 5, and products of them, are halfway between two numbers.
        let mut random = Random(77);
        for _ in 0..3000 {
            let half = random.coefficient() / 10 * 10 + 5;
            let divisors = [2, 4, 5, 8, 16, 125, 1_000_003];
            let by =
                divisors.get(random.next(7) as usize).copied().map(Number::from_i64).expect("one of them");
            let a = Number::new(half, -20).expect("a number");
            assert_eq!(a.over(by), exact('/', a, by), "{a} / {by}");
            assert_eq!(a.times(by), exact('*', a, by), "{a} * {by}");
        }
    }

    #[test]
    fn whole_powers_are_the_slow_ones() {
        let mut random = Random(12_345);
        let mut native = 0;
        for round in 0..800 {
            let base = match round % 4 {
                0 => Number::new(random.coefficient(), -33).expect("a number"),
                1 => Number::ONE
                    .plus(Number::new(random.coefficient(), -36).expect("a number"))
                    .expect("a number"),
                2 => Number::from_i64(random.next(30) as i64 - 15),
                _ => random.number(),
            };
            let n = match random.next(4) {
                0 => random.next(8) as i64 - 4,
                1 => random.next(4_000_000) as i64 - 2_000_000,
                _ => random.next(800) as i64 - 400,
            };
            if n != 0
                && let Some(power) = whole_power(base, n)
            {
                native += 1;
                assert_eq!(Ok(power), slow::pow(base, Number::from_i64(n)), "{base} ** {n}");
                if (1..40).contains(&n) {
                    let (x, e) = big(base);
                    assert_eq!(
                        Ok(power),
                        nearest(&x.pow(n as usize), &IBig::ONE, e * n as i32),
                        "{base} ** {n}"
                    );
                }
            }
        }
        assert!(native > 400, "{native}");
    }

    #[test]
    fn reals_are_precise() {
        let mut random = Random(3);
        for _ in 0..2000 {
            let value = Real::normal(Wide { hi: 0, lo: random.coefficient().unsigned_abs() }, 0);
            let one = value.times(value.inverse());
            let near = |it: Real| {
                let top = it.mantissa.hi >> 8;
                it.exponent == -256 && top == u128::MAX >> 8 || it.exponent == -255 && top == 1 << 119
            };
            assert!(near(one), "{:x} {}", one.mantissa.hi, one.exponent);
        }
        for exponent in [1, 37, 400, 6144] {
            let one = Real::ONE.scaled(exponent).scaled(-exponent);
            let gap = one.mantissa.hi >> 1 ^ u128::MAX >> 1;
            assert!(one.exponent == -256 && gap == 0 || one.mantissa.hi == 1 << 127, "{exponent}");
        }
        assert!(whole_power(Number::ZERO, 3).is_none());
        assert_eq!(whole_power(Number::from_i64(-100), 3), Some(Number::from_i64(-1_000_000)));
        assert_eq!(whole_power(Number::from_i64(10), 6144), Number::new(1, 6144).ok());
        assert!(whole_power(Number::from_i64(10), 6145).is_none());
        for (base, n) in [(3, 12_876), (3, 12_878), (3, -12_876), (3, -12_878), (7, 7270)] {
            let power = whole_power(Number::from_i64(base), n);
            let slow = slow::pow(Number::from_i64(base), Number::from_i64(n));
            assert!(power.is_none() || power == slow.ok(), "{base} ** {n}");
        }
    }

    #[test]
    fn digits_counted_and_zeros_taken_off() {
        for count in 1..=38 {
            let power = power(count).expect("a power").unsigned_abs();
            assert_eq!((digits(power - 1), digits(power)), (count, count + 1));
        }
        assert_eq!((digits(0), digits(u128::MAX)), (1, 39));
        assert_eq!(cut(-25, 10, false, Rounding::HalfEven), -2);
        for zeros in 0..34 {
            let number = Number::new(power(zeros).expect("a power"), -40).expect("a number");
            assert_eq!(number.parts(), (1, zeros.cast_signed() - 40));
        }
    }
}

//! The operations that need more than 256 bits, by `dashu` at 34 digits half-even.

use dashu_float::round::mode::HalfEven;
use dashu_float::{Context, FBig, FpError, Repr};
use dashu_int::IBig;

use super::{Number, NumberError, PRECISION};

const CONTEXT: Context<HalfEven> = Context::new(PRECISION as usize);

type Outcome = dashu_float::FpResult<FBig<HalfEven, 10>>;

fn big(number: Number) -> Repr<10> {
    let (coefficient, exponent) = number.parts();
    Repr::new(IBig::from(coefficient), exponent as isize)
}

fn back(outcome: Outcome) -> Result<Number, NumberError> {
    match outcome {
        Ok(rounded) => {
            let (coefficient, exponent) = rounded.value().into_repr().into_parts();
            let (Ok(coefficient), Ok(exponent)) = (i128::try_from(coefficient), i32::try_from(exponent))
            else {
                return Err(NumberError::Overflow);
            };
            Number::new(coefficient, exponent)
        }
        Err(FpError::Underflow(_)) => Ok(Number::ZERO),
        Err(FpError::Overflow(_)) => Err(NumberError::Overflow),
        Err(_) => Err(NumberError::Undefined),
    }
}

#[cfg(test)]
pub(super) fn mul(a: Number, b: Number) -> Result<Number, NumberError> {
    back(CONTEXT.mul(&big(a), &big(b)))
}

#[cfg(test)]
pub(super) fn div(a: Number, b: Number) -> Result<Number, NumberError> {
    back(CONTEXT.div(&big(a), &big(b)))
}

/// Precision with which powers are computed: enough for the rounding errors of 127 squarings of a base near 1.
const WIDE: Context<HalfEven> = Context::new(90);

/// A wide result at 34 digits. What is exact, ties included, is so at 60 digits too, where the noise of the last digits
/// is gone. (`dashu` itself computes powers ever more precisely until their rounding is certain, which for an exact tie
/// such as 5^49 it never is.)
fn narrow(wide: FBig<HalfEven, 10>) -> Outcome {
    Ok(wide.with_precision(60).value().with_precision(PRECISION as usize))
}

/// `|base|^n` by squaring; the magnitude of the result has been checked.
fn whole_power(base: Number, n: i128) -> Result<Number, NumberError> {
    let value = |outcome: Outcome| outcome.map(|rounded| rounded.value().into_repr());
    let computed = || -> Outcome {
        let mut square = big(base.abs());
        let mut power = Repr::<10>::one();
        let mut bits = n.unsigned_abs();
        while bits > 0 {
            if bits & 1 == 1 {
                power = value(WIDE.mul(&power, &square))?;
            }
            bits >>= 1;
            if bits > 0 {
                square = value(WIDE.mul(&square, &square))?;
            }
        }
        let one = Repr::<10>::one();
        let result = if n < 0 { WIDE.div(&one, &power)? } else { WIDE.mul(&power, &one)? };
        narrow(result.value())
    };
    back(computed())
}

/// `base^exponent` as `exp(exponent * ln base)` for a positive base.
fn real_power(base: Number, exponent: Number) -> Result<Number, NumberError> {
    let computed = || -> Outcome {
        let logarithm = WIDE.ln(&big(base), None)?.value();
        let product = WIDE.mul(logarithm.repr(), &big(exponent))?.value();
        narrow(WIDE.exp(product.repr(), None)?.value())
    };
    back(computed())
}

pub(super) fn pow(base: Number, exponent: Number) -> Result<Number, NumberError> {
    if exponent.signum() == 0 || base == Number::ONE {
        return Ok(Number::ONE);
    }
    if base.signum() == 0 {
        return if exponent.signum() < 0 { Err(NumberError::Undefined) } else { Ok(Number::ZERO) };
    }
    if base.signum() < 0 && !exponent.is_integer() {
        return Err(NumberError::Undefined);
    }
    let odd = exponent.modulo(Number::from_i64(2))? == Number::ONE;
    let magnitude = base.abs();
    let power = if magnitude == Number::ONE {
        Number::ONE
    } else {
        if let Some(n) = exponent.to_i64()
            && (magnitude.to_f64().log10() * n as f64).abs() < 6000.0
        {
            return whole_power(base, i128::from(n))
                .map(|p| if base.signum() < 0 && odd { p.negate() } else { p });
        }
        // Decided before it is computed: the result's exponent could be without bound.
        let logarithm = ln(magnitude).ok_or(NumberError::Undefined)?;
        let size = match logarithm.times(exponent) {
            Ok(size) => size,
            Err(_) if (logarithm.signum() < 0) == (exponent.signum() < 0) => {
                return Err(NumberError::Overflow);
            }
            Err(_) => return Ok(Number::ZERO),
        };
        if size > Number::from_i64(14_200) {
            return Err(NumberError::Overflow);
        }
        if size < Number::from_i64(-14_300) {
            return Ok(Number::ZERO);
        }
        let (coefficient, ten) = exponent.parts();
        let whole = u32::try_from(ten).ok().and_then(|ten| 10i128.checked_pow(ten)?.checked_mul(coefficient));
        match whole {
            Some(whole) => whole_power(base, whole)?,
            None => real_power(magnitude, exponent)?,
        }
    };
    Ok(if base.signum() < 0 && odd { power.negate() } else { power })
}

pub(super) fn sqrt(number: Number) -> Option<Number> {
    back(CONTEXT.sqrt(&big(number))).ok()
}

pub(super) fn exp(number: Number) -> Result<Number, NumberError> {
    if number > Number::from_i64(14_200) {
        return Err(NumberError::Overflow);
    }
    if number < Number::from_i64(-14_300) {
        return Ok(Number::ZERO);
    }
    back(CONTEXT.exp(&big(number), None))
}

pub(super) fn ln(number: Number) -> Option<Number> {
    (number.signum() > 0).then(|| back(CONTEXT.ln(&big(number), None)).ok()).flatten()
}

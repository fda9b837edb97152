//! The operations that need more than 128 bits, by `dashu` at 34 digits half-even.

use dashu_float::round::mode::HalfEven;
use dashu_float::{Context, FBig, FpError, Repr};
use dashu_int::IBig;

use super::{Number, NumberError, PRECISION, Rounding, digits};

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

pub(super) fn add(a: Number, b: Number) -> Result<Number, NumberError> {
    back(CONTEXT.add(&big(a), &big(b)))
}

pub(super) fn mul(a: Number, b: Number) -> Result<Number, NumberError> {
    back(CONTEXT.mul(&big(a), &big(b)))
}

pub(super) fn div(a: Number, b: Number) -> Result<Number, NumberError> {
    back(CONTEXT.div(&big(a), &big(b)))
}

/// log10 of the magnitude, good enough to tell what cannot be represented.
fn magnitude(number: Number) -> f64 {
    let (coefficient, exponent) = number.parts();
    (coefficient.unsigned_abs() as f64).log10() + f64::from(exponent)
}

pub(super) fn pow(base: Number, exponent: Number) -> Result<Number, NumberError> {
    if exponent.signum() == 0 || base == Number::ONE {
        return Ok(Number::ONE);
    }
    if base.signum() == 0 {
        return if exponent.signum() < 0 { Err(NumberError::Undefined) } else { Ok(Number::ZERO) };
    }
    let negative = base.signum() < 0;
    if negative && !exponent.is_integer() {
        return Err(NumberError::Undefined);
    }
    if base == Number::from_i64(-1) {
        let odd = exponent.modulo(Number::from_i64(2))? == Number::ONE;
        return Ok(if odd { base } else { Number::ONE });
    }
    // Decided before it is computed: the result's own digits could be without bound.
    let size = magnitude(base) * exponent.to_f64();
    if size > 6150.0 {
        return Err(NumberError::Overflow);
    }
    if size < -6250.0 {
        return Ok(Number::ZERO);
    }
    match exponent.to_i64() {
        Some(n) if n.unsigned_abs() < 1 << 40 => back(CONTEXT.powi(&big(base), IBig::from(n))),
        _ => {
            let power = back(CONTEXT.powf(&big(base.abs()), &big(exponent), None))?;
            let odd = negative && exponent.modulo(Number::from_i64(2))? == Number::ONE;
            Ok(if odd { power.negate() } else { power })
        }
    }
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

/// For operands too far apart in magnitude to share an exponent within 128 bits.
pub(super) fn modulo(a: Number, b: Number) -> Result<Number, NumberError> {
    // Precise enough to hold the quotient's whole digits before the product is taken off.
    let wide = 64 + a.parts().1.abs_diff(b.parts().1) as usize + digits(a.parts().0.unsigned_abs()) as usize;
    let context: Context<HalfEven> = Context::new(wide);
    let rest = back(context.rem(&big(a), &big(b)))?;
    let rest = if rest.signum() != 0 && rest.signum() != b.signum() { rest.plus(b)? } else { rest };
    rest.round(6200, Rounding::HalfEven)
}

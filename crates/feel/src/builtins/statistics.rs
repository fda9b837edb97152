//! Functions over all items of a list, or over the arguments themselves.

use std::cmp::Ordering;

use super::{Args, Builtin};
use crate::Value;
use crate::eval::{Machine, Outcome, null};
use crate::value::date::DaysAndTimeDuration;
use crate::value::number::Number;

pub(super) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    let items = args.items()?;
    let strings = items.iter().map(|item| u64::from(item.weight())).sum::<u64>();
    machine.charge(items.len() as u64 + strings / 2)?;
    match builtin {
        Builtin::Min => extreme(&items, Ordering::Less),
        Builtin::Max => extreme(&items, Ordering::Greater),
        Builtin::All => truth(&items, false),
        Builtin::Any => truth(&items, true),
        Builtin::Sum => {
            if items.is_empty() {
                return Ok(Value::Null);
            }
            sum(&items)
        }
        Builtin::Mean => mean(&items),
        Builtin::Product => {
            let numbers = numbers(&items)?;
            if numbers.is_empty() {
                return Ok(Value::Null);
            }
            let mut product = Number::ONE;
            for number in numbers {
                product = product.times(number)?;
            }
            Ok(Value::Number(product))
        }
        Builtin::Median => median(numbers(&items)?),
        Builtin::Stddev => stddev(&numbers(&items)?),
        _ => mode(numbers(&items)?),
    }
}

fn numbers(items: &[Value]) -> Outcome<Vec<Number>> {
    let mut numbers = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Value::Number(number) => numbers.push(*number),
            other => return null(format!("a {} is among the numbers", other.type_name())),
        }
    }
    Ok(numbers)
}

fn extreme(items: &[Value], wanted: Ordering) -> Outcome {
    let Some((first, rest)) = items.split_first() else { return Ok(Value::Null) };
    let mut best = first;
    if best.compare(best).is_none() {
        return null(format!("a {} has no order", best.type_name()));
    }
    for item in rest {
        match item.compare(best) {
            Some(order) if order == wanted => best = item,
            Some(_) => {}
            None => return null(format!("a {} and a {} have no order", item.type_name(), best.type_name())),
        }
    }
    Ok(best.clone())
}

/// `any` when `deciding` is true, `all` when it is false, in three values.
fn truth(items: &[Value], deciding: bool) -> Outcome {
    let mut unknown = false;
    for item in items {
        match item {
            Value::Boolean(value) if *value == deciding => return Ok(Value::Boolean(deciding)),
            Value::Boolean(_) => {}
            Value::Null => unknown = true,
            other => return null(format!("a {} is among the truth values", other.type_name())),
        }
    }
    Ok(if unknown { Value::Null } else { Value::Boolean(!deciding) })
}

fn sum(items: &[Value]) -> Outcome {
    match items.first() {
        Some(Value::DaysAndTimeDuration(_)) => {
            let mut total = 0i128;
            for item in items {
                match item {
                    Value::DaysAndTimeDuration(duration) => total += duration.nanos(),
                    other => return null(format!("a {} is among the durations", other.type_name())),
                }
            }
            match DaysAndTimeDuration::from_nanos(total) {
                Some(total) => Ok(Value::DaysAndTimeDuration(total)),
                None => null("the sum is too long"),
            }
        }
        Some(Value::YearsAndMonthsDuration(_)) => {
            let mut total = 0i64;
            for item in items {
                match item {
                    Value::YearsAndMonthsDuration(months) => total = total.saturating_add(*months),
                    other => return null(format!("a {} is among the durations", other.type_name())),
                }
            }
            Ok(Value::YearsAndMonthsDuration(total))
        }
        _ => {
            let mut total = Number::ZERO;
            for number in numbers(items)? {
                total = total.plus(number)?;
            }
            Ok(Value::Number(total))
        }
    }
}

fn mean(items: &[Value]) -> Outcome {
    if items.is_empty() {
        return Ok(Value::Null);
    }
    let count = Number::from(items.len());
    match sum(items)? {
        Value::Number(total) => Ok(Value::Number(total.over(count)?)),
        total => crate::eval::divide_or_scale(&total, &Value::Number(count)),
    }
}

fn median(mut numbers: Vec<Number>) -> Outcome {
    numbers.sort_unstable();
    let middle = numbers.len() / 2;
    let Some(upper) = numbers.get(middle).copied() else { return Ok(Value::Null) };
    if numbers.len() % 2 == 1 {
        return Ok(Value::Number(upper));
    }
    let lower = numbers.get(middle - 1).copied().unwrap_or(upper);
    Ok(Value::Number(lower.plus(upper)?.over(Number::from_i64(2))?))
}

/// The sample's standard deviation: over one less than the count.
fn stddev(numbers: &[Number]) -> Outcome {
    if numbers.len() < 2 {
        return null("a standard deviation needs two numbers");
    }
    let mut total = Number::ZERO;
    for number in numbers {
        total = total.plus(*number)?;
    }
    let mean = total.over(Number::from(numbers.len()))?;
    let mut squares = Number::ZERO;
    for number in numbers {
        let distance = number.minus(mean)?;
        squares = squares.plus(distance.times(distance)?)?;
    }
    let variance = squares.over(Number::from(numbers.len() - 1))?;
    Ok(variance.sqrt().map_or(Value::Null, Value::Number))
}

/// The most frequent numbers in ascending order.
fn mode(mut numbers: Vec<Number>) -> Outcome {
    numbers.sort_unstable();
    let runs: Vec<&[Number]> = numbers.chunk_by(|a, b| a == b).collect();
    let most = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let modes = runs.iter().filter(|run| run.len() == most).filter_map(|run| run.first());
    Ok(Value::list(modes.map(|number| Value::Number(*number)).collect()))
}

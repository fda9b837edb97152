//! Functions over all items of a list, or over the arguments themselves.

use std::cmp::Ordering;

use super::Args;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::arithmetic::divide;
use crate::value::date::DaysAndTimeDuration;
use crate::value::number::Number;
use crate::value::outcome::{Outcome, null};

macro_rules! over_items {
    ($($name:ident |$items:ident| $result:expr;)*) => {$(
        pub(super) fn $name(_: &mut Machine, args: &Args<'_>) -> Outcome {
            let $items = args.items()?;
            $result
        }
    )*};
}

over_items! {
    min |items| extreme(&items, Ordering::Less);
    max |items| extreme(&items, Ordering::Greater);
    all |items| truth(&items, false);
    any |items| truth(&items, true);
    sum |items| if items.is_empty() { Ok(Value::Null) } else { total(&items) };
    mean |items| average(&items);
    product |items| multiplied(&numbers(&items)?);
    median |items| middle(numbers(&items)?);
    stddev |items| deviation(&numbers(&items)?);
    mode |items| most_frequent(numbers(&items)?);
}

fn multiplied(numbers: &[Number]) -> Outcome {
    let Some((first, rest)) = numbers.split_first() else { return Ok(Value::Null) };
    let mut product = Number::ONE.times(*first)?;
    for number in rest {
        product = product.times(*number)?;
    }
    Ok(Value::Number(product))
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

fn total(items: &[Value]) -> Outcome {
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

fn average(items: &[Value]) -> Outcome {
    if items.is_empty() {
        return Ok(Value::Null);
    }
    let count = Number::from(items.len());
    match total(items)? {
        Value::Number(total) => Ok(Value::Number(total.over(count)?)),
        total => divide(&total, &Value::Number(count)),
    }
}

fn middle(mut numbers: Vec<Number>) -> Outcome {
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
fn deviation(numbers: &[Number]) -> Outcome {
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
fn most_frequent(mut numbers: Vec<Number>) -> Outcome {
    numbers.sort_unstable();
    let runs: Vec<&[Number]> = numbers.chunk_by(|a, b| a == b).collect();
    let most = runs.iter().map(|run| run.len()).max().unwrap_or(0);
    let modes = runs.iter().filter(|run| run.len() == most).filter_map(|run| run.first());
    Ok(Value::list(modes.map(|number| Value::Number(*number)).collect()))
}

//! The built-in functions, by the rows of the [catalog](crate::catalog).

mod args;
mod calls;
mod conditions;
mod contexts;
mod convert;
mod dates;
mod lists;
mod numbers;
mod patterns;
mod relations;
mod sort;
mod statistics;
mod strings;
mod temporal;

pub(crate) use args::Args;

use crate::catalog::{Builtin, Cost, built_ins};
use crate::error::LimitError;
use crate::machine::Machine;
use crate::value::Value;
use crate::value::outcome::Outcome;

/// Function of a row. How many arguments there are has been checked, and the row's cost counted.
type Native = fn(&mut Machine, &Args<'_>) -> Outcome;

macro_rules! functions {
    ($($dialect:ident $clause:literal {$(
        $(#[doc = $gives:literal])?
        $id:ident $name:literal [$($signature:literal),* $(,)?] -> $result:ident, $cost:ident $(($steps:literal))?,
            $module:ident::$function:ident, $example:literal => $value:literal;
    )*})*) => {
        /// The function of the row.
        const fn native(builtin: Builtin) -> Native {
            match builtin { $($(Builtin::$id => $module::$function,)*)* }
        }
    };
}

built_ins!(functions);

/// Calls the function; how many arguments there are has been checked.
pub(crate) fn call(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    // Every function reads its strings, and some copy them.
    for text in args.iter().filter_map(Value::as_str) {
        machine.charge(text.len() as u64 / 64)?;
    }
    charge(builtin.cost(), machine, args)?;
    native(builtin)(machine, args)
}

/// Counts the cost of a call. Arguments of a wrong kind cost nothing, since the function refuses them.
fn charge(cost: Cost, machine: &mut Machine, args: &Args<'_>) -> Result<(), LimitError> {
    let length = |at: usize| args.single(at).as_str().map_or(0, str::len) as u64;
    match cost {
        Cost::Own => Ok(()),
        Cost::Steps(steps) => machine.charge(u64::from(steps)),
        Cost::Text => machine.charge(length(0) / 32),
        Cost::Search => {
            machine.charge(length(0) / 32)?;
            // A search can look at the text several times where it and what is sought repeat themselves.
            machine.charge((length(0) + length(1)) / 12)
        }
        Cost::Items => match args.any(0) {
            Value::List(items) => charge_items(machine, items),
            single => charge_items(machine, std::slice::from_ref(single)),
        },
        Cost::Values => match (args.len(), args.any(0)) {
            (1, Value::List(items)) => charge_values(machine, items.len(), items.iter()),
            (count, _) => charge_values(machine, count, args.iter()),
        },
    }
}

/// Counts the comparison of every item with something.
fn charge_items(machine: &mut Machine, items: &[Value]) -> Result<(), LimitError> {
    let weight = items.iter().map(|item| u64::from(item.weight())).sum::<u64>();
    machine.charge(weight / 2 + 1)
}

/// Counts a look at every value.
fn charge_values<'v>(
    machine: &mut Machine,
    count: usize,
    values: impl Iterator<Item = &'v Value>,
) -> Result<(), LimitError> {
    let weight = values.map(|value| u64::from(value.weight())).sum::<u64>();
    machine.charge(count as u64 + weight / 2)
}

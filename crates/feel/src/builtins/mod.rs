//! The built-in functions.

mod args;
mod backtrack;
mod contexts;
mod convert;
mod lists;
mod numbers;
mod patterns;
mod ranges;
mod statistics;
mod strings;
mod table;
mod temporal;

use std::sync::{Arc, LazyLock};

pub(crate) use args::Args;
pub(crate) use patterns::Regex;
pub(crate) use table::Builtin;
pub use table::built_in_functions;
pub(crate) use temporal::property;

use crate::Value;
use crate::eval::{Machine, Outcome};
use crate::program::{Node, Patterns, Program};
use crate::value::number::Rounding;

/// For calls of built-ins that stand in no text, such as one handed to `sort`.
pub(crate) fn no_program() -> &'static Program {
    static EMPTY: LazyLock<Arc<Program>> = LazyLock::new(|| {
        Arc::new(Program {
            source: Arc::from(""),
            nodes: vec![Node::Null],
            offsets: vec![0],
            extra: Vec::new(),
            constants: Vec::new(),
            names: Vec::new(),
            definitions: Vec::new(),
            types: Vec::new(),
            declared: crate::Types::default(),
            root: 0,
            slots: 0,
            patterns: Patterns::default(),
        })
    });
    &EMPTY
}

/// Calls the function; how many arguments there are has been checked.
pub(crate) fn call(builtin: Builtin, machine: &mut Machine, args: Args<'_>) -> Outcome {
    // Every function reads its strings, and some copy them.
    for text in args.iter().filter_map(Value::as_str) {
        machine.charge(text.len() as u64 / 64)?;
    }
    match builtin {
        Builtin::Date | Builtin::DateAndTime | Builtin::Time | Builtin::Duration => {
            machine.charge(6)?;
            convert::temporal(builtin, &args)
        }
        Builtin::Number => convert::number(&args, machine),
        Builtin::String => convert::string(&args, machine),
        Builtin::Range => convert::range(&args, machine),
        Builtin::Not => Ok(args.single(0).as_bool().map_or(Value::Null, |value| Value::Boolean(!value))),
        Builtin::Substring
        | Builtin::StringLength
        | Builtin::UpperCase
        | Builtin::LowerCase
        | Builtin::SubstringBefore
        | Builtin::SubstringAfter
        | Builtin::Contains
        | Builtin::StartsWith
        | Builtin::EndsWith
        | Builtin::StringJoin
        | Builtin::Trim
        | Builtin::ToBase64
        | Builtin::IsBlank => strings::call(builtin, machine, &args),
        Builtin::Replace | Builtin::Matches | Builtin::Split | Builtin::Extract => {
            patterns::call(builtin, machine, &args)
        }
        Builtin::ListContains
        | Builtin::ListReplace
        | Builtin::Count
        | Builtin::Sublist
        | Builtin::Append
        | Builtin::Concatenate
        | Builtin::InsertBefore
        | Builtin::Remove
        | Builtin::Reverse
        | Builtin::IndexOf
        | Builtin::Union
        | Builtin::DistinctValues
        | Builtin::DuplicateValues
        | Builtin::Flatten
        | Builtin::IsEmpty
        | Builtin::Partition
        | Builtin::Sort => lists::call(builtin, machine, &args),
        _ => call_more(builtin, machine, &args),
    }
}

fn call_more(builtin: Builtin, machine: &mut Machine, args: &Args<'_>) -> Outcome {
    match builtin {
        Builtin::Min
        | Builtin::Max
        | Builtin::Sum
        | Builtin::Mean
        | Builtin::All
        | Builtin::Any
        | Builtin::Product
        | Builtin::Median
        | Builtin::Stddev
        | Builtin::Mode => statistics::call(builtin, machine, args),
        Builtin::Decimal => numbers::rounded(args, Rounding::HalfEven),
        Builtin::Floor => numbers::rounded(args, Rounding::Floor),
        Builtin::Ceiling => numbers::rounded(args, Rounding::Ceiling),
        Builtin::RoundUp => numbers::rounded(args, Rounding::Up),
        Builtin::RoundDown => numbers::rounded(args, Rounding::Down),
        Builtin::RoundHalfUp => numbers::rounded(args, Rounding::HalfUp),
        Builtin::RoundHalfDown => numbers::rounded(args, Rounding::HalfDown),
        Builtin::Abs
        | Builtin::Modulo
        | Builtin::Sqrt
        | Builtin::Log
        | Builtin::Exp
        | Builtin::Odd
        | Builtin::Even => numbers::call(builtin, machine, args),
        Builtin::GetValue
        | Builtin::GetEntries
        | Builtin::Context
        | Builtin::ContextPut
        | Builtin::Put
        | Builtin::ContextMerge
        | Builtin::PutAll => contexts::call(builtin, machine, args),
        Builtin::IsDefined => Ok(Value::Boolean(!args.any(0).is_null())),
        Builtin::Assert => convert::assert(args),
        Builtin::FromJson => convert::read_json(args, machine),
        Builtin::ToJson => convert::write_json(args, machine),
        Builtin::GetOrElse => {
            Ok(if args.any(0).is_null() { args.any(1).clone() } else { args.any(0).clone() })
        }
        Builtin::Before
        | Builtin::After
        | Builtin::Meets
        | Builtin::MetBy
        | Builtin::Overlaps
        | Builtin::OverlapsBefore
        | Builtin::OverlapsAfter
        | Builtin::Finishes
        | Builtin::FinishedBy
        | Builtin::Includes
        | Builtin::During
        | Builtin::Starts
        | Builtin::StartedBy
        | Builtin::Coincides => ranges::call(builtin, args),
        _ => temporal::call(builtin, machine, args),
    }
}

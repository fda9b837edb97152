//! FEEL of DMN 1.5: parse, compile, evaluate.
//!
//! ```
//! use heddle_feel::{Dialect, EvalContext, Expression, Value};
//!
//! let expression = Expression::compile("price * 2 > 10", Dialect::Standard)?;
//! let variables = serde_json::json!({ "price": 6 });
//! let now = heddle_kernel::Timestamp::from_micros(0);
//! let evaluated = expression.evaluate(variables.as_object().unwrap(), &EvalContext { now })?;
//! assert_eq!(evaluated.value, Value::Boolean(true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `docs/feel.md` of the crate describes the dialects, the modules, all limits and how to add a built-in.
//!
//! An expression never fails for what it meets: a part without a meaning is null, and a [`Note`] says why. Only an
//! exceeded limit ends an evaluation with an error.

mod budget;
mod builtins;
mod catalog;
mod error;
mod eval;
mod expression;
mod inspect;
mod limits;
mod machine;
mod pattern;
mod program;
mod scope;
mod session;
mod syntax;
mod types;
mod typing;
mod value;

pub use budget::StepBudget;
pub use catalog::{BuiltIn, Dialect, built_in_functions, built_ins};
pub use error::{LimitError, Note, SyntaxError};
pub use expression::{EvalContext, Evaluated, Expression, UnaryTests};
pub use inspect::ConstantTests;
pub use limits::Limits;
pub use scope::{Layers, Ref, Scope};
pub use syntax::Options;
pub use types::{Signature, Type, Types};
pub use typing::{Declared, TestType};
pub use value::date::{Date, DaysAndTimeDuration, LocalTime, MAX_YEAR, days_in_month};
pub use value::function::{Function, Host, HostFunction};
pub use value::json::{from_json, object as context_from_json, size, size_of_json, to_json};
pub use value::number::{Number, NumberError, PRECISION, Rounding};
pub use value::text::{Duration, parse_date, parse_date_time, parse_duration, parse_time};
pub use value::time::{DateTime, Time};
pub use value::zone::{Region, Zone};
pub use value::{Context, List, Range, RangeForm, Value};

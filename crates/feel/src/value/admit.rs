//! Admission of new values to an evaluation, within its limits of sizes.

use super::{MAX_VALUE_DEPTH, Value};
use crate::error::LimitError;
use crate::machine::Machine;

impl Machine {
    /// Lets a new value in when it is neither too large nor too deep.
    #[inline]
    pub(crate) fn admit(&mut self, value: Value) -> Result<Value, LimitError> {
        self.check(&value)?;
        Ok(value)
    }

    /// Checks that a new value is neither too large nor too deep.
    #[inline]
    pub(crate) fn check(&mut self, value: &Value) -> Result<(), LimitError> {
        match value {
            Value::String(text) => self.text(text.len()),
            Value::List(_) | Value::Context(_) | Value::Function(_) => self.admit_compound(value),
            _ => Ok(()),
        }
    }

    fn admit_compound(&mut self, value: &Value) -> Result<(), LimitError> {
        let len = match value {
            Value::List(list) => list.len(),
            Value::Context(context) => context.len(),
            _ => 0,
        };
        self.room(len)?;
        self.room(value.weight() as usize / 4)?;
        if value.depth() > MAX_VALUE_DEPTH {
            return Err(LimitError::Depth(MAX_VALUE_DEPTH));
        }
        self.charge(len as u64 / 4)
    }
}

//! Settings as they are evaluated: values, FEEL, and texts with FEEL in them.

use heddle_feel::{EvalContext, Expression, Limits, Scope, to_json};
use heddle_kernel::{Timestamp, shortened};
use heddle_settings::Setting;
use heddle_settings::inside::{Part, parts};
use serde_json::{Map, Value};

use crate::fault::WorkFault;

/// Most bytes of one text that is made.
const MOST_BYTES: usize = 8 << 20;
/// Steps of one evaluation.
const STEPS: u64 = 3_000_000;

/// Evaluates settings over variables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Evaluator<'v> {
    pub settings: &'v Map<String, Value>,
    pub variables: &'v Map<String, Value>,
    pub now: Timestamp,
}

impl Evaluator<'_> {
    /// The value of a setting; none where it is absent or null.
    pub(crate) fn value(&self, member: &str) -> Result<Option<Value>, WorkFault> {
        match self.settings.get(member) {
            None | Some(Value::Null) => Ok(None),
            Some(setting) => self.deep(member, setting).map(Some),
        }
    }

    /// A setting that must be there.
    pub(crate) fn needed(&self, member: &str) -> Result<Value, WorkFault> {
        let value = self.value(member)?.filter(|value| !value.is_null());
        value.ok_or_else(|| WorkFault::setting(member, "it gives null"))
    }

    /// A setting as a text; what is no text as JSON.
    pub(crate) fn text(&self, member: &str) -> Result<Option<String>, WorkFault> {
        Ok(self.value(member)?.filter(|value| !value.is_null()).map(|value| as_text(&value)))
    }

    /// A truth value of a setting.
    pub(crate) fn flag(&self, member: &str) -> Result<Option<bool>, WorkFault> {
        match self.value(member)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(own)) => Ok(Some(own)),
            Some(_) => Err(WorkFault::setting(member, "it gives neither true nor false")),
        }
    }

    /// A number of a setting within bounds.
    pub(crate) fn number(&self, member: &str, from: f64, to: f64) -> Result<Option<f64>, WorkFault> {
        let Some(value) = self.value(member)? else { return Ok(None) };
        let own = value.as_f64().filter(|own| (from..=to).contains(own));
        own.map(Some)
            .ok_or_else(|| WorkFault::setting(member, &format!("it gives no number from {from} to {to}")))
    }

    /// A whole number of a setting within bounds.
    pub(crate) fn whole(&self, member: &str, from: u64, to: u64) -> Result<Option<u64>, WorkFault> {
        let Some(value) = self.value(member)? else { return Ok(None) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "it is a whole number within the bounds"
        )]
        let own = value.as_u64().or_else(|| {
            let own = value.as_f64()?;
            (own.fract() == 0.0 && own >= 0.0 && own <= to as f64).then_some(own as u64)
        });
        let own = own.filter(|own| (from..=to).contains(own));
        own.map(Some).ok_or_else(|| {
            WorkFault::setting(member, &format!("it gives no whole number from {from} to {to}"))
        })
    }

    /// A value with the FEEL in it evaluated.
    fn deep(&self, member: &str, value: &Value) -> Result<Value, WorkFault> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(value.clone()),
            Value::String(text) if text.trim_start().starts_with('=') => {
                match Setting::read(value).map_err(|told| WorkFault::setting(member, &told))? {
                    Setting::Literal(value) => Ok(value),
                    Setting::Expression(source) => self.feel(member, &source),
                }
            }
            Value::String(text) => self.rendered(member, text).map(Value::String),
            Value::Array(items) => items.iter().map(|item| self.deep(member, item)).collect(),
            Value::Object(members) => {
                let one = |own: (&String, &Value)| Ok((own.0.clone(), self.deep(member, own.1)?));
                members.iter().map(one).collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }

    fn rendered(&self, member: &str, text: &str) -> Result<String, WorkFault> {
        let mut made = String::with_capacity(text.len());
        for part in parts(text).map_err(|told| WorkFault::setting(member, &told))? {
            match part {
                Part::Text(text) => made.push_str(&text),
                Part::Feel(source) => match self.feel(member, &source)? {
                    Value::Null => {
                        let told = format!("`{}` gives null", shortened(source.source()));
                        return Err(WorkFault::setting(member, &told));
                    }
                    value => made.push_str(&as_text(&value)),
                },
            }
            if made.len() > MOST_BYTES {
                return Err(WorkFault::setting(member, &format!("it gives more than {MOST_BYTES} bytes")));
            }
        }
        Ok(made)
    }

    fn feel(&self, member: &str, source: &Expression) -> Result<Value, WorkFault> {
        let limits = Limits {
            steps: STEPS,
            depth: 320,
            list_size: 1_000_000,
            string_size: MOST_BYTES,
            notes: 5,
            cancel: None,
        };
        let scope: &dyn Scope = self.variables;
        let evaluated = source.evaluate_within(scope, &EvalContext { now: self.now }, &limits);
        match evaluated {
            Ok(evaluated) => Ok(to_json(&evaluated.value)),
            Err(error) => Err(WorkFault::setting(member, &shortened(&error.to_string()))),
        }
    }
}

/// A value as a text: a text as it is, anything else as JSON.
pub(crate) fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

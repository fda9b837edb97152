//! Correlation keys of messages that are sent and waited for (clause 8.4.2).

use super::{Machine, StepFault, expression};
use crate::LocalId;
use crate::core::eval::prefixed;
use heddle_bpmn_graph::{MessageKey, MessageSettings};
use heddle_feel::{Expression, Scope, to_json};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Key of a message that is sent.
pub(super) struct SentKey {
    pub value: Option<String>,
    /// Id of the model's key that it is a value of.
    pub id: Option<Arc<str>>,
}

impl Machine<'_> {
    /// The key of a message that is sent: its own setting, else what the model's correlation finds in the payload, else the
    /// run's.
    pub(super) fn sent_key(
        &self,
        message: &MessageSettings,
        scope: LocalId,
        payload: &Value,
    ) -> Result<SentKey, StepFault> {
        match (&message.correlation_key, &message.key) {
            (None, Some(key)) => {
                let other;
                let members = match payload {
                    Value::Object(members) => members,
                    Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                        other = Map::from_iter([("payload".to_owned(), payload.clone())]);
                        &other
                    }
                };
                let value = self.key_of(message, key, &key.from_message, members)?;
                Ok(SentKey { value: Some(value), id: Some(key.id.clone()) })
            }
            _ => Ok(SentKey { value: self.set_key(message, scope)?, id: None }),
        }
    }

    /// The key that a message must carry which is waited for: the event's own setting, else what a correlation
    /// subscription finds in the process's data, else the value that a message of the run has set before, else the run's.
    pub(super) fn awaited_key(
        &self,
        message: &MessageSettings,
        scope: LocalId,
    ) -> Result<Option<String>, StepFault> {
        let key = match (&message.correlation_key, &message.key) {
            (None, Some(key)) => key,
            _ => return self.set_key(message, scope),
        };
        if let Some(paths) = &key.from_data {
            return self.key_of(message, key, paths, &self.variables(scope)).map(Some);
        }
        let known = self.state.keys.get(&key.id).or(self.state.correlation_key.as_ref());
        known.cloned().map(Some).ok_or_else(|| {
            let (id, name) = (&key.id, &message.name);
            expression(format!(
                "nothing says which `{name}` the run waits for: the correlation key `{id}` has no value yet, and no \
                 correlation subscription binds it"
            ))
        })
    }

    /// The key by a message's own setting, else the run's.
    fn set_key(&self, message: &MessageSettings, scope: LocalId) -> Result<Option<String>, StepFault> {
        match &message.correlation_key {
            None => Ok(self.state.correlation_key.clone()),
            Some(setting) => match self.text(Some(setting), scope)? {
                Some(key) => Ok(Some(key)),
                None => {
                    Err(expression(format!("the correlation key of the message `{}` is null", message.name)))
                }
            },
        }
    }

    /// The value of a key: that of its property, or, of several, their JSON array.
    fn key_of(
        &self,
        message: &MessageSettings,
        key: &MessageKey,
        paths: &[Expression],
        data: &dyn Scope,
    ) -> Result<String, StepFault> {
        let mut values = Vec::with_capacity(paths.len());
        for path in paths {
            let (value, notes) = self.evaluate(path, data)?;
            let value = to_json(&value);
            if !matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_)) {
                let found = heddle_kernel::shortened(&value.to_string()).into_owned();
                return Err(expression(format!(
                    "the correlation key `{}` of the message `{}` has no value: `{}` gives {found}{}",
                    key.id,
                    message.name,
                    path.source(),
                    prefixed(&notes)
                )));
            }
            values.push(value);
        }
        Ok(match values.as_slice() {
            [Value::String(text)] => text.clone(),
            [one] => one.to_string(),
            _ => Value::Array(values).to_string(),
        })
    }
}

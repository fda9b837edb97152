//! Messages and signals, and the settings that BPMN shares with what else is modelled.

use super::correlation::MessageKey;
pub use heddle_settings::{Setting, UserTask};
use std::sync::Arc;

/// A message or signal that is sent or waited for.
#[derive(Debug, Clone)]
pub struct MessageSettings {
    /// Name of the message.
    pub name: Arc<str>,
    /// Correlation key of the message; absent is what the model's correlation says, else the run's own.
    pub correlation_key: Option<Setting>,
    /// Way by which the model's correlation finds the key.
    pub key: Option<Arc<MessageKey>>,
    /// Payload to send; absent is null.
    pub payload: Option<Setting>,
}

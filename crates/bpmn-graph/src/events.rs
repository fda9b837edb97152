//! Event definitions of events (clause 10.5.5).

use super::compile::Builder;
use super::settings::{MessageSettings, Setting};
use super::timer::{TimerDefinition, TimerKind};
use super::{CaughtVariables, Compensate, ErrorReference, Throw, Trigger};
use heddle_bpmn::model::{EventDefinition, EventReference, Node};
use std::sync::Arc;

/// Refusal of an event: code, sentence, clause.
pub(super) type Refused = (&'static str, String, &'static str);

/// Event definition that an event carries; none for a none event. Several are refused.
fn single(node: &Node) -> Result<Option<&EventDefinition>, Refused> {
    let definitions =
        node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default();
    match definitions {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => Err(refused("multiple")),
    }
}

fn refused(kind: &str) -> Refused {
    ("unsupportedEvent", format!("{kind} events are not executed yet at this place"), "10.5.5")
}

fn kind(definition: &EventDefinition) -> &str {
    definition.r#type.as_deref().unwrap_or_default()
}

impl Builder<'_> {
    /// Trigger of a catching event; none for a none event.
    pub(super) fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Refused> {
        let Some(definition) = single(node)? else { return Ok(None) };
        Ok(Some(match kind(definition) {
            "message" => Trigger::Message(Arc::new(self.message(node, definition.reference.as_deref())?)),
            "timer" => Trigger::Timer(Arc::new(timer(definition)?)),
            "signal" => Trigger::Signal(self.signal(definition)?),
            "error" => Trigger::Error(match definition.reference.as_deref() {
                None => None,
                Some(_) => Some(self.error(definition)?.code),
            }),
            "escalation" => Trigger::Escalation(match definition.reference.as_deref() {
                None => None,
                Some(_) => Some(self.escalation(definition)?.code),
            }),
            "compensate" => Trigger::Compensation,
            "cancel" => Trigger::Cancel,
            "reference" => return Err(dangling("event definition", definition.reference.as_deref())),
            other => return Err(refused(other)),
        }))
    }

    /// Effect of a throwing event.
    pub(super) fn throw(&self, node: &Node, end: bool) -> Result<Throw, Refused> {
        let Some(definition) = single(node)? else { return Ok(Throw::None) };
        Ok(match kind(definition) {
            "message" => Throw::Message(Arc::new(self.message(node, definition.reference.as_deref())?)),
            "signal" => {
                let name = self.signal(definition)?;
                let payload = setting(node, "payload")?;
                Throw::Signal(Arc::new(MessageSettings { name, correlation_key: None, payload }))
            }
            "terminate" if end => Throw::Terminate,
            "error" if end => Throw::Error(Arc::new(told(node, self.error(definition)?)?)),
            "escalation" => Throw::Escalation(Arc::new(told(node, self.escalation(definition)?)?)),
            "compensate" => Throw::Compensation(Arc::new(Compensate {
                activity: definition.activity_ref.as_deref().filter(|id| !id.is_empty()).map(Arc::from),
                wait: definition.wait_for_completion != Some(false),
            })),
            "cancel" if end => Throw::Cancel,
            "reference" => return Err(dangling("event definition", definition.reference.as_deref())),
            other => return Err(refused(other)),
        })
    }

    /// The message of an event or task, with the settings of the node.
    pub(super) fn message(&self, node: &Node, reference: Option<&str>) -> Result<MessageSettings, Refused> {
        let Some(id) = reference else {
            let sentence = "the event names no message, so nothing can be correlated with it".to_owned();
            return Err(("missingMessage", sentence, "10.5.5.3"));
        };
        let found = self.messages.get(id).ok_or_else(|| dangling("message", reference))?;
        Ok(MessageSettings {
            name: name_of(found, id),
            correlation_key: setting(node, "correlationKey")?,
            payload: setting(node, "payload")?,
        })
    }

    fn signal(&self, definition: &EventDefinition) -> Result<Arc<str>, Refused> {
        let Some(id) = definition.reference.as_deref() else {
            return Err(("missingSignal", "the event names no signal".to_owned(), "10.5.5.5"));
        };
        let found = self.signals.get(id).ok_or_else(|| dangling("signal", Some(id)))?;
        Ok(name_of(found, id))
    }

    fn error(&self, definition: &EventDefinition) -> Result<ErrorReference, Refused> {
        let Some(id) = definition.reference.as_deref() else {
            return Ok(ErrorReference::nameless());
        };
        let found = self.errors.get(id).ok_or_else(|| dangling("error", Some(id)))?;
        Ok(ErrorReference::of(found, id))
    }

    fn escalation(&self, definition: &EventDefinition) -> Result<ErrorReference, Refused> {
        let Some(id) = definition.reference.as_deref() else {
            return Ok(ErrorReference::nameless());
        };
        let found = self.escalations.get(id).ok_or_else(|| dangling("escalation", Some(id)))?;
        Ok(ErrorReference::of(found, id))
    }
}

impl ErrorReference {
    /// An error or escalation that nothing names: only what catches all catches it.
    fn nameless() -> Self {
        Self { code: "".into(), name: None, message: None, payload: None }
    }

    fn of(found: &EventReference, id: &str) -> Self {
        let code = found.code.as_deref().filter(|code| !code.is_empty());
        Self {
            code: code.map_or_else(|| name_of(found, id), Arc::from),
            name: found.name.as_deref().map(Arc::from),
            message: None,
            payload: None,
        }
    }
}

/// What an event tells with the error or escalation that it throws, by its settings.
fn told(node: &Node, reference: ErrorReference) -> Result<ErrorReference, Refused> {
    let (message, payload) = (setting(node, "errorMessage")?, setting(node, "payload")?);
    Ok(ErrorReference { message, payload, ..reference })
}

/// Variables in which a catching event tells what it caught, by its settings.
pub(super) fn caught(node: &Node) -> Result<Option<CaughtVariables>, Refused> {
    let name = |member: &str| -> Result<Option<Arc<str>>, Refused> {
        let value = node.configuration.as_ref().and_then(|own| own.get(member));
        match value.filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => match value.as_str().map(str::trim).filter(|name| !name.is_empty()) {
                Some(name) => Ok(Some(name.into())),
                None => {
                    Err(("wrongSetting", format!("{member}: {value} is no name of a variable"), "10.5.5"))
                }
            },
        }
    };
    let error = name("errorCodeVariable")?;
    let code = match name("escalationCodeVariable")? {
        Some(escalation) => Some(escalation),
        None => error,
    };
    let found = CaughtVariables { code, message: name("errorMessageVariable")? };
    Ok((found != CaughtVariables::default()).then_some(found))
}

fn name_of(reference: &EventReference, id: &str) -> Arc<str> {
    reference.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(id).into()
}

fn dangling(what: &str, id: Option<&str>) -> Refused {
    ("danglingReference", format!("there is no {what} with the id `{}`", id.unwrap_or_default()), "8.3")
}

fn setting(node: &Node, member: &str) -> Result<Option<Setting>, Refused> {
    let value = node.configuration.as_ref().and_then(|configuration| configuration.get(member));
    match value.filter(|value| !value.is_null()).map(Setting::read) {
        None => Ok(None),
        Some(Ok(setting)) => Ok(Some(setting)),
        Some(Err(message)) => Err(("expressionSyntax", format!("{member}: {message}"), "8.4.6")),
    }
}

fn timer(definition: &EventDefinition) -> Result<TimerDefinition, Refused> {
    let given = |text: &Option<String>| {
        text.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let texts = [
        (TimerKind::Date, given(&definition.time_date)),
        (TimerKind::Duration, given(&definition.time_duration)),
        (TimerKind::Cycle, given(&definition.time_cycle)),
    ];
    let mut texts = texts.into_iter().filter_map(|(kind, text)| Some((kind, text?)));
    match (texts.next(), texts.next()) {
        (Some((kind, text)), None) => match TimerDefinition::parse(kind, &text) {
            Ok(timer) => Ok(timer),
            Err(error) => Err(("timerSyntax", error.0, "10.5.5.6")),
        },
        (None, _) => Err((
            "timerSyntax",
            "the timer has neither a date, a duration nor a cycle".to_owned(),
            "10.5.5.6",
        )),
        _ => Err((
            "timerSyntax",
            "the timer has more than one of date, duration and cycle".to_owned(),
            "10.5.5.6",
        )),
    }
}

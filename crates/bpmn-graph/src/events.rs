//! Event definitions of events (clause 10.5.5).

use super::compile::Builder;
use super::condition;
use super::settings::{MessageSettings, Setting};
use super::timer::{TimerDefinition, TimerKind};
use super::{CaughtVariables, Compensate, Condition, ErrorReference, Several, Throw, Trigger};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{EventDefinition, EventReference, MessageFlow, Node};
use std::sync::Arc;

/// Refusal of an event: code, sentence, clause.
pub(super) type Refused = (&'static str, String, &'static str);

/// Event definitions that an event carries; none for a none event.
fn definitions(node: &Node) -> &[EventDefinition] {
    node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default()
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
        match definitions(node) {
            [] => Ok(None),
            [one] => self.one_trigger(node, one).map(Some),
            all => {
                let triggers = all.iter().map(|one| self.one_trigger(node, one)).collect::<Result<_, _>>()?;
                let parallel = node.bpmn.as_ref().and_then(|bpmn| bpmn.parallel_multiple) == Some(true);
                let several = Several { triggers, parallel };
                check_several(node, &several)?;
                Ok(Some(Trigger::Several(Arc::new(several))))
            }
        }
    }

    /// Trigger of one event definition.
    fn one_trigger(&self, node: &Node, definition: &EventDefinition) -> Result<Trigger, Refused> {
        Ok(match kind(definition) {
            "message" => Trigger::Message(Arc::new(self.message(node, definition.reference.as_deref())?)),
            "timer" => Trigger::Timer(Arc::new(timer(definition)?)),
            "signal" => Trigger::Signal(self.signal(definition)?),
            "conditional" => {
                let (text, own) = (definition.expression.as_deref(), definition.language.as_deref());
                Trigger::Conditional(Arc::new(self.condition_of(text, own, "10.5.5.2")?))
            }
            "link" => Trigger::Link(link(definition)?),
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
        })
    }

    /// Effect of a throwing event.
    pub(super) fn throw(&self, node: &Node, end: bool) -> Result<Throw, Refused> {
        match definitions(node) {
            [] => Ok(Throw::None),
            [one] => self.one_throw(node, one, end),
            all => {
                let throws =
                    all.iter().map(|one| self.one_throw(node, one, end)).collect::<Result<Vec<_>, _>>()?;
                let plain = |own: &&Throw| matches!(own, Throw::None | Throw::Message(_) | Throw::Signal(_));
                let others = throws.iter().filter(|own| !plain(own)).count();
                if others > 1 || throws.iter().any(|own| matches!(own, Throw::Link(_))) {
                    let sentence = "beside messages and signals an event throws one thing alone, and a link nothing \
                                    beside it";
                    return Err(("unsupportedEvent", sentence.to_owned(), "10.5.5"));
                }
                Ok(Throw::Several(throws))
            }
        }
    }

    /// Effect of one event definition.
    fn one_throw(&self, node: &Node, definition: &EventDefinition, end: bool) -> Result<Throw, Refused> {
        Ok(match kind(definition) {
            "message" => Throw::Message(Arc::new(self.message(node, definition.reference.as_deref())?)),
            "signal" => {
                let name = self.signal(definition)?;
                let payload = setting(node, "payload")?;
                Throw::Signal(Arc::new(MessageSettings { name, correlation_key: None, key: None, payload }))
            }
            "terminate" if end => Throw::Terminate,
            "link" if !end => Throw::Link(link(definition)?),
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
        if reference.is_none()
            && let Some(name) = self.flow_message(node)
        {
            let (correlation_key, payload) = (setting(node, "correlationKey")?, setting(node, "payload")?);
            let message = self.flow_of(node).and_then(|flow| flow.message_ref.as_deref());
            let key = message.map(|id| self.message_key(id)).transpose()?.flatten();
            return Ok(MessageSettings { name, correlation_key, key, payload });
        }
        let Some(id) = reference else {
            let sentence = "the event names no message, so nothing can be correlated with it".to_owned();
            return Err(("missingMessage", sentence, "10.5.5.3"));
        };
        let found = self.messages.get(id).ok_or_else(|| dangling("message", reference))?;
        Ok(MessageSettings {
            name: name_of(found, id),
            correlation_key: setting(node, "correlationKey")?,
            key: self.message_key(id)?,
            payload: setting(node, "payload")?,
        })
    }

    /// The message flow into or out of a node, which says what a node without a message sends or waits for.
    fn flow_of(&self, node: &Node) -> Option<&MessageFlow> {
        let id = node.element_id()?;
        let sends = matches!(
            node.kind(),
            Some(ElementKind::SendTask | ElementKind::IntermediateThrowEvent | ElementKind::EndEvent)
        );
        let flows = if sends { &self.message_flows.from } else { &self.message_flows.to };
        flows.get(id).copied()
    }

    /// Name of the message of the message flow at a node; a flow without a message is told by its definition and itself.
    pub(super) fn flow_message(&self, node: &Node) -> Option<Arc<str>> {
        let flow = self.flow_of(node)?;
        let message = flow.message_ref.as_deref().and_then(|id| Some(name_of(self.messages.get(id)?, id)));
        message.or_else(|| {
            let id = flow.id.as_deref().filter(|id| !id.is_empty())?;
            Some(match self.definition_id {
                Some(definition) => format!("{definition}/{id}").into(),
                None => id.into(),
            })
        })
    }

    /// A condition on the data: of a conditional event, or of the activation of a complex gateway. JUEL is translated.
    pub(super) fn condition_of(
        &self,
        text: Option<&str>,
        own: Option<&str>,
        clause: &'static str,
    ) -> Result<Condition, Refused> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
            return Err(("expressionSyntax", "the condition is empty".to_owned(), clause));
        };
        let compiled = condition::juel(text, own).and_then(|translated| match translated {
            Some(translated) => condition::feel(&translated, None),
            None => condition::feel(text, own.or(self.language)),
        });
        match compiled {
            Ok(expression) => Ok(Condition { expression }),
            Err(wrong) => Err((wrong.code, wrong.sentence, clause)),
        }
    }

    pub(super) fn signal(&self, definition: &EventDefinition) -> Result<Arc<str>, Refused> {
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

/// Name of a link.
fn link(definition: &EventDefinition) -> Result<Arc<str>, Refused> {
    let name = definition.reference.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.map(Arc::from).ok_or_else(|| ("missingLink", "the link has no name".to_owned(), "10.5.5"))
}

/// Checks the triggers of a multiple event (clause 10.5.5): what can only be caught alone, or never with all others.
fn check_several(node: &Node, several: &Several) -> Result<(), Refused> {
    let wrong = |sentence: String| Err(("unsupportedEvent", sentence, "10.5.5"));
    let bpmn = node.bpmn.as_deref();
    let at_border = matches!(node.kind(), Some(ElementKind::BoundaryEvent | ElementKind::StartEvent));
    let interrupts =
        bpmn.is_none_or(|own| own.is_interrupting != Some(false) && own.cancel_activity != Some(false));
    for trigger in &several.triggers {
        let name = match trigger {
            Trigger::Message(_) | Trigger::Timer(_) | Trigger::Signal(_) | Trigger::Conditional(_) => {
                continue;
            }
            Trigger::Link(_) => "link",
            Trigger::Compensation => "compensation",
            Trigger::Several(_) => "multiple",
            Trigger::Error(_) | Trigger::Cancel if !several.parallel && at_border && interrupts => continue,
            Trigger::Escalation(_) if !several.parallel && at_border => continue,
            Trigger::Error(_) => "error",
            Trigger::Cancel => "cancel",
            Trigger::Escalation(_) => "escalation",
        };
        return wrong(match several.parallel && at_border && !matches!(name, "link" | "compensation") {
            true => format!(
                "the {name} of a parallel multiple event ends or leaves its scope before the others come"
            ),
            false => format!("a {name} cannot be one of several triggers of this event"),
        });
    }
    Ok(())
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

/// Details that an event tells with the error or escalation that it throws, by its settings.
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

pub(super) fn name_of(reference: &EventReference, id: &str) -> Arc<str> {
    reference.name.as_deref().filter(|name| !name.is_empty()).unwrap_or(id).into()
}

pub(super) fn dangling(what: &str, id: Option<&str>) -> Refused {
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

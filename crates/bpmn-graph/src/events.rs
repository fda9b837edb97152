//! Event definitions of events (clause 10.5.5).

use super::compile::Builder;
use super::condition;
use super::correlation::MessageKey;
use super::settings::{MessageSettings, Setting};
use super::timer::{TimerDefinition, TimerKind};
use super::{CaughtVariables, Compensate, Condition, ErrorReference, Several, Throw, Trigger};
use heddle_bpmn::element::ElementKind;
use heddle_bpmn::model::{EventDefinition, EventReference, MessageFlow, Node};
use std::sync::Arc;

/// Refusal of an event: code, sentence, clause.
pub(super) type Refused = (&'static str, String, &'static str);

/// All that a node, or a part of one, is refused for, each once.
#[derive(Debug, Default)]
pub(super) struct Refusals(Vec<Refused>);

impl From<Refused> for Refusals {
    fn from(one: Refused) -> Self {
        Self(vec![one])
    }
}

impl From<Vec<Refused>> for Refusals {
    fn from(all: Vec<Refused>) -> Self {
        Self(all)
    }
}

impl Refusals {
    /// Adds further ones; several parts may be refused for the same setting.
    pub(super) fn add(&mut self, more: impl Into<Self>) {
        for one in more.into().0 {
            if !self.0.contains(&one) {
                self.0.push(one);
            }
        }
    }

    /// A part that was read; what it is refused for is kept.
    pub(super) fn part<T>(&mut self, read: Result<T, impl Into<Self>>) -> Option<T> {
        read.map_err(|more| self.add(more)).ok()
    }

    /// The whole, where nothing was refused.
    ///
    /// # Errors
    /// What was refused.
    pub(super) fn unless_any<T>(self, whole: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(whole) } else { Err(self) }
    }
}

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
    /// Refuses an element for each of several reasons.
    pub(super) fn refuse_all(&mut self, id: &str, all: Refusals) {
        for (code, sentence, clause) in all.0 {
            self.refuse(id, code, sentence, clause);
        }
    }

    /// Trigger of a catching event; none for a none event.
    pub(super) fn trigger(&self, node: &Node) -> Result<Option<Trigger>, Refusals> {
        match definitions(node) {
            [] => Ok(None),
            [one] => self.one_trigger(node, one).map(Some),
            all => {
                let mut refused = Refusals::default();
                let read = |one: &EventDefinition| refused.part(self.one_trigger(node, one));
                let triggers = all.iter().filter_map(read).collect();
                let parallel = node.bpmn.as_ref().and_then(|bpmn| bpmn.parallel_multiple) == Some(true);
                let several = Several { triggers, parallel };
                refused.add(misplaced(node, &several));
                refused.unless_any(Some(Trigger::Several(Arc::new(several))))
            }
        }
    }

    /// Trigger of one event definition.
    fn one_trigger(&self, node: &Node, definition: &EventDefinition) -> Result<Trigger, Refusals> {
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
            "reference" => return Err(dangling("event definition", definition.reference.as_deref()).into()),
            other => return Err(refused(other).into()),
        })
    }

    /// Effect of a throwing event.
    pub(super) fn throw(&self, node: &Node, end: bool) -> Result<Throw, Refusals> {
        match definitions(node) {
            [] => Ok(Throw::None),
            [one] => self.one_throw(node, one, end),
            all => {
                let mut refused = Refusals::default();
                let read = |one: &EventDefinition| refused.part(self.one_throw(node, one, end));
                let throws: Vec<Throw> = all.iter().filter_map(read).collect();
                let plain = |own: &&Throw| matches!(own, Throw::None | Throw::Message(_) | Throw::Signal(_));
                let others = throws.iter().filter(|own| !plain(own)).count();
                if others > 1 || throws.iter().any(|own| matches!(own, Throw::Link(_))) {
                    let sentence = "beside messages and signals an event throws one thing alone, and a link nothing \
                                    beside it";
                    refused.add(("unsupportedEvent", sentence.to_owned(), "10.5.5"));
                }
                refused.unless_any(Throw::Several(throws))
            }
        }
    }

    /// Effect of one event definition.
    fn one_throw(&self, node: &Node, definition: &EventDefinition, end: bool) -> Result<Throw, Refusals> {
        Ok(match kind(definition) {
            "message" => Throw::Message(Arc::new(self.message(node, definition.reference.as_deref())?)),
            "signal" => {
                let mut refused = Refusals::default();
                let name = refused.part(self.signal(definition));
                let payload = refused.part(setting(node, "payload"));
                let (Some(name), Some(payload)) = (name, payload) else { return Err(refused) };
                Throw::Signal(Arc::new(MessageSettings { name, correlation_key: None, key: None, payload }))
            }
            "terminate" if end => Throw::Terminate,
            "link" if !end => Throw::Link(link(definition)?),
            "error" if end => Throw::Error(Arc::new(told(node, self.error(definition))?)),
            "escalation" => Throw::Escalation(Arc::new(told(node, self.escalation(definition))?)),
            "compensate" => Throw::Compensation(Arc::new(Compensate {
                activity: definition.activity_ref.as_deref().filter(|id| !id.is_empty()).map(Arc::from),
                wait: definition.wait_for_completion != Some(false),
            })),
            "cancel" if end => Throw::Cancel,
            "reference" => return Err(dangling("event definition", definition.reference.as_deref()).into()),
            other => return Err(refused(other).into()),
        })
    }

    /// The message of an event or task, with the settings of the node.
    pub(super) fn message(&self, node: &Node, reference: Option<&str>) -> Result<MessageSettings, Refusals> {
        let mut refused = Refusals::default();
        let named = refused.part(self.named_message(node, reference));
        let correlation_key = refused.part(setting(node, "correlationKey"));
        let payload = refused.part(setting(node, "payload"));
        match (named, correlation_key, payload) {
            (Some((name, key)), Some(correlation_key), Some(payload)) => {
                Ok(MessageSettings { name, correlation_key, key, payload })
            }
            _ => Err(refused),
        }
    }

    /// Name of the message of an event or task, and the way by which the model's correlation finds its key.
    fn named_message(
        &self,
        node: &Node,
        reference: Option<&str>,
    ) -> Result<(Arc<str>, Option<Arc<MessageKey>>), Refused> {
        if reference.is_none()
            && let Some(name) = self.flow_message(node)
        {
            let message = self.flow_of(node).and_then(|flow| flow.message_ref.as_deref());
            let key = message.map(|id| self.message_key(id)).transpose()?.flatten();
            return Ok((name, key));
        }
        let Some(id) = reference else {
            let sentence = "the event names no message, so nothing can be correlated with it".to_owned();
            return Err(("missingMessage", sentence, "10.5.5.3"));
        };
        let found = self.messages.get(id).ok_or_else(|| dangling("message", reference))?;
        Ok((name_of(found, id), self.message_key(id)?))
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

/// Triggers of a multiple event that are misplaced in it (clause 10.5.5): what can only be caught alone, or never with all
/// others.
fn misplaced(node: &Node, several: &Several) -> Vec<Refused> {
    let bpmn = node.bpmn.as_deref();
    let at_border = matches!(node.kind(), Some(ElementKind::BoundaryEvent | ElementKind::StartEvent));
    let interrupts =
        bpmn.is_none_or(|own| own.is_interrupting != Some(false) && own.cancel_activity != Some(false));
    let mut found = Vec::new();
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
        let sentence = match several.parallel && at_border && !matches!(name, "link" | "compensation") {
            true => format!(
                "the {name} of a parallel multiple event ends or leaves its scope before the others come"
            ),
            false => format!("a {name} cannot be one of several triggers of this event"),
        };
        found.push(("unsupportedEvent", sentence, "10.5.5"));
    }
    found
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
fn told(node: &Node, reference: Result<ErrorReference, Refused>) -> Result<ErrorReference, Refusals> {
    let mut refused = Refusals::default();
    let reference = refused.part(reference);
    let message = refused.part(setting(node, "errorMessage"));
    let payload = refused.part(setting(node, "payload"));
    match (reference, message, payload) {
        (Some(reference), Some(message), Some(payload)) => {
            Ok(ErrorReference { message, payload, ..reference })
        }
        _ => Err(refused),
    }
}

/// Variables in which a catching event tells what it caught, by its settings.
pub(super) fn caught(node: &Node) -> Result<Option<CaughtVariables>, Refusals> {
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
    let mut refused = Refusals::default();
    let error = refused.part(name("errorCodeVariable")).flatten();
    let escalation = refused.part(name("escalationCodeVariable")).flatten();
    let message = refused.part(name("errorMessageVariable")).flatten();
    let found = CaughtVariables { code: escalation.or(error), message };
    refused.unless_any((found != CaughtVariables::default()).then_some(found))
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

//! Listeners of life cycle transitions: what they are told of, and what they compute.

use super::sentries::item_event;
use super::{At, Builder};
use crate::finding::Severity;
use crate::plan::{Extra, ItemEvent, LifecycleListener};
use heddle_feel::{Dialect, Expression};
use heddle_settings::{Target, calculation, juel};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Standard events and states of one of the life cycles (clause 8.4).
struct LifeCycle {
    events: &'static [ItemEvent],
    states: &'static [&'static str],
}

const CASE: LifeCycle = LifeCycle {
    events: &[
        ItemEvent::Create,
        ItemEvent::Complete,
        ItemEvent::Terminate,
        ItemEvent::Exit,
        ItemEvent::Fault,
        ItemEvent::Suspend,
        ItemEvent::Resume,
        ItemEvent::Reactivate,
        ItemEvent::Close,
    ],
    states: &["active", "suspended", "failed", "completed", "terminated", "closed"],
};
const WORK: LifeCycle = LifeCycle {
    events: &[
        ItemEvent::Create,
        ItemEvent::Enable,
        ItemEvent::ManualStart,
        ItemEvent::Disable,
        ItemEvent::Reenable,
        ItemEvent::Start,
        ItemEvent::Complete,
        ItemEvent::Terminate,
        ItemEvent::Exit,
        ItemEvent::Fault,
        ItemEvent::Reactivate,
        ItemEvent::Suspend,
        ItemEvent::Resume,
        ItemEvent::ParentSuspend,
        ItemEvent::ParentResume,
    ],
    states: &["available", "enabled", "disabled", "active", "suspended", "failed", "completed", "terminated"],
};
const OCCURRENCE: LifeCycle = LifeCycle {
    events: &[
        ItemEvent::Create,
        ItemEvent::Occur,
        ItemEvent::Terminate,
        ItemEvent::ParentTerminate,
        ItemEvent::Suspend,
        ItemEvent::Resume,
        ItemEvent::ParentSuspend,
        ItemEvent::ParentResume,
    ],
    states: &["available", "suspended", "completed", "terminated"],
};

/// Transitions that a listener is told of.
#[derive(Default)]
struct Told {
    events: Vec<ItemEvent>,
    from: Option<Arc<str>>,
    to: Option<Arc<str>>,
}

type Fault = (&'static str, String);

impl Builder<'_> {
    /// Listeners of transitions of an item of a kind, each `{on}` with the word of one, or `{from, to}` with states.
    pub(super) fn listeners(
        &mut self,
        at: At<'_>,
        settings: &Map<String, Value>,
        kind: &str,
        extra: &mut Extra,
    ) {
        let items = match settings.get("listeners") {
            None | Some(Value::Null) => return,
            Some(Value::Array(items)) => items,
            Some(_) => {
                let message = "configuration.listeners: must be an array of listeners";
                return self.error(at, ("wrongSetting", "5.4"), message);
            }
        };
        for (number, item) in items.iter().enumerate() {
            match lifecycle_listener(item, kind) {
                Ok(found) => {
                    extra.listeners.push(found);
                    if item.get("onTransaction").is_some_and(|own| !own.is_null()) {
                        let message = format!(
                            "configuration.listeners[{number}].onTransaction: the listener is computed in the step of its \
                             transition, which is stored as a whole"
                        );
                        self.tell(Severity::Info, at, ("listenerInStep", "5.4"), message);
                    }
                }
                Err((code, sentence)) => {
                    let message = format!("configuration.listeners[{number}]: {sentence}");
                    self.error(at, (code, "5.4"), message);
                }
            }
        }
    }
}

/// Life cycle that items of a kind follow.
fn life_cycle(kind: &str) -> &'static LifeCycle {
    match kind {
        "casePlanModel" => &CASE,
        "milestone" | "timerEventListener" | "userEventListener" | "eventListener" => &OCCURRENCE,
        _ => &WORK,
    }
}

fn wrong(sentence: &str) -> Fault {
    ("wrongSetting", sentence.to_owned())
}

fn lifecycle_listener(item: &Value, kind: &str) -> Result<LifecycleListener, Fault> {
    let Some(members) = item.as_object() else { return Err(wrong("must be an object")) };
    let text = |name: &str| calculation::text(members, name).map_err(|own| (own.0, own.1));
    if text("jobType")?.is_some() {
        let sentence = "only listeners that compute something are executed: a worker cannot be waited for in a transition; a \
                        task with this `jobType`, behind an entry criterion on the transition, does the same beside it";
        return Err(("unsupportedSetting", sentence.to_owned()));
    }
    for name in members.keys() {
        if !matches!(
            name.as_str(),
            "on" | "from" | "to" | "source" | "script" | "scriptFormat" | "resultVariable" | "onTransaction"
        ) {
            return Err(wrong(&format!("a listener has no member `{name}`")));
        }
    }
    if let Some(phase) = text("onTransaction")?.filter(|own| !matches!(*own, "before-commit" | "committed")) {
        return Err(wrong(&format!(
            "onTransaction: must be before-commit or committed, not {phase:?}: of a step that fails nothing is left to hear"
        )));
    }
    let told = match text("on")? {
        Some(_) if text("from")?.or(text("to")?).is_some() => {
            return Err(wrong("on: beside it neither `from` nor `to` says anything"));
        }
        Some(word) => told_on(word, kind)?,
        None => told_between(text("from")?, text("to")?, kind)?,
    };
    let source = match (text("source")?, text("script")?) {
        (Some(source), None) => {
            let source = super::translated(&source.into()).map_err(|error| ("expressionLanguage", error))?;
            source.as_str().unwrap_or_default().trim().to_owned()
        }
        (None, Some(script)) => computed_script(text("scriptFormat")?.unwrap_or_default(), script)?,
        (None, None) | (Some(_), Some(_)) => return Err(wrong("source: a listener has FEEL or a script")),
    };
    let source = source.strip_prefix('=').unwrap_or(&source).trim();
    let source = Expression::compile(source, Dialect::Heddle)
        .map_err(|error| ("expressionSyntax", format!("source: `{source}` is no FEEL: {error}")))?;
    let variable = match text("resultVariable")? {
        None => None,
        Some(name) => {
            Some(Target::read(name).ok_or_else(|| wrong("resultVariable: must be the name of a variable"))?)
        }
    };
    let Told { events, from, to } = told;
    Ok(LifecycleListener { events, from, to, source, variable })
}

/// Transitions of a word; one that the items of the kind never make is refused.
fn told_on(word: &str, kind: &str) -> Result<Told, Fault> {
    // A human task is there for people from its start on.
    let of_people: &[ItemEvent] = match (kind, word) {
        ("humanTask", "create") => &[ItemEvent::Start, ItemEvent::ManualStart],
        ("humanTask", "delete") => &[ItemEvent::Exit, ItemEvent::Terminate],
        ("humanTask", "assignment" | "update" | "timeout") => {
            let sentence =
                format!("on: listeners of a human task are told of its transitions, not of {word:?}");
            return Err(("unsupportedSetting", sentence));
        }
        _ => &[],
    };
    if !of_people.is_empty() {
        return Ok(Told { events: of_people.to_vec(), ..Told::default() });
    }
    let event = match word {
        "reEnable" => Some(ItemEvent::Reenable),
        "reActivate" => Some(ItemEvent::Reactivate),
        word => item_event(word),
    };
    match event.filter(|event| life_cycle(kind).events.contains(event)) {
        Some(event) => Ok(Told { events: vec![event], ..Told::default() }),
        None => {
            let sentence = format!("on: {word:?} is no transition that listeners of a {kind} are told of");
            Err(("unsupportedSetting", sentence))
        }
    }
}

/// Transitions between states; a state that the items of the kind never have is refused.
fn told_between(from: Option<&str>, to: Option<&str>, kind: &str) -> Result<Told, Fault> {
    let states = life_cycle(kind).states;
    if let Some(state) = [from, to].into_iter().flatten().find(|state| !states.contains(state)) {
        return Err(wrong(&format!("{state:?} is no state of a {kind}")));
    }
    Ok(Told { events: Vec::new(), from: from.map(Arc::from), to: to.map(Arc::from) })
}

/// The variables that a script sets, as a context.
fn computed_script(format: &str, script: &str) -> Result<String, (&'static str, String)> {
    if calculation::is_feel(Some(format)) {
        return Ok(script.to_owned());
    }
    let found = juel::script::translate(format, script)
        .map_err(|error| ("unsupportedScript", format!("script: it is not translated to FEEL: {error}")))?;
    let set: Vec<_> = found.variables.into_iter().chain(found.globals).collect();
    // Members of a context see those before them, and the script's values are those of before it.
    let sees =
        |at: usize, feel: &str| set.iter().take(at).any(|(earlier, _)| feel.contains(earlier.as_str()));
    if set.iter().enumerate().any(|(at, (_, feel))| sees(at, feel)) {
        let sentence = "script: a value that it sets is computed of another one that it sets";
        return Err(("unsupportedScript", sentence.to_owned()));
    }
    let entries: Vec<String> =
        set.iter().map(|(name, feel)| format!("{}: {feel}", juel::string(name))).collect();
    Ok(format!("{{{}}}", entries.join(", ")))
}

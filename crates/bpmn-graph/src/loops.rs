//! Repetition: loop and multi-instance markers of activities, quantities of tokens, and bounded loops along flows.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::activity::{
    Behavior, Collection, ComplexBehavior, ImplicitThrow, Marker, MultiInstance, StandardLoop,
};
use super::compile::Builder;
use super::condition;
use super::events::{Refusals, Refused, dangling, name_of};
use super::settings::Setting;
use super::{Element, Graph, NodeIx, Quantities, ScopeIx, SplitRule, Work};
use heddle_bpmn::juel;
use heddle_bpmn::model::{
    Activity, ComplexBehaviorDefinition, Edge, EventDefinition, LoopCharacteristics, Node, graphs,
};
use heddle_feel::Expression;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Most iterations that a flow may ask for.
const MAX_ITERATIONS: i64 = 1_000_000;
/// Longest pause before an iteration, in seconds: a hundred years.
const MAX_DELAY: i64 = 100 * 366 * 86_400;
/// Most tokens that an activity may ask for or give.
const MAX_QUANTITY: i64 = 10_000;

/// Bounds of a flow that leads back: how often, when, and with what it is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackEdge {
    /// Most times that it is taken within its scope.
    pub maximum: u32,
    /// Pause before each, in seconds.
    pub delay_seconds: i64,
    /// Course of the run when it has been taken so often.
    pub at_maximum: AtMaximum,
    /// Data that the variable `loop` carries into the next iteration.
    pub carry: Carry,
}

/// Course of a run when a flow that leads back has been taken most often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtMaximum {
    /// Failure: the error `LOOP_LIMIT`, else an incident.
    Fail,
    /// Continuation along the other flows.
    Continue,
    /// Question to a human: `approve` goes on along the other flows, `revise` once more round, `reject` fails.
    HumanReview,
    /// Continuation at another node.
    Exit(NodeIx),
}

/// Data that a flow carries into its next iteration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Carry {
    /// Error that the source met.
    pub previous_error: bool,
    /// Last output of the source.
    pub previous_output: bool,
    /// Comment and values of the review.
    pub reviewer_feedback: bool,
    /// Violations of schemas and guardrails.
    pub validation_feedback: bool,
    /// Variables, as they are now.
    pub variables: Vec<Arc<str>>,
}

const LOOP: &str = "10.3.8";

fn wrong(sentence: impl Into<String>) -> Refused {
    ("wrongLoop", sentence.into(), LOOP)
}

impl Builder<'_> {
    /// Reads the marker and the quantities of an activity.
    pub(super) fn repetition(&mut self, ix: NodeIx, element: Element, node: &Node) {
        let id = self.nodes[ix as usize].id.clone();
        match self.marker(&id, element, node) {
            Ok(marker) => self.nodes[ix as usize].marker = marker.map(Arc::new),
            Err(refused) => self.refuse_all(&id, refused),
        }
        if let Some(activity) = node.bpmn.as_deref().and_then(|bpmn| bpmn.activity.as_ref()) {
            self.nodes[ix as usize].quantities = self.quantities(&id, element, activity);
        }
    }

    fn quantities(&mut self, id: &str, element: Element, activity: &Activity) -> Quantities {
        let mut of = |name: &str, given: Option<i64>| match given {
            None | Some(1) => 1,
            Some(..1) => {
                self.refuse(id, "quantity", format!("{name} must be at least 1"), "10.3.1");
                1
            }
            Some(_) if !element.is_activity() => {
                self.refuse(id, "quantity", format!("{name}: only an activity has one"), "10.3.1");
                1
            }
            Some(more @ ..=MAX_QUANTITY) => u32::try_from(more).unwrap_or(1),
            Some(_) => {
                self.refuse(id, "quantity", format!("{name} must be at most {MAX_QUANTITY}"), "10.3.1");
                1
            }
        };
        let start = of("startQuantity", activity.start_quantity);
        Quantities { start, completion: of("completionQuantity", activity.completion_quantity) }
    }

    fn marker(&mut self, id: &str, element: Element, node: &Node) -> Result<Option<Marker>, Refusals> {
        let bpmn = node.bpmn.as_deref();
        let drawn =
            bpmn.and_then(|bpmn| bpmn.activity.as_ref()).and_then(|activity| activity.r#loop.as_deref());
        let settings = node.configuration.as_ref().and_then(|own| own.get("loop"));
        let settings = match settings {
            None | Some(Value::Null) => None,
            Some(Value::Object(members)) if members.is_empty() => None,
            Some(Value::Object(members)) => Some(members),
            // At other elements the setting itself is refused.
            Some(_) if !element.is_activity() => None,
            Some(_) => return Err(("wrongSetting", "loop: must be an object".to_owned(), LOOP).into()),
        };
        if !element.is_activity() {
            return if drawn.is_some() { Err(wrong("only an activity has a loop").into()) } else { Ok(None) };
        }
        if drawn.is_none() && settings.is_none() {
            return Ok(None);
        }
        if bpmn.and_then(|bpmn| bpmn.triggered_by_event) == Some(true) {
            let sentence = "an event sub-process has no loop: its start event says how often it runs";
            return Err(wrong(sentence).into());
        }
        match drawn {
            Some(own) if is_standard(own)? => {
                if settings.is_some() {
                    let sentence =
                        "the setting `loop` is for several instances, and the activity has a standard loop";
                    return Err(wrong(sentence).into());
                }
                self.standard(own).map(Some)
            }
            drawn => {
                let none = LoopCharacteristics::default();
                let empty = Map::new();
                let multi = self.multi_instance(node, drawn.unwrap_or(&none), settings.unwrap_or(&empty))?;
                if multi.element_variable.is_some() && multi.collection.is_none() {
                    let sentence = "the loop has a variable for its items, and no collection of them";
                    self.warn(id, "settingUnused", sentence, LOOP);
                }
                Ok(Some(Marker::Multi(Box::new(multi))))
            }
        }
    }

    fn standard(&self, own: &LoopCharacteristics) -> Result<Marker, Refusals> {
        let mut refused = Refusals::default();
        let number = |most: i64| {
            let none = || wrong(format!("loopMaximum: {most} is no number of iterations"));
            u64::try_from(most).ok().ok_or_else(none)
        };
        let maximum = refused.part(own.loop_maximum.map(number).transpose()).flatten();
        let condition = self.marker_condition("loopCondition", own.loop_condition.as_deref());
        let condition = refused.part(condition).flatten();
        let test_before = own.test_before == Some(true);
        refused.unless_any(Marker::Standard(StandardLoop { condition, test_before, maximum }))
    }

    fn multi_instance(
        &self,
        node: &Node,
        drawn: &LoopCharacteristics,
        settings: &Map<String, Value>,
    ) -> Result<MultiInstance, Refusals> {
        const MEMBERS: &[&str] = &[
            "collection",
            "elementVariable",
            "item",
            "outputCollection",
            "outputElement",
            "outputItem",
            "cardinality",
            "completionCondition",
            "sequential",
        ];
        let mut refused = Refusals::default();
        for other in settings.keys().filter(|member| !MEMBERS.contains(&member.as_str())) {
            let sentence =
                format!("loop.{other}: there is no such member; a loop has {}", MEMBERS.join(", "));
            refused.add(("unknownSetting", sentence, LOOP));
        }
        let given = |member: &str| settings.get(member).filter(|value| !value.is_null());
        let cardinality = refused.part(match given("cardinality") {
            Some(value) => setting("cardinality", value).map(Some),
            None => self.value_of("loopCardinality", drawn.loop_condition.as_deref()),
        });
        let collection = refused.part(match given("collection") {
            Some(value) => collection(value).map(Some),
            None => Ok(drawn.collection.as_deref().map(|data| Collection::Variable(names_of(node, data)))),
        });
        if matches!((&cardinality, &collection), (Some(None), Some(None))) {
            refused.add(wrong("a multi-instance activity needs a cardinality or a collection"));
        }
        let element_variable = refused.part(text(settings, "elementVariable")).flatten();
        let item = refused.part(text(settings, "item")).flatten();
        let element_variable =
            element_variable.or(item).or_else(|| drawn.element_variable.as_deref().map(Arc::from));
        let output_collection = refused.part(text(settings, "outputCollection"));
        let output_element = given("outputElement").or_else(|| given("outputItem"));
        let output_element =
            refused.part(output_element.map(|value| setting("outputElement", value)).transpose());
        if let (Some(all), Some(one)) = (&output_collection, &output_element)
            && all.is_some() != one.is_some()
        {
            let sentence = "loop: outputCollection and outputElement go together";
            refused.add(("wrongSetting", sentence.to_owned(), LOOP));
        }
        let condition = refused.part(text(settings, "completionCondition")).flatten();
        let condition = condition.as_deref().or(drawn.completion_condition.as_deref());
        let completion = refused.part(self.marker_condition("completionCondition", condition)).flatten();
        let sequential = refused.part(match given("sequential") {
            None => Ok(drawn.sequential == Some(true)),
            Some(Value::Bool(own)) => Ok(*own),
            Some(_) => Err(("wrongSetting", "loop.sequential: must be true or false".to_owned(), LOOP)),
        });
        let (Some(sequential), Some(behavior)) = (sequential, refused.part(self.behavior(drawn))) else {
            return Err(refused);
        };
        refused.unless_any(MultiInstance {
            sequential,
            cardinality: cardinality.flatten(),
            collection: collection.flatten(),
            element_variable,
            output_collection: output_collection.flatten(),
            output_element: output_element.flatten(),
            completion,
            behavior,
        })
    }

    fn behavior(&self, drawn: &LoopCharacteristics) -> Result<Behavior, Refusals> {
        match drawn.behavior.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "all") => Ok(Behavior::All),
            Some("none") => Ok(Behavior::None(self.implicit(drawn.none_behavior_event_ref.as_deref())?)),
            Some("one") => Ok(Behavior::One(self.implicit(drawn.one_behavior_event_ref.as_deref())?)),
            Some("complex") => {
                let all = drawn.complex_behavior_definitions.as_deref().unwrap_or_default();
                if all.is_empty() {
                    return Err(wrong("the behavior Complex needs complex behavior definitions").into());
                }
                let mut refused = Refusals::default();
                let read = |own: &ComplexBehaviorDefinition| refused.part(self.complex(own));
                let all = all.iter().filter_map(read).collect();
                refused.unless_any(Behavior::Complex(all))
            }
            Some(_) => {
                let given = drawn.behavior.as_deref().unwrap_or_default();
                Err(wrong(format!("behavior: `{given}` is none of None, One, All and Complex")).into())
            }
        }
    }

    fn complex(&self, own: &ComplexBehaviorDefinition) -> Result<ComplexBehavior, Refusals> {
        let mut refused = Refusals::default();
        let condition = self.marker_condition("condition", own.condition.as_deref());
        let needed = || wrong("a complex behavior definition needs a condition");
        let condition = refused.part(condition.and_then(|condition| condition.ok_or_else(needed)));
        let events = own.event_definitions.as_deref().unwrap_or_default();
        let read = |event: &EventDefinition| refused.part(self.implicit_of(event));
        let events = events.iter().filter_map(read).collect();
        let Some(condition) = condition else { return Err(refused) };
        refused.unless_any(ComplexBehavior { condition, events })
    }

    /// The event that a marker names: one of the definition, else the default signal.
    fn implicit(&self, reference: Option<&str>) -> Result<ImplicitThrow, Refused> {
        let Some(reference) = reference.filter(|own| !own.is_empty()) else {
            return Ok(ImplicitThrow::Signal(None));
        };
        let mut all = graphs(self.definition).into_iter().flat_map(|graph| graph.nodes).flat_map(|node| {
            let events = node.bpmn.as_deref().and_then(|bpmn| bpmn.event_definitions.as_deref());
            events.unwrap_or_default()
        });
        match all.find(|own| own.id.as_deref() == Some(reference)) {
            Some(found) => self.implicit_of(found),
            // Definitions at the root of a document are no part of the model: the default is a signal.
            None => Ok(ImplicitThrow::Signal(None)),
        }
    }

    fn implicit_of(&self, definition: &EventDefinition) -> Result<ImplicitThrow, Refused> {
        let reference = definition.reference.as_deref();
        Ok(match definition.kind().unwrap_or_default() {
            "signal" if reference.is_none() => ImplicitThrow::Signal(None),
            "signal" => ImplicitThrow::Signal(Some(self.signal(definition)?)),
            "message" => {
                let id = reference.unwrap_or_default();
                let found = self.messages.get(id).ok_or_else(|| dangling("message", reference))?;
                ImplicitThrow::Message(name_of(found, id))
            }
            "escalation" => ImplicitThrow::Escalation(match reference {
                None => None,
                Some(id) => {
                    let all = self.definition.bpmn.as_deref().and_then(|bpmn| bpmn.escalations.as_deref());
                    let found = all.unwrap_or_default().iter().find(|own| own.id.as_deref() == Some(id));
                    let found = found.ok_or_else(|| dangling("escalation", reference))?;
                    let code = found.code.as_deref().filter(|code| !code.is_empty());
                    Some(code.map_or_else(|| name_of(found, id), Arc::from))
                }
            }),
            "reference" => return Err(dangling("event definition", reference)),
            other => {
                let sentence = format!(
                    "an instance throws a signal, a message or an escalation for the boundary events of its activity, and no {other}"
                );
                return Err(wrong(sentence));
            }
        })
    }

    /// A condition of a marker; an empty text is none.
    pub(super) fn marker_condition(
        &self,
        name: &str,
        text: Option<&str>,
    ) -> Result<Option<Expression>, Refused> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
        let told = |wrong: condition::Wrong| (wrong.code, format!("{name}: {}", wrong.sentence), "8.4.6");
        let compiled = match condition::juel(text, None).map_err(told)? {
            Some(translated) => condition::feel(&translated, None),
            None => condition::feel(text, self.language),
        };
        compiled.map(Some).map_err(told)
    }

    /// An expression of a marker that gives a value; an empty text is none.
    fn value_of(&self, name: &str, text: Option<&str>) -> Result<Option<Setting>, Refused> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
        let told = |wrong: condition::Wrong| (wrong.code, format!("{name}: {}", wrong.sentence), "8.4.6");
        let compiled = if juel::is_juel(text) {
            let translated = juel::value(text)
                .map_err(|error| ("expressionSyntax", format!("{name}: {error}"), "8.4.6"))?;
            condition::feel(&translated, None)
        } else {
            condition::feel(text, self.language)
        };
        compiled.map(|own| Some(Setting::Expression(own))).map_err(told)
    }

    /// Bounds of a flow that leads back.
    ///
    /// # Errors
    /// The member that is wrong, and why.
    pub(super) fn back_edge(&self, edge: &Edge, scope: ScopeIx) -> Result<Option<BackEdge>, String> {
        let Some(own) = &edge.r#loop else { return Ok(None) };
        let Some(maximum) = own.maximum_iterations else {
            return Err("maximumIterations: a loop along a flow needs one".to_owned());
        };
        let maximum = match u32::try_from(maximum) {
            Ok(most) if maximum <= MAX_ITERATIONS => most,
            _ => return Err(format!("maximumIterations: must be from 0 to {MAX_ITERATIONS}")),
        };
        let delay_seconds = own.delay_seconds.unwrap_or_default();
        if !(0..=MAX_DELAY).contains(&delay_seconds) {
            return Err(format!("delaySeconds: must be from 0 to {MAX_DELAY}"));
        }
        let action = own.on_maximum.as_ref().and_then(|own| own.action.as_deref());
        let target = own.on_maximum.as_ref().and_then(|own| own.target.as_deref());
        let target = target.filter(|target| !target.is_empty());
        let at_maximum = match (action.unwrap_or_default(), target) {
            ("", None) | ("fail", None) => AtMaximum::Fail,
            ("continue", None) => AtMaximum::Continue,
            ("humanReview", None) => AtMaximum::HumanReview,
            ("" | "exit", Some(target)) => {
                let found = self.node_ids.get(target).copied();
                let found = found.filter(|ix| self.nodes[*ix as usize].scope == scope);
                let missing = || format!("onMaximum.target: `{target}` is no node beside the flow");
                AtMaximum::Exit(found.ok_or_else(missing)?)
            }
            ("exit", None) => return Err("onMaximum.target: `exit` needs one".to_owned()),
            (word @ ("fail" | "continue" | "humanReview"), Some(_)) => {
                return Err(format!("onMaximum.target: `{word}` has none"));
            }
            (other, _) => {
                let words = "fail, continue, humanReview and exit";
                return Err(format!("onMaximum.action: `{other}` is none of {words}"));
            }
        };
        let carry = own.carry.as_ref();
        let says = |flag: Option<bool>| flag == Some(true);
        let names = carry.and_then(|own| own.variables.as_deref()).unwrap_or_default();
        let carry = Carry {
            previous_error: says(carry.and_then(|own| own.previous_error)),
            previous_output: says(carry.and_then(|own| own.previous_output)),
            reviewer_feedback: says(carry.and_then(|own| own.reviewer_feedback)),
            validation_feedback: says(carry.and_then(|own| own.validation_feedback)),
            variables: names.iter().map(|name| Arc::from(name.as_str())).collect(),
        };
        Ok(Some(BackEdge { maximum, delay_seconds, at_maximum, carry }))
    }

    /// Checks that a token can be put before the nodes at which flows go on that have been taken most often.
    pub(super) fn check_exits(&mut self, graph: &Graph) {
        for flow in graph.flows().iter().filter(|flow| flow.back.is_some()) {
            let source = graph.node(flow.source);
            if matches!(source.split, SplitRule::Every | SplitRule::All | SplitRule::Events) {
                let sentence = format!(
                    "loop: a flow that leads back leaves an activity, an event or an exclusive gateway, and not a {}",
                    source.element.name()
                );
                self.refuse(&flow.id, "wrongLoop", sentence, "8.4.13");
            }
            let Some(AtMaximum::Exit(target)) = flow.back.as_ref().map(|back| back.at_maximum) else {
                continue;
            };
            let leads = graph.outgoing(flow.source).iter().any(|&own| graph.flow(own).target == target);
            let to = graph.node(target);
            let special =
                matches!(to.work, Work::Start(_) | Work::Boundary { .. } | Work::EventSubProcess { .. });
            if special || (!leads && to.join.upstream().is_some()) {
                let sentence = format!(
                    "loop.onMaximum.target: no token can be put before `{}` without a flow to it",
                    to.id
                );
                self.refuse(&flow.id, "wrongLoop", sentence, "8.4.13");
            }
        }
    }
}

/// Whether a marker is a standard loop. Without a kind its members tell.
fn is_standard(own: &LoopCharacteristics) -> Result<bool, Refused> {
    let Some(kind) = own.kind.as_deref().filter(|kind| !kind.is_empty()) else {
        return Ok(own.collection.is_none()
            && own.sequential.is_none()
            && own.behavior.is_none()
            && own.element_variable.is_none()
            && own.completion_condition.is_none());
    };
    let word = kind.to_ascii_lowercase();
    match (word.contains("standard"), word.contains("multi")) {
        (true, false) => Ok(true),
        (false, true) => Ok(false),
        _ => Err(wrong(format!("kind: `{kind}` is neither `standard` nor `multiInstance`"))),
    }
}

fn text(settings: &Map<String, Value>, member: &str) -> Result<Option<Arc<str>>, Refused> {
    match settings.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().into())),
        Some(_) => Err(("wrongSetting", format!("loop.{member}: must be a text"), LOOP)),
    }
}

fn setting(member: &str, value: &Value) -> Result<Setting, Refused> {
    Setting::read(value).map_err(|message| ("expressionSyntax", format!("loop.{member}: {message}"), "8.4.6"))
}

/// A collection from the settings: an expression, a list, or the name of a variable.
fn collection(value: &Value) -> Result<Collection, Refused> {
    match setting("collection", value)? {
        Setting::Literal(Value::String(name)) => Ok(Collection::Variable(vec![name.trim().into()])),
        own @ (Setting::Expression(_) | Setting::Literal(Value::Array(_))) => Ok(Collection::Setting(own)),
        Setting::Literal(_) => {
            let sentence = "loop.collection: must be an expression, a list or the name of a variable";
            Err(("wrongSetting", sentence.to_owned(), LOOP))
        }
    }
}

/// Names under which the values of a data input may be found: what an association fills it from, its own name and its id.
fn names_of(node: &Node, reference: &str) -> Vec<Arc<str>> {
    let bpmn = node.bpmn.as_deref();
    let associations = bpmn.and_then(|bpmn| bpmn.data_associations.as_deref()).unwrap_or_default();
    let filled = associations.iter().filter(|own| own.target.as_deref() == Some(reference));
    let sources = filled.flat_map(|own| own.sources.iter().flatten());
    let inputs = bpmn.and_then(|bpmn| bpmn.data_inputs.as_deref()).unwrap_or_default();
    let own = inputs.iter().find(|own| own.id.as_deref() == Some(reference));
    let name = own.and_then(|own| own.name.as_deref()).filter(|name| !name.is_empty());
    sources.map(String::as_str).chain(name).chain([reference]).map(Arc::from).collect()
}

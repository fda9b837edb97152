//! Findings about a definition that lies outside the Common Executable sub-class, by its tables.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::{
    ELEMENTS, EVENTS, EXPRESSION_LANGUAGE, SERVICE_LANGUAGES, SUPPORTING, TYPE_LANGUAGE, models, words,
};
use crate::constraints::doc::Doc;
use crate::constraints::places::Places;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::element::{ElementKind as K, Group};
use heddle_bpmn::elements::{El, Elements};
use heddle_bpmn::model::WorkflowDefinition;
use heddle_bpmn::xml;
use std::borrow::Cow;

/// Most findings that are reported.
const MOST: usize = 1_000;

/// Elements that may stand below `definitions` beside those of Table 2.4.
const ROOTS: &[K] =
    &[K::Documentation, K::Extension, K::ExtensionElements, K::Import, K::Interface, K::Process];

/// Elements that may stand in a process or sub-process without being flow elements of Table 2.3.
const PLAIN: &[K] = &[
    K::Auditing,
    K::Documentation,
    K::ExtensionElements,
    K::Incoming,
    K::IoSpecification,
    K::Monitoring,
    K::Outgoing,
    K::DataInputAssociation,
    K::DataOutputAssociation,
];

/// Elements of the sub-class that have no part but those of Table 2.4.
const CLOSED: &[K] =
    &[K::MultiInstanceLoopCharacteristics, K::StandardLoopCharacteristics, K::TimerEventDefinition];

/// Deviations from the sub-class, each an error with the code `outsideProfile`: elements, events at their
/// places, and expressions, types and services in other languages; elements without an attribute that the
/// tables demand; conditions and default flows elsewhere than at their gateways. At most 1,000.
///
/// Nothing is found in a definition that can't be written as XML; the writer says why.
pub fn outside_common_executable(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let Ok(written) = xml::write_undrawn(definition) else { return Vec::new() };
    let Ok(tree) = Elements::parse(&written.xml) else { return Vec::new() };
    let doc = Doc::new(&tree);
    let mut check = Check { doc: &doc, found: Vec::new() };
    check.walk();
    let around: Vec<_> = check.found.iter().map(|(el, _)| doc.ids_around(*el)).collect();
    let places = Places::of(definition, around.iter().flatten().map(|id| &**id));
    let diagnostic = |((el, finding), around): (&(El, Finding), &Vec<Cow<'_, str>>)| {
        let mut found = diagnostic::error("outsideProfile", format!("{}: {}", doc.label(*el), finding.text))
            .with_clause("2.2")
            .with_remedy(finding.remedy);
        found.element_id = around.first().map(|id| id.clone().into_owned());
        found.path = around.iter().find_map(|id| places.get(id)).map(str::to_owned);
        found
    };
    check.found.iter().zip(&around).map(diagnostic).collect()
}

struct Finding {
    text: String,
    remedy: &'static str,
}

const REMODEL: &str = "Model the step with the elements of the sub-class, or ask for another profile.";
const COMPLETE: &str = "Add what the sub-class demands, or ask for another profile.";
const LANGUAGE: &str =
    "Use XML Schema for types, WSDL for services and XPath for data access, or ask for another profile.";

struct Check<'d, 't> {
    doc: &'d Doc<'t>,
    found: Vec<(El, Finding)>,
}

impl Check<'_, '_> {
    /// Every element of the model in document order, but for what extensions hold.
    fn walk(&mut self) {
        let mut open = vec![0];
        while let Some(el) = open.pop() {
            if self.found.len() >= MOST {
                return;
            }
            if !self.element(el) || self.doc.is_a(el, K::ExtensionElements) {
                continue;
            }
            let before = open.len();
            open.extend(self.doc.children(el));
            open[before..].reverse();
        }
    }

    fn outside(&mut self, el: El, text: String, remedy: &'static str) {
        self.found.push((el, Finding { text, remedy }));
    }

    /// Judges an element; answers whether what is in it is judged too.
    fn element(&mut self, el: El) -> bool {
        let kind = self.doc.kind(el);
        let around = self.doc.parent(el).and_then(|parent| self.doc.kind(parent));
        let Some(kind) = kind.filter(|kind| is_inside(*kind, around)) else {
            let text = format!("`{}` is no element of the sub-class here.", self.doc.name(el));
            self.outside(el, text, REMODEL);
            return false;
        };
        self.demanded(el, kind);
        match kind {
            K::SequenceFlow => self.flow(el),
            K::SubProcess => self.sub_process(el),
            K::Import => self.import(el),
            K::Definitions => self.languages(el),
            kind if kind.is_gateway() => self.gateway(el),
            kind if EVENTS.iter().any(|(own, _)| *own == kind) => self.event(el, kind),
            kind => self.expression(el, kind),
        }
        true
    }

    /// The attributes and parts that the element's row demands.
    fn demanded(&mut self, el: El, kind: K) {
        let Some((feature, attributes)) = self.row(el, kind) else { return };
        let demanded = words(attributes).filter(|(_, required)| *required);
        let missing: Vec<&str> =
            demanded.map(|(word, _)| word).filter(|word| !self.has(el, feature, word)).collect();
        if !missing.is_empty() {
            self.outside(el, format!("the sub-class demands `{}`.", missing.join("`, `")), COMPLETE);
        }
    }

    /// The row that speaks of the element: of several, the one of its event definition.
    fn row(&self, el: El, kind: K) -> Option<(&'static str, &'static str)> {
        let rows = || ELEMENTS.iter().chain(SUPPORTING).filter(|(_, own, _)| *own == kind);
        let trigger = self.triggers(el).into_iter().next();
        let typed = trigger.and_then(|kind| {
            let definition = format!("{kind}EventDefinition");
            rows().find(|(_, _, attributes)| words(attributes).any(|(word, _)| word == definition))
        });
        typed.or_else(|| rows().next()).map(|(feature, _, attributes)| (*feature, *attributes))
    }

    /// Whether the element has an attribute or a part of its row; its form is the one of the row's model.
    fn has(&self, el: El, feature: &str, word: &str) -> bool {
        if word.ends_with("EventDefinition") || matches!(word, "boundaryEventRefs" | "default") {
            // Told by the event's triggers, by the boundary event, and by the flow's source.
            return true;
        }
        if word == "flowElement" {
            return self.doc.children(el).any(|kid| self.doc.kind(kid).is_some_and(is_flow));
        }
        let Some(mark) = models::model(feature).and_then(|model| models::mark(model, word)) else {
            return true;
        };
        let given = |name: &str| self.doc.attr(el, name).is_some_and(|value| !value.trim().is_empty());
        match mark.split_once('=') {
            Some((name, _)) => given(name),
            None => K::named(mark).is_some_and(|kind| self.doc.kid(el, kind).is_some()),
        }
    }

    /// The types of the event's definitions; those that it refers to as well, and `reference` where that leads nowhere.
    fn triggers(&self, el: El) -> Vec<String> {
        let kind = |el: El| self.doc.name(el).strip_suffix("EventDefinition").map(str::to_owned);
        let kids = self.doc.children(el).filter_map(|kid| {
            if !self.doc.is_a(kid, K::EventDefinitionRef) {
                return kind(kid);
            }
            let target = self.doc.find(&self.doc.text(kid));
            Some(target.and_then(kind).unwrap_or_else(|| "reference".to_owned()))
        });
        kids.collect()
    }

    fn event(&mut self, el: El, kind: K) {
        let Some((_, allowed)) = EVENTS.iter().find(|(own, _)| *own == kind) else { return };
        let triggers = self.triggers(el);
        if triggers.is_empty() && !allowed.contains(&"") {
            self.outside(
                el,
                "the sub-class has no event of this kind without a definition.".to_owned(),
                REMODEL,
            );
        }
        if triggers.len() > 1 {
            self.outside(el, "the sub-class has no multiple events.".to_owned(), REMODEL);
        }
        if let Some(foreign) = triggers.iter().find(|kind| !allowed.contains(&kind.as_str())) {
            self.outside(el, format!("the sub-class has no event `{foreign}` here."), REMODEL);
        }
        let interrupts =
            self.doc.attr(el, "cancelActivity").is_none_or(|value| matches!(value.trim(), "true" | "1"));
        if kind == K::BoundaryEvent && !interrupts {
            self.outside(el, "an error interrupts its activity.".to_owned(), REMODEL);
        }
    }

    fn flow(&mut self, el: El) {
        let source = self.doc.refers(el, "sourceRef");
        let conditional = self.doc.kid(el, K::ConditionExpression).is_some();
        if conditional && source.is_some_and(|source| !self.doc.is_a(source, K::ExclusiveGateway)) {
            let text = "only a flow out of an exclusive gateway has a condition in the sub-class.".to_owned();
            self.outside(el, text, REMODEL);
        }
    }

    fn gateway(&mut self, el: El) {
        let direction = self.doc.attr(el, "gatewayDirection");
        let direction = direction.as_deref().map_or("Unspecified", str::trim);
        if !matches!(direction, "Converging" | "Diverging") {
            let text =
                format!("a gateway is `Converging` or `Diverging` in the sub-class, not `{direction}`.");
            self.outside(el, text, COMPLETE);
        }
    }

    fn sub_process(&mut self, el: El) {
        if self.doc.truth(el, "triggeredByEvent") {
            self.outside(el, "the sub-class has no event sub-processes.".to_owned(), REMODEL);
        }
    }

    fn import(&mut self, el: El) {
        let language = self.doc.attr(el, "importType").unwrap_or_default();
        let known = language.trim() == TYPE_LANGUAGE || SERVICE_LANGUAGES.contains(&language.trim());
        if !known {
            self.outside(el, format!("`{language}` is neither XML Schema nor WSDL."), LANGUAGE);
        }
    }

    fn languages(&mut self, el: El) {
        for (attribute, wanted) in
            [("expressionLanguage", EXPRESSION_LANGUAGE), ("typeLanguage", TYPE_LANGUAGE)]
        {
            let other = self.doc.attr(el, attribute).filter(|language| language.trim() != wanted);
            if let Some(language) = other {
                self.outside(
                    el,
                    format!("`{attribute}` is `{language}`, the sub-class demands `{wanted}`."),
                    LANGUAGE,
                );
            }
        }
    }

    /// The language of an expression, and the default flow of what is no gateway.
    fn expression(&mut self, el: El, kind: K) {
        let other = self.doc.attr(el, "language").filter(|language| language.trim() != EXPRESSION_LANGUAGE);
        if let Some(language) = other {
            let text =
                format!("the language is `{language}`, the sub-class demands `{EXPRESSION_LANGUAGE}`.");
            self.outside(el, text, LANGUAGE);
        }
        if !kind.is_gateway() && self.doc.attr(el, "default").is_some() {
            self.outside(el, "only a gateway has a default flow in the sub-class.".to_owned(), REMODEL);
        }
        if self.doc.truth(el, "isForCompensation") {
            self.outside(el, "the sub-class has no compensation.".to_owned(), REMODEL);
        }
    }
}

/// Whether an element of the sub-class may stand in this one.
fn is_inside(kind: K, around: Option<K>) -> bool {
    match around {
        None => true,
        Some(K::Definitions) => {
            ROOTS.contains(&kind)
                || SUPPORTING.iter().any(|(_, own, _)| *own == kind)
                || is_event_definition(kind)
        }
        Some(K::Process) => {
            is_flow(kind) || PLAIN.contains(&kind) || matches!(kind, K::Property | K::SupportedInterfaceRef)
        }
        Some(K::SubProcess) => is_flow(kind) || PLAIN.contains(&kind) || is_part_of_sub_process(kind),
        Some(parent) => {
            !CLOSED.contains(&parent)
                || in_table(parent, kind)
                || matches!(kind, K::Documentation | K::ExtensionElements)
        }
    }
}

fn is_flow(kind: K) -> bool {
    ELEMENTS.iter().any(|(_, own, _)| *own == kind)
        && !matches!(kind, K::DataInputAssociation | K::DataOutputAssociation)
}

/// Event definitions of the sub-class, which may stand at the root.
fn is_event_definition(kind: K) -> bool {
    let trigger = kind.name().strip_suffix("EventDefinition");
    trigger.is_some_and(|trigger| EVENTS.iter().any(|(_, kinds)| kinds.contains(&trigger)))
}

fn is_part_of_sub_process(kind: K) -> bool {
    matches!(kind.group(), Group::LoopCharacteristics | Group::ResourceRole) || kind == K::Property
}

/// Whether the row of an element names this part.
fn in_table(element: K, part: K) -> bool {
    let rows = SUPPORTING.iter().filter(|(_, own, _)| *own == element);
    rows.into_iter().any(|(feature, _, attributes)| {
        let Some(model) = models::model(feature) else { return false };
        words(attributes).any(|(word, _)| models::mark(model, word) == Some(part.name()))
    })
}

//! Which values of BPMN and CMMN have several lexical forms.

use std::borrow::Cow;

use super::tree::{Name, Scope};
use super::{CASE_MODELS, MODEL};

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Namespaces of the standards.
const STANDARD: &[&str] = &[
    MODEL,
    CASE_MODELS[0],
    CASE_MODELS[1],
    "http://www.omg.org/spec/CMMN/20151109/CMMNDI",
    "http://www.omg.org/spec/CMMN/20151109/DC",
    "http://www.omg.org/spec/CMMN/20151109/DI",
    "http://www.omg.org/spec/BPMN/20100524/DI",
    "http://www.omg.org/spec/DD/20100524/DC",
    "http://www.omg.org/spec/DD/20100524/DI",
];

const BOOLEANS: &[&str] = &[
    "autoComplete",
    "cancelActivity",
    "cancelRemainingInstances",
    "instantiate",
    "isBlocking",
    "isBold",
    "isClosed",
    "isCollapsed",
    "isCollection",
    "isExecutable",
    "isExpanded",
    "isForCompensation",
    "isHorizontal",
    "isImmediate",
    "isInterrupting",
    "isItalic",
    "isMarkerVisible",
    "isMessageVisible",
    "isPlanningTableCollapsed",
    "isRequired",
    "isSequential",
    "isStandardEventVisible",
    "isStrikeThrough",
    "isUnderline",
    "isUnlimited",
    "mustUnderstand",
    "parallelMultiple",
    "testBefore",
    "triggeredByEvent",
    "waitForCompletion",
];

const NUMBERS: &[&str] = &[
    "capacity",
    "completionQuantity",
    "height",
    "loopMaximum",
    "maximum",
    "minimum",
    "resolution",
    "size",
    "startQuantity",
    "width",
    "x",
    "y",
];

const NAMES: &[&str] = &[
    "activityRef",
    "attachedToRef",
    "bpmnElement",
    "calledChoreographyRef",
    "calledCollaborationRef",
    "calledElement",
    "caseRef",
    "categoryRef",
    "categoryValueRef",
    "choreographyActivityShape",
    "cmmnElementRef",
    "correlationKeyRef",
    "correlationPropertyRef",
    "dataObjectRef",
    "dataStoreRef",
    "decisionRef",
    "default",
    "definition",
    "definitionRef",
    "definitionalCollaborationRef",
    "errorRef",
    "escalationRef",
    "evaluatesToTypeRef",
    "externalRef",
    "implementationRef",
    "importRef",
    "initiatingParticipantRef",
    "itemRef",
    "itemSubjectRef",
    "labelStyle",
    "messageRef",
    "noneBehaviorEventRef",
    "oneBehaviorEventRef",
    "operationRef",
    "parameterRef",
    "partitionElementRef",
    "processRef",
    "signalRef",
    "sourceCMMNElementRef",
    "sourceElement",
    "sourceRef",
    "structureRef",
    "targetCMMNElementRef",
    "targetElement",
    "targetRef",
];

/// Elements whose content is a qualified name or an id.
const REFERENCES: &[&str] = &[
    "categoryValueRef",
    "choreographyRef",
    "correlationPropertyRef",
    "dataInputRefs",
    "dataOutputRefs",
    "endPointRef",
    "errorRef",
    "eventDefinitionRef",
    "flowNodeRef",
    "inMessageRef",
    "incoming",
    "innerConversationNodeRef",
    "innerMessageFlowRef",
    "innerParticipantRef",
    "inputSetRefs",
    "interfaceRef",
    "loopDataInputRef",
    "loopDataOutputRef",
    "messageFlowRef",
    "operationRef",
    "optionalInputRefs",
    "optionalOutputRefs",
    "outMessageRef",
    "outerConversationNodeRef",
    "outerMessageFlowRef",
    "outerParticipantRef",
    "outgoing",
    "outputSetRefs",
    "participantRef",
    "resourceRef",
    "source",
    "sourceRef",
    "supportedInterfaceRef",
    "supports",
    "target",
    "targetRef",
    "whileExecutingInputRefs",
    "whileExecutingOutputRefs",
];

/// Elements whose content is text or an expression: every character counts.
const TEXTS: &[&str] = &[
    "activationCondition",
    "bindingRefinement",
    "caseRefExpression",
    "completionCondition",
    "condition",
    "conditionExpression",
    "dataPath",
    "decisionRefExpression",
    "documentation",
    "expression",
    "formalExpression",
    "from",
    "loopCardinality",
    "loopCondition",
    "messagePath",
    "processRefExpression",
    "script",
    "text",
    "timeCycle",
    "timeDate",
    "timeDuration",
    "timerExpression",
    "to",
    "transformation",
];

/// Lexical form of a value, with the namespaces in whose scope it stands.
#[derive(Clone, Copy)]
pub(crate) struct Lexical<'a> {
    /// The text.
    pub(crate) text: &'a str,
    /// The namespaces in scope.
    pub(crate) scope: &'a Scope,
}

/// Kind of a value, by the lexical forms that mean the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One form for each value.
    Text,
    /// `true` and `1`, `false` and `0`.
    Boolean,
    /// Any way to write the number.
    Number,
    /// A qualified name; without a prefix it is an id.
    Name,
    /// A qualified name; without a prefix it is of the default namespace.
    TypeName,
}

impl Kind {
    /// The kind of an attribute.
    pub(crate) fn of_attribute(element: &Name, attribute: &Name) -> Self {
        if attribute.ns == XSI && attribute.local == "type" {
            return Self::TypeName;
        }
        if !attribute.ns.is_empty() || !STANDARD.contains(&element.ns.as_str()) {
            return Self::Text;
        }
        let local = attribute.local.as_str();
        if BOOLEANS.contains(&local) {
            Self::Boolean
        } else if NUMBERS.contains(&local) {
            Self::Number
        } else if NAMES.contains(&local)
            || (local == "type" && matches!(&*element.local, "resourceParameter" | "correlationProperty"))
        {
            Self::Name
        } else {
            Self::Text
        }
    }

    /// Whether two lexical forms in their scopes mean the same.
    pub(crate) fn same(self, left: Lexical<'_>, right: Lexical<'_>) -> bool {
        let (own, other) = (left.text, right.text);
        let equal = match self {
            Self::Text => return own == other,
            Self::Boolean => truth(own).is_some() && truth(own) == truth(other),
            Self::Number => match (own.trim().parse::<f64>(), other.trim().parse::<f64>()) {
                (Ok(own), Ok(other)) => own == other,
                _ => false,
            },
            Self::Name => resolved(own, left.scope, false) == resolved(other, right.scope, false),
            Self::TypeName => resolved(own, left.scope, true) == resolved(other, right.scope, true),
        };
        equal || (self != Self::TypeName && self != Self::Name && own == other)
    }
}

fn truth(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// A qualified name with its namespace; as it is when its prefix is not bound.
fn resolved<'v>(name: &'v str, scope: &Scope, with_default: bool) -> Cow<'v, str> {
    let name = name.trim();
    let (prefix, local) = name.split_once(':').unwrap_or(("", name));
    if prefix.is_empty() && !with_default {
        return Cow::Borrowed(name);
    }
    match scope.get(prefix) {
        Some(uri) => Cow::Owned(format!("{{{uri}}}{local}")),
        None => Cow::Borrowed(name),
    }
}

/// Style of comparison of an element's character data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    /// Every character.
    Exact,
    /// A qualified name.
    Name,
    /// Text where the standard has none: without the white space around it.
    Stray,
}

impl TextStyle {
    /// The style of an element.
    pub(crate) fn of(element: &Name) -> Self {
        let local = element.local.as_str();
        if !STANDARD.contains(&element.ns.as_str()) || TEXTS.contains(&local) {
            Self::Exact
        } else if REFERENCES.contains(&local) {
            Self::Name
        } else {
            Self::Stray
        }
    }

    /// The text in the form in which it is compared.
    pub(crate) fn normal<'v>(self, text: &'v str, scope: &Scope) -> Cow<'v, str> {
        match self {
            Self::Exact => Cow::Borrowed(text),
            Self::Name => resolved(text, scope, false),
            Self::Stray => Cow::Borrowed(text.trim()),
        }
    }
}

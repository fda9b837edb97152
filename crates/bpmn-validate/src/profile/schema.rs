//! The sub-class as a JSON Schema, from the same tables as the check.

use heddle_bpmn::element::ElementKind as K;

use super::{ELEMENTS, EVENTS, EXPRESSION_LANGUAGE, SUPPORTING, TYPE_LANGUAGE, words};
use serde_json::{Value, json};

/// Attributes of the tables with the members that hold them: the member's path below a node.
const MEMBERS: &[(&str, &[&str])] = &[
    ("id", &["id"]),
    ("name", &["displayName"]),
    ("gatewayDirection", &["bpmn", "gatewayDirection"]),
    ("implementation", &["bpmn", "implementation"]),
    ("operationRef", &["bpmn", "operationRef"]),
    ("calledElement", &["bpmn", "calledElement"]),
    ("attachedToRef", &["bpmn", "attachedToRef"]),
    ("messageEventDefinition", &["bpmn", "eventDefinitions"]),
    ("timerEventDefinition", &["bpmn", "eventDefinitions"]),
    ("errorEventDefinition", &["bpmn", "eventDefinitions"]),
    ("flowElement", &["bpmn", "subProcess", "nodes"]),
];

/// Elements of Table 2.3 that are no nodes.
const NO_NODES: &[K] =
    &[K::SequenceFlow, K::DataObject, K::DataInputAssociation, K::DataOutputAssociation, K::TextAnnotation];

fn nodes() -> Vec<K> {
    let mut kinds: Vec<K> = ELEMENTS.iter().map(|(_, element, _)| *element).collect();
    kinds.retain(|kind| !NO_NODES.contains(kind));
    kinds.sort_unstable_by_key(|kind| kind.name());
    kinds.dedup();
    kinds
}

/// Attributes and parts that every row of an element demands.
fn demanded(element: K) -> Vec<&'static str> {
    let rows = ELEMENTS.iter().chain(SUPPORTING).filter(|(_, own, _)| *own == element);
    let rows: Vec<Vec<&str>> = rows
        .map(|(_, _, attributes)| {
            words(attributes).filter(|(_, required)| *required).map(|(word, _)| word).collect()
        })
        .collect();
    let Some((first, others)) = rows.split_first() else { return Vec::new() };
    first.iter().copied().filter(|word| others.iter().all(|row| row.contains(word))).collect()
}

/// A value that must be there at a path.
fn required(path: &[&str]) -> Value {
    match path {
        [] => json!({"type": ["string", "array"], "minLength": 1, "minItems": 1}),
        [member, rest @ ..] => json!({"required": [member], "properties": {*member: required(rest)}}),
    }
}

fn when(element: K, then: Vec<Value>) -> Value {
    json!({"if": {"properties": {"type": {"const": element.name()}}, "required": ["type"]}, "then": {"allOf": then}})
}

/// Schema that a node of this element must meet.
fn node(element: K) -> Value {
    let wanted = demanded(element);
    let members = MEMBERS.iter().filter(|(word, _)| wanted.contains(word));
    let mut then: Vec<Value> = members.map(|(_, path)| required(path)).collect();
    if element.is_gateway() {
        then.push(json!({"properties": {"bpmn": {"properties": {
            "gatewayDirection": {"enum": ["Converging", "Diverging"]}}}}}));
    } else {
        then.push(json!({"properties": {"bpmn": {"properties": {
        "activity": {"type": ["object", "null"], "properties": {
            "defaultFlow": {"type": "null"},
            "forCompensation": {"enum": [false, null]}
        }}}}}}));
    }
    if let Some((_, kinds)) = EVENTS.iter().find(|(own, _)| *own == element) {
        let named: Vec<&str> = kinds.iter().copied().filter(|kind| !kind.is_empty()).collect();
        then.push(json!({"properties": {"bpmn": {"properties": {"eventDefinitions": {
            "minItems": usize::from(!kinds.contains(&"")), "maxItems": 1,
            "items": {"properties": {"type": {"enum": named}}}}}}}}));
    }
    when(element, then)
}

/// The loops of Table 2.4: nothing but what their rows name.
fn loops() -> Value {
    let none = json!({"type": ["null"]});
    let nothing = json!({"type": ["array", "null"], "maxItems": 0});
    json!({
        "type": ["object", "null"],
        "oneOf": [
            {"type": "null"},
            {"required": ["kind", "loopCondition"], "properties": {"kind": {"const": "standard"}, "id": {"type": "string"},
                "loopCondition": {"type": "string"}}},
            {"required": ["kind", "collection", "elementVariable"], "properties": {
                "kind": {"const": "multiInstance"}, "id": {"type": "string"},
                "collection": {"type": "string"}, "elementVariable": {"type": "string"},
                "loopCondition": none, "completionCondition": none, "complexBehaviorDefinitions": nothing}}
        ]
    })
}

/// The names of the members of a model's root that hold what the sub-class does not have.
const FOREIGN: &[&str] = &[
    "categories",
    "choreographies",
    "collaborations",
    "conversations",
    "dataStores",
    "escalations",
    "relationships",
    "signals",
];

/// A JSON Schema (draft 2020-12) for definitions that keep to the sub-class: its elements, the attributes that each must
/// have, events at their places, loops, gateways' directions, languages.
pub fn common_executable_schema() -> Value {
    let kinds = nodes();
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let each: Vec<Value> = kinds.into_iter().map(node).collect();
    let nothing = json!({"type": ["array", "null"], "maxItems": 0});
    let mut root = serde_json::Map::new();
    for name in FOREIGN {
        root.insert((*name).to_owned(), nothing.clone());
    }
    root.insert(
        "processes".to_owned(),
        json!({"type": ["array", "null"], "items": {"$ref": "#/$defs/content"}}),
    );
    root.insert("expressionLanguage".to_owned(), json!({"enum": [EXPRESSION_LANGUAGE, null]}));
    root.insert("typeLanguage".to_owned(), json!({"enum": [TYPE_LANGUAGE, null]}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A workflow definition of the Common Executable sub-class of BPMN 2.0.2",
        "type": "object",
        "properties": {
            "nodes": {"$ref": "#/$defs/nodes"},
            "edges": {"$ref": "#/$defs/edges"},
            "bpmn": {"type": ["object", "null"], "properties": root}
        },
        "$defs": {
            "nodes": {"type": ["array", "null"], "items": {"$ref": "#/$defs/node"}},
            "edges": {"type": ["array", "null"], "items": {"$ref": "#/$defs/edge"}},
            "content": {"type": "object", "properties": {
                "nodes": {"$ref": "#/$defs/nodes"},
                "edges": {"$ref": "#/$defs/edges"},
                "laneSets": nothing,
                "dataStores": nothing,
                "dataObjects": {"type": ["array", "null"], "items": {
                    "required": ["id", "name", "itemSubjectRef"],
                    "properties": {"elementType": {"enum": [K::DataObject.name(), null]}}}},
                "artifacts": {"type": ["array", "null"], "items": {
                    "required": ["id", "text"], "properties": {"elementType": {"enum": [K::TextAnnotation.name(), null]}}}}
            }},
            "edge": {
                "type": "object",
                "required": demanded(K::SequenceFlow).iter().map(|word| match *word {
                    "sourceRef" => "source",
                    "targetRef" => "target",
                    other => other,
                }).collect::<Vec<&str>>(),
                "properties": {
                    "type": {"enum": [K::SequenceFlow.name(), null]},
                    "bpmn": {"type": ["object", "null"], "properties": {
                        "conditionLanguage": {"enum": [EXPRESSION_LANGUAGE, null]}}}
                }
            },
            "node": {
                "type": "object",
                "required": ["id", "type"],
                "properties": {
                    "type": {"enum": names},
                    "bpmn": {"type": ["object", "null"], "properties": {
                        "activity": {"type": ["object", "null"], "properties": {"loop": {"$ref": "#/$defs/loop"}}},
                        "subProcess": {"$ref": "#/$defs/content"},
                        "isTransaction": {"enum": [false, null]},
                        "cancelActivity": {"enum": [true, null]},
                        "triggeredByEvent": {"enum": [false, null]}
                    }}
                },
                "allOf": each
            },
            "loop": loops()
        }
    })
}

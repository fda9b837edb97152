//! Members of nodes that their elements cannot have.
//!
//! Only a definition that was written by hand holds them: a document keeps such content as it stands.

use super::{Findings, below};
use heddle_bpmn::diagnostic::{self, Severity};
use heddle_bpmn::element::{ElementKind as K, Group};
use heddle_bpmn::model::{GraphRef, NodeBpmn};

/// A member, and where it may stand.
struct Member {
    name: &'static str,
    given: fn(&NodeBpmn) -> bool,
    fits: fn(K) -> bool,
    /// Words for the elements that have it.
    of: &'static str,
    severity: Severity,
    clause: &'static str,
}

fn some<T>(list: Option<&[T]>) -> bool {
    list.is_some_and(|list| !list.is_empty())
}

fn told(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

fn catches(kind: K) -> bool {
    kind.group() == Group::CatchEvent
}

fn throws(kind: K) -> bool {
    kind.group() == Group::ThrowEvent
}

fn works(kind: K) -> bool {
    kind.is_activity() || kind.is_event()
}

macro_rules! member {
    ($name:literal $severity:ident $clause:literal, $of:literal, $given:expr, $fits:expr) => {
        Member {
            name: $name,
            given: $given,
            fits: $fits,
            of: $of,
            severity: Severity::$severity,
            clause: $clause,
        }
    };
}

/// Lists and references that say something about the flow or its data are errors, words that have no effect warnings.
const MEMBERS: &[Member] = &[
    member!("properties" Error "10.4.1", "processes, activities and events", |own| some(own.properties.as_deref()), works),
    member!("dataAssociations" Error "10.4.2", "activities and events", |own| some(own.data_associations.as_deref()), works),
    member!("eventDefinitions" Error "10.5.1", "events", |own| some(own.event_definitions.as_deref()), K::is_event),
    member!("attachedToRef" Error "10.5.4", "boundary events", |own| told(own.attached_to_ref.as_deref()), |kind| {
        kind == K::BoundaryEvent
    }),
    member!("dataInputs" Error "10.4.1", "activities and throwing events", |own| some(own.data_inputs.as_deref()), |kind| {
        kind.is_activity() || throws(kind)
    }),
    member!("inputSets" Error "10.4.1", "activities and throwing events", |own| some(own.input_sets.as_deref()), |kind| {
        kind.is_activity() || throws(kind)
    }),
    member!("dataOutputs" Error "10.4.1", "activities and catching events", |own| some(own.data_outputs.as_deref()), |kind| {
        kind.is_activity() || catches(kind)
    }),
    member!("outputSets" Error "10.4.1", "activities and catching events", |own| some(own.output_sets.as_deref()), |kind| {
        kind.is_activity() || catches(kind)
    }),
    member!("resources" Error "10.3.1", "activities", |own| some(own.resources.as_deref()), K::is_activity),
    member!("defaultFlow" Error "8.4.13", "activities and exclusive, inclusive and complex gateways", |own| {
        told(own.default_flow.as_deref())
    }, |kind| {
        kind.is_activity() || matches!(kind, K::ExclusiveGateway | K::InclusiveGateway | K::ComplexGateway)
    }),
    member!("activationCondition" Warning "10.6.5", "complex gateways", |own| {
        told(own.activation_condition.as_deref())
    }, |kind| kind == K::ComplexGateway),
    member!("eventGatewayType" Warning "10.6.6", "event-based gateways", |own| {
        told(own.event_gateway_type.as_deref())
    }, |kind| kind == K::EventBasedGateway),
    member!("instantiate" Warning "10.6.6", "receive tasks and event-based gateways", |own| {
        own.instantiate == Some(true)
    }, |kind| matches!(kind, K::ReceiveTask | K::EventBasedGateway)),
    member!("cancelActivity" Warning "10.5.4", "boundary events", |own| own.cancel_activity == Some(false), |kind| {
        kind == K::BoundaryEvent
    }),
    member!("isInterrupting" Warning "10.5.2", "start events", |own| own.is_interrupting == Some(false), |kind| {
        kind == K::StartEvent
    }),
    member!("parallelMultiple" Warning "10.5.1", "catching events", |own| own.parallel_multiple == Some(true), catches),
    member!("triggeredByEvent" Warning "10.3.5", "sub-processes", |own| own.triggered_by_event == Some(true), |kind| {
        kind.group() == Group::SubProcess
    }),
    member!("messageRef" Warning "10.3.3.1", "send and receive tasks", |own| told(own.message_ref.as_deref()), |kind| {
        matches!(kind, K::SendTask | K::ReceiveTask)
    }),
    member!("calledElement" Warning "10.3.6", "call activities", |own| told(own.called_element.as_deref()), |kind| {
        kind == K::CallActivity
    }),
];

/// Checks the nodes of a graph.
pub(super) fn check(graph: &GraphRef<'_>, findings: &mut Findings) {
    for (at, node) in graph.nodes.iter().enumerate() {
        let (Some(bpmn), Some(kind)) = (node.bpmn.as_deref(), node.kind()) else { continue };
        if !kind.group().is_flow_node() {
            continue;
        }
        for member in MEMBERS.iter().filter(|member| (member.given)(bpmn) && !(member.fits)(kind)) {
            let message =
                format!("`{}` has no place at a {}: only {} have it.", member.name, kind.name(), member.of);
            let found =
                diagnostic::new(member.severity, "unexpectedContent", message).with_clause(member.clause);
            findings.add(found, node.element_id(), || {
                below(&graph.path, "nodes", at, &format!("bpmn.{}", member.name))
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::structure;
    use heddle_bpmn::diagnostic::Severity;
    use heddle_bpmn::model::WorkflowDefinition;
    use serde_json::{Value, json};

    /// Severity of the finding on a node with a member; none without one.
    fn told(element: &str, member: &str, value: &Value) -> Option<Severity> {
        let mut bpmn = json!({});
        bpmn[member] = value.clone();
        let definition = json!({"nodes": [{"id": "a", "type": "task"}, {"id": "x", "type": element, "bpmn": bpmn}],
            "edges": [{"id": "f", "source": "x", "target": "a"}]});
        let definition: WorkflowDefinition = serde_json::from_value(definition).unwrap();
        let path = format!("nodes[1].bpmn.{member}");
        let found = structure(&definition);
        let own =
            found.into_iter().find(|one| one.code == "unexpectedContent" && one.path.as_ref() == Some(&path));
        own.map(|one| one.severity)
    }

    #[test]
    fn a_member_stands_where_the_standard_has_it() {
        let (error, warning) = (Some(Severity::Error), Some(Severity::Warning));
        for (member, value, good, bad, expected) in [
            ("properties", json!([{"id": "p"}]), "userTask", "exclusiveGateway", error),
            ("properties", json!([{"id": "p"}]), "startEvent", "eventBasedGateway", error),
            ("eventDefinitions", json!([{"type": "signal"}]), "intermediateCatchEvent", "task", error),
            ("attachedToRef", json!("a"), "boundaryEvent", "intermediateCatchEvent", error),
            ("dataInputs", json!([{"id": "d"}]), "intermediateThrowEvent", "startEvent", error),
            ("outputSets", json!([{"id": "d"}]), "startEvent", "parallelGateway", error),
            ("resources", json!([{"id": "r"}]), "userTask", "startEvent", error),
            ("defaultFlow", json!("f"), "inclusiveGateway", "parallelGateway", error),
            ("defaultFlow", json!("f"), "task", "startEvent", error),
            ("instantiate", json!(true), "receiveTask", "sendTask", warning),
            ("messageRef", json!("m"), "sendTask", "userTask", warning),
            ("triggeredByEvent", json!(true), "subProcess", "task", warning),
        ] {
            assert_eq!(told(good, member, &value), None, "{member} at {good}");
            assert_eq!(told(bad, member, &value), expected, "{member} at {bad}");
        }
        // What says nothing is no content.
        assert_eq!(told("task", "eventDefinitions", &json!([])), None);
        assert_eq!(told("task", "cancelActivity", &json!(true)), None);
    }
}

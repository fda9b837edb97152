//! Flow nodes and sequence flows.

use super::data::{
    DATA_ASSOCIATION, DATA_ITEM, INPUT_SET, IO_SPECIFICATION, IoSpecification, OUTPUT_SET, PROPERTY,
    RESOURCE_ROLE, association_name, role_name,
};
use super::data_text;
use super::event::{read_definition, read_loop, write_definitions, write_loop};
use super::process::LANE_SET;
use crate::model::{Condition, DataAssociation, Edge, EdgeLoop, Node, ResourceRole};
use crate::xml::names::{element_row, kind, kind_named};
use crate::xml::read;
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of, group};
use crate::xml::write;
use crate::xml::{Group, XmlError, extensions};
use heddle_xml::mapping::{Attr, Extensions, Lexical, Lexis, Match};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Members of a node that BPMN has no place for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeData {
    #[serde(skip_serializing_if = "Option::is_none")]
    configuration: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
}

/// Members of an edge that BPMN has no place for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EdgeData {
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#loop: Option<EdgeLoop>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
}

const NODE: &[Attr<Node>] = &[attr!(Text "id" id), attr!(Text "name" display_name)];

const NODE_HEAD: &[Child<Node>] = &[
    leaves!(Node: Text "documentation" bpmn.documentation),
    child!("extensionElements", read_extensions, write_extensions),
    kept!("auditing"),
    kept!("monitoring"),
    kept!("categoryValueRef"),
    child!("incoming", read_flow_ref, write::flows::flow_refs),
    Child { matches: Match::Kind(kind("outgoing")), read: Some(read_flow_ref), write: None },
];

fn read_flow_ref(reader: &mut Reader<'_>, _: &mut Node, el: El) -> Result<bool, XmlError> {
    read::flows::flow_ref(reader, el);
    Ok(true)
}

fn read_extensions(reader: &mut Reader<'_>, node: &mut Node, el: El) -> Result<bool, XmlError> {
    let bpmn = node.bpmn.get_or_insert_default();
    if bpmn.extension_xml.is_some() {
        return Ok(false);
    }
    let Some(Extensions { data, others, fragments }) = reader.extensions::<NodeData>(el) else {
        return Ok(false);
    };
    if data.is_none() || !others.is_empty() {
        bpmn.extension_xml = Some(fragments);
    }
    reader.keep_attributes(el);
    for &child in &others {
        extensions::note_extension(reader, child);
    }
    let data = data.unwrap_or_default();
    node.configuration = data.configuration;
    if data.r#type.is_some() {
        node.r#type = data.r#type;
        bpmn.element_type = data.element_type;
    }
    if data.method.is_some() || data.protocol.is_some() {
        let activity = bpmn.activity.get_or_insert_default();
        (activity.method, activity.protocol) = (data.method, data.protocol);
    }
    Ok(true)
}

fn write_extensions(writer: &mut Writer<'_>, node: &Node) {
    let bpmn = node.bpmn.as_deref();
    let activity = bpmn.and_then(|bpmn| bpmn.activity.as_ref());
    let fragments = bpmn.and_then(|bpmn| bpmn.extension_xml.as_deref());
    let mut data = NodeData {
        method: activity.and_then(|activity| activity.method.clone()),
        protocol: activity.and_then(|activity| activity.protocol.clone()),
        ..NodeData::default()
    };
    if node.r#type.as_deref() != Some(element_name(node)) {
        data.r#type.clone_from(&node.r#type);
        data.element_type = bpmn.and_then(|bpmn| bpmn.element_type.clone());
    }
    let derived = extensions::derived(writer, node, element_name(node), fragments.unwrap_or_default());
    match &node.configuration {
        Some(configuration) if *configuration != derived => data.configuration = Some(configuration.clone()),
        // Words that say something would be read as settings again.
        None if !derived.is_empty() => data.configuration = Some(Map::new()),
        _ => {}
    }
    writer.extensions(data_text(&data), fragments);
}

/// The id of the default flow stands in the activity, or, in a definition written by hand, beside it.
const DEFAULT: Attr<Node> = Attr {
    name: "default",
    lexis: Lexis::Reference,
    get: |node| {
        let bpmn = node.bpmn.as_ref()?;
        let own = bpmn.activity.as_ref().and_then(|activity| activity.default_flow.as_ref());
        own.or(bpmn.default_flow.as_ref()).map(Lexical::print)
    },
    set: |node, text| {
        let activity = node.bpmn.get_or_insert_default().activity.get_or_insert_default();
        activity.default_flow = Some(text.into_owned());
        true
    },
};

const ACTIVITY: &[Attr<Node>] = &[
    attr!(Typed "isForCompensation" bpmn.activity.for_compensation),
    attr!(Typed "startQuantity" bpmn.activity.start_quantity),
    attr!(Typed "completionQuantity" bpmn.activity.completion_quantity),
    DEFAULT,
];

const ACTIVITY_PARTS: &[Child<Node>] = &[
    child!("ioSpecification", read_io, write_io),
    many!(Node: "property" PROPERTY bpmn.properties),
    child!("dataInputAssociation", read_association, |writer, node| {
        write_associations(writer, node, "dataInputAssociation");
    }),
    child!("dataOutputAssociation", read_association, |writer, node| {
        write_associations(writer, node, "dataOutputAssociation");
    }),
    Child {
        matches: any_of(Group::ResourceRole),
        read: Some(|reader, node, el| read_role(reader, at_mut!(node; bpmn.resources), el)),
        write: Some(|writer, node| {
            let roles = node.bpmn.as_ref().and_then(|bpmn| bpmn.resources.as_deref());
            write_roles(writer, roles.unwrap_or_default());
        }),
    },
    Child {
        matches: any_of(Group::LoopCharacteristics),
        read: Some(|reader, node, el| read_loop(reader, at_mut!(node; bpmn.activity.r#loop), el)),
        write: Some(|writer, node| {
            let activity = node.bpmn.as_ref().and_then(|bpmn| bpmn.activity.as_ref());
            if let Some(characteristics) = activity.and_then(|activity| activity.r#loop.as_deref()) {
                write_loop(writer, characteristics);
            }
        }),
    },
];

fn read_io(reader: &mut Reader<'_>, node: &mut Node, el: El) -> Result<bool, XmlError> {
    let bpmn = node.bpmn.get_or_insert_default();
    if bpmn.input_sets.is_some() || bpmn.output_sets.is_some() {
        return Ok(false);
    }
    let mut io = IoSpecification::default();
    reader.read(&IO_SPECIFICATION, &mut io, el)?;
    bpmn.io_specification_id = io.id;
    bpmn.data_inputs = io.data_inputs;
    bpmn.data_outputs = io.data_outputs;
    bpmn.input_sets = Some(io.input_sets.unwrap_or_default());
    bpmn.output_sets = Some(io.output_sets.unwrap_or_default());
    Ok(true)
}

fn write_io(writer: &mut Writer<'_>, node: &Node) {
    let Some(bpmn) = node.bpmn.as_deref() else { return };
    let io = IoSpecification {
        id: bpmn.io_specification_id.clone(),
        data_inputs: bpmn.data_inputs.clone(),
        data_outputs: bpmn.data_outputs.clone(),
        input_sets: bpmn.input_sets.clone(),
        output_sets: bpmn.output_sets.clone(),
    };
    if io != IoSpecification::default() {
        writer.element(const { kind("ioSpecification") }, &IO_SPECIFICATION, &io);
    }
}

fn read_association(reader: &mut Reader<'_>, node: &mut Node, el: El) -> Result<bool, XmlError> {
    let element_type = Some(reader.tree.part(el).local().to_owned());
    let mut association = DataAssociation { element_type, ..DataAssociation::default() };
    reader.read(&DATA_ASSOCIATION, &mut association, el)?;
    node.bpmn.get_or_insert_default().data_associations.get_or_insert_default().push(association);
    Ok(true)
}

fn write_associations(writer: &mut Writer<'_>, node: &Node, name: &str) {
    let associations =
        node.bpmn.as_ref().and_then(|bpmn| bpmn.data_associations.as_deref()).unwrap_or_default();
    for association in associations.iter().filter(|association| association_name(association) == name) {
        writer.element(kind_named(name), &DATA_ASSOCIATION, association);
    }
}

/// Reads a resource role.
pub(super) fn read_role(
    reader: &mut Reader<'_>,
    roles: &mut Option<Vec<ResourceRole>>,
    el: El,
) -> Result<bool, XmlError> {
    let role = Some(reader.tree.part(el).local().to_owned());
    let mut role = ResourceRole { role, ..ResourceRole::default() };
    reader.read(&RESOURCE_ROLE, &mut role, el)?;
    roles.get_or_insert_default().push(role);
    Ok(true)
}

/// Writes resource roles.
pub(super) fn write_roles(writer: &mut Writer<'_>, roles: &[ResourceRole]) {
    for role in roles {
        writer.element(kind_named(role_name(role)), &RESOURCE_ROLE, role);
    }
}

/// Tasks and call activities.
static TASK: Row<Node> = Row {
    attributes: &[
        NODE,
        ACTIVITY,
        &[
            attr!(Text "implementation" bpmn.implementation),
            attr!(Reference "operationRef" bpmn.operation_ref),
            attr!(Reference "messageRef" bpmn.message_ref),
            attr!(Typed "instantiate" bpmn.instantiate),
            attr!(Text "scriptFormat" bpmn.activity.script_format),
            attr!(Reference "calledElement" bpmn.called_element),
        ],
    ],
    children: &[
        NODE_HEAD,
        ACTIVITY_PARTS,
        &[
            child!(
                "rendering",
                |reader, node: &mut Node, el| {
                    let xml = reader.tree.fragment(el).into_owned();
                    at_mut!(node; bpmn.activity.renderings).get_or_insert_default().push(xml);
                    Ok(true)
                },
                |writer, node: &Node| {
                    let renderings = at!(node; bpmn.activity.renderings);
                    renderings
                        .into_iter()
                        .flatten()
                        .for_each(|xml| writer.fragment(const { kind("rendering") }, xml));
                }
            ),
            leaf!(Node: Text "script" bpmn.activity.script),
        ],
    ],
};

/// Sub-processes, ad-hoc sub-processes and transactions.
static SUB_PROCESS: Row<Node> = Row {
    attributes: &[
        NODE,
        ACTIVITY,
        &[
            attr!(Typed "triggeredByEvent" bpmn.triggered_by_event),
            attr!(Typed "cancelRemainingInstances" bpmn.activity.cancel_remaining_instances),
            attr!(Text "ordering" bpmn.activity.ordering),
            attr!(Text "method" bpmn.transaction_method),
        ],
    ],
    children: &[
        NODE_HEAD,
        ACTIVITY_PARTS,
        content!(Node; bpmn . sub_process .),
        &[leaf!(Node: Expression "completionCondition" bpmn.activity.completion_condition)],
    ],
};

static GATEWAY: Row<Node> = Row {
    attributes: &[
        NODE,
        &[
            attr!(Text "gatewayDirection" bpmn.gateway_direction),
            Attr { set: set_gateway_default, ..DEFAULT },
            attr!(Typed "instantiate" bpmn.instantiate),
            attr!(Text "eventGatewayType" bpmn.event_gateway_type),
        ],
    ],
    children: &[NODE_HEAD, &[leaf!(Node: Expression "activationCondition" bpmn.activation_condition)]],
};

fn set_gateway_default(node: &mut Node, text: std::borrow::Cow<'_, str>) -> bool {
    node.bpmn.get_or_insert_default().default_flow = Some(text.into_owned());
    true
}

const EVENT_DEFINITIONS: &[Child<Node>] = &[
    Child {
        matches: any_of(Group::EventDefinition),
        read: Some(|reader, node, el| read_definition(reader, at_mut!(node; bpmn.event_definitions), el)),
        write: Some(|writer, node| {
            let definitions = node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref());
            write_definitions(writer, definitions.unwrap_or_default());
        }),
    },
    Child {
        matches: Match::Kind(kind("eventDefinitionRef")),
        read: Some(|reader, node, el| read_definition(reader, at_mut!(node; bpmn.event_definitions), el)),
        write: None,
    },
];

static CATCH_EVENT: Row<Node> = Row {
    attributes: &[
        NODE,
        &[
            attr!(Typed "parallelMultiple" bpmn.parallel_multiple),
            attr!(Typed "isInterrupting" bpmn.is_interrupting),
            attr!(Typed "cancelActivity" bpmn.cancel_activity),
            attr!(Reference "attachedToRef" bpmn.attached_to_ref),
        ],
    ],
    children: &[
        NODE_HEAD,
        &[
            many!(Node: "property" PROPERTY bpmn.properties),
            many!(Node: "dataOutput" DATA_ITEM bpmn.data_outputs),
            child!("dataOutputAssociation", read_association, |writer, node| {
                write_associations(writer, node, "dataOutputAssociation");
            }),
            many!(Node: "outputSet" OUTPUT_SET bpmn.output_sets),
        ],
        EVENT_DEFINITIONS,
    ],
};

static THROW_EVENT: Row<Node> = Row {
    attributes: &[NODE],
    children: &[
        NODE_HEAD,
        &[
            many!(Node: "property" PROPERTY bpmn.properties),
            many!(Node: "dataInput" DATA_ITEM bpmn.data_inputs),
            child!("dataInputAssociation", read_association, |writer, node| {
                write_associations(writer, node, "dataInputAssociation");
            }),
            many!(Node: "inputSet" INPUT_SET bpmn.input_sets),
        ],
        EVENT_DEFINITIONS,
    ],
};

fn row_of(group: Group) -> &'static Row<Node> {
    match group {
        Group::SubProcess => &SUB_PROCESS,
        Group::Gateway => &GATEWAY,
        Group::CatchEvent => &CATCH_EVENT,
        Group::ThrowEvent => &THROW_EVENT,
        _ => &TASK,
    }
}

/// JSON levels that a sub-process adds: the list of nodes, the node, its BPMN side, its content.
const SUB_PROCESS_LEVELS: usize = 4;

/// Reads a flow node.
pub(super) fn read_node(
    reader: &mut Reader<'_>,
    nodes: &mut Option<Vec<Node>>,
    el: El,
) -> Result<bool, XmlError> {
    let tree = reader.tree;
    let group = group(tree.part(el).kind);
    let mut node = Node { r#type: Some(tree.part(el).local().to_owned()), ..Node::default() };
    reader.enter(el, true);
    if group == Group::SubProcess {
        node.bpmn.get_or_insert_default().sub_process = Some(Box::default());
        reader.deepen(el, SUB_PROCESS_LEVELS)?;
        read::flows::enter_graph(reader, el);
        reader.fill(row_of(group), &mut node, el)?;
        read::flows::leave_graph(reader);
        reader.undeepen(SUB_PROCESS_LEVELS);
    } else {
        reader.fill(row_of(group), &mut node, el)?;
    }
    read::flows::check_flow_refs(reader);
    let inner_event = tree.attribute(reader.outer(), "triggeredByEvent").as_deref() == Some("true");
    extensions::read_node_settings(reader, &mut node, el, inner_event);
    reader.leave();
    nodes.get_or_insert_default().push(node);
    Ok(true)
}

/// The element that a node is written as.
fn element_name(node: &Node) -> &'static str {
    let row = node.element_type().and_then(element_row).filter(|row| row.group.is_flow_node());
    let transaction = node.bpmn.as_ref().and_then(|bpmn| bpmn.is_transaction) == Some(true);
    match row {
        Some(row) if row.name == "subProcess" && transaction => "transaction",
        Some(row) => row.name,
        None => "task",
    }
}

/// Writes the flow nodes of a graph.
pub(super) fn write_nodes(writer: &mut Writer<'_>, nodes: &[Node]) {
    for node in nodes {
        let name = element_name(node);
        let group = element_row(name).map_or(Group::Activity, |row| row.group);
        let row = row_of(group);
        let bpmn = node.bpmn.as_deref();
        writer.enter(kind_named(name), node.element_id().filter(|id| !id.is_empty()));
        if let (None, Some(id)) = (&node.id, bpmn.and_then(|bpmn| bpmn.id.as_deref())) {
            writer.attribute("id", id);
        }
        let content = bpmn.and_then(|bpmn| bpmn.sub_process.as_deref());
        if let Some(content) = content.filter(|_| group == Group::SubProcess) {
            let flows = write::flows::node_flows(writer, node);
            write::flows::enter_graph(writer, content.edges.as_deref().unwrap_or_default());
            write::flows::with_node_flows(writer, flows);
            let event = bpmn.and_then(|bpmn| bpmn.triggered_by_event) == Some(true);
            let outer = std::mem::replace(&mut writer.state.inner_event, event);
            writer.contents(row, node);
            writer.state.inner_event = outer;
            write::flows::leave_graph(writer);
        } else {
            writer.contents(row, node);
        }
        writer.leave();
    }
}

static EDGE: Row<Edge> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" bpmn.name),
        attr!(Reference "sourceRef" source),
        attr!(Reference "targetRef" target),
        attr!(Typed "isImmediate" bpmn.is_immediate),
    ]],
    children: &[&[
        kept!("documentation"),
        child!("extensionElements", read_edge_extensions, write_edge_extensions),
        kept!("auditing"),
        kept!("monitoring"),
        kept!("categoryValueRef"),
        expression!(Edge: "conditionExpression" bpmn.condition_expression, bpmn.condition_language),
    ]],
};

fn read_edge_extensions(reader: &mut Reader<'_>, edge: &mut Edge, el: El) -> Result<bool, XmlError> {
    let Some(Extensions { data: Some(data), fragments, .. }) = reader.extensions::<EdgeData>(el) else {
        return Ok(false);
    };
    reader.keep_attributes(el);
    (edge.branch, edge.condition, edge.r#loop) = (data.branch, data.condition, data.r#loop);
    if data.r#type.is_some() {
        edge.r#type = data.r#type;
    }
    if !fragments.is_empty() {
        let name = reader.tree.part(el).name;
        let inner = fragments.concat();
        reader.keep_xml(1, format!("<{name}>{inner}</{name}>").into());
    }
    Ok(true)
}

fn write_edge_extensions(writer: &mut Writer<'_>, edge: &Edge) {
    let data = EdgeData {
        branch: edge.branch.clone(),
        condition: edge.condition.clone(),
        r#loop: edge.r#loop.clone(),
        r#type: edge.r#type.clone().filter(|name| name != "sequenceFlow"),
    };
    writer.extensions(data_text(&data), None);
}

/// Reads a sequence flow.
pub(super) fn read_edge(
    reader: &mut Reader<'_>,
    edges: &mut Option<Vec<Edge>>,
    el: El,
) -> Result<bool, XmlError> {
    let mut edge = Edge { r#type: Some("sequenceFlow".to_owned()), ..Edge::default() };
    reader.read(&EDGE, &mut edge, el)?;
    edges.get_or_insert_default().push(edge);
    Ok(true)
}

/// Writes the edges of a graph. An edge of an editor's own type is a sequence flow.
pub(super) fn write_edges(writer: &mut Writer<'_>, edges: &[Edge]) {
    for edge in edges {
        match edge.element_type() {
            "association" => super::process::write_association(writer, edge),
            name @ ("messageFlow" | "dataAssociation" | "dataInputAssociation" | "dataOutputAssociation") => {
                let message = format!("An edge of the type {name} has no place among sequence flows.");
                let mut diagnostic = crate::diagnostic::warning("edgeNotExported", message);
                diagnostic.element_id.clone_from(&edge.id);
                writer.state.diagnostics.push(diagnostic);
            }
            _ => writer.element(const { kind("sequenceFlow") }, &EDGE, edge),
        }
    }
}

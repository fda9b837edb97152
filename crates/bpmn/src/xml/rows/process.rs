//! Processes, lanes, data of a process, artifacts.

use super::data::{
    DATA_ITEM, DATA_OBJECT_REFERENCE, DATA_STORE, DATA_STORE_REFERENCE, IO_SPECIFICATION, IoSpecification,
    PROPERTY,
};
use super::node::{read_role, write_roles};
use super::{data_text, kept_head, one_of};
use crate::model::{Artifact, Correlation, DataItem, Edge, Lane, LaneSet, Layout, Process};
use crate::xml::names::{kind, kind_named};
use crate::xml::read;
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of};
use crate::xml::write;
use crate::xml::{Group, XmlError, extensions};
use heddle_xml::mapping::Extensions;
use serde::{Deserialize, Serialize};

/// Members of a process that BPMN has no place for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ProcessData {
    #[serde(skip_serializing_if = "Option::is_none")]
    layout: Option<Layout>,
    /// Whether the process is the top-level graph.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    top_level: bool,
}

pub(super) static PROCESS: Row<Process> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "processType" process_type),
        attr!(Typed "isClosed" closed),
        attr!(Typed "isExecutable" executable),
    ]],
    children: &[
        &[
            leaves!(Process: Text "documentation" documentation),
            child!("extensionElements", read_extensions, write_extensions),
            kept!("supportedInterfaceRef"),
            child!("ioSpecification", read_io, write_io),
            kept!("ioBinding"),
            xml_text!(Process: "auditing" auditing_xml),
            xml_text!(Process: "monitoring" monitoring_xml),
            many!(Process: "property" PROPERTY properties),
        ],
        content!(Process;),
        &[
            Child {
                matches: any_of(Group::ResourceRole),
                read: Some(|reader, process, el| read_role(reader, &mut process.resources, el)),
                write: Some(|writer, process| {
                    write_roles(writer, process.resources.as_deref().unwrap_or_default())
                }),
            },
            child!("correlationSubscription", read_subscription, write_subscriptions),
            leaves!(Process: Reference "supports" supports),
        ],
    ],
};

fn read_extensions(reader: &mut Reader<'_>, process: &mut Process, el: El) -> Result<bool, XmlError> {
    if process.extension_xml.is_some() {
        return Ok(false);
    }
    let Some(Extensions { data, others, fragments }) = reader.extensions::<ProcessData>(el) else {
        return Ok(false);
    };
    if data.is_none() || !others.is_empty() {
        process.extension_xml = Some(fragments);
    }
    reader.keep_attributes(el);
    for &child in &others {
        extensions::note_extension(reader, child);
    }
    if let Some(data) = data {
        process.layout = data.layout;
        reader.state.top_level_next = data.top_level;
    }
    Ok(true)
}

fn write_extensions(writer: &mut Writer<'_>, process: &Process) {
    let data = ProcessData { layout: process.layout.clone(), top_level: writer.state.writes_main };
    writer.extensions(data_text(&data), process.extension_xml.as_deref());
}

fn read_io(reader: &mut Reader<'_>, process: &mut Process, el: El) -> Result<bool, XmlError> {
    if process.input_sets.is_some() || process.output_sets.is_some() {
        return Ok(false);
    }
    let mut io = IoSpecification::default();
    reader.read(&IO_SPECIFICATION, &mut io, el)?;
    process.io_specification_id = io.id;
    process.data_inputs = io.data_inputs;
    process.data_outputs = io.data_outputs;
    process.input_sets = Some(io.input_sets.unwrap_or_default());
    process.output_sets = Some(io.output_sets.unwrap_or_default());
    Ok(true)
}

fn write_io(writer: &mut Writer<'_>, process: &Process) {
    let io = IoSpecification {
        id: process.io_specification_id.clone(),
        data_inputs: process.data_inputs.clone(),
        data_outputs: process.data_outputs.clone(),
        input_sets: process.input_sets.clone(),
        output_sets: process.output_sets.clone(),
    };
    if io != IoSpecification::default() {
        writer.element(const { kind("ioSpecification") }, &IO_SPECIFICATION, &io);
    }
}

/// A process as an element of the root.
pub(super) fn read_process(
    reader: &mut Reader<'_>,
    processes: &mut Option<Vec<Process>>,
    el: El,
) -> Result<bool, XmlError> {
    let mut process = Process::default();
    reader.state.top_level_next = false;
    reader.deepen(el, 2)?;
    read::flows::enter_graph(reader, el);
    reader.read(&PROCESS, &mut process, el)?;
    read::flows::leave_graph(reader);
    reader.undeepen(2);
    if reader.state.top_level_next && reader.state.top_level.is_none() {
        reader.state.top_level = Some(process);
    } else {
        processes.get_or_insert_default().push(process);
    }
    Ok(true)
}

/// Writes one process.
pub(super) fn write_process(writer: &mut Writer<'_>, process: &Process, main: bool) {
    writer.state.writes_main = main;
    write::flows::enter_graph(writer, process.edges.as_deref().unwrap_or_default());
    writer.element(const { kind("process") }, &PROCESS, process);
    write::flows::leave_graph(writer);
    writer.state.writes_main = false;
}

pub(super) static LANE_SET: Row<LaneSet> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[&kept_head(), &[many!(LaneSet: "lane" LANE lanes)]],
};

static LANE: Row<Lane> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "partitionElementRef" partition_element_ref),
    ]],
    children: &[
        &kept_head(),
        &[
            kept!("partitionElement"),
            leaves!(Lane: Reference "flowNodeRef" flow_node_refs),
            child!(
                "childLaneSet",
                |reader, lane: &mut Lane, el| {
                    if lane.child_lane_set.is_some() {
                        return Ok(false);
                    }
                    let mut lanes = Box::<LaneSet>::default();
                    reader.read_deeper(&LANE_SET, &mut *lanes, el, 3)?;
                    lane.child_lane_set = Some(lanes);
                    Ok(true)
                },
                |writer, lane: &Lane| {
                    if let Some(lanes) = lane.child_lane_set.as_deref() {
                        writer.element(const { kind("childLaneSet") }, &LANE_SET, lanes);
                    }
                }
            ),
        ],
    ],
};

fn data_row(name: &str) -> &'static Row<DataItem> {
    match name {
        "dataObjectReference" => &DATA_OBJECT_REFERENCE,
        "dataStoreReference" => &DATA_STORE_REFERENCE,
        "dataStore" => &DATA_STORE,
        _ => &DATA_ITEM,
    }
}

/// Reads a data object, a data store, or a reference to one.
pub(super) fn read_data(
    reader: &mut Reader<'_>,
    items: &mut Option<Vec<DataItem>>,
    el: El,
) -> Result<bool, XmlError> {
    let name = reader.tree.part(el).local();
    let mut item = DataItem { element_type: Some(name.to_owned()), ..DataItem::default() };
    reader.read(data_row(name), &mut item, el)?;
    items.get_or_insert_default().push(item);
    Ok(true)
}

/// Writes data objects, data stores, and references to them.
pub(super) fn write_data(writer: &mut Writer<'_>, items: &[DataItem]) {
    for item in items {
        let known = ["dataObject", "dataObjectReference", "dataStoreReference", "dataStore"];
        let name = one_of(item.element_type.as_deref(), &known);
        writer.element(kind_named(name), data_row(name), item);
    }
}

static ARTIFACT: Row<Artifact> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "categoryValueRef" category_value_ref),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "targetRef" target_ref),
        attr!(Text "associationDirection" association_direction),
    ]],
    children: &[&kept_head(), &[leaf!(Artifact: Text "text" text)]],
};

/// Reads a text annotation, a group or an association.
pub(super) fn read_artifact(
    reader: &mut Reader<'_>,
    artifacts: &mut Option<Vec<Artifact>>,
    el: El,
) -> Result<bool, XmlError> {
    let element_type = Some(reader.tree.part(el).local().to_owned());
    let mut artifact = Artifact { element_type, ..Artifact::default() };
    reader.read(&ARTIFACT, &mut artifact, el)?;
    artifacts.get_or_insert_default().push(artifact);
    Ok(true)
}

/// Writes artifacts.
pub(super) fn write_artifacts(writer: &mut Writer<'_>, artifacts: &[Artifact]) {
    for artifact in artifacts {
        let name = one_of(artifact.element_type.as_deref(), &["textAnnotation", "association", "group"]);
        writer.element(kind_named(name), &ARTIFACT, artifact);
    }
}

/// Writes an edge that is an association.
pub(super) fn write_association(writer: &mut Writer<'_>, edge: &Edge) {
    let bpmn = edge.bpmn.as_deref();
    let artifact = Artifact {
        id: edge.id.clone(),
        source_ref: edge.source.clone(),
        target_ref: edge.target.clone(),
        association_direction: bpmn.and_then(|bpmn| bpmn.association_direction.clone()),
        ..Artifact::default()
    };
    writer.element(const { kind("association") }, &ARTIFACT, &artifact);
}

/// A correlation subscription; the definition has one entry per binding.
#[derive(Default)]
struct Subscription {
    id: Option<String>,
    key: Option<String>,
    bindings: Option<Vec<Correlation>>,
}

static SUBSCRIPTION: Row<Subscription> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Reference "correlationKeyRef" key)]],
    children: &[&kept_head(), &[many!(Subscription: "correlationPropertyBinding" BINDING bindings)]],
};

static BINDING: Row<Correlation> = Row {
    attributes: &[&[attr!(Reference "correlationPropertyRef" correlation_property_ref)]],
    children: &[&kept_head(), &[leaves!(Correlation: Expression "dataPath" retrieval_expressions)]],
};

fn read_subscription(reader: &mut Reader<'_>, process: &mut Process, el: El) -> Result<bool, XmlError> {
    let name =
        |attribute| reader.tree.attribute(el, attribute).map(|value| reader.own_name(value).into_owned());
    let (id, key) = (name("id"), name("correlationKeyRef"));
    let last = process.correlations.as_deref().and_then(<[_]>::last);
    if last.is_some_and(|last| last.id == id && last.name == key) {
        // Bindings of one subscription are known by its id and its key.
        return Ok(false);
    }
    let mut subscription = Subscription::default();
    reader.read(&SUBSCRIPTION, &mut subscription, el)?;
    let bindings = subscription.bindings.unwrap_or_else(|| vec![Correlation::default()]);
    for binding in bindings {
        let (id, name) = (subscription.id.clone(), subscription.key.clone());
        process.correlations.get_or_insert_default().push(Correlation { id, name, ..binding });
    }
    Ok(true)
}

fn write_subscriptions(writer: &mut Writer<'_>, process: &Process) {
    let correlations = process.correlations.as_deref().unwrap_or_default();
    let subscriptions = correlations.chunk_by(|left, right| left.id == right.id && left.name == right.name);
    for bindings in subscriptions {
        let Some(first) = bindings.first() else { continue };
        let said = bindings.iter().filter(|binding| {
            binding.correlation_property_ref.is_some() || binding.retrieval_expressions.is_some()
        });
        let subscription = Subscription {
            id: first.id.clone(),
            key: first.name.clone(),
            bindings: Some(said.cloned().collect()),
        };
        writer.element(const { kind("correlationSubscription") }, &SUBSCRIPTION, &subscription);
    }
}

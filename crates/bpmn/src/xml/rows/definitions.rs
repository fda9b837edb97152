//! The root and its reusable elements.

use super::collaboration::{CHOREOGRAPHY, COLLABORATION};
use super::diagram::{DIAGRAM, read_diagram};
use super::kept_head;
use super::process::{read_data, read_process, write_data, write_process};
use crate::model::{
    Bpmn, BpmnImport, Category, CategoryValue, EventReference, Interface, ItemDefinition, Operation,
    Relationship, Resource, ResourceParameter,
};
use crate::xml::definition_data::DefinitionData;
use crate::xml::names::{COMMENT, kind};
use crate::xml::tree::El;
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of};
use crate::xml::{Group, XmlError, extensions};
use heddle_xml::mapping::{Attr, Extensions};

/// The row of `definitions`.
pub(in crate::xml) static DEFINITIONS: Row<Bpmn> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "targetNamespace" target_namespace),
        attr!(Text "expressionLanguage" expression_language),
        attr!(Text "typeLanguage" type_language),
        attr!(Text "exporter" exporter),
        attr!(Text "exporterVersion" exporter_version),
    ]],
    children: &[&[
        kept!("documentation"),
        many!(Bpmn: "import" IMPORT imports),
        kept!("extension"),
        child!("extensionElements", read_extensions, write_extensions),
        many!(Bpmn: "category" CATEGORY categories),
        many!(Bpmn: "itemDefinition" ITEM_DEFINITION item_definitions),
        many!(Bpmn: "resource" RESOURCE resources),
        child!(
            "dataStore",
            |reader, bpmn: &mut Bpmn, el| read_data(reader, &mut bpmn.data_stores, el),
            |writer, bpmn: &Bpmn| {
                write_data(writer, &stores(bpmn));
            }
        ),
        kept!("correlationProperty"),
        kept!("partnerEntity"),
        kept!("partnerRole"),
        kept!("endPoint"),
        many!(Bpmn: "error" ERROR errors),
        many!(Bpmn: "escalation" ESCALATION escalations),
        many!(Bpmn: "message" MESSAGE messages),
        many!(Bpmn: "signal" SIGNAL signals),
        many!(Bpmn: "interface" INTERFACE interfaces),
        Child { matches: any_of(Group::EventDefinition), read: None, write: None },
        many!(Bpmn: "collaboration" COLLABORATION collaborations),
        many!(Bpmn: "choreography" CHOREOGRAPHY choreographies),
        child!(
            "process",
            |reader, bpmn: &mut Bpmn, el| read_process(reader, &mut bpmn.processes, el),
            |writer, bpmn: &Bpmn| {
                if let Some(main) = writer.state.main.take() {
                    write_process(writer, &main, true);
                }
                bpmn.processes.iter().flatten().for_each(|process| write_process(writer, process, false));
            }
        ),
        Child { matches: any_of(Group::Root), read: None, write: None },
        child!(
            "BPMNDiagram",
            |reader, bpmn: &mut Bpmn, el| read_diagram(reader, bpmn, el),
            |writer, bpmn| {
                let undrawn = writer.state.undrawn;
                for diagram in bpmn.diagrams.iter().flatten().filter(|_| !undrawn) {
                    writer.element(const { kind("BPMNDiagram") }, &DIAGRAM, diagram);
                }
            }
        ),
        many!(Bpmn: "relationship" RELATIONSHIP relationships),
    ]],
};

/// Data stores with their element name, which a definition written by hand may leave out.
fn stores(bpmn: &Bpmn) -> Vec<crate::model::DataItem> {
    let stores = bpmn.data_stores.as_deref().unwrap_or_default().iter();
    let named = stores
        .map(|store| crate::model::DataItem { element_type: Some("dataStore".to_owned()), ..store.clone() });
    named.collect()
}

fn read_extensions(reader: &mut Reader<'_>, bpmn: &mut Bpmn, el: El) -> Result<bool, XmlError> {
    let tree = reader.tree;
    if !tree.parts_of(el).any(|child| tree.part(child).kind != COMMENT) {
        return Ok(false);
    }
    let Some(Extensions { data, others, fragments }) = reader.extensions::<DefinitionData>(el) else {
        return Ok(false);
    };
    reader.keep_attributes(el);
    if let Some(data) = data {
        reader.state.data = data;
    }
    if !others.is_empty() {
        bpmn.extension_elements_xml.get_or_insert_default().extend(fragments);
    }
    for child in others {
        extensions::note_extension(reader, child);
    }
    Ok(true)
}

fn write_extensions(writer: &mut Writer<'_>, _: &Bpmn) {
    let plain: Vec<String> = std::mem::take(&mut writer.state.plain).into_iter().map(str::to_owned).collect();
    writer.extensions(None, (!plain.is_empty()).then_some(plain.as_slice()));
}

static IMPORT: Row<BpmnImport> = Row {
    attributes: &[&[
        attr!(Text "importType" import_type),
        attr!(Text "location" location),
        attr!(Text "namespace" namespace),
    ]],
    children: &[],
};

const REFERENCE: &[Attr<EventReference>] = &[attr!(Text "id" id), attr!(Text "name" name)];

macro_rules! reference {
    ($name:ident: $($attribute:expr),+) => {
        static $name: Row<EventReference> =
            Row { attributes: &[REFERENCE, &[$($attribute),+]], children: &[&kept_head()] };
    };
}

reference!(MESSAGE: attr!(Reference "itemRef" structure_ref));
reference!(SIGNAL: attr!(Reference "structureRef" structure_ref));
reference!(ERROR: attr!(Text "errorCode" code), attr!(Reference "structureRef" structure_ref));
reference!(ESCALATION: attr!(Text "escalationCode" code), attr!(Reference "structureRef" structure_ref));

static ITEM_DEFINITION: Row<ItemDefinition> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "structureRef" structure_ref),
        attr!(Typed "isCollection" is_collection),
        attr!(Text "itemKind" item_kind),
    ]],
    children: &[&kept_head()],
};

static INTERFACE: Row<Interface> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "implementationRef" implementation_ref),
    ]],
    children: &[&kept_head(), &[many!(Interface: "operation" OPERATION operations)]],
};

static OPERATION: Row<Operation> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "implementationRef" implementation_ref),
    ]],
    children: &[
        &kept_head(),
        &[
            leaf!(Operation: Reference "inMessageRef" input_message_ref),
            leaf!(Operation: Reference "outMessageRef" output_message_ref),
            leaves!(Operation: Reference "errorRef" error_refs),
        ],
    ],
};

static CATEGORY: Row<Category> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[&kept_head(), &[many!(Category: "categoryValue" CATEGORY_VALUE values)]],
};

static CATEGORY_VALUE: Row<CategoryValue> =
    Row { attributes: &[&[attr!(Text "id" id), attr!(Text "value" value)]], children: &[&kept_head()] };

static RESOURCE: Row<Resource> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "name" name)]],
    children: &[&kept_head(), &[many!(Resource: "resourceParameter" PARAMETER parameters)]],
};

static PARAMETER: Row<ResourceParameter> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Reference "type" r#type),
        attr!(Typed "isRequired" required),
    ]],
    children: &[&kept_head()],
};

static RELATIONSHIP: Row<Relationship> = Row {
    attributes: &[&[attr!(Text "id" id), attr!(Text "type" r#type), attr!(Text "direction" direction)]],
    children: &[
        &kept_head(),
        &[leaves!(Relationship: Text "source" sources), leaves!(Relationship: Text "target" targets)],
    ],
};

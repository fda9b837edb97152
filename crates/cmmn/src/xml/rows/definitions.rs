//! The root and its reusable elements.

use super::case::{CALLABLE, CASE, CASE_FILE_ITEM_DEFINITION};
use super::diagram::{CMMNDI, read_interchange, write_interchange};
use super::kept_head;
use crate::model::{Artifact, CaseDefinition, CmmnImport, Relationship};
use crate::xml::names::kind;
use crate::xml::vocabulary::{Child, Reader, Row, Writer, any_of};
use crate::xml::{Group, XmlError, extensions};
use heddle_xml::El;
use heddle_xml::mapping::Extensions;

/// The row of `definitions`.
pub(in crate::xml) static DEFINITIONS: Row<CaseDefinition> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "name" name),
        attr!(Text "targetNamespace" target_namespace),
        attr!(Text "expressionLanguage" expression_language),
        attr!(Text "exporter" exporter),
        attr!(Text "exporterVersion" exporter_version),
        attr!(Text "author" author),
        attr!(Text "creationDate" creation_date),
    ]],
    children: &[&[
        kept!("documentation"),
        many!(CaseDefinition: "import" IMPORT imported_documents),
        several!(CaseDefinition: "caseFileItemDefinition" CASE_FILE_ITEM_DEFINITION case_file_item_definitions),
        several!(CaseDefinition: "case" CASE cases),
        many!(CaseDefinition: "process" CALLABLE processes),
        many!(CaseDefinition: "decision" CALLABLE decisions),
        child!("extensionElements", read_extensions, write_extensions),
        many!(CaseDefinition: "relationship" RELATIONSHIP relationships),
        Child {
            matches: any_of(Group::Artifact),
            read: Some(read_artifact),
            write: Some(|writer, definition| {
                for artifact in definition.artifacts.iter().flatten() {
                    let kind = if artifact.r#type.as_deref() == Some("association") {
                        const { kind("association") }
                    } else {
                        const { kind("textAnnotation") }
                    };
                    writer.element(kind, &ARTIFACT, artifact);
                }
            }),
        },
        child!("CMMNDI", read_interchange, |writer, definition: &CaseDefinition| {
            write_interchange(writer, &CMMNDI, definition);
        }),
    ]],
};

fn read_extensions(
    reader: &mut Reader<'_>,
    definition: &mut CaseDefinition,
    el: El,
) -> Result<bool, XmlError> {
    if definition.extension_xml.is_some() {
        return Ok(false);
    }
    let Some(Extensions { others, fragments, .. }) = reader.extensions::<serde::de::IgnoredAny>(el) else {
        return Ok(false);
    };
    reader.keep_attributes(el);
    definition.extension_xml = Some(fragments);
    for child in others {
        extensions::note_extension(reader, child);
    }
    Ok(true)
}

fn write_extensions(writer: &mut Writer<'_>, definition: &CaseDefinition) {
    writer.extensions(None, definition.extension_xml.as_deref());
}

static IMPORT: Row<CmmnImport> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Text "namespace" namespace),
        attr!(Text "location" location),
        attr!(Text "importType" import_type),
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

static ARTIFACT: Row<Artifact> = Row {
    attributes: &[&[
        attr!(Text "id" id),
        attr!(Reference "sourceRef" source_ref),
        attr!(Reference "targetRef" target_ref),
        attr!(Text "associationDirection" association_direction),
        attr!(Text "textFormat" text_format),
    ]],
    children: &[&kept_head(), &[leaf!(Artifact: Text "text" text)]],
};

fn read_artifact(reader: &mut Reader<'_>, definition: &mut CaseDefinition, el: El) -> Result<bool, XmlError> {
    let r#type = Some(reader.tree.local(el).to_owned());
    let mut artifact = Artifact { r#type, ..Artifact::default() };
    reader.read(&ARTIFACT, &mut artifact, el)?;
    definition.artifacts.get_or_insert_default().push(artifact);
    Ok(true)
}

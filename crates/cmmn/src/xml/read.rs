//! A CMMN document as a definition: what the reader of the mapping engine leaves to the format.

use super::names::{kind, ns};
use super::vocabulary::Reader;
use super::{Imported, MODEL_NS, Tree, VERSION_10, XmlError, rows};
use crate::diagnostic::{self, Diagnostic};
use crate::model::{CaseDefinition, ImportItem, Layout};
use heddle_xml::El;
use heddle_xml::mapping::Bindings;
use serde::{Deserialize, Serialize};

/// Most import items and findings of one document.
const MAX_ITEMS: usize = 10_000;
const MAX_DIAGNOSTICS: usize = 1_000;

/// Members of a definition that CMMN has no place for; they stand in `heddle:data` of the root.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DefinitionData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_case_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<i64>,
}

/// State of the reading of one document.
pub(crate) struct Reading<'s> {
    /// Whether the document is one of CMMN 1.0.
    pub(super) is_10: bool,
    /// Whether an expression of CMMN 1.0 stands without an element `body`.
    pub(super) plain_expressions: bool,
    waypoint_type: Option<Option<&'s str>>,
    /// Whether the way point that is being read has the type that all share.
    pub(super) same_waypoint_type: bool,
    items: Vec<ImportItem>,
    diagnostics: Vec<Diagnostic>,
    /// Items and findings beyond the most.
    more: usize,
    pub(super) data: DefinitionData,
}

impl Reading<'_> {
    fn new(is_10: bool) -> Self {
        Self {
            is_10,
            plain_expressions: false,
            waypoint_type: None,
            same_waypoint_type: false,
            items: Vec::new(),
            diagnostics: Vec::new(),
            more: 0,
            data: DefinitionData::default(),
        }
    }

    /// Records what became of an element.
    pub(super) fn push_item(&mut self, item: ImportItem) {
        if self.items.len() < MAX_ITEMS {
            self.items.push(item);
        } else {
            self.more += 1;
        }
    }
}

/// Notes a finding, unless what is read now was read before.
pub(super) fn note(reader: &mut Reader<'_>, diagnostic: Diagnostic) {
    if reader.is_muted() {
        return;
    }
    if reader.state.diagnostics.len() < MAX_DIAGNOSTICS {
        reader.state.diagnostics.push(diagnostic);
    } else {
        reader.state.more += 1;
    }
}

/// Takes the definition's own data from the root.
pub(super) fn own_data(reader: &mut Reader<'_>, text: &str) {
    match serde_json::from_str(text) {
        Ok(data) => reader.state.data = data,
        Err(error) => {
            let message = format!("The attribute heddle:data is not understood: {error}.");
            note(reader, diagnostic::warning("invalidData", message));
        }
    }
}

/// Notes the type that way points share; a way point of another type keeps its own.
pub(super) fn waypoint_type(reader: &mut Reader<'_>, el: El) {
    let name = reader.xsi_type();
    let own = reader.tree.attributes(el).iter().find(|attribute| attribute.name == name);
    let own = own.map(|attribute| attribute.raw);
    let shared = *reader.state.waypoint_type.get_or_insert(own);
    if own.is_none() && shared.is_some() {
        reader.mark("plain", "true".to_owned());
    }
    reader.state.same_waypoint_type = own.is_some() && own == shared;
}

/// Reads a tree as a definition.
pub(super) fn definition(tree: &Tree<'_>) -> Result<Imported, XmlError> {
    let root = tree.part(0);
    if root.kind != kind("definitions") {
        let message = format!(
            "The root element is {{{}}}{}; a CMMN document starts with {{{MODEL_NS}}}definitions.",
            tree.uri(root.ns),
            root.local()
        );
        return Err(tree.error_at(0, "notCmmn", message));
    }
    let is_10 = root.ns == ns::MODEL_10;
    let bindings = Bindings::of(tree);
    let mut reader = Reader::new(tree, &bindings, Reading::new(is_10));
    let mut definition = CaseDefinition::default();
    reader.root(&rows::DEFINITIONS, &mut definition, |reader| {
        if let Some(Some(kind)) = reader.state.waypoint_type {
            reader.mark("waypointType", kind.to_owned());
        }
        if reader.state.plain_expressions {
            reader.mark("plainExpressions", "true".to_owned());
        }
    })?;
    let (preserved, mut reading) = reader.finish();
    if !preserved.is_empty() {
        definition.fragments = Some(preserved);
    }
    if reading.more > 0 {
        let message = format!("{} more items and findings are left out.", reading.more);
        reading.diagnostics.push(diagnostic::info("moreFindings", message));
    }
    let Reading { items, diagnostics, data, .. } = reading;
    definition.cmmn_version = is_10.then(|| VERSION_10.to_owned());
    definition.namespaces = Some(bindings.namespaces);
    definition.kind = data.kind;
    definition.layout = data.layout;
    definition.primary_case_id = data.primary_case_id;
    definition.schema_version = data.schema_version;
    Ok(Imported { definition, items, diagnostics })
}

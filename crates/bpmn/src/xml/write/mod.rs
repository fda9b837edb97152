//! The writer: model types as elements by their rows, with their preserved content put back.

use super::definition_data::DefinitionData;
use super::names::{self, Group, Kind, Ns, UNKNOWN, kind, ns, row};
use super::order;
use super::prefixes::{Prefixes, own_name, qualified};
use super::preserved::{Place, Preserved, PreservedChild, PreservedContent, collect, surroundings};
use super::row::{Attr, Leaf, Lexis, Row};
use super::text::{attribute_value, content_text, control, escape_attribute, escape_text, expressible};
use super::tree;
use super::{WriteError, Written, extensions, rows};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::model::{Bpmn, MAIN_PROCESS_ID, Process, WorkflowDefinition};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

mod flows;
mod preserve;

#[derive(Debug)]
struct Frame<'d> {
    kind: Kind,
    place: Option<Place>,
    /// Children by name, where anything is kept below the place.
    counts: Vec<(&'static str, u32)>,
    preserved: Option<Rc<Preserved<'d>>>,
    /// Whether the kept extension elements were written with the definition's own data.
    extensions_taken: bool,
    /// Where each child starts and what it is, where the children are to be put into another order.
    children: Option<Vec<(usize, Kind)>>,
}

/// Incoming and outgoing flows of a node.
type NodeFlows = (Vec<String>, Vec<String>);
/// Incoming and outgoing flows by node.
type Flows = HashMap<String, NodeFlows>;

/// Writes one definition.
pub(super) struct Writer<'d> {
    out: String,
    prefixes: Prefixes,
    around: Vec<(&'d str, &'d str)>,
    target_prefixes: Vec<String>,
    preserved_content: PreservedContent<'d>,
    root_events: HashSet<String>,
    /// Ids that several elements have, so that they are no addresses.
    shared_ids: HashSet<String>,
    frames: Vec<Frame<'d>>,
    open: bool,
    used: Vec<Ns>,
    flows: Vec<Flows>,
    omit_flow_refs: bool,
    /// Whether whole numbers of the diagrams are written with a fraction.
    decimals: bool,
    /// Whether the diagrams are left out.
    pub undrawn: bool,
    pub waypoint_type: Option<String>,
    pub plain: Vec<&'d str>,
    pub data: Option<DefinitionData>,
    pub main: Option<Process>,
    /// Whether the process that is being written is the top-level graph.
    pub writes_main: bool,
    pub diagnostics: Vec<Diagnostic>,
    /// What vendors keep beside the nodes.
    pub vendors: extensions::Context,
    /// Whether the nodes that are being written stand in an event sub-process.
    pub inner_event: bool,
    error: Option<WriteError>,
}

/// Writes a definition as a document, with its diagrams or without them.
pub(super) fn definition(definition: &WorkflowDefinition, undrawn: bool) -> Result<Written, WriteError> {
    let empty = Bpmn::default();
    let bpmn = definition.bpmn.as_deref().unwrap_or(&empty);
    let no_namespaces = BTreeMap::new();
    let namespaces = bpmn.namespaces.as_ref().unwrap_or(&no_namespaces);
    let around = surroundings(namespaces);
    let fragments = bpmn.extension_elements_xml.as_deref().unwrap_or_default();
    let (preserved_content, plain) = collect(fragments, &around)
        .map_err(|source| WriteError::Fragment { path: "bpmn.extensionElementsXml".to_owned(), source })?;
    let mut writer = Writer::new(namespaces, around, preserved_content, bpmn);
    writer.plain = plain;
    writer.undrawn = undrawn;
    writer.prepare(definition, bpmn);
    writer.out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    let root = writer.preserved_content.peek(root_address(bpmn));
    let around = |name: &str| root.and_then(|root| root.marker(name)).map(str::to_owned);
    let (prolog, epilog) = (around("prolog"), around("epilog"));
    writer.misc(prolog);
    writer.enter(const { kind("definitions") }, Some(root_address(bpmn)));
    for (prefix, uri) in namespaces {
        writer.out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        writer.raw_attribute_tail(prefix, uri);
    }
    let declarations_at = writer.out.len();
    writer.data_attribute();
    writer.contents(&rows::DEFINITIONS, bpmn);
    writer.leave();
    writer.misc(epilog);
    writer.out.push('\n');
    writer.finish(declarations_at)
}

/// The address of the root's preserved content.
fn root_address(bpmn: &Bpmn) -> &str {
    bpmn.id.as_deref().filter(|id| !id.is_empty()).unwrap_or("definitions")
}

impl<'d> Writer<'d> {
    fn new(
        namespaces: &BTreeMap<String, String>,
        around: Vec<(&'d str, &'d str)>,
        preserved_content: PreservedContent<'d>,
        bpmn: &Bpmn,
    ) -> Self {
        let target = bpmn.target_namespace.as_deref().unwrap_or_default();
        let own = namespaces.iter().filter(|(prefix, uri)| !prefix.is_empty() && *uri == target);
        let root = preserved_content.peek(root_address(bpmn));
        let marker = |name: &str| root.and_then(|root| root.marker(name));
        let rebound: Vec<&str> = marker("rebound").unwrap_or_default().split_ascii_whitespace().collect();
        let shared_ids = marker("sharedIds").and_then(|ids| serde_json::from_str(ids).ok());
        let root_children = root.map(|root| root.children.as_slice()).unwrap_or_default();
        let root_events = root_children.iter().filter(|child| is_group(child.kind, Group::EventDefinition));
        let vendors = extensions::Context::of(bpmn, &preserved_content, &around);
        Self {
            out: String::with_capacity(64 * 1024),
            prefixes: Prefixes::new(namespaces, &rebound),
            around,
            target_prefixes: own.map(|(prefix, _)| prefix.clone()).collect(),
            root_events: root_events.filter_map(|child| child.id.clone()).collect(),
            shared_ids: shared_ids.unwrap_or_default(),
            omit_flow_refs: marker("flowRefs") == Some("omit"),
            decimals: marker("decimals").is_some(),
            undrawn: false,
            waypoint_type: marker("waypointType").map(str::to_owned),
            vendors,
            inner_event: false,
            preserved_content,
            frames: Vec::new(),
            open: false,
            used: Vec::new(),
            flows: Vec::new(),
            plain: Vec::new(),
            data: None,
            main: None,
            writes_main: false,
            diagnostics: Vec::new(),
            error: None,
        }
    }

    /// What the root's `heddle:data` carries, and the top-level graph as a process.
    fn prepare(&mut self, definition: &WorkflowDefinition, bpmn: &Bpmn) {
        let data = DefinitionData {
            conformance_profile: bpmn.conformance_profile.clone(),
            conversations: bpmn.conversations.clone(),
            layout: definition.layout.clone(),
            primary_process_id: bpmn.primary_process_id.clone(),
            protection: definition.protection.clone(),
            schema_version: definition.schema_version,
        };
        self.data = (data != DefinitionData::default()).then_some(data);
        if definition.nodes.is_some() || definition.edges.is_some() {
            self.main = Some(Process {
                id: Some(MAIN_PROCESS_ID.to_owned()),
                name: bpmn.name.clone(),
                executable: Some(true),
                nodes: definition.nodes.clone(),
                edges: definition.edges.clone(),
                ..Process::default()
            });
        }
    }

    fn finish(mut self, declarations_at: usize) -> Result<Written, WriteError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if !all_expressible(&self.out) {
            return Err(WriteError::Character { path: "definition".to_owned() });
        }
        let mut declarations = String::new();
        for (ns, element, attribute, missing) in &self.prefixes.known {
            if *missing && self.used.contains(ns) {
                let prefix = if *ns == ns::XSI { attribute } else { element };
                declarations.push_str(&format!(" xmlns:{prefix}=\"{}\"", names::uri(*ns)));
            }
        }
        if !declarations.is_empty() {
            self.out.insert_str(declarations_at, &declarations);
        }
        // What is kept for diagrams is not lost when they are left out.
        let lost = if self.undrawn { Vec::new() } else { self.preserved_content.lost() };
        for address in lost {
            let message =
                format!("Nothing is left of {address}, so that what was kept for it is not exported.");
            self.diagnostics.push(Diagnostic::info("residueWithoutElement", message).with_element(address));
        }
        Ok(Written { xml: self.out, diagnostics: self.diagnostics })
    }

    fn use_ns(&mut self, ns: Ns) {
        if !self.used.contains(&ns) {
            self.used.push(ns);
        }
    }

    /// Comments and instructions outside the root.
    fn misc(&mut self, text: Option<String>) {
        if let Some(text) = text {
            self.out.push('\n');
            self.out.push_str(&text);
        }
    }

    /// The definition's own data that BPMN has no place for; the root may have no extension elements.
    fn data_attribute(&mut self) {
        let data = self.data.take().and_then(|data| serde_json::to_string(&data).ok());
        if let Some(data) = data {
            self.use_ns(ns::HEDDLE);
            let name = qualified(self.prefixes.attribute(ns::HEDDLE), "data");
            self.attribute(&name, &data);
        }
    }

    /// Writes a model type as an element of this kind.
    pub(super) fn element<T: Default>(&mut self, kind: Kind, row: &'static Row<T>, model: &T) {
        let id = row.id(model);
        self.enter(kind, id.as_deref());
        self.contents(row, model);
        self.leave();
    }

    /// Starts an element; its attributes may follow.
    pub(super) fn enter(&mut self, kind: Kind, id: Option<&str>) {
        self.start_child(kind);
        self.out.push('<');
        self.push_name(kind);
        self.open = true;
        let place = self.place(kind, id);
        let preserved = place.and_then(|place| self.preserved_content.take(place));
        let children = preserved.as_ref().and_then(|preserved| preserved.marker("order")).map(|_| Vec::new());
        self.frames.push(Frame {
            kind,
            place,
            counts: Vec::new(),
            preserved,
            extensions_taken: false,
            children,
        });
    }

    /// Appends the name of an element with its prefix.
    fn push_name(&mut self, kind: Kind) {
        let Some(row) = row(kind) else { return };
        if !self.used.contains(&row.ns()) {
            self.used.push(row.ns());
        }
        let prefix = self.prefixes.element(row.ns());
        if !prefix.is_empty() {
            self.out.push_str(prefix);
            self.out.push(':');
        }
        self.out.push_str(row.name);
    }

    /// Where preserved content of an element would be kept.
    fn place(&mut self, kind: Kind, id: Option<&str>) -> Option<Place> {
        // Counted whether the element has an id or not.
        let below = match self.frames.last_mut() {
            Some(Frame { place: Some(place), counts, .. }) if self.preserved_content.has_below(*place) => {
                let local = row(kind).map_or("", |row| row.name);
                let ordinal = match counts.iter_mut().find(|(own, _)| *own == local) {
                    Some((_, count)) => {
                        *count += 1;
                        *count - 1
                    }
                    None => {
                        counts.push((local, 1));
                        0
                    }
                };
                self.preserved_content.below(*place, local, ordinal)
            }
            _ => None,
        };
        match id {
            Some(id) if !id.contains('/') && (self.frames.is_empty() || !self.shared_ids.contains(id)) => {
                self.preserved_content.of_id(id)
            }
            _ => below,
        }
    }

    /// Starts a child of this kind on a line of its own.
    fn start_child(&mut self, kind: Kind) {
        self.end_start_tag();
        if let Some(Frame { children: Some(children), .. }) = self.frames.last_mut() {
            children.push((self.out.len(), kind));
        }
        self.indent();
    }

    fn end_start_tag(&mut self) {
        if self.open {
            self.out.push('>');
            self.open = false;
        }
    }

    fn indent(&mut self) {
        const SPACES: &str = "\n                                ";
        let depth = self.frames.len();
        let end = SPACES.len().min(1 + 2 * depth);
        self.out.push_str(&SPACES[..end]);
        for _ in end..1 + 2 * depth {
            self.out.push(' ');
        }
    }

    /// Ends the element.
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        if self.open {
            self.out.push_str("/>");
            self.open = false;
            return;
        }
        self.indent();
        self.end_tag(frame.kind);
    }

    fn end_tag(&mut self, kind: Kind) {
        self.out.push_str("</");
        self.push_name(kind);
        self.out.push('>');
    }

    fn preserved(&self) -> Option<&Rc<Preserved<'d>>> {
        self.frames.last().and_then(|frame| frame.preserved.as_ref())
    }

    fn raw_attribute_tail(&mut self, name: &str, value: &str) {
        self.out.push_str(name);
        self.out.push_str("=\"");
        escape_attribute(value, &mut self.out);
        self.out.push('"');
    }

    /// Writes an attribute.
    pub(super) fn attribute(&mut self, name: &str, value: &str) {
        self.out.push(' ');
        self.raw_attribute_tail(name, value);
    }

    /// Writes an attribute whose value is escaped already.
    fn raw_attribute(&mut self, name: &str, raw: &str) {
        let quote = if raw.contains('"') { '\'' } else { '"' };
        self.out.push(' ');
        self.out.push_str(name);
        self.out.push('=');
        self.out.push(quote);
        self.out.push_str(raw);
        self.out.push(quote);
    }

    /// Writes the attributes and children of a model type within its element.
    pub(super) fn contents<T: Default>(&mut self, row: &'static Row<T>, model: &T) {
        let Some(preserved) = self.preserved().cloned() else {
            for spec in row.attributes.iter().flat_map(|part| part.iter()) {
                if let Some(value) = (spec.get)(model) {
                    self.spec_attribute(spec, &value);
                }
            }
            for child in row.children.iter().flat_map(|part| part.iter()) {
                if let Some(write) = child.write {
                    write(self, model);
                }
            }
            return;
        };
        for spec in row.attributes.iter().flat_map(|part| part.iter()) {
            let value = (spec.get)(model);
            match preserved.attribute(spec.name) {
                Some(raw) if self.same(spec, raw, value.as_deref()) => self.raw_attribute(spec.name, raw),
                _ => {
                    if let Some(value) = value {
                        self.spec_attribute(spec, &value);
                    }
                }
            }
        }
        self.preserved_attributes(&preserved, |name| row.attribute(name).is_some());
        let mut ranked: Vec<(u16, &PreservedChild<'_>)> =
            preserved.children.iter().map(|child| (order::rank(row, child.kind), child)).collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let mut rest = ranked.as_slice();
        for (rank, child) in row.children.iter().flat_map(|part| part.iter()).enumerate() {
            if let Some(write) = child.write {
                write(self, model);
            }
            while let Some((own, kept)) = rest.first()
                && *own <= order::short(rank)
            {
                rest = &rest[1..];
                if !self.took_extensions(child.matches) {
                    self.kept(kept);
                }
            }
        }
        for (_, kept) in rest {
            self.kept(kept);
        }
        if let Some(note) = preserved.marker("order") {
            self.arrange(row, note);
        }
    }

    /// Writes an attribute of a row.
    fn spec_attribute<T>(&mut self, spec: &Attr<T>, value: &str) {
        self.out.push(' ');
        self.out.push_str(spec.name);
        self.out.push_str("=\"");
        match spec.lexis {
            Lexis::Text | Lexis::Reference => escape_attribute(value, &mut self.out),
            Lexis::Typed => self.out.push_str(value),
            Lexis::Number => {
                self.out.push_str(value);
                if self.decimals && !value.contains('.') {
                    self.out.push_str(".0");
                }
            }
        }
        self.out.push('"');
    }

    /// Puts the children of the current element into the order that the reader noted.
    fn arrange<T>(&mut self, row: &Row<T>, note: &str) {
        let end = self.out.len();
        let children = self.frames.last_mut().and_then(|frame| frame.children.as_mut()).map(std::mem::take);
        let Some(children) = children.filter(|children| !children.is_empty()) else { return };
        let ranks: Vec<u16> = children.iter().map(|(_, kind)| order::rank(row, *kind)).collect();
        let starts = children.iter().map(|(start, _)| *start);
        let ends = children.iter().skip(1).map(|(start, _)| *start).chain([end]);
        let parts: Vec<Range<usize>> = starts.zip(ends).map(|(start, end)| start..end).collect();
        let first = parts.first().map_or(end, |part| part.start);
        let arranged = order::rearranged(&self.out, &parts, &order::arrange(row, note, &ranks));
        self.out.truncate(first);
        self.out.push_str(&arranged);
    }

    fn same<T: Default>(&self, spec: &Attr<T>, raw: &str, value: Option<&str>) -> bool {
        let text = attribute_value(raw);
        let text = if spec.lexis == Lexis::Reference { self.own_name(text) } else { text };
        let mut probe = T::default();
        (spec.set)(&mut probe, text);
        (spec.get)(&probe).as_deref() == value
    }

    fn own_name<'v>(&self, value: Cow<'v, str>) -> Cow<'v, str> {
        own_name(value, |prefix| self.target_prefixes.iter().any(|own| own == prefix))
    }

    /// Writes XML text that is known to be well-formed on a line of its own.
    pub(super) fn raw(&mut self, kind: Kind, xml: &str) {
        self.start_child(kind);
        self.out.push_str(xml);
    }

    /// Writes XML text of a member, after a look at its form.
    pub(super) fn fragment(&mut self, kind: Kind, xml: &str) {
        if let Err(source) = tree::parse(xml, &self.around) {
            let path = self.frames.last().and_then(|frame| row(frame.kind)).map(|row| row.name.to_owned());
            self.error.get_or_insert(WriteError::Fragment { path: path.unwrap_or_default(), source });
            return;
        }
        self.raw(kind, xml);
    }

    /// Writes an element with character data.
    pub(super) fn leaf(&mut self, kind: Kind, style: Leaf, text: &str, language: Option<&str>) {
        self.enter(kind, None);
        let preserved = self.preserved().cloned();
        let marker =
            |name: &str| preserved.as_ref().is_some_and(|preserved| preserved.marker(name).is_some());
        if style == Leaf::Expression && !marker("plain") {
            let known =
                preserved.as_ref().and_then(|preserved| preserved.attribute(self.prefixes.xsi_type()));
            if known.is_none() {
                self.use_ns(ns::XSI);
                self.out.push(' ');
                self.out.push_str(&self.prefixes.xsi_type);
                self.out.push_str("=\"");
                self.out.push_str(&self.prefixes.formal_expression);
                self.out.push('"');
            }
        }
        if let Some(language) = language {
            self.attribute("language", language);
        }
        if let Some(preserved) = &preserved {
            self.preserved_attributes(preserved, |name| name == "language" && language.is_some());
        }
        let kept = preserved.as_ref().filter(|preserved| preserved.marker("content").is_some());
        let kept = kept.map(|preserved| preserved.inner.as_ref()).filter(|inner| {
            let value = content_text(inner);
            match style {
                Leaf::Reference => self.own_name(Cow::Borrowed(value.trim())) == text,
                Leaf::Text | Leaf::Expression => value == text,
            }
        });
        if text.is_empty() && kept.is_none() {
            self.leave();
            return;
        }
        self.end_start_tag();
        match kept {
            Some(inner) => self.out.push_str(inner),
            None => escape_text(text, &mut self.out),
        }
        self.frames.pop();
        self.end_tag(kind);
    }

    /// Writes extension elements: the definition's own data, then the fragments.
    pub(super) fn extensions(&mut self, data: Option<String>, fragments: Option<&[String]>) {
        let element = const { kind("extensionElements") };
        let Some(data) = data else {
            if let Some(fragments) = fragments {
                self.enter(element, None);
                self.kept_attributes();
                fragments.iter().for_each(|fragment| self.fragment(UNKNOWN, fragment));
                self.leave();
            }
            return;
        };
        let mut kept = String::new();
        if let Some(frame) = self.frames.last_mut() {
            let children =
                frame.preserved.as_ref().map(|preserved| preserved.children.as_slice()).unwrap_or_default();
            let extensions = children.iter().filter(|child| child.kind == element);
            extensions.for_each(|child| kept.push_str(child.inner.trim()));
            frame.extensions_taken = true;
        }
        self.enter(element, None);
        self.kept_attributes();
        self.end_start_tag();
        self.indent();
        self.use_ns(ns::HEDDLE);
        let tag = qualified(self.prefixes.element(ns::HEDDLE), "data");
        self.out.push_str(&format!("<{tag}>"));
        escape_text(&data, &mut self.out);
        self.out.push_str(&format!("</{tag}>"));
        fragments.into_iter().flatten().for_each(|fragment| self.fragment(UNKNOWN, fragment));
        if !kept.is_empty() {
            self.raw(UNKNOWN, &kept);
        }
        self.leave();
    }

    /// The prefixes around fragments.
    pub(super) fn around(&self) -> &[(&'d str, &'d str)] {
        &self.around
    }
}

/// Whether a kind belongs to a group.
pub(super) fn is_group(kind: Kind, group: Group) -> bool {
    row(kind).is_some_and(|row| row.group == group)
}

/// Whether XML 1.0 can express every character.
fn all_expressible(text: &str) -> bool {
    // The other characters that it cannot express start with this byte.
    let beyond =
        text.as_bytes().chunks(256).any(|block| block.iter().fold(false, |any, &byte| any | (byte == 0xEF)));
    control(text).is_none() && (!beyond || text.chars().all(expressible))
}

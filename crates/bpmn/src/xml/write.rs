//! The writer: shapes as elements along their rows, with their residue put back.

use super::names::{self, Group, Kind, Ns, kind, row};
use super::read::{DefinitionData, Leaf, own_name};
use super::residue::{Residue, ResidueChild, collect, surroundings};
use super::row::{Attr, Lexis, Match, Row};
use super::text::{attribute_value, content_text, escape_attribute, escape_text, expressible};
use super::tree::Tree;
use super::{WriteError, Written, rows, vendor};
use crate::diagnostic::Diagnostic;
use crate::model::{Bpmn, Edge, MAIN_PROCESS_ID, Node, Process, WorkflowDefinition};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Prefixes of the standard's namespaces within one definition.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    /// By namespace: prefix for elements, prefix for attributes, whether the definition lacks it.
    known: Vec<(Ns, String, String, bool)>,
    formal_expression: String,
    xsi_type: String,
}

const KNOWN: [Ns; 6] = [Ns::Model, Ns::BpmnDi, Ns::Dc, Ns::Di, Ns::Xsi, Ns::Heddle];

impl Prefixes {
    pub(super) fn new(namespaces: &BTreeMap<String, String>) -> Self {
        let mut known = Vec::with_capacity(KNOWN.len());
        for ns in KNOWN {
            let mut bound = namespaces.iter().filter(|(_, uri)| *uri == ns.uri()).map(|(prefix, _)| prefix);
            let element = bound.next().cloned();
            let attribute =
                element.clone().filter(|prefix| !prefix.is_empty()).or_else(|| bound.next().cloned());
            let missing = attribute.is_none() && (element.is_none() || ns == Ns::Xsi);
            let free = Self::free(namespaces, ns);
            let element = element.unwrap_or_else(|| free.clone());
            known.push((ns, element, attribute.unwrap_or(free), missing));
        }
        let mut prefixes = Self { known, formal_expression: String::new(), xsi_type: String::new() };
        prefixes.formal_expression = qualified(prefixes.element(Ns::Model), "tFormalExpression");
        prefixes.xsi_type = qualified(prefixes.attribute(Ns::Xsi), "type");
        prefixes
    }

    /// A prefix for a namespace that the definition does not bind.
    pub(super) fn free(namespaces: &BTreeMap<String, String>, ns: Ns) -> String {
        let usual = ns.usual_prefix();
        let mut prefix = usual.to_owned();
        let mut number = 1;
        while namespaces.contains_key(&prefix) {
            number += 1;
            prefix = format!("{usual}{number}");
        }
        prefix
    }

    fn find(&self, ns: Ns) -> Option<&(Ns, String, String, bool)> {
        self.known.iter().find(|(own, ..)| *own == ns)
    }

    fn element(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, element, ..)| element.as_str())
    }

    fn attribute(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, _, attribute, _)| attribute.as_str())
    }

    /// Name of the attribute `xsi:type`.
    pub(super) fn xsi_type(&self) -> &str {
        &self.xsi_type
    }

    /// The type name of a formal expression.
    pub(super) fn formal_expression(&self) -> &str {
        &self.formal_expression
    }
}

fn qualified(prefix: &str, local: &str) -> String {
    if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") }
}

#[derive(Debug)]
struct Frame {
    name: String,
    address: String,
    counts: Vec<(String, u32)>,
    residue: Residue,
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
    residues: HashMap<String, Residue>,
    root_events: HashMap<String, ()>,
    /// Whether any residue is addressed by path, so that paths must be known.
    with_paths: bool,
    frames: Vec<Frame>,
    open: bool,
    used: Vec<Ns>,
    flows: Vec<Flows>,
    omit_flow_refs: bool,
    pub waypoint_type: Option<String>,
    pub plain: Vec<&'d str>,
    pub data: Option<DefinitionData>,
    pub main: Option<Process>,
    /// Whether the process that is being written is the top-level graph.
    pub writes_main: bool,
    pub diagnostics: Vec<Diagnostic>,
    /// What vendors keep beside the nodes.
    pub vendors: vendor::Context,
    /// Whether the nodes that are being written stand in an event sub-process.
    pub inner_event: bool,
    error: Option<WriteError>,
}

/// Writes a definition as a document.
pub(super) fn definition(definition: &WorkflowDefinition) -> Result<Written, WriteError> {
    let empty = Bpmn::default();
    let bpmn = definition.bpmn.as_deref().unwrap_or(&empty);
    let no_namespaces = BTreeMap::new();
    let namespaces = bpmn.namespaces.as_ref().unwrap_or(&no_namespaces);
    let around = surroundings(namespaces);
    let fragments = bpmn.extension_elements_xml.as_deref().unwrap_or_default();
    let (residues, plain) = collect(fragments, &around)
        .map_err(|source| WriteError::Fragment { path: "bpmn.extensionElementsXml".to_owned(), source })?;
    let mut writer = Writer::new(namespaces, around, residues, bpmn);
    writer.plain = plain;
    writer.prepare(definition, bpmn);
    writer.out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    writer.enter("definitions", bpmn.id.as_deref().filter(|id| !id.is_empty()));
    for (prefix, uri) in namespaces {
        writer.out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        writer.raw_attribute_tail(prefix, uri);
    }
    let declarations_at = writer.out.len();
    writer.contents(&rows::DEFINITIONS, bpmn);
    writer.leave();
    writer.out.push('\n');
    writer.finish(declarations_at)
}

impl<'d> Writer<'d> {
    fn new(
        namespaces: &BTreeMap<String, String>,
        around: Vec<(&'d str, &'d str)>,
        residues: HashMap<String, Residue>,
        bpmn: &Bpmn,
    ) -> Self {
        let target = bpmn.target_namespace.as_deref().unwrap_or_default();
        let own = namespaces.iter().filter(|(prefix, uri)| !prefix.is_empty() && *uri == target);
        let root = residues.get(bpmn.id.as_deref().filter(|id| !id.is_empty()).unwrap_or("definitions"));
        let root_children = root.map(|root| root.children.as_slice()).unwrap_or_default();
        let root_events = root_children.iter().filter(|child| is_group(child.kind, Group::EventDefinition));
        let root_events = root_events.filter_map(|child| Some((child.id.clone()?, ())));
        let vendors = vendor::Context::of(bpmn, &residues, &around);
        Self {
            out: String::with_capacity(64 * 1024),
            prefixes: Prefixes::new(namespaces),
            around,
            target_prefixes: own.map(|(prefix, _)| prefix.clone()).collect(),
            root_events: root_events.collect(),
            with_paths: residues.keys().any(|address| address.contains('/')),
            omit_flow_refs: root.is_some_and(|root| root.marker("flowRefs") == Some("omit")),
            waypoint_type: root.and_then(|root| root.marker("waypointType")).map(str::to_owned),
            vendors,
            inner_event: false,
            residues,
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
        if !self.out.chars().all(expressible) {
            return Err(WriteError::Character { path: "definition".to_owned() });
        }
        let mut declarations = String::new();
        for (ns, element, attribute, missing) in &self.prefixes.known {
            if *missing && self.used.contains(ns) {
                let prefix = if *ns == Ns::Xsi { attribute } else { element };
                declarations.push_str(&format!(" xmlns:{prefix}=\"{}\"", ns.uri()));
            }
        }
        self.out.insert_str(declarations_at, &declarations);
        let mut lost: Vec<&String> = self.residues.keys().collect();
        lost.sort();
        for address in lost {
            let message =
                format!("Nothing is left of {address}, so that what was kept for it is not exported.");
            self.diagnostics
                .push(Diagnostic::info("residueWithoutElement", message).with_element(address.clone()));
        }
        Ok(Written { xml: self.out, diagnostics: self.diagnostics })
    }

    fn use_ns(&mut self, ns: Ns) {
        if !self.used.contains(&ns) {
            self.used.push(ns);
        }
    }

    /// Writes a shape as an element of this name.
    pub(super) fn element<T: Default>(&mut self, name: &str, row: &'static Row<T>, shape: &T) {
        let id = row.id(shape);
        self.enter(name, id.as_deref());
        self.contents(row, shape);
        self.leave();
    }

    /// Starts an element; its attributes may follow.
    pub(super) fn enter(&mut self, name: &str, id: Option<&str>) {
        let ns = names::ns_of(name);
        self.use_ns(ns);
        self.line();
        let name = qualified(self.prefixes.element(ns), name);
        self.out.push('<');
        self.out.push_str(&name);
        self.open = true;
        let address = self.address(&name, id);
        let residue = if self.residues.is_empty() { None } else { self.residues.remove(&*address) };
        let address = if self.with_paths { address.into_owned() } else { String::new() };
        self.frames.push(Frame { name, address, counts: Vec::new(), residue: residue.unwrap_or_default() });
    }

    fn address<'i>(&mut self, name: &str, id: Option<&'i str>) -> Cow<'i, str> {
        if !self.with_paths {
            let root = if self.frames.is_empty() { "definitions" } else { "" };
            return Cow::Borrowed(id.unwrap_or(root));
        }
        let Some(parent) = self.frames.last_mut() else { return Cow::Borrowed(id.unwrap_or("definitions")) };
        let local = name.rsplit(':').next().unwrap_or(name);
        let ordinal = match parent.counts.iter_mut().find(|(own, _)| own == local) {
            Some((_, count)) => {
                *count += 1;
                *count - 1
            }
            None => {
                parent.counts.push((local.to_owned(), 1));
                0
            }
        };
        match id {
            Some(id) => Cow::Borrowed(id),
            None => Cow::Owned(format!("{}/{local}[{ordinal}]", parent.address)),
        }
    }

    /// Ends the start tag of the element around and starts a new line.
    fn line(&mut self) {
        if self.open {
            self.out.push('>');
            self.open = false;
        }
        self.out.push('\n');
        for _ in 0..self.frames.len() {
            self.out.push_str("  ");
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
        self.line();
        self.out.push_str("</");
        self.out.push_str(&frame.name);
        self.out.push('>');
    }

    fn residue(&self) -> Option<&Residue> {
        self.frames.last().map(|frame| &frame.residue)
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

    /// Writes the attributes and children of a shape within its element.
    pub(super) fn contents<T: Default>(&mut self, row: &'static Row<T>, shape: &T) {
        let residue =
            self.frames.last_mut().map(|frame| std::mem::take(&mut frame.residue)).unwrap_or_default();
        for spec in row.attributes.iter().flat_map(|part| part.iter()) {
            let value = (spec.get)(shape);
            match residue.attribute(spec.name) {
                Some(raw) if self.same(spec, raw, value.as_deref()) => self.raw_attribute(spec.name, raw),
                _ => {
                    if let Some(value) = value {
                        self.attribute(spec.name, &value);
                    }
                }
            }
        }
        self.residue_attributes(&residue, |name| row.attribute(name).is_some());
        let mut ranked: Vec<(usize, &ResidueChild)> = Vec::with_capacity(residue.children.len());
        for child in &residue.children {
            let rank =
                row.child(child.kind, super::read::group(child.kind)).map_or(usize::MAX, |(rank, _)| rank);
            ranked.push((rank, child));
        }
        ranked.sort_by_key(|(rank, _)| *rank);
        if let Some(frame) = self.frames.last_mut() {
            frame.residue = residue.clone();
        }
        let mut rest = ranked.as_slice();
        for (rank, child) in row.children.iter().flat_map(|part| part.iter()).enumerate() {
            if let Some(write) = child.write {
                write(self, shape);
            }
            while let Some((own, kept)) = rest.first()
                && *own <= rank
            {
                rest = &rest[1..];
                if !self.took_extensions(child.matches) {
                    self.raw(&kept.xml);
                }
            }
        }
        for (_, kept) in rest {
            self.raw(&kept.xml);
        }
    }

    /// Whether the extension elements kept for the current element were written with its own data.
    fn took_extensions(&self, matches: Match) -> bool {
        matches == Match::Kind(kind("extensionElements"))
            && self.residue().is_some_and(|residue| residue.used)
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

    /// Whether the reader left a note at the current element.
    pub(super) fn marked(&self, name: &str) -> bool {
        self.residue().is_some_and(|residue| residue.marker(name).is_some())
    }

    /// Puts back the attributes of an element that has no attributes of its own.
    pub(super) fn kept_attributes(&mut self) {
        let residue = self.residue().cloned().unwrap_or_default();
        self.residue_attributes(&residue, |_| false);
    }

    fn residue_attributes(&mut self, residue: &Residue, own: impl Fn(&str) -> bool) {
        for (prefix, uri) in &residue.declarations {
            self.attribute(&format!("xmlns:{prefix}"), uri);
        }
        for (name, raw) in &residue.attributes {
            if !own(name) {
                self.raw_attribute(name, raw);
            }
        }
    }

    /// Writes XML text that is known to be well-formed on a line of its own.
    pub(super) fn raw(&mut self, xml: &str) {
        self.line();
        self.out.push_str(xml);
    }

    /// Writes XML text of a member, after a look at its form.
    pub(super) fn fragment(&mut self, xml: &str) {
        if let Err(source) = Tree::parse(xml, &self.around) {
            let path = self.frames.last().map(|frame| frame.name.clone()).unwrap_or_default();
            self.error.get_or_insert(WriteError::Fragment { path, source });
            return;
        }
        self.raw(xml);
    }

    /// Writes an element with character data.
    pub(super) fn leaf(&mut self, name: &str, style: Leaf, text: &str, language: Option<&str>) {
        self.enter(name, None);
        let residue =
            self.frames.last_mut().map(|frame| std::mem::take(&mut frame.residue)).unwrap_or_default();
        if style == Leaf::Expression && residue.marker("plain").is_none() {
            let xsi_type = self.prefixes.xsi_type().to_owned();
            if residue.attribute(&xsi_type).is_none() {
                let formal = self.prefixes.formal_expression().to_owned();
                self.use_ns(Ns::Xsi);
                self.attribute(&xsi_type, &formal);
            }
        }
        if let Some(language) = language {
            self.attribute("language", language);
        }
        self.residue_attributes(&residue, |name| name == "language" && language.is_some());
        let kept = residue.marker("content").is_some().then_some(residue.inner.as_str()).filter(|inner| {
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
        self.out.push('>');
        self.open = false;
        match kept {
            Some(inner) => self.out.push_str(inner),
            None => escape_text(text, &mut self.out),
        }
        if let Some(frame) = self.frames.pop() {
            self.out.push_str(&format!("</{}>", frame.name));
        }
    }

    /// Writes extension elements: the definition's own data, then the fragments.
    pub(super) fn extensions(&mut self, data: Option<String>, fragments: Option<&[String]>) {
        let Some(data) = data else {
            if let Some(fragments) = fragments {
                self.enter("extensionElements", None);
                fragments.iter().for_each(|fragment| self.fragment(fragment));
                self.leave();
            }
            return;
        };
        let mut kept = String::new();
        if let Some(frame) = self.frames.last_mut() {
            let extensions =
                frame.residue.children.iter().filter(|child| child.kind == kind("extensionElements"));
            extensions.for_each(|child| kept.push_str(child.inner.trim()));
            frame.residue.used = true;
        }
        self.enter("extensionElements", None);
        self.line();
        self.use_ns(Ns::Heddle);
        let tag = qualified(self.prefixes.element(Ns::Heddle), "data");
        self.out.push_str(&format!("<{tag}>"));
        escape_text(&data, &mut self.out);
        self.out.push_str(&format!("</{tag}>"));
        fragments.into_iter().flatten().for_each(|fragment| self.fragment(fragment));
        if !kept.is_empty() {
            self.raw(&kept);
        }
        self.leave();
    }

    /// Writes the type of a way point.
    pub(super) fn waypoint_type(&mut self) {
        if let Some(value) = self.waypoint_type.clone() {
            let name = self.prefixes.xsi_type().to_owned();
            let marked = self.residue().is_some_and(|residue| {
                residue.marker("plain").is_some() || residue.attribute(&name).is_some()
            });
            if !marked {
                self.use_ns(Ns::Xsi);
                self.attribute(&name, &value);
            }
        }
    }

    /// The prefixes around fragments.
    pub(super) fn around(&self) -> &[(&'d str, &'d str)] {
        &self.around
    }

    /// Whether an event definition of this id stands at the model's root.
    pub(super) fn at_root(&self, id: &str) -> bool {
        self.root_events.contains_key(id)
    }

    /// Starts a graph: collects its flows by node.
    pub(super) fn enter_graph(&mut self, edges: &[Edge]) {
        let mut flows = Flows::new();
        if !self.omit_flow_refs {
            for edge in edges.iter().filter(|edge| edge.element_type() == "sequenceFlow") {
                let Some(id) = edge.id.as_ref() else { continue };
                if let Some(source) = &edge.source {
                    flows.entry(source.clone()).or_default().1.push(id.clone());
                }
                if let Some(target) = &edge.target {
                    flows.entry(target.clone()).or_default().0.push(id.clone());
                }
            }
        }
        self.flows.push(flows);
    }

    pub(super) fn leave_graph(&mut self) {
        self.flows.pop();
    }

    /// Takes the flows of a node out of the graph that is being written.
    pub(super) fn node_flows(&mut self, node: &Node) -> Option<(String, NodeFlows)> {
        self.flows.last_mut()?.remove_entry(node.element_id()?)
    }

    /// Gives a sub-process its own flows before its content is written.
    pub(super) fn with_node_flows(&mut self, flows: Option<(String, NodeFlows)>) {
        if let (Some((id, refs)), Some(graph)) = (flows, self.flows.last_mut()) {
            graph.insert(id, refs);
        }
    }

    /// Appends the attributes that are put back at the current element.
    pub(super) fn put_attributes(&self, out: &mut String) {
        if let Some(residue) = self.residue() {
            put_back(residue, out);
        }
    }

    /// Appends what is put back at the loop marker of the node that is being written, as an element `marker`.
    pub(super) fn put_marker(&self, node: &Node, out: &mut String) {
        let activity = node.bpmn.as_ref().and_then(|bpmn| bpmn.activity.as_ref());
        let Some(own) = activity.and_then(|activity| activity.r#loop.as_deref()) else { return };
        let residue = match (own.id.as_deref().filter(|id| !id.is_empty()), self.frames.last()) {
            (Some(id), _) => self.residues.get(id),
            (None, Some(frame)) => {
                self.residues.get(&format!("{}/multiInstanceLoopCharacteristics[0]", frame.address))
            }
            (None, None) => None,
        };
        let Some(residue) = residue else { return };
        out.push_str("<marker");
        put_back(residue, out);
        out.push('>');
        for child in residue.children.iter().filter(|child| child.kind == kind("extensionElements")) {
            out.push_str(&child.xml);
        }
        out.push_str("</marker>");
    }

    /// Writes which flows go into a node and out of it.
    pub(super) fn flow_refs(&mut self, node: &Node) {
        let own = self.residue().is_some_and(|residue| residue.marker("flowRefs").is_some());
        if own || self.omit_flow_refs {
            return;
        }
        let Some(id) = node.element_id() else { return };
        let Some((incoming, outgoing)) = self.flows.last_mut().and_then(|flows| flows.remove(id)) else {
            return;
        };
        for flow in &incoming {
            self.leaf("incoming", Leaf::Text, flow, None);
        }
        for flow in &outgoing {
            self.leaf("outgoing", Leaf::Text, flow, None);
        }
    }
}

fn put_back(residue: &Residue, out: &mut String) {
    for (prefix, uri) in &residue.declarations {
        out.push_str(&format!(" xmlns:{prefix}=\""));
        escape_attribute(uri, out);
        out.push('"');
    }
    for (name, raw) in &residue.attributes {
        let quote = if raw.contains('"') { '\'' } else { '"' };
        out.push_str(&format!(" {name}={quote}{raw}{quote}"));
    }
}

/// Whether a kind belongs to a group.
pub(super) fn is_group(kind: Kind, group: Group) -> bool {
    row(kind).is_some_and(|row| row.group == group)
}

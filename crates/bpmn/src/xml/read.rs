//! The reader: fills shapes from a tree along their rows and keeps the rest as residue.

use super::document::{decimals, namespaces, rebound, shared_ids};
use super::names::{Bpmn as Vocabulary, COMMENT, Group, Kind, Ns, kind, ns, row};
use super::order;
use super::row::{Lexis, Row};
use super::rows;
use super::text::{escape_attribute, shortest_fraction};
use super::tree::{El, Tree, has};
use super::write::Prefixes;
use super::{Imported, MAX_JSON_DEPTH, MODEL_NS, XmlError, vendor};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::model::{Bpmn, Conversation, ImportItem, Layout, Process, Protection, WorkflowDefinition};
use heddle_xml::Names as _;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Most import items and findings of one document.
const MAX_ITEMS: usize = 10_000;
const MAX_DIAGNOSTICS: usize = 1_000;

/// What the character data of an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    Text,
    Expression,
    Reference,
}

/// What is kept for one element.
#[derive(Debug, Default)]
struct Keep<'s> {
    attributes: Vec<(usize, &'s str, &'s str)>,
    declarations: Vec<(&'s str, String)>,
    children: Vec<(usize, Cow<'s, str>)>,
    markers: Vec<(&'static str, String)>,
    inner: Option<&'s str>,
}

impl Keep<'_> {
    /// Text alone is kept with the mark that says so.
    fn is_empty(&self) -> bool {
        self.attributes.is_empty()
            && self.children.is_empty()
            && self.markers.is_empty()
            && self.declarations.is_empty()
    }
}

#[derive(Debug)]
struct Frame<'s> {
    el: El,
    id: Option<Cow<'s, str>>,
    /// Whether the id is an address of its own.
    addressable: bool,
    /// Made when there is something to keep.
    keep: Option<Box<Keep<'s>>>,
    flow_refs: Vec<El>,
}

/// Incoming and outgoing flows by node.
type Flows<'s> = HashMap<Cow<'s, str>, (Vec<Cow<'s, str>>, Vec<Cow<'s, str>>)>;

/// Members of a definition that BPMN has no place for; they stand in `heddle:data` of the root.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DefinitionData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conformance_profile: Option<String>,
    /// Conversations outside a collaboration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversations: Option<Vec<Conversation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_process_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection: Option<Protection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<i64>,
}

/// Reads one tree.
pub(super) struct Reader<'s> {
    pub tree: &'s Tree<'s>,
    prefixes: Prefixes,
    target_prefixes: Vec<&'s str>,
    frames: Vec<Frame<'s>>,
    ordinals: HashMap<(El, &'s str), (El, u32)>,
    /// Which elements have been entered, so that the writer will come to them too.
    entered: Vec<bool>,
    /// Prefixes that the root will bind.
    bound: &'s BTreeMap<String, String>,
    /// Ids that several elements have.
    shared_ids: HashSet<Cow<'s, str>>,
    /// Ranks of the children of the elements that are being read.
    ranks: Vec<u16>,
    residues: Vec<(String, String)>,
    flows: Vec<Flows<'s>>,
    omit_flow_refs: bool,
    /// Whether whole numbers of the diagrams have a fraction.
    decimals: bool,
    pub waypoint_type: Option<Option<&'s str>>,
    pub root_events: HashMap<Cow<'s, str>, El>,
    muted: usize,
    json_depth: usize,
    items: Vec<ImportItem>,
    diagnostics: Vec<Diagnostic>,
    /// Items and findings beyond the most.
    more: usize,
    pub data: DefinitionData,
    pub top_level: Option<Process>,
    /// Whether the process that is being read is the top-level graph.
    pub top_level_next: bool,
    /// Whether the way point that is being read has the type that all share.
    same_waypoint_type: bool,
    /// What vendors keep beside the nodes.
    pub vendors: vendor::Context,
}

/// Reads a tree as a definition.
pub(super) fn definition(tree: &Tree<'_>) -> Result<Imported, XmlError> {
    let root = tree.part(0);
    if root.ns != ns::MODEL || root.local() != "definitions" {
        let message = format!(
            "The root element is {{{}}}{}; a BPMN 2.0 document starts with {{{MODEL_NS}}}definitions.",
            tree.uri(root.ns),
            root.local()
        );
        return Err(tree.error_at(0, "notBpmn", message));
    }
    let namespaces = namespaces(tree);
    let rebound = rebound(tree, &namespaces);
    let mut reader = Reader::new(tree, &namespaces, &rebound);
    let mut bpmn = Box::<Bpmn>::default();
    reader.enter(0, true);
    reader.fill(&rows::DEFINITIONS, &mut *bpmn, 0)?;
    if reader.omit_flow_refs {
        reader.mark("flowRefs", "omit".to_owned());
    }
    if let Some(Some(kind)) = reader.waypoint_type {
        reader.mark("waypointType", kind.to_owned());
    }
    reader.mark_document(&rebound);
    reader.leave();
    reader.residues.sort_by(|left, right| left.0.cmp(&right.0));
    if !reader.residues.is_empty() {
        let fragments = bpmn.extension_elements_xml.get_or_insert_default();
        fragments.extend(std::mem::take(&mut reader.residues).into_iter().map(|(_, fragment)| fragment));
    }
    if reader.more > 0 {
        let message = format!("{} more items and findings are left out.", reader.more);
        reader.diagnostics.push(Diagnostic::info("moreFindings", message));
    }
    bpmn.conformance_profile = reader.data.conformance_profile.take();
    bpmn.conversations = reader.data.conversations.take();
    bpmn.primary_process_id = reader.data.primary_process_id.take();
    let top = reader.top_level.take().unwrap_or_default();
    let definition = WorkflowDefinition {
        bpmn: Some(bpmn),
        nodes: top.nodes,
        edges: top.edges,
        layout: reader.data.layout.take(),
        protection: reader.data.protection.take(),
        schema_version: reader.data.schema_version.take(),
        ..WorkflowDefinition::default()
    };
    let Reader { items, diagnostics, .. } = reader;
    let mut imported = Imported { definition, items, diagnostics };
    if let Some(bpmn) = &mut imported.definition.bpmn {
        bpmn.namespaces = Some(namespaces);
    }
    Ok(imported)
}

impl<'s> Reader<'s> {
    fn new(tree: &'s Tree<'s>, namespaces: &'s BTreeMap<String, String>, rebound: &[&str]) -> Self {
        let target = tree.attribute(0, "targetNamespace").unwrap_or_default();
        let bindings = tree.root_bindings();
        let target_prefixes = bindings
            .iter()
            .filter(|(prefix, uri)| !prefix.is_empty() && *uri == target)
            .map(|(prefix, _)| *prefix);
        let root_events = tree.parts_of(0).filter(|&el| group(tree.part(el).kind) == Group::EventDefinition);
        let root_events = root_events.filter_map(|el| Some((tree.attribute(el, "id")?, el)));
        Self {
            tree,
            prefixes: Prefixes::new(namespaces, rebound),
            target_prefixes: target_prefixes.collect(),
            frames: Vec::new(),
            ordinals: HashMap::default(),
            entered: vec![false; tree.len()],
            bound: namespaces,
            shared_ids: shared_ids(tree),
            ranks: Vec::new(),
            residues: Vec::new(),
            flows: Vec::new(),
            omit_flow_refs: has(tree, kind("sequenceFlow"))
                && !has(tree, kind("incoming"))
                && !has(tree, kind("outgoing")),
            decimals: decimals(tree),
            waypoint_type: None,
            root_events: root_events.collect(),
            muted: 0,
            json_depth: 2,
            items: Vec::new(),
            diagnostics: Vec::new(),
            more: 0,
            data: DefinitionData::default(),
            top_level: None,
            top_level_next: false,
            same_waypoint_type: false,
            vendors: vendor::Context::read(tree),
        }
    }

    /// Whether what is read now was read before, so that nothing is noted.
    pub(super) fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Reads an element into a shape.
    pub(super) fn read<T>(&mut self, row: &'static Row<T>, shape: &mut T, el: El) -> Result<(), XmlError> {
        self.enter(el, has_id(row));
        self.fill(row, shape, el)?;
        self.leave();
        Ok(())
    }

    /// Reads an element whose JSON nests by this many levels.
    pub(super) fn read_deeper<T>(
        &mut self,
        row: &'static Row<T>,
        shape: &mut T,
        el: El,
        levels: usize,
    ) -> Result<(), XmlError> {
        self.deepen(el, levels)?;
        self.read(row, shape, el)?;
        self.json_depth -= levels;
        Ok(())
    }

    /// Counts JSON levels; ten more must fit below.
    pub(super) fn deepen(&mut self, el: El, levels: usize) -> Result<(), XmlError> {
        self.json_depth += levels;
        if self.json_depth + 10 > MAX_JSON_DEPTH {
            let message = "Sub-processes, lanes, conversations or choreographies are nested too deep \
                           (at most 12 sub-processes within each other)."
                .to_owned();
            return Err(self.tree.error_at(el, "nestingTooDeep", message));
        }
        Ok(())
    }

    /// Takes back what [`Self::deepen`] counted.
    pub(super) fn undeepen(&mut self, levels: usize) {
        self.json_depth -= levels;
    }

    /// Reads without keeping residue or noting anything.
    pub(super) fn read_muted<T>(
        &mut self,
        row: &'static Row<T>,
        shape: &mut T,
        el: El,
    ) -> Result<(), XmlError> {
        self.muted += 1;
        self.read(row, shape, el)?;
        self.muted -= 1;
        Ok(())
    }

    pub(super) fn enter(&mut self, el: El, has_id: bool) {
        let id = if has_id { self.tree.attribute(el, "id").filter(|id| !id.is_empty()) } else { None };
        let addressable = id.as_ref().is_some_and(|id| !id.contains('/') && !self.shared_ids.contains(id));
        let mut keep: Option<Box<Keep<'s>>> = None;
        if el != 0 {
            for declaration in self.tree.declarations(el) {
                let (prefix, uri) = (declaration.prefix, self.tree.uri(declaration.ns));
                let known = self.bound.get(prefix).is_some_and(|own| own == uri);
                if !prefix.is_empty() && !known && declaration.ns != ns::HEDDLE {
                    keep.get_or_insert_default().declarations.push((prefix, uri.to_owned()));
                }
            }
        }
        if self.muted == 0 {
            self.entered[el as usize] = true;
        }
        self.frames.push(Frame { el, id, addressable, keep, flow_refs: Vec::new() });
    }

    /// Notes at the root what holds for the document as a whole.
    fn mark_document(&mut self, rebound: &[&str]) {
        if self.decimals {
            self.mark("decimals", "true".to_owned());
        }
        let [before, after] = self.tree.around();
        if !before.is_empty() {
            self.mark("prolog", before.join("\n"));
        }
        if !after.is_empty() {
            self.mark("epilog", after.join("\n"));
        }
        if !rebound.is_empty() {
            self.mark("rebound", rebound.join(" "));
        }
        if !self.shared_ids.is_empty() {
            let mut ids: Vec<&str> = self.shared_ids.iter().map(AsRef::as_ref).collect();
            ids.sort_unstable();
            if let Ok(ids) = serde_json::to_string(&ids) {
                self.mark("sharedIds", ids);
            }
        }
    }

    pub(super) fn fill<T>(&mut self, row: &'static Row<T>, shape: &mut T, el: El) -> Result<(), XmlError> {
        let tree = self.tree;
        for attribute in tree.attributes(el) {
            if el == 0 && attribute.ns == ns::HEDDLE && attribute.local() == "data" {
                self.definition_data(&attribute.value());
                continue;
            }
            let spec = if attribute.ns == Ns::NONE { row.attribute(attribute.local()) } else { None };
            let Some(spec) = spec else {
                if self.same_waypoint_type && attribute.name == self.prefixes.xsi_type() {
                    self.same_waypoint_type = false;
                    continue;
                }
                self.keep_attribute(usize::MAX, attribute.name, attribute.raw, attribute.ns);
                continue;
            };
            let value = attribute.value();
            let taken = match spec.lexis {
                Lexis::Text => (spec.set)(shape, value),
                Lexis::Reference => {
                    let own = self.own_name(value.clone());
                    let same = own == value;
                    (spec.set)(shape, own) && same
                }
                Lexis::Number => {
                    let known = (spec.set)(shape, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && self.usual_number(&value, || (spec.get)(shape))
                }
                Lexis::Typed => {
                    let known = (spec.set)(shape, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && (canonical(&value) || (spec.get)(shape).as_deref() == Some(&*value))
                }
            };
            if !taken {
                self.keep_attribute(rank_of(row, spec.name), attribute.name, attribute.raw, Ns::NONE);
            }
        }
        self.children(row, shape, el)
    }

    /// Reads the children of an element into a shape.
    fn children<T>(&mut self, row: &'static Row<T>, shape: &mut T, el: El) -> Result<(), XmlError> {
        let tree = self.tree;
        let first_rank = self.ranks.len();
        let mut stray = if tree.part(el).has_text { tree.stray(el).collect::<Vec<_>>() } else { Vec::new() }
            .into_iter()
            .peekable();
        for child in tree.parts_of(el) {
            if stray.peek().is_some_and(|(before, _)| *before == Some(child))
                && let Some((_, text)) = stray.next()
            {
                self.keep_stray(text);
            }
            let kind = tree.part(child).kind;
            let found = if kind >= COMMENT { None } else { row.child(kind, group(kind)) };
            let rank = found.map_or(usize::MAX, |(rank, _)| rank);
            self.ranks.push(order::short(rank));
            let taken = match found.and_then(|(_, child)| child.read) {
                Some(read) => read(self, shape, child)?,
                None => false,
            };
            if !taken {
                self.keep_child(rank, child);
            }
        }
        if let Some((_, text)) = stray.next() {
            self.keep_stray(text);
        }
        if let Some(order) = order::text(row, &self.ranks[first_rank..]) {
            self.mark("order", order);
        }
        self.ranks.truncate(first_rank);
        Ok(())
    }

    /// Keeps character data where the standard has none.
    fn keep_stray(&mut self, text: &str) {
        self.ranks.push(order::short(usize::MAX));
        self.keep_xml(usize::MAX, Cow::Owned(format!("<heddle:text>{}</heddle:text>", text.trim())));
    }

    /// Reads the definition's own data, which stands in an attribute of the root.
    fn definition_data(&mut self, text: &str) {
        match serde_json::from_str(text) {
            Ok(data) => self.data = data,
            Err(error) => {
                let message = format!("The attribute heddle:data is not understood: {error}.");
                self.note(Diagnostic::warning("invalidData", message));
            }
        }
    }

    /// Whether the writer will write a number of a diagram as it stands.
    fn usual_number<'v>(&self, text: &str, print: impl FnOnce() -> Option<Cow<'v, str>>) -> bool {
        let whole = if self.decimals { text.strip_suffix(".0") } else { Some(text) };
        if let Some(whole) = whole {
            let digits = whole.strip_prefix('-').unwrap_or(whole);
            let leading = digits.len() > 1 && digits.starts_with('0');
            if digits.len() < 16 && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return !leading && whole != "-0";
            }
        }
        if shortest_fraction(text) {
            return true;
        }
        let Some(mut printed) = print() else { return false };
        if self.decimals && !printed.contains('.') {
            printed.to_mut().push_str(".0");
        }
        printed == text
    }

    fn invalid(&mut self, el: El, attribute: &str, value: &str) {
        let element = self.tree.part(el);
        let message = format!("{value:?} is no value of the attribute {attribute} of {}.", element.local());
        let mut diagnostic = Diagnostic::warning("invalidValue", message);
        diagnostic.element_id = self.tree.attribute(el, "id").map(Cow::into_owned);
        self.note(diagnostic);
    }

    /// Notes a finding, unless what is read now was read before.
    pub(super) fn note(&mut self, diagnostic: Diagnostic) {
        if self.muted > 0 {
            return;
        }
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        } else {
            self.more += 1;
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

    pub(super) fn keep_attribute(&mut self, rank: usize, name: &'s str, raw: &'s str, ns: Ns) {
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let uri = self.tree.uri(ns);
        let bound =
            prefix.is_empty() || prefix == "xml" || self.bound.get(prefix).is_some_and(|own| own == uri);
        let declaration = (!bound).then(|| (prefix, uri.to_owned()));
        if let Some(frame) = self.frames.last_mut() {
            let keep = frame.keep.get_or_insert_default();
            keep.attributes.push((rank, name, raw));
            if let Some(declaration) = declaration
                && !keep.declarations.contains(&declaration)
            {
                keep.declarations.push(declaration);
            }
        }
        if self.muted == 0 && ns != Ns::NONE && ns != Ns::XML && !Vocabulary::knows(ns) {
            vendor::note_attribute(self, name);
        }
    }

    fn keep_child(&mut self, rank: usize, child: El) {
        let fragment = self.tree.fragment(child);
        self.keep_xml(rank, fragment);
        if self.muted == 0 && self.tree.part(child).kind != COMMENT {
            vendor::note_child(self, child);
        }
    }

    /// Keeps XML text as a child of the element that is being read.
    pub(super) fn keep_xml(&mut self, rank: usize, xml: Cow<'s, str>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.keep.get_or_insert_default().children.push((rank, xml));
        }
    }

    /// Leaves a note for the writer at the element that is being read.
    pub(super) fn mark(&mut self, name: &'static str, value: String) {
        if let Some(frame) = self.frames.last_mut() {
            frame.keep.get_or_insert_default().markers.push((name, value));
        }
    }

    /// The element that is being read.
    pub(super) fn current(&self) -> El {
        self.frames.last().map_or(0, |frame| frame.el)
    }

    /// The element around the one that is being read.
    pub(super) fn outer(&self) -> El {
        self.frames.iter().rev().nth(1).map_or(0, |frame| frame.el)
    }

    /// The id of the element that is being read, or of the nearest one around it that has one.
    pub(super) fn nearest_id(&self) -> Option<&str> {
        self.frames.iter().rev().find_map(|frame| frame.id.as_deref())
    }

    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if frame.keep.as_ref().is_none_or(|keep| keep.is_empty()) || self.muted > 0 {
            self.frames.pop();
            return;
        }
        let address = self.address();
        if let Some(keep) = self.frames.pop().and_then(|frame| frame.keep) {
            let fragment = fragment(&address, *keep);
            self.residues.push((address, fragment));
        }
    }

    /// Where residue of the element that is being read belongs.
    fn address(&mut self) -> String {
        let with_id = self.frames.iter().rposition(|frame| frame.addressable);
        let mut address = match with_id {
            Some(index) => self.frames[index].id.as_deref().unwrap_or_default().to_owned(),
            None => "definitions".to_owned(),
        };
        for index in with_id.unwrap_or(0) + 1..self.frames.len() {
            let (parent, el) = (self.frames[index - 1].el, self.frames[index].el);
            let local = self.tree.part(el).local();
            let ordinal = self.ordinal(parent, el, local);
            address.push('/');
            address.push_str(local);
            address.push('[');
            address.push_str(itoa::Buffer::new().format(ordinal));
            address.push(']');
        }
        address
    }

    /// How many siblings of the same name that have been entered stand before the element. Elements are left in
    /// document order, so that counting goes on from the last one asked for.
    fn ordinal(&mut self, parent: El, el: El, local: &'s str) -> u32 {
        let first = parent + 1;
        let (mut at, mut count) = self.ordinals.get(&(parent, local)).copied().unwrap_or((first, 0));
        if at > el {
            (at, count) = (first, 0);
        }
        while at != el {
            let entered = self.entered.get(at as usize).copied().unwrap_or_default();
            count += u32::from(entered && self.tree.local(at) == local);
            let Some(next) = self.tree.next(at) else { break };
            at = next;
        }
        self.ordinals.insert((parent, local), (el, count));
        count
    }

    /// A reference without a prefix that means the model's own namespace.
    pub(super) fn own_name<'v>(&self, value: Cow<'v, str>) -> Cow<'v, str> {
        own_name(value, |prefix| self.target_prefixes.contains(&prefix))
    }

    /// The character data of an element.
    pub(super) fn leaf(&mut self, el: El, style: Leaf) -> String {
        self.leaf_with(el, style, false).0
    }

    /// An expression and its language.
    pub(super) fn expression(&mut self, el: El) -> (String, Option<String>) {
        self.leaf_with(el, Leaf::Expression, true)
    }

    fn leaf_with(&mut self, el: El, style: Leaf, with_language: bool) -> (String, Option<String>) {
        let tree = self.tree;
        self.enter(el, false);
        let mut language = None;
        let mut plain = style == Leaf::Expression;
        for attribute in tree.attributes(el) {
            if style == Leaf::Expression && attribute.ns == ns::XSI && attribute.local() == "type" {
                plain = false;
                let named = tree.qualified(el, attribute.raw.trim());
                if named == Some((ns::MODEL, "tFormalExpression")) {
                    continue;
                }
            }
            if with_language && attribute.ns == Ns::NONE && attribute.local() == "language" {
                language = Some(attribute.value().into_owned());
                continue;
            }
            self.keep_attribute(usize::MAX, attribute.name, attribute.raw, attribute.ns);
        }
        if plain {
            self.mark("plain", "true".to_owned());
        }
        let raw = tree.text(el);
        let text = match style {
            Leaf::Reference => self.own_name(Cow::Borrowed(raw.trim())).into_owned(),
            Leaf::Text | Leaf::Expression => raw.clone().into_owned(),
        };
        if tree.has_parts(el) || (style == Leaf::Reference && text != raw) {
            self.mark("content", "true".to_owned());
            if let Some(frame) = self.frames.last_mut() {
                frame.keep.get_or_insert_default().inner = Some(tree.inner(el));
            }
        }
        self.leave();
        (text, language)
    }

    /// Notes the type that way points share; a way point of another type keeps its own.
    pub(super) fn waypoint_type_of(&mut self, el: El) {
        let name = self.prefixes.xsi_type();
        let own = self.tree.attributes(el).iter().find(|attribute| attribute.name == name);
        let own = own.map(|attribute| attribute.raw);
        let shared = *self.waypoint_type.get_or_insert(own);
        if own.is_none() && shared.is_some() {
            self.mark("plain", "true".to_owned());
        }
        self.same_waypoint_type = own.is_some() && own == shared;
    }

    /// Notes which flows a node says come in or go out.
    pub(super) fn flow_ref(&mut self, el: El) {
        if let Some(frame) = self.frames.last_mut() {
            frame.flow_refs.push(el);
        }
    }

    /// Starts a graph: collects its flows by node.
    pub(super) fn enter_graph(&mut self, el: El) {
        let tree = self.tree;
        let mut flows = Flows::default();
        if !self.omit_flow_refs {
            for child in tree.parts_of(el).filter(|&child| tree.part(child).kind == kind("sequenceFlow")) {
                let Some(id) = tree.attribute(child, "id") else { continue };
                if let Some(source) = tree.attribute(child, "sourceRef") {
                    flows.entry(self.own_name(source)).or_default().1.push(id.clone());
                }
                if let Some(target) = tree.attribute(child, "targetRef") {
                    flows.entry(self.own_name(target)).or_default().0.push(id);
                }
            }
        }
        self.flows.push(flows);
    }

    pub(super) fn leave_graph(&mut self) {
        self.flows.pop();
    }

    /// Keeps a node's own list of flows where it is not the one that its graph's flows give.
    pub(super) fn check_flow_refs(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let refs = std::mem::take(&mut frame.flow_refs);
        if self.omit_flow_refs {
            return;
        }
        let tree = self.tree;
        let none = (Vec::new(), Vec::new());
        let (incoming, outgoing) =
            frame.id.as_ref().and_then(|id| self.flows.last()?.get(id)).unwrap_or(&none);
        let derived = incoming.iter().map(|id| (kind("incoming"), id));
        let derived = derived.chain(outgoing.iter().map(|id| (kind("outgoing"), id)));
        let bare = |&el: &El| {
            tree.attributes(el).is_empty() && !tree.has_parts(el) && tree.declarations(el).is_empty()
        };
        let mut said = refs.iter().map(|&el| (tree.part(el).kind, tree.text(el)));
        let same = refs.iter().all(bare) && derived.eq_by_pairs(&mut said);
        if same {
            return;
        }
        frame.keep.get_or_insert_default().markers.push(("flowRefs", "own".to_owned()));
        for el in refs {
            let rank = if tree.part(el).kind == kind("incoming") { FLOW_REF_RANK } else { FLOW_REF_RANK + 1 };
            frame.keep.get_or_insert_default().children.push((rank, tree.fragment(el)));
        }
    }
}

/// Rank of a node's own flow references; all flow node rows have them at this place.
pub(super) const FLOW_REF_RANK: usize = 5;

/// Equality of two sequences of flow references.
trait EqByPairs<'a> {
    fn eq_by_pairs(self, said: &mut dyn Iterator<Item = (Kind, Cow<'a, str>)>) -> bool;
}

impl<'a, 'b, I: Iterator<Item = (Kind, &'b Cow<'a, str>)>> EqByPairs<'a> for I
where
    'a: 'b,
{
    fn eq_by_pairs(mut self, said: &mut dyn Iterator<Item = (Kind, Cow<'a, str>)>) -> bool {
        loop {
            match (self.next(), said.next()) {
                (None, None) => return true,
                (Some((derived, id)), Some((kind, text))) if derived == kind && *id == text => {}
                _ => return false,
            }
        }
    }
}

/// The group of a kind; a part when the table does not hold it.
pub(super) fn group(kind: Kind) -> Group {
    row(kind).map_or(Group::Part, |row| row.group)
}

/// Whether the text is surely the one that its value is written as; spares printing most numbers.
fn canonical(text: &str) -> bool {
    let digits = text.len() < 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    text == "true" || text == "false" || (digits && text.len() > 1 && !text.starts_with('0'))
}

fn has_id<T>(row: &Row<T>) -> bool {
    row.attributes.first().and_then(|part| part.first()).is_some_and(|first| first.name == "id")
}

fn rank_of<T>(row: &Row<T>, name: &str) -> usize {
    let mut all = row.attributes.iter().flat_map(|part| part.iter());
    all.position(|attribute| attribute.name == name).unwrap_or(usize::MAX)
}

/// A name without its prefix, when the prefix is one of the model's own namespace.
pub(super) fn own_name(value: Cow<'_, str>, own: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let Some((prefix, local)) = value.split_once(':') else { return value };
    if local.is_empty() || !own(prefix) {
        return value;
    }
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(&value[value.len() - local.len()..]),
        Cow::Owned(_) => Cow::Owned(local.to_owned()),
    }
}

/// The fragment of one element's residue.
fn fragment(address: &str, mut keep: Keep<'_>) -> String {
    keep.attributes.sort_by_key(|(rank, ..)| *rank);
    keep.children.sort_by_key(|(rank, _)| *rank);
    let mut out = String::with_capacity(128);
    out.push_str("<heddle:residue for=\"");
    escape_attribute(address, &mut out);
    out.push('"');
    for (prefix, uri) in &keep.declarations {
        for part in [" xmlns:", prefix, "=\""] {
            out.push_str(part);
        }
        escape_attribute(uri, &mut out);
        out.push('"');
    }
    for (name, value) in &keep.markers {
        for part in [" heddle:", name, "=\""] {
            out.push_str(part);
        }
        escape_attribute(value, &mut out);
        out.push('"');
    }
    for (_, name, raw) in &keep.attributes {
        let escaped = if *name == "for" || name.starts_with("for.") { "for." } else { "" };
        let quote = if raw.contains('"') { "'" } else { "\"" };
        for part in [" ", escaped, name, "=", quote, raw, quote] {
            out.push_str(part);
        }
    }
    if keep.inner.is_none() && keep.children.is_empty() {
        out.push_str("/>");
        return out;
    }
    out.push('>');
    match keep.inner {
        Some(inner) => out.push_str(inner),
        None => keep.children.iter().for_each(|(_, child)| out.push_str(child)),
    }
    out.push_str("</heddle:residue>");
    out
}

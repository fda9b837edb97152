//! The reader: maps elements to model types by their rows; content without a member is preserved for the way back.

use super::definition_data::DefinitionData;
use super::document::{decimals, namespaces, rebound, shared_ids};
use super::names::{COMMENT, Group, Kind, Ns, kind, ns, row};
use super::order;
use super::prefixes::{Prefixes, own_name};
use super::row::{Leaf, Lexis, Row};
use super::rows;
use super::text::shortest_fraction;
use super::tree::{El, Tree, has};
use super::{Imported, MAX_JSON_DEPTH, MODEL_NS, XmlError, extensions};
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::model::{Bpmn, ImportItem, Process, WorkflowDefinition};
use std::borrow::Cow;
use std::collections::BTreeMap;

mod flows;
mod preserve;

use preserve::Unmapped;

/// Most import items and findings of one document.
const MAX_ITEMS: usize = 10_000;
const MAX_DIAGNOSTICS: usize = 1_000;

#[derive(Debug)]
struct Frame<'s> {
    el: El,
    id: Option<Cow<'s, str>>,
    /// Whether the id is an address of its own.
    addressable: bool,
    /// Made when there is something to keep.
    keep: Option<Box<Unmapped<'s>>>,
    flow_refs: Vec<El>,
}

/// Incoming and outgoing flows by node.
type Flows<'s> = HashMap<Cow<'s, str>, (Vec<Cow<'s, str>>, Vec<Cow<'s, str>>)>;

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
    preserved_content: Vec<(String, String)>,
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
    pub vendors: extensions::Context,
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
    reader.preserved_content.sort_by(|left, right| left.0.cmp(&right.0));
    if !reader.preserved_content.is_empty() {
        let fragments = bpmn.extension_elements_xml.get_or_insert_default();
        fragments
            .extend(std::mem::take(&mut reader.preserved_content).into_iter().map(|(_, fragment)| fragment));
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
            preserved_content: Vec::new(),
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
            vendors: extensions::Context::read(tree),
        }
    }

    /// Whether what is read now was read before, so that nothing is noted.
    pub(super) fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Reads an element into a model type.
    pub(super) fn read<T>(&mut self, row: &'static Row<T>, model: &mut T, el: El) -> Result<(), XmlError> {
        self.enter(el, has_id(row));
        self.fill(row, model, el)?;
        self.leave();
        Ok(())
    }

    /// Reads an element whose JSON nests by this many levels.
    pub(super) fn read_deeper<T>(
        &mut self,
        row: &'static Row<T>,
        model: &mut T,
        el: El,
        levels: usize,
    ) -> Result<(), XmlError> {
        self.deepen(el, levels)?;
        self.read(row, model, el)?;
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

    /// Reads without keeping preserved content or noting anything.
    pub(super) fn read_muted<T>(
        &mut self,
        row: &'static Row<T>,
        model: &mut T,
        el: El,
    ) -> Result<(), XmlError> {
        self.muted += 1;
        self.read(row, model, el)?;
        self.muted -= 1;
        Ok(())
    }

    pub(super) fn enter(&mut self, el: El, has_id: bool) {
        let id = if has_id { self.tree.attribute(el, "id").filter(|id| !id.is_empty()) } else { None };
        let addressable = id.as_ref().is_some_and(|id| !id.contains('/') && !self.shared_ids.contains(id));
        let mut keep: Option<Box<Unmapped<'s>>> = None;
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

    pub(super) fn fill<T>(&mut self, row: &'static Row<T>, model: &mut T, el: El) -> Result<(), XmlError> {
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
                Lexis::Text => (spec.set)(model, value),
                Lexis::Reference => {
                    let own = self.own_name(value.clone());
                    let same = own == value;
                    (spec.set)(model, own) && same
                }
                Lexis::Number => {
                    let known = (spec.set)(model, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && self.usual_number(&value, || (spec.get)(model))
                }
                Lexis::Typed => {
                    let known = (spec.set)(model, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && (canonical(&value) || (spec.get)(model).as_deref() == Some(&*value))
                }
            };
            if !taken {
                self.keep_attribute(rank_of(row, spec.name), attribute.name, attribute.raw, Ns::NONE);
            }
        }
        self.children(row, model, el)
    }

    /// Reads the children of an element into a model type.
    fn children<T>(&mut self, row: &'static Row<T>, model: &mut T, el: El) -> Result<(), XmlError> {
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
                Some(read) => read(self, model, child)?,
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

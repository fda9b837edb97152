//! Data of a process: objects, stores, properties, inputs and outputs of activities and events, and what moves between
//! them (clause 10.4). Each is a variable: named as the element is, where that is a plain name, else by its id.

use super::activity::{Assignment, Association, DataStore, NodeData, Place, ProcessSets};
use super::calculation::Target;
use super::compile::Builder;
use super::condition;
use super::events::{Refusals, Refused};
use super::meaning::Edition;
use super::{Graph, NodeIx};
use heddle_bpmn::juel;
use heddle_bpmn::model::{
    self, Bpmn, DataAssociation, DataItem, Node, Process, Property, WorkflowDefinition,
};
use heddle_feel::Expression;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

const CLAUSE: &str = "10.4.2";

/// Name of the property that an editor draws to as long as nothing is meant.
const PLACEHOLDER: &str = "__targetRef_placeholder";

/// Most characters of the name of a data store that outlives its runs.
const MOST_LETTERS: usize = 200;

/// Most nodes that are looked through to find whether one writes behind another.
const MOST_STEPS: usize = 100_000;

/// Data elements of a definition by their ids.
#[derive(Debug, Default)]
pub(super) struct DataItems {
    places: HashMap<String, Place>,
    /// Whether data stores with a name outlive the run.
    keeps: bool,
}

impl DataItems {
    /// The data elements of a definition.
    pub(super) fn of(definition: &WorkflowDefinition, edition: Edition) -> Self {
        let mut found = Self { keeps: edition == Edition::Second, ..Self::default() };
        if let Some(bpmn) = definition.bpmn.as_deref() {
            found.stores(bpmn);
        }
        for graph in model::graphs(definition) {
            if let Some(process) = graph.process {
                found.content(process);
            }
            for bpmn in graph.nodes.iter().filter_map(|node| node.bpmn.as_deref()) {
                found.items(bpmn.data_inputs.as_deref());
                found.items(bpmn.data_outputs.as_deref());
                found.properties(bpmn.properties.as_deref());
            }
        }
        found
    }

    fn stores(&mut self, bpmn: &Bpmn) {
        for item in bpmn.data_stores.iter().flatten() {
            self.add(item, plain(item.name.as_deref()), self.store(item));
        }
    }

    /// Name of the store of the organisation that a data store, or a reference to none of the model's, is.
    fn store(&self, item: &DataItem) -> Option<Arc<str>> {
        let name = item.name.as_deref().map(str::trim).filter(|name| !name.is_empty() && self.keeps);
        name.filter(|name| name.chars().count() <= MOST_LETTERS).map(Arc::from)
    }

    fn content(&mut self, process: &Process) {
        self.items(process.data_inputs.as_deref());
        self.items(process.data_outputs.as_deref());
        self.properties(process.properties.as_deref());
        let lists = [(false, process.data_objects.as_deref()), (true, process.data_stores.as_deref())];
        for (is_store, list) in lists {
            let list = list.unwrap_or_default();
            let (references, own): (Vec<_>, Vec<_>) =
                list.iter().partition(|item| item.original_ref.as_deref().is_some_and(|id| !id.is_empty()));
            for item in own {
                // Editors name the reference that is drawn, and not the object.
                let named = || references.iter().filter(|other| other.original_ref == item.id);
                let drawn = named().find_map(|other| plain(other.name.as_deref()));
                let store = self.store(item).filter(|_| is_store);
                self.add(item, plain(item.name.as_deref()).or(drawn), store);
            }
            for item in references {
                let original = item.original_ref.as_deref().unwrap_or_default();
                let Some(place) = self.places.get(original).cloned() else {
                    let store = self.store(item).filter(|_| is_store);
                    self.add(item, plain(item.name.as_deref()), store);
                    continue;
                };
                let state = state(item).or_else(|| place.state.clone());
                if let Some(id) = item.id.clone() {
                    self.places.entry(id).or_insert(Place { state, ..place });
                }
            }
        }
    }

    fn items(&mut self, items: Option<&[DataItem]>) {
        for item in items.unwrap_or_default() {
            self.add(item, plain(item.name.as_deref()), None);
        }
    }

    fn properties(&mut self, properties: Option<&[Property]>) {
        for property in properties.unwrap_or_default() {
            let Some(id) = property.id.as_deref().filter(|id| !id.is_empty()) else { continue };
            let variable = plain(property.name.as_deref()).unwrap_or(id).into();
            self.places.entry(id.to_owned()).or_insert(Place {
                variable,
                state: None,
                written: false,
                store: None,
            });
        }
    }

    fn add(&mut self, item: &DataItem, name: Option<&str>, store: Option<Arc<str>>) {
        let Some(id) = item.id.as_deref().filter(|id| !id.is_empty()) else { return };
        let variable = name.unwrap_or(id).into();
        let place = Place { variable, state: state(item), written: false, store };
        self.places.entry(id.to_owned()).or_insert(place);
    }

    pub(super) fn place(&self, id: &str) -> Option<Place> {
        self.places.get(id).cloned()
    }

    /// Variables of data elements that have a scope of their own.
    fn variables<'i>(&self, ids: impl Iterator<Item = &'i str>) -> Vec<Arc<str>> {
        let mut seen = HashSet::new();
        let found = ids.filter_map(|id| Some(self.places.get(id)?.variable.clone()));
        found.filter(|name| seen.insert(name.clone())).collect()
    }
}

fn some<T>(list: &Option<Vec<T>>) -> bool {
    list.as_ref().is_some_and(|list| !list.is_empty())
}

fn state(item: &DataItem) -> Option<Arc<str>> {
    item.data_state.as_deref().map(str::trim).filter(|state| !state.is_empty()).map(Arc::from)
}

/// A name under which an expression can find a variable.
fn plain(name: Option<&str>) -> Option<&str> {
    let name = name.map(str::trim)?;
    let first = name.chars().next()?;
    let rest = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    (rest && !first.is_numeric() && name != PLACEHOLDER).then_some(name)
}

impl Builder<'_> {
    /// Variables that the content of a sub-process has of its own: its data objects, and the properties of its node.
    pub(super) fn data_of_content(&self, content: &Process, owner: Option<&Node>) -> Vec<Arc<str>> {
        let objects = content.data_objects.iter().flatten().filter(|item| {
            // A reference to an object of a scope around is none of its own.
            item.original_ref.as_deref().is_none_or(str::is_empty)
        });
        let objects = objects.filter_map(|item| item.id.as_deref());
        let inner = content.properties.iter().flatten().filter_map(|property| property.id.as_deref());
        let node = owner.and_then(|node| node.bpmn.as_deref());
        let own = node.into_iter().flat_map(|bpmn| bpmn.properties.iter().flatten());
        self.data.variables(objects.chain(inner).chain(own.filter_map(|property| property.id.as_deref())))
    }

    /// The input and output sets of the process itself.
    pub(super) fn sets_of_process(&self, process: &Process) -> ProcessSets {
        if self.meaning.edition == Edition::First {
            return ProcessSets::default();
        }
        let needed = |all: &Option<Vec<String>>, others: [&Option<Vec<String>>; 2]| -> Vec<Arc<str>> {
            let is_other = |id: &String| others.iter().any(|list| list.iter().flatten().any(|own| own == id));
            let needed = all.iter().flatten().filter(|id| !is_other(id));
            needed.filter_map(|id| Some(self.data.place(id)?.variable)).collect()
        };
        let inputs = process.input_sets.iter().flatten();
        let outputs = process.output_sets.iter().flatten();
        ProcessSets {
            inputs: inputs
                .map(|own| {
                    needed(&own.data_input_refs, [&own.optional_input_refs, &own.while_executing_input_refs])
                })
                .collect(),
            outputs: outputs
                .map(|own| {
                    needed(
                        &own.data_output_refs,
                        [&own.optional_output_refs, &own.while_executing_output_refs],
                    )
                })
                .collect(),
        }
    }

    /// Data of a node; none when it moves nothing and waits for nothing.
    pub(super) fn node_data(&mut self, node: &Node) -> Option<Arc<NodeData>> {
        let bpmn = node.bpmn.as_deref()?;
        let id = node.element_id().unwrap_or_default();
        let (mut data, mut drawn) = (NodeData::default(), false);
        for association in bpmn.data_associations.iter().flatten() {
            let is_input = association
                .element_type
                .as_deref()
                .is_some_and(|word| word.eq_ignore_ascii_case("dataInputAssociation"));
            match self.association(association) {
                Ok(Some(read)) if is_input => data.inputs.push(read),
                Ok(Some(read)) => data.outputs.push(read),
                Ok(None) => drawn = true,
                Err(refused) => self.refuse_all(id, refused),
            }
        }
        if drawn {
            let sentence =
                "a data association without a source or a target of data moves none: it is only drawn";
            self.warn(id, "dataAssociationsUnused", sentence, CLAUSE);
        }
        let specified = bpmn.data_inputs.iter().chain(&bpmn.data_outputs).flatten();
        let specified = specified.filter_map(|item| item.id.as_deref());
        let properties =
            bpmn.properties.iter().flatten().filter(|own| own.name.as_deref() != Some(PLACEHOLDER));
        let properties = properties.filter_map(|property| property.id.as_deref());
        data.own = self.data.variables(specified.chain(properties));
        if data.inputs.is_empty() && data.outputs.is_empty() {
            if !data.own.is_empty() && (some(&bpmn.data_inputs) || some(&bpmn.data_outputs)) {
                let sentence = "data inputs and outputs without associations hold nothing: all variables are visible \
                                to the node";
                self.warn(id, "dataSetsUnused", sentence, CLAUSE);
            }
            let properties =
                bpmn.properties.iter().flatten().filter(|own| own.name.as_deref() != Some(PLACEHOLDER));
            data.own = self.data.variables(properties.filter_map(|property| property.id.as_deref()));
        }
        let moves = !data.inputs.is_empty();
        let ids = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
        for set in bpmn.input_sets.iter().flatten().filter(|_| moves) {
            let optional = ids(&set.optional_input_refs);
            let later = ids(&set.while_executing_input_refs);
            let needed = ids(&set.data_input_refs).into_iter();
            let needed = needed.filter(|input| !optional.contains(input) && !later.contains(input));
            let needed = needed.filter_map(|input| self.data.place(&input)).map(|place| place.variable);
            data.input_sets.push(needed.collect());
        }
        (!data.own.is_empty() || !data.inputs.is_empty() || !data.outputs.is_empty()).then(|| Arc::new(data))
    }

    /// An association that moves something; none for a line that is only drawn.
    fn association(&self, association: &DataAssociation) -> Result<Option<Association>, Refusals> {
        let mut refused = Refusals::default();
        let known = |id: &String| !id.is_empty();
        let sources = association.sources.iter().flatten().filter(|id| known(id));
        let sources: Vec<Place> = sources.filter_map(|id| self.data.place(id)).collect();
        let target = association.target.as_deref().and_then(|id| self.data.place(id));
        let target = target.filter(|place| &*place.variable != PLACEHOLDER && !is_placeholder(association));
        let text = association.transformation.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let transformation = text.map(|text| self.expression("transformation", text));
        let transformation = refused.part(transformation.transpose()).flatten();
        let mut assignments = Vec::new();
        for own in association.assignment_expressions.iter().flatten() {
            let (from, to) = (own.from.as_deref().unwrap_or_default(), own.to.as_deref().unwrap_or_default());
            let from = refused.part(self.expression("assignment", from));
            let place = Target::read(to.trim().trim_start_matches('=').trim());
            let place = place.ok_or_else(|| {
                let sentence = format!("the place `{to}` of an assignment is no variable or member of one");
                ("wrongData", sentence, CLAUSE)
            });
            if let (Some(from), Some(to)) = (from, refused.part(place)) {
                assignments.push(Assignment { from, to });
            }
        }
        refused.unless_any(())?;
        if transformation.is_none() && assignments.is_empty() {
            match sources.len() {
                0 => return Ok(None),
                1 => {}
                _ => {
                    let sentence =
                        "a data association with several sources needs a transformation".to_owned();
                    return Err(("wrongData", sentence, CLAUSE).into());
                }
            }
        }
        // A transformation or copy without a place for its value is only drawn.
        if target.is_none() && assignments.is_empty() {
            return Ok(None);
        }
        Ok(Some(Association { sources, target, transformation, assignments }))
    }

    fn expression(&self, what: &str, text: &str) -> Result<Expression, Refused> {
        let text = text.trim();
        let compiled = if juel::is_juel(text) {
            let feel = juel::value(text).map_err(|error| error.to_string());
            feel.and_then(|feel| condition::feel(&feel, None).map_err(|wrong| wrong.sentence))
        } else {
            condition::feel(text, self.language).map_err(|wrong| wrong.sentence)
        };
        compiled.map_err(|error| {
            ("expressionSyntax", format!("{what}: `{text}` is not evaluated: {error}"), "8.4.6")
        })
    }
}

fn is_placeholder(association: &DataAssociation) -> bool {
    association.target.as_deref().is_some_and(|id| id.contains(PLACEHOLDER))
}

/// Marks the sources that somebody else may write before their reader, so that the reader waits for them. What only
/// stands behind the reader cannot have written before it.
pub(super) fn mark_written(graph: &mut Graph) {
    let mut writers: HashMap<Arc<str>, Vec<NodeIx>> = HashMap::new();
    let mut readers = Vec::new();
    for (ix, node) in graph.nodes().iter().enumerate() {
        let (Some(data), Ok(ix)) = (&node.data, NodeIx::try_from(ix)) else { continue };
        for target in data.outputs.iter().filter_map(|own| own.target.as_ref()) {
            writers.entry(target.variable.clone()).or_default().push(ix);
        }
        if !data.input_sets.is_empty() {
            readers.push(ix);
        }
    }
    for reader in readers {
        let Some(data) = graph.node(reader).data.clone() else { continue };
        let behind = behind(graph, reader);
        let mut data = NodeData::clone(&data);
        for source in data.inputs.iter_mut().flat_map(|own| &mut own.sources) {
            let all = writers.get(&source.variable).map(Vec::as_slice).unwrap_or_default();
            let within = all.iter().any(|writer| *writer != reader && !behind.contains(writer));
            source.written = within || source.store.is_some();
        }
        if let Some(node) = graph.nodes.get_mut(reader as usize) {
            node.data = Some(Arc::new(data));
        }
    }
}

/// The data stores that nodes read or write, each once.
pub(super) fn stores(graph: &Graph) -> Vec<DataStore> {
    let all = graph.nodes().iter().filter_map(|node| node.data.as_ref());
    let places = all.flat_map(|data| data.inputs.iter().chain(&data.outputs));
    let places = places.flat_map(|own| own.sources.iter().chain(&own.target));
    let store =
        |place: &Place| Some(DataStore { name: place.store.clone()?, variable: place.variable.clone() });
    let found: BTreeSet<DataStore> = places.filter_map(store).collect();
    found.into_iter().collect()
}

/// Nodes that are reached from a node or from a scope around it, with what stands in them.
fn behind(graph: &Graph, from: NodeIx) -> HashSet<NodeIx> {
    let mut found = HashSet::new();
    let mut start = Some(from);
    let mut open = VecDeque::new();
    while let Some(ix) = start {
        let node = graph.node(ix);
        open.extend(graph.outgoing(ix).iter().map(|flow| graph.flow(*flow).target));
        open.extend(node.boundary.iter().copied());
        start = graph.scope(node.scope).node;
    }
    while let Some(ix) = open.pop_front() {
        if found.len() >= MOST_STEPS || !found.insert(ix) {
            continue;
        }
        let node = graph.node(ix);
        open.extend(graph.outgoing(ix).iter().map(|flow| graph.flow(*flow).target));
        open.extend(node.boundary.iter().copied());
        if let Some(content) = node.work.content() {
            let inner = graph.nodes().iter().enumerate().filter(|(_, other)| other.scope == content);
            open.extend(inner.filter_map(|(ix, _)| NodeIx::try_from(ix).ok()));
        }
    }
    found
}

//! Data: item definitions, inputs and outputs, sets, associations, and what tasks and events do with them.

use super::{Doc, Out};
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::elements::El;
use std::collections::{HashMap, HashSet};

const EVENTS: &[K] =
    &[K::StartEvent, K::EndEvent, K::BoundaryEvent, K::IntermediateCatchEvent, K::IntermediateThrowEvent];

pub(super) fn check(doc: &Doc<'_>, out: &mut Out) {
    let held = [
        K::DataObject,
        K::DataInput,
        K::DataOutput,
        K::DataStore,
        K::Property,
        K::InputDataItem,
        K::OutputDataItem,
    ];
    doc.each(&held).for_each(|item| collection(doc, item, out));
    for &reference in doc.all(K::DataObjectReference) {
        name_of_reference(doc, reference, out);
    }
    doc.all(K::IoSpecification).iter().for_each(|spec| specification(doc, *spec, out));
    doc.each(EVENTS).for_each(|event| sets(doc, event, out));
    between_sets(doc, out);
    for &property in doc.all(K::Property) {
        let holds = |around: El| {
            doc.is_a(around, K::Process)
                || doc.is_activity(around)
                || doc.kind(around).is_some_and(K::is_event)
        };
        if doc.parent(property).is_some_and(|around| !holds(around)) {
            out.add("STD009", property);
        }
    }
    for association in doc.each(&[K::DataInputAssociation, K::DataOutputAssociation]) {
        self::association(doc, association, out);
    }
    doc.all(K::ServiceTask).iter().for_each(|task| service_task(doc, *task, out));
    doc.all(K::SendTask).iter().for_each(|task| send_task(doc, *task, out));
    doc.all(K::ReceiveTask).iter().for_each(|task| receive_task(doc, *task, out));
    doc.each(EVENTS).for_each(|event| event_data(doc, event, out));
    calls(doc, out);
    let callable = [
        K::Process,
        K::GlobalTask,
        K::GlobalUserTask,
        K::GlobalManualTask,
        K::GlobalScriptTask,
        K::GlobalBusinessRuleTask,
    ];
    doc.each(&callable).for_each(|one| exposed(doc, one, out));
}

/// Sets that refer to one another: each must be named by the one that it names.
fn between_sets(doc: &Doc<'_>, out: &mut Out) {
    let sides =
        [(K::InputSet, K::OutputSetRefs, K::InputSetRefs), (K::OutputSet, K::InputSetRefs, K::OutputSetRefs)];
    for (set, names, named_by) in sides {
        for &set in doc.all(set) {
            let one_way = |other: El| !doc.referred(other, named_by).flatten().any(|back| back == set);
            if doc.referred(set, names).any(|other| other.is_none_or(one_way)) {
                out.add("STD006", set);
            }
        }
    }
}

/// Declared type of an element that holds data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// Nothing.
    Untyped,
    /// Something that stands in another document, or nowhere.
    Unknown,
    /// An item definition.
    Of(El),
}

impl Item {
    /// The item definition that an attribute names.
    pub(super) fn named(doc: &Doc<'_>, el: El, attribute: &str) -> Self {
        match doc.attr(el, attribute).filter(|id| !id.trim().is_empty()) {
            None => Self::Untyped,
            Some(id) => match doc.find(&id) {
                Some(item) if doc.is_a(item, K::ItemDefinition) => Self::Of(item),
                _ => Self::Unknown,
            },
        }
    }

    /// Whether the two differ: what is typed differs from what is not, and what is unknown from nothing.
    fn differs(self, doc: &Doc<'_>, other: Self) -> bool {
        match (self, other) {
            (Self::Unknown, _) | (_, Self::Unknown) | (Self::Untyped, Self::Untyped) => false,
            (Self::Of(one), Self::Of(other)) => !same(doc, one, other),
            _ => true,
        }
    }
}

fn item(doc: &Doc<'_>, el: El) -> Item {
    Item::named(doc, el, "itemSubjectRef")
}

/// Whether two item definitions are one, or say the same.
fn same(doc: &Doc<'_>, one: El, other: El) -> bool {
    let told = |el: El| doc.attr(el, "structureRef").filter(|text| !text.is_empty());
    let many = |el: El| doc.truth(el, "isCollection");
    one == other || (told(one).is_some() && told(one) == told(other) && many(one) == many(other))
}

fn collection(doc: &Doc<'_>, el: El, out: &mut Out) {
    let Item::Of(item) = item(doc, el) else { return };
    let many = doc.truth(item, "isCollection");
    let own = doc.truth(el, "isCollection");
    // The schema gives these no such attribute: one that is not there says nothing.
    let silent = doc.is(el, &[K::Property, K::DataStore]) && doc.attr(el, "isCollection").is_none();
    if own == many || silent {
        return;
    }
    out.add("EXT020", el);
    match doc.kind(el) {
        Some(K::DataInput) => out.add("EXT081", el),
        Some(K::DataOutput) => out.add("EXT083", el),
        _ => {}
    }
}

fn name_of_reference(doc: &Doc<'_>, reference: El, out: &mut Out) {
    let Some(object) = doc.refers(reference, "dataObjectRef") else { return };
    let (Some(own), Some(name)) = (doc.attr(reference, "name"), doc.attr(object, "name")) else { return };
    let state = doc.kid(reference, K::DataState).and_then(|state| doc.attr(state, "name"));
    let wanted = match state {
        Some(state) if !state.is_empty() => format!("{name} [{state}]"),
        _ => name.clone().into_owned(),
    };
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    if squeezed(&own) != squeezed(&wanted) {
        out.add("EXT076", reference);
    }
}

fn specification(doc: &Doc<'_>, spec: El, out: &mut Out) {
    if doc
        .parent(spec)
        .is_some_and(|around| doc.is(around, &[K::SubProcess, K::Transaction, K::AdHocSubProcess]))
    {
        out.add("EXT079", spec);
    }
    sets(doc, spec, out);
}

/// The input and output sets of a specification or an event, with the data that they list.
fn sets(doc: &Doc<'_>, around: El, out: &mut Out) {
    let sides = [
        (
            K::DataInput,
            K::InputSet,
            [K::DataInputRefs, K::OptionalInputRefs, K::WhileExecutingInputRefs],
            ["EXT084", "EXT085", "EXT086"],
        ),
        (
            K::DataOutput,
            K::OutputSet,
            [K::DataOutputRefs, K::OptionalOutputRefs, K::WhileExecutingOutputRefs],
            ["EXT088", "EXT089", "EXT090"],
        ),
    ];
    for (data, set, [listed, optional, executing], rules) in sides {
        let mut members: HashSet<El> = HashSet::new();
        for set in doc.kids(around, set) {
            let all: HashSet<Option<El>> = doc.referred(set, listed).collect();
            for (name, rule) in [(optional, rules[1]), (executing, rules[2])] {
                if doc.referred(set, name).any(|one| !all.contains(&one)) {
                    out.add(rule, set);
                }
            }
            members.extend(all.into_iter().flatten());
        }
        for item in doc.kids(around, data).filter(|item| !members.contains(item)) {
            out.add(rules[0], item);
        }
    }
}

fn association(doc: &Doc<'_>, association: El, out: &mut Out) {
    let sources: Vec<Option<El>> = doc.referred(association, K::SourceRef).collect();
    let target = doc.referred(association, K::TargetRef).next().flatten();
    let top = |el: El, kind: K| {
        doc.is_a(el, kind)
            && doc
                .parent(el)
                .and_then(|spec| doc.parent(spec))
                .is_some_and(|around| doc.is_a(around, K::Process))
    };
    if target.is_some_and(|target| top(target, K::DataInput)) {
        out.add("EXT080", association);
    }
    if sources.iter().flatten().any(|source| top(*source, K::DataOutput)) {
        out.add("EXT082", association);
    }
    if doc.kid(association, K::Transformation).is_some() {
        return;
    }
    if sources.len() > 1 {
        out.add("EXT092", association);
    }
    let (Some(Some(source)), Some(target)) = (sources.first().copied(), target) else { return };
    let untransformed = doc.kid(association, K::Assignment).is_none();
    if untransformed && held_item(doc, source).differs(doc, held_item(doc, target)) {
        out.add("EXT091", association);
    }
}

/// The type of data, or of what a reference refers to.
fn held_item(doc: &Doc<'_>, el: El) -> Item {
    let held = match doc.kind(el) {
        Some(K::DataObjectReference) => "dataObjectRef",
        Some(K::DataStoreReference) => "dataStoreRef",
        _ => return item(doc, el),
    };
    match (item(doc, el), doc.attr(el, held)) {
        (Item::Untyped, Some(id)) => doc.find(&id).map_or(Item::Unknown, |held| item(doc, held)),
        (own, _) => own,
    }
}

/// Number of children of a kind in the activity's specification; none without a specification.
fn count(doc: &Doc<'_>, task: El, kind: K) -> Option<usize> {
    doc.kid(task, K::IoSpecification).map(|spec| doc.kids(spec, kind).count())
}

/// The type of the first data of a name in the activity's specification; there may be no such data.
fn first_item(doc: &Doc<'_>, task: El, kind: K) -> Option<Item> {
    let spec = doc.kid(task, K::IoSpecification)?;
    Some(item(doc, doc.kid(spec, kind)?))
}

/// The type of a message; unknown where the message is.
fn message_item(doc: &Doc<'_>, message: Option<El>) -> Item {
    message.map_or(Item::Unknown, |message| Item::named(doc, message, "itemRef"))
}

fn service_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    let operation = doc.refers(task, "operationRef").filter(|el| doc.is_a(*el, K::Operation));
    let Some(operation) = operation else { return };
    if count(doc, task, K::InputSet) != Some(1) {
        out.add("EXT042", task);
    }
    if count(doc, task, K::OutputSet).is_some_and(|count| count > 1) {
        out.add("EXT043", task);
    }
    for (data, message, rule) in
        [(K::DataInput, K::InMessageRef, "EXT044"), (K::DataOutput, K::OutMessageRef, "EXT045")]
    {
        let message = doc.names(operation, message);
        // Data that is not there has no type.
        let own = first_item(doc, task, data).unwrap_or(Item::Untyped);
        if own.differs(doc, message_item(doc, message)) {
            out.add(rule, task);
        }
    }
}

fn send_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    let Some(message) = doc.refers(task, "messageRef") else { return };
    if count(doc, task, K::InputSet).is_some_and(|count| count > 1) {
        out.add("EXT046", task);
    }
    if count(doc, task, K::DataInput).is_some_and(|count| count > 1) {
        out.add("EXT047", task);
    }
    if unlike(doc, task, K::DataInput, message) {
        out.add("EXT048", task);
    }
}

/// Whether the task has data that is not of the message's item.
fn unlike(doc: &Doc<'_>, task: El, data: K, message: El) -> bool {
    first_item(doc, task, data).is_some_and(|own| own.differs(doc, message_item(doc, Some(message))))
}

fn receive_task(doc: &Doc<'_>, task: El, out: &mut Out) {
    if doc.truth(task, "instantiate") && !doc.incoming(task).is_empty() {
        out.add("EXT049", task);
    }
    let Some(message) = doc.refers(task, "messageRef") else { return };
    if count(doc, task, K::OutputSet).is_some_and(|count| count > 1) {
        out.add("EXT050", task);
    }
    if count(doc, task, K::DataOutput).is_some_and(|count| count > 1) {
        out.add("EXT051", task);
    }
    if unlike(doc, task, K::DataOutput, message) {
        out.add("EXT052", task);
    }
}

fn event_data(doc: &Doc<'_>, event: El, out: &mut Out) {
    let data =
        if doc.is(event, &[K::EndEvent, K::IntermediateThrowEvent]) { K::DataInput } else { K::DataOutput };
    let items: Vec<El> = doc.kids(event, data).collect();
    if items.is_empty() {
        return;
    }
    if doc.definitions(event).count() > items.len() {
        out.add("EXT093", event);
    }
    for (definition, own) in doc.definitions(event).zip(items) {
        let wanted = match doc.kind(definition) {
            Some(K::MessageEventDefinition) => message_item(doc, doc.refers(definition, "messageRef")),
            Some(K::SignalEventDefinition) => structure(doc, definition, "signalRef"),
            Some(K::ErrorEventDefinition) => structure(doc, definition, "errorRef"),
            Some(K::EscalationEventDefinition) => structure(doc, definition, "escalationRef"),
            _ => Item::Unknown,
        };
        if item(doc, own).differs(doc, wanted) {
            out.add("EXT094", event);
            return;
        }
    }
}

/// The type of what an event definition refers to; unknown where that is.
fn structure(doc: &Doc<'_>, definition: El, reference: &str) -> Item {
    doc.refers(definition, reference).map_or(Item::Unknown, |one| Item::named(doc, one, "structureRef"))
}

/// Call activities against what they call, each of which is looked at once.
fn calls(doc: &Doc<'_>, out: &mut Out) {
    let calls = doc.all(K::CallActivity);
    let plain =
        doc.all(K::StartEvent).iter().filter(|event| !calls.is_empty() && !doc.has_definition(**event));
    let startable: HashSet<El> = plain.filter_map(|event| doc.parent(*event)).collect();
    let mut known: HashMap<El, Demands> = HashMap::new();
    for &call in calls {
        let Some(called) = doc.refers(call, "calledElement") else { continue };
        // A process of which nothing is shown may start in any way.
        let shown = doc.is_a(called, K::Process) && doc.children(called).next().is_some();
        if shown && !startable.contains(&called) {
            out.add("EXT099", call);
        }
        let wanted = known.entry(called).or_insert_with(|| Demands::of(doc, called));
        if !Demands::of(doc, call).fit(doc, wanted) {
            out.add("EXT063", call);
        }
    }
}

/// The data of a specification: the inputs and the outputs, each with their sets.
struct Demands {
    sides: [(Vec<El>, Vec<Members>); 2],
}

/// Of a set that is not empty, the places of its members among the data, by kind of membership.
type Members = [Vec<usize>; 3];

impl Demands {
    /// Those of an activity or a callable element; no specification is an empty one.
    fn of(doc: &Doc<'_>, el: El) -> Self {
        let spec = doc.kid(el, K::IoSpecification);
        let kids = |kind: K| -> Vec<El> { spec.into_iter().flat_map(|spec| doc.kids(spec, kind)).collect() };
        let side = |data: K, set: K, members: [K; 3]| {
            let data = kids(data);
            let places: HashMap<El, usize> = data.iter().enumerate().map(|(at, el)| (*el, at)).collect();
            let of = |set: El, kind: K| {
                let places = doc.referred(set, kind).filter_map(|one| places.get(&one?).copied());
                let mut places: Vec<usize> = places.collect();
                places.sort_unstable();
                places
            };
            let sets = kids(set).into_iter().map(|set| members.map(|kind| of(set, kind)));
            let sets = sets.filter(|set| set.iter().any(|own| !own.is_empty())).collect();
            (data, sets)
        };
        let inputs = [K::DataInputRefs, K::OptionalInputRefs, K::WhileExecutingInputRefs];
        let outputs = [K::DataOutputRefs, K::OptionalOutputRefs, K::WhileExecutingOutputRefs];
        Self { sides: [side(K::DataInput, K::InputSet, inputs), side(K::DataOutput, K::OutputSet, outputs)] }
    }

    /// Whether both are the same data of the same types.
    fn fit(&self, doc: &Doc<'_>, other: &Self) -> bool {
        let fits = |(one, other): (&El, &El)| {
            doc.truth(*one, "isCollection") == doc.truth(*other, "isCollection")
                && !item(doc, *one).differs(doc, item(doc, *other))
        };
        self.sides.iter().zip(&other.sides).all(|((data, sets), (wanted, wanted_sets))| {
            data.len() == wanted.len() && data.iter().zip(wanted).all(fits) && sets == wanted_sets
        })
    }
}

/// A callable element that is offered as a service.
fn exposed(doc: &Doc<'_>, callable: El, out: &mut Out) {
    let bindings: Vec<El> = doc.kids(callable, K::IoBinding).collect();
    if doc.kid(callable, K::SupportedInterfaceRef).is_some() && bindings.is_empty() {
        out.add("EXT064", callable);
    }
    let spec = doc.kid(callable, K::IoSpecification);
    for binding in bindings {
        let operation = doc.refers(binding, "operationRef").filter(|el| doc.is_a(*el, K::Operation));
        let known = |attribute: &str, kinds: [K; 2]| {
            let data = doc.refers(binding, attribute)?;
            let inside = doc.parent(data) == spec && doc.is(data, &kinds);
            inside.then_some(data)
        };
        let (input, output) = (
            known("inputDataRef", [K::DataInput, K::InputSet]),
            known("outputDataRef", [K::DataOutput, K::OutputSet]),
        );
        let message = |kind: K| {
            let named = operation.and_then(|operation| doc.names(operation, kind));
            message_item(doc, named)
        };
        let bound = |data: Option<El>, member: K| match data {
            Some(set) if doc.is(set, &[K::InputSet, K::OutputSet]) => {
                doc.names(set, member).map_or(Item::Unknown, |data| item(doc, data))
            }
            Some(data) => item(doc, data),
            None => Item::Unknown,
        };
        let wrong = bound(input, K::DataInputRefs).differs(doc, message(K::InMessageRef))
            || bound(output, K::DataOutputRefs).differs(doc, message(K::OutMessageRef));
        if operation.is_none() || input.is_none() || output.is_none() || wrong {
            out.add("EXT065", callable);
        }
    }
}

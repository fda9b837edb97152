//! Vendors' extensions: one table of their words, what is mapped to `configuration`, and what is reported.
//!
//! Everything stays in the definition as it was read (`extensionXml` and preserved content), so that export writes it back.
//! What has the same meaning here becomes a member of `configuration` besides; where the two disagree after an
//! edit, `configuration` counts.

mod columns;
mod form;
mod listeners;
mod map;
mod node;
mod parts;
mod report;
pub(crate) mod table;
#[cfg(test)]
mod tests;

pub(super) use node::{derived, read as read_node_settings};
pub(super) use report::{note_attribute, note_child, note_extension};

use super::tree::{self, El, Tree};
use crate::model::Bpmn;
use heddle_xml::mapping::{PreservedContent, is_preserved, surroundings};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Members of `configuration` with their values.
pub(super) type Members = Vec<(&'static str, Value)>;

/// Place of a word in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An attribute of an element of BPMN.
    Attribute,
    /// An element within extension elements.
    Element,
}

/// Effect on the execution of leaving a word aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Quiet,
    /// Nothing that is executed, but something that a reader may expect: publishing warns.
    Told,
    /// The element would do something else: publishing refuses.
    Refused,
}

/// Mapping of a word to members of `configuration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Map {
    /// No mapping.
    Keep,
    /// No need of a mapping: the word says what is so here anyway.
    Same,
    /// No need of a mapping at this value: the word then says what is so here anyway.
    Unless(&'static str),
    Text,
    List,
    Due,
    Priority,
    Flag,
    Binding,
    SameDeployment,
    InheritKey,
    Decision,
    DecisionResult,
    Collection,
    LoopItem,
    TaskType,
    Topic,
    Assignment,
    Schedule,
    PriorityDefinition,
    Subscription,
    TaskDefinition,
    Headers,
    Retry,
    Script,
    CalledDecision,
    CalledElement,
    Loop,
    IoMapping,
    InputOutput,
    In,
    Out,
    FormData,
    FormProperty,
    FormDefinition,
    /// The name of a variable.
    Name,
    Class,
    Delegate,
    /// An expression that computes, or calls code.
    Expression,
    /// An expression that calls code in any case.
    CodeExpression,
    Result,
    JobPriority,
    /// A commit point.
    Commit,
    /// An attribute that is a header of a job.
    Header,
    /// An element whose text is a header of a job.
    HeaderText,
    Correlation,
    Rules,
    Case,
    Field,
    Connector,
    SignalIn,
    EventIn,
    EventOut,
    LoopIndex,
    Aggregation,
    AdHoc,
    Listener,
    Listeners,
}

/// One word of vendors' extension schemas.
#[derive(Debug)]
pub struct Word {
    /// The vendors that have it, as bits of the table.
    pub vendors: u8,
    /// Place in the document.
    pub(crate) kind: Kind,
    /// Local name.
    pub name: &'static str,
    /// The elements of BPMN that it may stand at, parted by spaces; none means any.
    pub on: &'static str,
    /// Mapping to members of `configuration`.
    pub(crate) map: Map,
    /// The members of `configuration` that it gives; the first is the one that it always gives.
    pub becomes: &'static [&'static str],
    /// Effect on the execution when it is not mapped.
    pub effect: Effect,
    /// One sentence.
    pub reason: &'static str,
}

impl Word {
    /// Whether it is kept as it is, and becomes no member.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.map == Map::Keep
    }

    /// Whether it is the subscription of a message.
    #[must_use]
    pub fn is_subscription(&self) -> bool {
        self.map == Map::Subscription
    }

    /// `mapped`, `preserved` or `unsupported`, for a value that can be mapped.
    #[must_use]
    pub fn outcome(&self) -> &'static str {
        if self.map == Map::Keep { self.outcome_unmapped() } else { "mapped" }
    }

    fn outcome_unmapped(&self) -> &'static str {
        if self.effect == Effect::Refused { "unsupported" } else { "preserved" }
    }

    fn fits(&self, owner: &str) -> bool {
        self.on.is_empty() || self.on.split_ascii_whitespace().any(|own| own == owner)
    }
}

/// Content elsewhere in a model that belongs to its nodes.
#[derive(Debug, Default)]
pub(super) struct Context {
    /// Whether the root binds the prefix of a vendor.
    any: bool,
    /// Embedded forms by id.
    forms: HashMap<String, String>,
    /// Correlation keys by message.
    subscriptions: HashMap<String, Value>,
}

/// A word found at an element, with what it becomes.
#[derive(Debug)]
pub struct Hit {
    /// Name as written.
    pub name: String,
    /// Row of the word; none when the table has none for this element.
    pub word: Option<&'static Word>,
    /// The members that it becomes, or why it becomes none.
    pub verdict: Result<Vec<(&'static str, Value)>, String>,
    /// The member that it fails to give, where that is not the first one of its row.
    pub fails: Option<&'static str>,
}

impl Hit {
    /// The member that it gives, or that nothing gives when it fails.
    #[must_use]
    pub fn member(&self) -> Option<&'static str> {
        self.fails.or_else(|| self.word?.becomes.first().copied())
    }
}

/// The namespaces of the vendors whose words are known.
pub fn namespaces() -> impl Iterator<Item = &'static str> {
    table::VENDORS.iter().map(|(_, _, uri)| *uri)
}

/// The vendor of a namespace.
pub(super) fn vendor_of(uri: &str) -> Option<u8> {
    table::VENDORS.iter().find(|(_, _, own)| *own == uri).map(|(vendor, ..)| *vendor)
}

fn find(vendor: u8, kind: Kind, name: &str, owner: &str) -> Option<&'static Word> {
    let of = |vendors: u8| {
        let mut rows = table::WORDS.iter();
        rows.find(|word| {
            word.vendors & vendors != 0 && word.kind == kind && word.name == name && word.fits(owner)
        })
    };
    of(vendor).or_else(|| of(readers_of(vendor)))
}

/// The engines that read the namespace of one: Camunda 7 takes Activiti's for its own, and models still use it.
const fn readers_of(vendor: u8) -> u8 {
    if vendor == table::ACTIVITI { table::ACTIVITI | table::CAMUNDA } else { vendor }
}

fn attribute_hit(tree: &Tree<'_>, el: El, index: usize, owner: &str) -> Option<Hit> {
    let attribute = tree.attributes(el).get(index)?;
    let vendor = vendor_of(tree.uri(attribute.ns))?;
    let word = find(vendor, Kind::Attribute, attribute.local(), owner);
    let verdict = match word {
        Some(word) => map::Place { tree, el, vendor, word, order: index }.attribute(&attribute.value()),
        None => Err(misplaced(owner)),
    };
    Some(Hit { name: attribute.name.to_owned(), word, verdict, fails: None })
}

fn element_hit(tree: &Tree<'_>, el: El, order: usize, owner: &str, context: &Context) -> Option<Hit> {
    let element = tree.part(el);
    let vendor = vendor_of(tree.uri(element.ns))?;
    let word = find(vendor, Kind::Element, element.local(), owner);
    let verdict = match word {
        Some(word) if word.map == Map::Keep => Err(word.reason.to_owned()),
        Some(word) => match strange_part(tree, el, vendor) {
            Some(name) => Err(format!("the extension schema has no {name} in it")),
            None => map::Place { tree, el, vendor, word, order }.element(context),
        },
        None => Err(misplaced(owner)),
    };
    // A key that cannot be mapped takes no inputs with it.
    let key = word.is_some_and(|word| word.map == Map::In) && tree.attribute(el, "businessKey").is_some();
    Some(Hit { name: element.name.to_owned(), word, verdict, fails: key.then_some("businessKey") })
}

/// Whether the table has a part of a vendor's element.
fn has_part(vendor: u8, parent: &str, name: &str, attribute: bool) -> bool {
    parts::PARTS.iter().any(|(vendors, own, attributes, children)| {
        let names = if attribute { attributes } else { children };
        vendors & readers_of(vendor) != 0
            && *own == parent
            && names.split_ascii_whitespace().any(|own| own == name)
    })
}

/// A part of a vendor's element that the table does not have: its meaning is not known, so that the element cannot
/// be mapped. The nesting is bounded by the reader.
fn strange_part(tree: &Tree<'_>, el: El, vendor: u8) -> Option<String> {
    let element = tree.part(el);
    let mut attributes =
        tree.attributes(el).iter().filter(|attribute| attribute.ns == super::names::Ns::NONE);
    if let Some(strange) = attributes.find(|own| !has_part(vendor, element.local(), own.local(), true)) {
        return Some(format!("attribute `{}`", strange.name));
    }
    tree.parts_of(el).filter(|&child| vendor_of(tree.uri(tree.part(child).ns)).is_some()).find_map(|child| {
        let inner = tree.part(child);
        if has_part(vendor, element.local(), inner.local(), false) {
            strange_part(tree, child, vendor)
        } else {
            Some(format!("element `{}`", inner.name))
        }
    })
}

fn misplaced(owner: &str) -> String {
    format!("it has no known meaning at {owner}")
}

/// The words in a fragment of extension elements or in a fragment of preserved content of a definition; `owner` is the
/// element that the fragment belongs to.
pub fn in_fragment(fragment: &str, around: &[(&str, &str)], owner: &str) -> Vec<Hit> {
    let Ok(tree) = tree::parse(fragment, around) else { return Vec::new() };
    let context = Context::default();
    if !is_preserved(&tree) {
        return element_hit(&tree, 0, 0, owner, &context).into_iter().collect();
    }
    let mut found: Vec<Hit> =
        (0..tree.attributes(0).len()).filter_map(|index| attribute_hit(&tree, 0, index, owner)).collect();
    for child in tree.parts_of(0) {
        if tree.part(child).local() == "extensionElements" {
            let inner = tree.parts_of(child).enumerate();
            found.extend(inner.filter_map(|(order, el)| element_hit(&tree, el, order, owner, &context)));
        } else {
            found.extend(element_hit(&tree, child, 0, owner, &context));
        }
    }
    found
}

/// The prefixes around the fragments of a definition.
pub fn around(namespaces: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    surroundings::<super::names::Bpmn>(namespaces)
}

/// Whether a namespace is one of the standard's or this product's own.
pub fn is_standard(uri: &str) -> bool {
    super::names::is_known(uri)
}

impl Context {
    /// Content that a document holds beside its nodes; nothing when it names no vendor.
    pub(super) fn read(tree: &Tree<'_>) -> Self {
        let mut context = Self::default();
        if !tree.root_bindings().iter().any(|(_, uri)| vendor_of(uri).is_some()) {
            return context;
        }
        context.any = true;
        for el in tree.parts_of(0) {
            let owner = tree.part(el).local();
            if !matches!(owner, "process" | "message") {
                continue;
            }
            let id = tree.attribute(el, "id").unwrap_or_default().into_owned();
            for part in tree.parts_of(el).filter(|&part| tree.part(part).local() == "extensionElements") {
                tree.parts_of(part).for_each(|child| context.take(tree, child, &id));
            }
        }
        context
    }

    /// The same of a definition that is written.
    pub(super) fn of(bpmn: &Bpmn, preserved_content: &PreservedContent<'_>, around: &[(&str, &str)]) -> Self {
        let mut context = Self::default();
        if !around.iter().any(|(_, uri)| vendor_of(uri).is_some()) {
            return context;
        }
        context.any = true;
        for process in bpmn.processes.iter().flatten() {
            let fragments = process.extension_xml.iter().flatten();
            for fragment in fragments.filter(|own| own.contains("userTaskForm")) {
                if let Ok(tree) = tree::parse(fragment, around) {
                    context.take(&tree, 0, "");
                }
            }
        }
        for id in bpmn.messages.iter().flatten().filter_map(|message| message.id.as_deref()) {
            let kept =
                preserved_content.peek(id).map(|preserved| preserved.children.as_slice()).unwrap_or_default();
            for child in kept.iter().filter(|child| child.xml.contains("subscription")) {
                if let Ok(tree) = tree::parse(&child.xml, around) {
                    tree.parts_of(0).for_each(|child| context.take(&tree, child, id));
                }
            }
        }
        context
    }

    fn take(&mut self, tree: &Tree<'_>, el: El, owner: &str) {
        let element = tree.part(el);
        if vendor_of(tree.uri(element.ns)) != Some(table::ZEEBE) {
            return;
        }
        if element.local() == "userTaskForm"
            && let Some(id) = tree.attribute(el, "id")
        {
            self.forms.insert(id.into_owned(), tree.text(el).into_owned());
        }
        if element.local() == "subscription"
            && let Some(key) = map::own(tree, el, "correlationKey").filter(|key| !key.trim().is_empty())
            && let Ok(key) = map::text_of(table::ZEEBE, key.trim())
        {
            self.subscriptions.insert(owner.to_owned(), key);
        }
    }
}

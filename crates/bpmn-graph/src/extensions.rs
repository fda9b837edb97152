//! Vendors' extensions that would change what a node does. They are kept and exported again; publishing refuses an
//! element with one that is neither mapped to a setting of its `configuration` nor without effect.

use super::bindings::Bindings;
use super::compile::Builder;
use heddle_bpmn::diagnostic;
use heddle_bpmn::element::ElementKind as K;
use heddle_bpmn::model::{Bpmn, Node, Process};
use heddle_bpmn::xml::extensions::{Effect, Hit, around, in_fragment, is_standard, namespaces};
use heddle_xml::tags::{Tag, tags};
use serde_json::{Map as Object, Value};
use std::collections::{BTreeMap, HashMap};

/// Attributes of further vendors that name an implementation.
const IMPLEMENTATIONS: &[&str] = &[
    "class",
    "delegateExpression",
    "expression",
    "type",
    "topic",
    "decisionRef",
    "caseRef",
    "serviceName",
    "packageName",
    "taskName",
    "workItemDefinition",
    "modelerTemplate",
];
/// Elements of further vendors that name an implementation, map data, or run code beside the flow.
const ELEMENTS: &[&str] = &[
    "taskDefinition",
    "calledElement",
    "calledDecision",
    "script",
    "connector",
    "inputOutput",
    "ioMapping",
    "executionListener",
    "executionListeners",
    "taskListener",
    "taskListeners",
    "eventListener",
    "in",
    "out",
    "errorEventDefinition",
    "onEntry-script",
    "onExit-script",
    "eventType",
    "loopCharacteristics",
    "field",
];

/// Most words of one message, signal or error, and most prefixes of one fragment, that are looked at.
const MAX_SHARED: usize = 64;

/// Finding about one word.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    refused: bool,
    sentence: String,
    remedy: String,
}

/// Extensions kept for the elements of a model, by their ids.
#[derive(Debug, Default)]
pub(super) struct Extensions<'d> {
    around: Vec<(&'d str, &'d str)>,
    /// Prefixes that are no vendor's; none when the namespace without a prefix is one.
    standard: Option<Vec<&'d str>>,
    /// Fragment, and the element below the one of the id that it belongs to.
    by_id: HashMap<String, Vec<(&'d str, Option<String>)>>,
    /// Words at messages, signals and errors, which many nodes may name.
    roots: HashMap<&'d str, Vec<Hit>>,
    /// Parameters of resources that roles bind.
    pub bindings: Bindings,
}

static NO_NAMESPACES: BTreeMap<String, String> = BTreeMap::new();

impl<'d> Extensions<'d> {
    /// Sorts the preserved content of a model.
    pub(super) fn of(bpmn: Option<&'d Bpmn>) -> Self {
        let Some(bpmn) = bpmn else { return Self::default() };
        let mut extensions =
            Self { around: around(bpmn.namespaces.as_ref().unwrap_or(&NO_NAMESPACES)), ..Self::default() };
        if !extensions.around.iter().any(|(prefix, uri)| prefix.is_empty() && !is_standard(uri)) {
            let standard =
                extensions.around.iter().filter(|(_, uri)| is_standard(uri)).map(|(prefix, _)| *prefix);
            extensions.standard = Some(standard.take(MAX_SHARED).chain(["heddle", "xml", "xsi"]).collect());
        }
        for fragment in bpmn.extension_elements_xml.iter().flatten() {
            if !extensions.may_matter(fragment) {
                continue;
            }
            let Some(address) = address(fragment) else { continue };
            // `id/documentation[1]` is a place below the element with the id.
            let mut steps = address.split('/');
            let id = steps.next().unwrap_or_default().to_owned();
            let below = steps.next_back().map(|step| step.split('[').next().unwrap_or(step).to_owned());
            extensions.by_id.entry(id).or_default().push((fragment, below));
        }
        for (owner, list) in [("message", &bpmn.messages), ("signal", &bpmn.signals), ("error", &bpmn.errors)]
        {
            for id in list.iter().flatten().filter_map(|item| item.id.as_deref()) {
                let mut found: Vec<Hit> = extensions.kept(id, owner).collect();
                // Many nodes may name it: each word is judged once for each of them.
                found.sort_by(|left, right| left.name.cmp(&right.name));
                found.dedup_by(|left, right| left.name == right.name);
                found.truncate(MAX_SHARED);
                if !found.is_empty() {
                    extensions.roots.insert(id, found);
                }
            }
        }
        extensions
    }

    fn kept(&self, id: &str, owner: &str) -> impl Iterator<Item = Hit> {
        self.by_id
            .get(id)
            .into_iter()
            .flatten()
            .flat_map(move |(fragment, below)| self.words(fragment, below.as_deref().unwrap_or(owner)))
    }

    /// Whether a fragment can hold a vendor's word; most hold none.
    fn may_matter(&self, fragment: &str) -> bool {
        let Some(standard) = &self.standard else { return true };
        let foreign = |(at, _): (usize, &str)| {
            let part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
            let name = fragment[..at].trim_end_matches(part);
            !standard.contains(&&fragment[name.len()..at])
        };
        fragment.contains("xmlns") || fragment.match_indices(':').any(foreign)
    }

    fn words(&self, fragment: &str, owner: &str) -> Vec<Hit> {
        if !self.may_matter(fragment) {
            return Vec::new();
        }
        let mut found = in_fragment(fragment, &self.around, owner);
        let mut names = Vec::new();
        let mut prefixes: Vec<(String, bool)> = Vec::new();
        let mut listed = |prefix: &str| {
            if let Some((_, listed)) = prefixes.iter().find(|(own, _)| own == prefix) {
                return *listed;
            }
            let listed = prefixes.len() < MAX_SHARED && self.listed(fragment, prefix);
            if prefixes.len() < MAX_SHARED {
                prefixes.push((prefix.to_owned(), listed));
            }
            listed
        };
        tags(fragment).for_each(|tag| collect(&tag, &mut listed, &mut names));
        let further = |name| Hit { name, word: None, verdict: Err(String::new()), fails: None };
        found.extend(names.into_iter().map(further));
        found
    }

    /// Whether a prefix stands for a vendor whose words are in the table.
    fn listed(&self, fragment: &str, prefix: &str) -> bool {
        let known = |uri: &str| namespaces().any(|own| own == uri);
        self.around.iter().any(|(own, uri)| *own == prefix && known(uri))
            || namespaces().any(|uri| fragment.contains(&format!("xmlns:{prefix}=\"{uri}\"")))
    }

    /// Findings on the words at a node, its loop marker, its events and what they name.
    fn at_node(&self, node: &Node, inner_event: bool) -> Vec<Finding> {
        let empty = Object::new();
        let settings = node.configuration.as_ref().unwrap_or(&empty);
        let owner = node.element_type().unwrap_or_default();
        let bpmn = node.bpmn.as_deref();
        let mut found = Vec::new();
        let mut judge = |hits: &mut dyn Iterator<Item = &Hit>| {
            found.extend(hits.filter_map(|hit| judged(hit, settings)));
        };
        for fragment in bpmn.and_then(|bpmn| bpmn.extension_xml.as_deref()).unwrap_or_default() {
            judge(&mut self.words(fragment, owner).iter());
        }
        if let Some(id) = node.element_id() {
            judge(&mut self.kept(id, owner).collect::<Vec<_>>().iter());
        }
        let marker = bpmn.and_then(|bpmn| bpmn.activity.as_ref()?.r#loop.as_ref()?.id.as_deref());
        if let Some(id) = marker {
            judge(&mut self.kept(id, K::MultiInstanceLoopCharacteristics.name()).collect::<Vec<_>>().iter());
        }
        let waits = match node.kind() {
            Some(K::ReceiveTask | K::IntermediateCatchEvent | K::BoundaryEvent) => true,
            Some(K::StartEvent) => inner_event,
            _ => false,
        };
        let events = bpmn.and_then(|bpmn| bpmn.event_definitions.as_deref()).unwrap_or_default();
        for event in events {
            if let Some(id) = event.id.as_deref() {
                let owner = format!("{}EventDefinition", event.kind().unwrap_or_default());
                judge(&mut self.kept(id, &owner).collect::<Vec<_>>().iter());
            }
        }
        let named = events.iter().filter_map(|event| event.reference.as_deref());
        for id in named.chain(bpmn.and_then(|bpmn| bpmn.message_ref.as_deref())) {
            let hits = self.roots.get(id).into_iter().flatten();
            // Only who waits for a message needs the key of its subscription.
            judge(&mut hits.filter(|hit| waits || hit.word.is_none_or(|word| !word.is_subscription())));
        }
        found.sort();
        found.dedup();
        found
    }

    /// Findings on the words at an element without settings.
    fn at(&self, id: &str, owner: &str, fragments: &[String]) -> Vec<Finding> {
        let empty = Object::new();
        let mut hits: Vec<Hit> = self.kept(id, owner).collect();
        hits.extend(fragments.iter().flat_map(|fragment| self.words(fragment, owner)));
        let mut found: Vec<Finding> = hits.iter().filter_map(|hit| judged(hit, &empty)).collect();
        found.sort();
        found.dedup();
        found
    }
}

impl Builder<'_> {
    /// Refuses a node with a word that would be ignored.
    pub(super) fn check_extensions(&mut self, id: &str, node: &Node, inner_event: bool) {
        let found = self.extensions.at_node(node, inner_event);
        self.say(id, found);
    }

    /// The same for a sequence flow.
    pub(super) fn check_flow_extensions(&mut self, id: &str) {
        let found = self.extensions.at(id, K::SequenceFlow.name(), &[]);
        self.say(id, found);
    }

    /// The same for a process and for the data objects of a process or sub-process.
    pub(super) fn check_content_extensions(&mut self, process: bool, content: &Process) {
        if process {
            let id = content.id.as_deref().unwrap_or_default();
            let fragments = content.extension_xml.as_deref().unwrap_or_default();
            let found = self.extensions.at(id, K::Process.name(), fragments);
            self.say(id, found);
        }
        for id in content.data_objects.iter().flatten().filter_map(|item| item.id.as_deref()) {
            let found = self.extensions.at(id, K::DataObject.name(), &[]);
            self.say(id, found);
        }
    }

    fn say(&mut self, id: &str, found: Vec<Finding>) {
        for finding in found {
            let diagnostic = if finding.refused {
                diagnostic::error("unsupportedExtension", finding.sentence).with_remedy(finding.remedy)
            } else {
                diagnostic::warning("extensionUnused", finding.sentence)
            };
            self.diagnostics.push(diagnostic.with_element(id).with_clause("8.3.3"));
        }
    }
}

fn judged(hit: &Hit, settings: &Object<String, Value>) -> Option<Finding> {
    let name = &hit.name;
    let Some(word) = hit.word else {
        let local = local(name);
        let changes = IMPLEMENTATIONS.contains(&local) || ELEMENTS.contains(&local);
        let sentence = format!("the vendor's extension {name} would be ignored");
        return changes.then_some(Finding { refused: true, sentence, remedy: remedy(local, &[]) });
    };
    let reason = match &hit.verdict {
        Ok(members) => {
            let (missing, _) = members.iter().find(|(member, _)| !settings.contains_key(*member))?;
            format!("the configuration has no `{missing}`")
        }
        Err(_) if hit.member().is_some_and(|member| settings.contains_key(member)) => return None,
        Err(_) if word.is_kept() => word.reason.trim_end_matches('.').to_owned(),
        Err(reason) => reason.clone(),
    };
    match word.effect {
        Effect::Quiet => None,
        Effect::Told => Some(Finding {
            refused: false,
            sentence: format!("the vendor's extension {name} has no effect: {reason}"),
            remedy: String::new(),
        }),
        Effect::Refused => Some(Finding {
            refused: true,
            sentence: format!("the vendor's extension {name} would be ignored: {reason}"),
            remedy: remedy(local(name), word.becomes),
        }),
    }
}

/// Remedy for a word: something to say or do in its place, given the settings that it could become.
fn remedy(word: &str, becomes: &[&str]) -> String {
    let sentence = match word {
        // At an ad-hoc sub-process it becomes nothing.
        "taskDefinition" | "taskHeaders" if becomes.is_empty() => {
            "Take it out, and set `activeElements` in the node's `configuration` to the activities that begin."
        }
        "class" | "delegateExpression" | "expression" | "connector" | "type" | "topic" | "taskDefinition"
        | "field" | "taskName" | "serviceName" | "packageName" | "workItemDefinition" | "modelerTemplate" => {
            "Set `jobType` in the node's `configuration`, so that a worker does the step (`POST /api/jobs/activate`), or take \
             it out, and make the step a script task in FEEL (`scriptFormat` `feel`) when it computes something, a business \
             rule task when it decides, or a user task."
        }
        "executionListener" | "executionListeners" | "eventListener" | "onEntry-script" | "onExit-script" => {
            "Take it out, and put what it does at a flow node: `listeners` in its `configuration` are jobs of workers or FEEL."
        }
        "taskListener" | "taskListeners" => {
            "Take it out, and set `listeners` in the user task's `configuration`: jobs of workers or FEEL at its creation, \
             assignment, update, timeout or completion."
        }
        "errorVariableName" => {
            "Take it out, and set `errorCodeVariable` or `errorMessageVariable` in the node's `configuration`."
        }
        "script" => "Take it out, and make it a script task in FEEL (`scriptFormat` `feel`).",
        "decisionRefTenantId" | "calledElementTenantId" | "fallbackToDefaultTenant" => {
            "Take it out; decisions are those of the same definition."
        }
        "rules" | "ruleVariablesInput" | "exclude" => {
            "Take it out, put a DMN model with `PUT /api/workflows/{workflowId}/dmn/logic`, and name its decision in \
             `decisionRef`."
        }
        "businessCalendarName" => "Take it out, and compute the time in a FEEL expression after `=`.",
        _ => match becomes.first() {
            Some(setting) => {
                return format!("Set `{setting}` in the node's `configuration`, or take the word out.");
            }
            None => "Take it out if the step does not need it.",
        },
    };
    sentence.to_owned()
}

/// Address of the element that a residue fragment belongs to; none for any other fragment.
fn address(fragment: &str) -> Option<String> {
    let first = tags(fragment).next()?;
    let own = (local(first.name) == "residue").then(|| first.attribute("for"))??;
    Some(own.to_owned())
}

fn collect(tag: &Tag<'_>, listed: &mut impl FnMut(&str) -> bool, found: &mut Vec<String>) {
    let mut further = |name: &str| foreign(name) && !listed(name.split(':').next().unwrap_or_default());
    let element = tag.name;
    if ELEMENTS.contains(&local(element)) && further(element) {
        found.push(element.to_owned());
    }
    for &(name, _) in &tag.attributes {
        if IMPLEMENTATIONS.contains(&local(name)) && further(name) {
            found.push(name.to_owned());
        }
    }
}

/// Whether a name has a vendor's prefix.
fn foreign(name: &str) -> bool {
    match name.split_once(':') {
        Some((prefix, _)) => {
            !matches!(prefix, "heddle" | "xml" | "xmlns" | "xsi" | "bpmn" | "bpmn2" | "semantic" | "model")
        }
        None => false,
    }
}

fn local(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

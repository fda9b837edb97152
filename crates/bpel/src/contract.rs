//! Contract of a process with its partners: messages, port types, partner links.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::correlation::Correlations;
use super::names::{Names, clean, uri};
use super::tree::{Call, Variable};
use heddle_bpmn::model::{Bpmn, EventReference, Interface, ItemDefinition, Operation, WorkflowDefinition};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Namespace of the schema of payloads without a type.
pub(super) const PAYLOAD_NS: &str = "urn:heddle:bpel:payload:1";
const XSD: &str = "http://www.w3.org/2001/XMLSchema";

/// Side of an exchange on which the process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Side {
    /// The process offers the operation.
    Receives,
    /// The partner offers it, and the process waits for no answer.
    Sends,
    /// The partner offers it and answers.
    Asks,
}

/// The type of a message's one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PartType {
    /// Of XML Schema.
    Schema(String),
    /// Of an imported document: number of the import and local name.
    Imported(usize, String),
    Untyped,
}

#[derive(Debug)]
pub(super) struct Message {
    pub name: String,
    pub part: PartType,
}

#[derive(Debug, Default, Clone)]
pub(super) struct WsdlOperation {
    pub input: String,
    pub output: Option<String>,
    /// Name and message.
    pub faults: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) struct PartnerLink {
    pub name: String,
    pub link_type: String,
    pub port_type: String,
    /// Whether the process has the role.
    pub is_own: bool,
}

pub(super) struct Contract<'d> {
    pub process_name: String,
    pub target_namespace: String,
    /// Imported documents: namespace, location.
    pub imports: Vec<(String, String)>,
    /// Prefixes of the model.
    pub namespaces: BTreeMap<String, String>,
    pub messages: Vec<Message>,
    pub port_types: BTreeMap<String, BTreeMap<String, WsdlOperation>>,
    pub partner_links: Vec<PartnerLink>,
    pub correlations: Correlations,
    /// Whether a payload has no type.
    pub untyped: bool,
    model_messages: HashMap<&'d str, &'d EventReference>,
    items: HashMap<&'d str, &'d ItemDefinition>,
    errors: HashMap<&'d str, &'d EventReference>,
    operations: HashMap<&'d str, (&'d Interface, &'d Operation)>,
    /// Partners by id of the node that talks to them.
    partners: HashMap<&'d str, &'d str>,
    by_id: HashMap<String, usize>,
    untyped_messages: HashSet<String>,
    names: Names,
    port_names: HashMap<String, String>,
    links: HashMap<(String, String, bool), usize>,
    /// Partner links by which the process receives operations of the model.
    received: HashMap<&'d str, String>,
}

impl<'d> Contract<'d> {
    pub(crate) fn new(definition: &'d WorkflowDefinition, process_id: &'d str, process_name: &str) -> Self {
        let bpmn = definition.bpmn.as_deref();
        let list = |list: Option<&'d Vec<EventReference>>| -> HashMap<&'d str, &'d EventReference> {
            list.into_iter().flatten().filter_map(|item| Some((item.id.as_deref()?, item))).collect()
        };
        let items = bpmn.and_then(|bpmn| bpmn.item_definitions.as_ref()).into_iter().flatten();
        let interfaces = bpmn.and_then(|bpmn| bpmn.interfaces.as_ref()).into_iter().flatten();
        let operations = interfaces.flat_map(|interface| {
            let operations = interface.operations.iter().flatten();
            operations.filter_map(move |operation| Some((operation.id.as_deref()?, (interface, operation))))
        });
        let fallback = format!("urn:heddle:bpel:process:{process_name}");
        let mut contract = Self {
            process_name: process_name.to_owned(),
            target_namespace: uri(bpmn.and_then(|bpmn| bpmn.target_namespace.as_deref()), &fallback),
            imports: Vec::new(),
            namespaces: bpmn.and_then(|bpmn| bpmn.namespaces.clone()).unwrap_or_default(),
            messages: Vec::new(),
            port_types: BTreeMap::new(),
            partner_links: Vec::new(),
            correlations: Correlations::new(definition, process_id),
            untyped: false,
            model_messages: list(bpmn.and_then(|bpmn| bpmn.messages.as_ref())),
            items: items.filter_map(|item| Some((item.id.as_deref()?, item))).collect(),
            errors: list(bpmn.and_then(|bpmn| bpmn.errors.as_ref())),
            operations: operations.collect(),
            partners: HashMap::new(),
            by_id: HashMap::new(),
            untyped_messages: HashSet::new(),
            names: Names::default(),
            port_names: HashMap::new(),
            links: HashMap::new(),
            received: HashMap::new(),
        };
        if let Some(bpmn) = bpmn {
            contract.read_imports(bpmn);
            contract.read_partners(bpmn);
        }
        contract
    }

    fn read_imports(&mut self, bpmn: &Bpmn) {
        for import in bpmn.imports.iter().flatten() {
            let (Some(namespace), Some(location)) = (&import.namespace, &import.location) else { continue };
            if import.import_type.as_deref() == Some(XSD) && !namespace.trim().is_empty() {
                self.imports.push((uri(Some(namespace), ""), uri(Some(location), "")));
            }
        }
    }

    /// The other end of each message flow names the partner.
    fn read_partners(&mut self, bpmn: &'d Bpmn) {
        for collaboration in bpmn.collaborations.iter().flatten() {
            let participants: HashMap<&str, &'d str> = collaboration
                .participants
                .iter()
                .flatten()
                .filter_map(|one| Some((one.id.as_deref()?, one.name.as_deref().or(one.id.as_deref())?)))
                .collect();
            let of_process: HashMap<&str, &'d str> = collaboration
                .participants
                .iter()
                .flatten()
                .filter_map(|one| {
                    Some((one.process_ref.as_deref()?, one.name.as_deref().or(one.id.as_deref())?))
                })
                .collect();
            let owner: HashMap<&str, &'d str> = bpmn
                .processes
                .iter()
                .flatten()
                .filter_map(|process| Some((process, of_process.get(process.id.as_deref()?)?)))
                .flat_map(|(process, name)| {
                    let nodes = process.nodes.iter().flatten();
                    nodes.filter_map(move |node| Some((node.element_id()?, *name)))
                })
                .collect();
            for flow in collaboration.message_flows.iter().flatten() {
                let (Some(source), Some(target)) = (flow.source_ref.as_deref(), flow.target_ref.as_deref())
                else {
                    continue;
                };
                for (own, other) in [(source, target), (target, source)] {
                    if let Some(name) = participants.get(other).or_else(|| owner.get(other)) {
                        self.partners.entry(own).or_insert(name);
                    }
                }
            }
        }
    }

    /// The operation of this id.
    pub(crate) fn operation(&self, id: &str) -> Option<(&'d Interface, &'d Operation)> {
        self.operations.get(id).copied()
    }

    /// Whether this operation answers with this message and the process is the one that is asked.
    pub(crate) fn is_reply(&self, operation: Option<&str>, message: Option<&str>) -> bool {
        let Some((_, found)) = operation.and_then(|id| self.operation(id)) else { return false };
        found.output_message_ref.is_some()
            && operation.is_some_and(|id| self.received.contains_key(id))
            && (message == found.output_message_ref.as_deref() || message.is_none())
    }

    /// The exchange of a node: by its operation, else by its message, else by an operation of this name.
    /// Variables are for the caller to add.
    pub(crate) fn call(&mut self, node: &str, of: Exchange<'_>, side: Side) -> Call {
        self.exchange(node, of, side, false)
    }

    /// The answer to an operation that the process receives.
    pub(crate) fn answer(&mut self, node: &str, of: Exchange<'_>) -> Call {
        self.exchange(node, of, Side::Receives, true)
    }

    fn exchange(&mut self, node: &str, of: Exchange<'_>, side: Side, answers: bool) -> Call {
        let found = of.operation.and_then(|id| self.operation(id));
        // The answer takes the way by which the question came.
        let id = found.and_then(|(_, operation)| operation.id.as_deref());
        let known = id.filter(|_| answers).and_then(|id| self.received.get(id)).cloned();
        let mut call = match found {
            Some((interface, operation)) => self.modelled(node, interface, operation, side, known),
            None => self.generated(node, of, side),
        };
        call.correlations = self.correlations.of(node, of.message);
        if let Some(id) = id.filter(|_| side == Side::Receives) {
            self.received.entry(id).or_insert_with(|| call.partner_link.clone());
        }
        call
    }

    fn modelled(
        &mut self,
        node: &str,
        interface: &'d Interface,
        operation: &'d Operation,
        side: Side,
        known: Option<String>,
    ) -> Call {
        let key = interface.id.as_deref().or(interface.name.as_deref()).unwrap_or("interface");
        let name = interface.name.as_deref().unwrap_or(key);
        let port_type = self.port_type(&format!("i:{key}"), name);
        for one in interface.operations.iter().flatten() {
            let made = WsdlOperation {
                input: self.message(one.input_message_ref.as_deref()),
                output: one.output_message_ref.as_deref().map(|id| self.message(Some(id))),
                faults: self.faults(one),
            };
            self.port_types.entry(port_type.clone()).or_default().insert(operation_name(one), made);
        }
        let operation_name = operation_name(operation);
        let made = self.port_types.get(&port_type).and_then(|all| all.get(&operation_name)).cloned();
        let made = made.unwrap_or_default();
        let partner_link = known.unwrap_or_else(|| self.partner_link(node, name, &port_type, side));
        let output = made.output.clone().filter(|_| side != Side::Receives);
        Call {
            partner_link,
            port_type,
            operation: operation_name,
            input: None,
            output,
            message_type: made.input,
            correlations: Vec::new(),
        }
    }

    fn faults(&mut self, operation: &Operation) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if operation.output_message_ref.is_none() {
            // WSDL has faults only where there is an answer.
            return found;
        }
        for id in operation.error_refs.iter().flatten() {
            if let Some(error) = self.errors.get(id.as_str()).copied() {
                let message = self.message_of(
                    &format!("error:{id}"),
                    error.name.as_deref().unwrap_or(id),
                    error.structure_ref.as_deref(),
                );
                found.push((clean(error.code.as_deref().or(error.name.as_deref()).unwrap_or(id)), message));
            }
        }
        found
    }

    fn generated(&mut self, node: &str, of: Exchange<'_>, side: Side) -> Call {
        let process = self.process_name.clone();
        let (key, name, partner) = match side {
            Side::Receives => ("own", process.clone(), process.as_str()),
            Side::Sends => ("partner", format!("{process}Partner"), "partner"),
            Side::Asks => ("services", format!("{process}Services"), "services"),
        };
        let message_name = of.message.map(|id| {
            let message = self.model_messages.get(id).and_then(|message| message.name.as_deref());
            message.filter(|name| !name.trim().is_empty()).unwrap_or(id).to_owned()
        });
        let input = self.message(of.message);
        let output = (side == Side::Asks).then(|| self.message(None));
        let port_type = self.port_type(key, &name);
        let base = clean(message_name.as_deref().unwrap_or(of.name));
        let operations = self.port_types.entry(port_type.clone()).or_default();
        let mut operation = base.clone();
        let mut number = 2;
        // Two messages may have the same name.
        while operations.get(&operation).is_some_and(|other| other.input != input || other.output != output) {
            operation = format!("{base}_{number}");
            number += 1;
        }
        let made = WsdlOperation { input: input.clone(), output: output.clone(), faults: Vec::new() };
        operations.entry(operation.clone()).or_insert(made);
        let partner_link = self.partner_link(node, partner, &port_type, side);
        Call {
            partner_link,
            port_type,
            operation,
            input: None,
            output,
            message_type: input,
            correlations: Vec::new(),
        }
    }

    fn port_type(&mut self, key: &str, name: &str) -> String {
        if let Some(known) = self.port_names.get(key) {
            return known.clone();
        }
        let made = self.names.unique(&format!("{}PortType", clean(name)));
        self.port_names.insert(key.to_owned(), made.clone());
        made
    }

    fn partner_link(&mut self, node: &str, fallback: &str, port_type: &str, side: Side) -> String {
        let partner = self.partners.get(node).copied().unwrap_or(fallback).to_owned();
        let is_own = side == Side::Receives;
        let key = (partner.clone(), port_type.to_owned(), is_own);
        if let Some(known) = self.links.get(&key) {
            return self.partner_links[*known].name.clone();
        }
        let name = self.names.unique(&clean(&partner));
        let link_type = self.names.unique(&format!("{name}LinkType"));
        let link = PartnerLink { name: name.clone(), link_type, port_type: port_type.to_owned(), is_own };
        self.links.insert(key, self.partner_links.len());
        self.partner_links.push(link);
        name
    }

    /// The name of the WSDL message for a message of the model, or for one without a type.
    pub(crate) fn message(&mut self, id: Option<&str>) -> String {
        let Some(id) = id else { return self.message_of("", "payload", None) };
        let message = self.model_messages.get(id).copied();
        let name = message.and_then(|message| message.name.as_deref());
        let name = name.filter(|name| !name.trim().is_empty()).unwrap_or(id);
        self.message_of(id, name, message.and_then(|message| message.structure_ref.as_deref()))
    }

    /// The message type of the answer to a call.
    pub(crate) fn reply_type(&self, call: &Call) -> String {
        let operation = self.port_types.get(&call.port_type).and_then(|all| all.get(&call.operation));
        operation.and_then(|operation| operation.output.clone()).unwrap_or_else(|| call.message_type.clone())
    }

    /// Whether a message's part has no type.
    pub(crate) fn is_untyped(&self, message: &str) -> bool {
        self.untyped_messages.contains(message)
    }

    /// The WSDL message that was made for a message of the model.
    pub(crate) fn known_message(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(|at| self.messages[*at].name.as_str())
    }

    fn message_of(&mut self, key: &str, name: &str, item: Option<&str>) -> String {
        if let Some(known) = self.by_id.get(key) {
            return self.messages[*known].name.clone();
        }
        let part = self.type_of(item);
        let name = self.names.unique(&format!("{}Message", clean(name)));
        if part == PartType::Untyped {
            self.untyped = true;
            self.untyped_messages.insert(name.clone());
        }
        self.by_id.insert(key.to_owned(), self.messages.len());
        self.messages.push(Message { name: name.clone(), part });
        name
    }

    /// The type that an item definition names, where its document can be found.
    fn type_of(&self, item: Option<&str>) -> PartType {
        let named = item.and_then(|item| self.items.get(item)).and_then(|item| item.structure_ref.as_deref());
        let Some((prefix, local)) = named.and_then(|name| name.trim().split_once(':')) else {
            return PartType::Untyped;
        };
        let Some(namespace) = self.namespaces.get(prefix) else { return PartType::Untyped };
        if clean(local) != local {
            return PartType::Untyped;
        }
        if namespace == XSD {
            return if BUILT_IN.contains(&local) {
                PartType::Schema(local.to_owned())
            } else {
                PartType::Untyped
            };
        }
        match self.imports.iter().position(|(known, _)| known == namespace) {
            Some(import) => PartType::Imported(import, local.to_owned()),
            None => PartType::Untyped,
        }
    }

    /// A variable of the model: by its item definition, else of any type.
    pub(crate) fn data_variable(&self, name: String, item: Option<&str>) -> Variable {
        let of = match self.type_of(item) {
            PartType::Schema(local) => format!("xsd:{local}"),
            PartType::Imported(import, local) => format!("t{import}:{local}"),
            PartType::Untyped => "xsd:anyType".to_owned(),
        };
        Variable { name, of: ("type", of) }
    }
}

/// Operation and message of a node's exchange, with a name for want of both.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub operation: Option<&'a str>,
    pub message: Option<&'a str>,
    /// Name of the operation where the model has neither.
    pub name: &'a str,
}

fn operation_name(operation: &Operation) -> String {
    clean(operation.name.as_deref().or(operation.id.as_deref()).unwrap_or("operation"))
}

/// The types of XML Schema that items name.
const BUILT_IN: &[&str] = &[
    "anyType",
    "anySimpleType",
    "anyURI",
    "base64Binary",
    "boolean",
    "byte",
    "date",
    "dateTime",
    "decimal",
    "double",
    "duration",
    "float",
    "gDay",
    "gMonth",
    "gMonthDay",
    "gYear",
    "gYearMonth",
    "hexBinary",
    "ID",
    "int",
    "integer",
    "language",
    "long",
    "Name",
    "NCName",
    "negativeInteger",
    "NMTOKEN",
    "nonNegativeInteger",
    "nonPositiveInteger",
    "normalizedString",
    "positiveInteger",
    "QName",
    "short",
    "string",
    "time",
    "token",
    "unsignedByte",
    "unsignedInt",
    "unsignedLong",
    "unsignedShort",
];

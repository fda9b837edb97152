//! Writes what a process and its partners say to each other as WSDL 1.1, and the schema of untyped payloads.

use super::contract::{Contract, PAYLOAD_NS, PartType};
use super::write::{Xml, model_prefixes};

const WSDL_NS: &str = "http://schemas.xmlsoap.org/wsdl/";
const LINK_NS: &str = "http://docs.oasis-open.org/wsbpel/2.0/plnktype";
const PROPERTY_NS: &str = "http://docs.oasis-open.org/wsbpel/2.0/varprop";
const XSD_NS: &str = "http://www.w3.org/2001/XMLSchema";

/// The WSDL document.
pub(super) fn definitions(contract: &Contract) -> String {
    let mut xml = Xml::new();
    let target = contract.target_namespace.as_str();
    xml.open("wsdl:definitions", &[("name", &contract.process_name), ("targetNamespace", target)]);
    let own = [
        ("xmlns:wsdl", WSDL_NS),
        ("xmlns:own", target),
        ("xmlns:plnk", LINK_NS),
        ("xmlns:vprop", PROPERTY_NS),
        ("xmlns:xsd", XSD_NS),
        ("xmlns:any", PAYLOAD_NS),
    ];
    for (name, value) in own {
        xml.attribute(name, value);
    }
    let mut taken: Vec<String> = ["wsdl", "own", "plnk", "vprop", "xsd", "any"].map(str::to_owned).to_vec();
    for (at, (namespace, _)) in contract.imports.iter().enumerate() {
        xml.attribute(&format!("xmlns:t{at}"), namespace);
        taken.push(format!("t{at}"));
    }
    let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
    for (prefix, namespace) in model_prefixes(contract, &taken) {
        xml.attribute(&prefix, namespace);
    }
    link_types(&mut xml, contract);
    properties(&mut xml, contract);
    types(&mut xml, contract);
    messages(&mut xml, contract);
    port_types(&mut xml, contract);
    xml.finish()
}

fn types(xml: &mut Xml, contract: &Contract) {
    if !contract.untyped && contract.imports.is_empty() {
        return;
    }
    xml.open("wsdl:types", &[]);
    xml.open("xsd:schema", &[]);
    if contract.untyped {
        let file = format!("{}.xsd", contract.process_name);
        xml.leaf("xsd:import", &[("namespace", PAYLOAD_NS), ("schemaLocation", &file)]);
    }
    for (namespace, location) in &contract.imports {
        xml.leaf("xsd:import", &[("namespace", namespace), ("schemaLocation", location)]);
    }
    xml.close();
    xml.close();
}

fn messages(xml: &mut Xml, contract: &Contract) {
    for message in &contract.messages {
        xml.open("wsdl:message", &[("name", &message.name)]);
        let of = match &message.part {
            PartType::Schema(local) => ("type", format!("xsd:{local}")),
            PartType::Imported(import, local) => ("type", format!("t{import}:{local}")),
            PartType::Untyped => ("element", "any:payload".to_owned()),
        };
        xml.leaf("wsdl:part", &[("name", "payload"), (of.0, &of.1)]);
        xml.close();
    }
}

fn port_types(xml: &mut Xml, contract: &Contract) {
    for (name, operations) in &contract.port_types {
        xml.open("wsdl:portType", &[("name", name)]);
        for (name, operation) in operations {
            xml.open("wsdl:operation", &[("name", name)]);
            xml.leaf("wsdl:input", &[("message", &format!("own:{}", operation.input))]);
            if let Some(output) = &operation.output {
                xml.leaf("wsdl:output", &[("message", &format!("own:{output}"))]);
            }
            for (fault, message) in &operation.faults {
                xml.leaf("wsdl:fault", &[("name", fault), ("message", &format!("own:{message}"))]);
            }
            xml.close();
        }
        xml.close();
    }
}

fn link_types(xml: &mut Xml, contract: &Contract) {
    for link in &contract.partner_links {
        xml.open("plnk:partnerLinkType", &[("name", &link.link_type)]);
        let role = if link.is_own { "process" } else { "partner" };
        xml.leaf("plnk:role", &[("name", role), ("portType", &format!("own:{}", link.port_type))]);
        xml.close();
    }
}

/// The properties of the used correlation sets, and where each message has them.
fn properties(xml: &mut Xml, contract: &Contract) {
    let correlations = &contract.correlations;
    let mut names: Vec<&str> =
        correlations.used_sets().flat_map(|set| set.properties.iter().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        xml.leaf("vprop:property", &[("name", name), ("type", "xsd:string")]);
        for (property, message) in correlations.aliases.iter().filter(|(property, _)| property == name) {
            let Some(message_name) = contract.known_message(message) else { continue };
            let (name, of) = (format!("own:{property}"), format!("own:{message_name}"));
            xml.open(
                "vprop:propertyAlias",
                &[("propertyName", &name), ("messageType", &of), ("part", "payload")],
            );
            if let Some(path) = correlations.path(property, message) {
                xml.text("vprop:query", &[], path);
            }
            xml.close();
        }
    }
}

/// The schema of payloads without a type.
pub(super) fn schema(contract: &Contract) -> Option<String> {
    contract.untyped.then(|| {
        let mut xml = Xml::new();
        let name =
            [("targetNamespace", PAYLOAD_NS), ("xmlns:xsd", XSD_NS), ("elementFormDefault", "qualified")];
        xml.open("xsd:schema", &name);
        xml.leaf("xsd:element", &[("name", "payload"), ("type", "xsd:anyType")]);
        xml.finish()
    })
}

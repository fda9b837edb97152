//! Prefixes of names: those that a document's writer uses, and those that mean the model's own namespace.

use super::names::{self, Ns, ns};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Prefixes of the standard's namespaces within one definition.
#[derive(Debug, Clone)]
pub(super) struct Prefixes {
    /// By namespace: prefix for elements, prefix for attributes, whether the definition lacks it.
    pub(super) known: Vec<(Ns, String, String, bool)>,
    pub(super) formal_expression: String,
    pub(super) xsi_type: String,
}

const KNOWN: [Ns; 6] = [ns::MODEL, ns::BPMN_DI, ns::DC, ns::DI, ns::XSI, ns::HEDDLE];

impl Prefixes {
    /// The prefixes that a definition binds; not those that mean something else further in.
    pub(super) fn new(namespaces: &BTreeMap<String, String>, rebound: &[&str]) -> Self {
        let mut known = Vec::with_capacity(KNOWN.len());
        for ns in KNOWN {
            let bound = namespaces.iter().filter(|(_, uri)| *uri == names::uri(ns)).map(|(prefix, _)| prefix);
            let mut bound = bound.filter(|prefix| !rebound.contains(&prefix.as_str()));
            let element = bound.next().cloned();
            let attribute =
                element.clone().filter(|prefix| !prefix.is_empty()).or_else(|| bound.next().cloned());
            let missing = attribute.is_none() && (element.is_none() || ns == ns::XSI);
            let free = Self::free(namespaces, ns, |prefix| rebound.contains(&prefix));
            let element = element.unwrap_or_else(|| free.clone());
            known.push((ns, element, attribute.unwrap_or(free), missing));
        }
        let mut prefixes = Self { known, formal_expression: String::new(), xsi_type: String::new() };
        prefixes.formal_expression = qualified(prefixes.element(ns::MODEL), "tFormalExpression");
        prefixes.xsi_type = qualified(prefixes.attribute(ns::XSI), "type");
        prefixes
    }

    /// A prefix for a namespace that the definition does not bind.
    pub(super) fn free(
        namespaces: &BTreeMap<String, String>,
        ns: Ns,
        taken: impl Fn(&str) -> bool,
    ) -> String {
        let usual = names::usual_prefix(ns);
        let mut prefix = usual.to_owned();
        let mut number = 1;
        while namespaces.contains_key(&prefix) || taken(&prefix) {
            number += 1;
            prefix = format!("{usual}{number}");
        }
        prefix
    }

    fn find(&self, ns: Ns) -> Option<&(Ns, String, String, bool)> {
        self.known.iter().find(|(own, ..)| *own == ns)
    }

    /// The prefix for elements of a namespace.
    pub(super) fn element(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, element, ..)| element.as_str())
    }

    /// The prefix for attributes of a namespace.
    pub(super) fn attribute(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, _, attribute, _)| attribute.as_str())
    }

    /// Name of the attribute `xsi:type`.
    pub(super) fn xsi_type(&self) -> &str {
        &self.xsi_type
    }
}

/// A name with its prefix.
pub(super) fn qualified(prefix: &str, local: &str) -> String {
    if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") }
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

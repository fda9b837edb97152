//! Prefixes of names: those that a document's writer uses, and those that mean the model's own namespace.

use super::{Vocabulary, uri, usual_prefix};
use crate::Ns;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Prefixes of the format's namespaces within one document.
#[derive(Debug, Clone)]
pub struct Prefixes {
    /// Namespaces, each with its prefix for elements, its prefix for attributes, and whether the document
    /// lacks it.
    pub(super) known: Vec<(Ns, String, String, bool)>,
    /// The type of an expression, with its prefix; empty where expressions have no type.
    pub(super) expression_type: String,
    /// Name of the attribute `xsi:type`.
    pub(super) xsi_type: String,
}

impl Prefixes {
    /// The prefixes that a document binds; not those that mean something else further in.
    pub(super) fn new<V: Vocabulary>(namespaces: &BTreeMap<String, String>, rebound: &[&str]) -> Self {
        let mut known = Vec::with_capacity(V::NAMESPACES.len());
        for ns in (0..V::NAMESPACES.len()).filter_map(|index| u16::try_from(index).ok()).map(Ns::known) {
            let bound = namespaces.iter().filter(|(_, own)| *own == uri::<V>(ns)).map(|(prefix, _)| prefix);
            let mut bound = bound.filter(|prefix| !rebound.contains(&prefix.as_str()));
            let element = bound.next().cloned();
            let attribute =
                element.clone().filter(|prefix| !prefix.is_empty()).or_else(|| bound.next().cloned());
            let missing = attribute.is_none() && (element.is_none() || ns == V::XSI);
            let free = Self::free::<V>(namespaces, ns, |prefix| rebound.contains(&prefix));
            let element = element.unwrap_or_else(|| free.clone());
            known.push((ns, element, attribute.unwrap_or(free), missing));
        }
        let mut prefixes = Self { known, expression_type: String::new(), xsi_type: String::new() };
        if let Some(name) = V::EXPRESSION_TYPE {
            prefixes.expression_type = qualified(prefixes.element(V::MODEL), name);
        }
        prefixes.xsi_type = qualified(prefixes.attribute(V::XSI), "type");
        prefixes
    }

    /// A prefix for a namespace that the document does not bind.
    pub(super) fn free<V: Vocabulary>(
        namespaces: &BTreeMap<String, String>,
        ns: Ns,
        taken: impl Fn(&str) -> bool,
    ) -> String {
        let usual = usual_prefix::<V>(ns);
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
    #[must_use]
    pub fn element(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, element, ..)| element.as_str())
    }

    /// The prefix for attributes of a namespace.
    #[must_use]
    pub fn attribute(&self, ns: Ns) -> &str {
        self.find(ns).map_or("", |(_, _, attribute, _)| attribute.as_str())
    }

    /// Name of the attribute `xsi:type`.
    #[must_use]
    pub fn xsi_type(&self) -> &str {
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

//! Which prefix means which namespace where.

use std::borrow::Cow;

use super::{Document, El, NONE, Names, Ns};
use crate::XmlError;
use crate::text::attribute_value;

/// Most declarations in sight of one element.
const MAX_BINDINGS: u16 = 256;
/// Most namespaces of one document.
const MAX_NAMESPACES: usize = 1024;

/// The declaration of a namespace in an element's tag.
#[derive(Debug, Clone, Copy)]
pub struct Declaration<'s> {
    /// Name of the attribute that declares it: `xmlns`, or `xmlns:` and the prefix.
    pub name: &'s str,
    /// Value as it stands in the source.
    pub raw: &'s str,
    /// The prefix that is bound; empty for the default.
    pub prefix: &'s str,
    /// The namespace.
    pub ns: Ns,
    pub(super) outer: u32,
    /// Number of declarations in scope, this one included.
    count: u16,
}

impl<'s> Declaration<'s> {
    /// The value, references resolved.
    #[must_use]
    pub fn value(&self) -> Cow<'s, str> {
        attribute_value(self.raw)
    }
}

/// A namespace that is to be bound: the attribute that says so, its prefix and its name.
pub(super) struct Binding<'s> {
    pub name: &'s str,
    pub raw: &'s str,
    pub prefix: &'s str,
    pub uri: Cow<'s, str>,
}

/// The prefix that an attribute of this name binds (empty: the default); none when it is a common attribute.
pub(super) fn declared(name: &str) -> Option<&str> {
    match name.strip_prefix("xmlns")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

impl<'s, N: Names> Document<'s, N> {
    /// Binds a prefix within the scope; returns the scope with it.
    pub(super) fn bind(&mut self, binding: Binding<'s>, outer: u32, at: usize) -> Result<u32, XmlError> {
        let Binding { name, raw, prefix, uri } = binding;
        let count = self.bindings.get(outer as usize).map_or(0, |binding| binding.count) + 1;
        if count > MAX_BINDINGS {
            let message = "More than 256 namespace declarations are in scope.";
            return Err(self.error(at, "tooManyNamespaces", message));
        }
        let known = self.namespaces.iter().position(|known| *known == uri);
        if known.is_none() && self.namespaces.len() >= MAX_NAMESPACES {
            let message = "The document uses more than 1,024 namespaces.";
            return Err(self.error(at, "tooManyNamespaces", message));
        }
        let index = known.unwrap_or_else(|| {
            self.namespaces.push(uri);
            self.namespaces.len() - 1
        });
        let ns = Ns(u16::try_from(index).unwrap_or(0));
        self.bindings.push(Declaration { name, raw, prefix, ns, outer, count });
        Ok(u32::try_from(self.bindings.len() - 1).unwrap_or(NONE))
    }

    pub(super) fn lookup(&self, prefix: &str, scope: u32) -> Option<Ns> {
        if prefix == "xml" {
            return Some(Ns::XML);
        }
        match self.in_sight(scope).find(|binding| binding.prefix == prefix) {
            Some(binding) => (prefix.is_empty() || binding.ns != Ns::NONE).then_some(binding.ns),
            None => prefix.is_empty().then_some(Ns::NONE),
        }
    }

    /// The bindings of a scope from the innermost to the outermost.
    pub(super) fn in_sight(&self, scope: u32) -> impl Iterator<Item = &Declaration<'s>> {
        let mut at = scope;
        std::iter::from_fn(move || {
            let binding = self.bindings.get(at as usize)?;
            at = binding.outer;
            Some(binding)
        })
    }

    /// The bindings of a scope up to those of another around it.
    pub(super) fn between(&self, inner: u32, outer: u32) -> impl Iterator<Item = &Declaration<'s>> {
        let more = self.bindings.get(outer as usize).map_or(0, |binding| binding.count);
        self.in_sight(inner).take_while(move |binding| binding.count > more)
    }

    /// The namespace of an element's prefix.
    pub(super) fn element_namespace(
        &mut self,
        prefix: &'s str,
        scope: u32,
        at: usize,
    ) -> Result<Ns, XmlError> {
        let (known, within, namespace) = self.recent;
        if within == scope && known == prefix {
            return Ok(namespace);
        }
        let namespace = self.resolve(prefix, scope, at)?;
        self.recent = (prefix, scope, namespace);
        Ok(namespace)
    }

    pub(super) fn resolve(&self, prefix: &str, scope: u32, at: usize) -> Result<Ns, XmlError> {
        self.lookup(prefix, scope).ok_or_else(|| {
            self.error(at, "unboundPrefix", format!("The namespace prefix {prefix:?} is not declared."))
        })
    }

    /// The URI of a namespace.
    #[must_use]
    pub fn uri(&self, ns: Ns) -> &str {
        self.namespaces.get(ns.index()).map_or("", |uri| uri)
    }

    /// The URIs of the document's namespaces by [`Ns::index`]; those that the format knows are always among them.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|uri| &**uri)
    }

    /// The namespace that the prefix (empty: none) is bound to where the element stands.
    #[must_use]
    pub fn bound(&self, el: El, prefix: &str) -> Option<&str> {
        self.lookup(prefix, self.part(el).scope).map(|ns| self.uri(ns))
    }

    /// The namespace and local name of a qualified name where the element stands.
    #[must_use]
    pub fn qualified<'v>(&self, el: El, name: &'v str) -> Option<(Ns, &'v str)> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        Some((self.lookup(prefix, self.part(el).scope)?, local))
    }

    /// The namespaces that the element's own tag declares, in order.
    #[must_use]
    pub fn declarations(&self, el: El) -> &[Declaration<'s>] {
        let part = self.part(el);
        let end = (part.scope as usize).wrapping_add(1);
        let first = end.wrapping_sub(usize::from(part.declarations));
        self.bindings.get(first..end).filter(|_| part.declarations > 0).unwrap_or_default()
    }

    /// Bindings in scope at the root from the outermost to the innermost, the surroundings' bindings first.
    #[must_use]
    pub fn root_bindings(&self) -> Vec<(&'s str, &str)> {
        let mut found: Vec<_> = self
            .in_sight(self.part(self.root()).scope)
            .map(|binding| (binding.prefix, self.uri(binding.ns)))
            .collect();
        found.reverse();
        found
    }

    /// Every declaration of the document and its surroundings.
    #[must_use]
    pub fn all_declarations(&self) -> &[Declaration<'s>] {
        &self.bindings
    }
}

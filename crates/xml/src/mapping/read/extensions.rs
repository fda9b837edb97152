//! Extension elements: the product's own data in them, and the others.

use super::{Finding, Reader};
use crate::mapping::{Vocabulary, usual_prefix};
use crate::{COMMENT, El};
use serde::de::DeserializeOwned;

/// Content of extension elements.
#[derive(Debug)]
pub struct Extensions<T> {
    /// The product's own data.
    pub data: Option<T>,
    /// The other elements.
    pub others: Vec<El>,
    /// The same as XML text, with the comments before each.
    pub fragments: Vec<String>,
}

impl<V: Vocabulary> Reader<'_, V> {
    /// Reads extension elements; none when they hold what is no element and must be kept as a whole.
    pub fn extensions<T: DeserializeOwned>(&mut self, el: El) -> Option<Extensions<T>> {
        let tree = self.tree;
        if tree.part(el).has_text {
            return None;
        }
        let mut found = Extensions { data: None, others: Vec::new(), fragments: Vec::new() };
        let mut comments = String::new();
        for child in tree.parts_of(el) {
            let element = tree.part(child);
            if element.kind == COMMENT {
                comments.push_str(&tree.fragment(child));
            } else if element.ns != V::OWN || element.local() != "data" {
                found.others.push(child);
                found.fragments.push(std::mem::take(&mut comments) + &tree.fragment(child));
            } else {
                match serde_json::from_str(&tree.text(child)) {
                    Ok(value) => found.data = Some(value),
                    Err(error) => {
                        let own = usual_prefix::<V>(V::OWN);
                        let message = format!("The element {own}:data is not understood: {error}.");
                        V::found(self, Finding { reason: "invalidData", message, element_id: None });
                    }
                }
            }
        }
        if !comments.is_empty() {
            found.fragments.last_mut()?.push_str(&comments);
        }
        Some(found)
    }

    /// Preserves the attributes of an element that is read without a row.
    pub fn keep_attributes(&mut self, el: El) {
        let tree = self.tree;
        if tree.attributes(el).is_empty() && tree.declarations(el).is_empty() {
            return;
        }
        self.enter(el, false);
        for attribute in tree.attributes(el) {
            self.keep_attribute(attribute);
        }
        self.leave();
    }
}

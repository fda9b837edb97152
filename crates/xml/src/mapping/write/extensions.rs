//! Extension elements: the product's own data in them, and the others.

use super::Writer;
use crate::UNKNOWN;
use crate::mapping::Vocabulary;
use crate::mapping::prefixes::qualified;
use crate::text::escape_text;

impl<V: Vocabulary> Writer<'_, V> {
    /// Writes extension elements: the product's own data, then the fragments.
    pub fn extensions(&mut self, data: Option<String>, fragments: Option<&[String]>) {
        let element = V::EXTENSION_ELEMENTS;
        let Some(data) = data else {
            if let Some(fragments) = fragments {
                self.enter(element, None);
                self.kept_attributes();
                fragments.iter().for_each(|fragment| self.fragment(UNKNOWN, fragment));
                self.leave();
            }
            return;
        };
        let mut kept = String::new();
        if let Some(frame) = self.frames.last_mut() {
            let children =
                frame.preserved.as_ref().map(|preserved| preserved.children.as_slice()).unwrap_or_default();
            let extensions = children.iter().filter(|child| child.kind == element);
            extensions.for_each(|child| kept.push_str(child.inner.trim()));
            frame.extensions_taken = true;
        }
        self.enter(element, None);
        self.kept_attributes();
        self.end_start_tag();
        self.indent();
        self.use_ns(V::OWN);
        let tag = qualified(self.prefixes.element(V::OWN), "data");
        self.out.push_str(&format!("<{tag}>"));
        escape_text(&data, &mut self.out);
        self.out.push_str(&format!("</{tag}>"));
        fragments.into_iter().flatten().for_each(|fragment| self.fragment(UNKNOWN, fragment));
        if !kept.is_empty() {
            self.raw(UNKNOWN, &kept);
        }
        self.leave();
    }
}

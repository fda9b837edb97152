//! The reader: maps elements to model types by their rows; content without a member is preserved for the way back.

#![expect(
    clippy::indexing_slicing,
    reason = "indices are made by the arena that they point into, which only grows"
)]

use super::document::{Bindings, decimals, shared_ids};
use super::prefixes::{Prefixes, own_name};
use super::row::{Leaf, Lexis, Row};
use super::{Vocabulary, order};
use crate::hash::{HashMap, HashSet};
use crate::text::shortest_fraction;
use crate::{COMMENT, Document, El, Ns, XmlError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

mod extensions;
mod preserve;

pub use extensions::Extensions;
use preserve::Unmapped;

/// Finding of the reader about the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Machine word: `invalidValue`, `invalidData`.
    pub reason: &'static str,
    /// One sentence for people.
    pub message: String,
    /// The id of the element that it is about.
    pub element_id: Option<String>,
}

#[derive(Debug)]
struct Frame<'s> {
    el: El,
    id: Option<Cow<'s, str>>,
    /// Whether the id is an address of its own.
    addressable: bool,
    /// Made when there is something to keep.
    keep: Option<Box<Unmapped<'s>>>,
}

/// Reads one tree.
pub struct Reader<'s, V: Vocabulary> {
    /// The tree.
    pub tree: &'s Document<'s, V>,
    /// Notes of the format.
    pub state: V::Reading<'s>,
    prefixes: Prefixes,
    target_prefixes: Vec<&'s str>,
    frames: Vec<Frame<'s>>,
    ordinals: HashMap<(El, &'s str), (El, u32)>,
    /// Which elements have been entered, so that the writer will come to them too.
    entered: Vec<bool>,
    /// Prefixes that the root will bind.
    bound: &'s BTreeMap<String, String>,
    rebound: &'s [&'s str],
    /// Ids that several elements have.
    shared_ids: HashSet<Cow<'s, str>>,
    /// Ranks of the children of the elements that are being read.
    ranks: Vec<u16>,
    preserved_content: Vec<(String, String)>,
    /// Whether whole numbers of the diagrams have a fraction.
    decimals: bool,
    muted: usize,
    nesting: usize,
}

impl<V: Vocabulary> fmt::Debug for Reader<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl<'s, V: Vocabulary> Reader<'s, V> {
    /// A reader of a tree whose prefixes are these.
    pub fn new(tree: &'s Document<'s, V>, bindings: &'s Bindings<'s>, state: V::Reading<'s>) -> Self {
        let target = tree.attribute(0, "targetNamespace").unwrap_or_default();
        let root_bindings = tree.root_bindings();
        let target_prefixes = root_bindings
            .iter()
            .filter(|(prefix, uri)| !prefix.is_empty() && *uri == target)
            .map(|(prefix, _)| *prefix);
        let Bindings { namespaces, rebound } = bindings;
        Self {
            tree,
            state,
            prefixes: Prefixes::new::<V>(namespaces, rebound),
            target_prefixes: target_prefixes.collect(),
            frames: Vec::new(),
            ordinals: HashMap::default(),
            entered: vec![false; tree.len()],
            bound: namespaces,
            rebound,
            shared_ids: shared_ids(tree),
            ranks: Vec::new(),
            preserved_content: Vec::new(),
            decimals: decimals(tree),
            muted: 0,
            nesting: 2,
        }
    }

    /// Reads the root into its model type; `marks` leaves the format's own notes for the writer.
    ///
    /// # Errors
    ///
    /// When the document nests too deep.
    pub fn root<T>(
        &mut self,
        row: &'static Row<V, T>,
        model: &mut T,
        marks: impl FnOnce(&mut Self),
    ) -> Result<(), XmlError> {
        self.enter(0, true);
        self.fill(row, model, 0)?;
        marks(self);
        self.mark_document();
        self.leave();
        Ok(())
    }

    /// The fragments of preserved content, sorted by address, and what the format noted.
    pub fn finish(mut self) -> (Vec<String>, V::Reading<'s>) {
        self.preserved_content.sort_by(|left, right| left.0.cmp(&right.0));
        (self.preserved_content.into_iter().map(|(_, fragment)| fragment).collect(), self.state)
    }

    /// Whether what is read now was read before, so that nothing is noted.
    #[must_use]
    pub fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Reads an element into a model type.
    ///
    /// # Errors
    ///
    /// When something in it nests too deep.
    pub fn read<T>(&mut self, row: &'static Row<V, T>, model: &mut T, el: El) -> Result<(), XmlError> {
        self.enter(el, row.has_id());
        self.fill(row, model, el)?;
        self.leave();
        Ok(())
    }

    /// Reads an element whose JSON nests by this many levels.
    ///
    /// # Errors
    ///
    /// When something in it nests too deep.
    pub fn read_deeper<T>(
        &mut self,
        row: &'static Row<V, T>,
        model: &mut T,
        el: El,
        levels: usize,
    ) -> Result<(), XmlError> {
        self.deepen(el, levels)?;
        self.read(row, model, el)?;
        self.nesting -= levels;
        Ok(())
    }

    /// Counts JSON levels; ten more must fit below.
    ///
    /// # Errors
    ///
    /// When they do not.
    pub fn deepen(&mut self, el: El, levels: usize) -> Result<(), XmlError> {
        self.nesting += levels;
        if self.nesting + 10 > V::MAX_NESTING {
            return Err(self.tree.error_at(el, "nestingTooDeep", V::TOO_DEEP));
        }
        Ok(())
    }

    /// Takes back what [`Self::deepen`] counted.
    pub fn undeepen(&mut self, levels: usize) {
        self.nesting -= levels;
    }

    /// Reads without keeping preserved content or noting anything.
    ///
    /// # Errors
    ///
    /// When something in it nests too deep.
    pub fn read_muted<T>(&mut self, row: &'static Row<V, T>, model: &mut T, el: El) -> Result<(), XmlError> {
        self.muted += 1;
        self.read(row, model, el)?;
        self.muted -= 1;
        Ok(())
    }

    /// Begins an element.
    pub fn enter(&mut self, el: El, has_id: bool) {
        let id = if has_id { self.tree.attribute(el, "id").filter(|id| !id.is_empty()) } else { None };
        let addressable = id.as_ref().is_some_and(|id| !id.contains('/') && !self.shared_ids.contains(id));
        let mut keep: Option<Box<Unmapped<'s>>> = None;
        if el != 0 {
            for declaration in self.tree.declarations(el) {
                let (prefix, uri) = (declaration.prefix, self.tree.uri(declaration.ns));
                let known = self.bound.get(prefix).is_some_and(|own| own == uri);
                if !prefix.is_empty() && !known && declaration.ns != V::OWN {
                    keep.get_or_insert_default().declarations.push((prefix, uri.to_owned()));
                }
            }
        }
        if self.muted == 0 {
            self.entered[el as usize] = true;
        }
        self.frames.push(Frame { el, id, addressable, keep });
    }

    /// Notes at the root what holds for the document as a whole.
    fn mark_document(&mut self) {
        if self.decimals {
            self.mark("decimals", "true".to_owned());
        }
        let [before, after] = self.tree.around();
        if !before.is_empty() {
            self.mark("prolog", before.join("\n"));
        }
        if !after.is_empty() {
            self.mark("epilog", after.join("\n"));
        }
        if !self.rebound.is_empty() {
            self.mark("rebound", self.rebound.join(" "));
        }
        if !self.shared_ids.is_empty() {
            let mut ids: Vec<&str> = self.shared_ids.iter().map(AsRef::as_ref).collect();
            ids.sort_unstable();
            if let Ok(ids) = serde_json::to_string(&ids) {
                self.mark("sharedIds", ids);
            }
        }
    }

    /// Reads the attributes and children of the element that is being read.
    ///
    /// # Errors
    ///
    /// When something in it nests too deep.
    pub fn fill<T>(&mut self, row: &'static Row<V, T>, model: &mut T, el: El) -> Result<(), XmlError> {
        let tree = self.tree;
        for attribute in tree.attributes(el) {
            if el == 0 && attribute.ns == V::OWN && V::own_attribute(self, attribute) {
                continue;
            }
            let spec = if attribute.ns == Ns::NONE { row.attribute(attribute.local()) } else { None };
            let Some(spec) = spec else {
                if !V::derives(self, attribute) {
                    self.keep_attribute(attribute);
                }
                continue;
            };
            let value = attribute.value();
            let taken = match spec.lexis {
                Lexis::Text => (spec.set)(model, value),
                Lexis::Reference => {
                    let own = self.own_name(value.clone());
                    let same = own == value;
                    (spec.set)(model, own) && same
                }
                Lexis::Number => {
                    let known = (spec.set)(model, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && self.usual_number(&value, || (spec.get)(model))
                }
                Lexis::Typed => {
                    let known = (spec.set)(model, Cow::Borrowed(&value));
                    if !known {
                        self.invalid(el, attribute.name, &value);
                    }
                    known && (canonical(&value) || (spec.get)(model).as_deref() == Some(&*value))
                }
            };
            if !taken {
                self.keep_ranked(row.attribute_rank(spec.name), attribute);
            }
        }
        self.children(row, model, el)
    }

    /// Reads the children of an element into a model type.
    fn children<T>(&mut self, row: &'static Row<V, T>, model: &mut T, el: El) -> Result<(), XmlError> {
        let tree = self.tree;
        let first_rank = self.ranks.len();
        let mut stray = if tree.part(el).has_text { tree.stray(el).collect::<Vec<_>>() } else { Vec::new() }
            .into_iter()
            .peekable();
        for child in tree.parts_of(el) {
            if stray.peek().is_some_and(|(before, _)| *before == Some(child))
                && let Some((_, text)) = stray.next()
            {
                self.keep_stray(text);
            }
            let kind = tree.part(child).kind;
            let found = if kind >= COMMENT { None } else { row.child(kind) };
            let rank = found.map_or(usize::MAX, |(rank, _)| rank);
            self.ranks.push(order::short(rank));
            let taken = match found.and_then(|(_, child)| child.read) {
                Some(read) => read(self, model, child)?,
                None => false,
            };
            if !taken {
                self.keep_child(rank, child);
            }
        }
        if let Some((_, text)) = stray.next() {
            self.keep_stray(text);
        }
        if let Some(order) = order::text(row, &self.ranks[first_rank..]) {
            self.mark("order", order);
        }
        self.ranks.truncate(first_rank);
        Ok(())
    }

    /// Whether the writer will write a number of a diagram as it stands.
    fn usual_number<'v>(&self, text: &str, print: impl FnOnce() -> Option<Cow<'v, str>>) -> bool {
        let whole = if self.decimals { text.strip_suffix(".0") } else { Some(text) };
        if let Some(whole) = whole {
            let digits = whole.strip_prefix('-').unwrap_or(whole);
            let leading = digits.len() > 1 && digits.starts_with('0');
            if digits.len() < 16 && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return !leading && whole != "-0";
            }
        }
        if shortest_fraction(text) {
            return true;
        }
        let Some(mut printed) = print() else { return false };
        if self.decimals && !printed.contains('.') {
            printed.to_mut().push_str(".0");
        }
        printed == text
    }

    fn invalid(&mut self, el: El, attribute: &str, value: &str) {
        let element = self.tree.part(el);
        let message = format!("{value:?} is no value of the attribute {attribute} of {}.", element.local());
        let element_id = self.tree.attribute(el, "id").map(Cow::into_owned);
        V::found(self, Finding { reason: "invalidValue", message, element_id });
    }

    /// The element that is being read.
    #[must_use]
    pub fn current(&self) -> El {
        self.frames.last().map_or(0, |frame| frame.el)
    }

    /// The id of the element that is being read.
    #[must_use]
    pub fn current_id(&self) -> Option<&str> {
        self.frames.last().and_then(|frame| frame.id.as_deref())
    }

    /// The element around the one that is being read.
    #[must_use]
    pub fn outer(&self) -> El {
        self.frames.iter().rev().nth(1).map_or(0, |frame| frame.el)
    }

    /// The id of the element that is being read, or of the nearest one around it that has one.
    #[must_use]
    pub fn nearest_id(&self) -> Option<&str> {
        self.frames.iter().rev().find_map(|frame| frame.id.as_deref())
    }

    /// Name of the attribute `xsi:type` in this document.
    #[must_use]
    pub fn xsi_type(&self) -> &str {
        self.prefixes.xsi_type()
    }

    /// A reference without a prefix that means the model's own namespace.
    #[must_use]
    pub fn own_name<'v>(&self, value: Cow<'v, str>) -> Cow<'v, str> {
        own_name(value, |prefix| self.target_prefixes.contains(&prefix))
    }

    /// The character data of an element.
    pub fn leaf(&mut self, el: El, style: Leaf) -> String {
        self.leaf_with(el, style, false).0
    }

    /// An expression and its language.
    pub fn expression(&mut self, el: El) -> (String, Option<String>) {
        self.leaf_with(el, Leaf::Expression, true)
    }

    fn leaf_with(&mut self, el: El, style: Leaf, with_language: bool) -> (String, Option<String>) {
        let tree = self.tree;
        self.enter(el, false);
        let mut language = None;
        let mut plain = style == Leaf::Expression && V::EXPRESSION_TYPE.is_some();
        for attribute in tree.attributes(el) {
            if style == Leaf::Expression && attribute.ns == V::XSI && attribute.local() == "type" {
                plain = false;
                let named = tree.qualified(el, attribute.raw.trim());
                if named.is_some_and(|(ns, name)| ns == V::MODEL && Some(name) == V::EXPRESSION_TYPE) {
                    continue;
                }
            }
            if with_language && attribute.ns == Ns::NONE && attribute.local() == "language" {
                language = Some(attribute.value().into_owned());
                continue;
            }
            self.keep_attribute(attribute);
        }
        if plain {
            self.mark("plain", "true".to_owned());
        }
        let raw = tree.text(el);
        let text = match style {
            Leaf::Reference => self.own_name(Cow::Borrowed(raw.trim())).into_owned(),
            Leaf::Text | Leaf::Expression => raw.clone().into_owned(),
        };
        if tree.has_parts(el) || (style == Leaf::Reference && text != raw) {
            self.mark("content", "true".to_owned());
            if let Some(frame) = self.frames.last_mut() {
                frame.keep.get_or_insert_default().inner = Some(tree.inner(el));
            }
        }
        self.leave();
        (text, language)
    }
}

/// Whether the text is surely the one that its value is written as; spares printing most numbers.
fn canonical(text: &str) -> bool {
    let digits = text.len() < 16 && text.bytes().all(|byte| byte.is_ascii_digit());
    text == "true" || text == "false" || (digits && text.len() > 1 && !text.starts_with('0'))
}

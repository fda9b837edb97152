//! From item definitions to types of FEEL with constraints (DMN 1.5, 7.3.2 and 10.3.2.9).

use std::sync::Arc;

use heddle_feel::Type;

use super::names::Document;
use super::plan::{AllowedValues, Check, ItemType, Place, Within};
use super::texts::Texts;
use crate::diagnostic;
use crate::model::{DecisionModel, ItemDefinition, UnaryTestsText};
use heddle_xml::hash::HashMap;

/// Parts of one type once every name in it is replaced by what it means.
const MAX_PARTS: usize = 2_000;
const MAX_DEPTH: usize = 40;

/// A type of FEEL by its name, or one that workflow engines use for it.
fn built_in(name: &str) -> Option<Type> {
    Some(match name {
        "Any" => Type::Any,
        "Null" | "null" => Type::Null,
        "number" => Type::Number,
        "string" => Type::String,
        "boolean" => Type::Boolean,
        "date" => Type::Date,
        "time" => Type::Time,
        "date and time" | "dateTime" | "date_time" => Type::DateTime,
        "days and time duration" | "dayTimeDuration" | "days_time_duration" => Type::DaysAndTimeDuration,
        "years and months duration" | "yearMonthDuration" | "years_months_duration" => {
            Type::YearsAndMonthsDuration
        }
        "list" => Type::List(None),
        "context" => Type::Context(Vec::new()),
        "range" => Type::Range(None),
        "function" => Type::Function(None),
        _ => return None,
    })
}

/// Names that engines of DMN 1.1 use for `number`.
fn customary(name: &str) -> Option<Type> {
    matches!(name, "integer" | "long" | "double" | "float" | "decimal" | "int" | "short")
        .then_some(Type::Number)
}

/// Whether a model is one of Camunda 7, whose type `date` is the standard's `date and time`.
fn has_timed_dates(model: &DecisionModel) -> bool {
    let camunda = model.exporter.as_deref().is_some_and(|name| name.to_ascii_lowercase().contains("camunda"));
    let source = model.source_xml.as_deref().unwrap_or_default();
    camunda && source.contains("http://camunda.org/schema/1.0/dmn") && !source.contains("Camunda Cloud")
}

/// The types of a model: item definitions by document and name.
pub(super) struct Types<'m> {
    documents: &'m [Document<'m>],
    definitions: Vec<HashMap<&'m str, &'m ItemDefinition>>,
    /// Types compiled so far, by document and name.
    known: Vec<HashMap<String, Option<Arc<ItemType>>>>,
    /// Constraints compiled so far, by the address of their text.
    tests: HashMap<*const UnaryTestsText, Option<Arc<AllowedValues>>>,
    /// The types that lie within themselves, by a name that no text can have; none until it is known.
    recursive: HashMap<Arc<str>, Option<Type>>,
    within: Within,
    /// The documents whose dates have a time of day.
    timed: Vec<bool>,
}

struct Part {
    feel: Type,
    check: Option<Check>,
}

impl Part {
    const fn plain(feel: Type) -> Self {
        Self { feel, check: None }
    }
}

impl<'m> Types<'m> {
    pub(crate) fn new(documents: &'m [Document<'m>]) -> Self {
        let by_name = |document: &Document<'m>| {
            let items = document.model.item_definitions.iter();
            items.filter_map(|item| Some((item.name.as_deref()?.trim(), item))).collect()
        };
        let definitions = documents.iter().map(by_name).collect();
        Self {
            documents,
            definitions,
            known: vec![HashMap::default(); documents.len()],
            tests: HashMap::default(),
            recursive: HashMap::default(),
            within: Within::default(),
            timed: documents.iter().map(|document| has_timed_dates(document.model)).collect(),
        }
    }

    /// Makes the types that lie within themselves known to those that name them.
    pub(crate) fn finish(self) {
        let known = self.recursive.into_iter().filter_map(|(name, kind)| Some((name, kind?)));
        self.within.tell(known.collect());
    }

    /// The item definition of that name as the document sees it, and the document that it stands in.
    fn find(&self, document: usize, name: &str) -> Option<(usize, &'m ItemDefinition)> {
        if let Some(found) = self.definitions.get(document)?.get(name) {
            return Some((document, found));
        }
        for (import, target) in &self.documents.get(document)?.imports {
            let local = if import.is_empty() { Some(name) } else { name.strip_prefix(&**import) };
            let local = local.map(|rest| if import.is_empty() { rest } else { rest.trim_start() });
            let local = if import.is_empty() { local } else { local.and_then(|rest| rest.strip_prefix('.')) };
            if let Some(local) = local
                && let Some(found) = self.definitions.get(*target)?.get(local.trim())
            {
                return Some((*target, found));
            }
        }
        None
    }

    /// The type that a reference names; `None` when there is none or it says nothing.
    pub(crate) fn reference(
        &mut self,
        document: usize,
        name: Option<&String>,
        place: &Place,
        texts: &mut Texts,
    ) -> Option<Arc<ItemType>> {
        let name = name?.trim();
        if name.is_empty() || name == "Any" {
            return None;
        }
        if let Some(known) = self.known.get(document).and_then(|known| known.get(name)) {
            return known.clone();
        }
        let mut parts = 0;
        let made = match self.resolve(document, name, 0, &mut parts, &mut Vec::new(), texts) {
            Some(part) => {
                let (name, within) = (Arc::from(name), self.within.clone());
                Some(Arc::new(ItemType { name, feel: part.feel, within, check: part.check }))
            }
            None => {
                let message = format!("There is no type {name:?}; values are not checked.");
                texts.report(diagnostic::warning("unknownType", message), place);
                None
            }
        };
        if let Some(known) = self.known.get_mut(document) {
            known.insert(name.to_owned(), made.clone());
        }
        made
    }

    /// The type that an expression of FEEL names.
    pub(crate) fn named(&mut self, document: usize, name: &str, texts: &mut Texts) -> Option<Type> {
        self.resolve(document, name, 0, &mut 0, &mut Vec::new(), texts).map(|part| finite(part.feel))
    }

    fn resolve(
        &mut self,
        document: usize,
        name: &str,
        depth: usize,
        parts: &mut usize,
        open: &mut Vec<*const ItemDefinition>,
        texts: &mut Texts,
    ) -> Option<Part> {
        match self.find(document, name) {
            Some((document, item)) => {
                // A type within itself is not looked into again but named.
                let key = || Arc::from(format!("#{document}:{name}"));
                if open.contains(&std::ptr::from_ref(item)) {
                    self.recursive.entry(key()).or_default();
                    return Some(Part::plain(Type::Named(key())));
                }
                open.push(item);
                let part = self.item(document, item, depth, parts, open, texts);
                open.pop();
                if let Some(kind @ None) = self.recursive.get_mut(&key()) {
                    *kind = Some(part.feel.clone());
                }
                Some(part)
            }
            // A `date` of Camunda 7 has a time of day.
            None if name == "date" && self.timed.get(document) == Some(&true) => {
                Some(Part::plain(Type::DateTime))
            }
            None => built_in(name).or_else(|| customary(name)).or_else(|| generic(name)).map(Part::plain),
        }
    }

    fn item(
        &mut self,
        document: usize,
        item: &'m ItemDefinition,
        depth: usize,
        parts: &mut usize,
        open: &mut Vec<*const ItemDefinition>,
        texts: &mut Texts,
    ) -> Part {
        *parts += 1;
        let place = texts.place(item.id.as_ref(), item.name.as_ref(), item.at);
        if depth >= MAX_DEPTH || *parts > MAX_PARTS {
            let message = "The type is too large to be checked as a whole.";
            texts.report(diagnostic::warning("typeTooLarge", message), &place);
            return Part::plain(Type::Any);
        }
        let mut part = if let Some(function) = &item.function_item {
            let mut kind = |name: Option<&String>, this: &mut Self, open: &mut Vec<_>| {
                name.and_then(|name| this.resolve(document, name.trim(), depth + 1, parts, open, texts))
                    .map_or(Type::Any, |part| part.feel)
            };
            let parameters =
                function.parameters.iter().map(|item| kind(item.type_ref.as_ref(), self, open)).collect();
            let result = kind(function.output_type_ref.as_ref(), self, open);
            Part::plain(Type::Function(Some((parameters, Box::new(result)))))
        } else if !item.item_components.is_empty() {
            self.components(document, item, depth, parts, open, texts)
        } else {
            let name = item.type_ref.as_deref().map_or("Any", str::trim);
            match self.resolve(document, name, depth + 1, parts, open, texts) {
                Some(part) => part,
                None => {
                    let message = format!("There is no type {name:?}; values are not checked.");
                    texts.report(diagnostic::warning("unknownType", message), &place);
                    Part::plain(Type::Any)
                }
            }
        };
        let allowed =
            item.allowed_values.as_ref().and_then(|tests| self.tests(document, tests, &place, texts));
        if let Some(allowed) = allowed {
            part.check.get_or_insert_default().tests.push(allowed);
        }
        if item.is_collection == Some(true) {
            part.feel = Type::List(Some(Box::new(part.feel)));
            part.check = part.check.map(|check| Check { items: Some(Arc::new(check)), ..Check::default() });
        }
        let constraint =
            item.type_constraint.as_ref().and_then(|tests| self.tests(document, tests, &place, texts));
        if let Some(constraint) = constraint {
            part.check.get_or_insert_default().tests.push(constraint);
        }
        part
    }

    fn components(
        &mut self,
        document: usize,
        item: &'m ItemDefinition,
        depth: usize,
        parts: &mut usize,
        open: &mut Vec<*const ItemDefinition>,
        texts: &mut Texts,
    ) -> Part {
        let mut members = Vec::with_capacity(item.item_components.len());
        let mut checks = Vec::new();
        for component in &item.item_components {
            let name: Arc<str> = Arc::from(component.name.as_deref().unwrap_or_default().trim());
            let part = self.item(document, component, depth + 1, parts, open, texts);
            if let Some(check) = part.check {
                checks.push((name.clone(), Arc::new(check)));
            }
            members.push((name, part.feel));
        }
        let check = (!checks.is_empty()).then(|| Check { members: checks, ..Check::default() });
        Part { feel: Type::Context(members), check }
    }

    fn tests(
        &mut self,
        document: usize,
        tests: &'m UnaryTestsText,
        place: &Place,
        texts: &mut Texts,
    ) -> Option<Arc<AllowedValues>> {
        let key = std::ptr::from_ref(tests);
        if let Some(known) = self.tests.get(&key) {
            return known.clone();
        }
        // Entered before it is compiled: the constraint may name the type that it belongs to.
        self.tests.insert(key, None);
        let made = texts.allowed(tests, place, &[], &mut |name, texts| self.named(document, name, texts));
        let made = made.map(Arc::new);
        self.tests.insert(key, made.clone());
        made
    }
}

/// The type with `Any` where it lies within itself, for expressions, which know the names of their texts only.
fn finite(kind: Type) -> Type {
    let inner = |kind: Box<Type>| Box::new(finite(*kind));
    match kind {
        Type::Named(_) => Type::Any,
        Type::List(item) => Type::List(item.map(inner)),
        Type::Range(end) => Type::Range(end.map(inner)),
        Type::Context(members) => {
            Type::Context(members.into_iter().map(|(name, kind)| (name, finite(kind))).collect())
        }
        Type::Function(Some((parameters, result))) => {
            Type::Function(Some((parameters.into_iter().map(finite).collect(), inner(result))))
        }
        other => other,
    }
}

/// A type written out as in FEEL: `list<number>`.
fn generic(name: &str) -> Option<Type> {
    let expression =
        heddle_feel::Expression::compile(&format!("null instance of {name}"), heddle_feel::Dialect::Standard);
    let kind = expression.ok()?.single_type()?;
    matches!(kind, Type::List(_) | Type::Range(_) | Type::Context(_) | Type::Function(_)).then_some(kind)
}

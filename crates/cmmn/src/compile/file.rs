//! Case file, roles and start events of a case.

use super::{At, Builder, local};
use crate::model;
use crate::plan::{FileItem, FileIx, Multiplicity, Role, StartEvent};
use heddle_settings::Target;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// Most case file items of a case.
const MAX_FILE_ITEMS: usize = 10_000;

impl<'m> Builder<'m> {
    /// The case file: each item behind the one around it, then what they refer to.
    pub(super) fn file(&mut self, path: &str) {
        let mut found = Vec::new();
        let items = self.case.case_file.as_ref().and_then(|file| file.items.as_deref()).unwrap_or_default();
        self.file_items(items, None, &format!("{path}.caseFile.items"), &mut found);
        let mut named: HashMap<&str, usize> = HashMap::new();
        for name in found.iter().filter_map(|(item, _)| item.name.as_deref()) {
            *named.entry(name).or_default() += 1;
        }
        for (ix, (item, _)) in found.iter().enumerate() {
            let ix = ix as FileIx;
            // Names are a second way to an item, where nothing has them as its id and only one item is called so.
            let Some(name) = item.name.as_deref().filter(|name| !name.is_empty()) else { continue };
            // An id of that name has its place already.
            if named.get(name) == Some(&1) {
                self.plan.file_ids.entry(name.into()).or_insert(ix);
            }
        }
        for (ix, (item, path)) in found.iter().enumerate() {
            let at = At { id: item.id.as_deref().unwrap_or_default(), path };
            for id in item.target_refs.iter().flatten() {
                if let Some(target) = self.file_item(at, "targetRefs", id) {
                    self.refers(ix as FileIx, target);
                }
            }
            if let Some(id) = item.source_ref.as_deref().filter(|id| !id.is_empty())
                && let Some(source) = self.file_item(at, "sourceRef", id)
            {
                self.refers(source, ix as FileIx);
            }
        }
    }

    fn refers(&mut self, source: FileIx, target: FileIx) {
        if let Some(item) = self.plan.file.get_mut(source as usize)
            && !item.targets.contains(&target)
        {
            item.targets.push(target);
        }
    }

    fn file_items(
        &mut self,
        items: &'m [model::CaseFileItem],
        parent: Option<FileIx>,
        path: &str,
        found: &mut Vec<(&'m model::CaseFileItem, String)>,
    ) {
        for (number, item) in items.iter().enumerate() {
            let path = format!("{path}[{number}]");
            let id = item.id.as_deref().unwrap_or_default();
            let at = At { id, path: &path };
            if self.plan.file.len() == MAX_FILE_ITEMS {
                let message = format!("a case file has at most {MAX_FILE_ITEMS} items");
                return self.error(at, ("tooManyItems", "5.3.2"), message);
            }
            let name = item.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(id);
            if id.is_empty() && name.is_empty() {
                self.error(at, ("missingId", "5.3.2"), "the case file item has neither id nor name");
                continue;
            }
            let id = if id.is_empty() { name } else { id };
            let ix = self.plan.file.len() as FileIx;
            let multiplicity = self.multiplicity(at, item.multiplicity.as_deref());
            let properties = self.properties(at, item.definition_ref.as_deref());
            let item_id: Arc<str> = id.into();
            self.plan.file.push(FileItem {
                id: Arc::clone(&item_id),
                name: name.into(),
                parent,
                children: Vec::new(),
                targets: Vec::new(),
                multiplicity,
                properties,
            });
            self.plan.file_ids.entry(item_id).or_insert(ix);
            if let Some(around) = parent.and_then(|parent| self.plan.file.get_mut(parent as usize)) {
                around.children.push(ix);
            }
            found.push((item, path.clone()));
            let children = item.children.as_deref().unwrap_or_default();
            self.file_items(children, Some(ix), &format!("{path}.children"), found);
        }
    }

    fn multiplicity(&mut self, at: At<'_>, word: Option<&str>) -> Multiplicity {
        match word {
            None | Some("" | "Unspecified") => Multiplicity::Unspecified,
            Some("ZeroOrOne") => Multiplicity::ZeroOrOne,
            Some("ZeroOrMore") => Multiplicity::ZeroOrMore,
            Some("ExactlyOne") => Multiplicity::ExactlyOne,
            Some("OneOrMore") => Multiplicity::OneOrMore,
            Some("Unknown") => Multiplicity::Unknown,
            Some(other) => {
                let message = format!("multiplicity: {other:?} is no word of the standard");
                self.error(at, ("unknownValue", "5.3.2"), message);
                Multiplicity::Unspecified
            }
        }
    }

    /// Names and types of the properties of an item's definition.
    fn properties(&mut self, at: At<'_>, reference: Option<&str>) -> Vec<(Arc<str>, Option<Arc<str>>)> {
        let Some(reference) = reference.filter(|reference| !reference.is_empty()) else { return Vec::new() };
        let definition = self.definition;
        let definitions = definition.case_file_item_definitions.as_deref().unwrap_or_default();
        let found = [reference, local(reference)]
            .into_iter()
            .find_map(|id| definitions.iter().find(|own| own.id.as_deref() == Some(id)));
        let Some(found) = found else {
            // A name of another namespace may be that of an imported document.
            if !reference.contains(':') {
                let message = format!("definitionRef: there is no case file item definition {reference:?}");
                self.error(at, ("danglingReference", "5.1.3"), message);
            }
            return Vec::new();
        };
        let named = found.properties.iter().flatten().filter_map(|property| {
            let name = property.name.as_deref().or(property.id.as_deref())?;
            Some((Arc::from(name), property.r#type.as_deref().map(Arc::from)))
        });
        named.collect()
    }

    /// Case roles.
    pub(super) fn roles(&mut self, path: &str) {
        for (number, role) in self.case.roles.iter().flatten().enumerate() {
            let id = role.id.as_deref().unwrap_or_default();
            let name = role.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).unwrap_or(id);
            if name.is_empty() {
                let path = format!("{path}.roles[{number}]");
                let at = At { id, path: &path };
                self.error(at, ("missingId", "5.2.2"), "the role has neither id nor name");
                continue;
            }
            let id = if id.is_empty() { name } else { id };
            self.plan.roles.push(Role { id: id.into(), name: name.into() });
        }
    }

    /// Ids of the roles that references name; told of where there is no such role.
    pub(super) fn role_ids(&mut self, at: At<'_>, member: &str, references: &[String]) -> Vec<Arc<str>> {
        let mut found = Vec::new();
        for reference in references.iter().flat_map(|own| own.split_whitespace()) {
            match self.plan.roles.iter().find(|role| &*role.id == reference) {
                Some(role) => found.push(Arc::clone(&role.id)),
                None => {
                    let message = format!("{member}: the case has no role {reference:?}");
                    self.error(at, ("danglingReference", "5.2.2"), message);
                }
            }
        }
        found
    }

    /// Events from outside that start the case: `startEvents` of its configuration or of its case plan model's, each a
    /// type or `{eventType, target}`.
    pub(super) fn starts(&mut self, at: At<'_>) {
        let case = self.case;
        if let Some(settings) = case.configuration.as_ref() {
            let known = ["initiator", "businessStatus", "startEvents", "listeners"];
            self.only_settings(at, settings, "a case", &[&known]);
        }
        let model = case.case_plan_model.as_deref().and_then(|own| own.configuration.as_ref());
        for settings in [case.configuration.as_ref(), model].into_iter().flatten() {
            let events = match settings.get("startEvents") {
                None | Some(Value::Null) => continue,
                Some(Value::Array(events)) => events,
                Some(_) => {
                    let message =
                        "configuration.startEvents: must be an array of texts or of {eventType, target}";
                    self.error(at, ("wrongSetting", "5.2"), message);
                    continue;
                }
            };
            for (number, event) in events.iter().enumerate() {
                self.start(at, number, event);
            }
        }
    }

    fn start(&mut self, at: At<'_>, number: usize, event: &Value) {
        let wrong = match start(event) {
            Ok(found) if self.plan.starts.iter().any(|own| own.event_type == found.event_type) => {
                format!("`{}` is there twice", found.event_type)
            }
            Ok(found) => return self.plan.starts.push(found),
            Err(message) => message.to_owned(),
        };
        let message = format!("configuration.startEvents[{number}]: {wrong}");
        self.error(at, ("wrongSetting", "5.2"), message);
    }
}

/// A start event: a text, or `{eventType, target}`.
fn start(event: &Value) -> Result<StartEvent, &'static str> {
    let wrong = "must be a text or {eventType, target}";
    let (name, target) = match event {
        Value::String(name) => (name.as_str(), None),
        Value::Object(members) => {
            if members.keys().any(|name| !matches!(name.as_str(), "eventType" | "target")) {
                return Err(wrong);
            }
            (members.get("eventType").and_then(Value::as_str).ok_or(wrong)?, members.get("target"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => return Err(wrong),
    };
    if name.trim().is_empty() {
        return Err(wrong);
    }
    let target = match target {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => {
            Some(Target::read(name).ok_or("target: must be the name of a variable")?)
        }
        Some(_) => return Err("target: must be the name of a variable"),
    };
    Ok(StartEvent { event_type: name.trim().into(), target })
}

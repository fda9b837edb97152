//! Mapping of a vendor's word to members of a node's `configuration`.

use super::table::ZEEBE;
use super::{Context, Map, Members, Word, form, vendor_of};
use crate::juel;
use crate::xml::tree::{El, Tree};
use heddle_kernel::IsoDuration;
use serde_json::{Map as Object, Value, json};

/// Most nested lists and maps of one mapping.
const MAX_DEPTH: usize = 16;

/// One word at its place.
pub(super) struct Place<'t, 's> {
    pub tree: &'t Tree<'s>,
    /// The element that has the attribute, or the extension element.
    pub el: El,
    pub vendor: u8,
    pub word: &'static Word,
    /// Position among the element's extensions.
    pub order: usize,
}

impl Place<'_, '_> {
    /// The value of an unprefixed attribute.
    pub(super) fn own(&self, name: &str) -> Option<String> {
        own(self.tree, self.el, name)
    }

    /// The value of an attribute of the same vendor beside this one.
    fn beside(&self, name: &str) -> Option<String> {
        let same = |ns| vendor_of(self.tree.uri(ns)) == Some(self.vendor);
        let mut all = self.tree.attributes(self.el).iter();
        all.find(|other| other.local() == name && same(other.ns)).map(|found| found.value().into_owned())
    }

    fn text(&self, text: &str) -> Result<Value, String> {
        text_of(self.vendor, text)
    }

    /// Members that an attribute becomes, or the reason for none.
    pub(super) fn attribute(&self, value: &str) -> Result<Members, String> {
        let member = self.word.becomes.first().copied().unwrap_or_default();
        let value = value.trim();
        if value.is_empty() {
            return Ok(Vec::new());
        }
        if value == "$INITIATOR" && self.vendor != ZEEBE {
            return Err("no variable takes who started the run".to_owned());
        }
        let found = match self.word.map {
            Map::Text | Map::Due => self.text(value)?,
            Map::List => list(self.vendor, value)?,
            Map::Priority => priority(self.vendor, value)?,
            Map::Flag => flag(value)?.into(),
            Map::Binding => binding(value)?.into(),
            Map::SameDeployment => if flag(value)? { "deployment" } else { "latest" }.into(),
            Map::DecisionResult => match value {
                "singleEntry" | "singleResult" | "collectEntries" | "resultList" => value.into(),
                other => return Err(format!("`{other}` is no shape of a decision's result")),
            },
            Map::Decision => {
                let mut members = vec![("kind", "dmn".into()), (member, self.text(value)?)];
                // Without a shape the other engine gives a list of contexts.
                if self.beside("mapDecisionResult").is_none() {
                    members.push(("resultMapping", "resultList".into()));
                }
                return Ok(members);
            }
            Map::Collection => json!({"collection": variable(self.vendor, value)?}),
            Map::LoopItem => json!({"item": value}),
            Map::Unless(usual) if value == usual => return Ok(Vec::new()),
            Map::InheritKey if !flag(value)? => return Ok(Vec::new()),
            Map::InheritKey => return Err("the business key of the calling run is no variable".to_owned()),
            Map::TaskType => return self.task_type(value),
            Map::Topic => {
                if !self.beside("type").is_some_and(|own| external(&own)) {
                    return Err("a topic counts for external tasks only".to_owned());
                }
                self.text(value)?
            }
            _ => return Err(self.word.reason.trim_end_matches('.').to_owned()),
        };
        Ok(vec![(member, found)])
    }

    fn task_type(&self, value: &str) -> Result<Members, String> {
        if !external(value) {
            return Err(format!("`{value}` is a built-in task of the other engine"));
        }
        // The topic gives the member.
        if self.beside("topic").is_some() { Ok(Vec::new()) } else { Err("the task has no topic".to_owned()) }
    }

    /// Members that an extension element becomes, or the reason for none.
    pub(super) fn element(&self, context: &Context) -> Result<Members, String> {
        match self.word.map {
            Map::Same => Ok(Vec::new()),
            Map::Assignment => self.assignment(),
            Map::Schedule => self.texts(&[("dueDate", "dueDate"), ("followUpDate", "followUpDate")]),
            Map::PriorityDefinition => match self.own("priority") {
                Some(value) => Ok(vec![("priority", priority(self.vendor, value.trim())?)]),
                None => Ok(Vec::new()),
            },
            Map::Subscription => self.texts(&[("correlationKey", "correlationKey")]),
            Map::TaskDefinition => self.task_definition(),
            Map::Headers => self.headers(),
            Map::Retry => Ok(vec![("retry", retry(self.tree.text(self.el).trim())?)]),
            Map::Script => self.script(),
            Map::CalledDecision => self.called_decision(),
            Map::CalledElement => self.called_element(),
            Map::Loop => self.repeated(),
            Map::IoMapping => self.mappings(|place, child| {
                let missing = || "a mapping has no source or no target".to_owned();
                let source = own(place.tree, child, "source").ok_or_else(missing)?;
                let target = own(place.tree, child, "target").ok_or_else(missing)?;
                Ok((target, place.text(source.trim())?))
            }),
            Map::InputOutput => self.mappings(|place, child| {
                let name = own(place.tree, child, "name").ok_or("a parameter has no name")?;
                Ok((name, parameter(place, child, 0)?))
            }),
            Map::In => self.passed("inputs", "propagateAllInputs"),
            Map::Out => self.passed("outputs", "propagateAllOutputs"),
            Map::FormData => form::data(self),
            Map::FormProperty => form::property(self),
            Map::FormDefinition => form::definition(self, context),
            _ => Err(self.word.reason.to_owned()),
        }
    }

    /// Attributes as members, each a text or an expression.
    fn texts(&self, pairs: &[(&str, &'static str)]) -> Result<Members, String> {
        let mut members = Members::new();
        for (attribute, member) in pairs {
            if let Some(value) = self.own(attribute).filter(|value| !value.trim().is_empty()) {
                members.push((member, self.text(value.trim())?));
            }
        }
        Ok(members)
    }

    fn assignment(&self) -> Result<Members, String> {
        let mut members = self.texts(&[("assignee", "assignee")])?;
        for member in ["candidateUsers", "candidateGroups"] {
            if let Some(value) = self.own(member).filter(|value| !value.trim().is_empty()) {
                members.push((member, list(self.vendor, value.trim())?));
            }
        }
        Ok(members)
    }

    fn task_definition(&self) -> Result<Members, String> {
        let mut members = self.texts(&[("type", "jobType")])?;
        if members.is_empty() {
            return Err("the job has no type".to_owned());
        }
        if let Some(retries) = self.own("retries").filter(|retries| !retries.trim().is_empty()) {
            let most = match retries.trim().parse::<u32>() {
                Ok(most) => most.into(),
                Err(_) if retries.trim().starts_with('=') => self.text(retries.trim())?,
                Err(_) => return Err(format!("`{retries}` is no number of attempts")),
            };
            members.push(("retry", json!({"maxAttempts": most})));
        }
        Ok(members)
    }

    fn headers(&self) -> Result<Members, String> {
        let mut headers = Object::new();
        for child in self.tree.parts_of(self.el).filter(|&child| self.tree.part(child).local() == "header") {
            let key = own(self.tree, child, "key").ok_or("a header has no key")?;
            headers.insert(key, own(self.tree, child, "value").unwrap_or_default().into());
        }
        Ok(vec![("headers", Value::Object(headers))])
    }

    fn script(&self) -> Result<Members, String> {
        let source = self.own("expression").unwrap_or_default();
        let Some(feel) = source.trim().strip_prefix('=') else {
            return Err("the script is no FEEL expression".to_owned());
        };
        let mut members = vec![("kind", "feel".into()), ("source", feel.trim().into())];
        members.extend(self.texts(&[("resultVariable", "resultVariable")])?);
        Ok(members)
    }

    fn called_decision(&self) -> Result<Members, String> {
        let mut members =
            self.texts(&[("decisionId", "decisionRef"), ("resultVariable", "resultVariable")])?;
        if members.first().is_none_or(|(member, _)| *member != "decisionRef") {
            return Err("it names no decision".to_owned());
        }
        members.push(("kind", "dmn".into()));
        self.bound(&mut members)?;
        Ok(members)
    }

    fn called_element(&self) -> Result<Members, String> {
        let mut members = self.texts(&[("processId", "ref")])?;
        if let Some(expression) = self.own("processIdExpression").filter(|_| members.is_empty()) {
            members.push(("ref", format!("={}", expression.trim().trim_start_matches('=')).into()));
        }
        if members.is_empty() {
            return Err("it names no process".to_owned());
        }
        members.push(("kind", "workflow".into()));
        for (attribute, member) in [
            ("propagateAllParentVariables", "propagateAllInputs"),
            ("propagateAllChildVariables", "propagateAllOutputs"),
        ] {
            // Absent is true to the other engine.
            let all = self.own(attribute).map_or(Ok(true), |value| flag(value.trim()))?;
            members.push((member, all.into()));
        }
        members.extend(self.texts(&[("businessId", "businessKey")])?);
        self.bound(&mut members)?;
        Ok(members)
    }

    fn bound(&self, members: &mut Members) -> Result<(), String> {
        if let Some(value) = self.own("bindingType").filter(|value| !value.trim().is_empty()) {
            members.push(("versionPolicy", binding(value.trim())?.into()));
        }
        members.extend(self.texts(&[("versionTag", "versionTag")])?);
        Ok(())
    }

    fn repeated(&self) -> Result<Members, String> {
        let mut found = Object::new();
        for (attribute, member) in [
            ("inputCollection", "collection"),
            ("inputElement", "item"),
            ("outputCollection", "outputCollection"),
            ("outputElement", "outputItem"),
        ] {
            if let Some(value) = self.own(attribute).filter(|value| !value.trim().is_empty()) {
                found.insert(member.to_owned(), self.text(value.trim())?);
            }
        }
        Ok(vec![("loop", Value::Object(found))])
    }

    /// Input and output mappings in their order.
    fn mappings(
        &self,
        read: impl Fn(&Self, El) -> Result<(String, Value), String>,
    ) -> Result<Members, String> {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for child in self.tree.parts_of(self.el) {
            let (name, value) = read(self, child)?;
            let mapping = json!({"name": name, "value": value});
            if self.tree.part(child).local().starts_with("in") {
                inputs.push(mapping)
            } else {
                outputs.push(mapping)
            }
        }
        let mut members = Members::new();
        members.extend((!inputs.is_empty()).then_some(("inputs", Value::Array(inputs))));
        members.extend((!outputs.is_empty()).then_some(("outputs", Value::Array(outputs))));
        Ok(members)
    }

    /// Variables that pass between a process and one that it calls.
    fn passed(&self, list: &'static str, all: &'static str) -> Result<Members, String> {
        for refused in ["local", "transient"] {
            if self.own(refused).is_some_and(|value| value.trim() == "true") {
                return Err(format!("`{refused}` has no counterpart"));
            }
        }
        if let Some(key) = self.own("businessKey") {
            let inner = key.trim().trim_start_matches(['#', '$']).trim_matches(['{', '}']).trim();
            if matches!(inner, "execution.processBusinessKey" | "execution.businessKey") {
                return Err("the business key of the calling run is no variable".to_owned());
            }
            return Ok(vec![("businessKey", self.text(key.trim())?)]);
        }
        if let Some(variables) = self.own("variables") {
            return if variables.trim() == "all" {
                Ok(vec![(all, true.into())])
            } else {
                Err(format!("`{variables}` is not `all`"))
            };
        }
        let target = self.own("target").ok_or("it has no target, or a computed one")?;
        let value = match (self.own("source"), self.own("sourceExpression")) {
            (Some(source), _) => variable(self.vendor, source.trim())?,
            (None, Some(expression)) => self.text(expression.trim())?,
            (None, None) => return Err("it has no source".to_owned()),
        };
        Ok(vec![(list, json!([{"name": target.trim(), "value": value}]))])
    }
}

/// The value of an unprefixed attribute.
pub(super) fn own(tree: &Tree<'_>, el: El, name: &str) -> Option<String> {
    tree.attribute(el, name).map(|value| value.into_owned())
}

/// A literal text, or an expression as a text that begins with `=`.
pub(super) fn text_of(vendor: u8, text: &str) -> Result<Value, String> {
    let begins = text.trim_start().starts_with('=');
    if vendor == ZEEBE && begins {
        return Ok(text.trim().into());
    }
    if vendor != ZEEBE && juel::is_juel(text) {
        return match juel::value(text) {
            Ok(feel) => Ok(format!("={feel}").into()),
            Err(error) => Err(format!("`{}` is not translated to FEEL: {error}", text.trim())),
        };
    }
    Ok(if begins { format!("={}", juel::string(text)).into() } else { text.into() })
}

/// The name of a variable, or an expression, as an expression.
fn variable(vendor: u8, text: &str) -> Result<Value, String> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if juel::is_juel(text) || text.starts_with('=') {
        return text_of(vendor, text);
    }
    if !text.starts_with(|first: char| first.is_ascii_digit()) && !text.is_empty() && text.chars().all(plain)
    {
        return Ok(format!("={text}").into());
    }
    Err(format!("`{text}` is not the name of a variable"))
}

fn list(vendor: u8, value: &str) -> Result<Value, String> {
    if juel::is_juel(value) || value.starts_with('=') {
        if vendor != ZEEBE && value.contains(',') && !single(value) {
            return Err("a list of names and expressions is not translated".to_owned());
        }
        return text_of(vendor, value);
    }
    let parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
    Ok(parts.map(|part| Value::String(part.to_owned())).collect())
}

/// Whether a text is one JUEL expression alone.
fn single(value: &str) -> bool {
    value.matches(['$', '#']).count() == 1 && value.ends_with('}') && value.starts_with(['$', '#'])
}

fn priority(vendor: u8, value: &str) -> Result<Value, String> {
    let range = || format!("`{value}` is no whole number from 0 to 100");
    if juel::is_juel(value) || value.starts_with('=') {
        return text_of(vendor, value);
    }
    value.parse::<i64>().ok().filter(|own| (0..=100).contains(own)).map(Value::from).ok_or_else(range)
}

pub(super) fn flag(value: &str) -> Result<bool, String> {
    match value.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}

fn external(value: &str) -> bool {
    matches!(value.trim(), "external" | "external-worker")
}

fn binding(value: &str) -> Result<&'static str, String> {
    match value {
        "latest" => Ok("latest"),
        "deployment" => Ok("deployment"),
        "version" | "versionTag" => Ok("pinned"),
        other => Err(format!("`{other}` says nothing about versions")),
    }
}

/// `Rn/PT…` as attempts with one distance; other lists of ISO 8601 texts as they are.
fn retry(text: &str) -> Result<Value, String> {
    if text.is_empty() || juel::is_juel(text) {
        return Err(format!("`{text}` is no ISO 8601 text"));
    }
    let regular = text.strip_prefix('R').and_then(|rest| rest.split_once('/'));
    let Some((count, pause)) = regular.filter(|_| !text.contains(',')) else {
        let each = |part: &str| IsoDuration::parse(part.trim()).is_some();
        return if text.split(',').all(each) {
            Ok(text.into())
        } else {
            Err(format!("`{text}` is no ISO 8601 text"))
        };
    };
    let wrong = || format!("`{text}` is no ISO 8601 text such as R3/PT10S");
    let count = count.parse::<u32>().ok().ok_or_else(wrong)?;
    let nanos = IsoDuration::parse(pause).and_then(|pause| pause.nanos()).ok_or_else(wrong)?;
    let seconds = nanos as f64 / 1e9;
    let seconds = if seconds.fract() == 0.0 { Value::from(seconds as i64) } else { Value::from(seconds) };
    Ok(json!({"maxAttempts": count, "initialSeconds": seconds, "multiplier": 1}))
}

/// The content of a parameter: text, list or map.
fn parameter(place: &Place<'_, '_>, el: El, depth: usize) -> Result<Value, String> {
    let tree = place.tree;
    if depth > MAX_DEPTH {
        return Err("lists and maps nest too deep".to_owned());
    }
    let Some(inner) = tree.parts_of(el).next() else {
        let text = tree.text(el);
        return if text.trim().is_empty() { Ok(Value::Null) } else { place.text(text.trim()) };
    };
    match tree.part(inner).local() {
        "list" => tree
            .children(inner)
            .map(|item| match tree.part(item).local() {
                "value" => place.text(tree.text(item).trim()),
                // The item stands where a parameter's content would.
                _ => nested(place, item, depth + 1),
            })
            .collect(),
        "map" => {
            let mut found = Object::new();
            for entry in tree.parts_of(inner) {
                let key = own(tree, entry, "key").ok_or("an entry has no key")?;
                if juel::is_juel(&key) {
                    return Err("a computed key of a map is not translated".to_owned());
                }
                found.insert(key, parameter(place, entry, depth + 1)?);
            }
            Ok(Value::Object(found))
        }
        other => Err(format!("a `{other}` computes the value")),
    }
}

/// A list or map within a list.
fn nested(place: &Place<'_, '_>, el: El, depth: usize) -> Result<Value, String> {
    match place.tree.part(el).local() {
        "list" if depth <= MAX_DEPTH => place
            .tree
            .children(el)
            .map(|item| match place.tree.part(item).local() {
                "value" => place.text(place.tree.text(item).trim()),
                _ => nested(place, item, depth + 1),
            })
            .collect(),
        other => Err(format!("a `{other}` within a list is not translated")),
    }
}

//! Mapping of a vendor's word to members of a node's `configuration`.

use super::table::ZEEBE;
use super::{Context, Map, Members, Word, form, listeners, vendor_of};
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
        let found: Value = match self.word.map {
            // The variable that Flowable's modeler names at the start event by default.
            Map::Text | Map::List if value == "$INITIATOR" && self.vendor != ZEEBE => "=initiator".into(),
            Map::Text | Map::Due => self.text(value)?,
            Map::Name => name_of(value)?.into(),
            Map::Class => format!("java:{value}").into(),
            Map::Delegate => format!("delegate:{value}").into(),
            Map::CodeExpression => format!("expression:{value}").into(),
            Map::Expression => return Ok(self.computed(value)),
            Map::Case => format!("case:{value}").into(),
            Map::Result if self.gives_result() => value.into(),
            Map::Result => return Ok(vec![("headers", json!({"resultVariable": value}))]),
            Map::JobPriority => job_priority(self.vendor, value)?,
            Map::Commit if !flag(value)? => return Ok(Vec::new()),
            Map::Commit => true.into(),
            Map::Header => json!({(self.word.name): value}),
            Map::Rules => {
                return Ok(vec![
                    ("jobType", "task:rules".into()),
                    ("headers", json!({(self.word.name): value})),
                ]);
            }
            // The engines of that descent count from 0, and so does the counter.
            Map::LoopIndex => json!([{"name": name_of(value)?, "value": "=loopCounter"}]),
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
            Map::LoopItem => json!({"elementVariable": value}),
            Map::Unless(usual) if value == usual => return Ok(Vec::new()),
            Map::InheritKey if !flag(value)? => return Ok(Vec::new()),
            Map::InheritKey => true.into(),
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
            return Ok(vec![("jobType", format!("task:{value}").into())]);
        }
        // The topic gives the member.
        if self.beside("topic").is_some() { Ok(Vec::new()) } else { Err("the task has no topic".to_owned()) }
    }

    /// An expression that stands for the work of a task: FEEL where it computes, else a job.
    fn computed(&self, value: &str) -> Members {
        match juel::value(value) {
            Ok(feel) => vec![("kind", "feel".into()), ("source", feel.into())],
            Err(_) => vec![("jobType", format!("expression:{value}").into())],
        }
    }

    /// Whether the work of the task gives a result here, rather than a worker.
    fn gives_result(&self) -> bool {
        self.beside("decisionRef").is_some()
            || self.beside("expression").is_some_and(|own| juel::value(&own).is_ok())
    }

    /// Members that an extension element becomes, or the reason for none.
    pub(super) fn element(&self, context: &Context) -> Result<Members, String> {
        match self.word.map {
            Map::Same => Ok(Vec::new()),
            Map::Assignment => self.assignment(),
            Map::Schedule => self.texts(&[("dueDate", "dueDate"), ("followUpDate", "followUpDate")]),
            Map::Field => self.field(),
            Map::Connector => self.connector(),
            Map::HeaderText => {
                Ok(vec![("headers", json!({(self.word.name): self.tree.text(self.el).trim()}))])
            }
            Map::Correlation => {
                let name = self.own("name").ok_or("a parameter has no name")?;
                let key = format!("{}.{name}", self.word.name);
                Ok(vec![("headers", json!({(key): self.own("value").unwrap_or_default()}))])
            }
            Map::SignalIn => {
                let (target, value) = self.source_and_target()?;
                Ok(vec![("payload", json!({(target): value}))])
            }
            Map::EventIn | Map::EventOut => {
                if self.own("transient").is_some_and(|own| own.trim() == "true") {
                    return Err("`transient` has no counterpart".to_owned());
                }
                let member = if self.word.map == Map::EventIn { "inputs" } else { "outputs" };
                let (target, value) = self.source_and_target()?;
                Ok(vec![(member, json!([{"name": target, "value": value}]))])
            }
            Map::Aggregation => self.aggregation(),
            Map::AdHoc => {
                if self.own("outputCollection").is_some() || self.own("outputElement").is_some() {
                    return Err("what the inner activities give is not gathered".to_owned());
                }
                self.texts(&[("activeElementsCollection", "activeElements")])
            }
            Map::Listener => listeners::one(self),
            Map::Listeners => listeners::several(self),
            Map::JobPriority => match self.own("priority") {
                Some(value) => Ok(vec![("priority", job_priority(self.vendor, value.trim())?)]),
                None => Ok(Vec::new()),
            },
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
            Map::InputOutput => self.parameters(self.el, false),
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
            ("inputElement", "elementVariable"),
            ("outputCollection", "outputCollection"),
            ("outputElement", "outputElement"),
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
            if ["variables", "source", "sourceExpression"].iter().any(|own| self.own(own).is_some()) {
                return Err("a business key stands in an element of its own".to_owned());
            }
            let inner = key.trim().trim_start_matches(['#', '$']).trim_matches(['{', '}']).trim();
            if matches!(inner, "execution.processBusinessKey" | "execution.businessKey") {
                return Ok(vec![("inheritBusinessKey", true.into())]);
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
        let (target, value) = self.source_and_target()?;
        Ok(vec![(list, json!([{"name": target, "value": value}]))])
    }

    /// Target and value of a parameter.
    fn source_and_target(&self) -> Result<(String, Value), String> {
        if self.own("targetExpression").is_some_and(|own| !own.trim().is_empty()) {
            return Err("`targetExpression` computes its target".to_owned());
        }
        let source = self.own("source").map(|own| own.trim().to_owned());
        let target = self.own("target").map(|own| own.trim().to_owned()).or_else(|| {
            // Some parameters keep the name that they have.
            source.clone().filter(|own| !juel::is_juel(own))
        });
        let target = target.ok_or("it has no target, or a computed one")?;
        let value = match (source, self.own("sourceExpression")) {
            (Some(source), _) => variable(self.vendor, &source)?,
            (None, Some(expression)) => self.text(expression.trim())?,
            (None, None) => return Err("it has no source".to_owned()),
        };
        Ok((target, value))
    }

    /// The variables that the instances of a loop give.
    fn aggregation(&self) -> Result<Members, String> {
        for refused in ["targetExpression", "class", "delegateExpression"] {
            if self.own(refused).is_some() {
                return Err(format!("`{refused}` computes what is gathered"));
            }
        }
        for refused in ["storeAsTransientVariable", "createOverviewVariable"] {
            if self.own(refused).is_some_and(|own| own.trim() == "true") {
                return Err(format!("`{refused}` has no counterpart"));
            }
        }
        let target = self.own("target").ok_or("it has no target")?;
        let mut entries = Vec::new();
        for child in self.tree.parts_of(self.el) {
            let inner = Place { el: child, ..*self };
            let (name, value) = inner.source_and_target()?;
            entries.push((name, value));
        }
        let element = format!("={}", context_of(&entries));
        Ok(vec![("loop", json!({"outputCollection": name_of(target.trim())?, "outputElement": element}))])
    }

    /// A field: a header, or an input where it is computed.
    fn field(&self) -> Result<Members, String> {
        let (name, text) = field(self.tree, self.el)?;
        match juel::is_juel(&text).then(|| juel::value(&text)) {
            Some(Ok(feel)) => Ok(vec![("inputs", json!([{"name": name, "value": format!("={feel}")}]))]),
            _ => Ok(vec![("headers", json!({(name): text}))]),
        }
    }

    /// A connector: a job of its id.
    fn connector(&self) -> Result<Members, String> {
        let part = |name: &'static str| {
            self.tree.parts_of(self.el).filter(move |&child| self.tree.part(child).local() == name)
        };
        let id = part("connectorId").next().map(|el| self.tree.text(el).trim().to_owned());
        let id = id.filter(|id| !id.is_empty()).ok_or("the connector has no id")?;
        let mut members: Members = vec![("jobType", format!("connector:{id}").into())];
        for mapping in part("inputOutput") {
            members.extend(self.parameters(mapping, true)?);
        }
        Ok(members)
    }

    /// Input and output parameters. What is no FEEL among them is a job of its own before or behind the work; the outputs
    /// of a job are left to its worker, as headers.
    fn parameters(&self, mapping: El, of_a_job: bool) -> Result<Members, String> {
        let mut found = Parameters::default();
        for child in self.tree.parts_of(mapping) {
            let name = own(self.tree, child, "name").ok_or("a parameter has no name")?;
            let input = self.tree.part(child).local().starts_with("in");
            match (parameter(self, child, 0), input) {
                // What comes behind a job may read what its worker gave.
                (Ok(value), true) if found.before_work => {
                    let feel = feel_of(&value);
                    found.listeners.push(json!({"on": "start", "source": feel, "resultVariable": name}));
                }
                (Ok(value), true) => found.inputs.push(json!({"name": name, "value": value})),
                (Ok(value), false) => found.outputs.push(json!({"name": name, "value": value})),
                (Err(_), true) => {
                    found.before_work = true;
                    found.listeners.push(self.worker(child, "start", &name)?);
                }
                (Err(_), false) if of_a_job => {
                    found.headers.insert(format!("output.{name}"), source_of(self.tree, child).into());
                    found.outputs.push(json!({"name": name, "value": variable(self.vendor, &name)?}));
                }
                (Err(_), false) => found.listeners.push(self.worker(child, "end", &name)?),
            }
        }
        Ok(found.members())
    }

    /// The job that computes a parameter.
    fn worker(&self, parameter: El, on: &str, name: &str) -> Result<Value, String> {
        let script = self.tree.parts_of(parameter).next();
        let script = script.filter(|&own| self.tree.part(own).local() == "script");
        let Some(script) = script else {
            let source = source_of(self.tree, parameter);
            if !juel::is_juel(&source) {
                return Err("a computed list or map is not translated".to_owned());
            }
            let headers = json!({"resultVariable": name});
            return Ok(json!({"on": on, "jobType": format!("expression:{source}"), "headers": headers}));
        };
        let (job_type, mut headers) = listeners::script_job(self.tree, script);
        headers.insert("resultVariable".to_owned(), name.into());
        Ok(json!({"on": on, "jobType": job_type, "headers": headers}))
    }
}

/// Settings that parameters become.
#[derive(Default)]
struct Parameters {
    inputs: Vec<Value>,
    outputs: Vec<Value>,
    listeners: Vec<Value>,
    headers: Object<String, Value>,
    /// Whether a job before the work computes an input.
    before_work: bool,
}

impl Parameters {
    fn members(self) -> Members {
        let mut members = Members::new();
        for (member, list) in
            [("inputs", self.inputs), ("outputs", self.outputs), ("listeners", self.listeners)]
        {
            members.extend((!list.is_empty()).then_some((member, Value::Array(list))));
        }
        members.extend((!self.headers.is_empty()).then_some(("headers", Value::Object(self.headers))));
        members
    }
}

/// The text of a parameter or of the script in it.
fn source_of(tree: &Tree<'_>, el: El) -> String {
    let inner = tree.parts_of(el).next().unwrap_or(el);
    let text = tree.text(inner).trim().to_owned();
    if text.is_empty() { own(tree, inner, "resource").unwrap_or_default() } else { text }
}

/// Name and text of a field.
pub(super) fn field(tree: &Tree<'_>, el: El) -> Result<(String, String), String> {
    let name = own(tree, el, "name").ok_or("a field has no name")?;
    let given = own(tree, el, "stringValue").or_else(|| own(tree, el, "expression"));
    let inner = || tree.parts_of(el).next().map(|child| tree.text(child).trim().to_owned());
    Ok((name, given.or_else(inner).unwrap_or_default()))
}

/// A setting as FEEL.
fn feel_of(value: &Value) -> String {
    match value {
        Value::String(text) => match text.strip_prefix('=') {
            Some(feel) => feel.to_owned(),
            None => juel::string(text),
        },
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(feel_of).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let entries: Vec<(String, Value)> =
                members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            context_of(&entries)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// FEEL of a context with these members.
pub(super) fn context_of(entries: &[(String, Value)]) -> String {
    let entries: Vec<String> =
        entries.iter().map(|(name, value)| format!("{}: {}", juel::string(name), feel_of(value))).collect();
    format!("{{{}}}", entries.join(", "))
}

/// The name of a variable that is set.
fn name_of(value: &str) -> Result<&str, String> {
    if juel::is_juel(value) || value.starts_with('=') || value.contains('.') {
        return Err(format!("`{value}` is not the name of a variable"));
    }
    Ok(value)
}

fn job_priority(vendor: u8, value: &str) -> Result<Value, String> {
    if juel::is_juel(value) || value.starts_with('=') {
        return text_of(vendor, value);
    }
    value.parse::<i64>().map(Value::from).map_err(|error| format!("`{value}` is no whole number: {error}"))
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
            return joined(value);
        }
        return text_of(vendor, value);
    }
    let parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
    Ok(parts.map(|part| Value::String(part.to_owned())).collect())
}

/// A list of names and expressions as the expression of one list; an expression gives a name or a list of them.
fn joined(value: &str) -> Result<Value, String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    for letter in value.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(letter);
    }
    parts.push(part);
    let mut lists = Vec::with_capacity(parts.len());
    for part in parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()) {
        if juel::is_juel(part) {
            let feel =
                juel::value(part).map_err(|error| format!("`{part}` is not translated to FEEL: {error}"))?;
            lists.push(format!("if ({feel}) instance of list<Any> then ({feel}) else [{feel}]"));
        } else {
            lists.push(format!("[{}]", juel::string(part)));
        }
    }
    Ok(format!("=concatenate({})", lists.join(", ")).into())
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
        "script" => listeners::script_value(tree, inner).map(|feel| format!("={feel}").into()),
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

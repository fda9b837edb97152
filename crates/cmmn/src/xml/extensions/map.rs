//! Mapping of a vendor's word to members of `configuration`.

use super::Members;
use super::table::{Map, Word, vendor_of};
use crate::xml::Tree;
use heddle_xml::El;
use serde_json::{Map as Object, Value, json};

/// One word at its place.
pub(super) struct Place<'t, 's> {
    pub tree: &'t Tree<'s>,
    /// The element that has the attribute, or the extension element.
    pub el: El,
    /// The element that the word belongs to.
    pub holder: El,
    pub word: &'static Word,
}

impl Place<'_, '_> {
    /// Members that an attribute becomes, or the reason for none.
    pub(super) fn attribute(&self, value: &str) -> Result<Members, String> {
        let value = value.trim();
        let member = self.word.becomes.first().copied().unwrap_or_default();
        if value.is_empty() {
            return Ok(Vec::new());
        }
        let found: Value = match self.word.map {
            Map::Unless(usual) if value == usual => return Ok(Vec::new()),
            Map::Keep | Map::Unless(_) => return Err(self.word.reason.trim_end_matches('.').to_owned()),
            Map::Text => text(value),
            Map::List => list(value),
            Map::Priority => within(value, 0, 100)?,
            Map::Count if value == "unlimited" => value.into(),
            Map::Count => within(value, 1, i64::from(u32::MAX))?,
            Map::Flag => flag(value)?.into(),
            Map::Name => name_of(value)?.into(),
            Map::Variable => variable(value)?,
            Map::OneOf(words) => one_of(value, words)?,
            Map::Binding => binding(value)?.into(),
            Map::SameDeployment => if flag(value)? { "deployment" } else { "latest" }.into(),
            Map::TaskType => return self.task_type(value),
            Map::Topic if self.beside("type").is_some_and(|own| external(&own)) => text(value),
            Map::Topic => return Err("a topic counts for external workers only".to_owned()),
            Map::Code(kind) => format!("{kind}:{value}").into(),
            Map::ListenerType => listener_type(value)?.into(),
            Map::HeaderText
            | Map::In
            | Map::Out
            | Map::EventIn
            | Map::EventOut
            | Map::Correlation
            | Map::EventType
            | Map::StartEvent
            | Map::Field
            | Map::DecisionField
            | Map::Listener
            | Map::LifecycleListener
            | Map::VariableOnPart
            | Map::CompletionNeutral
            | Map::ParentCompletion
            | Map::Reactivation => return Err("it is an element".to_owned()),
        };
        Ok(vec![(member, found)])
    }

    /// Members that an extension element becomes, or the reason for none.
    pub(super) fn element(&self) -> Result<Members, String> {
        let member = self.word.becomes.first().copied().unwrap_or_default();
        let text_within = || self.tree.text(self.el).trim().to_owned();
        match self.word.map {
            Map::In => self.passed("inputs", "propagateAllInputs"),
            Map::Out => self.passed("outputs", "propagateAllOutputs"),
            Map::EventIn | Map::EventOut => {
                self.refuse("transient")?;
                let (target, value) = self.source_and_target()?;
                Ok(vec![(member, json!([{"name": target, "value": value}]))])
            }
            Map::HeaderText => Ok(vec![(member, json!({(self.word.name): text_within()}))]),
            Map::EventType => Ok(vec![(member, text(&some(text_within(), "the event has no type")?))]),
            Map::StartEvent => {
                let event_type = some(text_within(), "the event has no type")?;
                Ok(vec![(member, json!([{"eventType": event_type}]))])
            }
            Map::Correlation => {
                Ok(vec![(member, text(self.given("value").ok_or("it has no value")?.as_str()))])
            }
            Map::Field => self.field(),
            Map::DecisionField => self.decision_field(),
            Map::Listener => {
                let on = self.given("event").ok_or("it names no event")?;
                self.listener(json!({"on": on}))
            }
            Map::LifecycleListener => {
                let mut listener = Object::new();
                for (attribute, state) in [("sourceState", "from"), ("targetState", "to")] {
                    listener.extend(self.given(attribute).map(|own| (state.to_owned(), own.into())));
                }
                self.listener(Value::Object(listener))
            }
            Map::VariableOnPart => self.variable_on_part(),
            Map::CompletionNeutral => {
                let condition =
                    self.children("condition").next().map(|el| self.tree.text(el).trim().to_owned());
                let condition = condition.filter(|own| !own.is_empty());
                Ok(vec![(member, condition.map_or(Value::Bool(true), |own| text(&own)))])
            }
            Map::ParentCompletion => {
                let words = "default ignore ignoreIfAvailable ignoreIfAvailableOrEnabled \
                             ignoreAfterFirstCompletion ignoreAfterFirstCompletionIfAvailableOrEnabled";
                let rule = self.given("type").ok_or("the rule has no type")?;
                Ok(vec![(member, one_of(&rule, words)?)])
            }
            Map::Reactivation => Ok(vec![(member, self.reactivation()?)]),
            Map::Keep
            | Map::Unless(_)
            | Map::Text
            | Map::List
            | Map::Priority
            | Map::Count
            | Map::Flag
            | Map::Name
            | Map::Variable
            | Map::OneOf(_)
            | Map::Binding
            | Map::SameDeployment
            | Map::TaskType
            | Map::Topic
            | Map::Code(_)
            | Map::ListenerType => Err(self.word.reason.trim_end_matches('.').to_owned()),
        }
    }

    /// The conditions of a reactivation rule.
    fn reactivation(&self) -> Result<Value, String> {
        self.refuse("type")?;
        let conditions = ["activateCondition", "ignoreCondition", "defaultCondition"];
        let given = conditions.iter().filter_map(|own| Some(((*own).to_owned(), text(&self.given(own)?))));
        Ok(Value::Object(given.collect()))
    }

    /// The value of an unprefixed attribute that is not empty.
    fn given(&self, name: &str) -> Option<String> {
        own(self.tree, self.el, name)
    }

    /// The value of an attribute of the same vendor beside this one.
    fn beside(&self, name: &str) -> Option<String> {
        let mut all = self.tree.attributes(self.holder).iter();
        let found = all.find(|own| own.local() == name && vendor_of(self.tree.uri(own.ns)).is_some());
        found.map(|found| found.value().trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// The child elements of a name.
    fn children<'n>(&'n self, name: &'n str) -> impl Iterator<Item = El> + 'n {
        self.tree.parts_of(self.el).filter(move |&child| self.tree.part(child).local() == name)
    }

    fn refuse(&self, name: &str) -> Result<(), String> {
        match self.given(name).as_deref() {
            None | Some("false") => Ok(()),
            Some(_) => Err(format!("`{name}` has no counterpart")),
        }
    }

    fn task_type(&self, value: &str) -> Result<Members, String> {
        match value {
            // Script and code say themselves what is done.
            "script" => Ok(Vec::new()),
            "java"
                if ["class", "delegateExpression", "expression"]
                    .iter()
                    .any(|own| self.beside(own).is_some()) =>
            {
                Ok(Vec::new())
            }
            _ if external(value) && self.beside("topic").is_some() => Ok(Vec::new()),
            _ if external(value) => Err("the task has no topic".to_owned()),
            _ => Ok(vec![("jobType", format!("task:{value}").into())]),
        }
    }

    /// Variables that pass between a case and what it calls.
    fn passed(&self, list: &'static str, all: &'static str) -> Result<Members, String> {
        self.refuse("local")?;
        self.refuse("transient")?;
        if let Some(key) = self.given("businessKey") {
            if ["variables", "source", "sourceExpression"].iter().any(|own| self.given(own).is_some()) {
                return Err("a business key stands in an element of its own".to_owned());
            }
            let inner = key.trim_start_matches(['#', '$']).trim_matches(['{', '}']).trim();
            let inherited =
                ["caseExecution.caseBusinessKey", "caseInstance.businessKey", "caseExecution.businessKey"];
            return Ok(if inherited.contains(&inner) {
                vec![("inheritBusinessKey", true.into())]
            } else {
                vec![("businessKey", text(&key))]
            });
        }
        if let Some(variables) = self.given("variables") {
            return match variables.as_str() {
                "all" => Ok(vec![(all, true.into())]),
                other => Err(format!("`{other}` is not `all`")),
            };
        }
        let (target, value) = self.source_and_target()?;
        Ok(vec![(list, json!([{"name": target, "value": value}]))])
    }

    /// Target and value of a parameter.
    fn source_and_target(&self) -> Result<(String, Value), String> {
        if self.given("targetExpression").is_some() {
            return Err("`targetExpression` computes its target".to_owned());
        }
        let source = self.given("source");
        // Some parameters keep the name that they have.
        let target = self.given("target").or_else(|| source.clone()).filter(|own| !is_juel(own));
        let target = target.ok_or("it has no target, or a computed one")?;
        let value = match (source, self.given("sourceExpression")) {
            (Some(source), _) => variable(&source)?,
            (None, Some(expression)) => text(&expression),
            (None, None) => return Err("it has no source".to_owned()),
        };
        Ok((target, value))
    }

    /// Name and text of a field.
    fn named_text(&self) -> Result<(String, String), String> {
        let name = self.given("name").ok_or("a field has no name")?;
        let given = self.given("stringValue").or_else(|| self.given("expression"));
        let inner = || {
            let mut texts = self.tree.children(self.el);
            texts.next().map(|child| self.tree.text(child).trim().to_owned())
        };
        Ok((name, given.or_else(inner).unwrap_or_default()))
    }

    /// A field: the script, a header, or an input where it is computed.
    fn field(&self) -> Result<Members, String> {
        let (name, value) = self.named_text()?;
        if name == "script" && self.task_of_holder().as_deref() == Some("script") {
            return Ok(vec![("script", value.into())]);
        }
        Ok(if is_juel(&value) {
            vec![("inputs", json!([{"name": name, "value": value}]))]
        } else {
            vec![("headers", json!({(name): value}))]
        })
    }

    /// The kind of the task that an extension element belongs to.
    fn task_of_holder(&self) -> Option<String> {
        self.beside("type")
    }

    fn decision_field(&self) -> Result<Members, String> {
        let (name, value) = self.named_text()?;
        match name.as_str() {
            "decisionTableReferenceKey" | "decisionServiceReferenceKey" => {
                Ok(vec![("decisionRef", text(&value))])
            }
            "decisionTaskThrowErrorOnNoHits" | "fallbackToDefaultTenant" if value == "false" => {
                Ok(Vec::new())
            }
            "decisionReferenceType" | "sameDeployment" => Ok(Vec::new()),
            other => Err(format!("the field `{other}` has no counterpart")),
        }
    }

    /// A listener with its code.
    fn listener(&self, mut listener: Value) -> Result<Members, String> {
        for refused in ["customPropertiesResolverClass", "customPropertiesResolverExpression"] {
            self.refuse(refused)?;
        }
        let Some(members) = listener.as_object_mut() else { return Ok(Vec::new()) };
        let mut set = |name: &str, value: String| members.insert(name.to_owned(), value.into());
        if let Some(phase) = self.given("onTransaction") {
            one_of(&phase, "before-commit committed")?;
            set("onTransaction", phase);
        }
        if let Some(class) = self.given("class") {
            set("jobType", format!("java:{class}"));
        } else if let Some(bean) = self.given("delegateExpression") {
            set("jobType", format!("delegate:{bean}"));
        } else if let Some(expression) = self.given("expression") {
            set("source", expression);
        } else if let Some(script) = self.children("script").next() {
            if own(self.tree, script, "resource").is_some() {
                return Err("the text of the script is in no file at hand".to_owned());
            }
            let format =
                own(self.tree, script, "scriptFormat").or_else(|| own(self.tree, script, "language"));
            set("scriptFormat", format.ok_or("the script names no language")?);
            set("script", self.tree.text(script).trim().to_owned());
        } else {
            return Err("the listener names no code".to_owned());
        }
        let mut headers = Object::new();
        for field in self.children("field") {
            let (name, value) = Place { el: field, ..*self }.named_text()?;
            headers.insert(name, value.into());
        }
        if !headers.is_empty() {
            members.insert("headers".to_owned(), Value::Object(headers));
        }
        Ok(vec![("listeners", json!([listener]))])
    }

    fn variable_on_part(&self) -> Result<Members, String> {
        let name = self.given("variableName").ok_or("it names no variable")?;
        let events: Vec<Value> =
            self.children("variableEvent").map(|el| self.tree.text(el).trim().into()).collect();
        for event in &events {
            one_of(event.as_str().unwrap_or_default(), "create update delete")?;
        }
        if events.is_empty() {
            return Err("it names no event of the variable".to_owned());
        }
        Ok(vec![("variableOnParts", json!([{"variableName": name_of(&name)?, "variableEvents": events}]))])
    }
}

/// The value of an unprefixed attribute that is not empty.
fn own(tree: &Tree<'_>, el: El, name: &str) -> Option<String> {
    tree.attribute(el, name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn some(text: String, missing: &str) -> Result<String, String> {
    if text.is_empty() { Err(missing.to_owned()) } else { Ok(text) }
}

/// Whether a text holds an expression of the other engines.
fn is_juel(text: &str) -> bool {
    text.contains("${") || text.contains("#{")
}

/// A text as a setting: one that begins as FEEL does becomes FEEL of that text.
fn text(value: &str) -> Value {
    if !is_juel(value) && value.starts_with('=') {
        format!("={}", Value::String(value.to_owned())).into()
    } else {
        value.into()
    }
}

/// Names parted by commas, or an expression.
fn list(value: &str) -> Value {
    if is_juel(value) || value.starts_with('=') {
        return text(value);
    }
    let parts = value.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| Value::String(part.to_owned())).collect()
}

/// A whole number of a range, or an expression.
fn within(value: &str, least: i64, most: i64) -> Result<Value, String> {
    if is_juel(value) {
        return Ok(value.into());
    }
    let number = value.parse::<i64>().ok().filter(|own| (least..=most).contains(own));
    number.map(Value::from).ok_or_else(|| format!("`{value}` is no whole number from {least} to {most}"))
}

fn flag(value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}

/// The name of a variable that is set.
fn name_of(value: &str) -> Result<&str, String> {
    if is_juel(value) || value.starts_with('=') || value.contains('.') {
        return Err(format!("`{value}` is not the name of a variable"));
    }
    Ok(value)
}

/// The name of a variable, or an expression, as an expression.
fn variable(value: &str) -> Result<Value, String> {
    if is_juel(value) {
        return Ok(value.into());
    }
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let digit = value.starts_with(|first: char| first.is_ascii_digit());
    if digit || value.is_empty() || !value.chars().all(plain) {
        return Err(format!("`{value}` is not the name of a variable"));
    }
    Ok(format!("={value}").into())
}

fn one_of(value: &str, words: &str) -> Result<Value, String> {
    if words.split_ascii_whitespace().any(|own| own == value) {
        Ok(value.into())
    } else {
        Err(format!("`{value}` is none of {}", words.split_ascii_whitespace().collect::<Vec<_>>().join(", ")))
    }
}

fn external(value: &str) -> bool {
    matches!(value, "external" | "external-worker")
}

fn binding(value: &str) -> Result<&'static str, String> {
    match value {
        "latest" => Ok("latest"),
        "deployment" => Ok("deployment"),
        "version" | "versionTag" => Ok("pinned"),
        other => Err(format!("`{other}` says nothing about versions")),
    }
}

fn listener_type(value: &str) -> Result<&'static str, String> {
    match value {
        "signal" => Ok("signal"),
        "variable" => Ok("variable"),
        "reactivate" | "reactivateEventListener" => Ok("reactivate"),
        other => Err(format!("nothing listens to `{other}` here")),
    }
}

//! Evaluation of conditions and settings against the variables that a scope sees.

use super::budgets::reached;
use super::{Core, StepFault, expression};
use crate::LocalId;
use crate::state::State;
use heddle_feel::{EvalContext, Expression, Ref, Scope, size, size_of_json, to_json};
use heddle_settings::Setting;
use serde_json::{Map, Value};

/// The variables that a scope sees: its own, then outwards; `nodes` is what nodes gave, `caseFile` the case file.
pub(crate) struct Variables<'s> {
    pub state: &'s State,
    pub scope: LocalId,
    /// Values that come before all variables, such as the state of a gateway.
    pub before: Option<&'s Map<String, Value>>,
}

impl<'s> Variables<'s> {
    pub(crate) fn find(&self, name: &str) -> Option<&'s Value> {
        if let Some(value) = self.before.and_then(|before| before.get(name)) {
            return Some(value);
        }
        let mut next = Some(self.scope);
        while let Some(scope) = next.and_then(|id| self.state.scope(id)) {
            if let Some(value) = scope.variables.get(name) {
                return Some(value);
            }
            next = scope.parent;
        }
        match (name, &self.state.case) {
            ("nodes", _) => Some(&self.state.outputs),
            ("caseFile", Some(case)) => Some(&case.file),
            _ => None,
        }
    }

    /// The innermost scope that holds the variable; the process's own when none does.
    pub(crate) fn owner(&self, name: &str) -> LocalId {
        let mut next = Some(self.scope);
        while let Some(scope) = next.and_then(|id| self.state.scope(id)) {
            if scope.variables.contains_key(name) {
                return scope.id;
            }
            next = scope.parent;
        }
        LocalId::ROOT
    }
}

impl Scope for Variables<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Ref<'a>> {
        self.find(name).map(Ref::Json)
    }
}

impl Core<'_> {
    pub(crate) fn variables(&self, scope: LocalId) -> Variables<'_> {
        Variables { state: &self.state, scope, before: None }
    }

    /// The value of an expression, with the reasons for nulls.
    pub(crate) fn evaluate(
        &self,
        source: &Expression,
        variables: &dyn Scope,
    ) -> Result<(heddle_feel::Value, Vec<String>), StepFault> {
        match source.evaluate_on(variables, &EvalContext { now: self.now }, &self.steps) {
            Ok(evaluated) => {
                // What could not be told of is not even copied.
                let room = self.room();
                let bytes = size(&evaluated.value, room);
                if bytes > room {
                    self.admit_told(bytes)?;
                }
                let notes = evaluated.notes.into_iter().map(|note| note.message).collect();
                Ok((evaluated.value, notes))
            }
            Err(limit) => Err(reached(limit, |limit| expression(format!("`{}`: {limit}", source.source())))),
        }
    }

    /// Counts the work of copying a value, which is done outside of evaluations.
    pub(crate) fn charge_copy(&self, value: &Value) -> Result<(), StepFault> {
        self.steps
            .charge(size_of_json(value) / 8)
            .map_err(|limit| reached(limit, |own| expression(own.to_string())))
    }

    pub(crate) fn setting(&self, setting: &Setting, scope: LocalId) -> Result<Value, StepFault> {
        self.noted(setting, scope).map(|(value, _)| value)
    }

    /// The value of a setting, with the reasons for nulls.
    pub(crate) fn noted(&self, setting: &Setting, scope: LocalId) -> Result<(Value, Vec<String>), StepFault> {
        match setting {
            Setting::Literal(value) => {
                self.charge_copy(value)?;
                Ok((value.clone(), Vec::new()))
            }
            Setting::Expression(source) => {
                self.evaluate(source, &self.variables(scope)).map(|(value, notes)| (to_json(&value), notes))
            }
        }
    }

    /// A setting as a text; null is none.
    pub(crate) fn text(
        &self,
        setting: Option<&Setting>,
        scope: LocalId,
    ) -> Result<Option<String>, StepFault> {
        let Some(setting) = setting else { return Ok(None) };
        match self.setting(setting, scope)? {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            Value::Number(number) => Ok(Some(number.to_string())),
            other => Err(expression(format!("{other} is not a text"))),
        }
    }

    /// The one whom a setting of a task names; what names nobody, or is no name, adds its reason.
    pub(crate) fn name(
        &self,
        member: &str,
        setting: Option<&Setting>,
        scope: LocalId,
        reasons: &mut Vec<String>,
    ) -> Result<Option<String>, StepFault> {
        let Some(setting) = setting else { return Ok(None) };
        let (value, notes) = self.noted(setting, scope)?;
        match value {
            Value::String(text) if !text.trim().is_empty() => Ok(Some(text)),
            Value::Number(number) => Ok(Some(number.to_string())),
            other => {
                reasons.push(nobody(member, setting, &other, &notes));
                Ok(None)
            }
        }
    }

    /// Those whom a setting of a task names, in a list or in a text with commas; what names nobody, or is no name, adds
    /// its reason.
    pub(crate) fn names(
        &self,
        member: &str,
        setting: Option<&Setting>,
        scope: LocalId,
        reasons: &mut Vec<String>,
    ) -> Result<Vec<String>, StepFault> {
        let Some(setting) = setting else { return Ok(Vec::new()) };
        let (value, notes) = self.noted(setting, scope)?;
        let parts: Vec<&str> = match &value {
            Value::String(text) => text.split(',').collect(),
            // A list of which one is no name is none: who was meant is not known.
            Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<_>>().unwrap_or_default(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
        };
        let named = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
        let named: Vec<String> = named.map(str::to_owned).collect();
        if named.is_empty() {
            reasons.push(nobody(member, setting, &value, &notes));
        }
        Ok(named)
    }
}

/// Reason why a setting of a task names nobody.
fn nobody(member: &str, setting: &Setting, value: &Value, notes: &[String]) -> String {
    let text = match setting {
        Setting::Expression(source) => format!(" `={}`", source.source()),
        Setting::Literal(_) => String::new(),
    };
    format!("{member}{text} gives {}{}", brief(value), prefixed(notes))
}

/// A value as JSON, cut where it is long.
pub(crate) fn brief(value: &Value) -> String {
    heddle_kernel::shortened(&value.to_string()).into_owned()
}

pub(crate) fn prefixed(notes: &[String]) -> String {
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) }
}

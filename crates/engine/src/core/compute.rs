//! Tasks that compute: decisions and scripts, with what goes in and comes out.

use super::budgets::{Leaving, reached};
use super::{Core, StepFault, expression};
use crate::event::{DecisionEvaluated, EventKind, IncidentCode};
use crate::size::of_decision;
use crate::{LocalId, Rejection};
use heddle_dmn::{DecisionExplanation, ElementKind, ElementRef, EvalOptions, Explanation, Model, Outcome};
use heddle_feel::{self as feel, Context, Expression, Layers, Limits, Ref, size, size_of_json, to_json};
use heddle_settings::{DataMapping, DecisionTask, ResultMapping, ScriptTask, Setting, Target};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Reasons that an event of a script, or of the mapping around a decision, tells.
const MAX_REASONS: usize = 50;
/// Decisions and tables that one event tells of.
const MAX_TOLD: usize = 200;
/// Bytes of JSON in which it does.
const MAX_BYTES: usize = 256 * 1024;

fn decision_error(message: impl Into<String>) -> StepFault {
    StepFault::Incident(IncidentCode::DecisionError, message.into())
}

/// Outcome of a decision or a script.
pub(crate) struct Computed {
    /// Event that tells of it.
    pub event: EventKind,
    /// Variables that it leaves behind; or why it leaves none, although it is told.
    pub values: Result<Map<String, Value>, StepFault>,
}

/// Scopes of an output mapping.
#[derive(Clone, Copy)]
pub(crate) struct Scopes {
    /// Scope over which its values are evaluated.
    pub inner: LocalId,
    /// Scope that gets them.
    pub around: LocalId,
}

impl Core<'_> {
    /// Evaluates a decision for an instance that sees the variables of a scope.
    pub(crate) fn decide(
        &mut self,
        task: &DecisionTask,
        id: LocalId,
        scope: LocalId,
    ) -> Result<Computed, StepFault> {
        let mut notes = Vec::new();
        let inputs = self.inputs(&task.data.inputs, scope, &mut notes)?;
        let (model, element) = self.decided(task, &inputs, scope)?;
        let options = EvalOptions { now: self.now, limits: Limits::default(), explain: true };
        let variables = self.variables(scope);
        let outcome = model
            .evaluate_on(element, &Layers(&[&inputs, &variables]), &options, &self.steps)
            .map_err(|limit| {
                reached(limit, |own| decision_error(format!("the decision `{}`: {own}", model.name(element))))
            })?;
        let room = self.room();
        self.admit_told(size(&outcome.value, room))?;
        let told = told(&model, element, outcome);
        let shaped = match shaped(task.mapping, &told.output, model.output_name(element)) {
            Ok(shaped) => shaped,
            Err(reason) => {
                // What was decided is told all the same: it is what one needs to know now.
                self.admit_told(of_decision(&told))?;
                let fault = decision_error(format!("the decision `{}` {reason}", model.name(element)));
                return Ok(Computed {
                    event: EventKind::DecisionEvaluated(Box::new(told)),
                    values: Err(fault),
                });
            }
        };
        let variable: Arc<str> =
            task.data.result_variable.clone().unwrap_or_else(|| Arc::from(model.name(element)));
        let result = (shaped != told.output).then(|| shaped.clone());
        let values = self.outputs(&task.data, Some((variable, &shaped)), inputs, scope, &mut notes)?;
        let mut reasons = told.reasons;
        reasons.extend(notes.into_iter().map(|message| serde_json::json!({ "message": message })));
        let event = DecisionEvaluated { result, reasons, ..told };
        let output = Some((id, size_of_json(&shaped)));
        self.admit(scope, &Leaving { told: of_decision(&event), output, values: &values })?;
        Ok(Computed { event: EventKind::DecisionEvaluated(Box::new(event)), values: Ok(values) })
    }

    /// Evaluates a script for an instance that sees the variables of a scope.
    pub(crate) fn compute(
        &mut self,
        task: &ScriptTask,
        id: LocalId,
        scope: LocalId,
    ) -> Result<Computed, StepFault> {
        let mut reasons = Vec::new();
        let inputs = self.inputs(&task.data.inputs, scope, &mut reasons)?;
        let (result, notes) = self.evaluate(&task.source, &Layers(&[&inputs, &self.variables(scope)]))?;
        note(&mut reasons, "", notes);
        let result = to_json(&result);
        let variable = task.data.result_variable.clone().map(|name| (name, &result));
        let values = self.outputs(&task.data, variable, inputs, scope, &mut reasons)?;
        let bytes = size_of_json(&result);
        self.admit(scope, &Leaving { told: bytes, output: Some((id, bytes)), values: &values })?;
        Ok(Computed { event: EventKind::ScriptEvaluated { result, reasons }, values: Ok(values) })
    }

    /// The variables that the expression of a listener gives.
    pub(crate) fn heard(
        &self,
        source: &Expression,
        variable: Option<&Arc<str>>,
        scope: LocalId,
    ) -> Result<Map<String, Value>, StepFault> {
        let (value, _) = self.evaluate(source, &self.variables(scope))?;
        match (variable, to_json(&value)) {
            (Some(name), value) => Ok(Map::from_iter([(name.to_string(), value)])),
            (None, Value::Object(members)) => Ok(members),
            (None, Value::Null) => Ok(Map::new()),
            (None, other) => {
                let found = heddle_kernel::shortened(&other.to_string()).into_owned();
                let source = source.source();
                Err(expression(format!("the listener `{source}` gives {found}, no context of variables")))
            }
        }
    }

    /// The decision that a task means: one of the definition itself, else of another that has one of the name.
    fn decided(
        &self,
        task: &DecisionTask,
        inputs: &Context,
        scope: LocalId,
    ) -> Result<(Model, ElementRef), StepFault> {
        let (own, elsewhere) = (self.cx.decisions.as_ref(), self.cx.elsewhere.as_ref());
        if own.is_none() && elsewhere.is_none() {
            return Err(decision_error("the definition has no decision model"));
        }
        let named = to_json(&self.setting_over(&task.decision, inputs, scope)?.0);
        let Some(name) = named.as_str() else {
            return Err(expression(format!("decisionRef: {named} is not a text")));
        };
        if let Some(found) = own.and_then(|model| decision_of(model, name)) {
            return Ok(found);
        }
        let Some(elsewhere) = elsewhere else {
            return Err(decision_error(format!("the definition has no decision `{name}`")));
        };
        match elsewhere.get(name) {
            None => Err(Rejection::DecisionNeeded(name.to_owned()).into()),
            Some(Err(reason)) => Err(decision_error(reason.clone())),
            Some(Ok(found)) => decision_of(&found.model, &found.decision)
                .ok_or_else(|| decision_error(format!("there is no decision `{}`", found.decision))),
        }
    }

    /// A setting evaluated over the task's own variables, with the reasons for nulls. A date or duration stays one,
    /// which JSON has no types for.
    pub(crate) fn setting_over(
        &self,
        setting: &Setting,
        own: &Context,
        scope: LocalId,
    ) -> Result<(feel::Value, Vec<String>), StepFault> {
        match setting {
            Setting::Literal(value) => {
                self.charge_copy(value)?;
                Ok((Ref::Json(value).into_value(), Vec::new()))
            }
            Setting::Expression(source) => self.evaluate(source, &Layers(&[own, &self.variables(scope)])),
        }
    }

    /// The variables of the task alone; the reasons for nulls are added to `reasons`.
    pub(crate) fn inputs(
        &self,
        mappings: &[(Target, Setting)],
        scope: LocalId,
        reasons: &mut Vec<String>,
    ) -> Result<Context, StepFault> {
        let mut own = Context::new();
        for (target, setting) in mappings {
            let (value, notes) = self.setting_over(setting, &own, scope)?;
            note(reasons, &target.variable, notes);
            let value = if target.members.is_empty() {
                value
            } else {
                let before = own.get(&target.variable).map(to_json);
                let before = before.as_ref().or_else(|| self.variables(scope).find(&target.variable));
                before.map_or(Ok(()), |before| self.charge_copy(before))?;
                Ref::Json(&target.put(before, to_json(&value))).into_value()
            };
            own.put(target.variable.clone(), value);
        }
        Ok(own)
    }

    /// The variables that the task leaves behind; `result` is its result under its name, and the reasons for nulls are
    /// added to `reasons`.
    fn outputs(
        &self,
        data: &DataMapping,
        result: Option<(Arc<str>, &Value)>,
        mut own: Context,
        scope: LocalId,
        reasons: &mut Vec<String>,
    ) -> Result<Map<String, Value>, StepFault> {
        let mut values = Map::new();
        if data.outputs.is_empty() {
            values.extend(result.map(|(name, result)| (name.to_string(), result.clone())));
            return Ok(values);
        }
        if let Some((name, result)) = result {
            own.put(name, Ref::Json(result).into_value());
        }
        self.mapped(&data.outputs, values, &own, Scopes { inner: scope, around: scope }, reasons)
    }

    /// Values of output mappings, evaluated over `own` and the inner scope; where one sets a member, the rest of the
    /// variable is that of the scope around.
    pub(crate) fn mapped(
        &self,
        mappings: &[(Target, Setting)],
        mut values: Map<String, Value>,
        own: &Context,
        scopes: Scopes,
        reasons: &mut Vec<String>,
    ) -> Result<Map<String, Value>, StepFault> {
        for (target, setting) in mappings {
            let (value, notes) = self.setting_over(setting, own, scopes.inner)?;
            note(reasons, &target.variable, notes);
            let value = to_json(&value);
            let before = values
                .get(&*target.variable)
                .or_else(|| self.variables(scopes.around).find(&target.variable));
            before
                .filter(|_| !target.members.is_empty())
                .map_or(Ok(()), |before| self.charge_copy(before))?;
            let whole = target.put(before, value);
            values.insert(target.variable.to_string(), whole);
        }
        Ok(values)
    }
}

/// Variables of an activity alone, as its scope keeps them.
pub(crate) fn json_of(own: &Context) -> Map<String, Value> {
    own.iter().map(|(name, value)| (name.to_string(), to_json(value))).collect()
}

/// Adds the reasons why a variable, or with an empty name the result, is null in parts; as many as an event tells.
fn note(reasons: &mut Vec<String>, variable: &str, notes: Vec<String>) {
    let room = MAX_REASONS.saturating_sub(reasons.len());
    let named = |text: String| if variable.is_empty() { text } else { format!("`{variable}`: {text}") };
    reasons.extend(notes.into_iter().take(room).map(named));
}

/// Event data of a decision's evaluation.
fn told(model: &Model, element: ElementRef, outcome: Outcome) -> DecisionEvaluated {
    let Outcome { value, reasons, explanation } = outcome;
    let Explanation { decisions } = explanation.unwrap_or_default();
    let id = model.elements().find(|(own, ..)| *own == element).and_then(|(.., id)| id.map(str::to_owned));
    let name = model.name(element);
    let own = decisions.iter().rev().find(|one| one.id == id && one.name == name);
    let mut inputs = match own {
        Some(own) => own.inputs.clone(),
        // A service has no logic of its own: what its decisions used from outside are its inputs.
        None => {
            let known = |name: &String| !decisions.iter().any(|one| one.name == *name);
            let used = decisions.iter().flat_map(|one| &one.inputs).filter(|(name, _)| known(name));
            used.map(|(name, value)| (name.clone(), value.clone())).collect()
        }
    };
    // Tables of some editors test what their decision does not require.
    let tested = own.into_iter().flat_map(|own| &own.tables).flat_map(|table| &table.inputs);
    for input in tested.take(MAX_TOLD) {
        let is_name = input.expression.chars().all(|c| c.is_alphanumeric() || c == '_');
        if is_name && !inputs.contains_key(&input.expression) {
            inputs.insert(input.expression.clone(), input.value.clone());
        }
    }
    // Tables of functions called stand before the decision's own.
    let matched =
        own.and_then(|own| own.tables.last()).map(|table| table.hits.as_slice()).unwrap_or_default();
    let more = matched.len() > MAX_TOLD;
    let hits = matched.iter().take(MAX_TOLD).filter_map(json).collect();
    let (decisions, truncated) = trail(decisions);
    DecisionEvaluated {
        decision_id: id,
        decision_name: name.to_owned(),
        inputs,
        hits,
        output: to_json(&value),
        result: None,
        decisions,
        reasons: reasons.iter().filter_map(json).collect(),
        truncated: truncated || more,
    }
}

/// The decision or decision service of a name or id, with its model.
fn decision_of(model: &Model, name: &str) -> Option<(Model, ElementRef)> {
    let element = model.find(name)?;
    matches!(model.kind(element)?, ElementKind::Decision | ElementKind::DecisionService)
        .then(|| (model.clone(), element))
}

/// The decisions on the way as JSON, those nearest to the result if there are too many; and whether some are left out.
fn trail(mut decisions: Vec<DecisionExplanation>) -> (Vec<Value>, bool) {
    let (mut tables, mut bytes, mut kept) = (0, 0, Vec::new());
    let count = decisions.len();
    let mut truncated = false;
    for one in decisions.iter_mut().rev().take(MAX_TOLD) {
        let beyond = (tables + one.tables.len()).saturating_sub(MAX_TOLD).min(one.tables.len());
        truncated |= beyond > 0;
        one.tables.drain(..beyond);
        tables += one.tables.len();
        let Some(value) = json(&*one) else { break };
        bytes += value.to_string().len();
        if bytes > MAX_BYTES {
            break;
        }
        kept.push(value);
    }
    kept.reverse();
    truncated |= kept.len() < count;
    (kept, truncated)
}

fn json<T: serde::Serialize>(value: T) -> Option<Value> {
    serde_json::to_value(value).ok()
}

/// A result in the shape that a task asks for; `name` is that of a single output.
fn shaped(mapping: ResultMapping, result: &Value, name: &str) -> Result<Value, String> {
    let context = |value: Value| match value {
        Value::Object(_) => value,
        value => Value::Object(Map::from_iter([(name.to_owned(), value)])),
    };
    let list = || match result {
        Value::Null => Vec::new(),
        Value::Array(items) => items.clone(),
        one => vec![one.clone()],
    };
    let single = || match result {
        Value::Array(items) => match items.as_slice() {
            [] => Ok(Value::Null),
            [only] => Ok(only.clone()),
            several => Err(format!("has {} results where the task asks for a single one", several.len())),
        },
        one => Ok(one.clone()),
    };
    Ok(match mapping {
        ResultMapping::Plain => result.clone(),
        ResultMapping::Single => single()?,
        ResultMapping::SingleResult => match single()? {
            Value::Null => Value::Null,
            one => context(one),
        },
        ResultMapping::Collect => Value::Array(list()),
        ResultMapping::All => Value::Array(list().into_iter().map(context).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_shaped_as_asked() {
        use ResultMapping::{All, Collect, Plain, Single, SingleResult};
        let shape = |mapping, result: &Value| shaped(mapping, result, "rate");
        for (result, single, single_result, collect, all) in [
            (json!(null), json!(null), json!(null), json!([]), json!([])),
            (json!(1), json!(1), json!({"rate": 1}), json!([1]), json!([{"rate": 1}])),
            (json!([]), json!(null), json!(null), json!([]), json!([])),
            (json!(["a"]), json!("a"), json!({"rate": "a"}), json!(["a"]), json!([{"rate": "a"}])),
            (json!({"a": 1}), json!({"a": 1}), json!({"a": 1}), json!([{"a": 1}]), json!([{"a": 1}])),
        ] {
            assert_eq!(shape(Plain, &result).as_ref(), Ok(&result));
            assert_eq!(shape(Single, &result), Ok(single));
            assert_eq!(shape(SingleResult, &result), Ok(single_result));
            assert_eq!(shape(Collect, &result), Ok(collect));
            assert_eq!(shape(All, &result), Ok(all));
        }
        let two = json!([{"a": 1}, 2]);
        assert_eq!(shape(Collect, &two), Ok(two.clone()));
        assert_eq!(shape(All, &two), Ok(json!([{"a": 1}, {"rate": 2}])));
        assert!(shape(Single, &two).unwrap_err().contains("2 results"));
        assert!(shape(SingleResult, &two).is_err());
    }
}

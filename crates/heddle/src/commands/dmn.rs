//! `heddle dmn`: decisions without a server.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use heddle_dmn::extensions::dialect;
use heddle_dmn::model::DecisionModel;
use heddle_dmn::{Diagnostic, ElementKind, EvalOptions, EvaluateError, Model, Severity, compile_with, xml};
use heddle_kernel::Timestamp;
use serde_json::{Map, Value, json};

use crate::cli::EvaluateDecision;
use crate::output;

pub(crate) fn evaluate(options: &EvaluateDecision, as_json: bool) -> Result<()> {
    let models: Vec<DecisionModel> = options.files.iter().map(|file| model(file)).collect::<Result<_>>()?;
    let input = input(options.input.as_deref())?;
    let compiled = compile_with(&models, dialect(&models));
    for one in &compiled.diagnostics {
        tell(one);
    }
    let name = match &options.decision {
        Some(name) => name.clone(),
        None => only(&compiled.model)?,
    };
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let now = Timestamp::from_micros(i64::try_from(micros).unwrap_or_default());
    let done = compiled.model.evaluate(
        &name,
        &input,
        &EvalOptions { explain: options.explain, ..EvalOptions::new(now) },
    );
    let outcome = match done {
        Err(error @ EvaluateError::Unknown(_)) => {
            let known = decisions(&compiled.model).join(", ");
            return Err(error).with_context(|| format!("the decisions are {known}"));
        }
        other => other?,
    };
    let value = heddle_feel::to_json(&outcome.value);
    if as_json {
        let mut told = json!({ "decision": name, "value": value, "reasons": outcome.reasons });
        if let (Some(explanation), Some(members)) = (&outcome.explanation, told.as_object_mut()) {
            members.insert("explanation".to_owned(), serde_json::to_value(explanation)?);
        }
        output::json(&told);
        return whole(&compiled.diagnostics);
    }
    output::line(&value.to_string());
    if let Some(explanation) = &outcome.explanation {
        output::line(&serde_json::to_string_pretty(explanation)?);
    }
    for one in &outcome.reasons {
        tracing::warn!(element = one.element_id, line = one.line, column = one.column, "{}", one.message);
    }
    whole(&compiled.diagnostics)
}

/// A value of a model with mistakes is shown, but no success: what is wrong in it is null.
fn whole(found: &[Diagnostic]) -> Result<()> {
    let wrong = found.iter().filter(|one| one.severity == Severity::Error).count();
    if wrong > 0 {
        bail!("the model has {wrong} mistakes; what is wrong is null");
    }
    Ok(())
}

fn model(path: &Path) -> Result<DecisionModel> {
    let shown = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("`{shown}`"))?;
    let imported = xml::read(&bytes).with_context(|| format!("`{shown}`"))?;
    imported.diagnostics.iter().for_each(tell);
    Ok(imported.model)
}

/// The input: an object, or the file named after `@`.
fn input(given: Option<&str>) -> Result<Map<String, Value>> {
    let text = match given {
        None => return Ok(Map::new()),
        Some(given) => match given.strip_prefix('@') {
            Some(path) => std::fs::read_to_string(path).with_context(|| format!("`{path}`"))?,
            None => given.to_owned(),
        },
    };
    match serde_json::from_str(&text).context("--input is no JSON")? {
        Value::Object(members) => Ok(members),
        _ => bail!("--input is no JSON object"),
    }
}

fn decisions(model: &Model) -> Vec<String> {
    let callable = |kind| matches!(kind, ElementKind::Decision | ElementKind::DecisionService);
    let found = model.elements().filter(|(_, kind, ..)| callable(*kind));
    found.map(|(_, _, name, _)| format!("`{name}`")).collect()
}

/// The one decision of a model that has no other.
fn only(model: &Model) -> Result<String> {
    let mut decisions = model.elements().filter(|(_, kind, ..)| *kind == ElementKind::Decision);
    match (decisions.next(), decisions.next()) {
        (Some((_, _, name, _)), None) => Ok(name.to_owned()),
        (None, _) => bail!("the model has no decision"),
        _ => bail!("name one with --decision: {}", self::decisions(model).join(", ")),
    }
}

fn tell(one: &Diagnostic) {
    let place = (one.element_id.as_deref(), one.line, one.column);
    match one.severity {
        Severity::Error => {
            tracing::error!(element = place.0, line = place.1, column = place.2, "{}", one.message)
        }
        Severity::Warning => {
            tracing::warn!(element = place.0, line = place.1, column = place.2, "{}", one.message)
        }
        Severity::Info => {}
    }
}

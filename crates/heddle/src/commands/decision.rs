//! `heddle decision`: decisions without a server.

mod cases;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use heddle_dmn::extensions::dialect;
use heddle_dmn::model::DecisionModel;
use heddle_dmn::{
    Diagnostic, ElementKind, EvalOptions, EvaluateError, Model, Outcome, Reason, Severity, compile_with, xml,
};
use heddle_kernel::Timestamp;
use serde_json::{Map, Value, json};

use super::given;
use crate::cli::{CheckDecisions, DecisionCommand, EvaluateDecision};
use crate::failure::Failure;
use crate::output;

/// Runs a command of `heddle decision`.
///
/// # Errors
/// What was refused, or found.
pub(crate) fn run(command: &DecisionCommand, as_json: bool) -> Result<()> {
    match command {
        DecisionCommand::Eval(options) => evaluate(options, as_json),
        DecisionCommand::Check(options) => check(options, as_json),
    }
}

fn evaluate(options: &EvaluateDecision, as_json: bool) -> Result<()> {
    let inputs = options.files.iter().filter(|file| is_standard(file)).count();
    let from_standard = options.input.as_deref().is_some_and(|given| matches!(given, "-" | "@-"));
    once(inputs + usize::from(from_standard))?;
    let sources = sources(&options.files)?;
    let mut found = Vec::new();
    let model = compiled(&sources, &mut found)?;
    let input = input(options.input.as_deref())?;
    let name = match &options.decision {
        Some(name) => name.clone(),
        None => only(&model)?,
    };
    let outcome = outcome(&model, &name, &input, options.explain)?;
    let value = heddle_feel::to_json(&outcome.value);
    let told: Vec<_> = found.iter().filter(|one| one.diagnostic.severity != Severity::Info).collect();
    if as_json || options.explain {
        let findings: Vec<_> = told.iter().map(|one| one.as_json()).collect();
        let mut document =
            json!({ "decision": name, "value": value, "reasons": outcome.reasons, "diagnostics": findings });
        if let (Some(explanation), Some(members)) = (&outcome.explanation, document.as_object_mut()) {
            members.insert("explanation".to_owned(), serde_json::to_value(explanation)?);
        }
        if as_json {
            output::json(&document)
        } else {
            output::line(&serde_json::to_string_pretty(&document)?)
        }
    } else {
        told.iter().for_each(|one| output::note(&one.sentence()));
        outcome.reasons.iter().for_each(|reason| output::note(&why(reason)));
        output::line(&value.to_string());
    }
    // A value of a model with errors is shown, but is no success: what is wrong in it is null.
    let errors = told.iter().filter(|one| one.diagnostic.severity == Severity::Error).count();
    if errors > 0 {
        bail!("the model has {}; what is wrong in it is null", counted(errors, "error"));
    }
    if options.strict && value.is_null() {
        bail!("the value of `{name}` is null (--strict)");
    }
    if options.strict && !outcome.reasons.is_empty() {
        bail!("a part of the value of `{name}` was null for a reason (--strict)");
    }
    Ok(())
}

fn check(options: &CheckDecisions, as_json: bool) -> Result<()> {
    let inputs = options.files.iter().chain(&options.cases).filter(|file| is_standard(file)).count();
    once(inputs)?;
    let sources = sources(&options.files)?;
    let cases = options.cases.as_deref().map(cases::read).transpose()?;
    let texts: Vec<String> = sources.iter().map(Source::text).collect();
    let found: Vec<Found> = heddle_server::operator::decision_findings(&texts)
        .into_iter()
        .map(|one| Found { file: file_of(&one, &sources), diagnostic: one })
        .collect();
    let results: Vec<cases::CaseResult> = match &cases {
        Some(cases) => {
            // Whatever is wrong with the documents has been found above.
            let model = compiled(&sources, &mut Vec::new())?;
            cases.iter().map(|case| cases::run(case, &model)).collect()
        }
        None => Vec::new(),
    };
    let count = |severity| found.iter().filter(|one| one.diagnostic.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let failed = results.iter().filter(|result| !result.passed).count();
    if as_json {
        let findings: Vec<_> = found.iter().map(Found::as_json).collect();
        let mut document = json!({ "errors": errors, "warnings": warnings, "diagnostics": findings });
        if let (Some(_), Some(members)) = (&cases, document.as_object_mut()) {
            members.insert("failed".to_owned(), failed.into());
            members.insert("cases".to_owned(), serde_json::to_value(&results)?);
        }
        output::json(&document);
    } else {
        found.iter().for_each(|one| output::line(&one.sentence()));
        results.iter().for_each(|result| output::line(&result.sentence()));
        let mut summary = format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"));
        if cases.is_some() {
            summary += &format!(", {} of {} passed", results.len() - failed, counted(results.len(), "case"));
        }
        output::line(&summary);
    }
    if errors > 0 {
        bail!("the model has {}", counted(errors, "error"));
    }
    if failed > 0 {
        bail!("{} failed", counted(failed, "case"));
    }
    if options.strict && warnings > 0 {
        bail!("the model has {} (--strict)", counted(warnings, "warning"));
    }
    Ok(())
}

/// The value of a decision at this moment.
fn outcome(model: &Model, name: &str, input: &Map<String, Value>, explain: bool) -> Result<Outcome> {
    let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
    let now = Timestamp::from_micros(i64::try_from(micros).unwrap_or_default());
    match model.evaluate(name, input, &EvalOptions { explain, ..EvalOptions::new(now) }) {
        Err(EvaluateError::Unknown(name)) => {
            let known = decisions(model).join(", ");
            let message = format!("there is no decision and no decision service `{name}`; there are {known}");
            Err(Failure::NotFound(message).into())
        }
        other => Ok(other?),
    }
}

/// A file as it was read.
struct Source {
    /// Name for people.
    name: String,
    bytes: Vec<u8>,
}

impl Source {
    /// The document as text, in whatever encoding it was written; one that can't be read as far as it is text.
    fn text(&self) -> String {
        let read = xml::read(&self.bytes).ok().and_then(|imported| imported.model.source_xml);
        read.unwrap_or_else(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    files.iter().map(|file| Ok(Source { name: shown(file), bytes: given::bytes(file)? })).collect()
}

/// A finding and the file that it is about.
struct Found {
    file: String,
    diagnostic: Diagnostic,
}

impl Found {
    /// One line for people: place, weight, word, sentence, rules, example, remedy.
    fn sentence(&self) -> String {
        let one = &self.diagnostic;
        let mut text = self.file.clone();
        for number in [one.line, one.column].into_iter().flatten() {
            text += &format!(":{number}");
        }
        let weight = match one.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "note",
        };
        text += &format!(": {weight} {}: {}", one.code, one.message);
        if let Some(id) = &one.element_id {
            text += &format!(" [element {id}]");
        }
        if !one.rules.is_empty() {
            let rules: Vec<_> = one.rules.iter().map(ToString::to_string).collect();
            text += &format!(" [rules {}]", rules.join(", "));
        }
        if let Some(example) = &one.example {
            text += &format!(" [for example {}]", Value::Object(example.clone()));
        }
        if let Some(remedy) = &one.remedy {
            text += &format!(" -> {remedy}");
        }
        text
    }

    fn as_json(&self) -> Value {
        let mut shown = serde_json::to_value(&self.diagnostic).unwrap_or_default();
        if let Some(members) = shown.as_object_mut() {
            members.insert("file".to_owned(), self.file.clone().into());
            // The place within a definition says nothing here: there is but a file.
            members.remove("path");
        }
        shown
    }
}

/// The file that a finding of a definition is about.
fn file_of(one: &Diagnostic, sources: &[Source]) -> String {
    let path = one.path.as_deref().unwrap_or_default();
    let number = path.strip_prefix("dmn.importedDocuments[").and_then(|rest| rest.split(']').next());
    let at = number.and_then(|number| number.parse::<usize>().ok()).map_or(0, |number| number + 1);
    sources.get(at).or(sources.first()).map(|source| source.name.clone()).unwrap_or_default()
}

/// Reads and compiles; what is found on the way is added to `found`.
fn compiled(sources: &[Source], found: &mut Vec<Found>) -> Result<Model> {
    let mut models: Vec<DecisionModel> = Vec::new();
    for source in sources {
        let imported = xml::read(&source.bytes).with_context(|| format!("`{}`", source.name))?;
        let own = imported.diagnostics.into_iter();
        found.extend(own.map(|diagnostic| Found { file: source.name.clone(), diagnostic }));
        models.push(imported.model);
    }
    let compiled = compile_with(&models, dialect(&models));
    let first = sources.first().map(|source| source.name.clone()).unwrap_or_default();
    let own = compiled.diagnostics.into_iter();
    found.extend(own.map(|diagnostic| Found { file: first.clone(), diagnostic }));
    Ok(compiled.model)
}

/// The input: an object, or the file named after `@`, or standard input.
fn input(given: Option<&str>) -> Result<Map<String, Value>> {
    match given::object("--input", given)? {
        Some(Value::Object(members)) => Ok(members),
        _ => Ok(Map::new()),
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
        (None, _) => Err(Failure::NotFound("the model has no decision".to_owned()).into()),
        _ => {
            let known = self::decisions(model).join(", ");
            Err(Failure::Configuration(format!("name one with --decision: {known}")).into())
        }
    }
}

/// Reason for a null in one line.
fn why(reason: &Reason) -> String {
    let whose = reason.element_name.as_ref().map_or_else(String::new, |name| format!("`{name}`: "));
    let place = match (reason.line, reason.column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        _ => String::new(),
    };
    format!("null because {whose}{}{place}", reason.message)
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn is_standard(file: &Path) -> bool {
    file.as_os_str() == given::STANDARD_INPUT
}

fn shown(file: &Path) -> String {
    if is_standard(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// Standard input can be read for one thing.
fn once(times: usize) -> Result<()> {
    if times > 1 {
        return Err(Failure::Configuration("standard input (`-`) can be read once".to_owned()).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_file_place_word_and_remedy() {
        let mut diagnostic = Diagnostic::new(Severity::Warning, "tableOverlap", "Two rules match.");
        (diagnostic.line, diagnostic.column) = (Some(5), Some(7));
        diagnostic.rules = vec![2, 3];
        diagnostic.remedy = Some("Narrow one.".to_owned());
        diagnostic.path = Some("dmn.importedDocuments[0].sourceXml".to_owned());
        let sources = ["a.dmn", "b.dmn"].map(|name| Source { name: name.to_owned(), bytes: Vec::new() });
        let found = Found { file: file_of(&diagnostic, &sources), diagnostic };
        assert_eq!(
            found.sentence(),
            "b.dmn:5:7: warning tableOverlap: Two rules match. [rules 2, 3] -> Narrow one."
        );
        assert_eq!(found.as_json()["file"], "b.dmn");
    }
}

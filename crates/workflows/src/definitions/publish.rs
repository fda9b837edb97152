//! Validation: what a publication asks for, and the further profiles.

use std::collections::{HashMap, HashSet};

use heddle_bpmn::ElementKind;
use heddle_bpmn::diagnostic::{self, Diagnostic};
use heddle_bpmn::model::{NodeAt, WorkflowDefinition};
use heddle_bpmn_graph::{self as graph, TimerDefinition, TimerKind};
use heddle_bpmn_validate::{self as validate, Profile, Soundness, constraints};
use heddle_definitions::{DefinitionKey, is_error};
use heddle_engine::Budget;
use heddle_kernel::Timestamp;
use heddle_policy::capability::WorkflowValidate;
use heddle_policy::{Authorized, RequestContext};
use heddle_settings::inside::step_checks;

use super::{Definitions, calls, deployments, people};
use crate::decisions;
use crate::models::typed;
use crate::{UseCaseError, schema};

/// Result of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidationReport {
    /// No finding is an error.
    pub valid: bool,
    /// A run could be started.
    pub executable: bool,
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
    /// Soundness of the flow; none when only the structure was to be judged, or there is no definition.
    pub soundness: Option<Soundness>,
}

/// Extent of a validation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationProfile {
    /// References, ids, scopes.
    Structural,
    /// Whether it can be exported as WS-BPEL.
    Bpel,
    /// Also whether this engine can execute it, by the rules that bind on every model.
    #[default]
    Executable,
    /// Also the rules on choreographies, conversations and interchange.
    Full,
    /// Also the rules of the Common Executable sub-class, and whether it keeps to its elements.
    CommonExecutable,
}

impl Definitions {
    /// Checks the given definition, or the draft.
    ///
    /// # Errors
    /// `NotFound`, `Unavailable`. What is wrong with the definition stands in the report.
    pub async fn validate(
        &self,
        authorized: &Authorized<WorkflowValidate>,
        context: &RequestContext,
        definition: Option<WorkflowDefinition>,
        profile: ValidationProfile,
    ) -> Result<ValidationReport, UseCaseError> {
        let key = DefinitionKey::of(authorized.key());
        self.store.get(key, context.user_id()).await?;
        let definition = match definition {
            Some(definition) => Some(definition),
            None => self.store.draft(key).await?.value().map(typed).transpose()?,
        };
        let Some(definition) = definition else { return Ok(empty_report()) };
        let (mut diagnostics, executable) = examine(&definition, &self.budget);
        if !matches!(profile, ValidationProfile::Structural | ValidationProfile::Bpel) {
            let tenant = context.tenant();
            diagnostics.extend(people::findings(&*self.directory, tenant, &definition).await?);
            let known = self.deployments.as_deref();
            diagnostics.extend(deployments::findings(known, tenant, &definition).await?);
            diagnostics.extend(calls::findings(&*self.store, tenant, Some(key), &definition).await?);
        }
        let shown = match profile {
            ValidationProfile::Structural => {
                merged(validate::structure(&definition), constraints(&definition, Profile::Structural))
            }
            ValidationProfile::Bpel => super::bpel::findings(&definition),
            ValidationProfile::Executable => {
                merged(diagnostics, constraints(&definition, Profile::Structural))
            }
            ValidationProfile::Full => merged(diagnostics, constraints(&definition, Profile::Full)),
            ValidationProfile::CommonExecutable => {
                let beyond = validate::outside_common_executable(&definition);
                let own = merged(constraints(&definition, Profile::CommonExecutable), beyond);
                merged(diagnostics, own)
            }
        };
        let (soundness, shown) = match profile {
            ValidationProfile::Structural | ValidationProfile::Bpel => (None, shown),
            ValidationProfile::Executable | ValidationProfile::Full | ValidationProfile::CommonExecutable => {
                let soundness = validate::soundness(&definition);
                let told = merged(shown, soundness.diagnostics());
                (Some(soundness), told)
            }
        };
        Ok(ValidationReport { valid: !shown.iter().any(is_error), executable, diagnostics: shown, soundness })
    }
}

fn empty_report() -> ValidationReport {
    let nothing = diagnostic::error("definitionMissing", "The draft has no definition.");
    ValidationReport { valid: false, executable: false, diagnostics: vec![nothing], soundness: None }
}

/// Codes of references that lead nowhere, or to the wrong element.
const REFERENCES: &[&str] = &["danglingReference", "flowCrossesBorder", "wrongReference", "required"];

/// All findings, and whether a run could be started.
pub(super) fn examine(definition: &WorkflowDefinition, budget: &Budget) -> (Vec<Diagnostic>, bool) {
    let constraints = constraints(definition, Profile::Publication);
    let mut diagnostics = merged(validate::structure(definition), constraints);
    let decisions = decisions::findings(definition);
    let model = decisions::compile(definition).ok().flatten().map(|own| own.model);
    let runnable = decisions::runnable(definition, model.as_ref());
    let mut compiled = graph::compile(&runnable);
    // A reference that leads nowhere was told with its place.
    let told: HashSet<String> = diagnostics
        .iter()
        .filter(|found| is_error(found) && REFERENCES.contains(&found.code.as_str()))
        .filter_map(|found| found.element_id.clone())
        .collect();
    compiled.diagnostics.retain(|found| {
        !(REFERENCES.contains(&found.code.as_str())
            && found.element_id.as_ref().is_some_and(|id| told.contains(id)))
    });
    if model.is_none() && decisions.iter().any(is_error) {
        // The decisions would be the processes, if they could be read.
        compiled.diagnostics.retain(|found| found.code != "noExecutableProcess");
    }
    let places: HashMap<&str, String> = heddle_bpmn::model::nodes(definition)
        .into_iter()
        .filter_map(|at| Some((at.node.id.as_deref()?, at.path)))
        .collect();
    let placed = compiled.diagnostics.into_iter().map(|mut found| {
        if found.path.is_none() {
            found.path = found.element_id.as_deref().and_then(|id| places.get(id).cloned());
        }
        found
    });
    diagnostics = merged(diagnostics, placed.collect());
    diagnostics.extend(validate::enforceability(definition));
    diagnostics.extend(graph::unknown_settings(definition));
    diagnostics.extend(graph::service_settings(definition));
    diagnostics.extend(schema_findings(definition));
    diagnostics.extend(timer_findings(definition, budget.least_period_millis));
    diagnostics.extend(timer_start_findings(definition));
    diagnostics.extend(decisions);
    if compiled.processes.is_empty() && !diagnostics.iter().any(is_error) {
        let message = "The definition has no executable process.";
        diagnostics.push(diagnostic::error("noExecutableProcess", message));
    }
    diagnostics.sort_by_key(|found| std::cmp::Reverse(found.severity));
    let executable = !diagnostics.iter().any(is_error);
    (diagnostics, executable)
}

/// Both lists; what the second one says of an element of the first again is left out, but for the catalogue's name of
/// the rule. What one list says several times of an element has several reasons, and stays.
pub(super) fn merged(mut found: Vec<Diagnostic>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let key = |one: &Diagnostic| (one.code.clone(), one.element_id.clone());
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        known.entry(key(one)).or_default().push(at);
    }
    for one in more {
        let Some(places) = known.get(&key(&one)) else {
            found.push(one);
            continue;
        };
        let named = |own: &Diagnostic| own.rule == one.rule;
        let is_told = places.iter().filter_map(|at| found.get(*at)).any(named);
        if one.rule.is_none() || is_told {
            continue;
        }
        let unnamed = places.iter().copied().find(|at| found.get(*at).is_some_and(|own| own.rule.is_none()));
        match unnamed.and_then(|at| found.get_mut(at)) {
            Some(own) => own.rule = one.rule,
            None => found.push(one),
        }
    }
    found
}

/// Places of schemas in a node's settings: of forms and inputs, of what a model gives, of a tool's arguments.
const SCHEMAS: [&str; 5] = ["/form", "/inputSchema", "/schema", "/responseFormat/schema", "/tool/parameters"];

/// Those of them whose defaults are filled in.
const FILLED_IN: [&str; 2] = ["/form", "/inputSchema"];

/// Schemas have to be JSON Schemas within bounds, or no task could ever be completed and no answer could fit.
fn schema_findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        let Some(settings) = &at.node.configuration else { continue };
        for pointer in SCHEMAS {
            let mut steps = pointer.split('/').skip(1);
            let first = steps.next().and_then(|step| settings.get(step));
            let schema = steps.fold(first, |value, step| value.and_then(|value| value.get(step)));
            let Some(schema) = schema.filter(|schema| schema.is_object() || !is_new(pointer)) else {
                continue;
            };
            let member = pointer.trim_start_matches('/').replace('/', ".");
            if FILLED_IN.contains(&pointer) {
                found.extend(unfit_defaults(&at, &member, schema));
            }
            if let Err(reason) = schema::usable(schema) {
                let message = format!("`configuration.{member}` is not a JSON Schema: {reason}");
                let place = format!("{}.configuration.{member}", at.path);
                let id = at.node.id.clone().unwrap_or_default();
                found.push(diagnostic::error("invalidSchema", message).with_element(id).with_path(place));
            }
        }
    }
    found.extend(check_findings(definition));
    found.extend(step_findings(definition));
    found
}

/// Defaults of a form or an input that are no values of their properties: those are never filled in.
fn unfit_defaults(at: &NodeAt<'_>, member: &str, schema: &serde_json::Value) -> Vec<Diagnostic> {
    let unfit = schema::unfit_defaults(schema).into_iter().map(|(name, reason)| {
        let message = format!(
            "the default of `{}` is no value of it, and is not filled in: {reason}",
            heddle_kernel::shortened(&name)
        );
        let place = format!("{}.configuration.{member}.properties.{name}.default", at.path);
        let id = at.node.id.clone().unwrap_or_default();
        diagnostic::warning("unfitDefault", message).with_element(id).with_path(place)
    });
    unfit.collect()
}

/// Schemas of the checks of steps.
fn step_findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        let Some(settings) = &at.node.configuration else { continue };
        let is_step = settings.get("kind").and_then(serde_json::Value::as_str) == Some("guardrail.check");
        let checks = settings.get("checks").filter(|_| is_step).and_then(step_checks);
        for (number, text) in checks.into_iter().flatten().enumerate() {
            let Some(reason) = unusable(&text) else { continue };
            let message =
                format!("`configuration.schema` of `checks[{number}]` is not a JSON Schema: {reason}");
            let id = at.node.id.clone().unwrap_or_default();
            let one = diagnostic::error("invalidSchema", message).with_element(id);
            found.push(one.with_path(format!("{}.configuration.checks", at.path)));
        }
    }
    found
}

/// Reason for which the schema of a check cannot be used; none for one that can, and for a check without any.
fn unusable(check: &str) -> Option<String> {
    let check: serde_json::Value = serde_json::from_str(check).ok()?;
    schema::usable(check.pointer("/configuration/schema")?).err()
}

/// Whether what stands at a place that is no object is told by the compilation.
fn is_new(pointer: &str) -> bool {
    !matches!(pointer, "/form" | "/inputSchema")
}

/// Schemas of the definition's own checks.
fn check_findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let checks = definition.protection.as_ref().and_then(|own| own.custom_checks.as_deref());
    let mut found = Vec::new();
    for (at, text) in checks.unwrap_or_default().iter().enumerate() {
        let Some(reason) = unusable(text) else { continue };
        let message = format!("`configuration.schema` of the check is not a JSON Schema: {reason}");
        let place = format!("protection.customChecks[{at}]");
        found.push(diagnostic::error("invalidSchema", message).with_path(place));
    }
    found
}

/// Cycles whose slots are closer than the least period: they would run for ever as fast as they can. Those that an
/// expression gives are held against it when they are set.
fn timer_findings(definition: &WorkflowDefinition, least: i64) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in heddle_bpmn::model::nodes(definition) {
        let events = at.node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref());
        for event in events.unwrap_or_default() {
            let Some(Ok(timer)) =
                event.time_cycle.as_deref().map(|text| TimerDefinition::parse(TimerKind::Cycle, text))
            else {
                continue;
            };
            let scope = serde_json::Map::new();
            let schedule = timer.is_literal().then(|| timer.schedule(Timestamp::from_micros(0), &scope).ok());
            let Some(period) = schedule.flatten().and_then(|schedule| schedule.period_millis()) else {
                continue;
            };
            if period < least {
                let message = format!(
                    "The cycle `{}` has a period of {period} ms; the least is {least} ms.",
                    timer.text()
                );
                let id = at.node.id.clone().unwrap_or_default();
                found.push(
                    diagnostic::error("timerPeriod", message)
                        .with_element(id)
                        .with_path(format!("{}.bpmn.eventDefinitions", at.path))
                        .with_clause("10.5.5.6"),
                );
            }
        }
    }
    found
}

/// Timer starts that can start nothing: a timer brings no input, and the schema asks for some.
fn timer_start_findings(definition: &WorkflowDefinition) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for at in
        heddle_bpmn::model::nodes(definition).into_iter().filter(|at| at.node.is(ElementKind::StartEvent))
    {
        let events = at.node.bpmn.as_ref().and_then(|bpmn| bpmn.event_definitions.as_deref());
        let timed = events.unwrap_or_default().iter().any(|event| event.r#type.as_deref() == Some("timer"));
        let schema =
            at.node.configuration.as_ref().and_then(|configuration| configuration.get("inputSchema"));
        let Some(schema) = schema.filter(|schema| timed && schema::usable(schema).is_ok()) else { continue };
        let nothing = serde_json::Value::Object(serde_json::Map::new());
        if let Some(problem) = schema::Checker::new(schema).check(&nothing, "input").first() {
            let message = format!(
                "A timer starts its runs without input, which the schema refuses: {}",
                problem.message
            );
            let remedy = "Require nothing at a start by time, or give the process a start event of its own for callers.";
            found.push(
                diagnostic::error("timerInput", message)
                    .with_element(at.node.element_id().unwrap_or_default())
                    .with_path(format!("{}.configuration.inputSchema", at.path))
                    .with_clause("10.5.2")
                    .with_remedy(remedy),
            );
        }
    }
    found
}

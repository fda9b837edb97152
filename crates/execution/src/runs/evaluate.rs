//! Decisions without a run: a decision or decision service of a version, or of the draft, over given inputs.
//!
//! What stays small is evaluated where it is asked for; what turns out to be large begins anew on the threads that
//! compute, in its organisation's turn, and is given up after as long as a step of a run is.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use heddle_dmn::{DecisionExplanation, ElementKind, ElementRef, EvalOptions, Misfit, Model, Outcome};
use heddle_feel::{LimitError, Limits, size, to_json};
use heddle_kernel::{DefinitionKind, Timestamp};
use heddle_policy::capability::WorkflowRun;
use heddle_policy::{Authorized, RequestContext};
use heddle_usecase::{Admission, VersionChoice, computed};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::Runs;
use super::stepping::give_up;
use crate::{Problem, UseCaseError};

/// Steps of an evaluation that is done where it is asked for: about a millisecond.
const INLINE: u64 = 20_000;
/// Most bytes of a result, as FEEL estimates them.
const MOST_BYTES: u64 = 4 << 20;
/// Most bytes of the decisions that an explanation tells of.
const MOST_EXPLAINED: usize = 1 << 20;

/// A decision to be evaluated.
#[derive(Debug, Clone)]
pub struct DecisionCall {
    /// Id or name of a decision or decision service.
    pub decision: String,
    /// Version of the workflow whose decision it is.
    pub version: VersionChoice,
    /// Values of the inputs by name.
    pub input: Map<String, Value>,
    /// Whether to tell how the result came about.
    pub explain: bool,
}

/// Result of a decision.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionResult {
    /// The version; none for the draft.
    pub version: Option<i32>,
    /// Id of the decision or service, where it has one.
    pub id: Option<String>,
    /// Name of it.
    pub name: String,
    /// Whether it is a decision service.
    pub is_service: bool,
    /// The result.
    pub output: Value,
    /// Reasons why parts of the result are null, each an object with `message`.
    pub reasons: Vec<Value>,
    /// The decisions on the way in their order, when that was asked for.
    pub decisions: Option<Vec<Value>>,
    /// Whether decisions on the way are left out because they are too many; those nearest to the result are told.
    pub truncated: bool,
}

/// A model with the element that is asked for.
#[derive(Clone)]
struct Asked {
    model: Model,
    element: ElementRef,
    version: Option<i32>,
    now: Timestamp,
}

/// Reason for which an evaluation gave nothing.
enum Failed {
    /// A limit was exceeded.
    Limit(LimitError),
    /// Inputs are not of their types.
    Misfits(Vec<Misfit>),
    /// The result is too large to be told.
    TooLarge,
}

impl From<LimitError> for Failed {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}

impl Runs {
    /// Evaluates a decision or a decision service without a run; nothing is written.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` (`notPublished`, `archived`, `malformedDecisions`); `Invalid` for an unknown version or
    /// decision, for an input that is not of its type, and where a limit is exceeded; `QueueFull`, `Abandoned`.
    pub async fn evaluate(
        &self,
        authorized: &Authorized<WorkflowRun>,
        context: &RequestContext,
        call: DecisionCall,
    ) -> Result<DecisionResult, UseCaseError> {
        let (version, model) = self.decisions_of(authorized, context, call.version).await?;
        let element = model.as_ref().and_then(|model| wanted(model, &call.decision));
        let (Some(model), Some(element)) = (&model, element) else {
            return Err(unknown(model.as_ref(), &call.decision));
        };
        let asked = Asked { model: model.clone(), element, version, now: context.now() };
        let limits = Limits { steps: INLINE, ..Limits::default() };
        match evaluated(&asked, &call, &limits) {
            Err(Failed::Limit(_)) => self.evaluated_apart(context, asked, call).await,
            other => other.map_err(|failed| refused(failed, 0)),
        }
    }

    /// The number of the chosen version, and its decisions.
    async fn decisions_of(
        &self,
        authorized: &Authorized<WorkflowRun>,
        context: &RequestContext,
        choice: VersionChoice,
    ) -> Result<(Option<i32>, Option<Model>), UseCaseError> {
        let (tenant, workflow) = (context.tenant(), authorized.id());
        let versions = self.ports.versions.of(DefinitionKind::Workflow)?;
        let standing = versions.standing(tenant, workflow).await?;
        if standing.is_archived {
            return Err(UseCaseError::conflict("archived", "The workflow is archived."));
        }
        let number = match (choice, standing.latest) {
            (VersionChoice::Draft, _) => {
                let decisions = versions.draft_decisions(tenant, workflow, context.user_id()).await?;
                return Ok((None, decisions));
            }
            (VersionChoice::Published, Some(latest)) => latest,
            (VersionChoice::Number(number), Some(latest)) if (1..=latest).contains(&number) => number,
            (VersionChoice::Number(number), Some(_)) => {
                let message = format!("There is no version {number}.");
                return Err(UseCaseError::invalid("version", "unknownVersion", message));
            }
            (VersionChoice::Published | VersionChoice::Number(_), None) => {
                return Err(UseCaseError::conflict("notPublished", "The workflow has no published version."));
            }
        };
        let compiled = versions.plan(tenant, workflow, number).await?;
        Ok((Some(number), compiled.decisions.clone()))
    }

    /// Evaluates on the threads that compute, with the whole budget of an evaluation.
    async fn evaluated_apart(
        &self,
        context: &RequestContext,
        asked: Asked,
        call: DecisionCall,
    ) -> Result<DecisionResult, UseCaseError> {
        let stop = Arc::new(AtomicBool::new(false));
        let limits = Limits { cancel: Some(Arc::clone(&stop)), ..Limits::default() };
        let seconds = self.patience.as_secs();
        let (begin, began) = oneshot::channel();
        let work = move || {
            // Nobody waits for the begin of what was given up before.
            let _ = begin.send(());
            evaluated(&asked, &call, &limits)
        };
        let computing = computed(&*self.ports.compute, context.tenant(), Admission::Refuse, work);
        let done = tokio::select! {
            biased;
            done = computing => done?,
            never = give_up(began, self.patience, &stop) => match never {},
        };
        done.map_err(|failed| refused(failed, seconds))
    }
}

/// The decision or service of a name or id.
pub(super) fn wanted(model: &Model, decision: &str) -> Option<ElementRef> {
    let element = model.find(decision)?;
    let kind = model.kind(element)?;
    matches!(kind, ElementKind::Decision | ElementKind::DecisionService).then_some(element)
}

/// Decisions and decision services: ids, or names where there is none, and names.
pub(super) fn callable(model: &Model) -> impl Iterator<Item = (&str, &str)> {
    model
        .elements()
        .filter(|(_, kind, ..)| matches!(kind, ElementKind::Decision | ElementKind::DecisionService))
        .map(|(_, _, name, id)| (id.unwrap_or(name), name))
}

fn unknown(model: Option<&Model>, decision: &str) -> UseCaseError {
    let known: Vec<String> =
        model.into_iter().flat_map(callable).map(|(id, _)| format!("`{id}`")).take(50).collect();
    let message = match known.as_slice() {
        [] => format!("There is no decision `{decision}`: the definition has none."),
        known => format!("There is no decision `{decision}`; there are {}.", known.join(", ")),
    };
    UseCaseError::invalid("decision", "unknownDecision", message)
}

fn refused(failed: Failed, seconds: u64) -> UseCaseError {
    match failed {
        Failed::Limit(LimitError::Cancelled) => UseCaseError::Abandoned { seconds },
        Failed::Limit(limit) => {
            UseCaseError::invalid("decision", "limitExceeded", format!("The decision was not made: {limit}."))
        }
        Failed::TooLarge => {
            let message = format!("The result has more than {MOST_BYTES} bytes.");
            UseCaseError::invalid("decision", "limitExceeded", message)
        }
        Failed::Misfits(misfits) => {
            let problem = |one: Misfit| {
                Problem::at(
                    format!("input.{}", one.name),
                    "wrongType",
                    format!("{}.", sentence(&one.message)),
                )
            };
            UseCaseError::Invalid(misfits.into_iter().map(problem).collect())
        }
    }
}

/// A reason with a capital letter at its begin.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn evaluated(asked: &Asked, call: &DecisionCall, limits: &Limits) -> Result<DecisionResult, Failed> {
    let Asked { model, element, version, now } = asked;
    let options = EvalOptions { now: *now, limits: limits.clone(), explain: call.explain };
    let Outcome { value, reasons, explanation } = model.evaluate_element(*element, &call.input, &options)?;
    // An input that is not of its type leaves a reason: without any there is nothing to look for.
    if !reasons.is_empty() {
        let misfits = model.misfits(*element, &call.input, &options)?;
        if !misfits.is_empty() {
            return Err(Failed::Misfits(misfits));
        }
    }
    if size(&value, MOST_BYTES) > MOST_BYTES {
        return Err(Failed::TooLarge);
    }
    let (decisions, truncated) = match explanation {
        Some(explanation) => {
            let (decisions, truncated) = nearest(explanation.decisions);
            (Some(decisions), truncated)
        }
        None => (None, false),
    };
    Ok(DecisionResult {
        version: *version,
        id: model.id(*element).map(str::to_owned),
        name: model.name(*element).to_owned(),
        is_service: model.kind(*element) == Some(ElementKind::DecisionService),
        output: to_json(&value),
        reasons: reasons.iter().filter_map(|reason| serde_json::to_value(reason).ok()).collect(),
        decisions,
        truncated,
    })
}

/// The decisions as JSON, those nearest to the result where all are too many; and whether some are left out.
fn nearest(all: Vec<DecisionExplanation>) -> (Vec<Value>, bool) {
    let count = all.len();
    let (mut bytes, mut kept) = (0, Vec::new());
    for one in all.iter().rev() {
        let Ok(value) = serde_json::to_value(one) else { break };
        bytes += value.to_string().len();
        if bytes > MOST_EXPLAINED {
            break;
        }
        kept.push(value);
    }
    kept.reverse();
    let truncated = kept.len() < count;
    (kept, truncated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MODEL: &str = r##"<definitions xmlns="https://www.omg.org/spec/DMN/20230324/MODEL/" id="m" name="m" namespace="urn:m">
     <inputData id="amount" name="amount"><variable name="amount" typeRef="number"/></inputData>
     <decision id="double" name="Double"><variable name="Double" typeRef="number"/>
      <informationRequirement id="r"><requiredInput href="#amount"/></informationRequirement>
      <literalExpression><text>amount * 2</text></literalExpression></decision>
     <decision id="long" name="Long"><variable name="Long"/>
      <literalExpression><text>count(for i in 1..100000 return i)</text></literalExpression></decision>
     <decisionService id="service" name="Service"><variable name="Service"/><outputDecision href="#double"/>
      <inputData href="#amount"/></decisionService></definitions>"##;

    fn asked(decision: &str) -> Asked {
        let read = heddle_dmn::xml::read(MODEL.as_bytes()).unwrap().model;
        let model = heddle_dmn::compile(&[read]).model;
        let element = wanted(&model, decision).unwrap();
        Asked { model, element, version: Some(1), now: Timestamp::default() }
    }

    fn call(input: Value, explain: bool) -> DecisionCall {
        let input = input.as_object().unwrap().clone();
        DecisionCall { decision: String::new(), version: VersionChoice::Published, input, explain }
    }

    #[test]
    fn decisions_and_services_are_evaluated_with_an_explanation_on_request() {
        for (decision, is_service) in [("double", false), ("Double", false), ("service", true)] {
            let told = evaluated(&asked(decision), &call(json!({"amount": 4}), false), &Limits::default());
            let Ok(told) = told else { panic!("{decision}") };
            assert_eq!((&told.output, told.is_service, told.decisions), (&json!(8), is_service, None));
        }
        let told = evaluated(&asked("double"), &call(json!({"amount": 4}), true), &Limits::default());
        let decisions = told.ok().and_then(|told| told.decisions).unwrap();
        assert_eq!(decisions[0]["inputs"], json!({"amount": 4}));
    }

    #[test]
    fn inputs_that_are_not_of_their_types_are_named() {
        for decision in ["double", "service"] {
            let failed =
                evaluated(&asked(decision), &call(json!({"amount": "four"}), false), &Limits::default());
            let Err(Failed::Misfits(misfits)) = failed else { panic!("{decision}") };
            let UseCaseError::Invalid(problems) = refused(Failed::Misfits(misfits), 0) else { panic!() };
            assert_eq!(
                (problems[0].field.as_deref(), problems[0].reason),
                (Some("input.amount"), "wrongType")
            );
        }
        // What is absent is null, as the standard has it.
        let told = evaluated(&asked("double"), &call(json!({}), false), &Limits::default());
        assert!(told.is_ok_and(|told| told.output.is_null()));
    }

    #[test]
    fn what_is_no_small_evaluation_is_told_by_its_limit() {
        let limits = Limits { steps: INLINE, ..Limits::default() };
        let small = evaluated(&asked("long"), &call(json!({}), false), &limits);
        assert!(matches!(small, Err(Failed::Limit(_))));
        let whole = evaluated(&asked("long"), &call(json!({}), false), &Limits::default());
        assert!(whole.is_ok_and(|told| told.output == json!(100_000)));
    }
}

//! Protection of what goes into a node and comes out of it.

use heddle_guardrails::{Action, Hit, Policy, Stage, Subject, Verdict};
use serde_json::{Map, Value, json};

use crate::evaluate::as_text;
use crate::fault::WorkFault;
use crate::work::{Ending, Work};
use crate::{answers, prompts};

/// Tokens that the decision of a model may have.
const DECISION_TOKENS: u64 = 60;
/// Most bytes of a text that a model decides upon.
const MOST_DECIDED: usize = 64 << 10;

/// Value that passed, with what was found in it, or the end of the node.
pub(crate) enum Passage {
    /// The value, without what was taken out.
    Through(Through),
    /// The end.
    Ended(Box<Ending>),
}

/// A value that passed.
pub(crate) struct Through {
    pub value: Value,
    pub hits: Vec<Hit>,
    pub is_changed: bool,
}

impl Work<'_> {
    /// Holds a value against the protection of the definition at a stage: deterministic checks first, then models.
    /// `hits` are those of the stages before; all of them are told with the end.
    pub(crate) async fn pass(
        &self,
        stage: Stage,
        value: Value,
        hits: Vec<Hit>,
    ) -> Result<Passage, WorkFault> {
        let verdict = self.verdict(&self.policy, stage, value).await?;
        Ok(self.decide(verdict, hits))
    }

    /// Decision on a node by a verdict.
    pub(crate) fn decide(&self, verdict: Verdict, mut hits: Vec<Hit>) -> Passage {
        let action = verdict.action();
        let Verdict { hits: found, value, is_changed } = verdict;
        hits.extend(found);
        match action {
            Some(Action::Block) => Passage::Ended(Box::new(Ending::violation(hits))),
            Some(Action::Review) if !self.is_approved() => Passage::Ended(Box::new(Ending::review(hits))),
            Some(Action::Review | Action::Redact | Action::Flag) | None => {
                Passage::Through(Through { value, hits, is_changed })
            }
        }
    }

    /// The verdict of all checks of a policy on a value.
    pub(crate) async fn verdict(
        &self,
        policy: &Policy,
        stage: Stage,
        value: Value,
    ) -> Result<Verdict, WorkFault> {
        let node = self.caller.node.as_str();
        let subject = Subject { stage, node, variables: &self.variables, schema: None, now: self.now };
        let mut verdict = policy.check(&subject, value, self.schemas);
        if verdict.is_blocked() {
            return Ok(verdict);
        }
        let own = self.evaluator().text("model")?;
        let asked = policy.model_checks(node, stage).into_iter().filter_map(|check| {
            // A check of a preset asks the node's own model, and nobody where there is none.
            let model = check.model.clone().or_else(|| own.clone())?;
            Some(Asked { check, model })
        });
        let asked: Vec<Asked> = asked.collect();
        if asked.is_empty() {
            return Ok(verdict);
        }
        let text = as_text(&verdict.value);
        let purpose = self.purpose(policy)?;
        let questions = asked.iter().map(|asked| self.decision(asked, &text, &purpose));
        let answers = futures::future::join_all(questions).await;
        for (asked, answer) in asked.iter().zip(answers) {
            let read = answer.as_deref().and_then(|answer| asked.check.read(answer));
            verdict.note(&asked.check, policy.action_of(&asked.check.id), stage, read.as_ref());
        }
        Ok(verdict)
    }

    /// The instructions of the node, by which a topic and a ground are known, without what no model is to see.
    fn purpose(&self, policy: &Policy) -> Result<String, WorkFault> {
        let settings = self.evaluator();
        let mut told = Vec::new();
        for member in ["system", "instructions", "goal", "prompt", "query"] {
            told.extend(settings.text(member)?);
        }
        let mut told = policy.cleaned(&self.caller.node, told.join("\n")).unwrap_or_default();
        prompts::cut(&mut told, MOST_DECIDED);
        Ok(told)
    }

    /// The answer of a model to the question of a check; none where there is no answer.
    async fn decision(&self, asked: &Asked, text: &str, purpose: &str) -> Option<String> {
        // A text that is decided upon in part is not decided upon.
        if text.len() > MOST_DECIDED {
            return None;
        }
        let request = json!({
            "model": asked.model,
            "temperature": 0,
            "max_tokens": DECISION_TOKENS,
            "messages": [
                { "role": "system", "content": asked.check.instructions(purpose) },
                { "role": "user", "content": asked.check.content(text) },
            ],
        });
        let Value::Object(request) = request else { return None };
        let answer = self.models.chat(&self.caller, request, self.time().ok()?).await.ok()?;
        answers::text(&answer)
    }

    /// Protection before or after another node: what is to be taken out is taken out of the variables.
    pub(crate) async fn protect(&self) -> Result<Ending, WorkFault> {
        let stage = self.settings.get("stage").and_then(Value::as_str).and_then(Stage::parse);
        let stage = stage.ok_or_else(|| WorkFault("The job's header names no stage.".to_owned()))?;
        let names = self.settings.get("names").and_then(Value::as_array);
        let is_wanted =
            |name: &String| names.is_none_or(|names| names.iter().any(|own| own.as_str() == Some(name)));
        let own = self.variables.iter().filter(|own| is_wanted(own.0));
        let own: Map<String, Value> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        let before = own.clone();
        match self.pass(stage, Value::Object(own), Vec::new()).await? {
            Passage::Ended(ending) => Ok(*ending),
            Passage::Through(Through { value, hits, is_changed }) => {
                let Value::Object(own) = value else { return Ok(Ending::completed(json!({}), hits)) };
                let changed =
                    own.into_iter().filter(|(name, value)| is_changed && before.get(name) != Some(value));
                Ok(Ending::Completed { variables: changed.collect(), hits })
            }
        }
    }

    /// Protection as a step of its own.
    pub(crate) async fn guardrail(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let value = settings.needed("input")?;
        let preset = self.settings.get("preset").and_then(Value::as_str);
        let checks = self.settings.get("checks").and_then(Value::as_array);
        let own;
        let policy = if preset.is_none() && checks.is_none() {
            &self.policy
        } else {
            let text = |check: &Value| check.as_str().map_or_else(|| check.to_string(), str::to_owned);
            let texts: Vec<String> = checks.into_iter().flatten().map(text).collect();
            own = Policy::read(preset, &texts).map_err(|faults| {
                let told: Vec<String> =
                    faults.iter().map(|fault| format!("{}: {fault}", fault.place)).collect();
                WorkFault(told.join(" "))
            })?;
            &own
        };
        let verdict = self.verdict(policy, Stage::Input, value).await?;
        let goes_on = self.settings.get("onViolation").and_then(Value::as_str) == Some("continue");
        if !goes_on {
            return Ok(match self.decide(verdict, Vec::new()) {
                Passage::Ended(ending) => *ending,
                Passage::Through(Through { value, hits, .. }) => sanitized(value, hits),
            });
        }
        let Verdict { hits, value, .. } = verdict;
        Ok(sanitized(value, hits))
    }
}

/// A check by a model with the model that is asked.
struct Asked {
    check: heddle_guardrails::ModelCheck,
    model: String,
}

/// The result of protection as a step: what passed, what was found, and whether the strictest finding is a milder one
/// than a review.
fn sanitized(value: Value, hits: Vec<Hit>) -> Ending {
    let passed = hits.iter().all(|hit| matches!(hit.action, Action::Flag | Action::Redact));
    let violations = serde_json::to_value(&hits).unwrap_or_default();
    Ending::completed(json!({ "passed": passed, "violations": violations, "sanitized": value }), hits)
}

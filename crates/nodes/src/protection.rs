//! Protection of what goes into a node and comes out of it.

use heddle_guardrails::{
    Action, Ground, Hit, ModelCheck, ModelRule, ModelVerdict, Policy, Stage, Subject, Undecided, Verdict,
};
use heddle_settings::inside::{InsideKind, step_checks};
use serde_json::{Map, Value, json};

use crate::answers;
use crate::evaluate::as_text;
use crate::fault::WorkFault;
use crate::notes::{Reviewed, digest};
use crate::work::{Ending, Work};

/// Tokens that the decision of a model may have.
const DECISION_TOKENS: u64 = 60;
/// Most bytes of a text that a model decides upon: as many as the strictest preset lets through.
const MOST_DECIDED: usize = 256 << 10;
/// Most bytes of what the text is held against.
const MOST_GROUND: usize = 1 << 20;

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

/// A value that is held against a policy.
struct Judged<'a> {
    policy: &'a Policy,
    stage: Stage,
    value: Value,
    /// All that the node was given; none where its settings tell it.
    given: Option<&'a str>,
}

/// A result that is held against protection.
pub(crate) struct Outcome {
    pub value: Value,
    /// Findings of the stages before.
    pub hits: Vec<Hit>,
    /// All that the node was given.
    pub given: String,
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
        let digest = digest(stage.as_str(), &value);
        let verdict = self.verdict(Judged { policy: &self.policy, stage, value, given: None }).await?;
        Ok(self.decide(digest, verdict, hits))
    }

    /// Completes with a result that has passed what protects it; `whole` makes of it what the node gives. One that somebody
    /// has to look at is kept, so that it is this one that they let pass.
    pub(crate) async fn finish(
        &self,
        outcome: Outcome,
        whole: impl FnOnce(Value) -> Value + Send,
    ) -> Result<Ending, WorkFault> {
        let Outcome { value, hits, given } = outcome;
        let stage = Stage::Output;
        let digest = digest(stage.as_str(), &value);
        let judged = Judged { policy: &self.policy, stage, value, given: Some(&given) };
        let verdict = self.verdict(judged).await?;
        let held = (verdict.action() == Some(Action::Review)).then(|| verdict.value.clone());
        match self.decide(digest, verdict, hits) {
            Passage::Through(Through { value, hits, .. }) => Ok(Ending::completed(whole(value), hits)),
            Passage::Ended(ending) => {
                let mut ending = *ending;
                if let Some(Value::Object(variables)) = held.map(whole) {
                    ending.keep(Reviewed { seen: self.seen(), variables });
                }
                Ok(ending)
            }
        }
    }

    /// Result of an attempt before that somebody was asked to look at and let pass: it is the work's end. Where the node sees other
    /// variables than then, it is asked anew.
    pub(crate) fn reviewed(&self) -> Option<Ending> {
        let result = self.notes.result.as_ref()?;
        let variables = result.variables.clone();
        (result.seen == self.seen()).then_some(Ending::Completed { variables, hits: Vec::new() })
    }

    /// Digest of the variables that the node sees.
    fn seen(&self) -> String {
        let mut own: Vec<(&String, &Value)> = self.variables.iter().collect();
        own.sort_unstable_by_key(|own| own.0);
        digest("variables", &json!(own))
    }

    /// Decision on a node by a verdict; the digest is that of the value.
    fn decide(&self, digest: String, verdict: Verdict, mut hits: Vec<Hit>) -> Passage {
        let action = verdict.action();
        let Verdict { hits: found, value, is_changed } = verdict;
        hits.extend(found);
        match action {
            Some(Action::Block) => Passage::Ended(Box::new(Ending::violation(hits))),
            Some(Action::Review) if !self.notes.has_passed(&digest) => {
                Passage::Ended(Box::new(self.review(digest, hits)))
            }
            Some(Action::Review | Action::Redact | Action::Flag) | None => {
                Passage::Through(Through { value, hits, is_changed })
            }
        }
    }

    /// The verdict of all checks of a policy on a value.
    async fn verdict(&self, judged: Judged<'_>) -> Result<Verdict, WorkFault> {
        let Judged { policy, stage, value, given } = judged;
        let node = self.caller.node.as_str();
        let subject = Subject { stage, node, variables: &self.variables, schema: None, now: self.instant() };
        let mut verdict = policy.check(&subject, value, self.schemas);
        if verdict.is_blocked() {
            return Ok(verdict);
        }
        let text = as_text(&verdict.value);
        let mut asked = Vec::new();
        for rule in policy.model_checks(node, stage) {
            let ground = match (rule.check.ground(), given) {
                (Ground::Nothing, _) => None,
                (Ground::Given, Some(given)) => Some(given.to_owned()),
                (Ground::Given, None) => Some(self.given(policy)?),
                (Ground::Purpose, _) => Some(self.purpose(policy)?),
            };
            asked.extend(self.asking(rule, &text, ground)?);
        }
        let answers = futures::future::join_all(asked.iter().map(|asked| self.decision(asked, &text))).await;
        for (asked, decided) in asked.iter().zip(answers) {
            verdict.note(&asked.rule, stage, &decided);
        }
        Ok(verdict)
    }

    /// Request by which a model makes a check on a text; none where it is none of this node's.
    fn asking(
        &self,
        rule: ModelRule,
        text: &str,
        ground: Option<String>,
    ) -> Result<Option<Asked>, WorkFault> {
        // A check of a preset asks the node's own model, and nobody where there is none that chats.
        let own = match self.kind {
            InsideKind::Embed => None,
            InsideKind::Chat
            | InsideKind::Extract
            | InsideKind::Classify
            | InsideKind::Rerank
            | InsideKind::Moderate
            | InsideKind::Guardrail
            | InsideKind::Agent
            | InsideKind::Protection => self.evaluator().text("model")?,
        };
        // Who holds a value against a check by a step of its own wants it made.
        let is_step = self.kind == InsideKind::Guardrail;
        let is_beside = self.kind == InsideKind::Protection;
        let is_bare = ground.as_ref().is_some_and(|ground| ground.trim().is_empty());
        let model = rule.check.model.clone().or(own).filter(|model| !model.trim().is_empty());
        let target = match model {
            None if is_step => Err(Undecided::NoModel),
            None => return Ok(None),
            // A node that is for nothing in particular has no topic, and one that was given nothing no ground.
            Some(_) if is_bare && (is_beside || !is_step && rule.check.ground() == Ground::Purpose) => {
                return Ok(None);
            }
            Some(_) if is_bare => Err(Undecided::NoGround),
            // What is decided upon in part is not decided upon.
            Some(_) if text.len() > MOST_DECIDED => Err(Undecided::TooLarge),
            Some(_) if ground.as_ref().is_some_and(|ground| ground.len() > MOST_GROUND) => {
                Err(Undecided::TooLarge)
            }
            Some(model) => Ok(model),
        };
        Ok(Some(Asked { rule, target, ground: ground.unwrap_or_default() }))
    }

    /// The instructions of the node, by which a topic is known, without what no model is to see.
    fn purpose(&self, policy: &Policy) -> Result<String, WorkFault> {
        let settings = self.evaluator();
        let mut told = Vec::new();
        for member in ["system", "instructions", "goal", "prompt", "query", "schema", "classes", "context"] {
            told.extend(settings.text(member)?);
        }
        if let Some(Value::Array(messages)) = settings.value("messages")? {
            let instructs = |message: &&Value| {
                message.get("role").and_then(Value::as_str).is_some_and(|own| own != "user" && own != "tool")
            };
            let own = messages.iter().filter(instructs).cloned().collect();
            told.push(answers::contents(&Value::Array(own)));
        }
        Ok(policy.cleaned(&self.caller.node, told.join("\n")).unwrap_or_default())
    }

    /// Ground of a value that is no answer of a model: the variables beside it, or what the settings say.
    fn given(&self, policy: &Policy) -> Result<String, WorkFault> {
        if self.kind != InsideKind::Protection {
            return self.purpose(policy);
        }
        let beside: Map<String, Value> = self
            .variables
            .iter()
            .filter(|own| !self.is_named(own.0))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let told = if beside.is_empty() { String::new() } else { Value::Object(beside).to_string() };
        Ok(policy.cleaned(&self.caller.node, told).unwrap_or_default())
    }

    /// Whether a variable is among those that protection before or after another node looks at.
    fn is_named(&self, name: &str) -> bool {
        let names = self.settings.get("names").and_then(Value::as_array);
        names.is_none_or(|names| names.iter().any(|own| own.as_str() == Some(name)))
    }

    /// The decision of a model on the question of a check, or why there is none.
    async fn decision(&self, asked: &Asked, text: &str) -> Result<ModelVerdict, Undecided> {
        let model = asked.target.as_ref().map_err(|reason| *reason)?;
        let check: &ModelCheck = &asked.rule.check;
        let request = json!({
            "model": model,
            "temperature": 0,
            "max_tokens": DECISION_TOKENS,
            "messages": [
                { "role": "system", "content": check.instructions(&asked.ground) },
                { "role": "user", "content": check.content(text) },
            ],
        });
        let Value::Object(request) = request else { return Err(Undecided::NoAnswer) };
        let time = self.time().map_err(|_fault| Undecided::NoAnswer)?;
        let answer = self.models.chat(&self.caller, request, time).await;
        let answer = answer.map_err(|_fault| Undecided::NoAnswer)?;
        answers::text(&answer).and_then(|answer| check.read(&answer)).ok_or(Undecided::NoAnswer)
    }

    /// Protection before or after another node: what is to be taken out is taken out of the variables.
    pub(crate) async fn protect(&self) -> Result<Ending, WorkFault> {
        let stage = self.settings.get("stage").and_then(Value::as_str).and_then(Stage::parse);
        let stage = stage.ok_or_else(|| WorkFault("The job's header names no stage.".to_owned()))?;
        let own = self.variables.iter().filter(|own| self.is_named(own.0));
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

    /// Protection as a step of its own: the checks that look at what goes into a node, and then those that look at what comes
    /// out of one alone.
    pub(crate) async fn guardrail(&self) -> Result<Ending, WorkFault> {
        let settings = self.evaluator();
        let value = settings.needed("input")?;
        let goes_on = match settings.text("onViolation")?.as_deref() {
            None | Some("fail") => false,
            Some("continue") => true,
            Some(_) => {
                return Err(WorkFault::setting("onViolation", "it gives neither `fail` nor `continue`"));
            }
        };
        let own = self.step_policy()?;
        let policy = own.as_ref().unwrap_or(&self.policy);
        let stage = Stage::Input;
        let digest = digest(stage.as_str(), &value);
        let mut verdict = self.verdict(Judged { policy, stage, value, given: None }).await?;
        if !verdict.is_blocked() {
            let (value, rest) = (std::mem::take(&mut verdict.value), policy.without(stage));
            let judged = Judged { policy: &rest, stage: Stage::Output, value, given: None };
            let Verdict { hits, value, is_changed } = self.verdict(judged).await?;
            verdict.hits.extend(hits);
            verdict = Verdict { value, is_changed: verdict.is_changed || is_changed, ..verdict };
        }
        if !goes_on {
            return Ok(match self.decide(digest, verdict, Vec::new()) {
                Passage::Ended(ending) => *ending,
                Passage::Through(Through { value, hits, .. }) => sanitized(value, hits),
            });
        }
        let Verdict { hits, value, .. } = verdict;
        Ok(sanitized(value, hits))
    }

    /// Policy of a step by its own settings, which are read as they stand; none where they say nothing.
    fn step_policy(&self) -> Result<Option<Policy>, WorkFault> {
        let given = |member: &str| self.settings.get(member).filter(|own| !own.is_null());
        let (preset, checks) = (given("preset"), given("checks"));
        if preset.is_none() && checks.is_none() {
            return Ok(None);
        }
        let word =
            preset.map(|own| own.as_str().ok_or_else(|| WorkFault::setting("preset", "it is no text")));
        let texts = checks.map_or(Some(Vec::new()), step_checks);
        let texts = texts.ok_or_else(|| WorkFault::setting("checks", "it is no list of checks"))?;
        let policy = Policy::read(word.transpose()?, &texts).map_err(|faults| {
            let told: Vec<String> = faults.iter().map(|fault| format!("{}: {fault}", fault.place)).collect();
            WorkFault(told.join(" "))
        })?;
        Ok(Some(policy))
    }
}

/// A check by a model, and who is asked.
struct Asked {
    rule: ModelRule,
    /// The deployment, or why none can be asked.
    target: Result<String, Undecided>,
    /// Ground that the text is held against.
    ground: String,
}

/// The result of protection as a step: what passed, what was found, and whether the strictest finding is a milder one
/// than a review.
fn sanitized(value: Value, hits: Vec<Hit>) -> Ending {
    let passed = hits.iter().all(|hit| matches!(hit.action, Action::Flag | Action::Redact));
    let violations = serde_json::to_value(&hits).unwrap_or_default();
    Ending::completed(json!({ "passed": passed, "violations": violations, "sanitized": value }), hits)
}

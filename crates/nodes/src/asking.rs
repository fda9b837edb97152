//! A question to a model with protection before and behind it.

use heddle_guardrails::{Action, Hit, Stage};
use serde_json::{Map, Value, json};

use crate::fault::WorkFault;
use crate::protection::{Passage, Through};
use crate::work::{Ending, Work};
use crate::{UNFIT, answers, prompts};

/// A request that passed what protects its input, with what was found; or the end of the node.
pub(crate) enum Answered {
    /// The answer.
    Answer(Box<Answer>),
    /// The end.
    Ended(Box<Ending>),
}

/// An answer of a model.
pub(crate) struct Answer {
    pub body: Value,
    pub hits: Vec<Hit>,
}

impl Work<'_> {
    /// The members of a request that every question has.
    pub(crate) fn request(&self, messages: Vec<Value>) -> Result<Map<String, Value>, WorkFault> {
        let settings = self.evaluator();
        let mut request = Map::new();
        request.insert("model".to_owned(), settings.needed("model")?);
        request.insert("messages".to_owned(), Value::Array(messages));
        if let Some(own) = settings.number("temperature", 0.0, 2.0)? {
            request.insert("temperature".to_owned(), json!(own));
        }
        let own = settings.whole("maxTokens", 1, 1_000_000)?;
        let most = self.policy.limits().answer_tokens.map(u64::from);
        if let Some(tokens) = [own, most].into_iter().flatten().min() {
            request.insert("max_tokens".to_owned(), tokens.into());
        }
        Ok(request)
    }

    /// Asks with protection of the input. What is taken out of the messages is not asked.
    pub(crate) async fn ask(&self, mut request: Map<String, Value>) -> Result<Answered, WorkFault> {
        let messages = request.remove("messages").unwrap_or_default();
        let hits = match self.pass(Stage::Input, messages, Vec::new()).await? {
            Passage::Ended(ending) => return Ok(Answered::Ended(ending)),
            Passage::Through(Through { value, hits, .. }) => {
                request.insert("messages".to_owned(), value);
                hits
            }
        };
        self.ask_passed(request, hits).await
    }

    /// Asks what has passed.
    pub(crate) async fn ask_passed(
        &self,
        request: Map<String, Value>,
        hits: Vec<Hit>,
    ) -> Result<Answered, WorkFault> {
        Ok(match self.models.chat(&self.caller, request, self.time()?).await {
            Ok(body) => Answered::Answer(Box::new(Answer { body, hits })),
            Err(fault) => Answered::Ended(Box::new(Ending::of_call(fault, hits))),
        })
    }

    /// Messages of a task whose answer is JSON: its instructions, what is given, and what was wrong with the answer before.
    pub(crate) fn messages(&self, instructions: &str, given: &str) -> Vec<Value> {
        let mut all = vec![prompts::message("system", instructions), prompts::message("user", given)];
        if let Some(told) = self.before.as_deref().and_then(|own| own.strip_prefix(UNFIT)) {
            let told =
                format!("Your answer before this one was refused: {told} Answer again, with JSON alone.");
            all.push(prompts::message("user", &told));
        }
        all
    }

    /// The JSON of an answer that fits a schema; else the end of the attempt, with a finding that a loop can carry.
    pub(crate) fn fitting(&self, answer: &Answer, schema: &Value) -> Result<Value, Box<Ending>> {
        let hits = || answer.hits.clone();
        let unfit = |problems: Vec<String>| {
            let mut all = hits();
            let message = problems.join(" ");
            all.extend(problems.into_iter().map(unfit_hit));
            Box::new(Ending::unfit(&message, all))
        };
        if answers::finish(&answer.body) == "length" {
            return Err(unfit(vec!["The answer was cut off: `maxTokens` is too small.".to_owned()]));
        }
        let value = answers::text(&answer.body).as_deref().and_then(answers::json_of);
        let Some(value) = value else { return Err(unfit(vec!["The answer is no JSON.".to_owned()])) };
        let problems = self.schemas.problems(schema, &value);
        if problems.is_empty() { Ok(value) } else { Err(unfit(problems)) }
    }

    /// Completes with an output that has passed what protects it.
    pub(crate) async fn complete(&self, output: Value, hits: Vec<Hit>) -> Result<Ending, WorkFault> {
        Ok(match self.pass(Stage::Output, output, hits).await? {
            Passage::Ended(ending) => *ending,
            Passage::Through(Through { value, hits, .. }) => Ending::completed(value, hits),
        })
    }
}

/// The finding that an answer does not fit its schema.
pub(crate) fn unfit_hit(problem: String) -> Hit {
    Hit {
        check_id: "schema".to_owned(),
        stage: Stage::Output,
        action: Action::Block,
        message: problem,
        count: 1,
        spans: Vec::new(),
    }
}

//! A question to a model with protection before and behind it.

use heddle_guardrails::{Action, Hit, Stage};
use serde_json::{Map, Value, json};

use crate::fault::WorkFault;
use crate::protection::{Outcome, Passage, Through};
use crate::work::{Ending, Work};
use crate::{answers, prompts};

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
    /// Texts of all that was asked.
    pub given: String,
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

    /// Asks what has passed, with what was wrong with the answer before.
    pub(crate) async fn ask_passed(
        &self,
        mut request: Map<String, Value>,
        hits: Vec<Hit>,
    ) -> Result<Answered, WorkFault> {
        let given = answers::contents(request.get("messages").unwrap_or(&Value::Null));
        if let Some(Value::Array(messages)) = request.get_mut("messages") {
            messages.extend(self.complaint());
        }
        Ok(match self.models.chat(&self.caller, request, self.time()?).await {
            Ok(body) => Answered::Answer(Box::new(Answer { body, hits, given })),
            Err(fault) => Answered::Ended(Box::new(Ending::of_call(fault, hits))),
        })
    }

    /// The message that tells a model what was wrong with its answer; none where nothing was. No two of them are the same, or
    /// an answer that is kept for the same question would come again.
    fn complaint(&self) -> Option<Value> {
        let told = self.notes.unfit.as_deref()?;
        let which = match self.notes.unfit_answers {
            0 | 1 => "Your answer before this one was refused:".to_owned(),
            number => format!("Your last {number} answers were refused, the last one for this:"),
        };
        Some(prompts::message("user", &format!("{which} {told} Answer again, with JSON alone.")))
    }

    /// The JSON of an answer that fits a schema; else the end of the attempt, with a finding that a loop can carry.
    pub(crate) fn fitting(&self, answer: &Answer, schema: &Value) -> Result<Fit, WorkFault> {
        let value = answers::text(&answer.body).as_deref().and_then(answers::json_of);
        let problems = match &value {
            Some(_) | None if answers::finish(&answer.body) == "length" => {
                vec!["The answer was cut off: `maxTokens` is too small.".to_owned()]
            }
            None => vec!["The answer is no JSON.".to_owned()],
            Some(value) => self.schemas.problems(schema, value),
        };
        match value {
            Some(value) if problems.is_empty() => Ok(Fit::Value(value)),
            Some(_) | None => {
                let message = problems.join(" ");
                let mut all = answer.hits.clone();
                all.extend(problems.into_iter().map(unfit_hit));
                self.unfit(&message, all).map(|ending| Fit::Ended(Box::new(ending)))
            }
        }
    }

    /// Completes with an output of an answer that has passed what protects it.
    pub(crate) async fn complete(&self, output: Value, answer: Answer) -> Result<Ending, WorkFault> {
        let Answer { hits, given, .. } = answer;
        self.finish(Outcome { value: output, hits, given }, |value| value).await
    }
}

/// The JSON of an answer, or the end of the attempt.
pub(crate) enum Fit {
    /// JSON that fits.
    Value(Value),
    /// The end.
    Ended(Box<Ending>),
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

//! Turns of an agent: one answer of its model, or one call of a tool, each; what was said and done stands in a variable of
//! the agent, so that a turn goes on where the one before it ended.

use heddle_guardrails::{Action, Hit, Stage};
use heddle_settings::inside::{
    AGENT_STATE, MOST_ITERATIONS, TOOL_CALL, TOOL_RESULT, TURN_AGAIN, TURN_LOCAL, TURN_NEXT, TURN_VALUES,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::answers::{self, Call};
use crate::asking::{Answer, Answered, Fit};
use crate::evaluate::as_text;
use crate::fault::WorkFault;
use crate::notes::digest;
use crate::protection::{Outcome, Passage, Through};
use crate::work::{Ending, Tool, Work};
use crate::{AGENT_LIMIT, prompts};

/// Caps where the settings say none.
const USUAL_CALLS: u64 = 100;
const USUAL_TOKENS: u64 = 1_000_000;
const USUAL_SECONDS: u64 = 3_600;
/// Most bytes of a tool's result that a model is told.
const MOST_RESULT: usize = 256 << 10;

/// A call of a tool that is still to be made, or is being made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Pending {
    id: String,
    name: String,
    arguments: Value,
    /// Whether its approval is asked for, and not the tool.
    #[serde(default)]
    in_approval: bool,
    /// Whether somebody approved it.
    #[serde(default)]
    is_approved: bool,
}

/// State of an agent between its turns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    messages: Vec<Value>,
    /// Whether the messages of the beginning have passed what protects the input: what stands here is what is left of them.
    #[serde(default)]
    is_checked: bool,
    #[serde(default)]
    pending: Vec<Pending>,
    /// The call that the activity before this turn was.
    #[serde(default)]
    current: Option<Pending>,
    iterations: u64,
    tool_calls: u64,
    tokens: u64,
    /// Instant of the first turn, in milliseconds since 1970.
    started_at: i64,
}

/// End of a part of a turn.
enum Step {
    /// Nothing is left to be called: the model is asked.
    Ask,
    /// The turn's end.
    End(Box<Ending>),
}

impl Work<'_> {
    /// A turn: what the tool before it gave goes to the conversation; then the next call is made, or the model is asked.
    pub(crate) async fn turn(&self) -> Result<Ending, WorkFault> {
        let mut hits = Vec::new();
        let mut state = match self.variables.get(AGENT_STATE).filter(|value| value.is_object()) {
            Some(value) => serde_json::from_value(value.clone()).map_err(|_error| {
                WorkFault("The variable `agent` is not what the agent left in it.".to_owned())
            })?,
            None => self.begun()?,
        };
        if let Some(current) = state.current.take()
            && let Some(ending) = self.returned(&mut state, current, &mut hits).await?
        {
            return Ok(ending);
        }
        if let Step::End(ending) = self.call_next(&mut state, &mut hits).await? {
            return Ok(*ending);
        }
        if let Some(told) = self.exceeded(&state)? {
            return Ok(Ending::Error { code: AGENT_LIMIT, message: told, hits });
        }
        self.asked(state, hits).await
    }

    fn begun(&self) -> Result<State, WorkFault> {
        let settings = self.evaluator();
        let mut messages = Vec::new();
        messages.extend(settings.text("system")?.map(|system| prompts::message("system", &system)));
        messages.push(prompts::message("user", &as_text(&settings.needed("goal")?)));
        Ok(State { messages, started_at: self.now.micros() / 1_000, ..State::default() })
    }

    /// The cap that the agent has reached; none while it may go on.
    fn exceeded(&self, state: &State) -> Result<Option<String>, WorkFault> {
        let settings = self.evaluator();
        let iterations = settings.whole("maxIterations", 1, MOST_ITERATIONS)?.unwrap_or(1);
        let tokens = settings.whole("maxTotalTokens", 1, 100_000_000)?.unwrap_or(USUAL_TOKENS);
        let seconds = settings.whole("timeoutSeconds", 1, 86_400)?.unwrap_or(USUAL_SECONDS);
        let since = (self.now.micros() / 1_000).saturating_sub(state.started_at);
        let since = u64::try_from(since).unwrap_or(0) / 1_000;
        Ok(if state.iterations >= iterations {
            Some(format!("The agent has asked its model {iterations} times, which is its `maxIterations`."))
        } else if state.tokens >= tokens {
            Some(format!("The agent has used {} tokens; its `maxTotalTokens` is {tokens}.", state.tokens))
        } else if since >= seconds {
            Some(format!("The agent has worked for {since} seconds; its `timeoutSeconds` is {seconds}."))
        } else {
            None
        })
    }

    /// Takes up what the activity before this turn gave: the decision on a call, or the result of a tool.
    async fn returned(
        &self,
        state: &mut State,
        current: Pending,
        hits: &mut Vec<Hit>,
    ) -> Result<Option<Ending>, WorkFault> {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == current.name) else {
            // Each call has an answer, or no model goes on.
            state.messages.push(result(&current.id, "There is no tool of this name any more."));
            return Ok(None);
        };
        if current.in_approval {
            let task = tool.approval.as_deref().unwrap_or_default();
            let outcome = self.outputs.get(task).and_then(|own| own.get("outcome")).and_then(Value::as_str);
            if outcome == Some("approve") {
                state.pending.insert(0, Pending { in_approval: false, is_approved: true, ..current });
            } else {
                let told = format!("The call was not approved (outcome `{}`).", outcome.unwrap_or("none"));
                return self.told(state, &current.id, told.into(), hits).await;
            }
            return Ok(None);
        }
        let given = self.variables.get(TOOL_RESULT).filter(|value| !value.is_null()).cloned();
        let output = || self.outputs.get(&tool.element).and_then(|own| own.get("output")).cloned();
        let value = given.or_else(output).unwrap_or_default();
        self.told(state, &current.id, value, hits).await
    }

    /// Adds what a call gave to the conversation, without what protection takes out of it.
    async fn told(
        &self,
        state: &mut State,
        call: &str,
        value: Value,
        hits: &mut Vec<Hit>,
    ) -> Result<Option<Ending>, WorkFault> {
        match self.pass(Stage::ToolResult, value, std::mem::take(hits)).await? {
            Passage::Ended(ending) => Ok(Some(*ending)),
            Passage::Through(Through { value, hits: found, .. }) => {
                *hits = found;
                let mut text = if value.is_null() { "done".to_owned() } else { as_text(&value) };
                prompts::cut(&mut text, MOST_RESULT);
                state.messages.push(result(call, &text));
                Ok(None)
            }
        }
    }

    /// Makes the next call that can be made; those that cannot are told to the model.
    async fn call_next(&self, state: &mut State, hits: &mut Vec<Hit>) -> Result<Step, WorkFault> {
        let most = self.evaluator().whole("maxToolCalls", 0, 1_000)?.unwrap_or(USUAL_CALLS);
        while !state.pending.is_empty() {
            let call = state.pending.remove(0);
            let tool = match self.callable(&call) {
                Ok(tool) => tool,
                Err(told) => {
                    state.messages.push(result(&call.id, &told));
                    continue;
                }
            };
            if state.tool_calls >= most {
                let message =
                    format!("The agent has called tools {most} times, which is its `maxToolCalls`.");
                let hits = std::mem::take(hits);
                return Ok(Step::End(Box::new(Ending::Error { code: AGENT_LIMIT, message, hits })));
            }
            let arguments =
                match self.pass(Stage::ToolCall, call.arguments.clone(), std::mem::take(hits)).await? {
                    Passage::Ended(ending) => return Ok(Step::End(ending)),
                    Passage::Through(Through { value, hits: found, is_changed }) => {
                        *hits = found;
                        if is_changed {
                            rewrite(&mut state.messages, &call.id, &value);
                        }
                        value
                    }
                };
            let call = Pending { arguments, ..call };
            return Ok(Step::End(Box::new(self.made(state.clone(), tool, call, std::mem::take(hits)))));
        }
        Ok(Step::Ask)
    }

    /// The tool of a call; a sentence for the model where it cannot be called so.
    fn callable(&self, call: &Pending) -> Result<&Tool, String> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name);
        let tool = tool.ok_or_else(|| "There is no tool of this name.".to_owned())?;
        if !call.arguments.is_object() {
            return Err("The arguments of the call are no JSON object.".to_owned());
        }
        let problems = self.schemas.problems(&tool.parameters, &call.arguments);
        if problems.is_empty() {
            return Ok(tool);
        }
        Err(format!("The arguments do not fit the tool's parameters: {}", problems.join(" ")))
    }

    /// The end of a turn that makes a call: its approval, or the tool itself.
    fn made(&self, mut state: State, tool: &Tool, call: Pending, mut hits: Vec<Hit>) -> Ending {
        let approval = tool.approval.as_deref().filter(|_| !call.is_approved);
        if approval.is_none()
            && !call.is_approved
            && let Some(action) = self.policy.tool_calls(&self.caller.node)
        {
            hits.push(called(tool, action));
            let own = json!([call.id, call.name, call.arguments]);
            let digest = digest("call", &own);
            match action {
                Action::Block => return Ending::violation(hits),
                Action::Review if !self.notes.has_passed(&digest) => return self.review(digest, hits),
                Action::Review | Action::Redact | Action::Flag => {}
            }
        }
        let next = approval.unwrap_or(tool.element.as_str()).to_owned();
        let told = json!({ "id": call.id, "name": call.name, "arguments": call.arguments });
        if approval.is_none() {
            state.tool_calls += 1;
        }
        state.current = Some(Pending { in_approval: approval.is_some(), ..call });
        let mut local = Map::new();
        local.insert(TOOL_CALL.to_owned(), told);
        local.insert(TOOL_RESULT.to_owned(), Value::Null);
        local.insert(AGENT_STATE.to_owned(), serde_json::to_value(&state).unwrap_or_default());
        Ending::completed(json!({ TURN_LOCAL: local, TURN_NEXT: next }), hits)
    }

    /// Asks the model, and makes the first of the calls that it asks for, or ends the agent. Under protection the calls are
    /// made by the next turn.
    async fn asked(&self, mut state: State, mut hits: Vec<Hit>) -> Result<Ending, WorkFault> {
        let format = self.format()?;
        // Results of tools were looked at as they came: what the model is told at first is the input.
        if !state.is_checked {
            let messages = Value::Array(std::mem::take(&mut state.messages));
            match self.pass(Stage::Input, messages, hits).await? {
                Passage::Ended(ending) => return Ok(*ending),
                Passage::Through(Through { value, hits: found, .. }) => {
                    hits = found;
                    state.is_checked = true;
                    if let Value::Array(messages) = value {
                        state.messages = messages;
                    }
                }
            }
        }
        let mut request = self.request(state.messages.clone())?;
        if !self.tools.is_empty() {
            request.insert("tools".to_owned(), self.tools.iter().map(function).collect());
        }
        format.tell(&mut request);
        let answer = match self.ask_passed(request, hits).await? {
            Answered::Answer(answer) => *answer,
            Answered::Ended(ending) => return Ok(*ending),
        };
        state.iterations += 1;
        state.tokens = state.tokens.saturating_add(answers::tokens(&answer.body));
        let calls = answers::calls(&answer.body);
        if calls.is_empty() {
            return self.answered(&state, answer, format.schema()).await;
        }
        state.messages.push(answers::message(&answer.body));
        state.pending = calls.into_iter().map(Pending::of).collect();
        let mut hits = answer.hits;
        // Who is asked about a call decides about this one: it is kept, and the model is not asked for another.
        if self.policy.is_on() {
            return Ok(self.again(&state, hits));
        }
        match self.call_next(&mut state, &mut hits).await? {
            Step::End(ending) => Ok(*ending),
            // No call could be made: what was told of them is there for the next turn.
            Step::Ask => Ok(self.again(&state, hits)),
        }
    }

    /// The end of a turn behind which another one follows at once: it makes the calls that are kept, or asks the model.
    fn again(&self, state: &State, hits: Vec<Hit>) -> Ending {
        let mut local = Map::new();
        local.insert(AGENT_STATE.to_owned(), serde_json::to_value(state).unwrap_or_default());
        Ending::completed(json!({ TURN_LOCAL: local, TURN_AGAIN: true }), hits)
    }

    /// The end of the agent with its answer.
    async fn answered(
        &self,
        state: &State,
        answer: Answer,
        schema: Option<Value>,
    ) -> Result<Ending, WorkFault> {
        let value = match schema {
            Some(schema) => match self.fitting(&answer, &schema)? {
                Fit::Value(value) => value,
                Fit::Ended(ending) => return Ok(*ending),
            },
            None => answers::text(&answer.body).unwrap_or_default().into(),
        };
        // The name stands as it is: no FEEL is evaluated in it.
        let name = self.settings.get("answerVariable").and_then(Value::as_str).unwrap_or("answer");
        let usage = json!({
            "iterations": state.iterations, "toolCalls": state.tool_calls, "tokens": state.tokens,
        });
        let whole = |value: Value| {
            let mut values = Map::new();
            values.insert(name.to_owned(), value);
            values.insert("agentUsage".to_owned(), usage.clone());
            json!({ TURN_VALUES: values })
        };
        let Answer { hits, given, .. } = answer;
        self.finish(Outcome { value, hits, given }, whole).await
    }
}

impl Pending {
    fn of(call: Call) -> Self {
        let Call { id, name, arguments } = call;
        // Arguments that are no JSON are told to the model as what they are.
        let empty = arguments.trim().is_empty();
        let arguments = if empty { json!({}) } else { serde_json::from_str(&arguments).unwrap_or_default() };
        Self { id, name, arguments, in_approval: false, is_approved: false }
    }
}

/// The message that tells a model what a call gave.
fn result(call: &str, text: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": call, "content": text })
}

/// Writes the arguments of a call into the message that asked for it: what was taken out of them is asked with no more.
fn rewrite(messages: &mut [Value], call: &str, arguments: &Value) {
    let calls =
        messages.iter_mut().rev().filter_map(|own| own.get_mut("tool_calls")?.as_array_mut()).flatten();
    let own = calls.into_iter().find(|own| own.get("id").and_then(Value::as_str) == Some(call));
    if let Some(place) = own.and_then(|own| own.pointer_mut("/function/arguments")) {
        *place = Value::String(arguments.to_string());
    }
}

/// A tool in the words of OpenAI's chat completions.
fn function(tool: &Tool) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.parameters },
    })
}

/// The finding that a tool is called which nobody approves.
fn called(tool: &Tool, action: Action) -> Hit {
    Hit {
        check_id: "toolCalls".to_owned(),
        stage: Stage::ToolCall,
        action,
        message: format!("The tool `{}` is called, and has no approval of its own.", tool.name),
        count: 1,
        spans: Vec::new(),
    }
}

//! The shelf's models among those inside the service, as the gateway asks them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use heddle_kernel::{Clock, IdSource, TenantId, Timestamp};
use heddle_models::ports::{LocalFault, LocalModel, LocalModels};
use heddle_models::records::{Capabilities, Capability, CatalogueEntry, DeploymentState};
use heddle_models_wire::{
    self as wire, ChatRequest, ChatResponse, Content, FinishReason, ResponseFormat, ToolChoice, Usage,
};
use serde_json::{Value, json};

use crate::engine::{End, Options, Said};
use crate::shelf::Shelf;
use crate::template::{Role, Turn};
use crate::{ChatError, ModelFile};

/// Beginning of the names by which they are known, so that a file never takes another model's place.
const PREFIX: &str = "gguf/";
/// Bytes of a token, where the model that would count is not in memory.
const BYTES_OF_TOKEN: usize = 4;

/// Models inside the service with those of a shelf behind them.
#[derive(Clone)]
pub struct WithShelf {
    inside: Arc<dyn LocalModels>,
    shelf: Shelf,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl std::fmt::Debug for WithShelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithShelf").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}

/// Sets a flag when whoever waits goes away.
struct Leaves(Arc<AtomicBool>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl WithShelf {
    /// The models of a shelf behind others.
    #[must_use]
    pub fn new(
        inside: Arc<dyn LocalModels>,
        shelf: Shelf,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        Self { inside, shelf, clock, ids }
    }
}

#[async_trait]
impl LocalModels for WithShelf {
    fn models(&self) -> Vec<LocalModel> {
        let mut all = self.inside.models();
        // A directory that can't be read has no models to offer.
        all.extend(self.shelf.files().unwrap_or_default().iter().map(described));
        all
    }

    async fn looked_for(&self) -> Vec<LocalModel> {
        let mut all = self.inside.looked_for().await;
        all.extend(self.shelf.files().unwrap_or_default().iter().map(described));
        all
    }

    async fn embed(
        &self,
        tenant: TenantId,
        model: &str,
        texts: Vec<String>,
    ) -> Result<Vec<Vec<f32>>, LocalFault> {
        if model.starts_with(PREFIX) {
            return Err(LocalFault::Refused(format!("The model `{model}` chats and makes no vectors.")));
        }
        self.inside.embed(tenant, model, texts).await
    }

    fn tokens(&self, model: &str, texts: &[String]) -> u64 {
        let Some(name) = model.strip_prefix(PREFIX) else { return self.inside.tokens(model, texts) };
        let counted =
            |text: &String| self.shelf.count(name, text).unwrap_or(text.len() / BYTES_OF_TOKEN) as u64;
        texts.iter().map(counted).sum()
    }

    async fn chat(
        &self,
        tenant: TenantId,
        model: &str,
        request: ChatRequest,
    ) -> Result<ChatResponse, LocalFault> {
        let Some(name) = model.strip_prefix(PREFIX) else {
            return self.inside.chat(tenant, model, request).await;
        };
        let asked = read(&request)?;
        let now = self.clock.now();
        let id = format!("chatcmpl-{}", self.ids.next(now).simple());
        let (shelf, name, named) = (self.shelf.clone(), name.to_owned(), request.model().to_owned());
        let cancelled = Arc::new(AtomicBool::new(false));
        let leaves = Leaves(Arc::clone(&cancelled));
        let computed = tokio::task::spawn_blocking(move || {
            shelf.chat(&name, &asked.turns, &asked.options, &cancelled, &mut |_piece| {})
        });
        let ended =
            |_ended| LocalFault::Busy("The answer was not computed: the service is ending.".to_owned());
        let said = computed.await.map_err(ended)?.map_err(|error| fault(&error))?;
        drop(leaves);
        Ok(told(&said, &id, &named, now))
    }
}

fn described(file: &ModelFile) -> LocalModel {
    LocalModel {
        entry: CatalogueEntry {
            model: format!("{PREFIX}{}", file.name),
            display_name: format!("{} (in the process)", file.name),
            capabilities: Capabilities::of([Capability::Chat, Capability::Stream]),
            context_length: None,
            dimensions: None,
            revision: Some(file.revision.clone()),
            bytes: Some(file.bytes),
        },
        alias: format!("in-process-{}", file.name),
        state: DeploymentState::Ready,
        detail: None,
    }
}

fn fault(error: &ChatError) -> LocalFault {
    let message = format!("{error}.");
    match error {
        ChatError::Missing(_) | ChatError::Unusable(_) | ChatError::Io(_) | ChatError::TooLarge { .. } => {
            LocalFault::Missing(message)
        }
        ChatError::Busy | ChatError::Failed(_) => LocalFault::Busy(message),
        ChatError::TooLong { .. } => LocalFault::Refused(message),
    }
}

/// A request as the engine takes it.
struct Asked {
    turns: Vec<Turn>,
    options: Options,
}

fn refused(member: &str, why: &str) -> LocalFault {
    LocalFault::Refused(format!("`{member}`: a model in the process {why}."))
}

fn read(request: &ChatRequest) -> Result<Asked, LocalFault> {
    let malformed = |error: wire::WireError| LocalFault::Refused(error.to_string());
    match request.tool_choice().map_err(malformed)? {
        Some(ToolChoice::Required | ToolChoice::Function(_)) => {
            return Err(refused("tool_choice", "calls no tools"));
        }
        None | Some(ToolChoice::Auto | ToolChoice::None) => {}
    }
    if request.calls_tools() {
        return Err(refused("tools", "calls no tools"));
    }
    match request.response_format().map_err(malformed)? {
        ResponseFormat::Text => {}
        ResponseFormat::JsonObject | ResponseFormat::JsonSchema(_) => {
            return Err(refused("response_format", "answers with text"));
        }
    }
    if request.choices() > 1 {
        return Err(refused("n", "gives one answer"));
    }
    let turns = request.messages().map_err(malformed)?.iter().map(turn).collect::<Result<_, _>>()?;
    let number = |name: &str| request.member(name).and_then(|text| text.parse::<f64>().ok());
    let options = Options {
        most_tokens: request.max_tokens().map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        temperature: number("temperature"),
        top_p: number("top_p"),
        seed: request.member("seed").and_then(|text| text.parse().ok()),
        stop: stop(request)?,
    };
    Ok(Asked { turns, options })
}

fn turn(message: &wire::Message) -> Result<Turn, LocalFault> {
    let role = match message.role {
        wire::Role::System | wire::Role::Developer => Role::System,
        wire::Role::User | wire::Role::Tool => Role::User,
        wire::Role::Assistant => Role::Assistant,
    };
    let is_text = |part: &serde_json::Map<String, Value>| part.get("text").is_some_and(Value::is_string);
    let text = match &message.content {
        None => String::new(),
        Some(Content::Parts(parts)) if !parts.iter().all(is_text) => {
            return Err(refused("messages", "reads texts alone"));
        }
        Some(content) => content.text(),
    };
    Ok(Turn { role, text })
}

fn stop(request: &ChatRequest) -> Result<Vec<String>, LocalFault> {
    let shape = || refused("stop", "ends at a text or at a list of texts");
    match request.member("stop").and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(word)) => Ok(vec![word]),
        Some(Value::Array(words)) => {
            words.iter().map(|word| word.as_str().map(str::to_owned).ok_or_else(shape)).collect()
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => Err(shape()),
    }
}

fn told(said: &Said, id: &str, model: &str, now: Timestamp) -> ChatResponse {
    let finish = match said.end {
        End::Stop | End::Cancelled => FinishReason::Stop,
        End::Length => FinishReason::Length,
    };
    let (input, output) = (said.prompt_tokens as u64, said.completion_tokens as u64);
    let body = json!({
        "id": id, "object": "chat.completion", "created": now.micros().div_euclid(1_000_000), "model": model,
        "choices": [{ "index": 0, "finish_reason": finish.as_str(), "logprobs": Value::Null,
            "message": { "role": "assistant", "content": said.text, "refusal": Value::Null } }],
        "usage": { "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output },
    });
    ChatResponse {
        body: Bytes::from(body.to_string()),
        usage: Some(Usage { input, output, ..Usage::default() }),
        finish: vec![finish],
        weight: said.text.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_model_in_the_process_cannot_do_is_refused_by_name() {
        let tool = json!([{"type": "function", "function": {"name": "look"}}]);
        for (more, member) in [
            (json!({"tools": tool}), Some("`tools`")),
            (json!({"tool_choice": "required"}), Some("`tool_choice`")),
            (json!({"response_format": {"type": "json_object"}}), Some("`response_format`")),
            (json!({"n": 2}), Some("`n`")),
            // No choice is no tool.
            (json!({"tools": tool, "tool_choice": "none"}), None),
            (json!({"tools": []}), None),
        ] {
            let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let request = ChatRequest::read(Bytes::from(body.to_string())).unwrap();
            let told = read(&request).err().map(|fault| fault.to_string());
            let is_named = match (&told, member) {
                (Some(told), Some(member)) => told.starts_with(member),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            assert!(is_named, "{more}: {told:?}");
        }
    }
}

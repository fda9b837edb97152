//! Place of the tests: connections and deployments of an organisation, made over the API.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use heddle_harness_kit::client::Method;
use heddle_harness_kit::http::{Answer, Caller};
use serde_json::{Value, json};

/// Alias of the deployment of the built-in answerer.
pub(crate) const ANSWERER: &str = "built-in-answers";
/// Longest wait for what is counted behind a call.
const PATIENCE: Duration = Duration::from_secs(20);
/// Letters of a refusal that are told.
const LETTERS: usize = 400;

/// An organisation's models, and who manages them.
#[derive(Debug, Clone)]
pub struct Place {
    /// Somebody who may manage and use models.
    pub caller: Caller,
}

impl Place {
    /// Of somebody who may manage and use models.
    #[must_use]
    pub const fn of(caller: Caller) -> Self {
        Self { caller }
    }

    /// GET.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.caller.request(&Method::GET, path).send().await
    }

    /// POST with a JSON body.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.caller.request(&Method::POST, path).json(body).send().await
    }

    /// POST without a body.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn act(&self, path: &str) -> Result<Answer> {
        self.caller.request(&Method::POST, path).send().await
    }

    /// Makes a connection; its id.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn connection(
        &self,
        name: &str,
        kind: &str,
        base_url: &str,
        key: Option<&str>,
    ) -> Result<String> {
        let mut body = json!({"name": name, "type": kind, "baseUrl": base_url});
        if let (Some(key), Some(members)) = (key, body.as_object_mut()) {
            members.insert("apiKey".to_owned(), json!(key));
        }
        id(self.post("/api/model-providers/connections", &body).await?).context("a connection")
    }

    /// Makes a deployment of a model with further members, such as limits; its id.
    ///
    /// # Errors
    /// When it is refused.
    pub async fn deployment(
        &self,
        connection: &str,
        alias: &str,
        model: &str,
        more: &Value,
    ) -> Result<String> {
        let mut body = json!({"model": model, "alias": alias, "capabilities": ["chat", "stream", "tools", "jsonSchema"]});
        if let (Some(members), Some(more)) = (body.as_object_mut(), more.as_object()) {
            members.extend(more.clone());
        }
        let path = format!("/api/model-providers/connections/{connection}/deployments");
        id(self.post(&path, &body).await?).context("a deployment")
    }

    /// One chat; the answer whatever it is.
    ///
    /// # Errors
    /// When nobody answers.
    pub async fn chat(&self, body: &Value) -> Result<Answer> {
        self.post("/api/chat", body).await
    }

    /// Calls that were counted for a deployment so far: all of them, and those that failed or were broken off.
    ///
    /// # Errors
    /// When usage is not told.
    pub async fn counted(&self, deployment: &str) -> Result<Counted> {
        let told = data(self.get("/api/usage?by=deployment").await?)?;
        let rows = told
            .as_array()
            .or_else(|| told.get("items").and_then(Value::as_array))
            .context("no rows of usage")?;
        let names = |row: &&Value| {
            ["key", "id", "deploymentId", "deployment"].iter().any(|member| {
                row.get(*member).is_some_and(|found| {
                    found.as_str() == Some(deployment)
                        || found.get("id").and_then(Value::as_str) == Some(deployment)
                })
            })
        };
        let number = |row: &Value, name: &str| row.get(name).and_then(Value::as_u64).unwrap_or_default();
        Ok(rows.iter().find(names).map_or_else(Counted::default, |row| Counted {
            calls: number(row, "calls"),
            failed: number(row, "failed"),
            aborted: number(row, "aborted"),
        }))
    }

    /// Waits until so many calls are counted; what is counted in the end.
    ///
    /// # Errors
    /// When usage is not told.
    pub async fn comes_to(&self, deployment: &str, calls: u64) -> Result<Counted> {
        self.counted_until(deployment, |counted| counted.calls >= calls).await
    }

    /// Waits until so many answered calls are counted, whatever number was refused; what is counted in the end.
    ///
    /// # Errors
    /// When usage is not told.
    pub async fn answers_come_to(&self, deployment: &str, answers: u64) -> Result<Counted> {
        self.counted_until(deployment, |counted| counted.answered() >= answers).await
    }

    async fn counted_until(&self, deployment: &str, enough: impl Fn(Counted) -> bool) -> Result<Counted> {
        let began = Instant::now();
        loop {
            let counted = self.counted(deployment).await?;
            if enough(counted) || began.elapsed() > PATIENCE {
                return Ok(counted);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// Calls of a deployment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// All of them.
    pub calls: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those whose caller went away.
    pub aborted: u64,
}

impl Counted {
    /// Those that were answered.
    #[must_use]
    pub const fn answered(self) -> u64 {
        self.calls.saturating_sub(self.failed + self.aborted)
    }
}

/// A question in one message.
pub(crate) fn question(alias: &str, text: &str) -> Value {
    json!({"model": alias, "messages": [{"role": "user", "content": text}]})
}

/// The same as a stream.
pub(crate) fn streamed(alias: &str, text: &str) -> Value {
    let mut body = question(alias, text);
    if let Some(members) = body.as_object_mut() {
        members.insert("stream".to_owned(), json!(true));
    }
    body
}

/// `data` of a good answer, else an error that tells the refusal.
pub(crate) fn data(answer: Answer) -> Result<Value> {
    if !(200..300).contains(&answer.status) {
        let text: String = answer.text().chars().take(LETTERS).collect();
        bail!("{}: {} {text}", answer.asked, answer.status);
    }
    let mut body = answer.json();
    Ok(body.get_mut("data").map(Value::take).unwrap_or_default())
}

/// The id of what a good answer gives.
pub(crate) fn id(answer: Answer) -> Result<String> {
    let asked = answer.asked.clone();
    let data = data(answer)?;
    data.get("id").and_then(Value::as_str).map(str::to_owned).with_context(|| format!("{asked}: no id"))
}

/// Codes and reasons of a refusal, in whichever form it is told.
pub(crate) fn refusal(answer: &Answer) -> String {
    let body = answer.json();
    let error = body.get("error").unwrap_or(&body);
    let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let details = error.get("details").and_then(Value::as_array);
    let reasons = details.into_iter().flatten().filter_map(|detail| detail.get("reason")?.as_str());
    let reasons: Vec<&str> = reasons.collect();
    format!("{} {} {} {}", answer.status, word("code"), word("type"), reasons.join(" "))
}

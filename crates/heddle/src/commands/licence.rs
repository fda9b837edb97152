//! `heddle licence`.

use std::path::Path;

use anyhow::Result;
use heddle_server::operator;
use serde_json::{Value, json};

use super::given;
use crate::client::{Client, text};
use crate::failure::{Failure, Refusal};
use crate::output;

pub(crate) async fn show(client: &Client, as_json: bool) -> Result<()> {
    tell(&client.get("/api/licence").await?, as_json);
    Ok(())
}

pub(crate) async fn trial(client: &Client, as_json: bool) -> Result<()> {
    tell(&client.post("/api/licence/trial", &Value::Null).await?, as_json);
    Ok(())
}

pub(crate) async fn request(client: &Client) -> Result<()> {
    output::json(&client.get("/api/licence/request").await?);
    Ok(())
}

/// Names the keys that were given when the program was built.
pub(crate) fn keys(as_json: bool) {
    let names = operator::vendor_keys();
    if as_json {
        return output::json(&json!({ "keys": names }));
    }
    for name in &names {
        output::line(name);
    }
    if names.is_empty() {
        output::note("This program was built without keys: it has its trial and takes no licence.");
    }
}

pub(crate) async fn install(client: &Client, file: &Path, force: bool, as_json: bool) -> Result<()> {
    let licence = given::text(file)?;
    let body = json!({ "licence": licence, "force": force });
    let done = client.put("/api/licence", &body).await.map_err(|error| wrong(file, error))?;
    tell(&done, as_json);
    Ok(())
}

/// A text that is no licence of this installation has an exit code of its own.
fn wrong(file: &Path, error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<Refusal>() {
        Some(refusal) if refusal.status == 400 => {
            Failure::Licence(format!("`{}`: {refusal}", file.display())).into()
        }
        _ => error,
    }
}

fn tell(licence: &Value, as_json: bool) {
    if as_json {
        return output::json(licence);
    }
    let row = |name: &str, value: &str| output::line(&output::plain(&format!("{name:<16}{value}")));
    let or = |name: &str, other: &'static str| {
        licence.pointer(name).and_then(Value::as_str).map_or_else(|| other.to_owned(), str::to_owned)
    };
    row("state", text(licence, "/state"));
    if let Some(reason) = licence.get("reason").and_then(Value::as_str) {
        row("reason", reason);
    }
    row("licence", &or("/licenceId", "none"));
    row("customer", &or("/customer", "none"));
    row("ends", &or("/expiresAt", "never"));
    let members = |name: &str| licence.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let entitlements = members("entitlements");
    let enabled = |one: &&Value| one.get("enabled").and_then(Value::as_bool) == Some(true);
    let allowed: Vec<_> = entitlements.iter().filter(enabled).map(|one| text(one, "/name")).collect();
    row("allows", &allowed.join(", "));
    for limit in members("limits") {
        let most = limit.get("licensed").and_then(Value::as_i64);
        let most = most.map_or_else(|| "any number".to_owned(), |most| most.to_string());
        let used = limit.get("used").and_then(Value::as_i64).unwrap_or_default();
        row(text(&limit, "/name"), &format!("{used} of {most}"));
    }
    row("installation", text(licence, "/installationId"));
}

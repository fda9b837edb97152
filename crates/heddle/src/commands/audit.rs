//! `heddle audit`.

use anyhow::{Context as _, Result};
use heddle_server::Config;
use heddle_server::operator::{self, Kept, VerifiedTrail};
use serde_json::{Value, json};

use crate::cli::VerifyAudit;
use crate::client::{Client, Query, text};
use crate::failure::Failure;
use crate::output;

/// Records that one call verifies.
const AT_ONCE: &str = "50000";

/// Verifies the trail of an organisation, part by part.
pub(crate) async fn verify(client: &Client, as_json: bool) -> Result<()> {
    let (mut after, mut checked): (i64, u64) = (0, 0);
    let bar = output::progress("verifying the audit trail", 1);
    let last = loop {
        let query = Query::default().with("after", &after.to_string()).with("limit", AT_ONCE);
        let part = client.get_with("/api/audit-events/verify", &query).await;
        let part = part.inspect_err(|_| bar.finish_and_clear())?;
        checked += part.get("checked").and_then(Value::as_u64).unwrap_or_default();
        match part.get("next").and_then(Value::as_i64) {
            Some(next) if next > after => after = next,
            Some(_) | None => break part,
        }
    };
    bar.finish_and_clear();
    let is_valid = last.get("valid").and_then(Value::as_bool) == Some(true);
    if as_json {
        let mut told = last.clone();
        if let Some(members) = told.as_object_mut() {
            members.insert("checked".to_owned(), json!(checked));
        }
        output::json(&told);
    } else if is_valid {
        output::line(&format!(
            "The audit trail is whole: {checked} records; {} are not sealed yet. Key {}.",
            last.get("unsealed").and_then(Value::as_u64).unwrap_or_default(),
            text(&last, "/publicKey")
        ));
    }
    if is_valid {
        return Ok(());
    }
    let message =
        format!("the audit trail is not whole: {}", output::plain(text(&last, "/firstBad/message")));
    Err(Failure::Refused(message).into())
}

/// Verifies an export or a copy, without a server.
pub(crate) async fn elsewhere(config: &Config, options: &VerifyAudit, as_json: bool) -> Result<()> {
    let anchors = options
        .anchors
        .as_ref()
        .map(|path| std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display())));
    let anchors = anchors.transpose()?;
    let kept = Kept { public_key: options.public_key.as_deref(), anchors: anchors.as_deref() };
    let bar = output::progress("verifying the audit trail", 1);
    let found = match (&options.file, &options.database) {
        (Some(file), _) => operator::verify_export(config, file, kept).map(|trail| vec![trail]),
        (None, Some(database)) => operator::verify_copy(config, database, kept).await,
        (None, None) => Ok(Vec::new()),
    };
    bar.finish_and_clear();
    let found = found?;
    let bad: Vec<&VerifiedTrail> = found.iter().filter(|trail| trail.first_bad.is_some()).collect();
    if as_json {
        output::json(&json!({ "valid": bad.is_empty(), "trails": found }));
    } else {
        for trail in &found {
            let told = trail.first_bad.as_deref().unwrap_or("whole");
            output::line(&output::plain(&format!("{}: {} records, {told}", trail.name, trail.checked)));
        }
    }
    match bad.first() {
        None => Ok(()),
        Some(first) => {
            let told = first.first_bad.as_deref().unwrap_or_default();
            let message = format!("the audit trail is not whole: {}: {told}", first.name);
            Err(Failure::Refused(output::plain(&message)).into())
        }
    }
}

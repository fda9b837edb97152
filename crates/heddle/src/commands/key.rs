//! `heddle key`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::{ForgetKey, RotateKey};
use crate::client::{Client, text};
use crate::output;

/// Makes a new key, unless a rotation goes on, and has every secret's own key wrapped with it. A rotation that is broken
/// off leaves every secret readable: the keys of before stay on the ring.
pub(crate) async fn rotate(client: &Client, options: &RotateKey, as_json: bool) -> Result<()> {
    let done = client.post("/local/keys/rotate", &json!({ "continue": options.resume })).await?;
    if as_json {
        output::json(&done);
        return Ok(());
    }
    let number = |name: &str| done.get(name).and_then(Value::as_u64).unwrap_or_default();
    output::line(&format!(
        "The key {} is current; {} secrets were wrapped with it.",
        text(&done, "/key"),
        number("wrapped")
    ));
    if number("unreadable") > 0 {
        output::line(&format!(
            "{} secrets could not be opened and stay as they are; the log names them.",
            number("unreadable")
        ));
    }
    output::line("Back up the keyring now: what is sealed from now on needs the new key.");
    Ok(())
}

/// Lists the keys of the ring with what is sealed under them.
pub(crate) async fn list(client: &Client, as_json: bool) -> Result<()> {
    let found = client.get("/local/keys").await?;
    if as_json {
        output::json(&found);
        return Ok(());
    }
    let keys = found.get("keys").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for key in keys {
        let is = |name: &str| key.get(name).and_then(Value::as_bool).unwrap_or_default();
        let state = match (is("onRing"), is("current")) {
            (true, true) => "current",
            (true, false) => "earlier",
            (false, _) => "missing",
        };
        let secrets = key.get("secrets").and_then(Value::as_u64).unwrap_or_default();
        output::line(&format!("{:<16}{state:<10}{secrets} secrets", text(key, "/id")));
    }
    Ok(())
}

/// Takes an earlier key from the ring; the service refuses while anything is sealed under it.
pub(crate) async fn forget(client: &Client, options: &ForgetKey, as_json: bool) -> Result<()> {
    let done = client.post("/local/keys/forget", &json!({ "key": options.key })).await?;
    if as_json {
        output::json(&done);
        return Ok(());
    }
    output::line(&format!(
        "The key {} is forgotten; {} is current. Backups of the database from before need the keyring that was backed up \
         with them. Nodes beside this one have the key until they get this keyring and are started anew.",
        text(&done, "/key"),
        text(&done, "/current")
    ));
    Ok(())
}

//! `heddle key`.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::RotateKey;
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

//! `heddle migrate`.

use anyhow::Result;
use heddle_server::{Config, operator};
use serde_json::json;

use crate::output;

pub(crate) async fn run(config: Config, as_json: bool) -> Result<()> {
    let bar = output::progress("bringing the database up to date", 1);
    let applied = operator::migrate(&config).await;
    bar.finish_and_clear();
    let applied = applied?;
    if as_json {
        output::json(&json!({ "applied": applied }));
    } else if applied.is_empty() {
        output::line("The database is current.");
    } else {
        output::line(&format!("Applied: {}", applied.join(", ")));
    }
    Ok(())
}

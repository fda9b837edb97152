//! `heddle doctor`.

use anyhow::Result;
use heddle_server::Config;
use heddle_server::operator::{self, Finding};
use serde_json::json;

use crate::failure::Failure;
use crate::output;

pub(crate) async fn run(config: Config, as_json: bool) -> Result<()> {
    let bar = output::progress("checking", 1);
    let checks = operator::checks(&config).await;
    bar.finish_and_clear();
    let failed = checks.iter().filter(|check| check.status == Finding::Failed).count();
    if as_json {
        output::json(&json!({ "healthy": failed == 0, "checks": checks }));
    } else {
        for check in &checks {
            output::line(&format!("{:<10}{:<10}{}", check.name, check.status.as_str(), check.message));
        }
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Unhealthy(failed).into()) }
}

//! `heddle licence`.

use std::path::Path;

use anyhow::{Context as _, Result};
use heddle_server::Config;
use heddle_server::operator::{self, LicenceView};
use serde_json::to_value;

use super::operate;
use crate::output;

pub(crate) async fn show(config: Config, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let view = operator::licence_view(&core.app).await;
    core.stop().await;
    tell(&view?, as_json)
}

pub(crate) async fn trial(config: Config, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let view = operator::start_trial(&core.app).await;
    core.stop().await;
    tell(&view?, as_json)
}

pub(crate) async fn install(config: Config, file: &Path, force: bool, as_json: bool) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    let core = operate(config).await?;
    let view = operator::install_licence(&core.app, text, force).await;
    core.stop().await;
    tell(&view?, as_json)
}

fn tell(view: &LicenceView, as_json: bool) -> Result<()> {
    if as_json {
        output::json(&to_value(view)?);
    } else {
        print(view);
    }
    Ok(())
}

fn print(view: &LicenceView) {
    let row = |name: &str, value: &str| output::line(&format!("{name:<16}{value}"));
    row("state", view.state);
    if let Some(reason) = &view.reason {
        row("reason", reason);
    }
    row("licence", view.licence_id.as_deref().unwrap_or("none"));
    row("customer", view.customer.as_deref().unwrap_or("none"));
    row("ends", &view.expires_at.map_or_else(|| "never".to_owned(), |end| end.to_string()));
    row("allows", &view.entitlements.join(", "));
    for limit in &view.limits {
        let most = limit.licensed.map_or_else(|| "any number".to_owned(), |most| most.to_string());
        row(limit.name, &format!("{} of {most}", limit.used));
    }
    row("installation", &view.installation_id);
}

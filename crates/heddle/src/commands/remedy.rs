//! `heddle dead-letter`, `heddle run cancel` and `heddle workflow archive`: remedies that need no server.

use anyhow::Result;
use heddle_server::Config;
use heddle_server::operator;
use serde_json::json;

use super::{acting, operate};
use crate::cli::{ArchiveWorkflow, CancelRun, ListLetters, OneLetter};
use crate::output;

pub(crate) async fn archive(config: Config, options: ArchiveWorkflow, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let done = async {
        let acting = acting(&core, &options.place).await?;
        Ok::<_, anyhow::Error>(operator::archive_workflow(&core.app, &acting, &options.workflow).await?)
    };
    let done = done.await;
    core.stop().await;
    let id = done?.to_string();
    if as_json {
        output::json(&json!({ "id": id, "state": "archived" }));
    } else {
        output::line(&format!("Archived {}: nothing starts it any more.", options.workflow));
    }
    Ok(())
}

pub(crate) async fn cancel(config: Config, options: CancelRun, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let done = async {
        let acting = acting(&core, &options.place).await?;
        Ok::<_, anyhow::Error>(operator::cancel_run(&core.app, &acting, &options.run).await?)
    };
    let done = done.await;
    core.stop().await;
    let state = done?;
    if as_json {
        output::json(&json!({ "id": options.run, "state": state }));
    } else {
        output::line(&format!("The run {} is {state}.", options.run));
    }
    Ok(())
}

pub(crate) async fn letters(config: Config, options: ListLetters, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let done = async {
        let acting = acting(&core, &options.place).await?;
        let kind = options.kind.as_deref();
        Ok::<_, anyhow::Error>(operator::dead_letters(&core.app, &acting, kind, options.limit).await?)
    };
    let done = done.await;
    core.stop().await;
    let letters = done?;
    if as_json {
        output::json(&json!({ "deadLetters": letters }));
        return Ok(());
    }
    if letters.is_empty() {
        output::line("There are no dead letters.");
    }
    for letter in &letters {
        let of = letter.run_id.as_deref().or(letter.workflow_id.as_deref()).unwrap_or("-");
        output::line(&format!(
            "{}  {}  {:<11}{:<9}{of}  {}",
            letter.id, letter.created_at, letter.kind, letter.reason, letter.message
        ));
    }
    Ok(())
}

pub(crate) async fn retry(config: Config, options: OneLetter, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let done = async {
        let acting = acting(&core, &options.place).await?;
        Ok::<_, anyhow::Error>(operator::retry_dead_letter(&core.app, &acting, &options.letter).await?)
    };
    let done = done.await;
    core.stop().await;
    let letter = done?;
    if as_json {
        output::json(&serde_json::to_value(&letter)?);
    } else {
        output::line(&format!("The {} is back and will be tried again.", letter.kind));
    }
    Ok(())
}

pub(crate) async fn discard(config: Config, options: OneLetter, as_json: bool) -> Result<()> {
    let core = operate(config).await?;
    let done = async {
        let acting = acting(&core, &options.place).await?;
        Ok::<_, anyhow::Error>(operator::drop_dead_letter(&core.app, &acting, &options.letter).await?)
    };
    let done = done.await;
    core.stop().await;
    done?;
    if as_json {
        output::json(&json!({ "id": options.letter, "dropped": true }));
    } else {
        output::line("Dropped.");
    }
    Ok(())
}

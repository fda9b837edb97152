//! `heddle man`: manual pages.

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use serde_json::json;

use crate::cli::{Cli, WriteManual};
use crate::output;

pub(crate) fn write(options: &WriteManual, as_json: bool) -> Result<()> {
    let shown = options.out.display();
    let at = || format!("`{shown}`");
    std::fs::create_dir_all(&options.out).with_context(at)?;
    clap_mangen::generate_to(Cli::command(), &options.out).with_context(at)?;
    if as_json {
        output::json(&json!({ "directory": options.out }));
    } else {
        output::line(&format!("Wrote the manual pages to {shown}; `man {shown}/heddle.1` shows the first."));
    }
    Ok(())
}

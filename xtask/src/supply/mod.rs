//! Supply of the program: the packages of others, their licences, the notices that go with the program, and its bill of
//! materials.

mod deny;
mod expression;
mod notices;
mod packages;
mod sbom;

use std::path::PathBuf;

use anyhow::{Context, Result};
use heddle_harness_kit::{out, workspace};

use packages::Shipped;

/// Name of the notices' file in the root of the checkout.
const NOTICES: &str = "THIRD-PARTY.md";

/// Options of `notices`.
#[derive(clap::Args)]
pub(crate) struct NoticesOptions {
    /// Compare only: fail when the file is not what would be written.
    #[arg(long)]
    check: bool,
}

/// Options of `sbom`.
#[derive(clap::Args)]
pub(crate) struct SbomOptions {
    /// File to write; standard output without it.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Holds the packages against `deny.toml`; prints each finding.
pub(crate) fn deny() -> Result<bool> {
    let rules = read("deny.toml")?;
    let found = deny::check(&rules, &read("Cargo.lock")?, &packages::metadata()?)?;
    for finding in &found {
        out::line(finding);
    }
    out::line(format_args!("deny: {} finding(s)", found.len()));
    Ok(found.is_empty())
}

/// Writes the notices, or compares them with the file.
pub(crate) fn notices(options: &NoticesOptions) -> Result<bool> {
    let text = notices::render(&Shipped::read(&read("Cargo.lock")?)?)?;
    if !options.check {
        std::fs::write(workspace::root().join(NOTICES), text)
            .with_context(|| format!("cannot write {NOTICES}"))?;
        return Ok(true);
    }
    let fresh = read(NOTICES).is_ok_and(|there| there == text);
    if !fresh {
        out::line(format_args!("{NOTICES} is not what the packages say: run `cargo xtask notices`"));
    }
    Ok(fresh)
}

/// Writes the bill of materials.
pub(crate) fn sbom(options: &SbomOptions) -> Result<bool> {
    let bill = sbom::bill(&Shipped::read(&read("Cargo.lock")?)?)?;
    let text = serde_json::to_string_pretty(&bill)?;
    match &options.out {
        Some(path) => {
            std::fs::write(path, text + "\n").with_context(|| format!("cannot write {}", path.display()))?
        }
        None => out::line(text),
    }
    Ok(true)
}

fn read(name: &str) -> Result<String> {
    std::fs::read_to_string(workspace::root().join(name)).with_context(|| format!("cannot read {name}"))
}

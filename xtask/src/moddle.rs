//! bpmn-moddle, the JavaScript library that most BPMN editors read and write with: a second opinion on exports,
//! and a peer to be measured beside.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{out, workspace};

const REQUIREMENT: &str = "bpmn-moddle@^10";

/// Where it is installed.
pub struct Moddle {
    /// The folder that node is to be started in.
    pub folder: PathBuf,
    /// The standard's schema that comes with it.
    pub schema: PathBuf,
}

impl Moddle {
    /// Finds it below the target folder, or has npm install it there.
    pub fn install() -> Result<Self> {
        let folder = workspace::target_dir()?.join("bpmn-moddle");
        let schema = folder.join("node_modules/bpmn-moddle/resources/bpmn/xsd/BPMN20.xsd");
        std::fs::create_dir_all(&folder).context("the target folder cannot be written")?;
        if !schema.is_file() {
            out::note("installing bpmn-moddle");
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&folder);
            let output = npm.arg(REQUIREMENT).output().context("npm cannot be started")?;
            if !output.status.success() || !schema.is_file() {
                bail!("npm {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
            }
        }
        Ok(Self { folder, schema })
    }

    /// Puts a script beside it and gives node with that script as its first argument.
    pub fn node(&self, name: &str, script: &str) -> Result<Command> {
        std::fs::write(self.folder.join(name), script).context("the script cannot be written")?;
        let mut node = Command::new("node");
        node.arg(name).current_dir(&self.folder).stdin(std::process::Stdio::null());
        Ok(node)
    }
}

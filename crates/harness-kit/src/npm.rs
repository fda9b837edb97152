//! JavaScript libraries as second opinions and as peers to be measured beside, installed below the target folder.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{out, workspace};

/// An installed package.
#[derive(Debug)]
pub struct Package {
    /// The folder that node is to be started in.
    pub folder: PathBuf,
    /// The package's own folder.
    pub module: PathBuf,
}

impl Package {
    /// Finds a package, or has npm install what the requirement asks for.
    pub fn install(name: &str, requirement: &str) -> Result<Self> {
        let folder = workspace::target_dir()?.join(name);
        let module = folder.join("node_modules").join(name);
        std::fs::create_dir_all(&folder).context("the target folder cannot be written")?;
        if !module.join("package.json").is_file() {
            out::note(format_args!("installing {name}"));
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(&folder);
            let output = npm.arg(requirement).output().context("npm cannot be started")?;
            if !output.status.success() || !module.is_dir() {
                bail!("npm {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
            }
        }
        Ok(Self { folder, module })
    }

    /// Puts a script beside it and gives node with that script as its first argument.
    pub fn node(&self, name: &str, script: &str) -> Result<Command> {
        std::fs::write(self.folder.join(name), script).context("the script cannot be written")?;
        let mut node = Command::new("node");
        node.arg(name).current_dir(&self.folder).stdin(Stdio::null());
        Ok(node)
    }
}

/// bpmn-moddle, the library that most BPMN editors read and write with; the standard's schema comes with it.
pub fn moddle() -> Result<Package> {
    Package::install("bpmn-moddle", "bpmn-moddle@^10")
}

//! Python libraries as peers, installed into a virtual environment below the target folder.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{out, workspace};

/// A virtual environment with a package.
#[derive(Debug)]
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Finds the environment of a package, or makes it and has pip install what the requirements ask for, which blanks part.
    pub fn install(name: &str, requirement: &str) -> Result<Self> {
        Self::install_with(name, requirement, &[])
    }

    /// The same without what the packages ask for in turn: for those whose dependencies would be compiled and are not used.
    pub fn install_bare(name: &str, requirement: &str) -> Result<Self> {
        Self::install_with(name, requirement, &["--no-deps"])
    }

    fn install_with(name: &str, requirement: &str, options: &[&str]) -> Result<Self> {
        let folder = workspace::target_dir()?.join(name);
        // The mark is written last: what was broken off is made anew.
        let mark = folder.join("installed");
        if std::fs::read_to_string(&mark).is_ok_and(|installed| installed == requirement) {
            return Ok(Self { folder });
        }
        out::note(format_args!("installing {name}"));
        quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(options);
        quietly(pip.args(requirement.split(' ')))?;
        std::fs::write(&mark, requirement).context("the target folder cannot be written")?;
        Ok(Self { folder })
    }

    /// Puts a script beside it and gives its python with that script as its first argument.
    pub fn python(&self, name: &str, script: &str) -> Result<Command> {
        std::fs::write(self.folder.join(name), script).context("the script cannot be written")?;
        let mut python = Command::new(self.folder.join("bin/python"));
        python.arg(name).current_dir(&self.folder).stdin(Stdio::null());
        Ok(python)
    }
}

fn quietly(command: &mut Command) -> Result<()> {
    let output = command.output().context("python3 cannot be started")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

//! Workspace: its root, its packages and its files.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The workspace's root: two folders above this package.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The cargo that runs us, or the one on the path.
#[must_use]
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // What cargo tells the program that it runs: build scripts that look at it would be run anew, and all that stands on them
    // built twice.
    for (name, _) in std::env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
        {
            command.env_remove(name);
        }
    }
    command.current_dir(root());
    command
}

/// `cargo metadata` without the dependencies' own graphs.
///
/// # Errors
/// When cargo does not answer.
pub fn metadata() -> Result<Value> {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .output()
        .context("cargo metadata cannot be started")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("cargo metadata did not answer in JSON")
}

/// Cargo's target folder, which may stand elsewhere.
///
/// # Errors
/// When cargo does not answer.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = metadata()?;
    let path = metadata["target_directory"].as_str().context("cargo metadata names no target folder")?;
    Ok(PathBuf::from(path))
}

/// The file that says in which order the linker puts the functions of the program: `cargo xtask order` writes it.
#[must_use]
pub fn function_order() -> PathBuf {
    root().join("crates/heddle/functions.order")
}

/// Number by which the names of the program's functions are told: it changes with the compiler, with what it optimises for,
/// and with the packages, their versions, features and dependencies, of which a change in one changes the names in all
/// that stand on it.
///
/// # Errors
/// When cargo or the compiler does not answer.
pub fn naming() -> Result<u64> {
    let told = |mut command: Command| {
        let output = command.output().context("the compiler cannot be started")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let mut packages = cargo();
    packages.args(["tree", "--package", "heddle", "--edges", "normal,build", "--prefix", "depth"]);
    packages.args(["--format", "{p} {f}", "--locked", "--offline"]);
    // Where the workspace lies does not count.
    let packages = told(packages)?.replace(&root().display().to_string(), "");
    let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.current_dir(root()).arg("--version").arg("--verbose");
    // What is inlined depends on how the packages are optimised.
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).context("Cargo.toml can't be read")?;
    let (_, profile) =
        manifest.split_once("[profile.release]").context("Cargo.toml has no release profile")?;
    let profile: Vec<&str> =
        profile.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut hasher = std::hash::DefaultHasher::new();
    (packages, told(compiler)?, profile).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Whether the order of the functions was measured under the names that they have now.
///
/// # Errors
/// As [`naming`]; when the file can't be read.
pub fn is_order_of_now() -> Result<bool> {
    let order = std::fs::read_to_string(function_order()).context("the order of functions can't be read")?;
    Ok(order.lines().next() == Some(&order_head(naming()?)))
}

/// The first line of the order, which the linker passes over: the [`naming`] under which it was measured.
#[must_use]
pub fn order_head(naming: u64) -> String {
    format!("# names: {naming:016x}")
}

/// Every file below a folder, sorted, without build output and hidden folders other than the project's own.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if entry.file_type()?.is_dir() {
                let hidden = name.starts_with('.') && !matches!(&*name, ".ci" | ".cargo" | ".config");
                if !hidden && !matches!(&*name, "target" | "heddle-data" | "node_modules") {
                    open.push(path);
                }
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// The folder of the shared suites: `HEDDLE_SUITES`, else beside the workspace.
#[must_use]
pub fn suites() -> PathBuf {
    std::env::var_os("HEDDLE_SUITES").map_or_else(|| root().join("../shared/suites"), PathBuf::from)
}

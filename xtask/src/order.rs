//! Order of the functions in the program: which of them servers run, measured by callgrind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use heddle_harness_kit::{out, workspace};

/// Loads under which it is seen what servers run: arguments of the harness.
const LOADS: [&[&str]; 5] = [
    &["bench", "http", "--backend", "sqlite", "--callers", "4", "--seconds", "8"],
    &["bench", "http", "--backend", "postgres", "--callers", "4", "--seconds", "6"],
    &["bench", "gateway", "--rounds", "1", "--seconds", "5", "--calls", "1500", "--pace", "30"],
    &["bench", "vectors", "--http", "--backend", "sqlite", "--files", "3", "--queries", "20"],
    &["conformance", "--check", "--only", "bpmn-execution,cmmn-execution"],
];

/// Options of `order`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Directory of measurements that are there already: files of callgrind. Without it they are made now, which takes a
    /// quarter of an hour, and needs valgrind.
    #[arg(long)]
    measured: Option<PathBuf>,
    /// Only looks whether the names are still those under which the order was measured.
    #[arg(long, conflicts_with = "measured")]
    check: bool,
}

/// Writes `crates/heddle/functions.order`.
///
/// # Errors
/// When the program can't be built, callgrind can't be started, or a file can't be read or written.
pub(crate) fn run(options: &Options) -> Result<bool> {
    if options.check {
        let is_of_now = workspace::is_order_of_now()?;
        if !is_of_now {
            out::line(
                "The functions have other names than when their order was measured: `cargo xtask order`.",
            );
        }
        return Ok(is_of_now);
    }
    let made = tempfile::tempdir().context("no temporary folder")?;
    let measured = match &options.measured {
        Some(folder) => folder.clone(),
        None => {
            measure(&build()?, made.path())?;
            made.path().to_path_buf()
        }
    };
    let ran = functions(&measured)?;
    if ran.is_empty() {
        bail!("{} holds no measurement", measured.display());
    }
    let file = workspace::function_order();
    let mut text = format!("{}\n", workspace::order_head(workspace::naming()?));
    for function in &ran {
        text.push_str(function);
        text.push('\n');
    }
    std::fs::write(&file, text).with_context(|| format!("{} can't be written", file.display()))?;
    out::note(format!("{} functions in {}", ran.len(), file.display()));
    Ok(true)
}

/// The optimised program with its names, as whoever installs it builds it: what is built beside it changes them.
fn build() -> Result<PathBuf> {
    let mut command = workspace::cargo();
    command.env("CARGO_PROFILE_RELEASE_STRIP", "none").args(["build", "--release", "--package", "heddle"]);
    let status = command.status().context("cargo cannot be started")?;
    if !status.success() {
        bail!("the program can't be built");
    }
    Ok(workspace::target_dir()?.join("release/heddle"))
}

/// Has the harness load servers that run within callgrind, which writes what they run into the folder.
fn measure(program: &Path, folder: &Path) -> Result<()> {
    // The harness builds programs that are to be judged; this one is there.
    let kept = folder.join("heddle");
    std::fs::copy(program, &kept).context("the program can't be copied")?;
    for (number, load) in LOADS.iter().enumerate() {
        out::note(format!("measured: {}", load.join(" ")));
        let wrapper = folder.join(format!("server-{number}.sh"));
        let script = format!(
            "#!/bin/sh\nexec valgrind -q --tool=callgrind --demangle=no --dump-every-bb=300000000 \
             --callgrind-out-file={folder}/out.{number}.%p --log-file={folder}/log.{number}.%p {program} \"$@\"\n",
            folder = folder.display(),
            program = kept.display(),
        );
        std::fs::write(&wrapper, script).context("the script can't be written")?;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&wrapper, permissions).context("the script can't be made to run")?;
        let mut command = workspace::cargo();
        command.args(["run", "--quiet", "--release", "--package", "heddle-harness", "--"]).args(*load);
        // A bar that is missed at a fiftieth of the speed is no failure.
        command.env("HEDDLE_BIN", &wrapper).status().context("cargo cannot be started")?;
    }
    Ok(())
}

/// Functions that ran, by the names that the linker knows, from callgrind's files in a folder: first those of all loads,
/// last those of one alone, and those of the same loads side by side, so that what a server never runs does not lie
/// between.
fn functions(folder: &Path) -> Result<Vec<String>> {
    let mut loads: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("{} can't be read", folder.display()))? {
        let path = entry?.path();
        // A server's files are `out.LOAD.PROCESS`, with the number of the part behind it.
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(load) = name.strip_prefix("out.").and_then(|rest| rest.split('.').next()) else {
            continue;
        };
        let text = std::fs::read(&path).with_context(|| format!("{} can't be read", path.display()))?;
        for function in String::from_utf8_lossy(&text).lines().filter_map(named) {
            loads.entry(function.to_owned()).or_default().insert(load.to_owned());
        }
    }
    let mut all: Vec<_> = loads.into_iter().collect();
    all.sort_by(|(_, one), (_, other)| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    Ok(all.into_iter().map(|(function, _)| function).collect())
}

/// The function that a line of callgrind names for the first time: `fn=(12) name` where it ran, or `cfn=(12) name` where it
/// was called, with `'2` behind it where it called itself. What has an address alone, or parentheses, is none that the
/// linker knows.
fn named(line: &str) -> Option<&str> {
    let line = line.strip_prefix('c').unwrap_or(line);
    let (_, name) = line.strip_prefix("fn=(")?.split_once(") ")?;
    let name = name.split_once('\'').map_or(name, |(name, _)| name);
    let is_known = !name.starts_with("0x") && !name.contains(['(', ' ', '@']) && !name.is_empty();
    is_known.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_functions_are_read_where_they_stand_first() {
        assert_eq!(
            named("fn=(12) _ZN4core3ptr17h0123456789abcdefE"),
            Some("_ZN4core3ptr17h0123456789abcdefE")
        );
        assert_eq!(named("cfn=(12) sqlite3VdbeExec'2"), Some("sqlite3VdbeExec"));
        for other in
            ["fn=(12)", "cfn=(12)", "calls=1 12", "fn=(3) 0x0000000000001100", "fn=(4) (below main)", "12 34"]
        {
            assert_eq!(named(other), None, "{other}");
        }
    }

    #[test]
    fn what_the_same_loads_run_lies_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        for (file, names) in [
            ("out.0.17", "all\nb\nd"),
            ("out.0.18.1", "alone"),
            ("out.1.19", "all\nc\nd"),
            ("out.2.20", "all\na\nb\nc\nd"),
            ("log.0.17", "none"),
        ] {
            let lines = names.lines().enumerate().map(|(at, name)| format!("fn=({at}) {name}\n"));
            std::fs::write(folder.path().join(file), lines.collect::<String>()).unwrap();
        }
        assert_eq!(functions(folder.path()).unwrap(), ["all", "d", "b", "c", "alone", "a"]);
    }
}

//! The tool itself: installed into the target folder, started with a configuration of ours.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use toml::Table;

use super::fixtures::Fixtures;
use heddle_harness_kit::{out, workspace};

const REQUIREMENT: &str = "schemathesis>=4.32,<5";
const HOOKS: &str = include_str!("hooks.py");
const CHECKS: &str =
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

/// Operations that ask somebody outside, who may not answer: a generated call reaches deployments that others have made, and
/// their 503 is the contract's word for it. Any other 5xx of theirs is a finding all the same.
const ASK_OUTSIDE: [&str; 2] = ["POST /api/chat", "POST /api/embeddings"];

/// The installed tool with a folder for what it writes.
pub(crate) struct Tool {
    program: PathBuf,
    /// Folder for the tool's files.
    pub folder: PathBuf,
}

/// One start of the tool.
pub(crate) struct Start<'a> {
    /// Names the files of this start.
    pub name: &'a str,
    /// Location of the OpenAPI document.
    pub document: String,
    /// Bearer token; none for an anonymous start.
    pub token: Option<&'a str>,
    /// Only these operations.
    pub only: &'a [String],
    /// Known-good calls.
    pub fixtures: &'a Fixtures,
    /// Generated calls for each operation.
    pub max_examples: u32,
    /// The tool's phases.
    pub phases: &'a str,
    /// Makes a run repeatable.
    pub seed: u64,
}

impl Tool {
    /// Finds the tool, or installs it into a virtual environment below the target folder.
    pub(crate) fn install() -> Result<Self> {
        let target = workspace::target_dir()?;
        let folder = target.join("schemathesis");
        std::fs::create_dir_all(&folder).context("the target folder cannot be written")?;
        std::fs::write(folder.join("heddle_hooks.py"), HOOKS).context("the hooks cannot be written")?;
        let environment = target.join("schemathesis-venv");
        let program = environment.join("bin/schemathesis");
        if !runs(&program) {
            out::note("installing schemathesis");
            quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
            let mut install = Command::new(environment.join("bin/python"));
            quietly(install.args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                REQUIREMENT,
            ]))?;
        }
        Ok(Self { program, folder })
    }

    /// Runs the tool once; `false` when it found something. Gives the report to read.
    pub(crate) fn run(&self, start: &Start<'_>) -> Result<(bool, PathBuf)> {
        let place = |ending: &str| self.folder.join(format!("{}.{ending}", start.name));
        let cases = place("cases.json");
        std::fs::write(&cases, serde_json::to_vec(&start.fixtures.cases)?)
            .context("the cases cannot be written")?;
        let config = place("toml");
        std::fs::write(&config, configuration(start.fixtures)?)
            .context("the configuration cannot be written")?;
        let (report, log) = (place("ndjson"), place("log"));
        let output = std::fs::File::create(&log).context("the log cannot be written")?;
        let mut command = Command::new(&self.program);
        command.arg("--config-file").arg(&config).args(["run", &start.document]);
        command.args(["--checks", CHECKS, "--phases", start.phases]);
        command.args(["--max-examples", &start.max_examples.to_string(), "--seed", &start.seed.to_string()]);
        command.args(["--request-timeout", "30", "--continue-on-failure", "--warnings", "off"]);
        // The answer over all runs has no end.
        command.args(["--exclude-path", "/api/runs/events/stream"]);
        command.args(["--suppress-health-check", "all", "--output-truncate", "false"]);
        command.arg("--report-ndjson-path").arg(&report);
        if let Some(token) = start.token {
            command.args(["--header", &format!("Authorization: Bearer {token}")]);
        }
        for name in start.only {
            command.args(["--include-name", name]);
        }
        command.env("SCHEMATHESIS_HOOKS", "heddle_hooks").env("PYTHONPATH", &self.folder);
        command.env("HEDDLE_SCHEMATHESIS_CASES", &cases).env("NO_COLOR", "1").current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let status = command.status().context("schemathesis cannot be started")?;
        match status.code() {
            Some(0) => Ok((true, report)),
            Some(1) => {
                out::line(format_args!(
                    "-- {} --\n{}",
                    start.name,
                    std::fs::read_to_string(&log).unwrap_or_default().trim()
                ));
                Ok((false, report))
            }
            _ => {
                bail!("schemathesis {status}:\n{}", std::fs::read_to_string(&log).unwrap_or_default().trim())
            }
        }
    }
}

/// Real path parameters for the generated calls, and what is no fault of an operation that asks somebody outside.
fn configuration(fixtures: &Fixtures) -> Result<String> {
    let mut operations = Vec::new();
    for (label, parameters) in &fixtures.parameters {
        let mut operation = Table::new();
        operation.insert("include-name".to_owned(), label.as_str().into());
        let values: Table = parameters
            .iter()
            .filter_map(|(name, value)| Some((format!("path.{name}"), Value::as_str(value)?.into())))
            .collect();
        operation.insert("parameters".to_owned(), values.into());
        operations.push(toml::Value::Table(operation));
    }
    for label in ASK_OUTSIDE {
        let statuses: Vec<toml::Value> = vec!["2xx".into(), "3xx".into(), "4xx".into(), 503.into()];
        let answered = Table::from_iter([("expected-statuses".to_owned(), statuses.into())]);
        let checks = Table::from_iter([("not_a_server_error".to_owned(), answered.into())]);
        operations.push(toml::Value::Table(Table::from_iter([
            ("include-name".to_owned(), label.into()),
            ("checks".to_owned(), checks.into()),
        ])));
    }
    let mut config = Table::new();
    // The caller's own token is enough; a generated cookie beside it would be refused as a contradiction.
    let security: Table = [("with-security-parameters".to_owned(), false.into())].into_iter().collect();
    config.insert("generation".to_owned(), security.into());
    if let Some(organization) = &fixtures.organization {
        let header = ("header.x-organization-id".to_owned(), organization.as_str().into());
        config.insert("parameters".to_owned(), Table::from_iter([header]).into());
    }
    config.insert("operations".to_owned(), operations.into());
    toml::to_string(&config).context("the configuration")
}

fn runs(program: &Path) -> bool {
    program.is_file()
        && Command::new(program).arg("--version").output().is_ok_and(|output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            output.status.success() && new_enough(&text)
        })
}

fn new_enough(version: &str) -> bool {
    let numbers = version.rsplit(' ').next().unwrap_or_default().trim();
    let mut parts = numbers.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default()) >= (4, 32)
}

fn quietly(command: &mut Command) -> Result<()> {
    let output = command.output().context("python3 cannot be started")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn old_versions_are_replaced() {
        for (version, expected) in [
            ("schemathesis, version 4.32.5\n", true),
            ("schemathesis, version 5.0.0", true),
            ("schemathesis, version 4.9.1", false),
            ("", false),
        ] {
            assert_eq!(new_enough(version), expected, "{version}");
        }
    }

    #[test]
    fn the_configuration_names_parameters_by_place() {
        let mut fixtures = Fixtures::default();
        let config: Table = configuration(&fixtures).unwrap().parse().unwrap();
        let outside = config["operations"].as_array().unwrap();
        assert_eq!(outside.len(), 2, "none of its own");
        assert_eq!(outside[0]["include-name"].as_str(), Some("POST /api/chat"));
        assert_eq!(
            outside[0]["checks"]["not_a_server_error"]["expected-statuses"][3].as_integer(),
            Some(503)
        );
        fixtures.organization = Some("mine".to_owned());
        let parameters = json!({"id": "real"}).as_object().unwrap().clone();
        fixtures.parameters.insert("PUT /a/{id}".to_owned(), parameters);
        let config: Table = configuration(&fixtures).unwrap().parse().unwrap();
        assert_eq!(config["parameters"]["header.x-organization-id"].as_str(), Some("mine"));
        assert_eq!(config["operations"][0]["include-name"].as_str(), Some("PUT /a/{id}"));
        assert_eq!(config["operations"][0]["parameters"]["path.id"].as_str(), Some("real"));
    }
}

//! The committed results of the suites, which the program embeds and shows as evidence.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use heddle_conformance::recorded::{CaseStatus, FOLDER, Recorded, RecordedCase};
use heddle_kernel::Timestamp;
use sha2::{Digest as _, Sha256};

use super::report::{Outcome, Report};
use super::{cmmn_roundtrip, constraints, dmn_tck, execution, roundtrip, schema, vendor};
use heddle_harness_kit::{out, workspace};

/// A suite whose results are recorded.
struct Kept {
    /// Name of the suite, which is the file's too.
    name: &'static str,
    /// Subject of the suite, for people.
    about: &'static str,
    /// Folders below that of the shared suites, or, of `docs/`, below the workspace.
    folders: &'static [&'static str],
}

const KEPT: &[Kept] = &[
    Kept {
        name: "bpmn-execution",
        about: "Executable models of uniba-dsg/betsy and camunda-bpm-platform, run over HTTP against a started server.",
        folders: &["bpmn/execution"],
    },
    Kept {
        name: "bpmn-vendor",
        about: "Models that people wrote for Camunda 7, Flowable and Activiti, the vendors' own words in them: imported with \
            `isExecutable` set and published, what they call before them.",
        folders: &["bpmn/vendor"],
    },
    Kept {
        name: "bpmn-roundtrip",
        about: "Reference models of the BPMN Model Interchange Working Group and models of two engines' own tests: read, \
            created, exported over HTTP and compared with their sources.",
        folders: &["bpmn/miwg", "bpmn/pool"],
    },
    Kept {
        name: "bpmn-constraints",
        about: "Models of BPMNspector and uniba-dsg/betsy that each break one constraint of the standard: validate names it.",
        folders: &["bpmn/constraints"],
    },
    Kept {
        name: "bpmn-control",
        about: "Executable and reference models that break no constraint that binds on them: publish names none.",
        folders: &["bpmn/execution", "bpmn/miwg"],
    },
    Kept {
        name: "bpmn-schema",
        about: "Exports of the same models: valid by the standard's schema wherever the source was, and read by bpmn-moddle \
            without a warning that the source did not cause.",
        folders: &["bpmn/miwg", "bpmn/pool"],
    },
    Kept {
        name: "cmmn-execution",
        about: "Executable cases of camunda-bpm-platform, run over HTTP against a started server.",
        folders: &["cmmn/execution"],
    },
    Kept {
        name: "cmmn-suite",
        about: "Our own cases, from the life cycle tables and the rules of CMMN 1.1, run over HTTP against a started server.",
        folders: &["docs/cmmn-suite"],
    },
    Kept {
        name: "cmmn-roundtrip",
        about: "Models of two engines' own tests: read, written and compared with their sources.",
        folders: &["cmmn/pool", "cmmn/execution"],
    },
    Kept {
        name: "dmn-tck-level-2",
        about: "Level 2 of the DMN Technology Compatibility Kit: each case's results equal those expected.",
        folders: &["dmn-tck/compliance-level-2"],
    },
    Kept {
        name: "dmn-tck-level-3",
        about: "Level 3 of the DMN Technology Compatibility Kit: each case's results equal those expected; a case that needs a \
            function carried out by Java is skipped.",
        folders: &["dmn-tck/compliance-level-3"],
    },
    Kept {
        name: "dmn-tck-non-compliant",
        about: "The cases of the DMN Technology Compatibility Kit that its authors no longer hold to be what the standard says.",
        folders: &["dmn-tck/non-compliant"],
    },
];

/// The recorded suites, or those of these names.
fn chosen(only: &[String]) -> Result<Vec<&'static Kept>> {
    if let Some(unknown) = only.iter().find(|name| !KEPT.iter().any(|kept| kept.name == **name)) {
        let known: Vec<&str> = KEPT.iter().map(|kept| kept.name).collect();
        bail!("no suite {unknown} is recorded; there are {}", known.join(", "));
    }
    Ok(KEPT.iter().filter(|kept| only.is_empty() || only.iter().any(|name| name == kept.name)).collect())
}

/// Runs every suite, or those of these names, and writes the results down.
pub(crate) async fn record(only: &[String]) -> Result<bool> {
    let chosen = chosen(only)?;
    let commit = commit()?;
    let changed = git(&["status", "--porcelain", "--", ".", &format!(":!{FOLDER}")])?;
    if !changed.is_empty() {
        bail!(
            "the results would name the commit {commit}, but files differ from it: commit them first\n{changed}"
        );
    }
    let mut today = Timestamp::from(SystemTime::now()).to_string();
    today.truncate("2026-01-01".len());
    for kept in chosen {
        let folders = kept.folders()?;
        let report = kept.run(&folders).await?;
        report.print(false)?;
        let recorded = Recorded {
            suite: kept.name.to_owned(),
            about: kept.about.to_owned(),
            source_sha256: hash(&folders)?,
            commit: commit.clone(),
            recorded_on: today.clone(),
            cases: cases(&report),
        };
        let text = serde_json::to_string_pretty(&recorded)? + "\n";
        std::fs::write(kept.file(), text)
            .with_context(|| format!("cannot write {}", kept.file().display()))?;
    }
    Ok(true)
}

/// Runs every suite, or those of these names, again; `false` when a case ends other than it was recorded.
pub(crate) async fn check(only: &[String]) -> Result<bool> {
    let mut same = true;
    for kept in chosen(only)? {
        let text = std::fs::read_to_string(kept.file())
            .with_context(|| format!("cannot read {}", kept.file().display()))?;
        let recorded: Recorded = serde_json::from_str(&text).context("the recorded results")?;
        let folders = kept.folders()?;
        if hash(&folders)? != recorded.source_sha256 {
            out::line(format_args!("{}: the suite is not the one that was recorded", kept.name));
            same = false;
        }
        let report = kept.run(&folders).await?;
        let differences = differences(&recorded.cases, &cases(&report));
        for line in &differences {
            out::line(format_args!("{}: {line}", kept.name));
        }
        same &= differences.is_empty();
        out::line(report.summary());
    }
    if !same {
        out::line("what is recorded differs: `cargo xtask conformance --record` writes it anew");
    }
    Ok(same)
}

impl Kept {
    fn file(&self) -> PathBuf {
        workspace::root().join(FOLDER).join(format!("{}.json", self.name))
    }

    fn folders(&self) -> Result<Vec<PathBuf>> {
        let suites = workspace::suites();
        let place = |folder: &&str| match folder.starts_with("docs/") {
            true => workspace::root().join(folder),
            false => suites.join(folder),
        };
        let folders: Vec<PathBuf> = self.folders.iter().map(place).collect();
        match folders.iter().find(|folder| !folder.is_dir()) {
            Some(missing) => bail!("there is no folder {}", missing.display()),
            None => Ok(folders),
        }
    }

    async fn run(&self, folders: &[PathBuf]) -> Result<Report> {
        match (self.name, folders) {
            ("bpmn-execution" | "cmmn-execution" | "cmmn-suite", folders) => {
                execution::judge(self.name, folders).await
            }
            ("cmmn-roundtrip", folders) => cmmn_roundtrip::judge_all(folders),
            ("bpmn-vendor", folders) => vendor::judge("bpmn-vendor", folders).await,
            ("bpmn-roundtrip", folders) => roundtrip::judge_all(folders).await,
            ("bpmn-constraints", folders) => constraints::judge(folders).await,
            ("bpmn-control", folders) => constraints::control(folders).await,
            ("bpmn-schema", folders) => schema::judge_all(folders).await,
            ("dmn-tck-level-2" | "dmn-tck-level-3" | "dmn-tck-non-compliant", folders) => {
                dmn_tck::judge(folders)
            }
            (name, _) => bail!("nothing runs the suite {name}"),
        }
    }
}

fn commit() -> Result<String> {
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Result<String> {
    let mut git = std::process::Command::new("git");
    let output =
        git.args(arguments).current_dir(workspace::root()).output().context("git cannot be started")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// SHA-256 over names and contents of all files, by name.
fn hash(folders: &[PathBuf]) -> Result<String> {
    let mut all = Sha256::new();
    for folder in folders {
        for path in workspace::files(folder)? {
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.strip_prefix(folder).unwrap_or(&path);
            all.update(name.to_string_lossy().as_bytes());
            all.update([0]);
            all.update(Sha256::digest(&bytes));
        }
    }
    Ok(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn cases(report: &Report) -> Vec<RecordedCase> {
    let case = |result: &super::report::Result| {
        let (status, reason) = match &result.outcome {
            Outcome::Passed => (CaseStatus::Passed, None),
            Outcome::Failed { reason } => (CaseStatus::Failed, Some(reason.clone())),
            Outcome::Skipped { reason } => (CaseStatus::Skipped, Some(reason.clone())),
        };
        RecordedCase { id: format!("{} #{}", result.model, result.case), status, reason }
    };
    report.cases.iter().map(case).collect()
}

/// Cases that are new, gone, or end in another way. Reasons may hold ids that no two runs share.
fn differences(recorded: &[RecordedCase], now: &[RecordedCase]) -> Vec<String> {
    let find = |list: &[RecordedCase], id: &str| list.iter().find(|case| case.id == id).cloned();
    let mut lines = Vec::new();
    for case in now {
        match find(recorded, &case.id) {
            None => lines.push(format!("{} is not recorded", case.id)),
            Some(before) if before.status != case.status => {
                let reason = case.reason.as_deref().unwrap_or("as expected");
                lines.push(format!(
                    "{} was {}, is {}: {reason}",
                    case.id,
                    before.status.as_str(),
                    case.status.as_str()
                ));
            }
            Some(_) => {}
        }
    }
    let gone = recorded.iter().filter(|case| find(now, &case.id).is_none());
    lines.extend(gone.map(|case| format!("{} is gone", case.id)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use CaseStatus::{Failed, Passed};

    fn case(id: &str, status: CaseStatus) -> RecordedCase {
        RecordedCase { id: id.to_owned(), status, reason: None }
    }

    #[test]
    fn what_changed_is_told_by_case() {
        let before = [case("a", Passed), case("b", Failed), case("c", Passed)];
        assert!(differences(&before, &before).is_empty());
        let now = [case("a", Failed), case("b", Failed), case("d", Passed)];
        let lines = differences(&before, &now);
        assert_eq!(lines, ["a was passed, is failed: as expected", "d is not recorded", "c is gone"]);
    }

    #[test]
    fn suites_are_chosen_by_name() {
        let names = |only: &[&str]| -> Vec<&str> {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            chosen(&only).unwrap().iter().map(|kept| kept.name).collect()
        };
        assert_eq!(names(&[]).len(), KEPT.len());
        assert_eq!(names(&["dmn-tck-level-2"]), ["dmn-tck-level-2"]);
        assert!(chosen(&["other".to_owned()]).is_err());
    }

    #[test]
    fn every_kept_suite_has_a_file() {
        for kept in KEPT {
            assert!(kept.file().is_file(), "{}", kept.name);
        }
    }
}

//! The scanners wapiti and sqlmap, as Debian has them, against the operations of a started server, signed in and on the
//! loopback interface alone. Every finding is a line; one that nobody explained is a failure.

mod explained;
mod sqlmap;
mod targets;
mod wapiti;

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use heddle_harness_kit::out;
use heddle_harness_kit::server::{self, Backend, Build, Mode, Server};

use crate::schemathesis;

/// Options of `scan`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Time for both scanners together; what is not reached in it is counted.
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Only operations whose name contains this text, such as `/api/workflows`.
    #[arg(long, default_value = "")]
    only: String,
}

/// Documents whose operations are scanned, by the names of their places.
const DOCUMENTS: [&str; 2] = ["openapi", "openapi-platform"];

/// Something that a scanner found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// Name of the scanner.
    pub tool: &'static str,
    /// Kind, in the scanner's words.
    pub kind: String,
    /// Method and path, with `{id}` for what is an id.
    pub place: String,
    /// Rest of what the scanner tells.
    pub detail: String,
}

/// Server under the scanners, as they see it.
pub(crate) struct Scene {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    /// Bearer token of an owner.
    pub token: String,
    /// Folder for the scanners' files.
    pub folder: tempfile::TempDir,
}

/// Runs both; `false` when something was found that is not explained, or when nothing was scanned.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let explained = explained::list()?;
    for program in ["wapiti", "sqlmap"] {
        install(program)?;
    }
    let binary = server::binary(Build::Debug)?;
    let postgres = server::postgres_for(options.backend)?;
    let mode = Mode { demo: true, test_clock: true };
    let mut server = Server::start(&binary, mode, postgres.as_ref()).await?;
    let client = schemathesis::sign_in(&server).await?;
    let mut all = Vec::new();
    for name in DOCUMENTS {
        let document = schemathesis::fetch(&client, name).await?;
        let mut operations = document.operations();
        operations.retain(|one| targets::is_scanned(one) && one.label().contains(options.only.as_str()));
        let fixtures = schemathesis::make(&client, &document, &operations).await?;
        all.extend(operations.iter().filter_map(|one| targets::target(&document, &fixtures, one)));
    }
    let folder = tempfile::tempdir().context("no temporary folder")?;
    let scene = Scene { address: client.address(), token: client.token(), folder };
    let begun = Instant::now();
    let mut found = wapiti::scan(&scene, &all, Duration::from_secs(options.seconds / 3)).await?;
    let left = Duration::from_secs(options.seconds).saturating_sub(begun.elapsed());
    let (more, reached) = sqlmap::scan(&scene, &all, left).await?;
    found.extend(more);
    found.sort();
    found.dedup();
    if !client.get("/health/live").await.is_ok_and(|answer| answer.ok()) {
        bail!("the server did not survive:\n{}", server.log_tail());
    }
    server.stop().await?;
    let mut unexplained = 0;
    for finding in &found {
        let why = explained.iter().find(|one| one.tells_of(finding)).map(|one| one.why);
        unexplained += usize::from(why.is_none());
        let Finding { tool, kind, place, detail } = finding;
        out::line(format_args!(
            "{} {tool} | {kind} | {place} | {detail}",
            why.map_or("FOUND", |_| "explained")
        ));
    }
    out::line(format_args!(
        "scan targets={} sqlmap_reached={reached} findings={} unexplained={unexplained} seconds={}",
        all.len(),
        found.len(),
        begun.elapsed().as_secs()
    ));
    Ok(unexplained == 0 && reached > 0)
}

/// Installs a program from Debian, if it is not there.
fn install(program: &str) -> Result<()> {
    let is_there =
        || Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if is_there() {
        return Ok(());
    }
    out::note(format_args!("installing {program}"));
    let id = Command::new("id").arg("-u").output().context("id cannot be started")?;
    let is_root = String::from_utf8_lossy(&id.stdout).trim() == "0";
    for arguments in [["apt-get", "update", "-qq"].as_slice(), &["apt-get", "install", "-y", "-qq", program]]
    {
        let mut command = Command::new(if is_root { "env" } else { "sudo" });
        if !is_root {
            command.args(["-n", "env"]);
        }
        let output = command.arg("DEBIAN_FRONTEND=noninteractive").args(arguments).output();
        let output = output.with_context(|| format!("{program} cannot be installed"))?;
        if !output.status.success() {
            bail!("{}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
    }
    if !is_there() {
        bail!("{program} is installed and does not start");
    }
    Ok(())
}

/// Place without what is another one in each run: ids, and the server's address.
pub(crate) fn place(scene_address: &str, text: &str) -> String {
    let text = text.replace(scene_address, "");
    let parts = text.split('/').map(|part| match part.split_at_checked(36) {
        Some((id, rest)) if id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit()) => {
            format!("{{id}}{rest}")
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_in_every_run() {
        let address = "http://127.0.0.1:4711";
        let path = "http://127.0.0.1:4711/api/workflows/018f0000-0000-7000-8000-000000000001/runs?limit=1";
        assert_eq!(place(address, path), "/api/workflows/{id}/runs?limit=1");
        assert_eq!(place(address, "/api/workflows"), "/api/workflows");
        let last = "/api/roles/018f0000-0000-7000-8000-000000000001*";
        assert_eq!(place(address, last), "/api/roles/{id}*");
    }
}

//! Starting, killing and stopping the `heddle` program.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::Deserialize;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::postgres::Postgres;
use crate::{out, workspace};

/// Longest wait for a start; a debug build on a busy machine migrates slowly.
const START_LIMIT: Duration = Duration::from_secs(90);
/// Longest wait after SIGTERM before the process is killed.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// The database under the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The file inside the data folder.
    Sqlite,
    /// `HEDDLE_DATABASE_URL`, else a temporary cluster.
    Postgres,
    /// A temporary cluster of PostgreSQL 18 with the extension pgvector, which keeps the indexes of vector databases then.
    Pgvector,
}

impl Backend {
    /// The word for results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Pgvector => "pgvector",
        }
    }
}

/// Which build of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// Quick to build; accepts the licences of the vendor for tests.
    Debug,
    /// Optimised build, which benchmarks measure.
    Release,
}

/// `HEDDLE_BIN`, else the freshly built program: cargo rebuilds nothing that is up to date, and a stale program
/// would be judged in place of the sources.
pub fn binary(build: Build) -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("HEDDLE_BIN") {
        let path = std::path::absolute(&path).context("HEDDLE_BIN is no path")?;
        if !path.is_file() {
            bail!("HEDDLE_BIN names {}, where no file is", path.display());
        }
        return Ok(path);
    }
    let mut command = workspace::cargo();
    command.args(["build", "--quiet", "--package", "heddle", "--bin", "heddle"]);
    let folder = match build {
        Build::Debug => {
            command.args(["--features", "test-keys"]);
            "debug"
        }
        Build::Release => {
            command.arg("--release");
            "release"
        }
    };
    out::note(format_args!("building heddle ({folder})"));
    if !command.status().context("cargo cannot be started")?.success() {
        bail!("heddle does not build");
    }
    Ok(workspace::target_dir()?.join(folder).join(if cfg!(windows) { "heddle.exe" } else { "heddle" }))
}

/// Options of a server's start.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// With the demo organisation, its administrator and its workflows.
    pub demo: bool,
    /// With a clock that only moves when told to.
    pub test_clock: bool,
}

/// Surroundings of a server beyond its mode.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// Variables of its configuration, such as `HEDDLE_TRUSTED_PROXIES`.
    pub variables: Vec<(&'static str, String)>,
    /// Further arguments of `serve`.
    pub arguments: Vec<&'static str>,
    /// Options of `prlimit` that it is started under, such as `--nofile=256:256`; without any it is started directly.
    pub limits: Vec<&'static str>,
    /// Mode of a data folder that is there before the first start.
    pub folder_mode: Option<u32>,
}

/// Facts that the server writes to its ready file once it accepts connections.
#[derive(Debug, Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Facts {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    /// Process id of the server.
    pub pid: u32,
    /// The demo administrator's e-mail, when it was just made.
    pub email: Option<String>,
    /// And its password.
    pub password: Option<String>,
    /// The one-time token of an open set-up.
    pub setup_token: Option<String>,
}

/// A server with a data folder and a database of its own, which all end with this value.
pub struct Server {
    binary: PathBuf,
    mode: Mode,
    surroundings: Surroundings,
    folder: TempDir,
    database: Option<String>,
    child: Option<Child>,
    facts: Facts,
    started_in: Duration,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").finish_non_exhaustive()
    }
}

impl Server {
    /// Starts a server on an empty data folder and, on PostgreSQL, an empty database.
    pub async fn start(binary: &Path, mode: Mode, postgres: Option<&Postgres>) -> Result<Self> {
        Self::start_in(binary, mode, Surroundings::default(), postgres).await
    }

    /// Starts a server in surroundings of its own.
    pub async fn start_in(
        binary: &Path,
        mode: Mode,
        surroundings: Surroundings,
        postgres: Option<&Postgres>,
    ) -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("heddle-run-").tempdir().context("no temporary folder")?;
        let database = postgres.map(Postgres::database).transpose()?;
        let mut server = Self {
            binary: binary.to_path_buf(),
            mode,
            surroundings,
            folder,
            database,
            child: None,
            facts: Facts::default(),
            started_in: Duration::ZERO,
        };
        if let Some(mode) = server.surroundings.folder_mode {
            let data = server.data_dir();
            std::fs::create_dir(&data).context("the data folder cannot be made")?;
            std::fs::set_permissions(&data, std::fs::Permissions::from_mode(mode))
                .context("the data folder's mode cannot be set")?;
        }
        server.launch().await?;
        Ok(server)
    }

    /// Changes what the next start is like.
    pub fn change(&mut self, change: impl FnOnce(&mut Mode, &mut Surroundings)) {
        change(&mut self.mode, &mut self.surroundings);
    }

    /// Whether the process is there.
    pub fn runs(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Facts of the last start; the first start's credentials stay.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// From the program's start until it accepted connections.
    pub const fn started_in(&self) -> Duration {
        self.started_in
    }

    /// The server's own data folder.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Address of its database, for programs that open it while the server is stopped.
    pub fn database(&self) -> String {
        let file = || format!("sqlite:{}", self.data_dir().join("heddle.db").display());
        self.database.clone().unwrap_or_else(file)
    }

    /// Ends it as a power cut would.
    pub async fn kill(&mut self) -> Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await.context("the server cannot be killed")?;
        }
        Ok(())
    }

    /// Starts it again on the same data.
    pub async fn launch(&mut self) -> Result<()> {
        let ready = self.folder.path().join("ready.json");
        if ready.exists() {
            std::fs::remove_file(&ready).context("the ready file cannot be removed")?;
        }
        let began = Instant::now();
        let mut child = self
            .command(&ready)?
            .spawn()
            .with_context(|| format!("{} cannot be started", self.binary.display()))?;
        loop {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                let facts: Facts = serde_json::from_str(&text).context("the ready file is not as agreed")?;
                self.started_in = began.elapsed();
                let before = std::mem::replace(&mut self.facts, facts);
                self.facts.email = self.facts.email.take().or(before.email);
                self.facts.password = self.facts.password.take().or(before.password);
                break;
            }
            if let Some(status) = child.try_wait().context("the server cannot be waited for")? {
                bail!("the server ended with {status} before it was ready:\n{}", self.log_tail());
            }
            if began.elapsed() > START_LIMIT {
                bail!("the server was not ready after {} s:\n{}", START_LIMIT.as_secs(), self.log_tail());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.child = Some(child);
        Ok(())
    }

    /// Ends it by SIGTERM and gives the time it took; kills it when it does not go.
    pub async fn stop(&mut self) -> Result<Duration> {
        let Some(mut child) = self.child.take() else { return Ok(Duration::ZERO) };
        let began = Instant::now();
        if let Some(pid) = child.id() {
            Command::new("kill")
                .args(["-TERM", &pid.to_string()])
                .status()
                .await
                .context("kill cannot be started")?;
        }
        match tokio::time::timeout(STOP_LIMIT, child.wait()).await {
            Ok(status) => {
                status.context("the server cannot be waited for")?;
            }
            Err(_elapsed) => {
                child.kill().await.context("the server cannot be killed")?;
                bail!("the server did not end within {} s of SIGTERM", STOP_LIMIT.as_secs());
            }
        }
        Ok(began.elapsed())
    }

    /// All that the server wrote.
    pub fn log_text(&self) -> String {
        let text = std::fs::read(self.folder.path().join("server.log")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Waits until the server has written these words behind so many bytes of its log.
    ///
    /// # Errors
    /// When it does not in time.
    pub async fn has_said(&self, words: &str, behind: usize) -> Result<()> {
        let began = Instant::now();
        while !self.log_text().get(behind..).is_some_and(|text| text.contains(words)) {
            if began.elapsed() > START_LIMIT {
                bail!("the server does not say `{words}`:\n{}", self.log_tail());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// The last lines that the server wrote.
    pub fn log_tail(&self) -> String {
        let text = std::fs::read(self.folder.path().join("server.log")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    fn command(&self, ready: &Path) -> Result<Command> {
        let log = self.log()?;
        let mut command = self.program();
        // A configuration of the caller's own must not reach the server under test.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HEDDLE_")
                && name != "HEDDLE_DURABILITY"
                && name != "HEDDLE_LOG"
            {
                command.env_remove(name);
            }
        }
        command.envs(self.surroundings.variables.iter().map(|(name, value)| (name, value)));
        command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(self.data_dir());
        command.arg("--ready-file").arg(ready);
        if self.mode.demo {
            command.arg("--demo");
        }
        if self.mode.test_clock {
            command.arg("--test-clock");
        }
        if let Some(url) = &self.database {
            command.args(["--database-url", url]);
        }
        command.args(&self.surroundings.arguments);
        command.current_dir(self.folder.path()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }

    /// The program, or `prlimit`, which becomes it and keeps its process id.
    fn program(&self) -> Command {
        if self.surroundings.limits.is_empty() {
            return Command::new(&self.binary);
        }
        let mut command = Command::new("prlimit");
        command.args(&self.surroundings.limits).arg("--").arg(&self.binary);
        command
    }

    fn log(&self) -> Result<File> {
        let path = self.folder.path().join("server.log");
        OpenOptions::new().create(true).append(true).open(path).context("the server's log cannot be opened")
    }
}

/// The PostgreSQL that a backend needs, if it needs one.
pub fn postgres_for(backend: Backend) -> Result<Option<Postgres>> {
    match backend {
        Backend::Sqlite => Ok(None),
        Backend::Postgres => Postgres::start().map(Some),
        Backend::Pgvector => {
            let absent = "PostgreSQL with pgvector is not to be had: HEDDLE_PGVECTOR_BIN names its programs";
            Postgres::start_with_vectors()?.context(absent).map(Some)
        }
    }
}

//! A PostgreSQL for one run of a task: the given one, or a temporary cluster of our own.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// A PostgreSQL in which databases can be made.
pub struct Postgres {
    /// Address of the database from which others are made.
    base: String,
    bin: PathBuf,
    cluster: Option<Cluster>,
    made: AtomicU32,
}

struct Cluster {
    folder: TempDir,
    bin: PathBuf,
}

impl Postgres {
    /// The one of `HEDDLE_DATABASE_URL`, else a fresh cluster that ends with this value.
    pub fn start() -> Result<Self> {
        let bin = bin_dir()?;
        if let Some(base) =
            std::env::var("HEDDLE_DATABASE_URL").ok().filter(|url| url.starts_with("postgres"))
        {
            return Ok(Self { base, bin, cluster: None, made: AtomicU32::new(0) });
        }
        let folder =
            tempfile::Builder::new().prefix("heddle-pg-").tempdir().context("no temporary folder")?;
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()))?;
        }
        let data = folder.path().join("data");
        let initdb = ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync"];
        run(as_postgres(&bin.join("initdb")).arg("-D").arg(&data).args(initdb))?;
        let port = free_port()?;
        let options = format!(
            "-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories='{}' -c max_connections=200",
            folder.path().display()
        );
        let cluster = Cluster { folder, bin: bin.clone() };
        run(cluster
            .control("start")
            .arg("-w")
            .arg("-l")
            .arg(cluster.folder.path().join("log"))
            .arg("-o")
            .arg(options))?;
        let base = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Ok(Self { base, bin, cluster: Some(cluster), made: AtomicU32::new(0) })
    }

    /// Makes an empty database and gives its address.
    pub fn database(&self) -> Result<String> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let name = format!("heddle_xtask_{}_{number}", std::process::id());
        let maintenance = format!("--maintenance-db={}", self.base);
        run(Command::new(self.bin.join("createdb")).arg(maintenance).arg(&name))?;
        Ok(replace_database(&self.base, &name))
    }

    /// The postmaster of our own cluster, to count its work.
    pub fn postmaster(&self) -> Option<u32> {
        let cluster = self.cluster.as_ref()?;
        let text = std::fs::read_to_string(cluster.folder.path().join("data/postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.cluster.is_some() {
            return;
        }
        for number in 0..self.made.load(Ordering::Relaxed) {
            let name = format!("heddle_xtask_{}_{number}", std::process::id());
            let maintenance = format!("--maintenance-db={}", self.base);
            let mut drop = Command::new(self.bin.join("dropdb"));
            if let Err(error) = run(drop.arg(maintenance).args(["--force", "--if-exists"]).arg(name)) {
                eprintln!("{error:#}");
            }
        }
    }
}

impl Cluster {
    fn control(&self, verb: &str) -> Command {
        let mut command = as_postgres(&self.bin.join("pg_ctl"));
        command.arg(verb).arg("-s").arg("-D").arg(self.folder.path().join("data"));
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Err(error) = run(self.control("stop").args(["-m", "immediate"])) {
            eprintln!("{error:#}");
        }
    }
}

/// Where the server programs stand; Debian keeps them off the path.
fn bin_dir() -> Result<PathBuf> {
    let mut places: Vec<PathBuf> = ["15", "16", "17", "18"]
        .iter()
        .map(|version| format!("/usr/lib/postgresql/{version}/bin").into())
        .collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        places.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    places
        .into_iter()
        .find(|place| place.join("initdb").is_file() && place.join("pg_ctl").is_file())
        .context("no PostgreSQL found: install the package postgresql, or set HEDDLE_DATABASE_URL")
}

/// The server refuses to run as root, so there it runs as `postgres`.
fn as_postgres(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program).current_dir("/");
        command
    } else {
        Command::new(program)
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    // A daemon that inherits a pipe would keep it open, so the output goes to a file.
    let log = tempfile::NamedTempFile::new().context("no temporary file")?;
    let status = command
        .stdin(std::process::Stdio::null())
        .stdout(log.reopen()?)
        .stderr(log.reopen()?)
        .status()
        .with_context(|| format!("{name} cannot be started"))?;
    if !status.success() {
        let said = std::fs::read_to_string(log.path()).unwrap_or_default();
        let arguments: Vec<_> = command.get_args().map(|part| part.to_string_lossy().into_owned()).collect();
        bail!("{name} {} failed: {}", arguments.join(" "), said.trim());
    }
    Ok(())
}

/// The same address with another database.
fn replace_database(url: &str, name: &str) -> String {
    let (front, query) = url.split_once('?').map_or((url, None), |(front, query)| (front, Some(query)));
    let scheme_end = front.find("://").map_or(0, |at| at + 3);
    let server = front[scheme_end..].find('/').map_or(front, |at| &front[..scheme_end + at]);
    query.map_or_else(|| format!("{server}/{name}"), |query| format!("{server}/{name}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_of_an_address_is_replaced() {
        for (url, expected) in [
            ("postgres://a:b@host:5432/one", "postgres://a:b@host:5432/two"),
            ("postgres://host", "postgres://host/two"),
            ("postgres://host/one?sslmode=disable", "postgres://host/two?sslmode=disable"),
        ] {
            assert_eq!(replace_database(url, "two"), expected);
        }
    }
}

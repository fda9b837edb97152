//! Modes of the data directory and its files, one rule for all: a file of ours is nobody else's to read or write (0600),
//! and the directory nobody else's to write. What was open to others is closed; what can't be closed is not used.

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// Bits of the group and of others.
const OTHERS: u32 = 0o077;
/// Bits by which the group and others write.
const OTHERS_WRITE: u32 = 0o022;
/// Bit of a directory in which everybody removes only what is theirs.
const STICKY: u32 = 0o1000;

/// Whether somebody else may read or write a file.
pub(crate) fn is_open(file: &Metadata) -> bool {
    file.permissions().mode() & OTHERS != 0
}

/// Takes a file from everybody else; one that is not there is no fault. Whether nobody else can read or write it now.
///
/// # Errors
/// The file system's, when the file can't be looked at.
pub(crate) fn close_file(path: &Path) -> io::Result<bool> {
    let Some(found) = metadata(path)?.filter(is_open) else { return Ok(true) };
    let mode = found.permissions().mode();
    if fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)).is_err() {
        return Ok(false);
    }
    tracing::warn!(
        path = %path.display(),
        "other users could read or write the file until now (mode {:04o}); it has mode 0600 now",
        mode & 0o7777
    );
    Ok(true)
}

/// Takes the right to write into a directory from everybody else, if it is ours. They may read its list: a service
/// manager makes it so, and the files are closed.
///
/// # Errors
/// The file system's, when the directory can't be looked at.
pub(crate) fn close_directory(path: &Path) -> io::Result<()> {
    let Some(found) = metadata(path)? else { return Ok(()) };
    let mode = found.permissions().mode();
    if mode & OTHERS_WRITE == 0 {
        return Ok(());
    }
    let ours = found.uid() == rustix::process::geteuid().as_raw() && mode & STICKY == 0;
    if ours && fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS_WRITE)).is_ok() {
        tracing::warn!(path = %path.display(), "other users could write into the directory until now");
    } else {
        // A volume that belongs to another user, as containers have it: there are no other users in there.
        tracing::warn!(path = %path.display(), "other users can write into the directory, and replace its files");
    }
    Ok(())
}

fn metadata(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

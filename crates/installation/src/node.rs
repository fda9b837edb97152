//! The node's id: the same after a restart, another for another server of the same database. It is random and kept in the
//! data directory, together with a fingerprint of where that stands: a directory that was copied to another machine, or a
//! machine that was copied with it, is another node and takes an id of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use uuid::Uuid;

/// The name of the file within the data directory.
pub(crate) const NODE_FILE: &str = "heddle.node";

/// The id of the server that works with this data directory on this machine.
pub fn id(data_dir: &Path) -> Uuid {
    let place = place(data_dir);
    match kept(data_dir, &place) {
        Ok(id) => id,
        Err(error) => {
            tracing::warn!(
                %error,
                "the node's id is not kept in the data directory: it is made of the machine and the directory"
            );
            of_place(&place)
        }
    }
}

/// The id of the file; made where there is none, or one of another place.
fn kept(data_dir: &Path, place: &str) -> io::Result<Uuid> {
    let path = data_dir.join(NODE_FILE);
    if let Some(id) = read(&path, place)? {
        return Ok(id);
    }
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let made = uuid::Builder::from_random_bytes(random).into_uuid();
    // Another process of this directory may do the same: what stands there in the end counts for both.
    let beside = data_dir.join(format!("{NODE_FILE}.{made}"));
    let written = write(&beside, &format!("{made} {place}\n")).and_then(|()| fs::rename(&beside, &path));
    if let Err(error) = written {
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    Ok(read(&path, place)?.unwrap_or(made))
}

/// The id of a file of this place.
fn read(path: &Path, place: &str) -> io::Result<Option<Uuid>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let parts = text.trim().split_once(' ');
    let own = parts.filter(|(_, of)| *of == place).and_then(|(id, _)| Uuid::try_parse(id).ok());
    Ok(own.filter(|id| !id.is_nil()))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file: File = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Fingerprint of where a data directory stands: the machine with its name and its network cards, the path, and the
/// directory itself. It tells nothing of them.
fn place(data_dir: &Path) -> String {
    let path = fs::canonicalize(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    let inode = fs::metadata(data_dir).map(|found| found.ino()).unwrap_or_default();
    let of = |file: &str| fs::read_to_string(file).unwrap_or_default().trim().to_owned();
    let mut parts = vec![of("/etc/machine-id"), of("/proc/sys/kernel/hostname")];
    parts.extend(cards());
    parts.extend([path.display().to_string(), inode.to_string()]);
    heddle_usecase::sha256_hex(parts.join("\n").as_bytes())
}

/// Addresses of the network cards that the machine has itself: a copy of a machine has others. Those that come and go
/// with containers have no device.
fn cards() -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("device").exists())
        .filter_map(|entry| fs::read_to_string(entry.path().join("address")).ok())
        .map(|address| address.trim().to_owned())
        .collect();
    found.sort_unstable();
    found
}

/// An id that is made of a place alone.
fn of_place(place: &str) -> Uuid {
    place.get(..32).and_then(|half| Uuid::try_parse(half).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn one_directory_is_one_node() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = id(one.path());
        assert_eq!((first, first), (id(one.path()), id(&one.path().join("."))));
        assert_ne!(first, id(other.path()));
        assert_eq!(first.get_version_num(), 4, "nothing of it can be guessed");
        let mode = fs::metadata(one.path().join(NODE_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(one.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_copy_is_another_node() {
        let folder = tempfile::tempdir().unwrap();
        let (one, copy) = (folder.path().join("one"), folder.path().join("copy"));
        for directory in [&one, &copy] {
            fs::create_dir(directory).unwrap();
        }
        let first = id(&one);
        fs::copy(one.join(NODE_FILE), copy.join(NODE_FILE)).unwrap();
        let second = id(&copy);
        assert_ne!(first, second);
        assert_eq!((id(&one), id(&copy)), (first, second));
        // The same path again, with what was there copied back: the directory is another one.
        fs::rename(&one, folder.path().join("away")).unwrap();
        fs::create_dir(&one).unwrap();
        fs::copy(folder.path().join("away").join(NODE_FILE), one.join(NODE_FILE)).unwrap();
        assert_ne!(id(&one), first);
    }

    #[test]
    fn what_is_no_id_is_made_anew_and_what_can_not_be_kept_is_the_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for text in ["", "no id", &format!("{} {}", Uuid::nil(), place(path))] {
            fs::write(path.join(NODE_FILE), text).unwrap();
            let made = id(path);
            assert!(!made.is_nil() && made == id(path), "{text}");
        }
        let absent = path.join("absent");
        assert_eq!((id(&absent), id(&absent)), (of_place(&place(&absent)), of_place(&place(&absent))));
        assert!(!id(&absent).is_nil());
    }
}

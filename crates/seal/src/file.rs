//! The file of a keyring.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::{Keyring, SealError};

/// Size up to which a keyring's file is read, in bytes.
const LARGEST: u64 = 64 * 1024;
/// Bits of a file's mode that let others than its user read, write or run it.
const OTHERS: u32 = 0o077;

impl Keyring {
    /// The ring of a file; `None` when there is no such file.
    ///
    /// # Errors
    /// `Exposed` when others may read or write the file, `BadKeyring`, `Io`.
    pub fn read(path: &Path) -> Result<Option<Self>, SealError> {
        let io = |source| SealError::Io { path: path.to_owned(), source };
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let found = file.metadata().map_err(io)?;
        if found.mode() & OTHERS != 0 {
            return Err(SealError::Exposed(path.to_owned()));
        }
        if found.len() > LARGEST {
            return Err(SealError::BadKeyring("its file is larger than 64 KiB"));
        }
        let mut text = Zeroizing::new(String::with_capacity(usize::try_from(found.len()).unwrap_or(0) + 1));
        match file.take(LARGEST).read_to_string(&mut text) {
            Ok(_) => Self::from_text(&text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(SealError::BadKeyring("its file is not text"))
            }
            Err(error) => Err(io(error)),
        }
    }

    /// Writes a file that is not there yet, with mode 0600.
    ///
    /// # Errors
    /// `Io`; also when there is such a file.
    pub fn create(&self, path: &Path) -> Result<(), SealError> {
        self.put(path).map_err(|source| SealError::Io { path: path.to_owned(), source })
    }

    /// Puts this ring in the place of a file's: after it the file has either the old ring or the new one, whole.
    ///
    /// # Errors
    /// `Io`.
    pub fn replace(&self, path: &Path) -> Result<(), SealError> {
        let io = |source| SealError::Io { path: path.to_owned(), source };
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        let beside = Path::new(&name);
        match fs::remove_file(beside) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            Ok(()) | Err(_) => {}
        }
        self.put(beside).and_then(|()| fs::rename(beside, path)).and_then(|()| sync_parent(path)).map_err(io)
    }

    fn put(&self, path: &Path) -> io::Result<()> {
        let mut file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)?;
        file.write_all(self.to_text().as_bytes())?;
        file.sync_all()?;
        sync_parent(path)
    }
}

/// Makes a name in a directory last: a file whose name is lost with the power is lost.
fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::SystemRandom;

    #[test]
    fn a_keyring_is_kept_in_a_file_that_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keyring");
        assert!(Keyring::read(&path).unwrap().is_none());
        let mut ring = Keyring::generate(&mut SystemRandom).unwrap();
        ring.create(&path).unwrap();
        assert!(matches!(ring.create(&path), Err(SealError::Io { .. })), "no key is written over");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        ring.add_current(&mut SystemRandom).unwrap();
        fs::write(folder.path().join("keyring.new"), "left by a stop in between").unwrap();
        ring.replace(&path).unwrap();
        let found = Keyring::read(&path).unwrap().unwrap();
        assert_eq!(found.ids().collect::<Vec<_>>(), ring.ids().collect::<Vec<_>>());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!folder.path().join("keyring.new").exists());
        for mode in [0o640, 0o604, 0o620, 0o602] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(Keyring::read(&path), Err(SealError::Exposed(_))), "{mode:o}");
        }
    }

    #[test]
    fn files_that_hold_no_ring_are_told() {
        let folder = tempfile::tempdir().unwrap();
        for (content, reason) in
            [(b"\xff\xfe".to_vec(), "not text"), (vec![b'#'; 70_000], "larger"), (Vec::new(), "no key")]
        {
            let path = folder.path().join("keyring");
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let error = Keyring::read(&path).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}

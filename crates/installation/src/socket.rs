//! Paths of socket files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Most bytes of a path that every system takes as a socket's address.
const MOST: usize = 100;

/// Name of the socket file within the data directory.
pub const SOCKET_FILE: &str = "heddle.sock";

/// Path by which a socket file is bound or reached. An address has place for some hundred bytes; a longer path goes by the
/// open directory, for as long as this value lives.
#[derive(Debug)]
pub struct SocketPath {
    path: PathBuf,
    _directory: Option<File>,
}

impl SocketPath {
    /// Path of a socket file.
    ///
    /// # Errors
    /// The file system's, when the directory of a long path can't be opened.
    pub fn of(path: &Path) -> io::Result<Self> {
        use std::os::fd::AsRawFd as _;

        if path.as_os_str().len() <= MOST {
            return Ok(Self { path: path.to_owned(), _directory: None });
        }
        let no_file = || io::Error::new(io::ErrorKind::InvalidInput, "a socket file has a name");
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(no_file()) };
        let directory = File::open(parent)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name);
        Ok(Self { path, _directory: Some(directory) })
    }

    /// The path, no longer than an address may be.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn a_socket_is_reached_however_long_its_path_is() {
        let folder = tempfile::tempdir().unwrap();
        for parts in [1, 8] {
            let directory = (0..parts)
                .fold(folder.path().to_owned(), |path, _| path.join("a-part-of-a-path-that-is-long"));
            std::fs::create_dir_all(&directory).unwrap();
            let path = directory.join("heddle.sock");
            let short = SocketPath::of(&path).unwrap();
            let listener = UnixListener::bind(short.as_path()).unwrap();
            assert!(path.exists());
            drop(short);
            UnixStream::connect(SocketPath::of(&path).unwrap().as_path()).unwrap();
            drop(listener);
        }
    }
}

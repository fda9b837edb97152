//! The spill of usage: files in the data directory that keep the ends of calls until the database has them. They are not
//! synced: a process that is killed loses nothing, a machine without power the last moments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use heddle_models::ports::Spill;
use parking_lot::Mutex;

/// Name of the folder within the data directory.
const FOLDER: &str = "usage";
/// Ending of the files.
const ENDING: &str = "jsonl";
/// Bytes of a part, behind which another one is begun.
const PART: u64 = 4 << 20;

/// Ends of calls in files: one file is a part.
pub(super) struct SpillFiles {
    folder: PathBuf,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    /// Parts that are to be read: of processes before this one, and those with lines that nobody else has.
    left: BTreeSet<u64>,
    /// The part that is written.
    open: Option<Open>,
    /// Number of the next part.
    next: u64,
    /// Lines of each part that the database does not have.
    waiting: BTreeMap<u64, u64>,
    /// Whether it was told that nothing is kept: once until something is.
    failed: bool,
}

struct Open {
    number: u64,
    file: File,
    bytes: u64,
}

impl SpillFiles {
    /// The spill of a data directory, with what is left in it.
    pub(super) fn open(data: &Path) -> Self {
        let folder = data.join(FOLDER);
        let left = numbers(&folder).unwrap_or_else(|error| {
            tracing::error!(folder = %folder.display(), %error, "usage that was left can't be read");
            BTreeSet::new()
        });
        let next = left.last().map_or(1, |last| last + 1);
        Self { folder, parts: Mutex::new(Parts { left, next, ..Parts::default() }) }
    }

    fn place(&self, part: u64) -> PathBuf {
        self.folder.join(format!("{part:012}.{ENDING}"))
    }

    /// Appends a line to the open part, beginning another where that is full.
    fn append(&self, parts: &mut Parts, line: &[u8]) -> io::Result<u64> {
        if parts.open.as_ref().is_none_or(|open| open.bytes >= PART) {
            let number = parts.next;
            made(&self.folder)?;
            let mut options = OpenOptions::new();
            let file = options.create_new(true).append(true).mode(0o600).open(self.place(number))?;
            parts.next += 1;
            if let Some(full) = parts.open.replace(Open { number, file, bytes: 0 })
                && !parts.waiting.contains_key(&full.number)
            {
                self.remove(full.number);
            }
        }
        let Some(open) = &mut parts.open else { return Err(io::Error::other("no part is open")) };
        // In one piece: a line is there whole or, when the process ends within it, torn at the end.
        let whole = [line, b"\n"].concat();
        if let Err(error) = open.file.write_all(&whole) {
            // What was written of it would harm the line behind it. On a full disk the part stays, as a new one for each
            // call would fill the folder with empty files.
            if open.file.set_len(open.bytes).is_err() {
                parts.open = None;
            }
            return Err(error);
        }
        open.bytes += whole.len() as u64;
        *parts.waiting.entry(open.number).or_default() += 1;
        Ok(open.number)
    }

    fn remove(&self, part: u64) {
        let place = self.place(part);
        if let Err(error) = fs::remove_file(&place)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(file = %place.display(), %error, "the file of usage that is recorded stays");
        }
    }
}

/// Makes a folder that is nobody else's, where there is none.
fn made(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Numbers of the parts in a folder.
fn numbers(folder: &Path) -> io::Result<BTreeSet<u64>> {
    let mut numbers = BTreeSet::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(numbers),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let number: Option<u64> =
            path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        if path.extension().is_some_and(|ending| ending == ENDING) {
            numbers.extend(number);
        }
    }
    Ok(numbers)
}

impl Spill for SpillFiles {
    fn keep(&self, line: &[u8]) -> Option<u64> {
        let mut parts = self.parts.lock();
        let kept = self.append(&mut parts, line);
        let failed = kept.is_err();
        if let Err(error) = &kept
            && !parts.failed
        {
            tracing::error!(
                folder = %self.folder.display(), %error,
                "the usage of calls is not kept beyond the process until the folder can be written"
            );
        }
        parts.failed = failed;
        kept.ok()
    }

    fn written(&self, part: u64) {
        let mut parts = self.parts.lock();
        let Some(waiting) = parts.waiting.get_mut(&part) else { return };
        *waiting -= 1;
        if *waiting > 0 {
            return;
        }
        parts.waiting.remove(&part);
        match &mut parts.open {
            Some(open) if open.number == part => match open.file.set_len(0) {
                Ok(()) => open.bytes = 0,
                // It is read again at the next start, and the database has what is in it.
                Err(error) => tracing::debug!(%error, "a part of recorded usage is not emptied"),
            },
            _ => self.remove(part),
        }
    }

    fn behind(&self, part: u64) {
        self.parts.lock().left.insert(part);
    }

    fn left(&self) -> Option<(u64, Vec<u8>)> {
        loop {
            let part = {
                let mut parts = self.parts.lock();
                let part = *parts.left.first()?;
                // What comes from now on is in another one.
                parts.open.take_if(|open| open.number == part);
                part
            };
            match fs::read(self.place(part)) {
                Ok(lines) => return Some((part, lines)),
                Err(error) => {
                    // One that was read and forgotten before its last line was said to be behind is no fault.
                    if error.kind() != io::ErrorKind::NotFound {
                        tracing::error!(file = %self.place(part).display(), %error, "usage that was left can't be read");
                    }
                    self.parts.lock().left.remove(&part);
                }
            }
        }
    }

    fn forget(&self, part: u64) {
        let mut parts = self.parts.lock();
        parts.left.remove(&part);
        parts.waiting.remove(&part);
        drop(parts);
        self.remove(part);
    }
}

impl Drop for SpillFiles {
    /// Removes the open part when the database has all of it.
    fn drop(&mut self) {
        let parts = self.parts.get_mut();
        let done = parts.open.take().filter(|open| !parts.waiting.contains_key(&open.number));
        done.into_iter().for_each(|open| self.remove(open.number));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn files(data: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(data.join(FOLDER))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn what_a_process_leaves_is_read_by_the_next() {
        let data = tempfile::tempdir().unwrap();
        let first = SpillFiles::open(data.path());
        assert_eq!(first.left(), None);
        assert!(!data.path().join(FOLDER).exists(), "a command that calls no model makes no folder");
        let part = first.keep(b"one").unwrap();
        assert_eq!(first.keep(b"two"), Some(part));
        first.written(part);
        // The process is killed: nothing of it ends.
        std::mem::forget(first);
        let next = SpillFiles::open(data.path());
        assert_eq!(next.left(), Some((part, b"one\ntwo\n".to_vec())));
        let other = next.keep(b"three").unwrap();
        assert_ne!(other, part);
        next.forget(part);
        assert_eq!(next.left(), None);
        assert_eq!(files(data.path()).len(), 1);
        next.written(other);
        drop(next);
        assert!(files(data.path()).is_empty(), "nothing stays of what is recorded");
    }

    #[test]
    fn what_nobody_else_has_is_read_again() {
        let data = tempfile::tempdir().unwrap();
        let spill = SpillFiles::open(data.path());
        let part = spill.keep(b"one").unwrap();
        assert_eq!(spill.keep(b"two"), Some(part));
        spill.behind(part);
        assert_eq!(spill.left(), Some((part, b"one\ntwo\n".to_vec())));
        let next = spill.keep(b"three").unwrap();
        assert_ne!(next, part, "a part that is read grows no more");
        spill.forget(part);
        // What was told of it meanwhile comes too late to matter.
        spill.written(part);
        spill.behind(part);
        assert_eq!((spill.left(), files(data.path()).len()), (None, 1));
        spill.written(next);
        assert_eq!(fs::metadata(spill.place(next)).unwrap().len(), 0);
    }

    #[test]
    fn a_part_is_emptied_or_removed_when_all_of_it_is_written() {
        let data = tempfile::tempdir().unwrap();
        let spill = SpillFiles::open(data.path());
        let part = spill.keep(b"one").unwrap();
        spill.written(part);
        let place = spill.place(part);
        assert_eq!(fs::metadata(&place).unwrap().len(), 0);
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
        let large = vec![b'x'; usize::try_from(PART).unwrap()];
        assert_eq!(spill.keep(&large), Some(part));
        let behind = spill.keep(b"two").unwrap();
        assert_eq!(behind, part + 1);
        spill.written(part);
        assert!(!place.exists());
        assert_eq!(fs::read(spill.place(behind)).unwrap(), b"two\n");
        spill.written(behind);
        assert_eq!(fs::metadata(spill.place(behind)).unwrap().len(), 0);
    }

    #[test]
    fn a_folder_that_can_not_be_written_keeps_nothing_and_fails_nothing() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join(FOLDER), "a file").unwrap();
        let spill = SpillFiles::open(data.path());
        assert_eq!((spill.keep(b"one"), spill.left()), (None, None));
        spill.written(1);
        // Once it can be, it is.
        fs::remove_file(data.path().join(FOLDER)).unwrap();
        assert_eq!(spill.keep(b"two"), Some(1));
    }
}

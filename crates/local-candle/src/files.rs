//! Files of a shelf.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// End of a model file's name.
const EXTENSION: &str = "gguf";
/// Most files of a shelf that are looked at.
const MOST: usize = 200;

/// A model file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// Name without its end, by which the model is asked for.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
    /// Mark of its content without reading it: its size and the instant of its last change.
    pub revision: String,
    /// Path.
    pub path: PathBuf,
}

/// The model files of a directory, by name; none when the directory is not there.
///
/// # Errors
/// When it cannot be read.
pub fn list(directory: &Path) -> io::Result<Vec<ModelFile>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries.take(MOST) {
        found.extend(described(&entry?.path())?);
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn described(path: &Path) -> io::Result<Option<ModelFile>> {
    let is_model = path.extension().is_some_and(|end| end.eq_ignore_ascii_case(EXTENSION));
    let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| is_model) else {
        return Ok(None);
    };
    let told = fs::metadata(path)?;
    if !told.is_file() {
        return Ok(None);
    }
    let changed = told.modified()?.duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let revision = format!("{}-{changed}", told.len());
    Ok(Some(ModelFile { name: name.to_owned(), bytes: told.len(), revision, path: path.to_path_buf() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_model_files_are_listed_and_a_change_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("b.gguf", "two"), ("a.GGUF", "one"), ("notes.txt", "no")] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        fs::create_dir(folder.path().join("c.gguf")).unwrap();
        let before = list(folder.path()).unwrap();
        let names: Vec<&str> = before.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        fs::write(folder.path().join("b.gguf"), "three").unwrap();
        let after = list(folder.path()).unwrap();
        assert_eq!(after[0].revision, before[0].revision);
        assert_ne!(after[1].revision, before[1].revision);
        assert!(list(&folder.path().join("absent")).unwrap().is_empty());
    }
}

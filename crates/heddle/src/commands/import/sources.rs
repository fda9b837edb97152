//! Files of an import: those named, and those in folders.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::commands::given::{self, STANDARD_INPUT};
use crate::failure::Failure;

/// Most folders in each other: beyond it something links to itself.
const DEPTH: usize = 32;
/// Bytes at the begin of a file in which its kind shows itself.
const HEAD: usize = 4096;

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// BPMN.
    Bpmn,
    /// DMN.
    Dmn,
    /// A definition in JSON.
    Json,
}

impl Kind {
    /// Word of the kind in a preview.
    pub(super) const fn format(self) -> &'static str {
        match self {
            Self::Bpmn => "bpmn",
            Self::Dmn => "dmn",
            Self::Json => "json",
        }
    }

    /// Kind of a file by its content, which is surer than its name.
    fn of(bytes: &[u8]) -> Self {
        let head = bytes.get(..HEAD.min(bytes.len())).unwrap_or_default();
        // Without the zeroes of UTF-16, whose letters of ASCII stand between them.
        let head: Vec<u8> = head.iter().copied().filter(|byte| *byte != 0).collect();
        let head = String::from_utf8_lossy(&head);
        if head.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with('{') {
            Self::Json
        } else if head.contains("/BPMN/20100524/MODEL") {
            // Its expressions may be in FEEL, whose namespace is one of DMN.
            Self::Bpmn
        } else if head.contains("/DMN/") || head.contains("/dmn.xsd") || head.contains("/dmn11.xsd") {
            Self::Dmn
        } else {
            Self::Bpmn
        }
    }
}

/// A file, read.
#[derive(Debug)]
pub(super) struct Source {
    /// Path as it was named or found.
    pub path: PathBuf,
    /// Content.
    pub bytes: Vec<u8>,
    /// Kind.
    pub kind: Kind,
}

impl Source {
    fn read(path: PathBuf) -> Result<Self> {
        let bytes = given::bytes(&path)?;
        Ok(Self { kind: Kind::of(&bytes), path, bytes })
    }

    /// Name of the file; none for standard input.
    pub(super) fn file_name(&self) -> Option<String> {
        if self.path.as_os_str() == STANDARD_INPUT {
            return None;
        }
        Some(self.path.file_name()?.to_string_lossy().into_owned())
    }

    /// Name without what tells the kind.
    pub(super) fn stem(&self) -> String {
        let name = self.file_name().unwrap_or_default();
        let ending = [".bpmn20.xml", ".bpmn2", ".bpmn", ".dmn", ".xml", ".json"];
        let lower = name.to_lowercase();
        let cut = ending.into_iter().find(|ending| lower.ends_with(ending)).map_or(0, str::len);
        name.get(..name.len() - cut).unwrap_or(&name).to_owned()
    }
}

/// A file that can't be read.
#[derive(Debug)]
pub(super) struct Unread {
    /// Path as it was named or found.
    pub path: PathBuf,
    /// Reason.
    pub error: anyhow::Error,
}

/// Reads all files that were named, and those of folders in the order of their names.
pub(super) fn collect(named: &[PathBuf]) -> (Vec<Source>, Vec<Unread>) {
    let (mut sources, mut unread) = (Vec::new(), Vec::new());
    for path in named {
        let files = if path.is_dir() { folder(path) } else { Ok(vec![path.clone()]) };
        match files {
            Ok(files) => {
                for file in files {
                    match Source::read(file.clone()) {
                        Ok(source) => sources.push(source),
                        Err(error) => unread.push(Unread { path: file, error }),
                    }
                }
            }
            Err(error) => unread.push(Unread { path: path.clone(), error }),
        }
    }
    (sources, unread)
}

fn folder(path: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    walk(path, 0, &mut files)?;
    if files.is_empty() {
        let message = format!("there is no file with the ending .bpmn or .dmn in `{}`", path.display());
        return Err(Failure::NotFound(message).into());
    }
    Ok(files)
}

fn walk(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let told = || format!("`{}`", path.display());
    let entries = std::fs::read_dir(path).with_context(told)?;
    let mut entries: Vec<_> = entries.collect::<Result<_, _>>().with_context(told)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().to_lowercase());
        if path.is_dir() {
            if depth < DEPTH && !name.starts_with('.') {
                walk(&path, depth + 1, files)?;
            }
        } else if [".bpmn", ".bpmn2", ".bpmn20.xml", ".dmn"].iter().any(|ending| name.ends_with(ending)) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_models_in_order_and_an_empty_one_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("b/.git")).unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        for name in ["b/two.bpmn20.xml", "a.DMN", "b/.git/no.bpmn", "notes.txt", "c.bpmn"] {
            std::fs::write(at(name), "<x/>").unwrap();
        }
        let (sources, unread) = collect(&[folder.path().to_owned(), at("nothing.bpmn"), at("empty")]);
        let stems: Vec<_> = sources.iter().map(Source::stem).collect();
        assert_eq!(stems, ["a", "two", "c"]);
        let codes: Vec<_> = unread.iter().map(|one| crate::failure::code(&one.error)).collect();
        assert_eq!(codes, [3, 3]);
    }

    #[test]
    fn the_kind_is_told_by_the_content() {
        let utf16: Vec<u8> = "<d xmlns='https://www.omg.org/spec/DMN/2019/MODEL/'/>"
            .bytes()
            .flat_map(|byte| [byte, 0])
            .collect();
        for (bytes, kind) in [
            (b"\xef\xbb\xbf {\"nodes\": []}".as_slice(), Kind::Json),
            (b"<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'/>", Kind::Bpmn),
            (utf16.as_slice(), Kind::Dmn),
            (b"", Kind::Bpmn),
        ] {
            assert_eq!(Kind::of(bytes), kind);
        }
    }
}

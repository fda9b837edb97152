//! Input that the command line names: files, standard input by `-`, and JSON.

use std::io::{self, Read as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::failure::Failure;

/// Word for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// The bytes of a file, or of standard input.
///
/// # Errors
/// When they can't be read, with the path.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = || {
        if path.as_os_str() != STANDARD_INPUT {
            return std::fs::read(path);
        }
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    };
    read().with_context(|| format!("`{}`", path.display()))
}

/// The text of a file, or of standard input.
///
/// # Errors
/// When it can't be read, or is no text.
pub(crate) fn text(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).with_context(|| format!("`{}` is no text", path.display()))
}

/// The JSON of an option: the text itself, the file named after `@`, or standard input by `-`.
///
/// # Errors
/// When it can't be read or is no JSON; the option is named.
pub(crate) fn json(option: &str, given: Option<&str>) -> Result<Option<Value>> {
    let Some(given) = given else { return Ok(None) };
    let text = match given.strip_prefix('@') {
        Some(path) => text(Path::new(path))?,
        None if given == STANDARD_INPUT => text(Path::new(given))?,
        None => given.to_owned(),
    };
    let value = serde_json::from_str(&text);
    Ok(Some(value.map_err(|error| Failure::Configuration(format!("{option} is no JSON: {error}")))?))
}

/// The JSON object of an option.
///
/// # Errors
/// As [`json`], and for what is no object.
pub(crate) fn object(option: &str, given: Option<&str>) -> Result<Option<Value>> {
    let found = json(option, given)?;
    if found.as_ref().is_some_and(|value| !value.is_object()) {
        return Err(Failure::Configuration(format!("{option} is no JSON object")).into());
    }
    Ok(found)
}

/// A password from a file, without the end of its line.
///
/// # Errors
/// When it can't be read.
pub(crate) fn password(path: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    Ok(Some(text(path)?.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_takes_json_and_files_with_it_and_is_named_when_it_is_neither() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        std::fs::write(&file, "{\"a\": 1}").unwrap();
        let at = format!("@{}", file.display());
        for (given, expected) in [("[1]", "[1]"), (at.as_str(), "{\"a\":1}")] {
            assert_eq!(json("--input", Some(given)).unwrap().unwrap().to_string(), expected);
        }
        assert!(json("--input", None).unwrap().is_none());
        for (given, word, code) in [("{", "--input is no JSON", 2), ("@nowhere", "nowhere", 3)] {
            let error = json("--input", Some(given)).unwrap_err();
            assert!(format!("{error:#}").contains(word), "{error:#}");
            assert_eq!(crate::failure::code(&error), code);
        }
        assert!(object("--input", Some("5")).unwrap_err().to_string().contains("object"));
    }
}

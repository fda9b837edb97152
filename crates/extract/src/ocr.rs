//! OCR by Tesseract, where it is installed.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

/// Name of the program.
const PROGRAM: &str = "tesseract";

/// Choice of OCR for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Ocr {
    /// Whether it is used.
    pub mode: OcrMode,
    /// Languages of the text, as Tesseract names them (`eng`, `deu`); none asks for its default.
    pub languages: Vec<String>,
}

/// Whether OCR is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OcrMode {
    /// No OCR: images are refused, scans give `noText`.
    Off,
    /// OCR where its program is found.
    #[default]
    Auto,
}

impl Default for Ocr {
    fn default() -> Self {
        Self { mode: OcrMode::Auto, languages: Vec::new() }
    }
}

impl Ocr {
    /// No OCR.
    #[must_use]
    pub const fn off() -> Self {
        Self { mode: OcrMode::Off, languages: Vec::new() }
    }

    /// Whether images are read: it is not off, and the program stands in `PATH`.
    #[must_use]
    pub fn available(&self) -> bool {
        Engine::find(self).is_some()
    }
}

/// Program that was found.
#[derive(Debug)]
pub(crate) struct Engine {
    program: PathBuf,
    languages: Option<String>,
}

impl Engine {
    /// The program, if it is wanted and stands in `PATH`.
    pub(crate) fn find(ocr: &Ocr) -> Option<Self> {
        if ocr.mode == OcrMode::Off {
            return None;
        }
        let path = std::env::var_os("PATH")?;
        let program = std::env::split_paths(&path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(PROGRAM))
            .find(|file| file.is_file())?;
        let languages: Vec<&str> =
            ocr.languages.iter().map(String::as_str).filter(|name| is_language(name)).collect();
        Some(Self { program, languages: (!languages.is_empty()).then(|| languages.join("+")) })
    }

    /// Whether images of a media type are read.
    pub(crate) fn reads(media_type: &str) -> bool {
        matches!(media_type, "image/png" | "image/jpeg" | "image/tiff")
    }

    /// Words in an image; the error says why there are none.
    pub(crate) fn read(&self, image: &[u8]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(["stdin", "stdout"]);
        if let Some(languages) = &self.languages {
            command.args(["-l", languages]);
        }
        command.env("OMP_THREAD_LIMIT", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        if let Some(mut stdin) = child.stdin.take() {
            // It reads all of its input before it writes; that it ends early shows in its status.
            let _early = stdin.write_all(image);
        }
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(said.lines().last().unwrap_or("it gave no reason").chars().take(200).collect());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

fn is_language(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

//! Reads every BPMN file of folders, takes the definition through JSON text, and writes it into another folder.
//!
//! `cargo run -p heddle-bpmn --example export -- OUT FOLDER...`, for a comparison without a server:
//! `cargo xtask conformance bpmn-roundtrip --dir FOLDER --exports OUT`.

use std::error::Error;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let target = arguments.next().ok_or("the folder to write to is missing")?;
    for folder in arguments {
        for path in files(&folder)? {
            if let Err(error) = export(&folder, &path, &target) {
                writeln!(std::io::stdout(), "{}: {error}", path.display())?;
            }
        }
    }
    Ok(())
}

fn export(folder: &Path, path: &Path, target: &Path) -> Result<(), Box<dyn Error>> {
    let imported = heddle_bpmn::xml::read(&std::fs::read(path)?)?;
    let text = serde_json::to_string(&imported.definition)?;
    let written = heddle_bpmn::xml::write(&serde_json::from_str(&text)?)?;
    for diagnostic in &written.diagnostics {
        writeln!(std::io::stdout(), "{}: {}", path.display(), diagnostic.message)?;
    }
    let out = target.join(path.strip_prefix(folder)?);
    std::fs::create_dir_all(out.parent().unwrap_or(target))?;
    std::fs::write(out, written.xml)?;
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "bpmn" || ending == "xml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

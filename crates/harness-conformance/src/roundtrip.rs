//! Read, create, export and read again: nothing of a BPMN document may be lost.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::canonical::{self, Document, MODEL};
use super::deployment;
use super::report::{self, Outcome, Report};
use super::scene::Scene;
use heddle_harness_kit::server::Backend;
use heddle_harness_kit::{out, workspace};

/// Options of `conformance bpmn-roundtrip`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Folders with .bpmn, .bpmn20.xml and .xml files, searched recursively.
    #[arg(long, required = true)]
    dir: Vec<PathBuf>,
    /// Database of the started server.
    #[arg(long, value_enum, default_value_t = Backend::Sqlite)]
    backend: Backend,
    /// Compares with exports that stand in this folder under the sources' paths, without a server.
    #[arg(long)]
    exports: Option<PathBuf>,
    /// Writes what was exported into this folder, for a look or for `bpmn-schema`.
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// A BPMN document of a folder.
pub(crate) struct Source {
    /// Path of the file.
    pub path: PathBuf,
    /// Path below the folder it was found in.
    pub relative: PathBuf,
    /// Bytes of the file.
    pub bytes: Vec<u8>,
}

/// A standard's documents among files.
pub(crate) struct Format {
    /// Name of the standard, for people.
    pub name: &'static str,
    /// Ending of its files.
    pub ending: &'static str,
    /// Ending of those that say that they are XML, too.
    pub xml_ending: &'static str,
    /// Namespaces of the root of a document.
    pub models: &'static [&'static str],
}

const BPMN: Format = Format { name: "BPMN", ending: "bpmn", xml_ending: ".bpmn20.xml", models: &[MODEL] };

/// The BPMN documents of folders; files that are other XML are counted apart.
pub(crate) fn sources(folders: &[PathBuf]) -> Result<(Vec<Source>, usize)> {
    sources_of(&BPMN, folders)
}

/// The documents of a standard in folders; files that are other XML are counted apart.
pub(crate) fn sources_of(format: &Format, folders: &[PathBuf]) -> Result<(Vec<Source>, usize)> {
    let mut found = Vec::new();
    let mut others = 0;
    for folder in folders {
        if !folder.is_dir() {
            bail!("there is no folder {}", folder.display());
        }
        for path in workspace::files(folder)? {
            let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else { continue };
            let (own, xml) = (ending.eq_ignore_ascii_case(format.ending), ending.eq_ignore_ascii_case("xml"));
            if !own && !xml {
                continue;
            }
            let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let named = own || name.ends_with(format.xml_ending);
            if !named && canonical::parse(&bytes).is_ok_and(|document| !format.is_of(&document)) {
                others += 1;
                continue;
            }
            let relative = path.strip_prefix(folder).unwrap_or(&path).to_path_buf();
            found.push(Source { path, relative, bytes });
        }
    }
    if found.is_empty() {
        out::line(format_args!("no {} files found", format.name));
    }
    Ok((found, others))
}

impl Format {
    fn is_of(&self, document: &Document) -> bool {
        let root = &document.root.name;
        self.models.contains(&root.ns.as_str()) && root.local == "definitions"
    }
}

/// Runs the suite; `false` when a file lost something.
pub(crate) async fn run(options: Options) -> Result<bool> {
    let (sources, others) = sources(&options.dir)?;
    let mut scene = match options.exports {
        Some(_) => None,
        None => Some(Scene::start(options.backend).await?),
    };
    let mut report = Report { suite: "bpmn-roundtrip", backend: None, cases: Vec::new() };
    for (number, source) in sources.iter().enumerate() {
        let began = Instant::now();
        let outcome = match (&options.exports, &mut scene) {
            (Some(folder), _) => read_export(folder, source),
            (None, Some(scene)) => through(scene, source, number).await,
            (None, None) => Err("there is no server".to_owned()),
        };
        let outcome = outcome.and_then(|exported| {
            if let Some(folder) = &options.keep {
                keep(folder, &source.relative, exported.as_bytes()).map_err(|error| format!("{error:#}"))?;
            }
            judge(&source.bytes, exported.as_bytes())
        });
        report.cases.push(result(source, outcome, began));
    }
    if let Some(scene) = scene {
        scene.end().await?;
    }
    if others > 0 {
        out::line(format_args!("{others} XML files are not BPMN"));
    }
    report.print(false)?;
    Ok(report.clean())
}

/// The whole suite of some folders against a server on SQLite.
pub(crate) async fn judge_all(folders: &[PathBuf]) -> Result<Report> {
    let (sources, _) = sources(folders)?;
    let mut scene = Scene::start(Backend::Sqlite).await?;
    let backend = Some(Backend::Sqlite.name());
    let mut report = Report { suite: "bpmn-roundtrip", backend, cases: Vec::new() };
    for (number, source) in sources.iter().enumerate() {
        let began = Instant::now();
        let exported = through(&mut scene, source, number).await;
        let outcome = exported.and_then(|exported| judge(&source.bytes, exported.as_bytes()));
        report.cases.push(result(source, outcome, began));
    }
    scene.end().await?;
    Ok(report)
}

/// The judged case of a source.
pub(super) fn result(source: &Source, outcome: Result<(), String>, began: Instant) -> report::Result {
    report::Result {
        model: source.relative.to_string_lossy().into_owned(),
        case: 1,
        outcome: outcome.map_or_else(|reason| Outcome::Failed { reason }, |()| Outcome::Passed),
        milliseconds: began.elapsed().as_millis(),
    }
}

fn read_export(folder: &Path, source: &Source) -> Result<String, String> {
    let path = folder.join(&source.relative);
    std::fs::read_to_string(&path).map_err(|error| format!("no export: {error}"))
}

/// Writes an export below a folder.
pub(crate) fn keep(folder: &Path, relative: &Path, bytes: &[u8]) -> Result<()> {
    let path = folder.join(relative);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    }
    std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

/// Compares a source with its export.
pub(super) fn judge(source: &[u8], export: &[u8]) -> Result<(), String> {
    let before =
        canonical::parse(source).map_err(|error| format!("the source is not readable: {error:#}"))?;
    let after = canonical::parse(export).map_err(|error| format!("the export is not readable: {error:#}"))?;
    canonical::difference(&before, &after).map_or(Ok(()), Err)
}

/// Sends a document through the server and gives its export; both readings must agree.
pub(crate) async fn through(scene: &mut Scene, source: &Source, number: usize) -> Result<String, String> {
    match calls(scene, source, number).await {
        Ok(answer) => answer,
        Err(error) => {
            scene.refresh().await.map_err(|error| format!("{error:#}"))?;
            Err(format!("{error:#}"))
        }
    }
}

async fn calls(scene: &Scene, source: &Source, number: usize) -> Result<Result<String, String>> {
    let name = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let definition = match preview(scene, &name, &source.bytes).await? {
        Ok(definition) => definition,
        Err(reason) => return Ok(Err(format!("preview {reason}"))),
    };
    let exported = match created(scene, &name, &definition, number).await? {
        Ok(exported) => exported,
        // A definition that may not be stored, such as one with an id twice, is transformed without storing.
        Err(reason) => match transformed(scene, &definition).await? {
            Ok(exported) => exported,
            Err(second) => return Ok(Err(format!("create {reason}; preview {second}"))),
        },
    };
    let again = match preview(scene, &name, exported.as_bytes()).await? {
        Ok(again) => again,
        Err(reason) => return Ok(Err(format!("preview of the export {reason}"))),
    };
    let drawn = definition["bpmn"]["diagrams"].is_array();
    Ok(match first_difference("", &definition, &again, drawn) {
        Some(place) => Err(format!("the definition read again differs at {place}")),
        None => Ok(exported),
    })
}

async fn preview(scene: &Scene, name: &str, bytes: &[u8]) -> Result<Result<Value, String>> {
    let body = deployment::source(name, bytes);
    let answer = scene.client().post("/api/workflows/transform/preview", &body).await?;
    if !answer.ok() {
        return Ok(Err(answer.refusal()));
    }
    Ok(Ok(answer.data()?["definition"].take()))
}

async fn transformed(scene: &Scene, definition: &Value) -> Result<Result<String, String>> {
    let source = json!({"format": "json", "content": serde_json::to_string(definition)?});
    let body = json!({"source": source, "target": "bpmn"});
    let answer = scene.client().post("/api/workflows/transform/preview", &body).await?;
    if !answer.ok() {
        return Ok(Err(answer.refusal()));
    }
    let data = answer.data()?;
    Ok(Ok(data["content"].as_str().context("a transformed document has content")?.to_owned()))
}

async fn created(
    scene: &Scene,
    name: &str,
    definition: &Value,
    number: usize,
) -> Result<Result<String, String>> {
    let body = json!({
        "slug": format!("roundtrip-{number}"),
        "displayName": name,
        "description": "A round trip.",
        "definition": definition,
    });
    let client = scene.client();
    let answer = client.post("/api/workflows", &body).await?;
    if !answer.ok() {
        return Ok(Err(answer.refusal()));
    }
    let id = answer.data()?["id"].as_str().context("a created workflow has an id")?.to_owned();
    let answer = client.get(&format!("/api/workflows/{id}/export/bpmn")).await?;
    let exported = if answer.ok() {
        let data = answer.data()?;
        Ok(data["content"].as_str().context("an export has content")?.to_owned())
    } else {
        Err(answer.refusal())
    };
    client.delete(&format!("/api/workflows/{id}")).await?;
    Ok(exported)
}

/// The JSON path of the first difference; diagrams that were added do not count.
fn first_difference(path: &str, left: &Value, right: &Value, drawn: bool) -> Option<String> {
    match (left, right) {
        (Value::Object(own), Value::Object(other)) => {
            // An added diagram brings its namespaces along.
            let added = |key: &str| {
                let brought = path == "bpmn.namespaces" && !own.contains_key(key);
                !drawn && ((path == "bpmn" && key == "diagrams") || brought)
            };
            let keys = own.keys().chain(other.keys().filter(|key| !own.contains_key(*key)));
            for key in keys.filter(|key| !added(key)) {
                let place = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let null = Value::Null;
                let (own, other) = (own.get(key).unwrap_or(&null), other.get(key).unwrap_or(&null));
                if let Some(found) = first_difference(&place, own, other, drawn) {
                    return Some(found);
                }
            }
            None
        }
        (Value::Array(own), Value::Array(other)) if own.len() == other.len() => {
            own.iter().zip(other).enumerate().find_map(|(index, (own, other))| {
                first_difference(&format!("{path}[{index}]"), own, other, drawn)
            })
        }
        _ if left == right => None,
        // The place of an added diagram among the others stands in the order of the root's children.
        (Value::String(own), Value::String(other)) if !drawn && *own == without_diagrams(other) => None,
        _ => Some(format!("{path}: {} became {}", shortened(left), shortened(right))),
    }
}

/// A fragment without the diagrams that the order of children names.
fn without_diagrams(fragment: &str) -> String {
    const ORDER: &str = "heddle:order=\"";
    let Some(at) = fragment.find(ORDER).map(|at| at + ORDER.len()) else { return fragment.to_owned() };
    let Some(length) = fragment[at..].find('"') else { return fragment.to_owned() };
    let (before, rest) = fragment.split_at(at);
    let (order, after) = rest.split_at(length);
    let diagram = |word: &&str| *word != "BPMNDiagram" && !word.starts_with("BPMNDiagram*");
    let kept: Vec<&str> = order.split(' ').filter(diagram).collect();
    format!("{before}{}{after}", kept.join(" "))
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_diagrams_leave_the_order_of_the_rest() {
        let own = r#"<heddle:residue for="d" heddle:order="process collaboration"/>"#;
        for drawn in ["process collaboration BPMNDiagram", "process BPMNDiagram*2 collaboration"] {
            assert_eq!(without_diagrams(&own.replace("process collaboration", drawn)), own);
        }
        assert_eq!(without_diagrams("<a/>"), "<a/>");
    }

    #[test]
    fn definitions_are_compared_member_by_member() {
        let left = json!({"bpmn": {"id": "a", "processes": [{"id": "p"}]}});
        let drawn = json!({"bpmn": {"id": "a", "processes": [{"id": "p"}], "diagrams": []}});
        assert_eq!(first_difference("", &left, &drawn, false), None);
        assert_eq!(
            first_difference("", &left, &drawn, true),
            Some("bpmn.diagrams: null became []".to_owned())
        );
        let other = json!({"bpmn": {"id": "a", "processes": [{"id": "q"}]}});
        let found = first_difference("", &left, &other, false);
        assert_eq!(found, Some("bpmn.processes[0].id: \"p\" became \"q\"".to_owned()));
    }

    #[test]
    fn other_xml_is_counted_apart() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.bpmn", "<a/>");
        write("b.xml", "<a/>");
        write("c.bpmn20.xml", &format!("<definitions xmlns=\"{MODEL}\"/>"));
        write("d.xml", "not well-formed");
        write("e.txt", "");
        let (found, others) = sources(&[folder.path().to_path_buf()]).unwrap();
        let names: Vec<String> = found.iter().map(|one| one.relative.display().to_string()).collect();
        assert_eq!(names, ["a.bpmn", "c.bpmn20.xml", "d.xml"]);
        assert_eq!(others, 1);
    }

    #[test]
    fn a_loss_is_judged_and_an_equal_document_passes() {
        let source = format!("<definitions xmlns=\"{MODEL}\" targetNamespace=\"urn:x\"/>");
        assert_eq!(judge(source.as_bytes(), source.as_bytes()), Ok(()));
        let lost = format!("<definitions xmlns=\"{MODEL}\"/>");
        assert!(judge(source.as_bytes(), lost.as_bytes()).unwrap_err().contains("targetNamespace"));
    }
}

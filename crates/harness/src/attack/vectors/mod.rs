//! Attacks on vector databases: files that harm who reads them, uploads without an end, questions that are none, and the names
//! of others.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

mod index;
mod uploads;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Attack;
use super::judge::Judge;
use super::person::{Person, data, reasons};
use super::place::Place;
use super::scene::Scene;
use crate::vectors::{PATH, Text, bytes, files_path, has_ended, path, texts};

const HOSTILE: &str = include_str!("hostile.py");
/// Longest wait for files that are read until a limit ends it: several take a minute of processor time each.
const READ: Duration = Duration::from_secs(80);
/// Letters of a question that is none.
const LETTERS: usize = 100_000;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "vectors-hostile-files",
        finding: "held",
        does: "uploads bombs, an endless PDF, truncated and locked files, and files whose type lies",
        after: "each fails with its reason or is refused, and a good file is ready",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(hostile(scene, judge)),
    },
    Attack {
        name: "vectors-endless-upload",
        finding: "held",
        does: "announces 10 GB, and sends as much without announcing it",
        after: "both are refused before they are read, and nothing of them is kept",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(uploads::endless(scene, judge)),
    },
    Attack {
        name: "vectors-names-of-files",
        finding: "held",
        does: "uploads files whose names lead out of their folder, or are none",
        after: "no file stands where its name says",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(uploads::names(scene, judge)),
    },
    Attack {
        name: "vectors-questions",
        finding: "held",
        does: "asks with 100,000 letters, unknown fields, what is no number, filters without an end, and syntax",
        after: "400 for what is none, and a text is no syntax",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(questions(scene, judge)),
    },
    Attack {
        name: "vectors-of-others",
        finding: "held",
        does: "asks for databases, files, jobs and passages of another organisation that has the same names",
        after: "nothing of the other is seen or changed",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(others(scene, judge)),
    },
    Attack {
        name: "vectors-index-harmed",
        finding: "held",
        does: "deletes, truncates, overwrites and puts back files of the index while the server is stopped",
        after: "answers are right, or say that they wait; never wrong",
        place: Place::Changed,
        memory: false,
        run: |scene, judge| Box::pin(index::harmed(scene, judge)),
    },
];

/// Makes a database that is searched by words.
async fn database(person: &Person, name: &str) -> Result<()> {
    data(person.post(PATH, &json!({"name": name, "embeddingModelId": null})).await?)?;
    Ok(())
}

/// Uploads one text; its file's id.
async fn upload(person: &Person, database: &str, name: &str, text: &str) -> Result<String> {
    let one = Text { name: name.to_owned(), text: text.to_owned() };
    let uploaded = data(person.post(&files_path(database), &texts(&[one])).await?)?;
    uploaded["files"][0]["id"].as_str().map(str::to_owned).context("an upload without a file")
}

/// The files of a database, once nothing more becomes of any of them; those that are there when the time is over.
async fn ended(person: &Person, database: &str, patience: Duration) -> Result<Vec<Value>> {
    let began = Instant::now();
    loop {
        let listed = data(person.get(&format!("{}?limit=200", files_path(database))).await?)?;
        let files = listed.as_array().cloned().unwrap_or_default();
        if files.iter().all(has_ended) || began.elapsed() > patience {
            return Ok(files);
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Ids of the files of which a question finds something.
async fn found(person: &Person, database: &str, query: &str) -> Result<Vec<String>> {
    let body = json!({"query": query, "mode": "keyword", "limit": 50});
    let answer = data(person.post(&format!("{}/query", path(database)), &body).await?)?;
    let passages = answer["passages"].as_array().into_iter().flatten();
    Ok(passages.filter_map(|one| one["fileId"].as_str().map(str::to_owned)).collect())
}

/// Writes the hostile files into a folder.
fn write_hostile(folder: &Path, room: u32) -> Result<()> {
    let mut python = Command::new("python3");
    python.args(["-c", HOSTILE]).arg(folder).arg(room.to_string());
    let output = python.output().context("python3 cannot be started")?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A hostile file and what may become of it.
struct Hostile {
    file: &'static str,
    media: &'static str,
    /// Codes of failures, of which one must be said where it was accepted, with `ready` where it may be read as well; none:
    /// it is ready.
    codes: &'static [&'static str],
}

const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const PDF: &str = "application/pdf";

const HOSTILE_FILES: &[Hostile] = &[
    Hostile { file: "bomb.docx", media: DOCX, codes: &["limitExceeded", "parseFailed"] },
    Hostile { file: "bomb.pdf", media: PDF, codes: &["limitExceeded", "parseFailed", "noText"] },
    // It has one page that can be reached, however often.
    Hostile { file: "endless.pdf", media: PDF, codes: &["ready", "limitExceeded", "parseFailed", "noText"] },
    Hostile { file: "truncated.docx", media: DOCX, codes: &["parseFailed", "noText", "unsupportedType"] },
    Hostile { file: "truncated.pdf", media: PDF, codes: &["parseFailed", "noText"] },
    Hostile { file: "encrypted.docx", media: DOCX, codes: &["encrypted", "unsupportedType"] },
    Hostile { file: "encrypted.pdf", media: PDF, codes: &["encrypted"] },
    Hostile { file: "picture.pdf", media: PDF, codes: &["unsupportedType", "parseFailed"] },
    Hostile { file: "program.txt", media: "text/plain", codes: &["unsupportedType", "parseFailed"] },
    Hostile { file: "archive.docx", media: DOCX, codes: &["unsupportedType", "parseFailed"] },
    Hostile { file: "empty.pdf", media: PDF, codes: &["noText", "parseFailed", "unsupportedType"] },
    Hostile { file: "good.docx", media: DOCX, codes: &[] },
    Hostile { file: "good.pdf", media: PDF, codes: &[] },
];

async fn hostile(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let folder = tempfile::tempdir().context("no temporary folder")?;
    write_hostile(folder.path(), if scene.quick { 150 } else { 1_000 })?;
    let name = scene.name("hostile");
    database(&scene.owner, &name).await?;
    for one in HOSTILE_FILES {
        let content = std::fs::read(folder.path().join(one.file)).context("a hostile file")?;
        let answer = scene.owner.post(&files_path(&name), &bytes(one.file, one.media, &content)).await?;
        let allowed: &[u16] = if one.codes.is_empty() { &[202] } else { &[202, 400, 413, 415] };
        judge.status(one.file, answer.status, allowed);
        if answer.status == 400 {
            judge
                .must(!reasons(&answer).is_empty(), format_args!("{} is refused without a reason", one.file));
        }
    }
    let files = ended(&scene.owner, &name, READ).await?;
    for file in &files {
        let called = file["name"].as_str().unwrap_or_default();
        let Some(one) = HOSTILE_FILES.iter().find(|one| one.file == called) else { continue };
        let code = file["error"]["code"].as_str().unwrap_or_default();
        let right = match one.codes {
            [] => file["state"] == "ready",
            codes if file["state"] == "ready" => codes.contains(&"ready"),
            codes => file["state"] == "failed" && codes.contains(&code),
        };
        let state = file["state"].as_str().unwrap_or_default();
        judge.must(right, format_args!("{called} is {state} {code}: {}", file["error"]["message"]));
    }
    for good in ["good.docx", "good.pdf"] {
        judge.must(files.iter().any(|file| file["name"] == good), format_args!("{good} is not there"));
    }
    judge.must(found(&scene.owner, &name, "heddle").await?.len() >= 2, "the good files are not found");
    Ok(())
}

/// Bodies of queries that are none, as bytes: JSON has no word for some of them.
fn bad_questions() -> Vec<String> {
    let deep =
        format!("{}{}{}", r#"{"not":"#.repeat(20_000), r#"{"field":"fileId","eq":"a"}"#, "}".repeat(20_000));
    let wide = vec![r#"{"field":"fileId","eq":"a"}"#; 50_000].join(",");
    let mut bodies = vec![
        json!({"query": "a".repeat(LETTERS)}).to_string(),
        r#"{"query":""}"#.to_owned(),
        r#"{"query":7}"#.to_owned(),
        format!(r#"{{"query":"warp","filter":{deep}}}"#),
        format!(r#"{{"query":"warp","filter":{{"or":[{wide}]}}}}"#),
    ];
    let members = [
        r#""filter":{"field":"metadata.nothing","eq":"a"}"#,
        r#""filter":{"field":"sha256","eq":"a"}"#,
        r#""filter":{"field":"fileId"}"#,
        r#""filter":{"field":"fileId","eq":"a","ne":"b"}"#,
        r#""filter":{"field":"createdAt","gt":"yesterday"}"#,
        r#""filter":{"field":"fileId' OR 1=1 --","eq":"a"}"#,
        r#""filter":[]"#,
        r#""minScore":NaN"#,
        r#""minScore":1e999"#,
        r#""minScore":"NaN""#,
        r#""limit":0"#,
        r#""limit":-1"#,
        r#""limit":101"#,
        r#""limit":1e99"#,
        r#""mode":"magic""#,
        r#""fusion":{"method":"minMax","alpha":2}"#,
        r#""fusion":{"method":"rrf","k":-1}"#,
        r#""diversity":{"mmrLambda":1e999}"#,
        r#""includeNeighbours":100000"#,
        r#""nothing":true"#,
    ];
    bodies.extend(members.iter().map(|member| format!(r#"{{"query":"warp",{member}}}"#)));
    bodies
}

/// Texts that a search by words must take as texts.
const SYNTAX: &[&str] = &[
    "\"warp",
    "warp AND",
    "(warp",
    "warp)",
    "text:warp^9999",
    "*",
    "warp~99",
    "[a TO z]",
    "+ - ! \\",
    "/(a+)+$/",
    "\u{0}warp",
    "\u{202e}warp",
    "warp\u{fffd}",
    "'; DROP TABLE vector_files; --",
    "{\"match_all\":{}}",
];

async fn questions(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let name = scene.name("questions");
    database(&scene.owner, &name).await?;
    upload(&scene.owner, &name, "a.txt", "The warp is held by the loom.").await?;
    ended(&scene.owner, &name, READ).await?;
    let asked = format!("{}/query", path(&name));
    for body in bad_questions() {
        let short: String = body.chars().take(80).collect();
        let request = scene.owner.request(reqwest::Method::POST, &asked);
        let answer = request.body("application/json", body.into_bytes()).send().await?;
        judge.status(format_args!("the question {short}"), answer.status, &[400, 413]);
    }
    for text in SYNTAX {
        let answer = scene.owner.post(&asked, &json!({"query": text, "mode": "keyword"})).await?;
        judge.status(format_args!("the text {text:?}"), answer.status, &[200, 400]);
    }
    for text in ["warp", "warp AND", "(warp", "\"warp"] {
        judge.must(!found(&scene.owner, &name, text).await?.is_empty(), format_args!("{text} finds nothing"));
    }
    Ok(())
}

async fn others(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (own, theirs) = (&scene.owner, &scene.elsewhere);
    let name = scene.name("same");
    let mut ids = Vec::new();
    for (person, word) in [(own, "ownword"), (theirs, "theirword")] {
        database(person, &name).await?;
        ids.push(upload(person, &name, "same.txt", &format!("The shared heddle and the {word}.")).await?);
        ended(person, &name, READ).await?;
    }
    let [own_file, their_file] = ids.as_slice() else { anyhow::bail!("two files") };
    for (person, mine, foreign, word) in
        [(own, own_file, their_file, "theirword"), (theirs, their_file, own_file, "ownword")]
    {
        judge.must(
            found(person, &name, "heddle").await? == [mine.clone()],
            "a shared word finds one's own alone",
        );
        judge.must(found(person, &name, word).await?.is_empty(), format_args!("{word} is found by others"));
        let filtered =
            json!({"query": "heddle", "mode": "keyword", "filter": {"field": "fileId", "eq": foreign}});
        let answer = data(person.post(&format!("{}/query", path(&name)), &filtered).await?)?;
        judge.must(answer["passages"] == json!([]), format_args!("a filter by another's file: {answer}"));
        let file = format!("{}/{foreign}", files_path(&name));
        judge.status(
            "a change of another's file",
            person.patch(&file, &json!({"title": "x"})).await?.status,
            &[403, 404],
        );
        judge.status("the deletion of another's file", person.delete(&file).await?.status, &[403, 404]);
        let jobs = data(person.get(&format!("{PATH}/ingestion-jobs?limit=200")).await?)?;
        let newest = jobs.as_array().into_iter().flatten().take(3);
        for job in newest.filter_map(|job| job["id"].as_str()) {
            let other = if std::ptr::eq(person, own) { theirs } else { own };
            let job = format!("{PATH}/ingestion-jobs/{job}");
            judge.status("another's job", other.get(&job).await?.status, &[403, 404]);
            judge.status(
                "another's job's servers",
                other.get(&format!("{job}/servers")).await?.status,
                &[403, 404],
            );
            judge.status("the end of another's job", other.delete(&job).await?.status, &[403, 404]);
        }
    }
    judge.status("the deletion", own.delete(&path(&name)).await?.status, &[204]);
    judge.must(found(theirs, &name, "heddle").await?.len() == 1, "a deletion took another's passages");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_files_are_written_and_small_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        write_hostile(folder.path(), 20).unwrap();
        for one in HOSTILE_FILES {
            let size = std::fs::metadata(folder.path().join(one.file)).unwrap().len();
            assert!(size < 200_000, "{} has {size} bytes", one.file);
        }
    }

    #[test]
    fn questions_that_are_none_differ() {
        let bodies: std::collections::BTreeSet<String> = bad_questions().into_iter().collect();
        assert_eq!(bodies.len(), bad_questions().len());
    }
}

//! Uploads without an end, and names of files that lead elsewhere.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tokio::io::AsyncWriteExt as _;

use super::{PATH, database, ended, files_path, found};
use crate::attack::judge::Judge;
use crate::attack::person::{ATTACKER, data};
use crate::attack::raw;
use crate::attack::scene::Scene;
use crate::vectors::{Text, texts};

/// Bytes that an upload announces.
const ANNOUNCED: u64 = 10 * 1024 * 1024 * 1024;
/// Bytes beyond the limit after which a refusal must have come: what the system holds of a connection.
const SLACK: u64 = 64 * 1024 * 1024;
/// Bytes of one part.
const PART: usize = 1024 * 1024;
/// Mark of a name that must not be on any path.
const MARK: &str = "heddle-attack-was-here";

/// Announces far too much, and sends far too much without announcing it.
pub(super) async fn endless(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let policy = data(scene.owner.get(&format!("{PATH}/upload-policy")).await?)?;
    let most = policy["maxFileBytes"].as_u64().context("the policy has no maxFileBytes")?;
    let name = scene.name("endless");
    database(&scene.owner, &name).await?;
    let folder = scene.data_dir().await;
    let before = size(&folder);
    for chunked in [false, true] {
        let sent = send(scene, &name, chunked, most).await?;
        let way = if chunked { "in pieces" } else { "announced" };
        judge.must(
            sent.statuses.first().is_some_and(|status| matches!(status, 400 | 413)),
            format_args!("10 GB {way}: {:?}", sent.statuses),
        );
        let may = if chunked { most + SLACK } else { SLACK };
        judge.must(sent.bytes <= may, format_args!("{way}: {} bytes were taken, may be {may}", sent.bytes));
    }
    let files = ended(&scene.owner, &name, Duration::from_secs(5)).await?;
    judge.must(files.is_empty(), format_args!("a file was made of it: {files:?}"));
    let kept = size(&folder).saturating_sub(before);
    judge.must(kept < SLACK, format_args!("{kept} bytes of it were kept"));
    Ok(())
}

/// Outcome of a sending.
struct Sent {
    bytes: u64,
    statuses: Vec<u16>,
}

/// Sends until somebody says no, or far beyond what may be.
async fn send(scene: &Scene, name: &str, chunked: bool, most: u64) -> Result<Sent> {
    let mut stream = raw::connect(&scene.owner.host(), ATTACKER, None).await?;
    let length = if chunked {
        "Transfer-Encoding: chunked".to_owned()
    } else {
        format!("Content-Length: {ANNOUNCED}")
    };
    let begin = "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\
                 Content-Type: text/plain\r\n\r\n";
    let head = format!(
        "POST {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\n{length}\r\n\r\n",
        files_path(name),
        scene.owner.token()
    );
    stream.write_all(head.as_bytes()).await.context("the head")?;
    let part = "loom\n".repeat(PART / 5);
    let framed = |text: &str| match chunked {
        true => format!("{:x}\r\n{text}\r\n", text.len()),
        false => text.to_owned(),
    };
    let (began, mut bytes) = (Instant::now(), 0_u64);
    let mut said = Vec::new();
    let mut next = framed(begin);
    while bytes < (most + 4 * SLACK).min(ANNOUNCED)
        && began.elapsed() < scene.pressure.max(Duration::from_secs(60))
    {
        let sent = tokio::time::timeout(Duration::from_secs(10), stream.write_all(next.as_bytes())).await;
        if !matches!(sent, Ok(Ok(()))) {
            break;
        }
        bytes += next.len() as u64;
        // A server that has said no may read on for the while that its answer takes.
        said.extend(raw::read(&mut stream, Duration::from_millis(1), 1 << 16).await);
        if !said.is_empty() {
            break;
        }
        next = framed(&part);
    }
    said.extend(raw::read(&mut stream, Duration::from_secs(10), 1 << 16).await);
    Ok(Sent { bytes, statuses: raw::statuses_in(&said) })
}

/// Bytes of a folder with all that is below it.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(facts) if facts.is_dir() => size(&entry.path()),
        Ok(facts) => facts.len(),
        Err(_gone) => 0,
    });
    sizes.sum()
}

/// Names that lead elsewhere, or are none.
fn bad_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "../",
        "../../../../../../tmp/",
        "/tmp/",
        "..\\..\\",
        "a/../../",
        "%2e%2e%2f",
        "\u{0}",
        "\n",
        "C:\\",
        "\u{202e}",
    ]
    .iter()
    .map(|front| format!("{front}{MARK}.txt"))
    .collect();
    names.extend([String::new(), ".".to_owned(), "..".to_owned(), " ".to_owned(), "/".to_owned()]);
    names.push(format!("{}.txt", "n".repeat(10_000)));
    names
}

/// Uploads under such names: refused, or kept as a name that is nowhere a path.
pub(super) async fn names(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let name = scene.name("names");
    database(&scene.owner, &name).await?;
    for (number, bad) in bad_names().into_iter().enumerate() {
        let short: String = bad.chars().take(60).collect();
        let text = Text { name: bad, text: format!("The loom number {number}.") };
        let answer = scene.owner.post(&files_path(&name), &texts(&[text])).await?;
        judge.status(format_args!("the name {short:?}"), answer.status, &[202, 400]);
    }
    ended(&scene.owner, &name, Duration::from_secs(60)).await?;
    found(&scene.owner, &name, "loom").await?;
    let folder = scene.data_dir().await;
    let above = folder.parent().unwrap_or(&folder).to_path_buf();
    judge.must(!named(&above), "a file below the data directory has a name that was uploaded");
    let elsewhere =
        [Path::new("/tmp").join(format!("{MARK}.txt")), Path::new("/").join(format!("{MARK}.txt"))];
    for path in elsewhere {
        judge.must(!path.exists(), format_args!("{} is there", path.display()));
    }
    Ok(())
}

/// Whether a file below a folder has the mark in its name.
fn named(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let marked = entry.file_name().to_string_lossy().contains(MARK);
        marked || (entry.file_type().is_ok_and(|kind| kind.is_dir()) && named(&entry.path()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_measured_and_searched_with_all_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(below.join("c"), [0; 10]).unwrap();
        assert_eq!((size(folder.path()), named(folder.path())), (10, false));
        std::fs::write(below.join(format!("x-{MARK}")), []).unwrap();
        assert!(named(folder.path()));
    }
}

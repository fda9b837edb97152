//! Files of the index that are harmed while the server is stopped: what it answers from them must be right all the same.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::{database, ended, found, upload};
use crate::attack::judge::Judge;
use crate::attack::scene::Scene;

/// Longest wait for an index that is built anew.
const BUILT: Duration = Duration::from_secs(60);

/// A harm done to the files of an index.
#[derive(Debug, Clone, Copy)]
enum Harm {
    /// Deletion of the files.
    Deleted,
    /// Truncation of each file to half its bytes.
    Truncated,
    /// Other bytes in the middle of each file.
    Overwritten,
    /// Return of the files to an earlier time.
    Earlier,
}

/// Harms the index in each way, and asks afterwards.
pub(super) async fn harmed(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let name = scene.name("harmed");
    database(&scene.owner, &name).await?;
    let kept = upload(&scene.owner, &name, "kept.txt", "The kept warp of the loom.").await?;
    let gone = upload(&scene.owner, &name, "gone.txt", "The gone warp of the loom.").await?;
    ended(&scene.owner, &name, BUILT).await?;
    judge.must(found(&scene.owner, &name, "warp").await?.len() == 2, "two files are found before any harm");
    let folder = scene.data_dir().await;
    scene.server.lock().await.stop().await?;
    let earlier = tempfile::tempdir().context("no temporary folder")?;
    let indexes = indexes(&folder);
    judge.must(!indexes.is_empty(), "no index has a file below the data directory");
    for (number, path) in indexes.iter().enumerate() {
        std::fs::copy(path, earlier.path().join(number.to_string())).context("a copy of the index")?;
    }
    judge.must(scene.restart().await?, "the server does not start again");
    let deleted = scene.owner.delete(&format!("{}/{gone}", super::files_path(&name))).await?;
    judge.status("the deletion", deleted.status, &[204]);
    judge.must(answers(scene, &name, &kept).await, "what was deleted is found");
    for harm in [Harm::Deleted, Harm::Truncated, Harm::Overwritten, Harm::Earlier] {
        scene.server.lock().await.stop().await?;
        match harm {
            Harm::Earlier => {
                for path in self::indexes(&folder) {
                    std::fs::remove_file(path).context("the index")?;
                }
                for (number, path) in indexes.iter().enumerate() {
                    if let Some(folder) = path.parent() {
                        std::fs::create_dir_all(folder).context("the folder of the index")?;
                    }
                    std::fs::copy(earlier.path().join(number.to_string()), path)
                        .context("the earlier index")?;
                }
            }
            Harm::Deleted | Harm::Truncated | Harm::Overwritten => {
                for path in self::indexes(&folder) {
                    do_harm(harm, &path)?;
                }
            }
        }
        judge.must(scene.restart().await?, format_args!("{harm:?}: the server does not start again"));
        judge.must(
            answers(scene, &name, &kept).await,
            format_args!("{harm:?}: the answer is wrong, or never comes"),
        );
    }
    Ok(())
}

fn do_harm(harm: Harm, path: &Path) -> Result<()> {
    let mut bytes = std::fs::read(path).context("a file of the index")?;
    match harm {
        Harm::Deleted => return std::fs::remove_file(path).context("a file of the index"),
        Harm::Truncated => bytes.truncate(bytes.len() / 2),
        Harm::Overwritten => {
            let (middle, end) = (bytes.len() / 3, bytes.len() * 2 / 3);
            bytes.get_mut(middle..end).unwrap_or_default().iter_mut().for_each(|byte| *byte ^= 0x5A);
        }
        Harm::Earlier => {}
    }
    std::fs::write(path, bytes).context("a file of the index")
}

/// Whether the right answer comes in time, and no wrong one before it.
async fn answers(scene: &Scene, name: &str, kept: &str) -> bool {
    let began = Instant::now();
    while began.elapsed() < BUILT {
        match found(&scene.owner, name, "warp").await {
            Ok(ids) => return ids == [kept.to_owned()],
            // It says that it is not ready, which is right until it is.
            Err(_waits) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
    false
}

/// Files of indexes: all below the data directory's folder of them.
fn indexes(data: &Path) -> Vec<PathBuf> {
    let mut open = vec![data.join("vectors").join("index")];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_gone) => {}
            }
        }
    }
    files.sort();
    files
}

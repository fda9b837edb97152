//! Attacks on the data directory: who may read it, who fills it, and a trial that comes again.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result};
use heddle_harness_kit::prepare;
use reqwest::Method;

use super::Attack;
use super::judge::Judge;
use super::person::{KEEPER, Person, data};
use super::place::Place;
use super::scene::Scene;

/// The most that previews may add to the data directory, in bytes.
const PREVIEWS: u64 = 450 * 1024 * 1024;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "directory-of-everybody",
        finding: "M6",
        does: "starts on a data directory that was made with mode 0755",
        after: "database, journal, lock and key are for their owner alone",
        place: Place::Open,
        memory: false,
        run: |scene, judge| Box::pin(modes(scene, judge)),
    },
    Attack {
        name: "locks-of-everybody",
        finding: "L14",
        does: "looks for files of the data directory that another user may open, after writes and a restart",
        after: "there is none",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(modes(scene, judge)),
    },
    Attack {
        name: "previews-fill-disk",
        finding: "M7",
        does: "previews files of 15 MB again and again",
        after: "the data directory does not grow without bound",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(previews(scene, judge)),
    },
    Attack {
        name: "trial-again",
        finding: "L1",
        does: "deletes the row of the installation and starts twice, with the demo and without",
        after: "no trial begins anew",
        place: Place::Changed,
        memory: false,
        run: |scene, judge| Box::pin(trial(scene, judge)),
    },
];

async fn modes(scene: &Scene, judge: &mut Judge) -> Result<()> {
    judge.must(scene.restart().await?, "the server does not start again");
    let folder = scene.data_dir().await;
    for entry in std::fs::read_dir(&folder).context("the data directory")? {
        let entry = entry?;
        let mode = entry.metadata()?.permissions().mode() & 0o777;
        let name = entry.file_name();
        judge.must(mode & 0o077 == 0, format_args!("{} has mode {mode:o}", name.to_string_lossy()));
    }
    Ok(())
}

fn size(folder: &Path) -> Result<u64> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder).context("the data directory")? {
        size += entry?.metadata().map_or(0, |file| file.len());
    }
    Ok(size)
}

async fn previews(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let folder = scene.data_dir().await;
    let before = size(&folder)?;
    // Random letters do not become smaller.
    let mut random = heddle_harness_kit::random::Random::new(11);
    let count = if scene.quick { 6 } else { 40 };
    let letters: String = (0..940_000).map(|_| format!("{:016x}", random.number())).collect();
    let began = Instant::now();
    for number in 0..count {
        // An unoptimised build reads few of them in this time.
        if scene.quick && began.elapsed() > scene.pressure {
            break;
        }
        // No two files are the same.
        let comment = format!("<!--{number} {letters}-->");
        let file = prepare::document("filling", &format!("{}{comment}", prepare::ONE_TASK));
        let asked = scene.owner.request(Method::POST, "/api/workflows/transform/preview");
        let answer = asked.body("application/xml", file.into_bytes()).send().await?;
        judge.status("a preview", answer.status, &[200, 409, 429, 503]);
    }
    let grown = size(&folder)?.saturating_sub(before);
    judge.must(grown < PREVIEWS, format_args!("{count} previews of 15 MB add {} MB", grown / 1_048_576));
    Ok(())
}

async fn trial(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let first = data(scene.owner.get("/api/licence").await?)?;
    let folder = scene.data_dir().await;
    let database = folder.join("heddle.db");
    if !database.exists() {
        // The rows of a PostgreSQL are their owner's to keep.
        judge.must(true, "");
        return Ok(());
    }
    scene.server.lock().await.stop().await?;
    let kept = database.with_file_name("kept");
    copy_database(&folder, &kept)?;
    let statement = "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('DELETE FROM installation'); c.commit()";
    let deleted = Command::new("python3").args(["-c", statement]).arg(&database).status();
    anyhow::ensure!(deleted.context("python3 cannot be started")?.success(), "the row cannot be deleted");
    // The first of the two may be refused, and the second too: then there is no trial.
    let _ = scene.restart().await?;
    scene.server.lock().await.change(|mode, _| mode.demo = false);
    let up = scene.restart().await?;
    if up {
        let owner = Person::stranger(&scene.base, KEEPER)?.sign_in(&scene.owner.email, &scene.password).await;
        let licence = data(owner?.get("/api/licence").await?)?;
        let again = licence["state"] == "trial" && licence["issuedAt"] != first["issuedAt"];
        judge.must(!again, format_args!("a trial began again: {licence}"));
    } else {
        judge.must(true, "");
    }
    let _ = scene.server.lock().await.stop().await;
    copy_database(&kept, &folder)?;
    judge.must(scene.restart().await?, "the server does not start on its own database");
    Ok(())
}

/// Makes the second folder's database the first one's, with its journal.
fn copy_database(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).context("no folder for the database")?;
    for name in ["heddle.db", "heddle.db-wal", "heddle.db-shm"] {
        let _ = std::fs::remove_file(to.join(name));
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.join(name)).context("the database cannot be copied")?;
        }
    }
    Ok(())
}

//! Attacks on the clock: the machine's time is set back under the program, by `libfaketime` of the distribution.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use heddle_kernel::Timestamp;
use serde_json::json;

use super::Attack;
use super::judge::Judge;
use super::person::{KEEPER, Person, data, reasons};
use super::place::Place;
use super::scene::Scene;
use crate::licence::licence_at;

const LIBRARY: &str = "faketime/libfaketime.so.1";
/// Hours that a clock may go back.
const TOLERATED: i64 = 12;
/// Hours that it may not.
const BEYOND: i64 = 48;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[Attack {
    name: "clock-set-back",
    finding: "held",
    does: "sets the clock back under the server by twelve hours and by two days, to make a trial last",
    after: "twelve hours are tolerated; two days restrict until the clock is right or a newer licence comes",
    place: Place::Changed,
    memory: false,
    run: |scene, judge| Box::pin(set_back(scene, judge)),
}];

/// The library that stands between a program and its clock.
fn library() -> Result<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").context("/usr/lib")?;
    let all = folders.flatten().map(|folder| folder.path().join(LIBRARY));
    let found = all.into_iter().find(|path| path.is_file());
    found.context("libfaketime is needed: apt-get install libfaketime")
}

/// Starts the server again with its clock so many hours behind; whether it starts.
async fn behind(scene: &Scene, hours: i64) -> Result<bool> {
    let library = library()?.display().to_string();
    scene.server.lock().await.change(|_, around| {
        let own = ["LD_PRELOAD", "FAKETIME", "FAKETIME_DONT_FAKE_MONOTONIC", "DONT_FAKE_MONOTONIC"];
        around.variables.retain(|(name, _)| !own.contains(name));
        if hours > 0 {
            let texts = [library, format!("-{hours}h"), "1".to_owned(), "1".to_owned()];
            around.variables.extend(own.into_iter().zip(texts));
        }
    });
    scene.restart().await
}

async fn owner(scene: &Scene) -> Result<Person> {
    Person::stranger(&scene.base, KEEPER)?.sign_in(&scene.owner.email, &scene.password).await
}

/// Holds the licence's state and the gate's answer against what is expected.
async fn stands(scene: &Scene, judge: &mut Judge, when: &str, reason: Option<&str>) -> Result<Person> {
    let owner = owner(scene).await?;
    let licence = data(owner.get("/api/licence").await?)?;
    let found = licence["reason"].as_str();
    judge.must(found == reason, format_args!("{when}: the licence is {licence}"));
    let expected = if reason.is_some() { 423 } else { 200 };
    let workflows = owner.get("/api/workflows").await?;
    judge.status(format_args!("{when}: listing the workflows"), workflows.status, &[expected]);
    Ok(owner)
}

async fn set_back(scene: &Scene, judge: &mut Judge) -> Result<()> {
    judge.must(behind(scene, TOLERATED).await?, "the server does not start twelve hours ago");
    stands(scene, judge, "twelve hours back", None).await?;
    judge.must(behind(scene, BEYOND).await?, "the server does not start two days ago");
    let owner = stands(scene, judge, "two days back", Some("clock_rollback")).await?;
    let again = owner.post("/api/licence/trial", &json!({})).await?;
    judge.status("a second trial", again.status, &[409]);
    judge.must(behind(scene, 0).await?, "the server does not start with the right clock");
    stands(scene, judge, "the clock is right again", None).await?;
    if !scene.quick {
        // An optimised build takes no licence of tests.
        return Ok(());
    }
    judge.must(behind(scene, BEYOND).await?, "the server does not start two days ago once more");
    let owner = stands(scene, judge, "two days back once more", Some("clock_rollback")).await?;
    let there = Timestamp::from(SystemTime::now()).plus_seconds(-BEYOND * 3600);
    let installed = owner.put("/api/licence", &json!({"licence": licence_at(there)?})).await?;
    judge.status(format_args!("a newer licence ({:?})", reasons(&installed)), installed.status, &[200]);
    stands(scene, judge, "with a newer licence", None).await?;
    Ok(())
}

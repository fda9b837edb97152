//! Attacks on the gateway to models. What they do stands in `heddle-harness-models`; here they meet the two organisations.

use anyhow::Result;
use heddle_harness_models::attacks::{self, Ground, Told};

use super::Attack;
use super::judge::Judge;
use super::place::Place;
use super::scene::Scene;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "models-hostile-bodies",
        finding: "held",
        does: "asks by each interface with prompts of 100 MB, JSON without a bottom, schemas that recurse, members of wrong kinds",
        after: "each is refused before a provider sees it, and the memory is given back",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(hostile(scene, judge)),
    },
    Attack {
        name: "models-broken-answers",
        finding: "held",
        does: "has a provider stall, lie, break off, send a line without an end and JSON without a bottom",
        after: "each call ends in time with an error, and none as if it were whole",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(broken(scene, judge)),
    },
    Attack {
        name: "models-callers-gone",
        finding: "held",
        does: "leaves endless streams of chats and messages behind",
        after: "the provider is left at once, and each call is counted as broken off",
        place: Place::Common,
        memory: true,
        run: |scene, judge| Box::pin(gone(scene, judge)),
    },
    Attack {
        name: "models-at-its-limits",
        finding: "held",
        does: "floods a deployment with limits by each interface while another organisation asks the same provider",
        after: "the limits hold, and the other organisation waits for nobody",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(limited(scene, judge)),
    },
    Attack {
        name: "models-canaries",
        finding: "held",
        does: "has a provider say back the key and the prompt, and points a connection elsewhere without its key",
        after: "no answer, list, audit event, metric or log line shows either",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(canaries(scene, judge)),
    },
    Attack {
        name: "models-injections",
        finding: "held",
        does: "puts instructions of attackers into passages that the built-in answerer cites from",
        after: "the answer is the passage's that answers, whatever they say",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(injected(scene, judge)),
    },
];

fn ground(scene: &Scene) -> Result<Ground> {
    let (owner, other) = (scene.owner.caller().clone(), scene.elsewhere.caller().clone());
    Ground::new(owner, other, scene.pressure, scene.name("models"))
}

fn take(judge: &mut Judge, told: Told) {
    judge.take(told.broken, told.looked);
}

async fn hostile(scene: &Scene, judge: &mut Judge) -> Result<()> {
    take(judge, attacks::hostile(&ground(scene)?).await?);
    Ok(())
}

async fn broken(scene: &Scene, judge: &mut Judge) -> Result<()> {
    take(judge, attacks::broken(&ground(scene)?).await?);
    Ok(())
}

async fn gone(scene: &Scene, judge: &mut Judge) -> Result<()> {
    take(judge, attacks::gone(&ground(scene)?).await?);
    Ok(())
}

async fn limited(scene: &Scene, judge: &mut Judge) -> Result<()> {
    take(judge, attacks::limited(&ground(scene)?).await?);
    Ok(())
}

async fn canaries(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let log = async || scene.server.lock().await.log_text();
    take(judge, attacks::leaky(&ground(scene)?, log).await?);
    Ok(())
}

async fn injected(scene: &Scene, judge: &mut Judge) -> Result<()> {
    take(judge, attacks::injected(&ground(scene)?).await?);
    Ok(())
}

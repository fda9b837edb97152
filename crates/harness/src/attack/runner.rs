//! Servers started, attacks run one after the other, and what became of each.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use heddle_harness_kit::out;
use heddle_harness_kit::postgres::Postgres;
use heddle_harness_kit::server::Server;

use super::Attack;
use super::honest::{Honest, KINDS};
use super::judge::Judge;
use super::measure::{Figures, REST_MB, Window, of_three};
use super::person::Person;
use super::place::Place;
use super::report::{self, Outcome};
use super::scene::Scene;

/// Time that an attack may take beyond its pressure, for what it prepares and looks at.
const MORE: Duration = Duration::from_secs(90);
/// Longest wait for the honest organisation's next rounds: a message may take 30 s before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(40);
/// Shortest time that is measured.
const LEAST: Duration = Duration::from_secs(3);
/// Time after which memory must be given back.
const REST: Duration = Duration::from_secs(60);

/// Runner of attacks.
pub(crate) struct Runner {
    /// The program.
    pub binary: PathBuf,
    /// PostgreSQL, if that is the database.
    pub postgres: Option<Postgres>,
    /// Time for which pressure is kept up.
    pub pressure: Duration,
    /// Whether what only a clock decides is left out.
    pub quick: bool,
}

/// A server with its two organisations.
struct Stage {
    scene: Scene,
    honest: Option<Honest>,
}

impl Runner {
    /// Runs the attacks, those that share a server one behind the other.
    pub(crate) async fn run(&self, attacks: &[&'static Attack]) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for place in [Place::Common, Place::Proxy, Place::Few] {
            let mut stage = None;
            for attack in attacks.iter().filter(|attack| attack.place == place) {
                let on = match stage.take() {
                    Some(stage) => stage,
                    None => self.stage(place).await?,
                };
                let outcome = self.attack(&on, attack).await;
                report::line(&outcome, self.quick);
                // What an attack that came through left behind shall not be the next one's.
                if outcome.alive && outcome.broken.is_empty() && outcome.lost.is_empty() {
                    stage = Some(on);
                } else {
                    self.close(on, &mut outcomes, false).await;
                }
                outcomes.push(outcome);
            }
            if let Some(stage) = stage {
                self.close(stage, &mut outcomes, true).await;
            }
        }
        for attack in attacks.iter().filter(|attack| !attack.place.shared()) {
            let stage = self.stage(attack.place).await?;
            let outcome = self.attack(&stage, attack).await;
            report::line(&outcome, self.quick);
            outcomes.push(outcome);
            self.close(stage, &mut outcomes, false).await;
        }
        Ok(outcomes)
    }

    async fn stage(&self, place: Place) -> Result<Stage> {
        let surroundings = place.surroundings();
        let server =
            Server::start_in(&self.binary, place.mode(), surroundings, self.postgres.as_ref()).await?;
        let pid = server.facts().pid;
        if place == Place::Empty {
            return Ok(Stage { scene: Scene::empty(server, self.pressure, self.quick)?, honest: None });
        }
        let scene = Scene::of(server, self.pressure, self.quick).await?;
        let honest = match place.honest() {
            // Each sign-in hashes a password, which an unoptimised build takes its time for.
            true => {
                let pause = if self.quick { Duration::from_secs(5) } else { Duration::from_millis(700) };
                let honest = Honest::begin(&scene.base, &scene.elsewhere, pid, pause).await?;
                scene.follow(honest.shared());
                Some(honest)
            }
            false => None,
        };
        Ok(Stage { scene, honest })
    }

    /// Ends a server; what the honest organisation then misses counts against the last attack on it.
    async fn close(&self, stage: Stage, outcomes: &mut [Outcome], whole: bool) {
        let mut lost = Vec::new();
        if let Some(honest) = stage.honest {
            match honest.end().await {
                Ok(missing) => lost = missing,
                Err(error) => lost.push(format!("{error:#}")),
            }
        }
        if let (true, Some(last)) = (whole, outcomes.last_mut()) {
            for what in &lost {
                out::line(format_args!("  {}: lost: {what}", last.name));
            }
            last.lost.extend(lost);
        }
        let mut server = stage.scene.server.into_inner();
        let _ = server.kill().await;
    }

    async fn attack(&self, stage: &Stage, attack: &'static Attack) -> Outcome {
        let Stage { scene, honest } = stage;
        let mut judge = Judge::default();
        let before = honest.as_ref().map(Seen::of);
        let began = Instant::now();
        let deed = (attack.run)(scene, &mut judge);
        let ended = tokio::time::timeout(self.pressure + MORE, deed).await;
        let told = match ended {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(format!("the attack broke off: {error:#}")),
            Err(_elapsed) => Some(format!("the attack did not end within {MORE:?}")),
        };
        judge.broken.extend(told);
        judge.must(judge.looked > 0, "nothing was looked at");
        if !self.quick {
            tokio::time::sleep(LEAST.saturating_sub(began.elapsed())).await;
        }
        let until = Instant::now();
        let mut outcome = Outcome::of(attack, judge, began.elapsed());
        outcome.alive = scene.alive().await;
        if let (Some(honest), Some(before)) = (honest, before) {
            // Rounds during the attack count for a quick run; else another of each kind must follow.
            let rounds = if self.quick { before.rounds } else { honest.rounds() };
            if outcome.alive && !honest.proceeds(rounds, PATIENCE).await {
                outcome.broken.push("the honest organisation does not come forward".to_owned());
            }
            before.judge(honest, Window { from: began, until }, &mut outcome);
        }
        if attack.memory && !self.quick && outcome.alive {
            outcome.figures.rest = Some(rest(scene).await);
        }
        // What it took may end it only now.
        outcome.alive = outcome.alive && scene.server.lock().await.runs();
        if outcome.alive {
            scene.clean().await;
        }
        outcome
    }
}

/// The least memory within a minute.
async fn rest(scene: &Scene) -> u64 {
    let began = Instant::now();
    loop {
        let now = scene.resident_mb().await;
        if now <= REST_MB || began.elapsed() > REST {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

/// Lengths of the honest ledger's lists before an attack.
struct Seen {
    rounds: [u64; KINDS],
    lost: usize,
    calls: usize,
    sign_ins: usize,
    lives: usize,
}

impl Seen {
    fn of(honest: &Honest) -> Self {
        honest.take_peak();
        let ledger = honest.ledger();
        Self {
            rounds: honest.rounds(),
            lost: ledger.lost.len(),
            calls: ledger.calls.len(),
            sign_ins: ledger.sign_ins.len(),
            lives: ledger.lives.len(),
        }
    }

    fn judge(&self, honest: &Honest, time: Window, outcome: &mut Outcome) {
        outcome.figures.peak = honest.take_peak();
        let ledger = honest.ledger();
        outcome.lost.extend(ledger.lost.iter().skip(self.lost).cloned());
        // The slowest of few is what a user would see; of many calls the slowest hundredth is left out.
        let figures = Figures {
            calls: of_three(ledger.calls.get(self.calls..).unwrap_or_default(), time, 99),
            sign_in: of_three(ledger.sign_ins.get(self.sign_ins..).unwrap_or_default(), time, 100),
            live: of_three(ledger.lives.get(self.lives..).unwrap_or_default(), time, 100),
            ..outcome.figures
        };
        outcome.figures = figures;
    }
}

impl Scene {
    /// A server that nobody has set up, without anybody in it.
    fn empty(server: Server, pressure: Duration, quick: bool) -> Result<Self> {
        let token = server.facts().setup_token.clone().context("the ready file names no set-up token")?;
        let base = std::sync::Arc::new(std::sync::RwLock::new(server.facts().address.clone()));
        let nobody = Person::stranger(&base, super::person::ATTACKER)?;
        Ok(Self::unsigned(server, base, nobody, token, pressure, quick))
    }
}

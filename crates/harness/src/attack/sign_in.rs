//! Attacks on sign-in: keeping somebody out, guessing, flooding, and a session of a password that is no more.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures::StreamExt as _;
use serde_json::json;

use super::Attack;
use super::judge::Judge;
use super::person::{HONEST, KEEPER, PASSWORD, Person};
use super::place::Place;
use super::scene::Scene;

/// Accounts of which one at the latest must be answered 429.
const SPRAYED: usize = 150;

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "account-kept-out",
        finding: "M1",
        does: "sends wrong passwords for an account from one address",
        after: "the right password is taken from another address",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(kept_out(scene, judge)),
    },
    Attack {
        name: "spraying",
        finding: "M2",
        does: "tries one wrong password on many accounts from one address",
        after: "the address is told 429, and other addresses are not",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(spraying(scene, judge)),
    },
    Attack {
        name: "sign-in-flood",
        finding: "M2",
        does: "keeps 80 sign-ins of made-up accounts under way from one address",
        after: "the honest sign in, and each answer is 401, 429 or 503",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(flood(scene, judge)),
    },
    Attack {
        name: "session-of-old-password",
        finding: "M9",
        does: "signs in with a password at the moment that it is changed",
        after: "no session that was opened with it is good",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(old_password(scene, judge)),
    },
    Attack {
        name: "session-in-use",
        finding: "L16",
        does: "uses a session of one minute's idle time every half minute, by a moved clock",
        after: "it goes on, and ends when it is not used",
        place: Place::Clock,
        memory: false,
        run: |scene, judge| Box::pin(in_use(scene, judge)),
    },
];

async fn kept_out(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let account = scene.account(&["viewer"]).await?;
    let wrong = Person::stranger(&scene.base, [127, 4, 4, 4].into())?;
    let began = Instant::now();
    let mut refused = 0;
    // Six wrong ones make the account wait; more make it wait longer.
    while refused < 15 && (refused < 6 || began.elapsed() < scene.pressure) {
        let answer = wrong.try_sign_in(&account.email, "not the password").await?;
        judge.status("a wrong password", answer.status, &[401, 429]);
        refused += 1;
    }
    let again = wrong.try_sign_in(&account.email, "not the password").await?;
    judge.status("one more from there", again.status, &[429]);
    for from in [KEEPER, HONEST] {
        let right = Person::stranger(&scene.base, from)?.try_sign_in(&account.email, PASSWORD).await?;
        judge.status(format_args!("the right password from {from}"), right.status, &[200]);
    }
    Ok(())
}

async fn spraying(scene: &Scene, judge: &mut Judge) -> Result<()> {
    // An address of its own: what it is told must not come from another attack.
    let sprayer = Person::stranger(&scene.base, [127, 8, 8, 8].into())?;
    let began = Instant::now();
    let names: Vec<String> = (0..400).map(|_| format!("{}@example.com", scene.name("sprayed"))).collect();
    let mut answers = futures::stream::iter(&names)
        .take_while(|_| std::future::ready(!scene.quick || began.elapsed() < scene.pressure))
        .map(|name| sprayer.try_sign_in(name, "Summer-2026!"))
        .buffer_unordered(4);
    let (mut tried, mut limited) = (0, false);
    while let (false, Some(answer)) = (limited, answers.next().await) {
        let status = answer?.status;
        judge.status("a sprayed password", status, &[401, 429, 503]);
        tried += 1;
        limited = status == 429;
    }
    drop(answers);
    // An unoptimised build hashes few passwords in this time.
    judge.must(
        limited || scene.quick && tried < SPRAYED,
        format_args!("{tried} accounts were tried without a 429"),
    );
    let account = scene.account(&["viewer"]).await?;
    let right = Person::stranger(&scene.base, KEEPER)?.try_sign_in(&account.email, PASSWORD).await?;
    judge.status("a sign-in from another address", right.status, &[200]);
    Ok(())
}

async fn flood(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let account = scene.account(&["viewer"]).await?;
    let began = Instant::now();
    let flooder = Person::stranger(&scene.base, [127, 6, 6, 6].into())?;
    let statuses = RefCell::new(Vec::new());
    let callers = (0..80).map(async |_| {
        while began.elapsed() < scene.pressure {
            let name = format!("{}@example.com", scene.name("flood"));
            let asked = flooder.try_sign_in(&name, "not the password");
            match tokio::time::timeout(Duration::from_secs(30), asked).await {
                Ok(Ok(answer)) => statuses.borrow_mut().push(answer.status),
                // Cut or not answered: the flood's own loss.
                Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    });
    let honest = async {
        let keeper = Person::stranger(&scene.base, KEEPER)?;
        let mut honest = Vec::new();
        for _ in 0..3 {
            tokio::time::sleep(scene.pressure / 4).await;
            honest.push(keeper.try_sign_in(&account.email, PASSWORD).await?.status);
        }
        anyhow::Ok(honest)
    };
    // What is still under way when the time is over is nobody's.
    let flood = tokio::time::timeout(scene.pressure, futures::future::join_all(callers));
    let (_, honest) = tokio::join!(flood, honest);
    for status in statuses.take() {
        judge.status("a made-up account", status, &[401, 429, 503]);
    }
    for status in honest? {
        judge.status("an honest sign-in from another address", status, &[200]);
    }
    Ok(())
}

async fn old_password(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let began = Instant::now();
    let mut round = 0;
    while began.elapsed() < scene.pressure {
        round += 1;
        // A new account: failed sign-ins would slow the same one down.
        let person = scene.user(&["viewer"]).await?;
        // A new network each time, for the same reason.
        let network = u8::try_from(round % 250).unwrap_or_default();
        let stranger = Person::stranger(&scene.base, [127, 2, network, 1].into())?;
        // Sign-ins that have read the old password before the change, and open their session behind it.
        let count = if scene.quick { 3 } else { 6 };
        let sign_ins = (0..count).map(async |number| {
            tokio::time::sleep(Duration::from_millis(number * 18 + round * 5 % 18)).await;
            stranger.try_sign_in(&person.email, PASSWORD).await
        });
        let body = json!({"currentPassword": PASSWORD, "newPassword": "another four wide looms"});
        let change = person.put("/api/auth/password", &body);
        let (opened, changed) = tokio::join!(futures::future::join_all(sign_ins), change);
        let changed = changed?.status;
        judge.status("the change", changed, &[204, 429, 503]);
        for answer in opened {
            let answer = answer?;
            if changed == 204 && answer.status == 200 {
                let token = answer.json()["data"]["token"].as_str().unwrap_or_default().to_owned();
                let now = stranger.bearer(&token)?.get("/api/auth/session").await?.status;
                judge.status("a session opened with the old password", now, &[401]);
            }
        }
        scene.clean().await;
    }
    Ok(())
}

async fn in_use(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let session = Person::stranger(&scene.base, KEEPER)?.sign_in(&scene.owner.email, &scene.password).await?;
    for _ in 0..6 {
        let moved = session.post("/api/test/clock", &json!({"advance": "PT30S"})).await?;
        judge.status("moving the clock in a session in use", moved.status, &[200]);
        judge.status("a session in use", session.get("/api/auth/session").await?.status, &[200]);
    }
    let _ = session.post("/api/test/clock", &json!({"advance": "PT2M"})).await?;
    judge.status("one that was not used", session.get("/api/auth/session").await?.status, &[401]);
    Ok(())
}

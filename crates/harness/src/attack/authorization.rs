//! Attacks on who may do what: denies passed by another spelling or another way, rights that were never had.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::{Value, json};

use super::judge::Judge;
use super::person::{Person, data, id, reasons};
use super::place::Place;
use super::scene::{Rule, Scene};
use super::{Attack, models, rights};

/// Refusals of what is denied: forbidden, not there, or no id at all.
const REFUSED: &[u16] = &[400, 403, 404];

/// The attacks.
pub(super) const ATTACKS: &[Attack] = &[
    Attack {
        name: "deny-by-spelling",
        finding: "C1",
        does: "reads, changes, exports and starts a denied workflow under other spellings of its id",
        after: "each is 400, 403 or 404, and the workflow is as it was",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(spelling(scene, judge)),
    },
    Attack {
        name: "deny-by-run",
        finding: "C1",
        does: "reads and completes through the denied workflow of a run, and through the denied run, in capitals",
        after: "each is 400, 403 or 404, and the task is open",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(run_spelling(scene, judge)),
    },
    Attack {
        name: "deny-people-by-spelling",
        finding: "C1",
        does: "reads a denied user and reads and deletes a denied role in capitals",
        after: "each is 400, 403 or 404, and the role is there",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(people_spelling(scene, judge)),
    },
    Attack {
        name: "stored-selector",
        finding: "C1",
        does: "stores denies whose id has capitals, a space, or is a slug",
        after: "each is 400, or it denies",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(selectors(scene, judge)),
    },
    Attack {
        name: "deny-by-task",
        finding: "M3",
        does: "assigns and lists the task of a denied run, and of a run of a denied workflow",
        after: "assigning is 403, and no list shows it",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(tasks(scene, judge)),
    },
    Attack {
        name: "role-with-grant-self",
        finding: "H4",
        does: "a manager of members takes a role that is granted what they do not have",
        after: "403, and the other workflows stay closed to them",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::role_for_oneself(scene, judge)),
    },
    Attack {
        name: "role-with-grant-other",
        finding: "H4",
        does: "a manager of members makes an account with a role that is granted what they do not have",
        after: "403",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::role_for_another(scene, judge)),
    },
    Attack {
        name: "role-with-deny-dropped",
        finding: "H4",
        does: "drops a role of one's own that something is denied to",
        after: "403, and what is denied stays denied",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::drop_denied_role(scene, judge)),
    },
    Attack {
        name: "own-membership-longer",
        finding: "H4",
        does: "takes the end off one's own membership",
        after: "403, and it ends",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::own_end(scene, judge)),
    },
    Attack {
        name: "reset-of-anothers-owner",
        finding: "M10",
        does: "an administrator resets the password of an account that owns another organisation",
        after: "403, and the old password is good",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::home_reset(scene, judge)),
    },
    Attack {
        name: "kept-answer-of-another",
        finding: "L2",
        does: "asks with another user's idempotency key and body",
        after: "another user's answer is not given",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(kept_answer(scene, judge)),
    },
    Attack {
        name: "owner-locked-out",
        finding: "L5",
        does: "an owner takes a role with the permissions denied that would let them drop it",
        after: "4xx, and the owner still manages members",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::lock_out(scene, judge)),
    },
    Attack {
        name: "narrow-token-changes-owner",
        finding: "L6",
        does: "a token narrowed to managing members changes its owner's address, roles and password",
        after: "each is 403",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(rights::narrow_token(scene, judge)),
    },
    Attack {
        name: "names-that-deceive",
        finding: "L11",
        does: "makes accounts, roles and workflows with invisible and direction-changing characters in their names",
        after: "each is 400",
        place: Place::Common,
        memory: false,
        run: |scene, judge| Box::pin(names(scene, judge)),
    },
    Attack {
        name: "restricted-and-attacked",
        finding: "L10",
        does: "deletes a stolen token and switches an account off while the licence is restricted",
        after: "both are done",
        place: Place::Clock,
        memory: false,
        run: |scene, judge| Box::pin(restricted(scene, judge)),
    },
];

/// Other spellings of an id.
pub(super) fn spellings(id: &str) -> [String; 6] {
    [
        id.to_uppercase(),
        id.replace('-', ""),
        format!("%7B{id}%7D"),
        format!("%20{id}"),
        format!("{id}%20"),
        id.replace('a', "%41"),
    ]
}

async fn spelling(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let denied = scene.publish(&models::task()).await?;
    let user = scene.user(&["owner"]).await?;
    scene.deny(&user, "workflow", &denied).await?;
    judge.status("the id itself", user.get(&format!("/api/workflows/{denied}")).await?.status, &[403]);
    for spelling in spellings(&denied) {
        let path = format!("/api/workflows/{spelling}");
        for read in ["", "/versions", "/export/bpmn", "/runs"] {
            let answer = user.get(&format!("{path}{read}")).await?;
            judge.status(answer.asked, answer.status, REFUSED);
        }
        let renamed = user.patch(&path, &json!({"displayName": "Mine"})).await?;
        judge.status(renamed.asked, renamed.status, REFUSED);
        for deed in ["/runs", "/publish", "/validate"] {
            let answer = user.post(&format!("{path}{deed}"), &json!({})).await?;
            judge.status(answer.asked, answer.status, REFUSED);
        }
    }
    let now = data(scene.owner.get(&format!("/api/workflows/{denied}")).await?)?;
    judge.must(now["displayName"] != "Mine", "the denied workflow was renamed");
    Ok(())
}

async fn run_spelling(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let run = scene.run(&workflow).await?;
    for (kind, on) in [("workflow", &workflow), ("run", &run)] {
        let user = scene.user(&["owner"]).await?;
        scene.deny(&user, kind, on).await?;
        let (big_workflow, big_run) = (workflow.to_uppercase(), run.to_uppercase());
        for (workflow, run) in [(&big_workflow, &run), (&workflow, &big_run), (&big_workflow, &big_run)] {
            let path = format!("/api/workflows/{workflow}/runs/{run}");
            for read in ["", "/events", "/events/stream"] {
                let answer = user.get(&format!("{path}{read}")).await?;
                judge.status(answer.asked, answer.status, REFUSED);
            }
            let done = user.post(&format!("{path}/human-tasks/work/complete"), &json!({})).await?;
            judge.status(done.asked, done.status, REFUSED);
            let decided = json!({"decision": "skip", "nodeId": "work"});
            let decided = user.post(&format!("{path}/decision"), &decided).await?;
            judge.status(decided.asked, decided.status, REFUSED);
        }
    }
    let now = data(scene.owner.get(&format!("/api/workflows/{workflow}/runs/{run}")).await?)?;
    judge.must(now["state"] == "waiting", format_args!("the run is {}", now["state"]));
    Ok(())
}

async fn people_spelling(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let user = scene.user(&["owner"]).await?;
    let other = scene.account(&["viewer"]).await?;
    let role = scene.new_role(&["workflows.view"], json!([])).await?;
    scene.deny(&user, "user", &other.id).await?;
    scene.deny(&user, "role", &role).await?;
    for (method, path) in [
        (Method::GET, format!("/api/users/{}", other.id.to_uppercase())),
        (Method::GET, format!("/api/roles/{}", role.to_uppercase())),
        (Method::DELETE, format!("/api/roles/{}", role.to_uppercase())),
        (Method::DELETE, format!("/api/users/{}", other.id.to_uppercase())),
    ] {
        let answer = user.request(method, &path).send().await?;
        judge.status(answer.asked, answer.status, REFUSED);
    }
    let there = scene.owner.get(&format!("/api/roles/{role}")).await?.status;
    judge.status("the role afterwards", there, &[200]);
    Ok(())
}

async fn selectors(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let user = scene.user(&["owner"]).await?;
    let workflow = scene.publish(&models::task()).await?;
    let path = format!("/api/workflows/{workflow}");
    let slug = data(scene.owner.get(&path).await?)?["slug"].as_str().unwrap_or_default().to_owned();
    for on in [workflow.to_uppercase(), format!(" {workflow}"), format!("{{{workflow}}}"), slug] {
        let rule = Rule {
            kind: "user",
            principal: &user.id,
            effect: "deny",
            resource: "workflow",
            action: "*",
            on: &on,
        };
        let made = scene.rule(&rule).await?;
        judge.status(format_args!("a deny on `{on}`"), made.status, &[201, 400]);
        if made.status == 201 {
            judge.status(
                format_args!("GET with a deny on `{on}`"),
                user.get(&path).await?.status,
                &[403, 404],
            );
            let grant = id(made)?;
            scene.owner.delete(&format!("/api/grants/{grant}")).await?;
        }
    }
    let grants = json!([{"resourceType": "workflow", "action": "*", "effect": "deny",
        "resourceId": workflow.to_uppercase()}]);
    let body = json!({"name": scene.name("role"), "permissions": [], "grants": grants});
    let made = scene.owner.post("/api/roles", &body).await?;
    judge.status("a role's rule in capitals", made.status, &[400]);
    Ok(())
}

async fn tasks(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let workflow = scene.publish(&models::task()).await?;
    let run = scene.run(&workflow).await?;
    let now = data(scene.owner.get(&format!("/api/workflows/{workflow}/runs/{run}")).await?)?;
    let task = now["humanTasks"][0]["id"].as_str().context("no open task")?.to_owned();
    for (kind, on) in [("run", &run), ("workflow", &workflow)] {
        let user = scene.user(&["owner"]).await?;
        scene.deny(&user, kind, on).await?;
        let path = format!("/api/human-tasks/{task}/assign");
        let assigned = user.post(&path, &json!({"assignee": "me"})).await?;
        judge.status(format_args!("assigning with a deny on the {kind}"), assigned.status, &[403]);
        let listed = user.get("/api/human-tasks?limit=200").await?.text();
        judge.must(!listed.contains(&run), format_args!("the work list shows a run whose {kind} is denied"));
    }
    Ok(())
}

async fn kept_answer(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let (one, other) = (scene.user(&["owner"]).await?, scene.user(&["owner"]).await?);
    let key = scene.name("key");
    let body = json!({"name": scene.name("kept"), "permissions": ["workflows.view"]});
    let keyed = |person: &Person| person.with("idempotency-key", &key);
    let first = id(keyed(&one)?.post("/api/roles", &body).await?)?;
    let again = keyed(&one)?.post("/api/roles", &body).await?;
    judge.must(again.header("idempotent-replayed") == "true", "one's own repeat is not the first answer");
    let theirs = keyed(&other)?.post("/api/roles", &body).await?;
    judge.must(
        theirs.header("idempotent-replayed").is_empty() && !theirs.text().contains(&first),
        format_args!("another user gets the first one's answer: {}", theirs.status),
    );
    Ok(())
}

async fn names(scene: &Scene, judge: &mut Judge) -> Result<()> {
    for name in ["adm\u{200b}in", "\u{202e}nimda", "a\u{2066}b", "a\u{feff}b"] {
        let email = format!("{}@example.com", scene.name("deceiver"));
        let user =
            json!({"email": email, "displayName": name, "password": super::person::PASSWORD, "roles": []});
        let role = json!({"name": format!("{name}{}", scene.name("")), "permissions": []});
        let slug = scene.name("named");
        let workflow = json!({"slug": slug, "displayName": name, "description": ""});
        for (path, body) in [("/api/users", user), ("/api/roles", role), ("/api/workflows", workflow)] {
            let made = scene.owner.post(path, &body).await?;
            judge.status(format_args!("POST {path} named {}", name.escape_unicode()), made.status, &[400]);
            if made.status == 201 && path == "/api/users" {
                scene.forget_later(id(made)?);
            }
        }
    }
    Ok(())
}

async fn restricted(scene: &Scene, judge: &mut Judge) -> Result<()> {
    let stolen = data(scene.owner.post("/api/auth/tokens", &json!({"name": "stolen"})).await?)?;
    let account = scene.account(&["owner"]).await?;
    data(scene.owner.post("/api/test/clock", &json!({"advance": "P40D"})).await?)?;
    // The session ended by that.
    let owner = Person::stranger(&scene.base, super::person::KEEPER)?;
    let owner = owner.sign_in(&scene.owner.email, &scene.password).await?;
    let licence = data(owner.get("/api/licence").await?)?["state"].take();
    judge.must(licence == "restricted", format_args!("the licence is {licence}"));
    let token = stolen["record"]["id"].as_str().unwrap_or_default();
    let deleted = owner.delete(&format!("/api/auth/tokens/{token}")).await?;
    judge.status("deleting one's own token", deleted.status, &[204]);
    let off = owner.patch(&format!("/api/users/{}", account.id), &json!({"state": "disabled"})).await?;
    judge.status(format_args!("switching an account off ({:?})", reasons(&off)), off.status, &[200]);
    let started: Value = json!({"slug": "no", "displayName": "No", "description": ""});
    let made = owner.post("/api/workflows", &started).await?.status;
    judge.status("making a workflow meanwhile", made, &[423]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_spelling_is_the_id_itself() {
        let id = "01a20043-0207-72fc-ac6d-e6c4d2099e8c";
        assert!(spellings(id).iter().all(|spelling| spelling != id));
    }
}

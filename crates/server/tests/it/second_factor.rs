//! Second factors: enrolment, sign-in with a code, recovery codes, removal; and the checksums of tokens.

use std::sync::{Arc, RwLock};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use data_encoding::BASE32_NOPAD;
use heddle_connections::ports::KeyStore as _;
use heddle_identity::ports::SessionStore as _;
use heddle_identity::records::ApiToken;
use heddle_kernel::{Timestamp, TokenId, UserId};
use heddle_policy::licence::Claims;
use heddle_store::{Db, Options};
use heddle_store_connections::SqlConnectionStore;
use heddle_store_identity::IdentityStore;
use heddle_testkit::app::PASSWORD;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, Client, TestApp, with_both};
use heddle_usecase::{Journal, sha256_hex};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::licence;

const SIGN_IN: &str = "/api/auth/sign-in";
const TOTP: &str = "/api/auth/totp";

/// An authenticator whose clock goes as the server's.
struct Authenticator {
    secret: Vec<u8>,
    /// Seconds that the server's clock is ahead.
    ahead: u64,
}

impl Authenticator {
    /// Code of so many steps from now.
    fn code(&self, steps: i64) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + self.ahead;
        let step = i64::try_from(now / 30).unwrap() + steps;
        let mut mac = Hmac::<Sha1>::new_from_slice(&self.secret).unwrap();
        mac.update(&step.to_be_bytes());
        let hash: [u8; 20] = mac.finalize().into_bytes().into();
        let at = usize::from(hash[19] & 0x0f);
        let word = u32::from_be_bytes([hash[at] & 0x7f, hash[at + 1], hash[at + 2], hash[at + 3]]);
        format!("{:06}", word % 1_000_000)
    }

    /// Code that fits at no time near now.
    fn wrong(&self) -> String {
        let near: Vec<String> = (-3..=3).map(|steps| self.code(steps)).collect();
        let mut others = (0..10).map(|number| format!("00000{number}"));
        others.find(|code| !near.contains(code)).unwrap()
    }
}

/// Begins and confirms; the authenticator and the recovery codes.
async fn enrol(client: &Client) -> (Authenticator, Vec<String>) {
    let begun = client.post(TOTP, json!({ "password": PASSWORD })).await.expect(200).data();
    let secret = BASE32_NOPAD.decode(begun["secret"].as_str().unwrap().as_bytes()).unwrap();
    let authenticator = Authenticator { secret, ahead: 0 };
    let done = client.post(TOTP, json!({ "code": authenticator.code(0) })).await.expect(200).data();
    let codes = done["recoveryCodes"].as_array().unwrap();
    (authenticator, codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect())
}

/// First half of a sign-in: the ticket.
async fn ticket(app: &TestApp, email: &str) -> String {
    let answer = app.try_sign_in(email, PASSWORD).await.expect(200);
    let data = answer.data();
    assert!(data.get("token").is_none() && answer.headers.get("set-cookie").is_none(), "{data}");
    data["ticket"].as_str().unwrap().to_owned()
}

async fn with_code(client: &Client, ticket: &str, code: &str) -> Answer {
    client.post(SIGN_IN, json!({ "ticket": ticket, "code": code })).await
}

#[tokio::test]
async fn asvs_6_3_3_and_6_5_1_a_sign_in_takes_a_code_that_counts_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let other = app.sign_in("person@example.com", PASSWORD).await;
        let wrong = json!({ "password": "not the password" });
        assert_eq!(person.post(TOTP, wrong).await.refused(400, "wrong")["details"][0]["field"], "password");
        let _ = person.post(TOTP, json!({})).await.refused(400, "required");
        let _ = person.post(TOTP, json!({ "code": "123456" })).await.refused(409, "notBegun");
        let begun = person.post(TOTP, json!({ "password": PASSWORD })).await.expect(200).data();
        assert_eq!((&begun["confirmed"], &begun["recoveryCodes"]), (&json!(false), &Value::Null));
        let text = begun["secret"].as_str().unwrap();
        assert!(begun["otpauthUri"].as_str().unwrap().contains(&format!("secret={text}&")), "{begun}");
        let secret = BASE32_NOPAD.decode(text.as_bytes()).unwrap();
        let mut authenticator = Authenticator { secret, ahead: 0 };
        let refused = person.post(TOTP, json!({ "code": authenticator.wrong() })).await.refused(400, "wrong");
        assert_eq!(refused["details"][0]["field"], "code");
        // What is not confirmed asks for nothing yet.
        let open = app.try_sign_in("person@example.com", PASSWORD).await.expect(200).data();
        assert!(open["token"].is_string(), "{open}");
        let used = authenticator.code(0);
        let done = person.post(TOTP, json!({ "code": used })).await.expect(200).data();
        assert_eq!((&done["confirmed"], &done["secret"]), (&json!(true), &Value::Null));
        assert_eq!(done["recoveryCodes"].as_array().map(Vec::len), Some(10));
        let _ = other.get("/api/auth/session").await.expect(401);
        let own = person.get("/api/auth/session").await.expect(200).data();
        assert_eq!(
            (&own["user"]["secondFactor"], &own["session"]["secondFactor"]),
            (&json!(true), &Value::Null)
        );
        let _ = person.post(TOTP, json!({ "password": PASSWORD })).await.refused(409, "alreadyEnrolled");

        let ticket = ticket(&app, "person@example.com").await;
        let anonymous = app.anonymous();
        let _ = anonymous.bearer(&ticket).get("/api/auth/session").await.expect(401);
        let _ = with_code(&anonymous, &ticket, &used).await.refused(401, "codeRefused");
        let _ = with_code(&anonymous, &ticket, &authenticator.wrong()).await.refused(401, "codeRefused");
        app.advance("PT1M").await;
        authenticator.ahead = 60;
        let code = authenticator.code(0);
        let opened = with_code(&anonymous, &ticket, &code).await.expect(200);
        assert!(opened.header("set-cookie").starts_with("__Host-heddle-session="));
        let data = opened.data();
        assert_eq!(data["session"]["secondFactor"], "totp");
        let _ = anonymous.bearer(data["token"].as_str().unwrap()).get("/api/workflows").await.expect(200);
        let _ = with_code(&anonymous, &ticket, &code).await.refused(401, "codeRefused");
        app.advance("PT5M").await;
        authenticator.ahead = 360;
        let _ = with_code(&anonymous, &ticket, &authenticator.code(0)).await.refused(401, "codeRefused");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_recovery_code_counts_once_and_for_its_account() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, ada) = app.user("ada", &["viewer"]).await;
        let (_, bob) = app.user("bob", &["viewer"]).await;
        let (_, codes_of_ada) = enrol(&ada).await;
        let (bobs, _) = enrol(&bob).await;
        let anonymous = app.anonymous();
        let of_ada = ticket(&app, "ada@example.com").await;
        let of_bob = ticket(&app, "bob@example.com").await;
        let code = &codes_of_ada[0];
        let _ = with_code(&anonymous, &of_bob, code).await.refused(401, "codeRefused");
        let _ = with_code(&anonymous, &of_ada, &bobs.code(1)).await.refused(401, "codeRefused");
        let forged = of_ada.replacen(&of_ada[4..12], "00000000", 1);
        let _ = with_code(&anonymous, &forged, code).await.refused(401, "codeRefused");
        let typed = code.to_uppercase().replace('-', " ");
        let data = with_code(&anonymous, &of_ada, &typed).await.expect(200).data();
        assert_eq!(data["session"]["secondFactor"], "recoveryCode");
        let _ = with_code(&anonymous, &of_ada, code).await.refused(401, "codeRefused");
        let _ = with_code(&anonymous, &of_ada, &codes_of_ada[1]).await.expect(200);
        let _ = with_code(&anonymous, &of_bob, &bobs.code(1)).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_sign_in_is_by_password_or_by_ticket_and_never_by_both() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let anonymous = app.anonymous();
        let full = json!({ "email": "a@example.com", "password": PASSWORD, "ticket": "t", "code": "123456" });
        for (without, field, reason) in [
            (&["ticket", "code", "email"][..], "email", "required"),
            (&["ticket", "code", "password"][..], "password", "required"),
            (&["email", "password", "code"][..], "code", "required"),
            (&["email", "password", "ticket"][..], "ticket", "required"),
            (&["password"][..], "email", "notAllowed"),
            (&["email"][..], "password", "notAllowed"),
        ] {
            let mut body = full.clone();
            for name in without {
                body.as_object_mut().unwrap().remove(*name);
            }
            let refused = anonymous.post(SIGN_IN, body).await.refused(400, reason);
            assert_eq!(refused["details"][0]["field"], field, "{without:?}");
        }
        let organization = json!({ "ticket": "t", "code": "1", "organizationId": app.organization });
        let _ = anonymous.post(SIGN_IN, organization).await.refused(400, "notAllowed");
        app.stop().await;
    });
}

#[tokio::test]
async fn wrong_codes_are_slowed_down_and_the_right_one_is_taken_later() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let (mut authenticator, _) = enrol(&person).await;
        let anonymous = app.anonymous();
        let mut refused = 0;
        // A new ticket gives no new tries.
        let throttled = loop {
            let ticket = ticket(&app, "person@example.com").await;
            let answer = with_code(&anonymous, &ticket, &authenticator.wrong()).await;
            if answer.status == 429 {
                break answer;
            }
            let _ = answer.refused(401, "codeRefused");
            refused += 1;
            assert!(refused < 12, "codes are never slowed down");
        };
        assert!(refused >= 5, "slowed down after {refused}");
        assert!(throttled.header("retry-after").parse::<u64>().unwrap() >= 1);
        let _ = throttled.refused(429, "throttled");
        app.advance("PT16M").await;
        authenticator.ahead = 16 * 60;
        let ticket = ticket(&app, "person@example.com").await;
        let _ = with_code(&anonymous, &ticket, &authenticator.code(0)).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_second_factor_is_removed_by_whoever_proves_it_once_more() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let remove = async |body: Value| person.request("DELETE", TOTP).json(&body).send().await;
        let _ = remove(json!({ "password": PASSWORD })).await.expect(404);
        let (authenticator, codes) = enrol(&person).await;
        let _ = remove(json!({})).await.refused(400, "required");
        let both = json!({ "password": PASSWORD, "code": authenticator.code(1) });
        let _ = remove(both).await.refused(400, "contradiction");
        let _ = remove(json!({ "password": "not the password" })).await.refused(400, "wrong");
        let _ = remove(json!({ "code": authenticator.wrong() })).await.refused(400, "wrong");
        let token = person.post("/api/auth/tokens", json!({ "name": "t" })).await.expect(201).data();
        let by_token = app.anonymous().bearer(token["token"].as_str().unwrap());
        let proof = json!({ "code": authenticator.code(1) });
        let refused = by_token.request("DELETE", TOTP).json(&proof).send().await;
        let _ = refused.refused(403, "sessionRequired");
        let _ = remove(proof.clone()).await.expect(204);
        let _ = remove(proof).await.expect(204);
        let _ = app.sign_in("person@example.com", PASSWORD).await;
        // A new one has new recovery codes.
        let (_, others) = enrol(&person).await;
        let ticket = ticket(&app, "person@example.com").await;
        let _ = with_code(&app.anonymous(), &ticket, &codes[0]).await.refused(401, "codeRefused");
        let _ = with_code(&app.anonymous(), &ticket, &others[0]).await.expect(200);
        let events = app.admin.get("/api/audit-events?action=user.*&limit=200").await.expect(200).data();
        let count = |action: &str| {
            events.as_array().unwrap().iter().filter(|event| event["action"] == action).count()
        };
        assert_eq!((count("user.totp_enrolled"), count("user.totp_removed")), (2, 1), "{events}");
        // Told is that it changed, and nothing of it.
        let change = |action: &str| {
            let found = events.as_array().unwrap().iter().find(|event| event["action"] == action);
            found.unwrap()["details"]["change"].clone()
        };
        let (made, gone) = (change("user.totp_enrolled"), change("user.totp_removed"));
        assert_eq!(made["members"], json!(["secondFactor", "recoveryCodes", "revision"]), "{made}");
        assert_eq!(gone["members"], json!(["secondFactor", "revision"]), "{gone}");
        for told in [&made["after"], &gone["before"]] {
            assert_eq!(told.as_object().map(serde_json::Map::len), Some(1), "{told}");
        }
        let opened =
            app.admin.get("/api/audit-events?action=session.created&limit=1").await.expect(200).data();
        assert_eq!(opened[0]["details"]["change"]["members"], json!(["recoveryCode"]), "{opened}");
        app.stop().await;
    });
}

#[tokio::test]
async fn a_secret_that_was_shown_is_not_shown_again_under_its_key() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let keyed = person.with("idempotency-key", "once");
        let body = json!({ "password": PASSWORD });
        let _ = keyed.post(TOTP, body.clone()).await.expect(200);
        let _ = keyed.post(TOTP, body).await.refused(409, "secretShownOnce");
        app.stop().await;
    });
}

#[tokio::test]
async fn whoever_has_as_many_rights_takes_a_lost_factor_away() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (person_id, person) = app.user("person", &["viewer"]).await;
        let (owner_id, owner) = app.user("owner", &["owner"]).await;
        let (_, administrator) = app.user("administrator", &["administrator"]).await;
        let _ = enrol(&person).await;
        let _ = enrol(&owner).await;
        let path = format!("/api/users/{person_id}");
        let away = json!({ "secondFactor": false });
        let _ = person.patch(&path, away.clone()).await.expect(403);
        let _ = administrator
            .patch(&format!("/api/users/{owner_id}"), away.clone())
            .await
            .refused(403, "exceedsOwnRights");
        let _ = owner
            .patch(&format!("/api/users/{owner_id}"), away.clone())
            .await
            .refused(403, "ownSecondFactor");
        let before = administrator.get(&path).await.expect(200).data();
        assert_eq!(before["secondFactor"], true);
        let after = administrator.patch(&path, away).await.expect(200).data();
        assert_eq!(after["secondFactor"], false);
        assert!(after["revision"].as_i64() > before["revision"].as_i64(), "{after}");
        let _ = person.get("/api/auth/session").await.expect(401);
        let _ = app.sign_in("person@example.com", PASSWORD).await;
        let on = json!({ "secondFactor": true });
        let refused = administrator.patch(&path, on).await.refused(400, "notAllowed");
        assert_eq!(refused["details"][0]["field"], "secondFactor");
        app.stop().await;
    });
}

#[tokio::test]
async fn of_two_sign_ins_with_one_code_at_once_one_gets_in() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let (authenticator, codes) = enrol(&person).await;
        let folder = tempfile::tempdir().unwrap();
        let mut other = None;
        if db.kind() == "postgres" {
            let claims = Claims { limits: [("nodes".to_owned(), 2)].into(), ..licence::from_now(&app) };
            let _ = licence::put(&app.admin, &claims).await.expect(200);
            other = Some(licence::second(&app, db.address(), folder.path()).await.unwrap());
        }
        let here = app.anonymous();
        let there = match &other {
            Some(server) => Client::anonymous(Arc::new(RwLock::new(format!("http://{}", server.address())))),
            None => app.anonymous(),
        };
        let ticket = ticket(&app, "person@example.com").await;
        for code in [authenticator.code(1), codes[0].clone(), codes[1].clone()] {
            let (one, two) =
                tokio::join!(with_code(&here, &ticket, &code), with_code(&there, &ticket, &code));
            let mut statuses = [one.status, two.status];
            statuses.sort_unstable();
            // The other one is refused, or told to wait after it was refused before.
            assert_eq!(statuses[0], 200, "{code}: {} {}", one.text(), two.text());
            assert!([401, 429].contains(&statuses[1]), "{code}: {} {}", one.text(), two.text());
        }
        if let Some(server) = other {
            server.stop().await;
        }
        app.stop().await;
    });
}

/// The database of a server.
async fn opened(app: &TestApp, db: &TestDb) -> Db {
    let address = match db.kind() {
        "postgres" => db.address().to_owned(),
        _ => format!("sqlite:{}", app.data_dir().join("heddle.db").display()),
    };
    Db::open(&address, &Options::default()).await.unwrap()
}

/// The store of a server that was stopped.
async fn stored(app: &TestApp, db: &TestDb) -> IdentityStore {
    IdentityStore::new(opened(app, db).await, Vec::new())
}

#[tokio::test]
async fn nothing_is_sealed_under_a_key_that_was_forgotten() {
    // A file of SQLite is one process's own, so that nobody else forgets its keys.
    let Some(db) = TestDb::postgres().await else { return };
    let mut app = TestApp::start(&db).await;
    let (_, person) = app.user("person", &["viewer"]).await;
    let keys = SqlConnectionStore::new(opened(&app, &db).await);
    let known = keys.key_checks().await.unwrap();
    assert_eq!(known.len(), 1);
    assert_eq!(keys.forget_key(&known[0].key, Timestamp::from_micros(1)).await, Ok(0));
    let _ = person.post(TOTP, json!({ "password": PASSWORD })).await.expect(503);
    app.stop().await;
}

#[tokio::test]
async fn tokens_of_before_go_on_and_are_told_from_those_with_a_checksum() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, person) = app.user("person", &["viewer"]).await;
        let made = person.post("/api/auth/tokens", json!({ "name": "new" })).await.expect(201).data();
        let new = made["token"].as_str().unwrap().to_owned();
        assert!(new.len() == 53 && new[4..].bytes().all(|byte| byte.is_ascii_alphanumeric()), "{new}");
        app.stop().await;
        // As the program before made them: base64url, and six characters of its SHA-256.
        let body = format!("hdk_{}", URL_SAFE_NO_PAD.encode([0xfb_u8; 32]));
        let check = URL_SAFE_NO_PAD.encode(Sha256::digest(body.as_bytes()));
        let before = format!("{body}{}", &check[..6]);
        let user_id: UserId = id.parse().unwrap();
        let row = ApiToken {
            id: TokenId(Uuid::new_v4()),
            user_id,
            tenant: None,
            name: "before".to_owned(),
            token_sha256: sha256_hex(before.as_bytes()),
            hint: before[49..].to_owned(),
            permissions: None,
            checksum: false,
            created_at: Timestamp::from_micros(1_700_000_000_000_000),
            last_used_at: None,
            expires_at: None,
        };
        let store = stored(&app, db).await;
        store.insert_token(&row, &Journal::default()).await.unwrap();
        drop(store);
        app.restart().await;
        let listed = app.anonymous().bearer(&before).get("/api/auth/tokens").await.expect(200).data();
        let told: Vec<_> =
            listed.as_array().unwrap().iter().map(|token| (&token["name"], &token["checksum"])).collect();
        assert_eq!(told, [(&json!("new"), &json!(true)), (&json!("before"), &json!(false))]);
        let _ = app.anonymous().bearer(&new).get("/api/auth/session").await.expect(200);
        let last = if new.ends_with('0') { '1' } else { '0' };
        let mistyped = format!("{}{last}", &new[..52]);
        let _ = app.anonymous().bearer(&mistyped).get("/api/auth/session").await.refused(401, "invalidToken");
        app.stop().await;
    });
}

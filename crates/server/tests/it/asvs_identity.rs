//! Points of the Application Security Verification Standard 5.0 about passwords, sign-in, sessions and tokens. Each test is
//! named after the numbers of its requirements; those about second factors are in `second_factor.rs`.

use std::collections::BTreeSet;

use heddle_identity::ports::SessionStore as _;
use heddle_identity::token::{self, API_TOKEN_PREFIX, SESSION_PREFIX, Token};
use heddle_server::{Config, Durability, Server};
use heddle_store::{Db, Options};
use heddle_store_identity::IdentityStore;
use heddle_testkit::app::PASSWORD;
use heddle_testkit::db::TestDb;
use heddle_testkit::{Client, TestApp, with_both};
use serde_json::json;

/// Makes a user with a password; the answer's status.
async fn made(app: &TestApp, name: &str, password: &str) -> u16 {
    let email = format!("{name}@example.com");
    let body = json!({ "email": email, "displayName": name, "password": password });
    app.admin.post("/api/users", body).await.status
}

#[tokio::test]
async fn asvs_6_2_1_and_6_2_8_and_6_2_9_long_passwords_are_taken_and_compared_byte_by_byte() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        assert_eq!(made(&app, "short", "k7#mQ2x").await, 400);
        let mut longest: String = "Ünïcödé-🧵 ".chars().cycle().take(500).collect();
        while longest.len() < 1024 {
            longest.push('x');
        }
        let ascii = "Four wide looms, and a river under old stones that nobody crosses!".to_owned();
        assert!(ascii.len() >= 64 && longest.len() == 1024);
        for (name, password) in [("ascii", &ascii), ("longest", &longest)] {
            assert_eq!(made(&app, name, password).await, 201, "{name}");
            let email = format!("{name}@example.com");
            let _ = app.try_sign_in(&email, password).await.expect(200);
            let mut cut = password.clone();
            cut.pop();
            let _ = app.try_sign_in(&email, &cut).await.expect(401);
            let _ = app.try_sign_in(&email, &password.to_lowercase()).await.expect(401);
        }
        assert_eq!(made(&app, "beyond", &format!("{longest}x")).await, 400);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_6_2_4_and_6_2_12_common_passwords_are_refused() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        for common in [
            "password1234",
            "P@ssw0rdPassword",
            "letmeinletmein",
            "heddleheddle12",
            "abcdefghijklmn",
            "person@example.com",
        ] {
            let body = json!({ "email": "person@example.com", "displayName": "Person", "password": common });
            let _ = app.admin.post("/api/users", body).await.refused(400, "tooCommon");
        }
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_6_3_1_twenty_wrong_sign_ins_are_slowed_down_and_the_right_one_is_taken_later() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.user("person", &["viewer"]).await;
        // So many that the next one has to wait for a quarter of an hour.
        for _ in 0..20 {
            app.advance("PT15M1S").await;
            let _ = app.try_sign_in("person@example.com", "a guess of somebody").await.expect(401);
        }
        let _ = app.try_sign_in("person@example.com", "a guess of somebody").await.refused(429, "throttled");
        let _ = app.try_sign_in("person@example.com", PASSWORD).await.refused(429, "throttled");
        app.advance("PT16M").await;
        let _ = app.try_sign_in("person@example.com", PASSWORD).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_6_3_2_a_fresh_installation_has_no_account() {
    let data = tempfile::tempdir().unwrap();
    let config = Config {
        data_dir: data.path().join("data"),
        listen: ([127, 0, 0, 1], 0).into(),
        durability: Durability::Process,
        workers: 1,
        ..Config::default()
    };
    let server = Server::start(config).await.unwrap();
    assert!(server.first().administrator.is_none() && server.first().setup_token.is_some());
    let base = std::sync::Arc::new(std::sync::RwLock::new(format!("http://{}", server.address())));
    let anonymous = Client::anonymous(base);
    for (email, password) in
        [("admin@demo.local", "admin"), ("admin", "admin"), ("root", ""), ("admin", "heddle")]
    {
        let body = json!({ "email": email, "password": password });
        let answer = anonymous.post("/api/auth/sign-in", body).await;
        assert!(matches!(answer.status, 400 | 401), "{email}: {}", answer.text());
    }
    server.stop().await;
}

#[tokio::test]
async fn asvs_11_4_2_a_password_is_kept_as_argon2id_of_the_advised_cost() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let _ = app.user("person", &["viewer"]).await;
        app.stop().await;
        let store = stored(&app, db).await;
        let user = store.user_by_email("person@example.com").await.unwrap().unwrap();
        let hash = user.password_hash.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert!(!hash.contains(PASSWORD));
    });
}

/// The store of a server that was stopped.
async fn stored(app: &TestApp, db: &TestDb) -> IdentityStore {
    let address = match db.kind() {
        "postgres" => db.address().to_owned(),
        _ => format!("sqlite:{}", app.data_dir().join("heddle.db").display()),
    };
    IdentityStore::new(Db::open(&address, &Options::default()).await.unwrap(), Vec::new())
}

#[test]
fn asvs_7_2_3_and_11_5_1_tokens_are_random_and_never_repeat() {
    for prefix in [SESSION_PREFIX, API_TOKEN_PREFIX] {
        let tokens: Vec<Token> = (0..50_000).map(|_| Token::random(prefix).unwrap()).collect();
        let secrets: BTreeSet<&str> = tokens.iter().map(|token| &token.expose()[4..47]).collect();
        assert_eq!(secrets.len(), tokens.len());
        assert!(secrets.iter().all(|secret| uuid::Uuid::parse_str(secret).is_err()));
        assert!(tokens.iter().all(|token| token::read(token.expose()).is_some()));
        // Each of 62 letters and digits about as often as the others: 43 of them hold 256 bits.
        let mut counts = [0_u32; 128];
        for letter in secrets.iter().flat_map(|secret| secret.bytes()) {
            counts[usize::from(letter)] += 1;
        }
        let seen: Vec<u32> = counts.into_iter().filter(|count| *count > 0).collect();
        let mean = 50_000 * 43 / 62;
        assert_eq!(seen.len(), 62);
        assert!(seen.iter().all(|count| count.abs_diff(mean) < mean / 10), "{seen:?}");
    }
}

#[tokio::test]
async fn asvs_7_2_4_a_sign_in_gives_a_new_token_and_ends_the_one_that_came_with_it() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, before) = app.user("person", &["viewer"]).await;
        let body = json!({ "email": "person@example.com", "password": PASSWORD });
        let after = before.post("/api/auth/sign-in", body).await.expect(200).data();
        let token = after["token"].as_str().unwrap();
        assert_ne!(token, before.token());
        let _ = before.get("/api/auth/session").await.expect(401);
        let _ = app.anonymous().bearer(token).get("/api/auth/session").await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_7_3_1_an_unused_session_ends() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        app.advance("PT29M").await;
        let _ = person.get("/api/auth/session").await.expect(200);
        app.advance("PT29M").await;
        let _ = person.get("/api/auth/session").await.expect(200);
        app.advance("PT31M").await;
        let _ = person.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_7_3_2_a_session_ends_however_much_it_is_used() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        for _ in 0..24 {
            let _ = person.get("/api/auth/session").await.expect(200);
            app.advance("PT29M").await;
        }
        let _ = person.get("/api/auth/session").await.expect(200);
        app.advance("PT25M").await;
        let _ = person.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_7_4_1_and_7_4_2_and_7_4_3_what_ends_a_session_ends_it_at_once() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (id, one) = app.user("person", &["viewer"]).await;
        let two = app.sign_in("person@example.com", PASSWORD).await;
        let three = app.sign_in("person@example.com", PASSWORD).await;
        let _ = one.post("/api/auth/sign-out", json!({})).await.expect(204);
        let _ = one.get("/api/auth/session").await.expect(401);
        let new = "another four wide looms";
        let body = json!({ "currentPassword": PASSWORD, "newPassword": new });
        let _ = two.put("/api/auth/password", body).await.expect(204);
        let _ = three.get("/api/auth/session").await.expect(401);
        let _ = two.get("/api/auth/session").await.expect(200);
        let off = json!({ "state": "disabled" });
        let _ = app.admin.patch(&format!("/api/users/{id}"), off).await.expect(200);
        let _ = two.get("/api/auth/session").await.expect(401);
        let on = json!({ "state": "active" });
        let _ = app.admin.patch(&format!("/api/users/{id}"), on).await.expect(200);
        let _ = two.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_7_4_5_an_administrator_ends_a_session_of_somebody_else() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let (_, other) = app.user("other", &["viewer"]).await;
        let session = person.get("/api/auth/session").await.expect(200).data();
        let path = format!("/api/auth/sessions/{}", session["session"]["id"].as_str().unwrap());
        let _ = other.delete(&path).await.expect(404);
        let _ = person.get("/api/auth/session").await.expect(200);
        let _ = app.admin.delete(&path).await.expect(204);
        let _ = person.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_3_3_1_to_3_3_4_the_cookie_of_a_session_has_its_attributes() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (email, password) = app.account.clone();
        let answer = app.try_sign_in(&email, &password).await.expect(200);
        let token = answer.data()["token"].as_str().unwrap().to_owned();
        let expected =
            format!("__Host-heddle-session={token}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=43200");
        assert_eq!(answer.header("set-cookie"), expected);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_3_5_1_and_3_5_3_another_site_changes_nothing_with_the_cookie() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let (_, person) = app.user("person", &["viewer"]).await;
        let browser = app.anonymous().cookie(&person.token());
        let body = json!({ "password": PASSWORD });
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
            ("origin", "https://evil.test"),
        ] {
            let foreign = browser.with(name, value);
            let _ = foreign.post("/api/auth/totp", body.clone()).await.refused(403, "csrfRejected");
            let _ =
                foreign.post("/api/auth/tokens", json!({ "name": "x" })).await.refused(403, "csrfRejected");
        }
        assert_eq!(person.get("/api/auth/tokens").await.expect(200).data(), json!([]));
        let own = browser.with("sec-fetch-site", "same-origin");
        let _ = own.post("/api/auth/totp", body).await.expect(200);
        app.stop().await;
    });
}

#[tokio::test]
async fn asvs_14_2_1_a_token_in_the_address_is_none() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let token = app.admin.token();
        for name in ["token", "access_token", "apiKey"] {
            let answer = app.anonymous().get(&format!("/api/workflows?{name}={token}")).await;
            assert_eq!(answer.status, 401, "{name}");
            assert!(!answer.text().contains(&token));
        }
        app.stop().await;
    });
}

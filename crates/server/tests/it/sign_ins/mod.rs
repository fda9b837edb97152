//! Sign-in by a provider: who gets in, with which roles, and what is not believed.

mod provider;

use std::collections::BTreeMap;

use heddle_server::{ClientSecret, OidcSettings, PlaceRules, ProviderRules, SignInProvider};
use heddle_testkit::db::TestDb;
use heddle_testkit::{Answer, Client, TestApp, eventually, with_both};
use serde_json::{Value, json};

use provider::{CLIENT, MockProvider, SECRET, Signature, now};

const START: &str = "/api/auth/oidc/mock/start";
const CALLBACK: &str = "/api/auth/oidc/mock/callback";

fn rules() -> ProviderRules {
    let role = |group: &str, role: &str| (group.to_owned(), vec![role.to_owned()]);
    let place = PlaceRules {
        slug: "demo".to_owned(),
        default_roles: Vec::new(),
        roles: BTreeMap::from([
            role("ops", "operator"),
            role("all", "viewer"),
            role("boss", "administrator"),
        ]),
    };
    ProviderRules {
        name: "mock".to_owned(),
        places: vec![place],
        create_users: true,
        email_domains: vec!["example.com".to_owned()],
        ..ProviderRules::default()
    }
}

async fn app(db: &TestDb, mock: &MockProvider, rules: ProviderRules) -> TestApp {
    let client = OidcSettings {
        name: "mock".to_owned(),
        issuer: mock.issuer(),
        client_id: CLIENT.to_owned(),
        client_secret: Some(ClientSecret::new(SECRET)),
        ..OidcSettings::default()
    };
    let provider = SignInProvider { display_name: "Mock".to_owned(), client, rules };
    TestApp::with(db, |config| {
        config.egress_loopback = true;
        config.sign_in_providers = vec![provider];
    })
    .await
}

/// The cookie of an answer, as a browser sends it back.
fn cookie(answer: &Answer, name: &str) -> Option<String> {
    let all = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let mut own = all.filter(|line| line.starts_with(&format!("{name}=")));
    own.next().map(|line| line.split(';').next().unwrap().to_owned())
}

/// A sign-in that was begun: the browser with its cookie, and the provider's address.
struct Begun {
    browser: Client,
    way: String,
}

async fn begin(app: &TestApp) -> Begun {
    let answer = app.browser().get(&format!("{START}?returnTo=/docs")).await.expect(302);
    let pending = cookie(&answer, "__Host-heddle-oidc").unwrap();
    Begun { browser: app.browser().with("cookie", &pending), way: answer.header("location").to_owned() }
}

/// A whole sign-in with these claims; the answer to the callback.
async fn sign_in(app: &TestApp, mock: &MockProvider, claims: Value, signature: Signature) -> Answer {
    let begun = begin(app).await;
    let query = mock.grant(&begun.way, &claims, signature);
    begun.browser.get(&format!("{CALLBACK}?{query}")).await
}

/// The browser with the session that a sign-in opened.
fn signed_in(app: &TestApp, answer: &Answer) -> Client {
    assert_eq!(answer.status, 302, "{}", answer.text());
    let session = cookie(answer, "__Host-heddle-session").unwrap();
    app.browser().with("cookie", &session)
}

async fn member(app: &TestApp, email: &str) -> Option<Value> {
    let all = app.admin.get("/api/members?limit=200").await.expect(200).data();
    all.as_array().unwrap().iter().find(|one| one["email"] == email).cloned()
}

async fn events(app: &TestApp, action: &str) -> Vec<Value> {
    let path = format!("/api/audit-events?action={action}&limit=200");
    app.admin.get(&path).await.expect(200).data().as_array().cloned().unwrap_or_default()
}

fn roles(session: &Value) -> Vec<&str> {
    session["organizations"][0]["roles"].as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn somebody_new_gets_in_and_their_groups_give_and_take_roles() {
    with_both!(|db| {
        let mock = MockProvider::start().await;
        let mut app = app(db, &mock, rules()).await;
        let answer = sign_in(&app, &mock, json!({ "groups": ["ops", "unknown"] }), Signature::Key(1)).await;
        assert_eq!(answer.header("location"), "/docs");
        let ada = signed_in(&app, &answer);
        let session = ada.get("/api/auth/session").await.expect(200).data();
        assert_eq!(session["user"]["email"], "ada@example.com");
        assert_eq!(session["session"]["authMethod"], "oidc:mock");
        assert_eq!(roles(&session), ["operator"]);
        let first = member(&app, "ada@example.com").await.unwrap();

        // What somebody gives by hand stays; the groups' own comes and goes, on the next request of every session.
        let id = session["user"]["id"].as_str().unwrap().to_owned();
        let body = json!({ "roles": ["operator", "designer"] });
        let _ = app.admin.put(&format!("/api/members/{id}"), body).await.expect(200);
        let again = sign_in(&app, &mock, json!({ "groups": ["all"] }), Signature::Key(1)).await;
        let _ = signed_in(&app, &again);
        let session = ada.get("/api/auth/session").await.expect(200).data();
        assert_eq!(roles(&session), ["designer", "viewer"]);
        let second = member(&app, "ada@example.com").await.unwrap();
        assert!(second["revision"].as_i64() > first["revision"].as_i64(), "{second}");
        assert_eq!(app.admin.get("/api/users?q=ada").await.expect(200).data().as_array().unwrap().len(), 1);

        let linked = events(&app, "user.identity_linked").await;
        assert_eq!((linked.len(), &linked[0]["details"]["change"]["after"]["subject"]), (1, &json!("s-1")));
        let opened = events(&app, "session.created").await;
        let by_provider = |event: &&Value| event["details"]["provider"] == "mock";
        assert_eq!(opened.iter().filter(by_provider).count(), 2);
        let set = events(&app, "member.set").await;
        let change = set.iter().find(|event| event["details"]["removed"] == json!(["operator"])).unwrap();
        assert_eq!(change["details"]["added"], json!(["viewer"]));
        app.stop().await;
    });
}

#[tokio::test]
async fn a_sign_in_comes_back_once_to_its_browser_and_in_time() {
    with_both!(|db| {
        let mock = MockProvider::start().await;
        let mut app = app(db, &mock, rules()).await;
        let claims = json!({ "groups": ["ops"] });
        let begun = begin(&app).await;
        let query = mock.grant(&begun.way, &claims, Signature::Key(1));
        let path = format!("{CALLBACK}?{query}");
        // Without the cookie, and with that of another sign-in: whoever was sent a link signs in as nobody.
        app.browser().get(&path).await.refused(400, "unknownSignIn");
        let other = begin(&app).await;
        other.browser.get(&path).await.refused(400, "unknownSignIn");
        assert_eq!(begun.browser.get(&path).await.status, 302);
        begun.browser.get(&path).await.refused(400, "unknownSignIn");
        assert_eq!(mock.asked("/token"), 1);

        // Two at once: one of them gets in.
        let begun = begin(&app).await;
        let query = mock.grant(&begun.way, &claims, Signature::Key(1));
        let path = format!("{CALLBACK}?{query}");
        let (one, two) = tokio::join!(begun.browser.get(&path), begun.browser.get(&path));
        let mut statuses = [one.status, two.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [302, 400]);

        let late = begin(&app).await;
        let query = mock.grant(&late.way, &claims, Signature::Key(1));
        app.advance("PT11M").await;
        late.browser.get(&format!("{CALLBACK}?{query}")).await.refused(400, "unknownSignIn");
        app.stop().await;
    });
}

#[tokio::test]
async fn what_is_wrong_with_a_call_is_named() {
    let db = TestDb::sqlite().await;
    let mock = MockProvider::start().await;
    let mut app = app(&db, &mock, rules()).await;
    for place in ["//evil.test", "https://evil.test", "/%5Cevil.test", "/a%0d%0ab", "docs"] {
        let answer = app.browser().get(&format!("{START}?returnTo={place}")).await.expect(400);
        assert_eq!(answer.fields(), ["returnTo"], "{place}");
        assert_eq!(cookie(&answer, "__Host-heddle-oidc"), None);
    }
    let _ = app.browser().get("/api/auth/oidc/nobody/start").await.expect(404);
    let _ = app.browser().get("/api/auth/oidc/nobody/callback?state=a&code=b").await.expect(404);
    assert_eq!(app.browser().get(&format!("{CALLBACK}?code=a")).await.expect(400).fields(), ["state"]);
    let twice = app.browser().get(&format!("{CALLBACK}?state=a&state=b&code=a")).await;
    twice.refused(400, "duplicateKey");
    // The name of the host is the browser's own word.
    let answer = app.browser().with("host", "evil.test").get(START).await.expect(400);
    assert_eq!(answer.fields(), ["Host"]);

    let begun = begin(&app).await;
    let state = begun.way.split("state=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    let refused = begun.browser.get(&format!("{CALLBACK}?state={state}&error=access_denied")).await;
    refused.refused(401, "providerRefused");

    // Whoever is led through it in a browser reads a page.
    let page = app.browser().with("accept", "text/html,*/*;q=0.8").get(&format!("{CALLBACK}?code=a")).await;
    assert!(page.status == 400 && page.header("content-type").starts_with("text/html"));
    assert!(page.text().contains("You are not signed in"), "{}", page.text());
    app.stop().await;
}

#[tokio::test]
async fn a_token_that_proves_nothing_opens_nothing() {
    let db = TestDb::sqlite().await;
    let mock = MockProvider::start().await;
    let mut app = app(&db, &mock, rules()).await;
    let good = json!({ "groups": ["ops"] });
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let key = Signature::Key(1);
    for (what, claims, signature) in [
        ("no signature", good.clone(), Signature::None),
        ("a shared secret", good.clone(), Signature::Secret),
        ("another key under the name of the right one", good.clone(), Signature::Forged(9, 1)),
        ("a key that is not published", good.clone(), Signature::Key(9)),
        ("another nonce", with("nonce", json!("another")), key),
        ("no nonce", with("nonce", Value::Null), key),
        ("another audience", with("aud", json!("somebody-else")), key),
        ("an audience too many", with("aud", json!([CLIENT, "somebody-else"])), key),
        ("another party", with("azp", json!("somebody-else")), key),
        ("another issuer", with("iss", json!("https://evil.test")), key),
        ("the end was long ago", with("exp", json!(now() - 3600)), key),
        ("made in the future", with("iat", json!(now() + 3600)), key),
        ("made long ago", with("iat", json!(now() - 3600)), key),
        ("not yet", with("nbf", json!(now() + 3600)), key),
        ("another access token", with("at_hash", json!("AAAAAAAAAAAAAAAAAAAAAA")), key),
    ] {
        let answer = sign_in(&app, &mock, claims, signature).await;
        assert_eq!(answer.status, 401, "{what}: {}", answer.text());
        assert_eq!(cookie(&answer, "__Host-heddle-session"), None, "{what}");
        assert!(!answer.text().contains("evil") && !answer.text().contains(SECRET), "{what}");
    }
    assert_eq!(member(&app, "ada@example.com").await, None);
    let told = eventually("a refusal in the audit trail", async || {
        let path = "/api/installation/audit-events?action=session.refused&limit=200";
        let all = app.admin.get(path).await.expect(200).data();
        all.as_array().unwrap().iter().find(|event| event["details"]["reason"] == "tokenRefused").cloned()
    })
    .await;
    assert_eq!(told["outcome"], "denied");
    // A clock that differs by a little is none that lies.
    let soon = with("iat", json!(now() + 30));
    assert_eq!(sign_in(&app, &mock, soon, key).await.status, 302);
    // The code of another provider goes to no token endpoint of this one.
    let asked = mock.asked("/token");
    let begun = begin(&app).await;
    let query = mock.grant(&begun.way, &good, key);
    let mixed = begun.browser.get(&format!("{CALLBACK}?{query}&iss=https%3A%2F%2Fevil.test")).await;
    mixed.refused(401, "otherIssuer");
    assert_eq!(mock.asked("/token"), asked);
    app.stop().await;
}

#[tokio::test]
async fn a_new_key_is_read_and_made_up_ones_are_not_asked_for_without_end() {
    let db = TestDb::sqlite().await;
    let mock = MockProvider::start().await;
    let mut app = app(&db, &mock, rules()).await;
    let claims = json!({ "groups": ["ops"] });
    assert_eq!(sign_in(&app, &mock, claims.clone(), Signature::Key(1)).await.status, 302);
    mock.publish(&[2]);
    assert_eq!(sign_in(&app, &mock, claims.clone(), Signature::Key(2)).await.status, 302);
    // The old one is no more.
    assert_eq!(sign_in(&app, &mock, claims.clone(), Signature::Key(1)).await.status, 401);
    for _ in 0..10 {
        assert_eq!(sign_in(&app, &mock, claims.clone(), Signature::Key(7)).await.status, 401);
    }
    assert_eq!(mock.asked("/jwks"), 1 + 5);
    assert_eq!(mock.asked("/.well-known/openid-configuration"), 1);
    assert_eq!(sign_in(&app, &mock, claims, Signature::Key(2)).await.status, 302);
    app.stop().await;
}

#[tokio::test]
async fn an_address_opens_no_account_of_somebody_else() {
    with_both!(|db| {
        let mock = MockProvider::start().await;
        let mut app = app(db, &mock, ProviderRules { link_accounts: true, ..rules() }).await;
        let _ = app.user("plain", &["viewer"]).await;
        let _ = app.user("chief", &["administrator"]).await;
        let as_of = |email: &str, sub: &str, verified: bool| json!({ "email": email, "email_verified": verified, "sub": sub, "groups": ["ops"] });
        let key = Signature::Key(1);
        let refused = async |claims: Value, reason: &str| {
            let answer = sign_in(&app, &mock, claims, key).await;
            assert_eq!(cookie(&answer, "__Host-heddle-session"), None);
            answer.refused(401, reason);
        };
        refused(as_of("plain@example.com", "p", false), "emailNotVerified").await;
        refused(as_of("chief@example.com", "c", true), "accountOfAdministrator").await;
        refused(as_of("ada@evil.test", "e", true), "emailDomain").await;
        let linked = sign_in(&app, &mock, as_of("plain@example.com", "p", true), key).await;
        let plain = signed_in(&app, &linked);
        let session = plain.get("/api/auth/session").await.expect(200).data();
        assert_eq!(roles(&session), ["operator", "viewer"]);
        // The address was given to another person.
        refused(as_of("plain@example.com", "p2", true), "accountLinked").await;
        // The person stays who they are whatever their address is.
        let moved = sign_in(&app, &mock, as_of("other@evil.test", "p", false), key).await;
        let again = signed_in(&app, &moved).get("/api/auth/session").await.expect(200).data();
        assert_eq!(again["user"]["id"], session["user"]["id"]);

        let id = session["user"]["id"].as_str().unwrap().to_owned();
        let off = json!({ "state": "disabled" });
        let _ = app.admin.patch(&format!("/api/users/{id}"), off).await.expect(200);
        refused(as_of("plain@example.com", "p", true), "accountDisabled").await;
        let _ = plain.get("/api/auth/session").await.expect(401);
        app.stop().await;
    });
}

#[tokio::test]
async fn an_account_is_unlinked_unless_nobody_could_sign_in_to_it_any_more() {
    with_both!(|db| {
        let mock = MockProvider::start().await;
        let mut app = app(db, &mock, rules()).await;
        let answer = sign_in(&app, &mock, json!({ "groups": ["ops"] }), Signature::Key(1)).await;
        let ada = signed_in(&app, &answer);
        let session = ada.get("/api/auth/session").await.expect(200).data();
        let user = format!("/api/users/{}", session["user"]["id"].as_str().unwrap());
        let link = format!("{user}/providers/mock");
        let (_, viewer) = app.user("viewer", &["viewer"]).await;
        let _ = viewer.delete(&link).await.expect(403);
        let _ = app.admin.delete(&format!("{user}/providers/other")).await.expect(404);
        let _ = app.admin.delete(&link).await.refused(409, "lastWayIn");
        let _ = ada.get("/api/auth/session").await.expect(200);

        let password = json!({ "password": "four wide looms at dusk" });
        let _ = app.admin.patch(&user, password).await.expect(200);
        let answer = sign_in(&app, &mock, json!({ "groups": ["ops"] }), Signature::Key(1)).await;
        let ada = signed_in(&app, &answer);
        let _ = app.admin.delete(&link).await.expect(204);
        let _ = ada.get("/api/auth/session").await.expect(401);
        let _ = app.admin.delete(&link).await.expect(404);
        // What the groups gave stays, and the address alone opens nothing without `link_accounts`.
        assert_eq!(member(&app, "ada@example.com").await.unwrap()["roles"][0]["name"], "operator");
        let again = sign_in(&app, &mock, json!({ "groups": ["all"] }), Signature::Key(1)).await;
        again.refused(401, "accountExists");
        let told = events(&app, "user.identity_unlinked").await;
        assert_eq!((told.len(), &told[0]["details"]["provider"]), (1, &json!("mock")));
        app.stop().await;
    });
}

#[tokio::test]
async fn groups_and_addresses_may_be_told_beside_the_token() {
    let db = TestDb::sqlite().await;
    let mock = MockProvider::start().await;
    let mut app = app(&db, &mock, rules()).await;
    let short = json!({ "email": null, "email_verified": null, "groups": null });
    mock.tell(json!({ "sub": "s-1", "email": "ada@example.com", "email_verified": true, "groups": ["all"] }));
    let answer = sign_in(&app, &mock, short.clone(), Signature::Key(1)).await;
    let session = signed_in(&app, &answer).get("/api/auth/session").await.expect(200).data();
    assert_eq!(roles(&session), ["viewer"]);
    mock.tell(
        json!({ "sub": "s-2", "email": "boss@example.com", "email_verified": true, "groups": ["boss"] }),
    );
    sign_in(&app, &mock, short, Signature::Key(1)).await.refused(401, "tokenRefused");
    app.stop().await;
}

#[tokio::test]
async fn a_provider_that_is_away_is_told_and_stops_nothing_else() {
    let db = TestDb::sqlite().await;
    let mock = MockProvider::start().await;
    let mut app = app(&db, &mock, rules()).await;
    let begun = begin(&app).await;
    let query = mock.grant(&begun.way, &json!({ "groups": ["ops"] }), Signature::Key(1));
    mock.stop();
    let answer = begun.browser.get(&format!("{CALLBACK}?{query}")).await;
    assert!(!answer.header("retry-after").is_empty());
    answer.refused(503, "providerUnavailable");
    let _ = app.admin.get("/api/auth/session").await.expect(200);
    app.stop().await;

    let away = MockProvider::start().await;
    away.stop();
    let second = TestDb::sqlite().await;
    let mut app = self::app(&second, &away, rules()).await;
    app.browser().get(START).await.refused(503, "providerUnavailable");
    let pages = app.browser().get("/docs/swagger-initializer.js").await.expect(200).text();
    assert!(pages.contains(r#"[{"name":"mock","displayName":"Mock"}]"#), "{pages}");
    app.stop().await;
}

//! A provider that says what a test tells it to: also what no real one can be made to say.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ed25519_compact::{KeyPair, Seed};
use heddle_egress::Url;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Id of the service at the provider.
pub(crate) const CLIENT: &str = "heddle";
/// Secret of the service at the provider, which nothing may show.
pub(crate) const SECRET: &str = "canary-secret";

/// Form of the signature of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signature {
    /// By a key of this number, named so.
    Key(u8),
    /// By a key of the first number, under the name of the second.
    Forged(u8, u8),
    /// None, as the header says.
    None,
    /// By the client secret (HS256).
    Secret,
}

/// A code that was given.
struct Grant {
    challenge: String,
    redirect: String,
    claims: Value,
    signature: Signature,
}

#[derive(Default)]
struct State {
    issuer: String,
    keys: Vec<u8>,
    grants: HashMap<String, Grant>,
    user_info: Option<Value>,
    codes: usize,
    asked: Vec<String>,
}

/// A running provider.
pub(crate) struct MockProvider {
    pub(crate) address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn pair(number: u8) -> KeyPair {
    KeyPair::from_seed(Seed::new([number; 32]))
}

fn signed(claims: &Value, signature: Signature) -> String {
    let (algorithm, kid) = match signature {
        Signature::Key(number) | Signature::Forged(_, number) => ("EdDSA", number),
        Signature::None => ("none", 1),
        Signature::Secret => ("HS256", 1),
    };
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = part(&json!({ "alg": algorithm, "typ": "JWT", "kid": format!("key-{kid}") }));
    let text = format!("{header}.{}", part(claims));
    let proof = match signature {
        Signature::Key(number) | Signature::Forged(number, _) => {
            pair(number).sk.sign(text.as_bytes(), None).to_vec()
        }
        Signature::None => Vec::new(),
        Signature::Secret => {
            let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
            mac.update(text.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }
    };
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(proof))
}

impl MockProvider {
    /// Starts a provider with the key 1.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::on(listener)
    }

    fn on(listener: TcpListener) -> Self {
        let address = listener.local_addr().unwrap();
        let issuer = format!("http://{address}");
        let state = Arc::new(Mutex::new(State { issuer, keys: vec![1], ..State::default() }));
        let shared = Arc::clone(&state);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { address, state, task }
    }

    /// The issuer.
    pub(crate) fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Publishes these keys and no others.
    pub(crate) fn publish(&self, keys: &[u8]) {
        self.state.lock().unwrap().keys = keys.to_vec();
    }

    /// Tells this beside the token from now on.
    pub(crate) fn tell(&self, user_info: Value) {
        self.state.lock().unwrap().user_info = Some(user_info);
    }

    /// Number of requests for a path.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.state.lock().unwrap().asked.iter().filter(|one| *one == path).count()
    }

    /// Nobody listens any more.
    pub(crate) fn stop(&self) {
        self.task.abort();
    }

    /// Signs a person in who came to `way`: the query with which their browser goes back. Claims replace the usual ones;
    /// null takes one away.
    pub(crate) fn grant(&self, way: &str, claims: &Value, signature: Signature) -> String {
        let url = Url::parse(way).unwrap();
        let of = |name: &str| {
            let found = url.query_pairs().find(|(known, _)| known == name);
            found.map(|(_, value)| value.into_owned()).unwrap_or_else(|| panic!("no {name} in {way}"))
        };
        assert_eq!((of("response_type"), of("code_challenge_method")), ("code".into(), "S256".into()));
        assert!(of("scope").split(' ').any(|scope| scope == "openid"));
        let mut state = self.state.lock().unwrap();
        let mut told = json!({
            "iss": state.issuer, "aud": CLIENT, "sub": "s-1", "nonce": of("nonce"),
            "iat": now(), "exp": now() + 300,
            "email": "ada@example.com", "email_verified": true, "name": "Ada", "groups": [],
        });
        for (name, value) in claims.as_object().unwrap() {
            match value {
                Value::Null => drop(told.as_object_mut().unwrap().remove(name)),
                value => told[name] = value.clone(),
            }
        }
        state.codes += 1;
        let code = format!("code-{}", state.codes);
        let grant =
            Grant { challenge: of("code_challenge"), redirect: of("redirect_uri"), claims: told, signature };
        state.grants.insert(code.clone(), grant);
        format!("code={code}&state={}&session_state=unknown", of("state"))
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let Ok(read) = stream.read(&mut chunk).await else { return };
        bytes.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = header(head, "content-length").and_then(|value| value.parse::<usize>().ok());
            body.len() >= length.unwrap_or(0)
        });
        if whole {
            break;
        }
        if read == 0 {
            return;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, answer) = answer(&state, &path, head, body);
    let answer = answer.to_string();
    let length = answer.len();
    let whole = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}"
    );
    let _ = stream.write_all(whole.as_bytes()).await;
    let _ = stream.shutdown().await;
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

fn answer(state: &Mutex<State>, path: &str, head: &str, body: &str) -> (u16, Value) {
    let mut state = state.lock().unwrap();
    state.asked.push(path.to_owned());
    let issuer = state.issuer.clone();
    match path {
        "/.well-known/openid-configuration" => (200, description(&issuer)),
        "/jwks" => {
            let key = |number: &u8| {
                json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig",
                    "kid": format!("key-{number}"), "x": URL_SAFE_NO_PAD.encode(*pair(*number).pk) })
            };
            (200, json!({ "keys": state.keys.iter().map(key).collect::<Vec<_>>() }))
        }
        "/token" => token(&mut state, head, body),
        "/userinfo" if header(head, "authorization") == Some("Bearer access") => {
            (200, state.user_info.clone().unwrap_or_else(|| json!({ "sub": "s-1" })))
        }
        _ => (404, json!({})),
    }
}

fn description(issuer: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "jwks_uri": format!("{issuer}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        // It says that it takes anything: what is taken is not its to say.
        "id_token_signing_alg_values_supported": ["EdDSA", "RS256", "HS256", "none"],
        "authorization_response_iss_parameter_supported": false,
    })
}

fn token(state: &mut State, head: &str, body: &str) -> (u16, Value) {
    let basic = format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{SECRET}")));
    if header(head, "authorization") != Some(basic.as_str()) {
        return (401, json!({ "error": "invalid_client" }));
    }
    let url = Url::parse(&format!("http://form/?{body}")).unwrap();
    let of = |name: &str| {
        let found = url.query_pairs().find(|(known, _)| known == name);
        found.map(|(_, value)| value.into_owned()).unwrap_or_default()
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(of("code_verifier").as_bytes()));
    let grant = state.grants.remove(&of("code"));
    let Some(grant) =
        grant.filter(|grant| grant.challenge == challenge && grant.redirect == of("redirect_uri"))
    else {
        return (400, json!({ "error": "invalid_grant" }));
    };
    let token = signed(&grant.claims, grant.signature);
    (200, json!({ "access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": token }))
}

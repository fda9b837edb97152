//! A caller of the API: an account, signed in or not, from an address.

#![expect(
    clippy::indexing_slicing,
    reason = "members of JSON: an absent one reads as null, and a runner says what it found"
)]

use std::net::{IpAddr, Ipv4Addr};

use anyhow::{Context as _, Result};
use heddle_harness_kit::http::{Answer, Base, Caller, Request};
use reqwest::Method;
use serde_json::{Value, json};

/// Address of the honest organisation.
pub(crate) const HONEST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Address of those who attack.
pub(crate) const ATTACKER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 7, 7, 7));
/// Address of those who prepare an attack and look at what became of it.
pub(crate) const KEEPER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 5, 5, 5));
/// Password of every account that is made.
pub(crate) const PASSWORD: &str = "four wide looms at night";

/// Somebody who calls.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    /// Id of the account; empty for a stranger.
    pub id: String,
    /// Address of the account; empty for a stranger.
    pub email: String,
    caller: Caller,
}

impl Person {
    /// Somebody who is not signed in.
    pub(crate) fn stranger(base: &Base, address: IpAddr) -> Result<Self> {
        let caller = Caller::from_address(base.clone(), address, true)?
            .with("accept", "application/json, */*;q=0.1")?;
        Ok(Self { id: String::new(), email: String::new(), caller })
    }

    /// Signs in from the same address.
    pub(crate) async fn sign_in(&self, email: &str, password: &str) -> Result<Self> {
        let answer = self.try_sign_in(email, password).await?;
        let data = data(answer)?;
        let token = data["token"].as_str().context("sign-in gave no token")?;
        let mut person = self.bearer(token)?;
        person.id = data["user"]["id"].as_str().unwrap_or_default().to_owned();
        email.clone_into(&mut person.email);
        Ok(person)
    }

    /// Tries to sign in.
    pub(crate) async fn try_sign_in(&self, email: &str, password: &str) -> Result<Answer> {
        self.post("/api/auth/sign-in", &json!({"email": email, "password": password})).await
    }

    /// The same account with a token.
    pub(crate) fn bearer(&self, token: &str) -> Result<Self> {
        self.with("authorization", &format!("Bearer {token}"))
    }

    /// Somebody at the same address with an account, not signed in.
    pub(crate) fn named(&self, id: String, email: String) -> Self {
        Self { id, email, caller: self.caller.clone() }
    }

    /// The same account in an organisation.
    pub(crate) fn within(&self, organization: &str) -> Result<Self> {
        self.with("x-organization-id", organization)
    }

    /// The same account with one more header on every request.
    pub(crate) fn with(&self, name: &str, value: &str) -> Result<Self> {
        Ok(Self { caller: self.caller.with(name, value)?, ..self.clone() })
    }

    /// The token in use; empty without one.
    pub(crate) fn token(&self) -> &str {
        self.caller.header("authorization").trim_start_matches("Bearer ")
    }

    /// The same caller for those who know no persons.
    pub(crate) const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// `host:port` of the server.
    pub(crate) fn host(&self) -> String {
        self.caller.address().trim_start_matches("http://").to_owned()
    }

    /// Begins a request.
    pub(crate) fn request(&self, method: Method, path: &str) -> Request {
        self.caller.request(&method, path)
    }

    /// GET.
    pub(crate) async fn get(&self, path: &str) -> Result<Answer> {
        self.request(Method::GET, path).send().await
    }

    /// POST with a JSON body.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.request(Method::POST, path).json(body).send().await
    }

    /// PUT with a JSON body.
    pub(crate) async fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.request(Method::PUT, path).json(body).send().await
    }

    /// PATCH with a JSON body.
    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Result<Answer> {
        self.request(Method::PATCH, path).json(body).send().await
    }

    /// DELETE.
    pub(crate) async fn delete(&self, path: &str) -> Result<Answer> {
        self.request(Method::DELETE, path).send().await
    }
}

/// `data` of a good answer, else an error that tells the refusal.
pub(crate) fn data(answer: Answer) -> Result<Value> {
    if !(200..300).contains(&answer.status) {
        let text: String = answer.text().chars().take(400).collect();
        anyhow::bail!("{}: {} {text}", answer.asked, answer.status);
    }
    Ok(answer.json()["data"].take())
}

/// The id of what a good answer gives.
pub(crate) fn id(answer: Answer) -> Result<String> {
    let asked = answer.asked.clone();
    let data = data(answer)?;
    data["id"].as_str().map(str::to_owned).with_context(|| format!("{asked}: no id"))
}

/// The reasons that a refusal gives.
pub(crate) fn reasons(answer: &Answer) -> Vec<String> {
    let body = answer.json();
    let details = body["error"]["details"].as_array().cloned().unwrap_or_default();
    details.iter().filter_map(|detail| detail["reason"].as_str().map(str::to_owned)).collect()
}

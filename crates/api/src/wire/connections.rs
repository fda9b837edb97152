//! Connections to services outside. What is secret is only ever read here, never written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use heddle_kernel::{ConnectionId, Patch, Timestamp};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::envelope::{Instant, JsonObject};
use crate::contract::{json_bodies, path_params};

words! {
    /// Type of a connection.
    enum ConnectionType {
        /// A service that speaks HTTP.
        Http = "http",
        /// A mail server.
        Smtp = "smtp",
        /// A PostgreSQL database.
        Postgresql = "postgresql",
        /// A store of objects that speaks as Amazon S3 does.
        S3 = "s3",
        /// A receiver of webhooks.
        Webhook = "webhook",
    }

    /// Phase of a try that was reached: the one that failed, or the last one.
    enum TestPhase {
        /// The name is looked up.
        Dns = "dns",
        /// The connection is made.
        Connect = "connect",
        /// TLS is agreed upon, and the certificate checked.
        Tls = "tls",
        /// The credentials are shown.
        Auth = "auth",
        /// The request is made.
        Request = "request",
    }
}

path_params! {
    /// Path of a connection.
    ConnectionPath { connection_id "id": ConnectionId }
}

/// A secret that a caller sends. It shows itself to nobody but the use case.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// The secret, for the use case that seals it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(..)")
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl PartialSchema for SecretText {
    fn schema() -> RefOr<Schema> {
        String::schema()
    }
}

impl ToSchema for SecretText {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("SecretText")
    }
}

response! {
    /// Description of a secret, which itself is never shown.
    struct SecretState {
        /// Whether there is one.
        configured: bool,
        /// Instant at which it was last set; null when there is none.
        #[schema(required = true, value_type = Option<Instant>)]
        updated_at: Option<Timestamp>,
        /// Last characters of it, by which people tell it from another one; null when it has fewer than 16.
        #[schema(required = true)]
        hint: Option<String>,
    }

    /// Result of a try.
    struct ConnectionTest {
        /// Whether the service was reached and let us in.
        ok: bool,
        /// Phase that failed; of a success the last one.
        phase: TestPhase,
        /// Time that it took in milliseconds.
        #[schema(minimum = 0)]
        latency_ms: u64,
        /// Outcome, in words; it holds nothing that the service answered, and no secret.
        message: String,
        /// Instant of the try.
        #[schema(value_type = Instant)]
        tested_at: Timestamp,
    }

    /// A connection to a service outside.
    struct Connection {
        /// Stable identifier.
        id: String,
        /// Unique name within the organisation.
        name: String,
        /// Type; it can't be changed.
        #[serde(rename = "type")]
        kind: ConnectionType,
        /// Description; null when none was given.
        #[schema(required = true)]
        description: Option<String>,
        /// Labels of the organisation's own.
        labels: BTreeMap<String, String>,
        /// Settings, by the type's `configSchema`.
        #[schema(value_type = Object)]
        config: JsonObject,
        /// Description of each secret, by its name.
        secrets: BTreeMap<String, SecretState>,
        /// Grows with every change; the `ETag`.
        #[schema(minimum = 1)]
        revision: i64,
        /// The last try; null when it was never tried.
        #[schema(required = true)]
        last_test: Option<ConnectionTest>,
        /// Instant of creation.
        #[schema(value_type = Instant)]
        created_at: Timestamp,
        /// User who created it.
        created_by: String,
        /// Instant of the last change.
        #[schema(value_type = Instant)]
        updated_at: Timestamp,
        /// User who last changed it.
        updated_by: String,
    }

    /// A connection to pick.
    struct ConnectionOption {
        /// Stable identifier.
        id: String,
        /// Name.
        name: String,
        /// Type.
        #[serde(rename = "type")]
        kind: ConnectionType,
        /// Description; null when none was given.
        #[schema(required = true)]
        description: Option<String>,
    }

    /// A type of connections.
    struct ConnectionTypeDescription {
        /// The type.
        #[serde(rename = "type")]
        kind: ConnectionType,
        /// Name for people.
        title: String,
        /// Description of a connection of the type and of its test.
        description: String,
        /// JSON Schema (draft 2020-12) of `config`.
        #[schema(value_type = Object)]
        config_schema: Value,
        /// JSON Schema (draft 2020-12) of `secrets`.
        #[schema(value_type = Object)]
        secrets_schema: Value,
    }

    /// Connections to pick from, and the types that there are.
    struct ConnectionOptions {
        /// Connections that the caller may read, by name.
        connections: Vec<ConnectionOption>,
        /// The `cursor` of the next ones; null at the end.
        #[schema(required = true)]
        next_cursor: Option<String>,
        /// Every type.
        types: Vec<ConnectionTypeDescription>,
    }
}

request! {
    /// A new connection.
    #[schema(examples(json!({"name": "orders", "type": "http",
        "config": {"baseUrl": "https://orders.example.com", "authentication": "bearer"},
        "secrets": {"token": "the token that the service gave"}})))]
    struct CreateConnection {
        /// Unique name within the organisation.
        #[schema(min_length = 1, max_length = 200)]
        name: String,
        /// Type.
        #[serde(rename = "type")]
        kind: ConnectionType,
        /// Description; none when absent or null.
        #[schema(max_length = 1000)]
        description: Option<String>,
        /// Labels of the organisation's own; none when absent.
        #[schema(nullable = false)]
        labels: Option<BTreeMap<String, String>>,
        /// Settings, by the type's `configSchema`.
        #[schema(value_type = Object)]
        config: JsonObject,
        /// Secrets by their names, by the type's `secretsSchema`; none when absent.
        #[schema(nullable = false, value_type = Option<BTreeMap<String, String>>)]
        secrets: Option<BTreeMap<String, SecretText>>,
    }

    /// Changes of a connection; absent members stay.
    #[schema(examples(json!({"description": "The orders of the shop"})))]
    struct PatchConnection {
        /// Unique name within the organisation.
        #[schema(nullable = false, min_length = 1, max_length = 200)]
        name: Option<String>,
        /// Description; null takes it away.
        #[serde(default)]
        #[schema(value_type = Option<String>, max_length = 1000)]
        description: Patch<String>,
        /// Labels, all of them; null takes them away.
        #[serde(default)]
        #[schema(value_type = Option<BTreeMap<String, String>>)]
        labels: Patch<BTreeMap<String, String>>,
        /// Changes of the settings: absent members stay, null takes one away. Where the connection leads to and as whom it
        /// goes there changes only together with every secret.
        #[schema(nullable = false, required = false, value_type = Object)]
        config: Option<JsonObject>,
        /// Changes of the secrets: absent ones stay, null takes one away, a text replaces it.
        #[schema(nullable = false, required = false, value_type = Option<BTreeMap<String, Option<String>>>)]
        secrets: Option<BTreeMap<String, Option<SecretText>>>,
        /// The revision that the change is made to.
        #[schema(nullable = false, minimum = 1)]
        revision: Option<i64>,
    }

    /// Which connections.
    struct ConnectionListQuery {
        /// The most rows of the page.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `page.nextCursor` of the page before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names or descriptions must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those of this type.
        #[serde(rename = "type")]
        kind: Option<ConnectionType>,
    }

    /// Which connections to pick from.
    struct ConnectionOptionsQuery {
        /// The most connections.
        #[schema(minimum = 1, maximum = 200, default = 50)]
        limit: Option<u32>,
        /// `nextCursor` of the answer before.
        #[schema(min_length = 1, max_length = 1024)]
        cursor: Option<String>,
        /// Text that names or descriptions must contain; case is ignored.
        #[schema(min_length = 1, max_length = 200)]
        q: Option<String>,
        /// Only those of this type, and this type alone.
        #[serde(rename = "type")]
        kind: Option<ConnectionType>,
    }
}

json_bodies!(CreateConnection, PatchConnection);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_does_not_show_itself() {
        let body = r#"{"name": "n", "type": "http", "config": {}, "secrets": {"token": "canary"}}"#;
        let body: CreateConnection = serde_json::from_str(body).unwrap();
        assert!(!format!("{body:?}").contains("canary"), "{body:?}");
        let secrets = body.secrets.unwrap();
        assert_eq!(secrets.get("token").map(SecretText::expose), Some("canary"));
    }
}

//! Types of connections: what each is configured by, which secrets it has, its JSON Schemas and its checks. One table says
//! it all; schema and check are made from it.

mod check;
mod form;
mod schema;
mod table;

use heddle_kernel::literals;
use serde_json::{Map, Value};

use crate::Problems;
use crate::secret::Secret;

pub(crate) use form::is_plain;
pub use form::{SIGNING_PREFIX, signing_key};

literals! {
    /// Type of a connection.
    pub enum ConnectionKind {
        /// HTTP service.
        Http = "http",
        /// Mail server.
        Smtp = "smtp",
        /// PostgreSQL database.
        Postgresql = "postgresql",
        /// S3 bucket.
        S3 = "s3",
        /// Receiver of webhooks.
        Webhook = "webhook",
    }
}

/// A type of connections.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionType {
    /// The type's word.
    pub kind: ConnectionKind,
    /// Name for people.
    pub title: &'static str,
    /// Purpose of such a connection, and what its test does.
    pub description: &'static str,
    /// Members of the configuration.
    pub config: &'static [Field],
    /// The secrets.
    pub secrets: &'static [SecretField],
}

/// A member of a configuration.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Name of the member.
    pub name: &'static str,
    /// Meaning of the member.
    pub description: &'static str,
    /// Form of its value.
    pub shape: Shape,
    /// Condition on which it must and may be there.
    pub need: Need,
    /// Value that holds where it is left out.
    pub preset: Option<Preset>,
    /// Whether it says to whom secrets go: it changes only with all secrets sent again.
    pub target: bool,
}

/// A secret of a type.
#[derive(Debug, Clone, Copy)]
pub struct SecretField {
    /// Name of the secret.
    pub name: &'static str,
    /// Meaning of the secret.
    pub description: &'static str,
    /// Condition on which it must and may be there.
    pub need: Need,
    /// Form of the secret.
    pub form: SecretForm,
}

/// Form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A line of 1 to so many characters.
    Line(usize),
    /// A token: a line of visible ASCII without spaces, of 1 to so many characters.
    Token(usize),
    /// The name of a header that a caller may choose.
    Header,
    /// An address http or https; `query` says whether it may have a path with a query.
    Url {
        /// Whether a query is taken.
        query: bool,
    },
    /// An address http or https without a path.
    Origin,
    /// A path that begins with one `/`.
    Path,
    /// A host: a name or an address.
    Host,
    /// A port.
    Port,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Up to so many tokens.
    Tokens(usize),
    /// Certificates in PEM.
    Certificates,
    /// An address of mail.
    Mailbox,
}

/// Condition on which a member must and may be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always.
    Always,
    /// Never: it may be left out.
    Optional,
    /// Whenever another member is one of these words, and not otherwise.
    With(&'static str, &'static [&'static str]),
    /// Never; it may be there when another member is one of these words, and not otherwise.
    MayWith(&'static str, &'static [&'static str]),
    /// Whenever another member is there, and not otherwise.
    Beside(&'static str),
}

/// Value that holds where a member is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// A text.
    Text(&'static str),
    /// A port.
    Port(u16),
}

impl Preset {
    /// The text, if it is one.
    #[must_use]
    pub const fn text(self) -> Option<&'static str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Port(_) => None,
        }
    }

    /// The port, if it is one.
    #[must_use]
    pub const fn port(self) -> Option<u16> {
        match self {
            Self::Text(_) => None,
            Self::Port(port) => Some(port),
        }
    }
}

/// Form of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretForm {
    /// A text of 1 to 8,192 bytes without control characters.
    Text,
    /// A key of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
    SigningKey,
}

impl ConnectionType {
    /// Every type, in the order of their words' table.
    pub const ALL: &'static [Self] = table::TYPES;

    /// The type of a word.
    #[must_use]
    pub const fn of(kind: ConnectionKind) -> &'static Self {
        match kind {
            ConnectionKind::Http => &table::HTTP,
            ConnectionKind::Smtp => &table::SMTP,
            ConnectionKind::Postgresql => &table::POSTGRESQL,
            ConnectionKind::S3 => &table::S3,
            ConnectionKind::Webhook => &table::WEBHOOK,
        }
    }

    /// A member of the configuration.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.config.iter().find(|field| field.name == name)
    }

    /// A secret.
    #[must_use]
    pub fn secret(&self, name: &str) -> Option<&'static SecretField> {
        self.secrets.iter().find(|secret| secret.name == name)
    }

    /// JSON Schema (draft 2020-12) of the configuration.
    #[must_use]
    pub fn config_schema(&self) -> Value {
        schema::of_config(self)
    }

    /// JSON Schema (draft 2020-12) of the secrets as they are sent with a new connection.
    #[must_use]
    pub fn secrets_schema(&self) -> Value {
        schema::of_secrets(self)
    }

    /// Adds what is wrong with a configuration, below `config`.
    pub(crate) fn check_config(&self, problems: &mut Problems, config: &Map<String, Value>) {
        check::config(self, problems, config);
    }

    /// Adds what is wrong with the form of a secret that was sent, at `secrets.<name>`.
    pub(crate) fn check_secret(&self, problems: &mut Problems, name: &str, secret: &Secret) {
        check::secret(self, problems, name, secret);
    }

    /// Adds what is wrong with which secrets are there, below `secrets`.
    pub(crate) fn check_secrets<'a>(
        &self,
        problems: &mut Problems,
        config: &Map<String, Value>,
        there: impl Iterator<Item = &'a str> + Clone,
    ) {
        check::secrets(self, problems, config, there);
    }

    /// Members of the configuration that say to whom secrets go and differ.
    pub(crate) fn targets_changed(
        &self,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
    ) -> Vec<&'static str> {
        let effective = |config: &Map<String, Value>, field: &Field| {
            config.get(field.name).cloned().or_else(|| field.preset.map(schema::preset))
        };
        let targets = self.config.iter().filter(|field| field.target);
        targets
            .filter(|field| effective(before, field) != effective(after, field))
            .map(|field| field.name)
            .collect()
    }
}

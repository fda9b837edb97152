//! The table of types.

use super::{ConnectionKind, ConnectionType, Field, Need, Preset, SecretField, SecretForm, Shape};

pub(super) const TYPES: &[ConnectionType] = &[HTTP, SMTP, POSTGRESQL, S3, WEBHOOK];

/// A member that says to whom secrets go.
const fn target(name: &'static str, shape: Shape, need: Need, description: &'static str) -> Field {
    Field { name, description, shape, need, preset: None, target: true }
}

/// A member that says nothing of it.
const fn plain(name: &'static str, shape: Shape, need: Need, description: &'static str) -> Field {
    Field { name, description, shape, need, preset: None, target: false }
}

impl Field {
    /// The same with what holds where it is left out.
    const fn or(mut self, preset: Preset) -> Self {
        self.preset = Some(preset);
        self
    }
}

const fn secret(name: &'static str, need: Need, description: &'static str) -> SecretField {
    SecretField { name, description, need, form: SecretForm::Text }
}

// Whoever names the authority decides who can stand between: that is a target, too.
const CERTIFICATES: Field = target(
    "certificateAuthority",
    Shape::Certificates,
    Need::Optional,
    "Certificates (PEM) of authorities that are trusted beside the usual ones, for connections with TLS.",
);

const BASIC: &[&str] = &["basic"];
const BEARER: &[&str] = &["bearer"];
const HEADER: &[&str] = &["header"];
const OAUTH2: &[&str] = &["oauth2ClientCredentials"];

pub(super) const HTTP: ConnectionType = ConnectionType {
    kind: ConnectionKind::Http,
    title: "HTTP service",
    description: "A service that speaks HTTP. The test asks for the test path by GET with the authentication; a status \
                  below 400 is good.",
    config: &[
        target("baseUrl", Shape::Url { query: false }, Need::Always, "Address to which paths are added."),
        plain(
            "authentication",
            Shape::Word(&["none", "basic", "bearer", "header", "oauth2ClientCredentials"]),
            Need::Optional,
            "How the service is told who calls.",
        )
        .or(Preset::Text("none")),
        target(
            "username",
            Shape::Line(200),
            Need::With("authentication", BASIC),
            "User of basic authentication (RFC 7617): without a colon.",
        ),
        plain(
            "headerName",
            Shape::Header,
            Need::With("authentication", HEADER),
            "Name of the header that carries the secret.",
        ),
        target(
            "tokenUrl",
            Shape::Url { query: true },
            Need::With("authentication", OAUTH2),
            "Token endpoint of the authorization server (RFC 6749, 4.4).",
        ),
        target(
            "clientId",
            Shape::Line(500),
            Need::With("authentication", OAUTH2),
            "Client at the authorization server.",
        ),
        plain(
            "clientAuthentication",
            Shape::Word(&["basic", "post"]),
            Need::MayWith("authentication", OAUTH2),
            "Where the client's secret stands: in the header (`basic`) or in the body (`post`) (RFC 6749, 2.3.1).",
        )
        .or(Preset::Text("basic")),
        plain(
            "scopes",
            Shape::Tokens(50),
            Need::MayWith("authentication", OAUTH2),
            "Scopes that the token is asked for.",
        ),
        plain(
            "audience",
            Shape::Line(500),
            Need::MayWith("authentication", OAUTH2),
            "Audience that the token is asked for, where the authorization server wants one.",
        ),
        plain("testPath", Shape::Path, Need::Optional, "Path below the address that the test asks for.")
            .or(Preset::Text("/")),
        CERTIFICATES,
    ],
    secrets: &[
        secret("password", Need::With("authentication", BASIC), "Password of basic authentication."),
        secret("token", Need::With("authentication", BEARER), "Bearer token (RFC 6750)."),
        secret("headerValue", Need::With("authentication", HEADER), "Value of the header."),
        secret("clientSecret", Need::With("authentication", OAUTH2), "Secret of the client."),
    ],
};

pub(super) const SMTP: ConnectionType = ConnectionType {
    kind: ConnectionKind::Smtp,
    title: "Mail server",
    description: "A server that takes mail (RFC 5321). The test greets it, agrees on TLS and signs in; nothing is sent.",
    config: &[
        target("host", Shape::Host, Need::Always, "Host of the server."),
        target("port", Shape::Port, Need::Optional, "Port of the server.").or(Preset::Port(587)),
        target(
            "security",
            Shape::Word(&["starttls", "tls", "none"]),
            Need::Optional,
            "TLS after the greeting (`starttls`), from the first byte (`tls`), or none; a user signs in over TLS alone.",
        )
        .or(Preset::Text("starttls")),
        target("username", Shape::Line(320), Need::Optional, "User who signs in; left out: nobody does."),
        plain("from", Shape::Mailbox, Need::Optional, "Sender of messages that name none."),
        CERTIFICATES,
    ],
    secrets: &[secret("password", Need::Beside("username"), "Password of the user.")],
};

pub(super) const POSTGRESQL: ConnectionType = ConnectionType {
    kind: ConnectionKind::Postgresql,
    title: "PostgreSQL database",
    description: "A database. The test signs in and asks it for `SELECT 1`.",
    config: &[
        target("host", Shape::Host, Need::Always, "Host of the database."),
        target("port", Shape::Port, Need::Optional, "Port of the database.").or(Preset::Port(5432)),
        plain("database", Shape::Line(63), Need::Always, "Name of the database."),
        target("username", Shape::Line(63), Need::Always, "User who signs in."),
        target(
            "tls",
            Shape::Word(&["verifyFull", "disable"]),
            Need::Optional,
            "TLS with the server's certificate and name checked, or none.",
        )
        .or(Preset::Text("verifyFull")),
        CERTIFICATES,
    ],
    secrets: &[secret("password", Need::Optional, "Password of the user, where the database asks for one.")],
};

pub(super) const S3: ConnectionType = ConnectionType {
    kind: ConnectionKind::S3,
    title: "S3 bucket",
    description: "A bucket of a service that speaks S3. The test asks for the bucket (HeadBucket), signed with AWS \
                  Signature Version 4.",
    config: &[
        target("endpoint", Shape::Origin, Need::Always, "Address of the service, without the bucket."),
        plain("region", Shape::Token(64), Need::Always, "Region that signatures name."),
        target("bucket", Shape::Token(63), Need::Always, "Name of the bucket."),
        target("accessKeyId", Shape::Token(128), Need::Always, "Id of the access key."),
        target(
            "addressing",
            Shape::Word(&["path", "virtualHost"]),
            Need::Optional,
            "Whether the bucket stands in the path or before the host.",
        )
        .or(Preset::Text("path")),
        CERTIFICATES,
    ],
    secrets: &[
        secret("secretAccessKey", Need::Always, "The access key's secret."),
        secret("sessionToken", Need::Optional, "Token of temporary credentials."),
    ],
};

pub(super) const WEBHOOK: ConnectionType = ConnectionType {
    kind: ConnectionKind::Webhook,
    title: "Receiver of webhooks",
    description: "A receiver of events, signed as Standard Webhooks says. The test sends a signed `ping`; a status from \
                  200 to 299 is good.",
    config: &[
        target("url", Shape::Url { query: true }, Need::Always, "Address to which events are posted."),
        CERTIFICATES,
    ],
    secrets: &[
        SecretField {
            name: "signingSecret",
            description: "Key of the signatures.",
            need: Need::Always,
            form: SecretForm::SigningKey,
        },
        SecretField {
            name: "previousSigningSecret",
            description: "The key of before, while receivers change to the new one: messages are signed with both.",
            need: Need::Optional,
            form: SecretForm::SigningKey,
        },
    ],
};

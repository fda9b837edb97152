//! `heddle connection` and `heddle key`.

use clap::{Args, Subcommand};

use super::Place;

/// `heddle connection`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConnectionCommand {
    /// List connections by name, with how their last test ended.
    List(ListConnections),
    /// Test a connection now: whether its service is reached and lets us in.
    Test(TestConnection),
}

/// `heddle connection list`.
#[derive(Debug, Args)]
pub(crate) struct ListConnections {
    /// Only those of this type: http, smtp, postgresql, s3 or webhook.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Only those whose name or description has this text in it.
    #[arg(short, long, value_name = "TEXT")]
    pub query: Option<String>,
    /// The most to list.
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    pub limit: usize,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle connection test`.
#[derive(Debug, Args)]
pub(crate) struct TestConnection {
    /// The connection, by its name or id.
    pub connection: String,
    /// The place.
    #[command(flatten)]
    pub place: Place,
}

/// `heddle key`.
#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a new key and wrap every secret's own key with it, also while a server runs.
    Rotate(RotateKey),
    /// List the keys of the keyring, with the number of secrets that are sealed under each.
    List,
    /// Take an earlier key from the keyring, which is refused while anything is sealed under it. A backup of before needs
    /// the key: keep the keyring that was backed up with it.
    Forget(ForgetKey),
}

/// `heddle key forget`.
#[derive(Debug, Args)]
pub(crate) struct ForgetKey {
    /// Id of the key, as `heddle key list` tells it.
    #[arg(value_name = "KEYID")]
    pub key: String,
}

/// `heddle key rotate`.
#[derive(Debug, Args)]
pub(crate) struct RotateKey {
    /// Go on with a rotation that was broken off: make no new key.
    #[arg(long = "continue")]
    pub resume: bool,
}

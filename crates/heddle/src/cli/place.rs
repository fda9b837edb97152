//! The place where a command works, and the account in whose name.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;

/// Place of a command: the account, the organisation and the server.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Place {
    /// The e-mail address of an account of the organisation, in whose name and with whose rights it is done: on the
    /// machine of the server, by its user or root.
    #[arg(long = "as", value_name = "EMAIL", help_heading = "In whose name, and where")]
    pub account: Option<String>,
    /// The organisation's slug; the account's only one without it.
    #[arg(long, value_name = "SLUG", help_heading = "In whose name, and where")]
    pub organization: Option<String>,
    /// Address of a server elsewhere, such as https://heddle.example.com or http://127.0.0.1:8080; the token in HEDDLE_TOKEN says who calls.
    #[arg(long, value_name = "URL", env = "HEDDLE_SERVER", help_heading = "In whose name, and where")]
    pub server: Option<String>,
    /// Read the token from this file instead of HEDDLE_TOKEN.
    #[arg(long, value_name = "FILE", help_heading = "In whose name, and where")]
    pub token_file: Option<PathBuf>,
    /// Authorities (PEM) whose certificates pass beside those that the system knows, for a server with a certificate of
    /// the house or a self-signed one.
    #[arg(long, value_name = "FILE", help_heading = "In whose name, and where")]
    pub ca_file: Option<PathBuf>,
}

impl Place {
    /// Token of the caller, if one was given: that of the file, else of the environment.
    ///
    /// # Errors
    /// When the file can't be read.
    pub(crate) fn token(&self) -> Result<Option<String>> {
        if let Some(path) = &self.token_file {
            let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
            return Ok(Some(text.trim().to_owned()));
        }
        Ok(std::env::var("HEDDLE_TOKEN")
            .ok()
            .map(|token| token.trim().to_owned())
            .filter(|token| !token.is_empty()))
    }
}

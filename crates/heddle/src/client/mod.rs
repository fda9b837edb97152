//! The client of every command: the same calls of the API, whichever way they go. To a server elsewhere over HTTP or HTTPS with
//! a token; to the server that runs on the data directory, over its socket; and where none runs, to the service that this
//! process opens for the one command.

mod ask;
mod find;
mod form;
mod wire;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use heddle_server::{
    ACCOUNT_HEADER, Config, DATABASE_FILE, LocalService, ORGANIZATION_HEADER, SOCKET_FILE, SocketPath,
};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

pub(crate) use ask::{Query, escaped};
pub(crate) use find::{is_id, text};
pub(crate) use form::Form;

use wire::Wire;

use crate::cli::Place;
use crate::failure::Failure;

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Name of the program to a server.
const AGENT: &str = concat!("heddle/", env!("CARGO_PKG_VERSION"));

/// Need of a command at the place where it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// An account, in whose name it is done.
    Account,
    /// An installation; what is done concerns all of it.
    Installation,
    /// Nothing: the installation may come into being by it.
    Nothing,
}

/// Way by which calls go.
#[derive(Debug)]
enum Way {
    /// To a server elsewhere.
    Network,
    /// Over the socket of the server on the data directory.
    Socket,
    /// To the service of this process.
    Own(Box<LocalService>),
}

/// A client.
#[derive(Debug)]
pub(crate) struct Client {
    wire: Wire,
    base: String,
    headers: HeaderMap,
    way: Way,
    /// Held open for as long as the socket is used.
    _path: Option<SocketPath>,
}

impl Client {
    /// Opens the way to the service.
    ///
    /// # Errors
    /// `Configuration` without an account or token where one is needed; `NotFound` where there is no installation; why the
    /// service can't be opened.
    pub(crate) async fn open(config: Config, place: &Place, need: Need) -> Result<Self> {
        match &place.server {
            Some(server) => Self::of_server(server, place).await,
            None => Self::of_directory(config, place, need).await,
        }
    }

    async fn of_server(server: &str, place: &Place) -> Result<Self> {
        let base = server.trim_end_matches('/');
        let is_tls = base.starts_with("https://");
        if !(is_tls || base.starts_with("http://")) || !wire::is_address(base) {
            let message =
                format!("`{server}` is no address of a server; https://HOST or http://HOST:PORT is needed");
            return Err(Failure::Configuration(message).into());
        }
        if !is_tls && place.ca_file.is_some() {
            let message = "--ca-file goes with a server whose address begins with https://";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        if place.account.is_some() {
            let message = "--as works on the machine of the server; with --server the token says who calls";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        let Some(token) = place.token()? else {
            let message = "a token is needed with --server: in HEDDLE_TOKEN, or in a file named by --token-file \
                           (`heddle token create` makes one)";
            return Err(Failure::Configuration(message.to_owned()).into());
        };
        let wire = match is_tls {
            true => Wire::tls(place.ca_file.as_deref())?,
            false => Wire::Plain(builder().build().context("no HTTP client")?),
        };
        let headers = bearer(&token)?;
        let mut client = Self { wire, base: base.to_owned(), headers, way: Way::Network, _path: None };
        if let Some(slug) = &place.organization {
            let id = client.organization_of(slug).await?;
            client.headers.insert("x-organization-id", header(&id)?);
        }
        Ok(client)
    }

    async fn of_directory(config: Config, place: &Place, need: Need) -> Result<Self> {
        if place.ca_file.is_some() {
            let message = "--ca-file goes with --server https://HOST";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        let headers = named(place, need)?;
        let socket = config.data_dir.join(SOCKET_FILE);
        if let Some(path) = living(&socket) {
            return Self::over(path, headers, Way::Socket);
        }
        let database = config.data_dir.join(DATABASE_FILE);
        if need != Need::Nothing && config.database_url.is_none() && !database.exists() {
            let message = format!(
                "there is no installation in `{}`: `heddle serve` makes one; name another one with --data-dir, or its \
                 server with --server",
                config.data_dir.display()
            );
            return Err(Failure::NotFound(message).into());
        }
        let own = LocalService::open(config).await?;
        let path = SocketPath::of(&own.socket()).context("the socket of the command can't be reached")?;
        Self::over(path, headers, Way::Own(Box::new(own)))
    }

    fn over(path: SocketPath, headers: HeaderMap, way: Way) -> Result<Self> {
        let http = builder().unix_socket(path.as_path()).build().context("no HTTP client")?;
        let wire = Wire::Plain(http);
        Ok(Self { wire, base: "http://localhost".to_owned(), headers, way, _path: Some(path) })
    }

    /// Whether a server runs, which fires timers and delivers messages.
    pub(crate) const fn has_server(&self) -> bool {
        !matches!(self.way, Way::Own(_))
    }

    /// Whether the service is reached as the operator of this machine.
    pub(crate) const fn is_local(&self) -> bool {
        !matches!(self.way, Way::Network)
    }

    /// Ends it: the service of this process writes what is to be written.
    pub(crate) async fn close(self) {
        let Self { wire, way, .. } = self;
        // Connections that are kept would be waited for.
        drop(wire);
        if let Way::Own(own) = way {
            own.stop().await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a command calls the server that its user names")]
fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder().no_proxy().connect_timeout(CONNECT).user_agent(AGENT)
}

/// Path of a socket that somebody listens on.
fn living(socket: &Path) -> Option<SocketPath> {
    let path = SocketPath::of(socket).ok()?;
    std::os::unix::net::UnixStream::connect(path.as_path()).ok()?;
    Some(path)
}

/// Headers that say in whose name it is done: the account named, else the token's.
fn named(place: &Place, need: Need) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    match (&place.account, place.token()?) {
        (Some(account), _) => {
            headers.insert(HeaderName::from_static(ACCOUNT_HEADER), header(account)?);
        }
        (None, Some(token)) if place.organization.is_none() => headers = bearer(&token)?,
        (None, Some(_)) => {
            let message = "`--organization` goes with `--as EMAIL` or `--server URL` here: without them the token says the \
                           organisation";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        (None, None) if need == Need::Account => {
            let message = "`--as EMAIL` is needed: an account of the organisation, in whose name it is done; or a token in \
                           HEDDLE_TOKEN";
            return Err(Failure::Configuration(message.to_owned()).into());
        }
        (None, None) => {}
    }
    if let Some(slug) = &place.organization {
        headers.insert(HeaderName::from_static(ORGANIZATION_HEADER), header(slug)?);
    }
    Ok(headers)
}

fn bearer(token: &str) -> Result<HeaderMap> {
    let mut value = header(&format!("Bearer {token}"))?;
    value.set_sensitive(true);
    Ok(HeaderMap::from_iter([(AUTHORIZATION, value)]))
}

fn header(value: &str) -> Result<HeaderValue> {
    let wrong = |_| Failure::Configuration(format!("`{}` can't be sent", value.escape_debug()));
    Ok(HeaderValue::from_bytes(value.as_bytes()).map_err(wrong)?)
}

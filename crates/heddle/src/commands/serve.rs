//! `heddle serve`.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use heddle_server::acting::Acting;
use heddle_server::operator;
use heddle_server::{Config, Server};
use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Serve;
use crate::output;

/// The end must come within 5 seconds of the signal, whatever hangs.
const STOP_LIMIT: Duration = Duration::from_millis(4500);
/// The demo workflow that the printed commands start.
const FIRST_WORKFLOW: &str = "purchase-approval";

/// Report of the server on itself once it takes connections.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Ready {
    address: String,
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    organization_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    password: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_token: Option<String>,
    /// `kept` when the demo was asked for and an organisation was there already.
    #[serde(skip_serializing_if = "Option::is_none")]
    demo: Option<&'static str>,
    /// Warning about the licence, once its end is near, has come, or is past.
    #[serde(skip_serializing_if = "Option::is_none")]
    licence_warning: Option<String>,
}

pub(crate) async fn run(config: Config, options: Serve, as_json: bool) -> Result<()> {
    // Before anything is opened: a signal during the start ends it in order as well.
    let mut signals = Signals::listen()?;
    let config = Config {
        demo: options.demo,
        egress_loopback: options.demo,
        test_clock: options.test_clock,
        background: !options.no_background,
        ..config
    };
    let bar = output::progress("starting", 1);
    let started = tokio::select! {
        started = Server::start(config) => started,
        () = signals.next() => {
            bar.finish_and_clear();
            return Ok(());
        }
    };
    bar.finish_and_clear();
    let server = started?;
    let facts = operator::summary(&server.core().app);
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        address = %server.address(),
        database = facts.database,
        migrations = facts.migrations,
        licence = facts.licence,
        "started"
    );
    let told = tell(&server, &options, facts.warning, as_json).await;
    if told.is_ok() {
        signals.next().await;
        tracing::info!("stopping");
    }
    if tokio::time::timeout(STOP_LIMIT, server.stop()).await.is_err() {
        tracing::warn!("open requests were cut off");
    }
    told
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("signals can't be listened to");
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

async fn tell(server: &Server, options: &Serve, warning: Option<String>, as_json: bool) -> Result<()> {
    let first = server.first();
    let (email, password) = first.administrator.clone().unzip();
    let ready = Ready {
        address: format!("{}://{}", server.scheme(), reachable(server.address())),
        pid: std::process::id(),
        organization_id: first.organization.map(|id| id.to_string()),
        email,
        password,
        setup_token: first.setup_token.clone(),
        demo: (options.demo && first.organization.is_none()).then_some("kept"),
        licence_warning: warning,
    };
    if let Some(path) = &options.ready_file {
        write_ready(path, &ready).with_context(|| format!("the ready file `{}`", path.display()))?;
    }
    if as_json {
        output::json(&serde_json::to_value(&ready)?);
        return Ok(());
    }
    let workflow = match first.organization {
        Some(tenant) => {
            let app = &server.core().app;
            Some(
                operator::find_workflow(app, &Acting::installation(tenant), FIRST_WORKFLOW)
                    .await?
                    .to_string(),
            )
        }
        None => None,
    };
    output::line(&greeting(&ready, workflow.as_deref(), server.core().app.config.docs));
    if options.no_background {
        output::line("No timer fires and no message is delivered (--no-background).");
    }
    if options.test_clock {
        output::line("The clock can be moved by callers (--test-clock): for tests only.");
    }
    Ok(())
}

/// The address that a caller on this machine uses.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Whoever waits for the file finds it whole: it is written under another name first.
fn write_ready(path: &Path, ready: &Ready) -> Result<()> {
    let mut name = path.file_name().context("a file's name is needed")?.to_owned();
    name.push(format!(".{}", std::process::id()));
    let unfinished = path.with_file_name(name);
    let mut file =
        std::fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&unfinished)?;
    serde_json::to_writer(&mut file, ready)?;
    file.write_all(b"\n")?;
    drop(file);
    std::fs::rename(&unfinished, path)?;
    Ok(())
}

/// Greeting for a newcomer: the address, the first credentials, and the next three commands.
fn greeting(ready: &Ready, workflow: Option<&str>, docs: bool) -> String {
    let address = &ready.address;
    let pages = if docs { format!(" (API pages: {address}/docs)") } else { String::new() };
    let mut text = format!("Heddle {} listens on {address}{pages}\n", env!("CARGO_PKG_VERSION"));
    if ready.demo.is_some() {
        text += "\n--demo made nothing: the database has an organisation already. Its accounts, passwords and workflows \
                 are as they were.\nIf the password is lost, this makes another:\n  heddle user set-password --as \
                 admin@demo.local admin@demo.local\n";
    }
    match (&ready.email, &ready.password, &ready.setup_token) {
        (Some(email), Some(password), _) => {
            text += &format!(
                "\n  e-mail    {email}\n  password  {password}   (shown this once)\n\nSign in, list the workflows, start a \
                 run:\n"
            );
            text += &sign_in(address, email, password);
            text += &list(address);
            if let Some(workflow) = workflow {
                text += &start(address, workflow);
            }
        }
        (_, _, Some(token)) => {
            text += &format!(
                "\n  set-up token  {token}   (for one hour)\n\nChoose a password of at least 12 characters, set up, sign \
                 in, start the trial of 30 days (or install a licence), list the workflows:\n"
            );
            // One command in braces: the shell has read all of it before it asks, so that nothing pasted is taken for the
            // password.
            text += "  {\n  printf 'Password: '; stty -echo; read -r PASSWORD; stty echo; echo\n";
            text += &set_up(address, token);
            text += &sign_in(address, "admin@example.com", "'\"$PASSWORD\"'");
            text += &trial(address);
            text += &list(address);
            text += "  }\n";
        }
        _ => {}
    }
    // A new installation is told how to begin its trial anyway.
    if let (Some(warning), None) = (&ready.licence_warning, &ready.setup_token) {
        text += &format!(
            "\nLicence: {warning}. `heddle licence show` tells how it stands, `heddle licence install FILE` installs one.\n"
        );
    }
    text
}

const JSON: &str = "-H 'content-type: application/json'";

fn set_up(address: &str, token: &str) -> String {
    format!(
        "  curl -s {address}/api/setup {JSON} -d '{{\"token\":\"{token}\",\"organization\":{{\"slug\":\"main\",\
         \"displayName\":\"Main\"}},\"administrator\":{{\"email\":\"admin@example.com\",\"displayName\":\"Administrator\",\
         \"password\":\"'\"$PASSWORD\"'\"}}}}'\n"
    )
}

fn sign_in(address: &str, email: &str, password: &str) -> String {
    format!(
        "  TOKEN=$(curl -s {address}/api/auth/sign-in {JSON} -d '{{\"email\":\"{email}\",\"password\":\"{password}\"}}' \
         | sed 's/.*\"token\":\"\\([^\"]*\\)\".*/\\1/')\n"
    )
}

fn trial(address: &str) -> String {
    format!("  curl -s -X POST {address}/api/licence/trial -H \"authorization: Bearer $TOKEN\"\n")
}

fn list(address: &str) -> String {
    format!("  curl -s {address}/api/workflows -H \"authorization: Bearer $TOKEN\"\n")
}

fn start(address: &str, workflow: &str) -> String {
    format!(
        "  curl -s {address}/api/workflows/{workflow}/runs -H \"authorization: Bearer $TOKEN\" {JSON} -d \
         '{{\"input\":{{\"amount\":800}}}}'\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn ready() -> Ready {
        Ready {
            address: "http://127.0.0.1:8080".to_owned(),
            pid: 1,
            organization_id: None,
            email: None,
            password: None,
            setup_token: Some("hds_x".to_owned()),
            demo: None,
            licence_warning: None,
        }
    }

    #[test]
    fn the_ready_file_is_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ready.json");
        write_ready(&path, &ready()).unwrap();
        write_ready(&path, &ready()).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(value["setupToken"], "hds_x");
        assert!(value.get("password").is_none());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_address_that_means_every_interface_is_reached_over_this_machines_own() {
        for (bound, shown) in
            [("0.0.0.0:1", "127.0.0.1:1"), ("[::]:2", "[::1]:2"), ("127.0.0.2:3", "127.0.0.2:3")]
        {
            assert_eq!(reachable(bound.parse().unwrap()).to_string(), shown);
        }
    }

    #[test]
    fn a_later_start_shows_no_credentials() {
        let text = greeting(&Ready { setup_token: None, ..ready() }, None, true);
        assert!(text.contains("http://127.0.0.1:8080/docs") && !text.contains("assword"), "{text}");
        let text = greeting(&Ready { setup_token: None, ..ready() }, None, false);
        assert!(
            text.contains("http://127.0.0.1:8080\n") && !text.contains("docs"),
            "pages that are not there: {text}"
        );
    }

    #[test]
    fn a_demo_that_was_not_made_is_told_with_the_way_out() {
        let kept = Ready { setup_token: None, demo: Some("kept"), ..ready() };
        let text = greeting(&kept, None, true);
        assert!(
            text.contains("--demo made nothing") && text.contains("heddle user set-password --as"),
            "{text}"
        );
    }

    #[test]
    fn a_licence_that_ends_is_told_where_one_was() {
        let warning = || Some("trial; not for production; ends in 3 days".to_owned());
        let later = Ready { setup_token: None, licence_warning: warning(), ..ready() };
        let text = greeting(&later, None, true);
        assert!(text.contains("ends in 3 days") && text.contains("heddle licence install FILE"), "{text}");
        let new = Ready { licence_warning: warning(), ..ready() };
        assert!(!greeting(&new, None, true).contains("ends in 3 days"));
    }

    #[test]
    fn nothing_that_is_pasted_is_taken_for_the_password() {
        let text = greeting(&ready(), None, true);
        let (open, close) = (text.find("  {\n").unwrap(), text.rfind("  }\n").unwrap());
        let read = text.find("read -r PASSWORD").unwrap();
        assert!(open < read && read < close && text[read..close].contains("/api/setup"), "{text}");
    }
}

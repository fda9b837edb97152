//! Outages of the database: each is told once with its cause, and once more when it is over.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use tokio_postgres::config::Host;

/// Watch over a server's outages. Telling is for the log alone; callers get their errors all the same.
#[derive(Debug)]
pub(crate) struct Outages {
    /// Host, port and database, without user and password.
    place: String,
    since: Mutex<Option<Instant>>,
}

impl Outages {
    /// A watch over the server of this address.
    pub(crate) fn of(url: &str) -> Self {
        Self { place: place(url), since: Mutex::new(None) }
    }

    /// Host, port and database, without user and password.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Notes a failure; the sentence with place and cause.
    pub(crate) fn failed(&self, cause: &str) -> String {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.is_none() {
            *since = Some(Instant::now());
            drop(since);
            tracing::error!(
                database = self.place,
                cause,
                "the database is away; what needs it waits or gets 503"
            );
        }
        format!("{}: {cause}", self.place)
    }

    /// Notes that the server answers.
    pub(crate) fn answers(&self) {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(begin) = since.take() {
            drop(since);
            let seconds = begin.elapsed().as_secs();
            tracing::info!(database = self.place, seconds, "the database is back");
        }
    }
}

/// An error with all its causes: the driver's own sentence does not hold them.
pub(crate) fn caused(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// Host, port and database of an address: `PostgreSQL at db.example.com:5432, database heddle`.
fn place(url: &str) -> String {
    let Ok(config) = url.parse::<tokio_postgres::Config>() else { return "PostgreSQL".to_owned() };
    let ports = config.get_ports();
    let hosts = config.get_hosts().iter().enumerate().map(|(at, host)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(name) => format!("{name}:{port}"),
            Host::Unix(path) => format!("{}/.s.PGSQL.{port}", path.display()),
        }
    });
    let hosts: Vec<_> = hosts.collect();
    let database = config.get_dbname().or(config.get_user()).unwrap_or("postgres");
    format!("PostgreSQL at {}, database {database}", hosts.join(" or "))
}

/// Hosts and addresses of a PostgreSQL server with their ports, as its driver reads the address; none when it is no
/// address. A socket's file is no host.
#[must_use]
pub fn hosts(url: &str) -> Option<Vec<(String, u16)>> {
    let config = url.parse::<tokio_postgres::Config>().ok()?;
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let names = config.get_hosts().iter().enumerate().filter_map(|(at, host)| match host {
        Host::Tcp(name) => Some((name.clone(), port(at))),
        Host::Unix(_) => None,
    });
    let addresses = config.get_hostaddrs().iter().enumerate();
    Some(names.chain(addresses.map(|(at, address)| (address.to_string(), port(at)))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Level, Metadata, Subscriber};

    /// Log that keeps the levels of what is told.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<Level>>>);

    impl Subscriber for Told {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            self.0.lock().unwrap().push(*event.metadata().level());
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn an_outage_and_its_end_are_told_once_each() {
        let told = Told::default();
        tracing::subscriber::with_default(told.clone(), || {
            let outages = Outages::of("postgres://ada:s3cret@db/heddle");
            outages.answers();
            for _ in 0..3 {
                assert_eq!(outages.failed("refused"), "PostgreSQL at db:5432, database heddle: refused");
            }
            outages.answers();
            outages.answers();
            outages.failed("refused");
        });
        assert_eq!(*told.0.lock().unwrap(), [Level::ERROR, Level::INFO, Level::ERROR]);
    }

    #[test]
    fn the_place_is_told_without_the_password() {
        for (url, told) in [
            (
                "postgres://ada:s3cret@db.example.com:5433/heddle",
                "PostgreSQL at db.example.com:5433, database heddle",
            ),
            ("postgresql://ada:s3cret@db/heddle", "PostgreSQL at db:5432, database heddle"),
            (
                "postgres:///heddle?host=/run/pg&port=6000",
                "PostgreSQL at /run/pg/.s.PGSQL.6000, database heddle",
            ),
            ("postgres://ada:s3cret@a:1,b:2/heddle", "PostgreSQL at a:1 or b:2, database heddle"),
            ("postgres://[", "PostgreSQL"),
        ] {
            assert_eq!(place(url), told);
        }
    }

    #[test]
    fn an_outage_begins_once_and_ends_once() {
        let outages = Outages::of("postgres://ada:s3cret@db/heddle");
        let told = outages.failed("refused");
        assert_eq!(told, "PostgreSQL at db:5432, database heddle: refused");
        let begin = *outages.since.lock().unwrap();
        let _ = outages.failed("refused again");
        assert_eq!(*outages.since.lock().unwrap(), begin);
        outages.answers();
        assert!(outages.since.lock().unwrap().is_none());
    }
}

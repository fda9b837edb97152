//! Readiness: whether the service can work, and what is wrong when it can't.

use std::path::Path;
use std::time::Duration;

use heddle_api::wire::health::{HealthCheck, HealthStatus};
use heddle_identity::InstallationKey;
use heddle_installation::data_dir::{self, KEY_FILE};
use heddle_installation::stores;
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::last_write::Tried;

/// Time for which the result of a write counts: whoever asks often makes no load.
const COUNTS: Duration = Duration::from_secs(1);
/// Longest wait for a write.
const PATIENCE: Duration = Duration::from_secs(5);
/// Free bytes below which the disk of a SQLite database is full, though a small write may still find room.
const LEAST_FREE: u64 = 1 << 20;

/// The checks, each with what is wrong.
pub(crate) async fn checks(app: &App) -> Vec<HealthCheck> {
    let database = app.db.ping().await.err().map(|_| "The database does not answer.".to_owned());
    let migrations = match app.db.migrations_pending(&stores::migrations()).await {
        Ok(pending) if pending.is_empty() => None,
        Ok(pending) => Some(format!("{} migrations are pending.", pending.len())),
        Err(_) => Some("The database does not answer.".to_owned()),
    };
    let writes = match &database {
        None => writes(app).await,
        Some(_) => Some("The database does not answer."),
    };
    let down = HealthStatus::Unavailable;
    vec![
        check("database", down, database),
        check("migrations", down, migrations),
        check("writes", down, writes.map(str::to_owned)),
        // A server works on with the key that it read at its start; only the next start will fail.
        check("key", HealthStatus::Degraded, key(app).await),
        check(
            "roles",
            down,
            app.config.roles.is_empty().then(|| "This node has no service role.".to_owned()),
        ),
    ]
}

fn check(name: &str, otherwise: HealthStatus, problem: Option<String>) -> HealthCheck {
    let status = if problem.is_none() { HealthStatus::Ok } else { otherwise };
    HealthCheck { name: name.to_owned(), status, message: problem }
}

/// The worst of the checks.
pub(crate) fn health_of(checks: &[HealthCheck]) -> HealthStatus {
    let any = |status| checks.iter().any(|check| check.status == status);
    if any(HealthStatus::Unavailable) {
        HealthStatus::Unavailable
    } else if any(HealthStatus::Degraded) {
        HealthStatus::Degraded
    } else {
        HealthStatus::Ok
    }
}

async fn writes(app: &App) -> Option<&'static str> {
    let mut last = app.last_write.0.lock().await;
    if let Some(tried) = last.as_ref().filter(|tried| tried.at.elapsed() < COUNTS) {
        return tried.problem;
    }
    let problem = match timeout(PATIENCE, app.db.take_write()).await {
        Ok(Ok(())) if app.db.sqlite().is_some() && is_full(&app.config.data_dir) => {
            Some("The disk of the database is full.")
        }
        Ok(Ok(())) => None,
        Ok(Err(error)) => {
            // Once for each outage, however often somebody asks.
            if last.as_ref().is_none_or(|tried| tried.problem.is_none()) {
                tracing::error!(%error, "the database takes no write");
            }
            Some("The database takes no write.")
        }
        Err(_elapsed) => Some("The database took no write within five seconds."),
    };
    if problem.is_none() && last.as_ref().is_some_and(|tried| tried.problem.is_some()) {
        tracing::info!("the database takes writes again");
    }
    *last = Some(Tried { at: Instant::now(), problem });
    problem
}

/// Whether a file system has no room to speak of. One that can't be asked is not called full.
fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_FREE)
}

/// Problem of the key file as it is now: the next start would be refused.
async fn key(app: &App) -> Option<String> {
    let file = app.config.data_dir.join(KEY_FILE);
    let read = tokio::task::spawn_blocking(move || data_dir::read_key(&file)).await.ok()?;
    let problem = match read {
        Ok(Some(key)) => {
            let own = InstallationKey::new(key).ok().map(|key| key.installation_id());
            (own != Some(app.identity.installation_id())).then_some("is another installation's")
        }
        Ok(None) => Some("is missing"),
        Err(_) => Some("can't be used"),
    };
    problem.map(|problem| format!("The key file {problem}: the next start will be refused."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_room_is_full() {
        // One that the system makes up has no blocks that are free.
        assert!(is_full(Path::new("/proc")));
        assert!(!is_full(&std::env::temp_dir()));
        assert!(!is_full(Path::new("/nowhere/at/all")), "what cannot be asked");
    }

    #[test]
    fn the_worst_check_counts() {
        let wrong = |status| check("a", status, Some("x".to_owned()));
        let good = || check("b", HealthStatus::Unavailable, None);
        assert_eq!(health_of(&[good()]), HealthStatus::Ok);
        assert_eq!(health_of(&[good(), wrong(HealthStatus::Degraded)]), HealthStatus::Degraded);
        let both = [wrong(HealthStatus::Degraded), wrong(HealthStatus::Unavailable), good()];
        assert_eq!(health_of(&both), HealthStatus::Unavailable);
        assert!(!is_full(Path::new("no such directory")));
    }
}

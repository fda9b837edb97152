//! Test servers and databases.

#[cfg(feature = "server")]
pub mod app;
#[cfg(feature = "server")]
pub mod client;
pub mod db;
#[cfg(feature = "server")]
pub mod sse;

#[cfg(feature = "server")]
pub use app::{TestApp, eventually};
#[cfg(feature = "server")]
pub use client::{Answer, Client};

/// Runs one async body on a fresh database of each kind: `with_both!(|db| { ... })`, where `db` is a
/// [`db::TestDb`].
#[macro_export]
macro_rules! with_both {
    (|$db:ident| $body:expr) => {
        for test_db in $crate::db::TestDb::both().await {
            eprintln!("on {}", test_db.kind());
            let $db = &test_db;
            $body;
        }
    };
}

/// A file or folder of the suites: below `HEDDLE_SUITES`, else beside the workspace. None, with a note, when it is
/// not there.
///
/// # Panics
/// When it is not there and `CI=true`.
#[must_use]
pub fn suites(path: &str) -> Option<std::path::PathBuf> {
    let found = Some(heddle_harness_kit::workspace::suites().join(path)).filter(|found| found.exists());
    if found.is_none() {
        let strict = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!strict, "the suites have no {path}");
        eprintln!("skipped: the suites have no {path}");
    }
    found
}

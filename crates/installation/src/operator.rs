//! Commands of the operator that no server has to run for: checks, backups, verification of trails, migrations, and what a
//! first start shows.

mod audit;
mod backup;
mod beginning;
mod doctor;

pub use audit::{Kept, VerifiedTrail, verify_copy, verify_export};
pub use backup::{Copied, KeyFiles, back_up, restore};
pub use beginning::Beginning;
pub use doctor::{Check, Finding, checks};

use heddle_identity::token::Token;
use heddle_kernel::Clock as _;
use heddle_runtime::ServerClock;

use crate::config::Config;
use crate::data_dir::DataDir;
use crate::error::StartError;
use crate::stores;

/// A random password of 144 bits, to be shown once.
///
/// # Errors
/// `Internal` when the system gives no random bytes.
pub fn random_password() -> Result<String, StartError> {
    Ok(Token::random("")?.expose().get(..24).unwrap_or_default().to_owned())
}

/// The names of the keys whose licences this program accepts.
#[must_use]
pub fn vendor_keys() -> Vec<String> {
    heddle_identity::licence::vendor_key_names()
}

/// Brings the database up to date; the names of what was applied.
///
/// # Errors
/// `DataDir`, `Database`, `Migration`.
pub async fn migrate(config: &Config) -> Result<Vec<&'static str>, StartError> {
    // Of several processes that share a database one migrates and the others wait; a file has one process.
    let data = match config.database_url {
        Some(_) => DataDir::beside(&config.data_dir)?,
        None => DataDir::open(&config.data_dir)?,
    };
    let db = stores::open(config, &data.database()).await?;
    Ok(db.migrate(&stores::migrations(), ServerClock::default().now()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_and_another_each_time() {
        let (one, other) = (random_password().unwrap(), random_password().unwrap());
        assert!(one.len() == 24 && one != other);
    }
}

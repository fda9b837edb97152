//! Marks of devices on which an account was signed in before. A mark opens nothing: it spares who shows it the waits
//! that other people's failed tries bring, and has a count of failures of its own.
//!
//! Nothing of it is stored: a mark is a random number and an instant, under a code that only the installation's key
//! makes, for one account.

use heddle_kernel::Timestamp;
use subtle::ConstantTimeEq as _;

use crate::key::InstallationKey;
use crate::{UseCaseError, token};

/// Seconds for which a mark counts.
pub const MARK_SECONDS: i64 = 180 * 24 * 3600;

/// Beginning of every mark.
const PREFIX: &str = "hdd_";

/// Makes a mark for an account.
pub(crate) fn mark(key: &InstallationKey, account: &str, now: Timestamp) -> Result<String, UseCaseError> {
    let number = heddle_usecase::hex(&token::random_bytes::<16>()?);
    let seconds = (now.micros() / 1_000_000).to_string();
    let code = key.device_code(&[account.as_bytes(), number.as_bytes(), seconds.as_bytes()])?;
    Ok(format!("{PREFIX}{number}.{seconds}.{code}"))
}

/// Number of a mark that was made for this account and still counts.
pub(crate) fn known(
    key: &InstallationKey,
    account: &str,
    mark: Option<&str>,
    now: Timestamp,
) -> Option<String> {
    let mut parts = mark?.strip_prefix(PREFIX)?.splitn(3, '.');
    let (number, seconds, code) = (parts.next()?, parts.next()?, parts.next()?);
    let right = key.device_code(&[account.as_bytes(), number.as_bytes(), seconds.as_bytes()]).ok()?;
    let genuine: bool = right.as_bytes().ct_eq(code.as_bytes()).into();
    let made = Timestamp::from_micros(seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?);
    (genuine && now < made.plus_seconds(MARK_SECONDS)).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_counts_for_its_account_its_key_and_its_time() {
        let key = InstallationKey::new([7; 32]).unwrap();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let made = mark(&key, "ada", now).unwrap();
        assert!(known(&key, "ada", Some(&made), now).is_some());
        assert!(known(&key, "bob", Some(&made), now).is_none());
        assert!(known(&key, "ada", Some(&made), now.plus_seconds(MARK_SECONDS)).is_none());
        let other = InstallationKey::new([8; 32]).unwrap();
        assert!(known(&other, "ada", Some(&made), now).is_none());
        let later = made.replacen("1800000000", "1900000000", 1);
        for forged in [later.as_str(), "", "hdd_", "hdd_1.2.3", "hdd_1.x.3", made.trim_start_matches("hdd_")]
        {
            assert!(known(&key, "ada", Some(forged), now).is_none(), "{forged}");
        }
        assert!(known(&key, "ada", None, now).is_none());
        assert_ne!(made, mark(&key, "ada", now).unwrap());
    }
}

//! Tickets: what a right password gives where an account has a second factor. With a ticket and a code a session is opened;
//! by itself it opens nothing.
//!
//! Nothing of it is stored: a ticket names account, organisation and instant, and the password and factor that it is
//! about, under a code that only the installation's key makes. That it opens one session at most follows from the codes,
//! each of which counts once.

use heddle_kernel::{TenantId, Timestamp, UserId};
use subtle::ConstantTimeEq as _;

use crate::UseCaseError;
use crate::key::InstallationKey;
use crate::records::User;

/// Seconds for which a ticket counts.
pub(crate) const TICKET_SECONDS: i64 = 5 * 60;

/// Beginning of every ticket.
const PREFIX: &str = "hdt_";
/// Word of what there is none of.
const NONE: &str = "-";

/// A ticket that was made here and still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    /// Account whose password was right.
    pub user: UserId,
    /// Organisation that was asked for.
    pub organization: Option<TenantId>,
    /// Password and factor of that moment.
    state: String,
}

impl Ticket {
    /// Whether the account still has the password and the factor that the ticket is about.
    pub(crate) fn is_about(&self, user: &User) -> bool {
        self.user == user.id && self.state == state_of(user)
    }
}

/// Instants at which password and factor of an account were set.
fn state_of(user: &User) -> String {
    let micros = |at: Option<Timestamp>| at.map_or_else(|| NONE.to_owned(), |at| at.micros().to_string());
    format!("{}_{}", micros(user.password_changed_at), micros(user.totp_enrolled_at))
}

/// Makes a ticket for an account.
pub(crate) fn make(
    key: &InstallationKey,
    user: &User,
    organization: Option<TenantId>,
    now: Timestamp,
) -> Result<String, UseCaseError> {
    let organization = organization.map_or_else(|| NONE.to_owned(), |id| id.to_string());
    let seconds = now.micros() / 1_000_000;
    let body = format!("{}.{organization}.{}.{seconds}", user.id, state_of(user));
    let code = key.ticket_code(&[body.as_bytes()])?;
    Ok(format!("{PREFIX}{body}.{code}"))
}

/// Ticket of a text; none for one that was not made here, or has ended.
pub(crate) fn read(key: &InstallationKey, text: &str, now: Timestamp) -> Option<Ticket> {
    let (body, code) = text.strip_prefix(PREFIX)?.rsplit_once('.')?;
    let right = key.ticket_code(&[body.as_bytes()]).ok()?;
    let genuine: bool = right.as_bytes().ct_eq(code.as_bytes()).into();
    let mut parts = body.splitn(4, '.');
    let (user, organization, state, seconds) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let organization = match organization {
        NONE => None,
        id => Some(id.parse().ok()?),
    };
    let made = Timestamp::from_micros(seconds.parse::<i64>().ok()?.checked_mul(1_000_000)?);
    let lives = genuine && now < made.plus_seconds(TICKET_SECONDS);
    lives.then_some(Ticket { user: user.parse().ok()?, organization, state: state.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{START, tenant, user};

    #[test]
    fn a_ticket_counts_for_its_account_its_factor_its_key_and_its_time() {
        let key = InstallationKey::new([7; 32]).unwrap();
        let ada = User { totp_enrolled_at: Some(START), ..user(1) };
        for organization in [None, Some(tenant())] {
            let made = make(&key, &ada, organization, START).unwrap();
            let ticket = read(&key, &made, START.plus_seconds(TICKET_SECONDS - 1)).unwrap();
            assert_eq!((ticket.user, ticket.organization), (ada.id, organization));
            assert!(ticket.is_about(&ada));
            for other in [
                user(2),
                user(1),
                User { totp_enrolled_at: Some(START.plus_seconds(1)), ..ada.clone() },
                User { password_changed_at: Some(START), ..ada.clone() },
            ] {
                assert!(!ticket.is_about(&other), "{other:?}");
            }
            assert_eq!(read(&key, &made, START.plus_seconds(TICKET_SECONDS)), None);
            assert_eq!(read(&InstallationKey::new([8; 32]).unwrap(), &made, START), None);
            let another = made.replacen(&ada.id.to_string(), &user(2).id.to_string(), 1);
            for forged in [another.as_str(), "", "hdt_", "hdt_a.b.c.d.e", &made[..made.len() - 1], &made[1..]]
            {
                assert_eq!(read(&key, forged, START), None, "{forged}");
            }
        }
    }
}

//! The wait that a receiver asks for: `Retry-After` (RFC 9110, 10.2.3).

use heddle_kernel::Timestamp;

/// The wait in seconds from an instant: given as such, or as a date.
pub(crate) fn retry_after(text: &str, now: Timestamp) -> Option<u64> {
    let text = text.trim();
    match text.parse() {
        Ok(seconds) => Some(seconds),
        Err(_) => http_date(text).map(|until| until.duration_since(now).as_secs()),
    }
}

/// An instant as HTTP writes it (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split(", ").nth(1)?.split(' ');
    let (day, month, year) = (words.next()?, words.next()?, words.next()?);
    let (time, zone, rest) = (words.next()?, words.next()?, words.next());
    let month = MONTHS.iter().position(|one| *one == month)? + 1;
    if zone != "GMT" || rest.is_some() {
        return None;
    }
    format!("{year}-{month:02}-{day}T{time}Z").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_given_in_seconds_or_by_a_date() {
        let now: Timestamp = "1994-11-06T08:48:37Z".parse().unwrap();
        for (text, wanted) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(60)),
            ("Sun, 06 Nov 1994 08:40:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 CET", None),
            ("Sun, 06 Nov 1994", None),
            ("soon", None),
            ("-1", None),
        ] {
            assert_eq!(retry_after(text, now), wanted, "{text}");
        }
    }
}

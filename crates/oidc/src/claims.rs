//! Claims: what a provider says of a person.

use serde_json::{Map, Value};

use crate::error::OidcError;
use crate::settings::Settings;

/// The longest subject (OpenID Connect Core 1.0, 2), in characters.
const LONGEST_SUBJECT: usize = 255;
/// Most groups that are looked at.
const MOST_GROUPS: usize = 1_000;
/// The longest text of a claim that is taken, in characters.
const LONGEST_TEXT: usize = 400;

/// Claims of a provider about a person, proved.
#[derive(Clone, PartialEq, Eq)]
pub struct Claims {
    /// The provider's issuer.
    pub issuer: String,
    /// The person's id at the provider, which is never given to somebody else.
    pub subject: String,
    /// E-mail address, if the provider verified it.
    pub verified_email: Option<String>,
    /// Name for people.
    pub name: Option<String>,
    /// Groups.
    pub groups: Vec<String>,
    /// Methods by which the person proved who they are (`amr`).
    pub methods: Vec<String>,
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claims").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

/// A claim by its name, or by names with points for what is nested.
fn claim<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    if let Some(found) = claims.get(name) {
        return Some(found);
    }
    let mut parts = name.split('.');
    let mut found = claims.get(parts.next()?)?;
    for part in parts {
        found = found.as_object()?.get(part)?;
    }
    Some(found)
}

fn text(claims: &Map<String, Value>, name: &str) -> Option<String> {
    let text = claim(claims, name)?.as_str()?.trim();
    (!text.is_empty() && text.chars().count() <= LONGEST_TEXT).then(|| text.to_owned())
}

/// The texts of a list, or a text that stands for a list of one.
fn texts(claims: &Map<String, Value>, name: &str) -> Vec<String> {
    match claim(claims, name) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(Value::as_str).take(MOST_GROUPS).map(str::to_owned).collect()
        }
        Some(_) | None => Vec::new(),
    }
}

/// Whether a claim says yes; some providers write it as a text or a number.
fn is_true(claims: &Map<String, Value>, name: &str) -> bool {
    match claim(claims, name) {
        Some(Value::Bool(yes)) => *yes,
        Some(Value::String(text)) => text == "true" || text == "1",
        Some(Value::Number(number)) => number.as_u64() == Some(1),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

/// Whether a token leaves something out that the provider tells elsewhere: the address or the groups.
pub(crate) fn is_short(claims: &Map<String, Value>, settings: &Settings) -> bool {
    claim(claims, "email").is_none() || claim(claims, &settings.groups_claim).is_none()
}

/// The claims of a token with what it left out. What the token says itself counts.
pub(crate) fn completed(
    token: Map<String, Value>,
    more: Map<String, Value>,
    settings: &Settings,
) -> Map<String, Value> {
    // An address and its verification are one statement: they are not put together from two.
    let verified = settings.email_verified_claim.as_str();
    let outermost = verified.split('.').next().unwrap_or(verified);
    let of_address = |name: &str| name.starts_with("email") || name == verified || name == outermost;
    let (mut all, mut token) = (more, token);
    let without = if token.contains_key("email") { &mut all } else { &mut token };
    without.retain(|name, _| !of_address(name));
    all.extend(token);
    all
}

/// Person of the claims.
///
/// # Errors
/// `Refused` without a subject that can be one, and where the groups are too many to be told.
pub(crate) fn read(claims: &Map<String, Value>, settings: &Settings) -> Result<Claims, OidcError> {
    let subject = claims.get("sub").and_then(Value::as_str).unwrap_or_default();
    if subject.is_empty() || subject.chars().count() > LONGEST_SUBJECT {
        return Err(OidcError::unbelieved("the subject is empty or too long"));
    }
    // Entra ID names the groups' place instead of the groups when there are many: no groups would take all roles away.
    let elsewhere = claim(claims, "_claim_names").and_then(Value::as_object);
    let untold = elsewhere.is_some_and(|names| names.contains_key(&settings.groups_claim));
    let told = claim(claims, &settings.groups_claim);
    // Of more than are looked at, those that give roles may be the last ones.
    let too_many = told.and_then(Value::as_array).is_some_and(|groups| groups.len() > MOST_GROUPS);
    if (untold && told.is_none()) || too_many {
        let message = "The provider did not tell the groups: the person has too many. Let it send only those that \
                       matter here.";
        let cause = match too_many {
            true => format!("there are more than {MOST_GROUPS} groups"),
            false => "the groups are claims of another source".to_owned(),
        };
        return Err(OidcError::Refused { reason: "groupsNotTold", message, cause });
    }
    let verified = is_true(claims, &settings.email_verified_claim);
    Ok(Claims {
        issuer: settings.issuer.clone(),
        subject: subject.to_owned(),
        verified_email: text(claims, "email").filter(|_| verified),
        name: text(claims, "name").or_else(|| text(claims, "preferred_username")),
        groups: texts(claims, &settings.groups_claim),
        methods: texts(claims, "amr"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn of(value: Value) -> Claims {
        read(&map(value), &Settings::default()).unwrap()
    }

    #[test]
    fn an_address_counts_only_when_it_was_verified() {
        let email = |verified: Value| {
            of(json!({ "sub": "1", "email": "ada@example.com", "email_verified": verified })).verified_email
        };
        for yes in [json!(true), json!("true"), json!(1), json!("1")] {
            assert_eq!(email(yes.clone()).as_deref(), Some("ada@example.com"), "{yes}");
        }
        for no in [json!(false), json!("false"), json!(0), json!(null), json!({}), json!(["true"])] {
            assert_eq!(email(no.clone()), None, "{no}");
        }
        assert_eq!(of(json!({ "sub": "1", "email": "ada@example.com" })).verified_email, None);
    }

    #[test]
    fn verification_is_not_borrowed_from_another_statement() {
        let token = map(json!({ "sub": "1", "email": "boss@example.com" }));
        let more =
            map(json!({ "sub": "1", "email": "ada@example.com", "email_verified": true, "groups": ["a"] }));
        let whole = completed(token, more, &Settings::default());
        let claims = read(&whole, &Settings::default()).unwrap();
        assert_eq!((claims.verified_email, claims.groups), (None, vec!["a".to_owned()]));
        for name in ["xms_edov", "is_verified", "address.verified"] {
            let settings = Settings { email_verified_claim: name.to_owned(), ..Settings::default() };
            let mut says = map(json!({ "sub": "1", "address": { "verified": true } }));
            says.insert(name.to_owned(), json!(true));
            let names = map(json!({ "sub": "1", "email": "boss@example.com" }));
            for (token, more) in [(names.clone(), says.clone()), (says.clone(), names.clone())] {
                let whole = completed(token, more, &settings);
                assert_eq!(read(&whole, &settings).unwrap().verified_email, None, "{name}");
            }
            says.insert("email".to_owned(), json!("ada@example.com"));
            let whole = completed(map(json!({ "sub": "1" })), says, &settings);
            assert_eq!(
                read(&whole, &settings).unwrap().verified_email.as_deref(),
                Some("ada@example.com"),
                "{name}"
            );
        }
    }

    #[test]
    fn groups_may_be_nested_and_one_may_stand_alone() {
        let settings = Settings { groups_claim: "realm_access.roles".to_owned(), ..Settings::default() };
        let nested = map(json!({ "sub": "1", "realm_access": { "roles": ["a", 7, "b"] } }));
        assert_eq!(read(&nested, &settings).unwrap().groups, ["a", "b"]);
        let flat = map(json!({ "sub": "1", "realm_access.roles": "only" }));
        assert_eq!(read(&flat, &settings).unwrap().groups, ["only"]);
        assert!(of(json!({ "sub": "1", "groups": { "a": 1 } })).groups.is_empty());
    }

    #[test]
    fn groups_that_are_told_elsewhere_are_no_groups() {
        let overage = map(json!({ "sub": "1", "_claim_names": { "groups": "src1" } }));
        let many: Vec<String> = (0..=MOST_GROUPS).map(|number| number.to_string()).collect();
        let many = map(json!({ "sub": "1", "groups": many }));
        for untold in [overage, many] {
            let Err(OidcError::Refused { reason, .. }) = read(&untold, &Settings::default()) else {
                panic!("it was taken")
            };
            assert_eq!(reason, "groupsNotTold");
        }
    }

    #[test]
    fn a_subject_is_needed() {
        for wrong in [json!({}), json!({ "sub": "" }), json!({ "sub": 7 }), json!({ "sub": "x".repeat(256) })]
        {
            assert!(read(&map(wrong.clone()), &Settings::default()).is_err(), "{wrong}");
        }
    }
}

//! A look into a licence.

use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow};
use heddle_harness_kit::out;
use heddle_kernel::Timestamp;
use heddle_licence::{PublicKeys, Signed, read};
use heddle_policy::licence::{
    ClockFacts, Installation, LicenceState, PresentedLicence, Restriction, Signer, evaluate,
};

/// `licence inspect`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The licence.
    file: PathBuf,
    /// List of the public keys that a program knows, as `keygen` writes it.
    #[arg(long)]
    keys: PathBuf,
    /// Id of the installation that would take it; the one that it names without it.
    #[arg(long)]
    installation: Option<String>,
    /// Instant at which it is looked at, such as `2026-01-01T00:00:00Z`; now without it.
    #[arg(long)]
    at: Option<String>,
}

/// Prints what a licence says; `false` for one that an installation would not take.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let text = |path: &PathBuf| {
        std::fs::read_to_string(path).with_context(|| format!("`{}` can't be read", path.display()))
    };
    let keys = PublicKeys::parse(&text(&options.keys)?)
        .with_context(|| format!("`{}` is no list of keys", options.keys.display()))?;
    let now = match &options.at {
        Some(text) => text.parse::<Timestamp>().map_err(|error| anyhow!("--at: `{text}`: {error}"))?,
        None => Timestamp::from(SystemTime::now()),
    };
    let signed = match read(&text(&options.file)?, |name| keys.find(name)) {
        Ok(signed) => signed,
        Err(error) => {
            out::line(format_args!("no installation takes it: {error}"));
            return Ok(false);
        }
    };
    let id = options.installation.as_deref().unwrap_or(&signed.claims.installation_id);
    let state = evaluate(
        PresentedLicence::Signed(&signed.claims, Signer::Vendor),
        ClockFacts { now, high_water_mark: now },
        Installation { id, revoked: &[] },
    );
    for line in shown(&signed, state) {
        out::line(line);
    }
    Ok(state.restriction().is_none())
}

fn shown(signed: &Signed, state: LicenceState) -> Vec<String> {
    let claims = &signed.claims;
    let row = |name: &str, value: &str| format!("{name:<14}{}", value.replace(char::is_control, " "));
    let list = |ids: &[String]| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let reason = state.restriction().map(Restriction::as_str);
    let state =
        reason.map_or_else(|| state.as_str().to_owned(), |reason| format!("{} ({reason})", state.as_str()));
    let kind = serde_json::to_value(claims.kind).ok();
    let kind = kind.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    let included = claims.entitlements.iter().filter(|(_, included)| **included);
    let entitlements: Vec<String> = included.map(|(name, _)| name.clone()).collect();
    let limits: Vec<String> = claims.limits.iter().map(|(name, most)| format!("{name}={most}")).collect();
    vec![
        row("state", &state),
        row("licence", &claims.jti),
        row("customer", &claims.sub),
        row("kind", kind),
        row("installation", &claims.installation_id),
        row("signed with", &signed.key_id),
        row("issued", &claims.iat.to_string()),
        row("from", &claims.nbf.to_string()),
        row("ends", &claims.exp.to_string()),
        row("grace", &format!("{} days", claims.grace_days)),
        row("includes", &list(&entitlements)),
        row("limits", &list(&limits)),
        row("supersedes", &list(&claims.supersedes)),
        row("revokes", &list(&claims.revoked)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use heddle_licence::SecretKey;
    use heddle_policy::licence::{CLAIMS_VERSION, Claims, Kind};

    use super::*;

    #[test]
    fn a_licence_is_shown_and_judged() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let from: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let claims = Claims {
            v: CLAIMS_VERSION,
            jti: "lic-1".to_owned(),
            sub: "Acme".to_owned(),
            iat: from,
            nbf: from,
            exp: from.plus_seconds(90 * 24 * 3600),
            grace_days: 14,
            installation_id: "here".to_owned(),
            kind: Kind::Production,
            entitlements: BTreeMap::from([
                ("workflow.enabled".to_owned(), true),
                ("vector.enabled".to_owned(), false),
            ]),
            limits: BTreeMap::from([("users".to_owned(), 5)]),
            supersedes: Vec::new(),
            revoked: Vec::new(),
        };
        let (own, other) = (SecretKey::new("a", [1; 32]).unwrap(), SecretKey::new("a", [2; 32]).unwrap());
        std::fs::write(place("keys"), own.public_text()).unwrap();
        std::fs::write(place("others"), other.public_text()).unwrap();
        std::fs::write(place("a.licence"), own.sign(&claims).unwrap()).unwrap();
        let look = |keys: &str, at: &str, installation: Option<&str>| {
            let installation = installation.map(str::to_owned);
            run(&Options {
                file: place("a.licence"),
                keys: place(keys),
                installation,
                at: Some(at.to_owned()),
            })
        };
        let cases = [
            ("keys", "2026-01-02T00:00:00Z", None, true),
            ("keys", "2026-01-02T00:00:00Z", Some("here"), true),
            ("keys", "2026-01-02T00:00:00Z", Some("elsewhere"), false),
            ("keys", "2025-12-31T00:00:00Z", None, false),
            ("keys", "2026-06-01T00:00:00Z", None, false),
            ("others", "2026-01-02T00:00:00Z", None, false),
        ];
        for (keys, at, installation, holds) in cases {
            assert_eq!(look(keys, at, installation).unwrap(), holds, "{keys} {at} {installation:?}");
        }
        assert!(look("keys", "tomorrow", None).is_err());
        let signed = Signed { claims, key_id: "a".to_owned() };
        let lines = shown(&signed, LicenceState::Active { expires_at: from }).join("\n");
        for word in ["active", "Acme", "production", "workflow.enabled", "users=5", "14 days"] {
            assert!(lines.contains(word), "{word}: {lines}");
        }
        assert!(!lines.contains("vector.enabled"), "{lines}");
    }
}

//! A new licence.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;
use heddle_harness_kit::out;
use heddle_kernel::Timestamp;
use heddle_licence::SecretKey;
use heddle_policy::licence::{
    ANY_INSTALLATION, CLAIMS_VERSION, Claims, Entitlement, Kind, Limit, OrganizationLimit,
};
use serde_json::Value;

use super::{outside, read_secret, write_new};

const DAY_SECONDS: i64 = 24 * 3600;

/// Kind of a licence, as the command has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindWord {
    Production,
    Trial,
    Developer,
}

impl From<KindWord> for Kind {
    fn from(word: KindWord) -> Self {
        match word {
            KindWord::Production => Self::Production,
            KindWord::Trial => Self::Trial,
            KindWord::Developer => Self::Developer,
        }
    }
}

/// `licence issue`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// File of the secret key that signs.
    #[arg(long)]
    key: PathBuf,
    /// Name of the customer.
    #[arg(long)]
    customer: String,
    /// Id of the installation for which it holds.
    #[arg(long, required_unless_present_any = ["request", "any_installation"])]
    installation: Option<String>,
    /// File with the installation's request, as `GET /api/licence/request` and `heddle licence request` give it.
    #[arg(long, conflicts_with = "installation")]
    request: Option<PathBuf>,
    /// Hold for any installation.
    #[arg(long, conflicts_with_all = ["installation", "request"])]
    any_installation: bool,
    /// The kind.
    #[arg(long, value_enum, default_value = "production")]
    kind: KindWord,
    /// Instant from which on it holds, such as `2026-01-01T00:00:00Z`; now without it.
    #[arg(long)]
    from: Option<String>,
    /// Days for which it holds.
    #[arg(long, default_value_t = 365)]
    days: u32,
    /// Days after its end in which all still works.
    #[arg(long, default_value_t = 14)]
    grace_days: u32,
    /// Entitlements that it includes; all without any.
    #[arg(long = "entitlement")]
    entitlements: Vec<String>,
    /// Limits, such as `users=50`; what is not named is not limited.
    #[arg(long = "limit")]
    limits: Vec<String>,
    /// Ids of licences in whose place it comes; they hold no longer once it is installed.
    #[arg(long)]
    supersedes: Vec<String>,
    /// Ids of licences that hold no longer once it is installed.
    #[arg(long)]
    revoke: Vec<String>,
    /// Id of the licence; a random one without it.
    #[arg(long)]
    id: Option<String>,
    /// File to write, outside of the checkout; standard output without it.
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Signs a licence and writes it.
pub(crate) fn run(options: &Options, checkout: &Path) -> Result<bool> {
    if let Some(path) = &options.out {
        outside(path, checkout)?;
    }
    let key = SecretKey::parse(&read_secret(&options.key)?)
        .with_context(|| format!("`{}` is no secret key", options.key.display()))?;
    let claims = claims(options, Timestamp::from(SystemTime::now()))?;
    let text = key.sign(&claims)?;
    match &options.out {
        Some(path) => {
            write_new(path, &text, 0o644)?;
            out::line(format_args!("{}  {}", claims.jti, path.display()));
        }
        None => out::line(text.trim_end()),
    }
    Ok(true)
}

fn claims(options: &Options, now: Timestamp) -> Result<Claims> {
    let customer = options.customer.trim();
    if customer.is_empty() || customer.chars().any(char::is_control) {
        bail!("--customer: a name is needed");
    }
    if options.days == 0 {
        bail!("--days: a licence holds for one day or more");
    }
    let from = match &options.from {
        Some(text) => text.parse::<Timestamp>().map_err(|error| anyhow!("--from: `{text}`: {error}"))?,
        None => now,
    };
    let installation_id = installation(options)?;
    let id = match &options.id {
        Some(id) => id.trim().to_owned(),
        None => random_id()?,
    };
    for id in [&id].into_iter().chain(&options.supersedes).chain(&options.revoke) {
        if id.is_empty() || id.chars().any(|c| c.is_whitespace() || c.is_control()) {
            bail!("`{id}` is no id of a licence");
        }
    }
    if options.supersedes.contains(&id) || options.revoke.contains(&id) {
        bail!("the licence `{id}` would end itself");
    }
    Ok(Claims {
        v: CLAIMS_VERSION,
        jti: id,
        sub: customer.to_owned(),
        iat: now,
        nbf: from,
        exp: from.plus_seconds(i64::from(options.days) * DAY_SECONDS),
        grace_days: options.grace_days,
        installation_id,
        kind: options.kind.into(),
        entitlements: entitlements(&options.entitlements)?,
        limits: limits(&options.limits)?,
        supersedes: options.supersedes.clone(),
        revoked: options.revoke.clone(),
    })
}

fn installation(options: &Options) -> Result<String> {
    let id = match (&options.installation, &options.request) {
        (Some(id), _) => id.trim().to_owned(),
        (None, Some(path)) => requested(path)?,
        (None, None) => return Ok(ANY_INSTALLATION.to_owned()),
    };
    let hexadecimal = id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !hexadecimal {
        bail!("`{id}` is no id of an installation: 32 hexadecimal digits are needed");
    }
    Ok(id)
}

/// Id of the installation in a request: the answer of the API, or its content alone.
fn requested(path: &Path) -> Result<String> {
    let place = || format!("`{}`", path.display());
    let text = std::fs::read_to_string(path).with_context(place)?;
    let request: Value = serde_json::from_str(&text).with_context(place)?;
    let found = ["/data/installationId", "/installationId"].iter().find_map(|at| request.pointer(at));
    let id = found.and_then(Value::as_str).with_context(|| format!("{} has no `installationId`", place()))?;
    Ok(id.to_owned())
}

fn random_id() -> Result<String> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random bytes: {error}"))?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("lic-{digits}"))
}

fn entitlements(names: &[String]) -> Result<BTreeMap<String, bool>> {
    for name in names {
        if Entitlement::parse(name).is_none() {
            bail!(
                "--entitlement: `{name}` is none of {}",
                listed(Entitlement::ALL.iter().map(|one| one.as_str()))
            );
        }
    }
    let includes = |one: Entitlement| names.is_empty() || names.iter().any(|name| name == one.as_str());
    Ok(Entitlement::ALL.iter().map(|one| (one.as_str().to_owned(), includes(*one))).collect())
}

fn limits(texts: &[String]) -> Result<BTreeMap<String, u64>> {
    let mut all = BTreeMap::new();
    for text in texts {
        let (name, number) =
            text.split_once('=').with_context(|| format!("--limit: `{text}`: NAME=NUMBER is needed"))?;
        if Limit::parse(name).is_none() && OrganizationLimit::parse(name).is_none() {
            let own = Limit::ALL.iter().map(|one| one.as_str());
            let names = listed(own.chain(OrganizationLimit::ALL.iter().map(|one| one.as_str())));
            bail!("--limit: `{name}` is none of {names}");
        }
        let number: u64 =
            number.parse().with_context(|| format!("--limit: `{text}`: a whole number is needed"))?;
        if all.insert(name.to_owned(), number).is_some() {
            bail!("--limit: `{name}` is there twice");
        }
    }
    Ok(all)
}

fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use heddle_licence::read;

    use super::*;

    const INSTALLATION: &str = "0123456789abcdef0123456789abcdef";

    fn options() -> Options {
        Options {
            key: PathBuf::new(),
            customer: "Acme".to_owned(),
            installation: Some(INSTALLATION.to_owned()),
            request: None,
            any_installation: false,
            kind: KindWord::Production,
            from: None,
            days: 365,
            grace_days: 14,
            entitlements: Vec::new(),
            limits: vec!["users=50".to_owned(), "runs=1000".to_owned()],
            supersedes: vec!["lic-old".to_owned()],
            revoke: Vec::new(),
            id: None,
            out: None,
        }
    }

    fn now() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_licence_says_what_was_asked_for() {
        let claims = claims(&options(), now()).unwrap();
        assert_eq!((claims.iat, claims.nbf, claims.installation_id.as_str()), (now(), now(), INSTALLATION));
        assert_eq!(claims.exp, now().plus_seconds(365 * DAY_SECONDS));
        assert_eq!(claims.limits, BTreeMap::from([("users".to_owned(), 50), ("runs".to_owned(), 1000)]));
        assert!(claims.entitlements.values().all(|included| *included) && claims.jti.starts_with("lic-"));
        let one = Options { entitlements: vec!["workflow.enabled".to_owned()], ..options() };
        let claims = super::claims(&one, now()).unwrap();
        assert_eq!(claims.entitlements.get("vector.enabled"), Some(&false));
        let any = Options { installation: None, any_installation: true, ..options() };
        assert_eq!(super::claims(&any, now()).unwrap().installation_id, "*");
    }

    #[test]
    fn what_no_installation_would_understand_is_not_signed() {
        let text = |text: &str| vec![text.to_owned()];
        let cases = [
            (Options { customer: " ".to_owned(), ..options() }, "--customer"),
            (Options { days: 0, ..options() }, "--days"),
            (Options { from: Some("tomorrow".to_owned()), ..options() }, "--from"),
            (Options { installation: Some("here".to_owned()), ..options() }, "no id of an installation"),
            (Options { entitlements: text("everything"), ..options() }, "--entitlement"),
            (Options { limits: text("user=5"), ..options() }, "none of organizations, users"),
            (Options { limits: text("users"), ..options() }, "NAME=NUMBER"),
            (Options { limits: text("users=-1"), ..options() }, "whole number"),
            (Options { limits: vec!["users=1".to_owned(), "users=2".to_owned()], ..options() }, "twice"),
            (Options { revoke: text("a b"), ..options() }, "no id of a licence"),
            (Options { id: Some("lic-old".to_owned()), ..options() }, "end itself"),
        ];
        for (wrong, expected) in cases {
            let told = format!("{:#}", claims(&wrong, now()).unwrap_err());
            assert!(told.contains(expected), "{expected}: {told}");
        }
    }

    #[test]
    fn a_request_is_signed_into_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let checkout = place("checkout");
        std::fs::create_dir(&checkout).unwrap();
        let key = SecretKey::new("2026a", [9; 32]).unwrap();
        write_new(&place("2026a.secret"), &key.to_text(), 0o600).unwrap();
        let request = format!("{{\"data\":{{\"installationId\":\"{INSTALLATION}\",\"usage\":{{}}}}}}");
        std::fs::write(place("request.json"), request).unwrap();
        let options = Options {
            key: place("2026a.secret"),
            installation: None,
            request: Some(place("request.json")),
            out: Some(place("acme.licence")),
            ..options()
        };
        assert!(run(&options, &checkout).unwrap());
        let text = std::fs::read_to_string(place("acme.licence")).unwrap();
        let signed = read(&text, |id| (id == "2026a").then(|| key.public_key().unwrap())).unwrap();
        assert_eq!(signed.claims.installation_id, INSTALLATION);
        assert!(run(&options, &checkout).is_err(), "a file that is there is left as it is");
        let inside = Options { out: Some(checkout.join("a.licence")), ..options };
        assert!(run(&inside, &checkout).is_err());
    }
}

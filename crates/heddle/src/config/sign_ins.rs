//! Keys of sign-in by providers, and the file that describes the providers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use heddle_server::{
    ClientAuthentication, ClientSecret, OidcSettings, PlaceRules, ProviderRules, SignInProvider,
};
use serde::Deserialize;

use super::Key;

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "public_url",
        help: "Address under which browsers reach the service, such as https://heddle.example.com; for oidc_file.",
        secret: false,
        set: |config, text| {
            config.public_url = (!text.is_empty()).then(|| text.to_owned());
            Ok(())
        },
        show: |config| config.public_url.clone().unwrap_or_default(),
    },
    Key {
        name: "oidc_file",
        help: "File (TOML) with the providers by which people sign in; shown are their names.",
        secret: false,
        set: |config, text| {
            config.sign_in_providers = if text.is_empty() { Vec::new() } else { read(Path::new(text))? };
            Ok(())
        },
        show: |config| {
            let names = config.sign_in_providers.iter().map(|provider| provider.client.name.as_str());
            names.collect::<Vec<_>>().join(",")
        },
    },
];

/// The file of providers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Providers {
    provider: Vec<Entry>,
}

/// A provider of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    display_name: Option<String>,
    issuer: String,
    client_id: String,
    client_secret: Option<String>,
    client_secret_file: Option<PathBuf>,
    client_secret_env: Option<String>,
    client_authentication: Option<Authentication>,
    scopes: Option<Vec<String>>,
    groups_claim: Option<String>,
    email_verified_claim: Option<String>,
    #[serde(default)]
    create_users: bool,
    #[serde(default)]
    email_domains: Vec<String>,
    #[serde(default)]
    link_accounts: bool,
    #[serde(default)]
    link_administrators: bool,
    #[serde(default)]
    allow_owner: bool,
    required_amr: Option<Vec<String>>,
    organization: Vec<Place>,
}

/// Way in which the secret is shown to the provider.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Authentication {
    Basic,
    Post,
}

/// Roles in one organisation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    slug: String,
    #[serde(default)]
    default_roles: Vec<String>,
    #[serde(default)]
    roles: BTreeMap<String, Vec<String>>,
}

fn read(path: &Path) -> Result<Vec<SignInProvider>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("`{}`", path.display()))?;
    let file: Providers = toml::from_str(&text).with_context(|| format!("`{}`", path.display()))?;
    let mut providers: Vec<SignInProvider> = Vec::new();
    for entry in file.provider {
        let name = entry.name.clone();
        let provider =
            provider(entry).with_context(|| format!("`{}`: the provider `{name}`", path.display()))?;
        if providers.iter().any(|known| known.client.name == name) {
            bail!("`{}`: the provider `{name}` stands twice", path.display());
        }
        providers.push(provider);
    }
    Ok(providers)
}

fn provider(entry: Entry) -> Result<SignInProvider> {
    let client_secret = secret(&entry)?;
    let fallback = OidcSettings::default();
    let client = OidcSettings {
        name: entry.name.clone(),
        issuer: entry.issuer,
        client_id: entry.client_id,
        client_secret,
        client_authentication: match entry.client_authentication {
            Some(Authentication::Post) => ClientAuthentication::Post,
            Some(Authentication::Basic) | None => ClientAuthentication::Basic,
        },
        scopes: entry.scopes.unwrap_or(fallback.scopes),
        groups_claim: entry.groups_claim.unwrap_or(fallback.groups_claim),
        email_verified_claim: entry.email_verified_claim.unwrap_or(fallback.email_verified_claim),
    };
    client.check()?;
    let required_methods = match entry.required_amr {
        Some(methods) if methods.is_empty() => bail!("`required_amr`: leave it out, or name a method"),
        methods => methods.unwrap_or_default(),
    };
    let place = |place: Place| PlaceRules {
        slug: place.slug,
        default_roles: place.default_roles,
        roles: place.roles,
    };
    let rules = ProviderRules {
        name: entry.name.clone(),
        places: entry.organization.into_iter().map(place).collect(),
        create_users: entry.create_users,
        email_domains: entry.email_domains,
        link_accounts: entry.link_accounts,
        link_administrators: entry.link_administrators,
        allow_owner: entry.allow_owner,
        required_methods,
    };
    rules.check()?;
    Ok(SignInProvider { display_name: entry.display_name.unwrap_or(entry.name), client, rules })
}

/// The client secret, from the one place that is named.
fn secret(entry: &Entry) -> Result<Option<ClientSecret>> {
    match (&entry.client_secret, &entry.client_secret_file, &entry.client_secret_env) {
        (None, None, None) => Ok(None),
        (Some(text), None, None) => Ok(Some(ClientSecret::new(text.clone()))),
        (None, Some(path), None) => {
            let text = std::fs::read_to_string(path)
                .with_context(|| format!("`client_secret_file`: `{}`", path.display()))?;
            Ok(Some(ClientSecret::new(text.trim_end_matches(['\r', '\n']))))
        }
        (None, None, Some(name)) => {
            let text = std::env::var(name).with_context(|| format!("`client_secret_env`: `{name}`"))?;
            Ok(Some(ClientSecret::new(text)))
        }
        _ => bail!("one of `client_secret`, `client_secret_file` and `client_secret_env` is enough"),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Effective;

    const GOOD: &str = r#"
        [[provider]]
        name = "corporate"
        display_name = "Corporate account"
        issuer = "https://login.example.com/realms/acme"
        client_id = "heddle"
        client_secret = "canary"
        create_users = true
        email_domains = ["example.com"]

        [[provider.organization]]
        slug = "acme"
        default_roles = ["viewer"]

        [provider.organization.roles]
        "heddle-operators" = ["operator"]
    "#;

    fn load(text: &str) -> Result<Effective, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("oidc.toml");
        std::fs::write(&path, text).unwrap();
        let environment = [("HEDDLE_OIDC_FILE".to_owned(), path.display().to_string())];
        Effective::load(None, &environment, &[]).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn providers_are_read_and_their_secrets_are_not_shown() {
        let effective = load(GOOD).unwrap();
        let [provider] = effective.config.sign_in_providers.as_slice() else { panic!("one provider") };
        assert_eq!(provider.display_name, "Corporate account");
        assert_eq!(provider.rules.places[0].roles["heddle-operators"], ["operator"]);
        assert!(provider.rules.create_users && !provider.rules.link_accounts);
        assert!(!format!("{:?}", effective.config).contains("canary"));
        let shown = effective.rows().into_iter().find(|row| row.name == "oidc_file").unwrap();
        assert_eq!(shown.value, "corporate");
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_provider() {
        for (from, to, word) in [
            ("https://login", "http://login", "`issuer`"),
            ("name = \"corporate\"", "name = \"Corporate\"", "`name`"),
            ("email_domains = [\"example.com\"]", "", "`email_domains`"),
            ("[\"operator\"]", "[\"owner\"]", "allow_owner"),
            ("client_id = \"heddle\"", "client_id = \"heddle\"\nclient_sceret = \"x\"", "client_sceret"),
            ("create_users = true", "create_users = true\nrequired_amr = []", "`required_amr`"),
            ("create_users = true", "create_users = true\nclient_secret_env = \"X\"", "client_secret_file"),
        ] {
            let told = load(&GOOD.replacen(from, to, 1)).err().unwrap();
            assert!(told.contains(word) && told.contains("oidc_file"), "{word}: {told}");
        }
        let twice = format!("{GOOD}{GOOD}");
        assert!(load(&twice).err().unwrap().contains("stands twice"));
    }
}

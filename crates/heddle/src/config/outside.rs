//! Keys of what goes out: the addresses that connections may lead to, and the keys that secrets are sealed with.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use heddle_server::{AllowRule, SecretSetting};

use super::{Key, set_bool, shown};

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "egress_allow",
        help: "Private addresses that connections may lead to, with commas: 10.0.0.0/8:443, 127.0.0.1:11434.",
        secret: false,
        set: |config, text| {
            let rules = text.split(',').map(str::trim).filter(|rule| !rule.is_empty());
            config.egress_allow = rules.map(rule).collect::<Result<_>>()?;
            Ok(())
        },
        show: |config| config.egress_allow.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    },
    Key {
        name: "egress_public",
        help: "Let connections lead to public addresses; false leaves those of egress_allow alone.",
        secret: false,
        set: |config, text| set_bool(&mut config.egress_public, text),
        show: |config| config.egress_public.to_string(),
    },
    Key {
        name: "egress_ca",
        help: "File of authorities, as PEM, whose certificates pass beside those of the system.",
        secret: false,
        set: |config, text| {
            config.egress_ca = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| shown(config.egress_ca.as_deref()),
    },
    Key {
        name: "keyring",
        help: "Keys that secrets are sealed with, instead of the file heddle.keyring; the current one first.",
        secret: true,
        set: |config, text| {
            config.keyring = (!text.is_empty()).then(|| SecretSetting::new(text));
            Ok(())
        },
        show: |config| config.keyring.as_ref().map_or_else(String::new, |_| "keys".to_owned()),
    },
];

fn rule(text: &str) -> Result<AllowRule> {
    text.parse().with_context(|| {
        format!("`{text}` is no rule; an address or a network with its length, and a port: 10.0.0.0/8:443")
    })
}

#[cfg(test)]
mod tests {
    use crate::config::Effective;

    fn environment(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn rules_are_read_and_a_wrong_one_is_named() {
        let given = environment("HEDDLE_EGRESS_ALLOW", "10.0.0.0/8:443, 127.0.0.1:11434");
        let effective = Effective::load(None, &given, &[]).unwrap();
        assert_eq!(effective.config.egress_allow.len(), 2);
        let shown = effective.rows().into_iter().find(|row| row.name == "egress_allow").unwrap();
        assert_eq!(shown.value, "10.0.0.0/8:443,127.0.0.1:11434");
        for wrong in ["everything", "10.0.0.0/64:443", "127.0.0.1:99999"] {
            let refused =
                Effective::load(None, &environment("HEDDLE_EGRESS_ALLOW", wrong), &[]).err().unwrap();
            let told = format!("{refused:#}");
            assert!(told.contains(wrong) && told.contains("egress_allow"), "{told}");
        }
    }

    #[test]
    fn the_keyring_is_not_shown() {
        let effective = Effective::load(None, &environment("HEDDLE_KEYRING", "k1 canary"), &[]).unwrap();
        let shown = effective.rows().into_iter().find(|row| row.name == "keyring").unwrap();
        assert_eq!(shown.value, "***");
        assert!(!format!("{:?}", effective.config).contains("canary"));
    }
}

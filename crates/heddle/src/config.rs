//! The configuration: command line over environment (`HEDDLE_*`) over `heddle.toml` over the defaults. One table of
//! keys drives all of them, so that every key can be given everywhere and an error names it.

mod edge;
mod models;
mod outside;
mod sign_ins;
mod vectors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use heddle_server::{Budget, Config, Durability, Quotas};

/// Source of a value, the strongest last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Source {
    /// Nobody said anything.
    Default,
    /// `heddle.toml`.
    File,
    /// `HEDDLE_*`.
    Environment,
    /// The command line.
    CommandLine,
}

impl Source {
    /// The word for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File => "file",
            Self::Environment => "environment",
            Self::CommandLine => "command line",
        }
    }
}

/// A key of the configuration.
pub(crate) struct Key {
    /// Name in `heddle.toml`; the environment's is `HEDDLE_` with capitals.
    pub name: &'static str,
    /// Purpose of the key, for people.
    pub help: &'static str,
    /// Whether the value must not be shown.
    pub secret: bool,
    set: fn(&mut Config, &str) -> Result<()>,
    show: fn(&Config) -> String,
}

/// Every key.
pub(crate) fn keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter()
        .chain(edge::KEYS)
        .chain(outside::KEYS)
        .chain(sign_ins::KEYS)
        .chain(vectors::KEYS)
        .chain(models::KEYS)
}

const KEYS: &[Key] = &[
    Key {
        name: "data_dir",
        help: "Directory of the database and the key file.",
        secret: false,
        set: |config, text| {
            if text.is_empty() {
                bail!("a path is needed");
            }
            config.data_dir = PathBuf::from(text);
            Ok(())
        },
        show: |config| config.data_dir.display().to_string(),
    },
    Key {
        name: "listen",
        help: "Address and port to listen on; port 0 takes a free one.",
        secret: false,
        set: |config, text| {
            config.listen = text.parse().context("an address and port such as 127.0.0.1:8080 is needed")?;
            Ok(())
        },
        show: |config| config.listen.to_string(),
    },
    Key {
        name: "database_url",
        help: "postgres://... for PostgreSQL; empty for SQLite in the data directory.",
        secret: true,
        set: |config, text| {
            let postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
            if !text.is_empty() && !postgres {
                bail!("an address that begins with postgres:// is needed, or nothing for SQLite");
            }
            config.database_url = (!text.is_empty()).then(|| text.to_owned());
            Ok(())
        },
        show: |config| config.database_url.clone().unwrap_or_default(),
    },
    Key {
        name: "durability",
        help: "full: an answered write survives a loss of power; process: only the end of the process (SQLite).",
        secret: false,
        set: |config, text| {
            config.durability = match text {
                "full" => Durability::Full,
                "process" => Durability::Process,
                _ => bail!("`full` or `process` is needed"),
            };
            Ok(())
        },
        show: |config| match config.durability {
            Durability::Full => "full".to_owned(),
            Durability::Process => "process".to_owned(),
        },
    },
    Key {
        name: "insecure_http",
        help: "Serve plain HTTP beyond the loopback interface.",
        secret: false,
        set: |config, text| set_bool(&mut config.insecure_http, text),
        show: |config| config.insecure_http.to_string(),
    },
    Key {
        name: "tls_cert",
        help: "File of the certificate with its chain, as PEM; with it and its key the server speaks TLS.",
        secret: false,
        set: |config, text| {
            config.tls_cert = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| shown(config.tls_cert.as_deref()),
    },
    Key {
        name: "tls_key",
        help: "File of the certificate's private key, as PEM.",
        secret: false,
        set: |config, text| {
            config.tls_key = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| shown(config.tls_key.as_deref()),
    },
    Key {
        name: "trusted_proxies",
        help: "Addresses of proxies whose forwarded headers are believed, with commas.",
        secret: false,
        set: |config, text| {
            let addresses = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            config.trusted_proxies =
                addresses.map(str::parse).collect::<Result<_, _>>().context("IP addresses are needed")?;
            Ok(())
        },
        show: |config| config.trusted_proxies.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
    },
    Key {
        name: "licence_file",
        help: "File with a licence that the start of the server installs, if it is newer than the one installed.",
        secret: false,
        set: |config, text| {
            config.licence_file = (!text.is_empty()).then(|| PathBuf::from(text));
            Ok(())
        },
        show: |config| {
            config.licence_file.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        },
    },
    Key {
        name: "docs",
        help: "Serve the API pages at /docs.",
        secret: false,
        set: |config, text| set_bool(&mut config.docs, text),
        show: |config| config.docs.to_string(),
    },
    Key {
        name: "roles",
        help: "Service roles of this node, with commas: workflow, vector.",
        secret: false,
        set: |config, text| {
            let roles: Vec<String> =
                text.split(',').map(|role| role.trim().to_owned()).filter(|role| !role.is_empty()).collect();
            if let Some(unknown) = roles.iter().find(|role| !matches!(role.as_str(), "workflow" | "vector")) {
                bail!("`{unknown}` is no service role; there are workflow and vector");
            }
            config.roles = roles;
            Ok(())
        },
        show: |config| config.roles.join(","),
    },
    Key {
        name: "workers",
        help: "Threads that serve requests, 1 to 256.",
        secret: false,
        set: |config, text| {
            config.workers = number(text, 1, 256)? as usize;
            Ok(())
        },
        show: |config| config.workers.to_string(),
    },
    Key {
        name: "session_idle_minutes",
        help: "Minutes after which an unused session ends, 1 to 1440.",
        secret: false,
        set: |config, text| {
            config.session_idle_minutes = number(text, 1, 1440)?;
            Ok(())
        },
        show: |config| config.session_idle_minutes.to_string(),
    },
    Key {
        name: "session_hours",
        help: "Hours after which every session ends, 1 to 720.",
        secret: false,
        set: |config, text| {
            config.session_hours = number(text, 1, 720)?;
            Ok(())
        },
        show: |config| config.session_hours.to_string(),
    },
    Key {
        name: "preview_files",
        help: "Previewed files that an organisation may have unclaimed, 1 to 100000; the oldest go.",
        secret: false,
        set: |config, text| {
            config.preview_files = number(text, 1, 100_000)?;
            Ok(())
        },
        show: |config| config.preview_files.to_string(),
    },
    Key {
        name: "preview_megabytes",
        help: "Megabytes of these files, 1 to 1048576; the oldest go.",
        secret: false,
        set: |config, text| {
            config.preview_megabytes = number(text, 1, 1 << 20)?;
            Ok(())
        },
        show: |config| config.preview_megabytes.to_string(),
    },
    Key {
        name: "manual_activation_default",
        help: "Whether tasks and stages of cases without a manual activation rule wait to be started by hand.",
        secret: false,
        set: |config, text| set_bool(&mut config.manual_activation_default, text),
        show: |config| config.manual_activation_default.to_string(),
    },
    Key {
        name: "starts_per_second",
        help: "Runs that callers of one organisation may start in a second, 1 to 1000000.",
        secret: false,
        set: |config, text| {
            config.starts_per_second = number(text, 1, 1_000_000)?;
            Ok(())
        },
        show: |config| config.starts_per_second.to_string(),
    },
    Key {
        name: "messages_per_second",
        help: "Messages and signals of one organisation in a second, 1 to 1000000.",
        secret: false,
        set: |config, text| {
            config.messages_per_second = number(text, 1, 1_000_000)?;
            Ok(())
        },
        show: |config| config.messages_per_second.to_string(),
    },
    Key {
        name: "step_seconds",
        help: "Seconds after which a step of a run that still computes is given up, 1 to 3600.",
        secret: false,
        set: |config, text| {
            config.step_limit = Duration::from_secs(number(text, 1, 3_600)?.into());
            Ok(())
        },
        show: |config| config.step_limit.as_secs().to_string(),
    },
    Key {
        name: "job_lapses",
        help: "Times in a row that a job's lock may run out before the job is set aside, 1 to 1000000.",
        secret: false,
        set: |config, text| {
            config.job_lapses = number(text, 1, 1_000_000)?;
            Ok(())
        },
        show: |config| config.job_lapses.to_string(),
    },
    Key {
        name: "audit_retention_days",
        help: "Days after which audit events are dropped, behind a signed checkpoint, up to 36500; 0 keeps them.",
        secret: false,
        set: |config, text| {
            config.audit_retention_days = number(text, 0, 36_500)?;
            Ok(())
        },
        show: |config| config.audit_retention_days.to_string(),
    },
    Key {
        name: "budgets",
        help: "Budgets of steps and runs that differ from the defaults, name=number with commas.",
        secret: false,
        set: |config, text| {
            config.budget = budgets(text)?;
            Ok(())
        },
        show: |config| {
            let pairs = config.budget.named().into_iter().zip(Budget::DEFAULT.named());
            let other = pairs.filter(|(own, default)| own != default);
            other.map(|((name, value), _)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
        },
    },
    Key {
        name: "quotas",
        help: "Quotas of what one organisation has stored that differ from the defaults, name=number with commas.",
        secret: false,
        set: |config, text| {
            config.quotas = quotas(text)?;
            Ok(())
        },
        show: |config| {
            let pairs = config.quotas.named().into_iter().zip(Quotas::DEFAULT.named());
            let other = pairs.filter(|(own, default)| own != default);
            other.map(|(own, _)| format!("{}={}", own.name, own.most)).collect::<Vec<_>>().join(",")
        },
    },
];

/// The keys of a file: those of a section have its name in front, so that `model_dir` in `[vectors]` is `vectors_model_dir`.
fn sections(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut keys = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(own) if [vectors::SECTION, models::SECTION].contains(&name.as_str()) => {
                keys.extend(own.into_iter().map(|(key, value)| (format!("{name}_{key}"), value)));
            }
            other => keys.push((name, other)),
        }
    }
    keys
}

/// A path that may be absent.
fn shown(path: Option<&Path>) -> String {
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

fn budgets(text: &str) -> Result<Budget> {
    let mut budget = Budget::DEFAULT;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let changed = part
            .split_once('=')
            .and_then(|(name, value)| budget.with(name.trim(), value.trim().parse().ok()?));
        let Some(changed) = changed else {
            let names: Vec<&str> = budget.named().into_iter().map(|(name, _)| name).collect();
            bail!("`{part}` is no budget; `name=number` is needed, with one of {}", names.join(", "));
        };
        budget = changed;
    }
    Ok(budget)
}

fn quotas(text: &str) -> Result<Quotas> {
    let mut quotas = Quotas::DEFAULT;
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let changed =
            part.split_once('=').and_then(|(name, most)| quotas.with(name.trim(), most.trim().parse().ok()?));
        let Some(changed) = changed else {
            let names: Vec<&str> = quotas.named().into_iter().map(|quota| quota.name).collect();
            bail!("`{part}` is no quota; `name=number` is needed, with one of {}", names.join(", "));
        };
        quotas = changed;
    }
    Ok(quotas)
}

fn set_bool(target: &mut bool, text: &str) -> Result<()> {
    *target = match text {
        "true" | "1" | "yes" => true,
        "false" | "0" | "no" => false,
        _ => bail!("`true` or `false` is needed"),
    };
    Ok(())
}

fn number(text: &str, least: u32, most: u32) -> Result<u32> {
    match text.parse::<u32>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => bail!("a number from {least} to {most} is needed"),
    }
}

/// A key as it is shown.
pub(crate) struct Row {
    /// Name of the key.
    pub name: &'static str,
    /// Value in effect; masked if it is secret.
    pub value: String,
    /// Source of the value.
    pub source: Source,
    /// Purpose of the key, for people.
    pub help: &'static str,
}

/// The effective configuration with the source of each value.
pub(crate) struct Effective {
    /// The configuration.
    pub config: Config,
    /// Variables of the environment that look like ours and are none, by name.
    pub unknown: Vec<String>,
    sources: BTreeMap<&'static str, Source>,
}

impl Effective {
    /// Puts the layers over each other.
    ///
    /// # Errors
    /// Names the key, where it was given, and what is wrong with it.
    pub(crate) fn load(
        file: Option<&Path>,
        environment: &[(String, String)],
        command_line: &[(&'static str, String)],
    ) -> Result<Self> {
        let mut effective = Self { config: Config::default(), unknown: Vec::new(), sources: BTreeMap::new() };
        effective.read_file(file)?;
        for (name, value) in environment {
            effective.set_from_environment(name, value)?;
        }
        for (name, value) in command_line {
            let option = name.replace('_', "-");
            effective.set(name, value, Source::CommandLine).with_context(|| format!("--{option}"))?;
        }
        Ok(effective)
    }

    fn read_file(&mut self, file: Option<&Path>) -> Result<()> {
        let path = file.unwrap_or_else(|| Path::new("heddle.toml"));
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && file.is_none() => return Ok(()),
            Err(error) => return Err(error).with_context(|| format!("`{}`", path.display())),
        };
        let table: toml::Table = text.parse().with_context(|| format!("`{}`", path.display()))?;
        for (name, value) in sections(table) {
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Array(items) => {
                    let texts = items.iter().map(|item| item.as_str().unwrap_or_default());
                    texts.collect::<Vec<_>>().join(",")
                }
                other => other.to_string(),
            };
            self.set(&name, &text, Source::File).with_context(|| format!("`{}`", path.display()))?;
        }
        Ok(())
    }

    fn set_from_environment(&mut self, name: &str, value: &str) -> Result<()> {
        // Variables of the tests, of the project's own tools and of the client share the prefix.
        const OTHERS: [&str; 7] = ["TEST_", "BIN", "SUITES", "CONFIG", "LOG", "SERVER", "TOKEN"];
        let Some(rest) = name.strip_prefix("HEDDLE_") else { return Ok(()) };
        if OTHERS.iter().any(|other| rest.starts_with(other)) {
            return Ok(());
        }
        // Whoever starts the program may set variables for other reasons: Kubernetes sets `HEDDLE_PORT` and others in
        // every pod beside a service of this name. So one that is no key is told, and no reason not to start.
        if !keys().any(|key| key.name == rest.to_lowercase()) {
            self.unknown.push(name.to_owned());
            return Ok(());
        }
        self.set(&rest.to_lowercase(), value, Source::Environment)
            .with_context(|| format!("the environment variable `{name}`"))
    }

    fn set(&mut self, name: &str, value: &str, source: Source) -> Result<()> {
        let Some(key) = keys().find(|key| key.name == name) else {
            bail!("`{name}` is not a key of the configuration; `heddle config` lists them");
        };
        (key.set)(&mut self.config, value).with_context(|| format!("the key `{name}`"))?;
        self.sources.insert(key.name, source);
        Ok(())
    }

    /// Each key with its value, secrets masked, its source, and what it is for.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |key: &'static Key| {
            let value = (key.show)(&self.config);
            let shown = if key.secret { masked(&value) } else { value };
            let source = self.sources.get(key.name).copied().unwrap_or(Source::Default);
            Row { name: key.name, value: shown, source, help: key.help }
        };
        keys().map(row).collect()
    }
}

/// A database address without its password.
fn masked(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return if address.is_empty() { String::new() } else { "***".to_owned() };
    };
    // A password may hold any character but `@` and `/`; parameters may hold one too.
    let (authority, parameters) = rest.split_once('?').map_or((rest, ""), |(head, _)| (head, "?***"));
    match authority.rsplit_once('@') {
        Some((user, host)) => {
            let name = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{name}:***@{host}{parameters}")
        }
        None => format!("{scheme}://{authority}{parameters}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_command_line_wins_over_the_environment_and_that_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heddle.toml");
        std::fs::write(&file, "listen = \"127.0.0.1:1\"\nworkers = 3\ndocs = false\n").unwrap();
        let environment = env(&[("HEDDLE_LISTEN", "127.0.0.1:2"), ("HEDDLE_WORKERS", "4"), ("PATH", "x")]);
        let options = [("listen", "127.0.0.1:3".to_owned())];
        let effective = Effective::load(Some(&file), &environment, &options).unwrap();
        assert_eq!(effective.config.listen.port(), 3);
        assert_eq!(effective.config.workers, 4);
        assert!(!effective.config.docs);
        let listen = effective.rows().into_iter().find(|row| row.name == "listen").unwrap();
        assert_eq!((listen.value.as_str(), listen.source), ("127.0.0.1:3", Source::CommandLine));
    }

    #[test]
    fn an_error_names_the_key_and_where_it_was_given() {
        let cases = [
            (env(&[("HEDDLE_LISTEN", "nowhere")]), ["HEDDLE_LISTEN", "`listen`"]),
            (env(&[("HEDDLE_WORKERS", "many")]), ["HEDDLE_WORKERS", "`workers`"]),
            (env(&[("HEDDLE_DURABILITY", "none")]), ["HEDDLE_DURABILITY", "`durability`"]),
            (env(&[("HEDDLE_DATABASE_URL", "mysql://x")]), ["HEDDLE_DATABASE_URL", "postgres://"]),
        ];
        for (environment, words) in cases {
            let error =
                Effective::load(None, &environment, &[]).err().map(|error| format!("{error:#}")).unwrap();
            assert!(words.iter().all(|word| error.contains(word)), "{error}");
        }
    }

    #[test]
    fn a_variable_that_is_no_key_is_told_and_changes_nothing() {
        let environment = env(&[
            ("HEDDLE_PORT", "tcp://10.0.0.1:8080"),
            ("HEDDLE_SERVICE_HOST", "10.0.0.1"),
            ("HEDDLE_PORT_8080_TCP_ADDR", "10.0.0.1"),
            ("HEDDLE_LOG", "debug"),
            ("HEDDLE_WORKERS", "4"),
        ]);
        let effective = Effective::load(None, &environment, &[]).unwrap();
        assert_eq!(effective.config.workers, 4);
        assert_eq!(effective.unknown, ["HEDDLE_PORT", "HEDDLE_SERVICE_HOST", "HEDDLE_PORT_8080_TCP_ADDR"]);
    }

    #[test]
    fn every_key_stands_in_the_page_and_no_other() {
        // Keys of a feature that a build need not have.
        const OF_A_FEATURE: [&str; 2] = ["models_chat_dir", "models_chat_megabytes"];
        let page = include_str!("../../../docs/configuration.md");
        let (table, _) = page.split_once("## The log").unwrap();
        let cells =
            table.lines().filter(|line| line.starts_with("| `")).filter_map(|row| row.split('|').nth(1));
        let told: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        for key in keys() {
            assert!(told.contains(&key.name), "docs/configuration.md does not tell of `{}`", key.name);
        }
        for name in told {
            let is_key = keys().any(|key| key.name == name) || OF_A_FEATURE.contains(&name);
            assert!(is_key, "docs/configuration.md tells of `{name}`, which is no key");
        }
    }

    #[test]
    fn passwords_are_masked() {
        for (address, shown) in [
            ("postgres://heddle:s3cret@db/heddle", "postgres://heddle:***@db/heddle"),
            ("postgres:///heddle?password=s3cret", "postgres:///heddle?***"),
            ("", ""),
        ] {
            assert_eq!(masked(address), shown);
        }
    }
}

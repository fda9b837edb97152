//! Keys of models: limits and the budget of an organisation, its deployments, and how long single calls are kept. In the file
//! they may stand in the section `[models]`, without their first word.

use anyhow::{Context as _, Result, bail};
use heddle_server::{ModelBudget, ModelBudgetPeriod, ModelLimits};

use super::{Key, number, set_bool};

/// Section of the file, and first word of every key.
pub(super) const SECTION: &str = "models";

/// The keys.
pub(super) const KEYS: &[Key] = &[
    Key {
        name: "models_limits",
        help: "Limits of the calls of models that one organisation makes on a server, name=number with commas: \
               requestsPerMinute, tokensPerMinute, concurrency, queueTimeoutMs.",
        secret: false,
        set: |config, text| {
            config.models.limits =
                ModelLimits { budget: config.models.limits.budget.clone(), ..limits(text)? };
            Ok(())
        },
        show: |config| shown_limits(&config.models.limits),
    },
    Key {
        name: "models_budget",
        help: "The most that one organisation spends on models: period=day or period=month, with costMicros=number, \
               tokens=number or both; empty for no bound.",
        secret: false,
        set: |config, text| {
            config.models.limits.budget = budget(text)?;
            Ok(())
        },
        show: |config| config.models.limits.budget.as_ref().map(shown_budget).unwrap_or_default(),
    },
    Key {
        name: "models_deployments",
        help: "Deployments that one organisation may have, 1 to 100000.",
        secret: false,
        set: |config, text| {
            config.models.deployments = number(text, 1, 100_000)?;
            Ok(())
        },
        show: |config| config.models.deployments.to_string(),
    },
    Key {
        name: "models_usage_days",
        help: "Days after which single calls of models are forgotten, 1 to 3650; the sums stay.",
        secret: false,
        set: |config, text| {
            config.models.usage_days = number(text, 1, 3650)?;
            Ok(())
        },
        show: |config| config.models.usage_days.to_string(),
    },
    Key {
        name: "models_cache_seconds",
        help: "Seconds for which answers at temperature 0 are kept for the same question, 0 to 86400; 0 keeps none.",
        secret: false,
        set: |config, text| {
            config.models.cache_seconds = number(text, 0, 86_400)?;
            Ok(())
        },
        show: |config| config.models.cache_seconds.to_string(),
    },
    Key {
        name: "models_built_in",
        help: "Whether organisations have the models inside the service: embeddings, and answers out of passages.",
        secret: false,
        set: |config, text| set_bool(&mut config.models.built_in, text),
        show: |config| config.models.built_in.to_string(),
    },
    #[cfg(feature = "local-candle")]
    Key {
        name: "models_chat_dir",
        help: "Directory of GGUF files of models that chat in the process; none when empty.",
        secret: false,
        set: |config, text| {
            config.models.chat_dir = (!text.is_empty()).then(|| std::path::PathBuf::from(text));
            Ok(())
        },
        show: |config| super::shown(config.models.chat_dir.as_deref()),
    },
    #[cfg(feature = "local-candle")]
    Key {
        name: "models_chat_megabytes",
        help: "Megabytes that models of files may have in memory, 1 to 1048576.",
        secret: false,
        set: |config, text| {
            config.models.chat_megabytes = number(text, 1, 1_048_576)?;
            Ok(())
        },
        show: |config| config.models.chat_megabytes.to_string(),
    },
];

fn limits(text: &str) -> Result<ModelLimits> {
    let mut limits = ModelLimits::default();
    for (name, value) in pairs(text)? {
        let wrong = || format!("`{name}={value}`: a number from 1 on is needed");
        let number = value.parse::<u64>().ok().filter(|number| *number > 0).with_context(wrong)?;
        let small = || u32::try_from(number).with_context(wrong);
        match name {
            "requestsPerMinute" => limits.requests_per_minute = Some(small()?),
            "tokensPerMinute" => limits.tokens_per_minute = Some(number),
            "concurrency" => limits.concurrency = Some(small()?),
            "queueTimeoutMs" => limits.queue_timeout_ms = Some(small()?),
            _ => bail!(
                "`{name}` is no limit; there are requestsPerMinute, tokensPerMinute, concurrency and queueTimeoutMs"
            ),
        }
    }
    Ok(limits)
}

/// Names and values, such as `a=1,b=2`.
fn pairs(text: &str) -> Result<Vec<(&str, &str)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &'_ str| -> Result<()> {
        match part.split_once('=') {
            Some(_) => Ok(()),
            None => bail!("`{part}`: name=value is needed"),
        }
    };
    parts.clone().try_for_each(pair)?;
    Ok(parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect())
}

fn budget(text: &str) -> Result<Option<ModelBudget>> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut made = ModelBudget { period: ModelBudgetPeriod::Month, cost_micros: None, tokens: None };
    for (name, value) in pairs(text)? {
        let number = || {
            let number = value.parse::<i64>().ok().filter(|number| *number >= 0);
            number.with_context(|| format!("`{name}={value}`: a number is needed"))
        };
        match name {
            "period" => {
                let period = ModelBudgetPeriod::parse(value);
                made.period =
                    period.with_context(|| format!("`period={value}`: `day` or `month` is needed"))?;
            }
            "costMicros" => made.cost_micros = Some(number()?),
            "tokens" => made.tokens = Some(number()?),
            _ => bail!("`{name}` is no part of a budget; there are period, costMicros and tokens"),
        }
    }
    if made.cost_micros.is_none() && made.tokens.is_none() {
        bail!("a budget bounds costMicros, tokens or both");
    }
    Ok(Some(made))
}

fn shown_limits(limits: &ModelLimits) -> String {
    let all = [
        ("requestsPerMinute", limits.requests_per_minute.map(u64::from)),
        ("tokensPerMinute", limits.tokens_per_minute),
        ("concurrency", limits.concurrency.map(u64::from)),
        ("queueTimeoutMs", limits.queue_timeout_ms.map(u64::from)),
    ];
    let told = all.iter().filter_map(|(name, value)| Some(format!("{name}={}", (*value)?)));
    told.collect::<Vec<_>>().join(",")
}

fn shown_budget(budget: &ModelBudget) -> String {
    let mut told = vec![format!("period={}", budget.period.as_str())];
    told.extend(budget.cost_micros.map(|most| format!("costMicros={most}")));
    told.extend(budget.tokens.map(|most| format!("tokens={most}")));
    told.join(",")
}

#[cfg(test)]
mod tests {
    use crate::config::Effective;

    fn load(name: &str, value: &str) -> anyhow::Result<Effective> {
        Effective::load(None, &[(name.to_owned(), value.to_owned())], &[])
    }

    fn shown(effective: &Effective, name: &str) -> String {
        effective.rows().into_iter().find(|row| row.name == name).unwrap().value
    }

    #[test]
    fn limits_and_the_budget_are_read_by_their_names() {
        let limits = load("HEDDLE_MODELS_LIMITS", "concurrency=4, tokensPerMinute=100000").unwrap();
        assert_eq!(limits.config.models.limits.concurrency, Some(4));
        assert_eq!(shown(&limits, "models_limits"), "tokensPerMinute=100000,concurrency=4");
        let budget = load("HEDDLE_MODELS_BUDGET", "period=day,costMicros=5000000").unwrap();
        assert_eq!(shown(&budget, "models_budget"), "period=day,costMicros=5000000");
        for wrong in ["concurrency", "concurrency=0", "speed=1"] {
            assert!(load("HEDDLE_MODELS_LIMITS", wrong).is_err(), "{wrong}");
        }
        for wrong in ["period=day", "period=year,tokens=1", "tokens=-1", "tokens"] {
            assert!(load("HEDDLE_MODELS_BUDGET", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_limit_and_a_budget_do_not_take_each_others_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heddle.toml");
        std::fs::write(&file, "[models]\nbudget = \"tokens=7\"\nlimits = \"concurrency=2\"\n").unwrap();
        let effective = Effective::load(Some(&file), &[], &[]).unwrap();
        let limits = &effective.config.models.limits;
        assert_eq!(
            (limits.concurrency, limits.budget.as_ref().and_then(|one| one.tokens)),
            (Some(2), Some(7))
        );
    }
}

//! Licence expressions as packages give them: SPDX, and the older form with a slash for `OR`.

use anyhow::{Context, Result, bail};

/// A licence expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expression {
    /// One licence, perhaps with an exception.
    Licence(String),
    /// All of them hold.
    All(Vec<Expression>),
    /// One of them is to be chosen.
    Any(Vec<Expression>),
}

/// The expression in SPDX's form.
pub(crate) fn spdx(text: &str) -> String {
    text.replace('/', " OR ").split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Expression {
    /// Reads one.
    ///
    /// # Errors
    /// When it is none.
    pub(crate) fn read(text: &str) -> Result<Self> {
        let spaced = spdx(text).replace('(', " ( ").replace(')', " ) ");
        let mut words = spaced.split_whitespace().collect::<Vec<_>>();
        words.reverse();
        let read = any(&mut words).with_context(|| format!("`{text}` is no licence expression"))?;
        match words.pop() {
            None => Ok(read),
            Some(word) => bail!("`{text}`: `{word}` stands where an expression has ended"),
        }
    }

    /// The licences under which it is taken, chosen in the order of preference; none when it can't be.
    pub(crate) fn choose<'a>(&'a self, preferred: &[String]) -> Option<Vec<&'a str>> {
        match self {
            Self::Licence(name) => preferred.contains(name).then(|| vec![name.as_str()]),
            Self::All(parts) => {
                let chosen: Option<Vec<Vec<&str>>> =
                    parts.iter().map(|part| part.choose(preferred)).collect();
                Some(chosen?.concat())
            }
            Self::Any(parts) => {
                let rank = |chosen: &Vec<&str>| {
                    let place =
                        |name: &&str| preferred.iter().position(|one| one == name).unwrap_or(usize::MAX);
                    chosen.iter().map(place).max()
                };
                parts.iter().filter_map(|part| part.choose(preferred)).min_by_key(rank)
            }
        }
    }

    /// Every licence in it.
    pub(crate) fn licences(&self) -> Vec<&str> {
        match self {
            Self::Licence(name) => vec![name],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::licences).collect(),
        }
    }
}

/// Words are taken from the end of the list, which begins with the last one.
fn any(words: &mut Vec<&str>) -> Result<Expression> {
    joined(words, "OR", all, Expression::Any)
}

fn all(words: &mut Vec<&str>) -> Result<Expression> {
    joined(words, "AND", one, Expression::All)
}

fn joined(
    words: &mut Vec<&str>,
    by: &str,
    part: fn(&mut Vec<&str>) -> Result<Expression>,
    make: fn(Vec<Expression>) -> Expression,
) -> Result<Expression> {
    let first = part(words)?;
    let mut parts = vec![first.clone()];
    while words.last() == Some(&by) {
        words.pop();
        parts.push(part(words)?);
    }
    Ok(if parts.len() == 1 { first } else { make(parts) })
}

fn one(words: &mut Vec<&str>) -> Result<Expression> {
    match words.pop() {
        Some("(") => {
            let inner = any(words)?;
            if words.pop() != Some(")") {
                bail!("a bracket is not closed");
            }
            Ok(inner)
        }
        None | Some(")" | "AND" | "OR" | "WITH") => bail!("a licence is missing"),
        Some(name) if words.last() == Some(&"WITH") => {
            words.pop();
            let exception = words.pop().context("an exception is missing")?;
            Ok(Expression::Licence(format!("{name} WITH {exception}")))
        }
        Some(name) => Ok(Expression::Licence(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_chosen_where_there_is_a_choice_and_all_are_taken_where_there_is_none() {
        let preferred = ["Apache-2.0", "MIT", "BSD-3-Clause"].map(str::to_owned);
        for (text, chosen) in [
            ("MIT", Some("MIT")),
            ("MIT/Apache-2.0", Some("Apache-2.0")),
            ("Apache-2.0 / MIT", Some("Apache-2.0")),
            ("GPL-3.0-only OR MIT", Some("MIT")),
            ("(Apache-2.0 OR MIT) AND BSD-3-Clause", Some("Apache-2.0 BSD-3-Clause")),
            ("Apache-2.0 WITH LLVM-exception OR MIT", Some("MIT")),
            ("MIT OR Apache-2.0 AND BSD-3-Clause", Some("MIT")),
            ("MIT AND GPL-3.0-only", None),
            ("Apache-2.0 WITH LLVM-exception", None),
            ("GPL-3.0-or-later", None),
        ] {
            let read = Expression::read(text).unwrap();
            let found = read.choose(&preferred).map(|chosen| chosen.join(" "));
            assert_eq!(found.as_deref(), chosen, "{text}");
        }
        for wrong in ["", "MIT OR", "(MIT", "MIT MIT", "OR MIT", "MIT WITH"] {
            assert!(Expression::read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(spdx("MIT/Apache-2.0"), "MIT OR Apache-2.0");
        let all = Expression::read("(MIT OR Zlib) AND Unicode-3.0").unwrap();
        assert_eq!(all.licences(), ["MIT", "Zlib", "Unicode-3.0"]);
    }
}

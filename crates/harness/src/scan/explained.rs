//! Findings that were looked into, each with its reason. A finding that is not among them fails the scan.

use anyhow::{Context, Result, bail};

use super::Finding;

/// Findings with their reasons: scanner, kind, place, detail, reason, parted by tabs. `*` is any.
const LIST: &str = include_str!("explained.tsv");

/// A finding that was looked into.
#[derive(Debug)]
pub(crate) struct Explained {
    tool: &'static str,
    kind: &'static str,
    place: &'static str,
    detail: &'static str,
    /// The reason.
    pub why: &'static str,
}

impl Explained {
    /// Whether this is the finding.
    pub(crate) fn tells_of(&self, finding: &Finding) -> bool {
        let is = |own: &str, found: &str| own == "*" || own == found;
        // A whole scanner is never explained away.
        self.tool == finding.tool
            && self.kind == finding.kind
            && is(self.place, &finding.place)
            && is(self.detail, &finding.detail)
    }
}

/// All of them.
pub(crate) fn list() -> Result<Vec<Explained>> {
    LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(read).collect()
}

fn read(line: &'static str) -> Result<Explained> {
    let mut parts = line.split('\t');
    let mut next = || parts.next().with_context(|| format!("five columns are needed: {line}"));
    let explained = Explained { tool: next()?, kind: next()?, place: next()?, detail: next()?, why: next()? };
    if parts.next().is_some() || explained.why.is_empty() {
        bail!("five columns are needed: {line}");
    }
    Ok(explained)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_and_explains_its_own_findings_alone() {
        let all = list().unwrap();
        let mut finding = Finding {
            tool: "wapiti",
            kind: "HTTP Secure Headers".to_owned(),
            place: "GET /".to_owned(),
            detail: "X-Frame-Options is not set".to_owned(),
        };
        assert!(all.iter().any(|one| one.tells_of(&finding)));
        finding.detail = "X-Content-Type-Options is not set".to_owned();
        assert!(!all.iter().any(|one| one.tells_of(&finding)));
        assert!(all.iter().all(|one| one.kind != "*" && one.tool != "*"));
    }
}

//! Sqlmap: statements in the members of bodies, in queries and in ids.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::process::Command;

use super::targets::Target;
use super::{Finding, Scene, place};

/// Longest time for one operation.
const EACH: Duration = Duration::from_secs(30);

/// Scans one operation after the other until the time is over; the findings, and the number of those that it came to
/// an end with.
pub(super) async fn scan(scene: &Scene, targets: &[Target], time: Duration) -> Result<(Vec<Finding>, usize)> {
    let begun = Instant::now();
    let (mut found, mut reached) = (Vec::new(), 0);
    for (number, target) in targets.iter().enumerate() {
        let Some(request) = request(scene, target) else { continue };
        let left = time.saturating_sub(begun.elapsed());
        if left < Duration::from_secs(1) {
            break;
        }
        let file = scene.folder.path().join(format!("request-{number}.txt"));
        std::fs::write(&file, request).context("the request cannot be written")?;
        let (told, has_ended) = one(&file, scene.folder.path(), left.min(EACH)).await?;
        reached += usize::from(has_ended);
        found.extend(told.into_iter().map(|detail| Finding {
            tool: "sqlmap",
            kind: "SQL injection".to_owned(),
            place: place(&scene.address, &target.label),
            detail,
        }));
    }
    Ok((found, reached))
}

/// Parameters of one request that sqlmap takes for open, and whether it came to its end.
async fn one(request: &Path, folder: &Path, time: Duration) -> Result<(Vec<String>, bool)> {
    let mut command = Command::new("sqlmap");
    command.arg("-r").arg(request).args(["--batch", "--flush-session", "--disable-coloring", "--skip-waf"]);
    command.arg("--output-dir").arg(folder.join("sqlmap"));
    // Statements that wait are left out: they would tell of the machine's load.
    command.args(["--level", "1", "--risk", "1", "--technique", "BEU", "--ignore-code", "*"]);
    command.args(["--timeout", "10", "--retries", "0"]).kill_on_drop(true);
    // What was told until the time is over counts, too.
    let told = request.with_extension("told");
    let output = std::fs::File::create(&told).context("what is told cannot be written")?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn().context("sqlmap cannot be started")?;
    let has_ended = tokio::time::timeout(time, child.wait()).await.is_ok();
    if !has_ended {
        child.kill().await.context("sqlmap cannot be ended")?;
    }
    let text = std::fs::read(&told).context("what is told cannot be read")?;
    let text = String::from_utf8_lossy(&text).into_owned();
    if has_ended && !text.contains("starting @") {
        bail!("sqlmap does not start:\n{text}");
    }
    Ok((parameters(&text), has_ended))
}

/// Lines that name a parameter that is open.
fn parameters(text: &str) -> Vec<String> {
    let named = text.lines().filter_map(|line| line.strip_prefix("Parameter: "));
    named.map(|name| name.trim().to_owned()).collect()
}

/// A request as text, with the place to be tried marked where it is an id; none when there is nothing to be tried.
fn request(scene: &Scene, target: &Target) -> Option<String> {
    let host = scene.address.trim_start_matches("http://");
    let has_id = target.label.contains('{');
    let path = match (&target.body, target.query.as_str()) {
        (Some(_), _) => target.path.clone(),
        (None, "") if has_id => format!("{}*", target.path),
        (None, "") => return None,
        (None, query) => format!("{}?{query}", target.path),
    };
    let head = format!(
        "{} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nAccept: application/json\r\n",
        target.method, scene.token
    );
    Some(match &target.body {
        Some(body) => format!("{head}Content-Type: application/json\r\n\r\n{body}"),
        None => format!("{head}\r\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_parameters_are_read_from_what_is_told() {
        let text = "sqlmap identified the following injection point(s) with a total of 50 HTTP(s) requests:\n---\n\
                    Parameter: q (GET)\n    Type: boolean-based blind\n---\n";
        assert_eq!(parameters(text), ["q (GET)"]);
        assert!(parameters("all tested parameters do not appear to be injectable").is_empty());
    }
}

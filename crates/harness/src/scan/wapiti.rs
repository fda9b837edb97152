//! Wapiti: headers, methods, and what can be put into the parameters of an address.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::process::Command;

use super::targets::Target;
use super::{Finding, Scene, place};

/// Modules that need neither the lists of others nor a server outside.
const MODULES: [&str; 12] = [
    "backup",
    "blindsql",
    "cookieflags",
    "crlf",
    "csp",
    "exec",
    "file",
    "http_headers",
    "methods",
    "redirect",
    "shellshock",
    "sql",
];

/// Scans all that is read, for about so long.
pub(super) async fn scan(scene: &Scene, targets: &[Target], time: Duration) -> Result<Vec<Finding>> {
    let folder = scene.folder.path();
    let (report, starts) = (folder.join("wapiti.json"), folder.join("starts.txt"));
    let read = targets.iter().filter(|target| target.method == "GET");
    let urls: Vec<String> = read.map(|target| url(scene, target)).collect();
    std::fs::write(&starts, urls.join("\n")).context("the addresses cannot be written")?;
    let attack = (time.as_secs() / (MODULES.len() as u64 + 3)).max(2);
    let mut command = Command::new("wapiti");
    command.args(["--url", &format!("{}/", scene.address), "--scope", "domain", "--start"]).arg(&starts);
    command.args(["--module", &MODULES.join(","), "--format", "json", "--output"]).arg(&report);
    command.args(["--header", &format!("Authorization: Bearer {}", scene.token)]);
    command.args(["--max-scan-time", &(attack * 3).to_string(), "--max-attack-time", &attack.to_string()]);
    command.arg("--store-session").arg(folder).arg("--store-config").arg(folder);
    // Nothing is told or asked elsewhere.
    command.args(["--endpoint", &format!("{}/", scene.address), "--no-bugreport", "--timeout", "10"]);
    command.args(["--depth", "1", "--verbose", "0"]).kill_on_drop(true);
    // A module ends its present payload before it looks at the clock.
    let output = tokio::time::timeout(time * 3, command.output()).await;
    let output = output.context("wapiti does not end")?.context("wapiti cannot be started")?;
    let Ok(text) = std::fs::read_to_string(&report) else {
        bail!("wapiti wrote no report:\n{}", String::from_utf8_lossy(&output.stderr).trim());
    };
    let report = serde_json::from_str(&text).context("the report of wapiti is no JSON")?;
    Ok(findings(&report, &scene.address))
}

fn url(scene: &Scene, target: &Target) -> String {
    let sign = if target.query.is_empty() { "" } else { "?" };
    format!("{}{}{sign}{}", scene.address, target.path, target.query)
}

/// Findings of a report, and what it calls anomalies.
fn findings(report: &Value, address: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for part in ["vulnerabilities", "anomalies"] {
        for (kind, all) in report.get(part).and_then(Value::as_object).into_iter().flatten() {
            for one in all.as_array().into_iter().flatten() {
                let text = |name: &str| one.get(name).and_then(Value::as_str).unwrap_or_default();
                let at = format!("{} {}", text("method"), place(address, text("path")));
                let detail = place(address, text("info")).replace(['\n', '\r'], " ");
                found.push(Finding { tool: "wapiti", kind: kind.clone(), place: at, detail });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn vulnerabilities_and_anomalies_are_findings() {
        let one =
            json!({ "method": "GET", "path": "/", "info": "X-Frame-Options is not set", "parameter": "" });
        let report = json!({ "vulnerabilities": { "HTTP Secure Headers": [one], "SQL Injection": [] },
            "anomalies": { "Internal Server Error": [{ "method": "GET", "path": "/a", "info": "b\nc" }] } });
        let found = findings(&report, "http://127.0.0.1:1");
        let lines: Vec<_> =
            found.iter().map(|one| format!("{} {} {}", one.kind, one.place, one.detail)).collect();
        assert_eq!(
            lines,
            ["HTTP Secure Headers GET / X-Frame-Options is not set", "Internal Server Error GET /a b c"]
        );
    }
}

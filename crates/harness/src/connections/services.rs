//! The services: a process that serves until this value goes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

use heddle_harness_kit::pip::Environment;

const REQUIREMENT: &str = "aiosmtpd>=1.4.6,<2 trustme>=1.2,<2 moto[server,s3,iam]>=5,<6";

/// Running services with their addresses.
pub(super) struct Services {
    child: Child,
    facts: Value,
}

impl Services {
    /// Installs what they are made of, if it is not there, and starts them with a secret.
    pub(super) fn start(secret: &str) -> Result<Self> {
        let mut command = Environment::install("connections", REQUIREMENT)?
            .python("services.py", include_str!("services.py"))?;
        command.env("CONNECTIONS_SECRET", secret);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("the services cannot be started")?;
        let mut line = String::new();
        let told = child.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        told.context("the services have no output")?.context("the services say nothing")?;
        let facts = serde_json::from_str(&line).context("the services do not start")?;
        Ok(Self { child, facts })
    }

    /// Their addresses.
    pub(super) const fn facts(&self) -> &Value {
        &self.facts
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        // One that is gone needs no end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

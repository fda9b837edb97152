//! A worker as a process of its own, and what it says.

use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{Child, Command};

/// The longest wait for a line.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A line that a worker said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    /// `took`, `did` or `refused`.
    pub word: String,
    /// Act that the task asked for.
    pub act: String,
    /// The task.
    pub id: String,
}

impl Said {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let said = Self { word: words.next()?, act: words.next()?, id: words.next()? };
        matches!(said.word.as_str(), "took" | "did" | "refused").then_some(said)
    }
}

/// A worker that runs; it ends with this value.
pub(crate) struct Worker {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Worker {
    /// Starts a worker.
    pub(crate) fn start(command: std::process::Command) -> Result<Self> {
        let mut command = Command::from(command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("the worker cannot be started")?;
        let lines = Arc::new(Mutex::new(Vec::new()));
        keep(child.stdout.take().context("no output of the worker")?, &lines);
        keep(child.stderr.take().context("no output of the worker")?, &lines);
        Ok(Self { child, lines })
    }

    /// Lines about tasks that it said so far.
    pub(crate) fn said(&self) -> Vec<Said> {
        self.lines().iter().filter_map(|line| Said::read(line)).collect()
    }

    /// The last lines, for people.
    pub(crate) fn tail(&self) -> String {
        let lines = self.lines();
        lines.iter().skip(lines.len().saturating_sub(15)).cloned().collect::<Vec<_>>().join("\n")
    }

    /// Waits until it said something about an act.
    pub(crate) async fn until(&mut self, word: &str, act: &str) -> Result<()> {
        let begin = Instant::now();
        while !self.said().iter().any(|said| said.word == word && said.act == act) {
            if let Some(status) = self.child.try_wait()? {
                bail!("the worker ended with {status}:\n{}", self.tail());
            }
            if begin.elapsed() > PATIENCE {
                bail!("the worker did not say `{word} {act}`:\n{}", self.tail());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Kills it in the middle of what it does.
    pub(crate) async fn kill(mut self) -> Result<()> {
        self.child.kill().await.context("the worker cannot be killed")
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps the lines of an output as they come.
fn keep(output: impl AsyncRead + Unpin + Send + 'static, lines: &Arc<Mutex<Vec<String>>>) {
    let (lines, mut reader) = (Arc::clone(lines), BufReader::new(output).lines());
    tokio::spawn(async move {
        while let Ok(Some(line)) = reader.next_line().await {
            lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_or_is_none() {
        let said = Said { word: "refused".to_owned(), act: "late".to_owned(), id: "7".to_owned() };
        assert_eq!(Said::read("refused late 7 it is gone"), Some(said));
        for other in ["", "took", "topology 8.8.0 1", "2026-11-22 INFO took late 7"] {
            assert_eq!(Said::read(other), None, "{other}");
        }
    }
}

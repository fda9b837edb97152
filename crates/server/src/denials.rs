//! Refusals go to the audit log, but never hold a caller up and never flood the log: the same refusal of the same
//! caller within a second becomes one event with a count.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use heddle_identity::ports::InstallationStore;
use heddle_kernel::TenantId;
use heddle_usecase::AuditEntry;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

/// Most refusals that wait to be written; more are counted in the log alone.
const QUEUE: usize = 4096;
/// The time in which the same refusals become one.
const WINDOW: Duration = Duration::from_millis(250);

enum Message {
    Denied(Box<AuditEntry>),
    Flush(oneshot::Sender<()>),
}

/// Takes refusals.
#[derive(Clone)]
pub struct Denials(mpsc::Sender<Message>);

impl std::fmt::Debug for Denials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Denials").finish_non_exhaustive()
    }
}

impl Denials {
    /// Starts the writer on the present runtime.
    #[must_use]
    pub fn start(store: Arc<dyn InstallationStore>) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(write(store, receiver));
        Self(sender)
    }

    /// Hands a refusal over.
    pub fn push(&self, entry: AuditEntry) {
        if self.0.try_send(Message::Denied(Box::new(entry))).is_err() {
            tracing::warn!("a refusal was not audited: too many at once");
        }
    }

    /// Waits until everything handed over is written, or could not be.
    pub async fn flush(&self) {
        let (done, written) = oneshot::channel();
        if self.0.send(Message::Flush(done)).await.is_ok() {
            let _ = written.await;
        }
    }
}

type Kind = (Option<TenantId>, Option<String>, String, String);

async fn write(store: Arc<dyn InstallationStore>, mut receiver: mpsc::Receiver<Message>) {
    while let Some(first) = receiver.recv().await {
        let mut gathered: HashMap<Kind, (AuditEntry, u64)> = HashMap::new();
        let mut flushes = Vec::new();
        gather(first, &mut gathered, &mut flushes);
        let window = tokio::time::sleep(WINDOW);
        tokio::pin!(window);
        while flushes.is_empty() {
            tokio::select! {
                () = &mut window => break,
                next = receiver.recv() => match next {
                    Some(next) => gather(next, &mut gathered, &mut flushes),
                    None => break,
                },
            }
        }
        for (mut entry, count) in gathered.into_values() {
            if let (true, Some(details)) = (count > 1, entry.details.as_object_mut()) {
                details.insert("count".to_owned(), json!(count));
            }
            if let Err(error) = store.audit(&entry).await {
                tracing::warn!(error = %error, action = entry.action, "a refusal was not audited");
            }
        }
        for done in flushes {
            let _ = done.send(());
        }
    }
}

fn gather(
    message: Message,
    gathered: &mut HashMap<Kind, (AuditEntry, u64)>,
    flushes: &mut Vec<oneshot::Sender<()>>,
) {
    match message {
        Message::Denied(entry) => {
            let details = entry.details.to_string();
            let kind = (entry.tenant, entry.actor.id.clone(), entry.action.clone(), details);
            gathered.entry(kind).and_modify(|(_, count)| *count += 1).or_insert((*entry, 1));
        }
        Message::Flush(done) => flushes.push(done),
    }
}

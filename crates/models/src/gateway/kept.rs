//! Answers that are kept for a while: the same question of the same organisation to the same deployment, at temperature 0,
//! is answered without the provider. Exact matches alone; a node's own, in memory, within bounds.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use heddle_kernel::{ModelDeploymentId, TenantId};
use heddle_models_wire::{ChatRequest, ChatResponse, FinishReason};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::route::Route;

/// Bytes that a question has at most.
const QUESTION: usize = 64 << 10;
/// Bytes that an answer has at most.
const ANSWER: usize = 256 << 10;
/// Bytes of all that is kept.
const ALL: usize = 32 << 20;
/// Bytes of an entry beside its texts.
const ENTRY: usize = 256;
/// Members of a question that say nothing of its answer.
const ASIDE: [&str; 3] = ["model", "stream", "stream_options"];

/// A question: of whom, to which deployment in which state, and all of its members in their order.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    tenant: TenantId,
    deployment: ModelDeploymentId,
    /// Revisions of the deployment, of its connection and of its model.
    state: String,
    members: String,
}

impl Question {
    /// The question of an organisation to a deployment; none where its answer is not kept, since it leaves something to
    /// chance or is too long.
    pub(crate) fn of(tenant: TenantId, route: &Route, request: &ChatRequest) -> Option<Self> {
        let is_certain = matches!(request.member("temperature"), Some("0" | "0.0"));
        if !is_certain || request.body().len() > QUESTION {
            return None;
        }
        let mut members: Map<String, Value> = serde_json::from_slice(request.body()).ok()?;
        for name in ASIDE {
            members.remove(name);
        }
        let (deployment, connection) = (&route.deployment, &route.connection.connection);
        let model = deployment.model_revision.as_deref().unwrap_or_default();
        let state = format!("{}/{}/{model}", deployment.revision.0, connection.revision.0);
        Some(Self { tenant, deployment: deployment.id, state, members: Value::Object(members).to_string() })
    }

    const fn bytes(&self) -> usize {
        self.state.len() + self.members.len() + ENTRY
    }
}

struct Entry {
    response: ChatResponse,
    until: Instant,
}

#[derive(Default)]
struct All {
    entries: HashMap<Arc<Question>, Entry>,
    /// Each question once, the one that came first in front.
    order: VecDeque<Arc<Question>>,
    bytes: usize,
}

/// The answers that a node keeps.
pub(crate) struct Kept {
    time: Duration,
    all: Mutex<All>,
}

impl Kept {
    /// Keeps answers for a time; for none nothing is kept.
    pub(crate) fn new(time: Duration) -> Self {
        Self { time, all: Mutex::default() }
    }

    /// Whether anything is kept.
    pub(crate) const fn is_on(&self) -> bool {
        !self.time.is_zero()
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question, as long as it is kept.
    pub(crate) fn find(&self, question: &Question) -> Option<ChatResponse> {
        let all = self.all();
        let entry = all.entries.get(question)?;
        (Instant::now() < entry.until).then(|| entry.response.clone())
    }

    /// Keeps an answer, unless it is too long or was withheld; the oldest ones make room.
    pub(crate) fn keep(&self, question: Question, response: &ChatResponse) {
        if response.finish.contains(&FinishReason::ContentFilter) || response.body.len() > ANSWER {
            return;
        }
        let entry = Entry { response: response.clone(), until: Instant::now() + self.time };
        let question = Arc::new(question);
        let mut guard = self.all();
        let all = &mut *guard;
        all.bytes += response.body.len();
        match all.entries.insert(question.clone(), entry) {
            Some(before) => all.bytes = all.bytes.saturating_sub(before.response.body.len()),
            None => {
                all.bytes += question.bytes();
                all.order.push_back(question);
            }
        }
        while all.bytes > ALL
            && let Some(oldest) = all.order.pop_front()
        {
            if let Some(gone) = all.entries.remove(&oldest) {
                all.bytes = all.bytes.saturating_sub(oldest.bytes() + gone.response.body.len());
            }
        }
    }
}

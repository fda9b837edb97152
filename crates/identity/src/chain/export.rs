//! Verification of an exported trail, line by line, without the database that it came from.

use std::collections::BTreeMap;

use heddle_kernel::{TenantId, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::checkpoint::{Checkpoint, CheckpointKind, PublicKey};
use super::record::{Hash, INSTALLATION_TRAIL, link};
use super::verify::FaultReason;

/// First thing that is wrong with an exported trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFault {
    /// Number of the line, from 1; 0 where it is about the end.
    pub line: u64,
    /// Number of the record in the chain.
    pub sequence: i64,
    /// Id of the event, as the line has it.
    pub event: Option<String>,
    /// The reason.
    pub reason: FaultReason,
}

/// Content of an exported trail that was found whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportFindings {
    /// The organisation; [`INSTALLATION_TRAIL`] for the installation's own trail.
    pub tenant: TenantId,
    /// Number of records that were verified.
    pub records: u64,
    /// Number of the last record.
    pub last: i64,
    /// Number of lines that were not sealed yet when they were exported: nothing is said of them.
    pub unsealed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    record: Option<String>,
    hash: Option<String>,
    #[serde(default)]
    checkpoints: Vec<Signed>,
}

#[derive(Deserialize)]
struct Signed {
    statement: String,
    signature: String,
}

/// A reader of an export of one trail.
#[derive(Debug)]
pub struct ExportReader {
    key: PublicKey,
    anchors: BTreeMap<i64, Checkpoint>,
    trail: Option<TenantId>,
    reached: i64,
    hash: Hash,
    vouched: i64,
    lines: u64,
    records: u64,
    unsealed: u64,
}

impl ExportReader {
    /// A reader that believes this key, and holds the trail against checkpoints that were kept elsewhere.
    #[must_use]
    pub fn new(key: PublicKey, anchors: Vec<Checkpoint>) -> Self {
        let anchors = anchors.into_iter().map(|anchor| (anchor.statement.sequence, anchor)).collect();
        let (trail, hash) = (None, Hash::NONE);
        Self { key, anchors, trail, reached: 0, hash, vouched: 0, lines: 0, records: 0, unsealed: 0 }
    }

    /// The trail that a line is of, if it is a sealed record.
    #[must_use]
    pub fn trail_of(text: &str) -> Option<TenantId> {
        let line: Line = serde_json::from_str(text).ok()?;
        let told: Value = serde_json::from_str(&line.record?).ok()?;
        text_of(&told, "organizationId").parse().ok()
    }

    fn fault(&self, sequence: i64, event: Option<&str>, reason: FaultReason) -> ExportFault {
        ExportFault { line: self.lines, sequence, event: event.map(str::to_owned), reason }
    }

    /// Looks at the next line.
    ///
    /// # Errors
    /// The fault.
    pub fn line(&mut self, text: &str) -> Result<(), ExportFault> {
        self.lines += 1;
        let next = self.reached + 1;
        let unreadable = |reader: &Self| reader.fault(next, None, FaultReason::Unreadable);
        let Ok(shown) = serde_json::from_str::<Value>(text) else { return Err(unreadable(self)) };
        let Ok(line) = Line::deserialize(&shown) else { return Err(unreadable(self)) };
        let (Some(record), Some(hash)) = (&line.record, &line.hash) else {
            if line.record.is_some()
                || line.hash.is_some()
                || shown.get("sequence").is_some_and(|n| !n.is_null())
            {
                return Err(self.fault(next, None, FaultReason::Changed));
            }
            self.unsealed += 1;
            return Ok(());
        };
        let Ok(told) = serde_json::from_str::<Value>(record) else { return Err(unreadable(self)) };
        let event = shown.get("id").and_then(Value::as_str);
        self.begin(&told, &line, event)?;
        let next = self.reached + 1;
        let sequence = told.get("sequence").and_then(Value::as_i64).unwrap_or(0);
        if sequence != next {
            let reason = if sequence > next { FaultReason::Missing } else { FaultReason::Misplaced };
            return Err(self.fault(next, event, reason));
        }
        let own = link(record);
        let is_next = text_of(&told, "previousHash") == self.hash.to_string();
        if !is_next || *hash != own.to_string() || !is_shown(&shown, &told) || !self.is_of_trail(&told) {
            return Err(self.fault(next, event, FaultReason::Changed));
        }
        (self.reached, self.hash) = (sequence, own);
        self.records += 1;
        let kept = self.anchors.get(&sequence).cloned();
        let stated = line.checkpoints.iter().map(|one| Checkpoint::of_text(&one.statement, &one.signature));
        for checkpoint in stated.chain(kept.map(Some)) {
            let Some(checkpoint) = checkpoint else {
                return Err(self.fault(sequence, event, FaultReason::Forged));
            };
            self.checkpoint(&checkpoint, event)?;
        }
        Ok(())
    }

    /// The first record says which trail it is. One that is not the first of the chain stands behind records that were
    /// dropped, as a signed checkpoint on its line tells.
    fn begin(&mut self, told: &Value, line: &Line, event: Option<&str>) -> Result<(), ExportFault> {
        if self.trail.is_some() {
            return Ok(());
        }
        let Ok(trail) = text_of(told, "organizationId").parse() else {
            return Err(self.fault(1, event, FaultReason::Unreadable));
        };
        self.trail = Some(trail);
        let sequence = told.get("sequence").and_then(Value::as_i64).unwrap_or(0);
        if sequence <= 1 {
            return Ok(());
        }
        let stated = line.checkpoints.iter().map(|one| Checkpoint::of_text(&one.statement, &one.signature));
        let dropped = stated.flatten().find(|one| {
            one.statement.kind == CheckpointKind::Dropped && one.statement.sequence == sequence - 1
        });
        let Some(dropped) = dropped else { return Err(self.fault(1, event, FaultReason::Missing)) };
        if dropped.statement.tenant != trail || !dropped.is_signed_by(&self.key) {
            return Err(self.fault(sequence - 1, event, FaultReason::Forged));
        }
        (self.reached, self.hash, self.vouched) = (sequence - 1, dropped.statement.hash, sequence - 1);
        Ok(())
    }

    fn is_of_trail(&self, told: &Value) -> bool {
        self.trail.is_some_and(|trail| text_of(told, "organizationId") == trail.to_string())
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint, event: Option<&str>) -> Result<(), ExportFault> {
        let statement = &checkpoint.statement;
        if Some(statement.tenant) != self.trail || !checkpoint.is_signed_by(&self.key) {
            return Err(self.fault(statement.sequence, event, FaultReason::Forged));
        }
        if statement.sequence != self.reached {
            return Ok(());
        }
        if statement.hash != self.hash {
            return Err(self.fault(self.vouched + 1, event, FaultReason::Rewritten));
        }
        self.vouched = self.reached;
        Ok(())
    }

    /// Looks at the end. A trail without a sealed record has none that can be verified.
    ///
    /// # Errors
    /// `Truncated`, `Unsigned`, `Missing` for a trail without records.
    pub fn finish(self) -> Result<ExportFindings, ExportFault> {
        let at_end = |sequence, reason| ExportFault { line: 0, sequence, event: None, reason };
        let Some(tenant) = self.trail else { return Err(at_end(1, FaultReason::Missing)) };
        let told = self.anchors.iter().next_back().map_or(0, |(sequence, _)| *sequence);
        if told > self.reached {
            return Err(at_end(self.reached + 1, FaultReason::Truncated));
        }
        if self.vouched < self.reached {
            return Err(at_end(self.vouched + 1, FaultReason::Unsigned));
        }
        Ok(ExportFindings { tenant, records: self.records, last: self.reached, unsealed: self.unsealed })
    }
}

fn text_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a line shows what its record tells.
fn is_shown(shown: &Value, told: &Value) -> bool {
    let of = |value: &Value, path: &str| value.pointer(path).cloned().unwrap_or(Value::Null);
    if told.get("unreadable").is_some() {
        return of(shown, "/id") == of(told, "/id") && text_of(shown, "action").is_empty();
    }
    let alike = [
        ("/id", "/id"),
        ("/sequence", "/sequence"),
        ("/action", "/action"),
        ("/resourceType", "/resourceType"),
        ("/resourceId", "/resourceId"),
        ("/requestId", "/requestId"),
        ("/ip", "/clientIp"),
        ("/actor/kind", "/actorKind"),
        ("/actor/displayName", "/actorDisplay"),
        ("/details", "/details"),
    ];
    let outcome = match text_of(told, "outcome") {
        "succeeded" => "success",
        "failed" => "failure",
        other => other,
    };
    let at = Timestamp::from_micros(told.get("atMicros").and_then(Value::as_i64).unwrap_or_default());
    let organization = Some(text_of(told, "organizationId"))
        .filter(|id| *id != INSTALLATION_TRAIL.to_string())
        .map_or(Value::Null, Value::from);
    let reason = of(told, "/details/reason");
    let reason = if reason.is_string() { reason } else { Value::Null };
    alike.iter().all(|(member, column)| of(shown, member) == of(told, column))
        && text_of(shown, "outcome") == outcome
        && text_of(shown, "at") == at.to_string()
        && of(shown, "/organizationId") == organization
        && is_actor_shown(shown, told)
        && is_target_shown(shown, told)
        && of(shown, "/reason") == reason
}

/// Whether a line shows the account and the credential that its record tells: by a token, or by a session.
fn is_actor_shown(shown: &Value, told: &Value) -> bool {
    let of = |path: &str| shown.pointer(path).cloned().unwrap_or(Value::Null);
    let column = |name: &str| told.get(name).cloned().unwrap_or(Value::Null);
    let (user, credential) = (column("actorId"), column("actorCredential"));
    let user = if matches!(text_of(told, "actorKind"), "system" | "anonymous") { Value::Null } else { user };
    let (token, session) = match text_of(told, "actorKind") {
        "apiToken" | "service" => (credential, Value::Null),
        _ => (Value::Null, credential),
    };
    of("/actor/userId") == user && of("/actor/tokenId") == token && of("/actor/sessionId") == session
}

/// Whether a line shows the second thing that its record tells.
fn is_target_shown(shown: &Value, told: &Value) -> bool {
    let of = |name: &str| told.get(name).filter(|value| value.is_string());
    let target = match (of("targetType"), of("targetId")) {
        (Some(kind), Some(id)) => json!({ "kind": kind, "id": id }),
        _ => Value::Null,
    };
    shown.get("target").unwrap_or(&Value::Null) == &target
}

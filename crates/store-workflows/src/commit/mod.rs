//! The hot path: many units in one transaction, one arm for each database.
//!
//! Documents are made before the connection is taken, so that the one writer of SQLite only writes.

mod halves;
mod postgres;
mod sqlite;
mod statements;
#[cfg(test)]
mod tests;
mod unnest;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use heddle_kernel::TenantId;
use heddle_store::document::encode;
use heddle_store::journal::JournalRows;
use heddle_store::schema::ErrandRow;
use heddle_store::{At, Db, Error, Id};
use heddle_usecase::StoreError;
use heddle_usecase::errand::NewErrand;
use heddle_workflows::ports::{
    Activation, InboxWrite, JobChange, LockChange, RunWrite, TaskChange, Transaction, WriteTurn,
};
use heddle_workflows::quotas::Used;
use heddle_workflows::records::HumanTask;
use serde_json::Value;

use crate::kept::{Written, writing_to};
use crate::named;
use crate::quotas::Guard;
use crate::rows::{case_ids, count, run_ids, sequence};
use crate::schema::{
    BindingDbRow, CandidateRow, DataStoreRow, EndingDbRow, EventsDbRow, FeedRow, InboxDbRow, JobDbRow,
    LetterDbRow, OutgoingDbRow, RunDbRow, SubscriptionDbRow, TaskDbRow, TimerDbRow,
};
use crate::words::{CandidateKind, CandidateWord, JobStateWord, Standing, StandingWord, TaskStateWord};

/// A unit as rows.
struct UnitRows {
    tenant: Id,
    steps: Vec<StepRows>,
    inbox: Option<InboxRows>,
    delivered: Option<Id>,
    advance: Option<AdvanceRow>,
    activation: Option<Activation>,
    locks: Vec<LockChange>,
    letters: Vec<LetterDbRow>,
    settled: Option<Id>,
    errands: Vec<ErrandRow>,
    journal: JournalRows,
}

/// A step of a run as rows.
struct StepRows {
    run: RunDbRow,
    expected: Option<i64>,
    events: Option<FeedRow>,
    timers: Vec<TimerDbRow>,
    timers_removed: Vec<String>,
    subscriptions: Vec<SubscriptionDbRow>,
    subscriptions_removed: Vec<String>,
    tasks: Vec<TaskRows>,
    jobs: JobRows,
    outgoing: Vec<OutgoingDbRow>,
    stores: Vec<DataStoreRow>,
}

/// Changes of jobs as rows.
#[derive(Default)]
struct JobRows {
    opened: Vec<JobDbRow>,
    stood: Vec<StandRow>,
    ended: Vec<EndingDbRow>,
    withdrawn: Vec<EndingDbRow>,
}

/// Another stand of a job.
struct StandRow {
    job: Id,
    state: JobStateWord,
    retries: i32,
    attempt: i32,
    due_at: Option<At>,
    message: Option<String>,
    epoch: Option<i64>,
    stays: bool,
}

enum TaskRows {
    Open(Box<TaskDbRow>, Vec<CandidateRow>),
    Assign(Id, Option<String>),
    End { task: Id, state: TaskStateWord, ended_at: Option<At>, completed_by: Option<Id> },
}

enum InboxRows {
    Insert(Box<InboxDbRow>),
    Consume { id: Id, run_ids: Vec<u8>, case_ids: Option<Vec<u8>> },
}

struct AdvanceRow {
    binding: BindingDbRow,
    next_due_at: Option<At>,
    timer: Option<Vec<u8>>,
}

impl UnitRows {
    fn of(unit: Transaction) -> Result<Self, Error> {
        let of_inbox = |write: &InboxWrite| match write {
            InboxWrite::Insert(event) => Some(event.tenant),
            InboxWrite::Consume { .. } => None,
        };
        let tenant = unit
            .tenant
            .or_else(|| unit.runs.first().map(|write| write.run.tenant))
            .or_else(|| unit.inbox.as_ref().and_then(of_inbox))
            .or_else(|| unit.advance.as_ref().map(|advance| advance.binding.tenant))
            .ok_or(StoreError::NotFound)?;
        // Nothing is written for another organisation than the unit's.
        let foreign = unit.runs.iter().any(|write| {
            write.run.tenant != tenant || write.outgoing.iter().any(|thrown| thrown.tenant != tenant)
        }) || unit.inbox.as_ref().and_then(of_inbox).is_some_and(|of| of != tenant)
            || unit.advance.as_ref().is_some_and(|advance| advance.binding.tenant != tenant)
            || unit.letters.iter().any(|letter| letter.tenant != tenant)
            || unit.errands.iter().any(|errand| errand.lane.tenant != tenant);
        if foreign {
            return Err(StoreError::NotFound.into());
        }
        let inbox = match unit.inbox {
            Some(InboxWrite::Insert(event)) => Some(InboxRows::Insert(Box::new(InboxDbRow::of(event)?))),
            Some(InboxWrite::Consume { id, receivers }) => Some(InboxRows::Consume {
                id: id.into(),
                run_ids: run_ids(receivers.run_ids)?,
                case_ids: case_ids(receivers.case_ids)?,
            }),
            None => None,
        };
        let advance = match unit.advance {
            Some(advance) => Some(AdvanceRow {
                binding: BindingDbRow::of(&advance.binding)?,
                next_due_at: advance.next_due_at.map(At),
                timer: advance.timer.as_ref().map(heddle_store::document::encode).transpose()?,
            }),
            None => None,
        };
        let errand_row = |errand: NewErrand| {
            let due = errand.created_at;
            ErrandRow::of(errand, due)
        };
        let steps =
            unit.runs.into_iter().map(|write| StepRows::of(tenant, write)).collect::<Result<_, _>>()?;
        Ok(Self {
            tenant: tenant.into(),
            steps,
            inbox,
            delivered: unit.delivered.map(Id::from),
            advance,
            activation: unit.activation,
            locks: unit.locks,
            letters: unit.letters.into_iter().map(LetterDbRow::of).collect::<Result<_, _>>()?,
            settled: unit.settled.map(Id::from),
            errands: unit.errands.into_iter().map(errand_row).collect::<Result<_, _>>()?,
            journal: unit.unit.into(),
        })
    }

    /// Numbers that it adds to what quotas bound. A step of a run that is there adds nothing: budgets bound it.
    fn adds(&self) -> Used {
        let bytes = |stored: &[u8]| u64::try_from(stored.len()).unwrap_or(u64::MAX);
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let mut sum = Used { dead_letters: number(self.letters.len()), ..Used::default() };
        for step in self.steps.iter().filter(|step| step.expected.is_none()) {
            let open = step.tasks.iter().filter(|task| matches!(task, TaskRows::Open(..))).count();
            sum = sum.plus(Used {
                runs: 1,
                open_tasks: number(open),
                stored_bytes: step.run.bytes.unsigned_abs(),
                dead_letters: 0,
            });
        }
        if let Some(InboxRows::Insert(event)) = &self.inbox {
            sum = sum.plus(Used { stored_bytes: bytes(&event.payload), ..Used::default() });
        }
        // What a step of a run that is there asks for is written in any case.
        if sum != Used::default() {
            let errands = self.errands.iter().map(|errand| bytes(&errand.payload)).sum();
            sum = sum.plus(Used { stored_bytes: errands, ..Used::default() });
        }
        sum
    }

    /// Whether it has a part that few units have, which is written by statements of its own.
    fn has_rare(&self) -> bool {
        self.settled.is_some()
            || self.steps.iter().any(|step| !step.stores.is_empty())
            || !self.letters.is_empty()
            || self.advance.is_some()
            || matches!(self.inbox, Some(InboxRows::Consume { .. }))
    }

    /// Things that it writes to.
    fn written(&self) -> impl Iterator<Item = Written> {
        let tenant = self.tenant;
        self.steps.iter().map(move |step| Written::RunsOf(tenant.into(), step.run.workflow_id.into()))
    }

    /// Workflows of which this unit begins runs.
    fn begun(&self) -> impl Iterator<Item = Id> {
        self.steps.iter().filter(|step| step.expected.is_none()).map(|step| step.run.workflow_id)
    }
}

impl StepRows {
    fn of(tenant: TenantId, write: RunWrite) -> Result<Self, Error> {
        let (id, is_new) = (write.run.id, write.expected.is_none());
        let last_sequence = sequence(write.run.last_sequence);
        let first_sequence = sequence(write.first_sequence);
        let started_by = write.run.created_by.map(Id::from);
        let tasks = write.tasks.into_iter().map(|change| TaskRows::of(tenant, started_by, change));
        let outgoing = write.outgoing.into_iter().map(OutgoingDbRow::of);
        // Of one store the last write counts.
        let last: BTreeMap<String, Value> =
            write.stores.into_iter().map(|own| (own.store, own.value)).collect();
        let written_at = write.run.updated_at;
        let stores = last.into_iter().map(|(name, value)| {
            Ok(DataStoreRow {
                organization_id: tenant.into(),
                name,
                value: encode(&value)?,
                run_id: id.into(),
                written_at: written_at.into(),
            })
        });
        let stores = stores.collect::<Result<_, Error>>()?;
        Ok(Self {
            expected: write.expected.map(|revision| revision.0),
            events: write.events.map(|events| FeedRow {
                row: EventsDbRow {
                    organization_id: tenant.into(),
                    run_id: id.into(),
                    first_sequence,
                    last_sequence,
                    events,
                },
                commit: 0,
            }),
            timers: write.timers_added.into_iter().map(|row| TimerDbRow::of(tenant, id, row)).collect(),
            timers_removed: write.timers_removed,
            subscriptions: write
                .subscriptions_added
                .into_iter()
                .map(|row| SubscriptionDbRow::of(tenant, id, row))
                .collect(),
            subscriptions_removed: write.subscriptions_removed,
            tasks: tasks.collect::<Result<_, _>>()?,
            jobs: JobRows::of(tenant, write.jobs)?,
            outgoing: outgoing.collect::<Result<_, _>>()?,
            stores,
            run: RunDbRow::of(write.run, write.packed, is_new)?,
        })
    }
}

impl JobRows {
    fn of(tenant: TenantId, changes: Vec<JobChange>) -> Result<Self, Error> {
        let mut rows = Self::default();
        for change in changes {
            match change {
                JobChange::Open(job) if job.tenant == tenant => rows.opened.push(JobDbRow::of(*job)?),
                JobChange::End(ending) if ending.tenant == tenant => {
                    rows.ended.push(EndingDbRow::of(*ending))
                }
                JobChange::Withdraw(ending) if ending.tenant == tenant => {
                    rows.withdrawn.push(EndingDbRow::of(*ending));
                }
                JobChange::Open(_) | JobChange::End(_) | JobChange::Withdraw(_) => {
                    return Err(StoreError::NotFound.into());
                }
                JobChange::Stand { job, stand, message, epoch, stays, .. } => rows.stood.push(StandRow {
                    job: job.into(),
                    state: JobStateWord(stand.state),
                    retries: count(stand.retries),
                    attempt: count(stand.attempt),
                    due_at: stand.due_at.map(At),
                    message,
                    epoch,
                    stays,
                }),
            }
        }
        Ok(rows)
    }
}

impl TaskRows {
    fn of(tenant: TenantId, started_by: Option<Id>, change: TaskChange) -> Result<Self, Error> {
        Ok(match change {
            TaskChange::Open(task) => {
                let candidates = candidates(&task);
                let standing = StandingWord(Standing::of(task.state, task.assignee.is_some()));
                let row = TaskDbRow::of(*task, started_by)?;
                let candidate = |(kind, name)| CandidateRow {
                    organization_id: tenant.into(),
                    task_id: row.id,
                    kind: CandidateWord(kind),
                    name,
                    instance_kind: row.instance_kind,
                    workflow_id: row.workflow_id,
                    standing,
                    due_order: row.due_order,
                    created_at: row.created_at,
                    started_by,
                };
                let candidates = candidates.into_iter().map(candidate).collect();
                if row.organization_id != tenant.into() {
                    return Err(StoreError::NotFound.into());
                }
                Self::Open(Box::new(row), candidates)
            }
            TaskChange::Assign(task, assignee) => Self::Assign(task.into(), assignee),
            TaskChange::End { task, state, at, by } => Self::End {
                task: task.into(),
                state: TaskStateWord(state),
                ended_at: Some(at.into()),
                completed_by: by.map(Id::from),
            },
        })
    }
}

/// Those who may take a task, each once; everyone, when it names nobody.
fn candidates(task: &HumanTask) -> BTreeSet<(CandidateKind, String)> {
    let users = task.candidate_users.iter().map(|name| (CandidateKind::User, name.clone()));
    let groups = task.candidate_groups.iter().map(|name| (CandidateKind::Group, name.clone()));
    let mut named: BTreeSet<_> = users.chain(groups).collect();
    if named.is_empty() {
        named.insert((CandidateKind::Everyone, String::new()));
    }
    named
}

/// A unit's rows, or why it can't be written.
type Prepared = Result<UnitRows, StoreError>;
/// Outcome of each unit.
type Answers = Vec<Result<(), StoreError>>;

/// Writes units, each for itself. The answers stand in the order of the units. The turn is given back as soon as another
/// transaction may be written.
pub(crate) async fn commit(
    db: &Db,
    quotas: &Guard,
    units: Vec<Transaction>,
    to_write: Option<WriteTurn>,
) -> Answers {
    let count = units.len();
    if count == 0 {
        return Vec::new();
    }
    let mut prepared: Vec<Prepared> =
        units.into_iter().map(|unit| UnitRows::of(unit).map_err(StoreError::from)).collect();
    let turn = quotas.turn(db).await;
    within_quotas(db, quotas, &mut prepared).await;
    let guard = writing_to(db, prepared.iter().flatten().flat_map(|rows| rows.written()));
    let written = match db {
        Db::Sqlite(sqlite) => match sqlite.written(move |conn| sqlite::write(conn, prepared)).await {
            Ok((answers, on_disk)) => {
                // The next batch is written while this one gets to the disk.
                drop(turn);
                drop(to_write);
                on_disk.reached().await.map(|()| answers)
            }
            Err(error) => Err(error),
        },
        Db::Postgres(postgres) => postgres::write(postgres, &prepared).await,
    };
    if let Some(guard) = guard {
        guard.done();
    }
    match written {
        Ok(answers) => answers.into_iter().map(|answer| answer.map_err(named)).collect(),
        Err(error) => match StoreError::from(error) {
            // The one unit's own failure undid the transaction.
            own if count == 1 => vec![Err(named(own))],
            StoreError::Unavailable(why) => vec![Err(StoreError::Unavailable(why)); count],
            other => vec![Err(StoreError::Unavailable(other.to_string())); count],
        },
    }
}

/// Refuses the units for which an organisation's quotas leave no room: what begins runs, keeps events or sets work
/// aside. What is there goes on.
async fn within_quotas(db: &Db, guard: &Guard, prepared: &mut [Prepared]) {
    let mut adding: BTreeMap<Id, Vec<usize>> = BTreeMap::new();
    for (place, unit) in prepared.iter().enumerate() {
        if let Ok(rows) = unit
            && rows.adds() != Used::default()
        {
            adding.entry(rows.tenant).or_default().push(place);
        }
    }
    for (tenant, places) in adding {
        let additions: Vec<Used> =
            places.iter().filter_map(|place| Some(prepared.get(*place)?.as_ref().ok()?.adds())).collect();
        let answers = guard.admit(db, tenant.into(), &additions).await;
        for (place, answer) in places.into_iter().zip(answers) {
            if let (Some(unit), Err(refused)) = (prepared.get_mut(place), answer) {
                *unit = Err(refused);
            }
        }
    }
}

/// The units at these places that can be tried.
fn units_of<'a>(prepared: &'a [Prepared], places: &[usize]) -> impl Iterator<Item = &'a UnitRows> {
    places.iter().filter_map(move |place| prepared.get(*place)?.as_ref().ok())
}

/// The workflows of which the units begin runs.
fn begun(prepared: &[Prepared]) -> BTreeSet<(Id, Id)> {
    prepared.iter().flatten().flat_map(|rows| rows.begun().map(|workflow| (rows.tenant, workflow))).collect()
}

/// Checks that a unit can be tried; an error when it can't be written, or a workflow of it is not there (any
/// more).
fn admitted<'a>(prepared: &'a Prepared, there: &HashSet<(Id, Id)>) -> Result<&'a UnitRows, StoreError> {
    let rows = prepared.as_ref().map_err(Clone::clone)?;
    if rows.begun().all(|workflow| there.contains(&(rows.tenant, workflow))) {
        Ok(rows)
    } else {
        Err(StoreError::NotFound)
    }
}

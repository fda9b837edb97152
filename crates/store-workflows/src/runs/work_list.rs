//! The text of the work list's query.
//!
//! A list is put together of streams that each stand in an index in the order of the list: one for each state, and for
//! each name by which somebody may mean the reader. The first of each are the first of all, however long the streams are.

use diesel::sql_types::{BigInt, Nullable};
use heddle_kernel::{DefinitionKind, TenantId, UserId};
use heddle_policy::Person;
use heddle_store::{At, DbInstant, DbUuid, Id};
use heddle_workflows::ports::TaskFilter;
use heddle_workflows::records::TaskState;

use super::own::is_own;
use crate::rows::NEVER_DUE;
use crate::statement::Merging;
use crate::words::{CandidateKind, Involved, Standing};

/// Most streams of one statement.
const STREAMS: usize = 48;
/// Most streams of a statement that is kept prepared.
const FEW: usize = 24;
/// Most groups of a person by whose own such a statement goes.
const FEW_GROUPS: usize = 8;
/// The states of tasks.
const STATES: &[TaskState] = TaskState::ALL;
/// The order of the list.
const IN_ORDER: &str = "due_order, created_at, id";
/// The place of a task in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub due_order: At,
    pub created_at: At,
    pub id: Id,
}

/// Columns of a task by which the rest of a filter is held against it.
const HELD: &str = "t.organization_id, t.id, t.run_id, t.workflow_id, t.instance_kind, t.state, t.assignee, t.due_order, \
                    t.created_at, t.follow_up_at, t.started_by, t.completed_by";
/// Most tasks with a due follow-up that are few.
pub(crate) const FEW_FOLLOW_UPS: i64 = 1_000;
/// Most tasks of runs that a person started that are few: each of them may be looked at for a page. Beyond it those that mean the
/// person are gone through, in an index alone, for those that the person started: an entry costs a sixtieth of such a look, and
/// one of some hundreds is found.
pub(crate) const FEW_STARTED: i64 = 1_000;

/// A statement that finds tasks: id, place in the list, and on SQLite the number of the row in its table, by which it is read
/// without looking its id up.
pub(crate) type Statement = crate::statement::Statement<(DbUuid, DbInstant, DbInstant, Nullable<BigInt>)>;
/// No number of a row.
const UNNUMBERED: &str = "CAST(NULL AS BIGINT)";

/// Holder of the tasks of a stream.
#[derive(Debug, Clone)]
enum Holder {
    All,
    Assignee(String),
    Candidate(CandidateKind, String),
    Involved(Involved, UserId),
}

impl Holder {
    /// Columns of the index that has the tasks in the order of the list.
    const fn ordered(&self) -> [&'static str; 3] {
        match self {
            Self::All | Self::Assignee(_) | Self::Involved(..) => ["t.due_order", "t.created_at", "t.id"],
            Self::Candidate(..) => ["c.due_order", "c.created_at", "c.task_id"],
        }
    }
}

/// Stream of the list: the tasks of a holder in a state; of runs that a person started alone, where one is named.
#[derive(Debug, Clone)]
struct Stream {
    state: TaskState,
    holder: Holder,
    started_by: Option<UserId>,
}

impl Stream {
    const fn of(state: TaskState, holder: Holder) -> Self {
        Self { state, holder, started_by: None }
    }
}

/// The reach of the reader: ids of runs that alone are allowed, unless all are, and what is denied.
#[derive(Debug, Clone)]
pub(crate) struct Reach {
    /// Kind of the instances.
    pub kind: DefinitionKind,
    pub runs: Option<Vec<Id>>,
    /// Person whose own are allowed besides the runs.
    pub own: Option<Person>,
    /// Person whose own are denied.
    pub denied_own: Option<Person>,
    pub denied_runs: Vec<Id>,
    pub denied_workflows: Vec<Id>,
}

/// A page that is asked for.
#[derive(Debug)]
pub(crate) struct Wanted<'a> {
    pub tenant: TenantId,
    pub filter: &'a TaskFilter,
    pub reach: &'a Reach,
    /// Whether so few tasks are to be followed up that all of them are looked at.
    pub few_follow_ups: bool,
    /// Whether the person whose own are allowed started the runs of so many tasks that they are not looked at one by one.
    pub starts_many: bool,
    /// The task behind which it begins.
    pub from: Option<Place>,
    /// Number of tasks.
    pub limit: i64,
    pub merging: Merging,
}

impl Wanted<'_> {
    /// The statements whose answers together hold the page: the first `limit` in the order of the list.
    pub(crate) fn statements(&self) -> Vec<Statement> {
        if self.few_follow_ups {
            return vec![self.narrow()];
        }
        let of_own = self.reach.own.as_ref().filter(|_| self.filter.run.is_none());
        if let Some(person) = of_own {
            let streams = self.own_streams(person);
            let listed = self.reach.runs.as_ref().filter(|runs| !runs.is_empty());
            return self.parted(streams).into_iter().chain(listed.map(|_| self.narrow())).collect();
        }
        if self.filter.run.is_some() || self.reach.runs.is_some() {
            return vec![self.narrow()];
        }
        let states = self.filter.state.as_ref().map_or(STATES, std::slice::from_ref);
        let holders = self.holders();
        let of = |state: &TaskState| {
            let state = *state;
            holders.iter().map(move |holder| Stream::of(state, holder.clone()))
        };
        self.parted(states.iter().flat_map(of).collect())
    }

    /// The statements of some streams: those that give the numbers of the rows are apart from those that do not.
    fn parted(&self, streams: Vec<Stream>) -> Vec<Statement> {
        let of = |stream: &Stream| self.is_numbered(&stream.holder);
        let (numbered, others): (Vec<_>, Vec<_>) = streams.into_iter().partition(of);
        let parts = numbered.chunks(STREAMS).chain(others.chunks(STREAMS));
        parts.map(|streams| self.merged(streams)).collect()
    }

    /// Streams of the tasks that are a person's own: of runs that they started, completed by them, and open ones that are
    /// theirs or that name them as a candidate. The rest of the filter is held against each.
    ///
    /// Where the filter asks for what is theirs or may be, those of the runs that they started are found by whom they mean, if
    /// they are many: else all of them would be looked at for the few that mean the person.
    fn own_streams(&self, person: &Person) -> Vec<Stream> {
        let states = self.filter.state.as_ref().map_or(STATES, std::slice::from_ref);
        let means = self.starts_many && self.asks_for(person);
        let of = |state: &TaskState| {
            let state = *state;
            let candidate = |kind| move |name: &String| Holder::Candidate(kind, name.clone());
            let assigned = person.names.iter().cloned().map(Holder::Assignee);
            let named = person.names.iter().map(candidate(CandidateKind::User));
            let grouped = person.groups.iter().map(candidate(CandidateKind::Group));
            let theirs = assigned.chain(named).chain(grouped).map(|holder| Stream::of(state, holder));
            let mut streams: Vec<Stream> = match state {
                TaskState::Open => theirs.collect(),
                TaskState::Completed | TaskState::Cancelled if means => {
                    theirs.map(|stream| Stream { started_by: Some(person.id), ..stream }).collect()
                }
                TaskState::Completed | TaskState::Cancelled => Vec::new(),
            };
            let started = Holder::Involved(Involved::Starter, person.id);
            streams.push(if means {
                let everyone = Holder::Candidate(CandidateKind::Everyone, String::new());
                Stream { started_by: Some(person.id), ..Stream::of(state, everyone) }
            } else {
                Stream::of(state, started)
            });
            if state == TaskState::Completed {
                streams.push(Stream::of(state, Holder::Involved(Involved::Completer, person.id)));
            }
            streams
        };
        states.iter().flat_map(of).collect()
    }

    /// Whether the filter asks for what is a person's or may be, as their own are told.
    fn asks_for(&self, person: &Person) -> bool {
        let TaskFilter { assignee, candidate, .. } = self.filter;
        let (None, Some((names, groups))) = (assignee, candidate) else { return false };
        unique(names) == unique(&person.names) && unique(groups) == unique(&person.groups)
    }

    /// Whether all tasks of a stream of a person's own are such as the filter asks for.
    fn is_meant(&self, holder: &Holder) -> bool {
        match holder {
            Holder::Assignee(_) | Holder::Candidate(..) => {
                self.reach.own.as_ref().is_some_and(|person| self.asks_for(person))
            }
            Holder::All | Holder::Involved(..) => false,
        }
    }

    /// The statement that counts the tasks of runs that the person started whose own are allowed, as far as they are few; none
    /// where nothing depends on it.
    pub(crate) fn started(&self) -> Option<crate::statement::Statement<(BigInt,)>> {
        let person = self.reach.own.as_ref().filter(|person| self.asks_for(person))?;
        if self.filter.run.is_some() {
            return None;
        }
        let mut out = crate::statement::Statement::unseen();
        out.words("SELECT count(*) FROM (");
        let states = self.filter.state.as_ref().map_or(STATES, std::slice::from_ref);
        for (place, state) in states.iter().enumerate() {
            out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
            out.words("SELECT 1 AS one FROM human_tasks AS t WHERE t.organization_id = ").id(self.tenant);
            out.words(" AND t.started_by = ").id(person.id);
            out.words(" AND t.instance_kind = ").word(self.reach.kind.as_str());
            out.words(" AND t.state = ").word(state.as_str());
            out.words(&format!(" ORDER BY t.due_order LIMIT {}) AS s{place}", FEW_STARTED + 1));
        }
        out.words(&format!(" LIMIT {}) AS started", FEW_STARTED + 1));
        Some(out)
    }

    /// Holders of the tasks that are wanted.
    fn holders(&self) -> Vec<Holder> {
        let TaskFilter { assignee, candidate, .. } = self.filter;
        match (assignee, candidate) {
            (None, None) => vec![Holder::All],
            (Some(names), None) => unique(names).into_iter().map(Holder::Assignee).collect(),
            // What is somebody's may be worked on by them alone.
            (Some(names), Some((own, _))) => {
                unique(names).into_iter().filter(|name| own.contains(name)).map(Holder::Assignee).collect()
            }
            (None, Some((names, groups))) => {
                let (names, groups) = (unique(names), unique(groups));
                let assigned = names.iter().cloned().map(Holder::Assignee);
                let named = names.iter().cloned().map(|name| Holder::Candidate(CandidateKind::User, name));
                let grouped = groups.into_iter().map(|name| Holder::Candidate(CandidateKind::Group, name));
                let everyone = Holder::Candidate(CandidateKind::Everyone, String::new());
                assigned.chain(named).chain(grouped).chain([everyone]).collect()
            }
        }
    }

    /// The first of some streams.
    fn merged(&self, streams: &[Stream]) -> Statement {
        let lists = self.reach.denied_runs.len() + self.reach.denied_workflows.len();
        let people = [&self.reach.own, &self.reach.denied_own].into_iter().flatten();
        let meant = self.filter.candidate.iter().map(|(_, groups)| groups.len());
        let groups: usize = people.map(|person| person.groups.len()).chain(meant).sum();
        let is_kept = streams.len() <= FEW && lists == 0 && groups <= FEW_GROUPS;
        let mut out = if is_kept { Statement::unseen() } else { Statement::new(false) };
        let number = streams.first().map_or(UNNUMBERED, |first| self.number_of(&first.holder));
        if let [only] = streams {
            self.first(&mut out, only, &format!(", {number} AS numbered"));
            return out;
        }
        let in_order = format!(" ORDER BY {IN_ORDER} LIMIT ");
        let placed = format!("SELECT id, due_order, created_at, {UNNUMBERED} FROM (");
        match self.merging {
            // A stream of a union stands in the order of all that it gives, which no index has with a constant.
            Merging::RowByRow => {
                let is_numbered = number != UNNUMBERED;
                let number = if is_numbered { format!(", {number} AS numbered") } else { String::new() };
                out.words(if is_numbered { "" } else { &placed });
                out.union(self.merging, streams, |out, stream| {
                    self.stream(out, stream, &number);
                });
                out.words(&in_order).most(self.limit);
                out.words(if is_numbered { "" } else { ") AS found" });
            }
            Merging::FirstOfEach => {
                out.words(&placed);
                out.union(self.merging, streams, |out, stream| self.first(out, stream, ""));
                out.words(") AS found").words(&in_order).most(self.limit);
            }
        }
        out
    }

    /// The first of one stream.
    fn first(&self, out: &mut Statement, stream: &Stream, number: &str) {
        let [due, created, id] = self.stream(out, stream, number);
        out.words(&format!(" ORDER BY {due}, {created}, {id} LIMIT ")).most(self.limit);
    }

    /// One stream, whose order the caller says: the columns of it are given. `number` is the column of the rows' numbers, with
    /// its comma, or empty.
    fn stream(&self, out: &mut Statement, stream: &Stream, number: &str) -> [&'static str; 3] {
        let Stream { state, holder, started_by } = stream;
        let ordered = holder.ordered();
        let [due, created, id] = ordered;
        out.words(&format!("SELECT {id} AS id, {due} AS due_order, {created} AS created_at{number}"));
        match holder {
            Holder::All | Holder::Assignee(_) => {
                out.words(" FROM human_tasks AS t WHERE t.organization_id = ").id(self.tenant);
                if let Holder::Assignee(name) = holder {
                    out.words(" AND t.assignee = ").text(name);
                    // Few are one's own, whatever the definition: the index is that of the assignee.
                    out.words(" AND t.instance_kind = ").word(self.reach.kind.as_str());
                    if let Some(user) = started_by {
                        // Said such that the index of starters is not taken.
                        out.words(" AND coalesce(t.started_by, t.started_by) = ").id(*user);
                    }
                } else {
                    self.of_kind(out, "t.instance_kind");
                }
                out.words(" AND t.state = ").word(state.as_str());
                self.of_workflow(out, "t.workflow_id");
            }
            Holder::Candidate(kind, name) => {
                let with_tasks = self.asks_tasks(holder);
                out.words(" FROM human_task_candidates AS c");
                out.words(if with_tasks { " CROSS JOIN human_tasks AS t" } else { "" });
                out.words(" WHERE c.organization_id = ").id(self.tenant);
                out.words(" AND c.kind = ").word(kind.as_str()).words(" AND c.name = ").text(name);
                self.of_kind(out, "c.instance_kind");
                out.words(" AND c.standing = ").word(Standing::of(*state, false).as_str());
                self.of_workflow(out, "c.workflow_id");
                if with_tasks {
                    out.words(" AND t.organization_id = c.organization_id AND t.id = c.task_id");
                }
                if let Some(user) = started_by {
                    out.words(" AND c.started_by = ").id(*user);
                }
            }
            Holder::Involved(kind, user) => {
                out.words(" FROM human_tasks AS t WHERE t.organization_id = ").id(self.tenant);
                out.words(&format!(" AND t.{} = ", kind.column())).id(*user);
                out.words(" AND t.instance_kind = ").word(self.reach.kind.as_str());
                out.words(" AND t.state = ").word(state.as_str());
                self.of_workflow(out, "t.workflow_id");
            }
        }
        // The streams of one's own are none of the filter's, unless it asks for the same.
        if self.reach.own.is_some() && !self.is_meant(holder) {
            self.meant(out);
        }
        let follow_up = match holder {
            // By the index in the order of the list that has those with a date alone, and not by the one of dates.
            Holder::All if self.filter.workflow.is_none() => {
                "t.follow_up_at IS NOT NULL AND coalesce(t.follow_up_at, t.follow_up_at)"
            }
            Holder::Candidate(..) => "t.follow_up_at",
            // Said such that no index of it is taken, by which all would be sorted.
            Holder::All | Holder::Assignee(_) | Holder::Involved(..) => {
                "coalesce(t.follow_up_at, t.follow_up_at)"
            }
        };
        self.conditions(out, ordered, follow_up);
        ordered
    }

    /// The number of a task's row, where the stream's index ends in it.
    fn number_of(&self, holder: &Holder) -> &'static str {
        if self.is_numbered(holder) { "t.rowid" } else { UNNUMBERED }
    }

    /// Whether a stream gives the numbers of the rows. Beside those of candidates the few that are assigned do without.
    fn is_numbered(&self, holder: &Holder) -> bool {
        match (self.merging, holder) {
            (Merging::FirstOfEach, _) | (Merging::RowByRow, Holder::Candidate(..)) => false,
            // The index of those that are to be followed up has the date behind the order.
            (Merging::RowByRow, Holder::All) => self.filter.follow_up_before.is_none(),
            (Merging::RowByRow, Holder::Assignee(_)) => self.filter.candidate.is_none(),
            (Merging::RowByRow, Holder::Involved(..)) => true,
        }
    }

    /// Whether the streams of candidates need the rows of the tasks: their own say whose kind, state and definition they are.
    fn asks_tasks(&self, holder: &Holder) -> bool {
        let TaskFilter { assignee, candidate, follow_up_before, .. } = self.filter;
        let is_narrowed =
            self.reach.own.is_some() && (assignee.is_some() || candidate.is_some()) && !self.is_meant(holder);
        is_narrowed
            || follow_up_before.is_some()
            || self.reach.denied_own.is_some()
            || !self.reach.denied_runs.is_empty()
            || !self.reach.denied_workflows.is_empty()
    }

    /// The condition on the kind of the instances, by the column that the stream's index has. Where a definition is named,
    /// the index is that of the definition, whose instances are of the kind that was looked up for it.
    fn of_kind(&self, out: &mut Statement, column: &str) {
        if self.filter.workflow.is_none() {
            out.words(&format!(" AND {column} = ")).word(self.reach.kind.as_str());
        }
    }

    /// The condition on the workflow, by the column that the stream's index has.
    fn of_workflow(&self, out: &mut Statement, column: &str) {
        if let Some(workflow) = self.filter.workflow {
            out.words(&format!(" AND {column} = ")).id(workflow);
        }
    }

    /// Conditions that hold whichever stream it is, by the columns of its order and the follow-up date.
    fn conditions(&self, out: &mut Statement, [due, created, id]: [&str; 3], follow_up: &str) {
        if !self.reach.denied_runs.is_empty() {
            out.among("t.run_id NOT IN", &self.reach.denied_runs);
        }
        if !self.reach.denied_workflows.is_empty() {
            out.among("t.workflow_id NOT IN", &self.reach.denied_workflows);
        }
        if let Some(person) = &self.reach.denied_own {
            out.words(" AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.organization_id = t.organization_id");
            out.words(" AND r.id = t.run_id AND ");
            is_own(out, person);
            out.words(")");
        }
        if let Some(before) = &self.filter.due_before {
            out.words(&format!(" AND {due} < ")).at(At(*before).min(NEVER_DUE));
        }
        if let Some(before) = &self.filter.follow_up_before {
            out.words(&format!(" AND {follow_up} < ")).at(At(*before));
        }
        if let Some(from) = self.from {
            out.words(&format!(" AND ({due}, {created}, {id}) > ("));
            out.at(from.due_order).words(", ").at(from.created_at).words(", ").id(from.id).words(")");
        }
    }

    /// The statement that counts the tasks that are to be followed up, as far as they are few; none where it isn't asked for,
    /// or where a run is named, whose tasks are few anyway.
    pub(crate) fn follow_ups(&self) -> Option<crate::statement::Statement<(BigInt,)>> {
        self.filter.follow_up_before.filter(|_| self.filter.run.is_none())?;
        let mut out = crate::statement::Statement::new(false);
        out.words("SELECT count(*) FROM (");
        let states = self.filter.state.as_ref().map_or(STATES, std::slice::from_ref);
        for (place, state) in states.iter().enumerate() {
            out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
            out.words("SELECT 1 AS one FROM human_tasks AS t WHERE t.organization_id = ").id(self.tenant);
            self.to_follow_up(&mut out, std::slice::from_ref(state));
            // In the order of the index, which is then left as soon as they are not few.
            out.words(" ORDER BY t.follow_up_at LIMIT ").number(FEW_FOLLOW_UPS + 1);
            out.words(&format!(") AS s{place}"));
        }
        out.words(") AS due");
        Some(out)
    }

    /// The conditions on what is to be followed up in some states, by the columns of its index.
    fn to_follow_up<S>(&self, out: &mut crate::statement::Statement<S>, states: &[TaskState]) {
        let states: Vec<String> = states.iter().map(|state| state.as_str().to_owned()).collect();
        out.words(" AND t.instance_kind = ").text(self.reach.kind.as_str()).words(" AND ");
        out.named("t.state", &states);
        if let Some(before) = &self.filter.follow_up_before {
            out.words(" AND t.follow_up_at IS NOT NULL AND t.follow_up_at < ").at(At(*before));
        }
    }

    /// The tasks of few runs, or the few that are to be followed up: those are read, and the rest of the filter is held
    /// against them.
    fn narrow(&self) -> Statement {
        let TaskFilter { state, run, .. } = self.filter;
        let mut out = Statement::new(false);
        out.words("WITH t AS MATERIALIZED (SELECT ").words(HELD);
        out.words(" FROM human_tasks AS t WHERE t.organization_id = ").id(self.tenant);
        if let Some(run) = run {
            out.words(" AND t.run_id = ").id(*run);
        }
        if self.few_follow_ups {
            let states = state.as_ref().map_or(STATES, std::slice::from_ref);
            self.to_follow_up(&mut out, states);
        }
        // Of one run that is named, and of few tasks, those are also shown that are one's own.
        let own = self.reach.own.as_ref().filter(|_| run.is_some() || self.few_follow_ups);
        match &self.reach.runs {
            Some(_) if own.is_some() => {}
            Some(runs) if !runs.is_empty() => out.among("t.run_id IN", runs),
            Some(_) => {
                out.words(" AND FALSE");
            }
            None => {}
        }
        out.words(&format!(") SELECT t.id, t.due_order, t.created_at, {UNNUMBERED} FROM t"));
        out.words(" WHERE t.instance_kind = ");
        out.text(self.reach.kind.as_str());
        if let Some(state) = state {
            out.words(" AND t.state = ").text(state.as_str());
        }
        if let Some(person) = own {
            self.listed_or_own(&mut out, person);
        }
        self.meant(&mut out);
        self.of_workflow(&mut out, "t.workflow_id");
        self.conditions(&mut out, ["t.due_order", "t.created_at", "t.id"], "t.follow_up_at");
        out.words(" ORDER BY t.due_order, t.created_at, t.id LIMIT ").number(self.limit);
        out
    }

    /// The condition that a task is of a run that a rule names, or a person's own as the streams of those are.
    fn listed_or_own(&self, out: &mut Statement, person: &Person) {
        out.words(" AND (");
        if let Some(runs) = self.reach.runs.as_ref().filter(|runs| !runs.is_empty()) {
            out.words("t.run_id IN (").ids(runs).words(") OR ");
        }
        for kind in [Involved::Starter, Involved::Completer] {
            out.words(&format!("t.{} = ", kind.column())).id(person.id).words(" OR ");
        }
        out.words("t.state = ").word(TaskState::Open.as_str());
        out.words(" AND (t.assignee IS NOT NULL AND ").named("t.assignee", &person.names);
        out.words(" OR t.assignee IS NULL AND (SELECT TRUE FROM human_task_candidates AS c");
        out.words(" WHERE c.organization_id = t.organization_id AND c.task_id = t.id AND (c.kind = ");
        out.word(CandidateKind::User.as_str()).words(" AND ").named("c.name", &person.names);
        out.words(" OR c.kind = ").word(CandidateKind::Group.as_str()).words(" AND ");
        out.named("c.name", &person.groups);
        out.words(") LIMIT 1) IS TRUE))");
    }

    /// The conditions on whom a task is for, where no stream stands for them.
    ///
    /// Each task's candidates are looked at for themselves: where `EXISTS` says it, PostgreSQL reads the candidates of all
    /// tasks first, and looks into those.
    fn meant(&self, out: &mut Statement) {
        let TaskFilter { assignee, candidate, .. } = self.filter;
        if let Some(names) = assignee {
            out.words(" AND t.assignee IS NOT NULL AND ").named("t.assignee", names);
        }
        if let Some((names, groups)) = candidate {
            out.words(" AND (t.assignee IS NOT NULL AND ").named("t.assignee", names);
            out.words(" OR t.assignee IS NULL AND (SELECT TRUE FROM human_task_candidates AS m");
            out.words(" WHERE m.organization_id = t.organization_id AND m.task_id = t.id AND (m.kind = ");
            out.word(CandidateKind::Everyone.as_str());
            out.words(" OR m.kind = ")
                .word(CandidateKind::User.as_str())
                .words(" AND ")
                .named("m.name", names);
            out.words(" OR m.kind = ").word(CandidateKind::Group.as_str()).words(" AND ");
            out.named("m.name", groups);
            out.words(") LIMIT 1) IS TRUE)");
        }
    }
}

/// The names, each once.
fn unique(names: &[String]) -> Vec<String> {
    let mut once: Vec<String> = names.to_vec();
    once.sort_unstable();
    once.dedup();
    once
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::debug_query;
    use diesel::pg::Pg;
    use diesel::sqlite::Sqlite;

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The number of streams of each statement.
    fn streams(filter: &TaskFilter) -> Vec<usize> {
        let reach = Reach {
            kind: DefinitionKind::Workflow,
            runs: None,
            own: None,
            denied_own: None,
            denied_runs: Vec::new(),
            denied_workflows: Vec::new(),
        };
        let tenant = TenantId(uuid::Uuid::nil());
        let counted = |merging: Merging| -> Vec<(usize, usize)> {
            let wanted = Wanted {
                tenant,
                filter,
                reach: &reach,
                few_follow_ups: false,
                starts_many: false,
                from: None,
                limit: 51,
                merging,
            };
            let count = |one: Statement| {
                let text = debug_query::<Pg, _>(&one).to_string();
                assert!(text.contains("$1"), "values are bound, never written");
                let text = debug_query::<Sqlite, _>(&one).to_string();
                (text.matches(" UNION ").count() + 1, text.matches("LIMIT ").count())
            };
            wanted.statements().into_iter().map(count).collect()
        };
        let (first_of_each, row_by_row) = (counted(Merging::FirstOfEach), counted(Merging::RowByRow));
        for (streams, limits) in &first_of_each {
            assert_eq!(*limits, streams + usize::from(*streams > 1), "one of each, and one of all of them");
        }
        let streams: Vec<usize> = first_of_each.into_iter().map(|(streams, _)| streams).collect();
        let one_limit: Vec<(usize, usize)> = streams.iter().map(|streams| (*streams, 1)).collect();
        assert_eq!(row_by_row, one_limit, "a stream with a limit of its own would be read to that");
        streams
    }

    #[test]
    fn a_work_list_has_a_stream_for_each_state_and_name_and_so_many_share_a_statement() {
        let all = TaskFilter::default();
        let open = TaskFilter { state: Some(TaskState::Open), ..all.clone() };
        let mine = TaskFilter { candidate: Some((names(&["a", "b", "a"]), names(&["g"]))), ..open.clone() };
        let foreign = TaskFilter { assignee: Some(names(&["x"])), ..mine.clone() };
        let many: Vec<String> = (0..50).map(|n| format!("g{n}")).collect();
        let crowd = TaskFilter { candidate: Some((Vec::new(), many)), ..open.clone() };
        for (filter, expected) in [
            (all, vec![3]),
            (open, vec![1]),
            // Assigned to either name, a candidate by either or by the group, or for everyone.
            (mine, vec![6]),
            (foreign, vec![]),
            (crowd, vec![48, 3]),
        ] {
            assert_eq!(streams(&filter), expected, "{filter:?}");
        }
    }
}

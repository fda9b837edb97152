//! A person's own runs: those that they started, those of which a task is for them, and those of which they completed one.
//!
//! Their list is put together of streams that each stand in an index in the order of the list: the runs that they
//! started, and for each name and group of theirs the runs whose tasks mean it. The first of each are the first of all.

use std::collections::{HashMap, HashSet};

use diesel_async::RunQueryDsl;
use heddle_kernel::{RunId, TenantId};
use heddle_policy::{InstanceFilter, Person};
use heddle_store::{At, Db, DbInstant, DbUuid, Id, filter, read};
use heddle_usecase::StoreError;
use heddle_workflows::ports::{RunFilter, RunSort};
use heddle_workflows::records::RunState;

use crate::schema::{RunHead, runs};
use crate::statement::Merging;
use crate::words::CandidateKind;

/// Most streams of one statement.
const STREAMS: usize = 48;

/// Most streams of a statement that is kept prepared.
const FEW: usize = 12;

/// A statement that finds runs: id, and place in the list.
pub(super) type Statement = crate::statement::Statement<(DbUuid, DbInstant)>;

/// Adds the condition that a run is a person's own; the run has the alias `r`. Its people are looked at for themselves, and
/// not those of all runs first, as PostgreSQL does for `EXISTS`.
pub(super) fn is_own<S>(out: &mut crate::statement::Statement<S>, person: &Person) {
    out.words("(r.created_by IS NOT NULL AND r.created_by = ").id(person.id);
    out.words(" OR (SELECT TRUE FROM run_people AS p WHERE p.organization_id = r.organization_id");
    out.words(" AND p.run_id = r.id AND p.kind = ").word(CandidateKind::User.as_str()).words(" AND ");
    out.named("p.name", &person.names);
    out.words(
        " LIMIT 1) IS TRUE OR (SELECT TRUE FROM run_people AS p WHERE p.organization_id = r.organization_id",
    );
    out.words(" AND p.run_id = r.id AND p.kind = ").word(CandidateKind::Group.as_str()).words(" AND ");
    out.named("p.name", &person.groups);
    out.words(" LIMIT 1) IS TRUE)");
}

/// The statement that tells which of some runs are a person's own.
pub(super) fn among(tenant: TenantId, person: &Person, ids: &[Id]) -> crate::statement::Statement<(DbUuid,)> {
    let mut out = crate::statement::Statement::new(ids.len() == 1 && person.groups.len() <= 1);
    out.words("SELECT r.id FROM runs AS r WHERE r.organization_id = ").id(tenant);
    out.among("r.id IN", ids);
    out.words(" AND ");
    is_own(&mut out, person);
    out
}

/// Those of some runs that are a person's own.
pub(super) async fn of(
    db: &Db,
    tenant: TenantId,
    person: &Person,
    runs: &[RunId],
) -> Result<HashSet<RunId>, StoreError> {
    if runs.is_empty() {
        return Ok(HashSet::new());
    }
    let ids: Vec<Id> = runs.iter().copied().map(Id::from).collect();
    let statement = among(tenant, person, &ids);
    let found: Vec<(Id,)> = read!(db, |conn| Ok(statement.load(conn).await?))?;
    Ok(found.into_iter().map(|(id,)| id.into()).collect())
}

/// Whether the list is read by an index of the definition, whose instances are of one kind: the kind is only checked. A
/// business key and a starter have indexes of the kind alone, by which fewer are read.
pub(super) const fn is_by_definition(filter: &RunFilter) -> bool {
    filter.workflow.is_some() && filter.business_key.is_none() && filter.started_by.is_none()
}

/// Stream of the list.
#[derive(Debug, Clone)]
enum Stream {
    /// All runs.
    Every,
    /// Runs that a rule names.
    Listed(Vec<Id>),
    /// Runs that the person started.
    Started(Id),
    /// Runs whose tasks mean a name.
    Meant(CandidateKind, String),
}

/// A part of the list of runs that is asked for by somebody whose own runs are told apart from others.
#[derive(Debug)]
pub(super) struct Wanted<'a> {
    pub tenant: TenantId,
    pub filter: &'a RunFilter,
    pub access: &'a InstanceFilter,
    /// Place behind which it begins.
    pub from: Option<(At, Id)>,
    pub limit: i64,
    pub merging: Merging,
}

impl Wanted<'_> {
    /// The statements whose answers together hold the part: the first `limit` in the order of the list.
    pub(super) fn statements(&self) -> Vec<Statement> {
        self.streams().chunks(STREAMS).map(|streams| self.merged(streams)).collect()
    }

    /// The first of what the statements found, each once.
    pub(super) fn foremost(&self, mut found: Vec<(Id, At)>) -> Vec<Id> {
        found.sort_unstable_by_key(|(id, at)| (*at, *id));
        found.dedup();
        if self.is_descending() {
            found.reverse();
        }
        found.truncate(usize::try_from(self.limit).unwrap_or(usize::MAX));
        found.into_iter().map(|(id, _)| id).collect()
    }

    /// Rows of the part in its order.
    pub(super) fn in_order<B, C>(mut rows: Vec<(RunHead, B, C)>, ids: &[Id]) -> Vec<(RunHead, B, C)> {
        let places: HashMap<Id, usize> = ids.iter().copied().zip(0..).collect();
        rows.sort_by_key(|(head, ..)| places.get(&head.id).copied());
        rows
    }

    const fn is_descending(&self) -> bool {
        match self.filter.sort {
            RunSort::Newest | RunSort::Incidents => true,
            RunSort::Oldest => false,
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let (listed, _) = filter::at(runs::id, self.access.filter());
        let Some(listed) = listed else { return vec![Stream::Every] };
        let mut streams = Vec::new();
        if !listed.is_empty() {
            streams.push(Stream::Listed(listed));
        }
        if let Some(person) = self.access.own() {
            streams.push(Stream::Started(person.id.into()));
            let of = |kind, names: &[String]| -> Vec<Stream> {
                names.iter().map(|name| Stream::Meant(kind, name.clone())).collect()
            };
            streams.extend(of(CandidateKind::User, &person.names));
            streams.extend(of(CandidateKind::Group, &person.groups));
        }
        streams
    }

    /// Whether a statement of these streams has one text for all who ask, and is kept.
    fn keeps(&self, streams: &[Stream]) -> bool {
        let (_, denied) = filter::at(runs::id, self.access.filter());
        let lists = denied.len() + filter::above(runs::workflow_id, self.access.filter()).len();
        let is_listed = streams.iter().any(|stream| matches!(stream, Stream::Listed(_)));
        let groups = self.access.denied_own().map_or(0, |person| person.groups.len());
        streams.len() <= FEW && lists == 0 && !is_listed && groups <= FEW
    }

    /// Whether the part is read by one statement that is kept.
    pub(super) fn is_kept(&self) -> bool {
        self.keeps(&self.streams())
    }

    fn merged(&self, streams: &[Stream]) -> Statement {
        let mut out = if self.keeps(streams) { Statement::unseen() } else { Statement::new(false) };
        let order = if self.is_descending() { " DESC" } else { "" };
        if let [only] = streams {
            self.first(&mut out, only);
            return out;
        }
        match self.merging {
            Merging::RowByRow => {
                out.union(self.merging, streams, |out, stream| {
                    self.stream(out, stream);
                });
            }
            Merging::FirstOfEach => {
                out.words("SELECT id, created_at FROM (");
                out.union(self.merging, streams, |out, stream| self.first(out, stream));
                out.words(") AS found");
            }
        }
        out.words(&format!(" ORDER BY created_at{order}, id{order} LIMIT ")).most(self.limit);
        out
    }

    /// The first of one stream.
    fn first(&self, out: &mut Statement, stream: &Stream) {
        let [created, id] = self.stream(out, stream);
        let order = if self.is_descending() { " DESC" } else { "" };
        out.words(&format!(" ORDER BY {created}{order}, {id}{order} LIMIT ")).most(self.limit);
    }

    /// One stream, whose order the caller says: the columns of it are given.
    fn stream(&self, out: &mut Statement, stream: &Stream) -> [&'static str; 2] {
        let ordered = match stream {
            Stream::Every | Stream::Listed(_) | Stream::Started(_) => {
                out.words("SELECT r.id AS id, r.created_at AS created_at FROM runs AS r");
                out.words(" WHERE r.organization_id = ").id(self.tenant);
                ["r.created_at", "r.id"]
            }
            Stream::Meant(kind, name) => {
                out.words("SELECT o.run_id AS id, o.created_at AS created_at");
                out.words(" FROM run_people AS o CROSS JOIN runs AS r WHERE o.organization_id = ")
                    .id(self.tenant);
                out.words(" AND o.kind = ").word(kind.as_str()).words(" AND o.name = ").text(name);
                out.words(" AND r.organization_id = o.organization_id AND r.id = o.run_id");
                ["o.created_at", "o.run_id"]
            }
        };
        let [created, id] = ordered;
        match stream {
            Stream::Listed(ids) => out.among("r.id IN", ids),
            Stream::Started(by) => {
                out.words(" AND r.created_by IS NOT NULL AND r.created_by = ").id(*by);
            }
            Stream::Every | Stream::Meant(..) => {}
        }
        self.of_kind(out, stream);
        self.filtered(out, created);
        self.reached(out);
        let behind = if self.is_descending() { "<" } else { ">" };
        if let Some((at, run)) = self.from {
            out.words(&format!(" AND ({created}, {id}) {behind} (")).at(at).words(", ").id(run).words(")");
        }
        ordered
    }

    /// The condition on the kind, by the column that the stream's index has; apart from every index of runs where that of
    /// the definition is taken.
    fn of_kind(&self, out: &mut Statement, stream: &Stream) {
        let by_definition = is_by_definition(self.filter);
        out.words(match stream {
            Stream::Meant(..) => " AND o.instance_kind = ",
            Stream::Every | Stream::Listed(_) if by_definition => " AND r.kind || '' = ",
            Stream::Every | Stream::Listed(_) | Stream::Started(_) => " AND r.kind = ",
        });
        out.word(self.access.kind().as_str());
    }

    /// Conditions of the filter, but for the node, which the state alone tells; `created` is the column of the stream's
    /// order.
    fn filtered(&self, out: &mut Statement, created: &str) {
        let RunFilter {
            workflow,
            state,
            has_incident,
            version,
            node_id,
            correlation_key,
            business_key,
            started_by,
            from,
            to,
            waiting_before,
            sort: _,
        } = self.filter;
        if let Some(workflow) = workflow {
            out.words(" AND r.workflow_id = ").id(*workflow);
        }
        if let Some(state) = state {
            out.words(" AND r.state = ").word(state.as_str());
        }
        match has_incident {
            Some(true) => {
                out.words(" AND r.has_incident");
            }
            Some(false) => {
                out.words(" AND NOT r.has_incident");
            }
            None => {}
        }
        if let Some(version) = version {
            out.words(" AND r.version = ").number(i64::from(*version));
        }
        if let Some(key) = correlation_key {
            out.words(" AND r.correlation_key = ").text(key);
        }
        if let Some(key) = business_key {
            out.words(" AND r.business_key = ").text(key);
        }
        if let Some(user) = started_by {
            out.words(" AND r.created_by IS NOT NULL AND r.created_by = ").id(*user);
        }
        if let Some(from) = from {
            out.words(&format!(" AND {created} >= ")).at(At(*from));
        }
        if let Some(to) = to {
            out.words(&format!(" AND {created} < ")).at(At(*to));
        }
        if let Some(before) = waiting_before {
            out.words(" AND r.state = ").word(RunState::Waiting.as_str());
            out.words(&format!(" AND {created} < ")).at(At(*before));
            out.words(" AND r.waiting_since < ").at(At(*before));
        }
        if node_id.is_some() {
            out.words(" AND r.ended_at IS NULL");
        }
    }

    /// Conditions on what is denied.
    fn reached(&self, out: &mut Statement) {
        let (_, denied) = filter::at(runs::id, self.access.filter());
        if !denied.is_empty() {
            out.among("r.id NOT IN", &denied);
        }
        let denied = filter::above(runs::workflow_id, self.access.filter());
        if !denied.is_empty() {
            out.among("r.workflow_id NOT IN", &denied);
        }
        if let Some(person) = self.access.denied_own() {
            out.words(" AND NOT ");
            is_own(out, person);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::debug_query;
    use diesel::sqlite::Sqlite;
    use heddle_kernel::UserId;
    use heddle_policy::{AccessFilter, resource};
    use uuid::Uuid;

    #[test]
    fn a_list_of_one_s_own_has_a_stream_for_the_starts_and_one_for_each_name() {
        let groups: Vec<String> = (0..60).map(|n| format!("g{n}")).collect();
        let person = Person::new(UserId(Uuid::from_u128(7)), "Ada@x", &groups);
        let filter = RunFilter::default();
        let streams = |access: &AccessFilter<resource::Run>| -> Vec<usize> {
            let tenant = TenantId(Uuid::nil());
            let access = &InstanceFilter::from(access);
            let merging = Merging::FirstOfEach;
            let wanted = Wanted { tenant, filter: &filter, access, from: None, limit: 5, merging };
            let text = |one: Statement| debug_query::<Sqlite, _>(&one).to_string();
            let counts: Vec<usize> = wanted
                .statements()
                .into_iter()
                .map(text)
                .map(|text| text.matches("LIMIT ").count())
                .collect();
            for text in (Wanted { merging: Merging::RowByRow, ..wanted }).statements().into_iter().map(text) {
                let own = text.matches(" LIMIT 1)").count();
                assert_eq!(
                    text.matches("LIMIT ").count(),
                    own + 1,
                    "no stream has a limit of its own: {text}"
                );
            }
            counts
        };
        // Starts, an id, an address and sixty groups, forty-eight to a statement with one limit of its own.
        assert_eq!(streams(&AccessFilter::own_of(person.clone())), [49, 16]);
        // Whether a run is one's own is two looks more.
        assert_eq!(streams(&AccessFilter::everything().but_own_of(person.clone())), [3]);
        assert_eq!(streams(&AccessFilter::only([]).but_own_of(person)), Vec::<usize>::new());
    }

    #[test]
    fn what_was_found_is_shown_once_and_in_the_order_of_the_list() {
        let (id, at) = (|n| Id(Uuid::from_u128(n)), |n| At(heddle_kernel::Timestamp::from_micros(n)));
        let access = InstanceFilter::from(&AccessFilter::<resource::Run>::everything());
        let first = |sort| {
            let filter = RunFilter { sort, ..RunFilter::default() };
            let tenant = TenantId(Uuid::nil());
            let merging = Merging::RowByRow;
            let wanted = Wanted { tenant, filter: &filter, access: &access, from: None, limit: 3, merging };
            wanted.foremost(vec![
                (id(1), at(5)),
                (id(2), at(7)),
                (id(1), at(5)),
                (id(3), at(5)),
                (id(4), at(9)),
            ])
        };
        assert_eq!(first(RunSort::Newest), [id(4), id(2), id(3)]);
        assert_eq!(first(RunSort::Oldest), [id(1), id(3), id(2)]);
    }
}

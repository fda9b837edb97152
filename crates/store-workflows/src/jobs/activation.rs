//! The statements by which a worker takes jobs. Each type is a stream in the order of an index; the first of each are the
//! first of all, however many are stored.

use diesel::sql_types::{BigInt, Text};
use heddle_kernel::{DefinitionKind, JobId};
use heddle_store::{At, DbInstant, DbUuid, Id};
use heddle_workflows::ports::{Activation, Candidates, JobPlace, Narrowed, WantedType};
use uuid::Uuid;

use super::COLUMNS;
use crate::schema::jobs;
use crate::statement::Statement;

/// Most locks and delays that ran out and are noted by one activation.
const MOST_DUE: i64 = 1_024;
/// Most jobs that one look without a lock goes through, whatever fits of them.
pub(crate) const WINDOW: i64 = 500;
/// Most types of a statement that is kept prepared.
const FEW: usize = 8;
/// The order in which jobs are given out.
const IN_TURN: &str = "priority DESC, place, id";
/// Dialect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// One writer at a time.
    Sqlite,
    /// Many writers, who pass over the rows of the others.
    Postgres,
}

impl Dialect {
    /// Words that keep two writers from one row.
    const fn lock(self) -> &'static str {
        match self {
            Self::Sqlite => "",
            Self::Postgres => " FOR UPDATE SKIP LOCKED",
        }
    }
}

/// Notes that locks and delays of these types have run out: the jobs may be taken again. Whoever held one may still end
/// it until somebody else takes it. Gives the types of the jobs.
pub(crate) fn again(tenant: Id, wanted: &Activation, dialect: Dialect) -> Statement<Text> {
    let mut out = Statement::new(wanted.types.len() <= FEW);
    out.words("UPDATE jobs SET state = 'ready', due_at = NULL, ");
    out.words("lapses = lapses + CASE WHEN state = 'locked' THEN 1 ELSE 0 END WHERE organization_id = ");
    out.id(tenant)
        .words(" AND id IN (SELECT id FROM jobs WHERE organization_id = ")
        .id(tenant)
        .words(" AND ");
    let names: Vec<String> = wanted.types.iter().map(|one| one.name.clone()).collect();
    out.named("job_type", &names);
    out.words(" AND due_at <= ").at(At(wanted.now)).words(" LIMIT ").number(MOST_DUE);
    out.words(dialect.lock()).words(") RETURNING job_type");
    out
}

/// Part of the jobs that may be taken.
struct Part<'a> {
    tenant: Id,
    denied: Vec<Id>,
    denied_kind: Option<DefinitionKind>,
    behind: Option<&'a JobPlace>,
    most: i64,
}

/// Takes jobs, and gives their rows.
pub(crate) fn taking(tenant: Id, wanted: &Activation, dialect: Dialect) -> Statement<jobs::SqlType> {
    let is_plain = wanted.denied.is_empty()
        && wanted.denied_kind.is_none()
        && wanted.only.is_none()
        && wanted.types.iter().all(WantedType::is_whole);
    let mut out = Statement::new(is_plain && wanted.types.len() <= FEW);
    // What is chosen is chosen once, whatever the plan.
    out.words("WITH chosen AS MATERIALIZED (SELECT id FROM (");
    match &wanted.only {
        Some(only) => of_these(&mut out, tenant, only, wanted.most.into(), dialect),
        None => {
            let (denied, denied_kind) = (ids(&wanted.denied), wanted.denied_kind);
            let part = Part { tenant, denied, denied_kind, behind: None, most: wanted.most.into() };
            part.streams(&mut out, &wanted.types, "id, priority, place", dialect.lock());
        }
    }
    out.words(&format!(") AS found ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
    out.words(") UPDATE jobs SET state = 'locked', epoch = epoch + 1, worker = ").text(&wanted.worker);
    out.words(", due_at = ").at(At(wanted.until)).words(" WHERE organization_id = ").id(tenant);
    out.words(&format!(" AND id IN (SELECT id FROM chosen) RETURNING {COLUMNS}"));
    out
}

/// Those of some jobs that are free. They are found by their ids: the state is said such that no index of it is taken, along
/// which all jobs of a type would be gone through.
fn of_these<S>(out: &mut Statement<S>, tenant: Id, only: &[JobId], most: i64, dialect: Dialect) {
    let only: Vec<Id> = only.iter().copied().map(Id::from).collect();
    out.words("SELECT id, priority, place FROM jobs WHERE organization_id = ").id(tenant);
    out.among("id IN", &only);
    out.words(&format!(" AND state || '' = 'ready' ORDER BY {IN_TURN} LIMIT ")).number(most);
    out.words(dialect.lock());
}

fn ids(ids: &[Uuid]) -> Vec<Id> {
    ids.iter().copied().map(Id).collect()
}

/// Finds the jobs that may be taken among the first of the types, and leaves them.
pub(crate) fn free(tenant: Id, wanted: &Candidates) -> Statement<jobs::SqlType> {
    let mut out = Statement::new(false);
    let part = Part::first(tenant, wanted);
    out.words(&format!("SELECT {COLUMNS} FROM (SELECT * FROM ("));
    part.whole_streams(&mut out, &wanted.types, COLUMNS);
    out.words(&format!(") AS seen ORDER BY {IN_TURN} LIMIT ")).number(WINDOW).words(") AS jobs WHERE (");
    for (place, one) in wanted.types.iter().enumerate() {
        out.words(if place == 0 { "(job_type = " } else { " OR (job_type = " }).text(&one.name);
        part.conditions(&mut out, one);
        out.words(")");
    }
    out.words(&format!(") ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
    out
}

/// Finds the last job that [`free`] goes through, when there are so many.
pub(crate) fn last_seen(tenant: Id, wanted: &Candidates) -> Statement<(BigInt, DbInstant, DbUuid)> {
    let mut out = Statement::new(false);
    out.words("SELECT priority, place, id FROM (");
    Part::first(tenant, wanted).whole_streams(&mut out, &wanted.types, "priority, place, id");
    out.words(&format!(") AS seen ORDER BY {IN_TURN} LIMIT 1 OFFSET ")).number(WINDOW - 1);
    out
}

impl<'a> Part<'a> {
    /// The first jobs behind a place.
    fn first(tenant: Id, wanted: &'a Candidates) -> Self {
        let (denied, denied_kind) = (ids(&wanted.denied), wanted.denied_kind);
        Self { tenant, denied, denied_kind, behind: wanted.behind.as_ref(), most: WINDOW }
    }

    /// The first jobs of each type that may be had, one behind the other.
    fn streams<S>(&self, out: &mut Statement<S>, types: &[WantedType], columns: &str, lock: &str) {
        for (place, one) in types.iter().enumerate() {
            self.begin_stream(out, one, columns, place);
            self.conditions(out, one);
            self.end_stream(out, lock, place);
        }
    }

    /// The first jobs of each type, whoever may have them.
    fn whole_streams<S>(&self, out: &mut Statement<S>, types: &[WantedType], columns: &str) {
        for (place, one) in types.iter().enumerate() {
            self.begin_stream(out, one, columns, place);
            self.end_stream(out, "", place);
        }
    }

    fn begin_stream<S>(&self, out: &mut Statement<S>, one: &WantedType, columns: &str, place: usize) {
        out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
        out.words(&format!("SELECT {columns} FROM jobs WHERE organization_id = ")).id(self.tenant);
        out.words(" AND job_type = ").text(&one.name).words(" AND state = 'ready'");
        if let Some(JobPlace { priority, place, job }) = self.behind {
            // The first condition bounds the walk along the index.
            out.words(" AND priority <= ").number(*priority).words(" AND (priority < ").number(*priority);
            out.words(" OR place > ").at(At(*place)).words(" OR (place = ").at(At(*place));
            out.words(" AND id > ").id(*job).words("))");
        }
    }

    fn end_stream<S>(&self, out: &mut Statement<S>, lock: &str, place: usize) {
        out.words(&format!(" ORDER BY {IN_TURN} LIMIT ")).number(self.most);
        out.words(lock).words(&format!(") AS s{place}"));
    }

    fn conditions<S>(&self, out: &mut Statement<S>, one: &WantedType) {
        if let Some(within) = &one.within {
            let within = ids(within);
            out.words(" AND (run_id IN (")
                .ids(&within)
                .words(") OR workflow_id IN (")
                .ids(&within)
                .words("))");
        }
        narrow(out, &one.narrowed);
        if !self.denied.is_empty() {
            out.among("run_id NOT IN", &self.denied);
            out.among("workflow_id NOT IN", &self.denied);
        }
        if let Some(kind) = self.denied_kind {
            out.words(" AND instance_kind <> ").text(kind.as_str());
        }
    }
}

/// The conditions of a worker on the jobs of a type.
fn narrow<S>(out: &mut Statement<S>, narrowed: &Narrowed) {
    let Narrowed { business_key, processes, versions } = narrowed;
    if let Some(key) = business_key {
        out.words(" AND EXISTS (SELECT 1 FROM runs WHERE runs.organization_id = jobs.organization_id");
        out.words(" AND runs.id = jobs.run_id AND runs.business_key = ").text(key).words(")");
    }
    if let Some(processes) = processes {
        out.words(" AND ");
        out.named("process_id", processes);
    }
    if let Some(versions) = versions {
        out.words(" AND (FALSE");
        for one in versions {
            out.words(" OR (process_id = ").text(&one.process_id);
            out.words(" AND version = ").number(one.version.into());
            out.words(" AND workflow_id = ").id(one.workflow).words(")");
        }
        out.words(")");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::debug_query;
    use diesel::pg::Pg;
    use diesel::sqlite::Sqlite;
    use heddle_kernel::Timestamp;
    use heddle_workflows::ports::TakenJobs;

    fn wanted(types: &[&str], denied: Vec<Uuid>) -> Activation {
        let of = |name: &&str| WantedType {
            name: (*name).to_owned(),
            within: None,
            narrowed: Narrowed::default(),
        };
        Activation {
            types: types.iter().map(of).collect(),
            denied,
            denied_kind: None,
            worker: "w".to_owned(),
            only: None,
            most: 3,
            now: Timestamp::from_micros(1),
            until: Timestamp::from_micros(2),
            taken: TakenJobs::default(),
        }
    }

    #[test]
    fn values_are_bound_and_rows_of_other_writers_are_passed_over() {
        let tenant = Id(Uuid::nil());
        let one =
            debug_query::<Pg, _>(&taking(tenant, &wanted(&["it's"], vec![Uuid::nil()]), Dialect::Postgres))
                .to_string();
        let text = one.split(" -- binds").next().unwrap_or_default();
        assert!(!text.contains("it's") && text.contains("run_id NOT IN ($"), "{text}");
        assert_eq!(text.matches("FOR UPDATE SKIP LOCKED").count(), 1, "{text}");
        let two = debug_query::<Sqlite, _>(&taking(tenant, &wanted(&["a", "b"], vec![]), Dialect::Sqlite))
            .to_string();
        assert_eq!((two.matches("UNION ALL").count(), two.matches("FOR UPDATE").count()), (1, 0), "{two}");
        let due =
            debug_query::<Pg, _>(&again(tenant, &wanted(&["a"], vec![]), Dialect::Postgres)).to_string();
        assert!(due.contains("due_at <= $"), "{due}");
        let of_runs = Activation { denied_kind: Some(DefinitionKind::Case), ..wanted(&["a"], vec![]) };
        let text = debug_query::<Sqlite, _>(&taking(tenant, &of_runs, Dialect::Sqlite)).to_string();
        assert!(text.contains("AND instance_kind <> ?"), "{text}");
    }

    #[test]
    fn jobs_that_were_found_before_are_locked_by_their_ids_alone() {
        let narrowed = Narrowed { business_key: Some("K".to_owned()), ..Narrowed::default() };
        let mut asked = wanted(&["a"], vec![Uuid::nil()]);
        asked.types[0].narrowed = narrowed;
        asked.only = Some(vec![JobId(Uuid::nil())]);
        let text = debug_query::<Pg, _>(&taking(Id(Uuid::nil()), &asked, Dialect::Postgres)).to_string();
        let text = text.split(" -- binds").next().unwrap_or_default();
        assert!(text.contains("AND id IN ($") && text.contains("SKIP LOCKED"), "{text}");
        assert!(!text.contains("job_type =") && !text.contains("EXISTS"), "{text}");
    }
}

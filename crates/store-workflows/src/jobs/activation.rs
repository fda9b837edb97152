//! The statements by which a worker takes jobs. Each type is a stream in the order of an index; the first of each are the
//! first of all, however many are stored.

use diesel::sql_types::Text;
use heddle_store::{At, Id};
use heddle_workflows::ports::{Activation, Candidates, JobPlace, Narrowed, WantedType};

use super::COLUMNS;
use crate::schema::jobs;
use crate::statement::Statement;

/// Most locks and delays that ran out and are noted by one activation.
const MOST_DUE: i64 = 1_024;
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
    only: Option<Vec<Id>>,
    behind: Option<&'a JobPlace>,
    most: u32,
}

/// Takes jobs, and gives their rows.
pub(crate) fn taking(tenant: Id, wanted: &Activation, dialect: Dialect) -> Statement<jobs::SqlType> {
    let is_plain = wanted.denied.is_empty() && wanted.only.is_none() && wanted.types.iter().all(is_whole);
    let mut out = Statement::new(is_plain && wanted.types.len() <= FEW);
    let part = Part {
        tenant,
        denied: wanted.denied.iter().copied().map(Id).collect(),
        only: wanted.only.as_ref().map(|only| only.iter().copied().map(Id::from).collect()),
        behind: None,
        most: wanted.most,
    };
    // What is chosen is chosen once, whatever the plan.
    out.words("WITH chosen AS MATERIALIZED (SELECT id FROM (");
    part.streams(&mut out, &wanted.types, "id, priority, place", dialect.lock());
    out.words(&format!(") AS found ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
    out.words(") UPDATE jobs SET state = 'locked', epoch = epoch + 1, worker = ").text(&wanted.worker);
    out.words(", due_at = ").at(At(wanted.until)).words(" WHERE organization_id = ").id(tenant);
    out.words(&format!(" AND id IN (SELECT id FROM chosen) RETURNING {COLUMNS}"));
    out
}

/// Finds the jobs that may be taken, and leaves them.
pub(crate) fn free(tenant: Id, wanted: &Candidates) -> Statement<jobs::SqlType> {
    let mut out = Statement::new(false);
    let part = Part {
        tenant,
        denied: wanted.denied.iter().copied().map(Id).collect(),
        only: None,
        behind: wanted.behind.as_ref(),
        most: wanted.most,
    };
    out.words(&format!("SELECT {COLUMNS} FROM ("));
    part.streams(&mut out, &wanted.types, COLUMNS, "");
    out.words(&format!(") AS found ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
    out
}

fn is_whole(one: &WantedType) -> bool {
    one.within.is_none() && one.narrowed == Narrowed::default()
}

impl Part<'_> {
    /// The first jobs of each type, one behind the other.
    fn streams<S>(&self, out: &mut Statement<S>, types: &[WantedType], columns: &str, lock: &str) {
        for (place, one) in types.iter().enumerate() {
            out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
            out.words(&format!("SELECT {columns} FROM jobs WHERE organization_id = ")).id(self.tenant);
            out.words(" AND job_type = ").text(&one.name).words(" AND state = 'ready'");
            self.conditions(out, one);
            out.words(&format!(" ORDER BY {IN_TURN} LIMIT ")).number(self.most.into());
            out.words(lock).words(&format!(") AS s{place}"));
        }
    }

    fn conditions<S>(&self, out: &mut Statement<S>, one: &WantedType) {
        if let Some(within) = &one.within {
            let within: Vec<Id> = within.iter().copied().map(Id).collect();
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
        if let Some(only) = &self.only {
            out.among("id IN", only);
        }
        if let Some(JobPlace { priority, place, job }) = self.behind {
            // The first condition bounds the walk along the index.
            out.words(" AND priority <= ").number(*priority).words(" AND (priority < ").number(*priority);
            out.words(" OR place > ").at(At(*place)).words(" OR (place = ").at(At(*place));
            out.words(" AND id > ").id(*job).words("))");
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
    use uuid::Uuid;

    fn wanted(types: &[&str], denied: Vec<Uuid>) -> Activation {
        let of = |name: &&str| WantedType {
            name: (*name).to_owned(),
            within: None,
            narrowed: Narrowed::default(),
        };
        Activation {
            types: types.iter().map(of).collect(),
            denied,
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
    }
}

//! The statements by which a worker takes jobs. Each type is a stream in the order of an index; the first of each are the
//! first of all, however many are stored.

use diesel::sql_types::Bool;
use heddle_store::{At, Id};
use heddle_workflows::ports::{Activation, WantedType};

use crate::schema::jobs;
use crate::statement::Statement;

/// Most locks and delays that ran out and are noted by one activation.
const MOST_DUE: i64 = 1_024;
/// Most types of a statement that is kept prepared.
const FEW: usize = 8;
/// The order in which jobs are given out.
const IN_TURN: &str = "priority DESC, place, id";
/// The columns of a row, in its order.
const COLUMNS: &str = "organization_id, id, number, run_id, workflow_id, version, process_id, node_id, \
                       node_instance_id, kind, job_type, headers, priority, state, retries, attempt, due_at, \
                       epoch, worker, message, place, created_at";

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
/// it until somebody else takes it.
pub(crate) fn again(tenant: Id, wanted: &Activation, dialect: Dialect) -> Statement<Bool> {
    let mut out = Statement::new(wanted.types.len() <= FEW);
    out.words("UPDATE jobs SET state = 'ready', due_at = NULL WHERE organization_id = ").id(tenant);
    out.words(" AND id IN (SELECT id FROM jobs WHERE organization_id = ").id(tenant).words(" AND ");
    let names: Vec<String> = wanted.types.iter().map(|one| one.name.clone()).collect();
    out.named("job_type", &names);
    out.words(" AND due_at <= ").at(At(wanted.now)).words(" LIMIT ").number(MOST_DUE);
    out.words(dialect.lock()).words(")");
    out
}

/// Takes jobs, and gives their rows.
pub(crate) fn taking(tenant: Id, wanted: &Activation, dialect: Dialect) -> Statement<jobs::SqlType> {
    let plain = wanted.denied.is_empty() && wanted.types.iter().all(|one| one.within.is_none());
    let mut out = Statement::new(plain && wanted.types.len() <= FEW);
    // What is chosen is chosen once, whatever the plan.
    out.words("WITH chosen AS MATERIALIZED (SELECT id FROM (");
    for (place, one) in wanted.types.iter().enumerate() {
        out.words(if place == 0 { "SELECT * FROM (" } else { " UNION ALL SELECT * FROM (" });
        stream(&mut out, tenant, wanted, one);
        out.words(dialect.lock()).words(&format!(") AS s{place}"));
    }
    out.words(&format!(") AS found ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
    out.words(") UPDATE jobs SET state = 'locked', epoch = epoch + 1, worker = ").text(&wanted.worker);
    out.words(", due_at = ").at(At(wanted.until)).words(" WHERE organization_id = ").id(tenant);
    out.words(&format!(" AND id IN (SELECT id FROM chosen) RETURNING {COLUMNS}"));
    out
}

/// The first jobs of a type.
fn stream(out: &mut Statement<jobs::SqlType>, tenant: Id, wanted: &Activation, one: &WantedType) {
    let ids = |ids: &[uuid::Uuid]| -> Vec<Id> { ids.iter().copied().map(Id).collect() };
    out.words("SELECT id, priority, place FROM jobs WHERE organization_id = ").id(tenant);
    out.words(" AND job_type = ").text(&one.name).words(" AND state = 'ready'");
    if let Some(within) = &one.within {
        let within = ids(within);
        out.words(" AND (run_id IN (").ids(&within).words(") OR workflow_id IN (").ids(&within).words("))");
    }
    if !wanted.denied.is_empty() {
        let denied = ids(&wanted.denied);
        out.among("run_id NOT IN", &denied);
        out.among("workflow_id NOT IN", &denied);
    }
    out.words(&format!(" ORDER BY {IN_TURN} LIMIT ")).number(wanted.most.into());
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
        let of = |name: &&str| WantedType { name: (*name).to_owned(), within: None };
        Activation {
            types: types.iter().map(of).collect(),
            denied,
            worker: "w".to_owned(),
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

//! Statements whose text never changes.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::{AsChangeset, AstPass, IntoUpdateTarget, QueryFragment, QueryId};
use diesel::query_source::QuerySource;

/// Update of rows whose text is the same whatever its values are, so that the connection keeps its plan.
///
/// Diesel's own update counts as changeable, since a changeset may leave columns out, and each one is read and planned
/// anew: on SQLite that takes longer than the writing itself. The assignments of `row!` always name the same columns. A
/// wrapper around diesel's update would not do: what walks through it says that it may change.
#[derive(Debug, Clone, Copy)]
pub struct Stable<From, Where, Set> {
    from: From,
    filter: Where,
    set: Set,
}

/// Sets columns of the rows of `target`, all of them always.
pub fn stable<T, S>(
    target: T,
    set: S,
) -> Stable<<T::Table as QuerySource>::FromClause, T::WhereClause, S::Changeset>
where
    T: IntoUpdateTarget,
    T::Table: QuerySource,
    S: AsChangeset<Target = T::Table>,
{
    let target = target.into_update_target();
    Stable { from: target.table.from_clause(), filter: target.where_clause, set: set.as_changeset() }
}

impl<F, W, S, DB> QueryFragment<DB> for Stable<F, W, S>
where
    DB: Backend,
    F: QueryFragment<DB>,
    W: QueryFragment<DB>,
    S: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql("UPDATE ");
        self.from.walk_ast(out.reborrow())?;
        out.push_sql(" SET ");
        self.set.walk_ast(out.reborrow())?;
        self.filter.walk_ast(out.reborrow())
    }
}

impl<F, W, S> QueryId for Stable<F, W, S> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<F, W, S, C> diesel::RunQueryDsl<C> for Stable<F, W, S> {}

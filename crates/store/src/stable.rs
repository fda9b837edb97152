//! Statements whose text never changes.

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};

/// Statement whose text is the same whatever its values are, so that the connection keeps its plan.
///
/// An update counts as changeable otherwise, since a changeset may leave columns out, and each one is read and planned
/// anew: on SQLite that took longer than the writing itself. The assignments of `row!` always name the same columns.
#[derive(Debug, Clone, Copy)]
pub struct Stable<Q>(pub Q);

impl<Q, DB> QueryFragment<DB> for Stable<Q>
where
    DB: Backend,
    Q: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(pass)
    }

    fn is_safe_to_cache_prepared(&self, _backend: &DB) -> QueryResult<bool> {
        Ok(true)
    }
}

impl<Q> QueryId for Stable<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q, C> diesel::RunQueryDsl<C> for Stable<Q> {}

//! Statements of fixed words, for what the query language has no words for.

use diesel::QueryResult;
use diesel::RunQueryDsl;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{HasSqlType, Untyped};
use std::marker::PhantomData;

/// Statement whose words are written in the program, with values between them.
///
/// Unlike `sql_query`, whose words may be any, its plan is kept by the connection: on PostgreSQL that saves two ways to the
/// server and the planning, which take longer than most statements.
#[derive(Debug, Clone, Copy)]
pub struct Fixed<Part>(Part);

/// Words of a [`Fixed`].
#[derive(Debug, Clone, Copy)]
pub struct Words(&'static str);

/// A value between words.
#[derive(Debug, Clone, Copy)]
pub struct Bind<Before, Kind, Value> {
    before: Before,
    value: Value,
    behind: &'static str,
    kind: PhantomData<Kind>,
}

/// Begins a statement with its words up to the first value, or to its end.
#[must_use]
pub fn fixed(words: &'static str) -> Fixed<Words> {
    Fixed(Words(words))
}

impl<Part> Fixed<Part> {
    /// Puts a value behind the words so far, and more words behind it.
    pub fn bind<Kind, Value>(self, value: Value, behind: &'static str) -> Fixed<Bind<Part, Kind, Value>> {
        Fixed(Bind { before: self.0, value, behind, kind: PhantomData })
    }
}

impl<DB: Backend> QueryFragment<DB> for Words {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.0);
        Ok(())
    }
}

impl<DB, Before, Kind, Value> QueryFragment<DB> for Bind<Before, Kind, Value>
where
    DB: Backend + HasSqlType<Kind>,
    Before: QueryFragment<DB>,
    Value: ToSql<Kind, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.before.walk_ast(out.reborrow())?;
        out.push_bind_param::<Kind, Value>(&self.value)?;
        out.push_sql(self.behind);
        Ok(())
    }
}

impl<DB: Backend, Part: QueryFragment<DB>> QueryFragment<DB> for Fixed<Part> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }
}

/// Kept under its words.
impl<Part> QueryId for Fixed<Part> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Part> Query for Fixed<Part> {
    type SqlType = Untyped;
}

impl<Part, C> RunQueryDsl<C> for Fixed<Part> {}

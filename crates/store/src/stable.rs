//! Statements whose text never changes.

use std::marker::PhantomData;

use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::query_builder::{AsChangeset, AstPass, IntoUpdateTarget, QueryFragment, QueryId};
use diesel::query_source::QuerySource;
use diesel::sqlite::Sqlite;
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};

/// Update of rows whose text is the same whatever its values are, so that the connection keeps its plan under the type alone.
///
/// Diesel's own update counts as changeable, since a changeset may leave columns out, and each one is read and planned
/// anew: on SQLite that takes longer than the writing itself. The assignments of `row!` always name the same columns. A
/// wrapper around diesel's update would not do: what walks through it says that it may change.
///
/// On SQLite it stands within a transaction that is undone when it fails, and says so, as [`Added`] does.
#[derive(Debug)]
pub struct Stable<T: QuerySource, Where, Set: AsChangeset> {
    from: T::FromClause,
    filter: Where,
    set: Set::Changeset,
}

/// Identity of an update: its table, the columns by which rows are found, and those that are set.
#[derive(Debug)]
pub struct StableId<T, Where, Set>(PhantomData<(T, Where, Set)>);

/// Rows of a table that are to be changed.
#[derive(Debug)]
pub struct Update<T, Where> {
    table: T,
    filter: Where,
}

/// Begins an update of the rows of `target`, in place of diesel's own.
pub fn update<T>(target: T) -> Update<T::Table, T::WhereClause>
where
    T: IntoUpdateTarget,
    T::Table: QuerySource,
{
    let target = target.into_update_target();
    Update { table: target.table, filter: target.where_clause }
}

impl<T: QuerySource, Where> Update<T, Where> {
    /// Sets columns, all of them always: an optional assignment has no identity, and is refused by the compiler.
    pub fn set<S: AsChangeset<Target = T>>(self, set: S) -> Stable<T, Where, S> {
        Stable { from: self.table.from_clause(), filter: self.filter, set: set.as_changeset() }
    }
}

/// A database, by how an update begins there.
pub trait Updating: Backend {
    /// The words before the table.
    const UPDATE: &'static str;
}

impl Updating for Sqlite {
    const UPDATE: &'static str = "UPDATE OR FAIL ";
}

impl Updating for Pg {
    const UPDATE: &'static str = "UPDATE ";
}

impl<T, W, S, DB> QueryFragment<DB> for Stable<T, W, S>
where
    DB: Updating,
    T: QuerySource,
    T::FromClause: QueryFragment<DB>,
    W: QueryFragment<DB>,
    S: AsChangeset,
    S::Changeset: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(DB::UPDATE);
        self.from.walk_ast(out.reborrow())?;
        out.push_sql(" SET ");
        self.set.walk_ast(out.reborrow())?;
        self.filter.walk_ast(out.reborrow())
    }
}

impl<T, W, S> QueryId for Stable<T, W, S>
where
    T: QuerySource + QueryId + 'static,
    W: QueryId,
    S: AsChangeset + QueryId,
{
    type QueryId = StableId<T, W::QueryId, S::QueryId>;

    const HAS_STATIC_QUERY_ID: bool =
        T::HAS_STATIC_QUERY_ID && W::HAS_STATIC_QUERY_ID && S::HAS_STATIC_QUERY_ID;
}

impl<T: QuerySource, W, S: AsChangeset, C> RunQueryDsl<C> for Stable<T, W, S> {}

/// A row that SQLite adds to its table by a statement that names every column. [`row!`](crate::row) makes it.
pub trait Addition {
    /// The statement up to its values.
    const HEAD: &'static str;
    /// The statement behind them: what becomes of a row whose key is there.
    const TAIL: &'static str = "";

    /// Walks through the values, in parentheses.
    ///
    /// # Errors
    /// When a value has no form in the database.
    fn values<'b>(&'b self, out: &mut AstPass<'_, 'b, Sqlite>) -> QueryResult<()>;
}

/// Insertion of rows on SQLite, of as many as its type says, within a transaction that is undone when it fails.
///
/// It says so (`OR FAIL`): then SQLite keeps no copy of each page that a table with triggers changes, for the case that
/// only this statement were to be undone. Diesel's own insertion would ask each column several times whether it is there.
#[derive(Debug, Clone, Copy)]
pub struct Added<'a, R, const ROWS: usize>(&'a [&'a R; ROWS]);

/// Rows of one statement where there are many: its tables and indexes are opened once for all of them, and a row that
/// belongs behind the one before it is put there without being looked for.
const TOGETHER: usize = 8;

/// Adds a row.
///
/// # Errors
/// The database's.
pub fn add<R: Addition + 'static>(conn: &mut SqliteConnection, row: &R) -> QueryResult<usize> {
    Added(&[row]).execute(conn)
}

/// Adds rows, in their order.
///
/// # Errors
/// The database's.
pub fn add_all<R: Addition + 'static>(conn: &mut SqliteConnection, rows: &[&R]) -> QueryResult<()> {
    let (whole, rest) = rows.as_chunks::<TOGETHER>();
    for rows in whole {
        Added(rows).execute(conn)?;
    }
    rest.iter().try_for_each(|row| add(conn, *row).map(drop))
}

impl<R: Addition, const ROWS: usize> QueryFragment<Sqlite> for Added<'_, R, ROWS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let mut between = R::HEAD;
        for row in self.0 {
            out.push_sql(between);
            row.values(&mut out)?;
            between = ", ";
        }
        out.push_sql(R::TAIL);
        Ok(())
    }
}

impl<R: 'static, const ROWS: usize> QueryId for Added<'_, R, ROWS> {
    type QueryId = Added<'static, R, ROWS>;

    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<R, C, const ROWS: usize> RunQueryDsl<C> for Added<'_, R, ROWS> {}

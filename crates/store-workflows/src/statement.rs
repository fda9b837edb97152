//! Statements whose text depends on what is asked for: words and bound values, put together in order.

use std::any::TypeId;
use std::marker::PhantomData;

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Text};
use heddle_store::{At, Db, DbInstant, DbUuid, Id};

/// Numbers of rows for which a statement that is kept has a text; what is asked for is brought up to the next of them.
const STEPS: [i64; 8] = [2, 3, 6, 11, 21, 51, 101, 201];

/// Keeping of a statement's plan by a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// Planned each time, for the values that it has.
    Anew,
    /// Prepared once; whether PostgreSQL plans for the values still is up to it.
    Prepared,
    /// Prepared once, and planned once: PostgreSQL does not see the values when it plans.
    Unseen,
}

/// Way in which the streams of a list, which stand in its order each, are brought into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merging {
    /// Row by row, no further than the page goes: SQLite reads a `UNION` so, if no part of it has a limit of its own.
    RowByRow,
    /// The first of each are sorted: PostgreSQL reads every part of a `UNION` to its end.
    FirstOfEach,
}

impl Merging {
    /// The way of a database.
    pub(crate) const fn of(db: &Db) -> Self {
        match db.postgres() {
            Some(_) => Self::FirstOfEach,
            None => Self::RowByRow,
        }
    }
}

/// Piece of a statement: words of it, or a value.
#[derive(Debug, Clone)]
enum Piece {
    Words(String),
    Id(Id),
    Text(String),
    At(At),
    Number(i64),
}

/// A statement that gives rows of the SQL type `S`.
#[derive(Debug, Clone)]
pub(crate) struct Statement<S> {
    pieces: Vec<Piece>,
    keeping: Keeping,
    gives: PhantomData<fn() -> S>,
}

impl<S: 'static> QueryId for Statement<S> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<S> Query for Statement<S> {
    type SqlType = S;
}

impl<S, C> diesel::RunQueryDsl<C> for Statement<S> {}

impl<S, DB> QueryFragment<DB> for Statement<S>
where
    DB: Backend + HasSqlType<DbUuid> + HasSqlType<DbInstant> + 'static,
    Id: ToSql<DbUuid, DB>,
    At: ToSql<DbInstant, DB>,
    String: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let is_hidden = match self.keeping {
            Keeping::Anew => {
                out.unsafe_to_cache_prepared();
                false
            }
            Keeping::Prepared => false,
            Keeping::Unseen => TypeId::of::<DB>() == TypeId::of::<Pg>(),
        };
        for piece in &self.pieces {
            if let Piece::Words(words) = piece {
                out.push_sql(words);
                continue;
            }
            out.push_sql(if is_hidden { "(SELECT " } else { "" });
            match piece {
                Piece::Words(_) => {}
                Piece::Id(id) => out.push_bind_param::<DbUuid, _>(id)?,
                Piece::Text(text) => out.push_bind_param::<Text, _>(text)?,
                Piece::At(at) => out.push_bind_param::<DbInstant, _>(at)?,
                Piece::Number(number) => out.push_bind_param::<BigInt, _>(number)?,
            }
            out.push_sql(if is_hidden { ")" } else { "" });
        }
        Ok(())
    }
}

impl<S> Statement<S> {
    /// An empty one; whether it is kept prepared, which is for those that are asked for often in one text.
    pub(crate) const fn new(is_kept: bool) -> Self {
        let keeping = if is_kept { Keeping::Prepared } else { Keeping::Anew };
        Self { pieces: Vec::new(), keeping, gives: PhantomData }
    }

    /// An empty one that is kept, and whose plan is the same whatever its values.
    ///
    /// PostgreSQL plans a prepared statement anew for its values each time, where it takes the plan for all values for dearer
    /// than those it has seen: a list of seven streams takes a millisecond to plan, and a quarter of one to read. Behind a
    /// `SELECT` of their own it does not see the values, and there is nothing to plan for. So an index must be right for
    /// all of them; what is the same in all, or chooses the index, goes in as a [`Statement::word`].
    pub(crate) const fn unseen() -> Self {
        Self { pieces: Vec::new(), keeping: Keeping::Unseen, gives: PhantomData }
    }

    pub(crate) fn words(&mut self, words: &str) -> &mut Self {
        match self.pieces.last_mut() {
            Some(Piece::Words(last)) => last.push_str(words),
            Some(Piece::Id(_) | Piece::Text(_) | Piece::At(_) | Piece::Number(_)) | None => {
                self.pieces.push(Piece::Words(words.to_owned()));
            }
        }
        self
    }

    pub(crate) fn id(&mut self, id: impl Into<Id>) -> &mut Self {
        self.pieces.push(Piece::Id(id.into()));
        self
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.pieces.push(Piece::Text(text.to_owned()));
        self
    }

    /// A word of the program's own in quotes: a state, or a kind.
    pub(crate) fn word(&mut self, word: &'static str) -> &mut Self {
        self.words(&format!("'{word}'"))
    }

    /// The number of rows that are read, as the last of a `LIMIT`. A statement whose values are not seen has it in its text,
    /// and gives somewhat more rows: a plan for few is another than a plan for a tenth of all.
    pub(crate) fn most(&mut self, rows: i64) -> &mut Self {
        match self.keeping {
            Keeping::Anew | Keeping::Prepared => self.number(rows),
            Keeping::Unseen => {
                let rows = STEPS.into_iter().find(|step| rows <= *step).unwrap_or(rows);
                self.words(&rows.to_string())
            }
        }
    }

    pub(crate) fn at(&mut self, at: At) -> &mut Self {
        self.pieces.push(Piece::At(at));
        self
    }

    pub(crate) fn number(&mut self, number: i64) -> &mut Self {
        self.pieces.push(Piece::Number(number));
        self
    }

    /// The union of some streams, of which `stream` writes one.
    pub(crate) fn union<T>(&mut self, merging: Merging, streams: &[T], stream: impl Fn(&mut Self, &T)) {
        for (place, one) in streams.iter().enumerate() {
            self.words(if place == 0 { "" } else { " UNION " });
            match merging {
                Merging::RowByRow => stream(self, one),
                Merging::FirstOfEach => {
                    self.words("SELECT * FROM (");
                    stream(self, one);
                    self.words(&format!(") AS s{place}"));
                }
            }
        }
    }

    fn is_kept(&self) -> bool {
        self.keeping != Keeping::Anew
    }

    /// Numbers, separated by commas. Of a statement that is kept the last one stands as often as the next of the steps asks for,
    /// so that it has few texts.
    pub(crate) fn numbers(&mut self, numbers: &[i64]) -> &mut Self {
        for (place, number) in in_steps(self.is_kept(), numbers).enumerate() {
            self.words(if place == 0 { "" } else { ", " }).number(number);
        }
        self
    }

    /// Ids, separated by commas, as [`Statement::numbers`].
    pub(crate) fn ids_in_steps(&mut self, ids: &[Id]) -> &mut Self {
        for (place, id) in in_steps(self.is_kept(), ids).enumerate() {
            self.words(if place == 0 { "" } else { ", " }).id(id);
        }
        self
    }

    /// ` AND column (..)` over ids; the column comes with `IN` or `NOT IN`.
    pub(crate) fn among(&mut self, column: &str, ids: &[Id]) {
        self.words(&format!(" AND {column} ("));
        self.ids(ids).words(")");
    }

    /// Ids, separated by commas.
    pub(crate) fn ids(&mut self, ids: &[Id]) -> &mut Self {
        for (place, id) in ids.iter().enumerate() {
            self.words(if place == 0 { "" } else { ", " }).id(*id);
        }
        self
    }

    /// ` column IN (..)` over texts; false when there is none.
    pub(crate) fn named(&mut self, column: &str, names: &[String]) {
        if names.is_empty() {
            self.words("FALSE");
            return;
        }
        self.words(&format!("{column} IN ("));
        for (place, name) in names.iter().enumerate() {
            self.words(if place == 0 { "" } else { ", " }).text(name);
        }
        self.words(")");
    }
}

/// The values, and where they are of a statement that is kept the last one as often as the next of the steps asks for.
fn in_steps<T: Copy>(is_kept: bool, values: &[T]) -> impl Iterator<Item = T> {
    let many = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let step = STEPS.into_iter().find(|step| many <= *step).and_then(|step| usize::try_from(step).ok());
    let step = step.filter(|_| is_kept).unwrap_or(values.len());
    values.iter().copied().chain(values.last().copied().into_iter().cycle()).take(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::debug_query;
    use diesel::query_source::{Column, Table};
    use diesel::sqlite::Sqlite;

    use crate::schema::{human_tasks, jobs};

    /// Names of columns, in their order.
    trait Names {
        fn names() -> Vec<&'static str>;
    }

    macro_rules! names {
        ($($column:ident),*) => {
            impl<$($column: Column),*> Names for ($($column,)*) {
                fn names() -> Vec<&'static str> {
                    vec![$($column::NAME),*]
                }
            }
        };
    }
    names!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V);
    names!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X);

    #[test]
    fn the_columns_of_a_text_are_those_of_the_row() {
        let names = |columns: &'static str| columns.split(", ").collect::<Vec<_>>();
        assert_eq!(names(crate::jobs::COLUMNS), <<jobs::table as Table>::AllColumns as Names>::names());
        let of_tasks = <<human_tasks::table as Table>::AllColumns as Names>::names();
        assert_eq!(names(crate::runs::tasks::COLUMNS), of_tasks);
    }

    #[test]
    fn numbers_come_in_steps_where_the_statement_is_kept() {
        let text = |mut one: Statement<(BigInt,)>, many: i64| {
            one.numbers(&(1..=many).collect::<Vec<_>>());
            debug_query::<Sqlite, _>(&one).to_string()
        };
        for (many, marks, last) in [(1, 2, 1), (2, 2, 2), (4, 6, 4), (21, 21, 21), (250, 250, 250)] {
            let text = text(Statement::new(true), many);
            assert_eq!(text.matches('?').count(), marks, "{text}");
            assert!(text.trim_end().ends_with(&format!("{last}]")), "{text}");
        }
        assert_eq!(text(Statement::new(false), 4).matches('?').count(), 4);
    }

    #[test]
    fn values_are_hidden_from_the_planner_of_postgresql_alone_and_rows_come_in_steps() {
        let text = |mut one: Statement<(BigInt,)>| {
            one.words("WHERE a = ").text("x").words(" AND b = ").word("open").words(" LIMIT ").most(5);
            let of = |text: String| text.split(" -- ").next().unwrap_or_default().to_owned();
            [of(debug_query::<Pg, _>(&one).to_string()), of(debug_query::<Sqlite, _>(&one).to_string())]
        };
        let seen = ["WHERE a = $1 AND b = 'open' LIMIT $2", "WHERE a = ? AND b = 'open' LIMIT ?"];
        assert_eq!(text(Statement::new(false)), seen);
        assert_eq!(text(Statement::new(true)), seen);
        let unseen = ["WHERE a = (SELECT $1) AND b = 'open' LIMIT 6", "WHERE a = ? AND b = 'open' LIMIT 6"];
        assert_eq!(text(Statement::unseen()), unseen);
        let rows = |rows| {
            let mut one = Statement::<(BigInt,)>::unseen();
            one.most(rows);
            debug_query::<Pg, _>(&one).to_string().split(" -- ").next().map(str::to_owned)
        };
        assert_eq!(
            [1, 2, 51, 52, 201, 900].map(rows),
            ["2", "2", "51", "101", "201", "900"].map(|n| Some(n.to_owned()))
        );
    }
}

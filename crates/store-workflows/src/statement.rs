//! Statements whose text depends on what is asked for: words and bound values, put together in order.

use std::marker::PhantomData;

use diesel::QueryResult;
use diesel::backend::Backend;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Text};
use heddle_store::{At, DbInstant, DbUuid, Id};

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
    is_kept: bool,
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
    DB: Backend + HasSqlType<DbUuid> + HasSqlType<DbInstant>,
    Id: ToSql<DbUuid, DB>,
    At: ToSql<DbInstant, DB>,
    String: ToSql<Text, DB>,
    i64: ToSql<BigInt, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        if !self.is_kept {
            out.unsafe_to_cache_prepared();
        }
        for piece in &self.pieces {
            match piece {
                Piece::Words(words) => out.push_sql(words),
                Piece::Id(id) => out.push_bind_param::<DbUuid, _>(id)?,
                Piece::Text(text) => out.push_bind_param::<Text, _>(text)?,
                Piece::At(at) => out.push_bind_param::<DbInstant, _>(at)?,
                Piece::Number(number) => out.push_bind_param::<BigInt, _>(number)?,
            }
        }
        Ok(())
    }
}

impl<S> Statement<S> {
    /// An empty one; whether it is kept prepared, which is for those that are asked for often in one text.
    pub(crate) const fn new(is_kept: bool) -> Self {
        Self { pieces: Vec::new(), is_kept, gives: PhantomData }
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

    pub(crate) fn at(&mut self, at: At) -> &mut Self {
        self.pieces.push(Piece::At(at));
        self
    }

    pub(crate) fn number(&mut self, number: i64) -> &mut Self {
        self.pieces.push(Piece::Number(number));
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

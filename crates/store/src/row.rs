//! One list of columns for each table: `row!` makes of it what diesel sees, the row, its partial changes, and the
//! insertion of many rows. A column that is forgotten somewhere does not compile, on either database.

/// A table with its row.
///
/// ```ignore
/// row! {
///     /// A run.
///     pub(crate) runs (organization_id, id) => RunDbRow changes (RunChange) many (NewRuns) {
///         key  organization_id: [DbUuid] Id,
///         once workflow_id: [DbUuid] Id,
///         each waiting_since: [Nullable<DbInstant>] Option<At>,
///     }
/// }
/// ```
///
/// makes the table `runs`; the struct `RunDbRow`; `RunChange`, which borrows every column marked `each` and whose
/// `set()` is what an update sets (a null is written, not left out); and `NewRuns`, PostgreSQL's insertion with one
/// array for each column, so that its text is the same for any number of rows; with it goes SQLite's insertion of one
/// ([`add`](crate::add)). `key` and `once` columns never change;
/// an `alone` column is changed by statements of its own (a counter, the time of the last use).
///
/// A table whose rows change in two ways names two changes; the columns of the second are marked `then`.
/// `head (WorkflowHead)` makes a second struct for reading, without the columns of which it says `apart` before the SQL
/// type (`then draft: apart [Nullable<Binary>] Option<Vec<u8>>`): a list does not read what is large.
/// `many (NewAnswers replacing "idempotency_keys.expires_at <= excluded.created_at")` takes the place of the present
/// rows of which that holds.
#[macro_export]
macro_rules! row {
    (
        $(#[$doc:meta])*
        $vis:vis $table:ident ($($pk:ident),+) => $row:ident
        $(head ($head:ident))?
        $(changes ($($change:ident),+))?
        $(many ($($many:tt)+))?
        {
            $($section:ident $column:ident: $($apart:ident)? [$($sql:tt)+] $rust:ty),+ $(,)?
        }
    ) => {
        ::diesel::table! {
            use diesel::sql_types::*;
            use heddle_store::{DbInstant, DbJson, DbUuid};

            $(#[$doc])*
            $table ($($pk),+) {
                $($column -> $($sql)+,)+
            }
        }

        $(#[$doc])*
        // Null where there is nothing, and not what the table would say: then each insertion has one text, whose plan is kept,
        // and diesel needs not write it to see that.
        #[derive(Debug, ::diesel::Queryable, ::diesel::Selectable, ::diesel::Insertable)]
        #[diesel(table_name = $table, treat_none_as_default_value = false)]
        $vis struct $row {
            $($vis $column: $rust,)+
        }

        $crate::row_head! { ($($head)?) $vis $table [] $($column $($apart)? [$rust])+ }
        $crate::row_changes! { ($($($change),+)?) $vis $table $row $($section $column [$rust])+ }
        $crate::row_many! { ($($($many)+)?) $vis $table ($($pk)+) $row $($column [$($sql)+] [$rust])+ }
    };
}

/// The part of a row that lists read.
#[doc(hidden)]
#[macro_export]
macro_rules! row_head {
    (() $vis:vis $table:ident [] $($column:ident [$rust:ty])+) => {};
    (($head:ident) $vis:vis $table:ident [$($done:tt)*] $column:ident apart [$rust:ty] $($rest:tt)*) => {
        $crate::row_head! { ($head) $vis $table [$($done)*] $($rest)* }
    };
    (($head:ident) $vis:vis $table:ident [$($done:tt)*] $column:ident [$rust:ty] $($rest:tt)*) => {
        $crate::row_head! { ($head) $vis $table [$($done)* $column [$rust]] $($rest)* }
    };
    (($head:ident) $vis:vis $table:ident [$($column:ident [$rust:ty])+]) => {
        /// Columns of the row that lists read.
        #[derive(Debug, ::diesel::Queryable, ::diesel::Selectable)]
        #[diesel(table_name = $table)]
        $vis struct $head {
            $($vis $column: $rust,)+
        }
    };
}

/// The partial changes of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! row_changes {
    (() $vis:vis $table:ident $row:ident $($section:ident $column:ident [$rust:ty])+) => {
        $($crate::row_changes! { @section none $section })+
    };
    (($each:ident) $vis:vis $table:ident $row:ident $($section:ident $column:ident [$rust:ty])+) => {
        $($crate::row_changes! { @section one $section })+
        $crate::row_changes! { @ each $each $vis $table $row [] $($section $column [$rust])+ }
    };
    (($each:ident, $then:ident) $vis:vis $table:ident $row:ident $($section:ident $column:ident [$rust:ty])+) => {
        $($crate::row_changes! { @section two $section })+
        $crate::row_changes! { @ each $each $vis $table $row [] $($section $column [$rust])+ }
        $crate::row_changes! { @ then $then $vis $table $row [] $($section $column [$rust])+ }
    };
    (@section $sets:ident key) => {};
    (@section $sets:ident once) => {};
    (@section $sets:ident alone) => {};
    (@section one each) => {};
    (@section two each) => {};
    (@section two then) => {};
    (@ each $name:ident $vis:vis $table:ident $row:ident [$($done:tt)*] each $column:ident [$rust:ty] $($rest:tt)*) => {
        $crate::row_changes! { @ each $name $vis $table $row [$($done)* $column [$rust]] $($rest)* }
    };
    (@ then $name:ident $vis:vis $table:ident $row:ident [$($done:tt)*] then $column:ident [$rust:ty] $($rest:tt)*) => {
        $crate::row_changes! { @ then $name $vis $table $row [$($done)* $column [$rust]] $($rest)* }
    };
    (
        @ $set:ident $name:ident $vis:vis $table:ident $row:ident [$($done:tt)*]
        $other:ident $column:ident [$rust:ty] $($rest:tt)*
    ) => {
        $crate::row_changes! { @ $set $name $vis $table $row [$($done)*] $($rest)* }
    };
    (@ $set:ident $name:ident $vis:vis $table:ident $row:ident [$($column:ident [$rust:ty])+]) => {
        /// Columns of the row that a change writes.
        #[derive(Debug)]
        $vis struct $name<'a> {
            $($vis $column: &'a $rust,)+
        }

        impl<'a> $name<'a> {
            /// Assignments of an update.
            $vis fn set(&self) -> ($(::diesel::dsl::Eq<$table::$column, &'a $rust>,)+) {
                use ::diesel::ExpressionMethods as _;
                ($($table::$column.eq(self.$column),)+)
            }
        }

        impl<'a> From<&'a $row> for $name<'a> {
            fn from(row: &'a $row) -> Self {
                Self { $($column: &row.$column,)+ }
            }
        }
    };
}

/// PostgreSQL's insertion of many rows.
#[doc(hidden)]
#[macro_export]
macro_rules! row_many {
    (() $($rest:tt)*) => {};
    (
        ($many:ident $(replacing $present:literal)?)
        $vis:vis $table:ident $pk:tt $row:ident $($column:ident [$($sql:tt)+] [$rust:ty])+
    ) => {
        /// New rows, one array for each column: the text of the statement is the same for any number of rows, and its
        /// plan is kept.
        #[derive(Debug, Default)]
        $vis struct $many<'a> {
            $($column: Vec<&'a $rust>,)+
        }

        impl<'a> $many<'a> {
            /// Adds a row.
            $vis fn push(&mut self, row: &'a $row) {
                let $row { $($column),+ } = row;
                $(self.$column.push($column);)+
            }

            /// Whether there is no row.
            $vis fn is_empty(&self) -> bool {
                $(self.$column.is_empty())&&+
            }
        }

        impl ::diesel::query_builder::QueryFragment<::diesel::pg::Pg> for $many<'_> {
            fn walk_ast<'b>(
                &'b self,
                mut out: ::diesel::query_builder::AstPass<'_, 'b, ::diesel::pg::Pg>,
            ) -> ::diesel::QueryResult<()> {
                use ::diesel::sql_types::*;
                use $crate::columns::*;
                out.push_sql(concat!("INSERT INTO ", stringify!($table), " ("));
                let mut between = "";
                $(
                    out.push_sql(between);
                    out.push_identifier(stringify!($column))?;
                    between = ", ";
                )+
                out.push_sql(") SELECT * FROM unnest(");
                between = "";
                $(
                    out.push_sql(between);
                    out.push_bind_param::<Array<$($sql)+>, _>(&self.$column)?;
                    between = ", ";
                )+
                let _ = between;
                out.push_sql(")");
                $crate::row_many! { @replace out $pk ($($column)+) $($present)? }
                Ok(())
            }
        }

        impl ::diesel::query_builder::QueryId for $many<'_> {
            type QueryId = $many<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl $crate::Addition for $row {
            const HEAD: &'static str = concat!(
                "INSERT OR FAIL INTO ", stringify!($table), " (", $crate::quoted_names!($($column)+), ") VALUES "
            );

            fn values<'b>(
                &'b self,
                out: &mut ::diesel::query_builder::AstPass<'_, 'b, ::diesel::sqlite::Sqlite>,
            ) -> ::diesel::QueryResult<()> {
                use ::diesel::sql_types::*;
                use $crate::columns::*;
                let mut between = "(";
                $(
                    out.push_sql(between);
                    out.push_bind_param::<$($sql)+, _>(&self.$column)?;
                    between = ", ";
                )+
                let _ = between;
                out.push_sql(")");
                Ok(())
            }
        }
    };
    (@replace $out:ident $pk:tt $columns:tt) => {};
    (@replace $out:ident ($($pk:ident)+) ($($column:ident)+) $present:literal) => {
        let key = [$(stringify!($pk)),+];
        $out.push_sql(" ON CONFLICT (");
        let mut between = "";
        for column in key {
            $out.push_sql(between);
            $out.push_identifier(column)?;
            between = ", ";
        }
        $out.push_sql(") DO UPDATE SET ");
        between = "";
        for column in [$(stringify!($column)),+].into_iter().filter(|column| !key.contains(column)) {
            $out.push_sql(between);
            $out.push_identifier(column)?;
            $out.push_sql(" = excluded.");
            $out.push_identifier(column)?;
            between = ", ";
        }
        $out.push_sql(concat!(" WHERE ", $present));
    };
}

/// PostgreSQL's change of many rows by one statement, with one array for each column as in `many`:
/// `change_many!(RunSteps of RunChange on runs where (run: Id as id, expected: i64 as revision) set (state: StateWord))`
/// makes `RunSteps` with `push(run, expected, RunChange)`. A row is changed where the columns behind `as` are as given.
/// The columns in `set` are those of the change that [`row!`] made: one that is forgotten does not compile. `execute`
/// gives the number of rows that were met.
#[macro_export]
macro_rules! change_many {
    (
        $(#[$doc:meta])*
        $vis:vis $name:ident of $change:ident on $table:ident
        where ($($given:ident: $given_type:ty as $key:ident),+) set ($($column:ident: $type:ty),+ $(,)?)
    ) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($given: Vec<&'a $given_type>,)+
            $($column: Vec<&'a $type>,)+
        }

        impl<'a> $name<'a> {
            /// Adds a change of a row.
            $vis fn push(&mut self, $($given: &'a $given_type,)+ change: $change<'a>) {
                let $change { $($column),+ } = change;
                $(self.$given.push($given);)+
                $(self.$column.push($column);)+
            }

            /// Number of changes.
            $vis fn len(&self) -> usize {
                let lengths = [$(self.$given.len()),+];
                lengths.into_iter().min().unwrap_or(0)
            }
        }

        impl ::diesel::query_builder::QueryFragment<::diesel::pg::Pg> for $name<'_> {
            fn walk_ast<'b>(
                &'b self,
                mut out: ::diesel::query_builder::AstPass<'_, 'b, ::diesel::pg::Pg>,
            ) -> ::diesel::QueryResult<()> {
                use ::diesel::Expression;
                use ::diesel::sql_types::Array;
                out.push_sql(concat!("UPDATE ", stringify!($table), " SET "));
                let mut between = "";
                $(
                    out.push_sql(between);
                    out.push_identifier(stringify!($column))?;
                    out.push_sql(concat!(" = new_", stringify!($column)));
                    between = ", ";
                )+
                out.push_sql(" FROM unnest(");
                between = "";
                $(
                    out.push_sql(between);
                    out.push_bind_param::<Array<<$table::$key as Expression>::SqlType>, _>(&self.$given)?;
                    between = ", ";
                )+
                $(
                    out.push_sql(between);
                    out.push_bind_param::<Array<<$table::$column as Expression>::SqlType>, _>(&self.$column)?;
                )+
                out.push_sql(concat!(") AS new(", $crate::many_names!("of_", $($key)+), ", "));
                out.push_sql(concat!($crate::many_names!("new_", $($column)+), ") WHERE "));
                between = "";
                $(
                    out.push_sql(between);
                    out.push_sql(concat!(stringify!($table), "."));
                    out.push_identifier(stringify!($key))?;
                    out.push_sql(concat!(" = of_", stringify!($key)));
                    between = " AND ";
                )+
                let _ = between;
                Ok(())
            }
        }

        impl ::diesel::query_builder::QueryId for $name<'_> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }
    };
}

/// PostgreSQL's removal of many rows by one statement: `remove_many!(TimersGone from run_timers where (run: Id as run_id))`
/// makes `TimersGone` with `push(run)`. `execute` gives the number of rows that were met.
#[macro_export]
macro_rules! remove_many {
    (
        $(#[$doc:meta])*
        $vis:vis $name:ident from $table:ident where ($($given:ident: $given_type:ty as $key:ident),+)
    ) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($given: Vec<&'a $given_type>,)+
        }

        impl<'a> $name<'a> {
            /// Adds the key of a row.
            $vis fn push(&mut self, $($given: &'a $given_type),+) {
                $(self.$given.push($given);)+
            }

            /// Number of keys.
            $vis fn len(&self) -> usize {
                let lengths = [$(self.$given.len()),+];
                lengths.into_iter().min().unwrap_or(0)
            }
        }

        impl ::diesel::query_builder::QueryFragment<::diesel::pg::Pg> for $name<'_> {
            fn walk_ast<'b>(
                &'b self,
                mut out: ::diesel::query_builder::AstPass<'_, 'b, ::diesel::pg::Pg>,
            ) -> ::diesel::QueryResult<()> {
                use ::diesel::Expression;
                use ::diesel::sql_types::Array;
                out.push_sql(concat!("DELETE FROM ", stringify!($table), " USING unnest("));
                let mut between = "";
                $(
                    out.push_sql(between);
                    out.push_bind_param::<Array<<$table::$key as Expression>::SqlType>, _>(&self.$given)?;
                    between = ", ";
                )+
                out.push_sql(concat!(") AS gone(", $crate::many_names!("of_", $($key)+), ") WHERE "));
                between = "";
                $(
                    out.push_sql(between);
                    out.push_sql(concat!(stringify!($table), "."));
                    out.push_identifier(stringify!($key))?;
                    out.push_sql(concat!(" = of_", stringify!($key)));
                    between = " AND ";
                )+
                let _ = between;
                Ok(())
            }
        }

        impl ::diesel::query_builder::QueryId for $name<'_> {
            type QueryId = $name<'static>;
            const HAS_STATIC_QUERY_ID: bool = true;
        }
    };
}

/// Names with a prefix, separated by commas.
#[doc(hidden)]
#[macro_export]
macro_rules! many_names {
    ($prefix:literal, $first:ident $($rest:ident)*) => {
        concat!($prefix, stringify!($first) $(, ", ", $prefix, stringify!($rest))*)
    };
}

/// Names in quotes, separated by commas.
#[doc(hidden)]
#[macro_export]
macro_rules! quoted_names {
    ($first:ident $($rest:ident)*) => {
        concat!("\"", stringify!($first), "\"" $(, ", \"", stringify!($rest), "\"")*)
    };
}

/// A word of the database for a value of the domain: `word!(RunStateWord of RunState, "the run's state")`. A word that
/// is not known is an error of the query that reads it. The value is an enum of `heddle_kernel::literals!`.
#[macro_export]
macro_rules! word {
    ($name:ident of $value:ty, $what:literal) => {
        #[doc = concat!("The word of ", $what, ".")]
        #[derive(
            Debug,
            Clone,
            Copy,
            PartialEq,
            Eq,
            ::diesel::expression::AsExpression,
            ::diesel::deserialize::FromSqlRow,
        )]
        #[diesel(sql_type = ::diesel::sql_types::Text)]
        pub(crate) struct $name(pub(crate) $value);

        impl<DB: ::diesel::backend::Backend> ::diesel::serialize::ToSql<::diesel::sql_types::Text, DB>
            for $name
        where
            str: ::diesel::serialize::ToSql<::diesel::sql_types::Text, DB>,
        {
            fn to_sql<'b>(
                &'b self,
                out: &mut ::diesel::serialize::Output<'b, '_, DB>,
            ) -> ::diesel::serialize::Result {
                ::diesel::serialize::ToSql::<::diesel::sql_types::Text, DB>::to_sql(self.0.as_str(), out)
            }
        }

        impl<DB: ::diesel::backend::Backend> ::diesel::deserialize::FromSql<::diesel::sql_types::Text, DB>
            for $name
        where
            String: ::diesel::deserialize::FromSql<::diesel::sql_types::Text, DB>,
        {
            fn from_sql(bytes: DB::RawValue<'_>) -> ::diesel::deserialize::Result<Self> {
                let word =
                    <String as ::diesel::deserialize::FromSql<::diesel::sql_types::Text, DB>>::from_sql(
                        bytes,
                    )?;
                let value = <$value>::parse(&word);
                value.map(Self).ok_or_else(|| format!("{} `{word}` is not known", $what).into())
            }
        }
    };
}

//! The two-arm macros: one body, checked once for each database.

use std::future::Future;

use crate::error::Error;

/// Pins the error type of a body, so that `?` knows what to turn into.
#[doc(hidden)]
pub fn typed<T, F: Future<Output = Result<T, Error>>>(body: F) -> F {
    body
}

/// Reads: `read!(db, |conn| body)`. `body` is async code that ends in `Result<T, heddle_store::Error>`; the
/// whole is `Result<T, StoreError>`. Each statement sees what was committed before it.
#[macro_export]
macro_rules! read {
    ($db:expr, |$conn:ident| $body:expr) => {
        match $db {
            $crate::Db::Sqlite(sqlite) => match sqlite.reader().await {
                ::std::result::Result::Ok(mut reader) => {
                    $crate::typed(async {
                        let $conn = reader.conn()?;
                        $body
                    })
                    .await
                }
                ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
            },
            $crate::Db::Postgres(postgres) => match postgres.conn().await {
                ::std::result::Result::Ok(mut pooled) => {
                    $crate::typed(async {
                        let $conn: &mut $crate::PgConn = &mut *pooled;
                        $body
                    })
                    .await
                }
                ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
            },
        }
        .map_err($crate::StoreError::from)
    };
}

/// Writes in one transaction: `write_tx!(db, |conn| body)`, with the body and the result of [`read!`]. It is
/// committed when the body ends in `Ok`, else rolled back.
#[macro_export]
macro_rules! write_tx {
    ($db:expr, |$conn:ident| $body:expr) => {
        match $db {
            $crate::Db::Sqlite(sqlite) => {
                let mut writer = sqlite.writer().await;
                match writer.begin().await {
                    ::std::result::Result::Ok(()) => {
                        let result = $crate::typed(async {
                            let $conn: &mut $crate::SqliteConn = &mut *writer;
                            $body
                        })
                        .await;
                        writer.finish(result).await
                    }
                    ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
                }
            }
            $crate::Db::Postgres(postgres) => match postgres.conn().await {
                ::std::result::Result::Ok(mut pooled) => match $crate::PgDb::begin(&mut *pooled).await {
                    ::std::result::Result::Ok(()) => {
                        let result = $crate::typed(async {
                            let $conn: &mut $crate::PgConn = &mut *pooled;
                            $body
                        })
                        .await;
                        $crate::PgDb::finish(&mut *pooled, result).await
                    }
                    ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
                },
                ::std::result::Result::Err(error) => ::std::result::Result::Err(error),
            },
        }
        .map_err($crate::StoreError::from)
    };
}

/// A helper's body on a connection it was given: `on_conn!(conn, |c| body)`, where `conn` is an
/// [`AsConn`](crate::AsConn).
#[macro_export]
macro_rules! on_conn {
    ($given:expr, |$conn:ident| $body:expr) => {
        match $crate::AsConn::as_conn($given) {
            $crate::Conn::Sqlite($conn) => $body,
            $crate::Conn::Postgres($conn) => $body,
        }
    };
}

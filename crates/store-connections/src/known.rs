//! Keys that a database knows, held by those that write what is sealed under them.

use diesel::QueryDsl;
use diesel_async::RunQueryDsl;
use heddle_store::{AsConn, At, Conn, Error, StoreError};

use crate::schema::connection_keys;

/// Holds a key within a transaction that writes what is sealed under it, beside others that do: it is not forgotten until
/// the transaction has ended.
///
/// # Errors
/// `Unavailable` for a key that was forgotten: this process has an old keyring.
pub(crate) async fn still_known<C: AsConn>(conn: &mut C, key: &str) -> Result<(), Error> {
    let row = connection_keys::table.find(key).select(connection_keys::forgotten_at);
    let found: Vec<Option<At>> = match conn.as_conn() {
        Conn::Sqlite(conn) => row.load(conn).await?,
        Conn::Postgres(conn) => row.for_share().load(conn).await?,
    };
    if found.iter().all(Option::is_none) {
        return Ok(());
    }
    let why = format!(
        "the key `{key}` of this server's keyring was forgotten: put the keyring of another node into its data directory \
         and start it anew"
    );
    Err(StoreError::Unavailable(why).into())
}

/// Holds a key within a transaction, alone.
pub(crate) async fn held_alone<C: AsConn>(conn: &mut C, key: &str) -> Result<(), Error> {
    // SQLite has one writer.
    if let Conn::Postgres(conn) = conn.as_conn() {
        let row = connection_keys::table.find(key).select(connection_keys::key_id).for_update();
        let _held: Vec<String> = row.load(conn).await?;
    }
    Ok(())
}

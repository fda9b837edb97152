//! Copies of a SQLite database beside its writer, and what is no copy.

use std::os::unix::fs::PermissionsExt as _;

use diesel::connection::SimpleConnection as _;
use diesel_async::SimpleAsyncConnection as _;
use heddle_store::backup::{BackupError, copy, verify};
use heddle_store::{Migrations, write_tx};
use heddle_testkit::db::{TestDb, migrations};

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_taken_beside_the_writer_and_holds_what_was_committed() {
    let test_db = TestDb::sqlite().await;
    let db = test_db.db();
    let file = db.sqlite().unwrap().path().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("it's a copy?#1%.db");
    // Half a transaction is open while the copy is taken: nothing of it is in the copy.
    db.sqlite_batch({
        let (file, to) = (file.clone(), to.clone());
        move |conn| {
            conn.batch_execute(
                "DELETE FROM schema_migrations WHERE name = (SELECT max(name) FROM schema_migrations)",
            )?;
            let verified = copy(&file, &to, &migrations()).unwrap();
            assert_eq!(verified.migrations, migrations().names());
            Ok(())
        }
    })
    .await
    .unwrap();
    assert_eq!(std::fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    let again = verify(&to, &migrations()).unwrap();
    assert_eq!(again.bytes, std::fs::metadata(&to).unwrap().len());
    assert_eq!(again.installation_id, None, "no server has started on it");
    assert!(matches!(copy(&file, &to, &migrations()), Err(BackupError::Exists(_))));
    write_tx!(db, |conn| Ok(conn.batch_execute("DELETE FROM tombstones").await?)).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[tokio::test]
async fn what_is_no_whole_database_of_ours_is_told() {
    let test_db = TestDb::sqlite().await;
    let file = test_db.db().sqlite().unwrap().path().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    copy(&file, &place("good.db"), &migrations()).unwrap();
    assert!(matches!(copy(&place("none.db"), &place("a.db"), &migrations()), Err(BackupError::Missing(_))));
    std::fs::write(place("text.db"), "this is a text and no database at all ".repeat(40)).unwrap();
    assert!(matches!(verify(&place("text.db"), &migrations()), Err(BackupError::Foreign { .. })));
    assert!(matches!(
        copy(&place("text.db"), &place("a.db"), &migrations()),
        Err(BackupError::Foreign { .. })
    ));
    std::fs::write(place("empty.db"), "").unwrap();
    assert!(matches!(verify(&place("empty.db"), &migrations()), Err(BackupError::Foreign { .. })));
    let mut bytes = std::fs::read(place("good.db")).unwrap();
    let end = bytes.len() - 8192;
    bytes[8192 * 3..end].fill(0x5a);
    std::fs::write(place("broken.db"), bytes).unwrap();
    let broken = verify(&place("broken.db"), &migrations());
    assert!(matches!(broken, Err(BackupError::Damaged { .. })), "{broken:?}");
    let newer = verify(&place("good.db"), &Migrations::of(&[]));
    assert!(matches!(newer, Err(BackupError::Migrations(_))), "{newer:?}");
    let left: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("part") || name == "a.db"), "{left:?}");
}

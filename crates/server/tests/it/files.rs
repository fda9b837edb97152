//! Files of the data directory, and what is kept of previews.

use std::os::unix::fs::PermissionsExt as _;

use heddle_testkit::{Client, TestApp, with_both};
use serde_json::{Value, json};

use crate::models;

/// A directory from before that others may read, as packages, volumes and service managers make it.
#[tokio::test]
async fn the_database_is_nobody_elses_in_a_directory_that_others_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("there-before");
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut app = TestApp::at(None, |config| config.data_dir.clone_from(&data)).await;
    let _ = app.admin.publish_bpmn("flow", &models::task()).await;
    let check = || {
        for name in [
            "heddle.db",
            "heddle.db-wal",
            "heddle.db-shm",
            "heddle.db.lock",
            "heddle.lock",
            "heddle.key",
            "heddle.keyring",
        ] {
            let mode = std::fs::metadata(data.join(name)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{name}");
        }
    };
    check();
    // What an earlier version left open is closed.
    app.stop().await;
    for name in ["heddle.db", "heddle.db.lock", "heddle.key", "heddle.keyring"] {
        std::fs::set_permissions(data.join(name), std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    app.restart().await;
    let _ = app.admin.publish_bpmn("again", &models::task()).await;
    check();
    app.stop().await;
}

async fn imported(client: &Client, slug: &str, import: &Value) -> u16 {
    let definition = json!({ "nodes": [], "edges": [], "imports": [import] });
    let id = client.create(slug, definition).await;
    client.get(&format!("/api/workflows/{id}/import-source")).await.status
}

#[tokio::test]
async fn previews_stay_within_a_quota_and_the_oldest_go() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.preview_files = 2).await;
        let preview = async |name: &str, target: &str| {
            let source = json!({ "format": "bpmn", "fileName": name,
                "content": models::task().replace("Work", name) + &format!("<!-- {name} -->") });
            let body = json!({ "source": source, "target": target });
            let shown = app.admin.post("/api/workflows/transform/preview", body).await.expect(200).data();
            // The order of previews is that of their instants.
            let _ = app.admin.post("/api/test/clock", json!({ "advance": "PT1S" })).await.expect(200);
            shown["import"].clone()
        };
        let (one, two) = (preview("one", "definition").await, preview("two", "definition").await);
        // One that becomes no definition is not kept, so it takes no room either.
        let drawn = preview("drawn", "bpmn").await;
        let three = preview("three", "definition").await;
        assert_eq!(imported(&app.admin, "drawn", &drawn).await, 404);
        assert_eq!(imported(&app.admin, "one", &one).await, 404, "the oldest of three has gone");
        assert_eq!(imported(&app.admin, "two", &two).await, 200);
        assert_eq!(imported(&app.admin, "three", &three).await, 200);
        app.stop().await;
    });
}

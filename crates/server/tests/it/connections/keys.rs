//! The keyring: what is sealed opens in its place alone, under the keys of this installation alone.

use std::sync::Arc;

use heddle_connections::ports::{KeyStore as _, Rewrap, Sealer as _};
use heddle_connections::rotation::Keys;
use heddle_outbound::KeyringSealer;
use heddle_seal::{Keyring, SystemRandom};
use heddle_server::{Config, KEYRING_FILE, Server, StartError};
use heddle_store::{Db, Options};
use heddle_store_connections::SqlConnectionStore;
use heddle_testkit::db::TestDb;
use heddle_testkit::{TestApp, with_both};
use serde_json::json;

use super::{CANARY, Service, at, bearer, members};

/// The stored secrets of a server that was stopped.
async fn stored(app: &TestApp, db: &TestDb) -> SqlConnectionStore {
    let address = match db.kind() {
        "postgres" => db.address().to_owned(),
        _ => format!("sqlite:{}", app.data_dir().join("heddle.db").display()),
    };
    SqlConnectionStore::new(Db::open(&address, &Options::default()).await.unwrap())
}

/// A start on the same data.
async fn start(app: &TestApp, db: &TestDb) -> Result<Server, StartError> {
    let database_url = (db.kind() == "postgres").then(|| db.address().to_owned());
    let config = Config {
        data_dir: app.data_dir().to_owned(),
        listen: ([127, 0, 0, 1], 0).into(),
        database_url,
        test_clock: true,
        workers: 1,
        ..Config::default()
    };
    Server::start(config).await
}

#[tokio::test]
async fn asvs_11_3_3_a_sealed_row_that_is_copied_does_not_open() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let service = Service::answering("200 OK").await;
        let (_, elsewhere) = app.second_organization("second").await;
        let body = json!({ "name": "two", "type": "http", "config": { "baseUrl": service.url(),
            "authentication": "oauth2ClientCredentials", "tokenUrl": service.url(), "clientId": "c" },
            "secrets": { "clientSecret": CANARY } });
        let rich = bearer(&app.admin, "rich", "http://127.0.0.1:9").await;
        let same_organization = bearer(&app.admin, "poor", &service.url()).await;
        let other_field = app.admin.post("/api/connections", body).await.expect(201).id();
        let other_organization = bearer(&elsewhere, "poor", &service.url()).await;
        app.stop().await;
        let store = stored(&app, db).await;
        let rows = store.sealed_under_others("", None, 100).await.unwrap();
        let from = rows.iter().find(|row| row.place.connection.to_string() == rich).unwrap().sealed.clone();
        let others = rows.into_iter().filter(|row| row.place.connection.to_string() != rich);
        let copies: Vec<Rewrap> = others.map(|row| Rewrap { row, sealed: from.clone() }).collect();
        assert_eq!((copies.len(), store.rewrapped(&copies).await.unwrap()), (3, 3));
        drop(store);
        app.restart().await;
        for (client, id) in
            [(&app.admin, &same_organization), (&app.admin, &other_field), (&elsewhere, &other_organization)]
        {
            let refused = client.post(&format!("{}/test", at(id)), json!({})).await;
            let refused = refused.refused(409, "secretUnreadable");
            assert!(!refused.to_string().contains("canary"), "{refused}");
            // It is shown and can be set anew.
            let _ = client.get(&at(id)).await.expect(200);
        }
        assert_eq!(service.seen(), Vec::<String>::new(), "nothing was sent");
        let anew = json!({ "secrets": { "token": "another token" } });
        let _ = app.admin.patch(&at(&same_organization), anew).await.expect(200);
        let tested = app.admin.post(&format!("{}/test", at(&same_organization)), json!({})).await;
        assert_eq!(tested.expect(200).data()["ok"], true);
        app.stop().await;
    });
}

#[tokio::test]
async fn a_keyring_that_is_gone_or_another_one_refuses_to_start() {
    with_both!(|db| {
        let mut app = TestApp::start(db).await;
        let keyring = app.data_dir().join(KEYRING_FILE);
        let id = bearer(&app.admin, "one", "http://127.0.0.1:9").await;
        app.stop().await;
        let kept = std::fs::read(&keyring).unwrap();
        std::fs::remove_file(&keyring).unwrap();
        let refused = start(&app, db).await.map(drop).unwrap_err();
        assert!(matches!(refused, StartError::KeyringMissing(_)) && refused.exit_code() == 6, "{refused}");
        assert!(refused.to_string().contains("backup") && !keyring.exists(), "{refused}");
        Keyring::generate(&mut SystemRandom).unwrap().create(&keyring).unwrap();
        let refused = start(&app, db).await.map(drop).unwrap_err();
        assert!(matches!(refused, StartError::WrongKeyring(_)) && refused.exit_code() == 6, "{refused}");
        std::fs::write(&keyring, "no ring").unwrap();
        let refused = start(&app, db).await.map(drop).unwrap_err();
        assert!(matches!(refused, StartError::Keyring(_)) && refused.exit_code() == 6, "{refused}");
        std::fs::write(&keyring, kept).unwrap();
        app.restart().await;
        let _ = app.admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200);
        // Without anything that is sealed a lost ring is no loss, where no other node can have it.
        let _ = app.admin.delete(&at(&id)).await.expect(204);
        app.stop().await;
        let kept = std::fs::read(&keyring).unwrap();
        std::fs::remove_file(&keyring).unwrap();
        if db.kind() == "postgres" {
            let refused = start(&app, db).await.map(drop).unwrap_err();
            assert!(matches!(refused, StartError::KeyringMissing(_)) && !keyring.exists(), "{refused}");
            assert!(refused.to_string().contains("other node"), "{refused}");
            Keyring::generate(&mut SystemRandom).unwrap().create(&keyring).unwrap();
            let refused = start(&app, db).await.map(drop).unwrap_err();
            assert!(matches!(refused, StartError::WrongKeyring(_)) && refused.exit_code() == 6, "{refused}");
            std::fs::write(&keyring, kept).unwrap();
        }
        app.restart().await;
        let _ = bearer(&app.admin, "again", "http://127.0.0.1:9").await;
        app.stop().await;
    });
}

#[tokio::test]
async fn a_rotation_that_was_broken_off_leaves_every_secret_readable() {
    with_both!(|db| {
        let mut app = TestApp::with(db, |config| config.egress_loopback = true).await;
        let service = Service::answering("200 OK").await;
        for number in 0..5 {
            let _ = bearer(&app.admin, &format!("c{number}"), &service.url()).await;
        }
        app.stop().await;
        let path = app.data_dir().join(KEYRING_FILE);
        let mut ring = Keyring::read(&path).unwrap().unwrap();
        let before = ring.current().to_owned();
        let now = ring.add_current(&mut SystemRandom).unwrap().to_owned();
        ring.replace(&path).unwrap();
        // Two of five were wrapped when it was broken off.
        let store = stored(&app, db).await;
        let rows = store.sealed_under_others(&now, None, 2).await.unwrap();
        let sealer = KeyringSealer::new(ring);
        let rewraps: Vec<Rewrap> = rows
            .into_iter()
            .map(|row| {
                let sealed = sealer.rewrap(&row.place, &row.sealed).unwrap().unwrap();
                Rewrap { row, sealed }
            })
            .collect();
        assert_eq!(store.rewrapped(&rewraps).await.unwrap(), 2);
        let in_use = store.keys_in_use().await.unwrap();
        assert_eq!((in_use.get(&before), in_use.get(&now)), (Some(&3), Some(&2)));
        // A SQLite file has one owner.
        drop(store);
        app.restart().await;
        let all = app.admin.get("/api/connections").await.expect(200).data();
        for id in members(&all, "id") {
            let tested = app.admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200).data();
            assert_eq!(tested["ok"], true, "{tested}");
        }
        app.stop().await;
        let keys = Keys::new(Arc::new(stored(&app, db).await), Arc::new(sealer));
        let done = keys.rotate().await.unwrap();
        assert_eq!((done.rewrapped, done.unreadable), (3, 0));
        assert_eq!(keys.rotate().await.unwrap().rewrapped, 0, "a repeat changes nothing");
        drop(keys);
        app.restart().await;
        for id in members(&all, "id") {
            let _ = app.admin.post(&format!("{}/test", at(&id)), json!({})).await.expect(200);
        }
        assert!(service.seen().iter().all(|request| request.contains(CANARY)), "{:?}", service.seen());
        app.stop().await;
    });
}

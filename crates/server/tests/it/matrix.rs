//! Who may call what: every guarded operation against every system role, as a committed text.

use heddle_api::operations::{OperationId, OutputKind, Security};
use heddle_testkit::TestApp;
use heddle_testkit::db::TestDb;

use crate::samples;

const ROLES: [&str; 9] = [
    "owner",
    "administrator",
    "designer",
    "operator",
    "worker",
    "librarian",
    "integrator",
    "viewer",
    "requester",
];

/// One database is enough: the decision is made in memory, of what both keep alike.
#[tokio::test]
async fn the_permission_matrix_is_the_committed_one() {
    let db = TestDb::sqlite().await;
    let mut app = TestApp::start(&db).await;
    let mut callers = Vec::new();
    for role in ROLES {
        callers.push(app.user(role, &[role]).await.1);
    }
    let mut text =
        format!("{:<66}{}\n", "operation", ROLES.map(|role| format!("{role:<14}")).concat().trim_end());
    for id in OperationId::ALL {
        let spec = id.spec();
        if !matches!(spec.security, Security::Permissions(_)) {
            continue;
        }
        let path = samples::within(spec, &app.organization);
        let mut line = format!("{:<66}", spec.operation_id);
        for caller in &callers {
            // The gate decides before a body is read: with a broken one nothing happens.
            let request = caller.request(spec.method.as_str(), &path).header("if-match", "\"999999\"");
            let (status, text) = match samples::takes_json(spec) {
                // A stream has no end.
                false if spec.output == OutputKind::EventStream => {
                    let opened = request.open().await.expect("an answer");
                    (opened.status().as_u16(), String::new())
                }
                true => {
                    let answer = request.body("application/json", b"{".to_vec()).send().await;
                    (answer.status, answer.text())
                }
                false => {
                    let answer = request.send().await;
                    (answer.status, answer.text())
                }
            };
            let class = match status {
                403 => "403",
                200..300 | 400 | 404 | 409 => "allowed",
                status => panic!("{}: {status} {text}", spec.operation_id),
            };
            line.push_str(&format!("{class:<14}"));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    app.stop().await;
    insta::assert_snapshot!("permission_matrix", text);
}

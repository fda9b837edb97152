//! Tests of what ends.

use uuid::Uuid;

use super::*;
use crate::facts::PermissionSet;

const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

#[test]
fn a_role_ends_at_its_instant_with_what_is_granted_and_denied_to_it() {
    let end = NOW.plus_seconds(60);
    let rules = |permission: &str| RoleRules {
        permissions: PermissionSet::parse(permission),
        ..RoleRules::default()
    };
    let to_role = |id: &str, action: &str, effect: Effect| GrantFacts {
        id: id.to_owned(),
        source: Source::Role("ending".to_owned()),
        resource: "workflow".to_owned(),
        action: action.to_owned(),
        selector: ANY.to_owned(),
        effect,
        expires_at: None,
    };
    let facts = Facts::member(UserId(Uuid::from_u128(1)), TenantId(Uuid::from_u128(2)))
        .with_role("lasting", "lasting", rules("runs.view"))
        .with_role_until("ending", rules("workflows.view"), end)
        .with_grant(to_role("g1", "read", Effect::Allow))
        .with_grant(to_role("g2", "delete", Effect::Deny));
    let before = Snapshot::new(&facts, end.plus_millis(-1));
    let after = Snapshot::new(&facts, end);
    assert_eq!((before.valid_until(), after.valid_until()), (Some(end), None));
    assert!(before.holds(Permission::WorkflowsView) && !after.holds(Permission::WorkflowsView));
    assert!(before.holds(Permission::RunsView) && after.holds(Permission::RunsView));
    let extents = |action: Action| {
        let of = |snapshot: &Snapshot| snapshot.extent(ResourceType::Workflow, action);
        (of(&before), of(&after))
    };
    let (read, read_after) = extents(Action::Read);
    assert!(read.all && !read_after.all);
    let (delete, delete_after) = extents(Action::Delete);
    assert!(delete.deny_all && !delete_after.deny_all);
}

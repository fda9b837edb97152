//! The permissions that there are: stable strings, each known to the code that asks for it.

/// Every permission.
pub const PERMISSIONS: &[&str] = &[
    "audit.view",
    "authorization.check",
    "authorization.inspect",
    "authorization.view",
    "case-types.manage",
    "case-types.view",
    "cases.view",
    "cases.work",
    "connections.manage",
    "connections.test",
    "connections.view",
    "document.delete",
    "documents.create",
    "documents.delete",
    "documents.manage",
    "documents.update",
    "documents.view",
    "grants.manage",
    "grants.view",
    "jobs.work",
    "licence.manage",
    "licence.view",
    "members.manage",
    "members.view",
    "metrics.view",
    "models.manage",
    "models.use",
    "models.view",
    "organizations.manage",
    "organizations.view",
    "roles.manage",
    "roles.view",
    "runs.operate",
    "runs.view",
    "tasks.work",
    "vectors.manage",
    "vectors.query",
    "vectors.view",
    "workflows.manage",
    "workflows.run",
    "workflows.view",
];

/// The kinds of things that a grant can be about.
pub const RESOURCE_TYPES: &[&str] = &[
    "api-token",
    "audit-event",
    "authorization",
    "case",
    "case-type",
    "connection",
    "dead-letter",
    "deployment",
    "document",
    "grant",
    "group",
    "ingestion-job",
    "job",
    "licence",
    "member",
    "model",
    "model-connection",
    "model-provider",
    "organization",
    "role",
    "run",
    "session",
    "user",
    "vector-database",
    "webhook",
    "workflow",
];

/// What can be done to them.
pub const ACTIONS: &[&str] = &[
    "activate",
    "cancel",
    "chat",
    "check",
    "complete",
    "complete-task",
    "create",
    "decide",
    "delete",
    "discover",
    "embed",
    "end",
    "export",
    "import",
    "install",
    "list",
    "publish",
    "query",
    "read",
    "retry",
    "run",
    "star",
    "sync",
    "test",
    "transform",
    "update",
    "validate",
    "view",
];

/// What belongs to what: a deny on the second holds for every one of the first that belongs to it, and for what
/// belongs to that.
pub const PARENTS: &[(&str, &str)] = &[
    ("case", "case-type"),
    ("dead-letter", "workflow"),
    ("document", "vector-database"),
    ("ingestion-job", "vector-database"),
    ("job", "run"),
    ("run", "workflow"),
];

/// Types that have no `read`: their `list` is decided by the action `list` as well.
pub const WITHOUT_READ: &[&str] = &[
    "audit-event",
    "dead-letter",
    "document",
    "job",
    "member",
    "model",
    "model-provider",
    "vector-database",
];

/// The registered spelling of a resource type, if it is one.
#[must_use]
pub fn resource_type(name: &str) -> Option<&'static str> {
    RESOURCE_TYPES.iter().find(|known| **known == name).copied()
}

/// The registered spelling of an action, if it is one.
#[must_use]
pub fn action(name: &str) -> Option<&'static str> {
    ACTIONS.iter().find(|known| **known == name).copied()
}

/// The type to which things of this type belong.
#[must_use]
pub fn parent_of(resource: &str) -> Option<&'static str> {
    PARENTS.iter().find(|(child, _)| *child == resource).map(|(_, parent)| *parent)
}

/// The types to which things of this type belong, the nearest first.
pub fn ancestors_of(resource: &str) -> impl Iterator<Item = &'static str> {
    std::iter::successors(parent_of(resource), |parent| parent_of(parent))
}

/// The registered spelling of a permission, if it is one.
#[must_use]
pub fn permission(name: &str) -> Option<&'static str> {
    PERMISSIONS.iter().find(|known| **known == name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registries_are_sorted_and_without_repeats() {
        for registry in [PERMISSIONS, RESOURCE_TYPES, ACTIONS, WITHOUT_READ] {
            assert!(registry.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}

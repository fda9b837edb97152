-- A person, who signs in, or a service, which has API tokens alone
ALTER TABLE users ADD COLUMN kind TEXT NOT NULL DEFAULT 'person';
-- Instant at which the member loses the role
ALTER TABLE role_bindings ADD COLUMN expires_at INTEGER;

-- A group of an organisation's members; `search` holds its name and description in small letters
CREATE TABLE groups (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- Which groups a member is in
CREATE TABLE group_members (
    organization_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    group_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, user_id, group_id),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, group_id) REFERENCES groups (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX group_members_by_group ON group_members (organization_id, group_id, user_id);

-- Which roles the members of a group have by it
CREATE TABLE group_roles (
    organization_id BLOB NOT NULL,
    group_id BLOB NOT NULL,
    role_id BLOB NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (organization_id, group_id, role_id),
    FOREIGN KEY (organization_id, group_id) REFERENCES groups (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id) ON DELETE NO ACTION
) STRICT, WITHOUT ROWID;
CREATE INDEX group_roles_by_role ON group_roles (organization_id, role_id);

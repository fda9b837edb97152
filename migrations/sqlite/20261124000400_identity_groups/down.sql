DROP TABLE group_roles;
DROP TABLE group_members;
DROP TABLE groups;
ALTER TABLE role_bindings DROP COLUMN expires_at;
ALTER TABLE users DROP COLUMN kind;

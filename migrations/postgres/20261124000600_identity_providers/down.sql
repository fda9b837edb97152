DROP TABLE taken_sign_ins;
DROP TABLE mapped_roles;
DROP TABLE external_identities;
ALTER TABLE sessions DROP COLUMN provider;

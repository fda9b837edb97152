-- Provider by which the person of a session signed in; none for a password
ALTER TABLE sessions ADD COLUMN provider text COLLATE "C";

-- A person's id at a provider, and the account that it belongs to; an account has one id at each provider
CREATE TABLE external_identities (
    provider text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (provider, issuer, subject),
    UNIQUE (user_id, provider),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

-- Roles that a member has by the groups of a provider; the roles themselves stand in role_bindings
CREATE TABLE mapped_roles (
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role_id uuid NOT NULL,
    provider text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, user_id, role_id, provider),
    FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, role_id) REFERENCES roles (organization_id, id) ON DELETE CASCADE
);
-- A sign-in reads those of its user; a role that goes takes these with it
CREATE INDEX mapped_roles_by_user ON mapped_roles (user_id);
CREATE INDEX mapped_roles_by_role ON mapped_roles (organization_id, role_id);

-- Sign-ins by a provider that were taken: each can be once
CREATE TABLE taken_sign_ins (
    state_sha256 text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (state_sha256)
);
CREATE INDEX taken_sign_ins_by_age ON taken_sign_ins (until);

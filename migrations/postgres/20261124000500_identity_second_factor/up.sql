-- Instant at which the account's second factor was confirmed; null without one
ALTER TABLE users ADD COLUMN totp_enrolled_at timestamptz;
-- What a session was opened with beside the password; null for a session without a second factor
ALTER TABLE sessions ADD COLUMN second_factor text COLLATE "C";
-- Whether a token ends in the checksum that scanners for leaked secrets know; those of before do not
ALTER TABLE api_tokens ADD COLUMN checksum boolean NOT NULL DEFAULT false;

-- The secret of an account's one-time codes, sealed; `last_step` is the time step of the last code that was used
CREATE TABLE totp_factors (
    user_id uuid NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    sealed text COLLATE "C" NOT NULL,
    last_step bigint NOT NULL,
    begun_at timestamptz NOT NULL,
    confirmed_at timestamptz,
    PRIMARY KEY (user_id),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);
-- The keys in use are counted at each start
CREATE INDEX totp_factors_by_key ON totp_factors (key_id);

-- The recovery codes of an account that were not used yet
CREATE TABLE recovery_codes (
    user_id uuid NOT NULL,
    code_sha256 text COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, code_sha256),
    FOREIGN KEY (user_id) REFERENCES users (id) ON DELETE CASCADE
);

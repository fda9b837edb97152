DROP TABLE recovery_codes;
DROP TABLE totp_factors;
ALTER TABLE api_tokens DROP COLUMN checksum;
ALTER TABLE sessions DROP COLUMN second_factor;
ALTER TABLE users DROP COLUMN totp_enrolled_at;

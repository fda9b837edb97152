-- The path of what the first answer said was made
ALTER TABLE idempotency_keys ADD COLUMN location text COLLATE "C";

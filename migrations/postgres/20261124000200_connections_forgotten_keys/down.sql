ALTER TABLE connection_keys DROP COLUMN forgotten_at;

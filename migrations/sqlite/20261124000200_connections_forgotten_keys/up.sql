-- The instant at which a key was taken from the keyring for good: nothing is sealed under it any more
ALTER TABLE connection_keys ADD COLUMN forgotten_at INTEGER;

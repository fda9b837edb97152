-- Servers that run on this database, with the instant at which each was last seen; one that was killed leaves its row
CREATE TABLE nodes (
    id BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;

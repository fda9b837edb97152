-- Data stores that outlive the runs that write them; the run is the one that wrote last
CREATE TABLE data_stores (
    organization_id BLOB NOT NULL,
    name TEXT NOT NULL,
    value BLOB NOT NULL,
    run_id BLOB NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, name)
) STRICT, WITHOUT ROWID;

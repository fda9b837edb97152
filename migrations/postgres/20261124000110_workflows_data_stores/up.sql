-- Data stores that outlive the runs that write them; the run is the one that wrote last
CREATE TABLE data_stores (
    organization_id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    value bytea NOT NULL,
    run_id uuid NOT NULL,
    written_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, name)
);

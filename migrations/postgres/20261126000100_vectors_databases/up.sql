-- A vector database; its name is its address, `generation` the one that serves, `sequence` the number of the last commit that
-- changed what can be found, `next_passage` the next id of a passage
CREATE TABLE vector_databases (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    display_name text COLLATE "C" NOT NULL,
    description text COLLATE "C",
    state text COLLATE "C" NOT NULL,
    backend text COLLATE "C" NOT NULL,
    generation bigint NOT NULL,
    recipe bytea NOT NULL,
    next_recipe bytea,
    next_generation bigint,
    metadata_schema bytea NOT NULL,
    defaults bytea NOT NULL,
    sequence bigint NOT NULL,
    next_passage bigint NOT NULL,
    files bigint NOT NULL,
    ready_files bigint NOT NULL,
    failed_files bigint NOT NULL,
    passages bigint NOT NULL,
    raw_bytes bigint NOT NULL,
    index_bytes bigint NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    updated_by uuid NOT NULL,
    last_ingested_at timestamptz,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- Lists, the newest first
CREATE INDEX vector_databases_by_time ON vector_databases (organization_id, created_at, id);
CREATE INDEX vector_databases_by_state ON vector_databases (organization_id, state, name);

-- A file; `state` is that of the build for the generation that serves, `build_id` this build
CREATE TABLE vector_files (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    id uuid NOT NULL,
    database_name text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    title text COLLATE "C",
    media_type text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    blob text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    stage text COLLATE "C" NOT NULL,
    pages bigint,
    passages_done bigint NOT NULL,
    passages_total bigint,
    passages bigint NOT NULL,
    language text COLLATE "C",
    metadata bytea NOT NULL,
    enabled boolean NOT NULL,
    options bytea,
    error bytea,
    job_id uuid NOT NULL,
    build_id uuid NOT NULL,
    generation bigint NOT NULL,
    revision bigint NOT NULL,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    updated_at timestamptz NOT NULL,
    indexed_at timestamptz,
    search text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, database_id, id),
    UNIQUE (organization_id, database_id, sha256),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- Lists
CREATE INDEX vector_files_by_name ON vector_files (organization_id, database_id, name, id);
CREATE INDEX vector_files_by_state ON vector_files (organization_id, database_id, state, id);
CREATE INDEX vector_files_by_type ON vector_files (organization_id, database_id, media_type, id);

-- A value by which filters find a file; values of a type are in its order
CREATE TABLE vector_fields (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    field text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    file_id uuid NOT NULL,
    PRIMARY KEY (organization_id, database_id, field, value, file_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX vector_fields_by_file ON vector_fields (organization_id, database_id, file_id);

-- A passage; ids are never given twice in a database, and those of one build are in one row
CREATE TABLE vector_passages (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    id bigint NOT NULL,
    file_id uuid NOT NULL,
    build_id uuid NOT NULL,
    ordinal bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    prefix text COLLATE "C" NOT NULL,
    context text COLLATE "C",
    tokens bigint NOT NULL,
    locator bytea NOT NULL,
    vector bytea,
    PRIMARY KEY (organization_id, database_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- Passages of a file that can be found in a generation
CREATE TABLE vector_live (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    generation bigint NOT NULL,
    file_id uuid NOT NULL,
    build_id uuid NOT NULL,
    first_passage bigint NOT NULL,
    end_passage bigint NOT NULL,
    bytes bigint NOT NULL,
    enabled boolean NOT NULL,
    PRIMARY KEY (organization_id, database_id, generation, file_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX vector_live_by_file ON vector_live (organization_id, database_id, file_id);

-- Work that makes the passages of a file in a generation; its errand has the same id
CREATE TABLE vector_builds (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    database_id uuid NOT NULL,
    database_name text COLLATE "C" NOT NULL,
    file_id uuid NOT NULL,
    job_id uuid NOT NULL,
    generation bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    stage text COLLATE "C" NOT NULL,
    first_passage bigint,
    total bigint,
    done bigint NOT NULL,
    bytes bigint NOT NULL,
    cut text COLLATE "C",
    error bytea,
    attempts bigint NOT NULL,
    node uuid,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, job_id, file_id, generation),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
CREATE INDEX vector_builds_by_file ON vector_builds (organization_id, database_id, file_id);
-- What is open of a database
CREATE INDEX vector_builds_by_state ON vector_builds (organization_id, database_id, state, generation);

-- A job; its counts are kept with the commits of its builds, `spread` says that all of these are made
CREATE TABLE vector_jobs (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    database_id uuid NOT NULL,
    database_name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    stage text COLLATE "C" NOT NULL,
    total bigint NOT NULL,
    queued bigint NOT NULL,
    running bigint NOT NULL,
    ready bigint NOT NULL,
    failed bigint NOT NULL,
    cancelled bigint NOT NULL,
    passages_done bigint NOT NULL,
    passages_total bigint NOT NULL,
    files_cut bigint NOT NULL,
    bytes bigint NOT NULL,
    attempts bigint NOT NULL,
    spread boolean NOT NULL,
    error bytea,
    created_at timestamptz NOT NULL,
    created_by uuid NOT NULL,
    started_at timestamptz,
    heartbeat_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- Lists, the newest first
CREATE INDEX vector_jobs_by_time ON vector_jobs (organization_id, created_at, id);
CREATE INDEX vector_jobs_by_database ON vector_jobs (organization_id, database_name, created_at, id);
CREATE INDEX vector_jobs_by_state ON vector_jobs (organization_id, state, created_at, id);
CREATE INDEX vector_jobs_by_kind ON vector_jobs (organization_id, kind, created_at, id);
CREATE INDEX vector_jobs_of ON vector_jobs (organization_id, database_id, state);

-- A server's part in a job
CREATE TABLE vector_job_servers (
    organization_id uuid NOT NULL,
    job_id uuid NOT NULL,
    node uuid NOT NULL,
    host_name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    stages bytea NOT NULL,
    claimed bigint NOT NULL,
    completed bigint NOT NULL,
    failed bigint NOT NULL,
    passages bigint NOT NULL,
    first_seen_at timestamptz NOT NULL,
    heartbeat_at timestamptz NOT NULL,
    current_file uuid,
    PRIMARY KEY (organization_id, job_id, node),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- A commit that changed what can be found in a generation: ids of passages that went and that came
CREATE TABLE vector_changes (
    organization_id uuid NOT NULL,
    database_id uuid NOT NULL,
    sequence bigint NOT NULL,
    generation bigint NOT NULL,
    removed_first bigint,
    removed_end bigint,
    added_first bigint,
    added_end bigint,
    PRIMARY KEY (organization_id, database_id, sequence),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

-- Bytes of files of an organisation: the same content is kept once
CREATE TABLE vector_blobs (
    organization_id uuid NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    blob text COLLATE "C" NOT NULL,
    refs bigint NOT NULL,
    PRIMARY KEY (organization_id, sha256),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);
-- The sweep of bytes that no file has
CREATE INDEX vector_blobs_by_key ON vector_blobs (organization_id, blob);

-- A leftover that goes in the background: passages, bytes, the index of a generation, or, with none of them, all of a database
CREATE TABLE vector_purges (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    database_id uuid NOT NULL,
    first_passage bigint,
    end_passage bigint,
    blob text COLLATE "C",
    generation bigint,
    PRIMARY KEY (organization_id, id)
);

-- What an organisation has in its databases
CREATE TABLE vector_usage (
    organization_id uuid NOT NULL,
    databases bigint NOT NULL,
    files bigint NOT NULL,
    passages bigint NOT NULL,
    bytes bigint NOT NULL,
    waiting bigint NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
);

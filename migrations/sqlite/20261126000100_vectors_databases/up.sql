-- A vector database; its name is its address, `generation` the one that serves, `sequence` the number of the last commit that
-- changed what can be found, `next_passage` the next id of a passage
CREATE TABLE vector_databases (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT,
    state TEXT NOT NULL,
    backend TEXT NOT NULL,
    generation INTEGER NOT NULL,
    recipe BLOB NOT NULL,
    next_recipe BLOB,
    next_generation INTEGER,
    metadata_schema BLOB NOT NULL,
    defaults BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    next_passage INTEGER NOT NULL,
    files INTEGER NOT NULL,
    ready_files INTEGER NOT NULL,
    failed_files INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    raw_bytes INTEGER NOT NULL,
    index_bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by BLOB NOT NULL,
    last_ingested_at INTEGER,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, name),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- Lists, the newest first
CREATE INDEX vector_databases_by_time ON vector_databases (organization_id, created_at, id);
CREATE INDEX vector_databases_by_state ON vector_databases (organization_id, state, name);

-- A file; `state` is that of the build for the generation that serves, `build_id` this build
CREATE TABLE vector_files (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    id BLOB NOT NULL,
    database_name TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT,
    media_type TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    blob TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL,
    pages INTEGER,
    passages_done INTEGER NOT NULL,
    passages_total INTEGER,
    passages INTEGER NOT NULL,
    language TEXT,
    metadata BLOB NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    options BLOB,
    error BLOB,
    job_id BLOB NOT NULL,
    build_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    updated_at INTEGER NOT NULL,
    indexed_at INTEGER,
    search TEXT NOT NULL,
    PRIMARY KEY (organization_id, database_id, id),
    UNIQUE (organization_id, database_id, sha256),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- Lists
CREATE INDEX vector_files_by_name ON vector_files (organization_id, database_id, name, id);
CREATE INDEX vector_files_by_state ON vector_files (organization_id, database_id, state, id);
CREATE INDEX vector_files_by_type ON vector_files (organization_id, database_id, media_type, id);

-- A value by which filters find a file; values of a type are in its order
CREATE TABLE vector_fields (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    file_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, database_id, field, value, file_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX vector_fields_by_file ON vector_fields (organization_id, database_id, file_id);

-- A passage; ids are never given twice in a database, and those of one build are in one row
CREATE TABLE vector_passages (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    id INTEGER NOT NULL,
    file_id BLOB NOT NULL,
    build_id BLOB NOT NULL,
    ordinal INTEGER NOT NULL,
    text TEXT NOT NULL,
    prefix TEXT NOT NULL,
    context TEXT,
    tokens INTEGER NOT NULL,
    locator BLOB NOT NULL,
    vector BLOB,
    PRIMARY KEY (organization_id, database_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- Passages of a file that can be found in a generation
CREATE TABLE vector_live (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    file_id BLOB NOT NULL,
    build_id BLOB NOT NULL,
    first_passage INTEGER NOT NULL,
    end_passage INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    PRIMARY KEY (organization_id, database_id, generation, file_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX vector_live_by_file ON vector_live (organization_id, database_id, file_id);

-- Work that makes the passages of a file in a generation; its errand has the same id
CREATE TABLE vector_builds (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    database_name TEXT NOT NULL,
    file_id BLOB NOT NULL,
    job_id BLOB NOT NULL,
    generation INTEGER NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL,
    first_passage INTEGER,
    total INTEGER,
    done INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    cut TEXT,
    error BLOB,
    attempts INTEGER NOT NULL,
    node BLOB,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    PRIMARY KEY (organization_id, id),
    UNIQUE (organization_id, job_id, file_id, generation),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX vector_builds_by_file ON vector_builds (organization_id, database_id, file_id);
-- What is open of a database
CREATE INDEX vector_builds_by_state ON vector_builds (organization_id, database_id, state, generation);

-- A job; its counts are kept with the commits of its builds, `spread` says that all of these are made
CREATE TABLE vector_jobs (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    database_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL,
    total INTEGER NOT NULL,
    queued INTEGER NOT NULL,
    running INTEGER NOT NULL,
    ready INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    passages_done INTEGER NOT NULL,
    passages_total INTEGER NOT NULL,
    files_cut INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    spread INTEGER NOT NULL CHECK (spread IN (0, 1)),
    error BLOB,
    created_at INTEGER NOT NULL,
    created_by BLOB NOT NULL,
    started_at INTEGER,
    heartbeat_at INTEGER,
    finished_at INTEGER,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- Lists, the newest first
CREATE INDEX vector_jobs_by_time ON vector_jobs (organization_id, created_at, id);
CREATE INDEX vector_jobs_by_database ON vector_jobs (organization_id, database_name, created_at, id);
CREATE INDEX vector_jobs_by_state ON vector_jobs (organization_id, state, created_at, id);
CREATE INDEX vector_jobs_by_kind ON vector_jobs (organization_id, kind, created_at, id);
CREATE INDEX vector_jobs_of ON vector_jobs (organization_id, database_id, state);

-- A server's part in a job
CREATE TABLE vector_job_servers (
    organization_id BLOB NOT NULL,
    job_id BLOB NOT NULL,
    node BLOB NOT NULL,
    host_name TEXT NOT NULL,
    version TEXT NOT NULL,
    stages BLOB NOT NULL,
    claimed INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    first_seen_at INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    current_file BLOB,
    PRIMARY KEY (organization_id, job_id, node),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- A commit that changed what can be found in a generation: ids of passages that went and that came
CREATE TABLE vector_changes (
    organization_id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    removed_first INTEGER,
    removed_end INTEGER,
    added_first INTEGER,
    added_end INTEGER,
    PRIMARY KEY (organization_id, database_id, sequence),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

-- Bytes of files of an organisation: the same content is kept once
CREATE TABLE vector_blobs (
    organization_id BLOB NOT NULL,
    sha256 TEXT NOT NULL,
    blob TEXT NOT NULL,
    refs INTEGER NOT NULL,
    PRIMARY KEY (organization_id, sha256),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;
-- The sweep of bytes that no file has
CREATE INDEX vector_blobs_by_key ON vector_blobs (organization_id, blob);

-- A leftover that goes in the background: passages, bytes, the index of a generation, or, with none of them, all of a database
CREATE TABLE vector_purges (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    database_id BLOB NOT NULL,
    first_passage INTEGER,
    end_passage INTEGER,
    blob TEXT,
    generation INTEGER,
    PRIMARY KEY (organization_id, id)
) STRICT;

-- What an organisation has in its databases
CREATE TABLE vector_usage (
    organization_id BLOB NOT NULL,
    databases INTEGER NOT NULL,
    files INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    PRIMARY KEY (organization_id),
    FOREIGN KEY (organization_id) REFERENCES organizations (id) ON DELETE CASCADE
) STRICT;

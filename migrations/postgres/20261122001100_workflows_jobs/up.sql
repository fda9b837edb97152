-- Open jobs for external workers. The due time is the end of a lock or a delay; what is due may be taken
CREATE TABLE jobs (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    number bigint NOT NULL,
    run_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    version integer NOT NULL,
    process_id text COLLATE "C" NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    node_instance_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    job_type text COLLATE "C" NOT NULL,
    headers bytea NOT NULL,
    priority bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    retries integer NOT NULL,
    attempt integer NOT NULL,
    due_at timestamptz,
    epoch bigint NOT NULL,
    worker text COLLATE "C",
    message text COLLATE "C",
    place timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
-- The order in which jobs are given out
CREATE INDEX jobs_by_turn ON jobs (organization_id, job_type, state, priority DESC, place, id);
-- Locks and delays by their end
CREATE INDEX jobs_by_due ON jobs (organization_id, job_type, due_at) WHERE due_at IS NOT NULL;
-- Lists by what they are narrowed to, and the removal of a run
CREATE INDEX jobs_by_type ON jobs (organization_id, job_type, id);
CREATE INDEX jobs_by_run ON jobs (organization_id, run_id, id);
CREATE INDEX jobs_by_workflow ON jobs (organization_id, workflow_id, id);
CREATE INDEX jobs_by_worker ON jobs (organization_id, worker, id) WHERE worker IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (organization_id, id) WHERE state = 'failed';
-- Clients that know jobs by numbers
CREATE INDEX jobs_by_number ON jobs (organization_id, number);

-- Ends of jobs, kept for some minutes: a repeat of a completion is answered alike, and who comes too late is told so
CREATE TABLE job_endings (
    organization_id uuid NOT NULL,
    id uuid NOT NULL,
    number bigint NOT NULL,
    job_type text COLLATE "C" NOT NULL,
    run_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    node_id text COLLATE "C" NOT NULL,
    worker text COLLATE "C",
    epoch bigint NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    ended_at timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX job_endings_by_age ON job_endings (ended_at);
CREATE INDEX job_endings_by_run ON job_endings (organization_id, run_id);
CREATE INDEX job_endings_by_number ON job_endings (organization_id, number);

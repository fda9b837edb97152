-- Open jobs for external workers. The due time is the end of a lock or a delay; what is due may be taken
CREATE TABLE jobs (
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    number INTEGER NOT NULL,
    run_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    process_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    node_instance_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    job_type TEXT NOT NULL,
    headers BLOB NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT NOT NULL,
    retries INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    due_at INTEGER,
    epoch INTEGER NOT NULL,
    worker TEXT,
    message TEXT,
    place INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT;
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
    organization_id BLOB NOT NULL,
    id BLOB NOT NULL,
    number INTEGER NOT NULL,
    job_type TEXT NOT NULL,
    run_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    node_id TEXT NOT NULL,
    worker TEXT,
    epoch INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    digest TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, id)
) STRICT;
CREATE INDEX job_endings_by_age ON job_endings (ended_at);
CREATE INDEX job_endings_by_run ON job_endings (organization_id, run_id);
CREATE INDEX job_endings_by_number ON job_endings (organization_id, number);

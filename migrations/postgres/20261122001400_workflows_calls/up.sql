-- The run whose call activity started a run; what more is known of the call stands in its trigger
ALTER TABLE runs ADD COLUMN parent_run_id uuid;
CREATE INDEX runs_by_parent ON runs (organization_id, parent_run_id, created_at, id) WHERE parent_run_id IS NOT NULL;

-- The processes of the active versions, by which other workflows call them. A workflow that was published before has no
-- rows until somebody looks for a name
CREATE TABLE callable_processes (
    organization_id uuid NOT NULL,
    workflow_id uuid NOT NULL,
    process_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (organization_id, workflow_id, process_id),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX callable_processes_by_name ON callable_processes (organization_id, process_id);

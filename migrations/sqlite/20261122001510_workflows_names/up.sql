-- Numbers of versions of processes, by which some clients name them. The number 0 says that a workflow's are all there: one
-- that was published before has none until somebody looks for a number
CREATE TABLE process_numbers (
    organization_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    workflow_id BLOB NOT NULL,
    PRIMARY KEY (organization_id, number, workflow_id),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX process_numbers_by_workflow ON process_numbers (organization_id, workflow_id, number);

-- Tags of versions. The empty tag says that a version's are all there: one that was published before has none until
-- somebody looks for a tag
CREATE TABLE version_tags (
    organization_id BLOB NOT NULL,
    workflow_id BLOB NOT NULL,
    tag TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (organization_id, workflow_id, tag, number),
    FOREIGN KEY (organization_id, workflow_id) REFERENCES workflows (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

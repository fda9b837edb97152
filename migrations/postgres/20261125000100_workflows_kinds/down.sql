-- Refused while there are case types: what is not told apart by its kind would be a workflow
CREATE TABLE workflows_of_other_kinds (found bigint NOT NULL CHECK (found = 0));
INSERT INTO workflows_of_other_kinds SELECT count(*) FROM workflows WHERE kind <> 'workflow';
DROP TABLE workflows_of_other_kinds;
DROP INDEX workflows_by_name;
DROP INDEX workflows_by_update;
DROP INDEX workflows_by_creation;
ALTER TABLE workflows DROP COLUMN kind;
CREATE INDEX workflows_by_creation ON workflows (organization_id, created_at, id);
CREATE INDEX workflows_by_update ON workflows (organization_id, updated_at, id);
CREATE INDEX workflows_by_name ON workflows (organization_id, display_name, id);
